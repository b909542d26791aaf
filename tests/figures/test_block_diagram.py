"""The schematics of chapter 11 put norms, points and arrows where the numbers have them."""

import numpy as np
import torch

from chapters.gpt import Block, Config
from figures.diagrams.block import (
    STEPS,
    TOKENS,
    centre_and_divide,
    one_question,
    two_matrices,
    two_orders,
    whole_block,
)
from lib.functional import gelu, layer_norm


def test_both_orders_have_two_norms_two_additions_and_both_sublayers():
    svg = two_orders().svg
    assert svg.count(">norm<") == 4
    assert svg.count(">+<") == 4
    assert svg.count(">attention<") == 2
    assert svg.count(">feed-forward<") == 2


def test_the_words_say_where_the_norms_stand():
    figure = two_orders()
    assert "through a norm and attention" in figure.alt
    assert "two norms stand on the residual stream itself" in figure.alt


def test_the_question_has_the_answers_that_gelu_gives():
    svg = one_question().svg
    for token, (name, answer) in TOKENS.items():
        assert f"{gelu(np.array(4.0 * sum(token) - 6)):.2f}".replace("-", "−") in (
            answer, f"−{answer}"
        ), token  # fmt: skip
        assert name in svg
        assert answer in svg


def test_the_numbers_in_the_two_matrices_follow_from_each_other():
    figure = two_matrices()
    token, question, answer = np.array([1, 1, 0]), np.array([4, 4, 0]), np.array([0, -0.5, 0.5])
    hidden = gelu(token @ question - 6.0)
    for number in (hidden, *(hidden * answer)[1:], *answer[1:]):
        shown = f"{number:.2f}" if abs(number) != 0.5 else f"{number:g}"
        assert f">{shown.replace('-', '−')}<" in figure.svg
    good, bad = (token + hidden * answer)[1:]
    assert f"makes good {good:.2f} and bad {bad:.2f}" in figure.caption


def test_the_points_of_the_norm_are_those_of_layer_norm():
    figure = centre_and_divide([6, 0, 4, 2, 3])
    assert (
        "minus the mean, 3: 3, -3, 1, -1, 0; divided by σ, 2: 1.5, -1.5, 0.5, -0.5, 0" in figure.alt
    )
    normed = layer_norm(np.array([6.0, 0, 4, 2, 3]))
    np.testing.assert_allclose(normed, [1.5, -1.5, 0.5, -0.5, 0], atol=1e-4)
    for number in ("1.5", "−1.5", "0.5", "−0.5"):
        assert figure.svg.count(f">{number}<") == 1


def test_the_whole_block_has_the_parts_and_the_shapes_of_the_code_in_their_order():
    n, d = 5, 8
    block, ran = Block(Config(d_model=d, heads=2)), []
    names = {block.attention_norm: "norm", block.attention: "attention",
             block.feed_forward_norm: "norm", block.feed_forward.up: "times W₁",
             block.feed_forward.gelu: "GELU", block.feed_forward.down: "times W₂"}  # fmt: skip
    for part, name in names.items():
        part.register_forward_hook(
            lambda part, given, out, name=name: ran.append((name, tuple(out.shape[1:])))
        )
    assert block(torch.zeros(1, n, d)).shape == (1, n, d)
    shapes = {"(n, d)": (n, d), "(n, 4d)": (n, 4 * d)}
    drawn = [(name, shapes[shape.partition(";")[0]]) for parts in STEPS.values()
             for name, (_, shape) in parts.items()]  # fmt: skip
    assert drawn == ran
    svg = whole_block().svg
    assert svg.count(">+<") == svg.count(">norm<") == svg.count(">(n, 4d)<") == 2
