"""The program of chapter 1 is its page's cells, runs by itself, and learns from any seed."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from lib.training import story_model
from tests.support.pages import CHAPTERS, cells
from tests.support.seeds import training_seeds

PROGRAM = CHAPTERS / "first_lap.py"
DEFINITIONS = PROGRAM.read_text("utf8").split("with_mask, losses_with")[0]  # without trainings
BOUND = (3 * math.log(4) + 2 * math.log(5)) / 10


@pytest.fixture(scope="module")
def page(bare_lib) -> dict[str, Any]:
    """The names that the program defines, and the page's cells with it."""
    names: dict[str, Any] = {}
    exec(DEFINITIONS, names)
    return names


@pytest.fixture(scope="module", params=training_seeds())
def models(request, page) -> dict[bool, Any]:
    """A model trained with the mask (True) and one without (False), both from the same seed."""
    return {masked: page["train"](masked, request.param)[0] for masked in (True, False)}


def test_the_program_and_the_library_write_the_same_stories(page):
    for name in ("KINDS", "PATTERN", "WORDS"):
        assert page[name] == getattr(story_model, name), f"{name} differs"


def is_possible(page, story: str) -> bool:
    words = story.split()
    kinds = page["PATTERN"] + page["PATTERN"][4:7]
    allowed = all(word in page["KINDS"][kind] for word, kind in zip(words, kinds, strict=True))
    return allowed and words[8:] == words[4:7]


def without_blank_lines(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if line.strip())


def test_the_page_shows_the_whole_program_and_nothing_else():
    text = (CHAPTERS / "01_first_lap.md").read_text("utf8")
    shown = "\n\n".join(source for tags, source in cells(text) if "lap" in tags)
    _, docstring, code = PROGRAM.read_text("utf8").split('"""', 2)
    assert "python first_lap.py" in docstring
    assert without_blank_lines(shown) == without_blank_lines(code)


@pytest.mark.parametrize("steps", [40, pytest.param(400, marks=pytest.mark.nightly)])
def test_the_program_runs_by_itself(tmp_path, steps):
    written, shortened = PROGRAM.read_text("utf8"), f"steps={steps})"
    assert written.count("steps=400)") == 1
    (tmp_path / PROGRAM.name).write_text(written.replace("steps=400)", shortened), "utf8")
    done = subprocess.run([sys.executable, "-I", PROGRAM.name], cwd=tmp_path, text=True,
                          capture_output=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 10
    assert done.stdout.startswith("with the mask, loss 0.")


def test_the_language_has_the_bound_that_the_page_states(page):
    stories = page["sample_batch"](20000)
    free = sum(math.log(len(set(stories[:, i].tolist()))) for i in range(1, 9))
    assert free / 10 == pytest.approx(BOUND)
    assert torch.equal(stories[:, 8:], stories[:, 4:7])


def test_after_a_few_steps_words_are_of_the_right_kind_but_the_object_is_not_repeated(page):
    model, _ = page["train"](True, seed=1, steps=20)
    kinds = [page["KINDS"][kind] for kind in page["PATTERN"] + page["PATTERN"][4:7]]
    stories = [page["write"](model).split() for _ in range(200)]
    right = [word in kind for story in stories for word, kind in zip(story, kinds, strict=True)]
    assert sum(right) / len(right) > 0.8
    assert sum(story[8:] == story[4:7] for story in stories) / len(stories) < 0.4


def test_the_model_can_tell_words_from_positions(models):
    vectors = torch.cat([models[True].word.weight, models[True].position.weight])
    assert torch.linalg.matrix_rank(vectors) == len(vectors) == 25


def test_both_losses_end_where_the_page_says(page, models):
    stories = page["sample_batch"](1000)
    with torch.no_grad():
        losses = {masked: page["loss_on"](model, stories) for masked, model in models.items()}
    assert abs(losses[True] - BOUND) < 0.05
    assert losses[False] < 0.05


def test_the_model_with_the_mask_writes_stories_and_the_other_far_fewer(page, models):
    share = {
        masked: sum(is_possible(page, page["write"](model)) for _ in range(200)) / 200
        for masked, model in models.items()
    }
    assert share[True] > 0.9
    assert share[False] < share[True] - 0.3


def test_attention_fetches_the_object_and_not_the_subject(page, models):
    stories, model = page["sample_batch"](200), models[True]
    with torch.no_grad():
        x = model.embed(stories[:, :10])
        weights = [head(x)[1] for head in model.heads]
        right = model(stories[:, :9])[:, -1].argmax(-1) == stories[:, 9]
    assert all(head.triu(1).abs().max() == 0 for head in weights)
    assert right.float().mean() > 0.95


def test_without_the_mask_the_model_is_sure_where_nothing_can_be_known(page, models):
    stories = page["sample_batch"](500)
    surest, last_losses = {}, {}
    with torch.no_grad():
        for masked, model in models.items():
            logits = {i: model(stories[:, :i])[:, -1] for i in range(1, 11)}  # nothing is ahead
            free = [logits[i].softmax(-1).max(-1).values.mean() for i in (1, 2, 3, 5, 6)]
            surest[masked] = sum(free) / len(free)
            losses = [cross_entropy(logits[i], stories[:, i]) for i in logits]
            last_losses[masked] = sum(losses) / len(losses)
        model = models[False]
        x = model.embed(stories[:, :10])
        weights = [head(x)[1] for head in model.heads]
    assert surest[False] > 0.5  # seeds 1 to 5 gave 0.63 and more
    assert surest[True] < 0.35
    assert last_losses[False] > 2 * last_losses[True]
    # The page says more than 0.6; seeds 0 to 4 gave 0.75 and more.
    assert sum(head[:, 0, 1:].sum(-1).mean() for head in weights) / len(weights) > 0.6


@pytest.mark.nightly
def test_from_seed_0_a_head_follows_the_adjective_to_position_4(page):
    model, _ = page["train"](True, seed=0)
    words = ["the", "small", "owl", "sees", "blue", "the", "fox", ".", "the"]
    with torch.no_grad():
        x = model.embed(torch.tensor([[page["WORDS"].index(word) for word in words]]))
        weights = torch.stack([head(x)[1][0, -1] for head in model.heads])
    assert weights[:, 4].max() > 0.7  # 0.97, and the same if each step is rounded differently


@pytest.mark.nightly
def test_with_one_head_training_fails_from_some_starts(page):
    one_head: dict[str, Any] = {}
    exec(DEFINITIONS.replace("heads=4", "heads=1"), one_head)
    losses = {}
    for names in (one_head, page):
        models = [names["train"](True, seed)[0] for seed in range(6)]
        stories = page["sample_batch"](1000)
        with torch.no_grad():
            losses[names is page] = [names["loss_on"](model, stories) for model in models]
    assert max(losses[True]) < BOUND + 0.05 < sorted(losses[False])[3]
