"""Our checks in the cells of nbgrader and otter, run in IPython and counted as both count.

`make compat` does the same inside both, and fills the table of the guide.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from checks.notebook import AnswerError, exercise
from classroom.handing_out.release import release
from classroom.provided import exercise_named
from tests.classroom.submissions import CLASS, EXERCISE, RIGHT, filled_in
from tools.other_graders import GUIDE, MARKERS, NAMES, RESULTS, TASKS, markdown, should_get

# Runs notebooks in one IPython, and prints for each what every cell with points came to.
RUN = """
import json, sys
sys.path.insert(0, ".")
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

quiet = Config(HistoryManager={"enabled": False}, InteractiveShell={"colors": "NoColor"})
shell, found = InteractiveShell.instance(config=quiet), {}
for name, cells in json.load(sys.stdin).items():
    shell.reset(new_session=False, aggressive=False)
    found[name] = []
    for source, points in cells:
        with capture_output() as said:
            done = shell.run_cell(source)
        if points is not None:
            failed = not done.success or bool(said.stderr)
            found[name].append([0 if failed else points, said.stdout, repr(done.result)])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict[str, Path]:
    """The folder that each engine starts from."""
    folder = tmp_path_factory.mktemp("engines")
    for engine in ("nbgrader", "otter"):
        release([EXERCISE], folder / engine, engine)
    return {engine: folder / engine for engine in ("nbgrader", "otter")}


def cells(folder: Path) -> list:
    return nbformat.read(folder / f"{EXERCISE}.ipynb", as_version=4).cells


@pytest.fixture(scope="module")
def counted(sources) -> dict[str, list]:
    """What came of every cell with points of every submission."""
    work = {}
    for submission in CLASS:
        page = nbformat.read(sources["nbgrader"] / f"{EXERCISE}.ipynb", as_version=4)
        work[submission.name] = [
            (cell.source, cell.metadata.get("nbgrader", {}).get("points"))
            for cell in filled_in(page, submission.answers, NAMES).cells if cell.cell_type == "code"
        ]  # fmt: skip
    settings = {"PATH": "/usr/bin:/bin", "ATTENTION_RECORD": "off", "PYTHONHASHSEED": "0",
                "OMP_NUM_THREADS": "1"}  # fmt: skip
    done = subprocess.run([sys.executable, "-c", RUN], cwd=sources["nbgrader"], env=settings,
                          input=json.dumps(work), capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("submission", CLASS, ids=lambda submission: submission.name)
def test_a_hand_in_gets_what_it_is_worth_and_hears_why(counted, submission):
    points = sum(got for got, _, _ in counted[submission.name])
    assert points == (should_get(submission) if submission.honest else should_get(CLASS[0]))
    assert submission.heard in " ".join(
        " ".join(feedback for _, feedback, _ in counted[submission.name]).split()
    )


def test_a_cell_that_passes_shows_no_number_and_one_that_fails_only_its_verdict(counted):
    assert {shown for _, _, shown in counted["right"]} == {"None"}
    assert {feedback for _, feedback, _ in counted["right"]} == {""}
    feedback = counted["unscaled"][list(RIGHT).index("7.2")][1]
    assert feedback.startswith("7.2 Attention, whole: not yet.\nNo scaling.")
    assert "Traceback" not in feedback
    assert all(len(line) < 100 for line in feedback.splitlines())


def test_points_are_importance_and_a_task_judged_later_has_none(sources):
    tasks = {task.id: task.importance for task in exercise_named(EXERCISE).tasks}
    metadata = [cell.metadata.get("nbgrader") for cell in cells(sources["nbgrader"])]
    graded = {entry["grade_id"]: entry["points"] for entry in metadata if entry and entry["grade"]}
    assert graded == {f"task-{key.replace('.', '-')}": tasks[key] for key in RIGHT}
    assert all(entry["locked"] and not entry["solution"] for entry in metadata if entry)
    assert set(tasks) - set(RIGHT) == {"7.6"}


def test_otter_is_given_a_question_for_each_task_and_a_test_that_asks_the_check(sources):
    made = cells(sources["otter"])
    settings = yaml.safe_load(made[0].source)
    assert set(settings["files"]) == {"lib", "checks", "exercises", "chapters"}
    raw = [cell.source.splitlines()[0] for cell in made if cell.cell_type == "raw"]
    markers = ["BEGIN QUESTION", "BEGIN SOLUTION", "END SOLUTION", "BEGIN TESTS", "END TESTS"]
    assert raw[1:] == [f"# {word}" for word in [*markers, "END QUESTION"] * len(RIGHT)]
    tests = [cell.source for cell in made if "# BEGIN TEST CONFIG" in cell.source]
    assert len(tests) == len(RIGHT)
    namespace: dict = {}
    for text in tests:
        exec(compile(ast.parse(text), "<test>", "exec"), namespace)

    def attention(q, k, v):
        raise NotImplementedError

    check = exercise(EXERCISE)
    check.namespace = {"attention": attention}
    with pytest.raises(AnswerError, match=r"7\.2 Attention, whole: not attempted yet"):
        namespace["test_7_2"](check)


def test_every_answer_stays_below_its_text_in_both(sources):
    for folder in sources.values():
        waiting = [cell.source for cell in cells(folder)
                   if "exercise" in cell.metadata.get("tags", [])]  # fmt: skip
        assert len(waiting) == len(TASKS)
        assert all("NotImplementedError" in text for text in waiting)


def test_the_table_of_the_guide_is_what_came(counted):
    results = json.loads(RESULTS.read_text("utf8"))
    text = GUIDE.read_text("utf8")
    assert text.split(MARKERS[0])[1].split(MARKERS[1])[0].strip() == markdown(results)
    assert list(results["class"]) == [submission.name for submission in CLASS]
    for name, engines in results["class"].items():
        points = sum(got for got, _, _ in counted[name])
        assert engines == {key: {"points": points, "heard": True} for key in engines}, name


def test_every_row_of_the_table_of_needs_names_the_test_that_holds_it():
    text = GUIDE.read_text("utf8")
    table = text.partition("| what a teacher needs |")[2].partition("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()[2:]]
    assert len(rows) > 15
    for need, ours, *_, held in rows:
        named = re.findall(r"`(test_\w+\.py)`", held)
        assert bool(named) == (ours != "no"), need
        assert all((Path(__file__).parent / name).exists() for name in named), need
