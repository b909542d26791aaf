"""One submission runs again, with its prints, its whole tracebacks and its code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classroom.__main__ import main
from classroom.grading.submission_grader import GradingPlan
from classroom.inspection.rerun import Lines, Rerun, by_hand_lines, rerun_text, run_again
from classroom.submissions import read_submission
from tests.classroom.attacks import FIRST, MIX, RIGHT
from tests.classroom.test_attacks import LIMITS, notebook

PLAN = GradingPlan("07_self_attention", b"a secret of the tests alone", ("7.1", "7.2"), LIMITS)
DEEP = """
print("cell speaks", "\\x1b[31mred")

def inner(q):
    print("q has shape", q.shape)
    return q @ q.no_such_thing

def attention(q, k, v):
    return inner(q)
"""


@pytest.fixture(scope="module")
def rerun(tmp_path_factory):
    path = tmp_path_factory.mktemp("submissions") / "anna.ipynb"
    path.write_text(notebook(FIRST, MIX, DEEP, "1 / 0"), "utf8")
    return run_again(read_submission([path]), PLAN)


def test_it_shows_verdict_code_prints_and_whole_tracebacks(rerun):
    text = rerun_text(rerun, PLAN)
    assert "7.1" in text
    assert "passed, 5 of 5" in text
    assert "7.2" in text
    assert "  cell 3:" in text
    assert "   4 | def inner(q):" in text
    assert "cell speaks" in text
    assert "q has shape (" in text
    assert text.count(", in inner\n") == 3, "the first three errors are whole"
    assert "in attention" in text
    assert "AttributeError: 'numpy.ndarray' object has no attribute 'no_such_thing'" in text
    assert "ZeroDivisionError: division by zero" in text
    places = [place for place, _ in rerun.pieces]
    assert places.index("cell 3") < places.index("cell 4") < places.index("attention")


def test_no_character_of_a_student_commands_the_terminal(rerun):
    assert "\x1b" not in rerun_text(rerun, PLAN)
    lines = Lines()
    lines.add("a\x9b1mb\u202ec\n" + "x" * 9_000)
    assert lines.lines == ["a?1mb?c", "x" * 400]


def test_the_verdict_is_that_of_grade(tmp_path):
    path = tmp_path / "ben.ipynb"
    path.write_text(notebook(FIRST, MIX, RIGHT), "utf8")
    rerun = run_again(read_submission([path]), PLAN)
    assert [grade.status for grade in rerun.grade.grades] == ["passed", "passed"]
    assert rerun_text(Rerun(rerun.grade, rerun.sources, ()), PLAN).endswith("nothing")


def test_what_cannot_be_read_is_told_and_a_missing_file_is_named(tmp_path, capsys):
    path = tmp_path / "carl.ipynb"
    path.write_text("{", "utf8")
    rerun = run_again(read_submission([path]), PLAN)
    assert "it is not a notebook" in rerun_text(rerun, PLAN)
    assert main(["rerun", str(tmp_path / "no.ipynb"), "--exercise", PLAN.exercise]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_rerun_says_what_the_table_says_otherwise(rerun):
    by_hand = "Corrected by hand from 0 to 3 points. The idea is right."
    first, second = rerun.grade.grades
    second = replace(second, points=3, sentences=("Wrong.", by_hand))
    row = replace(rerun.grade, message="late", grades=(first, second))
    lines = by_hand_lines(rerun.grade, [replace(row, file="zoe.ipynb"), row])
    most = first.max_points + second.max_points
    assert f"Your table says {row.score} of {most} for the whole. late" in lines
    assert lines[-1] == f"Your table says 3 of {second.max_points} for 7.2. {by_hand}"
    assert by_hand_lines(rerun.grade, []) == []
    (line,) = by_hand_lines(rerun.grade, [replace(row, file="zoe.ipynb")])
    assert line.strip() == "No row of the table is about anna.ipynb."


def test_a_rerun_needs_the_exercise_or_a_table(tmp_path, capsys):
    for name in ("anna.ipynb", "secret"):
        (tmp_path / name).write_text("{", "utf8")
    asked = ["rerun", str(tmp_path / "anna.ipynb"), "--secret", str(tmp_path / "secret")]
    assert main(asked) == 2
    assert "add --grades TABLE or --exercise NAME" in capsys.readouterr().err
