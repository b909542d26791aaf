"""Inside the sandbox: run the cells of a notebook, then answer questions about what they defined.

Started as `python -I worker.py`, with this folder's files and nothing else of the course: what is
right is not known here. Every reply is data, and whoever forges one only answers wrongly.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from checks.run.call import Outcome, describe_error, observe
from checks.run.nodes import Strange
from checks.run.plain_data import plain
from checks.run.wire import ABSENT, Lent, error_named, knows_torch, packed, put_together, receive
from checks.run.world import TooSlow
from checks.task import Case

COURSE = {"lib", "checks", "figures", "exercises", "classroom", "book"}

class Wire:
    """The two streams to the grader, moved away from where a print would go."""

    def __init__(self) -> None:
        self.reader = os.fdopen(os.dup(0), "rb", buffering=0)
        self.writer = os.fdopen(os.dup(1), "wb", buffering=0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)

    def read(self, count: int) -> bytes:
        """Exactly so many bytes; the grader's end is our end."""
        parts, left = [], count
        while left:
            part = self.reader.read(min(left, 2**20))
            if not part:
                os._exit(0)
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a question to the grader, and wait for its reply."""
        left = memoryview(packed(message))
        while left:
            left = left[self.writer.write(left) :]
        return receive(self.read)


class Answers:
    """What the student's cells defined, with everything that was lent to the grader."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.names: dict[str, Any] = {}
        self.lent: list[Any] = []

    def borrow(self, number: int) -> Callable:
        """A function of the grader's, as one of ours."""
        return lambda *args, **kwargs: self.asked(
            {"do": "borrowed", "number": number}, args, kwargs
        )

    def provided(self, name: str) -> Callable:
        """A definition that the exercise gives to the student: it runs at the grader's."""
        return lambda *args, **kwargs: self.asked({"do": "provided", "name": name}, args, kwargs)

    def asked(self, message: dict[str, Any], args: tuple, kwargs: dict) -> Any:
        """What the grader says to these arguments; its error is raised here."""
        reply = self.wire.ask(message | {"args": plain(args), "kwargs": plain(kwargs)})
        if "error" in reply:
            raise error_named(str(reply["error"]), str(reply["message"]))
        return put_together(reply["value"])

    def run(self, sources: list[str]) -> list[dict[str, Any]]:
        """Run the cells one after the other; an error in one does not stop the next."""
        from IPython.core.interactiveshell import InteractiveShell

        InteractiveShell.history_manager = None
        shell = InteractiveShell.instance(user_ns=self.names)
        shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None
        return [self.cell(shell, source) for source in sources]

    def cell(self, shell: Any, source: str) -> dict[str, Any]:
        """Run one cell and say how it ended."""
        try:
            ended = shell.run_cell(source, store_history=False, silent=True)
        except BaseException as error:
            return {"error": type(error).__name__, "message": "", "line": 0}
        error = ended.error_before_exec or ended.error_in_exec
        if error is None:
            return {}
        found = describe_error(error, None)
        if isinstance(error, SyntaxError):
            message = str(error.msg)[:600]
            return {"error": "SyntaxError", "message": message, "line": error.lineno or 0}
        return {"error": found.type, "message": found.message, "line": 0}

    def observe(self, said: dict[str, Any]) -> Outcome:
        """Call an answer on one case."""
        case = Case(
            put_together(said["args"], self.borrow),
            put_together(said["kwargs"], self.borrow),
            put_together(said["about"]),
        )
        driver = driver_named(said["driver"])
        return observe(self.found(said["of"]), case, said["library"], driver, said["seconds"])

    def found(self, key: str | int) -> Any:
        """An answer by its name, or something that was lent by its number."""
        return self.names[key] if isinstance(key, str) else self.lent[key]

    def lend(self, value: Any) -> Any:
        """Data as data; what is neither, such as an object with methods, under a number."""
        node = plain(value)
        if isinstance(node, Strange) and not node.untouched:
            self.lent.append(value)
            return Lent(len(self.lent) - 1)
        return node

    def reply(self, said: dict[str, Any]) -> dict[str, Any]:
        """Do what one message asks."""
        if said["do"] == "cells":
            ended = self.run([put_together(one) for one in said["sources"]])
            return {"ended": ended, "torch": knows_torch()}
        if said["do"] == "torch":
            return {"torch": bool(importlib.import_module("torch"))}
        if said["do"] == "kinds":
            return {"kinds": [kind_of(self.names, name) for name in said["names"]]}
        if said["do"] == "value":
            return {"value": plain(self.names[said["of"]])}
        if said["do"] == "observe":
            return written(self.observe(said)) | {"torch": knows_torch()}
        try:
            return {"value": self.lend(self.done(said))}
        except (Exception, TooSlow) as error:
            found = describe_error(error, None)
            return {"error": found.type, "message": found.message}

    def done(self, said: dict[str, Any]) -> Any:
        """Call something, or read or set one of its attributes."""
        target = self.found(said["of"])
        if said["do"] == "get":
            return getattr(target, said["name"])
        if said["do"] == "set":
            return setattr(target, said["name"], put_together(said["value"]))
        args = put_together(said["args"], self.borrow)
        kwargs = put_together(said["kwargs"], self.borrow)
        driver = driver_named(said["driver"])
        return driver(target, *args, **kwargs) if driver else target(*args, **kwargs)


