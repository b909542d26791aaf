"""Run the cells of a notebook inside the sandbox, then serve requests about what they defined.

It is started as `python -I worker.py`, with the files of `isolation.INSIDE` and no others of the
course, so no right answer is known here. Every reply is data; a forged reply is a wrong answer.
"""

from __future__ import annotations

import importlib
import mmap
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from checks.run.call import Outcome, observe
from checks.run.clock import TooSlow
from checks.run.errors import describe_error
from checks.run.library_used import libraries_of
from checks.run.nodes import Strange
from checks.run.plain_data import plain
from checks.task import Case
from checks.wire.messages import packed, receive
from checks.wire.values import Lent, error_named, fits, knows_torch, put_together, taken_apart
from classroom.sandbox.provided_modules import ProvidedModules
from classroom.sandbox.shared_arguments import SIZE, VARIABLE, placer

ALONE = "--alone"  # said by the command that gives this process a process namespace of its own


class GraderStreams:
    """The two streams to the grader, moved away from standard input and output."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.reader = os.fdopen(os.dup(0), "rb", buffering=0)
        self.writer = os.fdopen(os.dup(1), "wb", buffering=0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)

    def read(self, count: int) -> bytes:
        """Read exactly this many bytes; exit when the grader closes the stream."""
        parts, left = [], count
        while left:
            part = self.reader.read(min(left, 2**20))
            if not part:
                os._exit(0)
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message to the grader, and wait for the next one."""
        if os.getpid() != self.owner:
            os._exit(1)  # a child that a cell forked; it must not answer
        left = memoryview(packed(message))
        while left:
            left = left[self.writer.write(left) :]
        return receive(self.read)


class StudentNamespace:
    """What the student's cells defined, and the objects that were lent to the grader."""

    def __init__(self, wire: GraderStreams) -> None:
        self.wire = wire
        self.names: dict[str, Any] = {}
        self.lent: list[Any] = []
        self.shell, self.given = None, ()
        self.memory = mmap.mmap(int(os.environ[VARIABLE]), SIZE)

    def borrow(self, number: int) -> Callable:
        """Represent a function of the grader."""
        return lambda *args, **kwargs: self.asked(
            {"do": "borrowed", "number": number}, args, kwargs
        )

    def provided(self, name: str) -> Callable:
        """Represent a function that the exercise provides; it runs in the grader."""
        return lambda *args, **kwargs: self.asked({"do": "provided", "name": name}, args, kwargs)

    def asked(self, message: dict[str, Any], args: tuple, kwargs: dict) -> Any:
        """Let the grader call its function on these arguments; raise its error here."""
        lend = self.keep if message["do"] == "borrowed" else None
        nodes = {"args": taken_apart(args, lend), "kwargs": taken_apart(kwargs, lend)}
        if not all(map(fits, nodes.values())):
            raise MemoryError("these arguments are too large to be sent")
        reply = self.wire.ask(message | nodes)
        while reply.get("do") == "call back":
            reply = self.wire.ask(self.reply(reply))
        if "error" in reply:
            raise error_named(str(reply["error"]), str(reply["message"]))
        return put_together(reply["value"])

    def run(self, sources: list[str]) -> list[dict[str, Any]]:
        """Run the cells in order; an error in a cell does not stop the next."""
        if self.shell is None:
            from IPython.core.interactiveshell import InteractiveShell

            InteractiveShell.history_manager = None
            self.shell = InteractiveShell.instance(user_ns=self.names)
            self.shell.showtraceback = self.shell.showsyntaxerror = lambda *_, **__: None
        return [self.cell(self.shell, source) for source in sources]

    def cell(self, shell: Any, source: str) -> dict[str, Any]:
        """Run one cell and describe its error, if there is one."""
        try:
            ended = shell.run_cell(source, store_history=False, silent=True)
        except BaseException as error:
            return {"error": type(error).__name__, "message": "", "line": 0}
        if not (error := ended.error_before_exec or ended.error_in_exec):
            return {}
        if isinstance(error, SyntaxError):
            message = str(error.msg)[:600]
            return {"error": "SyntaxError", "message": message, "line": error.lineno or 0}
        described = describe_error(error, None)
        return {"error": described.type, "message": described.message, "line": 0}

    def observe(self, message: dict[str, Any]) -> Outcome:
        """Call an answer on one case."""
        args, kwargs = (put_together(message[word], self.borrow) for word in ("args", "kwargs"))
        case = Case(args, kwargs, put_together(message["about"]))
        driver = load_driver(message["driver"])
        return observe(
            self.look_up(message["of"]), case, message["library"], driver, message["seconds"],
            copied=placer(self.memory),
        )  # fmt: skip

    def look_up(self, key: str | int) -> Any:
        """Return an answer by its name, or a lent object by its number."""
        return self.names[key] if isinstance(key, str) else self.lent[key]

    def lend(self, value: Any) -> Any:
        """Encode data as data; lend anything else, such as an object with methods, by a number."""
        node = bounded(plain(value))
        if isinstance(node, Strange) and not node.untouched:
            return Lent(self.keep(value))
        return node

    def keep(self, value: Any) -> int:
        """Keep an object, and return its number."""
        self.lent.append(value)
        return len(self.lent) - 1

    def reply(self, message: dict[str, Any]) -> dict[str, Any]:
        """Execute one message and return the reply."""
        if message["do"] == "cells":
            ended = self.run([put_together(source) for source in message["sources"]])
            return {"ended": ended, "torch": knows_torch()}
        if message["do"] == "torch":
            return {"torch": bool(importlib.import_module("torch"))}
        if message["do"] == "kinds":
            return {"kinds": [name_state(self.names, name) for name in message["names"]]}
        if message["do"] == "value":
            return {"value": bounded(plain(self.names[message["of"]]))}
        if message["do"] == "observe":
            libraries = sorted(libraries_of(self.look_up(message["of"])))
            return encode_outcome(self.observe(message)) | {
                "torch": knows_torch(), "libraries": libraries
            }  # fmt: skip
        try:
            reply = {"value": self.lend(self.done(message))}
            # A hook may write into what it is given, and the model goes on with that.
            written = {"args": bounded(plain(self.given))} if message["do"] == "call back" else {}
            return reply | written
        except (Exception, TooSlow) as error:
            described = describe_error(error, None)
            return {"error": described.type, "message": described.message}

    def done(self, message: dict[str, Any]) -> Any:
        """Call an object, or read or set one of its attributes."""
        target, name = self.look_up(message["of"]), message.get("name")
        if message["do"] == "get":
            return getattr(target, name)
        if message["do"] == "set":
            return setattr(target, name, put_together(message["value"]))
        args, kwargs = (put_together(message[word], self.borrow) for word in ("args", "kwargs"))
        self.given, driver = args, load_driver(message["driver"])
        return driver(target, *args, **kwargs) if driver else target(*args, **kwargs)


