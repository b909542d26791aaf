// A decoder's parameters as a spreadsheet: sizes to be typed, a row for each group, and the total.

import { fmt } from "./arithmetic.js";
import { choice, column, frame, h, numberCell, readout, row, toggle } from "./kit.js";

const ROWS = [
  ["embedding", "embeddings", null, "vocab_size × d_model"],
  ["positions", "embeddings", "positions", "context_length × d_model"],
  ["queries", "attention", null, "layers × heads × d_k × d_model"],
  ["keys", "attention", null, "layers × heads × d_k × d_model"],
  ["values", "attention", null, "layers × heads × d_k × d_model"],
  ["output", "attention", null, "layers × heads × d_model × d_k"],
  ["attention biases", "attention", "biases", "layers × 4 × d_model"],
  ["up", "feed-forward", null, "layers × d_ff × d_model"],
  ["up biases", "feed-forward", "biases", "layers × d_ff"],
  ["down", "feed-forward", null, "layers × d_model × d_ff"],
  ["down biases", "feed-forward", "biases", "layers × d_model"],
  ["norms of the blocks", "norms", "norms", "layers × 4 × d_model"],
  ["last norm", "norms", "norms", "2 × d_model"],
  ["unembedding", "embeddings", "untied", "vocab_size × d_model"],
];
const GROUPS = ["embeddings", "attention", "feed-forward", "norms"];
const SIZES = [
  ["vocab_size", "vocab_size, V", 1e6],
  ["context_length", "context_length, n_max", 1e6],
  ["d_model", "d_model", 65536],
  ["heads", "heads", 1024],
  ["layers", "layers", 1000],
  ["d_ff", "d_ff", 262144],
];
const SWITCHES = [
  ["positions", "learned positions"],
  ["biases", "biases"],
  ["norms", "norms"],
  ["tied", "tied embeddings"],
];

/** A whole number with commas. */
export const whole = (x) => String(x).replace(/\B(?=(\d{3})+$)/g, ",");

/** What is wrong with the sizes, or nothing. */
export function problem({ d_model, heads }) {
  if (d_model % heads === 0) return "";
  return `The heads share d_model equally, and ${heads} does not divide ${whole(d_model)}.`;
}

/** What to say of a number that cannot be a size; the ledger keeps the one before. */
export function refusal(label, max, kept) {
  return `${label} is a whole number from 1 to ${whole(max)}; still counted with ${whole(kept)}.`;
}

/** The rows of the ledger. Every count is an exact integer: the largest is far below 2 to the 53. */
export function ledger(sizes) {
  const known = { ...sizes, d_k: sizes.d_model / sizes.heads, untied: !sizes.tied };
  return ROWS.map(([part, group, needs, formula]) => {
    const factors = formula.split(" × ").map((name) => known[name] ?? Number(name));
    const count = needs && !known[needs] ? 0 : factors.reduce((product, x) => product * x, 1);
    return { part, group, formula, numbers: factors.map(whole).join(" × "), count };
  });
}

/** The sums: of everything, and of each group. */
export function sums(sizes) {
  const rows = ledger(sizes);
  const add = (kept) => kept.reduce((sum, { count }) => sum + count, 0);
  const groups = GROUPS.map((group) => [group, add(rows.filter((one) => one.group === group))]);
  return { total: add(rows), groups: Object.fromEntries(groups) };
}

/** A share in per cent, with one digit, or two where it is small; never 0 for what is there. */
export function percent(part, all) {
  const share = (100 * part) / all;
  if (share > 0 && share < 0.005) return "< 0.01 %";
  return `${fmt(share, share > 0 && share < 0.995 ? 2 : 1)} %`;
}

/** Bytes in words: MB below a thousand million, GB from there on. */
export function bytes(count) {
  return count < 1e9 ? `${fmt(count / 1e6, 0)} MB` : `${fmt(count / 1e9, count < 1e10 ? 1 : 0)} GB`;
}

/** The sentences below the table. */
export function report(sizes) {
  const { total, groups } = sums(sizes);
  const block = groups.attention + groups["feed-forward"] + groups.norms;
  return {
    total: `${whole(total)} parameters`,
    groups: GROUPS.map((group) => `${group} ${percent(groups[group], total)}`).join(", "),
    block: `${percent(groups.attention, block)} attention, ${percent(groups["feed-forward"], block)} feed-forward`,
    bytes: `${bytes(4 * total)} in single precision, ${bytes(2 * total)} in half, ${bytes(total)} in int8`,
  };
}

/** The name of the preset that has these sizes, or an empty text. */
export function presetOf(presets, sizes) {
  const same = (one) => Object.entries(one).every(([key, value]) => sizes[key] === value);
  return Object.keys(presets).find((name) => same(presets[name])) ?? "";
}

const KEYS = [...SIZES, ...SWITCHES].map(([key]) => key);

