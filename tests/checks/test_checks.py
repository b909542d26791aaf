"""The check engine: every status, hostile answers, and the words it finds for wrong numbers."""

from __future__ import annotations

import ast
import importlib
import pickle
import random
import signal
import sys
import time
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import Case, Exercise, Law, Task, Verdict, Wrong, grade_source, judge
from checks.capstone_drivers import train_from_nothing
from checks.drivers import train_on_stories
from checks.feedback import verdict
from checks.feedback.blocks import node_text
from checks.feedback.misconceptions import misconceptions
from checks.feedback.verdict import place_of
from checks.notebook import Cells, Check
from checks.run import call
from checks.run.call import Outcome, observe, once_more_if_it_loaded
from checks.run.clock import TooSlow, time_limit
from checks.run.compare import compare
from checks.run.nodes import Strange
from checks.run.plain_data import plain
from checks.status import Status
from checks.task import Measured

HALF = {
    f"checks.run.{name}"
    for name in ("call", "clock", "errors", "library_used", "nodes", "plain_data", "world")
}


class Pair(NamedTuple):
    output: Any
    weights: Any


def scores(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


def attention(q, k):
    table = np.exp(scores(q, k))
    weights = table / table.sum(-1, keepdims=True)
    return Pair(weights @ k, weights)


def two_arrays(rng):
    def draw(n, m, d):
        about = f"{n} queries, {m} keys, d_k = {d}"
        return Case((rng.normal(size=(n, d)), rng.normal(size=(m, d))), about=about)

    return [draw(3, 5, 7), draw(2, 3, 4)]


def make(name="answer", reference=scores, cases=two_arrays, **rest) -> Task:
    fixed = {"id": "5.1", "title": "A task", "difficulty": 1, "importance": 1, "minutes": 1}
    rest.setdefault("read", "chapters/05_scaling.html#why-the-root")
    return Task(name=name, reference=reference, cases=cases, **fixed, **rest)


SCORES = make(
    wrong=[
        Wrong("M01", lambda q, k: q @ k.T),
        Wrong("M02", lambda q, k: q @ k.T / q.shape[-1]),
        Wrong("M05", lambda q, k: q @ k),
        Wrong("M06", lambda q, k: scores(k, q)),
    ]
)
VALUE = make("dimension", 64, None, wrong=[Wrong("M03", 768)])


def said(answer, task=SCORES) -> str:
    verdict = judge(task, answer)
    assert not verdict.passed, verdict
    return repr(verdict)


class TestStatuses:
    def test_a_right_answer_passes_and_says_on_how_many_cases(self):
        verdict = judge(SCORES, scores)
        assert verdict.passed
        assert "Right on 2 cases." in repr(verdict)

    def test_a_named_mistake_is_named_with_the_smallest_case_and_a_place_to_read(self):
        verdict = judge(SCORES, lambda q, k: q @ k.T)
        assert verdict.status == "wrong"
        assert verdict.misconceptions == ("M01",)
        text = repr(verdict)
        assert "\nNo scaling. Your scores are not scaled" in text
        assert text.endswith("(M01)")
        assert "2 queries, 3 keys, d_k = 4" in text
        assert "expected  shape (2, 3)" in text
        assert "your answer  shape (2, 3)" in text
        assert "Read: chapter 5, scaling" in text

    def test_an_exception_is_shown_with_the_line_of_the_learner(self):
        def answer(q, k):
            nothing = {}
            return nothing["weights"]

        verdict = judge(SCORES, answer)
        assert verdict.status == "raised"
        assert "KeyError" in repr(verdict)
        assert '`return nothing["weights"]`' in repr(verdict)

    def test_the_same_error_as_a_misconception_is_named_and_another_is_not(self):
        verdict = judge(SCORES, lambda q, k: q @ k)
        assert (verdict.status, verdict.misconceptions) == ("raised", ("M05",))

        def other(q, k):
            raise ValueError("something else")

        assert judge(SCORES, other).misconceptions == ()

    @pytest.mark.parametrize("error", [NotImplementedError, NotImplementedError("later")])
    def test_the_untouched_stub_is_not_attempted(self, error):
        def answer(q, k):
            raise error

        assert judge(SCORES, answer).status == "not attempted"
        assert "not attempted yet" in said(answer)

    def test_three_dots_are_not_attempted(self):
        def returned(q, k):
            return ...

        assert judge(SCORES, ...).status == "not attempted"
        assert judge(SCORES, returned).status == "not attempted"
        assert judge(VALUE, ...).status == "not attempted"

    def test_an_empty_body_and_a_missing_return_are_told_apart_from_the_stub(self):
        def empty(q, k):
            """Nothing but a docstring."""

        def forgot(q, k):
            scores(q, k)

        assert "did you forget `return`" in said(empty)
        assert "did you forget `return`" in said(forgot)
        assert judge(SCORES, empty).status == "not attempted"
        assert judge(SCORES, forgot).status == "not understood"

    def test_something_that_cannot_be_called_is_not_understood(self):
        verdict = judge(SCORES, 3)
        assert verdict.status == "not understood"
        assert "`answer` is a whole number" in repr(verdict)

    def test_too_few_arguments_are_shown_with_the_signature(self):
        verdict = judge(SCORES, lambda q: q)
        assert verdict.status == "not understood"
        assert "The check calls `answer(q, k)`" in repr(verdict)
        assert "it takes (q), and it is called with 2 arguments" in repr(verdict)

    def test_an_endless_loop_is_stopped_even_if_it_swallows_the_first_alarm(self, monkeypatch):
        monkeypatch.setattr(call, "SECONDS", 0.1)

        def answer(q, k):
            try:
                while True:
                    pass
            except BaseException:
                while True:
                    pass

        verdict = judge(SCORES, answer)
        assert verdict.status == "too slow"
        assert "loop" in repr(verdict)

    def test_a_training_run_has_more_time_than_other_answers(self, monkeypatch):
        monkeypatch.setattr(call, "SECONDS", 0.1)

        def answer(q, k):
            time.sleep(0.2)
            return scores(q, k)

        assert judge(SCORES, answer).status == "too slow"
        assert judge(replace(SCORES, slow=True), answer).passed

    def test_an_answer_that_is_too_slow_the_second_time_is_not_called_unsteady(self, monkeypatch):
        monkeypatch.setattr(call, "SECONDS", 0.2)
        calls = []

        def answer(q, k):
            calls.append(1)
            time.sleep(0.4 * (len(calls) > len(SCORES.draw())))
            return scores(q, k)

        assert judge(SCORES, answer).status == "too slow"

    def test_the_numbers_behind_a_measure_are_told_whether_it_passes_or_not(self):
        def measure(handed, q, k):
            return Measured("low" if handed < 1 else "high", f"The loss is {handed:.2f}.")

        task = replace(SCORES, reference=lambda q, k: 0.5, measure=measure)
        assert "The loss is 0.25." in judge(task, lambda q, k: 0.25).sentences
        refused = judge(task, lambda q, k: 2.0)
        assert not refused.passed
        assert refused.sentences.count("The loss is 2.00.") == 1

    def test_a_reference_may_be_slow_for_its_first_call_may_import_much(self, monkeypatch):
        monkeypatch.setattr(call, "SECONDS", 0.1)

        def reference(q, k):
            time.sleep(0.2)
            return scores(q, k)

        assert judge(replace(SCORES, reference=reference), scores).passed

    def test_a_syntax_error_shows_the_line(self):
        verdict = grade_source(SCORES, "x = 1\ndef answer(q, k:\n    return q\n")
        assert verdict.status == "syntax error"
        assert "line 2" in repr(verdict)
        assert "`def answer(q, k:`" in repr(verdict)

    def test_a_missing_name_is_told_with_its_nearest_neighbour(self):
        verdict = grade_source(SCORES, "def answers(q, k):\n    return q\n")
        assert verdict.status == "missing"
        assert "`answers`" in repr(verdict)

    def test_a_cell_that_stops_is_shown_with_its_line(self):
        verdict = grade_source(SCORES, "import math\nmath.sqrt(-1)\ndef answer(q, k): return q")
        assert verdict.status == "raised"
        assert "line 2, `math.sqrt(-1)`" in repr(verdict)

    def test_source_that_is_right_passes(self):
        text = "import numpy as np\ndef answer(q, k):\n    return q @ k.T / np.sqrt(q.shape[-1])"
        assert grade_source(SCORES, text).passed


class TestStyles:
    @pytest.mark.parametrize(
        "answer",
        [
            lambda q, k: [
                [sum(a * b for a, b in zip(x, y, strict=True)) / len(x) ** 0.5 for y in k]
                for x in q
            ],
            lambda q, k: np.einsum("id,jd->ij", q, k) / q.shape[1] ** 0.5,
            lambda q, k: torch.einsum("id,jd->ij", q, k) / q.size(-1) ** 0.5,
            lambda q, k: torch.as_tensor(q) @ torch.as_tensor(k).mT / q.shape[-1] ** 0.5,
            lambda q, k: scores(q.astype(np.float32), k.astype(np.float32)),
            lambda q, k: scores(q, k).astype(np.float16),
            lambda q, k: torch.tensor(scores(q, k)).bfloat16(),
            lambda q, k: torch.tensor(scores(q, k), requires_grad=True),
            lambda q, k: [row.clone() for row in q @ k.transpose(0, 1) / q.size(1) ** 0.5],
            lambda q, k: np.asfortranarray(scores(q, k)),
            lambda q, k: tuple(map(tuple, scores(q, k))),
            lambda *both: scores(*both),
        ],
    )
    def test_a_right_answer_passes_in_any_style(self, answer):
        verdict = judge(SCORES, answer)
        assert verdict.passed, verdict

    def test_a_module_with_float32_weights_passes_on_tensors(self):
        def double(x):
            layer = torch.nn.Linear(3, 3, bias=False)
            with torch.no_grad():
                layer.weight.copy_(2 * torch.eye(3))
            return layer(x)

        task = make(reference=lambda x: 2 * x, cases=lambda rng: [Case((rng.normal(size=(2, 3)),))])
        assert judge(task, double).passed

    def test_a_plain_tuple_and_a_list_pass_for_a_named_tuple(self):
        task = make(reference=attention)
        assert judge(task, lambda q, k: tuple(attention(q, k))).passed
        assert judge(task, lambda q, k: list(attention(q, k))).passed

    def test_a_torch_task_gives_tensors_and_takes_arrays_back(self):
        def reference(x):
            return torch.softmax(x, -1)

        def by_numpy(x):
            return np.exp(np.asarray(x)) / np.exp(np.asarray(x)).sum(-1, keepdims=True)

        task = make(
            reference=reference,
            cases=lambda rng: [Case((rng.normal(size=(2, 3)),))],
            arrays=("torch",),
        )
        assert judge(task, by_numpy).passed
        assert judge(task, lambda x: x.softmax(-1)).passed

    @pytest.mark.parametrize("value", [64, 64.0, np.int64(64), np.array(64), torch.tensor(64)])
    def test_a_value_may_be_any_number(self, value):
        assert judge(VALUE, value).passed

    @pytest.mark.parametrize("value", [64.001, True, "64", [64], None, (64, 64), np.array([64])])
    def test_what_is_not_that_value_does_not_pass(self, value):
        assert not judge(VALUE, value).passed

    def test_a_float_that_is_nearly_a_large_count_does_not_pass(self):
        task = make("count", 124_439_808, None)
        assert judge(task, 124_439_808.0).passed
        assert not judge(task, 124_439_807.0).passed

    def test_prints_warnings_and_random_numbers_do_not_matter(self, capsys):
        def noisy(q, k):
            print("looking at", q.shape)
            np.random.seed(3)
            torch.manual_seed(4)
            random.seed(5)
            np.log(np.zeros(2))
            np.random.random(7)
            return scores(q, k)

        before = (np.random.get_state()[1].copy(), torch.get_rng_state())
        verdict = judge(SCORES, noisy)
        assert verdict.passed
        assert "looking" not in repr(verdict)
        assert (np.random.get_state()[1] == before[0]).all()
        assert torch.equal(torch.get_rng_state(), before[1])

    def test_the_state_of_random_is_put_back(self):
        def drawing(q, k):
            random.seed(5)
            return scores(q, k)

        random.seed(7)
        before = random.getstate()
        assert judge(SCORES, drawing).passed
        assert random.getstate() == before

    def test_the_states_are_put_back_after_a_wrong_answer_and_an_error(self):
        def stopping(q, k):
            raise ValueError(random.random())

        for wrong in (lambda q, k: scores(q, k) * np.random.random(), stopping):
            np.random.seed(7)
            before = random.getstate(), np.random.get_state()[1].copy()
            assert not judge(SCORES, wrong).passed
            assert random.getstate() == before[0]
            assert (np.random.get_state()[1] == before[1]).all()


class TestHostileAnswers:
    def test_an_object_equal_to_everything_does_not_pass(self):
        class Liar:
            shape = (2, 3)
            dtype = np.dtype(float)

            def __eq__(self, other):
                return True

            __hash__ = None

            def __array__(self, *_, **__):
                raise AssertionError("nobody asks me")

        assert judge(SCORES, lambda q, k: Liar()).status == "not understood"
        assert judge(VALUE, Liar()).status == "not understood"

    def test_an_array_subclass_that_lies_is_read_by_its_data(self):
        class Lying(np.ndarray):
            def __eq__(self, other):
                return np.ones(self.shape, bool)

            def __array_function__(self, *_, **__):
                return True

            def __array_ufunc__(self, *_, **__):
                return True

        assert judge(SCORES, lambda q, k: np.zeros((len(q), len(k))).view(Lying)).status == "wrong"
        assert judge(SCORES, lambda q, k: scores(q, k).view(Lying)).passed

    def test_a_tensor_subclass_that_lies_is_read_by_its_data(self):
        class Lying(torch.Tensor):
            @classmethod
            def __torch_function__(cls, *_, **__):
                return True

        wrong = torch.zeros(2, 3).as_subclass(Lying)
        assert plain(wrong).values.sum() == 0
        right = judge(SCORES, lambda q, k: torch.tensor(scores(q, k)).as_subclass(Lying))
        assert right.passed

    def test_numbers_that_lie_are_read_by_their_value(self):
        class Int(int):
            def __eq__(self, other):
                return True

            __hash__ = None

        class Float(float):
            def __float__(self):
                return 64.0

        assert not judge(VALUE, Int(3)).passed
        assert not judge(VALUE, Float(3)).passed

    def test_a_class_that_pretends_to_be_an_array_is_not_one(self):
        class Pretender:
            __class__ = np.ndarray

        assert isinstance(plain(Pretender()), Strange)

    def test_the_input_itself_changed_into_the_answer_is_noticed(self):
        def half(x):
            x /= 2
            return x

        task = make(reference=lambda x: x / 2, cases=lambda rng: [Case((rng.normal(size=(2, 3)),))])
        verdict = judge(task, half)
        assert verdict.status == "wrong"
        assert verdict.misconceptions == ("M36",)
        assert "`x`" in repr(verdict)

    def test_a_view_of_the_input_is_a_right_answer(self):
        task = make(
            reference=lambda x: x.T.copy(), cases=lambda rng: [Case((rng.normal(size=(2, 3)),))]
        )
        assert judge(task, lambda x: x.T).passed

    def test_lists_and_dictionaries_changed_in_place_are_noticed(self):
        task = make(
            reference=lambda words, counts: len(words),
            cases=lambda rng: [Case((["a", "b"], {"a": 1}))],
        )

        def pops(words, counts):
            counts["b"] = 2
            words.append("c")
            return len(words) - 1

        assert "`words` and `counts`" in said(pops, task)

    def test_what_a_wrong_answer_does_to_its_inputs_is_said_too(self):
        def answer(q, k):
            q *= 3
            return q @ k.T + 1

        assert "changed its argument `q` in place" in said(answer)

    @pytest.mark.parametrize("stop", [SystemExit, GeneratorExit, BaseException, MemoryError])
    def test_whatever_is_raised_is_caught(self, stop):
        def answer(q, k):
            raise stop("enough")

        assert stop.__name__ in said(answer)

    def test_control_c_is_not_caught(self):
        def answer(q, k):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            judge(SCORES, answer)

    def test_endless_recursion_is_an_error_like_any_other(self):
        def answer(q, k):
            return answer(q, k)

        assert "RecursionError" in said(answer)

    def test_an_exception_without_a_readable_message_is_shown(self):
        class MuteError(Exception):
            def __str__(self):
                raise RuntimeError

        def answer(q, k):
            raise MuteError

        assert "MuteError" in said(answer)

    def test_a_message_that_no_file_could_hold_is_escaped(self):
        def answer(q, k):
            raise ValueError("half a pair: \ud800")

        assert r"\ud800" in said(answer).encode("utf8").decode("utf8")

    def test_a_huge_message_is_cut(self):
        def answer(q, k):
            raise ValueError("x" * 1_000_000)

        assert len(said(answer)) < 3000

    def test_a_huge_result_is_described_and_not_copied(self):
        task = make(reference=lambda q, k: 1.0)
        huge = np.broadcast_to(np.zeros(1), (10**6, 10**6))
        assert "(1000000, 1000000)" in said(lambda q, k: huge, task)
        endless = torch.zeros(1).expand(10**6, 10**6)
        assert "(1000000, 1000000)" in said(lambda q, k: endless, task)
        assert len(said(lambda q, k: "x" * 10**6, task)) < 3000
        assert len(said(lambda q, k: list(range(10**6)), task)) < 3000
        assert "binary digits" in said(lambda q, k: 10**5000, task)

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (lambda q, k: (row for row in q), "a generator"),
            (lambda q, k: map(sum, q), "an iterator"),
            (lambda q, k: np.matrix(scores(q, k)), "np.matrix"),
            (lambda q, k: np.ma.array(scores(q, k)), "masked array"),
            (lambda q, k: scores(q, k).astype(object), "holds Python objects"),
            (lambda q, k: [[1.0], [1.0, 2.0]], "a list of 2"),
            (lambda q, k: scores, "brackets ()"),
            (lambda q, k: torch.nn.Linear(2, 3), "a Linear object"),
            (lambda q, k: Pair, "a class"),
            (lambda q, k: "numbers", "text"),
            (lambda q, k: torch.zeros(2, 3).to_sparse(), "sparse"),
            (lambda q, k: torch.zeros(2, 3, device="meta"), "without data"),
        ],
    )
    def test_what_is_no_array_is_called_by_its_name(self, answer, words):
        assert judge(SCORES, answer).status == "not understood"
        assert words in said(answer)

    def test_a_list_that_holds_itself_comes_to_an_end(self):
        ring: list = []
        ring.append(ring)
        assert "list" in said(lambda q, k: ring)

    def test_lists_that_hold_each_other_many_times_come_to_an_end(self):
        ring: list = []
        ring.extend([ring] * 30)
        assert "a list that contains itself" in repr(plain(ring))
        layers: list = [1] * 30
        for _ in range(10):
            layers = [layers] * 30
        assert "items altogether" in repr(plain([*layers]))[-3000:]
        assert "list" in said(lambda q, k: ring)

    def test_an_answer_that_remembers_its_calls_is_noticed(self):
        calls = []

        def answer(q, k):
            calls.append(q)
            return scores(q, k) if len(calls) <= 2 else q

        assert "Called twice" in said(answer)

    def test_the_same_answer_gets_the_same_verdict(self):
        def answer(q, k):
            return q @ k.T + np.random.normal()

        assert repr(judge(SCORES, answer)) == repr(judge(SCORES, answer))


