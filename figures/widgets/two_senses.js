// A word of several senses: its looked-up row, and what mixing with its sentence makes of it.

import { cosine, fmt, matmul, norm, scores, softmax } from "./arithmetic.js";
import { choice, column, frame, grid, h, plane, readout, row, slider, unique } from "./kit.js";

/** The words of a sentence in small letters, without signs. */
export const wordsOf = (text) => text.toLowerCase().match(/[a-z]+/g) ?? [];

/** The row of each word; a word that is not listed has zeros. */
export const rowsOf = (words, { table, axes }) =>
  words.map((word) => axes.map((axis) => (Object.hasOwn(table, word) ? (table[word][axis] ?? 0) : 0)));

/** The cosine of a vector with the axis of each sense; 0 for a vector without a direction. */
function along(vector, { axes, senses, word }) {
  const length = norm(vector);
  return senses[word].map((axis) => (length > 1e-12 ? vector[axes.indexOf(axis)] / length : 0));
}

/** Where the chosen word stands, its weights, and its cosines before and after the mixing. */
export function compute(state) {
  const words = wordsOf(state.text);
  const x = rowsOf(words, state);
  const at = words.flatMap((word, i) => (word === state.word ? [i] : []));
  const near = (i) => words.map((_, j) => state.reach === "sentence" || j === i || j === i - 1);
  const weights = x.length ? scores(x, x, state.strength).map((line, i) => softmax(line, 1, near(i))) : [];
  const mixed = x.length ? matmul(weights, x) : [];
  const pair = at.length > 1 && at.slice(0, 2).every((i) => norm(mixed[i]) > 1e-12);
  return {
    words,
    at,
    weights: at.map((i) => weights[i]),
    static: along(rowsOf([state.word], state)[0], state),
    found: at.map((i) => along(mixed[i], state)),
    apart: pair ? cosine(mixed[at[0]], mixed[at[1]]) : null,
  };
}

/** Two senses point right and up, three apart by a third of a turn. */
export function flat(cosines) {
  const turns = cosines.length === 3 ? [90, 210, 330] : [0, 90];
  const sum = (f) => cosines.reduce((total, c, i) => total + c * f((turns[i] * Math.PI) / 180), 0);
  return [sum(Math.cos), sum(Math.sin)];
}

/** The word to look at: the chosen one if it is there, else the first that has senses. */
export function heard(text, word, senses) {
  const there = wordsOf(text).filter((one) => Object.hasOwn(senses, one));
  return there.includes(word) ? word : (there[0] ?? null);
}

/** The arrows of the picture; those that end at one place are one arrow with all their names. */
export function arrows(state) {
  const { static: before, found } = compute(state);
  const named = state.senses[state.word];
  const unit = named.map((_, i) => named.map((_, j) => Number(i === j)));
  const all = [
    ...found.map((line, i) => ({ name: found.length > 1 ? `${state.word} ${i + 1}` : state.word, role: "accent", at: flat(line) })),
    { name: "looked up", role: "muted", at: flat(before) },
    ...named.map((name, i) => ({ name, role: "key", at: flat(unit[i]) })),
  ];
  const apart = [];
  for (const one of all) {
    const twin = apart.find(({ at }) => Math.hypot(at[0] - one.at[0], at[1] - one.at[1]) < 0.02);
    if (twin) twin.name += `, ${one.name.replace(`${state.word} `, "")}`;
    else apart.push({ ...one });
  }
  return apart.reverse();
}

/** Which words of a text have no row of their own. */
export const rowless = (state) => [...new Set(wordsOf(state.text))].filter((one) => !Object.hasOwn(state.table, one));

const TRAITS = ["text", "word", "strength", "reach", "sentences", "table", "axes", "senses"];

function render({ model, el }) {
  const read = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const change = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const { sentences, senses } = read();
  const ids = { pick: unique("sentence"), type: unique("text") };
  const options = sentences.map((one) => h("option", { value: one }, one));
  const pick = h("select", { id: ids.pick, class: "kit-field" }, ...options, h("option", { value: "" }, "your own words"));
  const type = h("input", { id: ids.type, type: "text", class: "kit-field", maxlength: 90, autocomplete: "off", spellcheck: "false" });
  /** A new text, and with it a word to look at; a text without one says so. */
  const say = (text) => change({ text, word: heard(text, model.get("word"), senses) ?? model.get("word") });
  pick.addEventListener("change", () => (pick.value ? say(pick.value) : type.focus()));
  type.addEventListener("input", () => say(type.value));
  const field = (id, label, input) => h("div", { class: "kit-column" }, h("label", { for: id, class: "kit-label" }, label), input);

  const strength = slider({ label: "strength of similarity", min: 0, max: 12, step: 0.5, value: model.get("strength"), show: (x) => fmt(x, 1), onInput: (x) => change({ strength: x }) });
  const reach = choice({ label: "mix with", options: [["sentence", "the whole sentence"], ["word before", "the word before"]], value: model.get("reach"), onChange: (x) => change({ reach: x }) });
  const places = { word: h("div"), plane: h("div"), weights: h("div") };
  const said = readout({ label: "", live: true, name: "cosines" });
  said.el.classList.add("kit-equation", "kit-lines");
  const apart = readout({ label: "Cosine of the two:", name: "apart" });
  const zeros = readout({ label: "Rows of zeros:", name: "zeros" });
  let offered = "";

  /** The words of the sentence that have senses, to choose from where there are several. */
  function offer({ text, word }) {
    const there = [...new Set(wordsOf(text))].filter((one) => Object.hasOwn(senses, one));
    if (there.join() !== offered) {
      offered = there.join();
      const one = choice({ label: "look at", options: there.map((name) => [name, name]), value: word, onChange: (name) => change({ word: name }) });
      places.word.replaceChildren(...(there.length > 1 ? [one.el] : []));
    }
  }

  function draw() {
    const state = read();
    const { words, at, weights, static: before, found, apart: between } = compute(state);
    const named = senses[state.word];
    const own = at.map((_, i) => (at.length > 1 ? `${state.word} ${i + 1}` : state.word));
    offer(state);
    if (type.value !== state.text) type.value = state.text;
    pick.value = sentences.includes(state.text) ? state.text : "";
    strength.set(state.strength);
    reach.set(state.reach);
    const label = `Where ${state.word} points, by cosine with ${named.join(", ")}`;
    places.plane.replaceChildren(plane({ label, vectors: arrows(state), range: 1.4 }).el);
    const list = (line) => named.map((name, i) => `${name} ${fmt(line[i])}`).join(", ");
    said.set(
      at.length
        ? [`looked up: ${list(before)}`, ...found.map((line, i) => `${own[i]}: ${list(line)}`)].join("\n")
        : `No word here has several senses; these have: ${Object.keys(senses).join(", ")}.`,
    );
    apart.set(between === null ? "there is only one" : fmt(between));
    zeros.set(rowless(state).join(", ") || "none");
    const table = grid({ label: "weights", rows: words, columns: own, digits: 2 });
    if (at.length) table.set(words.map((_, j) => weights.map((line) => line[j])), { high: 1 });
    places.weights.replaceChildren(...(at.length ? [table.el] : []));
  }

  frame(
    el,
    "A word in context",
    field(ids.pick, "a sentence", pick),
    field(ids.type, "or type", type),
    places.word,
    row(strength.el, reach.el),
    said.el,
    row(places.plane, column(places.weights, apart.el, zeros.el)),
  );
  for (const name of TRAITS) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
