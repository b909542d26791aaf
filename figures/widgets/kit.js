// The parts that interactive figures are made of: labelled, for keyboard, pointer and touch.

import { fmt } from "./arithmetic.js";

const SVG = "http://www.w3.org/2000/svg";
const STEPS = 40; // of the colour ramps in figures/palette.py
const FLIP = 23; // the step from which numbers are written in the light ink
let serial = 0;

/** Make an element: attributes, `on...` listeners, then children (elements or text). */
export function h(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export const unique = (word) => `${word}-${(serial += 1)}`;

/** Colour a cell by a share from -1 to 1, with an ink that is legible on it. */
export function shade(element, share) {
  const step = Math.round(Math.min(1, Math.abs(share)) * STEPS);
  element.style.background = `var(--${share < 0 && step ? "n" : "w"}${step})`;
  element.style.color = `var(--ink-on-${step >= FLIP ? "high" : "low"})`;
}

/** The frame of a figure: a title for screen readers, and its parts one below the other. */
export function frame(el, title, ...parts) {
  const head = h("div", { class: "kit-title", id: unique("figure") }, title);
  const root = h("div", { class: "kit", role: "group", "aria-labelledby": head.id }, head, ...parts);
  el.replaceChildren(root);
  return root;
}

export const row = (...parts) => h("div", { class: "kit-row" }, ...parts);
export const column = (...parts) => h("div", { class: "kit-column" }, ...parts);

/** A slider with its name and its number. `show` writes the number; `set` moves it from outside. */
export function slider({ label, min, max, step, value, show = (x) => fmt(x, 2), onInput, role }) {
  const id = unique("slider");
  const output = h("output", { for: id, class: "kit-number", "aria-live": "off" });
  const input = h("input", { type: "range", id, min, max, step, value });
  if (role) input.style.accentColor = `var(--${role})`;
  const write = () => {
    output.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    write();
    onInput(Number(input.value));
  });
  write();
  const el = h("div", { class: "kit-slider" }, h("label", { for: id }, label), input, output);
  const set = (x) => {
    input.value = x;
    write();
  };
  return { el, input, set };
}

/** A cell for a number that can be typed or stepped with the arrow keys. */
export function numberCell({ label, value, step = 0.5, min = -9, max = 9, onInput }) {
  const input = h("input", { type: "number", class: "kit-cell", "aria-label": label, step, min, max });
  input.value = value;
  input.addEventListener("input", () => {
    if (input.value !== "" && input.checkValidity()) onInput(Number(input.value));
  });
  const set = (x) => (input.value = x);
  return { el: input, input, set };
}

export function toggle({ label, value = false, onChange }) {
  const input = h("input", { type: "checkbox" });
  input.checked = value;
  input.addEventListener("change", () => onChange(input.checked));
  const set = (on) => (input.checked = on);
  return { el: h("label", { class: "kit-toggle" }, input, h("span", {}, label)), input, set };
}

/** One of several, as radio buttons. `options` are [value, text] pairs. */
export function choice({ label, options, value, onChange }) {
  const name = unique("choice");
  const inputs = options.map(([option, text]) => {
    const input = h("input", { type: "radio", name, value: option });
    input.checked = option === value;
    input.addEventListener("change", () => onChange(option));
    return [option, input, h("label", { class: "kit-toggle" }, input, h("span", {}, text))];
  });
  const legend = h("legend", {}, label);
  const el = h("fieldset", { class: "kit-choice" }, legend, ...inputs.map(([, , one]) => one));
  const set = (wanted) => inputs.forEach(([option, input]) => (input.checked = option === wanted));
  return { el, set };
}

export function button(label, onClick) {
  return h("button", { type: "button", class: "kit-button", onclick: onClick }, label);
}

/** A named number or sentence. `live` tells screen readers of changes: use it for one at most. */
export function readout({ label, live = false, name = label }) {
  const output = h("output", { class: "kit-number", "data-name": name, "aria-live": live ? "polite" : "off" });
  const el = h("div", { class: "kit-readout" }, h("span", {}, label), output);
  return { el, set: (text) => (output.textContent = text) };
}

