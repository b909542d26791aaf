"""The portability tool sees what another processor changes, and the riskiest pages hold on one."""

import ast
import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from book.build import notebooks
from tools.portability import __main__ as tool
from tools.portability import compare, settings, watch

BY_NAME = {setting.name: setting for setting in settings.SETTINGS}
NATIVE, SSE4, ROUNDING = (BY_NAME[name] for name in ("native", "sse4", "rounding"))
# What came out differently on other processors before: a training, and float32 in another order.
RISKIEST = ("05_scaling", "14_cost")
HEAD = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
"""


@pytest.fixture(scope="module")
def foreign() -> settings.Setting:
    """SSE4, if the libraries of this processor can be limited to it."""
    if settings.fingerprint(SSE4) == settings.fingerprint(NATIVE):
        pytest.skip("the libraries of this processor cannot be limited to SSE4")
    return SSE4


@pytest.mark.nightly
@pytest.mark.parametrize("chapter", RISKIEST)
def test_the_riskiest_pages_give_what_is_stored_without_avx(foreign, chapter):
    page = settings.ROOT / "chapters" / f"{chapter}.md"
    cells = tool.report_on(page, {"sse4": tool.run_page(page, foreign)})
    assert {cell.number: cell.failed for cell in cells if cell.failed} == {}


# What is recorded of a cell.


@pytest.fixture
def records(monkeypatch) -> list[dict]:
    monkeypatch.setattr(watch, "RECORDS", [])
    watch.turns.clear()
    return watch.RECORDS


def run(source: str) -> None:
    """Execute a cell as the watch rewrites it."""
    tree = watch.Watch().visit(ast.parse(source))
    exec(compile(tree, "cell", "exec"), watch.names() | {"np": np})


@pytest.mark.parametrize(
    ("source", "values", "unit"),
    [
        ("f'{2 / 3:.2f}'", [2 / 3], 0.01),
        ("f'{2 / 3:.0%}'", [2 / 3], 0.01),
        ("f'{2e-7 / 3:.1e}'", [2e-7 / 3], 1e-9),
        ("f'{12345.678:,.1f}'", [12345.678], 0.1),
        ("f'{7:3}'", [7], 1),
        ("print(0.25)", [0.25], 0.01),
        ("print(np.arange(3) / 4)", [0, 0.25, 0.5], 1e-8),
    ],
)
def test_a_number_that_is_shown_is_recorded_in_full_with_the_unit_of_its_last_digit(
    records, source, values, unit
):
    with np.printoptions(precision=8):  # a page that another test ran may have set its own
        run(source)
    [record] = records
    assert record["values"] == values
    assert record["unit"] == pytest.approx(unit)


@pytest.mark.parametrize("source", ["f'{True}'", "f'{\"7\"}'", "print('a', None)", "x = 1 < 2"])
def test_what_is_not_a_number_or_not_asserted_is_not_recorded(records, source):
    run(source)
    assert records == []


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("assert 3 < 5", [[-2, -2]]),
        ("assert 3 < 5 <= 11", [[-2, -2], [-6, -6]]),
        ("assert (np.array([2, 7]) > 1).all()", [[1, 6]]),
        ("assert not 3 > 5 > 7", [[-2, -2]]),
        ("assert np.allclose(1.0, 1.5, atol=1.0, rtol=0)", [[-0.5, -0.5]]),
    ],
)
def test_the_differences_of_an_asserted_comparison_are_recorded(records, source, values):
    run(source)
    assert [record["values"] for record in records] == values


def test_the_watch_changes_neither_what_is_printed_nor_what_fails(records, capsys):
    run("x = 2 / 3; print(f'{x:.2f} of {\"a\"!r:>5}', x < 1 < 2, sep='; ')")
    assert capsys.readouterr().out == "0.67 of   'a'; True\n"
    with pytest.raises(AssertionError):
        run("assert 0.1 + 0.2 <= 0.3")
    assert len(records) == 2


def test_a_place_in_a_loop_is_recorded_so_often_and_no_more(records):
    run(f"for i in range({watch.MOST + 7}): f'{{i}}'")
    assert len(records) == watch.MOST


# What is concluded from it.


@pytest.mark.parametrize(
    ("values", "unit", "margin"),
    [
        ([0.471, 0.471], 0.01, math.inf),
        ([0.471, 0.472], 0.01, 3),
        ([0.474, 0.476], 0.01, -0.5),
        ([5.0, 7.0], 0, 2.5),
        ([-5.0, 7.0], 0, -1),
    ],
)
def test_a_margin_is_counted_in_spreads(values, unit, margin):
    assert compare.margin_of(values, unit) == pytest.approx(margin)


def test_a_number_far_above_its_bound_has_margin_although_it_varies():
    same = [{"values": [x - 0.1], "ratios": [math.log(x / 0.1)]} for x in (1.95, 2.25)]
    assert compare.margin_of([1.85, 2.15], 0) < compare.MARGIN < compare.margin(same)


def test_a_setting_that_computes_the_same_bits_is_not_run_and_that_is_said(monkeypatch):
    bits = {"native": "a", "avx2": "a", "sse4": "b", "threads": "c", "rounding": "d"}
    monkeypatch.setattr(settings, "fingerprint", lambda setting: bits[setting.name])
    chosen, skipped = settings.worth_running(settings.SETTINGS)
    assert [setting.name for setting in chosen] == ["native", "sse4", "threads", "rounding"]
    assert skipped == {"avx2": "same bits as native on this processor: not run"}


def test_there_are_four_settings_and_each_says_what_it_stands_for():
    assert {"native", "avx2", "sse4", "threads"} <= set(BY_NAME)
    assert all(setting.stands_for for setting in settings.SETTINGS)


# A whole page.

SUM = """import numpy as np
x, y = np.random.default_rng(0).normal(size=(2, 97, 97)).astype(np.float32)
error = float(abs(x @ y - x.astype(float) @ y.astype(float)).mean())
"""
TRAINING = """import torch
w = torch.nn.Parameter(torch.tensor([0.3]))
(w - 1).square().sum().backward()
torch.optim.SGD([w], lr=0.1).step()
"""


def reports(
    folder: Path, cells: Sequence[tuple[str, str]], *chosen: settings.Setting
) -> list[compare.CellReport]:
    """Run a page of these cells and tags as stored natively, and report on each of them."""
    page = folder / "page.md"
    text = [f"```{{code-cell}} ipython3\n:tags: [{tags}]\n\n{cell}\n```\n" for cell, tags in cells]
    page.write_text("\n".join([HEAD, *text]), "utf8")
    notebooks.build(page)
    runs = {setting.name: tool.run_page(page, setting) for setting in chosen}
    return tool.report_on(page, runs)[1:]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    return tmp_path


def test_what_only_this_processor_gives_fails_elsewhere_unless_the_page_says_so(folder, foreign):
    here: dict = {}
    exec(SUM, here)
    cells = [
        (SUM, ""),
        ("print(error)", ""),
        (f"assert error == {here['error']!r}", ""),
        ("print(error)", "nbval-ignore-output"),
        # A page may have a name of the tool.
        ("watch = error\nassert watch < 1e-3\nprint('within 1e-3')", ""),
    ]
    _, printed, equal, ignored, bound = reports(folder, cells, NATIVE, foreign)
    for cell, reason in ((printed, "the output differs"), (equal, "AssertionError")):
        assert not cell.passes
        assert list(cell.failed) == ["sse4"]
        assert reason in cell.failed["sse4"]
    assert ignored.passes
    assert bound.passes, "a bound far from the error"
    assert 0 < bound.difference < 0.1, "and the difference is told"
    assert bound.margin > compare.MARGIN


@pytest.mark.nightly
def test_a_training_is_rounded_differently_on_any_processor(folder):
    lines = "assert 0 < w < {0}\nprint('below {0}')"
    cells = [(TRAINING, ""), (lines.format(0.4400001), ""), (lines.format(0.9), "")]
    _, near, far = reports(folder, cells, NATIVE, ROUNDING)
    assert far.passes
    assert not near.passes
    assert not near.failed
    assert "too small a margin" in compare.verdict(near)


def test_the_table_names_the_page_the_cell_and_the_verdict():
    cell = compare.CellReport(3, "x | y", {"sse4": "the output differs"}, 0.25, 7.0)
    text = compare.table({"chapters/05.md": [cell], "chapters/06.md": [compare.CellReport(1, "z")]})
    assert r"| chapters/05.md | 3 | `x \| y` | 2e-01 | 7 | **sse4**: the output differs |" in text
    assert "| chapters/06.md | all 1 |" in text
    assert not cell.passes
    assert dataclasses.replace(cell, failed={}, margin=11).passes


def test_a_page_that_is_not_there_is_refused_and_the_right_form_is_shown(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["portability", "12_gpt2"])
    with pytest.raises(SystemExit):
        tool.main()
    assert "12_gpt2.md; a page is named chapters/" in capsys.readouterr().err
