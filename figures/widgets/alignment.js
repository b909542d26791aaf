// A small trained encoder-decoder that translates in the page, and the weights of each word.

import { add, attend, dot, fmt } from "./arithmetic.js";
import { button, choice, column, frame, grid, h, readout, row, shade } from "./kit.js";

const NOTHING = 0; // no word: what the decoder reads before its first word
const LONGEST = 16; // what the model may write
const MOST = 11; // words that the reader may compose; the grammar makes at most ten

/** A number of 16 bits as IEEE 754 writes it. */
export function half(bits) {
  const sign = bits >> 15 ? -1 : 1;
  const power = (bits >> 10) & 31;
  const rest = bits & 1023;
  if (power === 0) return sign * 2 ** -24 * rest;
  return sign * 2 ** (power - 15) * (1 + rest / 1024);
}

/** The parameters by name: matrices as lists of rows, vectors as lists. */
export function unpack({ shapes, parameters }) {
  const bytes = atob(parameters);
  let at = 0;
  const next = () => half(bytes.charCodeAt(at++) | (bytes.charCodeAt(at++) << 8));
  const list = (length, make) => Array.from({ length }, make);
  return Object.fromEntries(
    Object.entries(shapes).map(([name, [n, m]]) => [name, list(n, m ? () => list(m, next) : next)]),
  );
}

const linear = (p, name, x) =>
  x.map((v) => p[`${name}.weight`].map((w, o) => dot(w, v) + p[`${name}.bias`][o]));

function layerNorm(p, name, x) {
  return x.map((v) => {
    const mean = v.reduce((sum, a) => sum + a, 0) / v.length;
    const variance = v.reduce((sum, a) => sum + (a - mean) ** 2, 0) / v.length;
    const below = Math.sqrt(variance + 1e-5);
    return v.map((a, i) => ((a - mean) / below) * p[`${name}.gain`][i] + p[`${name}.bias`][i]);
  });
}

const gelu = (a) => 0.5 * a * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (a + 0.044715 * a ** 3)));
const sums = (x, y) => x.map((v, i) => add(v, y[i]));

/** Word rows plus the waves of their positions. */
function embed(table, ids) {
  return ids.map((id, t) =>
    table[id].map((a, i) => {
      const angle = t / 10000 ** ((i - (i % 2)) / table[id].length);
      return a + (i % 2 ? Math.cos(angle) : Math.sin(angle));
    }),
  );
}

/** Several heads: queries from x, keys and values from the source. */
function multiHead(p, name, x, source, heads, mask) {
  const [q, k, v] = ["query", "key", "value"].map((part, i) => linear(p, `${name}.${part}`, i ? source : x));
  const width = q[0].length / heads;
  const cut = (m, head) => m.map((line) => line.slice(head * width, (head + 1) * width));
  const parts = Array.from({ length: heads }, (_, head) =>
    attend(cut(q, head), cut(k, head), cut(v, head), { mask }),
  );
  const joined = x.map((_, t) => parts.flatMap(({ output }) => output[t]));
  return { output: linear(p, `${name}.out`, joined), weights: parts[0].weights };
}

function feedForward(p, name, x) {
  const inner = linear(p, `${name}.feed_forward.up`, layerNorm(p, `${name}.feed_forward_norm`, x));
  return sums(x, linear(p, `${name}.feed_forward.down`, inner.map((v) => v.map(gelu))));
}

/** Read the source once: one vector for each of its words. */
function encode(p, ids, heads) {
  const x = embed(p["encoder.token_embedding.weight"], ids);
  const name = "encoder.layers.0";
  const normed = layerNorm(p, `${name}.attention_norm`, x);
  const after = sums(x, multiHead(p, `${name}.attention`, normed, normed, heads).output);
  return layerNorm(p, "encoder.norm", feedForward(p, name, after));
}

/** Scores of the next word after each written one, and the weights on the source. */
function decode(p, memory, ids, heads) {
  const x = embed(p["token_embedding.weight"], ids);
  const past = ids.map((_, t) => ids.map((_, j) => j <= t));
  const normed = layerNorm(p, "block.attention_norm", x);
  const after = sums(x, multiHead(p, "block.attention", normed, normed, heads, past).output);
  const cross = multiHead(p, "block.cross", layerNorm(p, "block.cross_norm", after), memory, 1);
  const last = feedForward(p, "block", sums(after, cross.output));
  return { scores: linear(p, "vocab", layerNorm(p, "norm", last)), weights: cross.weights };
}

