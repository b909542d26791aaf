"""A gradebook adds up shares by weight, and drops the lowest of each student."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from classroom.__main__ import main
from classroom.gradebook.tables import read_table, write_whole
from classroom.gradebook.totals import ExerciseColumn, gradebook_page, student_totals
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.grading.grades_table import grades_csv
from classroom.grading.results_log import ResultsLog
from classroom.status import GradeStatus


def result(name: str, exercise: str, points: int, most: int, message: str = "") -> SubmissionGrade:
    task = {"07_self_attention": "7.1", "08_masking": "8.1"}.get(exercise, "9.1")
    grades = (TaskGrade(task, GradeStatus.WRONG, points, most),)
    return SubmissionGrade(
        name, f"{name}.ipynb", exercise, GradeStatus.WRONG, grades, message, sha256=name * 3
    )


def column(exercise: str, weight: float, most: int, **points: int) -> ExerciseColumn:
    rows = {name: result(name, exercise, score, most) for name, score in points.items()}
    return ExerciseColumn(exercise, weight, rows)


COLUMNS = [
    column("07_self_attention", 2, 7, anna=7, ben=3, carl=5),
    column("08_masking", 3, 11, anna=2, ben=11),
    column("09_multi_head", 5, 13, anna=12, ben=1, carl=2),
]


@pytest.mark.parametrize("drop", [0, 1, 2])
def test_the_total_is_the_best_choice_of_exercises_by_share_in_exact_fractions(drop):
    points = {"anna": (7, 2, 12), "ben": (3, 11, 1), "carl": (5, 0, 2)}
    most, weights = (7, 11, 13), (2, 3, 5)
    for row in student_totals(COLUMNS, drop):
        shares = [Fraction(p, m) for p, m in zip(points[row.student], most, strict=True)]
        choices = itertools.combinations(range(3), 3 - drop)
        kept = max(choices, key=lambda choice, shares=shares: sum(shares[n] for n in choice))
        wanted = sum(weights[n] * shares[n] for n in kept) / Fraction(sum(weights[n] for n in kept))
        assert row.total == pytest.approx(float(wanted))
        assert row.dropped == set(range(3)) - set(kept)


def test_work_that_is_excused_or_not_graded_is_left_out_and_missing_work_counts_as_nothing():
    failed = result("ben", "08_masking", 0, 11, "the grader itself failed: x")
    columns = [COLUMNS[0], ExerciseColumn("08_masking", 3, {"ben": failed})]
    anna, ben, carl, dora = student_totals(
        columns, 0, ["dora"], [("carl", "08_masking"), ("dora", "07_self_attention")]
    )
    assert anna.total == pytest.approx(2 / 5)
    assert ben.total == pytest.approx(3 / 7)
    assert carl.total == pytest.approx(5 / 7)
    assert (dora.total, dora.shares) == (0, (None, 0))
    absent = replace(COLUMNS[0].results["ben"], status=GradeStatus.NOT_HANDED_IN)
    absent = replace(absent, grades=(replace(absent.grades[0], points=0),))
    column = ExerciseColumn("07_self_attention", 2, COLUMNS[0].results | {"ben": absent})
    assert student_totals([column])[1].points == (None,)
    assert student_totals([column])[1].total == 0


def test_whoever_is_excused_from_everything_has_no_total():
    (row,) = student_totals([COLUMNS[0]], 0, (), [])[:1]
    assert row.total == 1
    row = student_totals([COLUMNS[0]], 0, (), [("anna", "07_self_attention")])[0]
    assert row.total is None
    assert "left out" in gradebook_page([COLUMNS[0]], [row], 0)


def test_as_many_as_there_are_cannot_be_dropped():
    with pytest.raises(ValueError, match="at least one of 3 exercises; got 3"):
        student_totals(COLUMNS, 3)


@pytest.fixture
def tables(tmp_path):
    paths = []
    points_of = {"07_self_attention": {"anna": 5, "=ben": 2}, "08_masking": {"anna": 1}}
    for exercise, rows in points_of.items():
        path = tmp_path / f"{exercise}.csv"
        log = ResultsLog(path.with_suffix(".jsonl"))
        results = [result(name, exercise, points, 5) for name, points in rows.items()]
        for row in results:
            log.append(row.student, row)
        log.close()
        write_whole(path, grades_csv(results, [results[0].grades[0].task]))
        paths.append(str(path))
    return paths


def test_the_command_writes_a_table_and_a_page_with_every_correction(tables, tmp_path, capsys):
    out, page = tmp_path / "all.csv", tmp_path / "all.html"
    to = ["--out", str(out), "--page", str(page)]
    assert main(["correct", tables[1], "anna", "8.1", "4", "--why", "x"]) == 0
    assert main(["gradebook", *tables, *to, "--weights", "08_masking=3", "--drop-lowest", "0"]) == 0
    rows = {row["student"]: row for row in read_table(out).rows}
    assert rows["anna"]["total %"] == "85"
    assert rows["'=ben"]["total %"] == "10"
    assert rows["anna"]["08_masking of 5"] == "4"
    text = page.read_text("utf8")
    for word in ("85 %", "weight 3", "=ben", "&ndash;"):
        assert word in text
    assert main(["gradebook", *tables, *to, "--drop-lowest", "1"]) == 0
    assert "(4)" in page.read_text("utf8")
    capsys.readouterr()
    for words, message in [
        ([*tables, tables[0]], "is 07_self_attention again"),
        ([*tables, "--weights", "09_multi_head=2"], "no table is of 09_multi_head"),
        ([*tables, "--weights", "08_masking=x"], "must be a number"),
        ([*tables, "--weights", "08_masking=-1"], "must not be negative"),
        ([*tables, "--drop-lowest", "2"], "at least one of 2"),
    ]:
        assert main(["gradebook", *words, *to]) == 2
        assert message in capsys.readouterr().err
    assert main(["gradebook", *tables, "--out", tables[0]]) == 2
    assert "is a table of grades" in capsys.readouterr().err


def test_excuses_come_from_a_table(tables, tmp_path, capsys):
    (tmp_path / "excused.csv").write_text(
        "student;exercise\nAnna;08_masking\nzoe;08_masking\n", "utf8"
    )
    out = tmp_path / "all.csv"
    to = ["--out", str(out), "--page", str(tmp_path / "p.html")]
    assert main(["gradebook", *tables, *to, "--excused", str(tmp_path / "excused.csv")]) == 0
    assert "nobody is excused by zoe" in capsys.readouterr().out
    rows = {row["student"]: row for row in read_table(out).rows}
    assert rows["anna"]["total %"] == "100"
