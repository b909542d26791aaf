// A row of logits, three ways to narrow it, and the text that comes of drawing again and again.

import { entropy, fmt, softmax, uniform } from "./arithmetic.js";
import { button, column, frame, h, readout, row, slider } from "./kit.js";

const NEVER = 0.02; // added to every count, so that no pair is impossible
const PROMPT = 3; // words of the text that are given
const LENGTH = 24; // words that are drawn
const SHOWN = 6; // bars, of the likeliest words; the others share one

/** The words of a text in the order of their first appearance, and for each the row after it. */
export function table(text) {
  const stream = text.split(/\s+/).filter(Boolean);
  const words = [...new Set(stream)];
  const counts = Object.fromEntries(words.map((left) => [left, words.map(() => NEVER)]));
  stream.slice(1).forEach((right, i) => (counts[stream[i]][words.indexOf(right)] += 1));
  const rows = Object.fromEntries(words.map((left) => [left, counts[left].map(Math.log)]));
  const seen = Object.fromEntries(words.map((left) => [left, counts[left].map((n) => n > NEVER)]));
  return { words, rows, seen, prompt: stream.slice(0, PROMPT) };
}

/** What the next word is drawn from: temperature, then top-k (ties stay), then top-p. */
export function weights(logits, { temperature, top_k, top_p }) {
  const best = logits.indexOf(Math.max(...logits));
  if (temperature === 0) return logits.map((_, i) => (i === best ? 1 : 0));
  const least = [...logits].sort((a, b) => b - a)[Math.min(top_k, logits.length) - 1];
  const allowed = logits.map((z) => z >= least);
  const all = softmax(logits, temperature, allowed);
  if (top_p === 1) return all;
  const order = all.map((_, i) => i).sort((i, j) => all[j] - all[i] || i - j);
  let reached = 0;
  for (const i of order) {
    allowed[i] &&= reached < top_p;
    reached += all[i];
  }
  return softmax(logits, temperature, allowed);
}

/** The first place at which the summed weights pass u, a number from 0 to 1. */
export function draw(shares, u) {
  const sums = [];
  shares.reduce((sum, w, i) => (sums[i] = sum + w), 0);
  return sums.findIndex((sum) => sum > u * sums.at(-1));
}

/** The words that are drawn one after the other, each with the word before it. */
export function write(state) {
  const { words, rows, seen, prompt } = table(state.text);
  const next = uniform(state.seed);
  let after = prompt.at(-1);
  return Array.from({ length: LENGTH }, () => {
    const u = next();
    const i = draw(weights(rows[after], state), u);
    const drawn = { word: words[i], after, u, seen: seen[after][i] };
    after = words[i];
    return drawn;
  });
}

const nth = (k) => k + ({ 1: "st", 2: "nd", 3: "rd" }[k] ?? "th"); // up to 20

/** What is said of the row that is looked at, and of the whole text. */
export function report(state) {
  const { words, rows } = table(state.text);
  const text = write(state);
  const one = text[Math.min(state.at, LENGTH - 1)];
  const before = softmax(rows[one.after]);
  const kept = weights(rows[one.after], state);
  const count = kept.filter((w) => w > 0).length;
  const ties = state.temperature > 0 && count > state.top_k ? `, ties with the ${nth(state.top_k)} among them` : "";
  const held = before.reduce((sum, w, i) => sum + (kept[i] > 0 ? w : 0), 0);
  const breaks = text.filter(({ seen }) => !seen).length;
  return {
    after: one.after,
    word: one.word,
    words,
    before,
    kept,
    row: `${count} of ${words.length} words${ties}; before the cut they had ${Math.round(100 * held)} %`,
    spread: `${fmt(entropy(kept), 2)} nats, as a fair choice among ${fmt(Math.exp(entropy(kept)), 1)} words`,
    breaks: `${breaks} of ${LENGTH}`,
  };
}