/** Horizontal bars from 0 to `high`, with their numbers as text. */
export function bars({ label, names, role = "accent", high = 1, digits = 3 }) {
  const rows = names.map((name) => {
    const fill = h("div", { class: "kit-fill", style: `background: var(--${role})` });
    const number = h("span", { class: "kit-number", "data-name": `${label} ${name}` });
    const track = h("div", { class: "kit-track" }, fill);
    return { fill, number, el: h("li", {}, h("span", { class: "kit-name" }, name), track, number) };
  });
  const list = h("ul", { class: "kit-bars", "aria-label": label }, ...rows.map(({ el }) => el));
  const set = (values) =>
    rows.forEach(({ fill, number }, i) => {
      fill.style.width = `${Math.min(100, Math.max(0, (100 * values[i]) / high))}%`;
      number.textContent = fmt(values[i], digits);
    });
  return { el: column(h("div", { class: "kit-label" }, label), list), set };
}

/**
 * A table of coloured numbers. With `onSelect(i, j)` its cells are buttons in one tab stop:
 * arrow keys, Home and End move between them, and moving selects.
 */
export function grid({ label, rows, columns, digits = 2, onSelect, role, write = (x) => fmt(x, digits) }) {
  const cells = rows.map((r, i) => columns.map((c, j) => cell(r, c, i, j)));
  const at = { i: 0, j: 0 };
  function cell(r, c, i, j) {
    const td = h("td", { "data-cell": `${i},${j}` });
    if (!onSelect) return { td, face: td, name: `${r}, ${c}` };
    const face = h("button", { type: "button", tabindex: i + j ? -1 : 0, onclick: () => go(i, j) });
    face.addEventListener("keydown", (event) => step(event));
    td.append(face);
    return { td, face, name: `${r}, ${c}` };
  }
  function step(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const ends = { Home: [at.i, 0], End: [at.i, columns.length - 1] };
    const [di, dj] = moves[event.key] ?? [0, 0];
    const [i, j] = ends[event.key] ?? [at.i + di, at.j + dj];
    if (!(event.key in moves) && !(event.key in ends)) return;
    event.preventDefault();
    if (cells[i]?.[j]) go(i, j);
  }
  function go(i, j) {
    cells[at.i][at.j].face.tabIndex = -1;
    [at.i, at.j] = [i, j];
    cells[i][j].face.tabIndex = 0;
    cells[i][j].face.focus({ preventScroll: true });
    cells[i][j].face.scrollIntoView({ block: "nearest", inline: "nearest" }); // and no further
    onSelect(i, j);
  }
  const head = h("tr", {}, h("td"), ...columns.map((c) => h("th", { scope: "col" }, c)));
  const body = rows.map((r, i) =>
    h("tr", {}, h("th", { scope: "row" }, r), ...cells[i].map(({ td }) => td)),
  );
  const caption = h("caption", role ? { style: `color: var(--${role})` } : {}, label);
  // Where no cell takes the focus, the box itself does, so that the keyboard can scroll it.
  const reach = onSelect ? {} : { tabindex: 0, role: "group", "aria-label": label };
  const table = h("table", { class: "kit-grid" }, caption, h("thead", {}, head), h("tbody", {}, ...body));
  /** Show a matrix; colours run to `high`, masked cells are hatched, `selected` is outlined. */
  function set(matrix, { high, mask, selected } = {}) {
    const top = high ?? Math.max(1e-9, ...matrix.flat().map(Math.abs).filter(Number.isFinite));
    cells.forEach((line, i) =>
      line.forEach(({ td, face, name }, j) => {
        const text = write(matrix[i][j], i, j);
        face.textContent = text;
        if (onSelect) face.setAttribute("aria-label", `${label}: ${name}: ${text}`);
        shade(face, matrix[i][j] / top);
        td.classList.toggle("masked", mask ? !mask[i][j] : false);
        td.classList.toggle("selected", selected ? selected(i, j) : false);
      }),
    );
  }
  return { el: h("div", { class: "kit-scroll", ...reach }, table), set, cells, focus: go };
}