class TestWordsForWrongNumbers:
    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (lambda q, k: scores(q, k) * 3, "every number is 3 times the right one"),
            (lambda q, k: scores(q, k) + 2, "every number is the right one plus 2"),
            (lambda q, k: -scores(q, k), "-1 times"),
            (lambda q, k: scores(q, k) / q.shape[1], "0.25 = 1/q.shape[-1]"),
            (lambda q, k: scores(q, k) * len(k) ** 0.5, "1.73 = sqrt(k.shape[-2])"),
            (lambda q, k: scores(q, k) * np.log(2), "0.693 = ln 2"),
            (lambda q, k: 0 * scores(q, k), "every number is zero"),
            (lambda q, k: scores(q, k) * np.nan, "NaN"),
            (lambda q, k: scores(q, k) / 0, "infinite"),
            (lambda q, k: scores(q, k)[::-1], "rows are right but in the opposite order"),
            (lambda q, k: scores(q, k)[:, ::-1], "columns are right but in the opposite order"),
            (lambda q, k: np.sort(scores(q, k), axis=None).reshape(len(q), -1), "another order"),
            (lambda q, k: np.round(scores(q, k), 2), "rounded"),
            (lambda q, k: scores(q, k)[None], "only the shape is not"),
            (
                lambda q, k: scores(q, k) * (np.arange(len(q)) > 0)[:, None],
                "only the first row differs",
            ),
            (lambda q, k: scores(q, k) * (np.arange(len(k)) > 0), "only the first column differs"),
            (lambda q, k: scores(q, k)[..., None] * np.ones(4), "broadcast"),
            (lambda q, k: scores(q, k).sum(1), "axes are missing: were they summed"),
            (lambda q, k: scores(q, k) > 0, "the result is bool"),
            (lambda q, k: np.log(-np.abs(scores(q, k))), "the logarithm or root of a negative"),
        ],
    )
    def test_what_can_be_seen_is_said(self, answer, words):
        with np.errstate(all="ignore"):
            assert words.lower() in said(answer).lower()

    def test_a_row_shows_as_many_digits_as_tell_its_numbers_apart(self):
        def shown(*row):
            return node_text(observe(lambda x: x, Case((np.array(row),))).value)

        assert shown(800.0, 800.4, 799.9) == "[  800 800.4 799.9]"
        assert shown(1 / 3, 1 / 3, 0.5) == "[0.333 0.333   0.5]"

    def test_a_half_may_be_rounded_up_or_down_and_a_wrong_number_is_not_rounded(self):
        halves = np.array([0.125, 0.375, 1.625])
        task = make(reference=lambda x: x, cases=lambda rng: [Case((halves,), about="halves")])
        assert "rounded" in said(lambda x: np.array([0.13, 0.38, 1.63]), task)
        assert "rounded" in said(lambda x: np.array([0.12, 0.38, 1.62]), task)
        assert "rounded" not in said(lambda x: np.array([0.14, 0.38, 1.62]), task)

    def test_square_results_are_recognised_as_transposed_or_triangular(self):
        task = make(
            reference=lambda x: x, cases=lambda rng: [Case((rng.normal(size=(3, 3)),), about="x")]
        )
        assert "transposed" in said(lambda x: x.T, task)
        assert "above the diagonal" in said(np.tril, task)
        assert "below the diagonal" in said(np.triu, task)
        assert "on the diagonal" in said(lambda x: x + np.eye(3), task)
        assert "another order: row 0 is yours at 1" in said(lambda x: x[[2, 0, 1]], task)

    def test_rows_of_weights_that_do_not_sum_to_1_are_told_their_sums(self):
        def weights(x):
            return np.exp(x) / np.exp(x).sum(-1, keepdims=True)

        task = make(reference=weights, cases=lambda rng: [Case((rng.normal(size=(2, 3)),))])
        assert "The columns of your answer sum to 1" in said(lambda x: weights(x.T).T, task)
        assert "together sum to 1" in said(lambda x: np.exp(x) / np.exp(x).sum(), task)
        assert "1 only nearly: were they rounded?" in said(lambda x: weights(x) * 1.004, task)
        assert "The rows of your answer sum to 1.5, 3, and" in said(
            lambda x: weights(x) * np.array([[1.5], [3]]), task
        )

    def test_a_right_answer_among_others_is_pointed_out(self):
        assert "Result 2 of your 2 is right" in said(lambda q, k: (q, scores(q, k)))

    def test_an_argument_given_back_is_recognised(self):
        task = make(reference=lambda q: 2 * q + 1, cases=lambda rng: [Case((rng.normal(size=3),))])
        assert "this is the argument `q`, unchanged" in said(lambda q: q, task).lower()

    def test_right_values_of_the_wrong_kind_are_met_with_both_kinds(self):
        task = make(reference=lambda n: np.tri(n, dtype=bool), cases=lambda rng: [Case((3,))])
        text = said(lambda n: np.tri(n), task)
        assert "right, but as float64; bool is expected" in text
        assert "True and False are exchanged" in said(lambda n: ~np.tri(n, dtype=bool), task)

    def test_the_part_of_a_named_tuple_that_differs_is_named(self):
        task = make(reference=attention)
        assert "`weights`" in said(lambda q, k: Pair(attention(q, k)[0], scores(q, k)), task)
        assert "This is `weights` alone" in said(lambda q, k: attention(q, k).weights, task)
        assert "opposite order" in said(lambda q, k: attention(q, k)[::-1], task)
        assert "3 results came back; 2 are expected (output, weights)" in said(
            lambda q, k: (*attention(q, k), 1), task
        )

    def test_too_few_or_too_many_are_counted_where_they_are(self):
        def task(answer):
            return make(reference=lambda n: answer, cases=lambda rng: [Case((3,))])

        listed, nested = task(["a", "b", "c"]), task((["a", "b", "c"], 1.0))
        assert "Your list has 2 elements; 3 are expected" in said(lambda n: ["a", "b"], listed)
        assert "` has 2 elements; 3 are expected" in said(lambda n: (["a", "b"], 1.0), nested)
        some = said(lambda n: {"a", "b"}, task({"a", "b", "c"}))
        assert "Your set has 2 elements: some are missing or too many" in some

    def test_the_value_of_a_value_task_is_not_given_away(self):
        text = said(7, VALUE)
        assert "64" not in text.replace("float64", "")
        assert "M03" in said(768, VALUE)

    def test_two_ideas_with_the_same_numbers_are_both_told(self):
        square = make(
            wrong=[
                Wrong("M11", lambda q, k: 2 * scores(q, k)),
                Wrong("M12", lambda q, k: 2 * scores(q, k)),
            ]
        )
        verdict = judge(square, lambda q, k: 2 * scores(q, k))
        assert verdict.misconceptions == ("M11", "M12")
        assert "More than one mistake" in repr(verdict)

    def test_two_mistakes_at_once_are_told_where_declared(self):
        task = make(wrong=[*SCORES.wrong, Wrong("M01+M06", lambda q, k: k @ q.T)])
        verdict = judge(task, lambda q, k: k @ q.T)
        assert verdict.misconceptions == ("M01", "M06")
        assert "Two mistakes together" in repr(verdict)

    def test_a_misconception_that_fits_only_where_the_answer_is_wrong_is_told_so(self):
        def answer(q, k):
            return scores(q, k) if len(q) == 2 else q @ k.T

        verdict = judge(SCORES, answer)
        assert verdict.misconceptions == ("M01",)
        assert "Where your answer is wrong" in repr(verdict)

    def test_a_misconception_that_fits_one_of_two_failing_cases_is_not_told(self):
        def answer(q, k):
            return q @ k.T if len(q) == 2 else q @ k.T + 1

        assert judge(SCORES, answer).misconceptions == ()

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (lambda x: x.mean() / 100 * 1e4, "your number is the right one in percent"),
            (lambda x: 1 - x.mean(), "your number is 1 minus the right one"),
            (lambda x: x.mean() + 1e-5, "your answer is 0.25001 where 0.25 is expected"),
            (lambda x: 0.0, "your answer is 0 where 0.25 is expected"),
        ],
    )
    def test_a_share_is_told_from_its_complement_and_from_a_percentage(self, answer, words):
        task = make(reference=lambda x: x.mean(), cases=lambda rng: [Case((np.array([0.2, 0.3]),))])
        assert words in said(answer, task).lower()

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (lambda n: [3, 1, 4, 1], "1 number is missing at the end; the others are right"),
            (lambda n: [1, 4, 1, 5], "1 number is missing in front"),
            (lambda n: [3, 1, 4, 1, 5, 9, 2], "2 numbers are too many at the end"),
            (lambda n: [0, 3, 1, 4, 1, 5], "1 number is too many in front"),
            (lambda n: [0, 0, 0, 0, 0], "every number is zero"),
        ],
    )
    def test_a_row_that_is_right_as_far_as_it_goes_is_told_so(self, answer, words):
        task = make(reference=lambda n: [3, 1, 4, 1, 5], cases=lambda rng: [Case((5,))])
        text = said(answer, task).lower()
        assert words in text
        assert "result 1" not in text

    def test_shapes_are_told_together_and_by_the_name_of_their_entry(self):
        task = make(
            reference=lambda n: {"map": (n, 3), "weights": (n, n)},
            cases=lambda rng: [Case((5,))],
        )
        text = said(lambda n: {"map": (3, n), "weights": (n, n)}, task)
        assert "`map` is (3, 5) where (5, 3) is expected" in text
        assert "In `map`: the numbers are right but in the opposite order" in text
        assert "a dictionary without 'map' and with 'Map', which is not asked for" in said(
            lambda n: {"Map": (n, 3), "weights": (n, n)}, task
        )

    def test_an_answer_that_spoils_its_input_hears_of_that_first(self):
        def answer(q, k):
            k *= 0.5
            return 2 * q @ k.T

        verdict = judge(SCORES, answer)
        assert verdict.misconceptions == ("M01",)
        assert "changed its argument `k` in place" in verdict.sentences[0]


