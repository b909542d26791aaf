// The learner's work: answers, and what the checks noted. It stays in this browser and is sent
// nowhere. Every other module reads and writes it through this one.

const PLACE = "attention-course.";
const ANSWER = `${PLACE}answer.`;
const EDIT = `${PLACE}edit.`; // a chapter's cell as the reader has changed it
const NOTES = `${PLACE}notes`; // lines as checks/progress/log.py writes them
const MEMORY = `${PLACE}remember`; // what the front page asked again, by misconception
const COURSE = "Attention, from embeddings to GPT-2";
const listeners = new Set();
const held = new Map(); // where storage is forbidden, the work lasts as long as the page
let refused = false;
let telling = null;

function storage(act) {
  try {
    return act(localStorage);
  } catch {
    refused = true; // storage is off or full
    return null;
  }
}

/** Tell the listeners, once for all that was written in one go. */
function tell() {
  telling ??= setTimeout(() => {
    telling = null;
    for (const listener of listeners) listener();
  });
}

const read = (name) => held.get(name) ?? storage((store) => store.getItem(name));

function write(name, text) {
  const isNew = (read(name) === null) !== (text === null);
  held.delete(name);
  const kept = storage((store) => {
    if (text === null) store.removeItem(name);
    else store.setItem(name, text);
    return true;
  });
  if (!kept && text !== null) held.set(name, text);
  if (isNew || name === NOTES || name === MEMORY) tell(); // not for every key in an answer
}

/** Call a function after each change, in this tab or in another. */
export function onChange(listener) {
  if (!listeners.size && typeof addEventListener === "function")
    addEventListener("storage", ({ key }) => {
      if (key === null || key.startsWith(PLACE)) tell();
    });
  listeners.add(listener);
}

/** Whether this browser refused to keep something. */
export const isRefused = () => refused;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const asAnswer = (value) => (typeof value?.text === "string" && typeof value.time === "string" ? value : null);

/** The kept answer to a task, {text, time}, or null. */
export const answer = (task) => asAnswer(parsed(read(ANSWER + task)));

/** Keep the text of an answer; null keeps nothing. */
export function keepAnswer(task, text, time = new Date().toISOString()) {
  write(ANSWER + task, text === null ? null : JSON.stringify({ text, time }));
}

/** The reader's text of a cell, or null; an edit of a cell that the book has changed is passed over. */
export function edit(cell, original) {
  const kept = parsed(read(EDIT + cell));
  return kept?.original === original && typeof kept.text === "string" ? kept.text : null;
}

/** Keep the text of a chapter's cell, such as 06_softmax.3; the original is not kept. */
export function keepEdit(cell, original, text) {
  write(EDIT + cell, text === original ? null : JSON.stringify({ original, text }));
}

function known(prefix) {
  const names = storage((store) => Object.keys(store)) ?? [];
  return [...new Set([...names, ...held.keys()])].filter((name) => name.startsWith(prefix));
}

/** The numbers of the tasks that have a kept answer. */
export function answered() {
  return known(ANSWER).map((name) => name.slice(ANSWER.length)).filter((task) => answer(task)).sort(byNumber);
}

/** 2.9 comes before 2.10, and 2.10 before 11.1. */
export function byNumber(a, b) {
  const [first, second] = [a, b].map((task) => task.split(".").map(Number));
  return first[0] - second[0] || first[1] - second[1];
}

/** The notes that can be read, in the order of their writing. */
export function notes(text = read(NOTES) ?? "") {
  const sound = (note) =>
    /^\d+\.\d+$/.test(note?.task) && typeof note.status === "string" && Array.isArray(note.misconceptions);
  return text.split("\n").filter(Boolean).map(parsed).filter(sound);
}

const alike = (a, b) => a && ["task", "status", "answer"].every((name) => a[name] === b[name]);

