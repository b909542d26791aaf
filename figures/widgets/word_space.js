// Four words in three dimensions: turn the space, move Mom, watch the parallelogram.

import { add, cosine, dot, fmt, norm, subtract } from "./arithmetic.js";
import { button, column, frame, grid, readout, row, slider, svg } from "./kit.js";

const OTHERS = ["king", "queen", "dad"];
const WORDS = [...OTHERS, "mom"];
const SIZE = 340;
const UNIT = 190; // pixels for a step of 1
const ROLES = { king: "series-1", queen: "series-1", dad: "series-2", mom: "series-2" };
const title = (word) => word[0].toUpperCase() + word.slice(1);
const listed = (vector) => `(${vector.map((x) => fmt(x)).join(", ")})`;

/** Where right and up on the screen point in the space, for a turn and a tilt in degrees. */
export function screen(turn, tilt) {
  const [a, e] = [(turn * Math.PI) / 180, (tilt * Math.PI) / 180];
  const right = [-Math.sin(a), Math.cos(a), 0];
  const up = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
  return { right, up };
}

/** A point of the space as pixels; the middle of the box stays in the middle. */
export function project(point, { turn, tilt }) {
  const { right, up } = screen(turn, tilt);
  const from = point.map((x) => x - 0.5);
  return [SIZE / 2 + UNIT * dot(from, right), SIZE / 2 - UNIT * dot(from, up)];
}

/** The point moved by pixels in the plane of the screen, kept inside the box. */
export function dragged(point, dx, dy, { turn, tilt }) {
  const { right, up } = screen(turn, tilt);
  return point.map((x, i) => inside(x + (dx * right[i] - dy * up[i]) / UNIT));
}

const inside = (x) => Math.min(1, Math.max(0, Math.round(x * 100) / 100));

/** All that is written under the picture: Mom against the others, and where the analogy leads. */
export function compare(words) {
  const target = add(subtract(words.queen, words.king), words.dad);
  const measures = (word) => [
    cosine(words.mom, words[word]),
    dot(words.mom, words[word]),
    norm(subtract(words.mom, words[word])),
  ];
  const found = WORDS.map((word) => [word, cosine(words[word], target)]);
  const best = found.reduce((one, other) => (other[1] > one[1] + 1e-12 ? other : one));
  return { target, gap: norm(subtract(words.mom, target)), table: OTHERS.map(measures), best };
}

const CORNERS = [0, 1].flatMap((x) => [0, 1].flatMap((y) => [0, 1].map((z) => [x, y, z])));
const EDGES = CORNERS.flatMap((a) => CORNERS.filter((b) => dot(subtract(b, a), [1, 1, 1]) === 1 && norm(subtract(b, a)) === 1).map((b) => [a, b]));

function line(from, to, attributes) {
  const [[x1, y1], [x2, y2]] = [from, to];
  return svg("line", { x1, y1, x2, y2, ...attributes });
}

function label([x, y], text, attributes) {
  const end = x > SIZE * 0.72;
  return svg("text", { x: x + (end ? -9 : 9), y: y - 7, "text-anchor": end ? "end" : "start", class: "kit-word", ...attributes }, text);
}

/** Draw box, axes, arrows and parallelogram again; Mom's tip is kept, so that a drag goes on. */
function paint(layer, words, axes, target, view) {
  const at = (point) => project(point, view);
  const parts = EDGES.map(([a, b]) => line(at(a), at(b), { class: "kit-tick" }));
  axes.forEach((name, i) => {
    const end = at([0, 1, 2].map((j) => (i === j ? 1 : 0)));
    const y = end[1] + (end[1] < at([0, 0, 0])[1] ? -8 : 18);
    parts.push(line(at([0, 0, 0]), end, { class: "kit-axis" }));
    const x = Math.min(SIZE - 26, Math.max(40, end[0]));
    parts.push(label(end, name, { x, y, "text-anchor": "middle", fill: "var(--muted)" }));
  });
  for (const [a, b] of [[words.king, words.queen], [words.dad, target], [words.king, words.dad], [words.queen, target]])
    parts.push(line(at(a), at(b), { stroke: "var(--accent)", "stroke-width": 2, "stroke-dasharray": "5 4" }));
  for (const word of WORDS) {
    const fill = `var(--${ROLES[word]})`;
    const dash = word === "queen" || word === "mom" ? "1 0" : "8 3";
    parts.push(line(at([0, 0, 0]), at(words[word]), { class: "kit-shaft", stroke: fill, "stroke-dasharray": dash }));
    if (word !== "mom") parts.push(svg("circle", { cx: at(words[word])[0], cy: at(words[word])[1], r: 4, fill }));
    const [, y] = at(words[word]);
    parts.push(label(at(words[word]), title(word), { y: y > at([0, 0, 0])[1] ? y + 16 : y - 7, fill }));
  }
  const [cx, cy] = at(target);
  parts.push(svg("circle", { cx, cy, r: 12, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }));
  layer.replaceChildren(...parts);
}

