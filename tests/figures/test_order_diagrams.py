"""The schematics of order in chapters 7 and 9 show what their pages say."""

import numpy as np

from figures.diagrams.order import (
    WEIGHTS,
    answer_squares,
    first_token_shares,
    four_ways_in,
    rotary_pair,
    same_sum,
    two_averages,
    two_layers,
)


def test_bites_receives_the_same_terms_in_both_orders():
    figure = same_sum()
    assert sum(WEIGHTS.values()) == 1
    for word, weight in WEIGHTS.items():
        assert figure.svg.count(f"{weight} {word}") == 2


def test_the_start_token_has_a_half_beside_one_ha_and_a_quarter_beside_three():
    figure = first_token_shares()
    for share in ("1/2", "1/4"):
        assert figure.svg.count(f">start {share}<") == 1
    assert figure.svg.count(">ha<") == 1 + 3  # the parts of two bars


def test_the_averages_of_two_layers_are_drawn_with_their_sum():
    values = np.array([[12, 0], [0, 0], [0, 12]])
    figure = two_averages(values, ("dog", "bites", "man"), [(8, 0), (0, 8)])
    for words in ("dog", "bites", "man", "layer 1: + (8, 0)", "layer 2: + (0, 8)", "sum (8, 8)"):
        assert f">{words}<" in figure.svg


def test_each_answer_has_its_square():
    figure = answer_squares({"exchanged": (4, 18, 0), "switched off": (0, 0, 22)})
    assert "exchanged: noun after the verb 4, before it 18; switched off: ball 22." in figure.alt
    for role, count in (("right", 4), ("wrong", 18), ("muted", 22)):
        assert figure.svg.count(f"fill: var(--{role}") == count


def test_after_one_layer_only_the_full_stop_has_read_the_same_in_both_orders():
    svg = two_layers().svg
    for text, times in (("dog bites", 1), ("man bites", 1), ("dog bites man", 1),
                        ("man bites dog", 1), ("all four", 2), ("=", 1), ("\N{NOT EQUAL TO}", 4),
                        ("these four vectors", 2)):  # fmt: skip
        assert svg.count(f">{text}</tspan>") + svg.count(f">{text}</text>") == times, text


def test_each_way_to_tell_the_position_is_named_where_it_enters():
    figure = four_ways_in()
    for words in ("position embeddings", "sinusoids", "rotary positions", "biases of the score"):
        assert words in figure.svg


def test_the_rotary_angle_depends_on_the_distance_alone():
    figure = rotary_pair()
    assert figure.svg.count("70° apart") == 2
    assert figure.svg.count("40° apart") == 1
