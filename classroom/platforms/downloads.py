"""Recognise a platform's own archive of a whole class, which is not the work of one student."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from classroom.platforms.names import MOODLE, parse_name
from classroom.unpacking.notebook_code import MEMBER, is_notebook_name

MOST_MEMBERS = 20_000  # each takes 500 bytes of memory
MOST_BYTES = 2**30


def refuse_download(entries: Sequence[Path]) -> None:
    """Refuse a folder that holds nothing but the archive of a whole class.

    Beside other entries an archive is always one student's: it may be made to look like a class.
    """
    if len(entries) != 1 or (count := notebooks_of_class(entries[0])) < 2:
        return
    raise ValueError(
        f"{entries[0]} holds the notebooks of {count} students: unpack it into a folder of its "
        "own, and name that folder"
    )


def notebooks_of_class(path: Path) -> int:
    """Count the notebooks in an archive that a platform made of a class; 0 for any other file."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
        return 0
    try:
        if path.read_bytes().count(MEMBER) > MOST_MEMBERS:
            return 0
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if is_notebook_name(name)]
    except Exception:  # damaged: a row of the table will say how
        return 0
    tops = {PurePosixPath(name).parts[0] for name in names}
    platform = any(parse_name(top, MOODLE) for top in tops)
    return len(tops) if platform or len(tops) > 2 else 0
