// A language model in the page: read a text, see every head, take heads out, change attention.

import { button, column, frame, h, readout, row, slider, unique } from "../../../../figures/widgets/kit.js";
import { headMap, stage } from "../../../../figures/widgets/word_arrows_stage.js";
import { headName, headNumber } from "../../../../figures/widgets/word_arrows_text.js";
import { Model } from "./worker.js";
import { bars, changed, report, strongest, unpackRow, visible, wordsIn } from "./views.js";
import { model as file } from "./offer.js";

const RIDDLE = "The keys that the man with the two large dogs had left on the table";
const NEW = 40; // tokens that one press of Continue adds at most
const PATIENCE = 1500; // milliseconds that Stop waits for the token that is being made
const HELP =
  "Every head of the model runs these lines of lib/attention/dot_product.py. Delete , where=where and " +
  "nothing is masked. Write scale=1.0 and the scores are not divided by the root of d_k.";

/** Load the model and put its panel into the place. */
export async function openModel(place, status) {
  const bar = h("progress", { "aria-label": "SmolLM2 is loading", max: 1, value: 0 });
  status.before(bar);
  const model = new Model(file(), (got, total) => {
    bar.value = got / total;
    const [now, all] = [got, total].map((bytes) => Math.floor(bytes / 1e6));
    status.textContent = got < total ? `Loading: ${now} of ${all} MB` : "Starting Python and the model";
  });
  try {
    const panel = new Panel(place, model, await model.open());
    await panel.read();
  } catch (error) {
    model.end(error.message);
    throw error;
  } finally {
    bar.remove();
  }
}

/** A field that keeps its keys to itself: the page's own, such as / for the search, would take them. */
function field(tag, label, attributes) {
  const id = unique("field");
  const input = h(tag, { id, spellcheck: "false", autocomplete: "off", ...attributes });
  input.addEventListener("keydown", (event) => event.stopPropagation());
  return { input, label: h("label", { for: id, class: "kit-label" }, label) };
}

