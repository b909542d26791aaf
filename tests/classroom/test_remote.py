"""Answers in the sandbox are called, looked at and told apart as if they were here."""

from __future__ import annotations

import ast
import inspect
import os
from pathlib import Path

import numpy as np
import pytest

from checks import judge
from checks.drivers import MODULES
from checks.run.call import run_driver
from checks.task import Case
from checks.wire.values import put_together
from classroom.grading.submission_grader import GradingPlan, grade_submission
from classroom.provided import exercise_named, make_provider, provided_functions
from classroom.sandbox.doctor import examine_sandbox, require_sandbox
from classroom.sandbox.isolation import (
    INSIDE,
    Limits,
    SandboxError,
    course_files,
    readable_mounts,
    sandboxed_command,
)
from classroom.sandbox.provided_modules import COURSE
from classroom.sandbox.remote_answer import RemoteAnswer, answer_named, parse_outcome, run_cells
from classroom.sandbox.sandbox import Sandbox, SandboxEndedError
from classroom.submissions import Submission
from tests.support.attempts import answers

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = '''
import math
import numpy as np
import torch
from lib.attention.dot_product import attend

class Head:
    def __init__(self, d_model, d_k, seed):
        rng = np.random.default_rng(seed)
        self.W_q, self.W_k, self.W_v = rng.normal(size=(3, d_model, d_k)) / math.sqrt(d_model)

    def __call__(self, x):
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        scores = q @ k.T / math.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v

class DrawnInEachCall(Head):
    def __call__(self, x):
        return Head(*self.W_q.shape, len(x) + id(self) % 7)(x)

def doubled(function, x):
    return function(2 * np.asarray(x))

def given(q, k, v):
    return attend(q, k, v).output

def edits(x):
    x[0] = 9
    return x

def holds(n):
    return np.zeros(n).sum()

secretly = object()
number = 7
untouched = ...
'''  # fmt: skip


@pytest.fixture(scope="module")
def sandbox():
    provided = provided_functions("08_masking")
    names = {module: sorted(held) for module, held in provided.items()}
    with Sandbox(names, make_provider("08_masking")) as made:
        assert run_cells(made, [ANSWERS]) == [{}]
        yield made


def test_an_object_lives_there_and_its_numbers_come_here(sandbox):
    head = answer_named(sandbox, "Head")(5, 3, 0)
    assert isinstance(head, RemoteAnswer)
    assert head.W_q.shape == (5, 3)
    x = np.random.default_rng(1).normal(size=(2, 5))
    assert head(x).shape == (2, 3)
    head.W_v = np.zeros((5, 3))
    assert not head(x).any()
    with pytest.raises(AttributeError, match="nothing"):
        _ = head.nothing


def test_a_class_is_judged_by_laws_that_ask_it_for_objects(sandbox):
    task = exercise_named("05_scaling")["5.8"]
    assert judge(task, answer_named(sandbox, "Head")).passed
    wrong = judge(task, answer_named(sandbox, "DrawnInEachCall"))
    assert wrong.misconceptions == ("M64",)


