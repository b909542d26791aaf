"""The schematics of chapter 8 show what they say, in words too."""

import pytest

from figures.diagrams.masking import leak_path, shifted_strips


def test_the_strips_show_each_input_and_its_label():
    figure = shifted_strips(["the", "small", "owl", "sees"])
    assert "Inputs: the, small, owl. Labels: small, owl, sees." in figure.alt
    assert figure.svg.count(">small<") == figure.svg.count(">owl<") == 2
    assert figure.svg.count(">the<") == figure.svg.count(">sees<") == 1


@pytest.mark.parametrize("count", [2, 8])
def test_strips_that_do_not_fit_a_phone_are_refused(count):
    with pytest.raises(ValueError, match=f"3 to 7 words to fit a phone; got {count}"):
        shifted_strips(["owl"] * count)


def test_the_path_of_a_leak_shows_every_token_in_three_rows():
    figure = leak_path()
    for token in ("the", "blue", "owl", "sees"):
        assert figure.svg.count(f">{token}<") == 3
    assert "backwards from sees to blue" in figure.alt