class TestTwoLibraries:
    """Whoever takes NumPy's arrays for torch's, or mixes the two, is told so."""

    def task(self, *arrays: str) -> Task:
        return make(
            reference=lambda x: x.sum(-1),
            cases=lambda rng: [Case((rng.normal(size=(2, 3)),))],
            arrays=arrays,
        )

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (lambda x: x.sum(dim=-1), "`dim=` is torch's word, and this array is NumPy's"),
            (lambda x: x.masked_fill(x > 9, 0), "`.masked_fill` is torch's, and this array is"),
            (lambda x: torch.sum(x, -1), "Your answer mixes NumPy and torch."),
            (lambda x: torch.logical_and(x, x), "Your answer mixes NumPy and torch."),
            (lambda x: torch.cat([torch.ones(1), x]), "Your answer mixes NumPy and torch."),
            (lambda x: x @ torch.ones(3, 2), "Your answer mixes NumPy and torch."),
            (lambda x: np.softmax(x, -1), "`softmax` is torch's, and NumPy has none"),
        ],
    )
    def test_where_arrays_are_numpys_torch_is_called_by_its_name(self, answer, words):
        text = said(answer, self.task("numpy"))
        assert words in text
        assert "The arrays of this task are NumPy's: answer in NumPy." in text

    def test_where_arrays_are_torchs_numpy_is_called_by_its_name(self):
        text = said(lambda x: x.astype(int), self.task("torch"))
        assert "`.astype` is NumPy's, and this array is torch's" in text
        assert "answer in torch" in text

    def test_where_both_will_do_a_mixture_of_them_is_told(self):
        def answer(x):
            return torch.sum(x, -1) + x.astype(float)[:, 0]

        text = said(answer, self.task("numpy", "torch"))
        assert "Answer in NumPy or in torch, but all of it in one of them." in text

    @pytest.mark.parametrize(
        "answer", [lambda x: x.sums(-1), lambda x: x(0), lambda x: np.nothing(x), lambda x: x / "a"]
    )
    def test_an_error_that_has_nothing_to_do_with_it_is_left_alone(self, answer):
        verdict = judge(self.task("numpy", "torch"), answer)
        assert verdict.status == "raised"
        assert not any("NumPy" in sentence for sentence in verdict.sentences)


