"""The figure of chapter 13 plays the recorded run, and the record is what the page says of it."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from figures.widgets import training_run
from figures.widgets.training_run import RACES, RECORDED, TrainingRun, unpack, weights_as_text
from tests.figures.widgets.node import call

HEADS = RECORDED["layers"] * RECORDED["heads"]
LAST = len(RECORDED["points"]) - 1
N = len(RECORDED["tokens"])


@pytest.mark.parametrize("checkpoint", [0, 4, LAST])
def test_it_unpacks_the_tables_as_numpy_does(checkpoint):
    text = RECORDED["points"][checkpoint]["weights"]
    shown = call("training_run.js", "unpack", text, N, HEADS)
    np.testing.assert_allclose(shown, unpack(text, N, HEADS), atol=1e-12)


@pytest.mark.parametrize("checkpoint", [0, LAST])
def test_what_is_packed_is_what_was_unpacked(checkpoint):
    text = RECORDED["points"][checkpoint]["weights"]
    assert weights_as_text(unpack(text, N, HEADS)) == text


def test_every_row_of_weights_sums_to_1_and_sees_no_future():
    for checkpoint in range(LAST + 1):
        tables = TrainingRun(checkpoint=checkpoint).weights()
        assert tables.shape == (HEADS, N, N)
        assert not np.triu(tables, 1).any()
        np.testing.assert_allclose(tables.sum(-1), 1, atol=N / 2 / 255)


def test_the_places_with_the_most_weight_come_first():
    assert call("training_run.js", "strongest", [0.1, 0.6, 0.0, 0.3], 2) == [1, 3]


def test_the_chart_runs_from_the_first_step_to_the_last_and_lower_is_better():
    start = call("training_run.js", "place", RECORDED, 0, RECORDED["blind"])
    end = call("training_run.js", "place", RECORDED, RECORDED["points"][-1]["step"], 0.4)
    assert start[0] < end[0]
    assert start[1] < end[1]


def test_the_record_is_of_a_run_that_learned():
    points = RECORDED["points"]
    assert [point["step"] for point in points][::LAST] == [0, 300]
    assert abs(points[0]["validation"] - RECORDED["blind"]) < 0.15
    assert RECORDED["floor"] < points[-1]["validation"] < RECORDED["floor"] + 0.1
    assert np.isclose(RECORDED["blind"], np.log(357), atol=1e-3)


def test_the_chosen_head_learned_to_look_at_the_answer():
    asked, words = RECORDED["query"], [token.strip() for token in RECORDED["tokens"]]
    answer = [i for i in range(asked) if words[i] == words[asked + 1]]
    assert words[asked] == "?"
    by_step = [
        TrainingRun(checkpoint=i).weights()[RECORDED["head"], asked, answer].sum()
        for i in (0, LAST)
    ]
    assert by_step[0] < 0.2
    assert by_step[1] > 0.5


def test_the_races_are_of_five_seeds():
    assert [len(steps) for steps in RACES["steps"].values()] == [5, 5, 5]
    slow, _, fast = (np.median(steps) for steps in RACES["steps"].values())
    assert fast < slow / 3


def test_the_file_is_small():
    assert training_run.Path(training_run.__file__).with_suffix(".json").stat().st_size < 150_000


def losses(page: Page) -> list[str]:
    return [page.locator(f"[data-name={name}]").inner_text() for name in ("training", "validation")]


def test_the_slider_moves_through_the_checkpoints_by_keyboard(widget_page):
    page = widget_page(TrainingRun())
    slider = page.get_by_label("checkpoint")
    for key, point in [("Home", RECORDED["points"][0]), ("ArrowRight", RECORDED["points"][1])]:
        slider.press(key)
        expect(slider).to_have_attribute("aria-valuetext", f"{point['step']}")
        assert losses(page) == [f"{point[name]:.2f}" for name in ("training", "validation")]
        expect(page.locator("[data-name=sample]")).to_have_text(point["sample"])
    page.get_by_role("button", name="later").click()
    assert losses(page)[1] == f"{RECORDED['points'][2]['validation']:.2f}"


def test_a_head_and_a_word_are_chosen_and_its_weights_shown(widget_page):
    page = widget_page(TrainingRun())
    page.get_by_role("group", name="heads").get_by_role("button").nth(2).press("Enter")
    page.get_by_role("group", name="words").get_by_role("button").nth(11).click()
    shown = page.get_by_role("group", name="words").locator(".kit-number").all_inner_texts()
    expected = TrainingRun().weights()[2, 11]
    assert shown == [f"{weight:.2f}" for weight in expected[:12]] + ["\u00a0"] * (N - 12)
    best = expected.argmax()
    expect(page.locator("[data-name=head]")).to_contain_text(
        f"layer 1, head 3, from {RECORDED['tokens'][11].strip()} (word 12): "
        f"most weight {expected[best]:.2f} on {RECORDED['tokens'][best].strip()} (word {best + 1})"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_of_a_head_is_its_table(widget_page, theme):
    page = widget_page(TrainingRun(), theme=theme)
    picture = page.get_by_role("group", name="heads").locator("svg").nth(RECORDED["head"])
    fills = picture.locator("rect:not(.kit-thumb-row)").evaluate_all(
        "all => all.map(one => Number(one.style.fill.match(/w(\\d+)/)[1]))"
    )
    table = TrainingRun().weights()[RECORDED["head"]]
    lower = table[np.tril_indices(N)]
    assert np.abs(np.array(fills) - 40 * lower).max() <= 0.5 + 1e-9


def test_it_fits_a_telephone(widget_page):
    page = widget_page(TrainingRun(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