/**
 * A plane with arrows from the origin. `vectors` are { name, role, movable, at: [x, y] };
 * a movable tip is dragged, or moved by the arrow keys (with shift in smaller steps).
 */
export function plane({ label, vectors, range = 2, size = 320, step = 0.1, onMove }) {
  const unit = size / (2 * range);
  const x = (value) => size / 2 + value * unit;
  const y = (value) => size / 2 - value * unit;
  const canvas = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "kit-plane", role: "group", "aria-label": label });
  for (let tick = -Math.floor(range); tick <= range; tick += 1) {
    const kind = tick ? "kit-tick" : "kit-axis";
    canvas.append(svg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: size, class: kind }));
    canvas.append(svg("line", { y1: y(tick), y2: y(tick), x1: 0, x2: size, class: kind }));
  }
  const clamp = (value) => Math.max(-range, Math.min(range, Math.round(value / 0.01) * 0.01));
  const drawn = vectors.map((vector) => {
    const shaft = svg("line", { class: "kit-shaft", stroke: `var(--${vector.role})` });
    const tip = svg("circle", { class: "kit-tip", r: vector.movable ? 8 : 4, fill: `var(--${vector.role})` });
    const text = svg("text", { class: "kit-word", fill: `var(--${vector.role})` }, vector.name);
    canvas.append(shaft, tip, text);
    if (vector.movable) movable(vector, tip);
    return { vector, shaft, tip, text };
  });
  function movable(vector, tip) {
    tip.setAttribute("tabindex", 0);
    tip.setAttribute("role", "slider");
    tip.setAttribute("aria-label", vector.name);
    const to = (px, py) => onMove(vector.name, [clamp(px), clamp(py)]);
    tip.addEventListener("keydown", (event) => {
      const by = event.shiftKey ? step / 10 : step;
      const move = { ArrowUp: [0, by], ArrowDown: [0, -by], ArrowLeft: [-by, 0], ArrowRight: [by, 0] }[event.key];
      if (!move) return;
      event.preventDefault();
      to(vector.at[0] + move[0], vector.at[1] + move[1]);
    });
    tip.addEventListener("pointerdown", (event) => {
      tip.setPointerCapture(event.pointerId);
      event.preventDefault();
      tip.focus({ preventScroll: true });
    });
    tip.addEventListener("pointermove", (event) => {
      if (!tip.hasPointerCapture(event.pointerId)) return;
      const box = canvas.getBoundingClientRect();
      const scale = size / box.width;
      to(((event.clientX - box.left) * scale - size / 2) / unit, (size / 2 - (event.clientY - box.top) * scale) / unit);
    });
  }
  /** Draw the vectors where `places` (name -> [x, y]) says they are now. */
  function set(places) {
    for (const { vector, shaft, tip, text } of drawn) {
      vector.at = places[vector.name];
      const [px, py] = [x(vector.at[0]), y(vector.at[1])];
      dress(shaft, { x1: x(0), y1: y(0), x2: px, y2: py }, []);
      dress(tip, { cx: px, cy: py }, []);
      // A name stands outside its arrow, unless that would take it over the edge.
      const left = px > size * 0.75 || (px < size * 0.49 && px > size * 0.3);
      const y0 = py + (py > size * 0.51 && py < size * 0.9 ? 16 : -8);
      dress(text, { x: px + (left ? -12 : 12), y: y0, "text-anchor": left ? "end" : "start" }, []);
      if (vector.movable) {
        tip.setAttribute("aria-valuenow", fmt(vector.at[0]).replace("\u2212", "-"));
        tip.setAttribute("aria-valuetext", `${fmt(vector.at[0])}, ${fmt(vector.at[1])}`);
      }
    }
  }
  set(Object.fromEntries(vectors.map((vector) => [vector.name, vector.at])));
  return { el: canvas, set };
}
