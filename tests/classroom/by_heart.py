"""Notebooks of students who understood nothing: one looks results up, one counts its calls."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checks import Task
from checks.released import load_exercise
from checks.run.trial import right_outcomes
from checks.wire.values import put_together

HEAD = """
import base64, pickle
KNOWN = pickle.loads(base64.b64decode("{known}"))

def key(value):
    if hasattr(value, "detach"):
        value = value.detach().numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(map(key, value))
    if isinstance(value, dict):
        return tuple((name, key(entry)) for name, entry in value.items())
    return value

def looked_up(name):
    def answer(*args, **kwargs):
        pairs = KNOWN[name]
        known = dict(pairs).get(repr(key((*args, kwargs))))
        if known is None:
            outcomes = [repr(result) for _, result in pairs]
            known = pairs[outcomes.index(max(outcomes, key=outcomes.count))][1]
        if isinstance(known[0], Exception):
            raise known[0]
        return known[0]
    return answer

def counted(name):
    calls = []
    def answer(*args, **kwargs):
        calls.append(1)
        pairs = KNOWN[name]
        return pairs[(len(calls) - 1) % len(pairs)][1][0]
    return answer
"""


def lookup_notebook(released: Path) -> str:
    """Read the results of every shown case from a released folder, and answer by a table."""
    tasks = [task for task in load_exercise(released).tasks if not task.later]
    return _notebook("looked_up", {task.name: list(map(list, _results(task))) for task in tasks})


def counting_notebook(tasks: Sequence[Task]) -> str:
    """Answer the first call with the first right result, whatever it asks for, and so on."""
    known = {task.name: list(map(list, _results(task))) for task in tasks if task.cases}
    return _notebook("counted", known)


def _notebook(way: str, known: dict[str, list]) -> str:
    text = base64.b64encode(pickle.dumps(known)).decode()
    return HEAD.replace("{known}", text) + "".join(f"\n{name} = {way}({name!r})" for name in known)


def _results(task: Task) -> list[tuple[str, list[Any]]]:
    """Each shown case as the text by which it is looked up, with its right result."""
    namespace: dict[str, Any] = {}
    exec(_notebook("looked_up", {}), namespace)
    cases = task.draw()
    return [
        (repr(namespace["key"]((*case.args, case.kwargs))), [_unnamed(put_together(outcome.value))])
        for case, outcome in zip(cases, right_outcomes(task, cases), strict=True)
    ]


def _unnamed(value: Any) -> Any:
    """A named tuple as a plain one, which passes for it."""
    return tuple(map(_unnamed, value)) if isinstance(value, tuple) else value