function render({ model, el }) {
  const keys = ["text", "temperature", "top_k", "top_p", "seed", "at"];
  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const start = read();
  function put(changes) {
    for (const [key, value] of Object.entries(changes)) model.set(key, value);
    model.save_changes();
  }
  const most = table(start.text).words.length;
  const all = (x) => (x >= most ? "all" : String(x));
  const controls = {
    temperature: slider({ label: "temperature T", min: 0, max: 2, step: 0.1, value: start.temperature, show: (x) => fmt(x, 1), onInput: (x) => put({ temperature: x }) }),
    top_k: slider({ label: "top-k", min: 1, max: most, step: 1, value: start.top_k, show: all, onInput: (x) => put({ top_k: x }) }),
    top_p: slider({ label: "top-p", min: 0.05, max: 1, step: 0.05, value: start.top_p, show: (x) => (x >= 1 ? "all" : fmt(x, 2)), onInput: (x) => put({ top_p: x }) }),
  };
  const kept = readout({ label: "Still possible:", name: "row" });
  const spread = readout({ label: "Entropy:", name: "spread" });
  const breaks = readout({ label: "Word pairs that are not in the rhyme:", name: "breaks", live: true });
  const head = h("div", { class: "kit-label" });
  const list = h("ul", { class: "kit-bars" });
  const spoken = h("div", { class: "kit-words", role: "group", "aria-label": "the text: choose a word to see the row that it was drawn from" });

  /** One word of the row: pale what softmax gives, full what it is drawn from. */
  function bar(name, before, after, high, chosen) {
    const fill = (share, role) => h("div", { class: "kit-fill", style: `width: ${(100 * share) / high}%; background: var(--${role})` });
    const track = h("div", { class: "kit-track kit-double" }, fill(before, "masked"), fill(after, "accent"));
    const number = h("span", { class: "kit-number", "data-name": name }, after > 0 ? fmt(after, 3) : "cut");
    return h("li", { class: after > 0 ? "" : "kit-cut" }, h("span", { class: "kit-name" }, chosen ? `${name} ✓` : name), track, number);
  }

  /** The prompt as plain words, and each drawn word as a button. */
  function speak(state, text) {
    const at = spoken.contains(document.activeElement) ? state.at : -1;
    const given = table(state.text).prompt.map((word) => h("span", { class: "kit-given" }, word));
    const drawn = text.map(({ word, after, seen }, i) =>
      h("button", {
        type: "button",
        class: seen ? "kit-token" : "kit-token kit-break",
        "aria-pressed": String(i === state.at),
        "aria-label": seen ? word : `${word}: the rhyme has no ${after} ${word}`,
        onclick: () => put({ at: i }),
      }, word),
    );
    spoken.replaceChildren(...given, ...drawn);
    if (at >= 0) drawn[at].focus({ preventScroll: true });
  }

  function show() {
    const state = read();
    const said = report(state);
    const order = said.words.map((_, i) => i).sort((i, j) => said.before[j] - said.before[i] || i - j);
    const shown = order.filter((i, at) => at < SHOWN || said.words[i] === said.word);
    const rest = order.filter((i) => !shown.includes(i));
    const others = [said.before, said.kept].map((shares) => rest.reduce((sum, i) => sum + shares[i], 0));
    const high = Math.max(...said.before, ...said.kept, ...others);
    head.textContent = `After “${said.after}”: its softmax in grey, the weights used for sampling in colour, and ✓ at the word that was sampled`;
    list.setAttribute("aria-label", `weights after ${said.after}`);
    list.replaceChildren(
      ...shown.map((i) => bar(said.words[i], said.before[i], said.kept[i], high, said.words[i] === said.word)),
      bar(`${rest.length} others`, ...others, high, false),
    );
    kept.set(said.row);
    spread.set(said.spread);
    breaks.set(said.breaks);
    breaks.el.classList.toggle("kit-alarm", !said.breaks.startsWith("0 "));
    speak(state, write(state));
  }

  const presets = {
    greedy: { temperature: 0, top_k: most, top_p: 1 },
    "temperature 1": { temperature: 1, top_k: most, top_p: 1 },
    "temperature 1.3": { temperature: 1.3, top_k: most, top_p: 1 },
    "temperature 1.3, top-p 0.5": { temperature: 1.3, top_k: most, top_p: 0.5 },
  };
  frame(
    el,
    "From a row of logits to a text",
    h("div", { class: "kit-buttons" }, ...Object.entries(presets).map(([name, state]) => button(name, () => put(state))), button("Sample again", () => put({ seed: model.get("seed") + 1 }))),
    row(column(controls.temperature.el, controls.top_k.el, controls.top_p.el, kept.el, spread.el, breaks.el), h("div", { class: "kit-column kit-compact" }, head, list)),
    spoken,
  );
  for (const key of keys)
    model.on(`change:${key}`, () => {
      controls[key]?.set(model.get(key));
      show();
    });
  show();
}

export default { render };
