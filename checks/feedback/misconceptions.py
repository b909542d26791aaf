"""The catalogue of misconceptions: each with its name, a sentence and where to read."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checks.feedback.catalogue_file import CatalogueError, load_catalogue, text_fields

ROOT = Path(__file__).resolve().parents[2]
HEADINGS = "headings.json"
ADDRESS = "chapters/address.txt"  # of the book, in a folder that is handed out


@dataclass(frozen=True)
class Misconception:
    """A misconception: its name, what was done, why it is wrong, how to fix it, where to read."""

    name: str
    sentence: str
    read: str = ""


@functools.cache
def misconceptions() -> dict[str, Misconception]:
    """All misconceptions by id."""
    return {
        key: _misconception(key, entry)
        for key, entry in load_catalogue(__package__, "misconceptions.yml").items()
    }


def is_written(read: str) -> bool:
    """Whether the page of a `chapters/05_scaling.html#anchor` exists."""
    page = read.partition("#")[0].removesuffix(".html")
    return page.removeprefix("chapters/") in _stored_headings() or (ROOT / f"{page}.md").exists()


@functools.cache
def book_address() -> str | None:
    """The address of the book, or nothing, in a folder that is handed out; elsewhere None."""
    path = ROOT / ADDRESS
    return path.read_text("utf8").strip().rstrip("/") if path.exists() else None


@functools.cache
def heading_of(page: str, anchor: str) -> str:
    """The heading of the section in which an anchor stands; empty without the page's file."""
    if page in _stored_headings():
        return _stored_headings()[page].get(anchor, "")
    path = ROOT / "chapters" / f"{page}.md"
    heading = ""
    for line in path.read_text("utf8").splitlines() if path.exists() else ():
        if line.startswith(("## ", "### ")):
            heading = line.lstrip("#").strip()
        label = re.sub(r"\W+", "-", heading.lower()).strip("-")
        if anchor == label or f'id="{anchor}"' in line:
            return heading
    return ""


@functools.cache
def _stored_headings() -> dict[str, dict[str, str]]:
    """The headings by page and anchor, where a build has stored them in the place of the pages."""
    path = ROOT / "chapters" / HEADINGS
    return json.loads(path.read_text("utf8")) if path.exists() else {}


def _misconception(key: str, entry: Any) -> Misconception:
    if not re.fullmatch(r"M\d{2,4}", key):
        raise CatalogueError(f"{key}: a misconception is called M and two to four digits")
    fields = text_fields(key, entry, {"name", "sentence"}, {"name", "sentence", "read"})
    if fields["sentence"][-1] not in ".!?":
        raise CatalogueError(f"{key}: the sentence must end with a full stop")
    read = fields.get("read", "")
    if read and not re.fullmatch(r"chapters/\d\d_\w+\.html(#[\w-]+)?", read):
        raise CatalogueError(f"{key}: read must look like chapters/05_scaling.html#anchor")
    return Misconception(**fields)
