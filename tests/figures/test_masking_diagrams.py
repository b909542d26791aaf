"""The schematics of chapter 8 show what they say, in words too."""

import pytest

from figures.diagrams import masking
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


def test_both_occurrences_look_at_the_token_that_followed_the_first(monkeypatch):
    drawn, arrows = {}, {}
    token, arrow = masking._token, masking.put_arrow

    def note_token(axes, x, y, text, role):
        drawn[x, y] = text
        token(axes, x, y, text, role)

    def note_arrow(axes, start, end, role, **line):
        arrows[line.get("linestyle", "-")] = start[0], end[0], start[1] < end[1]
        arrow(axes, start, end, role, **line)

    monkeypatch.setattr(masking, "_token", note_token)
    monkeypatch.setattr(masking, "put_arrow", note_arrow)
    figure = what_followed()
    below, above = ([text for (_, y), text in sorted(drawn.items()) if y == row] for row in (0, 1))
    assert below == above
    second = len(below) - 1
    first = below.index(below[second])
    assert first < second
    assert arrows == {"-": (first + 1, second, True), "--": (first + 1, first, True)}
    assert f"The tokens {', '.join(below)} in two rows" in figure.alt
    answer, asked = below[first + 1], below[second]
    assert f"A solid arrow leads from {answer} in the lower row to the second {asked}" in figure.alt
    assert f"a dashed arrow from {answer} to the first {asked}" in figure.alt


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
