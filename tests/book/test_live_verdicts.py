"""Every answer is judged in the page's Python, here under node, as it is in a notebook."""

import json
import re
import subprocess
import sys

import pytest

from book.live.build import build_live
from book.live.others import other_answers
from tests.support.attempts import NAMES, answers
from tests.support.live import ROOT, in_node

VERDICTS = ROOT / "tests" / "support" / "live_verdicts.py"
NEEDS_TORCH = {"12.3", "13.9", "17.2", "17.5"}


def verdicts(share: int) -> tuple[dict, dict]:
    """The verdicts of CPython and of the page, on the same answers."""
    arguments = [str(share), *NAMES]
    here = subprocess.Popen(
        [sys.executable, VERDICTS, ROOT, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    there = json.loads(in_node(build_live(), VERDICTS, "/host", *arguments).splitlines()[-1])
    out, _ = here.communicate()
    assert here.returncode == 0
    return json.loads(out.splitlines()[-1]), there


WORDS = ("is not in this page", "is not here", "is torch's", "Torch's")
# Right with torch's arrays, and something else with NumPy's: torch's `std` divides by n - 1, and
# its `flatten` takes an axis.
FOR_TORCH = {"9.2 right 3", "9.2 right 4", "13.7 right 2"}
# What the page judges otherwise, and why it may.
NO_TORCH = "a notebook says that the answer is wrong on torch's tensors; the page has none"
ROUNDED = "which numbers are equal under == is the processor's rounding"
OTHERWISE = {"10.6 right 1": NO_TORCH, "12.2 right 1": NO_TORCH, "7.6 wrong 4": ROUNDED,
             "7.6 wrong 11": ROUNDED}  # fmt: skip
TINY = re.compile(r"-?\d(\.\d+)?e-(1[6-9]|[2-9]\d)")  # 0, rounded otherwise
# Words of another version of Python, or by a processor of 32 bits.
ADDED = re.compile(
    r", got \d+(?=\))|float (?=division by zero)|(?<=int)(32|64)"
    r"|(?<=min\(\) )(arg is an empty sequence|iterable argument is empty)"
)


def refused(verdicts: dict) -> set[str]:
    """The right answers that do not pass."""
    return {key for key, (status, _) in verdicts.items() if " right " in key and status != "passed"}


def shown_in_numpy() -> set[str]:
    """The right answers that a page shows after a pass and says nothing of torch about."""
    lines = {
        (task, answer.line)
        for name in NAMES
        for task, shown in other_answers(name).items()
        for answer in shown
        if not answer.needs_torch and task not in NEEDS_TORCH
    }
    return {
        f"{task} right {n}"
        for name in NAMES
        for task, right in answers(name).items()
        for n, answer in enumerate(right)
        if (task, getattr(answer, "__doc__", None)) in lines
    }


def compared(key: str, there: dict) -> bool:
    """Whether a page can judge an answer as a notebook does: not without torch."""
    needs_torch = "import torch" in there[key][1] or "'torch'" in there[key][1]
    return key.split()[0] not in NEEDS_TORCH and not needs_torch


def bare(verdict: list[str]) -> list[str]:
    """A verdict without what the interpreter and the processor add."""
    status, html = verdict
    return [status, re.sub(r"\s+", "", ADDED.sub("", TINY.sub("0", html)))]


def compare(here: dict, there: dict) -> None:
    """Hold the page to CPython: the same HTML, and no right answer of NumPy's refused."""
    assert not refused(here)
    in_page = refused(there)
    unnamed = {
        key: there[key][1]
        for key in in_page - FOR_TORCH
        if not any(word in there[key][1] for word in WORDS)
    }
    assert unnamed == {}
    assert in_page & shown_in_numpy() == set()
    passed = {key.split()[0] for key in there.keys() - in_page if " right " in key}
    assert {key.split()[0] for key in here} - passed == NEEDS_TORCH
    same = {key for key in there.keys() - in_page - OTHERWISE.keys() if compared(key, there)}
    differ = [key for key in sorted(same) if bare(here[key]) != bare(there[key])]
    assert not differ, (differ, {key: (here[key][1], there[key][1]) for key in differ[:3]})


def test_answers_are_judged_as_in_a_notebook():
    compare(*verdicts(2))


@pytest.mark.nightly
def test_every_misconception_is_judged_as_in_a_notebook():
    here, there = verdicts(0)
    compare(here, there)
    assert len(there) > 2000
