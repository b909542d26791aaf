// Self-attention of three tokens with d_k = 4, and the arithmetic behind every number of it.

import { fmt, matmul, softmax } from "./arithmetic.js";
import { column, frame, grid, h, readout, row, toggle } from "./kit.js";

/** Scores, weights and output of a state; `raw` are the scores before the division by 2. */
export function compute({ scores, values, scaled, causal }) {
  const table = scores.map((line) => line.map((s) => (scaled ? s / 2 : s)));
  const allowed = scores.map((line, i) => line.map((_, j) => !causal || j <= i));
  const weights = table.map((line, i) => softmax(line, 1, allowed[i]));
  return { table, allowed, weights, output: matmul(weights, values) };
}

/** The same state with the words in the opposite order, each with its own query, key and value. */
export function turned(state) {
  const [scores, values, words] = ["scores", "values", "words"].map((key) => [...state[key]].reverse());
  return { ...state, scores: scores.map((line) => [...line].reverse()), values, words };
}

/** Write a number as a small fraction where it is one (to a denominator of 98), else in digits. */
export function fraction(x) {
  for (let below = 1; below <= 98; below += 1) {
    const above = Math.round(x * below);
    if (Math.abs(x - above / below) < 1e-9) return below === 1 ? `${above}` : `${above}/${below}`;
  }
  return fmt(x, 3);
}

/** Write a score: a whole number of logarithms of 2, 3 or 5 where it is one, else in digits. */
export function logarithm(x) {
  if (Math.abs(x) < 1e-12) return "0";
  for (const base of [2, 3, 5])
    for (const times of [1, 2])
      if (Math.abs(x - times * Math.log(base)) < 1e-9) return `${times > 1 ? times : ""}ln ${base}`;
  return fmt(x, 3);
}

/** Say in words and numbers where one cell of one table comes from. */
export function explain(state, name, i, j) {
  const { table, allowed, weights, output } = compute(state);
  const query = `query ${state.words[i]}`;
  const [key, component] = [`key ${state.words[j]}`, `component ${state.components[j]}`];
  if (name === "scores") {
    const raw = logarithm(state.scores[i][j]);
    const how = state.scaled ? `${raw} / √4` : raw;
    const end = allowed[i][j] ? "" : `, and ${query} may not attend to ${key}: the mask hides it`;
    return `score of ${query} with ${key} = ${how} = ${logarithm(table[i][j])}${end}`;
  }
  if (name === "weights") {
    if (!allowed[i][j]) return `weight of ${key} for ${query} = 0, because the mask hides it`;
    const terms = table[i].map((s, k) => (allowed[i][k] ? fraction(Math.exp(s)) : "0"));
    return `weight of ${key} for ${query} = ${terms[j]} / (${terms.join(" + ")}) = ${fraction(weights[i][j])}`;
  }
  if (name === "values") return `value of key ${state.words[i]}, ${component} = ${fraction(state.values[i][j])}: given`;
  const terms = weights[i].map((w, k) => `${fraction(w)} × ${fraction(state.values[k][j])}`);
  return `output of ${query}, ${component} = ${terms.join(" + ")} = ${fraction(output[i][j])}`;
}

function render({ model, el }) {
  const read = () => {
    const keys = ["scores", "values", "words", "components", "scaled", "causal"];
    const state = Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    return model.get("reversed") ? turned(state) : state;
  };
  let chosen = { name: "output", i: 1, j: 0 };
  let tables;
  const [above, below] = [row(), row()];
  /** Make the four tables, with the words in the order that is chosen. */
  function build() {
    const { words, components } = read();
    const [queries, keys] = ["query", "key"].map((kind) => words.map((word) => `${kind} ${word}`));
    const table = (name, rows, columns, role, write) =>
      grid({ label: name, rows, columns, role, write, onSelect: (i, j) => select(name, i, j) });
    tables = {
      scores: table("scores", queries, keys, "query", logarithm),
      weights: table("weights", queries, keys, "key", fraction),
      values: table("values", keys, components, "value", fraction),
      output: table("output", queries, components, "output", fraction),
    };
    above.replaceChildren(tables.scores.el, tables.weights.el);
    below.replaceChildren(tables.values.el, tables.output.el);
  }
  const arithmetic = readout({ label: "", live: true, name: "arithmetic" });
  arithmetic.el.classList.add("kit-equation");
  const labels = { scaled: "divide by √d_k = 2", causal: "causal mask" };
  if (model.get("reversible")) labels.reversed = [...model.get("words")].reverse().join(" ");
  const switches = Object.entries(labels).map(([key, label]) =>
    toggle({
      label,
      value: model.get(key),
      onChange(on) {
        model.set(key, on);
        model.save_changes();
      },
    }),
  );

  function select(name, i, j) {
    chosen = { name, i, j };
    draw();
  }
  /** Whether a cell goes into the chosen number. */
  function involved(name, i, j) {
    if (name === chosen.name) return i === chosen.i && j === chosen.j;
    if (chosen.name === "output")
      return (name === "weights" && i === chosen.i) || (name === "values" && j === chosen.j);
    return chosen.name === "weights" && name === "scores" && i === chosen.i;
  }
  function draw() {
    const state = read();
    const result = compute(state);
    const shown = { scores: result.table, weights: result.weights, values: state.values, output: result.output };
    const most = Math.max(...state.values.flat());
    const high = { scores: 2.2, weights: 1, values: most, output: most };
    for (const [name, one] of Object.entries(tables))
      one.set(shown[name], {
        high: high[name],
        mask: name === "scores" ? result.allowed : undefined,
        selected: (i, j) => involved(name, i, j),
      });
    arithmetic.set(explain(state, chosen.name, chosen.i, chosen.j));
  }

  frame(
    el,
    "Where every number comes from",
    row(...switches.map((one) => one.el)),
    above,
    below,
    column(h("div", { class: "kit-label" }, "The chosen number:"), arithmetic.el),
  );
  Object.keys(labels).forEach((key, place) =>
    model.on(`change:${key}`, () => {
      switches[place].set(model.get(key));
      if (key === "reversed") build();
      draw();
    }),
  );
  build();
  draw();
}

export default { render };