/** Translate a list of words greedily, until the full stop. */
export function translate(model, words, p = unpack(model)) {
  const memory = encode(p, words.map((word) => model.source.indexOf(word)), model.heads);
  const ids = [NOTHING];
  let step;
  do {
    step = decode(p, memory, ids, model.heads);
    const scores = step.scores.at(-1);
    ids.push(scores.indexOf(Math.max(...scores)));
  } while (model.target[ids.at(-1)] !== "." && ids.length <= LONGEST);
  return { words: ids.slice(1).map((id) => model.target[id]), weights: step.weights };
}

/** Buttons in one tab stop: arrow keys, Home and End move between them. */
function toolbar(label, buttons) {
  const enter = (at) => buttons.forEach((one, i) => (one.tabIndex = i === at ? 0 : -1));
  enter(0);
  const move = (event) => {
    const at = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
  };
  const focused = (event) => enter(buttons.indexOf(event.target));
  const parts = { class: "kit-words", role: "toolbar", "aria-label": label, onkeydown: move, onfocusin: focused };
  return h("div", parts, ...buttons);
}

const spoken = (word) => (word === "." ? "the full stop" : word);

/** Scroll a box sideways, and nothing else, until a cell in it can be seen whole. */
function reveal(box, cell) {
  const [outer, inner] = [box.getBoundingClientRect(), cell.getBoundingClientRect()];
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left;
  if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right;
}

function render({ model, el }) {
  const trained = model.get("model");
  const parameters = unpack(trained);
  const offered = choice({
    label: "A sentence that the model has not been trained on:",
    options: model.get("choices").map((sentence) => [sentence, sentence]),
    value: model.get("sentence"),
    onChange: change,
  });
  const lines = { source: h("div", { class: "kit-words" }), target: h("div", { class: "kit-words" }) };
  const said = readout({ label: "", live: true, name: "alignment" });
  said.el.classList.add("kit-equation");
  const table = h("div");
  let result;
  let shown;

  const keys = trained.source.slice(1).filter((word) => word !== ".");
  const vocabulary = toolbar("append a word", keys.map((word) => button(word, () => compose([...composed(), word]))));
  const composed = () => model.get("sentence").split(" ").slice(0, -1);
  const compose = (words) =>
    words.length > MOST
      ? said.set(`There is room for ${MOST} words.`)
      : change([...words, "."].join(" "));

  function change(sentence) {
    model.set("sentence", sentence);
    model.save_changes();
  }
  /** Show where the target word t looked, and bring that cell, or another of its row, into sight. */
  function look(t, shownColumn) {
    const words = model.get("sentence").split(" ");
    const weights = result.weights[t];
    [...lines.source.children].forEach((token, j) => {
      token.lastChild.textContent = fmt(weights[j]);
      shade(token, weights[j]);
    });
    [...lines.target.children].forEach((token, i) => token.setAttribute("aria-pressed", i === t));
    const best = weights.indexOf(Math.max(...weights));
    said.set(`${spoken(result.words[t])} looks at ${spoken(words[best])}: ${fmt(weights[best])}`);
    shown.set(result.weights, { high: 1, selected: (i) => i === t });
    reveal(shown.el, shown.cells[t][shownColumn ?? best].td);
  }
  function draw() {
    const words = model.get("sentence").split(" ");
    result = translate(trained, words, parameters);
    lines.source.replaceChildren(
      ...words.map((word) => h("span", { class: "kit-token" }, word, h("span", { class: "kit-number" }))),
    );
    lines.target.replaceChildren(
      ...result.words.map((word, t) => {
        const on = () => look(t);
        return h("button", { type: "button", class: "kit-token", lang: "fr", onmouseenter: on, onfocus: on, onclick: on }, word);
      }),
    );
    shown = grid({
      label: "weights: a row for each French word",
      rows: result.words,
      columns: words,
      onSelect: look,
    });
    table.replaceChildren(shown.el);
    offered.set(model.get("sentence"));
    look(Math.min(1, result.words.length - 1));
    // Whoever hears the page and does not see it has not met the French yet.
    const end = result.words.at(-1) === "." ? "" : ` … and no full stop in ${LONGEST} words`;
    said.set(`${result.words.join(" ")}${end} (${said.el.textContent})`);
  }

  frame(
    el,
    "Where each French word looks",
    offered.el,
    column(h("div", { class: "kit-label" }, "English, with the weights of the chosen French word:"), lines.source),
    column(h("div", { class: "kit-label" }, "French, by the model: point at a word, or move to it with Tab:"), lines.target),
    said.el,
    table,
    column(
      h("div", { class: "kit-label" }, "Compose a sentence of your own, up to eleven words (arrow keys move between them):"),
      row(
        h("div", { class: "kit-buttons" },
          button("clear", () => compose([])),
          button("delete the last word", () => compose(composed().slice(0, -1)))),
      ),
      vocabulary,
    ),
  );
  model.on("change:sentence", draw);
  draw();
}

export default { render };
