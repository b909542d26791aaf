"""The schematic of attention shows every part with its shape, and refuses what does not fit."""

import pytest

from figures.diagrams.attention import attention_diagram


def test_the_diagram_names_every_part_with_its_shape():
    figure = attention_diagram(3, 6, 4, 2)
    for words in ("X", "Q", "K", "V", "scores", "weights", "output", "(3, 6)", "(3, 4)", "(3, 3)",
                  "(3, 2)"):  # fmt: skip
        assert f">{words}<" in figure.svg, words
    assert "3 by 3; weights times V is the output, 3 by 2" in figure.alt


def test_a_mask_and_a_lit_part_are_drawn():
    plain, masked = attention_diagram(4), attention_diagram(4, masked=True, lit=["weights"])
    assert "mask, then" in masked.svg
    assert "mask" not in plain.svg + plain.alt
    assert "upper triangle" in masked.alt


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lit": ["softmax"]}, "must name parts of X, Q"),
        ({"n": 9}, "must be 2 to 5; got 9"),
        ({"d_v": 4}, "must be 1 to 3"),
    ],
)
def test_what_does_not_fit_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        attention_diagram(**options)
