"""The figure of chapter 11 computes what the block of lib computes, on every edge."""

import itertools

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

from figures.widgets.block_diagram import BlockDiagram
from lib.attention.masks import causal
from lib.models.block import Block
from tests.figures.widgets.node import call

ORDERS = [
    dict(zip(("norm_first", "add_first", "add_second"), switches, strict=True))
    for switches in itertools.product([True, False], repeat=3)
]
PRE = ["residual_stream", "first_norm", "weights", "attention_update", "first_sum", "second_norm",
       "hidden", "feed_forward_update", "second_sum"]  # fmt: skip
POST = ["residual_stream", "weights", "attention_update", "first_sum", "first_norm", "hidden",
        "feed_forward_update", "second_sum", "second_norm"]  # fmt: skip


def block_of_lib(widget: BlockDiagram) -> Block:
    """The block of lib with the figure's parameters, and the ReLU as the figure's example has."""
    block = Block(4, 1, 8, norm_first=widget.norm_first).double()
    block.feed_forward.gelu = torch.nn.ReLU()
    eye = torch.eye(4, dtype=torch.float64)
    with torch.no_grad():
        for layer in (block.attention.query, block.attention.key):
            layer.weight.zero_()
        block.attention.value.weight.copy_(torch.tensor(widget.value).T)
        block.attention.out.weight.copy_(eye)
        block.feed_forward.up.weight.copy_(torch.cat([eye, -eye]))
        block.feed_forward.down.weight.copy_(torch.cat([eye, eye], dim=1))
        for name, parameter in block.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    return block


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_last_edge_is_the_output_of_the_block_of_lib(norm_first):
    widget = BlockDiagram(norm_first=norm_first)
    with torch.no_grad():
        x = torch.tensor(widget.x, dtype=torch.float64)
        output, weights = block_of_lib(widget)(x, causal(3, like=x))
    steps = widget.steps()
    assert list(steps) == (PRE if norm_first else POST)
    np.testing.assert_allclose(list(steps.values())[-1], output, atol=1e-12)
    np.testing.assert_allclose(steps["weights"], weights[0], atol=1e-12)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_every_edge_of_the_script_is_pythons(order):
    widget = BlockDiagram(**order)
    shown, expected = call("block_diagram.js", "steps", widget.state), widget.steps()
    assert list(shown) == list(expected)
    for name, table in expected.items():
        np.testing.assert_allclose(shown[name], table, atol=1e-12, err_msg=name)


def test_the_example_is_exact_by_hand():
    steps = BlockDiagram().steps()
    patterns = [[1, 1, -1, -1], [1, -1, 1, -1], [1, 1, -1, -1]]
    np.testing.assert_allclose(steps["first_norm"], patterns, atol=1e-5)
    np.testing.assert_allclose(steps["first_sum"][0], [9, 1, 3, -5], atol=1e-5)
    np.testing.assert_allclose(steps["second_norm"][0], [1.4, -0.2, 0.2, -1.4], atol=1e-5)
    np.testing.assert_allclose(steps["feed_forward_update"], abs(steps["second_norm"]), atol=1e-12)
    np.testing.assert_allclose(steps["second_sum"][0], [10.4, 1.2, 3.2, -3.6], atol=1e-5)
    np.testing.assert_allclose(17 * steps["second_norm"][2], [23, 7, -7, -23], atol=1e-4)


def test_without_the_first_addition_all_tokens_are_one_to_the_second_sublayer():
    state = BlockDiagram(add_first=False, edge="second_norm").state
    assert call("block_diagram.js", "report", state)["spread"] == "0.00"
    assert call("block_diagram.js", "report", {**state, "add_first": True})["spread"] != "0.00"


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_the_spread_is_the_share_of_differences_between_tokens(order):
    for name, table in BlockDiagram(**order).steps().items():
        expected = np.linalg.norm(table - table.mean(0)) / np.linalg.norm(table)
        shown = call("block_diagram.js", "spread", table.tolist())
        assert shown == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize(("norm_first", "edges"), [(True, PRE), (False, POST)])
def test_every_edge_has_one_label_and_at_least_one_line(norm_first, edges):
    drawn = call("block_diagram.js", "layout", norm_first)
    assert [chip["edge"] for chip in drawn["chips"]] == edges
    assert {line["edge"] for line in drawn["lines"]} == set(edges)


