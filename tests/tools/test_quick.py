"""`make quick` runs what a change can reach, in the order of its distance, and nothing else."""

import json
import subprocess
import sys
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
    "tests/book/test_page.py": "",
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
        "tests/book/test_page.py",
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


def test_the_tests_of_lib_stand_in_its_folders_and_those_of_checks_in_a_single_one():
    assert quick.mirror("lib/attention/masks.py") == "tests/lib/attention/test_masks.py"
    assert quick.mirror("checks/run/call.py") == "tests/checks/test_call.py"


def test_what_has_not_started_in_time_is_left_out_and_counted_at_the_end(tmp_path, monkeypatch):
    """The plugin in a run of its own: each process takes one file, and 2 of 4 tests are late."""
    monkeypatch.setenv("PYTHONPATH", str(quick.ROOT))
    monkeypatch.setenv("ATTENTION_QUICK", "inf 31")
    for name in "ab":
        (tmp_path / f"test_{name}.py").write_text(
            "import os\ndef test_first(): os.environ['ATTENTION_QUICK'] = '0'\n"
            "def test_late(): assert False\n"
        )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile",
               "-p", "tools.time_limit", "-p", "no:cacheprovider", str(tmp_path)]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    last = "passed 2 of 4 selected; 2 did not start within 31 s: run make test"
    assert done.stdout.splitlines()[-1] == last


@pytest.mark.parametrize(("rules", "runs"), [(1, 1), (0, 2)])
def test_a_broken_rule_ends_the_run(monkeypatch, rules, runs):
    commands = []
    monkeypatch.setattr(
        quick.subprocess, "run",
        lambda command, **_: commands.append(command) or SimpleNamespace(returncode=rules),
    )  # fmt: skip
    assert quick.run_tests([quick.RULES, "tests/a.py"], set(), 0.0) == rules
    assert len(commands) == runs
    assert commands[0][-1] == quick.RULES
    assert quick.RULES not in commands[-1] or runs == 1
