"""What an author writes: cases, misconceptions, laws, tasks and exercises."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

LIBRARIES = ("numpy", "torch")


@dataclass(frozen=True)
class Case:
    """One call of the answer: positional arguments, keyword arguments, and a phrase about it."""

    args: tuple
    kwargs: dict[str, Any] = field(default_factory=dict)
    about: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.args, tuple):
            raise TypeError("Case: args must be a tuple; write Case((x,)) for one argument")


@dataclass(frozen=True)
class Wrong:
    """A misconception written as code: its id in the catalogue, and what it would answer.

    Two misconceptions at once are written `Wrong("M01+M11", answer)`.
    """

    misconception: str
    answer: Any

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the misconceptions combined here, usually one."""
        return tuple(self.misconception.split("+"))


@dataclass(frozen=True)
class Law:
    """A property that every right answer has.

    `holds(answer, case)` gives True, or False, or a sentence that says what is broken.
    A law with numbers of its own names them in its sentence, and `own_numbers` hides the case.
    """

    misconception: str | None
    name: str
    holds: Callable[[Any, Case], bool | str]
    own_numbers: bool = False


class Measured(NamedTuple):
    """What a measure says: words, which are compared, and the numbers behind them as a sentence."""

    words: Any
    note: str


@dataclass(frozen=True)
class Task:
    """One thing to write: the name to define, the truth, and the known ways to miss it."""

    id: str
    name: str
    title: str
    difficulty: int
    importance: int
    minutes: int
    reference: Any
    cases: Callable[[np.random.Generator], list[Case]] | None = None
    wrong: Sequence[Wrong] = ()
    read: str = ""
    arrays: tuple[str, ...] = LIBRARIES
    call: Callable[..., Any] | None = None
    measure: Callable[..., Any] | None = None  # of what `call` hands over; the answer is not there
    tolerance: float | None = None
    slow: bool = False  # a training run: on a busy machine it may take a minute
    laws: Sequence[Law] = ()
    constants: Callable[[Case], dict[str, float]] | None = None
    steps: Mapping[str, Callable] = field(default_factory=dict)  # values on the way, by name
    unique: bool = True
    saturated: bool = False
    later: bool = False  # judged only when work is graded: what is right is not here
    graded_cases: Callable[[np.random.Generator], list[Case]] | None = None  # beside those drawn

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"task {self.id}: {self.name!r} is not a name in Python")
        if not self.arrays or not set(self.arrays) <= set(LIBRARIES):
            raise ValueError(f"task {self.id}: arrays must be among {LIBRARIES}")
        if not self.unique and not self.laws:
            raise ValueError(f"task {self.id}: without a unique answer there must be laws")

    @property
    def is_value(self) -> bool:
        """Whether the learner defines a value, not something that is called."""
        return self.cases is None and self.call is None

    def draw(self, seed: int = 0, again: bool = False) -> list[Case]:
        """The cases of this task: the same for the same seed, whatever was drawn before.

        Drawn `again`, they have other numbers, most often in the same shapes.
        """
        if self.cases is None:
            return [Case(())]
        number = seed_for(seed, f"{self.id} again" if again else self.id)
        drawn = self.cases(np.random.default_rng(number))
        if not drawn:
            raise ValueError(f"task {self.id}: cases() gave no case")
        return list(drawn)


def seed_for(seed: int, task_id: str) -> int:
    """A number that depends on seed and task alone, the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{task_id}".encode()).digest()[:8], "big")


@dataclass(frozen=True)
class Exercise:
    """The tasks of one chapter."""

    chapter: str
    title: str
    tasks: Sequence[Task]

    def __post_init__(self) -> None:
        for what in ("id", "name"):
            seen = [getattr(task, what) for task in self.tasks]
            if len(set(seen)) < len(seen):
                raise ValueError(f"exercise {self.chapter}: two tasks have the same {what}: {seen}")

    def __getitem__(self, task_id: str) -> Task:
        for task in self.tasks:
            if task.id == task_id:
                return task
        known = ", ".join(task.id for task in self.tasks)
        raise KeyError(f"no task {task_id!r} in exercise {self.chapter}; there are {known}")