class TestLaws:
    ROWS = Law(
        "M11", "rows sum to 1", lambda answer, case: np.allclose(answer(*case.args).sum(-1), 1)
    )

    def shares(self, **rest) -> Task:
        return make(
            reference=lambda x: np.full_like(x, 1 / x.shape[-1]),
            cases=lambda rng: [Case((rng.normal(size=(2, 3)),), about="x of 2 rows")],
            **rest,
        )

    def test_where_many_answers_are_right_the_laws_decide(self):
        task = self.shares(laws=[self.ROWS], unique=False)
        assert judge(task, lambda x: abs(x) / abs(x).sum(-1, keepdims=True)).passed
        verdict = judge(task, lambda x: abs(x) / abs(x).sum(0))
        assert verdict.misconceptions == ("M11",)
        assert "rows sum to 1" in repr(verdict)

    def test_a_law_may_say_what_is_broken_and_hears_of_errors(self):
        law = Law(
            None, "it answers three", lambda answer, case: answer(*case.args) == 3 or "no three"
        )
        task = make(reference=lambda x: 3, cases=lambda rng: [Case((1,))], laws=[law], unique=False)
        assert judge(task, lambda x: 3).passed
        assert "no three" in said(lambda x: 4, task)

        def fussy(x):
            fussy.calls = getattr(fussy, "calls", 0) + 1
            if fussy.calls > 1:
                raise ValueError("no more")
            return 3

        assert "no more" in said(fussy, task)

    def test_whoever_takes_long_is_not_blamed_for_the_law(self, monkeypatch):
        def slow(answer, case):
            while True:
                answer(*case.args)

        monkeypatch.setattr(call, "SECONDS", 0.5)
        task = self.shares(laws=[Law("M11", "rows sum to 1", slow)])
        verdict = judge(task, task.reference)
        assert verdict.status == "too slow"
        assert verdict.misconceptions == ()

    def test_a_law_cannot_change_the_case_of_the_next(self):
        def spoil(answer, case):
            case.args[0][:] = 0
            return True

        task = self.shares(laws=[Law(None, "spoils", spoil), self.ROWS])
        assert judge(task, task.reference).passed

    def test_without_a_unique_answer_there_must_be_laws(self):
        with pytest.raises(ValueError, match="laws"):
            self.shares(unique=False)


