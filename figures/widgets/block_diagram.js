// One transformer block as a diagram: every edge shows the shape and the numbers that run along it.

import { add, attend, fmt, matmul, norm } from "./arithmetic.js";
import { button, choice, column, frame, grid, h, numberCell, readout, row, svg, toggle } from "./kit.js";

const EPS = 1e-5;
const STREAM = 68; // where the stream runs down, and where the sublayers stand
const BRANCH = 208;
const NODE = { width: 124, height: 30 };
const CHIP = { width: 58, height: 26 };

function layerNorm(x) {
  return x.map((v) => {
    const centred = v.map((a) => a - mean(v));
    const below = Math.sqrt(mean(centred.map((a) => a * a)) + EPS);
    return centred.map((a) => a / below);
  });
}

const mean = (v) => v.reduce((sum, a) => sum + a, 0) / v.length;
const relu = (a) => Math.max(a, 0);

/** All scores are 0: each token attends equally to itself and to those before it. */
function attention(read, value) {
  const silent = read.map((v) => v.map(() => 0));
  const mask = read.map((_, i) => read.map((_, j) => j <= i));
  const { weights, output } = attend(silent, silent, matmul(read, value), { mask });
  return { weights, attention_update: output };
}

/** Apply the ReLU to each component and its negative, and add the two: the absolute value. */
function feedForward(read) {
  const hidden = read.map((v) => [...v, ...v.map((a) => -a)].map(relu));
  const d = read[0].length;
  return { hidden, feed_forward_update: hidden.map((v) => add(v.slice(0, d), v.slice(d))) };
}

/** What runs along each edge, by name, in the order in which it is computed. */
export function steps({ x, value, norm_first, add_first, add_second }) {
  const found = { residual_stream: x };
  let stream = x;
  for (const [name, sublayer, change, adds] of [
    ["first", attention, "attention_update", add_first],
    ["second", feedForward, "feed_forward_update", add_second],
  ]) {
    if (norm_first) found[`${name}_norm`] = layerNorm(stream);
    Object.assign(found, sublayer(norm_first ? found[`${name}_norm`] : stream, value));
    const sum = adds ? stream.map((v, i) => add(v, found[change][i])) : found[change];
    found[`${name}_sum`] = sum;
    if (!norm_first) found[`${name}_norm`] = layerNorm(sum);
    stream = found[norm_first ? `${name}_sum` : `${name}_norm`];
  }
  return found;
}

/** How much of the table is difference between its rows: 0 if all tokens are the same vector. */
export function spread(table) {
  const middle = table[0].map((_, j) => mean(table.map((v) => v[j])));
  return norm(table.flatMap((v) => v.map((a, j) => a - middle[j]))) / norm(table.flat());
}

const SAID = {
  residual_stream: () => "the residual stream as the block before has left it; type other numbers, and they run through the block",
  first_norm: ({ norm_first }) =>
    norm_first ? "a normalised copy, which attention reads" : "the sum, normalised: the residual stream from here on",
  weights: () => "weights of attention, (query, key): all scores are 0, so all tokens that may be attended to get equal weights",
  attention_update: () => "what attention returns: an average of values, the update of each token",
  first_sum: ({ add_first }) => (add_first ? "residual stream plus update" : "the update alone: the residual stream ends here"),
  second_norm: ({ norm_first }) =>
    norm_first ? "a normalised copy, which the feed-forward network reads" : "the second sum, normalised: what the next block gets",
  hidden: () => "projected up to d_ff = 8, after the ReLU: of each component and its negative",
  feed_forward_update: () => "projected down to d_model again: the update of each token",
  second_sum: ({ add_second, norm_first }) =>
    (add_second ? "residual stream plus update" : "the update alone: the residual stream ends here") +
    (norm_first ? ", which the next block gets" : ""),
};

/** The sentences about the chosen edge. */
export function report(state) {
  const table = steps(state)[state.edge];
  const deviation = (v) => Math.sqrt(mean(v.map((a) => (a - mean(v)) ** 2)));
  const list = (f) => table.map((v) => fmt(f(v))).join(", ");
  return {
    edge: `(${table.length}, ${table[0].length}): ${SAID[state.edge](state)}`,
    mean: list(mean),
    deviation: list(deviation),
    spread: fmt(spread(table)),
  };
}

