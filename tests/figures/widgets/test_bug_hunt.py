"""The figure of chapter 17 shows what the suspects put out, and answers a name with evidence."""

import re
from fractions import Fraction

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from figures.widgets.bug_hunt import RIGHT, SHOWN, BugHunt, cases, seen_by
from lib.debugging import broken_models
from lib.debugging.broken_models import SUSPECTS
from lib.debugging.experiments import EXPERIMENTS
from tests.figures.widgets.node import call

CASES = cases()
BY_KEY = {suspect["key"]: suspect for suspect in CASES["suspects"]}
KEYS = [experiment["key"] for experiment in CASES["experiments"]]


@pytest.mark.parametrize("seed", [1, 17, 2026, 9999, 2**31 - 2])
def test_it_shuffles_as_lib_does(seed):
    assert call("bug_hunt.js", "lineup", seed) == broken_models.lineup(seed)


def test_its_tables_are_those_of_the_models_and_its_state_is_small():
    for experiment in CASES["experiments"]:
        assert experiment["table"] == RIGHT[experiment["key"]].tolist()
    for kind in SUSPECTS:
        assert BY_KEY[kind.key]["tables"] == {k: v.tolist() for k, v in SHOWN[kind.key].items()}
    assert len(BugHunt()._repr_mimebundle_()[0]["text/html"]) < 120_000


@pytest.mark.parametrize("x", [0, 1, -3, 1 / 3, 2 / 3, -5 / 60, 48 / 11, 0.3])
def test_fractions_are_written_as_python_writes_them(x):
    wanted = str(Fraction(x).limit_denominator(60)).replace("-", "\u2212")
    assert call("bug_hunt.js", "fraction", round(x, 8)) == wanted


def test_what_is_no_fraction_is_written_with_three_digits():
    assert call("bug_hunt.js", "fraction", 2**0.5) == "1.414"
    assert call("bug_hunt.js", "fraction", -(2**0.5)) == "\u22121.414"


@pytest.mark.parametrize("key", ["M40", "M54", "M62", "M27"])
def test_differences_are_numpys_the_largest_first(key):
    different = call("bug_hunt.js", "differences", SHOWN[key]["whole"].tolist(),
                 RIGHT["whole"].tolist())  # fmt: skip
    size = np.abs(SHOWN[key]["whole"] - RIGHT["whole"])
    assert sorted(map(tuple, different)) == list(map(tuple, np.argwhere(size > 1e-6)))
    assert not different or size[tuple(different[0])] == size.max()


@pytest.mark.parametrize("kind", SUSPECTS, ids=[kind.key for kind in SUSPECTS])
def test_with_all_experiments_the_true_name_is_proved_and_each_other_refuted(kind):
    suspect = BY_KEY[kind.key]
    assert [fitting["key"] for fitting in call("bug_hunt.js", "fitting", CASES, suspect, KEYS)] == [
        kind.key
    ]
    for other in CASES["suspects"]:
        verdict = call("bug_hunt.js", "verdict", CASES, suspect, other, KEYS)
        if other is suspect:
            assert verdict["kind"] == "proved"
            assert suspect["sign"] in verdict["text"]
        else:
            assert verdict["kind"] == "refuted"
            assert verdict["text"].startswith(f"Not \u201c{other['name']}\u201d. With it, \u201c")


@pytest.mark.parametrize("kind", SUSPECTS, ids=[kind.key for kind in SUSPECTS])
def test_the_hints_follow_the_tree_and_leave_one_name(kind):
    suspect = BY_KEY[kind.key]
    asked = list(dict.fromkeys(key for key, _, _ in suspect["walk"]))
    assert call("bug_hunt.js", "hint", suspect, asked[:-1]) == asked[-1]
    assert call("bug_hunt.js", "hint", suspect, asked) == ""
    assert [
        fitting["key"] for fitting in call("bug_hunt.js", "fitting", CASES, suspect, asked)
    ] == [kind.key]


def test_a_right_guess_without_evidence_is_not_accepted():
    suspect = BY_KEY["M03"]
    for asked, words in ([], "no experiment"), (["twice"], "18 other names"):
        verdict = call("bug_hunt.js", "verdict", CASES, suspect, suspect, asked)
        assert verdict["kind"] == "open"
        assert words in verdict["text"]


def test_a_refutation_says_what_would_be_found_and_what_is():
    verdict = call(
        "bug_hunt.js", "verdict", CASES, BY_KEY["M03"], BY_KEY["M01"], ["whole", "exact"]
    )
    assert verdict["kind"] == "refuted"
    assert verdict["text"].endswith(
        "\u201cthree exact tokens\u201d finds: wrong: token 3. Here it finds: every token is right."
    )


def test_the_numbers_of_a_table_alone_refute_nothing():
    fitting = call("bug_hunt.js", "fitting", CASES, BY_KEY["M01"], ["whole"])
    assert len(fitting) == 19
    verdict = call("bug_hunt.js", "verdict", CASES, BY_KEY["M01"], BY_KEY["M51"], ["whole"])
    assert verdict["kind"] == "open"


