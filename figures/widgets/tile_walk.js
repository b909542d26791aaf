// A table of scores, made, used and forgotten tile by tile; what is kept of a row is exact.

import { button, choice, column, frame, grid, readout, row, slider, toggle } from "./kit.js";

const gcd = (a, b) => (b ? gcd(b, a % b) : Math.abs(a));
const over = (a, b) => [a / gcd(a, b), b / gcd(a, b)];
const plus = ([a, b], [c, d]) => over(a * d + c * b, b * d);
const times = ([a, b], [c, d]) => over(a * c, b * d);
const text = ([a, b]) => (b === 1 ? `${a}` : `${a}/${b}`);
const pair = (both) => `(${both.map(text).join(", ")})`;

/** The tiles in their order: [first query, last query, first key, last key], counted from 0. */
export function visits({ scores, rows, columns, causal }) {
  const n = scores.length;
  const found = [];
  for (let top = 0; top < n; top += rows) {
    const bottom = Math.min(top + rows, n) - 1;
    for (let left = 0; left < n; left += columns)
      if (!causal || left <= bottom) found.push([top, bottom, left, Math.min(left + columns, n) - 1]);
  }
  return found;
}

/**
 * What is kept of the chosen query's row before the first tile and after each: e to the maximum,
 * and as fractions the total, the mixture, and the factor that the last tile put on the old sums
 * (null where that tile did not touch this row).
 */
export function walk(state) {
  const { scores, values, causal, forgets, query } = state;
  const at = query - 1;
  let now = { maximum: 0, total: [0, 1], mixture: [[0, 1], [0, 1]], factor: null };
  const all = [now];
  for (const [top, bottom, left, right] of visits(state)) {
    const keys = [];
    for (let key = left; key <= right; key += 1) if (!causal || key <= at) keys.push(key);
    if (at < top || at > bottom || !keys.length) now = { ...now, factor: null };
    else {
      const numbers = keys.map((key) => scores[at][key]);
      const maximum = Math.max(now.maximum, ...numbers);
      const factor = forgets ? [1, 1] : over(now.maximum, maximum);
      const sum = (weight) => over(keys.reduce((all, key, i) => all + numbers[i] * weight(key), 0), maximum);
      now = {
        maximum,
        factor,
        total: plus(times(factor, now.total), sum(() => 1)),
        mixture: now.mixture.map((old, i) => plus(times(factor, old), sum((key) => values[key][i]))),
      };
    }
    all.push(now);
  }
  return all;
}

/** Mixture over total, or null before the first score of the row. */
export function output({ total, mixture }) {
  return total[0] ? mixture.map(([a, b]) => over(a * total[1], b * total[0])) : null;
}

/** The sentences beside the picture. */
export function report(state) {
  const all = visits(state);
  const step = Math.min(state.step, all.length);
  const now = walk(state)[step];
  const span = (a, b) => (a === b ? `${a + 1}` : `${a + 1} to ${b + 1}`);
  const tile = step ? all[step - 1] : null;
  const n = state.scores.length;
  const here = output(now);
  const right = output(walk({ ...state, forgets: false }).at(-1));
  const held = tile ? (tile[1] - tile[0] + 1) * (tile[3] - tile[2] + 1) : 0;
  const block = tile ? tile[1] - tile[0] + 1 : 0;
  const old = { factor: "not touched by this tile" };
  if (now.factor)
    old.factor = state.forgets
      ? "kept as they were: forgotten"
      : now.factor[0] === 0
        ? "none yet"
        : `times ${text(now.factor)}`;
  const done = all.slice(step).every(([top, bottom]) => state.query - 1 < top || state.query - 1 > bottom);
  const fits = here && pair(here) === pair(right);
  return {
    tile: tile ? `queries ${span(tile[0], tile[1])}, keys ${span(tile[2], tile[3])}` : "none yet",
    values: tile ? state.values.slice(tile[2], tile[3] + 1).map((one) => `(${one.join(", ")})`).join(", ") : "none yet",
    memory: `${held} scores and ${4 * block} numbers of ${block} rows, where the table has ${n * n} scores`,
    old: step ? old.factor : "none yet",
    kept: here ? `maximum ln ${now.maximum}, total ${text(now.total)}, mixture ${pair(now.mixture)}` : "nothing yet",
    output: !here ? "none yet" : `${pair(here)}${done ? (fits ? ", as from the whole table" : `, and the whole table gives ${pair(right)}`) : " so far"}`,
    wrong: Boolean(here && done && !fits),
  };
}

