"""Run an answer on fresh copies of a case and describe what happened.

Nothing here knows the right result, so that this half can run in a process of its own: where work
is graded, it does, and `Elsewhere` represents the answer here.
"""

from __future__ import annotations

import copy
import dis
import functools
import inspect
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.run.clock import TooSlow, time_limit
from checks.run.errors import Mistake, describe_error, source_file
from checks.run.library_used import libraries_of
from checks.run.nodes import Nothing, Strange
from checks.run.plain_data import plain
from checks.run.world import quiet_world
from checks.status import Status
from checks.task import Case, Task

MANY_MODULES = 20
SECONDS = 10.0
SECONDS_TO_TRAIN = 60.0
PATIENCE = 300.0  # seconds for what has a clock of its own, and for references
IDLE = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}


@dataclass(frozen=True)
class Outcome:
    """What one call did: it returned, raised, was not attempted, did not fit, or was too slow."""

    status: Status
    value: Any = None
    mistake: Mistake | None = None
    changed: tuple[str, ...] = ()
    note: str = ""  # the numbers behind what was measured, for the learner


def seconds_for(task: Task) -> float:
    """How long one call of an answer to this task may take."""
    return SECONDS_TO_TRAIN if task.slow else SECONDS


class Elsewhere:
    """An answer that lives in another process, where it is called and looked at."""

    has_torch = False
    libraries: frozenset[str] = frozenset()

    def runs(self, call: Callable | None) -> bool:
        """Whether this way of calling can stand beside the answer."""
        raise NotImplementedError

    def observe(self, case: Case, library: str, call: Callable | None, seconds: float) -> Outcome:
        """What `observe` gives there."""
        raise NotImplementedError

    def drive(self, driver: Callable, args: tuple) -> Any:
        """What `driver(answer, *args)` gives there."""
        raise NotImplementedError

    def held_bytes(self, args: tuple, library: str) -> tuple[int, Any]:
        """How many bytes more its process held at once, seen from outside, and what it returned."""
        raise NotImplementedError


def run_driver(answer: Any, driver: Callable, *args: Any) -> Any:
    """Run a driver where the answer lives: here, or in its own process."""
    if isinstance(answer, Elsewhere):
        return answer.drive(driver, args)
    return driver(answer, *args)


def has_torch(answer: Any) -> bool:
    """Whether torch is loaded where the answer lives."""
    return answer.has_torch if isinstance(answer, Elsewhere) else "torch" in sys.modules


def written_in(answer: Any) -> frozenset[str]:
    """The array libraries that the code of an answer names."""
    return answer.libraries if isinstance(answer, Elsewhere) else libraries_of(answer)


