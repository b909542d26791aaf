"""Run the reference of a task once more, and note the values that have a name in the field."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np

from checks.locate.answer_steps import array_of
from checks.locate.readings import equal
from checks.run.call import convert
from checks.run.world import quiet_world
from checks.task import Case, Task

COURSE = ("lib.", "exercises.")
NORMAL = "the normalised input"
# What the variables of the course's code hold, in the words of the chapters.
NAMES = {
    "q": "the queries",
    "k": "the keys",
    "v": "the values",
    "kv_keys": "the keys of the KV heads",
    "kv_values": "the values of the KV heads",
    "repeated_keys": "the keys repeated for the query heads",
    "repeated_values": "the values repeated for the query heads",
    "angles": "the angles",
    "score_matrix": "the scores",
    "scores": "the scores",
    "weights": "the weights",
    "mean": "the mean",
    "centred": "the input minus its mean",
    "variance": "the variance",
    "normal": NORMAL,
    "joined": "the joined heads",
    "after_attention": "the residual stream after attention",
    "activated": "the hidden layer after its activation",
    "gate": "the gate",
    "target": "the target",
    "logits": "the logits",
    "losses": "the loss at each position",
    "all_keys": "all keys",
    "all_values": "all values",
    "first_moment": "the first moment",
    "second_moment": "the second moment",
    "m_hat": "the corrected first moment",
    "v_hat": "the corrected second moment",
}  # fmt: skip


@dataclass(frozen=True)
class Intermediate:
    """A value on the way to the right result, and what it is called."""

    name: str
    value: np.ndarray
    dressed: tuple[np.ndarray, ...] = ()  # the normalised input with a gain, and a bias or not


def intermediates(task: Task, case: Case, result: np.ndarray | None) -> list[Intermediate]:
    """The named values in the order of their computing, without arguments and without the result.

    A value tells something if it has at least three different numbers: less is found by accident.
    """
    given = [array_of(value) for value in _parts((*case.args, *case.kwargs.values()))]
    known = [array for array in (*given, result) if array is not None]
    noted: list[Intermediate] = []
    for step in (*_watched(task, case), *_declared(task, case)):
        every = [*known, *(other.value for other in noted)]
        if telling(step.value) and not any(equal(step.value, other) for other in every):
            dressed = _dressed(step, given) if step.name == NORMAL else ()
            noted.append(replace(step, name=_own_name(step, noted), dressed=dressed))
    return noted


def _dressed(step: Intermediate, given: Sequence[np.ndarray | None]) -> tuple[np.ndarray, ...]:
    """The normalised input with each gain and bias that the case gives, and with the gain alone."""
    vectors = [each for each in given if each is not None and each.shape == step.value.shape[-1:]]
    pairs = itertools.pairwise(vectors)
    return tuple(step.value * gain + more for gain, bias in pairs for more in (bias, 0))


def _own_name(step: Intermediate, before: Sequence[Intermediate]) -> str:
    """The name of a value: scores that hold a mask are told from those before."""
    again = any(step.name == other.name for other in before)
    if again and np.isneginf(step.value).any():
        return f"the masked {step.name.removeprefix('the ')}"
    return step.name


def _parts(values: Iterable[Any]) -> Iterator[Any]:
    """Each value, and what stands in it: to look something up is no step."""
    for value in values:
        yield value
        if isinstance(value, dict):
            yield from _parts(value.values())
        elif isinstance(value, tuple | list):
            yield from _parts(value)


def telling(values: np.ndarray) -> bool:
    """Whether equal numbers are no accident."""
    return values.dtype.kind == "f" and len(np.unique(values[np.isfinite(values)])) >= 3


def _are_shares(values: np.ndarray) -> bool:
    """Whether each row sums to 1: the parameters of a layer are called weights too."""
    return bool(values.ndim and (values >= 0).all() and np.allclose(values.sum(-1), 1, atol=1e-5))


def _declared(task: Task, case: Case) -> Iterator[Intermediate]:
    """The values that the task itself declares as steps."""
    for name, step in task.steps.items():
        yield Intermediate(name, np.asarray(step(*case.args, **case.kwargs)))


def _watched(task: Task, case: Case) -> list[Intermediate]:
    """Every value that a variable with a known name had while the reference ran."""
    noted: list[Intermediate] = []
    last: dict[tuple[int, str], Any] = {}

    def look(frame: FrameType, event: str, _: Any) -> Any:
        for name, value in frame.f_locals.items():
            if name not in NAMES or last.get((id(frame), name)) is value:
                continue
            last[id(frame), name] = value
            array = array_of(value)
            if array is not None and (name != "weights" or _are_shares(array)):
                noted.append(Intermediate(NAMES[name], array))
        return look

    def enter(frame: FrameType, event: str, _: Any) -> Any:
        return look if frame.f_globals.get("__name__", "").startswith(COURSE) else None

    library = task.arrays[0]
    args, kwargs = convert(case.args, library), convert(case.kwargs, library)
    before = sys.gettrace()
    sys.settrace(enter)
    try:
        with quiet_world():
            reference = task.reference
            task.call(reference, *args, **kwargs) if task.call else reference(*args, **kwargs)
    finally:
        sys.settrace(before)
    return noted
