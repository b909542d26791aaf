"""Positions equal the paper's formulas, and make scores depend on what they promise."""

import math

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from lib.attention.positions import rotary, rotate, rotations, sinusoidal
from lib.shapes import ShapeError


def test_sinusoids_equal_the_papers_formula_entry_by_entry():
    table = sinusoidal(7, 6)
    for position in range(7):
        for pair in range(3):
            angle = position / 10000 ** (2 * pair / 6)
            assert table[position, 2 * pair] == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[position, 2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_the_dot_product_of_two_sinusoids_depends_on_their_distance_alone():
    products = sinusoidal(11, 8) @ sinusoidal(11, 8).T
    for distance in range(11):
        diagonal = np.diagonal(products, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-12)


def test_rotation_multiplies_pairs_seen_as_complex_numbers():
    x = np.random.default_rng(0).normal(size=(2, 5, 6))
    speeds = 10000.0 ** (-np.arange(3) / 3)
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * np.outer(np.arange(5), speeds))
    turned = rotary(x)
    np.testing.assert_allclose(turned[..., 0::2], pairs.real, atol=1e-12)
    np.testing.assert_allclose(turned[..., 1::2], pairs.imag, atol=1e-12)


def test_rotated_scores_depend_on_the_distance_alone_and_lengths_are_kept():
    rng = np.random.default_rng(0)
    q, k = (np.tile(rng.normal(size=6), (7, 1)) for _ in range(2))
    table = rotary(q) @ rotary(k).T
    for distance in range(-6, 7):
        diagonal = np.diagonal(table, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(rotary(q), axis=-1), np.linalg.norm(q, axis=-1))


def test_positions_follow_the_library_of_their_input():
    like = torch.empty(0)
    torch.testing.assert_close(sinusoidal(5, 4, like=like), torch.tensor(sinusoidal(5, 4)).float())
    x = torch.randn(3, 4)
    np.testing.assert_allclose(rotary(x).numpy(), rotary(x.numpy()), atol=1e-6)


def test_an_odd_width_is_refused():
    for call in (lambda: sinusoidal(3, 5), lambda: rotary(np.zeros((3, 5)))):
        with pytest.raises(ShapeError, match="must be even; got 5"):
            call()


@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor])
def test_halves_equal_the_rotation_of_transformers(library):
    x = np.random.default_rng(0).normal(size=(3, 11, 10))
    angles = np.arange(11)[:, None] * 1000.0 ** (-np.arange(0, 10, 2) / 10)
    cos, sin = (torch.tensor(np.tile(part(angles), 2)) for part in (np.cos, np.sin))
    wanted, _ = apply_rotary_pos_emb(torch.tensor(x), torch.tensor(x), cos, sin, unsqueeze_dim=0)
    given = rotary(library(x), base=1000.0, halves=True)
    np.testing.assert_allclose(np.asarray(given), wanted.numpy(), atol=1e-12)


def test_the_two_conventions_differ_in_the_order_of_the_components_only():
    x = np.random.default_rng(0).normal(size=(7, 10))
    apart = np.concatenate([x[:, 0::2], x[:, 1::2]], axis=-1)
    turned = rotary(x)
    np.testing.assert_allclose(
        rotary(apart, halves=True), np.concatenate([turned[:, 0::2], turned[:, 1::2]], axis=-1)
    )
    assert np.abs(rotary(x) - rotary(x, halves=True)).max() > 0.1


def test_rotations_start_anywhere():
    x = np.random.default_rng(0).normal(size=(7, 10))
    given = rotate(x[3:], rotations(np.arange(3.0, 7.0), 10))
    np.testing.assert_allclose(given, rotary(x)[3:])
