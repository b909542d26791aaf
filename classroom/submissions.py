"""What was handed in, read without trusting it: files, folders and archives of any kind.

Every entry of the folder becomes one `HandIn`: the sources of its code cells, or a status and a
reason. Nothing here runs what it reads, follows a link, or waits for a pipe.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

MOST_BYTES = 100 * 2**20
MOST_SOURCE = 2 * 2**20
MOST_CELLS = 10_000
MOST_MEMBERS = 1_000
DAMAGED = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError)
NOISE = (".ipynb_checkpoints", "__MACOSX", ".DS_Store")


@dataclass(frozen=True)
class HandIn:
    """One student's work: the code cells, or why there are none."""

    student: str
    file: str
    sources: tuple[str, ...] = ()
    sha256: str = ""
    problem: str = ""
    reason: str = ""
    notes: tuple[str, ...] = field(default=())


class UnfitError(Exception):
    """A file that is not graded; `problem` is the status of its row."""

    def __init__(self, problem: str, reason: str):
        super().__init__(reason)
        self.problem = problem


def handed_in(folder: Path) -> list[Path]:
    """The entries of a folder that are somebody's work, whatever they are, in order of name."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder with hand-ins")
    names = sorted(entry.name for entry in os.scandir(folder))
    return [folder / name for name in names if not name.startswith(".") and name not in NOISE]


def by_student(paths: list[Path]) -> dict[str, list[Path]]:
    """The entries of each student, the newest last; a student is the name before the ending."""
    found: dict[str, list[Path]] = {}
    for path in sorted(paths, key=lambda path: (os.lstat(path).st_mtime_ns, path.name)):
        found.setdefault(student_of(path), []).append(path)
    return dict(sorted(found.items()))


def student_of(path: Path) -> str:
    """`anna` for anna.ipynb, anna.zip and the folder anna; clean of what no table should hold."""
    stem = path.stem if path.suffix.lower() in (".ipynb", ".zip") else path.name
    text = os.fsencode(stem).decode("utf8", "backslashreplace")
    return "".join(one if one.isprintable() else "?" for one in text)[:200] or "?"


def read(paths: list[Path]) -> HandIn:
    """The newest work of a student; an error becomes a status with its reason."""
    path = paths[-1]
    shown = os.fsencode(path.name).decode("utf8", "backslashreplace")
    hand_in = HandIn(student_of(path), shown)
    if len(paths) > 1:
        hand_in = replace(hand_in, notes=(f"{len(paths)} hand-ins, the newest counts",))
    try:
        raw = content(path)
        hand_in = replace(hand_in, sha256=hashlib.sha256(raw).hexdigest())
        if zipfile.is_zipfile(io.BytesIO(raw)):
            raw = member(raw)
        return replace(hand_in, sources=code_cells(raw))
    except UnfitError as error:
        return replace(hand_in, problem=error.problem, reason=str(error))
    except (OSError, MemoryError) as error:
        return replace(hand_in, problem="unreadable", reason=f"it cannot be read: {error}")


def content(path: Path) -> bytes:
    """The bytes of a plain file, or of the only notebook in a folder."""
    status = os.lstat(path).st_mode
    if stat.S_ISLNK(status):
        raise UnfitError("refused", "it is a link, and not a file")
    if stat.S_ISDIR(status):
        inside = [one for one in handed_in(path) if one.suffix.lower() == ".ipynb"]
        if len(inside) != 1:
            raise UnfitError("refused", f"the folder holds {len(inside)} notebooks, and not one")
        return content(inside[0])
    if not stat.S_ISREG(status):
        raise UnfitError("refused", "it is a pipe or a device, and not a file")
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(opened, "rb") as file:
        # Whoever swapped it since is met here.
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnfitError("refused", "it is not a file")
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise UnfitError("refused", f"it is larger than {MOST_BYTES >> 20} MiB")
    if not raw:
        raise UnfitError("unreadable", "it is empty")
    return raw


def member(raw: bytes) -> bytes:
    """The only notebook in an archive; one that would write elsewhere or burst is refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise UnfitError("refused", f"the archive holds more than {MOST_MEMBERS} files")
            for one in members:
                check_member(one)
            notebooks = [one for one in members if is_notebook(one.filename)]
            if len(notebooks) != 1:
                raise UnfitError(
                    "refused", f"the archive holds {len(notebooks)} notebooks, not one"
                )
            with archive.open(notebooks[0]) as file:
                found = file.read(MOST_BYTES + 1)
    except DAMAGED as error:
        raise UnfitError("unreadable", f"the archive is damaged or locked: {error}") from None
    if len(found) > MOST_BYTES:
        raise UnfitError("refused", f"unpacked it is larger than {MOST_BYTES >> 20} MiB")
    return found


def check_member(one: zipfile.ZipInfo) -> None:
    """Refuse a path that leads out of the archive, and a link."""
    path = PurePosixPath(one.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts[:1] and ":" in path.parts[0]):
        raise UnfitError("refused", "the archive holds a path that leads out of it")
    if stat.S_ISLNK(one.external_attr >> 16):
        raise UnfitError("refused", "the archive holds a link")


def is_notebook(name: str) -> bool:
    """Whether a member is a notebook of the student's, and no copy that a program left."""
    return name.lower().endswith(".ipynb") and not any(word in name for word in NOISE)


def code_cells(raw: bytes) -> tuple[str, ...]:
    """The sources of the code cells of a notebook, in order."""
    try:
        notebook = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UnfitError("unreadable", "it is not text in UTF-8, as a notebook must be") from None
    except (ValueError, RecursionError) as error:
        raise UnfitError("unreadable", f"it is not a notebook: {str(error)[:100]}") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise UnfitError("unreadable", "it is JSON, but no notebook: it has no list of cells")
    if len(cells) > MOST_CELLS:
        raise UnfitError("refused", f"it has more than {MOST_CELLS} cells")
    sources = [source_of(cell) for cell in cells if is_code(cell)]
    if sum(map(len, sources)) > MOST_SOURCE:
        raise UnfitError("refused", f"its code is longer than {MOST_SOURCE >> 20} MiB")
    if not any(source.strip() for source in sources):
        raise UnfitError("unreadable", "it has no code")
    return tuple(sources)


def is_code(cell: Any) -> bool:
    """Whether a cell is one of code."""
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def source_of(cell: dict[str, Any]) -> str:
    """The text of a cell, which is stored whole or by lines."""
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(one for one in source if isinstance(one, str))
    text = source if isinstance(source, str) else ""
    return text.encode("utf8", "backslashreplace").decode("utf8")
