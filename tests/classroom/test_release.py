"""What a class gets holds no answer, works by itself, and names the same mistakes."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import itertools
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from book.live.others import other_answers
from checks import Task, Wrong, judge, released
from classroom.__main__ import main
from classroom.handing_out.extract import extract_definitions
from classroom.handing_out.release import code_in, function_bodies, leaked_answers, release
from classroom.provided import exercise_named, provided_functions
from tests.support.attempts import known_once, names_alone

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.py"))


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """A bundle of each exercise by itself."""
    folder = tmp_path_factory.mktemp("bundles")
    for name in NAMES:
        release([name], folder / name)
    return folder


def answers(name: str) -> list:
    spec = importlib.util.spec_from_file_location("answers", ROOT / f"tests/answers/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [
        answer
        for answers in module.RIGHT.values()
        for answer in answers
        if inspect.isfunction(answer)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_right_answer_of_ours_stands_in_a_bundle(bundles, name):
    there = {body for text in code_in(bundles / name) for body in function_bodies(text)}
    given = {id(value) for names in provided_functions(name).values() for value in names.values()}
    for answer in answers(name):
        if id(answer) not in given:
            text = textwrap.dedent(inspect.getsource(answer))
            assert not any(body in there for body in function_bodies(text)), answer


@pytest.mark.parametrize("name", NAMES)
def test_no_other_right_answer_that_the_book_shows_stands_in_a_bundle(bundles, name):
    there = {body for text in code_in(bundles / name) for body in function_bodies(text)}
    files = [path.read_bytes() for path in (bundles / name).rglob("*") if path.is_file()]
    for answer in itertools.chain(*other_answers(name).values()):
        own = ast.unparse(ast.parse(answer.source).body[-1])  # a helper may be on the page
        assert not there & set(function_bodies(own)), answer.line
        assert not any(answer.line.encode() in data for data in files), answer.line


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_holds_neither_the_checks_nor_outputs_nor_a_secret(bundles, name):
    held = {str(path.relative_to(bundles / name)) for path in (bundles / name).rglob("*")}
    assert not {f"exercises/{exercise}.py" for exercise in NAMES} & held
    assert not [file for file in held if "secret" in file or "answers" in file or "grading" in file]
    notebook = json.loads((bundles / name / "exercises" / f"{name}.ipynb").read_text("utf8"))
    assert not any(cell.get("outputs") for cell in notebook["cells"])


@pytest.mark.parametrize("name", NAMES)
def test_recorded_checks_pass_what_is_right_and_nothing_that_is_wrong(bundles, name, bare_calls):
    exercise = exercise_named(name)
    handed_out = released.load_exercise(bundles / name / "exercises" / f"{name}.checks")
    same = []
    with known_once():
        for task, there in zip(exercise.tasks, handed_out.tasks, strict=True):
            assert (task.id, task.importance) == (there.id, there.importance)
            if not there.later:
                assert judge(there, task.reference).passed, task.id
                with names_alone():
                    same += [wrong_is_named(task, there, wrong) for wrong in task.wrong[:12]]
    assert sum(same) >= 0.9 * len(same), "nine in ten are named as at home"


def wrong_is_named(task: Task, there: Task, wrong: Wrong) -> bool:
    """Whether a recorded check names a wrong answer as at home; it may not pass it."""
    verdict = judge(there, wrong.answer)
    # Laws are code, and stay at home: what only a law forbids is found in grading.
    assert not verdict.passed or task.laws, (task.id, wrong.misconception)
    named = {key for name in verdict.misconceptions for key in name.split("+")}
    return set(wrong.ids) <= named


def test_what_cannot_be_recorded_is_judged_later_and_said_so(bundles):
    file = bundles / "07_self_attention/exercises/07_self_attention.checks"
    handed_out = released.load_exercise(file)
    verdict = judge(handed_out["7.6"], lambda function, x: True)
    assert (verdict.status, verdict.passed) == ("later", False)
    assert "when your work is graded" in repr(verdict)
    assert judge(handed_out["7.6"], ...).status == "not attempted"


PROGRAM = """
import sys
sys.path.insert(0, ".")
from checks import exercise
check = exercise("08_masking")
from lib.attention.dot_product import attend
import numpy as np
def causal_mask(queries, keys):
    return np.tril(np.ones((queries, keys), dtype=bool), keys - queries - 1)
