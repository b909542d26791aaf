// A small trained model of two layers of attention that runs in the page, with a switch for each head.

import { add, attend, dot, fmt, logSumExp } from "./arithmetic.js";
import { button, column, frame, grid, h, readout, row, svg, toggle, unique } from "./kit.js";

const [SHORTEST, LONGEST] = [3, 12]; // letters of a pattern

/** The parameters by name: matrices as lists of rows. */
export function unpack({ shapes, parameters }) {
  const bytes = Uint8Array.from(atob(parameters), (c) => c.charCodeAt(0));
  const numbers = new DataView(bytes.buffer);
  let at = 0;
  const next = () => numbers.getFloat32(4 * at++, true);
  const rows = ([n, m]) => Array.from({ length: n }, () => Array.from({ length: m }, next));
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, rows(shape)]));
}

const linear = (weight, x) => x.map((v) => weight.map((w) => dot(w, v)));

/** All logits and every head's table; a head whose number is in `off` says nothing. */
export function forward(model, p, ids, off = []) {
  const { heads, layers } = model;
  const past = ids.map((_, i) => ids.map((_, j) => j <= i));
  const tables = [];
  let x = ids.map((id, i) => add(p["token_embedding.weight"][id], p["position_embedding.weight"][i]));
  for (let layer = 0; layer < layers; layer += 1) {
    const [q, k, v, out] = ["query", "key", "value", "out"].map((name) => p[`layers.${layer}.${name}.weight`]);
    const [queries, keys, values] = [q, k, v].map((weight) => linear(weight, x));
    const width = q.length / heads;
    const parts = Array.from({ length: heads }, (_, head) => {
      const cut = (m) => m.map((line) => line.slice(head * width, (head + 1) * width));
      const { weights, output } = attend(cut(queries), cut(keys), cut(values), { mask: past });
      tables.push(weights);
      return off.includes(layer * heads + head) ? output.map((v) => v.map(() => 0)) : output;
    });
    const change = linear(out, ids.map((_, i) => parts.flatMap((part) => part[i])));
    x = x.map((v, i) => add(v, change[i]));
  }
  return { logits: linear(p["unembed.weight"], x), weights: tables };
}

/** The letters of a pattern, as many whole copies as the model can read. */
export function repeated(pattern, longest) {
  const copies = Math.floor(longest / pattern.length);
  return Array.from({ length: copies * pattern.length }, (_, i) => pattern[i % pattern.length]);
}

const mean = (all) => all.reduce((sum, x) => sum + x, 0) / all.length;

/** What a table of weights does: on the token before, on what followed earlier, on the first. */
export function habits(weights, ids) {
  const found = ids.map((id, i) => ids.map((_, j) => j).filter((j) => j > 0 && j <= i && ids[j - 1] === id));
  const asked = ids.map((_, i) => i).filter((i) => found[i].length);
  const later = weights.slice(1);
  return {
    previous: mean(later.map((line, i) => line[i])),
    induction: mean(asked.map((i) => found[i].reduce((sum, j) => sum + weights[i][j], 0))),
    sink: mean(later.map((line) => line[0])),
  };
}

/** The probability of the letter that follows in the pattern, and the loss where it can be known. */
export function judged(logits, ids, period) {
  const losses = logits.map((line, i) => logSumExp(line) - line[ids[(i + 1) % period]]);
  return { right: losses.map((loss) => Math.exp(-loss)), loss: mean(losses.slice(period)) };
}

/** Everything that is shown of a state. */
export function look(model, p, { pattern, off }) {
  const ids = repeated(pattern, model.longest).map((letter) => model.letters.indexOf(letter));
  const { logits, weights } = forward(model, p, ids, off);
  const whole = judged(off.length ? forward(model, p, ids).logits : logits, ids, pattern.length);
  return { ids, weights, habits: weights.map((one) => habits(one, ids)), whole: whole.loss, ...judged(logits, ids, pattern.length) };
}

/** What was typed, without what the model has no letter for; null unless it is a pattern. */
export function readable(text, letters) {
  const kept = [...text.toLowerCase()].filter((c) => letters.includes(c)).join("");
  return kept.length >= SHORTEST && kept.length <= LONGEST && kept.length === text.length ? kept : null;
}