class TestAuthors:
    def test_cases_depend_on_seed_and_task_alone(self):
        first, second = SCORES.draw(1), SCORES.draw(1)
        assert all(plain(a.args).equals(plain(b.args)) for a, b in zip(first, second, strict=True))
        assert not plain(first[0].args).equals(plain(SCORES.draw(2)[0].args))

    def test_a_reference_that_fails_is_an_error_of_the_course(self):
        with pytest.raises(RuntimeError, match="reference"):
            judge(make(reference=lambda q, k: q @ k), scores)

    def test_a_case_whose_arguments_are_no_tuple_is_refused(self):
        with pytest.raises(TypeError, match="tuple"):
            Case(np.zeros(3))

    def test_two_tasks_with_one_name_are_refused(self):
        with pytest.raises(ValueError, match="same id"):
            Exercise("05", "Scaling", [SCORES, SCORES])

    def test_a_driver_calls_classes_and_names_their_arguments(self):
        class Halver:
            def __init__(self, by):
                self.by = by

            def run(self, x):
                return x / self.by

        task = make(
            "Halver",
            Halver,
            lambda rng: [Case((rng.normal(size=3),))],
            call=lambda cls, x: cls(2).run(x),
        )
        assert judge(task, Halver).passed

        class Spoiler(Halver):
            def run(self, x):
                x /= 2
                return x

        assert "`x`" in said(Spoiler, task)


