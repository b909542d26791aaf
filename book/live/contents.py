"""The course as a page's Python has it: its modules, its catalogues as JSON, and its headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from checks.feedback.catalogue_file import read_strictly
from checks.feedback.misconceptions import HEADINGS, heading_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "checks", "exercises", "figures", "book/catalogue", "book/live/page")
FILES = ("book/__init__.py", "book/doctor.py", "book/page.py", "book/live/__init__.py")
KINDS = {".py", ".yml", ".json", ".safetensors"}
LEFT_OUT = (
    "*/__pycache__/*", "lib/training/*.json", "lib/*/__main__.py",
    "book/catalogue/kill_matrix.json", "book/catalogue/remember.*", "book/catalogue/quizzes.py",
)  # fmt: skip
ANCHOR = re.compile(r'\bid="([^"]+)"|^\(([\w-]+)\)=$', re.MULTILINE)
HEADING = re.compile(r"^###? (.*)", re.MULTILINE)


def sources(root: Path = ROOT) -> list[Path]:
    """The files of the course that a page may need, below `root`."""
    listed = [root / name for name in FILES]
    for folder in FOLDERS:
        listed += (path for path in (root / folder).rglob("*") if path.suffix in KINDS)
    inner = (path.relative_to(root) for path in listed)
    return sorted(path for path in inner if not any(fnmatch(str(path), p) for p in LEFT_OUT))


def files_of_the_page(root: Path = ROOT) -> Iterator[tuple[str, bytes]]:
    """Each file of the page's course: its path and its bytes."""
    for path in sources(root):
        data = (root / path).read_bytes()
        if path.suffix == ".yml":
            entries = read_strictly(data.decode("utf8"), path.name)
            yield path.with_suffix(".json").as_posix(), compact(entries)
        else:
            yield path.as_posix(), data
    yield f"chapters/{HEADINGS}", compact(headings(root))


def headings(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """The heading above each anchor of each page, which a check names to send a reader there."""
    index = {}
    for page in sorted((root / "chapters").glob("*.md")):
        text = page.read_text("utf8")
        anchors = {first or second for first, second in ANCHOR.findall(text)}
        anchors |= {
            re.sub(r"\W+", "-", title.lower()).strip("-") for title in HEADING.findall(text)
        }
        index[page.stem] = {anchor: heading_of(page.stem, anchor) for anchor in sorted(anchors)}
    return index


def compact(data: object) -> bytes:
    """JSON without spaces."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