def test_a_function_of_ours_can_be_called_there(sandbox):
    asked = []
    answer = answer_named(sandbox, "doubled")
    got = answer(lambda x: asked.append(x.tolist()) or x + 1, np.array([1.0, 2.0]))
    assert got.tolist() == [3, 5]
    assert asked == [[2, 4]]
    with pytest.raises(ZeroDivisionError, match="division"):
        answer(lambda x: 1 // 0, np.array([1.0]))


def test_what_the_exercise_gives_runs_here_and_answers_there(sandbox):
    rng = np.random.default_rng(2)
    q, k, v = rng.normal(size=(2, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 7))
    scores = q @ k.T / np.sqrt(3)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(answer_named(sandbox, "given")(q, k, v), weights @ v)


def test_a_definition_of_ours_is_not_made_to_fill_our_own_memory(sandbox):
    long = np.zeros((60_000, 1))
    with pytest.raises(MemoryError):
        answer_named(sandbox, "given")(long, long, long)
    assert answer_named(sandbox, "number") == 7, "and both sides go on"


def test_whoever_talks_without_a_pause_is_watched_all_the_same():
    provided = provided_functions("08_masking")
    names = {module: sorted(held) for module, held in provided.items()}
    talks = """
import numpy as np
from lib.attention.dot_product import attend
kept, one = [], np.ones((1, 1))
while True:
    attend(one, one, one)
    kept.append(bytearray(2**20))
"""
    limits = Limits(memory=2**28, cells=120.0)
    with Sandbox(names, make_provider("08_masking"), limits) as made:
        with pytest.raises(SandboxEndedError) as ended:
            run_cells(made, [talks])
        assert ended.value.status == "out of memory"


def test_an_input_that_was_edited_there_is_noticed_here(sandbox):
    from checks.task import Case

    outcome = answer_named(sandbox, "edits").observe(Case((np.ones(3),)), "numpy", None, 5.0)
    assert outcome.changed == ("x",)
    assert outcome.value.values.tolist() == [9, 1, 1]


def test_a_driver_that_stands_beside_the_answer_measures_there(sandbox):
    from checks.drivers import most_bytes

    held = run_driver(answer_named(sandbox, "holds"), most_bytes, 100_000)
    assert 800_000 <= held < 900_000


def test_values_dots_and_names_that_are_not_there(sandbox):
    assert answer_named(sandbox, "number") == 7
    assert answer_named(sandbox, "untouched") is Ellipsis
    with pytest.raises(LookupError):
        answer_named(sandbox, "nowhere")


@pytest.mark.parametrize(
    "reply",
    [{}, {"status": "passed"}, {"status": "returned"}, {"status": "returned", "value": 7},
     {"status": "raised"}, {"status": ["returned"], "value": None},
     {"status": "raised", "mistake": 7, "changed": 7}, {"status": "raised", "mistake": []}],
)  # fmt: skip
def test_a_reply_of_another_form_is_an_error_of_the_answer(reply):
    assert parse_outcome(reply).status == "raised"


def test_the_sandbox_holds_the_files_of_the_list_and_empty_packages():
    held = {path.relative_to(course_files()).as_posix(): path.read_text("utf8")
            for path in course_files().rglob("*") if path.is_file()}  # fmt: skip
    packages = {name: text for name, text in held.items() if name.endswith("__init__.py")}
    assert set(held) - set(packages) == set(INSIDE)
    assert "class Silent" in packages.pop("checks/__init__.py")
    assert not any(packages.values())
    assert not any(str(ROOT / name) in " ".join(readable_mounts()) for name in ("lib", "exercises"))


def test_the_sandbox_list_names_every_file_that_the_worker_needs_and_no_other():
    # Drivers are imported by name.
    needed, waiting = (
        set(),
        ["classroom/sandbox/worker.py", *(f"{name.replace('.', '/')}.py" for name in MODULES)],
    )
    while waiting:
        name = waiting.pop()
        needed.add(name)
        for node in ast.walk(ast.parse((ROOT / name).read_text("utf8"))):
            module = getattr(node, "module", None) or ""
            file = module.replace(".", "/") + ".py"
            if module.partition(".")[0] in COURSE and file not in needed:
                waiting.append(file)
    assert needed <= set(INSIDE), "change isolation.INSIDE if the new file knows no right answer"


def test_every_driver_that_needs_torch_stands_beside():
    for path in sorted((ROOT / "exercises").glob("[0-9]*.py")):
        for task in exercise_named(path.stem).tasks:
            if task.call is not None and "torch" in task.call.__code__.co_names:
                assert task.call.__module__ in MODULES, task.id


def test_a_sandbox_that_ended_says_why_for_ever():
    with Sandbox(limits=Limits(cells=3.0)) as made:
        with pytest.raises(SandboxEndedError, match="its time was over"):
            run_cells(made, ["while True: pass"])
        with pytest.raises(SandboxEndedError, match="its time was over"):
            made.ask({"do": "kinds", "names": ["x"]}, 1.0)
    assert made.process.poll() is not None


def test_no_descriptor_is_left_open():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with Sandbox() as made:
            run_cells(made, ["1"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_processes_are_counted_for_each_sandbox_whoever_grades(monkeypatch):
    # Linux counts by user: root's sandboxes are a user each, anybody else's a namespace each,
    # in which the limit must be set; set outside, one sandbox would starve the next.
    few = f"--nproc={Limits().processes}"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    as_root = sandboxed_command(Limits(), 30_007, 3)
    assert as_root.index(few) < as_root.index("bwrap") < as_root.index("--reuid=30007")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    as_other = sandboxed_command(Limits(), 30_007, 3)
    assert as_other.index("bwrap") < as_other.index("--unshare-user") < as_other.index(few)


def test_a_machine_without_linux_gets_one_finding_that_says_what_to_do(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    (finding,) = examine_sandbox()
    assert not finding.sound
    assert "needs Linux, and this is darwin; grade in a container" in finding.remedy
    with pytest.raises(SandboxError, match=r"(?s)Nothing was graded.*this is darwin"):
        require_sandbox()


def test_a_function_of_the_grader_may_call_one_of_the_answer_in_turn():
    cell = """
import numpy as np
def doubled(model):
    seen = []
    def hook(number, outputs):
        seen.append(number)
        return model(outputs, None) if number == 0 else 2 * outputs
    return model(np.arange(3.0), hook), seen
"""

    def model(x, hook=None):
        for number in range(2 if hook else 0):
            x = hook(number, x) + 1
        return x

    with Sandbox() as sandbox:
        run_cells(sandbox, [cell])
        outcome = answer_named(sandbox, "doubled").observe(Case((model,)), "numpy", None, 9.0)
    result, seen = put_together(outcome.value)
    assert result.tolist() == [3.0, 5.0, 7.0]
    assert seen == [0, 1]


def test_a_hook_without_end_and_a_hook_that_fails_end_in_an_error_of_the_answer():
    cell = """
def deep(model):
    def hook(x):
        return model(x, hook)
    return model(1, hook)
def broken(model):
    return model(1, lambda x: x / 0)
"""
    case = Case((lambda x, hook: hook(x),))
    with Sandbox() as sandbox:
        run_cells(sandbox, [cell])
        deep = answer_named(sandbox, "deep").observe(case, "numpy", None, 20.0)
        broken = answer_named(sandbox, "broken").observe(case, "numpy", None, 9.0)
        assert sandbox.ended is None
    assert deep.mistake.type == "RecursionError"
    assert broken.mistake.type == "ZeroDivisionError"


LOG_SOFTMAX = """
import numpy as np
class functional:
    log_softmax = staticmethod(lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)))
"""


def graded_with_hooks(name, *change):
    """How an answer to 16.7 is graded, after a change of its source."""
    answer = next(each for each in answers("16_heads")["16.7"] if each.__name__ == name)
    source = inspect.getsource(answer).replace(name, "restored")
    source = source.replace(*change) if change else source
    submission = Submission("anna", "anna.ipynb", (LOG_SOFTMAX, source))
    plan = GradingPlan("16_heads", b"a secret of the tests alone", ("16.7",))
    return grade_submission(submission, plan)


@pytest.mark.parametrize("name", ["restored_by_where", "restored_on_a_copy"])
def test_a_right_answer_with_hooks_of_its_own_passes(name):
    """One hook always returns an array, the other only where it changes something."""
    assert graded_with_hooks(name).status == "passed"


def test_a_hook_that_writes_into_what_it_is_given_is_seen():
    graded = graded_with_hooks("restored_on_a_copy", "outputs = outputs.copy()", "pass")
    assert graded.status != "passed"
