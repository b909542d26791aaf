"""Recognise a student in a table that a spreadsheet, a platform or a teacher has written."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from classroom.gradebook.tables import escape_cell


def find_student(cell: str, students: Iterable[str]) -> str | None:
    """Return the only student with this name; the exact name wins over the same name retyped."""
    students = list(students)
    for form in FORMS:
        matches = [student for student in students if form(student) == form(cell)]
        if matches:
            return matches[0] if len(matches) == 1 else None
    return None


def name_student(cell: str, students: Iterable[str]) -> str:
    """Return the student with this name; an unknown name is a ValueError with the nearest ones."""
    students = list(students)
    student = find_student(cell, students)
    if student is None:
        near = difflib.get_close_matches(cell[:100], students, 3, 0.5) or students[:3]
        raise ValueError(
            f"the student must be one of the {len(students)} in the table; got {cell!r}. "
            f"The nearest: {', '.join(near)}"
        )
    return student


def nearly_same(names: Iterable[str], others: Iterable[str]) -> list[tuple[str, str]]:
    """Pair each name with the other that differs by a few letters or by the order of its words."""
    forms = {sorted_words(other): other for other in others}
    pairs = ((name, difflib.get_close_matches(sorted_words(name), forms, 1, 0.8)) for name in names)
    return [(name, forms[near[0]]) for name, near in pairs if near]


def sorted_words(name: str) -> str:
    """Return the words of a name in the order of the alphabet: `Doe, Jane` is `jane doe` too."""
    return " ".join(sorted(retyped(name[:100]).replace(",", " ").split()))


def retyped(name: str) -> str:
    """Return the letters of a name as a spreadsheet may keep them: 00123 becomes 123."""
    plain = unicodedata.normalize("NFC", name).strip(" '").casefold()
    return plain.lstrip("0") if plain.isdigit() else plain


# Every line of a file is compared with every student.
FORMS: tuple[Callable[[str], str], ...] = (
    str, lru_cache(4_096)(escape_cell), lru_cache(4_096)(retyped)
)  # fmt: skip
