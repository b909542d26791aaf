"""The questions at the end of the chapters and of their deeper pages, read from their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
QUESTION = re.compile(r"^\*\*\d\. (.+?)\*\*\n\n(?=<details class=\"choice\">)", re.MULTILINE)
CHOICE = re.compile(
    r"<details class=\"choice\"><summary>(.+?)</summary>\n\n(.+?)\n\n</details>", re.DOTALL
)
VERDICT = re.compile(r"(Right|Not quite|Not so)[:.] ")


@dataclass(frozen=True)
class QuizChoice:
    """One answer that is offered, and why it is right or wrong; `misconception` is an id."""

    text: str
    why: str
    right: bool = False
    misconception: str = ""


def chapter_quiz(page: str) -> list[tuple[str, tuple[QuizChoice, ...]]]:
    """Return the questions of a chapter, such as 05_scaling, then those of its deeper page."""
    pages = (CHAPTERS / f"{page}{deeper}.md" for deeper in ("", "_deeper"))
    texts = [path.read_text("utf8") for path in pages if path.exists()]
    parts = [part for text in texts for part in _questions(text)]
    return [(ask, _choices(body)) for ask, body in zip(parts[::2], parts[1::2], strict=True)]


def _questions(text: str) -> list[str]:
    """Return each question and what stands below it, by turns."""
    _, _, quiz = text.partition("## Check yourself")
    return QUESTION.split(quiz.partition("\n## ")[0])[1:]


def _choices(body: str) -> tuple[QuizChoice, ...]:
    choices = []
    for text, why in CHOICE.findall(body):
        verdict, reason = VERDICT.match(why), VERDICT.sub("", why, count=1)
        right = bool(verdict) and verdict[1] == "Right"
        choices.append(QuizChoice(text, reason[0].upper() + reason[1:], right))
    return tuple(choices)
