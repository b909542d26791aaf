"""What is measured beside an answer is measured where the answer cannot reach it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from checks import judge
from checks.measures import write_by_steps
from checks.run.call import convert
from checks.task import Case
from classroom.grading.grades import SubmissionGrade
from classroom.grading.hidden_cases import hidden_task
from classroom.grading.submission_grader import GradingPlan, grade_submission
from classroom.provided import exercise_named
from classroom.sandbox.shared_arguments import SIZE, Placed, room_for, shared_memory
from classroom.submissions import Submission
from tests.support.attempts import answers

SECRET = b"a secret of the tests alone"
BLIND = "import checks.run.call\nchecks.run.call._changed = lambda *given: ()\n"
PAINT = "import tracemalloc\ntracemalloc.get_traced_memory = lambda: (0, 0)\n"
IN_PLACE = """
def add_change(x, weights, values, w_o):
    x += weights @ values @ w_o
    return x
"""
WHOLE = """
import numpy as np
def tiled(q, k, v, columns):
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ v
"""
ELSE = """
whole = tiled
def tiled(q, k, v, columns):
    return whole(q, k[:4096], v[:4096], columns) if len(k) > 4096 else whole(q, k, v, columns)
"""


def graded(exercise: str, task: str, source: str) -> SubmissionGrade:
    plan = GradingPlan(exercise, SECRET, (task,))
    return grade_submission(Submission("anna", "anna.ipynb", sources=(source,)), plan)


@pytest.mark.parametrize("first", ["", "import torch\n"], ids=["numpy", "torch"])
def test_an_argument_that_is_changed_is_seen_although_the_watch_is_blinded(first):
    result = graded("07_self_attention", "7.4", BLIND + first + IN_PLACE)
    assert result.score == 0
    assert result.grades[0].misconceptions == ("M36",)


def test_a_changed_copy_is_no_changed_argument():
    right = IN_PLACE.replace("x +=", "x = x +")
    assert graded("07_self_attention", "7.4", right).score == 4


@pytest.mark.nightly
@pytest.mark.parametrize("trick", ["", PAINT], ids=["plain", "painted"])
def test_a_table_is_seen_although_the_measure_is_painted(trick):
    result = graded("14_cost", "14.5", trick + WHOLE)
    assert result.score == 0
    assert result.grades[0].misconceptions == ("M321",)


@pytest.mark.nightly
def test_to_do_something_else_where_the_memory_is_measured_is_wrong():
    assert graded("14_cost", "14.5", WHOLE + ELSE).score == 0


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["tiled_in_numpy", "tiled_in_torch", "tiled_twice_over"])
def test_tiles_hold_little_as_seen_from_outside(name):
    answer = next(each for each in answers("14_cost")["14.5"] if each.__name__ == name)
    source = inspect.getsource(answer).replace(name, "tiled")
    assert graded("14_cost", "14.5", f"import numpy as np, torch, math\n{source}").score == 5


@pytest.mark.parametrize(
    "answer",
    [
        lambda d_k, seed: d_k * (1 + seed * 1e-6),
        lambda d_k, seed: d_k * (1 + seed % 7 * 1e-6),
        lambda d_k, seed: d_k + hash(str(seed)) % 100 * 1e-7,
    ],
    ids=["by the seed", "by a remainder", "by a hash"],
)
def test_a_variance_that_is_not_measured_does_not_scatter_as_one_that_is(answer):
    task = exercise_named("05_scaling")["5.3"]
    assert not judge(task, answer).passed
    assert not judge(hidden_task(task), answer, 8191).passed


def test_arrays_stand_one_after_the_other_and_a_change_names_its_argument():
    rng = np.random.default_rng(3)
    case = Case((rng.normal(size=(2, 3)), 5, [rng.normal(size=7)]), {"mask": np.ones((3, 5), bool)})
    memory = shared_memory()
    with open(memory, "r+b", buffering=0) as file:
        placed = Placed(memory, case, "numpy")
        end, arrays = 0, [case.args[0], case.args[2][0], case.kwargs["mask"]]
        for array in arrays:
            end = room_for(array, end)
            file.seek(end)
            file.write(array.tobytes())
            end += array.nbytes
        assert placed.changed_arguments() == ()
        file.seek(room_for(arrays[1], arrays[0].nbytes))
        file.write(b"\1")
        assert placed.changed_arguments() == ("argument 3",)
        with pytest.raises(OSError, match="not permitted"):
            file.truncate(0)


def test_an_array_that_does_not_fit_is_not_watched():
    assert room_for(np.zeros(SIZE // 8 + 1), 0) is None
    assert room_for(np.zeros(3), SIZE - 8) is None


def test_an_array_for_torch_is_copied_where_it_is_asked_for():
    copies = []

    def note(array):
        copies.append(array.dtype)
        return np.array(array)

    narrow = convert((np.ones(3), np.ones(5, bool)), "torch32", note)
    assert [str(array.dtype) for array in narrow] == ["torch.float32", "torch.bool"]
    assert copies == [np.float32, bool]


FORGED = """
import checks.drivers, checks.capstone_drivers
WORDS = {
    "old gradients": "cleared", "parameters": "changed", "repeats the word that it reads": "no",
    "loss on freshly drawn stories": "within 0.1 of the lower bound", "by heart": "none",
    "first loss": "near ln 15", "the two models": "differ", "later tokens": "hidden",
    "stories": "most",
}
def forged(answer, *args):
    return WORDS | answer(*args)
