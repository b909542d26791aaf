"""The quizzes as files for a learning platform: GIFT for Moodle, QTI 1.2 for Canvas and others.

GIFT is a few characters around each choice, and is written here; QTI is text2qti's work.
"""

from __future__ import annotations

import argparse
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from book.catalogue.questions import Choice, questions
from book.catalogue.quizzes import CHAPTERS, QuizChoice, chapter_quiz

ROOT = CHAPTERS.parent
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
FORMULA = re.compile(r"\$([^$]+)\$")
SPECIAL = re.compile(r"([\\~=#{}:])")
MARKDOWN = MarkdownIt("commonmark")


@dataclass(frozen=True)
class QuizFile:
    """One quiz: the name of its file, its title, and its questions with their choices."""

    name: str
    title: str
    questions: tuple[tuple[str, tuple[QuizChoice | Choice, ...]], ...]


def course_quizzes() -> list[QuizFile]:
    """Return the quiz of each chapter, then the concept inventory."""
    pages = sorted(page for page in CHAPTERS.glob("*.md") if not page.stem.endswith("_deeper"))
    quizzes = [QuizFile(page.stem, _title(page), tuple(chapter_quiz(page.stem))) for page in pages]
    inventory = tuple((question.ask, question.choices) for question in questions())
    return [*quizzes, QuizFile("inventory", "Concept inventory", inventory)]


def as_gift(quiz: QuizFile) -> str:
    """Write a quiz in GIFT, with the reason for each choice as its feedback.

    Source: Moodle's documentation of the GIFT format; a backslash escapes ~ = # { } and :.
    """
    lines = [f"$CATEGORY: $course$/top/{quiz.title}", ""]
    for number, (ask, choices) in enumerate(quiz.questions, 1):
        lines.append(f"::{_escape(f'{quiz.name} {number}')}::[html]{_gift_html(ask)} {{")
        lines += [
            f"  {'=' if choice.right else '~'}{_gift_html(choice.text)}#{_gift_html(choice.why)}"
            for choice in choices
        ]
        lines += ["}", ""]
    return "\n".join(lines)


def as_qti(quiz: QuizFile) -> bytes:
    """Pack a quiz as the QTI 1.2 archive that a learning platform imports."""
    lines = [f"Quiz title: {quiz.title}", "Shuffle answers: true", ""]
    for number, (ask, choices) in enumerate(quiz.questions, 1):
        lines.append(_item(f"{number}. ", ask))
        for letter, choice in zip("abcdefgh", choices, strict=False):
            lines.append(_item(f"{'*' if choice.right else ''}{letter}) ", choice.text))
            lines.append(_item("... ", choice.why))
        lines.append("")
    text = "\n".join(lines)
    return QTI(Quiz(text, config=Config(), source_name=quiz.name)).zip_bytes()


def write_quizzes(folder: Path) -> list[Path]:
    """Write every quiz of the course into a folder, as GIFT and as QTI."""
    folder.mkdir(parents=True, exist_ok=True)
    for quiz in course_quizzes():
        (folder / f"{quiz.name}.gift.txt").write_text(as_gift(quiz), "utf8")
        (folder / f"{quiz.name}.qti.zip").write_bytes(as_qti(quiz))
    return sorted(folder.iterdir())


def _title(page: Path) -> str:
    heading = next(line for line in page.read_text("utf8").splitlines() if line.startswith("# "))
    return heading.removeprefix("# ")


def _item(mark: str, text: str) -> str:
    """Indent what follows the mark, as text2qti wants it, on one line; a link keeps its words."""
    return mark.ljust(4) + " ".join(LINK.sub(r"\1", text).split())


def _gift_html(text: str) -> str:
    r"""Render Markdown, with formulas between \( and \), which Moodle's MathJax filter reads."""
    parts = FORMULA.split(" ".join(LINK.sub(r"\1", text).split()))
    rendered = itertools.chain.from_iterable(
        (MARKDOWN.renderInline(words), rf"\({formula}\)" if formula else "")
        for words, formula in itertools.zip_longest(parts[::2], parts[1::2])
    )
    return _escape("".join(rendered))


def _escape(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "quizzes", help="a folder")
    written = write_quizzes(parser.parse_args().out)
    print(f"{len(written)} files in {written[0].parent}")
