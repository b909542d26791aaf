"""Find the code cells in a notebook or in an archive that holds one; run nothing, believe nothing.

Only the standard library is imported, because `unpack.py` starts a fresh process for each file.
"""

from __future__ import annotations

import io
import json
import stat
import zipfile
from pathlib import PurePosixPath
from typing import Any

REFUSED, UNREADABLE = "refused", "unreadable"  # both are a `GradeStatus`
TOO_COMPLEX = "it cannot be read: it takes too much memory or time to parse"
MAX_BYTES = 64 * 2**20
MAX_SOURCE = 2 * 2**20
MAX_CELLS = 10_000
MAX_MEMBERS = 1_000
MEMBER = b"PK\x01\x02"  # begins each entry of an archive's directory
NOISE = (".ipynb_checkpoints", "__MACOSX", ".DS_Store")


class RejectedError(Exception):
    """A file that cannot be graded; `status` is the status of its row."""

    def __init__(self, status: str, reason: str):
        super().__init__(reason)
        self.status = status


def code_in_file(raw: bytes) -> tuple[str, ...]:
    """Extract the sources of the code cells of a notebook, or of the only one in an archive.

    Raises: RejectedError, whatever the bytes are.
    """
    if not raw:
        raise RejectedError(UNREADABLE, "it is empty")
    if len(raw) > MAX_BYTES:
        raise RejectedError(REFUSED, f"it is larger than {MAX_BYTES >> 20} MiB")
    try:
        archived = zipfile.is_zipfile(io.BytesIO(raw))
        return code_sources(notebook_in_archive(raw) if archived else raw)
    except (RejectedError, MemoryError):
        raise
    except Exception as error:
        # Libraries raise errors of many kinds on damaged files, and none may end the run.
        reason = f"it cannot be read: {type(error).__name__}"
        raise RejectedError(UNREADABLE, reason) from None


def notebook_in_archive(raw: bytes) -> bytes:
    """Unpack the only notebook of an archive; refuse bombs and paths that lead out of it."""
    if raw.count(MEMBER) > 2 * MAX_MEMBERS:
        # Counted before the directory is parsed, which takes 500 bytes of memory for each entry.
        raise RejectedError(REFUSED, f"the archive holds more than {MAX_MEMBERS} files")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            unpacked = archive.open(only_notebook(archive.infolist())).read(MAX_BYTES + 1)
    except (RejectedError, MemoryError):
        raise
    except Exception as error:
        raise RejectedError(UNREADABLE, f"the archive is damaged or locked: {error}") from None
    if len(unpacked) > MAX_BYTES:
        raise RejectedError(REFUSED, f"unpacked it is larger than {MAX_BYTES >> 20} MiB")
    return unpacked


def only_notebook(members: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    """Choose the notebook of an archive, which must hold exactly one."""
    if len(members) > MAX_MEMBERS:
        raise RejectedError(REFUSED, f"the archive holds more than {MAX_MEMBERS} files")
    for entry in members:
        check_archive_member(entry)
    notebooks = [entry for entry in members if is_notebook_name(entry.filename)]
    if len(notebooks) != 1:
        reason = f"the archive holds {len(notebooks)} notebooks, and it must hold one"
        raise RejectedError(REFUSED, reason)
    return notebooks[0]


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
        reason = f"it is not a notebook, or only the beginning of one ({str(error)[:100]})"
        text = f"{reason}. Save the notebook and upload it again"
        raise RejectedError(UNREADABLE, text) from None
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
