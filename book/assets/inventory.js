// Marks the questions of a page. What it keeps stays in this browser and is sent nowhere.

const PLACE = "attention-course.inventory";
const EMPTY = { version: 1, draft: {}, before: null, after: null };

/** How many answers are right, in all and for each skill. */
export function score(questions, answers) {
  const skills = new Map();
  for (const { id, skill, right } of questions) {
    const one = skills.get(skill) ?? { skill, right: 0, total: 0 };
    one.total += 1;
    one.right += answers[id] === right ? 1 : 0;
    skills.set(skill, one);
  }
  const bySkill = [...skills.values()];
  return { right: bySkill.reduce((sum, one) => sum + one.right, 0), total: questions.length, bySkill };
}

/** The share of what could still be gained that was gained (Hake 1998); null where nothing could. */
export function gain(before, after, total) {
  return before < total ? (after - before) / (total - before) : null;
}

/** The numbers, counted from 1, of the questions without an answer. */
export function open(questions, answers) {
  return questions.flatMap(({ id }, n) => (Number.isInteger(answers[id]) ? [] : [n + 1]));
}

/** The chapter to start at (null: none was missed), those before it, and later ones that are known. */
export function route(questions, answers) {
  const missed = new Set(questions.filter(({ id, right }) => answers[id] !== right).map((q) => q.chapter));
  const chapters = [...new Set(questions.map((q) => q.chapter))].sort();
  const start = chapters.find((chapter) => missed.has(chapter)) ?? null;
  const skip = chapters.filter((chapter) => start === null || chapter < start);
  const known = chapters.filter((chapter) => start !== null && chapter > start && !missed.has(chapter));
  return { start, skip, known };
}

/** What was kept, as far as it can be read; anything else is an empty record. */
export function restore(text) {
  let kept = null;
  try {
    kept = JSON.parse(text);
  } catch {
    // Something else wrote there.
  }
  if (kept?.version !== 1) return { ...EMPTY };
  const attempt = (one) =>
    Number.isInteger(one?.right) && Number.isInteger(one?.total) && Array.isArray(one?.bySkill) ? one : null;
  const draft = typeof kept.draft === "object" && kept.draft ? kept.draft : {};
  return { version: 1, draft, before: attempt(kept.before), after: attempt(kept.after) };
}

/** The rows of the table of results: for each skill, and in all, what was right before and after. */
export function compared(record) {
  const attempts = [record.before, record.after];
  const skills = (record.before ?? record.after).bySkill.map(({ skill }) => skill);
  const found = (attempt, skill) => attempt?.bySkill.find((one) => one.skill === skill);
  const said = (one) => (one ? `${one.right} of ${one.total}` : "\u2013");
  const rows = skills.map((skill) => [skill, ...attempts.map((one) => said(found(one, skill)))]);
  return [...rows, ["in all", ...attempts.map(said)]];
}

/** What the two attempts say together, in a sentence. */
export function conclusion({ before, after }) {
  if (!before || !after) return "";
  if (before.form !== after.form) return "The questions were changed between your two attempts, so the two are not quite comparable.";
  const share = gain(before.right, after.right, after.total);
  if (share === null) return "Before the course you had all of them right, so nothing was left to gain.";
  if (share < 0) return `After the course ${before.right - after.right} fewer were right than before.`;
  return `Of what was left to gain, you gained ${Math.round(100 * share)} %: that is the normalised gain.`;
}