def once_more_if_it_loaded(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Call once more what was too slow while a library loaded: that is no time of the answer."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Outcome:
        known = len(sys.modules)
        outcome = function(*args, **kwargs)
        if outcome.status == Status.TOO_SLOW and len(sys.modules) > known + MANY_MODULES:
            outcome = function(*args, **kwargs)
        return outcome

    return called


@once_more_if_it_loaded
def observe(
    answer: Callable,
    case: Case,
    library: str = "numpy",
    call: Callable | None = None,
    seconds: float | None = None,
    file: str | None = None,
    closely: bool = True,
    copied: Callable = np.array,
) -> Outcome:
    """Call the answer once on copies of the case, made for the array library named.

    `file` is where the learner's code stands, if it is not where the answer is defined;
    `closely` tells also what the answer does not take, which arguments it changed, and which
    arrays were in an error, which costs more than a small call;
    `copied` copies the arrays of the case for it.
    """
    seconds = SECONDS if seconds is None else seconds
    if isinstance(answer, Elsewhere):
        if answer.runs(call):
            return answer.observe(case, library, call, seconds)
        seconds = PATIENCE  # each request to its process has a clock of its own
    file = file or source_file(answer)
    args, kwargs = (convert(given, library, copied) for given in (case.args, case.kwargs))
    if closely and not call and (misfit := signature_misfit(answer, args, kwargs)):
        return Outcome(Status.NOT_UNDERSTOOD, mistake=Mistake("TypeError", misfit))
    try:
        with quiet_world(), time_limit(seconds):
            returned = call(answer, *args, **kwargs) if call else answer(*args, **kwargs)
            value = plain(returned)
    except KeyboardInterrupt:
        raise
    except NotImplementedError as error:
        return Outcome(Status.NOT_ATTEMPTED, mistake=describe_error(error, file))
    except TooSlow:
        return Outcome(Status.TOO_SLOW)
    except BaseException as error:
        return Outcome(Status.RAISED, mistake=describe_error(error, file, closely))
    if isinstance(value, Strange) and value.untouched:
        return Outcome(Status.NOT_ATTEMPTED, value)
    if isinstance(value, Nothing) and is_empty(answer):
        return Outcome(Status.NOT_ATTEMPTED, value)
    changed = _changed(answer, case, library, call, args, kwargs) if closely else ()
    return Outcome(Status.RETURNED, value, changed=changed)


def _changed(
    answer: Any, case: Case, library: str, call: Callable | None, args: tuple, kwargs: dict
) -> tuple[str, ...]:
    before = (*convert(case.args, library), *convert(case.kwargs, library).values())
    after = (*args, *kwargs.values())
    names = [*argument_names(answer, call, len(args)), *kwargs]
    pairs = zip(names, before, after, strict=True)
    return tuple(name for name, old, new in pairs if not plain(old).equals(plain(new)))


def argument_names(answer: Any, call: Callable | None, count: int) -> list[str]:
    """The names of the positional arguments, as the learner (or the driver) wrote them."""
    try:
        parameters = list(inspect.signature(call or answer).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if call:
        parameters = parameters[1:]
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [parameter.name for parameter in parameters if parameter.kind <= positional]
    return [*names, *(f"argument {n + 1}" for n in range(len(names), count))][:count]


def signature_misfit(answer: Any, args: tuple, kwargs: dict) -> str:
    """A sentence if the answer cannot be called like this, else nothing."""
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        given = f"{len(args)} argument{'s' if len(args) != 1 else ''}"
        named = "".join(f", {name}=" for name in kwargs)
        return f"it takes {signature}, and it is called with {given}{named}"
    return ""


def is_empty(answer: Any) -> bool:
    """Whether the body of a function is only `pass`, `...`, a docstring or `return None`."""
    code = getattr(answer, "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    return {step.opname for step in dis.get_instructions(code)} <= IDLE


def convert(value: Any, library: str, copied: Callable = np.array) -> Any:
    """A fresh copy of a value whose arrays belong to numpy, torch, or torch32 (in float32).

    `copied` makes the copy of an array: in memory that somebody else watches, for example.
    """
    if isinstance(value, np.ndarray):
        return copied(value) if library == "numpy" else _to_tensor(value, library, copied)
    torch = sys.modules.get("torch")
    if torch is not None and type(value) is torch.Tensor:
        kept = value.detach().clone()
        return kept.cpu().numpy() if library == "numpy" else kept
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(convert(item, library, copied) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(convert(item, library, copied) for item in value)
    if isinstance(value, dict):
        return {key: convert(item, library, copied) for key, item in value.items()}
    return copy.deepcopy(value)


def in_plain_numbers(answer: Any) -> Any:
    """The same function, whose tensors carry no gradient and have numbers that NumPy knows."""
    if isinstance(answer, Elsewhere | type) or not callable(answer):
        return answer

    @functools.wraps(answer, updated=())
    def plainly(*args: Any, **kwargs: Any) -> Any:
        return _without_gradient(answer(*args, **kwargs))

    return plainly


def _without_gradient(value: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        kept = value.detach()
        return kept.float() if kept.dtype == torch.bfloat16 else kept
    if isinstance(value, tuple | list):
        items = map(_without_gradient, value)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _to_tensor(value: np.ndarray, library: str, copied: Callable = np.array) -> Any:
    import torch

    narrow = library == "torch32" and value.dtype.kind == "f"
    return torch.from_numpy(copied(value.astype(np.float32) if narrow else value))
