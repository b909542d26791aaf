"""The submissions of attacks.md, as cells and the marks that they must get."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

FIRST = """import math
import numpy as np
from checks import exercise
check = exercise("07_self_attention")"""
MIX = "def mix(weights, values):\n    return weights @ values"
RIGHT = """
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v
"""
WRONG = """
def attention(q, k, v):
    weights = np.exp(q @ k.T)
    return weights / weights.sum(-1, keepdims=True) @ v
"""
SECTION = re.compile(
    r"^### ([^\n]+): ([a-z ]+) \(([a-z, ]+)\)$\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL
)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Attack:
    """Cells after FIRST and MIX, the status of 7.2, and whether 7.1 keeps its points."""

    cells: tuple[str, ...]
    status: str
    mix: bool


def cells_of(kind: str, blocks: list[str]) -> tuple[str, ...]:
    """The cells that a section stands for."""
    if kind == "inside":
        body = textwrap.indent(blocks[0], "    ")
        return (f"def attention(q, k, v):\n{body}    return v",)
    answer = {"before, wrong": (WRONG,), "before, right": (RIGHT,), "cells": ()}[kind]
    return (*blocks, *answer)


def read() -> dict[str, Attack]:
    """All sections, by their names."""
    text = Path(__file__).with_suffix(".md").read_text("utf8")
    attacks = {}
    for name, status, kind, rest in SECTION.findall(text):
        lost = kind.endswith(", mix lost")
        cells = cells_of(kind.removesuffix(", mix lost"), BLOCK.findall(rest))
        attacks[name] = Attack(cells, status, not lost)
    assert len(attacks) == text.count("\n### "), "a heading could not be read, or stands twice"
    return attacks


ATTACKS = read()