print(check("8.2"))
print(check("8.1").status)
print(sys.modules["lib"].__file__)
"""


def test_a_bundle_works_by_itself(bundles):
    folder = bundles / "08_masking"
    settings = {"PATH": "/usr/bin:/bin", "ATTENTION_RECORD": "off", "PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, env=settings,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "M22" in done.stdout
    assert str(folder) in done.stdout


def test_exercises_that_answer_each_other_are_not_handed_out_together(tmp_path):
    given = r"gives lib\.attention\.dot_product\.attend.*task 7\.\d.*apart"
    with pytest.raises(ValueError, match=given):
        release(["07_self_attention", "08_masking"], tmp_path / "both")
    with pytest.raises(ValueError, match=r"gives lib\.functional\.softmax.*task 6\.\d.*apart"):
        release(["06_softmax", "05_scaling"], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_the_scan_finds_an_answer_whatever_it_is_called(bundles, tmp_path):
    import shutil

    folder = tmp_path / "bundle"
    shutil.copytree(bundles / "06_softmax", folder)
    exercise = exercise_named("06_softmax")
    assert leaked_answers(folder, [exercise]) == []
    reference = inspect.getsource(exercise["6.3"].reference)
    name = exercise["6.3"].reference.__name__
    (folder / "lib" / "harmless.py").write_text(reference.replace(f"def {name}(", "def f("), "utf8")
    assert any(line.startswith("6.3") for line in leaked_answers(folder, [exercise]))


def test_a_slice_holds_what_it_needs_and_runs(tmp_path):
    definitions = extract_definitions({"lib.attention.dot_product": {"attend"}})
    assert "def attend" in definitions["lib.attention.dot_product"]
    assert "def softmax" in definitions["lib.functional"]
    assert "def gelu" not in definitions["lib.functional"]
    for text in definitions.values():
        compile(text, "slice", "exec")


def test_a_folder_that_is_not_empty_is_not_written_into(tmp_path, capsys):
    (tmp_path / "mine").write_text("kept")
    assert main(["release", "07_self_attention", "--out", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main(["release", "07_self_attention", "--out", str(tmp_path / "new")]) == 0
    assert "no answer" in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_a_handed_out_notebook_installs_nothing_and_has_no_dead_link(bundles, name):
    notebook = json.loads((bundles / name / "exercises" / f"{name}.ipynb").read_text("utf8"))
    text = "".join("".join(cell["source"]) for cell in notebook["cells"])
    for word in ("pip", "colab", "make lab", "](.", "](#"):
        assert word not in text, word


STUDENT = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
sys.path = [folder for folder in sys.path if "site-packages" in folder or "lib/python" in folder]
import json
cells = [cell for cell in json.load(open(sys.argv[1]))["cells"] if cell["cell_type"] == "code"]
try:
    for cell in cells[:2]:
        exec("".join(cell["source"]))
    import checks
    print(checks.__file__)
    def weights(q, k):
        return q @ k.T
    print(check("5.2")._repr_html_())
except ModuleNotFoundError as error:
    print(error)
"""


def run_as_student(notebook: Path) -> str:
    """The first cells of a notebook, run in its own folder without the course."""
    settings = {"PATH": "/usr/bin:/bin", "ATTENTION_RECORD": "off", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", STUDENT, notebook.name]
    done = subprocess.run(command, cwd=notebook.parent, env=settings, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_handed_out_notebook_finds_its_checks_and_says_so_where_it_cannot(bundles, tmp_path):
    notebook = bundles / "05_scaling/exercises/05_scaling.ipynb"
    printed = run_as_student(notebook)
    assert str(bundles / "05_scaling" / "checks") in printed
    assert "Read: chapter 5" in printed
    assert "href" not in printed, "no page of the book is there"
    alone = tmp_path / notebook.name
    alone.write_bytes(notebook.read_bytes())
    assert "Put this notebook back into the folder" in run_as_student(alone)


def test_with_the_address_of_a_book_the_links_lead_there(tmp_path):
    release(["05_scaling"], tmp_path / "out", book="https://example.org/book/")
    notebook = tmp_path / "out/exercises/05_scaling.ipynb"
    assert "](https://example.org/book/chapters/05_scaling.html" in notebook.read_text("utf8")
    assert 'href="https://example.org/book/chapters/05_scaling.html#' in run_as_student(notebook)
