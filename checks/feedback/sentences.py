"""The sentences of a verdict: a function for each thing to tell a learner about an answer."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from checks.differences.describe import capital
from checks.differences.entries import listed
from checks.feedback.blocks import Shown, value_block
from checks.feedback.fitting import Fit, lead_words
from checks.feedback.misconceptions import Misconception, misconceptions
from checks.feedback.verdict import Verdict, place_of
from checks.run import call
from checks.run.call import Outcome, argument_names
from checks.run.compare import TOLERANCE, compare
from checks.run.errors import Mistake
from checks.run.nodes import Node, Nothing
from checks.run.plain_data import plain
from checks.status import Status
from checks.task import Case, Law, Task

AGAIN = "Then check again; in a notebook, run its cell first."
CHANGED_ARGUMENT = "M36"
DIFFER = (
    "The two libraries have functions of one name that differ: `var` and `std`, for example, "
    "divide by n in NumPy and by n - 1 in torch."
)
NOT_IN_NUMPY = (
    f"Right in torch, not in NumPy, whose arrays the check gives it. {DIFFER} "
    "Write it for NumPy, or name torch in your code."
)
SENT_TO_READ = {Status.WRONG, Status.RAISED, Status.NOT_UNDERSTOOD, Status.TOO_SLOW}


def broken_law_words(task: Task, law: Law, case: Case, reply: bool | str) -> Verdict:
    """The verdict on an answer that breaks a law."""
    sentences = [law_words(law, reply)]
    blocks: dict[str, Any] = {}
    if not law.own_numbers:
        blocks.update(about=case.about, given=argument_blocks(task, case))
    if law.misconception:
        entry = misconceptions()[law.misconception]
        sentences.append(_misconception_words(entry))
        blocks.update(misconceptions=(law.misconception,), read=place_of(entry, task))
    return make_verdict(task, Status.WRONG, *sentences, **blocks)


def law_words(law: Law, reply: bool | str, other_case: str = "") -> str:
    """A sentence on a law that an answer breaks, perhaps on another case than the one shown."""
    seen = f" (on another case: {other_case})" * bool(other_case)
    broken = f"A right answer has this property, and yours does not{seen}: {law.name}"
    return f"{broken}. With yours, {reply}." if isinstance(reply, str) else f"{broken}."


def law_not_seen(task: Task, law: Law, case: Case, mistake: Mistake, *more: str) -> Verdict:
    """The verdict where a law was asked, and the answer stopped with an error."""
    text = f"To see whether {law.name}, the check called `{task.name}` again, and it stopped:"
    blocks: dict[str, Any] = {}
    if not law.own_numbers:
        blocks.update(about=case.about, given=argument_blocks(task, case))
    return make_verdict(task, Status.RAISED, text, error_words(mistake), *more, **blocks)


def make_verdict(task: Task, status: Status, *sentences: str, **rest: Any) -> Verdict:
    """A verdict on a task; what is wrong is always met with a place to read."""
    if status in SENT_TO_READ:
        rest["read"] = rest.get("read") or task.read
    return Verdict(status, task.id, task.title, sentences, **rest)


def argument_blocks(task: Task, case: Case) -> tuple[Shown, ...]:
    """The arguments of a case, as they are shown; a measure has only a count and a seed."""
    if task.measure:
        return ()
    names = [*argument_names(task.reference, task.call, len(case.args)), *case.kwargs]
    pairs = zip(names, (*case.args, *case.kwargs.values()), strict=True)
    return tuple(
        Shown(name, "a function") if callable(value) else value_block(name, plain(value))
        for name, value in pairs
    )


def error_words(mistake: Mistake) -> str:
    """The error, the line of the learner's code that raised it, and its message."""
    at = f" at line {mistake.number}, `{mistake.line}`" if mistake.line else ""
    message = f": {mistake.message}" if mistake.message else ""
    return f"{mistake.type}{at}{message}".rstrip(".") + "."


def passed(task: Task, count: int, *notes: str) -> Verdict:
    """The verdict on a right answer, which says on how much it was right, and what was not seen."""
    if task.is_value:
        return make_verdict(task, Status.PASSED, "The value is right.")
    laws = "".join(f"; {law.name}" for law in task.laws)
    cases = f"{count} case{'s' if count > 1 else ''}"
    count_words = "" if task.measure and any(notes) else f"Right on {cases}{laws}."
    return make_verdict(task, Status.PASSED, *filter(None, (count_words, *notes)))


def unsteady(task: Task, case: Case) -> Verdict:
    """The verdict on an answer that does not give the same result twice."""
    text = (
        f"Called twice with the same arguments, `{task.name}` gives two different results: "
        "it keeps something from one call to the next, samples random numbers of its own, or "
        "returns memory that was never set, as that of `np.empty`."
    )
    return make_verdict(task, Status.WRONG, text, about=case.about)


def kept_result(task: Task, case: Case) -> Verdict:
    """The verdict on an answer that gives the result of an earlier call once more."""
    text = (
        f"Called with other numbers of the same shapes, `{task.name}` gives the result of an "
        "earlier call. Does it keep results, or are they written in? Compute each from its "
        "arguments."
    )
    return make_verdict(task, Status.WRONG, text, about=case.about)


def not_in_torch(expected: Node, got: Node, tolerance: float | None) -> str:
    """A note on an answer that is right on NumPy's arrays, and wrong on torch's."""
    difference = compare(expected, got, tolerance)
    return f"Right in NumPy, not in torch: on tensors {difference.sentence}. {DIFFER}"


