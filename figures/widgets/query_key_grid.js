// Queries, keys, their score matrix and outputs, made by two matrices that can be edited.

import { fmt, scores, softmax, matmul } from "./arithmetic.js";
import { button, choice, column, frame, grid, h, numberCell, readout, row, svg, toggle } from "./kit.js";

/** Queries, keys, scores and weights of a state; queries are always the rows here. */
export function compute({ x, w_q, w_k, tied }) {
  const queries = matmul(x, w_q);
  const keys = matmul(x, tied ? w_q : w_k);
  const table = scores(queries, keys, 1);
  return { queries, keys, table, weights: table.map((line) => softmax(line)) };
}

/** The table as it is shown: scores or weights, queries in rows or in columns. */
export function shown(state) {
  const { table, weights } = compute(state);
  const rows = state.shows === "weights" ? weights : table;
  return state.layout_of_queries === "rows" ? rows : rows[0].map((_, j) => rows.map((line) => line[j]));
}

/** The largest difference between the score of a pair and the score of the pair turned round. */
export function lopsided(state) {
  const { table } = compute(state);
  return Math.max(...table.flatMap((line, i) => line.map((s, j) => Math.abs(s - table[j][i]))));
}

/** A number with no more digits than it needs. */
const brief = (value) => fmt(value, 2).replace(/\.?0+$/, "");

/** One score in words and numbers, with the score of the same pair turned round. */
export function explain(state) {
  const { queries, keys, table } = compute(state);
  const { words, query: i, key: j } = state;
  const pair = (v) => `(${brief(v[0])}, ${brief(v[1])})`;
  const one = `${words[i]} asks, ${words[j]} offers: ${pair(queries[i])} · ${pair(keys[j])} = ${brief(table[i][j])}`;
  return i === j ? one : `${one}; the other way round ${brief(table[j][i])}`;
}

/** What the chosen query takes in: the weighted mix of the values, in words. */
export function takesIn(state) {
  const { weights } = compute(state);
  const { words, values, parts, query } = state;
  const [mix] = matmul([weights[query]], values);
  return `${words[query]} takes in ${mix.map((share, c) => `${fmt(share, 2)} ${parts[c]}`).join(", ")}`;
}

/**
 * The chosen query and the keys that are not all zeros: equal keys share an arrow and its name.
 * Each is { name, role, at }; `zeros` names the words whose key has no length.
 */
export function arrowsOf(state) {
  const { queries, keys } = compute(state);
  const { words, query } = state;
  const long = (v) => v.some((component) => component !== 0);
  const groups = new Map();
  keys.forEach((at, i) => long(at) && groups.set(String(at), [...(groups.get(String(at)) ?? []), i]));
  const named = (role, some) => `${role}${some.length > 1 ? "s" : ""} of ${some.map((i) => words[i]).join(", ")}`;
  return {
    arrows: [
      ...(long(queries[query]) ? [{ name: named("query", [query]), role: "query", at: queries[query] }] : []),
      ...[...groups.values()].map((some) => ({ name: named("key", some), role: "key", at: keys[some[0]] })),
    ],
    zeros: [...(long(queries[query]) ? [] : [named("query", [query])]), ...keys.flatMap((at, i) => (long(at) ? [] : named("key", [i])))],
  };
}

const WIDTH = 320;
const LETTER = 8; // the width of a letter, and what a line of text needs of the height
const LINE = 18;
const SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]; // the points of an arrow that names avoid

/** Where arrows and their names stand on the canvas: no name on a different name, none cut off. */
export function places(arrows) {
  const [low, high] = [0, 1].map((c) => arrows.map(({ at }) => at[c])).reduce(
    ([lows, highs], axis) => [[...lows, Math.min(-0.5, ...axis) - 0.3], [...highs, Math.max(1, ...axis) + 0.8]],
    [[], []],
  );
  const unit = Math.min(WIDTH / (high[0] - low[0]), 260 / (high[1] - low[1]));
  const height = unit * (high[1] - low[1]);
  const left = (WIDTH - unit * (high[0] - low[0])) / 2;
  const x = (value) => left + (value - low[0]) * unit;
  const y = (value) => (high[1] - value) * unit;
  const taken = [];
  const overlap = (a, b) =>
    Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const names = arrows.map(({ name, at }) => {
    const width = LETTER * name.length;
    const boxes = [1, 2, 3].flatMap((far) =>
      [[10, 4], [-width / 2, -11 - LINE * (far - 1)], [-width / 2, LINE * far], [10, LINE * far], [10, -LINE * far], [-width - 10, 4]].map(([dx, dy]) => {
        const start = Math.max(2, Math.min(WIDTH - 2 - width, x(at[0]) + dx));
        const base = y(at[1]) + dy;
        return { left: start, right: start + width, top: base - LINE + 4, bottom: base + 4 };
      }),
    );
    const cost = (box) =>
      taken.reduce((sum, other) => sum + overlap(box, other), 0) +
      100 * (Math.max(0, -box.top) + Math.max(0, box.bottom - height)) +
      40 * arrows.flatMap(({ at: [a, b] }) => SHARES.map((share) => [x(a * share), y(b * share)])).filter((point) => hides(box, point)).length;
    const best = boxes.reduce((chosen, box) => (cost(box) < cost(chosen) ? box : chosen));
    taken.push(best);
    return best;
  });
  return { unit, height, x, y, low, high, names };
}

/** Whether a name covers a point of an arrow. */
const hides = (box, [px, py]) => px > box.left - 4 && px < box.right + 4 && py > box.top - 4 && py < box.bottom + 4;

