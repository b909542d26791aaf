"""Results on disk: one line for each as soon as it is known.

A killed run leaves at most one incomplete line, which is ignored; the next run continues there.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from classroom.gradebook.tables import UnwritableError
from classroom.grading.grades import SubmissionGrade, from_json, to_json


class ResultsLog:
    """All results of a run so far, by their keys."""

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            raw = path.read_bytes() if path.exists() else b""
            self.file = open(path, "ab", buffering=0)  # noqa: SIM115
            if raw and not raw.endswith(b"\n"):
                self.file.write(b"\n")
        except OSError as error:
            raise UnwritableError(f"{path} cannot be written: {error.strerror}") from None
        self.known = parse_results(raw)

    def append(self, key: str, result: SubmissionGrade) -> None:
        """Write one result, through to the disk."""
        self.known[key] = result
        line = json.dumps({"key": key, "result": to_json(result)}, ensure_ascii=True) + "\n"
        try:
            self.file.write(line.encode())
            os.fsync(self.file.fileno())
        except OSError as error:
            raise UnwritableError(f"{self.path} cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def parse_results(raw: bytes) -> dict[str, SubmissionGrade]:
    """Read the lines of a log; a later line of the same key replaces an earlier one."""
    known = {}
    for line in raw.splitlines():
        # A killed run leaves half a line; its submission is graded again.
        with suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            known[entry["key"]] = from_json(entry["result"])
    return known


def known_results(path: Path) -> dict[str, SubmissionGrade]:
    """Read a log that may not exist."""
    return parse_results(path.read_bytes() if path.exists() else b"")
