"""A decision tree that names a fault from the results of a few experiments."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Table = Float[np.ndarray, "n features"]

VISIBLE = 1e-6
"""Numbers that differ by less than this count as equal."""


@dataclass(frozen=True)
class Question:
    """One node of the tree: an experiment, a question about its result, and the next nodes."""

    experiment: str
    asks: str
    holds: Callable[[Table, Table], bool]
    yes: "Question | str"
    no: "Question | str"


def _differs(shown: Table, right: Table) -> bool:
    return bool(np.abs(shown - right).max() > VISIBLE)


def _same(shown: Table, right: Table) -> bool:
    return not _differs(shown, right)


def _sorted(table: Table) -> Table:
    return np.sort(table, axis=None).reshape(table.shape)


def _rows_sum_to(total: float) -> Callable[[Table, Table], bool]:
    return lambda shown, _: bool(np.abs(shown[:, :4].sum(-1) - total).max() < 1e-5)


def _columns_sum_to(total: float) -> Callable[[Table, Table], bool]:
    return lambda shown, _: bool(np.abs(shown[:, :4].sum(0) - total).max() < 1e-5)


def _squares(shown: Table, right: Table) -> bool:
    squares = right[:, :4] ** 2
    return _same(shown[:, :4], squares / squares.sum(-1, keepdims=True))


TREE = Question(
    "twice", "Do two calls differ?", _differs, "M62",
    Question(
        "future", "Does changing the last token move an earlier row?",
        lambda shown, _: bool(shown[:3, 0].max() > VISIBLE),
        Question(
            "weights", "Are the weights of one head wrong?", _differs,
            Question(
                "weights", "Do the columns sum to 1?", _columns_sum_to(1.0), "M11",
                Question(
                    "weights", "Is everything below the diagonal 0?",
                    lambda shown, _: bool(np.abs(np.tril(shown[:, :4], -1)).max() < VISIBLE),
                    "M23",
                    Question("weights", "Do the rows sum to 1?", _rows_sum_to(1.0), "M20", "M21"),
                ),
            ),
            Question(
                "ends", "Is it wrong without any block?", _differs, "M53",
                Question(
                    "heads", "Are the right numbers there, at the wrong positions?",
                    lambda shown, right: _same(_sorted(shown), _sorted(right)),
                    "M38", "M37",
                ),
            ),
        ),
        Question(
            "block", "Does a silent block change its input?", _differs,
            Question(
                "block", "Is the output a multiple of the input?",
                lambda shown, right: _same(shown * right[0, 0], right * shown[0, 0]), "M35", "M50",
            ),
            Question(
                "ends", "Is it wrong without any block?", _differs,
                Question(
                    "ends", "Is each row the right one of the next row?",
                    lambda shown, right: _same(shown[:-1], right[1:]), "M58",
                    Question("ends", "Do the rows sum to 0?", _rows_sum_to(0.0), "M51", "M56"),
                ),
                Question(
                    "gelu", "Is GELU off?", _differs, "M54",
                    Question(
                        "weights", "Are the weights of one head wrong?", _differs,
                        Question(
                            "weights", "Is the diagonal 0?",
                            lambda shown, _: bool(np.abs(np.diag(shown)).max() < VISIBLE), "M22",
                            Question("weights", "Are they the squares of the right ones, "
                                     "normalised again?", _squares, "M01", "M43"),
                        ),
                        Question(
                            "heads", "Are two heads right?", _same, "M27",
                            Question(
                                "heads", "Is each row the right one, reversed?",
                                lambda shown, right: _same(shown[:, ::-1], right), "M40", "M03",
                            ),
                        ),
                    ),
                ),
            ),
        ),
    ),
)  # fmt: skip
"""The questions that lead to each of the twenty faults, from outputs alone."""


def diagnose(
    shown: Mapping[str, Table], right: Mapping[str, Table]
) -> tuple[list[tuple[Question, bool]], str]:
    """Walk the tree: return the questions with their answers, and the key of the fault.

    Source: the tree that chapter 17 prints.
    Taught in: chapter 17.
    """
    walked, at = [], TREE
    while isinstance(at, Question):
        answer = at.holds(shown[at.experiment], right[at.experiment])
        walked.append((at, answer))
        at = at.yes if answer else at.no
    return walked, at


def written(names: Mapping[str, str], experiments: Mapping[str, str]) -> Iterator[str]:
    """Format the tree as numbered questions; each answer gives a fault or the next number.

    Source: dichotomous identification keys in botany.
    Taught in: chapter 17.
    """
    questions = list(_questions(TREE))
    for number, question in enumerate(questions, start=1):
        yield f"{number:2} {experiments[question.experiment]}: {question.asks}"
        for answer, branch in (("yes", question.yes), ("no", question.no)):
            fault = isinstance(branch, str)
            target = names[branch] if fault else f"go to {questions.index(branch) + 1}"
            yield f"     {answer + ':':4} {target}"


def _questions(tree: Question | str) -> Iterator[Question]:
    """Yield every question of a tree, in depth-first order."""
    if isinstance(tree, Question):
        yield tree
        yield from _questions(tree.yes)
        yield from _questions(tree.no)
