// A recorded training: at each checkpoint the losses, a sample, and every head's weights.

import { fmt } from "./arithmetic.js";
import { button, column, frame, h, readout, row, shade, slider, svg } from "./kit.js";

const WIDTH = 340;
const HEIGHT = 150;
const [LOW, HIGH] = [0.3, 7]; // of the losses in the chart
const EDGE = { left: 34, right: 12, top: 8, bottom: 24 };
const CURVES = [["training", "series-1", null], ["validation", "series-2", "5 3"]];

/** One table for each head from a row of bytes: only what lies on or below the diagonal is stored. */
export function unpack(text, n, heads) {
  const bytes = atob(text);
  let at = 0;
  return Array.from({ length: heads }, () =>
    Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (j <= i ? bytes.charCodeAt(at++) / 255 : 0)),
    ),
  );
}

/** The places of a row with the most weight, the largest first. */
export function strongest(weights, count = 1) {
  return weights.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0]).slice(0, count).map(([, j]) => j);
}

/** Where a loss of a step stands in the chart, whose vertical axis is logarithmic. */
export function place(run, step, loss) {
  const last = run.points.at(-1).step;
  const share = Math.log(loss / LOW) / Math.log(HIGH / LOW);
  return [
    EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * step) / last,
    EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - share),
  ];
}

/** What is said of a head: how much weight goes from one token to another. */
export function sentence(run, tables, { head, query }) {
  const weights = tables[head][query];
  const [best] = strongest(weights);
  const name = (j) => word(run.tokens[j]);
  return `${named(run, head)}, from ${name(query)} (word ${query + 1}): most weight ${fmt(weights[best])} on ${name(best)} (word ${best + 1})`;
}

/** A token without its space; the break that ends a story as a sign. */
const word = (token) => token.trim() || "\u23ce";
const named = (run, head) => `layer ${Math.floor(head / run.heads) + 1}, head ${(head % run.heads) + 1}`;

function chart(run) {
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "kit-line", role: "img" });
  const at = (step, loss) => place(run, step, loss);
  const last = run.points.at(-1).step;
  const [right, base] = at(last, LOW);
  picture.append(svg("line", { x1: EDGE.left, x2: right, y1: base, y2: base, class: "kit-axis" }));
  for (const loss of [0.5, 1, 2, 4]) {
    const [x, y] = at(0, loss);
    picture.append(svg("line", { x1: x, x2: right, y1: y, y2: y, class: "kit-tick" }));
    picture.append(svg("text", { x: x - 8, y: y + 4, "text-anchor": "end" }, `${loss}`));
  }
  const [x0, low] = at(0, run.floor);
  picture.append(svg("line", { x1: x0, x2: right, y1: low, y2: low, stroke: "var(--muted)", "stroke-dasharray": "2 3" }));
  picture.append(svg("text", { x: x0 + 4, y: low - 4 }, `lower bound ${fmt(run.floor)}`));
  for (const [name, role, dash] of CURVES) {
    const points = run.points.map((point) => at(point.step, point[name]).map((v) => v.toFixed(1)).join(","));
    picture.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: `var(--${role})`, "stroke-width": 2, "stroke-dasharray": dash }));
  }
  picture.append(svg("text", { x: right, y: HEIGHT - 6, "text-anchor": "end" }, `${last} steps`));
  picture.append(svg("text", { x: x0, y: HEIGHT - 6 }, "step 0"));
  const marks = svg("g", {});
  picture.append(marks);
  const set = (point) => {
    const [x] = at(point.step, LOW);
    marks.replaceChildren(
      svg("line", { x1: x, x2: x, y1: EDGE.top, y2: base, class: "kit-axis" }),
      ...CURVES.map(([name, role]) => {
        const [cx, cy] = at(point.step, point[name]);
        return svg("circle", { cx, cy, r: 4.5, fill: `var(--${role})` });
      }),
    );
    picture.setAttribute("aria-label", `Loss by step. After ${point.step} steps: training ${fmt(point.training)}, validation ${fmt(point.validation)}, lower bound ${fmt(run.floor)}.`);
  };
  return { el: picture, set };
}

