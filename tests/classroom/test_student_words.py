"""What a student reads holds no hidden number, and says what to do next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classroom.feedback_pages import feedback_page
from classroom.grading.grades import SubmissionGrade
from classroom.grading.student_words import ELSEWHERE, own_lines
from classroom.grading.submission_grader import GradingPlan, grade_submission
from classroom.provided import exercise_named
from classroom.submissions import Submission, read_submission
from tests.classroom.attacks import FIRST, MIX, RIGHT, WRONG
from tests.classroom.test_attacks import LIMITS, notebook

PLAN = GradingPlan(
    "07_self_attention", b"a secret of the tests alone", ("7.1", "7.2", "7.3", "7.4"), LIMITS
)
EXERCISE = exercise_named(PLAN.exercise)
SPY = """
seen = []
def attention(q, k, v):
    seen.append((q, k, v))
    {then}
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v
"""
AS_TEXT = "raise {kind}(' '.join(f'{{x:.4f}}' for a in seen[-1] for x in a.ravel()))"
LATER = "if len(seen) > 15: "  # when the shown cases are over


def graded(*cells: str, plan: GradingPlan = PLAN) -> SubmissionGrade:
    return grade_submission(Submission("anna", "anna.ipynb", sources=(FIRST, MIX, *cells)), plan)


def page_of(result: SubmissionGrade) -> str:
    return feedback_page(result, EXERCISE, "")


RAISED = AS_TEXT.format(kind="ValueError")
ANSWERS = {
    "a small slip": RIGHT.replace("@ v", "@ v + 1e-3"),
    "raised later": SPY.format(then=LATER + RAISED),
    "its own error": SPY.format(then=LATER + "raise type(f'E{q[0, 0]}', (Exception,), {})()"),
    "no scaling": WRONG,
    "raised": SPY.format(then=RAISED),
    "returned later": SPY.format(then=LATER + "return seen[-1][0]"),
}


@pytest.mark.parametrize(
    "answer",
    [name if n < 2 else pytest.param(name, marks=pytest.mark.nightly)
     for n, name in enumerate(ANSWERS)],
)  # fmt: skip
def test_a_student_reads_the_same_whatever_the_hidden_numbers_are(answer):
    pages = set()
    for secret in (b"a secret of the tests alone", b"another secret of the tests"):
        plan = replace(PLAN, secret=secret, tasks=("7.2",))
        result = graded(ANSWERS[answer], plan=plan)
        grade = result.grades[0]
        assert grade.status != "passed"
        assert (grade.sentences[0] == ELSEWHERE) == ("later" in answer or "own" in answer)
        pages.add((page_of(result).replace(plan.fingerprint, ""), result.summary))
    assert len(pages) == 1


@pytest.fixture(scope="module")
def result():
    """Right, wrong, one that Python cannot read, one as it was handed out, and one not there."""
    cut = "def self_attention(x, w_q, w_k, w_v):\n    return (x @ w_q\n"
    untouched = "def add_change(x, weights, values, w_o):\n    raise NotImplementedError\n"
    return graded(WRONG, cut, untouched)


def test_the_page_shows_a_visible_case_the_own_lines_and_the_task_to_check(result):
    page = page_of(result)
    assert "No scaling" in page
    assert "weights = np.exp(q @ k.T)" in page
    assert "<code>check(&#34;7.2&#34;)</code>" in page or '<code>check("7.2")</code>' in page
    assert "expected  shape (3, 3)" in page


def test_passed_tasks_are_folded(result):
    page = page_of(result)
    assert "<summary>Passed: 7.1</summary>" in page
    assert page.index("7.2 Attention, whole") < page.index("<summary>Passed")


def test_a_line_that_python_cannot_read_is_shown(result):
    assert "SyntaxError" in result.summary
    assert "(line 2, `return (x @ w_q`)" in result.summary


def test_what_is_not_attempted_is_not_sent_to_a_cell_above(result):
    assert result.grades[3].sentences == ("`add_change` is as it was handed out.",)


def test_a_notebook_that_is_cut_off_is_to_be_saved_and_uploaded_again(tmp_path):
    (tmp_path / "carl.ipynb").write_text(notebook(FIRST, RIGHT)[:-9], "utf8")
    assert (
        "Save the notebook and upload it again" in read_submission([tmp_path / "carl.ipynb"]).reason
    )


def test_own_lines_are_those_of_the_last_definition_up_to_the_margin():
    cells = [
        "def f(x):\n    return 0",
        "import math\n\ndef f(x):\n    y = 1\n\n    return y\n\nf(1)",
    ]
    assert own_lines(cells, "f") == "  3  def f(x):\n  4      y = 1\n  5  \n  6      return y"
    assert own_lines(cells, "g") == ""
    assert own_lines(["f = 3\n"], "f") == "  1  f = 3"
    assert own_lines(["def f():\n" + "    x = 1\n" * 99], "f").count("\n") == 60
    assert "\u202e" not in own_lines(["f = '\u202e'"], "f")
