"""Our checks in the cells of nbgrader and otter, run in IPython and counted as both count.

`make compat` does the same inside both, and fills the table of the guide.
"""

from __future__ import annotations

import ast
import json
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
from tools.engines import GUIDE, MARKERS, NAMES, RESULTS, TASKS, markdown, should_get

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
    """What came of every cell with points of every hand-in."""
    work = {}
    for one in CLASS:
        page = nbformat.read(sources["nbgrader"] / f"{EXERCISE}.ipynb", as_version=4)
        work[one.name] = [
            (cell.source, cell.metadata.get("nbgrader", {}).get("points"))
            for cell in filled_in(page, one.answers, NAMES).cells if cell.cell_type == "code"
        ]  # fmt: skip
    settings = {"PATH": "/usr/bin:/bin", "ATTENTION_RECORD": "off", "PYTHONHASHSEED": "0",
                "OMP_NUM_THREADS": "1"}  # fmt: skip
    done = subprocess.run([sys.executable, "-c", RUN], cwd=sources["nbgrader"], env=settings,
                          input=json.dumps(work), capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("one", CLASS, ids=lambda one: one.name)
def test_a_hand_in_gets_what_it_is_worth_and_hears_why(counted, one):
    points = sum(got for got, _, _ in counted[one.name])
    assert points == (should_get(one) if one.honest else should_get(CLASS[0]))
    assert one.heard in " ".join(" ".join(said for _, said, _ in counted[one.name]).split())


def test_a_cell_that_passes_shows_no_number_and_one_that_fails_only_its_verdict(counted):
    assert {shown for _, _, shown in counted["right"]} == {"None"}
    assert {said for _, said, _ in counted["right"]} == {""}
    said = counted["unscaled"][list(RIGHT).index("7.2")][1]
    assert said.startswith("7.2 Attention, whole: not yet.\nM01: no scaling.")
    assert "Traceback" not in said
    assert all(len(line) < 100 for line in said.splitlines())


def test_points_are_importance_and_a_task_judged_later_has_none(sources):
    tasks = {task.id: task.importance for task in exercise_named(EXERCISE).tasks}
    said = [cell.metadata.get("nbgrader") for cell in cells(sources["nbgrader"])]
    graded = {one["grade_id"]: one["points"] for one in said if one and one["grade"]}
    assert graded == {f"task-{key.replace('.', '-')}": tasks[key] for key in RIGHT}
    assert all(one["locked"] and not one["solution"] for one in said if one)
    assert set(tasks) - set(RIGHT) == {"7.6"}


def test_otter_is_given_a_question_for_each_task_and_a_test_that_asks_the_check(sources):
    found = cells(sources["otter"])
    settings = yaml.safe_load(found[0].source)
    assert set(settings["files"]) == {"lib", "checks", "exercises"}
    raw = [cell.source.splitlines()[0] for cell in found if cell.cell_type == "raw"]
    one = ["BEGIN QUESTION", "BEGIN SOLUTION", "END SOLUTION", "BEGIN TESTS", "END TESTS"]
    assert raw[1:] == [f"# {word}" for word in [*one, "END QUESTION"] * len(RIGHT)]
    tests = [cell.source for cell in found if "# BEGIN TEST CONFIG" in cell.source]
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
    found = json.loads(RESULTS.read_text("utf8"))
    text = GUIDE.read_text("utf8")
    assert text.split(MARKERS[0])[1].split(MARKERS[1])[0].strip() == markdown(found)
    assert list(found["class"]) == [one.name for one in CLASS]
    for name, engines in found["class"].items():
        points = sum(got for got, _, _ in counted[name])
        assert engines == {key: {"points": points, "heard": True} for key in engines}, name