/** A head's table as a small picture on a button: one square a weight. */
function thumbnail(run, head, onClick) {
  const n = run.tokens.length;
  const cells = [];
  const picture = svg("svg", { viewBox: `0 0 ${n} ${n}`, class: "kit-thumb", "aria-hidden": "true", "shape-rendering": "crispEdges" });
  const line = svg("rect", { x: 0, width: n, height: 1, class: "kit-thumb-row" });
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      const rect = svg("rect", { x: j, y: i, width: 1, height: 1 });
      cells.push([rect, i, j]);
      picture.append(rect);
    }
  }
  picture.append(line);
  const el = h("button", { type: "button", class: "kit-token", onclick: onClick }, picture, h("span", {}, named(run, head)));
  const set = (table, query, pressed) => {
    for (const [rect, i, j] of cells) rect.style.fill = `var(--w${Math.round(40 * table[i][j])})`;
    line.setAttribute("y", query);
    el.setAttribute("aria-pressed", pressed);
    el.setAttribute("aria-label", `${named(run, head)}: ${fmt(Math.max(...table[query]))} at most from the chosen word`);
  };
  return { el, set };
}

function render({ model, el }) {
  const run = model.get("run");
  const count = run.layers * run.heads;
  const change = (name) => (value) => {
    model.set(name, value);
    model.save_changes();
  };
  const steps = slider({
    label: "checkpoint", min: 0, max: run.points.length - 1, step: 1, value: model.get("checkpoint"),
    show: (i) => `${run.points[i].step}`, onInput: change("checkpoint"),
  });
  const curve = chart(run);
  const told = CURVES.map(([name, role]) => {
    const one = readout({ label: `${name} loss`, name });
    one.el.firstChild.style.color = `var(--${role})`;
    return one;
  });
  const perplexity = readout({ label: "validation perplexity", name: "perplexity" });
  const sample = h("blockquote", { class: "kit-sample", "data-name": "sample" });
  const heads = Array.from({ length: count }, (_, i) => thumbnail(run, i, () => change("head")(i)));
  const words = run.tokens.map((token, i) => {
    const number = h("span", { class: "kit-number" });
    return { number, el: h("button", { type: "button", class: "kit-token", onclick: () => change("query")(i) }, word(token), " ", number) };
  });
  const said = readout({ label: "", live: true, name: "head" });
  said.el.classList.add("kit-equation");

  function draw() {
    const at = { head: model.get("head"), query: model.get("query") };
    const point = run.points[model.get("checkpoint")];
    const tables = unpack(point.weights, run.tokens.length, count);
    steps.set(model.get("checkpoint"));
    curve.set(point);
    CURVES.forEach(([name], i) => told[i].set(fmt(point[name])));
    perplexity.set(fmt(Math.exp(point.validation)));
    sample.textContent = point.sample;
    heads.forEach((one, i) => one.set(tables[i], at.query, i === at.head));
    words.forEach((one, j) => {
      const weight = tables[at.head][at.query][j];
      const future = j > at.query;
      one.number.textContent = future ? "\u00a0" : fmt(weight);
      shade(one.el, weight);
      one.el.setAttribute("aria-pressed", j === at.query);
      one.el.setAttribute("aria-label", `${word(run.tokens[j])} ${future ? "not seen" : fmt(weight)}`);
    });
    said.set(sentence(run, tables, at));
  }

  const step = (by) => change("checkpoint")(Math.max(0, Math.min(run.points.length - 1, model.get("checkpoint") + by)));
  frame(
    el,
    "A model while it learns",
    row(
      column(
        steps.el,
        h("div", { class: "kit-buttons" }, button("earlier", () => step(-1)), button("later", () => step(1))),
        ...told.map((one) => one.el),
        perplexity.el,
      ),
      column(h("div", { class: "kit-label" }, "loss in nats per token"), curve.el),
    ),
    column(h("div", { class: "kit-label" }, "what it writes at this point"), sample),
    column(
      h("div", { class: "kit-label" }, "every head's weights on one story: choose a head"),
      h("div", { class: "kit-heads", role: "group", "aria-label": "heads" }, ...heads.map((one) => one.el)),
    ),
    column(
      h("div", { class: "kit-label" }, "the story: choose the word that looks back; the numbers are its weights"),
      h("div", { class: "kit-words kit-compact-words", role: "group", "aria-label": "words" }, ...words.map((one) => one.el)),
    ),
    said.el,
  );
  for (const name of ["checkpoint", "head", "query"]) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
