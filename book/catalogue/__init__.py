"""The claims of the five sources and their errata, as data that is validated when it is read."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from checks.feedback.catalogue_file import CatalogueError, load_catalogue, text_fields

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
            kind for kind in KINDS if any(KINDS_OF[claim.verdict] == kind for claim in self.claims)
        )


@functools.cache
def claims() -> dict[str, Claim]:
    """All claims by id, in the order of the sources."""
    entries = load_catalogue(__package__, "claims.yml")
    return {key: _claim(key, entry) for key, entry in entries.items()}


@functools.cache
def errata() -> dict[str, Erratum]:
    """All errata by id, each with its claims."""
    entries = load_catalogue(__package__, "errata.yml")
    return {key: _erratum(key, entry) for key, entry in entries.items()}


def _claim(key: str, entry: Any) -> Claim:
    if not re.fullmatch(r"S[0-4]-\d\d", key):
        raise CatalogueError(f"{key}: a claim is called like S1-14")
    wanted = {"claim", "verdict", "says", "chapter"}
    fields = text_fields(key, entry, wanted, wanted | {"erratum"})
    if fields["verdict"] not in VERDICTS:
        raise CatalogueError(f"{key}: verdict must be one of {', '.join(VERDICTS)}")
    if not re.fullmatch(r"\d\d", fields["chapter"]):
        raise CatalogueError(f"{key}: chapter must be two digits in quotes")
    return Claim(key, **fields)


def _erratum(key: str, entry: Any) -> Erratum:
    if not re.fullmatch(r"E\d\d?", key):
        raise CatalogueError(f"{key}: an erratum is called like E7")
    fields = text_fields(key, entry, {"name", "known"}, {"name", "known"})
    corrected = tuple(claim for claim in claims().values() if claim.erratum == key)
    if not corrected:
        raise CatalogueError(f"{key}: no claim in claims.yml has this erratum")
    return Erratum(key, **fields, claims=corrected)
