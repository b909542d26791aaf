"""The schematics of positions in chapter 7 show what the page says."""

import re

import numpy as np

from figures.diagrams.positions import positions_above, sinusoid_curves, sinusoids


def test_each_word_has_its_position_above_it():
    texts = {"short": [(0, "big"), (1, "dog")], "swapped": [(3, "big"), (2, "dog")]}
    figure = positions_above(texts, {"dog": "key"}, alt="words", caption="Words.")
    shown = re.findall(r">([^<>]+)</(?:tspan|text)>", figure.svg)
    words = [shown[i : i + 2] for i, text in enumerate(shown) if text.isdigit()]
    assert words == [["1", "dog"], ["0", "big"], ["2", "dog"], ["3", "big"]]
    assert [title for title in texts if title in shown] == list(texts)


def test_below_each_word_is_its_distance_from_the_word_behind_it():
    text = {"title": [(5, "dog"), (6, "next"), (7, "bites")]}
    figure = positions_above(text, {}, behind="bites", alt="words", caption="Words.")
    shown = re.findall(r">([^<>]+)</(?:tspan|text)>", figure.svg)
    assert shown == ["title", "7", "bites", "0", "6", "next", "1", "5", "dog", "2"]


def test_the_marked_rows_are_the_sines_and_cosines_of_their_positions():
    rows = sinusoids([2, 5, 8])
    angles = np.radians([[120, 20], [300, 50], [480, 80]])
    assert np.allclose(rows[:, 0::2], np.sin(angles))
    assert np.allclose(rows[:, 1::2], np.cos(angles))
    figure = sinusoid_curves((2, 5, 8))
    for position, row in zip((2, 5, 8), rows, strict=True):
        assert f"{position}: {', '.join(f'{number:.2f}' for number in row)}" in figure.alt
        for number in row:
            assert f">{number:.2f}".replace("-", "\N{MINUS SIGN}") in figure.svg
