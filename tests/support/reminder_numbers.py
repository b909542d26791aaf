"""The numbers of the questions that the front page asks again, computed anew.

An entry gives the numbers of each choice in its order: of the right one from lib, of a wrong one by
the misconception, written out here; None for a choice whose number nothing computes.
"""

from __future__ import annotations

import numpy as np

from lib.attention import masks
from lib.attention.dot_product import attend, scores
from lib.functional import cosine, log_softmax, merge, running_softmax, softmax
from lib.interpretability.head_scores import previous_token_score

LN3, LN9 = np.log(3), np.log(9)


def row(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=float)


def weights_of(*raw: float, d_k: int) -> np.ndarray:
    """The weights for raw scores, by lib's scaled dot product."""
    query = np.zeros((1, d_k))
    query[0, 0] = 1
    keys = np.zeros((len(raw), d_k))
    keys[:, 0] = raw
    return attend(query, keys, keys).weights[0]


def scaled(raw: float, d_k: int) -> float:
    """One score as lib scales it."""
    query, key = np.zeros((1, d_k)), np.zeros((1, d_k))
    query[0, 0], key[0, 0] = raw, 1
    return scores(query, key).item()


def ratio(weights: np.ndarray) -> float:
    return weights[0] / weights[1]


def mixed(weights, values) -> float:
    return float(np.asarray(weights) @ np.asarray(values))


def similarity() -> dict[str, list]:
    grid = np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.8, 0.1, 0.1]])
    columns = grid.T
    a, b, c, d = row(3, 4), row(8, 6), row(0, 2), row(0, 4)
    q, k = row(1, 2, 2, 0), row(2, 1, 2, 5)
    length = np.linalg.norm
    return {
        "00_start 2": [[1], grid.sum(1)[0], None],
        "00_start 4": [[10], mixed((0.3, 0.7), (10, 0)), [5, 10, 0]],
        "R01": [grid[:, 1].argmax(), grid[1].argmax(), grid[1].argmin()],
        "R94": [columns[:, 1].argmax(), columns[1].argmax(), columns[:, 1].argmin()],
        "R02": [a @ b, cosine(a, b), a @ b / length(b), length(a - b)],
        "R03": [cosine(c, d), c @ d / (c @ c * (d @ d)), c @ d, length(c - d)],
        "R04": [scaled(q @ k, 4), cosine(q, k), scores(q[None], k[None], scale=1.0).item()],
    }


def queries_keys_values() -> dict[str, list]:
    x = np.ones((5, 4))
    first, second = row(2, 3)[:, None], row(1, 5)[:, None]
    table = scores(first, second, scale=1.0)
    same = scores(first, first, scale=1.0)
    W, W_v = np.array([[1.0, 2], [3, 4]]), np.array([[0.0, 3], [1, 0]])
    unit, one_two = row(1, 0), row(1, 2)
    attention = np.array([[1, 0], [0.5, 0.5]])
    return {
        "R05": [(x.T @ x).shape, scores(x, x).shape, (x * x).shape],
        "R06": [(3, 1), (1, 3), (1, 3), (3, 1)],  # row i, column j: query i and key j
        "R07": [(table[0, 1], table[1, 0]), (table[1, 0], table[0, 1]), (same[0, 1], same[1, 0])],
        "R08": [unit @ W.T, unit @ W, unit * np.diag(W)],
        "R09": [one_two, one_two * row(10, 20), one_two + row(10, 20)],
        "R10": [mixed((0.75, 0.25), (0, 4)), mixed((0.75, 0.25), (8, 0)), 4, 8],
        "R11": [mixed((LN3, 0), (4, 8)), mixed((0.5, 0.5), (4, 8)),
                mixed(softmax(row(LN3, 0)), (4, 8))],
        "R12": [(attention @ row(0, 8))[0], (attention.T @ row(0, 8))[0], 8],
        "R13": [6 * 6, 3 * 3, attend(*[np.ones((2, 3, 4))] * 3).weights.size],
        "R14": [unit, unit @ W_v.T, unit @ W_v],
    }  # fmt: skip


