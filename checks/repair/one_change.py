"""Find the small change that makes an answer right: it says where the slip is.

The changes are tried on the learner's own code, on the smallest failing case first; a change
counts only if the answer is then right on every case and every law holds. Where no change fixes
all, two together are tried, and one that makes a part of the results right on every case is told.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from checks.feedback.explain import ask_law
from checks.repair.edits import Edit, edits_of
from checks.repair.rewriting import Definition, definition_of, value_definition
from checks.run.call import Elsewhere, Outcome
from checks.run.clock import TooSlow, time_limit
from checks.run.parts import compared_parts, wrong_parts
from checks.run.plain_data import plain
from checks.run.trial import Compared, right_outcomes, same_outcome, try_case
from checks.status import Status
from checks.task import Case, Task

SECONDS = 20.0  # for all changes together, which take 2; the limits in number end the search
SECONDS_EACH = 0.3  # at most for one call
SLOWER = 20  # times as long as the answer itself a changed one may take
LEAST_SECONDS = 0.05
MOST_ENDLESS = 12  # changes that give no end in this time
MOST = 1500  # changes
MOST_BRIEF = 500  # where the mistake has a name, which says more
MOST_OF_TWO = 80  # changes, of which two are tried together
OTHER_SEED = 1  # of the cases on which a repair is tried once more
LONGEST = 70  # letters of a line
ALL = "your answer"
Repair = tuple[str, tuple[Edit, ...]]  # what becomes right, and by which changes


@dataclass(frozen=True)
class Search:
    """An answer that is wrong, with the smallest failing case first."""

    task: Task
    library: str
    compared: Sequence[Compared]
    definition: Definition
    end: float
    most: int
    seconds: float = SECONDS_EACH
    endless: list[Case] = field(default_factory=list)  # where a changed answer took too long

    @functools.cached_property
    def counts(self) -> bool:
        """Whether the result is a row of as many numbers on every case."""
        results = (seen.truth.value.as_numbers() for seen in self.compared if seen.truth.value)
        return len({result.shape if result else () for result in results}) == 1

    @functools.cached_property
    def fresh(self) -> list[Compared]:
        """Cases of another draw, with what is right there: a repair by accident fails on them."""
        if self.task.is_value:
            return []
        cases = self.task.draw(OTHER_SEED, again=True)
        truths = right_outcomes(self.task, cases)
        return [
            Compared(case, truth, truth, True) for case, truth in zip(cases, truths, strict=True)
        ]

    def outcome(self, seen: Compared) -> Outcome | None:
        """What the definition, as it is now, gives; None if it cannot be made or takes long."""
        try:
            with time_limit(self.seconds):
                answer = self.definition.made()
        except (Exception, TooSlow):
            return None
        if self.task.is_value:
            return Outcome(Status.RETURNED, plain(answer))
        outcome = try_case(self.task, answer, seen.case, self.library, self.seconds, False)
        if outcome.status == Status.TOO_SLOW:
            self.endless.append(seen.case)
            return None
        return outcome

    def right_parts(self) -> frozenset[str]:
        """The parts that are right on every case, as the definition is now; or `ALL`."""
        right = self._right_on(self.compared)
        if ALL not in right:
            return right
        return right if self._lawful() and ALL in self._right_on(self.fresh) else right - {ALL}

    def _right_on(self, compared: Sequence[Compared]) -> frozenset[str]:
        right: frozenset[str] | None = None
        for seen in compared:
            outcome = self.outcome(seen)
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
            if time.monotonic() > self.end or len(self.endless) >= MOST_ENDLESS:
                return
            yield edit


def parts_right(
    seen: Compared, outcome: Outcome, tolerance: float | None, counts: bool
) -> frozenset[str]:
    """The names of the parts of a result that are right; `ALL` if it is right as a whole."""
    parts = compared_parts(seen.truth.value, outcome.value, counts)
    wrong = wrong_parts(parts, tolerance)
    right = frozenset(name for name, _, _ in parts if name not in wrong)
    return right | {ALL} if same_outcome(seen.truth, outcome, tolerance) else right


def one_change(
    task: Task,
    library: str,
    compared: Sequence[Compared],
    answer: Any,
    source: str = "",
    brief: bool = False,
) -> list[str]:
    """Sentences on the change that makes the answer, or a part of it, right; or none.

    In brief, only on one change that makes all of it right.
    """
    trains = "numpy" not in task.arrays  # a model of torch is too slow to try hundreds of changes
    if not task.unique or trains or isinstance(answer, Elsewhere):
        return []
    if task.is_value:
        definition = value_definition(source, task.name)
    else:
        definition = definition_of(answer, task.name)
    if definition is None:
        return []
    end = time.monotonic() + SECONDS
    search = Search(task, library, compared, definition, end, MOST_BRIEF if brief else MOST)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        if not _is_the_same(search):
            return []
        search = replace(search, seconds=_seconds(search))
        repairs = _repairs(search)
        if brief:
            repairs = [repair for repair in repairs if repair[0] == ALL]
        else:
            repairs = repairs or _repairs_of_two(search)
    return list(_words(definition, repairs, len(compared)))


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


def _repairs(search: Search) -> list[Repair]:
    """The change that makes the answer right, or else the first for each part of it."""
    before = search.right_parts()
    partly: dict[str, Edit] = {}
    for edit in search.changes():
        with edit.made():
            right = search.right_parts()
        if ALL in right:
            return [(ALL, (edit,))]
        for part in right - before if right >= before else ():
            partly.setdefault(part, edit)
    return [(part, (edit,)) for part, edit in sorted(partly.items())]


def _repairs_of_two(search: Search) -> list[Repair]:
    """The first two changes that make the answer right together."""
    edits = itertools.islice(search.changes(), MOST_OF_TWO)
    for first, second in itertools.combinations(edits, 2):
        if (first.kind == "operators") != (second.kind == "operators"):
            continue  # a minus may cancel what is too much elsewhere
        if time.monotonic() > search.end:
            return []
        with first.made(), second.made():
            if ALL in search.right_parts():
                return [(ALL, (first, second))]
    return []


def _words(definition: Definition, repairs: Sequence[Repair], count: int) -> Iterator[str]:
    """Where the changes stand, and the questions that lead to them."""
    cases = {1: "", 2: " in both cases"}.get(count, f" in all {count} cases")
    for part, edits in repairs:
        whole = part if part == ALL else f"`{part}`"
        places = list(dict.fromkeys(_place(definition, edit) for edit in edits))
        changes = "One small change" if len(edits) == 1 else "Two small changes"
        verb = "makes" if len(edits) == 1 else "make"
        change = f"{changes} in {' and in '.join(places)}, {verb} {whole} right{cases}."
        yield " ".join([change, "Look there:", *(edit.question for edit in edits)])


def _place(definition: Definition, edit: Edit) -> str:
    text = definition.line(edit.line)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
    return f"line {edit.line}, `{text}`"
