"""The questions of the course as a page shows them: without a script, their answers are folded.

With one (book/assets/inventory.js), they are marked where they stand,
and kept in the browser alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from book.catalogue.questions import Choice, QuizQuestion, form, questions, skills

CHAPTERS = Path(__file__).resolve().parents[1] / "chapters"
FIRST, NEXT = "01", "12"  # where the diagnostic sends those who knew nothing, or everything


@dataclass(frozen=True)
class Questions:
    """Some questions to be answered on a page; `to` leads from there to the chapters."""

    kind: str
    asked: tuple[QuizQuestion, ...]
    to: str

    def __repr__(self) -> str:
        return "\n".join(f"{n}. {question.ask} ..." for n, question in enumerate(self.asked, 1))

    def _repr_html_(self) -> str:
        led_to = {question.chapter for question in self.asked} | {FIRST, NEXT}
        links = {
            number: [title, f"{self.to}{stem}.html"]
            for number, title, stem in titles() if number in led_to
        }  # fmt: skip
        edition = f' data-form="{form()}"' if self.kind == "inventory" else ""
        body = "\n".join(asked(n, question, self.to) for n, question in enumerate(self.asked, 1))
        return (
            f'<div class="course-questions" data-kind="{self.kind}"{edition} '
            f'data-chapters="{escape(json.dumps(links))}">\n{body}\n</div>'
        )


def inventory(to: str = "../chapters/") -> Questions:
    """All thirty questions: the concept inventory."""
    return Questions("inventory", questions(), to)


def diagnostic(to: str = "") -> Questions:
    """Ten of the questions, one for each of chapters 2 to 11: where to begin."""
    return Questions(
        "diagnostic", tuple(question for question in questions() if question.diagnostic), to
    )


def titles() -> list[tuple[str, str, str]]:
    """Every written chapter: its number in two digits, its title, and the name of its file."""
    chapters = []
    for text in sorted(CHAPTERS.glob("[0-9][0-9]_*.md")):
        if text.stem.endswith("_deeper"):
            continue
        title = re.search(r"^# \d+\. (.+)$", text.read_text("utf8"), re.MULTILINE)[1]
        chapters.append((text.stem[:2], title, text.stem))
    return chapters


def asked(number: int, question: QuizQuestion, to: str) -> str:
    """One question as a group of radio buttons, and below it the folded answer."""
    choices = "\n".join(
        f'<label><input type="radio" name="{question.id}" value="{n}"> '
        f"<span>{text(choice.text)}</span></label>"
        for n, choice in enumerate(question.choices)
    )
    return (
        f'<fieldset class="course-question" id="{question.id}" '
        f'data-skill="{skills()[question.skill]}" '
        f'data-chapter="{question.chapter}" data-right="{question.right}">\n'
        f"<legend><b>{number}.</b> {text(question.ask)}</legend>\n"
        f"{choices}\n{key(number, question, to)}\n</fieldset>"
    )


def key(number: int, question: QuizQuestion, to: str) -> str:
    """The answer to a question: why one choice is right, and what each other reveals."""
    explained = "\n".join(explanation(n, choice) for n, choice in enumerate(question.choices))
    page, _, anchor = question.read.removeprefix("chapters/").partition("#")
    words = "" if anchor.startswith("claim-") else f", \u201c{anchor.replace('-', ' ')}\u201d"
    href = f"{to}{page.replace('.html', '.ipynb')}#{anchor}"
    read = f'<a class="course-read" href="{href}">chapter {int(question.chapter)}{words}</a>'
    return (
        f'<details class="course-key"><summary>Answer to question {number}</summary>\n'
        f"<ul>\n{explained}\n</ul>\n<p>Read: {read}.</p>\n</details>"
    )


def explanation(n: int, choice: Choice) -> str:
    """Why a choice is right, or which misconception it reveals and why that is wrong."""
    verdict = "Right" if choice.right else f"Not so: <em>{text(choice.name)}</em>"
    return f'<li data-choice="{n}"><b>{text(choice.text)}</b><br>{verdict}. {text(choice.why)}</li>'


def text(words: str) -> str:
    """Escape a sentence for HTML."""
    return escape(words, quote=False)