/** Where nodes, edges and their labels stand: the same parts, in the order of the block. */
export function layout(norm_first) {
  const parts = { nodes: [], chips: [], lines: [], sums: [] };
  let y = 18;
  const chip = (edge, x) => parts.chips.push({ edge, x, y });
  const node = (text, x) => parts.nodes.push({ text, x, y });
  const line = (edge, ...points) => parts.lines.push({ edge, points });
  const sublayer = { first: ["attention"], second: ["up, ReLU", "down"] };
  const change = { first: "attention_update", second: "feed_forward_update" };
  let stream = "residual_stream";
  for (const name of ["first", "second"]) {
    const top = y;
    chip(stream, STREAM);
    const fork = (y += 24);
    let read = stream;
    y += 26;
    if (norm_first) {
      node("norm", BRANCH);
      line(stream, [STREAM, fork], [BRANCH, fork], [BRANCH, y]);
      read = `${name}_norm`;
      y += 34;
      chip(read, BRANCH);
      line(read, [BRANCH, y - 34], [BRANCH, y + 34]);
      y += 34;
    } else line(stream, [STREAM, fork], [BRANCH, fork], [BRANCH, y]);
    sublayer[name].forEach((text, i) => {
      if (i) {
        line("hidden", [BRANCH, y], [BRANCH, y + 68]);
        y += 34;
        chip("hidden", BRANCH);
        y += 34;
      } else if (name === "first") {
        line("weights", [BRANCH, y], [BRANCH + 102, y]);
        chip("weights", BRANCH + 102);
      }
      node(text, BRANCH);
    });
    const from = y;
    y += 34;
    chip(change[name], BRANCH);
    y += 24;
    line(change[name], [BRANCH, from], [BRANCH, y], [STREAM, y]);
    line(stream, [STREAM, top], [STREAM, y]);
    parts.lines.at(-1).skip = `add_${name}`;
    parts.sums.push({ x: STREAM, y, adds: `add_${name}` });
    const out = `${name}_sum`;
    const below = y;
    y += 34;
    stream = out;
    if (!norm_first) {
      chip(out, STREAM);
      line(out, [STREAM, below], [STREAM, y + 34]);
      y += 34;
      node("norm", STREAM);
      stream = `${name}_norm`;
      line(stream, [STREAM, y], [STREAM, y + 34]);
      y += 34;
    } else line(out, [STREAM, below], [STREAM, y]);
  }
  chip(stream, STREAM);
  return { ...parts, height: y + 18 };
}

/** What the label on an edge says: x₁ and x₂ are the residual stream after each sublayer. */
export function label(edge, norm_first) {
  const short = { residual_stream: "x", attention_update: "update", feed_forward_update: "update" };
  for (const [name, stream] of [["first", "x₁"], ["second", "x₂"]]) {
    short[`${name}_norm`] = norm_first ? "copy" : stream;
    short[`${name}_sum`] = norm_first ? stream : "sum";
  }
  return short[edge] ?? edge;
}

const KEYS = ["x", "value", "norm_first", "add_first", "add_second", "edge"];