def scaling() -> dict[str, list]:
    rng = np.random.default_rng(0)
    products = (rng.standard_normal((40_000, 16)) * rng.standard_normal((40_000, 16))).sum(1)
    variance = products.var().round()  # its standard error is about 0.15
    return {
        "R20": [24, 24 / np.sqrt(64), scaled(24, 16), 24 / 16],
        "R21": [scaled(6, 4), 6 / np.sqrt(9), 6 * np.sqrt(4)],
        "R22": [np.exp(8), np.exp(8 / 16), ratio(weights_of(8, 0, d_k=16)), scaled(8, 16)],
        "R23": [softmax(row(2 * LN3, 0)), weights_of(2 * LN3, 0, d_k=4),
                softmax(row(2 * LN3, 0)) / 2],
        "R24": [np.sqrt(variance), (products / 4).var().round(), variance],
        "R25": [64 / scaled(64, 768 // 12), np.sqrt(768), np.sqrt(1024), 768 / 12],
    }  # fmt: skip


def softmaxes() -> dict[str, list]:
    """What goes through exp and a sum."""
    nine, twice, two_one = row(LN9, 0), row(LN3, LN3), row(2, 1)
    square = np.array([[0.0, 2], [0, 0]])
    large, level = row(100, 98).astype(np.float32), np.array([[1000.0, 999], [-1000, -1001]])
    low, e = np.exp(level - level.max())[1], np.array([[1.0, 1], [2, 6]])
    with np.errstate(over="ignore", invalid="ignore"):
        overflown = np.exp(large) / np.exp(large).sum()
        zero_by_zero = low / low.sum()
    down, whole = softmax(square, axis=0), softmax(square.ravel())
    alone = softmax(square - square.max(0))
    none = row(0, 0, 0)
    return {
        "06_softmax 1": [[5], [softmax(np.ones((3, 5))).sum(-1).size], [15]],
        "R30": [softmax(softmax(nine)), np.exp(nine), softmax(nine), nine / nine.sum()],
        "R31": [1 / (1 + np.exp(-twice)), softmax(twice), np.exp(twice), (1, 0)],
        "R32": [0, softmax(two_one)[1], 1 / 3, 0.5],
        "R33": [*(softmax(np.ones((2, 4)), axis=axis)[0, 0] for axis in (1, 0)), 1 / 8],
        "R34": [alone[0], down[0], softmax(square)[0], whole[:2]],
        "R35": [softmax(large), overflown, (1, 0)],
        "R36": [softmax(level)[1], zero_by_zero, low],
        "R37": [np.log2(4), -log_softmax(np.log(row(1, 3)))[0], 0.75],
        "R38": [(e / e.sum(-1, keepdims=True))[0], None, (e / e.sum(-1))[0]],
        "R41": [softmax(none, where=row(0, 0, 1) > 0), softmax(none, where=row(1, 1, 0) > 0),
                softmax(none), softmax(none) * row(1, 1, 0)],
    }  # fmt: skip


def masking() -> dict[str, list]:
    q, scored = np.ones((5, 4)), row(2, 1, 3)
    allowed = scored == 2
    causal = attend(q, q, q, masks.causal(5)).weights
    cached = masks.causal(2, 5)
    return {
        "08_masking 5": [softmax(scored * allowed), softmax(scored) * allowed,
                         softmax(scored, where=allowed)],
        "10_cross_attention 4": [
            attend(np.ones((9, 2)), *[np.ones((4, 2))] * 2).weights.shape,
            attend(np.ones((4, 2)), *[np.ones((9, 2))] * 2).weights.shape,
            attend(*[np.ones((4, 2))] * 3).weights.shape,
        ],
        "R40": [0, 10 + 5, (causal == 0).sum()],
        "R44": [cached[0].sum(), 1, 5, 3],
        "R88": [0.8 + 0.6 + 1.0, previous_token_score(np.diag(row(0.8, 0.6, 1), -1)), 1.0],
    }  # fmt: skip


def online() -> list:
    """Exact halves: what the total 2 under ln 6 becomes beside a maximum of ln 12."""
    kept = running_softmax(np.log(row(6, 6)))
    tile = running_softmax(np.log(row(12)))
    return [(merge(kept, tile).total - tile.total) / kept.total]


def numbers() -> dict[str, list]:
    """Every question's numbers, by its id; those of heads and models are in reminder_models.py."""
    parts = (similarity, queries_keys_values, scaling, softmaxes, masking)
    return {key: value for part in parts for key, value in part().items()}
