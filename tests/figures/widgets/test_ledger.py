"""The spreadsheet of chapter 15 counts what lib counts, and what a model holds."""

import dataclasses
import itertools

import pytest
import torch
from playwright.sync_api import Page, expect

from figures.widgets.ledger import Ledger
from lib.models.config import SIZES
from lib.models.gpt2 import GPT2
from lib.models.parameter_count import PRESETS, Counted, by_group, ledger, total
from tests.figures.widgets.node import call

SMALL = Counted(vocab_size=11, context_length=7, d_model=6, heads=3, layers=5, d_ff=13)
LARGEST = Counted(vocab_size=10**6, context_length=10**6, d_model=65_536, heads=1024, layers=1000,
                d_ff=262_144, tied=False)  # fmt: skip
SWITCHES = ("positions", "biases", "norms", "tied")
SWITCHED = [
    dataclasses.replace(SMALL, **dict(zip(SWITCHES, on, strict=True)))
    for on in itertools.product([True, False], repeat=4)
]


@pytest.mark.parametrize("sizes", [*PRESETS.values(), LARGEST, SMALL, *SWITCHED[1:]], ids=str)
def test_every_row_is_libs_to_the_last_digit(sizes):
    shown = call("ledger.js", "ledger", dataclasses.asdict(sizes))
    assert shown == [row._asdict() for row in ledger(sizes)]
    assert call("ledger.js", "sums", dataclasses.asdict(sizes)) == {
        "total": total(sizes),
        "groups": by_group(sizes),
    }
    assert total(sizes) < 2**53


@pytest.mark.parametrize("name", SIZES)
def test_its_total_is_what_the_model_holds(name):
    preset = list(PRESETS.values())[list(SIZES).index(name)]
    with torch.device("meta"):
        held = sum(parameter.numel() for parameter in GPT2(SIZES[name]).parameters())
    assert call("ledger.js", "sums", dataclasses.asdict(preset))["total"] == held


@pytest.mark.parametrize("number", [7, 999, 1000, 175_181_291_520])
def test_numbers_are_written_as_python_writes_them(number):
    assert call("ledger.js", "whole", number) == f"{number:,}"


def test_it_names_the_preset_that_has_these_sizes():
    state = Ledger().state
    assert call("ledger.js", "presetOf", state["presets"], state) == "GPT-3, matrices only"
    assert call("ledger.js", "presetOf", state["presets"], {**state, "layers": 3}) == ""


def test_its_start_is_the_count_of_the_source():
    report = call("ledger.js", "report", Ledger().state)
    assert report["total"] == "175,181,291,520 parameters"
    assert report["block"] == "33.3 % attention, 66.7 % feed-forward"
    assert report["bytes"] == "701 GB in single precision, 350 GB in half, 175 GB in int8"
    assert Ledger().sizes == PRESETS["GPT-3, matrices only"]


def shown(page: Page, part: str) -> str:
    return page.locator(f"td[data-name='{part}']").text_content()


def test_a_preset_fills_every_cell(widget_page):
    page = widget_page(Ledger())
    for name, sizes in PRESETS.items():
        page.get_by_role("radio", name=name, exact=True).check()
        for row in ledger(sizes):
            assert shown(page, row.part) == f"{row.count:,}"
        assert shown(page, "sum") == f"{total(sizes):,}"
        assert page.get_by_label("d_ff").input_value() == str(sizes.d_ff)


def test_a_typed_size_changes_its_rows_and_leaves_the_preset(widget_page):
    page = widget_page(Ledger())
    page.get_by_role("radio", name="GPT-2", exact=True).check()
    page.get_by_label("layers").fill("24")
    expected = total(dataclasses.replace(PRESETS["GPT-2"], layers=24))
    assert shown(page, "sum") == f"{expected:,}"
    expect(page.locator("input[type=radio]:checked")).to_have_count(0)
    page.get_by_label("layers").press("ArrowDown")
    expected = total(dataclasses.replace(PRESETS["GPT-2"], layers=23))
    assert shown(page, "sum") == f"{expected:,}"


def test_the_switches_take_their_rows_away(widget_page):
    page = widget_page(Ledger())
    page.get_by_role("radio", name="GPT-2", exact=True).check()
    for label in ("learned positions", "biases", "norms"):
        page.get_by_label(label, exact=True).press("Space")
    for part in ("positions", "up biases", "down biases", "attention biases", "last norm"):
        assert shown(page, part) == "0"
    page.get_by_label("tied embeddings").press("Space")
    assert shown(page, "unembedding") == "38,597,376"


def test_heads_that_do_not_divide_are_said_and_not_counted(widget_page):
    page = widget_page(Ledger())
    page.get_by_label("heads").fill("7")
    readout = page.locator("[data-name=total]")
    expect(readout).to_have_text("The heads share d_model equally, and 7 does not divide 12,288.")
    assert shown(page, "sum") == "–"
    page.get_by_label("heads").fill("64")
    expect(readout).to_have_text("175,181,291,520 parameters")


@pytest.mark.parametrize("typed", ["0", "", "1.5", "-3", "1001", "1e9"])
def test_an_impossible_number_is_refused_aloud_and_changes_nothing(widget_page, typed):
    page = widget_page(Ledger())
    layers, readout = page.get_by_label("layers"), page.locator("[data-name=total]")
    layers.fill(typed)
    expect(readout).to_have_text("layers is a whole number from 1 to 1,000; still counted with 96.")
    assert layers.input_value() == typed
    assert layers.get_attribute("aria-invalid") == "true"
    assert shown(page, "sum") == "175,181,291,520"
    layers.press("Tab")
    assert layers.input_value() == "96"
    page.get_by_label("heads").fill("48")
    expect(readout).to_have_text("175,181,291,520 parameters")


def test_a_preset_clears_what_was_refused(widget_page):
    page = widget_page(Ledger())
    page.get_by_label("d_ff").fill("0")
    page.get_by_role("radio", name="GPT-2", exact=True).check()
    expect(page.locator("[data-name=total]")).to_have_text("124,439,808 parameters")
    assert page.get_by_label("d_ff").input_value() == "3072"


def test_a_share_that_is_there_is_never_nought():
    assert call("ledger.js", "percent", 1, 10**9) == "< 0.01 %"
    assert call("ledger.js", "percent", 0, 10**9) == "0.0 %"
    assert call("ledger.js", "percent", 995, 10**5) == "1.0 %"
    assert call("ledger.js", "percent", 5, 10**4) == "0.05 %"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_telephone(widget_page, theme):
    page = widget_page(Ledger(), width=360, theme=theme)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    table = page.locator(".kit-ledger").bounding_box()
    assert table["width"] <= 345