def low_precision(dtype: str) -> str:
    """A note on numbers that are compared with little precision."""
    return (
        f"Your numbers are {dtype}, which are compared only within {TOLERANCE[dtype]:.0%}: "
        "a small mistake is not seen. Keep the precision of the arguments."
    )


def too_coarse(task: Task, dtype: str, ids: Sequence[str]) -> Verdict:
    """The verdict on numbers of low precision, which a mistake of this task could give as well."""
    named = " and ".join(misconceptions()[number].name for number in ids)
    text = (
        f"Your numbers are {dtype}. In so few digits the right result cannot be told from a "
        f"mistake: {named}. Keep the precision of the arguments."
    )
    return make_verdict(task, Status.WRONG, text)


def ended_early(task: Task, outcome: Outcome) -> Verdict:
    """The verdict on an answer that gave no result to compare."""
    if outcome.status == Status.TOO_SLOW:
        text = (
            f"`{task.name}` was stopped after {call.seconds_for(task):g} seconds: is there a loop "
            "that never ends, or an array or a batch that is much larger than the task needs?"
        )
        return make_verdict(task, Status.TOO_SLOW, text)
    if outcome.status == Status.NOT_UNDERSTOOD:
        case = task.draw()[0]
        parameters = [*argument_names(task.reference, None, len(case.args)), *case.kwargs]
        form = f"{task.name}({', '.join(parameters)})"
        text = f"The check calls `{form}`, which does not fit: {outcome.mistake.message}."
        return make_verdict(task, Status.NOT_UNDERSTOOD, text)
    if isinstance(outcome.value, Nothing):
        text = f"`{task.name}` returns None: did you forget `return`, or is the body still empty?"
        return make_verdict(task, Status.NOT_ATTEMPTED, text)
    return make_verdict(task, Status.NOT_ATTEMPTED, todo(task))


def todo(task: Task) -> str:
    """What to do where nothing was written yet."""
    if task.is_value:
        return f"Replace the `...` after `{task.name} =` with your answer. {AGAIN}"
    return f"Write `{task.name}` above. {AGAIN}"


def named_misconceptions(
    task: Task, fits: Sequence[Fit], got: Outcome, blocks: dict[str, Any], entries: str = ""
) -> Verdict:
    """The verdict on an answer whose mistakes are known, or all but some of its entries."""
    ids = tuple(dict.fromkeys(number for fit in fits for number in fit.wrong.ids))
    named = [misconceptions()[number] for number in ids]
    sentences = [changed_words(got.changed), lead_words(task, fits, len(ids))]
    sentences += [*map(_misconception_words, named), entries]
    status = Status.WRONG
    if got.status == Status.RAISED:
        status = Status.RAISED
        sentences.append(error_words(got.mistake))
    about = {"misconceptions": ids, "read": place_of(named[0], task)}
    return make_verdict(task, status, *filter(None, sentences), **about, **blocks)


def _misconception_words(entry: Misconception) -> str:
    symbol = re.match(r"[b-z]\b|\w+_", entry.name)  # a name in formulas, such as d_ff, stays
    return f"{entry.name if symbol else capital(entry.name)}. {entry.sentence}"


def argument_changed(task: Task, case: Case, outcome: Outcome) -> Verdict:
    """The verdict on a right result, for which an argument was changed."""
    entry = misconceptions()[CHANGED_ARGUMENT]
    return make_verdict(
        task, Status.WRONG, changed_words(outcome.changed),
        _misconception_words(entry),
        misconceptions=(CHANGED_ARGUMENT,), about=case.about, read=place_of(entry, task),
    )  # fmt: skip


def changed_words(changed: tuple[str, ...]) -> str:
    """Name the arguments that were changed, if there are any."""
    what = "argument" if len(changed) == 1 else "arguments"
    named = listed([f"`{name}`" for name in changed]) if changed else ""
    return f"Your code changed its {what} {named} in place." if changed else ""


def syntax_error(task: Task, error: BaseException, source: str = "") -> Verdict:
    """The verdict on a cell that Python cannot read."""
    number = getattr(error, "lineno", None)
    lines = source.splitlines()
    line = lines[number - 1].strip() if number and number <= len(lines) else ""
    at = f" at line {number}" + (f", `{line}`" if line else "") if number else ""
    reason = getattr(error, "msg", None) or str(error)
    text = f"Python cannot read the cell that defines `{task.name}`: {reason}{at}."
    fix = f"Fix it. {AGAIN}"
    return make_verdict(task, Status.SYNTAX_ERROR, text, fix)


def missing(task: Task, namespace: dict[str, Any]) -> Verdict:
    """The verdict where the name is not defined, with the nearest name that is."""
    known = [name for name in namespace if not name.startswith("_")]
    near = difflib.get_close_matches(task.name, known, 1, 0.75)
    text = f"There is no `{task.name}` yet. {AGAIN}"
    if near:
        text += f" There is a `{near[0]}`: is it meant to have this name?"
    return make_verdict(task, Status.MISSING, text)


def cell_stopped(task: Task, error: BaseException) -> Verdict:
    """The verdict where the defining cell stopped before the name was defined."""
    text = f"The cell that defines `{task.name}` stopped before it did: {type(error).__name__}"
    return make_verdict(task, Status.RAISED, f"{text}: {error}.", "Fix that cell and run it first.")
