// Twenty broken models: ask for experiments, compare with the correct model, name the fault.

import { fmt } from "./arithmetic.js";
import { button, column, frame, grid, h, numberCell, readout, row, unique } from "./kit.js";

const VISIBLE = 1e-6; // of lib.debugging.findings: numbers that differ by less are the same
const LARGEST = 60; // of the denominators that are written as fractions
const FIRST = "future"; // the experiment that has been run on model 1 when the figure opens

/** The order of the suspects that a seed gives, as lib.debugging.broken_models.lineup shuffles them. */
export function lineup(seed, count = 20) {
  const order = Array.from({ length: count }, (_, i) => i);
  let state = seed;
  for (let last = count - 1; last > 0; last -= 1) {
    state = (state * 48271) % 2147483647; // the product stays below 2 to the 53
    const chosen = state % (last + 1);
    [order[last], order[chosen]] = [order[chosen], order[last]];
  }
  return order;
}

/** A number as a fraction, if it is one with a small denominator; otherwise as a decimal. */
export function fraction(x) {
  for (let below = 1; below <= LARGEST; below += 1) {
    const above = Math.round(x * below);
    if (Math.abs(above / below - x) < 1e-7)
      return `${above < 0 ? "\u2212" : ""}${Math.abs(above)}${below > 1 ? `/${below}` : ""}`;
  }
  return fmt(x, 3);
}

/** A number of an experiment as it is shown. */
export const written = (experiment, x) => (experiment.fractions ? fraction(x) : fmt(x, 4));

/** The cells in which two tables differ, the largest difference first. */
export function differences(one, other) {
  return one
    .flatMap((line, i) => line.map((x, j) => [i, j, Math.abs(x - other[i][j])]))
    .filter(([, , size]) => size > VISIBLE)
    .sort((a, b) => b[2] - a[2])
    .map(([i, j]) => [i, j]);
}

/** Whether a diagnosis agrees with what one experiment finds about a suspect: words, not numbers. */
export function agrees(suspect, candidate, key) {
  return candidate.findings[key] === suspect.findings[key];
}

/** The names that agree with all the experiments that were asked for. */
export function fitting(cases, suspect, asked) {
  return cases.suspects.filter((one) => asked.every((key) => agrees(suspect, one, key)));
}

/** A finding that speaks against a diagnosis, in words; nothing if none does. */
export function against(cases, suspect, candidate, asked) {
  const speaks = ({ key }) => asked.includes(key) && !agrees(suspect, candidate, key);
  const experiment = cases.experiments.find(speaks);
  if (!experiment) return "";
  const [wanted, found] = [candidate, suspect].map((one) => one.findings[experiment.key]);
  return `With it, \u201c${experiment.name}\u201d finds: ${wanted}. Here it finds: ${found}.`;
}

/** What to answer to a name: it is proved, refuted, or open. */
export function verdict(cases, suspect, candidate, asked) {
  const reason = against(cases, suspect, candidate, asked);
  if (reason) return { kind: "refuted", text: `Not \u201c${candidate.name}\u201d. ${reason}` };
  const left = fitting(cases, suspect, asked).length;
  if (left > 1)
    return {
      kind: "open",
      text: asked.length
        ? `Not proved. What you found fits \u201c${candidate.name}\u201d, and also ${left - 1} other ${left > 2 ? "names" : "name"}. Ask for another experiment.`
        : "Not proved: no experiment has been asked for yet.",
    };
  return { kind: "proved", text: `Proved: ${suspect.name}. ${suspect.sign}` };
}

/** The next experiment on the tree's way to this suspect that was not asked for, if there is one. */
export function hint(suspect, asked) {
  return suspect.walk.map(([key]) => key).find((key) => !asked.includes(key)) ?? "";
}

/** The tree's way to a suspect, a line for each question. */
export function walk(cases, suspect) {
  const name = (key) => cases.experiments.find((one) => one.key === key).name;
  return suspect.walk.map(([key, asks, answer]) => `${name(key)}: ${asks} ${answer}.`).join("\n");
}

/** What is said of an experiment's two tables. */
export function comparison(experiment, table) {
  const cells = differences(table, experiment.table);
  const all = table.length * table[0].length;
  if (!cells.length) return "no number differs";
  const [i, j] = cells[0];
  const [found, right] = [table, experiment.table].map((one) => written(experiment, one[i][j]));
  return `${cells.length} of ${all} numbers, most at ${experiment.rows[i]}, ${experiment.columns[j]}: ${found}, right would be ${right}`;
}

