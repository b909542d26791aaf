"""The words of a verdict: one function for each thing that can be said about an answer."""

from __future__ import annotations

import difflib
from typing import Any

from checks.feedback.misconceptions import Misconception, is_written, misconceptions
from checks.feedback.verdict import Shown, Verdict, shown, split_read
from checks.run.call import Mistake, Outcome, argument_names
from checks.run.compare import kind_of
from checks.run.plain_data import Nothing, plain
from checks.task import Case, Task


def lawless(task: Task, law: Any, case: Case, said: bool | str) -> Verdict:
    broken = f"A right answer has this property, and yours has not: {law.name}"
    sentences = [f"{broken}; {said}." if isinstance(said, str) else f"{broken}."]
    blocks: dict[str, Any] = {"about": case.about, "given": given(task, case)}
    if law.misconception:
        entry = misconceptions()[law.misconception]
        sentences.append(f"{law.misconception}: {entry.name}. {entry.sentence}")
        blocks.update(misconceptions=(law.misconception,), read=place_of(entry, task))
    return verdict(task, "wrong", *sentences, **blocks)


def verdict(task: Task, status: str, *sentences: str, **rest: Any) -> Verdict:
    """A verdict on a task; what is wrong is always met with a place to read."""
    if status in ("wrong", "raised", "not understood", "too slow"):
        rest["read"] = rest.get("read") or task.read
    return Verdict(status, task.id, task.title, sentences, **rest)


def place_of(entry: Misconception, task: Task) -> str:
    """Where to read about a misconception, unless its chapter is not written or comes later."""
    later = split_read(entry.read)[0][:2] > task.id.partition(".")[0].zfill(2)
    return entry.read if entry.read and is_written(entry.read) and not later else task.read


def given(task: Task, case: Case) -> tuple[Shown, ...]:
    """The arguments of a case, as they are shown."""
    names = [*argument_names(task.reference, task.call, len(case.args)), *case.kwargs]
    pairs = zip(names, (*case.args, *case.kwargs.values()), strict=True)
    return tuple(
        Shown(name, "a function") if callable(value) else shown(name, plain(value))
        for name, value in pairs
    )


def error_words(mistake: Mistake) -> str:
    at = f" at line {mistake.number}, `{mistake.line}`" if mistake.line else ""
    message = f": {mistake.message}" if mistake.message else ""
    return f"{mistake.type}{at}{message}".rstrip(".") + "."


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def kind_words(answer: Any) -> str:
    return kind_of(plain(answer))


def passed(task: Task, count: int) -> Verdict:
    """The verdict on a right answer, which says on how much it was right."""
    if task.is_value:
        return verdict(task, "passed", "The value is right.")
    laws = "".join(f"; {law.name}" for law in task.laws)
    return verdict(task, "passed", f"Right on {count} case{'s' if count > 1 else ''}{laws}.")


def unsteady(task: Task, case: Case) -> Verdict:
    """The verdict on an answer that does not give the same result twice."""
    text = (
        f"Called twice with the same arguments, `{task.name}` gives two different results: "
        "it keeps something from one call to the next, or draws random numbers of its own."
    )
    return verdict(task, "wrong", text, about=case.about)


def early(task: Task, outcome: Outcome) -> Verdict:
    if outcome.status == "too slow":
        text = f"`{task.name}` was stopped after 10 seconds: is there a loop that never ends?"
        return verdict(task, "too slow", text)
    if outcome.status == "not understood":
        case = task.draw()[0]
        given_as = [*argument_names(task.reference, None, len(case.args)), *case.kwargs]
        form = f"{task.name}({', '.join(given_as)})"
        text = f"The check calls `{form}`, which does not fit: {outcome.mistake.message}."
        return verdict(task, "not understood", text)
    if isinstance(outcome.value, Nothing):
        text = f"`{task.name}` returns None: did you forget `return`, or is the body still empty?"
        return verdict(task, "not attempted", text)
    return verdict(task, "not attempted", todo(task))


def todo(task: Task) -> str:
    if task.is_value:
        return f"Replace the `...` after `{task.name} =` by your answer, run that cell, then this."
    return f"Write `{task.name}` in the cell above, run that cell, then this one."


def named(task: Task, fits: list, got: Outcome, blocks: dict) -> Verdict:
    ids = tuple(dict.fromkeys(one for fit in fits for one in fit.wrong.ids))
    entries = [misconceptions()[one] for one in ids]
    lead = ""
    if len({fit.wrong.ids for fit in fits}) > 1:
        lead = "More than one mistake gives exactly these numbers:"
    elif len(ids) > 1:
        count = "Two" if len(ids) == 2 else "Several"
        lead = f"{count} mistakes together give exactly these numbers:"
    elif not fits[0].everywhere:
        lead = "Where your answer is wrong, it is what this mistake gives:"
    said = [f"{name}: {one.name}. {one.sentence}" for name, one in zip(ids, entries, strict=True)]
    if got.status == "raised":
        said.append(error_words(got.mistake))
    changed = changed_words(got.changed) if got.changed else ""
    sentences = [*filter(None, (changed, lead)), *said]
    status = "raised" if got.status == "raised" else "wrong"
    found = {"misconceptions": ids, "read": place_of(entries[0], task)}
    return verdict(task, status, *sentences, **found, **blocks)


def edited(task: Task, case: Case, outcome: Outcome) -> Verdict:
    entry = misconceptions()["M36"]
    said = [changed_words(outcome.changed), f"M36: {entry.name}. {entry.sentence}"]
    read = place_of(entry, task)
    return verdict(task, "wrong", *said, misconceptions=("M36",), about=case.about, read=read)


def changed_words(changed: tuple[str, ...]) -> str:
    named = " and ".join(f"`{name}`" for name in changed)
    return f"Your code changed its argument {named} in place."


def syntax_error(task: Task, error: BaseException, source: str = "") -> Verdict:
    """The verdict on a cell that Python cannot read."""
    number = getattr(error, "lineno", None)
    lines = source.splitlines()
    line = lines[number - 1].strip() if number and number <= len(lines) else ""
    at = f" at line {number}" + (f", `{line}`" if line else "") if number else ""
    said = getattr(error, "msg", None) or str(error)
    text = f"Python cannot read the cell that defines `{task.name}`: {said}{at}."
    return verdict(task, "syntax error", text, "Mend that cell and run it before this one.")


def missing(task: Task, namespace: dict[str, Any]) -> Verdict:
    """The verdict where the name is not defined, with the nearest name that is."""
    known = [name for name in namespace if not name.startswith("_")]
    near = difflib.get_close_matches(task.name, known, 1, 0.75)
    text = f"There is no `{task.name}` yet: run the cell that defines it, then this one."
    if near:
        text += f" There is a `{near[0]}`: is it meant to have this name?"
    return verdict(task, "missing", text)


def cell_stopped(task: Task, error: BaseException) -> Verdict:
    """The verdict where the defining cell stopped before the name was defined anew."""
    text = f"The cell that defines `{task.name}` stopped before it did: {type(error).__name__}"
    return verdict(task, "raised", f"{text}: {error}.", "Mend that cell and run it first.")
