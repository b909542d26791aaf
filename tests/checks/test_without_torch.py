"""Where torch is not installed, as in a page of the book, the checks judge all the same."""

import json

import numpy as np
import pytest
import torch

from checks.feedback import library_errors
from checks.run import compare, installed, nodes, plain_data
from checks.run.call import Mistake
from tests.support.blocked import without_packages

NEEDS_TORCH = ["12.3", "13.9", "17.2", "17.5"]  # they tie or train a model
EVERY_REFERENCE = """
import importlib, json, pkgutil, sys
import exercises
from checks import judge
statuses = {}
for module in pkgutil.iter_modules(exercises.__path__):
    if module.name[0].isdigit():
        for task in importlib.import_module(f"exercises.{module.name}").EXERCISE.tasks:
            statuses[task.id] = str(judge(task, task.reference).status)
assert "torch" not in sys.modules
print(json.dumps(statuses))
"""
ONE_ANSWER = """
from checks import Case, Task, judge
task = Task("1.1", "answer", "Sum", 1, 1, 1, reference=lambda x: x.sum(-1),
            cases=lambda rng: [Case((rng.normal(size=(2, 3)),))])
"""


@pytest.fixture
def no_torch(monkeypatch):
    """The checks, as if torch were not installed."""
    monkeypatch.setattr(library_errors, "is_installed", lambda package: package != "torch")


def test_every_task_but_four_passes_its_reference():
    statuses = json.loads(without_packages(EVERY_REFERENCE))
    assert len(statuses) > 140
    assert [task for task, status in statuses.items() if status != "passed"] == NEEDS_TORCH
    assert {statuses[task] for task in NEEDS_TORCH} == {"not here"}


def test_a_task_on_a_model_of_torch_says_where_it_can_be_done():
    program = "from checks import judge; from exercises import __path__\n" \
        "import importlib; tied = importlib.import_module('exercises.12_gpt2').EXERCISE['12.3']\n" \
        "print(judge(tied, lambda words: words))"  # fmt: skip
    verdict = without_packages(program)
    assert "cannot be checked here" in verdict
    assert "do it in its notebook" in verdict


def test_an_answer_that_imports_torch_is_told_that_it_is_not_here():
    answer = "def answer(x):\n    import torch\n    return torch.tensor(x).sum(-1)"
    verdict = without_packages(f"{ONE_ANSWER}\n{answer}\nprint(judge(task, answer))")
    assert "torch is not here. Answer in NumPy." in verdict
    assert "No module named 'torch'" in verdict


def test_a_word_of_torch_is_called_by_its_name_without_torch():
    method = "print(judge(task, lambda x: x.unsqueeze(0)))"
    function = "import numpy as np\nprint(judge(task, lambda x: np.cat([x])))"
    verdict = without_packages(f"{ONE_ANSWER}\n{method}\n{function}")
    assert "`.unsqueeze` is torch's, and this array is NumPy's. Answer in NumPy." in verdict
    assert "`cat` is torch's, and NumPy has none. Answer in NumPy." in verdict


def test_the_known_words_are_torchs_and_not_numpys():
    assert all(hasattr(torch.Tensor, word) for word in library_errors.METHODS_OF_TORCH)
    assert all(hasattr(torch, word) for word in library_errors.FUNCTIONS_OF_TORCH)
    assert not any(hasattr(np.ndarray, word) for word in library_errors.METHODS_OF_TORCH)
    assert not any(hasattr(np, word) for word in library_errors.FUNCTIONS_OF_TORCH)


def test_a_word_that_nobody_has_is_left_to_numpy(no_torch):
    assert library_errors._has("torch", "frobnicate", ("ndarray", "Tensor")) is False
    assert library_errors._has("torch", "unsqueeze", ("ndarray", "Tensor")) is True


def test_a_misconception_that_needs_torch_is_not_blamed_on_who_imports_it():
    program = f"""{ONE_ANSWER}
import dataclasses
from checks import Wrong
def wrong(x):
    import torch
    return torch.zeros(2)
task = dataclasses.replace(task, wrong=[Wrong("M63", wrong)])
print(judge(task, wrong))"""
    assert "M63" not in without_packages(program)


def test_what_is_blocked_and_what_is_none_are_not_installed(monkeypatch):
    monkeypatch.setitem(installed.sys.modules, "torch", None)
    assert installed.is_installed.__wrapped__("torch") is False
    assert installed.is_installed.__wrapped__("numpy") is True
    assert installed.is_installed.__wrapped__("no_such_package") is False


def test_integers_of_32_bits_that_wrapped_around_are_right_where_numpys_have_no_more(monkeypatch):
    right = plain_data.plain(3 * 2**32 + 7)
    wrapped = plain_data.plain(np.array(7, dtype=np.int32))
    assert compare.compare(right, wrapped) is not None
    monkeypatch.setattr(nodes, "DEFAULT_INTEGER", np.dtype(np.int32))
    assert compare.compare(right, wrapped) is None
    assert compare.compare(right, plain_data.plain(np.array(8, dtype=np.int32))) is not None
    assert compare.compare(right, plain_data.plain(7)) is not None


def test_an_integer_of_more_than_32_bits_is_explained_where_numpys_have_no_more(monkeypatch):
    mistake = Mistake("OverflowError", "Python int too large to convert to C long")
    assert library_errors.about_integers(mistake) == ""
    monkeypatch.setattr(nodes, "DEFAULT_INTEGER", np.dtype(np.int32))
    assert "`dtype=np.int64`" in library_errors.about_integers(mistake)
    assert library_errors.about_integers(Mistake("OverflowError", "math range error")) == ""


def test_a_tensor_is_known_without_importing_torch():
    assert plain_data.is_tensor(torch.zeros(2))
    assert plain_data.is_tensor(torch.nn.Parameter(torch.zeros(2)))
    assert not plain_data.is_tensor(np.zeros(2))