class TestVerdicts:
    def all_statuses(self) -> list[Verdict]:
        def broken(q, k):
            raise ValueError("<b>& `odd")

        return [
            judge(SCORES, scores),
            judge(SCORES, lambda q, k: q @ k.T),
            judge(SCORES, broken),
            judge(SCORES, ...),
            judge(SCORES, 3),
            grade_source(SCORES, "def answer(:"),
            grade_source(SCORES, "x = 3"),
        ]

    def test_a_verdict_prints_the_same_twice_in_both_forms(self):
        for first, second in zip(self.all_statuses(), self.all_statuses(), strict=True):
            assert repr(first) == repr(second)
            assert first._repr_html_() == second._repr_html_()

    def test_the_html_is_escaped_and_has_the_class_of_its_status(self):
        pages = [shown._repr_html_() for shown in self.all_statuses()]
        assert "<b>" not in pages[2]
        assert "&lt;b&gt;&amp;" in pages[2]
        assert 'class="course-verdict passed"' in pages[0]
        assert 'class="course-verdict not-attempted"' in pages[3]

    def test_no_colour_is_spelled(self):
        text = "".join(shown._repr_html_() for shown in self.all_statuses())
        assert "#" not in text.replace("ipynb#", "").replace("md#misconception", "").replace(
            "&#", ""
        )
        assert "rgb" not in text

    def test_the_link_leads_from_the_exercise_to_the_chapter(self):
        assert verdict.href("chapters/05_scaling.html#why") == "../chapters/05_scaling.ipynb#why"

    def test_a_place_is_called_by_its_heading_or_by_its_anchor_where_the_page_is_missing(self):
        for claim in ("S0-21", "S0-22"):
            page = Path(verdict.__file__).parents[2] / "chapters/05_scaling_deeper.md"
            text = page.read_text("utf8")
            above = text.partition(f'<a id="claim-{claim}">')[0].rpartition("\n## ")[2]
            place = verdict.place_in_words(f"chapters/05_scaling_deeper.html#claim-{claim}")
            assert place == f"chapter 5, scaling deeper, \u201c{above.splitlines()[0]}\u201d"
        text = verdict.place_in_words("chapters/05_scaling.html#why-the-variance-grows")
        assert text == "chapter 5, scaling, \u201cWhy the variance grows\u201d"
        gone = "chapters/98_far.html"
        assert verdict.place_in_words(f"{gone}#claim-S0-21") == "chapter 98, far, at claim S0-21"
        assert verdict.place_in_words(f"{gone}#by-hand") == "chapter 98, far, \u201cby hand\u201d"
        assert verdict.place_in_words("chapters/05_scaling.html") == "chapter 5, scaling"

    def test_nobody_is_sent_to_a_chapter_after_that_of_the_task(self):
        ahead, here = misconceptions()["M11"], misconceptions()["M01"]
        task = make(read="chapters/05_scaling.html#by-hand")
        assert ahead.read.startswith("chapters/06")
        assert place_of(ahead, task) == task.read
        assert place_of(here, task) == here.read
        assert place_of(ahead, replace(task, id="17.4")) == ahead.read

    def test_outcomes_are_plain_data_that_another_process_could_send(self):
        outcome = observe(attention, Case((np.eye(2), np.eye(2))))
        again = pickle.loads(pickle.dumps(outcome))
        assert compare(outcome.value, again.value) is None

    def test_the_calling_half_knows_nothing_of_the_right_answer(self):
        folder = Path(call.__file__).parent
        for name in HALF:
            tree = ast.parse((folder / f"{name.rpartition('.')[2]}.py").read_text("utf8"))
            imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            ours = {name for name in imported if name and name.startswith(("checks", "lib"))}
            assert ours <= {*HALF, "checks.status", "checks.task"}


