"""The schematics of chapter 18 show what they say, in words too."""

import math

import pytest

from figures.llama_block import clock, two_blocks


def test_the_two_blocks_name_their_parts():
    figure = two_blocks()
    for word in ("LayerNorm", "RMSNorm", "GELU network", "SwiGLU network", "q, k rotated"):
        assert word in figure.svg
    for word in ("RMSNorm", "3 KV heads", "12 KV heads"):
        assert word in figure.alt


def test_a_clock_names_the_angle_between_its_hands():
    figure = clock({"q at 5": math.radians(150), "k at 3": math.radians(90)})
    assert "60°" in figure.svg
    assert "60 degrees apart" in figure.alt


def test_a_clock_has_two_hands():
    with pytest.raises(ValueError, match="must name two hands; got 1"):
        clock({"q": 0.0})