class Panel {
  constructor(place, model, about) {
    Object.assign(this, { place, model, about, out: new Set(), lines: "", key: -1 });
    this.head = headNumber(place.dataset.head ?? "L26H0", about.heads);
    this.before = [...place.childNodes];
    const el = h("div", { class: "live-model" });
    frame(el, "SmolLM2, running in this page", ...this.question(), ...this.answers(), ...this.oneHead(), this.lineOfAttention());
    place.replaceChildren(el);
  }
  question() {
    const text = field("textarea", "A text of your own:", { class: "kit-field live-text", rows: 2 });
    this.text = text.input;
    this.text.value = this.place.dataset.text ?? RIDDLE;
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.read();
    });
    this.starters = [button("Next token", () => this.read()), button("Continue", () => this.write())];
    this.stop = button("Stop", () => this.halt());
    this.stop.hidden = true;
    this.status = h("span", { class: "live-status", role: "status" });
    const tools = h("div", { class: "kit-buttons live-model-tools" }, ...this.starters, this.stop, this.status);
    return [column(text.label, this.text), tools];
  }
  answers() {
    this.said = readout({ label: "", name: "model", live: true });
    this.said.el.classList.add("kit-equation");
    this.listLabel = h("div", { class: "kit-label" });
    this.list = h("ul", { class: "kit-bars kit-chances" });
    const words = field("input", "Always in the list:", { class: "kit-field live-words" });
    this.words = words.input;
    this.words.value = this.place.dataset.words ?? "were, was";
    this.words.addEventListener("change", () => this.read());
    return [this.said.el, row(column(this.listLabel, this.list), column(words.label, this.words))];
  }
  /** One head: its arrows, its place among all, and whether it is out. */
  oneHead() {
    const { layers, heads } = this.about;
    this.headLabel = h("div", { class: "kit-label" });
    this.arrows = stage({ onQuery: (query) => this.look(query) });
    this.map = headMap({ layers, heads, onPick: (head) => this.choose(head) });
    const part = (label, count, pick) => slider({ label, min: 0, max: count - 1, step: 1, value: 0, show: String, onInput: (x) => this.choose(pick(x)) });
    this.layer = part("layer", layers, (x) => x * heads + (this.head % heads));
    this.inLayer = part("head in it", heads, (x) => this.head - (this.head % heads) + x);
    this.taken = button("", () => this.take());
    this.allIn = button("All heads in", () => this.take(true));
    const keys = field("select", "The bluer a head's square, the more weight it gives to ", { class: "kit-field live-key" });
    this.keys = keys.input;
    this.keys.addEventListener("change", () => {
      this.key = Number(this.keys.value);
      this.draw();
    });
    return [
      column(this.headLabel, h("div", { class: "live-arrows" }, this.arrows.el)),
      row(column(this.layer.el, this.inLayer.el), h("div", { class: "kit-buttons" }, this.taken, this.allIn)),
      column(h("div", { class: "kit-label" }, keys.label, this.keys), this.map.el),
    ];
  }
  /** The lines of lib's attention, in an editor that comes when they are opened. */
  lineOfAttention() {
    const place = h("div", { class: "live-editor highlight" });
    const help = h("p", { class: "kit-label", id: unique("lines") }, HELP);
    this.problem = h("pre", { class: "live-problem", role: "alert", hidden: true });
    const use = (text) => this.change(() => (this.lines = text.trim() === this.about.attention.trim() ? "" : text));
    const run = button("Run with these lines", () => use(this.editor.text()));
    const reset = button("Reset", () => {
      this.editor.set(this.about.attention.trim());
      use("");
    });
    const options = { text: this.about.attention.trim(), label: "The lines of attention, in Python", describedBy: help.id,
      onChange: () => {}, onPress: () => {}, onCheck: () => run.click(), onLeave: () => run.focus() };
    const details = h("details", { class: "live-lines" }, h("summary", {}, "Change the lines of attention"), help, place,
      h("div", { class: "kit-buttons" }, run, reset), this.problem);
    details.addEventListener("toggle", () => {
      this.opening ??= import("../editor.js").then(({ mountEditor }) => (this.editor = mountEditor(place, options)));
    });
    return details;
  }
  /** Do one thing at a time, and say how it ended. */
  async busy(work) {
    if (this.isBusy) return;
    [this.isBusy, this.stopped] = [true, false];
    this.mark(true);
    this.status.textContent = "Reading";
    try {
      this.status.textContent = await work();
      this.problem.hidden = true;
    } catch (error) {
      this.status.textContent = error.message.trim().split("\n").at(-1);
      this.problem.textContent = error.message;
      this.problem.hidden = !error.message.includes("\n"); // an error of Python, from the reader's lines
    }
    this.isBusy = false;
    this.mark(false);
  }
  mark(isBusy) {
    if (!isBusy && document.activeElement === this.stop) this.starters[0].focus();
    this.stop.hidden = !isBusy;
    for (const starter of this.starters) starter.toggleAttribute("aria-disabled", isBusy); // it keeps the focus
  }
  ask() {
    const out = [...this.out].map((head) => [Math.floor(head / this.about.heads), head % this.about.heads]);
    return this.model.ask({ do: "read", text: this.text.value, out, attention: this.lines, words: wordsIn(this.words.value) });
  }
  read() {
    return this.busy(async () => {
      const reading = await this.ask();
      this.show(reading);
      return `Read in ${(reading.ms / 1000).toFixed(1)} s.`;
    });
  }
  /** Add tokens to the text, one at a time, and look at the whole. */
  write() {
    return this.busy(async () => {
      await this.ask();
      const [given, begun] = [this.text.value, performance.now()];
      let [count, ended] = [0, false];
      for (; count < NEW && !ended && !this.stopped; count += 1) {
        const step = await this.model.ask({ do: "step" });
        ended = step.ended;
        this.text.value = given + step.added;
        this.status.textContent = `Token ${count + 1} of ${NEW}`;
      }
      const rate = (1000 * count) / (performance.now() - begun);
      this.show(await this.ask());
      return `${count} tokens, ${rate.toFixed(1)} a second.`;
    });
  }
  /** Stop after the token that is being made, or end Python if that takes too long. */
  halt() {
    this.stopped = true;
    this.status.textContent = "Stopping";
    setTimeout(() => this.isBusy && this.stopped && this.close(), PATIENCE);
  }
  close() {
    this.model.end("Stopped.");
    this.place.replaceChildren(...this.before);
    this.place.querySelector("[role=status]").textContent = "Stopped. Press to start it again.";
    this.place.querySelector("button").disabled = false;
  }
  change(act) {
    if (this.isBusy) return;
    act();
    this.read();
  }
  /** Take the chosen head out or put it back, or put back all. */
  take(all = false) {
    this.change(() => {
      if (all) this.out.clear();
      else if (!this.out.delete(this.head)) this.out.add(this.head);
    });
  }
  choose(head) {
    this.head = head;
    this.draw();
  }
  async look(query) {
    if (!this.isBusy) this.show({ ...this.reading, ...(await this.model.ask({ do: "row", query })) });
  }
  show(reading) {
    const isSame = reading.tokens.join("\n") === this.reading?.tokens.join("\n");
    this.reading = isSame ? { ...reading, tokens: this.reading.tokens } : reading;
    this.weights = unpackRow(reading.weights, this.about.layers * this.about.heads);
    if (!isSame) this.key = -1;
    this.draw();
  }
  draw() {
    const { tokens, query } = this.reading;
    const name = (head) => headName(head, this.about.heads);
    const out = [...this.out].sort((a, b) => a - b).map(name);
    const how = changed(out, Boolean(this.lines));
    this.said.set(report(this.reading, how));
    this.listLabel.textContent = how ? `The next token: above as it is, below ${how}` : "The next token";
    this.list.setAttribute("aria-label", this.listLabel.textContent);
    this.list.replaceChildren(...bars(this.reading, how));
    const weights = this.weights[this.head];
    const best = strongest(weights);
    this.arrows.set(tokens, { [query]: weights }, { query, every: false, out: this.out.has(this.head) });
    this.headLabel.textContent = `Head ${name(this.head)}: from ${visible(tokens[query])}, most weight, ${weights[best].toFixed(2)}, goes to ${visible(tokens[best])}.`;
    this.taken.textContent = this.out.has(this.head) ? `Put head ${name(this.head)} back` : `Take head ${name(this.head)} out`;
    this.allIn.hidden = !this.out.size;
    this.layer.set(Math.floor(this.head / this.about.heads));
    this.inLayer.set(this.head % this.about.heads);
    this.drawMap(best);
  }
  drawMap(best) {
    const { tokens } = this.reading;
    const count = this.weights[0].length;
    if (this.key < 0 || this.key >= count) this.key = best;
    this.keys.replaceChildren(...tokens.slice(0, count).map((token, i) => h("option", { value: i, selected: i === this.key }, `${visible(token)} (token ${i})`)));
    const shares = this.weights.map((weights) => weights[this.key]);
    const top = shares.map((_, head) => head).sort((a, b) => shares[b] - shares[a]).slice(0, 3);
    const most = top.map((head) => `${headName(head, this.about.heads)} (${shares[head].toFixed(2)})`).join(", ");
    this.map.set(shares, this.head, `All ${shares.length} heads as squares, layer 0 at the left; most weight on ${visible(tokens[this.key])}: ${most}`);
    this.map.squares.forEach((square, head) => square.classList.toggle("live-out", this.out.has(head)));
  }
}
