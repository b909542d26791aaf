"""The claims of the five sources, their errata, and learners' misconceptions, as valid data."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

VERDICTS = {
    "right": "right",
    "example": "an example",
    "imprecise": "right idea, imprecise",
    "wrong": "wrong",
    "unsupported": "no evidence given",
}
KINDS_OF = {  # what the verdict on a claim that has an erratum makes of it
    "wrong": "wrong",
    "unsupported": "unsupported",
    "imprecise": "half right",
    "right": "half right",  # with a condition that the source leaves out
    "example": "slip",
}
KINDS = tuple(dict.fromkeys(KINDS_OF.values()))  # gravest first
SOURCES = {
    "S0": ("Under The Hood", "How Attention Mechanism Works in Transformer Architecture", "video"),
    "S1": (
        "Grant Sanderson (3Blue1Brown)",
        "Attention in transformers, visually explained",
        "video, chapter 6 of Deep Learning, 2024",
    ),
    "S2": ("unsigned", "A written summary of S1", "text"),
    "S3": (
        "Harjot Pahwa",
        "Decoding the magic behind LLMs: Attention!",
        "article with code, Artificial Intelligence in Plain English",
    ),
    "S4": (
        "Nikita Prasad",
        "Self-Attention Networks: Beginners Friendly In-Depth Understanding",
        "article, Level Up Coding",
    ),
}


@dataclass(frozen=True)
class Misconception:
    """A wrong idea: its name, what was done with why and how to mend it, and where to read."""

    name: str
    sentence: str
    read: str = ""


@dataclass(frozen=True)
class Claim:
    """What a source claims, whether it is so, what this course says, and in which chapter."""

    id: str
    claim: str
    verdict: str
    says: str
    chapter: str
    erratum: str = ""

    @property
    def source(self) -> str:
        """The key of its source: S0 to S4."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Erratum:
    """What sources get wrong in one point: its name, how we know, and the claims that say it."""

    id: str
    name: str
    known: str
    claims: tuple[Claim, ...]

    @property
    def kind(self) -> str:
        """The gravest kind of its claims: wrong, unsupported, half right, or a slip."""
        return next(
            kind for kind in KINDS if any(KINDS_OF[one.verdict] == kind for one in self.claims)
        )


class CatalogueError(ValueError):
    """An entry of the catalogue is malformed; the message says which and how."""


@functools.cache
def misconceptions() -> dict[str, Misconception]:
    """All misconceptions by id."""
    return {key: _misconception(key, entry) for key, entry in _load("misconceptions.yml").items()}


@functools.cache
def claims() -> dict[str, Claim]:
    """All claims by id, in the order of the sources."""
    return {key: _claim(key, entry) for key, entry in _load("claims.yml").items()}


@functools.cache
def errata() -> dict[str, Erratum]:
    """All errata by id, each with its claims."""
    return {key: _erratum(key, entry) for key, entry in _load("errata.yml").items()}


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

    text = resources.files("lib.catalogue").joinpath(name).read_text(encoding="utf-8")
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


def _claim(key: str, entry: Any) -> Claim:
    if not re.fullmatch(r"S[0-4]-\d\d", key):
        raise CatalogueError(f"{key}: a claim is called like S1-14")
    wanted = {"claim", "verdict", "says", "chapter"}
    fields = _fields(key, entry, wanted, wanted | {"erratum"})
    if fields["verdict"] not in VERDICTS:
        raise CatalogueError(f"{key}: verdict must be one of {', '.join(VERDICTS)}")
    if not re.fullmatch(r"\d\d", fields["chapter"]):
        raise CatalogueError(f"{key}: chapter must be two digits in quotes")
    return Claim(key, **fields)


def _erratum(key: str, entry: Any) -> Erratum:
    if not re.fullmatch(r"E\d\d?", key):
        raise CatalogueError(f"{key}: an erratum is called like E7")
    fields = _fields(key, entry, {"name", "known"}, {"name", "known"})
    said = tuple(one for one in claims().values() if one.erratum == key)
    if not said:
        raise CatalogueError(f"{key}: no claim in claims.yml has this erratum")
    return Erratum(key, **fields, claims=said)
