// A sentence with arrows from word to word, as thick as the attention weights of one head of a
// language model; beside it the next word, with this head and without it.

import { button, choice, column, frame, h, readout, row, slider, unique } from "./kit.js";
import { headMap, stage } from "./word_arrows_stage.js";
import {
  calledNext, effects, headName, mostNeeded, percent, report, unpackChances, unpackWeights,
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
        h("div", { class: "kit-label" }, "Heads most needed for this answer (layer.head):"), needed,
      ),
    ),
    column(h("div", { class: "kit-label" }, `Heads with a known job (26.0 is head 0 of layer 26):`), h("div", { class: "kit-buttons" }, ...offered)),
    column(map.el, legend),
  );
  for (const key of keys) model.on(`change:${key}`, draw);
  draw();
}

export default { render };
