"""A wrong answer whose definition is changed and tried again, on its cases and on fresh ones."""

from __future__ import annotations

import functools
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

import numpy as np

from checks.feedback.explain import ask_law
from checks.repair.accidental_fixes import is_vain, stays_0, turns_probe
from checks.repair.edits import Edit, edits_of
from checks.repair.growth import may_overfill
from checks.repair.rewriting import Definition, definition_of, value_definition
from checks.run.call import Elsewhere, Outcome
from checks.run.clock import TooSlow, time_limit
from checks.run.nodes import Node
from checks.run.parts import compared_parts, wrong_parts
from checks.run.plain_data import plain
from checks.run.trial import Compared, right_outcomes, same_outcome, try_case
from checks.run.world import other_luck
from checks.status import Status
from checks.task import Case, Task

MOST = 1500  # changes
SECONDS = 40.0  # of the processor for all changes, which take 2; the numbers below end the search
PATIENCE = 120.0  # seconds by the clock, for an answer that sleeps
SLOWER = 20  # times as long as the answer itself a changed one may take
LEAST_SECONDS = 0.2
SECONDS_EACH = 0.3  # at most for one call
MOST_ENDLESS = 12  # changes that give no end in this time
OTHER_SEEDS = (1, 2)  # of the cases on which a repair is tried once more
ALL = "your answer"
NO_EFFECT, RIGHT = "no effect", "right"  # what a change does on the first case
SLOW = Outcome(Status.TOO_SLOW)


@dataclass(frozen=True)
class Search:
    """An answer that is wrong, with the smallest failing case first."""

    task: Task
    library: str
    compared: Sequence[Compared]
    definition: Definition
    ends: tuple[float, float]  # by the time of the processor, and by the clock
    most: int = MOST
    seconds: float = SECONDS_EACH
    endless: list[Case] = field(default_factory=list)  # where a changed answer took too long

    @functools.cached_property
    def counts(self) -> bool:
        """Whether the result is a row of as many numbers on every case."""
        results = (seen.truth.value.as_numbers() for seen in self.compared if seen.truth.value)
        return len({result.shape if result else () for result in results}) == 1

    @functools.cached_property
    def fresh(self) -> list[Compared]:
        """Cases of other draws, with what is right there: a repair by accident fails on them."""
        if self.task.is_value:
            return []
        cases = [case for seed in OTHER_SEEDS for case in self.task.draw(seed, again=True)]
        truths = right_outcomes(self.task, cases)
        return [
            Compared(case, truth, truth, True) for case, truth in zip(cases, truths, strict=True)
        ]

    @property
    def probes(self) -> bool:
        """Whether the answer is given a function, which it tries out."""
        return any(callable(value) for value in self.compared[0].case.args)

    def is_over(self) -> bool:
        """Whether the time of the search is over."""
        return time.process_time() > self.ends[0] or time.monotonic() > self.ends[1]

    def outcome(
        self, seen: Compared, closely: bool = False, code: CodeType | None = None
    ) -> Outcome | None:
        """What the definition, as it is now, gives; None if it cannot be made or takes long."""
        start = time.process_time()
        outcome = self._tried(seen, closely, code)
        if outcome == SLOW and time.process_time() - start < self.seconds / 2:
            outcome = self._tried(seen, closely, code)  # it waited for a busy machine
        if outcome == SLOW:
            self.endless.append(seen.case)
        return None if outcome == SLOW else outcome

    def _tried(self, seen: Compared, closely: bool, code: CodeType | None) -> Outcome | None:
        try:
            with time_limit(self.seconds):
                answer = self.definition.made(code)
        except TooSlow:
            return SLOW
        except Exception:
            return None
        if self.task.is_value:
            return Outcome(Status.RETURNED, plain(answer))
        return try_case(self.task, answer, seen.case, self.library, self.seconds, closely)

    def right_parts(self) -> frozenset[str]:
        """The parts that are right on every case, as the definition is now; or `ALL`."""
        right = self._right_on(self.compared)
        if ALL not in right:
            return right
        return right if self._accepted() else right - {ALL}

    def wrong_entries(self) -> Counter[str]:
        """How many numbers of each part are wrong, over all cases."""
        counts: Counter[str] = Counter()
        for seen in self.compared:
            outcome = self.outcome(seen)
            value = outcome.value if outcome else None
            for name, wanted, came in compared_parts(seen.truth.value, value, self.counts):
                counts[name] += wrong_numbers(wanted, came)
        return counts

    def is_right_with(self, edit: Edit) -> bool:
        """Whether the answer gives what is right on every case with a change."""
        with edit.made():
            return ALL in self._right_on(self.compared)

    def effect(self, edit: Edit) -> str:
        """What a change alone does on the first failing case: nothing, all, or something else.

        Of a single number this says too little: two changes may lead to it that seem to do nothing.
        """
        first = self.compared[0]
        numbers = first.truth.value.as_numbers() if first.truth.value else None
        with edit.made():
            outcome = self.outcome(first)
        if outcome is None or (numbers is not None and numbers.shape == ()):
            return ""
        if same_outcome(first.outcome, outcome, self.task.tolerance):
            return NO_EFFECT
        return RIGHT if same_outcome(first.truth, outcome, self.task.tolerance) else ""

    def _accepted(self) -> bool:
        """Whether the check would accept it: the laws, other draws, other luck, no changes."""
        if not (self._lawful() and ALL in self._right_on(self.fresh)):
            return False
        with other_luck():
            again = [(seen, self.outcome(seen, closely=True)) for seen in self.compared]
        return not any(
            outcome is None
            or outcome.changed
            or not same_outcome(seen.truth, outcome, self.task.tolerance)
            for seen, outcome in again
        )

    def _right_on(self, compared: Sequence[Compared]) -> frozenset[str]:
        try:
            code = self.definition.compiled()
        except (SyntaxError, TypeError, ValueError, RecursionError):
            return frozenset()  # some changes give what is no Python
        right: frozenset[str] | None = None
        for seen in compared:
            outcome = self.outcome(seen, code=code)
            how = self.task.tolerance, self.counts
            here = parts_right(seen, outcome, *how) if outcome else frozenset()
            right = here if right is None else right & here
            if not right:
                break
        return frozenset([ALL]) if right is None else right

    def _lawful(self) -> bool:
        """Whether every law holds."""
        if not self.task.laws:
            return True
        answer = self.definition.made()
        asked = itertools.product(self.task.laws, self.compared)
        return all(ask_law(law, answer, seen.case, self.library) is True for law, seen in asked)

    def changes(self) -> Iterator[Edit]:
        """The changes, as many as there is time for."""
        for edit in itertools.islice(edits_of(self.definition.statements), self.most):
            if self.is_over() or len(self.endless) >= MOST_ENDLESS:
                return
            statements = self.definition.statements
            vain = is_vain(edit, self.definition.world) or stays_0(edit, statements)
            if vain or (self.probes and turns_probe(edit, statements)):
                continue
            yield edit


