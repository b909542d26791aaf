"""The colour mixer of chapter 02 finds the neighbours that lib finds."""

import pytest

from figures.widgets.colour_mixer import ColourMixer
from tests.figures.widgets.node import call


@pytest.mark.parametrize("mix", [[255, 127, 0], [60, 0, 0], [0, 0, 0], [9, 9, 9], [128, 0, 130]])
def test_its_neighbours_are_libs(mix):
    widget = ColourMixer(mix=mix)
    shown, expected = call("colour_mixer.js", "neighbours", mix, widget.colours), widget.look()
    assert shown["near"] == expected["near"]
    assert shown["alike"] == expected["alike"]
    assert shown["distance"] == pytest.approx(expected["distance"])
    assert shown["cosine"] == pytest.approx(expected["cosine"])


def test_the_keys_mix_a_colour(widget_page):
    page = widget_page(ColourMixer(), width=390)
    near, alike = (page.locator(f"[data-name={name}]") for name in ("near", "alike"))
    assert near.inner_text() == "orange (38)"
    page.get_by_label("green").press("Home")
    assert near.inner_text() == "red (0)"
    page.get_by_role("button", name="Halve").click()
    assert near.inner_text() == "dark red (1)"
    assert alike.inner_text() == "red, dark red (1.000)"
    page.get_by_label("red", exact=True).press("Home")
    assert near.inner_text() == "black (0)"
    assert alike.inner_text() == "none: black has no direction"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Start again").click()
    assert near.inner_text() == "orange (38)"
