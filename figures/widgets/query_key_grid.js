// Queries, keys, their score matrix and outputs, made by two matrices that can be edited.

import { fmt, scores, softmax, matmul } from "./arithmetic.js";
import { button, choice, column, frame, grid, h, numberCell, plane, readout, row, toggle } from "./kit.js";

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
  const places = { table: h("div"), plane: h("div") };
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
    places.table.replaceChildren(table.el);
  }

  function draw() {
    const state = read();
    const { queries, keys } = compute(state);
    build(state);
    const chosen = (i, j) => (state.layout_of_queries === "rows" ? i : j) === state.query;
    table.set(shown(state), { high: state.shows === "weights" ? 1 : undefined, selected: chosen });
    const arrow = (letter, role) => (at, i) => ({ name: `${letter} ${words[i]}`, role: role(i), at });
    const vectors = [
      ...queries.map(arrow("q", (i) => (i === state.query ? "query" : "masked"))),
      ...keys.map(arrow("k", () => "key")),
    ];
    const reach = Math.max(...vectors.flatMap(({ at }) => at.map(Math.abs)));
    const label = `The queries and keys of ${words.join(", ")} as arrows in the plane`;
    places.plane.replaceChildren(plane({ label, vectors, range: Math.max(5, Math.ceil(reach * 1.2)) }).el);
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
    row(places.plane, column(row(choices.shows.el, choices.layout_of_queries.el), places.table, gap.el)),
    said.el,
    taken.el,
  );
  for (const name of TRAITS) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