def prepared_search(
    task: Task, library: str, compared: Sequence[Compared], answer: Any, source: str = ""
) -> Search | None:
    """A search among the changes of an answer; None where its source cannot be changed.

    A model of torch is too slow to try hundreds of changes.
    """
    if not task.unique or "numpy" not in task.arrays or isinstance(answer, Elsewhere):
        return None
    if task.is_value:
        definition = value_definition(source, task.name)
    else:
        definition = definition_of(answer, task.name)
    if definition is None:
        return None
    given = ((*seen.case.args, *seen.case.kwargs.values()) for seen in compared)
    definition = replace(definition, overfills=any(map(may_overfill, given)))
    ends = time.process_time() + SECONDS, time.monotonic() + PATIENCE
    search = Search(task, library, compared, definition, ends)
    return replace(search, seconds=_seconds(search)) if _is_the_same(search) else None


def _seconds(search: Search) -> float:
    """How long one call of a changed answer may take, by how long the answer itself takes."""
    longest = 0.0
    for seen in search.compared:
        start = time.monotonic()
        search.outcome(seen)
        longest = max(longest, time.monotonic() - start)
    return min(SECONDS_EACH, max(LEAST_SECONDS, SLOWER * longest))


def _is_the_same(search: Search) -> bool:
    """Whether the source that was read is what was judged."""
    judged = search.compared[0].outcome
    again = search.outcome(search.compared[0])
    if again is None or judged.status != Status.RAISED:
        return again is not None and same_outcome(judged, again, search.task.tolerance)
    return again.status == Status.RAISED and again.mistake.type == judged.mistake.type


def wrong_numbers(expected: Node, got: Node) -> int:
    """How many numbers of a part are wrong: all, where two parts cannot be compared by entry."""
    wanted, came = expected.as_numbers(), got.as_numbers()
    if wanted is None or wanted.values is None:
        return int(not expected.equals(got))
    if came is None or came.values is None or came.shape != wanted.shape:
        return wanted.values.size
    return int((~np.isclose(came.values, wanted.values, equal_nan=True)).sum())


def parts_right(
    seen: Compared, outcome: Outcome, tolerance: float | None, counts: bool
) -> frozenset[str]:
    """The names of the parts of a result that are right; `ALL` if it is right as a whole."""
    parts = compared_parts(seen.truth.value, outcome.value, counts)
    wrong = wrong_parts(parts, tolerance)
    right = frozenset(name for name, _, _ in parts if name not in wrong)
    return right | {ALL} if same_outcome(seen.truth, outcome, tolerance) else right