function render({ model, el }) {
  const cases = model.get("cases");
  const count = cases.suspects.length;
  const opened = (asked) => ({ asked, shown: asked[0] ?? "", state: "", guess: "", reply: "" });
  const fresh = () => Array.from({ length: count }, (_, i) => opened(i ? [] : [FIRST]));
  let notes = fresh(); // what was done with each suspect of the lineup
  let wrong = 0;
  const at = () => notes[model.get("number") - 1];
  const suspect = () => cases.suspects[lineup(model.get("seed"), count)[model.get("number") - 1]];

  const seed = numberCell({ label: "seed of the order", value: model.get("seed"), step: 1, min: 1, max: 9999, onInput: put("seed") });
  const numbers = notes.map((_, i) => h("button", { type: "button", class: "kit-token", onclick: () => put("number")(i + 1) }));
  const experiments = cases.experiments.map((one) =>
    h("button", { type: "button", class: "kit-token", "data-name": one.key, onclick: () => ask(one.key) }, one.name),
  );
  const does = h("p", { class: "kit-note", "data-name": "does" });
  const tables = h("div", { class: "kit-row", "data-name": "tables" });
  const differs = readout({ label: "Differs:", name: "differs" });
  const finding = readout({ label: "Found:", live: true, name: "finding" });
  const id = unique("diagnosis");
  const names = cases.suspects.map((one) => one.name).sort();
  const diagnosis = h("select", { id, class: "kit-field" }, h("option", { value: "" }, "choose a name"), ...names.map((name) => h("option", { value: name }, name)));
  diagnosis.addEventListener("change", () => (at().guess = diagnosis.value));
  const reply = readout({ label: "", live: true, name: "reply" });
  reply.el.classList.add("kit-equation", "kit-lines");
  const score = readout({ label: "Score:", name: "score" });

  function put(name) {
    return (value) => {
      model.set(name, value);
      model.save_changes();
    };
  }
  function ask(key) {
    const note = at();
    if (!note.asked.includes(key)) note.asked.push(key);
    note.shown = key;
    draw();
  }
  function accuse() {
    const note = at();
    const candidate = cases.suspects.find((one) => one.name === note.guess);
    if (note.state) return;
    if (!candidate) {
      note.reply = "Choose a name first.";
    } else {
      const { kind, text } = verdict(cases, suspect(), candidate, note.asked);
      note.reply = kind === "proved" ? `${text}\n${walk(cases, suspect())}` : text;
      if (kind === "proved") note.state = kind;
      if (kind === "refuted") wrong += 1;
    }
    draw();
  }
  function help() {
    const key = hint(suspect(), at().asked);
    const name = cases.experiments.find((one) => one.key === key)?.name;
    at().reply = name ? `Ask for \u201c${name}\u201d next.` : "You have seen all that the tree asks for. Walk it with these tables.";
    draw();
  }
  function yieldUp() {
    const note = at();
    if (!note.state) note.state = "given up";
    note.reply = `It was: ${suspect().name}. ${suspect().sign}\n${walk(cases, suspect())}`;
    draw();
  }

  function compare(key) {
    const experiment = cases.experiments.find((one) => one.key === key);
    if (!experiment) {
      tables.replaceChildren();
      does.textContent = "Ask for an experiment.";
      differs.set("nothing was asked for yet");
      finding.set("nothing yet");
      return;
    }
    const found = suspect().tables[key];
    const high = Math.max(1e-9, ...[...found, ...experiment.table].flat().map(Math.abs));
    const both = [[`model ${model.get("number")}`, found], ["the correct model", experiment.table]].map(([label, table]) => {
      const one = grid({ label, rows: experiment.rows, columns: experiment.columns, write: (x) => written(experiment, x) });
      one.set(table, { high });
      for (const [i, j] of differences(found, experiment.table)) one.cells[i][j].td.classList.toggle("leak", table === found);
      return one.el;
    });
    does.textContent = `${experiment.does} Right: ${experiment.right}`;
    tables.replaceChildren(...both);
    differs.set(comparison(experiment, found));
    finding.set(suspect().findings[key]);
  }

  function draw() {
    const note = at();
    const number = model.get("number");
    numbers.forEach((one, i) => {
      const state = notes[i].state;
      one.textContent = `${i + 1}${state === "proved" ? " \u2713" : state ? " \u2013" : ""}`;
      one.setAttribute("aria-pressed", i + 1 === number);
      one.setAttribute("aria-label", `model ${i + 1}${state ? `, ${state}` : ""}`);
    });
    experiments.forEach((one) => {
      const key = one.dataset.name;
      const { name } = cases.experiments.find((other) => other.key === key);
      one.textContent = note.asked.includes(key) ? `${name} \u2022` : name;
      one.setAttribute("aria-pressed", key === note.shown);
      one.setAttribute("aria-label", note.asked.includes(key) ? `${name}, asked` : name);
    });
    compare(note.shown);
    diagnosis.value = note.guess;
    diagnosis.disabled = Boolean(note.state);
    reply.set(note.reply || "Name the fault when what you found leaves one name.");
    reply.el.classList.toggle("kit-alarm", note.reply.startsWith("Not \u201c"));
    const named = notes.filter((one) => one.state === "proved").length;
    const tree = new Set(suspect().walk.map(([key]) => key)).size;
    const needs = note.state ? `, the tree needs ${tree}` : "";
    score.set(`${named} of ${count} proved; wrong names: ${wrong}; experiments on this model: ${note.asked.length}${needs}`);
  }

  const root = frame(
    el,
    "Name the fault",
    row(
      column(
        h("div", { class: "kit-label" }, "models"),
        h("div", { class: "kit-words kit-compact-words", role: "group", "aria-label": "models" }, ...numbers),
      ),
      h("label", { class: "kit-sized" }, h("span", {}, "seed"), seed.el),
    ),
    column(
      h("div", { class: "kit-label" }, "experiments: ask for one"),
      h("div", { class: "kit-words", role: "group", "aria-label": "experiments" }, ...experiments),
    ),
    column(does, tables, differs.el, finding.el),
    column(
      h("label", { for: id, class: "kit-label" }, "your diagnosis"),
      diagnosis,
      h("div", { class: "kit-buttons" }, button("name it", accuse), button("hint", help), button("give up", yieldUp)),
      reply.el,
      score.el,
    ),
  );
  root.classList.add("kit-hunt");
  model.on("change:number", draw);
  model.on("change:seed", () => {
    if (Number(seed.input.value) !== model.get("seed")) seed.set(model.get("seed"));
    notes = fresh();
    wrong = 0;
    draw();
  });
  draw();
}

export default { render };
