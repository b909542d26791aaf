"""Find pairs of submissions that share what few others have.

A right answer of three lines is the same in half of the class, so equal code says nothing by
itself. A run of five words weighs log2(students / students who have it) bits, and a pair shares
the sum. Names that a student chose count twice: as they are, and as `name`, so that renaming hides
nothing.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

WORD = re.compile(r"\w+|[^\w\s]")  # linear on any text, also on code that is no Python
KNOWN = {*keyword.kwlist, *dir(builtins), "np", "torch", "numpy", "self"}
RUN = 5  # words
MOST_LETTERS = 40_000  # of a submission
FEW = 0.2  # runs that a larger share of the class has say nothing


@dataclass(frozen=True)
class SimilarPair:
    """Two students, the bits that their code shares, and the share of the smaller one's bits."""

    first: str
    second: str
    bits: float
    share: float


@dataclass(frozen=True)
class ClassRuns:
    """The runs of words of each student, with their weights: a matrix students by runs."""

    students: tuple[str, ...]
    held: sparse.csr_matrix
    bits: np.ndarray
    numbers: Mapping[str, int]

    def rare_in_both(self, first: str, second: str) -> set[str]:
        """The runs that these two share and few others have."""
        rows = [self.held[self.students.index(name)].indices for name in (first, second)]
        both = set(rows[0].tolist()) & set(rows[1].tolist())
        return {run for run, number in self.numbers.items()
                if number in both and self.bits[number] > 0}  # fmt: skip


def words_by_line(text: str) -> list[tuple[str, int]]:
    """The words and signs of a text, each with the number of its line, from 0."""
    return [(word, number) for number, line in enumerate(text[:MOST_LETTERS].split("\n"))
            for word in WORD.findall(line)]  # fmt: skip


def runs_of(text: str) -> dict[str, set[int]]:
    """The runs of five words, as written and with chosen names replaced, and their lines."""
    words = words_by_line(text)
    plain = [("name" if is_chosen(word) else word, line) for word, line in words]
    runs: dict[str, set[int]] = {}
    for kind, sequence in (("=", words), ("~", plain)):
        for n in range(len(sequence) - RUN + 1):
            part = sequence[n : n + RUN]
            run = kind + " ".join(word for word, _ in part)
            runs.setdefault(run, set()).update(line for _, line in part)
    return runs


def is_chosen(word: str) -> bool:
    """Whether a word is a name that somebody chose."""
    return word.isidentifier() and word not in KNOWN


def class_runs(texts: Mapping[str, str]) -> ClassRuns:
    """Count who has which run, and weigh each by how few have it."""
    numbers: dict[str, int] = {}
    rows, columns = [], []
    for n, text in enumerate(texts.values()):
        for run in runs_of(text):
            rows.append(n)
            columns.append(numbers.setdefault(run, len(numbers)))
    shape = len(texts), max(1, len(numbers))
    held = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    have = np.asarray(held.sum(axis=0)).ravel()
    bits = np.log2(len(texts) / np.maximum(have, 1))
    bits[have > max(2, FEW * len(texts))] = 0.0
    return ClassRuns(tuple(texts), held, bits, numbers)


def similar_pairs(runs: ClassRuns, share: int | float, bits: int | float) -> list[SimilarPair]:
    """The pairs that share at least this much, the most bits first."""
    common = (runs.held.multiply(runs.bits).tocsr() @ runs.held.T).toarray()
    own = np.diag(common)
    least = np.maximum(np.minimum(own[:, None], own[None, :]), 1e-9)
    pairs = [
        SimilarPair(runs.students[i], runs.students[j], float(common[i, j]),
                    float(common[i, j] / least[i, j]))
        for i, j in np.argwhere(np.triu((common >= bits) & (common / least >= share), 1))
    ]  # fmt: skip
    return sorted(pairs, key=lambda pair: -pair.bits)


def marked_lines(text: str, rare: set[str]) -> Sequence[tuple[str, bool]]:
    """The lines of a text, each with whether a rare run of both goes through it."""
    lines = {line for run, places in runs_of(text).items() if run in rare for line in places}
    return [(line[:400], number in lines)
            for number, line in enumerate(text[:MOST_LETTERS].split("\n"))]  # fmt: skip
