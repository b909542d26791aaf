"""The figure of chapter 05 draws the same vectors as Python, and shows what lib computes."""

import numpy as np
import pytest
from playwright.sync_api import Page

from figures.widgets.scaling_lab import ScalingLab, vectors
from lib.functional import entropy
from tests.figures.widgets.node import call

STATES = [
    {"d_k": 1, "n": 2, "divisor": "nothing", "seed": 7},
    {"d_k": 23, "n": 5, "divisor": "nothing", "seed": 3},
    {"d_k": 256, "n": 16, "divisor": "root", "seed": 4},
    {"d_k": 724, "n": 24, "divisor": "width", "seed": 999},
]


def test_it_draws_the_same_vectors_as_python():
    q, K = vectors(seed=5, keys=3, d_k=1024)
    drawn = [call("scaling_lab.js", "vector", 5, place) for place in range(4)]
    drawn = [[sample[str(i)] for i in range(1024)] for sample in drawn]
    np.testing.assert_allclose(drawn, [q, *K], atol=1e-12)


def test_the_numbers_that_it_draws_are_normal():
    _, K = vectors(seed=1, keys=24, d_k=1024)
    assert abs(K.mean()) < 0.02
    assert abs(K.var() - 1) < 0.03
    assert abs(np.corrcoef(K) - np.eye(24)).max() < 0.13


def test_a_narrow_vector_is_the_beginning_of_a_wide_one():
    wide, narrow = (vectors(seed=2, keys=2, d_k=d_k) for d_k in (11, 3))
    np.testing.assert_array_equal(narrow[1], wide[1][:, :3])


@pytest.mark.parametrize("state", STATES)
def test_its_numbers_are_libs(state):
    seen, expected = call("scaling_lab.js", "look", state), ScalingLab(**state).look()
    np.testing.assert_allclose(seen["scores"], expected["scores"], atol=1e-10)
    np.testing.assert_allclose(seen["weights"], expected["weights"], rtol=1e-9)
    assert seen["gradient"] == pytest.approx(expected["gradient"], rel=1e-6)
    assert seen["entropy"] == pytest.approx(entropy(expected["weights"]), abs=1e-9)


def test_the_strip_shows_this_draw_and_those_after_it():
    sizes = call("scaling_lab.js", "gradients", ScalingLab(d_k=64, n=3, seed=8).state)
    expected = [ScalingLab(d_k=64, n=3, seed=seed).look()["gradient"] for seed in range(8, 38)]
    np.testing.assert_allclose(sizes, expected, rtol=1e-3)


@pytest.mark.parametrize(("number", "text"), [(0.304, "0.30"), (8.04, "8.04"), (2e-7, "2e−7")])
def test_it_writes_small_numbers_short(number, text):
    assert call("scaling_lab.js", "short", number) == text


def test_what_the_chapter_says_will_be_seen():
    widths = (11, 64, 256, 1024)
    largest = {
        divisor: [ScalingLab(d_k=d_k, divisor=divisor).look()["weights"].max() for d_k in widths]
        for divisor in ("nothing", "root", "width")
    }
    assert largest["nothing"][-1] > 0.99
    assert 0.1 < min(largest["root"]) < max(largest["root"]) < 0.4
    assert largest["width"][-1] < 0.07
    sizes = [ScalingLab(d_k=512, seed=seed).look()["gradient"] for seed in range(4, 34)]
    assert sizes[0] == pytest.approx(6.9, abs=0.1)
    assert np.median(sizes) < 0.1
    assert max(sizes) / min(sizes) > 1e10


def shown(page: Page, name: str) -> float:
    text = page.locator(f"[data-name='{name}']").inner_text()
    return float(text.split()[0].replace("−", "-"))


def agrees(page: Page, **state: object) -> None:
    """Compare everything on the page with lib."""
    seen = ScalingLab(**state).look()
    weights = np.sort(seen["weights"])[::-1]
    assert shown(page, "largest weight") == pytest.approx(weights[0], abs=0.006)
    assert shown(page, "entropy") == pytest.approx(entropy(weights), abs=0.006)
    assert shown(page, "gradient size") == pytest.approx(seen["gradient"], rel=0.5, abs=0.006)
    bars = [
        shown(page, f"weights, largest first rank {place + 1}") for place in range(len(weights))
    ]
    np.testing.assert_allclose(bars, weights, atol=0.006)
    dots = page.locator("svg.kit-line").first.locator("circle")
    places = [float(dot.get_attribute("cx")) for dot in dots.all()]
    share = 0.5 + np.arcsinh(seen["scores"]) / (2 * np.arcsinh(100))
    np.testing.assert_allclose(places, 12 + 316 * share, atol=1e-6)


def test_keyboard_moves_the_width_and_the_number_of_keys(widget_page):
    page = widget_page(ScalingLab())
    page.get_by_text("entropy and gradient").click()
    agrees(page)
    page.get_by_label("dimension d_k").press("End")
    agrees(page, d_k=1024)
    page.get_by_label("dimension d_k").press("ArrowLeft")
    agrees(page, d_k=724)
    page.get_by_label("keys", exact=True).press("Home")
    agrees(page, d_k=724, n=2)


def test_pointer_changes_the_divisor_and_draws_again(widget_page):
    page = widget_page(ScalingLab(), width=390, theme="dark")
    page.get_by_text("entropy and gradient").click()
    page.get_by_label("√d_k", exact=True).click()
    agrees(page, divisor="root")
    page.get_by_role("button", name="sample new vectors").click()
    agrees(page, divisor="root", seed=5)
    page.get_by_label("d_k", exact=True).last.click()
    agrees(page, divisor="width", seed=5)
    slider = page.get_by_label("dimension d_k").bounding_box()
    page.mouse.click(slider["x"] + 1, slider["y"] + slider["height"] / 2)
    agrees(page, divisor="width", seed=5, d_k=1)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide


def test_its_still_picture_says_what_it_shows():
    still = ScalingLab(divisor="root").still()
    assert "divided by √d_k" in still.caption
    assert "0.33" in still.caption
