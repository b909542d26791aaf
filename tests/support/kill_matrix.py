"""Every task by every misconception and by every failure of form: tried, counted, in the book.

`python -m tests.support.kill_matrix` tries all of it and writes the record that the book shows;
with the names of exercises it tries these alone and keeps the others as they stand.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checks import Task, Verdict, grade_source, judge
from checks.status import OF_A_CHECK, Status
from tests.support.attempts import (
    NAMES,
    ROOT,
    Agreeable,
    altered,
    answers,
    known_once,
    load,
    names_alone,
    nowhere,
    rewritten,
    setup,
    stub,
    widen,
)

RECORD = ROOT / "book" / "catalogue" / "kill_matrix.json"
FAILS = OF_A_CHECK - {Status.PASSED, Status.TOO_SLOW, Status.LATER}


@dataclasses.dataclass(frozen=True)
class Form:
    """A failure of form: what is submitted, and what a learner must read."""

    name: str
    judged: Callable[[str, Task], Verdict | None]
    explained: Callable[[Task, Verdict], bool]


def written(function: str, value: str) -> Callable[[str, Task], Verdict]:
    """The stub with this body, or with this value."""
    return lambda name, task: grade_source(
        task, rewritten(name, task, value if task.is_value else function), setup(name)
    )


def result(change: Callable[[Any], Any]) -> Callable[[str, Task], Verdict | None]:
    """The right result, changed; None where there is nothing to change."""

    def judged(name: str, task: Task) -> Verdict | None:
        if task.is_value:
            changed = change(task.reference)
            return None if changed is None else judge(task, changed)
        changes: list[bool] = []

        def change_if_possible(right: Any) -> Any:
            changed = change(right)
            changes.append(changed is not None)
            return right if changed is None else changed

        verdict = judge(*altered(task, change=change_if_possible))
        return verdict if any(changes) else None

    return judged


def edits_its_argument(name: str, task: Task) -> Verdict | None:
    """The reference, after it has changed the first array that it was given."""
    case = task.draw()[0]
    arrays = [n for n, value in enumerate(case.args) if isinstance(value, np.ndarray)]
    if task.is_value or not arrays:
        return None

    def edit(args: Sequence) -> None:
        first = args[arrays[0]]
        first[...] = ~first if "bool" in str(first.dtype) else first + 1

    return judge(*altered(task, edit=edit))


def missing(name: str, task: Task) -> Verdict:
    """The answer under another name."""
    text = re.sub(rf"\b{task.name}\b", f"{task.name}_2", stub(name, task))
    return grade_source(task, text, setup(name))


def fails(task: Task, verdict: Verdict) -> bool:
    """It is not accepted, and no misconception is blamed for it."""
    return verdict.status in FAILS and not verdict.misconceptions


def wants_a_result(task: Task, verdict: Verdict) -> bool:
    """It fails; where the answer itself is called, the forgotten `return` is named."""
    seen = repr(verdict)
    named = "None" in seen and (task.is_value or "did you forget `return`" in seen)
    return fails(task, verdict) and (task.call is not None or named)


FORMS = (
    Form(
        "the untouched stub",
        lambda name, task: grade_source(task, stub(name, task), setup(name)),
        lambda task, verdict: (
            verdict.status == "not attempted" and "not attempted yet" in repr(verdict)
        ),
    ),
    Form("an empty body", written("pass", "None"), wants_a_result),
    Form("`return None`", written("return None", "None"), wants_a_result),
    Form(
        "an exception",
        written("raise ValueError('the cat sat on it')", "1 / 0"),
        lambda task, verdict: (
            verdict.status == "raised"
            and ("ZeroDivisionError" if task.is_value else "the cat sat on it") in repr(verdict)
        ),
    ),
    Form(
        "a syntax error",
        written("return (", "return ("),
        lambda task, verdict: (
            verdict.status == "syntax error"
            and "line" in repr(verdict)
            and task.name in repr(verdict)
        ),
    ),
    Form(
        "another name",
        missing,
        lambda task, verdict: verdict.status == "missing" and task.name in repr(verdict),
    ),
    Form(
        "an axis too many",
        result(widen),
        lambda task, verdict: (
            verdict.status in ("wrong", "not understood", "raised")[: 2 if task.unique else 3]
            and (not task.unique or not verdict.misconceptions)
            and (not task.unique or bool(re.search(r"shape|expected", repr(verdict))))
        ),
    ),
    Form("NaN", result(nowhere), lambda task, verdict: verdict.status in FAILS),
    Form(
        "an object equal to everything",
        result(lambda right: Agreeable()),
        lambda task, verdict: verdict.status in FAILS,
    ),
    Form(
        "an argument changed in place",
        edits_its_argument,
        lambda task, verdict: verdict.status == "wrong" and verdict.misconceptions == ("M36",),
    ),
)


def row(name: str, task: Task) -> dict[str, Any]:
    """All that was tried on one task, and what became of it."""
    with names_alone():
        verdicts = [(wrong, judge(task, wrong.answer)) for wrong in task.wrong]
    forms = {}
    for form in FORMS:
        verdict = form.judged(name, task)
        forms[form.name] = None if verdict is None else form.explained(task, verdict)
    return {
        "task": task.id,
        "title": task.title,
        "misconceptions": [wrong.misconception for wrong, _ in verdicts],
        "killed": sum(not verdict.passed for _, verdict in verdicts),
        "named": sum(verdict.misconceptions == wrong.ids for wrong, verdict in verdicts),
        "styles": len(answers(name)[task.id]),
        "refused": sum(not judge(task, right).passed for right in answers(name)[task.id]),
        "forms": forms,
    }


def totals(rows: list[dict[str, Any]]) -> str:
    """What all tasks come to, in one sentence."""
    explained = [form for row in rows for form in row["forms"].values() if form is not None]
    count = sum(len(row["misconceptions"]) for row in rows)
    killed, named, refused, styles = (
        sum(row[key] for row in rows) for key in ("killed", "named", "refused", "styles")
    )
    return (
        f"{len(rows)} tasks: {killed} of {count} misconceptions killed, {named} named; "
        f"{sum(explained)} of {len(explained)} failures of form explained; "
        f"{refused} of {styles} right answers refused"
    )


def write_record(matrix: dict[str, list[dict[str, Any]]]) -> None:
    """Write the record that the book shows, a line for each task."""
    parts = []
    for name, rows in matrix.items():
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        parts.append(f"{json.dumps(name)}: [\n{lines}\n]")
    RECORD.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf8")


def main() -> None:
    """Try everything, or some exercises; write the record and print the totals."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.kill_matrix",
        description="Judge every misconception, failure of form and right answer, and count.",
    )
    parser.add_argument(
        "exercises", nargs="*", metavar="exercise", help="such as 06_softmax; all without any"
    )
    args = parser.parse_args()
    unknown = set(args.exercises) - set(NAMES)
    if unknown:
        parser.error(f"no exercise {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    with known_once():
        tried = {
            name: [row(name, task) for task in load(name).tasks] for name in args.exercises or NAMES
        }
    kept = json.loads(RECORD.read_text("utf8")) if args.exercises else {}
    write_record({name: tried.get(name) or kept[name] for name in NAMES if name in kept | tried})
    print(totals([row for rows in tried.values() for row in rows]))


if __name__ == "__main__":
    main()
