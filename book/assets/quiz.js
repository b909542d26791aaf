// Marks each choice of a quiz that is opened, in words, and counts what was right at once.

class Quiz {
  constructor(choices) {
    this.tries = []; // For each question: whether the first try was right, or null.
    for (const choice of choices) {
      if (!choice.previousElementSibling?.matches("details.choice")) this.tries.push(null);
      const question = this.tries.length - 1;
      choice.addEventListener("toggle", () => choice.open && this.mark(choice, question));
    }
    this.count = document.createElement("p");
    this.count.className = "quiz-count";
    this.count.setAttribute("role", "status"); // It is there before it speaks, so it is heard.
    choices.at(-1).after(this.count);
  }
  mark(choice, question) {
    if (choice.dataset.verdict) return;
    const right = /^\s*Right\b/.test(choice.querySelector("summary ~ *")?.textContent ?? "");
    choice.dataset.verdict = right ? "right" : "wrong";
    const verdict = document.createElement("strong");
    verdict.textContent = right ? " ✓ right" : " ✗ not so";
    choice.querySelector("summary").append(verdict);
    this.tries[question] ??= right;
    this.say();
  }
  say() {
    const tried = this.tries.filter((one) => one !== null);
    const right = tried.filter(Boolean).length;
    const open = this.tries.length - tried.length;
    const rest = open ? `, ${open} to go.` : ".";
    this.count.textContent = `${right} of ${tried.length} right at the first try${rest}`;
  }
}

const quizzes = Map.groupBy(document.querySelectorAll("details.choice"), (one) =>
  one.closest("section"),
);
for (const choices of quizzes.values()) new Quiz(choices);
