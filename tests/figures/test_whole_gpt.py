"""The schematic of chapter 12 has the parts of `chapters/gpt.py`, in their order."""

import re

from figures.diagrams.whole_gpt import AFTER, SHAPES, SUBLAYERS, whole_gpt


def test_the_parts_stand_in_the_order_of_the_forward_pass():
    texts = re.findall(r">([^<>\n]+)</text>", whole_gpt().svg)
    parts = [
        "token embedding E", "attention, h heads", "feed-forward", "LM head: times E, transposed",
        "softmax of the last row", "sample",
    ]  # fmt: skip
    assert [text for text in texts if text in parts] == parts
    assert texts.count("norm") == 3  # two in a block, one after the last block


def test_the_figure_says_what_shape_each_part_has():
    svg = whole_gpt().svg
    results = [result for _, _, result in AFTER if result]
    inside = [shape for _, _, shape, _ in SUBLAYERS]
    for text in (*[text for _, text in SHAPES], *results, *inside):
        assert f">{text}<" in svg


def test_the_matrix_of_both_ends_is_drawn_and_described_once():
    figure = whole_gpt()
    assert figure.svg.count(">the same matrix E<") == 1
    assert "the same matrix as at the start" in figure.alt
