// A mask to paint on, the weights that it leaves, and an alarm for what sees the future.

import { fmt, softmax } from "./arithmetic.js";
import { button, choice, column, frame, grid, h, readout, row } from "./kit.js";

const cellsOf = (n, rule) =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => rule(i, j)));

/** The masks of the chapter for n tokens; true means that the query i may attend to the key j. */
export function preset(name, n) {
  const rules = {
    causal: (i, j) => j <= i,
    padding: (i, j) => j < 4,
    "causal and padding": (i, j) => j <= i && j < 4,
    window: (i, j) => i - 2 < j && j <= i,
    prefix: (i, j) => j < 3 || j <= i,
    everything: () => true,
  };
  return cellsOf(n, rules[name]);
}

/** Weights of every query, by one of four ways to forbid; an empty row is zeros under "infinity". */
export function weigh({ scores, mask, way }) {
  return scores.map((line, i) => {
    const may = mask[i];
    if (way === "scores") return softmax(line.map((s, j) => (may[j] ? s : 0)));
    if (way === "weights") return softmax(line).map((w, j) => (may[j] ? w : 0));
    // Rounded as float32 rounds: there a billion swallows every ordinary score.
    if (way === "billion") return softmax(line.map((s, j) => (may[j] ? s : Math.fround(s - 1e9))));
    return softmax(line, 1, may);
  });
}

/** What is wrong with a mask: pairs [query, key] that look ahead, at once or by a second layer. */
export function inspect({ scores, mask, way }) {
  const n = mask.length;
  const reach = cellsOf(n, (i, j) => i === j || mask[i][j]); // the residual carries a token itself
  const twice = cellsOf(n, (i, j) => reach[i].some((on, k) => on && reach[k][j]));
  const ahead = (table) => table.flatMap((line, i) => line.flatMap((on, j) => (on && j > i ? [[i, j]] : [])));
  const weights = weigh({ scores, mask, way });
  const spilled = weights.map((line, i) => line.map((w, j) => w > 0 && !mask[i][j]));
  return {
    leaks: ahead(mask),
    later: ahead(twice).filter(([i, j]) => !mask[i][j]),
    spills: ahead(spilled),
    empty: mask.flatMap((line, i) => (line.some(Boolean) ? [] : [i])),
    sums: weights.map((line) => line.reduce((sum, w) => sum + w, 0)),
  };
}

/** Pairs in words, the keys of one query together: "blue sees sees, fox". */
function name(pairs, tokens, verb) {
  const queries = [...new Set(pairs.map(([i]) => i))];
  const keys = (i) => pairs.filter(([query]) => query === i).map(([, j]) => `“${tokens[j]}”`);
  return queries.map((i) => `“${tokens[i]}” ${verb} ${keys(i).join(", ")}`).join("; ");
}

/** The three sentences below the tables. */
export function report(state) {
  const { leaks, later, spills, empty } = inspect(state);
  const { tokens, way } = state;
  const alarms = [];
  if (leaks.length) alarms.push(`LEAK. ${name(leaks, tokens, "may attend to")}.`);
  if (spills.length) alarms.push(`LEAK of weight past the mask. ${name(spills, tokens, "weighs")}.`);
  const said = {
    infinity: "−∞ alone would give NaN; this course gives zero weights.",
    billion: "in float32, minus a billion gives every key, forbidden as it is, the same weight.",
    scores: "scores of 0 give every key, forbidden as it is, the same weight.",
    weights: "all of its weights were set to 0.",
  };
  return {
    alarm: alarms.join(" ") || "none. No query sees the future.",
    later: later.length ? `${name(later, tokens, "also contains")}.` : "no further leak.",
    empty: empty.length ? `${empty.map((i) => `“${tokens[i]}”`).join(", ")}: ${said[way]}` : "none.",
  };
}

function render({ model, el }) {
  const read = () =>
    Object.fromEntries(["tokens", "scores", "mask", "way"].map((key) => [key, model.get(key)]));
  const { tokens } = read();
  const names = ["causal", "padding", "causal and padding", "window", "prefix", "everything"];
  let at = [0, 0];
  const paint = grid({
    label: "mask (rows are queries)",
    rows: tokens,
    columns: tokens,
    role: "query",
    write: (on) => (on ? "may" : "–"),
    onSelect(i, j) {
      at = [i, j];
      draw();
    },
  });
  const weights = grid({ label: "weights, and the sum of each row", rows: tokens, columns: [...tokens, "sum"], role: "key" });
  // Moving selects a cell; only a click, or the space bar on a button, changes it.
  paint.cells.forEach((line, i) =>
    line.forEach(({ face }, j) =>
      face.addEventListener("click", () =>
        put(model.get("mask").map((r, a) => r.map((on, b) => (a === i && b === j ? !on : on)))),
      ),
    ),
  );
  const ways = choice({
    label: "how it forbids",
    options: [
      ["infinity", "score −∞"],
      ["billion", "score minus a billion"],
      ["scores", "scores set to 0"],
      ["weights", "weights set to 0"],
    ],
    value: model.get("way"),
    onChange(way) {
      model.set("way", way);
      model.save_changes();
    },
  });
  const shown = { window: "window of 2", prefix: "prefix of 3" };
  const presets = names.map((one) => button(shown[one] ?? one, () => put(preset(one, tokens.length))));
  const lines = {
    alarm: readout({ label: "Alarm: ", live: true, name: "alarm" }),
    later: readout({ label: "After a second layer: ", name: "later" }),
    empty: readout({ label: "Empty rows: ", name: "empty" }),
  };

  function put(mask) {
    model.set("mask", mask);
    model.save_changes();
  }
  function draw() {
    const state = read();
    const { sums, leaks, spills } = inspect(state);
    const has = (pairs, i, j) => pairs.some(([a, b]) => a === i && b === j);
    paint.set(state.mask.map((line) => line.map(Number)), {
      high: 3,
      mask: state.mask,
      selected: (i, j) => i === at[0] && j === at[1],
    });
    weights.set(weigh(state).map((line, i) => [...line, sums[i]]), { high: 1, mask: state.mask.map((line) => [...line, true]) });
    paint.cells.forEach((line, i) => {
      line.forEach(({ td, face }, j) => {
        face.setAttribute("aria-pressed", String(state.mask[i][j]));
        td.classList.toggle("leak", has(leaks, i, j));
        weights.cells[i][j].td.classList.toggle("leak", has([...leaks, ...spills], i, j));
      });
      Object.assign(weights.cells[i][tokens.length].face.style, { background: "none", color: "var(--ink)" });
    });
    const said = report(state);
    for (const [key, line] of Object.entries(lines)) line.set(said[key]);
    lines.alarm.el.classList.toggle("kit-alarm", said.alarm.startsWith("LEAK"));
  }

  frame(
    el,
    "Paint a mask",
    h("div", { class: "kit-buttons" }, ...presets),
    ways.el,
    row(paint.el, weights.el),
    column(lines.alarm.el, lines.later.el, lines.empty.el),
  );
  for (const key of ["mask", "way"])
    model.on(`change:${key}`, () => {
      ways.set(model.get("way"));
      draw();
    });
  draw();
}

export default { render };