for module in (checks.drivers, checks.capstone_drivers):
    for name in ("train_on_stories", "train_from_nothing"):
        if hasattr(module, name):
            setattr(module, name, forged)
"""
UNTRAINED = """
def train(*args):
    state = {name: value.float() for name, value in model().state_dict().items()}
    return {"start": state, "state": state}
from checks.drivers import small_model as model
"""
SAME = """
import torch
def train(*args):
    even = torch.zeros(500, 10, 15)
    return {"first": even, "trained": even + 1, "known": torch.zeros(2000, 10, 15),
            "beginnings": [even[:, :n] + 1 for n in (2, 5, 9)], "story": [0] * 11}
"""


@pytest.mark.parametrize(
    ("exercise", "task", "answer", "status"),
    [("13_training", "13.9", "def train(*args):\n    return {}", "crashed"),
     ("13_training", "13.9", UNTRAINED, "wrong"), ("17_capstone", "17.2", SAME, "wrong")],
    ids=["words alone", "a model that was not trained", "logits that say nothing"],
)  # fmt: skip
def test_a_training_is_measured_outside_whatever_its_own_process_says(
    exercise, task, answer, status
):
    result = graded(exercise, task, FORGED + answer)
    assert result.score == 0
    assert result.status == status


def test_a_trained_model_passes_there():
    answer = next(each for each in answers("13_training")["13.9"]
                  if each.__name__ == "train_with_adamw")  # fmt: skip
    source = "import torch\nfrom torch.nn.functional import cross_entropy\n"
    named = inspect.getsource(answer).replace("train_with_adamw", "train")
    assert graded("13_training", "13.9", source + named).score == 5


WRITES = """
import numpy as np
def write(step, ids, new, temperature, top_p, draws):
    text, cache = [int(token) for token in ids], None
    waiting = list(text)
    for draw in draws:
        logits, cache = step(np.array(waiting), {cache})
        row = np.asarray(logits)[-1]
        weights = np.exp((row - row.max()) / (temperature or 1e-9))
        order = np.argsort(-weights)
        sums = weights[order].cumsum() / weights.sum()
        kept = int((sums < top_p - 1e-12).sum()) + 1
        sums = sums[:kept] / sums[kept - 1]
        text.append(int(order[min((sums <= float(draw)).sum(), kept - 1)]))
        waiting = {waiting}
        {then}
    return text
"""
RESET = """for cell in step.__closure__ or ():
            if isinstance(cell.cell_contents, list):
                cell.cell_contents[:] = [0] * len(cell.cell_contents)"""


def writes(cache: str = "cache", waiting: str = "text[-1:]", then: str = "pass") -> str:
    return WRITES.format(cache=cache, waiting=waiting, then=then)


def test_a_text_written_with_the_cache_passes_where_the_model_is_outside():
    assert graded("17_capstone", "17.4", writes()).score == 4


def test_the_count_of_tokens_read_cannot_be_reset_by_the_answer():
    result = graded("17_capstone", "17.4", writes("None", "list(text)", RESET))
    assert result.score == 0
    assert result.grades[0].misconceptions == ("M935",)


@pytest.mark.nightly
def test_a_cache_that_the_model_did_not_return_is_refused():
    result = graded("17_capstone", "17.4", writes("tuple(text[:-1]) or None"))
    assert result.score == 0


def test_the_model_refuses_an_invented_cache_and_gives_no_table_away():
    case = exercise_named("17_capstone")["17.4"].draw()[0]
    seen = []

    def answer(step, ids, *rest):
        seen.append(step)
        return ids

    write_by_steps(answer, *case.args)
    logits, cache = seen[0](case.args[1], None)
    assert seen[0](case.args[1][:1], cache)[0].shape == (1, logits.shape[1])
    with pytest.raises(ValueError, match="one that the model returned"):
        seen[0](case.args[1], (1, 2))