class TestNotebookFace:
    def face(self, **namespace) -> Check:
        tasks = [SCORES, make("dimension", 64, None, wrong=VALUE.wrong)]
        tasks[1] = Task(**{**vars(tasks[1]), "id": "5.2"})
        return Check(Exercise("05", "Scaling", tasks), namespace)

    def test_it_finds_the_name_in_the_notebook(self):
        assert self.face(answer=scores)("5.1").passed
        assert self.face(dimension=64)("5.2").passed
        assert self.face()("5.1").status == "missing"

    def test_an_unknown_number_is_answered_with_those_that_exist(self):
        with pytest.raises(ValueError, match=r"there are 5\.1, 5\.2"):
            self.face()("9.9")

    def test_overview_and_progress_are_tables(self):
        check = self.face(answer=scores, dimension=...)
        assert "2 tasks, about 2 minutes." in repr(check.overview())
        assert "1 of 2 passed." in repr(check.progress())
        assert "not attempted yet" in repr(check.progress())
        assert check.progress()._repr_html_().count("<th scope=") == 5

    def test_a_failed_cell_hides_the_older_definition(self):
        check = self.face(answer=scores)
        run(check.cells, "def answer(q, k:", before=SyntaxError("never closed"))
        assert check("5.1").status == "syntax error"
        run(check.cells, "x = 1")
        assert check("5.1").status == "syntax error"
        run(check.cells, "def answer(q, k): ...")
        assert check("5.1").passed

    def test_a_cell_that_stops_before_its_definition_hides_the_older_one(self):
        check = self.face(answer=scores)
        run(check.cells, "1 / 0\ndef answer(q, k): ...", during=ZeroDivisionError("by zero"))
        verdict = check("5.1")
        assert verdict.status == "raised"
        assert "by zero" in repr(verdict)

    def test_a_cell_that_stops_after_its_definition_does_not(self):
        check = self.face()
        check.cells.about_to_run(None)
        check.namespace["answer"] = scores
        run(check.cells, "def answer(q, k): ...\n1 / 0", during=ZeroDivisionError(), begin=False)
        assert check("5.1").passed


