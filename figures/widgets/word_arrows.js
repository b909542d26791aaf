// A sentence with arrows from word to word, as thick as the attention weights of one head of a
// language model; beside it the next word, with this head and without it.

import { fmt } from "./arithmetic.js";
import { button, choice, column, frame, h, readout, row, slider, svg, toggle, unique } from "./kit.js";

const LEAST = 0.05; // thinner arrows are not drawn; the numbers at the words still say them
const TENFOLD = Math.log(10); // the change of the odds that has the strongest colour

/** The weights of one recorded sentence: a table for each head, row i as long as i + 1. */
export function unpackWeights({ tokens, weights }, heads) {
  let [at, zeros] = [0, 0];
  const next = () => {
    const code = zeros ? 0 : weights.charCodeAt(at++);
    if (code > 0x200) zeros = code - 0x200; // a run of zeros; the rest are hundredths
    else if (code) return (code - (code > 0xa0 ? 0xa0 : 0x24)) / 100;
    zeros -= 1;
    return 0;
  };
  return Array.from({ length: heads }, () =>
    tokens.map((_, i) => (i ? Array.from({ length: i + 1 }, next) : [1])),
  );
}

/** Probabilities of the listed words: first with all heads, then without each head. */
export function unpackChances({ surprisals, changes }) {
  const without = changes[0].map((_, head) => surprisals.map((s, k) => Math.exp(-s / 1000 - changes[k][head] / 100)));
  return [surprisals.map((s) => Math.exp(-s / 1000)), ...without];
}

/** How the log of the odds of the right word against the other changes without each head. */
export function effects(chances, right) {
  const odds = (p) => Math.log(p[right] / p[1 - right]);
  return chances.slice(1).map((p) => odds(p) - odds(chances[0]));
}

/** The heads without which the right word loses most, the first one first. */
export function mostNeeded(changes, count) {
  const order = changes.map((_, head) => head).sort((a, b) => changes[a] - changes[b] || a - b);
  return order.slice(0, count);
}

/** The arrows to draw, from one word or from every word; none from a word to itself. */
export function arrows(table, query, every, least = LEAST) {
  const from = every ? table.map((_, i) => i) : [query];
  return from.flatMap((i) =>
    table[i].flatMap((weight, j) => (j < i && weight >= least ? [{ from: i, to: j, weight }] : [])),
  );
}

/** An arc over a line of words: it leaves one word and comes down on another, `high` units up. */
export function arc(from, to, high, base, upright = false, tip = 0) {
  const reach = (4 / 3) * high;
  const point = (along, up) => (upright ? [up, along] : [along, base - up]).map((x) => +x.toFixed(1)).join(" ");
  return `M${point(from, 0)} C${point(from, reach)} ${point(to, reach)} ${point(to, tip)}`;
}

/** A share as people say it: 12%, 1.9%, 0.30%. */
export function percent(p) {
  const shown = 100 * p;
  return `${fmt(shown, shown < 0.995 ? 2 : shown < 9.95 ? 1 : 0)}%`;
}

export const headName = (head, perLayer) => `${Math.floor(head / perLayer)}.${head % perLayer}`;

/** A token as a word; a piece that continues a word gets a hyphen, a mark its name. */
export function asWord(token, at = 1) {
  const names = { "\n": "a new line", ".": "full stop", ",": "comma" };
  if (names[token]) return names[token];
  if (token.startsWith(" ")) return token.slice(1);
  return at && /^\w/.test(token) ? `-${token}` : token;
}

/** The tokens in words: lists of indices, with the pieces of a word in one list. */
export function pieces(tokens) {
  const words = [];
  tokens.forEach((token, i) => (i && /^\w/.test(token) ? words.at(-1).push(i) : words.push([i])));
  return words;
}

/** The two contrasted words by their odds: "were is 6.3 times as likely as was". */
export function verdict(words, p) {
  const more = p[0] >= p[1] ? 0 : 1;
  const ratio = p[more] / p[1 - more];
  const times = ratio < 1.05 ? "about as likely as" : `${fmt(ratio, ratio < 9.95 ? 1 : 0)} times as likely as`;
  return `${asWord(words[more])} is ${times} ${asWord(words[1 - more])}`;
}

