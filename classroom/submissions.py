"""Read submissions without trusting them: files, folders, and archives of any kind.

Every entry of the folder becomes one `Submission`: the sources of its code cells, or a status and
a reason. This module follows no link and waits for no pipe, and what is in a file is read by
another process (`unpacking/unpack.py`), which runs none of it.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from classroom.status import GradeStatus
from classroom.unpacking.notebook_code import (
    NOISE,
    TOO_COMPLEX,
    RejectedError,
    is_notebook_name,
)

REFUSED, UNREADABLE = GradeStatus.REFUSED, GradeStatus.UNREADABLE
UNPACK = Path(__file__).parent / "unpacking" / "unpack.py"
COPY = re.compile(r" \(\d{1,3}\)$")  # what browsers add to the name of a second download
MUCH_MEMORY = 280 * 2**20  # bytes to unpack and parse one file, where nothing else runs
PATIENCE = 60.0  # seconds of wall time to unpack and parse one file


@dataclass(frozen=True)
class Submission:
    """One student's work: the code cells, or why there are none."""

    student: str
    file: str
    sources: tuple[str, ...] = ()
    sha256: str = ""
    status: GradeStatus | None = None
    reason: str = ""
    notes: tuple[str, ...] = field(default=())


def list_submissions(folder: Path) -> list[Path]:
    """List the entries of a folder that are somebody's work, of any kind, by name."""
    if not folder.is_dir():
        unpack = ". Unpack the archive of a platform first" * (folder.suffix.lower() == ".zip")
        raise NotADirectoryError(
            f"{folder} is not a folder; name one that holds a notebook, an archive, or a folder "
            f"for each student{unpack}"
        )
    names = sorted(entry.name for entry in os.scandir(folder))
    return [folder / name for name in names if not name.startswith(".") and name not in NOISE]


def hidden_entries(folder: Path) -> list[str]:
    """List the entries that are passed over because of a dot; they may be somebody's work."""
    names = sorted(entry.name for entry in os.scandir(folder))
    return [name for name in names if name.startswith(".") and name not in NOISE]


def group_by_student(
    paths: list[Path], student: Callable[[Path], str] | None = None
) -> dict[str, list[Path]]:
    """Group the entries by student, the newest last; a student is the name before the ending."""
    student = student or student_name
    students: dict[str, list[Path]] = {}
    for path in sorted(paths, key=lambda path: (os.lstat(path).st_mtime_ns, path.name)):
        students.setdefault(student(path), []).append(path)
    return dict(sorted(students.items()))


def student_name(path: Path) -> str:
    """`anna` for anna.ipynb, anna.zip, `anna (1).ipynb`, and the folder anna.

    An accent is the same letter however it is stored, and unprintable characters are replaced.
    """
    stem = path.stem if path.suffix.lower() in (".ipynb", ".zip") else path.name
    text = os.fsencode(COPY.sub("", stem) or stem).decode("utf8", "backslashreplace")
    text = unicodedata.normalize("NFC", text)
    return "".join(character if character.isprintable() else "?" for character in text)[:200] or "?"


def alphabets(name: str) -> list[str]:
    """The alphabets of a name: two in one name may be there to look like somebody else's."""
    words = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    return sorted(word.capitalize() for word in words & {"LATIN", "GREEK", "CYRILLIC"})


def read_submission(paths: list[Path], memory: int = MUCH_MEMORY) -> Submission:
    """Read the newest work of a student that can be read; an error becomes a status and reason.

    Raises: MemoryError if it may be readable with more memory.
    """
    attempts = (read_attempt(path, memory) for path in reversed(paths))
    readable = (submission for submission in attempts if not submission.status)
    submission = next(readable, None) or read_attempt(paths[-1], memory)
    newest = submission.status or submission.file == shown_name(paths[-1])
    which = "the newest counts" if newest else "the newest that can be read counts"
    notes = [f"{len(paths)} submissions, {which}"] if len(paths) > 1 else []
    if len(used := alphabets(submission.student)) > 1:
        notes.append(f"its name mixes the alphabets {' and '.join(used)}: look whose it is")
    return replace(submission, notes=tuple(notes))


def shown_name(path: Path) -> str:
    """The name of an entry as the table shows it."""
    return os.fsencode(path.name).decode("utf8", "backslashreplace")


def read_attempt(path: Path, memory: int) -> Submission:
    """Read one entry; an error becomes a status with its reason."""
    submission = Submission(student_name(path), shown_name(path))
    try:
        digest, fields = read_upload(path, memory)
        return replace(submission, sha256=digest, **fields)
    except RejectedError as error:
        return replace(submission, status=GradeStatus(error.status), reason=str(error))
    except OSError as error:
        return replace(submission, status=UNREADABLE, reason=f"it cannot be read: {error}")


def read_upload(path: Path, memory: int) -> tuple[str, dict[str, Any]]:
    """Hash a file and extract its code, in a process that cannot take this one with it."""
    command = [sys.executable, "-I", "-S", "-B", str(UNPACK), str(memory)]
    with open_upload(path) as file, subprocess.Popen(
        command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:  # fmt: skip
        try:
            output = process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0]
    digest, _, text = output.decode().partition("\n")
    fields = json.loads(text or json.dumps({"status": UNREADABLE, "reason": TOO_COMPLEX}))
    if fields.get("reason") == TOO_COMPLEX and memory < MUCH_MEMORY:
        raise MemoryError
    if "status" in fields:
        return digest, fields | {"status": GradeStatus(fields["status"])}
    return digest, {"sources": tuple(fields["sources"])}


def open_upload(path: Path) -> BinaryIO:
    """Open a plain file, or the only notebook in a folder."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        raise RejectedError(REFUSED, "it must be a file, and it is a link")
    if stat.S_ISDIR(mode):
        notebooks = [entry for entry in list_submissions(path) if is_notebook_name(entry.name)]
        if len(notebooks) != 1:
            reason = f"the folder holds {len(notebooks)} notebooks, and it must hold one"
            raise RejectedError(REFUSED, reason)
        return open_upload(notebooks[0])
    if not stat.S_ISREG(mode):
        raise RejectedError(REFUSED, "it must be a file, and it is a pipe or a device")
    file = open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")  # noqa: SIM115
    # The entry may have been replaced since `lstat`.
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise RejectedError(REFUSED, "it is not a file")
    return file
