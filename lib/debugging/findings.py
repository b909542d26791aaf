"""What an experiment shows of a model, in words that fit several faults.

A finding is a property that you could look for in any model, without a table of its broken kinds.
"""

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float

Table = Float[np.ndarray, "n features"]

VISIBLE = 1e-6
"""Numbers that differ by less than this count as equal."""


def differs(shown: Table, right: Table) -> bool:
    """Say whether any number of two tables differs visibly.

    Source: this course.
    Taught in: chapter 17.
    """
    return bool(np.abs(shown - right).max() > VISIBLE)


def _choice(same: str, other: str) -> Callable[[Table, Table], str]:
    return lambda shown, right: other if differs(shown, right) else same


def _wrong_tokens(shown: Table, right: Table) -> str:
    wrong = np.flatnonzero(np.abs(shown - right).max(-1) > VISIBLE) + 1
    if not wrong.size:
        return "every token is right"
    return f"wrong: token{'s' * (wrong.size > 1)} {', '.join(map(str, wrong))}"


def _weights(shown: Table, right: Table) -> str:
    if not differs(shown, right):
        return "the weights are right"
    whole = np.abs(shown[:, 4] - 1).max() < VISIBLE
    sums = "the rows sum to 1" if whole else "a row does not sum to 1"
    ahead = np.abs(np.triu(shown[:, :4], 1)).max() > VISIBLE
    return f"wrong weights: {sums}, and {'not all' if ahead else 'all'} weights on the future are 0"


def _moved(shown: Table, right: Table) -> str:
    return "an earlier row moves" if shown[:3, 0].max() > VISIBLE else "no earlier row moves"


def _past(shown: Table, right: Table) -> str:
    return "token 3 or 4 moves" if shown[2:].max() > VISIBLE else "tokens 3 and 4 do not move"


def _heads(shown: Table, right: Table) -> str:
    if not differs(shown, right):
        return "every number is right"
    first, second = (np.sort(table.ravel())[None] for table in (shown, right))
    same_numbers = not differs(first, second)
    return "the right numbers, not all at their places" if same_numbers else "not the right numbers"


def _ends(shown: Table, right: Table) -> str:
    if not differs(shown, right):
        return "every row is right"
    if np.abs(shown.mean(-1)).max() > VISIBLE:
        return "a row has a mean that is not 0"
    # The norm's epsilon makes the variance a little less than 1.
    unit = np.abs(shown.var(-1) - 1).max() < 1e-4
    return f"wrong rows of mean 0, with a variance {'of 1' if unit else 'that is not 1'}"


FINDINGS: Mapping[str, Callable[[Table, Table], str]] = {
    "exact": _wrong_tokens,
    "weights": _weights,
    "heads": _heads,
    "future": _moved,
    "swap": _past,
    "batch": _choice("nothing moves", "something moves"),
    "twice": _choice("two calls agree", "two calls differ"),
    "block": _choice("the input comes back", "the input does not come back"),
    "ends": _ends,
    "gelu": _choice("every number is right", "not the right numbers"),
    "whole": _choice("every number is right", "not the right numbers"),
}
"""For each experiment, what is found from the result of a suspect and that of a right model."""


def all_findings(shown: Mapping[str, Table], right: Mapping[str, Table]) -> dict[str, str]:
    """Return what each experiment finds about a suspect.

    Source: this course.
    Taught in: chapter 17.
    """
    return {key: find(shown[key], right[key]) for key, find in FINDINGS.items()}
