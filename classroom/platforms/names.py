"""Recognise students in the names that Moodle and Canvas give to downloaded submissions.

Moodle: `Jane Doe_123456_assignsubmission_file`, a folder (before 4.1 with `_` at its end), or this
and `_` in front of the file's name.
Source: Moodle, mod/assign/feedback/file/importziplib.php, is_valid_filename_for_import.
Canvas: `doejane_4711_98765_work.ipynb`, with `_LATE` after the name and `-2` for a second attempt.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom.submissions import student_name

MOODLE = re.compile(
    r"(?P<name>.{1,150}?)_(?P<number>\d{1,12})_assignsubmission_[a-z]{1,20}(?:_.*)?"
)
CANVAS = re.compile(r"(?P<name>[^_\s]{1,100})(?:_LATE)?_(?P<number>\d{1,12})_\d{1,15}_.+")


@dataclass(frozen=True)
class PlatformName:
    """A student as a platform names one: the name, and the platform's number."""

    name: str
    number: str


def parse_name(entry: str, pattern: re.Pattern[str] = MOODLE) -> PlatformName | None:
    """Read the name of an entry; None if no platform has made it."""
    match = pattern.fullmatch(entry)
    return PlatformName(match["name"].strip(), match["number"]) if match else None


def parse_names(paths: Sequence[Path]) -> dict[Path, PlatformName]:
    """Read the names of a folder's entries.

    Canvas writes nothing that is its alone, so its names count only if every entry has such a one.
    """
    pattern = CANVAS if all(CANVAS.fullmatch(path.name) for path in paths) else MOODLE
    pairs = ((path, parse_name(path.name, pattern)) for path in paths)
    return {path: name for path, name in pairs if name}


def platform_students(paths: Sequence[Path]) -> dict[Path, str]:
    """The student of each entry: the name, with the number where two students share the name."""
    names = parse_names(paths)
    numbers = defaultdict(set)
    for name in names.values():
        numbers[name.name].add(name.number)
    return {
        path: student_name(path) if path not in names
        else names[path].name if len(numbers[names[path].name]) == 1
        else f"{names[path].name} {names[path].number}"
        for path in paths
    }  # fmt: skip
