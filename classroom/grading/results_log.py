"""Results on disk: a line for each as soon as it is there, and the table made from them.

A run that was killed leaves at most one half line, which is ignored; run again, it goes on.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from checks import Exercise
from classroom.grading.marks import Marked, as_data, from_data, tidy
from classroom.provided import load

LAST = ("late factor", "message", "seconds", "file", "sha256", "seed", "version")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class UnwritableError(OSError):
    """The results cannot be kept; what was kept before is still there."""


class Journal:
    """All results of a run so far, by what they depend on."""

    def __init__(self, path: Path):
        self.path = path
        self.known: dict[str, Marked] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            raw = path.read_bytes() if path.exists() else b""
            self.file = open(path, "ab", buffering=0)  # noqa: SIM115
            if raw and not raw.endswith(b"\n"):
                self.file.write(b"\n")
        except OSError as error:
            raise UnwritableError(f"{path} cannot be written: {error.strerror}") from None
        for line in raw.splitlines():
            # Half a line is what a killed run left; its result is made again.
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                self.known[entry["key"]] = from_data(entry["marked"])

    def keep(self, key: str, marked: Marked) -> None:
        """Write one result, to the disk itself, before anything else happens."""
        self.known[key] = marked
        line = json.dumps({"key": key, "marked": as_data(marked)}, ensure_ascii=True) + "\n"
        try:
            self.file.write(line.encode())
            os.fsync(self.file.fileno())
        except OSError as error:
            raise UnwritableError(f"{self.path} cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "w", encoding="utf8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise UnwritableError(f"{path} cannot be written: {error.strerror}") from None


def table(results: Iterable[Marked], tasks: list[str]) -> str:
    """The CSV: a row for each student, with the points and the status of each task."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["student", "status", "score", "max", *tasks, *(f"{one} status" for one in tasks)]
    writer.writerow([*head, *LAST])
    for one in results:
        marks = {mark.task: mark for mark in one.marks}
        points = [marks[task].points if task in marks else 0 for task in tasks]
        statuses = [marks[task].status if task in marks else "" for task in tasks]
        row = [one.student, one.status, one.score, one.most, *points, *statuses]
        versions = " ".join(sorted({mark.version for mark in one.marks}))
        row += [tidy(one.late), one.words, one.seconds, one.file, one.sha256, one.seed, versions]
        writer.writerow([harmless(cell) for cell in row])
    return text.getvalue()


def graded_in(path: Path) -> tuple[list[Marked], Exercise]:
    """The results behind a table of grades, in its order, and the exercise that they are of.

    Points are the table's: a teacher may have changed them there.
    """
    with open(path, encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    journal = Journal(path.with_suffix(".jsonl"))
    journal.close()
    known = {(harmless(one.file), one.sha256, one.seed): one for one in journal.known.values()}
    pairs = [(known.get((row["file"], row["sha256"], row["seed"])), row) for row in rows]
    found = [as_in(row, one) for one, row in pairs if one]
    if not found:
        raise ValueError(f"{path} and {journal.path.name} beside it hold no results")
    return found, load(found[0].exercise)


def as_in(row: dict[str, str], marked: Marked) -> Marked:
    """A result with the points and the factor of its row in the table."""
    try:
        marks = [replace(one, points=tidy(float(row[one.task]))) for one in marked.marks
                 if one.task in row]  # fmt: skip
        return replace(marked, marks=tuple(marks), late=float(row["late factor"]))
    except ValueError:
        raise ValueError(
            f"the row of {marked.student} in the table of grades holds something that is no number"
        ) from None


def harmless(cell: Any) -> Any:
    """Text that no spreadsheet takes for a formula, on one line, without what files refuse."""
    if not isinstance(cell, str):
        return cell
    text = "".join(one if one.isprintable() else " " for one in cell)
    text = text.encode("utf8", "backslashreplace").decode("utf8")
    return f"'{text}" if cell.startswith(FORMULAS) or text.lstrip().startswith(FORMULAS) else text