function render({ model, el }) {
  const read = () => Object.fromEntries(KEYS.map((key) => [key, model.get(key)]));
  const put = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  const controls = {
    norm_first: choice({
      label: "the norm stands",
      options: [["true", "before the sublayer (pre-norm)"], ["false", "after the addition (post-norm)"]],
      value: String(model.get("norm_first")),
      onChange: (value) => put("norm_first", value === "true"),
    }),
    add_first: toggle({ label: "add attention's update to x", value: model.get("add_first"), onChange: (on) => put("add_first", on) }),
    add_second: toggle({ label: "add the feed-forward update to x", value: model.get("add_second"), onChange: (on) => put("add_second", on) }),
  };
  const said = {
    edge: readout({ label: "", live: true, name: "edge" }),
    mean: readout({ label: "Mean of each row:", name: "mean" }),
    deviation: readout({ label: "Standard deviation of each row:", name: "deviation" }),
    spread: readout({ label: "Distance of the rows from their mean, relative to their length (0: all rows are equal):", name: "spread" }),
  };
  said.edge.el.classList.add("kit-equation");
  const picture = h("div", { class: "kit-diagram" });
  const table = h("div");
  const example = model.get("x");
  let chips = [];
  let drawn = "";
  let shown = null;

  /** Draw the diagram again; only another order needs it. */
  function build(state) {
    const { nodes, chips: places, lines, sums, height } = layout(state.norm_first);
    const canvas = svg("svg", { viewBox: `0 0 340 ${height}`, class: "kit-block", role: "radiogroup", "aria-label": "Edges of the block, from the first residual stream to the last" });
    for (const { edge, points, skip } of lines) {
      const path = svg("polyline", { points: points.map((p) => p.join()).join(" "), class: "kit-edge", "data-edge": edge, "data-skip": skip });
      path.addEventListener("click", () => put("edge", edge));
      canvas.append(path);
    }
    for (const { x, y, adds } of sums)
      canvas.append(svg("g", { "data-sum": adds }, svg("circle", { cx: x, cy: y, r: 13, class: "kit-node" }), svg("text", { x, y: y + 6, class: "kit-plus" }, "+")));
    for (const { text, x, y } of nodes) {
      const box = svg("rect", { x: x - NODE.width / 2, y: y - NODE.height / 2, width: NODE.width, height: NODE.height, rx: 6, class: "kit-node" });
      canvas.append(box, svg("text", { x, y: y + 5, class: "kit-node-name" }, text));
    }
    const tables = steps(state);
    chips = places.map(({ edge, x, y }, i) => {
      const [n, d] = [tables[edge].length, tables[edge][0].length];
      const box = svg("rect", { x: x - CHIP.width / 2, y: y - CHIP.height / 2, width: CHIP.width, height: CHIP.height, rx: 13 });
      const text = svg("text", { x, y: y + 5 }, label(edge, state.norm_first));
      const name = `${edge.replaceAll("_", " ")}, shape ${n} by ${d}`;
      const chip = svg("g", { class: "kit-chip", role: "radio", "aria-label": name, "data-edge": edge, onclick: () => put("edge", edge) }, box, text);
      chip.addEventListener("keydown", (event) => step(event, i));
      return chip;
    });
    canvas.append(...chips);
    picture.replaceChildren(canvas);
  }

  /** Arrow keys, Home and End go along the edges in the order of computing. */
  function step(event, i) {
    const to = { ArrowDown: i + 1, ArrowRight: i + 1, ArrowUp: i - 1, ArrowLeft: i - 1, Home: 0, End: chips.length - 1, " ": i, Enter: i }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (!chips[to]) return;
    put("edge", chips[to].getAttribute("data-edge"));
    chips[to].focus({ preventScroll: true });
  }

  /** The stream in, cell by cell, to be typed over. */
  function entries(rows, columns) {
    const { el, cells } = grid({ label: "residual stream", rows, columns });
    const inputs = cells.map((line, i) =>
      line.map(({ td, name }, j) => {
        const onInput = (value) => put("x", model.get("x").map((v, n) => (n === i ? v.with(j, value) : v)));
        const cell = numberCell({ label: `residual stream, ${name}`, value: 0, onInput });
        td.append(cell.el);
        return cell;
      }),
    );
    const set = (matrix) =>
      matrix.forEach((v, i) =>
        v.forEach((value, j) => {
          // What is being typed, such as "2.", stays as it is while it means the same number.
          if (Number(inputs[i][j].input.value) !== value) inputs[i][j].set(value);
        }),
      );
    return { el: h("div", { class: "kit-column" }, el, button("Back to the example", () => put("x", example))), set };
  }

  function draw() {
    const state = read();
    if (drawn !== String(state.norm_first)) build(state);
    drawn = String(state.norm_first);
    for (const chip of chips) {
      const chosen = chip.getAttribute("data-edge") === state.edge;
      chip.setAttribute("aria-checked", chosen);
      chip.setAttribute("tabindex", chosen ? 0 : -1);
    }
    for (const path of picture.querySelectorAll(".kit-edge")) {
      path.classList.toggle("chosen", path.dataset.edge === state.edge);
      path.classList.toggle("cut", path.dataset.skip !== undefined && !state[path.dataset.skip]);
    }
    for (const sum of picture.querySelectorAll("[data-sum]"))
      sum.classList.toggle("cut", !state[sum.dataset.sum]);
    const matrix = steps(state)[state.edge];
    const kind = `${state.edge} ${matrix[0].length}`;
    if (shown?.kind !== kind) {
      const isWeights = state.edge === "weights";
      const columns = matrix[0].map((_, j) => (isWeights ? `key ${j + 1}` : String(j + 1)));
      const rows = matrix.map((_, i) => `${isWeights ? "query" : "token"} ${i + 1}`);
      const label = state.edge.replaceAll("_", " ");
      shown = { kind, grid: state.edge === "residual_stream" ? entries(rows, columns) : grid({ label, rows, columns }) };
      table.replaceChildren(shown.grid.el);
    }
    const largest = Math.max(...matrix.flat().map(Math.abs));
    shown.grid.set(matrix, { high: state.edge === "weights" ? 1 : Math.max(5, largest) });
    for (const [name, text] of Object.entries(report(state))) said[name].set(text);
  }

  frame(
    el,
    "Inside a block",
    controls.norm_first.el,
    row(controls.add_first.el, controls.add_second.el),
    h("div", { class: "kit-beside" }, picture, column(said.edge.el, table, said.mean.el, said.deviation.el, said.spread.el)),
  );
  for (const key of KEYS)
    model.on(`change:${key}`, () => {
      if (controls[key]) controls[key].set(key === "norm_first" ? String(model.get(key)) : model.get(key));
      draw();
    });
  draw();
}

export default { render };