/** What is seen of a state, in words. */
export function report({ tokens, words }, table, chances, { head, name, query, out }) {
  const before = table[query].slice(0, query);
  const best = before.indexOf(Math.max(...before));
  const self = table[query][query];
  const looks = query === 0
    ? `The first word can look at nothing but itself.`
    : `Head ${name} looks from ${asWord(tokens[query], query)} back to ${asWord(tokens[best], best)} with ${fmt(before[best])} of its weight` +
      (self > before[best] ? `, and at ${asWord(tokens[query], query)} itself with ${fmt(self)}.` : ".");
  const how = out ? `Without head ${name}` : "With all heads";
  return `${looks} ${how}, ${verdict(words, chances[out ? head + 1 : 0])}.`;
}

/** The recording: from the kernel in a notebook, from the file beside this module in the book. */
async function load(model) {
  const given = model.get("recorded");
  if (given) return given;
  const answer = await fetch(new URL("word_arrows.json", import.meta.url));
  if (!answer.ok) throw new Error(`word_arrows.json could not be read: ${answer.status}`);
  return answer.json();
}

/** The words as radio buttons in one tab stop, with the arrows between them in a picture. */
function stage({ onQuery }) {
  const words = h("div", { class: "kit-said", role: "radiogroup", "aria-label": "the word that looks" });
  const picture = svg("svg", { class: "kit-arcs", "aria-hidden": "true" });
  const el = h("div", { class: "kit-stage" }, picture, words);
  let [buttons, shown, width] = [[], null, 0];
  const step = (event) => {
    const at = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
    if (buttons[to]) onQuery(to);
  };
  words.addEventListener("keydown", step);
  function build(tokens) {
    buttons = tokens.map((token, i) => {
      const number = h("span", { class: "kit-number" });
      return h("button", { type: "button", class: "kit-spoken", role: "radio", onclick: () => onQuery(i) }, h("span", {}, token.trim() || "⏎"), number);
    });
    const grouped = pieces(tokens).map((group) =>
      h("span", { class: group.length > 1 ? "kit-joined" : "kit-joint" }, ...group.map((i) => buttons[i])),
    );
    words.replaceChildren(...grouped, h("span", { class: "kit-next", "aria-hidden": "true" }, "?"));
    width = 0;
  }
  /** In one line if it fits, else one word below the other. */
  function arrange() {
    if (!shown || el.clientWidth === width || !el.clientWidth) return;
    width = el.clientWidth;
    el.classList.remove("kit-upright");
    el.classList.toggle("kit-upright", words.scrollWidth > width);
    paint();
  }
  function paint() {
    const upright = el.classList.contains("kit-upright");
    const middle = ({ offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: tall }) => (upright ? y + tall / 2 : x + w / 2);
    const along = buttons.map(middle);
    const [wide, tall] = upright ? [width - words.offsetWidth - 8, words.offsetHeight] : [width, 116];
    const room = (upright ? Math.min(wide, 190) : tall) - 12;
    picture.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    picture.setAttribute("width", wide);
    picture.setAttribute("height", tall);
    const extent = along.at(-1) - along[0];
    picture.replaceChildren(...shown.arrows.map(({ from, to, weight }) => {
      const high = 14 + (room - 14) * Math.sqrt(Math.abs(along[from] - along[to]) / extent);
      const [tip, half] = [6 + 7 * weight, 4 + 5 * weight];
      const end = along[to];
      const corners = [[end - half, tip], [end + half, tip], [end, 0]];
      const points = corners.map(([a, up]) => (upright ? `${up},${a}` : `${a},${tall - up}`)).join(" ");
      const kind = `kit-arrow${to ? "" : " kit-sink"}${shown.out ? " kit-gone" : ""}`;
      return svg("g", { class: kind, "data-arrow": `${from},${to}` },
        svg("path", { d: arc(along[from], end, high, tall, upright, tip), "stroke-width": (1 + 8 * weight).toFixed(1) }),
        svg("polygon", { points }));
    }));
  }
  function set(tokens, table, state) {
    if (tokens !== shown?.tokens) build(tokens);
    shown = { tokens, out: state.out, arrows: arrows(table, state.query, state.every, state.every ? 0.15 : LEAST) };
    buttons.forEach((word, i) => {
      const weight = i <= state.query ? table[state.query][i] : null;
      word.lastChild.textContent = weight === null || (weight < 0.01 && i < state.query) ? "" : fmt(weight);
      word.classList.toggle("kit-later", weight === null);
      word.setAttribute("aria-checked", i === state.query);
      word.setAttribute("aria-label", `${asWord(tokens[i], i)}${weight === null ? "" : `, weight ${fmt(weight)}`}`);
      word.tabIndex = i === state.query ? 0 : -1;
    });
    if (width) paint();
    else arrange();
  }
  new ResizeObserver(arrange).observe(el);
  return { el, set };
}