def test_what_is_said_of_a_table_counts_its_differences():
    whole, right = CASES["experiments"][-1], SHOWN[SUSPECTS[7].key]["whole"].tolist()
    assert call("bug_hunt.js", "comparison", whole, right) == "no number differs"
    heads = next(experiment for experiment in CASES["experiments"] if experiment["key"] == "heads")
    sentence = call("bug_hunt.js", "comparison", heads, BY_KEY["M40"]["tables"]["heads"])
    assert sentence.startswith("12 of 12 numbers, most at token 1, feature 2: 0, right would be 60")


def test_the_still_figure_says_what_the_tables_say():
    seen = seen_by()
    assert seen.shape == (20, len(EXPERIMENTS))
    assert f"at least {seen.sum(1).min()} of" in BugHunt().still().caption


def number_of(key: str, seed: int = 17) -> int:
    """The number under which a fault stands in the lineup of a seed."""
    return broken_models.lineup(seed).index([kind.key for kind in SUSPECTS].index(key)) + 1


def ask(page: Page, name: str) -> None:
    page.get_by_role("group", name="experiments").get_by_role("button", name=name).click()


def say(page: Page, name: str) -> str:
    page.get_by_label("your diagnosis").select_option(name)
    page.get_by_role("button", name="name it").click()
    return page.locator("[data-name=reply]").inner_text()


def test_a_suspect_is_asked_refuted_proved_and_counted(widget_page):
    page = widget_page(BugHunt())
    number = number_of("M40")
    page.get_by_role("button", name=f"model {number}", exact=True).click()
    assert say(page, "output matrix missing").startswith("Not proved")
    ask(page, "three exact tokens")
    expect(page.locator("[data-name=differs]")).to_have_text("no number differs")
    assert say(page, "no scaling").startswith("Not \u201cno scaling\u201d.")
    ask(page, "two heads")
    ask(page, "change one token")
    expect(page.locator("[data-name=finding]")).to_have_text("no earlier row moves")
    ask(page, "two heads")
    shown = page.locator("[data-name=tables] table").first.locator("td:not(:empty)")
    assert shown.all_inner_texts()[:4] == ["6", "0", "60", "0"]
    expect(page.locator("[data-name=tables] td.leak")).to_have_count(12)
    assert say(page, "output matrix missing").startswith("Proved: output matrix missing.")
    expect(page.locator("[data-name=score]")).to_contain_text("1 of 20 proved; wrong names: 1")
    expect(page.get_by_role("button", name=f"model {number}, proved")).to_be_visible()


def test_each_of_the_twenty_is_proved_by_following_the_hints(widget_page):
    page = widget_page(BugHunt(), width=390)
    names = {experiment.key: experiment.name for experiment in EXPERIMENTS.values()}
    for kind in SUSPECTS:
        page.get_by_role("button", name=f"model {number_of(kind.key)}", exact=True).click()
        for _ in range(len(EXPERIMENTS)):
            page.get_by_role("button", name="hint").click()
            reply = page.locator("[data-name=reply]").inner_text()
            wanted = re.search(r"\u201c(.*)\u201d next", reply)
            if not wanted:
                break
            assert wanted[1] in names.values()
            ask(page, wanted[1])
        say(page, kind.name)
        expect(page.locator("[data-name=reply]")).to_contain_text(f"Proved: {kind.name}.")
    expect(page.locator("[data-name=score]")).to_contain_text("20 of 20 proved; wrong names: 0")


def test_it_opens_with_one_experiment_run_on_model_1(widget_page):
    page = widget_page(BugHunt())
    expect(page.locator("[data-name=finding]")).to_have_text("no earlier row moves")
    expect(page.locator("[data-name=score]")).to_contain_text("experiments on this model: 1")
    page.get_by_role("button", name="model 2", exact=True).click()
    expect(page.locator("[data-name=finding]")).to_have_text("nothing yet")


def test_it_works_by_keyboard_and_a_new_seed_begins_again(widget_page):
    page = widget_page(BugHunt())
    page.get_by_role("button", name="model 3", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="the same again").focus()
    page.keyboard.press("Space")
    expect(page.locator("[data-name=tables] caption").first).to_have_text("model 3")
    page.get_by_role("button", name="give up").focus()
    page.keyboard.press("Enter")
    wanted = broken_models.suspect(3)
    expect(page.locator("[data-name=reply]")).to_contain_text(f"It was: {wanted.name}.")
    page.get_by_label("seed of the order").fill("5")
    expect(page.locator("[data-name=score]")).to_contain_text("0 of 20 proved")
    page.get_by_role("button", name="give up").click()
    wanted = broken_models.suspect(3, seed=5)
    expect(page.locator("[data-name=reply]")).to_contain_text(f"It was: {wanted.name}.")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_telephone(widget_page, theme):
    page = widget_page(BugHunt(), width=360, theme=theme)
    for name in ("the whole model", "the identity as values"):
        ask(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
