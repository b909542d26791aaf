"""One failing case: what is right there, step by step, and what an answer computes."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from checks.locate.answer_steps import MOST_NOTES, MOST_OF_A_STEP, Step
from checks.locate.readings import as_hidden, equal, readings
from checks.locate.reference_steps import Intermediate
from checks.run.trial import Compared

UNSET = re.compile(r"\bempty(_like)?\(")


@dataclass(frozen=True)
class Walk:
    """One failing case: the named values of the truth, and the steps of the answer."""

    wrong: Compared
    truths: Sequence[Intermediate]
    steps: Sequence[Step]

    @functools.cached_property
    def last_right(self) -> tuple[int, Step | None]:
        """The last of the truths that some step gives, and that step; -1 if there is none."""
        for n in reversed(range(len(self.truths))):
            for step in self.steps:
                if gives(step, self.truths[n]):
                    return n, step
        return -1, None

    @functools.cached_property
    def given(self) -> list[bool]:
        """Of each truth, whether some step gives it."""
        return [any(gives(step, truth) for step in self.steps) for truth in self.truths]

    @property
    def before(self) -> list[tuple[Intermediate, bool]]:
        """The truths before the last right one, each with whether some step gives it."""
        return [*zip(self.truths, self.given, strict=True)][: max(self.last_right[0], 0)]

    @property
    def names_given(self) -> set[str]:
        """The names of truths that some step gives in some turn or layer before."""
        return {truth.name for truth, given in self.before if given}

    @property
    def needed(self) -> Walk:
        """The walk without the truths that the answer does without in an earlier turn or layer."""
        skipped = {truth.name for truth, _ in self.before} - self.names_given
        last, truths = self.last_right[0], enumerate(self.truths)
        kept = [truth for n, truth in truths if n <= last or truth.name not in skipped]
        return replace(self, truths=kept)

    def steps_after(self, n: int) -> Sequence[Step]:
        """The steps after the first one that gives a truth; all, where none gives it."""
        giving = (k for k, step in enumerate(self.steps) if n >= 0 and gives(step, self.truths[n]))
        return self.steps[next(giving, -1) + 1 :]

    @property
    def lost_turn(self) -> tuple[Step, Intermediate] | None:
        """The first step of a loop that gives what was right in an earlier turn once more.

        What comes after it is right again in that turn, so no mistake before it is the cause.
        """
        for n, (truth, given) in enumerate(self.before):
            earlier = [other for other in self.truths[:n] if other.name == truth.name]
            turn = len(earlier)
            for step in () if given or not earlier else self.steps:
                pairs = zip(step.values[:turn], earlier, strict=False)
                right = all(equal(value, other.value) for value, other in pairs)
                again = any(equal(step.values[-1], other.value) for other in earlier)
                if right and again and len(step.values) > turn:
                    return step, earlier[0]
        return None

    @property
    def leaves_out(self) -> bool:
        """Whether a truth before the last right one is missing, and was given in another turn."""
        names = self.names_given
        return any(not given and truth.name in names for truth, given in self.before)

    @property
    def goes_on(self) -> bool:
        """Whether a turn between the first and the last gives a truth after the last right one.

        Then that one is not where the answer leaves the truth.
        """
        between = (value for step in self.steps for value in step.values[1:-1])
        rest = self.truths[self.last_right[0] + 1 :]
        return any(equal(value, truth.value) for value in between for truth in rest)

    @property
    def whole(self) -> bool:
        """Whether every value of the answer was noted."""
        counts = [len(step.values) for step in self.steps]
        return sum(counts) < MOST_NOTES and max(counts, default=0) < MOST_OF_A_STEP


def gives(step: Step, truth: Intermediate) -> bool:
    """Whether a step gives these numbers, at once or row by row.

    What `np.empty` gives is memory, which may still hold them.
    """
    if UNSET.search(step.text):
        return False
    return any(
        equal(as_hidden(values, wanted), wanted)
        for wanted in (truth.value, *truth.dressed)
        for values in readings(step, wanted)
    )
