"""Which entries of an answer are right, told without their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from checks.run.compare import agree, compare
from checks.run.nodes import Items, Mapping, Node, Numbers, Text
from checks.run.parts import compared_parts, several_in_one, wrong_parts
from checks.run.trial import Compared
from checks.task import Task

LARGE = 100  # a whole number that is a multiple of another by no accident


def about_entries(expected: Node, got: Node, tolerance: float | None) -> str:
    """A sentence on the entries of a dictionary, or of a row, that are right and wrong."""
    if isinstance(expected, Items) and expected.kind == "set":
        return _about_set(expected, got)
    if not isinstance(expected, Mapping) or not isinstance(got, Mapping):
        return ""
    small = _in_small_letters(expected, got)
    if small != got:
        rest = about_entries(expected, small, tolerance) or "Apart from this, all are right."
        return f"Capital letters count as different ones: write small letters. {rest}"
    pairs = [(key, own, got.entries[key]) for key, own in expected.entries.items()
             if key in got.entries]  # fmt: skip
    right = [repr(key) for key, own, came in pairs if compare(own, came, tolerance) is None]
    wrong = [
        f"{key!r}{_how(own, came, tolerance)}" for key, own, came in pairs if repr(key) not in right
    ]
    if not wrong:
        return ""
    good = f"{listed(right)} {'is' if len(right) == 1 else 'are'} right" if right else ""
    bad = f"{listed(wrong)} {'is' if len(wrong) == 1 else 'are'} not"
    return f"{good}; {bad}." if good else "None of the entries is right yet."


def about_parts(task: Task, failing: Sequence[Compared]) -> str:
    """A sentence on the parts of a result that are wrong on some failing case, if others are not.

    A value, which the learner should find, is not told part by part; a measure names its own.
    """
    seen = [compared_parts(each.truth.value, each.outcome.value, counts=True) for each in failing]
    names = [[name for name, _, _ in parts] for parts in seen]
    if task.is_value or task.measure or not names[0] or any(other != names[0] for other in names):
        return ""
    wrong = set.union(*(wrong_parts(parts, task.tolerance) for parts in seen))
    if not wrong or len(wrong) == len(names[0]):
        return ""
    which = listed([f"`{name}`" for name in names[0] if name in wrong])
    are = "is" if len(wrong) == 1 else "are"
    cases = "" if len(failing) == 1 else ", over all cases,"
    return f"Of your results{cases} {which} {are} wrong, the rest is right."


def about_others(task: Task, expected: Node, got: Node) -> str:
    """A sentence on the results that are wrong beside the first one that is."""
    wrong = wrong_parts(compared_parts(expected, got), task.tolerance)
    names = getattr(expected, "item_names", ()) if isinstance(expected, Items) else ()
    others = [f"`{name}`" for name in names if name in wrong][1:]
    if task.is_value or not others:
        return ""
    are = "is" if len(others) == 1 else "are"
    return f"{listed(others)} {are} wrong too: begin with the one that you compute first."


def _about_set(expected: Items, got: Node) -> str:
    """How many words of a set do not belong, and which, if it is a single one."""
    if not isinstance(got, Items) or not all(isinstance(item, Text) for item in got.items):
        return ""
    if joined := about_joined(expected, got):
        return joined
    wanted, came = _words_of(expected), _words_of(got)
    extra, missing, shared = came - wanted, wanted - came, came & wanted
    which = repr(*extra) if len(extra) == 1 and len(shared) > 1 else f"{len(extra)} of your words"
    words = [
        f"{which} {'does' if len(extra) == 1 else 'do'} not belong" if extra else "",
        f"{len(missing)} {'is' if len(missing) == 1 else 'are'} missing" if missing else "",
    ]
    return f"{' and '.join(filter(None, words))}." if shared else ""


def _words_of(node: Items) -> set[str]:
    return {item.text for item in node.items if isinstance(item, Text)}


def about_joined(expected: Node, got: Node) -> str:
    """A sentence on several words of a set that were written as a single text."""
    if any(not isinstance(node, Items) or node.kind != "set" for node in (expected, got)):
        return ""
    several = several_in_one(_words_of(expected), _words_of(got))
    return f"{several!r} holds several words: write each as a text of its own." if several else ""


def _in_small_letters(expected: Mapping, got: Mapping) -> Mapping:
    """The answer in small letters, if all that is expected is in small letters."""
    texts = [entry for entry in expected.entries.values() if isinstance(entry, Text)]
    if len(texts) < len(expected.entries) or any(not node.text.islower() for node in texts):
        return got
    return Mapping(
        {
            key: Text(node.text.lower()) if isinstance(node, Text) else node
            for key, node in got.entries.items()
        }
    )


def _how(expected: Node, got: Node, tolerance: float | None) -> str:
    """What can be told of one wrong entry."""
    if isinstance(expected, Text) and isinstance(got, Text):
        return _letters(expected.text, got.text)
    wanted, came = expected.as_numbers(), got.as_numbers()
    if wanted is None or came is None or len(wanted.shape) != 1 or wanted.shape != came.shape:
        return ""
    wrong = np.flatnonzero(~agree(wanted, came, tolerance)).tolist()
    return f" (at [{', '.join(map(str, wrong))}])" if len(wrong) < wanted.shape[0] else ""


def _letters(expected: str, got: str) -> str:
    """For texts that list letters, whether some are missing or too many."""
    wanted, came = set(expected), set(got)
    if not (expected + got).isalpha() or len(expected + got) > len(wanted) + len(came):
        return ""
    if max(len(wanted), len(came)) > 1:
        if came < wanted:
            return " (too few letters)"
        if wanted < came:
            return " (too many letters)"
    return ""


def listed(words: Sequence[str]) -> str:
    """Words with commas, and the last with `and`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def about_size(expected: Node, got: Node) -> str:
    """Whether one number is too large or too small, and by a whole factor."""
    wanted, came = expected.as_numbers(), got.as_numbers()
    if wanted is None or came is None or wanted.shape or came.shape:
        return ""
    return next(_sizes(wanted, came), "")


def _sizes(expected: Numbers, got: Numbers) -> Iterator[str]:
    wanted, came = expected.values[()], got.values[()]
    if expected.kind == got.kind == "int" and min(wanted, came) > LARGE:
        if came % wanted == 0:
            yield "Your number is a whole multiple of the right one: is there a factor too many?"
        if wanted % came == 0:
            yield "The right number is a whole multiple of yours: is a factor missing?"
    if {expected.kind, got.kind} <= {"int", "float"} and np.isfinite(came):
        yield f"Your number is too {'large' if came > wanted else 'small'}."
