"""The questions that the front page asks again, joined to the misconceptions behind them."""

from __future__ import annotations

import functools
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from markdown_it import MarkdownIt

from book.catalogue.quizzes import QuizChoice, chapter_quiz
from checks.feedback.catalogue_file import CatalogueError, load_catalogue
from checks.feedback.misconceptions import heading_of, misconceptions

NOT_HERE = ("$", "](", "\n\n")  # formulas, links and paragraphs of their own
MARKDOWN = MarkdownIt("commonmark")


@dataclass(frozen=True)
class Reminder:
    """One question, with one right choice; `id` says where it stands."""

    id: str
    ask: str
    choices: tuple[QuizChoice, ...]

    @property
    def misconceptions(self) -> set[str]:
        """The misconceptions that its wrong choices reveal."""
        return {choice.misconception for choice in self.choices if choice.misconception}


@functools.cache
def reminders() -> tuple[Reminder, ...]:
    """All questions: those of the quizzes in the order of the chapters, then those written here.

    Raises: CatalogueError for one that is malformed, which says which and how.
    """
    held = load_catalogue(__package__, "remember.yml")
    asked = [reminder for page, named in held["quizzes"].items() for reminder in _quiz(page, named)]
    asked += [_written(key, entry) for key, entry in held["questions"].items()]
    return tuple(map(_sound, asked))


def lost_choices() -> list[str]:
    """The choices that the catalogue names and no quiz has any more: they are not asked about."""
    quizzes = load_catalogue(__package__, "remember.yml")["quizzes"]
    named = [f"{page}: {text}" for page, choices in quizzes.items() for text in choices]
    asked = {
        f"{reminder.id.split()[0]}: {choice.text}"
        for reminder in reminders()
        for choice in reminder.choices
    }
    return [choice for choice in named if choice not in asked]


def asked_for() -> dict[str, list[int]]:
    """The numbers of the questions that ask for each misconception, in the order of their ids."""
    every = sorted(set().union(*(reminder.misconceptions for reminder in reminders())))
    return {
        number: [n for n, reminder in enumerate(reminders()) if number in reminder.misconceptions]
        for number in every
    }


def for_the_page() -> dict[str, Any]:
    """The questions as HTML, and each misconception with its name and the section to read."""
    return {
        "questions": [_as_html(reminder) for reminder in reminders()],
        "misconceptions": {
            number: {
                "name": misconceptions()[number].name,
                "read": misconceptions()[number].read,
                "section": section(misconceptions()[number].read),
            }
            for number in asked_for()
        },
    }


def section(read: str) -> str:
    """The words of a link to a section, such as "chapter 5: The divisor"."""
    page, _, anchor = read.removeprefix("chapters/").partition("#")
    stem = page.removesuffix(".html")
    return f"chapter {int(stem[:2])}: {heading_of(stem, anchor)}"


def _as_html(reminder: Reminder) -> dict[str, Any]:
    choices = [
        asdict(choice) | {"text": _html(choice.text), "why": _html(choice.why)}
        for choice in reminder.choices
    ]
    return {"id": reminder.id, "ask": _html(reminder.ask), "choices": choices}


def _html(text: str) -> str:
    return MARKDOWN.renderInline(text)


def _quiz(page: str, named: dict[str, str]) -> list[Reminder]:
    """The questions of a chapter's quiz that have one of these choices."""
    quiz = [
        Reminder(
            f"{page} {n}", ask, tuple(_with_misconception(choice, named) for choice in choices)
        )
        for n, (ask, choices) in enumerate(chapter_quiz(page), 1)
    ]
    return [question for question in quiz if question.misconceptions]


def _with_misconception(choice: QuizChoice, named: dict[str, str]) -> QuizChoice:
    return replace(choice, misconception=named.get(choice.text, ""))


def _written(key: str, entry: dict[str, Any]) -> Reminder:
    if not re.fullmatch(r"R\d\d", key) or set(entry) != {"ask", "choices"}:
        raise CatalogueError(f"{key}: a question is R and two digits, with ask and choices")
    allowed = {"text", "why", "right", "misconception"}
    for choice in entry["choices"]:
        if not {"text", "why"} <= set(choice) <= allowed:
            raise CatalogueError(
                f"{key}: a choice has text and why, perhaps right or misconception"
            )
    return Reminder(key, entry["ask"], tuple(QuizChoice(**choice) for choice in entry["choices"]))


def _sound(reminder: Reminder) -> Reminder:
    """The question itself, if it can be asked on the front page."""
    if not 2 <= len(reminder.choices) <= 4 or sum(c.right for c in reminder.choices) != 1:
        raise CatalogueError(f"{reminder.id}: needs two to four choices, one of them right")
    if any(choice.right and choice.misconception for choice in reminder.choices):
        raise CatalogueError(f"{reminder.id}: the right choice reveals no misconception")
    if unknown := reminder.misconceptions - set(misconceptions()):
        raise CatalogueError(f"{reminder.id}: no misconception is called {sorted(unknown)}")
    if unread := [
        number for number in reminder.misconceptions if not misconceptions()[number].read
    ]:
        raise CatalogueError(f"{reminder.id}: {unread} name no section to read")
    words = [reminder.ask, *(part for c in reminder.choices for part in (c.text, c.why))]
    if any(mark in text for mark in NOT_HERE for text in words):
        raise CatalogueError(f"{reminder.id}: has a formula, a link or several paragraphs")
    return reminder
