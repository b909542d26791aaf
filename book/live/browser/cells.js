// The cells of a chapter that can run in the page. Nothing but this is loaded before one is pressed:
// a press in the code makes it an editor, Run or a first change loads Python.

import { h } from "../../../figures/widgets/kit.js";
import { Editable, setCells, showHtml } from "./editable.js";
import { realModel } from "./real_model.js";
import * as work from "./work.js";

const OUTPUTS = {
  out: "output stream highlight-myst-ansi notranslate",
  err: "output stderr highlight-myst-ansi notranslate",
  error: "output traceback highlight-myst-ansi notranslate",
  "text/plain": "output text_plain highlight-myst-ansi notranslate",
};

const PAGE = globalThis.location?.pathname.split("/").at(-1).replace(".html", "");
let hasAgreed = false; // to load the real model

class Cell extends Editable {
  constructor(cell, number) {
    super(cell, `cell ${number}`);
    this.at = `${PAGE}.${number}`;
    this.isLive = false; // whether its output is no longer the stored one
    this.code = this.input.firstElementChild; // the theme moves the tab stops of what is inside
    this.quiet = h("button", { type: "button", class: "live-run", "aria-label": `Run ${this.name}`, onclick: () => this.go() }, "Run");
    this.input.append(this.quiet);
    const attributes = { role: "textbox", tabindex: 0, "aria-readonly": "true", "aria-multiline": "true", "aria-label": `${this.label()}; Enter edits it` };
    for (const [name, value] of Object.entries(attributes)) this.code.setAttribute(name, value);
    this.code.addEventListener("click", () => this.edit());
    this.code.addEventListener("keydown", (event) => this.key(event));
    if (!cell.changed()) return;
    this.build(); // it was changed on an earlier visit
    this.open();
    this.say("Your change of an earlier visit; the output is still the original's. Run it, or Reset.");
  }
  get text() {
    return this.editor?.text() ?? work.edit(this.at, this.original) ?? this.original;
  }
  label() {
    return `The code of ${this.name}, in Python`;
  }
  key(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (event.shiftKey || event.ctrlKey || event.metaKey) this.go();
    else this.edit();
  }
  /** Show the buttons, which a page that nobody presses does not have. */
  build() {
    if (this.status) return;
    const tools = this.tools("Run", "Shift+Enter runs, Escape leaves the editor.");
    const hadFocus = document.activeElement === this.quiet;
    this.quiet.remove();
    this.input.after(tools);
    if (hadFocus) this.button.focus();
    this.say(this.isFirst ? `The first run loads Python, ${PYTHON_MB} MB, once.` : "");
  }
  edit() {
    if (!getSelection().isCollapsed) return; // whoever selects code to copy it does not edit it
    this.build();
    this.open(true);
  }
  changed(text) {
    work.keepEdit(this.at, this.original, text);
    const kept = work.isRefused() ? "An edit lasts as long as the page is open." : "Your edit is kept in this browser.";
    this.say(text === this.original ? "" : `Changed. ${kept}`);
    if (text !== this.original) this.begun ??= this.begin();
  }
  restore() {
    if (this.editor) this.editor.set(this.original);
    else work.keepEdit(this.at, this.original, this.original);
    this.say("The original is back.");
    if (this.isLive) this.go();
  }
  /** Ask before the real model is loaded, unless it was loaded on an earlier visit. */
  offer() {
    const { bytes } = realModel();
    const agree = () => {
      hasAgreed = true;
      this.button.focus();
      this.opener.remove();
      this.go();
    };
    const words = `Open the real model (${Math.round(bytes / 1e6)} MB, once)`;
    this.opener ??= h("button", { type: "button", class: "live-check live-open", onclick: agree }, words);
    this.button.after(this.opener);
    this.say("This cell reads with a real model, which must be loaded first.");
  }
  get mustAsk() {
    return this.cell.needsModel && !hasAgreed && work.fact("minilm") !== realModel().file;
  }
  async act(python) {
    this.build();
    const { ok, above, milliseconds } = await python.run(this);
    const others = above ? `, with ${above} cell${above === 1 ? "" : "s"} above it` : "";
    this.say(ok ? `Ran in ${(milliseconds / 1000).toFixed(2)} s${others}.` : "Stopped by an error.");
  }
  async go() {
    this.build();
    return this.mustAsk ? this.offer() : super.go();
  }

  // Its outputs take the place of the stored ones with the first of them, or at the end.

  willRun() {
    this.isFresh = false;
  }
  get place() {
    let place = this.cell.element.querySelector(".cell_output");
    if (!place) {
      place = h("div", { class: "cell_output docutils container" });
      const whole = this.cell.element.classList.contains("tag_hide-cell") && this.cell.element.querySelector("details");
      (whole || this.cell.element).append(place);
    }
    if (!this.isFresh) place.replaceChildren();
    this.isFresh = this.isLive = true;
    return place;
  }
  print(text, kind) {
    const { place } = this;
    const last = place.lastElementChild;
    if (last?.className === OUTPUTS[kind]) last.querySelector("pre").append(text);
    else place.append(h("div", { class: OUTPUTS[kind] }, h("div", { class: "highlight" }, h("pre", { tabindex: 0 }, text))));
  }
  show([kind, text]) {
    if (kind === "text/plain") this.print(text, kind);
    else if (kind === "text/markdown") this.quote(text.replace(/^```.*\n|\n```$/g, ""));
    else {
      const output = h("div", { class: "output text_html" });
      this.place.append(output);
      showHtml(output, text);
      if (output.querySelector(".course-widget")) mountWidgets(output);
    }
  }
  quote(code) {
    this.print(code, "text/plain");
    const pre = this.place.lastElementChild.querySelector("pre");
    import("./editor.js").then(({ colour }) => colour(pre));
  }
  didRun({ ok, bundle, error, needs }) {
    if (bundle) this.show(bundle);
    if (!ok) this.print(error, "error");
    if (needs === "minilm" && realModel()) {
      this.cell.needsModel = true; // the reader has written this into a cell
      this.offer();
    }
    if (!this.isFresh) this.place.replaceChildren();
  }
}

/** Start interactive figures by the module that started those of the page. */
function mountWidgets(root) {
  const address = document.querySelector('script[src*="/mount.js"]')?.src ?? new URL("../mount.js", import.meta.url).href;
  import(address).then(({ mountAll }) => mountAll(root));
}

const COLAB = 'a[href^="https://colab.research.google.com"]';

/** Give every cell that can run its button; the others are for the notebook. */
export function mountCells() {
  const elements = [...document.querySelectorAll(".bd-article div.cell")];
  const colab = document.querySelector(COLAB)?.href;
  if (colab) document.querySelector("a.live-notebook").href = colab;
  for (const element of elements.filter(({ dataset }) => !dataset.runs))
    element.querySelector(".cell_input")?.setAttribute("title", "This cell needs PyTorch or a larger model: the notebook runs it (Colab, above).");
  const cells = elements.flatMap((element, n) =>
    element.dataset.runs ? [{ element, name: `cell ${n + 1}`, kind: "cell", needsModel: element.dataset.runs === "minilm" }] : [],
  );
  setCells(cells);
  for (const cell of cells) new Cell(cell, cell.name.split(" ")[1]);
}