const nth = (k) => k + ({ 1: "st", 2: "nd", 3: "rd" }[k % 100 > 10 && k % 100 < 14 ? 0 : k % 10] ?? "th");
const short = (x) => (x > 0.995 ? "1.0" : fmt(x, 2).slice(1)); // .98 and 1.0 are as wide as each other

/** What the chosen head does with the chosen letter. */
export function sentence(model, seen, pattern, { head, query }) {
  const weights = seen.weights[head][query];
  const best = weights.indexOf(Math.max(...weights));
  const name = (i) => `the ${nth(i + 1)} letter, ${pattern[i % pattern.length]}`;
  return `${named(model, head)} looks from ${name(query)}: most weight, ${fmt(weights[best])}, on ${name(best)}`;
}

const named = (model, head) => `layer ${Math.floor(head / model.heads)}, head ${head % model.heads}`;

/** A head's table as a picture on a button: one square a weight. */
function thumbnail(label, n, onClick) {
  const picture = svg("svg", { viewBox: `0 0 ${n} ${n}`, class: "kit-thumb", "aria-hidden": "true", "shape-rendering": "crispEdges" });
  const cells = [];
  for (let i = 0; i < n; i += 1)
    for (let j = 0; j <= i; j += 1) {
      const rect = svg("rect", { x: j, y: i, width: 1, height: 1 });
      cells.push([rect, i, j]);
      picture.append(rect);
    }
  const line = svg("rect", { x: 0, width: n, height: 1, class: "kit-thumb-row" });
  picture.append(line);
  const el = h("button", { type: "button", class: "kit-token", "aria-label": `show ${label}`, onclick: onClick }, picture);
  const set = (table, query, pressed) => {
    for (const [rect, i, j] of cells) rect.style.fill = `var(--w${Math.round(40 * table[i][j])})`;
    line.setAttribute("y", query);
    el.setAttribute("aria-pressed", pressed);
  };
  return { el, set };
}

