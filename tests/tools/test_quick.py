"""`make quick` runs what a change can reach, in the order of its distance, and nothing else."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import quick

# A small repository: a module, one that imports it, a figure with its script, a page, their tests.
FILES = {
    "lib/masks.py": "",
    "lib/attention.py": "from lib.masks import causal\n",
    "lib/vectors.py": "",
    "figures/grid.py": "from lib import attention\n",
    "figures/grid.js": 'import { draw } from "./kit.js";\n',
    "figures/kit.js": "",
    "exercises/06_softmax.py": "from lib import vectors\n",
    "chapters/08_masking.md": "Words.\n\n```{code-cell}\n1 + 1\n```\n",
    "chapters/08_masking.ipynb": json.dumps(
        {"cells": [{"cell_type": "code", "source": ["%pip list\n", "import lib.masks"]}]}
    ),
    "requirements.txt": "torch==2\n",
    "tests/test_rules.py": "",
    "tests/lib/test_masks.py": "from lib.masks import causal\n",
    "tests/lib/test_attention.py": "import lib.attention\n",
    "tests/lib/test_vectors.py": "import lib.vectors\n",
    "tests/figures/test_grid.py": "from figures import grid\n",
    "tests/book/test_notebooks.py": "",
    "tests/chapters/test_quizzes.py": "",
    "tests/chapters/test_sizes.py": "",
    "tests/checks/test_exercises.py": "",
    "tests/tools/test_pins.py": 'PINS = "requirements.txt"\n',
}


@pytest.fixture
def selected(tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf8")

    def select(*changed: str, code: bool = False) -> list[str]:
        return list(quick.select(set(changed), set(FILES), lambda page: code, tmp_path))

    return select


def test_nothing_changed_runs_the_rules_alone(selected):
    assert selected() == ["tests/test_rules.py"]


def test_a_module_runs_its_tests_first_then_what_imports_it_near_before_far(selected):
    assert selected("lib/masks.py") == [
        "tests/test_rules.py", "tests/lib/test_masks.py", "chapters/08_masking.ipynb",
        "tests/lib/test_attention.py", "tests/figures/test_grid.py",
    ]  # fmt: skip
    assert selected("lib/attention.py") == [
        "tests/test_rules.py", "tests/lib/test_attention.py", "tests/figures/test_grid.py",
    ]  # fmt: skip


def test_a_sentence_runs_the_tests_of_texts_and_executes_no_notebook(selected):
    texts = [
        "tests/test_rules.py",
        "tests/book/test_notebooks.py",
        "tests/chapters/test_quizzes.py",
        "tests/chapters/test_sizes.py",
    ]
    page = ("chapters/08_masking.md", "chapters/08_masking.ipynb")
    assert selected(*page) == texts
    assert selected(*page, code=True) == [*texts, "chapters/08_masking.ipynb"]


@pytest.mark.parametrize("script", ["figures/grid.js", "figures/kit.js"])
def test_a_script_runs_the_tests_of_the_figure_that_loads_it(selected, script):
    assert selected(script) == ["tests/test_rules.py", "tests/figures/test_grid.py"]


def test_an_exercise_runs_its_own_cases_only(selected):
    assert "tests/checks/test_exercises.py" in selected("exercises/06_softmax.py")
    assert quick.exercise_filter({"exercises/06_softmax.py", "lib/masks.py"}) == [
        "-k", "not test_exercises or 06_softmax"
    ]  # fmt: skip
    assert quick.exercise_filter({"lib/masks.py"}) == []


def test_a_data_file_runs_the_tests_that_name_it(selected):
    assert selected("requirements.txt") == ["tests/test_rules.py", "tests/tools/test_pins.py"]


def test_a_deleted_module_runs_what_still_imports_it(selected, tmp_path):
    (tmp_path / "lib" / "masks.py").unlink()
    left = set(FILES) - {"lib/masks.py"}
    chosen = quick.select({"lib/masks.py"}, left, bool, tmp_path)
    assert "tests/lib/test_masks.py" in chosen
    assert "lib/masks.py" not in chosen


def test_an_edit_inside_a_code_cell_is_told_from_one_in_the_words_around_it(monkeypatch, tmp_path):
    page = "chapters/08_masking.md"
    (tmp_path / "chapters").mkdir()
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    monkeypatch.setattr(quick, "git", lambda *_: FILES[page])
    (tmp_path / page).write_text(FILES[page].replace("Words.", "Other words."), "utf8")
    assert not quick.code_changed(page)
    (tmp_path / page).write_text(FILES[page].replace("1 + 1", "1 + 2"), "utf8")
    assert quick.code_changed(page)


def test_what_has_not_started_in_time_is_skipped_and_counted(monkeypatch):
    monkeypatch.setenv(quick.UNTIL, "0")
    with pytest.raises(pytest.skip.Exception, match="no time left"):
        quick.pytest_runtest_setup(None)
    monkeypatch.delenv(quick.UNTIL)
    quick.pytest_runtest_setup(None)
    reasons = [("tests/a.py::late", "no time left"), ("tests/a.py::other", "no GPU here")]
    reports = [SimpleNamespace(nodeid=name, longrepr=reason) for name, reason in reasons]
    lines: list[str] = []
    quick.pytest_terminal_summary(
        SimpleNamespace(stats={"skipped": reports}, write_line=lines.append)
    )
    assert lines == [f"1 tests in 1 files did not start in {quick.SECONDS} s; make test runs them."]
