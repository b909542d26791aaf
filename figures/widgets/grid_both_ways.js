// One table of weights in both layouts: the same numbers, read along rows or down columns.

import { fmt, transpose } from "./arithmetic.js";
import { choice, frame, grid, h, readout, row } from "./kit.js";

/** The table as it is shown: queries in rows, or in columns. */
export function shown({ weights, queries_in }) {
  return queries_in === "rows" ? weights : transpose(weights);
}

/** The sums of the rows and of the columns of the table as it is shown. */
export function sums(state) {
  const table = shown(state);
  const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
  return { rows: table.map(sum), columns: transpose(table).map(sum) };
}

/** What the chosen cell says, in words and as an entry of the table. */
export function reading(state) {
  const { words, weights, queries_in, query, key } = state;
  const [i, j] = queries_in === "rows" ? [query, key] : [key, query];
  const whom = query === key ? "itself" : words[key];
  const amount = fmt(weights[query][key], 1);
  return `${words[query]} attends to ${whom}: ${amount} of what it takes in is the value of ${words[key]}; here that is entry [${i}, ${j}]`;
}

/** Which direction sums to 1, with the sums of both. */
export function told(state) {
  const { rows, columns } = sums(state);
  const list = (numbers) => numbers.map((one) => fmt(one, 1)).join(", ");
  return `rows ${list(rows)}; columns ${list(columns)}: the ${state.queries_in} are queries`;
}

const TRAITS = ["words", "weights", "queries_in", "query", "key"];

function render({ model, el }) {
  const read = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const change = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const side = choice({
    label: "queries stand in",
    options: [["rows", "rows"], ["columns", "columns"]],
    value: read().queries_in,
    onChange: (queries_in) => change({ queries_in }),
  });
  const said = readout({ label: "", live: true, name: "reading" });
  said.el.classList.add("kit-equation");
  const total = readout({ label: "sums:", name: "sums" });
  const place = h("div");
  let table = null;
  let built = "";

  /** A new table where the layout changed; its cells choose a query and a key. */
  function build({ words, queries_in }) {
    if (built === queries_in) return;
    built = queries_in;
    const byRows = queries_in === "rows";
    const names = (role) => words.map((word) => `${role} ${word}`);
    table = grid({
      label: `weights, queries in ${queries_in}`,
      rows: names(byRows ? "query" : "key"),
      columns: names(byRows ? "key" : "query"),
      digits: 1,
      onSelect: (i, j) => change(byRows ? { query: i, key: j } : { query: j, key: i }),
    });
    place.replaceChildren(table.el);
  }

  function draw() {
    const state = read();
    build(state);
    const line = (i, j) => (state.queries_in === "rows" ? i : j) === state.query;
    table.set(shown(state), { high: 1, selected: line });
    side.set(state.queries_in);
    said.set(reading(state));
    total.set(told(state));
  }

  frame(el, "One table, two layouts", row(side.el), place, said.el, total.el);
  for (const name of TRAITS) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
