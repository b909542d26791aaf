"""A decision tree that names a fault from what a few experiments find."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lib.debugging.findings import all_findings

Table = Float[np.ndarray, "n features"]


@dataclass(frozen=True)
class Question:
    """A node of the tree: an experiment, a question, the words that mean yes, the next nodes."""

    experiment: str
    asks: str
    words: tuple[str, ...]
    yes: "Question | str"
    no: "Question | str"

    def holds(self, finding: str) -> bool:
        """Answer the question: one of the words stands in what was found."""
        return any(word in finding for word in self.words)


TREE = Question(
    "twice", "Do two calls differ?", ("differ",), "M62",
    Question(
        "future", "Does an earlier row move?", ("an earlier",),
        Question(
            "exact", "Is a token wrong?", ("wrong",),
            Question(
                "weights", "Do the rows sum to 1?", ("the rows sum",),
                Question("exact", "Is token 3 wrong?", ("3",), "M23", "M20"),
                Question("exact", "Is token 3 wrong?", ("3",), "M11", "M21"),
            ),
            Question(
                "heads", "Are the right numbers there, not all at their places?", ("places",),
                "M38",
                Question("ends", "Is a row wrong?", ("rows of", "a row"), "M53", "M37"),
            ),
        ),
        Question(
            "block", "Is the input changed?", ("does not come",),
            Question("gelu", "Is GELU wrong?", ("not the right",), "M50", "M35"),
            Question(
                "ends", "Is a row wrong?", ("rows of", "a row"),
                Question(
                    "ends", "Has every row the mean 0?", ("of mean 0",),
                    Question("ends", "And the variance 1?", ("of 1",), "M58", "M51"), "M56",
                ),
                Question(
                    "gelu", "Is GELU wrong?", ("not the right",), "M54",
                    Question(
                        "exact", "Is a token wrong?", ("wrong",),
                        Question(
                            "exact", "Is token 1 wrong?", ("1",), "M22",
                            Question("exact", "Is token 3 wrong?", ("3",), "M01", "M43"),
                        ),
                        Question(
                            "heads", "Is a number wrong?", ("not",),
                            Question(
                                "heads", "Are the right numbers there, not all at their places?",
                                ("places",), "M40", "M03",
                            ), "M27",
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
    findings, walked, at = all_findings(shown, right), [], TREE
    while isinstance(at, Question):
        answer = at.holds(findings[at.experiment])
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
