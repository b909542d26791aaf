// One row of attention over random keys, at any dimension: scores, weights and gradient.

import { entropy, fmt, normal, softmax } from "./arithmetic.js";
import { bars, button, choice, column, frame, h, readout, row, slider, svg } from "./kit.js";

export const WIDTHS = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024];
const SAMPLES = 30; // how many samples the lower line shows, the chosen one among them
const vectors = new Map(); // a vector is sampled once; shorter ones are its beginning

/** The query (place 0) or a key (place 1 and on) of a sample, as 1024 normal numbers. */
export function vector(seed, place) {
  const name = 64 * seed + place;
  if (!vectors.has(name)) {
    const next = normal(name);
    vectors.set(name, Float64Array.from({ length: WIDTHS.at(-1) }, () => next()));
  }
  return vectors.get(name);
}

function product(a, b, width) {
  let sum = 0;
  for (let i = 0; i < width; i += 1) sum += a[i] * b[i];
  return sum;
}

/** The size of the weights' derivative by the query: J K times the factor in the scores. */
export function gradientSize(weights, keys, width, factor) {
  const mean = new Float64Array(width);
  weights.forEach((w, j) => {
    for (let i = 0; i < width; i += 1) mean[i] += w * keys[j][i];
  });
  let sum = 0;
  weights.forEach((w, j) => {
    for (let i = 0; i < width; i += 1) sum += (w * factor * (keys[j][i] - mean[i])) ** 2;
  });
  return Math.sqrt(sum);
}

/** Everything that the figure shows of one sample. */
export function look({ d_k, n, divisor, seed }) {
  const factor = { nothing: 1, root: 1 / Math.sqrt(d_k), width: 1 / d_k }[divisor];
  const q = vector(seed, 0);
  const K = Array.from({ length: n }, (_, j) => vector(seed, j + 1));
  const table = K.map((key) => product(q, key, d_k) * factor);
  const weights = softmax(table);
  const gradient = gradientSize(weights, K, d_k, factor);
  return { scores: table, weights, largest: Math.max(...weights), entropy: entropy(weights), gradient };
}

/** The sizes of the gradient in this sample and in those after it. */
export function gradients(state) {
  return Array.from({ length: SAMPLES }, (_, i) => look({ ...state, seed: state.seed + i }).gradient);
}

/** A number in two digits, small ones as a power of ten. */
export function short(x) {
  return x >= 0.01 || x === 0 ? fmt(x, 2) : x.toExponential(0).replace("-", "\u2212");
}

/** A line with ticks, on which `set` lays dots; `place` maps a value to a share from 0 to 1. */
function axis({ label, ticks, place, role }) {
  const at = (value) => 12 + 316 * Math.min(1, Math.max(0, place(value)));
  const dots = svg("g", {});
  const picture = svg("svg", { viewBox: "0 0 340 48", class: "kit-line", role: "img", "aria-label": label });
  picture.append(svg("line", { x1: 12, x2: 328, y1: 24, y2: 24, class: "kit-axis" }));
  for (const [value, text] of ticks) {
    picture.append(svg("line", { x1: at(value), x2: at(value), y1: 20, y2: 28, class: "kit-axis" }));
    picture.append(svg("text", { x: at(value), y: 43, "text-anchor": "middle" }, text));
  }
  picture.append(dots);
  const set = (values, words, chosen = -1) => {
    picture.setAttribute("aria-label", `${label}: ${words}`);
    const dot = (value, i) =>
      svg("circle", { cx: at(value), cy: i === chosen ? 11 : 24, r: 5, fill: `var(--${role})`, "fill-opacity": i === chosen ? 1 : 0.5 });
    dots.replaceChildren(...values.map(dot));
  };
  return { el: column(h("div", { class: "kit-label" }, label), picture), set };
}

function render({ model, el }) {
  const names = ["d_k", "n", "divisor", "seed"];
  const read = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const change = (name) => (value) => {
    model.set(name, value);
    model.save_changes();
  };
  const place = (width) => WIDTHS.findIndex((one) => one >= width);
  const width = slider({
    label: "dimension d_k", min: 0, max: WIDTHS.length - 1, step: 1, value: place(model.get("d_k")),
    show: (i) => `${WIDTHS[i]}`, onInput: (i) => change("d_k")(WIDTHS[i]), role: "query",
  });
  const count = slider({
    label: "keys", min: 2, max: 24, step: 1, value: model.get("n"),
    show: (n) => `${n}`, onInput: change("n"), role: "key",
  });
  const options = [["nothing", "nothing"], ["root", "√d_k"], ["width", "d_k"]];
  const divisor = choice({
    label: "scores divided by", options, value: model.get("divisor"), onChange: change("divisor"),
  });
  const again = button("sample new vectors", () => change("seed")((model.get("seed") % 1000) + 1));
  const numbers = {
    largest: readout({ label: "largest weight", live: true }),
    entropy: readout({ label: "entropy" }),
    gradient: readout({ label: "gradient size" }),
  };
  const line = axis({
    label: "the scores (the axis is stretched near 0)", role: "key",
    ticks: [-100, -10, -1, 0, 1, 10, 100].map((x) => [x, fmt(x, 0)]),
    place: (x) => 0.5 + Math.asinh(x) / (2 * Math.asinh(100)),
  });
  const strip = axis({
    label: `size of the gradient dw/dq: this sample (raised) and ${SAMPLES - 1} others`, role: "accent",
    ticks: [[1e-12, "10⁻¹²"], [1e-8, "10⁻⁸"], [1e-4, "10⁻⁴"], [1, "1"], [100, "100"]],
    place: (x) => (Math.log10(Math.max(x, 1e-12)) + 12) / 14,
  });
  const shares = h("div", { class: "kit-compact" });
  let shown = { n: 0 };

  function draw() {
    const state = read();
    const seen = look(state);
    if (shown.n !== state.n) {
      const words = Array.from({ length: state.n }, (_, j) => `rank ${j + 1}`);
      shown = { ...bars({ label: "weights, largest first", names: words, role: "key", digits: 2 }), n: state.n };
      shares.replaceChildren(shown.el);
    }
    shown.set([...seen.weights].sort((a, b) => b - a));
    line.set(seen.scores, `from ${fmt(Math.min(...seen.scores), 1)} to ${fmt(Math.max(...seen.scores), 1)}`);
    const sizes = gradients(state);
    strip.set(sizes, `from ${short(Math.min(...sizes))} to ${short(Math.max(...sizes))}`, 0);
    numbers.largest.set(fmt(seen.largest, 2));
    numbers.entropy.set(`${fmt(seen.entropy, 2)} of at most ${fmt(Math.log(state.n), 2)}`);
    numbers.gradient.set(short(seen.gradient));
  }

  const words = h("summary", {}, "entropy and gradient");
  frame(
    el,
    "What the divisor does",
    row(width.el, count.el),
    row(divisor.el, again),
    row(numbers.largest.el),
    line.el,
    shares,
    h("details", {}, words, row(numbers.entropy.el, numbers.gradient.el), strip.el),
  );
  for (const name of names)
    model.on(`change:${name}`, () => {
      width.set(place(model.get("d_k")));
      count.set(model.get("n"));
      divisor.set(model.get("divisor"));
      draw();
    });
  draw();
}

export default { render };
