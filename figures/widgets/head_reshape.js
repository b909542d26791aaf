// A vector split into heads and merged again: where every number goes, rightly or wrongly.

import { choice, column, frame, h, button, readout, row, slider, svg, toggle } from "./kit.js";

const LAST = 4;
const CELL = { width: 38, height: 26, gap: 12, left: 118, top: 6 };

/** Swap the first two axes of an array of shape (a, b, c) that is kept as one list. */
export function swapped(ids, [a, b, c]) {
  const moved = [];
  for (let j = 0; j < b; j += 1)
    for (let i = 0; i < a; i += 1) for (let k = 0; k < c; k += 1) moved.push(ids[(i * b + j) * c + k]);
  return moved;
}

/**
 * The state after each of the five steps: its shape, what its axes are, the elements in the order
 * of memory (element t * d_model + f is feature f of token t), and the call that made it.
 */
export function steps({ n, d_model, heads, view_splits, view_merges }) {
  if (d_model % heads) return null;
  const d_k = d_model / heads;
  const start = Array.from({ length: n * d_model }, (_, i) => i);
  const flat = { shape: [n, d_model], axes: ["token"] };
  const byToken = { shape: [n, heads, d_k], axes: ["token", "head"] };
  const byHead = { shape: [heads, n, d_k], axes: ["head", "token"] };
  const said = (shape) => `reshape(${shape.join(", ")})`;
  const split = view_splits ? start : swapped(start, byToken.shape);
  const straight = `${said(byHead.shape)}, and the axes were never swapped`;
  const back = view_merges ? split : swapped(split, byHead.shape);
  return [
    { ...flat, ids: start, call: "the queries of all heads, as one product made them" },
    view_splits ? { ...byHead, ids: start, call: straight } : { ...byToken, ids: start, call: said(byToken.shape) },
    { ...byHead, ids: split, call: view_splits ? "nothing more, for the shape looks right" : "swapaxes(0, 1)" },
    view_merges
      ? { ...flat, ids: split, call: `${said(flat.shape)}, and the axes were never swapped back` }
      : { ...byToken, ids: back, call: "swapaxes(0, 1)" },
    { ...flat, ids: back, call: view_merges ? "nothing more, for the shape looks right" : said(flat.shape) },
  ];
}

/** Which positions hold a number that belongs to a different token, head or feature. */
export function misplaced({ n, d_model, heads }, { shape, axes, ids }) {
  const d_k = d_model / heads;
  return ids.map((id, place) => {
    if (shape.length === 2) return id !== place;
    const block = Math.floor(place / (shape[1] * d_k));
    const line = Math.floor(place / d_k) % shape[1];
    const [token, head] = axes[0] === "token" ? [block, line] : [line, block];
    return id !== token * d_model + head * d_k + (place % d_k);
  });
}

/** Write an element as token and feature, both counted from 1. */
export const written = (id, d_model) => `${Math.floor(id / d_model) + 1}·${(id % d_model) + 1}`;

/** The two sentences below the picture. */
export function report(state) {
  const all = steps(state);
  const { n, d_model, heads, step } = state;
  if (!all) return { shape: `${heads} heads cannot share ${d_model} features equally`, wrong: "nothing to show" };
  const now = all[step];
  const bad = misplaced(state, now).filter(Boolean).length;
  let wrong = bad ? `${bad} of ${n * d_model} numbers` : "none";
  const strangers = misplaced(state, all[2]).filter(Boolean).length;
  if (!bad && step === LAST && strangers)
    wrong = `none, and yet ${strangers} were wrong inside the heads, where attention happens`;
  return { shape: `(${now.shape.join(", ")}): ${now.call}`, wrong };
}

/** Where a place of a shape is drawn: blocks below each other, so reading order is memory order. */
export function corner(place, shape) {
  const width = shape.at(-1);
  const line = Math.floor(place / width);
  const block = shape.length === 3 ? Math.floor(line / shape[1]) : 0;
  const x = CELL.left + (place % width) * CELL.width;
  return [x, CELL.top + line * CELL.height + block * CELL.gap];
}

