"""Represent an answer in the sandbox, so that the checks can call it from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from checks.drivers import MODULES
from checks.run.call import Elsewhere, Mistake, Outcome
from checks.run.clock import TooSlow
from checks.run.library_used import LIBRARIES
from checks.run.nodes import NODES
from checks.status import OF_A_CALL, Status
from checks.task import Case
from checks.wire.values import Lent, error_named, put_together, taken_apart
from classroom.sandbox.lent_functions import decode_value
from classroom.sandbox.sandbox import Sandbox, SandboxEndedError
from classroom.sandbox.shared_arguments import Placed
from classroom.sandbox.usage import resource_usage
from classroom.status import GradeStatus

GRACE = 5.0  # seconds for which the answer's own clock is given the first word


class RemoteAnswer(Elsewhere):
    """An answer by its name, or an object that an answer created, by its number."""

    def __init__(self, sandbox: Sandbox, key: str | int):
        # Through the dictionary, because to set an attribute is to set it over there.
        self.__dict__.update(_sandbox=sandbox, _key=key, has_torch=False, libraries=frozenset())

    def runs(self, call: Callable | None) -> bool:
        """Whether a driver can run in the sandbox: it must be in the module that is there."""
        return call is None or call.__module__ in MODULES

    def observe(self, case: Case, library: str, call: Callable | None, seconds: float) -> Outcome:
        """Call the answer in the sandbox and describe the outcome."""
        lent: list[Callable] = []
        placed = Placed(self._sandbox.arguments, case, library)
        seconds = min(seconds, self._sandbox.limits.call)
        message = {
            "do": "observe", "of": self._key, "library": library, "seconds": seconds,
            "driver": call.__name__ if call else None,
            "args": taken_apart(case.args, lend_into(lent)),
            "kwargs": taken_apart(case.kwargs, lend_into(lent)),
            "about": taken_apart(case.about),
        }  # fmt: skip
        try:
            if library != "numpy" and not self.has_torch:
                # It takes seconds to load, which are not the answer's.
                self._sandbox.ask({"do": "torch"}, self._sandbox.limits.start)
            reply = self._sandbox.ask(message, seconds + GRACE, call_lent(lent))
        except SandboxEndedError as ended:
            return ended_outcome(ended)
        changed = placed.changed_arguments()
        named = reply.get("libraries")
        named = frozenset(map(str, named)) if isinstance(named, list) else frozenset()
        self.__dict__.update(has_torch=reply.get("torch") is True, libraries=named & LIBRARIES)
        outcome = parse_outcome(reply)
        return replace(outcome, changed=outcome.changed or changed)

    def held_bytes(self, args: tuple, library: str) -> tuple[int, Any]:
        """Measure from outside what its process holds more while it works, and what it returns."""
        few = tuple(arg[:4] if hasattr(arg, "shape") else arg for arg in args)
        self._plain_call(few, library)  # what is loaded at the first call is not counted
        sandbox = self._sandbox
        before = resource_usage(sandbox.process.pid, sandbox.limits.memory)[1]
        sandbox.most_held = before
        returned = self._plain_call(args, library)
        return sandbox.most_held - before, returned

    def _plain_call(self, args: tuple, library: str) -> Any:
        outcome = self.observe(Case(args), library, None, self._sandbox.limits.call)
        if outcome.status == Status.TOO_SLOW:
            raise TooSlow
        if outcome.status != Status.RETURNED:
            mistake = outcome.mistake
            raise error_named(mistake.type, mistake.message) if mistake else NotImplementedError
        return put_together(outcome.value)

    def drive(self, driver: Callable, args: tuple) -> Any:
        """Run a driver in the sandbox."""
        return self._call(args, {}, driver)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the sandbox; data comes back as data, an object as a RemoteAnswer."""
        return self._call(args, kwargs, None)

    def _call(self, args: tuple, kwargs: dict, driver: Callable | None) -> Any:
        lent: list[Callable] = []
        message = {
            "do": "call", "of": self._key, "driver": driver.__name__ if driver else None,
            "args": taken_apart(args, lend_into(lent)),
            "kwargs": taken_apart(kwargs, lend_into(lent)),
        }  # fmt: skip
        return self._value(message, lent)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._value({"do": "get", "of": self._key, "name": name}, [])

    def __setattr__(self, name: str, value: Any) -> None:
        self._value({"do": "set", "of": self._key, "name": name, "value": taken_apart(value)}, [])

    def _value(self, message: dict[str, Any], lent: list[Callable]) -> Any:
        limit = self._sandbox.limits.call
        reply = self._sandbox.ask(message, limit, call_lent(lent))
        value = reply.get("value")
        if isinstance(value, Lent):
            return RemoteAnswer(self._sandbox, value.number)
        return decode_value(reply)


