"""The questions of the concept inventory, as validated data."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from importlib import resources

from checks.feedback.catalogue_file import CatalogueError, load_catalogue
from checks.feedback.misconceptions import misconceptions


@dataclass(frozen=True)
class Choice:
    """One answer that is offered: what it says, why it is right or wrong, and what it reveals.

    The misconception of the right one is empty; of a wrong one it is an id, or words.
    """

    text: str
    why: str
    misconception: str = ""

    @property
    def right(self) -> bool:
        """Whether this is the right answer."""
        return not self.misconception

    @property
    def name(self) -> str:
        """The misconception in words."""
        known = misconceptions().get(self.misconception)
        return known.name if known else self.misconception


@dataclass(frozen=True)
class QuizQuestion:
    """One question with its four choices, the skill that it asks for, and where to read."""

    id: str
    skill: str
    ask: str
    read: str
    choices: tuple[Choice, ...]
    diagnostic: bool

    @property
    def chapter(self) -> str:
        """The chapter that treats it, in two digits."""
        return self.read[len("chapters/") :][:2]

    @property
    def right(self) -> int:
        """Which choice is right, counted from 0."""
        return [choice.right for choice in self.choices].index(True)


@functools.cache
def skills() -> dict[str, str]:
    """The skills that the questions ask for, by key, in the order of the course."""
    return load_catalogue(__package__, "questions.yml")["skills"]


@functools.cache
def questions() -> tuple[QuizQuestion, ...]:
    """All questions, in the order of the course.

    Raises: CatalogueError for one that is malformed, which says which and how.
    """
    entries = load_catalogue(__package__, "questions.yml")["questions"]
    return tuple(_question(key, entry) for key, entry in entries.items())


def form() -> str:
    """The name of this edition of the questions; answers to another one cannot be compared."""
    text = resources.files("book.catalogue").joinpath("questions.yml").read_bytes()
    return hashlib.sha256(text).hexdigest()[:8]


def _question(key: str, entry: dict) -> QuizQuestion:
    wanted, allowed = {"skill", "ask", "read", "choices"}, {"diagnostic"}
    if not re.fullmatch(r"Q\d\d", key):
        raise CatalogueError(f"{key}: a question is called Q and two digits")
    if not isinstance(entry, dict) or not wanted <= set(entry) <= wanted | allowed:
        raise CatalogueError(f"{key}: needs {sorted(wanted)}, may have {sorted(allowed)}")
    if entry["skill"] not in skills():
        raise CatalogueError(f"{key}: {entry['skill']!r} is none of the skills")
    if not re.fullmatch(r"chapters/\d\d_\w+\.html#[\w-]+", entry["read"]):
        raise CatalogueError(f"{key}: read must look like chapters/05_scaling.html#anchor")
    choices = tuple(_choice(key, choice) for choice in entry["choices"])
    if len(choices) != 4 or sum(choice.right for choice in choices) != 1:
        raise CatalogueError(f"{key}: needs four choices, one of them with right: true")
    diagnostic = entry.get("diagnostic", False)
    return QuizQuestion(key, entry["skill"], entry["ask"], entry["read"], choices, diagnostic)


def _choice(key: str, entry: dict) -> Choice:
    kinds = {"text", "why", "right"}, {"text", "why", "misconception"}
    if set(entry) not in kinds or not all(entry.values()):
        raise CatalogueError(f"{key}: a choice has text, why, and right: true or a misconception")
    return Choice(entry["text"], entry["why"], entry.get("misconception", ""))
