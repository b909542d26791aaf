// Which misconceptions to ask about again today, and when next: pure arithmetic, without a page.

export const INTERVALS = [1, 3, 7, 21]; // days until a question comes, after so many right answers
const MOST = 3; // questions in a day

/** The day of a moment by the reader's clock, such as 2026-11-23. */
export function dayOf(moment) {
  const date = new Date(moment);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
}

/** The day so many days after another. */
export function dayAfter(day, count) {
  const [year, month, date] = day.split("-").map(Number);
  return dayOf(new Date(year, month - 1, date + count));
}

/** Each misconception that the notes name, latest first: by which task, when, and whether that task is still open. */
export function named(notes) {
  const met = new Map();
  for (const { task, status, misconceptions, time } of notes) {
    for (const misconception of misconceptions)
      met.set(misconception, { misconception, task, time: Date.parse(time) || 0, open: true });
    if (status === "passed") for (const each of met.values()) each.open &&= each.task !== task;
  }
  return [...met.values()].sort((a, b) => b.open - a.open || b.time - a.time);
}

/** How a misconception stands: by the last answer, or anew if a check has named it since. */
export function standing({ misconception, time }, { misconceptions }) {
  const kept = misconceptions[misconception];
  if (kept && Date.parse(kept.time) >= time) return kept;
  return { step: 0, due: dayAfter(dayOf(time), INTERVALS[0]), time: "" };
}

/** Up to three questions for a day: [{misconception, task, step, question}], no two of one task or with the same question. */
export function dueOn(day, notes, memory, askedFor) {
  if (memory.later > day) return [];
  const answered = Object.values(memory.misconceptions).filter(({ time }) => dayOf(time) === day).length;
  const chosen = [];
  for (const each of named(notes)) {
    const { step, due } = standing(each, memory);
    const questions = askedFor[each.misconception] ?? [];
    if (!questions.length || step >= INTERVALS.length || due > day) continue;
    const next = { misconception: each.misconception, task: each.task, step, question: questions[step % questions.length] };
    if (!chosen.some(({ task, question }) => task === next.task || question === next.question)) chosen.push(next);
  }
  return chosen.slice(0, Math.max(0, MOST - answered));
}

/** What to keep after an answer: a right one lengthens the interval, a wrong one begins again. */
export function after(step, isRight, now) {
  const next = isRight ? step + 1 : 0;
  const due = next < INTERVALS.length ? dayAfter(dayOf(now), INTERVALS[next]) : "";
  return { step: next, due, time: new Date(now).toISOString() };
}

/** The choices in another order each time, so that none is known by its place. */
export const turned = (choices, step) => choices.map((_, n) => choices[(n + step) % choices.length]);
