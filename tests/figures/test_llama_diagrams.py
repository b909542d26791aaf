"""The schematics of chapter 18 show what they say, in words too."""

import pytest

from figures.diagrams.llama import gate_times_up, shared_kv_heads, two_blocks
from figures.diagrams.rotary import (
    clock_hands,
    growing_cache,
    misplaced_question,
    same_angle,
    two_pairings,
)


def test_the_two_blocks_name_their_parts():
    figure = two_blocks()
    for word in ("LayerNorm", "RMSNorm", "GELU network", "SwiGLU network", "q, k rotated"):
        assert word in figure.svg
    for word in ("RMSNorm", "3 KV heads", "12 KV heads"):
        assert word in figure.alt
    for change in ("position", "RMSNorm", "KV heads", "SwiGLU"):
        assert change in figure.caption


def test_a_gate_multiplies_each_component():
    figure = gate_times_up((2, -2, 0, 0), (2, -2, 1, 1))
    assert "1.76 times 2 is 3.52" in figure.alt
    assert "\N{MINUS SIGN}0.24 times \N{MINUS SIGN}2 is 0.48" in figure.alt
    assert ">3.52<" in figure.svg


def test_a_gate_of_a_different_size_is_refused():
    with pytest.raises(ValueError, match="must hold 4 numbers; got 2 and 4"):
        gate_times_up((1, 2), (1, 2, 3, 4))


def test_the_hands_turn_at_the_speeds_of_their_pairs():
    figure = clock_hands(base=1000)
    for step in ("57°", "6°", "1°"):
        assert f">{step} a step<" in figure.svg
    assert "57, 6, 1 degrees" in figure.alt


def test_hands_that_do_not_fit_the_drawing_are_refused():
    with pytest.raises(ValueError, match="got 8 and 4"):
        clock_hands(8)


def test_every_query_head_is_drawn_over_nine_three_and_one_kv_heads():
    figure = shared_kv_heads()
    assert figure.svg.count(">8<") == 3 + 1  # a query head in each row, a KV head in the first
    assert figure.svg.count(">0<") == 3 + 3
    assert "query heads 0 to 2 read KV head 0" in figure.alt


def test_the_arrangement_of_smollm2_is_drawn_alone():
    figure = shared_kv_heads((3,))
    assert figure.svg.count(">8<") == 1
    assert figure.svg.count(">2<") == 2
    assert "multi-head" not in (figure.svg + figure.alt).lower()


def test_the_angle_between_two_hands_depends_on_the_difference_of_their_positions():
    figure = same_angle()
    assert figure.svg.count(">100°<") == 2  # 70 + 2 * 40 - (10 + 40), and one position later
    assert figure.svg.count(">60°<") == 1
    assert figure.svg.count(">20°<") == 1  # 70 + 40 - (10 + 2 * 40)
    for words in ("query at 1", "query at 2", "query at 3", "key 1 ahead"):
        assert figure.svg.count(f">{words}<") == 1
    assert figure.svg.count(">key 1 behind<") == figure.svg.count(">key at 2<") == 2
    assert "40 degrees" in same_angle(step=40).alt


def test_the_cache_grows_by_one_column_a_step():
    figure = growing_cache(45)
    assert figure.svg.count(">v<") == 3 + 4 + 5
    assert "turned by 0, 45 and 90 degrees" in figure.alt


def test_the_misplaced_question_has_its_distances_and_positions():
    figure = misplaced_question()
    assert figure.svg.count(">story, 12 to 74<") == 3
    rows = ((81, 0, "74 behind"), (6, 0, "1 ahead"), (81, 148, "74 ahead"))
    for last, first, words in rows:
        assert f">question, {last - 6} to {last}<" in figure.svg
        assert f">first sentence, {first} to {first + 11}<" in figure.svg
        assert f">{words}<" in figure.svg
        behind = last - (first + 7)
        assert words == (f"{behind} behind" if behind > 0 else f"{-behind} ahead")


def test_both_conventions_pair_each_of_eight_components_once():
    figure = two_pairings()
    for component in range(8):
        assert figure.svg.count(f">{component}<") == 2
    assert "Halves: 0 with 4, 1 with 5, 2 with 6, 3 with 7." in figure.alt
