// What is left of a gradient at a distance: a factor for each step, or one weight.

import { fmt } from "./arithmetic.js";
import { column, frame, h, readout, row, slider, svg } from "./kit.js";

export const LONGEST = 100;
const NAMES = ["RNN", "LSTM", "attention"];
const LOOKS = { RNN: ["series-1", ""], LSTM: ["series-2", "7 4"], attention: ["series-3", "2 4"] };
const POWERS = { low: -12, high: 4 };
const BOX = { width: 420, height: 236, left: 52, right: 408, top: 12, bottom: 200 };

/** What one step multiplies an RNN's gradient by: u (1 - h^2). */
export const stepOf = ({ weight, state_size }) => weight * (1 - state_size ** 2);

/** The share of a gradient that arrives from a distance, by each way. */
export function arriving(state, distance) {
  return {
    RNN: stepOf(state) ** distance,
    LSTM: state.forget ** distance,
    attention: 1 / (distance + 1),
  };
}

/** From which distance on, up to the longest, attention passes on more than the named way; or 0. */
export function overtakes(state, name) {
  let from = 0;
  for (let k = LONGEST; k >= 1; k -= 1) {
    const here = arriving(state, k);
    if (here.attention <= here[name]) break;
    from = k;
  }
  return from;
}

/** Two digits, and powers of ten where many zeros would stand. */
export function short(x) {
  if (x >= 1000) return fmt(x, 0);
  if (x >= 0.01) return fmt(x, x >= 10 ? 1 : 3);
  const [digits, power] = x.toExponential(1).split("e");
  return `${digits} · 10^${power.replace("-", "\u2212").replace("+", "")}`;
}

/** The sentences under the picture. */
export function report(state) {
  const here = arriving(state, state.distance);
  const factor = stepOf(state);
  const law = Math.abs(factor - 1) < 1e-9 ? "stays" : factor < 1 ? "vanishes" : "explodes";
  const ahead = ["RNN", "LSTM"].map((name) => {
    const from = overtakes(state, name);
    return from ? `the ${name} from distance ${from} on` : `not the ${name} up to ${LONGEST}`;
  });
  return {
    RNN: `${short(here.RNN)}: times ${fmt(factor, 3)} a step, ${law}`,
    LSTM: `${short(here.LSTM)}: times ${fmt(state.forget, 3)} a step`,
    attention: `${short(here.attention)}: 1 of ${state.distance + 1} equal shares`,
    ahead: `Attention passes on more than: ${ahead.join("; ")}.`,
  };
}

/** A logarithmic picture of the three curves, with a mark at the chosen distance. */
function chart() {
  const x = (k) => BOX.left + ((k - 1) / (LONGEST - 1)) * (BOX.right - BOX.left);
  const y = (share) => {
    const power = Math.min(POWERS.high, Math.max(POWERS.low, Math.log10(share)));
    return BOX.bottom - ((power - POWERS.low) / (POWERS.high - POWERS.low)) * (BOX.bottom - BOX.top);
  };
  const picture = svg("svg", { viewBox: `0 0 ${BOX.width} ${BOX.height}`, class: "kit-line", role: "img" });
  for (let power = POWERS.low; power <= POWERS.high; power += 4) {
    const at = y(10 ** power);
    picture.append(svg("line", { x1: BOX.left, x2: BOX.right, y1: at, y2: at, class: power ? "kit-tick" : "kit-axis" }));
    const label = power ? [`10`, svg("tspan", { dy: -5, "font-size": 9 }, `${power}`.replace("-", "\u2212"))] : ["1"];
    picture.append(svg("text", { x: BOX.left - 6, y: at + 4, "text-anchor": "end" }, ...label));
  }
  for (const k of [1, 25, 50, 75, 100])
    picture.append(svg("text", { x: x(k), y: BOX.bottom + 17, "text-anchor": "middle" }, `${k}`));
  picture.append(svg("text", { x: (BOX.left + BOX.right) / 2, y: BOX.bottom + 33, "text-anchor": "middle" }, "distance in words"));
  const lines = NAMES.map((name) => {
    const [role, dash] = LOOKS[name];
    return svg("polyline", { fill: "none", stroke: `var(--${role})`, "stroke-width": 2.5, "stroke-dasharray": dash });
  });
  const marks = svg("g", {});
  picture.append(...lines, marks);
  const set = (state) => {
    const curves = Array.from({ length: LONGEST }, (_, i) => arriving(state, i + 1));
    NAMES.forEach((name, i) =>
      lines[i].setAttribute("points", curves.map((one, k) => `${x(k + 1).toFixed(1)},${y(one[name]).toFixed(1)}`).join(" ")),
    );
    const here = arriving(state, state.distance);
    const at = x(state.distance);
    marks.replaceChildren(
      svg("line", { x1: at, x2: at, y1: BOX.top, y2: BOX.bottom, class: "kit-axis" }),
      ...NAMES.map((name) => svg("circle", { cx: at, cy: y(here[name]), r: 5, fill: `var(--${LOOKS[name][0]})` })),
    );
    const said = NAMES.map((name) => `${name} ${short(here[name])}`).join(", ");
    picture.setAttribute("aria-label", `What arrives from distance ${state.distance}: ${said}`);
  };
  return { el: picture, set };
}

/** The name of a curve beside a piece of its line. */
function sample(name) {
  const [role, dash] = LOOKS[name];
  const line = svg("line", { x1: 0, x2: 30, y1: 6, y2: 6, stroke: `var(--${role})`, "stroke-width": 2.5, "stroke-dasharray": dash });
  return svg("svg", { viewBox: "0 0 30 12", width: 30, height: 12, "aria-hidden": "true" }, line);
}

function render({ model, el }) {
  const keys = ["distance", "weight", "state_size", "forget"];
  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const control = (key, label, min, max, step, digits) =>
    slider({
      label, min, max, step, value: model.get(key), show: (x) => fmt(x, digits),
      onInput: (x) => {
        model.set(key, x);
        model.save_changes();
      },
    });
  const controls = {
    distance: control("distance", "distance in words", 1, LONGEST, 1, 0),
    weight: control("weight", "RNN: weight u", 0.5, 1.6, 0.01, 2),
    state_size: control("state_size", "RNN: state h", 0, 0.9, 0.05, 2),
    forget: control("forget", "LSTM: forget gate", 0.5, 1, 0.005, 3),
  };
  const picture = chart();
  const said = Object.fromEntries(
    NAMES.map((name) => {
      const one = readout({ label: name, name });
      one.el.prepend(sample(name));
      return [name, one];
    }),
  );
  const ahead = h("div", { class: "kit-label", "data-name": "ahead", role: "status" });

  function draw() {
    const state = read();
    const now = report(state);
    picture.set(state);
    for (const name of NAMES) said[name].set(now[name]);
    ahead.textContent = now.ahead;
  }

  frame(
    el,
    "What arrives from far away",
    row(controls.distance.el, controls.weight.el),
    row(controls.state_size.el, controls.forget.el),
    picture.el,
    column(...NAMES.map((name) => said[name].el)),
    ahead,
  );
  for (const key of keys)
    model.on(`change:${key}`, () => {
      controls[key].set(model.get(key));
      draw();
    });
  draw();
}

export default { render };