/** Add notes; the same result for the same answer again is not another attempt. */
export function addNotes(text) {
  let kept = read(NOTES) ?? "";
  for (const note of notes(text)) {
    const last = notes(kept).findLast(({ task }) => task === note.task);
    if (!alike(last, note)) kept += `${JSON.stringify(note)}\n`;
  }
  write(NOTES, kept);
}

/** How each attempted task stands, by the rules of checks/progress/summary.py. */
export function standings(every = notes()) {
  const tasks = new Map();
  const before = new Map();
  for (const note of every) {
    const task = tasks.get(note.task) ?? { passed: false, tries: 0, misconceptions: {} };
    task.tries += !task.passed && !alike(before.get(note.task), note) ? 1 : 0;
    before.set(note.task, note);
    const met = note.status === "passed" ? Object.keys(task.misconceptions) : note.misconceptions;
    for (const id of met) task.misconceptions[id] = note.status === "passed";
    task.passed ||= note.status === "passed";
    tasks.set(note.task, task);
  }
  return tasks;
}

const isEntry = (entry) => Number.isInteger(entry?.step) && [entry.due, entry.time].every((text) => typeof text === "string");

/** What was asked again: {later, misconceptions: {M01: {step, due, time}}}, as due.js makes it. */
export function memory(held = parsed(read(MEMORY))) {
  const misconceptions = Object.entries(held?.misconceptions ?? {}).filter(([, entry]) => isEntry(entry));
  return { later: typeof held?.later === "string" ? held.later : "", misconceptions: Object.fromEntries(misconceptions) };
}

/** Keep how a misconception stands; of two, the one that was answered later stays. */
export function keepMemory(misconceptions, later = "") {
  const kept = memory();
  for (const [misconception, entry] of Object.entries(misconceptions))
    if (!(kept.misconceptions[misconception]?.time > entry.time)) kept.misconceptions[misconception] = entry;
  if (later > kept.later) kept.later = later;
  write(MEMORY, JSON.stringify(kept));
}

/** All that is kept, as a file holds it. */
export function everything() {
  const answers = Object.fromEntries(answered().map((task) => [task, answer(task)]));
  return { course: COURSE, version: 1, answers, notes: notes(), remember: memory() };
}

/** Which of two lists of answers to keep for each task: the newer, and of equal ones the first. */
export function newer(here, there) {
  const taken = Object.entries(there).filter(([task, one]) => asAnswer(one) && !(here[task]?.time >= one.time));
  return Object.fromEntries(taken);
}

/** Add a saved file to what is kept; newer answers stay. Returns the numbers of answers and passes. */
export function merge(text) {
  const file = parsed(text);
  if (file?.course !== COURSE || file.version !== 1 || typeof file.answers !== "object") return null;
  const taken = newer(everything().answers, file.answers);
  for (const [task, { text: words, time }] of Object.entries(taken)) keepAnswer(task, words, time);
  const lines = (every) => every.map((note) => JSON.stringify(note));
  const union = [...new Set([...lines(notes()), ...lines(notes(lines(file.notes ?? []).join("\n")))])];
  union.sort((a, b) => String(parsed(a).time).localeCompare(String(parsed(b).time)));
  write(NOTES, union.map((line) => `${line}\n`).join(""));
  const { misconceptions, later } = memory(file.remember);
  if (Object.keys(misconceptions).length || later) keepMemory(misconceptions, later);
  const passed = [...standings().values()].filter((task) => task.passed).length;
  return { answers: Object.keys(taken).length, passed };
}

/** Remove the answers, the edits, the notes, and what was asked again. */
export function forget() {
  for (const name of known(EDIT)) write(name, null);
  for (const task of answered()) write(ANSWER + task, null);
  write(NOTES, null);
  write(MEMORY, null);
}

/** What this browser has been told once, such as which Python it has downloaded. */
export const fact = (name) => read(PLACE + name);
export const keepFact = (name, text) => write(PLACE + name, text);
