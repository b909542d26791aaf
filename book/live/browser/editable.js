// A piece of code in the page that becomes an editor when it is pressed, with its buttons: what the
// answers of an exercise page and the cells of a chapter share.

import { h } from "../../../figures/widgets/kit.js";
import * as work from "./work.js";

const LATE = 12_000; // milliseconds until the page says that Stop ends what runs
const page = { cells: [], session: null, loading: null };

export const textOf = (element) => element.querySelector(".cell_input pre").textContent.replace(/\n$/, "");

/** The cells of the page that have a text, in order, as the session wants them. */
export function setCells(cells) {
  page.cells = cells;
}

/** The page's Python, loaded once, with its cells. */
export function session() {
  page.loading ??= import("./session.js").then(({ Session }) => (page.session = new Session(page.cells)));
  return page.loading;
}

/** The links of an output lead to notebooks; in the book they lead to its pages. */
export function showHtml(place, html) {
  place.innerHTML = html;
  for (const link of place.querySelectorAll('a[href*=".ipynb"], a.course-misconception'))
    link.setAttribute("href", link.getAttribute("href").replace(/\.(ipynb|md)\b/, ".html"));
}

/** What its subclasses say: label(), act(), and the words and keys of `button`. */
export class Editable {
  constructor(cell, name) {
    this.cell = cell;
    this.name = name;
    this.input = cell.element.querySelector(".cell_input");
    this.original = textOf(cell.element);
    this.editor = null;
    cell.owner = this;
    cell.source = () => this.text;
    cell.changed = () => this.text !== this.original;
  }
  get text() {
    return this.editor?.text() ?? this.original;
  }
  get isFirst() {
    return !work.fact("python");
  }
  /** The bar below the code; its first button runs it. */
  tools(word, keys) {
    const button = (label, onclick, kind) =>
      h("button", { type: "button", class: kind, "aria-label": `${label} ${this.name}`, onclick }, label);
    this.button = button(word, () => this.go(), "live-check");
    this.reset = button("Reset", () => this.restore(), "live-reset");
    this.stop = button("Stop", () => page.session?.stop(this), "live-stop");
    this.stop.hidden = true;
    this.bar = h("progress", { "aria-label": "Python is loading", max: 1, value: 0 });
    this.bar.hidden = true;
    this.status = h("span", { class: "live-status", role: "status" });
    this.keys = h("span", { class: "live-keys", id: `live-keys-${this.name.replaceAll(" ", "-")}` }, keys);
    return h("div", { class: "live-tools" }, this.button, this.reset, this.stop, this.bar, this.status, this.keys);
  }
  /** Turn the text into an editor, at the caret that a press has put there. */
  open(focus = false) {
    this.opening ??= import("./editor.js").then(({ mountEditor }) => {
      const place = h("div", { class: "live-editor highlight" });
      this.editor = mountEditor(place, {
        text: this.text,
        label: this.label(),
        describedBy: this.keys.id,
        onChange: (text) => this.changed(text),
        onPress: () => this.pressed(),
        onCheck: () => this.go(),
        onLeave: () => this.button.focus(),
      });
      const hasFocus = focus || this.input.contains(document.activeElement);
      const at = caretIn(this.input.querySelector("pre"));
      this.input.hidden = true;
      this.input.after(place);
      if (hasFocus) this.editor.focus(at);
    });
    return this.opening;
  }
  pressed() {}
  /** Start Python and show here how far it is; whoever saves data loads it with the first run. */
  begin() {
    if (navigator.connection?.saveData) return null;
    return session().then((python) => python.start(this).catch((error) => this.running || this.say(error.message)));
  }
  say(text) {
    if (this.status.textContent !== text) this.status.textContent = text; // a screen reader says it once
  }
  showLoading(got, total, isFirst) {
    this.bar.hidden = got >= total;
    this.bar.value = got / total;
    const size = Math.floor(got / 1e6);
    this.say(isFirst && got < total ? `Loading Python: ${size} of ${PYTHON_MB} MB, once` : "Starting Python");
  }
  showModel(got, total) {
    this.bar.hidden = got >= total;
    this.bar.value = got / total;
    const size = (bytes) => Math.round(bytes / 1e6);
    this.say(got < total ? `Loading the real model: ${size(got)} of ${size(total)} MB` : "Opening the real model");
  }
  showReady() {
    this.bar.hidden = true;
    if (!this.running) this.say("Python is ready.");
  }
  async go() {
    if (this.running) return;
    this.running = true;
    this.button.setAttribute("aria-disabled", "true"); // disabled, it would lose the focus
    this.stop.hidden = false;
    const late = setTimeout(() => this.bar.hidden && this.say("Still running; Stop ends it."), LATE);
    try {
      await this.act(await session());
    } catch (error) {
      this.bar.hidden = true;
      this.say(error.message);
    }
    clearTimeout(late);
    this.running = false;
    this.button.removeAttribute("aria-disabled");
    if (document.activeElement === this.stop) this.button.focus();
    this.stop.hidden = true;
  }
}

/** How many characters stand before the caret that a press has put into the text. */
function caretIn(element) {
  const selection = getSelection();
  if (!selection.rangeCount || !element.contains(selection.anchorNode)) return null;
  const range = document.createRange();
  range.setStart(element, 0);
  range.setEnd(selection.anchorNode, selection.anchorOffset);
  return range.toString().length;
}