def lend_into(lent: list[Callable]) -> Callable[[Callable], int]:
    """Return a function that appends a function to a list and returns its number."""

    def lend(function: Callable) -> int:
        lent.append(function)
        return len(lent) - 1

    return lend


def call_lent(lent: list[Callable]) -> Callable[[int, tuple, dict], Any]:
    """Return a function that calls a lent function and encodes its result."""
    return lambda number, args, kwargs: taken_apart(lent[number](*args, **kwargs))


def ended_outcome(ended: SandboxEndedError) -> Outcome:
    """Describe a call during which the sandbox ended."""
    if ended.status == GradeStatus.TIMED_OUT:
        return Outcome(Status.TOO_SLOW)
    return Outcome(Status.RAISED, mistake=Mistake("SystemExit", str(ended)))


def parse_outcome(reply: dict[str, Any]) -> Outcome:
    """Decode the outcome in a reply; nothing in the reply is trusted except its form."""
    status, value = reply.get("status"), reply.get("value")
    if status not in tuple(OF_A_CALL) or not (value is None or isinstance(value, NODES)):
        return Outcome(Status.RAISED, mistake=Mistake("Garbage", "it sent no outcome"))
    mistake, changed = reply.get("mistake"), reply.get("changed")
    changed = changed if isinstance(changed, list) else []
    if isinstance(mistake, list):
        kind, message, line, number, operands = (*mistake, *[""] * 5)[:5]
        number = number if isinstance(number, int) else 0
        texts = str(kind)[:60], str(message)[:600], str(line)[:200]
        mistake = Mistake(*texts, number, str(operands)[:300])
    else:
        mistake = None
    if status == Status.RAISED and mistake is None:
        mistake = Mistake("Garbage", "it sent no error")
    if status == Status.RETURNED and value is None:
        return Outcome(Status.RAISED, mistake=Mistake("Garbage", "it sent no value"))
    return Outcome(Status(status), value, mistake, tuple(str(item)[:60] for item in changed)[:20])


def run_cells(
    sandbox: Sandbox, sources: Sequence[str], left_out: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Run the cells of a notebook, but those left out; return the error of each, or nothing.

    Raises: SandboxEndedError with the number of the cell that ended the sandbox, or that took most
    of the time of all cells.
    """
    begin, seconds, ended = time.monotonic(), [], []
    for number, source in enumerate(sources):
        start = time.monotonic()
        try:
            left = sandbox.limits.cells - (start - begin)
            ended.append({} if number in left_out else ask_for_cell(sandbox, source, left))
        except SandboxEndedError as error:
            seconds.append(time.monotonic() - start)
            slowest = seconds.index(max(seconds))
            error.cell = slowest if error.status == GradeStatus.TIMED_OUT else number
            raise
        seconds.append(time.monotonic() - start)
    return ended


def ask_for_cell(sandbox: Sandbox, source: str, seconds: float) -> dict[str, Any]:
    """Run one cell; return its error, or an empty dictionary."""
    ended = sandbox.ask({"do": "cells", "sources": [taken_apart(source)]}, seconds).get("ended")
    if not isinstance(ended, list) or len(ended) != 1 or not isinstance(ended[0], dict):
        raise sandbox.end(GradeStatus.CRASHED, "it sent no list of its cells")
    return ended[0]


def answer_named(sandbox: Sandbox, name: str) -> Any:
    """What stands under a name: a Remote, `...`, data, or LookupError where nothing does."""
    kinds = sandbox.ask({"do": "kinds", "names": [name]}, sandbox.limits.call).get("kinds")
    kind = kinds[0] if isinstance(kinds, list) and kinds else "missing"
    if kind == "missing":
        raise LookupError(name)
    if kind == "untouched":
        return Ellipsis
    if kind == "callable":
        return RemoteAnswer(sandbox, name)
    reply = sandbox.ask({"do": "value", "of": name}, sandbox.limits.call)
    return put_together(reply.get("value"))
