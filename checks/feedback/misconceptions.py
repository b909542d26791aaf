"""The catalogue of misconceptions: each with its name, a sentence and where to read."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Misconception:
    """A wrong idea: its name, what was done with why and how to mend it, and where to read."""

    name: str
    sentence: str
    read: str = ""


class CatalogueError(ValueError):
    """An entry of the catalogue is malformed; the message says which and how."""


@functools.cache
def misconceptions() -> dict[str, Misconception]:
    """All misconceptions by id."""
    return {key: _misconception(key, entry) for key, entry in _load("misconceptions.yml").items()}


def is_written(read: str) -> bool:
    """Whether the page of a `chapters/05_scaling.html#anchor` exists."""
    page = read.partition("#")[0].removesuffix(".html")
    return (Path(__file__).resolve().parents[2] / f"{page}.md").exists()


@functools.cache
def heading_of(page: str, anchor: str) -> str:
    """The heading of the section in which an anchor stands; empty without the page's file."""
    path = Path(__file__).resolve().parents[2] / "chapters" / f"{page}.md"
    heading = ""
    for line in path.read_text("utf8").splitlines() if path.exists() else ():
        if line.startswith(("## ", "### ")):
            heading = line.lstrip("#").strip()
        label = re.sub(r"\W+", "-", heading.lower()).strip("-")
        if anchor == label or f'id="{anchor}"' in line:
            return heading
    return ""


def _load(name: str) -> dict[str, Any]:
    import yaml

    class Strict(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """A loader that refuses a key that is given twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict:
            keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
            for key in keys:
                if keys.count(key) > 1:
                    raise CatalogueError(f"{name}: {key} is there twice")
            return super().construct_mapping(node, deep)

    text = resources.files("book.catalogue").joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, Strict)


def _fields(key: str, entry: Any, wanted: set[str], allowed: set[str]) -> dict[str, str]:
    if not isinstance(entry, dict) or not wanted <= set(entry) <= allowed:
        raise CatalogueError(f"{key}: needs {sorted(wanted)}, may have {sorted(allowed)}")
    for name, text in entry.items():
        if not isinstance(text, str) or not text.strip():
            raise CatalogueError(f"{key}: {name} must be text in quotes, not {text!r}")
    return {name: " ".join(text.split()) for name, text in entry.items()}


def _misconception(key: str, entry: Any) -> Misconception:
    if not re.fullmatch(r"M\d\d\d?", key):
        raise CatalogueError(f"{key}: a misconception is called M and two or three digits")
    fields = _fields(key, entry, {"name", "sentence"}, {"name", "sentence", "read"})
    if fields["sentence"][-1] not in ".!?":
        raise CatalogueError(f"{key}: the sentence must end with a full stop")
    read = fields.get("read", "")
    if read and not re.fullmatch(r"chapters/\d\d_\w+\.html(#[\w-]+)?", read):
        raise CatalogueError(f"{key}: read must look like chapters/05_scaling.html#anchor")
    return Misconception(**fields)
