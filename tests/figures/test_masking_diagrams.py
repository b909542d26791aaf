"""The schematics of chapter 8 show what they say, in words too."""

import pytest

from figures.diagrams.masking import (
    leak_path,
    new_row,
    padded_strips,
    padding_broadcast,
    shifted_strips,
    what_followed,
)


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


def test_a_short_text_is_padded_on_both_sides_and_keeps_its_positions():
    figure = padded_strips()
    assert figure.svg.count(">pad<") == 4
    assert figure.svg.count(">sees<") == 2
    assert figure.svg.count(">0<") == figure.svg.count(">1<") == 2


def test_the_next_token_is_predicted_in_the_last_column():
    figure = padded_strips(predict=True)
    assert figure.svg.count(">pad<") == 4
    assert figure.svg.count(">text 1 is continued after pad<") == 1
    assert figure.svg.count(">text 1 is continued after owl<") == 1


def test_both_occurrences_look_at_the_token_that_followed_the_first():
    figure = what_followed()
    for token, count in {"the": 4, "owl": 4, "sees": 2}.items():
        assert figure.svg.count(f">{token}<") == count
    assert "dashed arrow from sees to the first owl" in figure.alt


def test_a_new_token_is_a_row_and_a_column():
    figure = new_row()
    for token in ("the", "blue", "owl", "sees", "a"):
        assert figure.svg.count(f">{token}<") == 2
    assert "over all five keys" in figure.alt


def test_one_row_of_real_tokens_serves_every_query():
    figure = padding_broadcast([False, False, True, True])
    assert "2 and 3 are filled" in figure.alt
    assert "query 0 to none; query 1 to none; query 2 to 2; query 3 to 2 and 3." in figure.alt


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="4 entries, one for each key; got 3"):
        padding_broadcast([True] * 3)
