// On the front page: a question about each mistake that a check has named before.

import { h, unique } from "../../../../figures/widgets/kit.js";
import { questions, misconceptions } from "course-questions"; // made by book/catalogue/remember.py
import { INTERVALS, after, dayAfter, dayOf, turned } from "./due.js";
import * as work from "../work.js";

const button = (label, onclick) => h("button", { type: "button", onclick }, label);

function html(tag, text, attributes = {}) {
  const element = h(tag, attributes);
  element.innerHTML = text; // from the book's own build
  return element;
}

/** When a question comes again, in words. */
export function againInWords({ due }, now) {
  if (!due) return "You have answered right each time, so the question does not come back.";
  if (due === dayAfter(dayOf(now), 1)) return "The question comes back tomorrow.";
  const [year, month, date] = due.split("-").map(Number);
  const day = new Date(year, month - 1, date).toLocaleDateString("en-GB", { day: "numeric", month: "long" });
  return `The question comes back on ${day}.`;
}

/** One question: its choices, and after the answer what was right, why, and where to read. */
function asked({ misconception, task, step, question }, count, taskLink, onAnswer) {
  const { ask, choices } = questions[question];
  const name = unique("remember");
  const offered = turned(choices, step).map((choice, n) => {
    const input = h("input", { type: "radio", name, value: n });
    return { ...choice, input, label: h("label", {}, input, html("span", choice.text)) };
  });
  const legend = h("legend", { tabindex: -1 }, h("b", {}, `${count} `), html("span", ask));
  const status = h("div", { role: "status", class: "live-said" });
  const tools = h("div", { class: "live-buttons" });
  const field = h("fieldset", { class: "live-question" }, legend, ...offered.map(({ label }) => label), tools);

  const answer = () => {
    const chosen = offered.find(({ input }) => input.checked);
    if (!chosen) {
      status.textContent = "Choose an answer first.";
      offered[0].input.focus();
      return;
    }
    const entry = after(step, chosen.right, Date.now());
    work.keepMemory({ [misconception]: entry });
    for (const { input, label, right } of offered) {
      input.disabled = true;
      if (right) label.classList.add("right");
      else if (input.checked) label.classList.add("wrong");
    }
    const { why, text } = offered.find(({ right }) => right);
    const verdict = chosen.right
      ? [h("p", {}, h("b", { class: "right" }, "✓ Right. "), html("span", why))]
      : [
          h("p", {}, h("b", { class: "wrong" }, "✗ Not quite. "), html("span", chosen.why)),
          h("p", {}, h("b", {}, "The right answer: "), html("span", text.replace(/\.$/, "")), ". ", html("span", why)),
        ];
    const about = misconceptions[misconception];
    const read = h("a", { class: "course-read", href: about.read }, about.section);
    const met = ["In ", taskLink(task), ` a check named this mistake: ${about.name}. Read: `, read, ". "];
    status.replaceChildren(...verdict, h("p", {}, ...met, againInWords(entry, Date.now())));
    onAnswer(chosen.right, press);
  };
  const press = button("Answer", answer);
  tools.append(press);
  return { element: h("div", {}, field, status), legend, tools };
}

/** Ask one question after the other in a section; `taskLink` makes the link to a task. */
export function askAgain(section, items, taskLink) {
  const place = h("div");
  let right = 0;
  const show = (n) => {
    const count = items.length > 1 ? `${n + 1} of ${items.length}.` : "";
    const { element, legend, tools } = asked(items[n], count, taskLink, (isRight, press) => {
      right += isRight ? 1 : 0;
      const isLast = n + 1 === items.length;
      const onward = isLast ? null : button("Next question", () => show(n + 1));
      press.replaceWith(...(onward ? [onward] : []));
      if (isLast) later.remove();
      if (isLast) element.append(h("p", { class: "live-status" }, `Done for today: ${right} of ${items.length} right.`));
      (onward ?? legend).focus();
    });
    tools.append(later);
    place.replaceChildren(element);
    if (n) legend.focus();
  };
  const later = button("Not now", () => {
    work.keepMemory({}, dayAfter(dayOf(Date.now()), 1));
    section.remove();
  });
  const words = items.length > 1 ? `${["Two", "Three"][items.length - 2]} short questions` : "One short question";
  section.append(
    h("h2", { id: "do-you-still-know" }, "Do you still know?"),
    h("p", {}, `${words} about mistakes that a check has named. After a right answer the question comes back after ${INTERVALS.slice(1, -1).join(", ")} and ${INTERVALS.at(-1)} days; after a wrong one, tomorrow.`),
    place,
  );
  show(0);
}
