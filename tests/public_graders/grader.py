"""What one public grader is: where it was read, and its tests in our own words and code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.public_graders.pieces import Pieces

ATTENTION = frozenset({"attention"})
MASKED = ATTENTION | {"given mask"}
HEADS = ATTENTION | {"heads", "output matrix"}
CAUSAL_HEADS = HEADS | {"causal mask"}


@dataclass(frozen=True)
class Read:
    """A file that was read, at the state in which it was."""

    repository: str
    path: str
    commit: str


@dataclass(frozen=True)
class Test:
    """One test: what it does in a sentence, the parts it can see a bug in, and the same as code."""

    __test__ = False  # pytest shall not collect it

    says: str
    sees: frozenset[str]
    holds: Callable[[Pieces], bool]


@dataclass(frozen=True)
class Grader:
    """A grader: its name, what was read, what is good about it, what it leaves open, its tests."""

    name: str
    read: tuple[Read, ...]
    strength: str
    limit: str
    tests: tuple[Test, ...]

    def verdict(self, pieces: Pieces, part: str) -> str:
        """Whether a bug in a part is caught, passes, or lies where nothing is asked."""
        asked = [test for test in self.tests if part in test.sees]
        if not asked:
            return "not asked"
        return "passes" if all(holds(test, pieces) for test in asked) else "caught"


def holds(test: Test, pieces: Pieces) -> bool:
    """Whether a test is content; an error of the learner's code is a failure of the test."""
    try:
        return bool(test.holds(pieces))
    except (RuntimeError, IndexError, ValueError, AssertionError):
        return False