function render({ model, el }) {
  const keys = ["n", "d_model", "heads", "step", "view_splits", "view_merges"];
  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const put = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  let timer = 0;
  let drawn = "";
  let canvas, cells, names;
  /** A step chosen by hand ends the playing. */
  function go(step) {
    clearInterval(timer);
    put("step", step);
  }
  const radio = (key, label, options) =>
    choice({ label, options: options.map((x) => [String(x), String(x)]), value: String(model.get(key)), onChange: (x) => put(key, Number(x)) });
  const controls = {
    step: slider({ label: "step", min: 0, max: LAST, step: 1, value: model.get("step"), show: (x) => `${x} of ${LAST}`, onInput: (x) => go(x) }),
    n: radio("n", "tokens n", [2, 3, 4]),
    d_model: radio("d_model", "features d_model", [4, 6, 8]),
    heads: radio("heads", "heads h", [1, 2, 3, 4]),
    view_splits: toggle({ label: "split by reshape alone (wrong)", value: model.get("view_splits"), onChange: (on) => put("view_splits", on) }),
    view_merges: toggle({ label: "merge by reshape alone (wrong)", value: model.get("view_merges"), onChange: (on) => put("view_merges", on) }),
  };
  const shape = readout({ label: "Shape:", live: true, name: "shape" });
  const wrong = readout({ label: "At the wrong position:", name: "wrong" });
  const picture = h("div", { class: "kit-scroll" });
  const play = button("Play the steps", () => {
    go(0);
    timer = setInterval(() => {
      if (model.get("step") >= LAST || !el.isConnected) clearInterval(timer);
      else put("step", model.get("step") + 1);
    }, 1400);
  });

  /** Make the cells again; only a change of the sizes needs it, so that steps can be animated. */
  function build({ n, d_model, heads }) {
    const lines = n * heads;
    const height = 2 * CELL.top + lines * CELL.height + (Math.max(n, heads) - 1) * CELL.gap;
    const width = CELL.left + d_model * CELL.width + 4;
    canvas = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "kit-cells", role: "img", style: `max-width: ${width}px` });
    names = Array.from({ length: lines }, () => svg("text", { x: CELL.left - 10, "text-anchor": "end", class: "kit-row-name" }));
    cells = Array.from({ length: n * d_model }, (_, id) => {
      const tint = Math.round((36 * Math.floor(id / d_model)) / (n - 1)) + 3;
      const box = svg("rect", { width: CELL.width - 3, height: CELL.height - 3, rx: 3, fill: `var(--w${tint})` });
      const ink = `var(--ink-on-${tint >= 23 ? "high" : "low"})`;
      const text = svg("text", { x: CELL.width / 2 - 1.5, y: 16, "text-anchor": "middle", fill: ink }, written(id, d_model));
      return svg("g", { class: "kit-move", "data-id": id }, box, text);
    });
    canvas.append(...names, ...cells);
    picture.replaceChildren(canvas);
  }

  function draw() {
    const state = read();
    const all = steps(state);
    const said = report(state);
    shape.set(said.shape);
    wrong.set(said.wrong);
    wrong.el.classList.toggle("kit-alarm", /^\d|yet/.test(said.wrong));
    if (!all) {
      picture.replaceChildren();
      drawn = "";
      return;
    }
    const sizes = [state.n, state.d_model, state.heads].join();
    if (sizes !== drawn) build(state);
    drawn = sizes;
    const now = all[state.step];
    const bad = misplaced(state, now);
    const width = now.shape.at(-1);
    now.ids.forEach((id, place) => {
      const [x, y] = corner(place, now.shape);
      cells[id].style.transform = `translate(${x}px, ${y}px)`;
      cells[id].setAttribute("data-place", place);
      cells[id].classList.toggle("misplaced", bad[place]);
    });
    const lines = now.ids.length / width;
    const rows = Array.from({ length: lines }, (_, line) => {
      const [block, inside] = now.shape.length === 3 ? [Math.floor(line / now.shape[1]), line % now.shape[1]] : [line];
      return [block, inside].slice(0, now.axes.length).map((i, axis) => `${now.axes[axis]} ${i + 1}`).join(", ");
    });
    names.forEach((name, line) => {
      name.textContent = rows[line] ?? "";
      name.setAttribute("y", corner(Math.min(line, lines - 1) * width, now.shape)[1] + 16);
    });
    const spoken = rows.map((name, line) => `${name}: ${now.ids.slice(line * width, (line + 1) * width).map((id) => written(id, state.d_model)).join(" ")}`);
    canvas.setAttribute("aria-label", `Each number as token·feature. ${spoken.join("; ")}`);
  }

  frame(
    el,
    "Where every number goes",
    row(controls.n.el, controls.d_model.el, controls.heads.el),
    row(controls.view_splits.el, controls.view_merges.el),
    row(controls.step.el, play),
    picture,
    column(shape.el, wrong.el),
  );
  for (const key of keys)
    model.on(`change:${key}`, () => {
      const value = model.get(key);
      controls[key].set(["n", "d_model", "heads"].includes(key) ? String(value) : value);
      draw();
    });
  draw();
}

export default { render };