function onDrag(element, start, move) {
  let last = null;
  element.addEventListener("pointerdown", (event) => {
    if (!start(event)) return;
    last = [event.clientX, event.clientY];
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!last || !element.hasPointerCapture(event.pointerId)) return;
    move(event.clientX - last[0], event.clientY - last[1]);
    last = [event.clientX, event.clientY];
  });
  element.addEventListener("pointerup", () => (last = null));
}

function render({ model, el }) {
  const axes = model.get("axes");
  const first = { mom: model.get("mom"), turn: model.get("turn"), tilt: model.get("tilt") };
  const change = (state) => {
    for (const [name, value] of Object.entries(state)) model.set(name, value);
    model.save_changes();
  };
  const view = () => ({ turn: model.get("turn"), tilt: model.get("tilt") });
  const layer = svg("g", {});
  const tip = svg("circle", { class: "kit-tip", r: 8, fill: `var(--${ROLES.mom})`, style: "cursor:grab;touch-action:none", "data-name": "tip" });
  const picture = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "kit-plane", role: "img" }, layer, tip);
  const scale = () => SIZE / picture.getBoundingClientRect().width;
  let exact = null; // Mom's place during a drag, before it is rounded to hundredths
  onDrag(tip, () => (exact = [...model.get("mom")]), (dx, dy) => {
    const { right, up } = screen(view().turn, view().tilt);
    exact = exact.map((x, i) => x + ((dx * right[i] - dy * up[i]) * scale()) / UNIT);
    change({ mom: exact.map(inside) });
  });
  onDrag(picture, (event) => event.target !== tip, (dx, dy) =>
    change({
      turn: (((Math.round(view().turn - dx * 0.6) % 360) + 360) % 360),
      tilt: Math.min(90, Math.max(0, Math.round(view().tilt + dy * 0.6))),
    }),
  );

  const coordinate = (name, i) =>
    slider({
      label: `Mom: ${name}`, min: 0, max: 1, step: 0.05, value: first.mom[i], role: ROLES.mom,
      onInput: (x) => change({ mom: model.get("mom").map((old, j) => (i === j ? x : old)) }),
    });
  const moms = axes.map(coordinate);
  const degrees = { step: 5, show: (x) => `${x}°` };
  const turn = slider({ label: "turn", min: 0, max: 360, value: first.turn, onInput: (x) => change({ turn: x }), ...degrees });
  const tilt = slider({ label: "tilt", min: 0, max: 90, value: first.tilt, onInput: (x) => change({ tilt: x }), ...degrees });
  const table = grid({ label: "Mom and", rows: OTHERS.map(title), columns: ["cosine", "dot", "distance"] });
  const target = readout({ label: "Queen − King + Dad", name: "target" });
  const gap = readout({ label: "its distance from Mom", name: "gap", live: true });
  const best = readout({ label: "nearest to it by cosine, inputs kept", name: "best" });
  const half = button("Halve Mom", () => change({ mom: model.get("mom").map((x) => x / 2) }));
  const again = button("Start again", () => change(first));

  function draw() {
    const words = Object.fromEntries(WORDS.map((word) => [word, model.get(word)]));
    const seen = compare(words);
    paint(layer, words, axes, seen.target, view());
    const [x, y] = project(words.mom, view());
    tip.setAttribute("cx", x);
    tip.setAttribute("cy", y);
    picture.setAttribute("aria-label", `King, Queen, Dad and Mom as arrows; Mom at ${listed(words.mom)}`);
    moms.forEach(({ set }, i) => set(words.mom[i]));
    turn.set(view().turn);
    tilt.set(view().tilt);
    table.set(seen.table.map((line) => line.map((x) => (Number.isNaN(x) ? 0 : x))), { high: Infinity });
    seen.table.forEach((line, i) => {
      if (Number.isNaN(line[0])) table.cells[i][0].face.textContent = "none";
    });
    target.set(listed(seen.target));
    gap.set(fmt(seen.gap));
    best.set(`${title(seen.best[0])}, ${fmt(seen.best[1])}`);
  }

  const controls = column(...moms.map((one) => one.el), row(half, again), table.el, target.el, gap.el, best.el);
  frame(el, "Four words in three dimensions", row(column(picture, turn.el, tilt.el), controls));
  for (const name of ["mom", "turn", "tilt"]) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