/** All heads as squares: the stronger the blue, the more the right word needs the head. */
function headMap({ layers, heads, onPick }) {
  const squares = Array.from({ length: layers * heads }, (_, head) =>
    svg("rect", { x: 10 * Math.floor(head / heads), y: 10 * (head % heads), width: 9, height: 9 }),
  );
  const ring = svg("rect", { class: "kit-ring", width: 11, height: 11 });
  const picture = svg("svg", { viewBox: `-2 -2 ${10 * layers + 3} ${10 * heads + 3}`, class: "kit-map", role: "img" }, ...squares, ring);
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const at = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
    onPick(at((event.clientX - box.left) / box.width, layers) * heads + at((event.clientY - box.top) / box.height, heads));
  });
  const set = (changes, head, label) => {
    picture.setAttribute("aria-label", label);
    squares.forEach((square, i) => {
      const share = Math.max(-1, Math.min(1, -changes[i] / TENFOLD));
      const step = Math.round(40 * Math.abs(share));
      square.style.fill = `var(--${share < 0 && step ? "n" : "w"}${step})`;
    });
    ring.setAttribute("x", 10 * Math.floor(head / heads) - 1);
    ring.setAttribute("y", 10 * (head % heads) - 1);
  };
  return { el: picture, set };
}

function render({ model, el }) {
  return load(model).then((recorded) => build({ model, el, recorded }));
}

