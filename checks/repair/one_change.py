"""Find the small change that makes an answer right: it says where the slip is.

The changes are tried on the learner's own code, on the smallest failing case first; a change
counts only if the check would then accept the answer, on other draws of the cases too. Where no
change fixes all and no error says where to look, two together are tried, and one that makes a part
of the results right on every case is told.
"""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from checks.differences.entries import listed
from checks.repair.accidental_fixes import (
    GUESSED,
    are_differences,
    binds_side_by_side,
    is_last_resort,
    is_of_sign,
    needs_the_whole,
    sign_rank,
)
from checks.repair.edits import Edit
from checks.repair.rewriting import Definition
from checks.repair.search import ALL, NO_EFFECT, RIGHT, Search
from checks.status import Status

MOST_BRIEF = 500  # changes, where the mistake has a name, which says more
MOST_OF_TWO = 80  # changes, of which two are tried together
LONGEST = 70  # letters of a line
Repair = tuple[str, tuple[Edit, ...]]  # what becomes right, and by which changes


class Changes(NamedTuple):
    """What is told of small changes, and the lines in which they stand."""

    sentences: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()


def one_change(search: Search | None, brief: bool = False) -> Changes:
    """Sentences on the change that makes the answer, or a part of it, right; or none.

    In brief, only on one change that makes all of it right.
    """
    if search is None:
        return Changes()
    search = replace(search, most=MOST_BRIEF) if brief else search
    repairs = _repairs(search, brief)
    if brief or any(seen.outcome.status == Status.RAISED for seen in search.compared):
        # An error says where it is, and what only takes it away makes a part right by accident.
        repairs = [repair for repair in repairs if repair[0] == ALL]
    elif not repairs:
        repairs = _repairs_of_two(search)
    lines = {line for _, edits in repairs for edit in edits for line in edit.lines}
    words = _words(search.definition, repairs, len(search.compared))
    return Changes(tuple(words), frozenset(lines))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let nothing be printed by the changed answers."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _repairs(search: Search, named: bool) -> list[Repair]:
    """The change that makes the answer right, or else the first for each part of it."""
    before, statements = search.right_parts(), search.definition.statements
    partly: dict[str, Edit] = {}
    doubtful = None
    for edit in search.changes():
        with edit.made():
            right = search.right_parts()
        if ALL in right:
            if _is_lucky(search, edit) or (named and _says_another(search, edit)):
                continue
            if not is_last_resort(edit, statements):
                as_good = itertools.islice(_as_good(search, edit, named), 1)
                return [(ALL, (same,)) for same in (edit, *as_good)]
            doubtful = doubtful or edit
        new = (right - before - {ALL} - partly.keys()) if right >= before else frozenset()
        if new and not (named or needs_the_whole(edit, statements) or _spoils(search, edit)):
            partly |= dict.fromkeys(new, edit)
    if doubtful:
        return [(ALL, (doubtful,))]
    return [(part, (edit,)) for part, edit in sorted(partly.items())]


def _as_good(search: Search, edit: Edit, named: bool = False) -> Iterator[Edit]:
    """The changes in other lines that do the same, so that nothing tells them apart.

    A sign is turned wherever it passes by, and a number that stands twice may be wrong there twice.
    Beside a name, only two differences in one line are told both.
    """
    for other in search.changes():
        alike = other.question == edit.question or (is_of_sign(other) and is_of_sign(edit))
        apart = are_differences(other, edit) if other.lines == edit.lines else not named
        if alike and apart and search.is_right_with(other):
            yield other


def _spoils(search: Search, edit: Edit) -> bool:
    """Whether a change that makes a part right leaves more numbers of another wrong than before."""
    before = search.wrong_entries()
    with edit.made():
        after = search.wrong_entries()
    return any(after[part] > before[part] for part in after)


def _is_lucky(search: Search, edit: Edit) -> bool:
    """Whether another guess at the same place does as well, so that none is what was forgotten."""
    if edit.kind not in GUESSED:
        return False
    asked, own = (edit.lines, edit.question), edit.text
    others = (other for other in search.changes() if (other.lines, other.question) == asked)
    return any(search.is_right_with(other) for other in others if other.text != own)


