"""What chapter 13 says of its runs is no luck: the pages' own cells, from five other seeds."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import textwrap
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch

from checks import drivers, judge, measures
from lib.seeds import set_seed
from tests.support.pages import names_of
from tests.support.seeds import training_seeds

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"colour": "COLOURS", "name": "NAMES"}


@pytest.fixture(scope="module")
def page(bare_lib) -> dict[str, Any]:
    """The names that the page's cells tagged `seeds` define: its text, recipe and measures."""
    return names_of("13_training_deeper", "seeds")


@pytest.fixture(scope="module", params=training_seeds())
def run(request, page) -> dict[int, dict[str, Any]]:
    """The losses and measures of one training after 0, 30 and 300 steps; the model after that."""
    set_seed(request.param)
    model = page["GPT2"](page["sizes"])
    looks = {0: look(page, model)}
    recipe = replace(page["recipe"], seed=request.param)
    for record in page["train"](model, page["corpus"], recipe):
        if record.step in (30, 300):
            looks[record.step] = look(page, model)
    return looks | {"model": model}


def look(page, model) -> dict[str, Any]:
    model.eval()
    loss = page["evaluate"](model, page["validation"], page["n"], page["ROWS"])
    kinds = {kind: page["measured"](model, list(page[names])) for kind, names in KINDS.items()}
    rows = [page["looks"](model, head) for head in range(page["sizes"].layers * 4)]
    return {"loss": loss, "follows": page["follows"](model)[0], "looks": rows, **kinds}


def test_the_losses_lie_between_the_marks_that_the_page_names(page, run):
    assert abs(run[0]["loss"] - page["UNIFORM"]) < 0.15
    assert 2 * page["BOUND"] < run[30]["loss"] < page["BIGRAM"]
    assert page["BOUND"] < run[300]["loss"] < page["BOUND"] + 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_right_answers_and_a_head_that_looks_for_them_come_together(run, kind):
    assert run[0][kind][1].max() < 0.1
    assert run[30][kind][0] < 0.5
    assert run[300][kind][0] > 0.8
    assert run[300][kind][1].max() > 0.3


def test_the_best_head_for_names_turns_the_question_mark_to_the_name(run):
    best = run[300]["name"][1].argmax()
    assert run[0]["looks"][best].max() < 0.15
    assert run[30]["looks"][best][0] < 0.3
    assert run[300]["looks"][best][0] > 0.5


def test_the_answer_follows_the_introduction_in_the_end_and_not_before(run):
    assert run[30]["follows"] < 0.4
    assert run[300]["follows"] > 0.8


def test_the_honest_model_is_not_below_the_floor(page, run):
    assert page["too_good"](run["model"], page["validation"], page["held_out"], page["ROWS"]) < 0


@pytest.mark.parametrize("seed", training_seeds())
def test_a_model_of_forty_stories_knows_them_by_heart_and_nothing_else(page, seed):
    set_seed(seed)
    parrot = page["GPT2"](page["sizes"])
    few = page["training_stories"][40 * seed : 40 * seed + 40]
    little = page["Corpus"].read("".join(story.text for story in few), page["tokenizer"])
    for _ in page["train"](parrot, little, replace(page["recipe"], steps=160, seed=seed)):
        pass
    assert page["evaluate"](parrot, little, page["n"]) < page["BOUND"] / 2
    assert page["evaluate"](parrot, page["validation"], page["n"], page["ROWS"]) > page["BIGRAM"]
    assert page["too_good"](parrot, little, few) > 10


@pytest.fixture(scope="module")
def core(bare_lib) -> dict[str, Any]:
    """The names that the core page's cells tagged `seeds` define."""
    return names_of("13_training", "seeds")


@pytest.mark.parametrize("seed", training_seeds())
def test_the_readers_own_loop_comes_near_the_lower_bound_and_not_below(core, seed):
    model, marks = core["new_model"](seed=seed), core["references"]
    reached = {0: core["loss_on_new"](model)}
    run = core["train"](model, core["ids"], core["new_ids"], steps=250, peak=0.01, every=25,
                        starts=core["starts"])  # fmt: skip
    for step, _, _ in run:
        reached[step] = core["loss_on_new"](model)
    assert abs(reached[0] - marks["uniform"]) < 0.3
    assert marks["bigram"] - 0.5 < reached[25] < marks["bigram"]
    assert marks["lower bound"] < reached[250] < marks["lower bound"] + 0.25


@pytest.mark.parametrize("seed", training_seeds())
def test_eight_windows_are_learned_by_heart_and_new_stories_unlearned(core, seed):
    seen, unseen = core["follow"](core["starts"][:8], seed=seed)
    assert seen[-1] < core["references"]["lower bound"] / 2
    assert min(unseen[1:5]) < unseen[0]
    assert unseen[-1] > min(unseen) + 1


@pytest.mark.parametrize("seed", training_seeds())
def test_of_the_three_learning_rates_one_is_too_small_and_one_too_large(core, seed):
    slow, good, wild = (core["follow"](core["starts"], peak, seed=seed)[1][-1]
                        for peak in (0.001, 0.01, 0.3))  # fmt: skip
    assert slow > good + 0.5
    assert wild > good + 1


def test_the_recorded_runs_are_those_that_the_page_describes():
    recorded = json.loads(files("lib.datasets").joinpath("first_trainings.json").read_text("utf8"))
    names = ["no attention", "one head", "four heads", "two blocks", "positions", "no mask"]
    assert list(recorded["parts"]) == names
    ends = [recorded["parts"][name]["losses"][-1][1] for name in names]
    assert ends == sorted(ends, reverse=True)  # each part lowers the loss
    assert ends[-1] < 0.38 < ends[-2]  # only the leak is below the lower bound
    assert recorded["pages"]["points"][-1]["step"] == 1500
    assert len(recorded["stories"]["nats"]) == 24


def test_the_exercise_shows_the_model_that_its_check_trains():
    page = (ROOT / "exercises/13_training.md").read_text("utf8")
    source = textwrap.dedent(inspect.getsource(type(drivers.small_model())))
    assert f"\n{source}```" in page


@pytest.mark.parametrize("seed", training_seeds(20))
def test_no_draw_keeps_the_training_of_the_exercise_from_its_bound(seed):
    """With 4 heads in place of 16, 2 of 24 draws did."""
    torch.manual_seed(seed)
    task = importlib.import_module("exercises.13_training").EXERCISE["13.9"]
    handed = drivers.train_on_stories(task.reference, 1000, seed)
    measured = measures.trained_model(handed, 1000, seed)
    assert measured.words["loss on freshly drawn stories"] == "within 0.1 of the lower bound"


def test_the_exercise_tells_both_losses_and_lets_the_model_write():
    task = importlib.import_module("exercises.13_training").EXERCISE["13.9"]
    right, few_steps = (judge(task, answer) for answer in (task.reference, task.wrong[-3].answer))
    assert right.passed
    assert few_steps.misconceptions == ("M1405",)
    for verdict, ends in ((right, r"0\.[34]\d"), (few_steps, r"[0-3]\.\d\d")):
        pattern = (
            rf"fell from 3\.\d\d with random parameters to {ends}; the lower bound is 0\.34 nats"
        )
        assert re.search(pattern, repr(verdict))
    story = re.search(r"from your model: (.+)", repr(right))[1].split()
    colour, thing = story[3:5]
    assert " ".join(story) == f"Mia has a {colour} {thing} . The {thing} is {colour} ."
    assert "seed" not in repr(few_steps), "what the check draws from says nothing to a learner"