def load_driver(name: str | None) -> Callable | None:
    """Load a driver: a way of calling that must run in the process of the answer."""
    return importlib.import_module("checks.drivers").driver_named(name) if name else None


def encode_outcome(outcome: Outcome) -> dict[str, Any]:
    """Encode an outcome as a message."""
    mistake = outcome.mistake
    return {
        "status": outcome.status,
        "value": bounded(outcome.value),
        "mistake": mistake and list(astuple(mistake)),
        "changed": list(outcome.changed),
    }


def bounded(node: Any) -> Any:
    """Replace a value that is too large for a message; no right answer is."""
    if fits(node):
        return node
    return Strange("more numbers or text than a check compares", untouched=False)


def name_state(names: dict[str, Any], name: str) -> str:
    """Classify a name: missing, untouched (`...`), callable, or a value."""
    if name not in names:
        return "missing"
    kind = "callable" if callable(names[name]) else "value"
    return "untouched" if names[name] is Ellipsis else kind


def end_others() -> None:
    """End all other processes of the sandbox: none may outlive the task that started it.

    Outside a sandbox this would end the processes of the user, so three things must agree.
    """
    if ALONE not in sys.argv[1:] or os.getppid() != 1 or os.getuid() == 0:
        return
    with suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    with suppress(OSError):
        while True:
            os.waitpid(-1, 0)


def serve(wire: GraderStreams) -> None:
    """Serve messages until the grader closes its end."""
    answers = StudentNamespace(wire)
    hello = wire.ask({"ready": True})
    sys.meta_path.append(ProvidedModules(answers.provided, hello["provided"]))
    message = receive(wire.read)
    while True:
        try:
            reply = answers.reply(message)
        except BaseException as error:
            reply = {"error": type(error).__name__, "message": ""}
        if os.getpid() == wire.owner:
            end_others()
        message = wire.ask(reply)


if __name__ == "__main__":
    serve(GraderStreams())