@pytest.mark.parametrize(
    ("norm_first", "labels"),
    [(True, "x copy weights update x₁ copy hidden update x₂"),
     (False, "x weights update sum x₁ hidden update sum x₂")],
)  # fmt: skip
def test_the_labels_name_what_runs_along_the_edges(norm_first, labels):
    edges = PRE if norm_first else POST
    assert [call("block_diagram.js", "label", edge, norm_first) for edge in edges] == labels.split()


def numbers(page: Page) -> list[list[float]]:
    """The table below the diagram."""
    rows = page.locator(".kit-grid tbody tr").all()
    read = "td => td.querySelector('input')?.value ?? td.innerText"
    texts = [[cell.evaluate(read) for cell in row.locator("td").all()] for row in rows]
    return [[float(text.replace("\N{MINUS SIGN}", "-")) for text in row] for row in texts]


def test_a_click_on_an_edge_shows_its_numbers(widget_page):
    page = widget_page(BlockDiagram())
    for edge, table in BlockDiagram().steps().items():
        page.locator(f".kit-chip[data-edge={edge}]").click()
        n, d = table.shape
        expect(page.locator("[data-name=edge]")).to_contain_text(f"({n}, {d}): ")
        np.testing.assert_allclose(numbers(page), table, atol=0.0051)


def test_a_line_can_be_clicked_as_well(widget_page):
    page = widget_page(BlockDiagram())
    page.locator("polyline[data-edge=attention_update]").dispatch_event("click")
    expect(page.get_by_role("radio", name="attention update")).to_be_checked()


def test_arrow_keys_go_along_the_edges(widget_page):
    page = widget_page(BlockDiagram())
    chosen = page.locator(".kit-chip[aria-checked=true]")
    chosen.focus()
    page.keyboard.press("End")
    expect(chosen).to_have_attribute("data-edge", "second_sum")
    page.keyboard.press("ArrowDown")
    expect(chosen).to_have_attribute("data-edge", "second_sum")
    page.keyboard.press("ArrowUp")
    expect(chosen).to_have_attribute("data-edge", "feed_forward_update")
    expect(chosen).to_be_focused()
    page.keyboard.press("Home")
    expect(chosen).to_have_attribute("data-edge", "residual_stream")
    expect(page.locator(".kit-chip[tabindex='0']")).to_have_count(1)


def test_typed_numbers_run_through_the_whole_block(widget_page):
    page = widget_page(BlockDiagram(edge="residual_stream"))
    page.get_by_label("residual stream, token 2, 3").fill("-7.5")
    typed = [[5, 5, -1, -1], [4, -2, -7.5, -2], [5, 5, -5, -5]]
    for edge, table in BlockDiagram(x=typed).steps().items():
        page.locator(f".kit-chip[data-edge={edge}]").click()
        np.testing.assert_allclose(numbers(page), table, atol=0.0051)
    page.locator(".kit-chip[data-edge=residual_stream]").click()
    page.get_by_role("button", name="Back to the example").click()
    assert numbers(page) == BlockDiagram().x


def test_a_number_half_typed_changes_nothing(widget_page):
    page = widget_page(BlockDiagram(edge="residual_stream"))
    cell = page.get_by_label("residual stream, token 1, 1")
    cell.fill("")
    expect(page.locator("[data-name=mean]")).to_have_text("2.00, 1.00, 0.00")
    cell.press_sequentially("-2.5")
    expect(cell).to_have_value("-2.5")
    expect(page.locator("[data-name=mean]")).to_have_text("0.13, 1.00, 0.00")


def test_the_norms_move_and_the_chosen_edge_stays(widget_page):
    page = widget_page(BlockDiagram())
    page.get_by_label("after the addition (post-norm)").click()
    expect(page.locator(".kit-chip[aria-checked=true]")).to_have_attribute(
        "data-edge", "first_norm"
    )
    table = BlockDiagram(norm_first=False).steps()["first_norm"]
    np.testing.assert_allclose(numbers(page), table, atol=0.0051)


def test_an_addition_left_out_is_marked_and_makes_the_tokens_equal(widget_page):
    page = widget_page(BlockDiagram(edge="second_norm"))
    expect(page.locator("[data-name=spread]")).not_to_have_text("0.00")
    page.get_by_label("add attention's update to x").click()
    expect(page.locator(".kit-edge.cut")).to_have_count(1)
    expect(page.locator("[data-name=spread]")).to_have_text("0.00")
    assert numbers(page)[0] == numbers(page)[1] == numbers(page)[2]


def test_it_fits_a_telephone(widget_page):
    page = widget_page(BlockDiagram(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    box = page.locator(".kit-chip").first.bounding_box()
    assert box["height"] >= 24