function render({ model, el }) {
  const keys = ["scores", "values", "rows", "columns", "causal", "forgets", "query", "step"];
  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const put = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  const n = model.get("scores").length;
  const numbers = Array.from({ length: n }, (_, i) => `${i + 1}`);
  const divisors = numbers.filter((i) => n % Number(i) === 0);
  let timer = 0;
  /** A step chosen by hand ends the playing. */
  function go(step) {
    clearInterval(timer);
    put("step", step);
  }
  const radio = (key, label, options) =>
    choice({ label, options: options.map((x) => [x, x]), value: `${model.get(key)}`, onChange: (x) => put(key, Number(x)) });
  const flag = (key, label) => toggle({ label, value: model.get(key), onChange: (on) => put(key, on) });
  const controls = {
    rows: radio("rows", "queries in a tile", divisors),
    columns: radio("columns", "keys in a tile", divisors),
    query: radio("query", "follow query", numbers),
    causal: flag("causal", "causal"),
    forgets: flag("forgets", "forget to rescale (wrong)"),
    step: slider({ label: "tile", min: 0, max: visits(read()).length, step: 1, value: model.get("step"), show: (x) => `${x}`, onInput: go }),
  };
  const play = button("Play the tiles", () => {
    go(0);
    timer = setInterval(() => {
      if (model.get("step") >= visits(read()).length || !el.isConnected) clearInterval(timer);
      else put("step", model.get("step") + 1);
    }, 1100);
  });
  const labels = { tile: "In memory:", values: "Values of these keys:", old: "The old sums of the row:", kept: "Kept of the row:", output: "Its output:", memory: "Numbers held:" };
  const said = Object.fromEntries(
    Object.entries(labels).map(([name, label]) => [name, readout({ label, live: name === "output", name })]),
  );
  let tile = null;
  const shown = (i, j) => tile && i >= tile[0] && i <= tile[1] && j >= tile[2] && j <= tile[3];
  const table = grid({
    label: "scores: query by key",
    rows: numbers,
    columns: numbers,
    write: (x, i, j) => (shown(i, j) ? `ln ${model.get("scores")[i][j]}` : x ? "·" : ""),
  });
  const heads = table.cells.map((line) => line[0].td.parentElement.firstElementChild);

  function draw() {
    const state = read();
    const all = visits(state);
    const step = Math.min(state.step, all.length);
    tile = step ? all[step - 1] : null;
    const done = all.slice(0, step);
    const was = (i, j) => done.some(([top, bottom, left, right]) => i >= top && i <= bottom && j >= left && j <= right);
    const marks = state.scores.map((line, i) =>
      line.map((a, j) => (shown(i, j) ? 0.15 + Math.log(a) : was(i, j) ? 0.001 : 0)),
    );
    table.set(marks, {
      high: 0.3 + Math.log(Math.max(...state.scores.flat())),
      mask: state.scores.map((line, i) => line.map((_, j) => !state.causal || j <= i)),
      selected: (i, j) => shown(i, j) && i === state.query - 1,
    });
    heads.forEach((head, i) => (head.style.fontWeight = i === state.query - 1 ? 700 : 400));
    controls.step.input.max = all.length;
    controls.step.set(step);
    const now = report(state);
    for (const name of Object.keys(labels)) said[name].set(now[name]);
    said.output.el.classList.toggle("kit-alarm", now.wrong);
  }

  frame(
    el,
    "Attention in tiles",
    row(controls.rows.el, controls.columns.el, controls.query.el),
    row(controls.causal.el, controls.forgets.el),
    row(controls.step.el, play),
    row(table.el, column(...Object.values(said).map((one) => one.el))),
  );
  for (const key of ["rows", "columns", "causal", "forgets", "query", "step"])
    model.on(`change:${key}`, () => {
      const value = model.get(key);
      if (key !== "step") controls[key].set(typeof value === "number" ? `${value}` : value);
      draw();
    });
  draw();
}

export default { render };