def driver_named(name: str | None) -> Callable | None:
    """A way of calling that has to stand beside the answer."""
    return getattr(importlib.import_module("checks.drivers"), name) if name else None


def written(outcome: Outcome) -> dict[str, Any]:
    """An outcome as a message."""
    mistake = outcome.mistake
    return {
        "status": outcome.status,
        "value": outcome.value,
        "mistake": mistake and [mistake.type, mistake.message, mistake.line, mistake.number],
        "changed": list(outcome.changed),
    }


def kind_of(names: dict[str, Any], name: str) -> str:
    """What stands under a name: nothing, the untouched dots, something to call, or a value."""
    if name not in names:
        return "missing"
    if names[name] is Ellipsis:
        return "untouched"
    return "callable" if callable(names[name]) else "value"


class ProvidedModules:
    """Importer for the modules of the course that are not in the sandbox.

    A function that the exercise provides runs in the grader; every other name is an ImportError.
    """

    def __init__(self, answers: Answers, provided: dict[str, list[str]]) -> None:
        self.answers, self.provided = answers, provided
        parents = {module.rpartition(".")[0] for module in provided}
        self.packages = {"lib", "exercises", *parents}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Serve every module of the course that has no file in the sandbox."""
        if name.partition(".")[0] not in COURSE:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=name in self.packages)

    def create_module(self, spec: Any) -> types.ModuleType:
        """Make a module with the provided functions; refuse one that provides none."""
        module = types.ModuleType(spec.name)
        if spec.name not in self.provided and spec.name not in self.packages:
            raise ImportError(f"{spec.name} {ABSENT}")
        for name in self.provided.get(spec.name, ()):
            setattr(module, name, self.answers.provided(f"{spec.name}.{name}"))
        module.__getattr__ = lambda name: absent(f"{spec.name}.{name}")
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to run."""


def absent(name: str) -> Any:
    """Say that a definition is not here; Python's own questions get their usual answer."""
    if name.rsplit(".", 1)[1].startswith("__"):
        raise AttributeError(name)
    raise ImportError(f"{name} {ABSENT}")


def serve(wire: Wire) -> None:
    """Answer until the grader closes its end."""
    answers = Answers(wire)
    hello = wire.ask({"ready": True})
    sys.meta_path.append(ProvidedModules(answers, hello["provided"]))
    said = receive(wire.read)
    while True:
        try:
            reply = answers.reply(said)
        except BaseException as error:
            reply = {"error": type(error).__name__, "message": ""}
        said = wire.ask(reply)


if __name__ == "__main__":
    serve(Wire())
