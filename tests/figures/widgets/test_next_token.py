"""The figure of chapter 12 narrows a row as lib.models.generation does, and draws as it does."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from figures import widgets
from figures.widgets.next_token import NEVER, RHYME, NextToken
from lib.models import sampling
from tests.figures.widgets.node import call, draws

MODULE = "next_token.js"
CHOICES = [
    {},
    {"temperature": 0.0},
    {"temperature": 0.5},
    {"temperature": 1.6, "top_k": 3},
    {"top_k": 8},  # the eighth is one of twelve that are equal
    {"top_p": 0.7},
    {"top_p": 0.05},
    {"temperature": 1.3, "top_k": 4, "top_p": 0.7},
]


def narrowed(logits, temperature, top_k, top_p) -> torch.Tensor:
    """The weights by the functions that models are given."""
    left = sampling.apply_temperature(torch.tensor(logits, dtype=torch.float64), temperature)
    return sampling.keep_top_p(sampling.keep_top_k(left, top_k), top_p).softmax(-1)


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize("after", ["the", "that", "built"])
def test_a_row_is_narrowed_as_lib_does(after, choices):
    widget = NextToken(**choices)
    logits = list(widget.row(after).values())
    settings = {name: getattr(widget, name) for name in ("temperature", "top_k", "top_p")}
    expected = narrowed(logits, **settings).numpy()
    assert np.allclose(call(MODULE, "weights", logits, settings), expected, atol=1e-12)
    assert np.allclose(widget.weights(np.array(logits)), expected, atol=1e-12)


def test_the_rows_are_the_logarithms_of_counts():
    table = call(MODULE, "table", RHYME)
    assert table["prompt"] == ["This", "is", "the"]
    assert len(table["words"]) == NextToken().top_k == 17
    for after in table["words"]:
        row = NextToken().row(after)
        assert list(row) == table["words"]
        assert np.allclose(table["rows"][after], list(row.values()))
    nouns = ["house", "malt", "rat", "cat", "dog"]
    after_the = np.exp([NextToken().row("the")[noun] for noun in nouns])
    assert np.allclose(after_the, np.array([5, 4, 3, 2, 1]) + NEVER)


def test_both_languages_count_a_pair_that_never_came_alike():
    source = (Path(widgets.__file__).parent / MODULE).read_text("utf8")
    assert re.search(r"NEVER = ([\d.]+)", source)[1] == str(NEVER)


def test_a_word_is_drawn_where_the_summed_weights_pass_a_uniform_number():
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(7))
    for u in rng.random(11):
        expected = int(np.searchsorted(np.cumsum(shares), u * shares.sum(), side="right"))
        assert call(MODULE, "draw", shares.tolist(), u) == expected
    assert call(MODULE, "draw", [0, 0.5, 0, 0.5], 0) == 1


@pytest.mark.parametrize("choices", CHOICES[:5], ids=str)
def test_a_text_is_drawn_word_after_word(choices):
    widget = NextToken(seed=5, **choices)
    settings = {name: getattr(widget, name) for name in ("temperature", "top_k", "top_p")}
    after = "the"
    for step, u in zip(call(MODULE, "write", widget.state), draws("uniform", 5, 24), strict=True):
        row = widget.row(after)
        sums = narrowed(list(row.values()), **settings).cumsum(-1).numpy()
        word = list(row)[int(np.searchsorted(sums, u * sums[-1], side="right"))]
        assert (step["word"], step["after"]) == (word, after)
        assert step["seen"] == (f"{after} {word}" in " ".join(RHYME.split()))
        after = word


def test_greedy_repeats_itself_and_heat_breaks_the_rhyme_and_the_nucleus_mends_it():
    def breaks(**choices):
        return sum(
            not step["seen"]
            for seed in range(5)
            for step in call(MODULE, "write", NextToken(seed=seed, **choices).state)
        )

    greedy = [step["word"] for step in call(MODULE, "write", NextToken(temperature=0).state)]
    assert greedy == (greedy[:8] * 3)[:24]
    assert breaks(temperature=0) == 0 == breaks(temperature=1.3, top_p=0.5)
    assert breaks(temperature=1.3) > 2 * breaks() > 0


@pytest.mark.parametrize(
    ("top_k", "start"),
    [
        (1, "1 of 17 words; before the cut they had 94 %"),
        (2, "17 of 17 words, ties with the 2nd among them; before the cut they had 100 %"),
        (5, "17 of 17 words, ties with the 5th among them; before the cut they had 100 %"),
        (17, "17 of 17 words; before the cut they had 100 %"),
    ],
)
def test_the_readout_says_when_ties_make_more_than_k(top_k, start):
    state = NextToken(top_k=top_k).state
    after = [step["after"] for step in call(MODULE, "write", state)]
    assert call(MODULE, "report", state | {"at": after.index("Jack")})["row"].startswith(start)


def test_the_presets_and_the_sliders_change_the_row_and_the_text(widget_page):
    page = widget_page(NextToken())
    page.get_by_role("button", name="greedy").click()
    expect(page.locator("[data-name=row]")).to_contain_text("1 of 17 words")
    expect(page.locator("[data-name=breaks]")).to_have_text("0 of 24")
    page.get_by_role("button", name="temperature 1", exact=True).click()
    expect(page.locator("[data-name=row]")).to_contain_text(
        "17 of 17 words; before the cut they had 100 %"
    )
    page.get_by_label("top-k").press("Home")
    expect(page.locator("[data-name=row]")).to_contain_text("1 of 17 words")
    page.get_by_label("top-k").press("ArrowRight")
    expect(page.locator("[data-name=row]")).to_contain_text("2 of 17 words")


def test_a_word_of_the_text_shows_the_row_it_was_drawn_from(widget_page):
    page = widget_page(NextToken(temperature=0))
    words = page.get_by_role("group", name="the text").get_by_role("button")
    expect(words).to_have_count(24)
    expect(page.get_by_role("list", name="weights after the")).to_be_visible()
    words.nth(1).focus()
    words.nth(1).press("Enter")
    expect(page.get_by_role("list", name="weights after house")).to_be_visible()
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(words.nth(1)).to_be_focused()


def test_another_draw_is_another_text_and_the_same_seed_the_same(widget_page):
    page = widget_page(NextToken(seed=7))
    text = page.get_by_role("group", name="the text")
    first = text.text_content()
    page.get_by_role("button", name="Sample again").click()
    expect(text).not_to_have_text(first)
    again = widget_page(NextToken(seed=8), theme="dark")
    expect(again.get_by_role("group", name="the text")).to_have_text(text.text_content())
