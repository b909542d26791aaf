"""An answer in the sandbox, as something that the checks can call and look at from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checks.run.call import Elsewhere, Mistake, Outcome
from checks.run.nodes import NODES
from checks.run.wire import Lent, error_named, put_together, taken_apart
from checks.task import Case
from classroom.sandbox.sandbox import EndedError, Sandbox

BESIDE = "checks.drivers"
STATUSES = {"returned", "raised", "not attempted", "not understood", "too slow"}
GRACE = 5.0  # seconds for which the answer's own clock is given the first word


class Remote(Elsewhere):
    """An answer by its name, or an object that an answer made, by its number."""

    def __init__(self, sandbox: Sandbox, key: str | int):
        # Through the dictionary, because to set an attribute is to set it over there.
        self.__dict__.update(_sandbox=sandbox, _key=key, has_torch=False)

    def runs(self, call: Callable | None) -> bool:
        """A driver runs over there if it stands in the file that is there."""
        return call is None or call.__module__ == BESIDE

    def observe(self, case: Case, library: str, call: Callable | None, seconds: float) -> Outcome:
        """Have the answer called and looked at over there."""
        lent: list[Callable] = []
        seconds = min(seconds, self._sandbox.limits.call)
        message = {
            "do": "observe", "of": self._key, "library": library, "seconds": seconds,
            "driver": call.__name__ if call else None,
            "args": taken_apart(case.args, lender(lent)),
            "kwargs": taken_apart(case.kwargs, lender(lent)),
            "about": taken_apart(case.about),
        }  # fmt: skip
        try:
            if library != "numpy" and not self.has_torch:
                # It takes seconds to load, which are not the answer's.
                self._sandbox.ask({"do": "torch"}, self._sandbox.limits.start)
            reply = self._sandbox.ask(message, seconds + GRACE, borrower(lent))
        except EndedError as ended:
            return gone(ended)
        self.__dict__["has_torch"] = reply.get("torch") is True
        return outcome_in(reply)

    def drive(self, driver: Callable, args: tuple) -> Any:
        """Run a driver over there."""
        return self._call(args, {}, driver)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it over there; data comes back as data, an object as another of these."""
        return self._call(args, kwargs, None)

    def _call(self, args: tuple, kwargs: dict, driver: Callable | None) -> Any:
        lent: list[Callable] = []
        message = {
            "do": "call", "of": self._key, "driver": driver.__name__ if driver else None,
            "args": taken_apart(args, lender(lent)), "kwargs": taken_apart(kwargs, lender(lent)),
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
        reply = self._sandbox.ask(message, limit, borrower(lent))
        if "error" in reply:
            raise error_named(str(reply["error"]), str(reply.get("message", ""))[:600])
        value = reply.get("value")
        if isinstance(value, Lent):
            return Remote(self._sandbox, value.number)
        return put_together(value)


def lender(lent: list[Callable]) -> Callable[[Callable], int]:
    """A function that keeps a function in a list and gives its number."""

    def lend(function: Callable) -> int:
        lent.append(function)
        return len(lent) - 1

    return lend


def borrower(lent: list[Callable]) -> Callable[[int, tuple, dict], Any]:
    """A function that calls one of a list, and gives what it says as nodes."""
    return lambda number, args, kwargs: taken_apart(lent[number](*args, **kwargs))


def gone(ended: EndedError) -> Outcome:
    """The outcome of a call during which the sandbox ended."""
    if ended.why == "too slow":
        return Outcome("too slow")
    return Outcome("raised", mistake=Mistake("SystemExit", str(ended)))


def outcome_in(reply: dict[str, Any]) -> Outcome:
    """The outcome that a reply describes, believing nothing but its form."""
    status, value = reply.get("status"), reply.get("value")
    known = isinstance(status, str) and status in STATUSES
    if not known or not (value is None or isinstance(value, NODES)):
        return Outcome("raised", mistake=Mistake("Garbage", "it sent no outcome"))
    mistake, changed = reply.get("mistake"), reply.get("changed")
    changed = changed if isinstance(changed, list) else []
    if isinstance(mistake, list):
        kind, message, line, number = (*mistake, *[""] * 4)[:4]
        number = number if isinstance(number, int) else 0
        mistake = Mistake(str(kind)[:60], str(message)[:600], str(line)[:200], number)
    else:
        mistake = None
    if status == "raised" and mistake is None:
        mistake = Mistake("Garbage", "it sent no error")
    if status == "returned" and value is None:
        return Outcome("raised", mistake=Mistake("Garbage", "it sent no value"))
    return Outcome(status, value, mistake, tuple(str(one)[:60] for one in changed)[:20])


def run_cells(sandbox: Sandbox, sources: list[str]) -> list[dict[str, Any]]:
    """Run the cells of a notebook; what is wrong with each, if anything is."""
    message = {"do": "cells", "sources": [taken_apart(one) for one in sources]}
    ended = sandbox.ask(message, sandbox.limits.cells).get("ended")
    if not isinstance(ended, list) or len(ended) != len(sources):
        raise sandbox.end("crashed", "it sent no list of its cells")
    return [one if isinstance(one, dict) else {} for one in ended]


def answer_named(sandbox: Sandbox, name: str) -> Any:
    """What stands under a name: a Remote, `...`, data, or LookupError where nothing does."""
    kinds = sandbox.ask({"do": "kinds", "names": [name]}, sandbox.limits.call).get("kinds")
    kind = kinds[0] if isinstance(kinds, list) and kinds else "missing"
    if kind == "missing":
        raise LookupError(name)
    if kind == "untouched":
        return Ellipsis
    if kind == "callable":
        return Remote(sandbox, name)
    reply = sandbox.ask({"do": "value", "of": name}, sandbox.limits.call)
    return put_together(reply.get("value"))
