// One row of scores through softmax: weights, derivatives, entropy, and whether float16 holds.

import { entropy, fmt, jacobian, softmax } from "./arithmetic.js";
import { bars, button, column, frame, grid, h, readout, row, slider } from "./kit.js";

const KEYS = ["A", "B", "C", "D"];
export const PRESETS = {
  "25, 1, 68, 5 %": { scores: [1, -2, 2, -0.6], temperature: 1, shift: 0 },
  uniform: { scores: [1, 1, 1, 1], temperature: 1, shift: 0 },
  saturated: { scores: [5, 0, -1, -5], temperature: 0.5, shift: 0 },
};
const HALF_OVERFLOWS = 65520; // float16 rounds anything from here on to infinity,
const HALF_VANISHES = 2 ** -25; // and anything up to here to 0.

/** What the formula gives in float16 if no maximum is subtracted first. */
export function naiveInHalf(scaled) {
  const exponentials = scaled.map(Math.exp);
  if (Math.max(...exponentials) >= HALF_OVERFLOWS) return "an exponential overflows: nan";
  if (Math.max(...exponentials) <= HALF_VANISHES) return "all exponentials round to 0: nan";
  const total = exponentials.reduce((sum, e) => sum + e, 0);
  return total >= HALF_OVERFLOWS ? "the sum overflows: all weights 0" : "fits";
}

/** Everything that is shown of a state; derivatives are by the scores after the division by T. */
export function explore({ scores, temperature, shift }) {
  const scaled = scores.map((s) => (s + shift) / temperature);
  const weights = softmax(scaled);
  const slopes = jacobian(weights);
  const spread = entropy(weights);
  const steepest = Math.max(...slopes.flat().map(Math.abs));
  return { weights, slopes, entropy: spread, effective: Math.exp(spread), steepest, half: naiveInHalf(scaled) };
}

function render({ model, el }) {
  const start = { scores: [...model.get("scores")], temperature: model.get("temperature"), shift: model.get("shift") };
  const read = () => Object.fromEntries(Object.keys(start).map((key) => [key, model.get(key)]));
  function put(state) {
    for (const [key, value] of Object.entries(state)) model.set(key, value);
    model.save_changes();
  }
  const scores = KEYS.map((name, i) =>
    slider({
      label: `score of ${name}`, min: -5, max: 5, step: 0.1, value: start.scores[i], role: "key",
      show: (x) => fmt(x, 1),
      onInput: (x) => put({ scores: model.get("scores").map((s, j) => (j === i ? x : s)) }),
    }),
  );
  // The slider runs over log10 T, so that halving and doubling are equally far.
  const temperature = slider({
    label: "temperature T", min: -1, max: 1, step: 0.05, value: Math.log10(start.temperature),
    show: (x) => fmt(10 ** x, 2),
    onInput: (x) => put({ temperature: 10 ** x }),
  });
  const shift = slider({
    label: "added to every score", min: -25, max: 25, step: 0.5, value: start.shift,
    show: (x) => fmt(x, 1),
    onInput: (x) => put({ shift: x }),
  });
  const weights = bars({ label: "weights", names: KEYS, role: "key" });
  const slopes = grid({
    label: "derivatives of the weights (rows) by the scores / T (columns)", rows: KEYS, columns: KEYS,
  });
  const spread = readout({ label: "entropy, of at most ln 4 = 1.39", name: "entropy" });
  const effective = readout({ label: "effective number of keys", name: "effective" });
  const steepest = readout({ label: "largest derivative, of at most 0.25", name: "steepest" });
  const half = readout({ label: "without subtracting the maximum, in float16:", name: "half", live: true });

  function draw() {
    const shown = explore(read());
    weights.set(shown.weights);
    slopes.set(shown.slopes, { high: 0.25 });
    spread.set(fmt(shown.entropy, 2));
    effective.set(fmt(shown.effective, 2));
    steepest.set(fmt(shown.steepest, 3));
    half.set(shown.half);
  }
  function follow() {
    const state = read();
    scores.forEach((one, i) => one.set(state.scores[i]));
    temperature.set(Math.log10(state.temperature));
    shift.set(state.shift);
    draw();
  }

  const presets = Object.entries({ "Start again": start, ...PRESETS });
  frame(
    el,
    "Four scores, four weights, sixteen derivatives",
    row(
      column(...scores.map((one) => one.el), temperature.el, shift.el, weights.el),
      column(slopes.el, spread.el, effective.el, steepest.el, half.el),
    ),
    h("div", { class: "kit-buttons" }, ...presets.map(([name, state]) => button(name, () => put(state)))),
  );
  for (const key of Object.keys(start)) model.on(`change:${key}`, follow);
  draw();
}

export default { render };