function render({ model, el }) {
  const trained = model.get("model");
  const p = unpack(trained);
  const count = trained.layers * trained.heads;
  const change = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const flip = (head) => {
    const off = model.get("off");
    change("off", off.includes(head) ? off.filter((one) => one !== head) : [...off, head].sort((a, b) => a - b));
  };

  const id = unique("pattern");
  const problem = h("div", { class: "kit-label", id: `${id}-said`, role: "status" });
  const field = h("input", { id, class: "kit-field", maxlength: LONGEST, autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-describedby": `${id}-said` });
  field.addEventListener("input", () => {
    const pattern = readable(field.value, trained.letters);
    tell(pattern);
    if (pattern) change("pattern", pattern);
  });
  function tell(pattern) {
    const rule = `${SHORTEST} to ${LONGEST} letters from ${trained.letters[0]} to ${trained.letters.at(-1)}`;
    const twice = pattern && [...pattern].find((c, i) => pattern.indexOf(c) < i);
    if (!pattern) problem.textContent = `Type ${rule}, and nothing else; shown is still ${model.get("pattern")}.`;
    else if (twice) problem.textContent = `${twice} comes twice: what follows it depends on which one it is, and this model was trained on different letters.`;
    else problem.textContent = `${rule}, all different`;
    field.setAttribute("aria-invalid", pattern ? "false" : "true");
  }
  const shuffle = () => {
    const letters = [...trained.letters];
    const drawn = Array.from(model.get("pattern"), () => letters.splice(Math.floor(Math.random() * letters.length), 1)[0]);
    change("pattern", drawn.join(""));
  };

  const loss = readout({ label: "Loss where the next letter can be known:", name: "loss", live: true });
  loss.el.classList.add("kit-stay");
  const said = readout({ label: "", name: "head" });
  said.el.classList.add("kit-equation");
  const [chances, attended, tables] = [0, 1, 2].map(() => h("div", { class: "kit-column kit-dense" }));
  tables.className = "kit-row kit-layers";
  let built = "";
  let parts;

  /** One layer as a table: a row for each head with its picture, its switch and its scores. */
  function layerTable(layer, n) {
    const rows = Array.from({ length: trained.heads }, (_, i) => {
      const head = layer * trained.heads + i;
      const picture = thumbnail(named(trained, head), n, () => change("head", head));
      const on = toggle({ label: "", value: true, onChange: () => flip(head) });
      on.input.setAttribute("aria-label", `${named(trained, head)} on`);
      const numbers = ["previous", "induction", "sink"].map((name) => [name, h("td", { class: "kit-count", "data-name": `${name} ${head}` })]);
      const line = h("tr", {}, h("th", { scope: "row" }, `${i}`), h("td", {}, picture.el), h("td", {}, on.el), ...numbers.map(([, td]) => td));
      return { line, picture, on, numbers };
    });
    const heads = ["head", "weights", "on", "previous", "induction", "sink"].map((name) => h("th", { scope: "col" }, name));
    const caption = h("caption", {}, `layer ${layer}`);
    const el = h("table", { class: "kit-ledger" }, caption, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows.map(({ line }) => line)));
    return { el: h("div", { class: "kit-scroll" }, el), rows };
  }

  /** Make all tables anew; only another pattern needs it. */
  function build(pattern) {
    const period = pattern.length;
    const copies = Math.floor(trained.longest / period);
    const shape = { rows: Array.from({ length: copies }, (_, i) => nth(i + 1)), columns: [...pattern] };
    const seen = (w, i, j) => (i * period + j > model.get("query") ? "" : short(w));
    const onSelect = (i, j) => change("query", i * period + j);
    const right = grid({ label: "probability of the right next letter", onSelect, write: short, ...shape });
    const weights = grid({ label: "weights from the chosen letter", write: seen, ...shape });
    chances.replaceChildren(right.el);
    attended.replaceChildren(weights.el);
    const layers = Array.from({ length: trained.layers }, (_, layer) => layerTable(layer, copies * period));
    tables.replaceChildren(...layers.map((one) => one.el));
    parts = { right, weights, heads: layers.flatMap((one) => one.rows) };
  }

  function draw() {
    const [pattern, off, head] = ["pattern", "off", "head"].map((name) => model.get(name));
    if (pattern !== built) build(pattern);
    built = pattern;
    if (field.value !== pattern && document.activeElement !== field) field.value = pattern;
    tell(readable(field.value, trained.letters));
    const seen = look(trained, p, { pattern, off });
    const query = Math.min(model.get("query"), seen.ids.length - 1);
    const folded = (line) => seen.ids.flatMap((_, i) => (i % pattern.length ? [] : [line.slice(i, i + pattern.length)]));
    const chosen = (i, j) => i * pattern.length + j === query;
    parts.right.set(folded(seen.right), { high: 1, selected: chosen });
    parts.weights.set(folded(seen.weights[head][query]), { high: 1, selected: chosen, mask: folded(seen.ids.map((_, i) => i <= query)) });
    parts.heads.forEach(({ line, picture, on, numbers }, i) => {
      picture.set(seen.weights[i], query, i === head);
      on.set(!off.includes(i));
      line.classList.toggle("kit-off", off.includes(i));
      for (const [name, td] of numbers) td.textContent = fmt(seen.habits[i][name]);
    });
    const rise = seen.loss - seen.whole;
    const how = off.length ? `, ${fmt(Math.abs(rise))} ${rise < 0 ? "less" : "more"} than with all heads` : ", with all heads on";
    loss.set(`${fmt(seen.loss)} nats${how}; a blind guess costs ${fmt(Math.log(trained.letters.length))}`);
    loss.el.classList.toggle("kit-alarm", rise > 1);
    said.set(sentence(trained, seen, pattern, { head, query }));
  }

  frame(
    el,
    "A model that copies, and a switch for each of its heads",
    column(
      h("label", { for: id, class: "kit-label" }, "A pattern, which is repeated:"),
      field,
      problem,
      h("div", { class: "kit-buttons" }, button("Shuffle", shuffle), button("All heads on", () => change("off", []))),
    ),
    loss.el,
    row(chances, attended),
    said.el,
    tables,
  );
  for (const name of ["pattern", "off", "head", "query"]) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