function render({ model, el }) {
  const presets = model.get("presets");
  const read = () => Object.fromEntries(KEYS.map((key) => [key, model.get(key)]));
  let refused = "";
  const put = (changes) => {
    refused = "";
    for (const [key, value] of Object.entries(changes)) model.set(key, value);
    model.save_changes();
    draw();
  };
  const preset = choice({
    label: "start from",
    options: Object.keys(presets).map((name) => [name, name]),
    value: presetOf(presets, read()),
    onChange: (name) => put(presets[name]),
  });
  const cells = SIZES.map(([key, label, max]) => {
    const cell = numberCell({ label, value: model.get(key), step: 1, min: 1, max, onInput: (x) => put({ [key]: x }) });
    cell.input.setAttribute("inputmode", "numeric");
    cell.input.classList.add("kit-size");
    const accepted = () => cell.input.value !== "" && cell.input.checkValidity();
    cell.input.addEventListener("input", () => {
      refused = accepted() ? "" : refusal(label, max, model.get(key));
      cell.input.setAttribute("aria-invalid", String(Boolean(refused)));
      tell();
    });
    // Left with an impossible number, the cell shows again what is counted.
    cell.input.addEventListener("change", () => {
      if (!accepted()) cell.set(model.get(key));
      cell.input.setAttribute("aria-invalid", "false");
    });
    return { key, ...cell, box: h("label", { class: "kit-sized" }, h("span", {}, label), cell.el) };
  });
  const switches = SWITCHES.map(([key, label]) => ({
    key,
    ...toggle({ label, value: model.get(key), onChange: (on) => put({ [key]: on }) }),
  }));
  const lines = ROWS.map(([part, group]) => {
    const fill = h("div", { class: "kit-fill", style: `background: var(--series-${GROUPS.indexOf(group) + 1})` });
    const line = {
      fill,
      formula: h("span", { class: "kit-formula" }),
      numbers: h("span", { class: "kit-formula" }),
      count: h("td", { class: "kit-count", "data-name": part }),
      share: h("span", { class: "kit-number" }),
    };
    const head = h("th", { scope: "row" }, h("span", {}, part), line.formula, line.numbers);
    const bar = h("div", { class: "kit-track", "aria-hidden": "true" }, fill);
    line.el = h("tr", {}, head, line.count, h("td", { class: "kit-share" }, line.share, bar));
    return line;
  });
  const sum = h("td", { class: "kit-count", "data-name": "sum" });
  const heads = ["row, formula, numbers", "parameters", "share"].map((text) => h("th", { scope: "col" }, text));
  const table = h(
    "table",
    { class: "kit-ledger" },
    h("thead", {}, h("tr", {}, ...heads)),
    h("tbody", {}, ...lines.map((line) => line.el)),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "total"), sum, h("td", { class: "kit-share" }, "100 %"))),
  );
  const said = {
    total: readout({ label: "", live: true, name: "total" }),
    groups: readout({ label: "Of all:", name: "groups" }),
    block: readout({ label: "Of the blocks:", name: "block" }),
    bytes: readout({ label: "Weights:", name: "bytes" }),
  };
  said.total.el.classList.add("kit-equation");

  function tell() {
    const sizes = read();
    const wrong = [refused, problem(sizes)].filter(Boolean).join(" ");
    said.total.el.classList.toggle("kit-alarm", Boolean(wrong));
    said.total.set(wrong || report(sizes).total);
  }

  function draw() {
    const sizes = read();
    preset.set(presetOf(presets, sizes));
    // What is being typed stays as it is while it means the same number.
    for (const { key, input, set } of cells) if (Number(input.value) !== sizes[key]) set(sizes[key]);
    for (const { key, set } of switches) set(sizes[key]);
    const wrong = problem(sizes);
    tell();
    const texts = wrong ? {} : report(sizes);
    for (const name of ["groups", "block", "bytes"]) said[name].set(texts[name] ?? "–");
    const { total } = sums(sizes);
    ledger(sizes).forEach(({ formula, numbers, count }, i) => {
      const { fill, share, el: line, ...texts } = lines[i];
      texts.formula.textContent = formula;
      texts.numbers.textContent = wrong ? "" : numbers;
      texts.count.textContent = wrong ? "–" : whole(count);
      share.textContent = wrong ? "–" : percent(count, total);
      fill.style.width = wrong ? "0" : `${(100 * count) / total}%`;
      line.classList.toggle("kit-off", count === 0);
    });
    sum.textContent = wrong ? "–" : whole(total);
  }

  frame(
    el,
    "A ledger of parameters",
    preset.el,
    h("div", { class: "kit-sizes", role: "group", "aria-label": "sizes" }, ...cells.map((cell) => cell.box)),
    row(...switches.map((one) => one.el)),
    column(...Object.values(said).map((one) => one.el)),
    h(
      "details",
      {},
      h("summary", {}, "Every row, with its formula"),
      h("div", { class: "kit-scroll", tabindex: 0, role: "group", "aria-label": "the rows of the ledger" }, table),
    ),
  );
  for (const key of KEYS) model.on(`change:${key}`, draw);
  draw();
}

export default { render };
