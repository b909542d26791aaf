"""The schematics of chapter 8 show what they say, in words too."""

import pytest

from figures.diagrams import leaks
from figures.diagrams.masking import new_row, padded_strips, padding_broadcast, shifted_strips


def noted_arrows(monkeypatch):
    """A list that fills with what is drawn: style, column and column, lower row, width."""
    arrows, arrow = [], leaks.put_arrow

    def note(axes, start, end, role="muted", **line):
        arrows.append((line.get("linestyle", "-"), start[0], end[0], start[1], line["linewidth"]))
        arrow(axes, start, end, role, **line)

    monkeypatch.setattr(leaks, "put_arrow", note)
    return arrows


def test_the_strips_show_each_input_and_its_label():
    figure = shifted_strips(["the", "small", "owl", "sees"])
    assert "Inputs: the, small, owl. Labels: small, owl, sees." in figure.alt
    assert figure.svg.count(">small<") == figure.svg.count(">owl<") == 2
    assert figure.svg.count(">the<") == figure.svg.count(">sees<") == 1


@pytest.mark.parametrize("count", [2, 8])
def test_strips_that_do_not_fit_a_phone_are_refused(count):
    with pytest.raises(ValueError, match=f"3 to 7 words to fit a phone; got {count}"):
        shifted_strips(["owl"] * count)


@pytest.mark.parametrize(
    ("draw", "arrows"),
    [
        (leaks.cheat_path, {("--", 2, 2, 0), ("-", 2, 1, 1)}),
        (leaks.leak_path, {("-", 3, 1, 0), ("--", 1, 1, 1), ("--", 1, 2, 1)}),
    ],
)
def test_the_path_of_a_leak_shows_every_token_in_three_rows(monkeypatch, draw, arrows):
    drawn = noted_arrows(monkeypatch)
    figure = draw()
    for token in ("the", "blue", "owl", "sees"):
        assert figure.svg.count(f">{token}<") == 3
    thick = {(style, start, end, int(low)) for style, start, end, low, wide in drawn if wide > 1}
    assert thick == arrows
    backwards = {arrow for arrow in thick if arrow[1] > arrow[2]}
    assert {style for style, *_ in backwards} == {"-"}, "a forbidden arrow is solid"
    assert "solid thick arrow" in figure.alt


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
    arrows = noted_arrows(monkeypatch)
    figure = leaks.what_followed()
    tokens = figure.alt.removeprefix("The tokens ").split(" in three rows")[0].split(", ")
    second = len(tokens) - 1
    first = tokens.index(tokens[second])
    answer = first + 1
    assert first < answer < second
    assert [(style, start, end, int(low)) for style, start, end, low, _ in arrows] == [
        ("-", first, answer, 0), ("--", answer, second, 1), ("-", answer, first, 1),
    ]  # fmt: skip
    assert figure.svg.count(f">{tokens[first]}<") == 6
    assert f"after {tokens[first]}" in figure.svg


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