def _says_another(search: Search, edit: Edit) -> bool:
    """Whether a change is none that a mistake with a name is made by.

    Any number near the largest may stand for it, a factor (a mask, for example) may undo what the
    name tells, a value has no other cases to be tried on, a sum makes a new array where the
    mistake is that an argument was changed, and names that are bound side by side to other values
    stand for the wrong things.
    """
    if is_of_sign(edit) and any(
        sign_rank(other) > sign_rank(edit) for other in _as_good(search, edit)
    ):
        return True  # the sign that a name speaks of is that of the last difference
    changed = any(seen.outcome.changed for seen in search.compared)
    misnamed = any(".shape" in ast.unparse(put[0]) for put in edit.puts)  # from there on
    if binds_side_by_side(edit) or (edit.kind == "other_names" and (changed or misnamed)):
        return True
    if edit.kind == "missing_parts" and _stands_elsewhere(search, edit):
        return True
    own_size = edit.kind == "numbers_by_name" or (edit.kind == "shortened" and search.probes)
    swapped_maximum = edit.kind == "functions" and "`max`" in edit.question
    other = own_size or swapped_maximum or "multiplied or divided" in edit.question
    return other or (search.task.is_value and len(edit.puts) > 1)


def _stands_elsewhere(search: Search, edit: Edit) -> bool:
    """Whether a part may as well be added to another variable, so that none is where it belongs."""
    others = (other for other in search.changes() if other.kind == edit.kind)
    assigned = (other for other in others if isinstance(other.puts[0][0], ast.Assign))
    return any(search.is_right_with(other) for other in assigned if other.lines != edit.lines)


def _repairs_of_two(search: Search) -> list[Repair]:
    """The first two changes that make the answer right together."""
    changes = (edit for edit in search.changes() if edit.kind != "missing_factors")
    edits = [*itertools.islice(changes, MOST_OF_TWO)]  # a factor undoes what another change does
    effects = [search.effect(edit) for edit in edits]
    pairs = itertools.combinations(zip(edits, effects, strict=True), 2)
    for (first, effect), (second, other) in pairs:
        if (first.kind == "operators") != (second.kind == "operators"):
            continue  # a minus may cancel what is too much elsewhere
        if NO_EFFECT in (effect, other) and RIGHT not in (effect, other):
            continue  # together they give what one of them gives alone, and that is wrong
        if search.is_over():
            return []
        with first.made(), second.made():
            if ALL in search.right_parts():
                return [(ALL, (first, second))]
    return []


def _words(definition: Definition, repairs: Sequence[Repair], count: int) -> Iterator[str]:
    """Where the changes stand, and the questions that lead to them.

    Where two changes do the same, each by itself, the second is told as the other one.
    """
    other = [repair for repair in repairs if repair[0] == ALL][1:]
    repairs = [repair for repair in repairs if repair not in other]
    cases = {1: "", 2: " in both cases"}.get(count, f" in all {count} cases")
    for _, same in itertools.groupby(sorted(repairs, key=_asked), _asked):
        parts, (edits, *_) = zip(*same, strict=True)
        whole = listed([part if part == ALL else f"`{part}`" for part in parts])
        lines = dict.fromkeys(line for edit in edits for line in edit.lines)
        places = [place_words(definition, line) for line in lines]
        changes = "One small change" if len(edits) == 1 else "Two small changes"
        verb = "makes" if len(edits) == 1 else "make"
        change = f"{changes} in {' and in '.join(places)}, {verb} {whole} right{cases}."
        questions = dict.fromkeys(edit.question for edit in edits)
        yield " ".join([change, "Look there:", *questions])
    for _, (edit, *_) in other:
        places = " and in ".join(place_words(definition, line) for line in edit.lines)
        yield f"Another one in its place, in {places}, does so too: {edit.question}"


def _asked(repair: Repair) -> list[tuple[tuple[int, ...], str]]:
    """Where a repair leads, and by which questions."""
    return [(edit.lines, edit.question) for edit in repair[1]]


def place_words(definition: Definition, line: int) -> str:
    text = definition.line(line)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
    return f"line {line}, `{text}`"