function build({ model, el, recorded }) {
  const { layers, heads, sentences, presets } = recorded;
  const keys = ["sentence", "head", "query", "every", "out"];
  const named = Object.fromEntries(sentences.map((sentence) => [sentence.name, sentence]));
  const unpacked = {};
  const put = (changes) => {
    for (const [key, value] of Object.entries(changes)) model.set(key, value);
    model.save_changes();
  };
  const now = () => named[model.get("sentence")];
  const open = (sentence) => put({ query: -1, out: false, every: sentence.every, head: sentence.head, sentence: sentence.name });

  const id = unique("story");
  const stories = [...new Set(sentences.map(({ story }) => story))];
  const select = h("select", { id, class: "kit-field kit-story" }, ...stories.map((story) => h("option", { value: story }, story)));
  select.addEventListener("change", () => open(sentences.find(({ story }) => story === select.value)));
  const variants = h("div");
  const shown = stage({ onQuery: (query) => put({ query }) });
  const sentenceLine = readout({ label: "", live: true, name: "arrows" });
  sentenceLine.el.classList.add("kit-equation");
  const head = h("div", { class: "kit-label" });
  const list = h("ul", { class: "kit-bars kit-chances" });
  const taken = button("", () => put({ out: !model.get("out") }));
  const from = choice({ label: "Arrows from", options: [[false, "one word"], [true, "every word"]], value: false, onChange: (every) => put({ every }) });
  const pick = (at) => put({ head: at, out: false });
  const part = (label, max, onInput) => slider({ label, min: 0, max: max - 1, step: 1, value: 0, show: String, onInput });
  const layer = part("layer", layers, (x) => pick(x * heads + (model.get("head") % heads)));
  const inLayer = part("head in it", heads, (x) => pick(Math.floor(model.get("head") / heads) * heads + x));
  const offered = presets.map(({ label, head: at, sentence, every }) =>
    button(`${label} ${headName(at, heads)}`, () => put({ out: false, head: at, every, ...(sentence && { sentence, query: -1 }) })));
  const needed = h("div", { class: "kit-buttons" });
  const map = headMap({ layers, heads, onPick: pick });
  const legend = h("div", { class: "kit-label" });

  /** The buttons of the other versions of the sentence, made when the story changes. */
  function offerVariants(sentence) {
    select.value = sentence.story;
    const versions = sentences.filter(({ story }) => story === sentence.story);
    const options = versions.map(({ name, variant }) => [name, variant]);
    const offer = choice({ label: "with", options, value: sentence.name, onChange: (name) => put({ query: -1, sentence: name }) });
    variants.replaceChildren(...(versions.length > 1 ? [offer.el] : []));
    return offer;
  }
  let offer;

  function showChances({ words }, chances, state) {
    const [before, after] = [chances[0], chances[state.head + 1]];
    const high = Math.max(...before, ...after);
    head.textContent = state.out ? `The next word: above with all heads, below without head ${state.name}` : "The next word, with all heads";
    list.setAttribute("aria-label", head.textContent);
    list.replaceChildren(...words.map((word, i) => {
      const fill = (p, role) => h("div", { class: "kit-fill", style: `width: ${(100 * p) / high}%; background: var(--${role})` });
      const role = i < 2 ? "accent" : "masked";
      const track = h("div", { class: "kit-track kit-double" }, ...(state.out ? [fill(before[i], "line"), fill(after[i], role)] : [fill(before[i], role)]));
      const text = state.out ? `${percent(before[i])} → ${percent(after[i])}` : percent(before[i]);
      return h("li", { class: i < 2 ? "kit-rival" : "" }, h("span", { class: "kit-name" }, asWord(word)), track, h("span", { class: "kit-number", "data-name": asWord(word) }, text));
    }));
  }

  function showHeads({ words, right }, changes, state) {
    const rival = [asWord(words[right]), asWord(words[1 - right])];
    map.set(changes, state.head, `All ${changes.length} heads as squares; most needed are ${mostNeeded(changes, 3).map((at) => headName(at, heads)).join(", ")}`);
    legend.textContent = `Each square is a head, layer 0 at the left: the stronger its blue, the more the odds of ${rival[0]} against ${rival[1]} fall without it; brown, they rise.`;
    needed.replaceChildren(...mostNeeded(changes, 3).map((at) => button(headName(at, heads), () => pick(at))));
  }

  function draw() {
    const sentence = now();
    const { name, tokens } = sentence;
    if (offer?.name !== name && !(offer?.story === sentence.story)) offer = { ...offerVariants(sentence), story: sentence.story };
    offer.set(name);
    unpacked[name] ??= { weights: unpackWeights(sentence, layers * heads), chances: unpackChances(sentence) };
    const { weights, chances } = unpacked[name];
    const at = model.get("head");
    const query = model.get("query") < 0 ? tokens.length - 1 : Math.min(model.get("query"), tokens.length - 1);
    const state = { head: at, name: headName(at, heads), query, every: model.get("every"), out: model.get("out") };
    shown.set(tokens, weights[at], state);
    sentenceLine.set(report(sentence, weights[at], chances, state));
    showChances(sentence, chances, state);
    taken.textContent = state.out ? `Put head ${state.name} back` : `Take head ${state.name} out`;
    layer.set(Math.floor(at / heads));
    inLayer.set(at % heads);
    from.set(state.every);
    showHeads(sentence, effects(chances, sentence.right), state);
  }

  frame(
    el,
    "Where a word looks, in a real language model",
    row(column(h("label", { for: id, class: "kit-label" }, "What comes next?"), select), variants),
    shown.el,
    sentenceLine.el,
    h("div", { class: "kit-buttons" }, taken),
    row(
      column(head, list),
      column(
        from.el, layer.el, inLayer.el,
        h("div", { class: "kit-label" }, "Most needed for this answer:"), needed,
      ),
    ),
    column(h("div", { class: "kit-label" }, `Heads with a known job (26.0 is head 0 of layer 26):`), h("div", { class: "kit-buttons" }, ...offered)),
    column(map.el, legend),
  );
  for (const key of keys) model.on(`change:${key}`, draw);
  draw();
}

export default { render };