class Shell:
    """As much of IPython as the checks listen to."""

    def __init__(self, raw_cell, before, during):
        self.info = self
        self.raw_cell = raw_cell
        self.error_before_exec = before
        self.error_in_exec = during


def run(cells: Cells, text: str, before=None, during=None, begin=True) -> None:
    if begin:
        cells.about_to_run(None)
    cells.has_run(Shell(text, before, during))


arrays = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=8).map(np.array)


class TestComparing:
    @settings(deadline=None)
    @given(arrays)
    def test_an_array_equals_itself_in_every_dress(self, values):
        node = plain(values)
        for dress in (values.tolist(), torch.tensor(values), tuple(values), values[::-1][::-1]):
            assert compare(node, plain(dress)) is None

    @settings(deadline=None)
    @given(arrays, st.integers(0, 7), st.floats(1e-3, 10))
    def test_one_number_that_is_off_is_found(self, values, place, by):
        place %= len(values)
        other = values.copy()
        other[place] += by * (1 + abs(other[place]))
        difference = compare(plain(values), plain(other))
        assert difference is not None
        assert f"[{place}]" in difference.sentence

    @settings(deadline=None)
    @given(arrays)
    def test_nan_and_infinity_never_pass_for_a_number(self, values):
        for odd in (np.nan, np.inf, -np.inf):
            other = values.copy()
            other[0] = odd
            assert compare(plain(values), plain(other)) is not None
            assert compare(plain(other), plain(other)) is None

    @settings(max_examples=200, deadline=None)
    @given(st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3) | st.sets(st.integers()),
        max_leaves=12,
    ))  # fmt: skip
    def test_any_value_can_be_taken_apart_shown_and_compared(self, value):
        node = plain(value)
        assert node.equals(plain(value))
        assert compare(node, plain(value)) is None
        assert isinstance(node_text(node), str)
        node.as_numbers()


def test_the_engine_loads_without_torch_and_ipython():
    import subprocess

    code = "import sys, checks; print({'torch', 'IPython', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("drive", [train_on_stories, train_from_nothing])
def test_a_training_runs_on_one_thread_and_the_number_is_given_back(drive):
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(3)
    try:
        drive(lambda *given: seen.append(torch.get_num_threads()), 20, 0)
        assert seen == [1]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("modules", "calls"), [(30, 2), (3, 1)])
def test_what_is_too_slow_while_a_library_loads_is_called_once_more(monkeypatch, modules, calls):
    seen = []

    @once_more_if_it_loaded
    def slow():
        seen.append(1)
        for n in range(modules):
            monkeypatch.setitem(sys.modules, f"loaded_{n}", sys)
        return Outcome(Status.TOO_SLOW)

    assert slow().status == Status.TOO_SLOW
    assert len(seen) == calls


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts Python")
def test_a_limit_on_time_cuts_no_import_in_two(tmp_path, monkeypatch):
    (tmp_path / "loads_slowly.py").write_text("import time\ntime.sleep(0.4)\nwhole = True\n")
    monkeypatch.syspath_prepend(tmp_path)

    def import_and_stay():
        with time_limit(0.1):
            importlib.import_module("loads_slowly")
            while True:
                pass

    with pytest.raises(TooSlow):
        import_and_stay()
    assert sys.modules.pop("loads_slowly").whole


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts Python")
def test_a_limit_on_time_is_not_lost_in_the_callback_of_a_weak_reference(monkeypatch):
    """There an exception would be printed, and forgotten."""
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)

    class Slow(dict):
        def __delitem__(self, key):
            time.sleep(0.4)

    def forget_and_stay():
        known = weakref.WeakKeyDictionary()
        known.data = Slow()
        reference = weakref.ref(type("Forgotten", (), {})(), known._remove)
        assert reference() is None
        while True:
            pass

    with pytest.raises(TooSlow), time_limit(0.1):
        forget_and_stay()
    assert lost == []
