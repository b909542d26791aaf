"""Read submissions without trusting them: files, folders, and archives of any kind.

Every entry of the folder becomes one `Submission`: the sources of its code cells, or a status and
a reason. This module runs no file that it reads, follows no link, and waits for no pipe.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from classroom.status import GradeStatus

REFUSED, UNREADABLE = GradeStatus.REFUSED, GradeStatus.UNREADABLE
MAX_BYTES = 100 * 2**20
MAX_SOURCE = 2 * 2**20
MAX_CELLS = 10_000
MAX_MEMBERS = 1_000
DAMAGED = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError)
NOISE = (".ipynb_checkpoints", "__MACOSX", ".DS_Store")


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


class RejectedError(Exception):
    """A file that cannot be graded; `status` is the status of its row."""

    def __init__(self, status: GradeStatus, reason: str):
        super().__init__(reason)
        self.status = status


def list_submissions(folder: Path) -> list[Path]:
    """List the entries of a folder that are somebody's work, of any kind, by name."""
    if not folder.is_dir():
        raise NotADirectoryError(
            f"{folder} is not a folder; name one that holds a notebook, an archive, or a folder "
            "for each student"
        )
    names = sorted(entry.name for entry in os.scandir(folder))
    return [folder / name for name in names if not name.startswith(".") and name not in NOISE]


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
    """`anna` for anna.ipynb, anna.zip, and the folder anna; without unprintable characters."""
    stem = path.stem if path.suffix.lower() in (".ipynb", ".zip") else path.name
    text = os.fsencode(stem).decode("utf8", "backslashreplace")
    return "".join(character if character.isprintable() else "?" for character in text)[:200] or "?"


def read_submission(paths: list[Path]) -> Submission:
    """Read the newest work of a student; an error becomes a status with its reason."""
    path = paths[-1]
    shown = os.fsencode(path.name).decode("utf8", "backslashreplace")
    submission = Submission(student_name(path), shown)
    if len(paths) > 1:
        submission = replace(submission, notes=(f"{len(paths)} submissions, the newest counts",))
    try:
        raw = read_file(path)
        submission = replace(submission, sha256=hashlib.sha256(raw).hexdigest())
        if zipfile.is_zipfile(io.BytesIO(raw)):
            raw = notebook_in_archive(raw)
        return replace(submission, sources=code_sources(raw))
    except RejectedError as error:
        return replace(submission, status=error.status, reason=str(error))
    except (OSError, MemoryError) as error:
        return replace(submission, status=UNREADABLE, reason=f"it cannot be read: {error}")


def read_file(path: Path) -> bytes:
    """Read a plain file, or the only notebook in a folder."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        raise RejectedError(REFUSED, "it must be a file, and it is a link")
    if stat.S_ISDIR(mode):
        notebooks = [entry for entry in list_submissions(path) if is_notebook_name(entry.name)]
        if len(notebooks) != 1:
            reason = f"the folder holds {len(notebooks)} notebooks, and it must hold one"
            raise RejectedError(REFUSED, reason)
        return read_file(notebooks[0])
    if not stat.S_ISREG(mode):
        raise RejectedError(REFUSED, "it must be a file, and it is a pipe or a device")
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(opened, "rb") as file:
        # The entry may have been replaced since `lstat`.
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RejectedError(REFUSED, "it is not a file")
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise RejectedError(REFUSED, f"it is larger than {MAX_BYTES >> 20} MiB")
    if not raw:
        raise RejectedError(UNREADABLE, "it is empty")
    return raw


def notebook_in_archive(raw: bytes) -> bytes:
    """Unpack the only notebook of an archive; refuse bombs and paths that lead out of it."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise RejectedError(REFUSED, f"the archive holds more than {MAX_MEMBERS} files")
            for entry in members:
                check_archive_member(entry)
            notebooks = [entry for entry in members if is_notebook_name(entry.filename)]
            if len(notebooks) != 1:
                reason = f"the archive holds {len(notebooks)} notebooks, and it must hold one"
                raise RejectedError(REFUSED, reason)
            with archive.open(notebooks[0]) as file:
                unpacked = file.read(MAX_BYTES + 1)
    except DAMAGED as error:
        raise RejectedError(UNREADABLE, f"the archive is damaged or locked: {error}") from None
    if len(unpacked) > MAX_BYTES:
        raise RejectedError(REFUSED, f"unpacked it is larger than {MAX_BYTES >> 20} MiB")
    return unpacked


def check_archive_member(entry: zipfile.ZipInfo) -> None:
    """Refuse a path that leads out of the archive, and a link."""
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts[:1] and ":" in path.parts[0]):
        raise RejectedError(REFUSED, "the archive holds a path that leads out of it")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise RejectedError(REFUSED, "the archive holds a link")


def is_notebook_name(name: str) -> bool:
    """Whether a file is a notebook of the student, and no copy that a program left."""
    return name.lower().endswith(".ipynb") and not any(word in name for word in NOISE)


def code_sources(raw: bytes) -> tuple[str, ...]:
    """Extract the sources of the code cells of a notebook, in order."""
    try:
        notebook = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise RejectedError(UNREADABLE, "a notebook must be text in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise RejectedError(UNREADABLE, f"it is not a notebook: {str(error)[:100]}") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise RejectedError(UNREADABLE, "a notebook must have cells, and it has no list of cells")
    if len(cells) > MAX_CELLS:
        raise RejectedError(REFUSED, f"it has more than {MAX_CELLS} cells")
    sources = [cell_source(cell) for cell in cells if is_code_cell(cell)]
    if sum(map(len, sources)) > MAX_SOURCE:
        raise RejectedError(REFUSED, f"its code is longer than {MAX_SOURCE >> 20} MiB")
    if not any(source.strip() for source in sources):
        raise RejectedError(UNREADABLE, "it has no code")
    return tuple(sources)


def is_code_cell(cell: Any) -> bool:
    """Whether a cell holds code."""
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def cell_source(cell: dict[str, Any]) -> str:
    """The text of a cell, which is stored whole or by lines."""
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    text = source if isinstance(source, str) else ""
    return text.encode("utf8", "backslashreplace").decode("utf8")
