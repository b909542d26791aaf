// A sentence with arrows from word to word, as thick as the attention weights of one head of a
// language model; beside it the next word, with this head and without it.

import { button, choice, column, frame, h, readout, row, slider, unique } from "./kit.js";
import { headMap, stage } from "./word_arrows_stage.js";
import {
  calledNext, effects, headName, lookOf, mostNeeded, percent, report, unpackChances, unpackWeights,
} from "./word_arrows_text.js";

const TENFOLD = Math.log(10); // the change of the odds that has the strongest colour

/** The recording: from the kernel in a notebook, from the file beside this module in the book. */
async function load(model) {
  const given = model.get("recorded");
  if (given) return given;
  const answer = await fetch(new URL("word_arrows.json", import.meta.url));
  if (!answer.ok) throw new Error(`word_arrows.json could not be read: ${answer.status}`);
  return answer.json();
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
  const variants = row();
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
    button(`${headName(at, heads)}: ${label}`, () => put({ out: false, head: at, every, ...(sentence && { sentence, query: -1 }) })));
  const needed = h("div", { class: "kit-buttons" });
  const map = headMap({ layers, heads, onPick: pick });
  const legend = h("div", { class: "kit-label" });

  /** The versions of the sentence and its two heads as radio buttons, made when the sentence changes. */
  function offerChoices(sentence, weights) {
    select.value = sentence.story;
    const versions = sentences.filter(({ story }) => story === sentence.story);
    const options = versions.map(({ name, variant }) => [name, variant]);
    const version = choice({ label: "The sentence with", options, value: sentence.name, onChange: (name) => put({ query: -1, sentence: name }) });
    // Beside the head that answers, the next one of its layer.
    const first = sentence.head;
    const pair = [first, first + ((first + 1) % heads) - (first % heads)];
    const names = pair.map((at) => [at, lookOf(sentence.tokens, weights[at], headName(at, heads))]);
    const two = choice({ label: "Head", options: names, value: first, onChange: (at) => pick(Number(at)) });
    variants.replaceChildren(...(versions.length > 1 ? [version.el] : []), two.el);
    return { name: sentence.name, version, two };
  }
  let offer;

  function showChances({ words, tokens }, chances, state) {
    const [before, after] = [chances[0], chances[state.head + 1]];
    const high = Math.max(...before, ...after);
    head.textContent = state.out ? `The next word: above with all heads, below without head ${state.name}` : "The next word, with all heads";
    list.setAttribute("aria-label", head.textContent);
    list.replaceChildren(...words.map((word, i) => {
      const fill = (p, role) => h("div", { class: "kit-fill", style: `width: ${(100 * p) / high}%; background: var(--${role})` });
      const role = i < 2 ? "accent" : "masked";
      const track = h("div", { class: "kit-track kit-double" }, ...(state.out ? [fill(before[i], "line"), fill(after[i], role)] : [fill(before[i], role)]));
      const text = state.out ? `${percent(before[i])} → ${percent(after[i])}` : percent(before[i]);
      return h("li", { class: i < 2 ? "kit-rival" : "" }, h("span", { class: "kit-name" }, calledNext(word, tokens)), track, h("span", { class: "kit-number", "data-name": calledNext(word, tokens) }, text));
    }));
  }

  function showHeads({ words, tokens, right }, changes, state) {
    const rival = [right, 1 - right].map((i) => calledNext(words[i], tokens));
    map.set(changes.map((change) => -change / TENFOLD), state.head, `All ${changes.length} heads as squares; most needed are ${mostNeeded(changes, 3).map((at) => headName(at, heads)).join(", ")}`);
    legend.textContent = `Each column is a layer, with layer 0 at the left, and each square is a head. Blue: without this head, ${rival[0]} is less likely against ${rival[1]}. Brown: more likely. A stronger colour means a larger change. Press a square to choose its head.`;
    needed.replaceChildren(...mostNeeded(changes, 3).map((at) => button(headName(at, heads), () => pick(at))));
  }

  function draw() {
    const sentence = now();
    const { name, tokens } = sentence;
    unpacked[name] ??= { weights: unpackWeights(sentence, layers * heads), chances: unpackChances(sentence) };
    const { weights, chances } = unpacked[name];
    const at = model.get("head");
    if (offer?.name !== name) offer = offerChoices(sentence, weights);
    offer.two.set(at);
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
    variants,
    shown.el,
    sentenceLine.el,
    h("div", { class: "kit-buttons" }, taken),
    column(head, list),
    h(
      "details",
      { class: "kit-fold" },
      h("summary", {}, `All ${layers * heads} heads, and more sentences`),
      column(h("label", { for: id, class: "kit-label" }, "What comes next?"), select),
      row(
        column(from.el, layer.el, inLayer.el),
        column(h("div", { class: "kit-label" }, "Most needed for this answer are the heads"), needed),
      ),
      column(map.el, legend),
      column(h("div", { class: "kit-label" }, "Heads with a known job (chapter 16 explains the names)"), h("div", { class: "kit-buttons" }, ...offered)),
    ),
  );
  for (const key of keys) model.on(`change:${key}`, draw);
  draw();
}

export default { render };