/** The plane with the chosen query, thick, and the keys. */
function drawing({ label, arrows }) {
  const { height, x, y, low, high, names } = places(arrows);
  const canvas = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "kit-plane", role: "img", "aria-label": label });
  for (let tick = Math.ceil(Math.min(...low)); tick <= Math.max(...high); tick += 1) {
    const kind = tick ? "kit-tick" : "kit-axis";
    canvas.append(svg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: height, class: kind }));
    canvas.append(svg("line", { y1: y(tick), y2: y(tick), x1: 0, x2: WIDTH, class: kind }));
  }
  for (const { role, at } of arrows) {
    const thick = role === "query";
    const colour = `var(--${role})`;
    const style = thick ? "stroke-width: 6" : "";
    canvas.append(svg("line", { x1: x(0), y1: y(0), x2: x(at[0]), y2: y(at[1]), class: "kit-shaft", stroke: colour, style }));
    canvas.append(svg("circle", { cx: x(at[0]), cy: y(at[1]), r: thick ? 7 : 4.5, class: "kit-tip", fill: colour }));
  }
  arrows.forEach(({ name, role }, i) => {
    const middle = (names[i].left + names[i].right) / 2;
    canvas.append(
      svg("text", { x: middle, y: names[i].bottom - 4, "text-anchor": "middle", class: "kit-word", fill: `var(--${role})` }, name),
    );
  });
  return canvas;
}

const TRAITS = ["words", "x", "w_q", "w_k", "values", "parts", "tied", "layout_of_queries", "shows", "query", "key"];

function render({ model, el }) {
  const read = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const start = read();
  const change = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const { words } = start;

  const matrix = (name, role) => {
    const cells = [0, 1].map((i) =>
      [0, 1].map((j) =>
        numberCell({
          label: `${name}, row ${i + 1}, column ${j + 1}`,
          value: start[name][i][j],
          onInput: (value) => change({ [name]: read()[name].map((line, r) => line.map((old, c) => (r === i && c === j ? value : old))) }),
        }),
      ),
    );
    const lines = cells.map((line) => h("div", { class: "kit-pair" }, ...line.map((cell) => cell.el)));
    const head = h("div", { class: "kit-label", style: `color: var(--${role})` }, name.replace("w", "W"));
    const set = (values, off) =>
      cells.forEach((line, i) =>
        line.forEach(({ input }, j) => {
          input.disabled = off;
          if (Number(input.value) !== values[i][j] || input.value === "") input.value = values[i][j];
        }),
      );
    return { el: column(head, ...lines), set };
  };
  const matrices = { w_q: matrix("w_q", "query"), w_k: matrix("w_k", "key") };

  const tie = toggle({ label: "use W_q for the keys too", value: start.tied, onChange: (tied) => change({ tied }) });
  const pick = (label, name, options) =>
    choice({ label, options, value: start[name], onChange: (value) => change({ [name]: value }) });
  const choices = {
    query: pick("query", "query", words.map((word, i) => [i, word])),
    shows: pick("show", "shows", [["scores", "scores"], ["weights", "weights"]]),
    layout_of_queries: pick("queries in", "layout_of_queries", [["rows", "rows"], ["columns", "columns"]]),
  };
  const again = button("Start again", () => change(start));
  const said = readout({ label: "", live: true, name: "score" });
  said.el.classList.add("kit-equation");
  const taken = readout({ label: "", name: "taken" });
  taken.el.classList.add("kit-equation");
  const gap = readout({ label: "largest difference across the diagonal of the scores", name: "lopsided" });
  const parts = { table: h("div"), plane: h("div") };
  let table = null;
  let built = "";

  /** A new table where the layout or the content changed; its cells choose query and key. */
  function build({ shows, layout_of_queries }) {
    if (built === shows + layout_of_queries) return;
    built = shows + layout_of_queries;
    const byRows = layout_of_queries === "rows";
    const names = { q: words.map((word) => `q ${word}`), k: words.map((word) => `k ${word}`) };
    table = grid({
      label: `${shows}, queries in ${layout_of_queries}`,
      rows: byRows ? names.q : names.k,
      columns: byRows ? names.k : names.q,
      digits: 2,
      onSelect: (i, j) => change(byRows ? { query: i, key: j } : { query: j, key: i }),
    });
    parts.table.replaceChildren(table.el);
  }

  function draw() {
    const state = read();
    build(state);
    const chosen = (i, j) => (state.layout_of_queries === "rows" ? i : j) === state.query;
    table.set(shown(state), { high: state.shows === "weights" ? 1 : undefined, selected: chosen });
    const { arrows, zeros } = arrowsOf(state);
    const label = `The query of ${words[state.query]} and the keys as arrows in the plane: ${arrows
      .map(({ name, at }) => `${name} (${brief(at[0])}, ${brief(at[1])})`)
      .join(", ")}`;
    parts.plane.replaceChildren(
      drawing({ label, arrows }),
      h("div", { class: "kit-label" }, zeros.length ? `no arrow (only zeros): ${zeros.join(", ")}` : "\u00a0"),
    );
    matrices.w_q.set(state.w_q, false);
    matrices.w_k.set(state.tied ? state.w_q : state.w_k, state.tied);
    tie.set(state.tied);
    for (const [name, one] of Object.entries(choices)) one.set(state[name]);
    said.set(explain(state));
    taken.set(takesIn(state));
    gap.set(fmt(lopsided(state), 2));
  }

  frame(
    el,
    "Which query matches which key",
    row(matrices.w_q.el, matrices.w_k.el, column(tie.el, again)),
    choices.query.el,
    row(parts.plane, column(row(choices.shows.el, choices.layout_of_queries.el), parts.table, gap.el)),
    said.el,
    taken.el,
  );
  for (const name of TRAITS) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
