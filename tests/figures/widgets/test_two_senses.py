"""The figure of chapter 03 mixes words as lib does, whatever is chosen, typed or moved."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from figures.widgets.two_senses import AXES, SENSES, SENTENCES, WORDS, TwoSenses, rows_of, words_of
from lib.functional import cosine, softmax
from tests.figures.widgets.node import call

HARRY = "Harry ate an apple near the river bank."


def by_loops(widget: TwoSenses) -> np.ndarray:
    """The vectors of the chosen word, one word at a time."""
    words = words_of(widget.text)
    x = rows_of(words)
    mixed = []
    for i, word in enumerate(words):
        if word != widget.word:
            continue
        near = [j for j in range(len(words)) if widget.reach == "sentence" or j in (i - 1, i)]
        weights = softmax(widget.strength * x[near] @ x[i])
        mixed.append(sum(weight * x[j] for weight, j in zip(weights, near, strict=True)))
    return np.array(mixed)


@pytest.mark.parametrize("reach", ["sentence", "word before"])
@pytest.mark.parametrize("strength", [0, 1, 7.5])
@pytest.mark.parametrize("text", SENTENCES)
def test_its_numbers_are_libs(text, strength, reach):
    for word in set(words_of(text)) & set(SENSES):
        widget = TwoSenses(text=text, word=word, strength=strength, reach=reach)
        shown, looked = call("two_senses.js", "compute", widget.state), widget.look()
        for name in ("words", "at"):
            assert shown[name] == looked[name]
        for name in ("weights", "static", "found"):
            np.testing.assert_allclose(shown[name], looked[name], atol=1e-12)
        units = np.eye(len(AXES))[[AXES.index(axis) for axis in SENSES[word]]]
        expected = cosine(by_loops(widget)[:, None], units[None])
        np.testing.assert_allclose(looked["found"], expected, atol=1e-12)


def test_every_sentence_has_a_word_of_several_senses_and_every_sense_is_an_axis():
    assert len(SENTENCES) == 12
    for text in SENTENCES:
        assert call("two_senses.js", "heard", text, "", SENSES) in words_of(text)
    for word, senses in SENSES.items():
        assert set(WORDS[word]) <= set(senses) <= set(AXES)


def test_the_two_banks_agree_at_every_strength_and_part_by_the_word_before():
    for strength in (0, 1, 12):
        state = TwoSenses(strength=strength).state
        assert call("two_senses.js", "compute", state)["apart"] == pytest.approx(1)
        near = TwoSenses(strength=strength, reach="word before").state
        assert call("two_senses.js", "compute", near)["apart"] == pytest.approx(0.6)


def test_a_vector_of_zeros_has_no_direction_and_no_cosine_with_its_twin():
    widget = TwoSenses(text="miniature tower", word="tower", strength=0)
    shown = call("two_senses.js", "compute", widget.state)
    assert shown["found"] == [[0, 0]]
    twice = TwoSenses(text="tower tower miniature miniature", word="tower", strength=0).state
    assert call("two_senses.js", "compute", twice)["apart"] is None


def test_two_senses_lie_at_a_right_angle_and_three_a_third_of_a_turn_apart():
    for word, senses in SENSES.items():
        unit = np.eye(len(senses))
        live = [call("two_senses.js", "flat", line) for line in unit.tolist()]
        np.testing.assert_allclose(live, TwoSenses(word=word).flat(unit), atol=1e-12)
        angles = np.array(live) @ np.array(live).T
        expected = 0 if len(senses) == 2 else -0.5
        np.testing.assert_allclose(angles[~unit.astype(bool)], expected, atol=1e-12)


def test_arrows_that_end_at_one_place_share_one_arrow_and_its_name():
    def names(**state):
        return [
            arrow["name"] for arrow in call("two_senses.js", "arrows", TwoSenses(**state).state)
        ]

    assert names() == ["water", "finance", "bank 1, 2, looked up"]
    parted = ["water", "finance", "looked up", "bank 2", "bank 1"]
    assert names(reach="word before") == parted
    assert names(text="the tower", word="tower") == ["paris", "tower, looked up, tall"]


def test_an_empty_text_and_unknown_words_are_no_trouble():
    state = TwoSenses(text="", word="bank").state
    assert call("two_senses.js", "compute", state)["found"] == []
    odd = {**state, "text": "constructor toString bank"}
    assert call("two_senses.js", "rowless", odd) == ["constructor", "tostring"]
    assert call("two_senses.js", "heard", "nothing here", "bank", SENSES) is None


def test_the_still_figure_states_its_cosines():
    for text in SENTENCES:
        word = call("two_senses.js", "heard", text, "", SENSES)
        figure = TwoSenses(text=text, word=word).still()
        assert f"looked up: {SENSES[word][0]}" in figure.caption


def said(page: Page) -> str:
    return page.locator("[data-name=cosines]").inner_text()


def weights(page: Page) -> np.ndarray:
    cells = page.locator("table.kit-grid td[data-cell]").all_inner_texts()
    return np.array([float(cell) for cell in cells])


def test_the_first_view_shows_twins_and_the_reach_parts_them(widget_page):
    page = widget_page(TwoSenses())
    assert "bank 1: finance 0.71, water 0.71\nbank 2: finance 0.71, water 0.71" in said(page)
    expect(page.locator("[data-name=apart]")).to_have_text("1.00")
    page.get_by_label("the word before").check()
    assert "bank 1: finance 0.95, water 0.32\nbank 2: finance 0.32, water 0.95" in said(page)
    expect(page.locator("[data-name=apart]")).to_have_text("0.60")


def test_the_keys_move_the_strength_and_the_weights_follow(widget_page):
    page = widget_page(TwoSenses(text="They crashed the car.", word="car"))
    for key, strength in (("Home", 0), ("ArrowRight", 0.5), ("End", 12)):
        page.get_by_label("strength of similarity").press(key)
        expected = TwoSenses(text="They crashed the car.", word="car", strength=strength).look()
        np.testing.assert_allclose(weights(page), expected["weights"][0], atol=6e-3)
        assert weights(page)[1] == weights(page)[2]


def test_a_sentence_is_chosen_and_its_word_with_it(widget_page):
    page = widget_page(TwoSenses())
    page.get_by_label("a sentence").select_option("Take a biopsy of the mole")
    assert "looked up: animal 0.58, amount 0.58, skin 0.58\nmole: animal 0.34" in said(page)
    expect(page.locator("[data-name=apart]")).to_have_text("there is only one")
    page.get_by_label("a sentence").select_option(HARRY)
    page.get_by_label("bank", exact=True).check()
    assert "bank: finance 0.30, water 0.89" in said(page)


def test_own_words_can_be_typed_and_others_are_named(widget_page):
    page = widget_page(TwoSenses(), theme="dark")
    field = page.get_by_label("or type")
    field.fill("Money, money! A river bank")
    expect(page.locator("[data-name=zeros]")).to_have_text("a")
    shown = TwoSenses(text="money money a river bank").look()["found"][0]
    assert f"bank: finance {shown[0]:.2f}, water {shown[1]:.2f}" in said(page)
    expect(page.get_by_label("a sentence")).to_have_value("")
    expect(field).to_be_focused()
    field.fill("nobody home")
    assert said(page).startswith("No word here has several senses")
    expect(page.locator("table.kit-grid")).to_have_count(0)


def test_a_telephone_is_wide_enough(widget_page):
    page = widget_page(TwoSenses(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
