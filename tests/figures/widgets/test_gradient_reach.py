"""The figure of chapter 01 passes on what PyTorch's own layers pass on."""

import math

import pytest
import torch
from playwright.sync_api import Page, expect
from torch import nn

from figures.widgets.gradient_reach import LONGEST, GradientReach
from tests.figures.widgets.node import call

STATES = [
    {"weight": 1.25, "state_size": 0.6, "forget": 0.98},
    {"weight": 0.9, "state_size": 0.0, "forget": 0.5},
    {"weight": 1.6, "state_size": 0.3, "forget": 1.0},
]


def through_an_rnn(weight: float, state: float, distance: int) -> float:
    """The derivative of the last state by the first, in a real layer held at one state."""
    net = nn.RNN(1, 1, bias=False).double()
    net.weight_ih_l0.data.fill_(1.0)
    net.weight_hh_l0.data.fill_(weight)
    word = math.atanh(state) - weight * state
    words = torch.full((distance, 1), word, dtype=torch.float64)
    start = torch.tensor([[state]], dtype=torch.float64, requires_grad=True)
    net(words, start)[0][-1].sum().backward()
    return start.grad.item()


def through_the_cell_of_an_lstm(forget: float, distance: int) -> float:
    """The derivative of the last cell by the first, with all weights 0 and a given gate."""
    net = nn.LSTM(1, 1).double()
    for parameter in net.parameters():
        parameter.data.zero_()
    net.bias_hh_l0.data[1] = 50.0 if forget == 1 else math.log(forget / (1 - forget))
    words = torch.zeros(distance, 1, dtype=torch.float64)
    start = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    _, (_, cell) = net(words, (torch.zeros(1, 1, dtype=torch.float64), start))
    cell.sum().backward()
    return start.grad.item()


@pytest.mark.parametrize("distance", [1, 7, 40])
@pytest.mark.parametrize("state", STATES, ids=str)
def test_the_shares_are_those_of_real_layers(state, distance):
    widget = GradientReach(**state)
    here = widget.arriving(distance)
    rnn = through_an_rnn(state["weight"], state["state_size"], distance)
    assert here["RNN"] == pytest.approx(rnn, rel=1e-7)
    assert here["LSTM"] == pytest.approx(through_the_cell_of_an_lstm(state["forget"], distance))
    x = torch.ones(distance + 1, dtype=torch.float64, requires_grad=True)
    (torch.zeros(distance + 1).double().softmax(0) @ x).backward()
    assert here["attention"] == pytest.approx(x.grad[0].item())


@pytest.mark.parametrize("distance", [1, 13, LONGEST])
@pytest.mark.parametrize("state", STATES, ids=str)
def test_the_script_passes_on_the_same_shares(state, distance):
    widget = GradientReach(**state)
    shown = call("gradient_reach.js", "arriving", widget.state, distance)
    assert shown == pytest.approx(widget.arriving(distance), rel=1e-9)


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("name", ["RNN", "LSTM"])
def test_attention_is_ahead_from_the_stated_distance_on(name, state):
    widget = GradientReach(**state)
    here = {k: widget.arriving(k) for k in range(1, LONGEST + 1)}
    ahead = {k: reach["attention"] > reach[name] for k, reach in here.items()}
    from_here = call("gradient_reach.js", "overtakes", widget.state, name)
    if from_here == 0:
        assert not ahead[LONGEST]
    else:
        assert all(ahead[k] for k in range(from_here, LONGEST + 1))
        assert from_here == 1 or not ahead[from_here - 1]


def test_the_numbers_by_hand_are_said():
    state = {"distance": 10, "weight": 1.25, "state_size": 0.6, "forget": 0.95}
    report = call("gradient_reach.js", "report", GradientReach(**state).state)
    assert report["RNN"] == "0.107: times 0.800 a step, vanishes"
    assert report["attention"] == "0.091: 1 of 11 equal shares"
    assert "the RNN from distance 12 on" in report["ahead"]
    assert "RNN 0.1" in GradientReach(**state).still().caption


@pytest.mark.parametrize(
    ("share", "text"),
    [(13780.6, "13781"), (0.107, "0.107"), (2.66e-5, "2.7 · 10^\u22125"), (17.44, "17.4")],
)
def test_a_share_is_written_in_a_few_digits(share, text):
    assert call("gradient_reach.js", "short", share) == text


def shown(page: Page, name: str):
    return page.locator(f"[data-name={name}]")


def test_the_sliders_work_by_keyboard_and_everything_follows(widget_page):
    page = widget_page(GradientReach(distance=10, weight=1.25, state_size=0.6))
    expect(shown(page, "RNN")).to_contain_text("0.107")
    page.get_by_label("distance in words").press("ArrowRight")
    expect(shown(page, "RNN")).to_contain_text("0.086")
    expect(shown(page, "attention")).to_contain_text("1 of 12 equal shares")
    page.get_by_label("RNN: state h").press("Home")
    expect(shown(page, "RNN")).to_contain_text("explodes")
    expect(shown(page, "ahead")).to_contain_text("not the RNN up to 100")
    page.get_by_label("LSTM: forget gate").press("End")
    expect(shown(page, "LSTM")).to_contain_text("1.000")
    picture = page.get_by_role("img").first
    expect(picture).to_have_attribute("aria-label", "What arrives from distance 11: "
                                      "RNN 11.6, LSTM 1.000, attention 0.083")  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_telephone(widget_page, theme):
    page = widget_page(GradientReach(), width=360, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
