"""Temperature, top-k, top-p and the draw of one token, against plain loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.models.sampling import (
    apply_temperature,
    keep_top_k,
    keep_top_p,
    sample,
    sample_probabilities,
)

INF = math.inf


LOGITS = st.lists(st.integers(-9, 9), min_size=1, max_size=13)  # whole numbers: ties are common


def noise(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tensor(numbers) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


# Shaping the distribution.


def probabilities(logits) -> np.ndarray:
    """Softmax in NumPy, which shares no code with ours."""
    z = np.exp(np.asarray(logits, dtype=float) - max(logits))
    return z / z.sum()


@given(LOGITS, st.floats(0.1, 9))
def test_the_temperature_is_an_exponent_of_the_probabilities(logits, temperature):
    ours = apply_temperature(tensor(logits), temperature).softmax(-1)
    powers = probabilities(logits) ** (1 / temperature)
    np.testing.assert_allclose(ours, powers / powers.sum(), rtol=1e-9, atol=1e-300)


def test_temperature_0_leaves_the_first_of_the_largest():
    assert apply_temperature(tensor([[1, 5, 5, 2], [7, 0, 0, 7]]), 0.0).softmax(-1).tolist() == [
        [0, 1, 0, 0],
        [1, 0, 0, 0],
    ]


@given(LOGITS, st.integers(1, 17))
def test_top_k_keeps_what_fewer_than_k_others_beat(logits, k):
    kept = keep_top_k(tensor(logits), k)
    expected = [z if sum(other > z for other in logits) < k else -INF for z in logits]
    assert kept.tolist() == expected


def test_top_k_keeps_ties_and_a_k_beyond_the_vocabulary_keeps_all():
    logits = tensor([3.0, 1.0, 2.0, 2.0])
    assert keep_top_k(logits, 2).tolist() == [3, -INF, 2, 2]
    assert torch.equal(keep_top_k(logits, 5), logits)
    assert torch.equal(keep_top_k(logits, 4), logits)


def nucleus(logits, p) -> list[bool]:
    """The nucleus by its definition: take the likeliest, one by one, until p is reached."""
    share = probabilities(logits)
    kept, total = [False] * len(share), 0.0
    for i in sorted(range(len(share)), key=lambda i: (-logits[i], i)):
        if total >= p:
            break
        kept[i], total = True, total + share[i]
    return kept


@given(LOGITS, st.floats(0.01, 0.99))
def test_top_p_keeps_the_smallest_set_that_reaches_p(logits, p):
    share = probabilities(logits)
    sums = np.cumsum(np.sort(share)[::-1])
    if np.abs(sums - p).min() < 1e-12:
        return  # either side of a rounding error would be right
    kept = keep_top_p(tensor(logits), p)
    assert torch.isfinite(kept).tolist() == nucleus(logits, p)
    assert torch.equal(kept[kept > -INF], tensor(logits)[torch.tensor(nucleus(logits, p))])


def test_top_p_stops_when_p_is_reached_exactly_and_ties_go_to_the_smaller_id():
    halves = tensor([1 / 8, 1 / 2, 1 / 8, 1 / 4]).log()
    kept = {p: torch.isfinite(keep_top_p(halves, p)).int().tolist() for p in (0.5, 0.7, 0.8, 0.9)}
    assert kept[0.5] == [0, 1, 0, 0]
    assert kept[0.7] == [0, 1, 0, 1]
    assert kept[0.8] == [1, 1, 0, 1]
    assert kept[0.9] == [1, 1, 1, 1]


def test_of_many_equals_top_p_keeps_those_with_the_smallest_ids():
    kept = torch.isfinite(keep_top_p(torch.zeros(3, 50_257), 0.25))
    assert kept[:, :12_565].all()
    assert not kept[:, 12_565:].any()


@given(LOGITS)
def test_a_tiny_p_keeps_one_and_p_1_keeps_all(logits):
    kept = keep_top_p(tensor(logits), 1e-300)
    assert torch.isfinite(kept).sum() == 1
    assert kept.argmax() == tensor(logits).argmax()
    assert torch.equal(keep_top_p(tensor(logits), 1.0), tensor(logits))


def test_p_1_keeps_even_what_rounding_would_lose():
    logits = tensor([0.0, -800.0, -40.0])
    assert torch.equal(keep_top_p(logits, 1.0), logits)


def test_every_row_of_a_batch_is_shaped_by_itself():
    rows = torch.randn(2, 3, 7, generator=noise()).double()
    for shape, number in (
        (apply_temperature, 0.0),
        (apply_temperature, 0.5),
        (keep_top_k, 3),
        (keep_top_p, 0.6),
    ):
        whole = shape(rows, number)
        for i in range(2):
            for j in range(3):
                assert torch.equal(whole[i, j], shape(rows[i, j], number))


@pytest.mark.parametrize("temperature", [-1.0, INF, math.nan, 1e-320])
def test_a_temperature_that_makes_no_sense_is_refused(temperature):
    with pytest.raises(ValueError, match=r"0 \(greedy\) or at least 2e-308, and finite; got"):
        apply_temperature(tensor([1.0]), temperature)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_temperature_near_0_is_greedy_and_does_not_overflow(dtype):
    logits = torch.tensor([-700.0, 3.0, 700.0, 699.0], dtype=dtype)
    least = torch.finfo(dtype).tiny
    assert apply_temperature(logits, least).softmax(-1).tolist() == [0, 0, 1, 0]
    assert sample(logits, noise(), temperature=least, top_k=3, top_p=0.9).item() == 2


def test_a_k_or_a_p_that_keeps_nothing_is_refused():
    with pytest.raises(ValueError, match=r"at least 1; got 0. Use None to keep all"):
        keep_top_k(tensor([1.0]), 0)
    for p in (0.0, -0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"must be above 0 and at most 1"):
            keep_top_p(tensor([1.0]), p)


# Drawing.


@given(st.integers(0, 2**40), LOGITS)
def test_a_draw_is_the_first_token_at_which_the_sum_passes_u(seed, logits):
    u = torch.rand(1, dtype=torch.float64, generator=noise(seed)).item()
    sums = np.cumsum(probabilities(logits))
    if np.abs(sums / sums[-1] - u).min() > 1e-12:
        assert sample_probabilities(tensor(logits), noise(seed)).item() == int(
            (sums <= u * sums[-1]).sum()
        )


def test_draws_are_as_frequent_as_they_are_likely():
    shares = np.array([0.5, 0.0, 0.3, 0.2])
    with np.errstate(divide="ignore"):
        logits = torch.from_numpy(np.log(shares)).expand(20_000, 4)
    counts = sample_probabilities(logits, noise()).bincount(minlength=4) / 20_000
    np.testing.assert_allclose(counts, shares, atol=0.015)
    assert counts[1] == 0


def test_what_was_left_out_is_never_drawn_at_either_end_of_the_vocabulary(monkeypatch):
    logits = tensor([-INF, 0.0, -INF, 0.0, -INF])
    for u, token in ((0.0, 1), (0.5, 3), (1 - 2**-53, 3)):
        monkeypatch.setattr(torch, "rand", lambda *_, u=u, **__: tensor([u]))
        assert sample_probabilities(logits, noise()).item() == token


def test_rounding_in_the_logits_does_not_change_a_draw():
    logits = torch.randn(500, 977, generator=noise()).float()
    other = logits + 1e-6 * torch.randn(500, 977, generator=noise(1))
    assert torch.equal(
        sample_probabilities(logits, noise(2)), sample_probabilities(other, noise(2))
    )


def test_a_choice_is_made_after_temperature_then_top_k_then_top_p():
    # Cooled to T = 1/2 the shares are 9 : 4 : 1 : 1, and of the first two, 9/13 reaches 0.69.
    logits = tensor([3, 2, 1, 1]).log().expand(200, 4)
    both = {"temperature": 0.5, "top_k": 2}
    assert set(sample(logits, noise(), **both, top_p=0.69).tolist()) == {0}
    assert set(sample(logits, noise(), **both, top_p=0.70).tolist()) == {0, 1}
    assert set(sample(logits, noise(), temperature=1.0, top_k=2, top_p=0.61).tolist()) == {0, 1}
    assert set(sample(logits, noise(), temperature=1.0).tolist()) == {0, 1, 2, 3}


@given(LOGITS)
def test_temperature_0_is_greedy_and_so_is_a_tiny_nucleus(logits):
    greedy = int(np.argmax(logits))
    assert sample(tensor(logits), noise()).item() == greedy
    assert sample(tensor(logits), noise(), temperature=0.0).item() == greedy
    assert sample_probabilities(apply_temperature(tensor(logits), 0.0), noise()).item() == greedy
    assert sample(tensor(logits), noise(), temperature=1.0, top_p=1e-9).item() == greedy


@pytest.mark.parametrize("kept", [{"top_k": 3}, {"top_p": 0.5}, {"top_k": 3, "top_p": 0.5}])
def test_a_top_k_or_top_p_that_would_change_nothing_is_refused(kept):
    with pytest.raises(ValueError, match=r"need a temperature above 0.* Give a temperature"):
        sample(tensor([1.0, 2.0]), noise(), **kept)