/** "2", "2 and 3", "2, 3 and 4". */
export function listed(parts) {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** The record in the browser's storage; where storage is forbidden, it lasts as long as the page. */
function keeper() {
  let held = null;
  const attempt = (act) => {
    try {
      return act();
    } catch {
      return null; // storage is off or full
    }
  };
  return {
    read: () => restore(attempt(() => localStorage.getItem(PLACE)) ?? held),
    write: (record) => {
      held = JSON.stringify(record);
      attempt(() => localStorage.setItem(PLACE, held));
    },
    forget: () => {
      held = null;
      attempt(() => localStorage.removeItem(PLACE));
    },
  };
}

function readQuestion(field) {
  const { skill, chapter, right } = field.dataset;
  return {
    id: field.id, skill, chapter, right: Number(right), field,
    key: field.querySelector(".course-key"),
    inputs: [...field.querySelectorAll("input")],
  };
}

async function mount(root) {
  const { h, button, choice } = await import("./widgets/kit.js");
  const questions = [...root.querySelectorAll(".course-question")].map(readQuestion);
  const chapters = JSON.parse(root.dataset.chapters);
  const status = h("p", { class: "course-status", role: "status" });
  const results = h("div", { class: "course-results", id: "your-results", tabindex: -1, role: "group", "aria-label": "Your results" });
  results.hidden = true;

  const answers = () =>
    Object.fromEntries(
      questions.flatMap(({ id, inputs }) => inputs.filter((one) => one.checked).map((one) => [id, Number(one.value)])),
    );
  const give = (given) => questions.forEach(({ id, inputs }) => inputs.forEach((one, n) => (one.checked = given[id] === n)));
  const showKeys = (given) => {
    for (const { id, key, right } of questions) {
      key.hidden = given === null;
      if (given === null) continue;
      const good = given[id] === right;
      key.open = true;
      key.classList.toggle("right", good);
      key.classList.toggle("wrong", !good);
      key.querySelector("summary").textContent = good ? "Right" : id in given ? "Not so" : "Left open";
      key.querySelectorAll("li").forEach((one) => {
        const mine = Number(one.dataset.choice) === given[id];
        one.classList.toggle("chosen", mine);
        one.querySelector(".course-mine")?.remove();
        if (mine) one.prepend(h("span", { class: "course-mine" }, "Your answer: "));
      });
    }
  };
  const link = (number) => {
    const [title, href] = chapters[number];
    return h("a", { href }, `chapter ${Number(number)}, ${title}`);
  };
  /** Say which are open and go to the first; true if none is. */
  const complete = () => {
    const left = open(questions, answers());
    status.textContent = left.length ? `Still open: ${listed(left.map(String))}.` : "";
    if (left.length) questions[left[0] - 1].inputs[0].focus();
    return left.length === 0;
  };
  const show = (...parts) => {
    results.replaceChildren(...parts);
    results.hidden = false;
  };
  const count = () => {
    const left = open(questions, answers()).length;
    status.textContent = `${questions.length - left} of ${questions.length} answered.`;
  };

  const tools = { h, button, choice, root, questions, answers, give, showKeys, link, complete, show, count, status, results };
  showKeys(null);
  if (root.dataset.kind === "diagnostic") diagnose(tools);
  else take(tools);
  count();
  root.dataset.mounted = "true";
}

/** The ten questions of chapter 0: where to begin. One left open counts as missed; nothing is kept. */
function diagnose({ h, button, root, questions, answers, showKeys, link, show, count, status, results }) {
  const lines = () => {
    const given = answers();
    const { right, total } = score(questions, given);
    const { start, skip, known } = route(questions, given);
    const numbers = (list) => `chapter${list.length > 1 ? "s" : ""} ${listed(list.map((one) => String(Number(one))))}`;
    const said = [h("b", {}, `${right} of ${total} right. `)];
    if (start === null) said.push("You may begin with ", link("12"), ", and come back to any page that it names.");
    else said.push("Start at ", link(skip.length ? start : "01"), ".");
    if (start !== null && skip.length) said.push(` You may skip ${numbers(skip)}.`);
    if (known.length) said.push(` ${numbers(known)[0].toUpperCase()}${numbers(known).slice(1)} should be quick: read the summary first.`);
    return said;
  };
  const mark = button("Where do I begin?", () => {
    const key = button("Show the answers", () => showKeys(answers()));
    const hint = "These ten are among the thirty of the concept inventory. If you mean to take it before and after, leave them folded.";
    show(h("p", {}, ...lines()), h("p", {}, hint), key);
    results.focus();
  });
  root.append(status, h("div", { class: "kit-buttons" }, mark), results);
  root.addEventListener("change", count);
}

/** The inventory: before and after the course, with a record in this browser. */
function take({ h, button, choice, root, questions, answers, give, showKeys, link, complete, show, count, status, results }) {
  const store = keeper();
  let record = store.read();
  const when = { value: record.before ? "after" : "before" };
  const pick = choice({
    label: "When do you answer?",
    options: [["before", "before the course"], ["after", "after the course"]],
    value: when.value,
    onChange: (value) => {
      when.value = value;
    },
  });

  const down = h("a", { href: "#your-results" }, "Your results stand below the questions");
  down.hidden = true;

  function download() {
    const text = JSON.stringify({ course: "Attention, from embeddings to GPT-2", ...record }, null, 2);
    const url = URL.createObjectURL(new Blob([`${text}\n`], { type: "application/json" }));
    h("a", { href: url, download: "attention-inventory.json" }).click();
    URL.revokeObjectURL(url);
  }

  function forget() {
    store.forget();
    record = store.read();
    give({});
    showKeys(null);
    results.hidden = down.hidden = true;
    when.value = "before";
    pick.set("before");
    status.textContent = "Forgotten: nothing is kept in this browser.";
  }

  function advice(attempt) {
    const missed = [...new Set(questions.filter(({ id, right }) => attempt.answers?.[id] !== right).map((q) => q.chapter))].sort();
    if (!missed.length) return [];
    const links = missed.flatMap((number, n) => [n ? "; " : "", link(number)]);
    return [h("p", {}, "What you missed is treated in ", ...links, ".")];
  }

  function report() {
    const last = record.after ?? record.before;
    if (!last) return;
    down.hidden = false;
    const head = ["skill", "before", "after"].map((word) => h("th", { scope: "col" }, word));
    const rows = compared(record).map(([name, ...cells]) =>
      h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((cell) => h("td", {}, cell))),
    );
    const caption = h("caption", {}, "Right answers");
    const table = h("table", {}, caption, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows));
    const label = record.after ? "Show the answers" : "Show the answers all the same";
    const hold = record.after ? [] : [h("p", {}, "The answers stay folded until you have taken it after the course as well.")];
    const said = conclusion(record);
    show(
      table,
      ...(said ? [h("p", {}, said)] : []),
      ...advice(last),
      ...hold,
      h(
        "div",
        { class: "kit-buttons" },
        button(label, () => showKeys(last.answers)),
        button("Save as a file", download),
        button("Forget it all", forget),
      ),
    );
  }

  const mark = button("Mark my answers", () => {
    if (!complete()) return;
    const given = answers();
    const today = new Date().toISOString().slice(0, 10);
    record = { ...record, draft: {}, [when.value]: { when: today, form: root.dataset.form, answers: given, ...score(questions, given) } };
    store.write(record);
    showKeys(when.value === "after" ? given : null);
    report();
    results.focus();
  });
  const clear = button("Clear the choices", () => {
    give({});
    showKeys(null);
    record = { ...record, draft: {} };
    store.write(record);
    count();
    questions[0].inputs[0].focus();
  });

  give(record.draft);
  root.prepend(h("div", { class: "course-when" }, down, pick.el));
  root.append(status, h("div", { class: "kit-buttons" }, mark, clear), results);
  root.addEventListener("change", (event) => {
    if (!event.target.closest(".course-question")) return;
    record = { ...record, draft: answers() };
    store.write(record);
    count();
  });
  report();
}

if (typeof document !== "undefined") {
  for (const root of document.querySelectorAll(".course-questions")) {
    mount(root).catch((error) => console.error("the questions could not be started", error));
  }
}
