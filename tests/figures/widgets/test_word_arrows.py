"""The figure of words and arrows shows what was recorded, and can be operated in every way."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import expect
from traitlets import TraitError

from figures.widgets import word_arrows
from figures.widgets.word_arrows import (
    HEADS,
    RECORDED,
    WordArrows,
    as_word,
    called,
    head_name,
    percent,
    recording,
)
from tests.figures.widgets.node import call
from tests.support.accessibility import ALL, violations

TEXT = "word_arrows_text.js"
NAMES = [sentence["name"] for sentence in RECORDED["sentences"]]
STORED = {sentence["name"]: sentence for sentence in RECORDED["sentences"]}
COUNT = RECORDED["layers"] * HEADS
SUBJECT = 26 * HEADS  # layer 26, head 0


def test_the_file_is_small_and_offers_all_heads_and_eight_sentences():
    assert word_arrows.Path(word_arrows.__file__).with_suffix(".json").stat().st_size < 300_000
    assert COUNT == 270
    assert len(NAMES) >= 8
    assert len(WordArrows()._repr_mimebundle_()[0]["text/html"]) < 30_000


@pytest.mark.parametrize("name", NAMES)
def test_the_page_reads_the_weights_that_python_reads(name):
    tables = call(TEXT, "unpackWeights", STORED[name], COUNT)
    assert len(tables) == COUNT
    n, read = len(STORED[name]["tokens"]), recording(name)
    for head in range(0, COUNT, 7):
        table = np.zeros((n, n))
        for i, row in enumerate(tables[head]):
            table[i, : i + 1] = row
        np.testing.assert_allclose(table, read.weights(head), atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_each_row_of_weights_sums_to_1_but_for_the_rounding_to_hundredths(name):
    n, read = len(STORED[name]["tokens"]), recording(name)
    for head in range(COUNT):
        missing = 1 - read.weights(head).sum(1)
        assert (np.abs(missing) <= 0.005 * np.arange(1, n + 1) + 1e-9).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_reads_the_probabilities_that_python_reads(name):
    chances = call(TEXT, "unpackChances", STORED[name])
    np.testing.assert_allclose(chances, recording(name).chances(), rtol=1e-9)
    assert np.shape(chances) == (COUNT + 1, 6)
    assert max(map(sum, chances)) <= 1.01


@pytest.mark.parametrize("name", NAMES)
def test_the_effect_of_a_head_is_the_change_of_the_log_odds_of_the_right_word(name):
    text = recording(name)
    p = text.chances()
    sign = 1 if text.right == 0 else -1
    wanted = sign * (np.log(p[1:, 0] / p[1:, 1]) - np.log(p[0, 0] / p[0, 1]))
    np.testing.assert_allclose(call(TEXT, "effects", p.tolist(), text.right), wanted, atol=1e-9)
    first = call(TEXT, "mostNeeded", wanted.tolist(), 3)
    assert first == np.argsort(wanted, kind="stable")[:3].tolist()


def test_the_right_word_is_the_likelier_of_the_two_in_every_sentence():
    for name in NAMES:
        text = recording(name)
        assert np.argmax(text.chances()[0, :2]) == text.right, name


def test_one_head_fetches_the_subject_and_the_answer_falls_with_it():
    keys, key = recording("keys"), recording("key")
    assert keys.weights(SUBJECT)[-1].argmax() == keys.tokens.index(" keys")
    assert keys.odds() > 6
    assert key.odds() < 1 / 75
    assert keys.odds(without=SUBJECT) < 1
    changes = np.array([abs(math.log(keys.odds(head) / keys.odds())) for head in range(COUNT)])
    assert (changes >= changes[SUBJECT]).sum() == 2
    assert np.median(changes) < 0.1


def test_each_named_head_does_what_its_button_says():
    for preset in RECORDED["presets"]:
        text = recording(preset["sentence"] or "keys")
        table = text.weights(preset["head"])
        later = np.arange(2, len(table))
        match preset["label"]:
            case "the word before":
                assert table[later, later - 1].mean() > 0.5
            case "attention sink":
                assert table[1:, 0].mean() > 0.9
            case "induction":
                assert text.tokens[int(table[-1].argmax()) - 1] == text.tokens[-1]
            case "fetches the subject":
                assert text.tokens[int(table[-1].argmax())] == " keys"
            case unknown:
                raise AssertionError(f"no test says what a head does that is called {unknown}")


TABLE = [[1.0], [0.6, 0.4], [0.02, 0.5, 0.48], [0.9, 0.0, 0.06, 0.04]]


def test_arrows_go_back_and_are_left_out_where_the_weight_is_small():
    assert call(TEXT, "arrows", TABLE, 3, False) == [
        {"from": 3, "to": 0, "weight": 0.9},
        {"from": 3, "to": 2, "weight": 0.06},
    ]
    every = call(TEXT, "arrows", TABLE, 3, True, 0.15)
    assert [(arrow["from"], arrow["to"]) for arrow in every] == [(1, 0), (2, 1), (3, 0)]


def test_an_arc_starts_at_one_word_and_ends_above_the_other():
    assert call(TEXT, "arc", 90, 10, 60, 132, False, 5) == ("M90 132 C90 52 10 52 10 127")
    assert call(TEXT, "arc", 90, 10, 60, 132, True, 5) == "M0 90 C80 90 80 10 5 10"


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.118, "12%"), (0.0187, "1.9%"), (0.003, "0.30%"), (0.0996, "10%"), (0.00996, "1.0%"),
     (1.0, "100%"), (0.0, "0.00%")],
)  # fmt: skip
def test_a_share_is_written_alike_in_the_page_and_in_python(p, text):
    assert call(TEXT, "percent", p) == percent(p) == text


@pytest.mark.parametrize(
    ("token", "word"),
    [(" keys", "keys"), ("ill", "-ill"), (".", "full stop"), ("\n", "a new line")],
)
def test_a_token_is_written_as_a_word_alike_in_the_page_and_in_python(token, word):
    assert call(TEXT, "asWord", token) == as_word(token) == word


PIECES = ["Z", "or", "vex", " Qu", "ill", ".", " Z", "or", " keys"]


def test_the_pieces_of_a_word_belong_together():
    assert call(TEXT, "pieces", PIECES) == [[0, 1, 2], [3, 4], [5], [6, 7], [8]]


def test_a_piece_of_a_word_is_called_by_the_word_alike_in_the_page_and_in_python():
    names = [
        "Z- of Zorvex", "-or- of Zorvex", "-vex of Zorvex", "Qu- of Quill", "-ill of Quill",
        "full stop", "Z- of Zor", "-or of Zor", "keys",
    ]  # fmt: skip
    assert [call(TEXT, "called", PIECES, i) for i in range(len(PIECES))] == names
    assert [called(PIECES, i) for i in range(len(PIECES))] == names
    assert call(TEXT, "calledNext", " Qu", PIECES) == "Qu- of Quill"
    assert call(TEXT, "calledNext", " is", PIECES) == "is"
    still = WordArrows(sentence="name", head=18 * HEADS + 6).still()
    assert "From -x of Zorvex an arrow of head L18H6 goes back to Qu- of Quill;" in still.alt
    assert "heads: Qu- of Quill 12% and is 0.22%" in still.caption


@pytest.mark.parametrize(
    ("p", "text"),
    [([0.6, 0.1], "were is 6.0 times as likely as was"),
     ([0.1, 0.103], "was is about as likely as were"),
     ([0.003, 0.24], "was is 80 times as likely as were")],
)  # fmt: skip
def test_the_verdict_says_which_of_the_two_is_likelier_and_by_how_much(p, text):
    assert call(TEXT, "verdict", [" were", " was"], p) == text


def test_a_sentence_that_was_not_recorded_is_refused():
    with pytest.raises(TraitError, match="`sentence` must be one of keys"):
        WordArrows(sentence="cats")
    with pytest.raises(KeyError, match="`name` must be one of keys"):
        recording("cats")


def test_the_first_look_shows_the_arrow_to_keys_and_both_words(widget_page):
    page = widget_page(WordArrows())
    thick = page.locator('g[data-arrow="14,1"] path')
    assert float(thick.get_attribute("stroke-width")) > 6
    readout = page.locator("[data-name=arrows]")
    expect(readout).to_contain_text("Head L26H0 looks from table back to keys with 0.75")
    expect(readout).to_contain_text("With all heads, were is 6.3 times as likely as was.")
    expect(page.locator("[data-name=were]")).to_have_text("12%")
    page.get_by_label("key", exact=True).first.check()
    expect(readout).to_contain_text("was is 79 times as likely as were")


def test_what_is_for_explorers_is_folded_away_at_first(widget_page):
    page = widget_page(WordArrows())
    fold = page.locator("details")
    summary = fold.locator("summary")
    shown = page.locator(".kit button:not([role=radio]):visible")
    expect(fold).not_to_have_attribute("open", "")
    expect(shown).to_have_count(1)
    expect(page.locator(".kit-map")).to_be_hidden()
    summary.press("Enter")
    expect(page.locator(".kit-map")).to_be_visible()
    summary.press("Space")
    expect(shown).to_have_count(1)


def test_a_head_that_does_not_answer_is_one_press_away(widget_page):
    page = widget_page(WordArrows())
    page.get_by_label("L26H1, which looks mostly at The").check()
    readout = page.locator("[data-name=arrows]")
    expect(readout).to_contain_text("Head L26H1 looks from table back to The with 0.95")
    page.get_by_role("button", name="Take head L26H1 out").click()
    expect(readout).to_contain_text("Without head L26H1, were is 6.5 times as likely as was.")
    page.get_by_label("L26H0, which looks mostly at keys").check()
    expect(page.get_by_role("button", name="Take head L26H0 out")).to_be_visible()


def test_a_head_is_named_as_in_papers_and_read_from_both_ways_of_writing_it():
    assert call(TEXT, "headName", SUBJECT, HEADS) == head_name(SUBJECT) == "L26H0"
    for name in ("L26H0", "l26h0", " 26.0 "):
        assert call(TEXT, "headNumber", name, HEADS) == SUBJECT
    with pytest.raises(Exception, match="A head is written like L26H0; got 26"):
        call(TEXT, "headNumber", "26", HEADS)


def test_a_head_is_taken_out_and_put_back_by_keyboard(widget_page):
    page = widget_page(WordArrows())
    page.get_by_role("button", name="Take head L26H0 out").press("Enter")
    expect(page.locator("[data-name=arrows]")).to_contain_text(
        "Without head L26H0, was is 1.1 times as likely as were."
    )
    expect(page.locator("[data-name=was]")).to_have_text("1.9% → 9.6%")
    expect(page.locator("g.kit-gone")).to_have_count(2)
    page.get_by_role("button", name="Put head L26H0 back").press("Enter")
    expect(page.locator("[data-name=was]")).to_have_text("1.9%")


def test_every_head_and_every_word_is_reached_by_keyboard(widget_page):
    page = widget_page(WordArrows())
    readout = page.locator("[data-name=arrows]")
    page.locator("summary").press("Enter")
    page.get_by_label("layer", exact=True).press("Home")
    page.get_by_label("head in it").press("End")
    expect(readout).to_contain_text("Head L0H8 looks from table")
    word = page.get_by_role("radio", name=re.compile("^table"))
    word.press("ArrowLeft")
    expect(readout).to_contain_text("Head L0H8 looks from the")
    page.keyboard.press("Home")
    expect(readout).to_contain_text("The first word can look at nothing but itself.")


def test_a_story_and_a_named_head_are_chosen(widget_page):
    page = widget_page(WordArrows())
    readout = page.locator("[data-name=arrows]")
    page.locator("summary").click()
    page.get_by_label("What comes next?").select_option("a capital")
    expect(readout).to_contain_text("Head L23H4 looks from is back to France")
    page.get_by_role("button", name="L18H6: induction").click()
    expect(readout).to_contain_text("from -x of Zorvex back to Qu- of Quill with")
    expect(page.get_by_role("list", name="The next word")).to_contain_text("Qu- of Quill")
    expect(page.get_by_label("What comes next?")).to_have_value("a name that came before")
    page.get_by_role("button", name="attention sink").click()
    expect(page.locator("g.kit-sink")).to_have_count(14)


@pytest.mark.parametrize("name", NAMES)
def test_it_fits_a_phone_and_fingers(widget_page, name):
    page = widget_page(WordArrows(sentence=name), width=360)
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for target in page.locator(".kit button, .kit select, .kit .kit-toggle").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 24, target.inner_html()


def test_it_fits_a_phone_before_its_width_is_measured(widget_page, browser, monkeypatch):
    never = "window.ResizeObserver = class { observe() {} disconnect() {} }"
    fresh = browser.new_page

    def unmeasured(**options):
        page = fresh(**options)
        page.add_init_script(never)
        return page

    monkeypatch.setattr(browser, "new_page", unmeasured)
    page = widget_page(WordArrows(), width=360)
    assert page.locator(".kit-arcs path").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible(widget_page, theme):
    for width in (1000, 360):
        page = widget_page(WordArrows(out=True), width=width, theme=theme)
        page.locator("summary").click()
        listed = violations(page, ALL)
        assert [line for line in listed if not line.startswith(("page-has", "region"))] == []
