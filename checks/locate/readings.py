"""The values of a step, as an array that can be compared with the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from checks.locate.answer_steps import Step

FAR_BELOW = 800.0  # exp of the negative is 0


def readings(step: Step, truth: np.ndarray) -> Iterator[np.ndarray]:
    """The last and the first value of a step, and those of a loop put together as the truth is."""
    yield step.values[-1]
    if len(step.values) == 1:
        return
    yield step.values[0]
    if len({value.shape for value in step.values}) > 1:
        return
    joined = np.stack(step.values)
    if joined.size == truth.size and len(joined) in (*truth.shape[:1], truth.size):
        yield joined.reshape(truth.shape)
    for axis in range(1, truth.ndim - 1):  # the heads of a batch, one in each turn
        if len(joined) == truth.shape[axis] and joined.size == truth.size:
            yield np.moveaxis(joined, 0, axis)


def as_hidden(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Scores in which a number far below all others of its row, which gets no weight, is -inf.

    Only of scores that hold a mask, and that hide no row whole: there it would get weights.
    """
    masked = np.isneginf(truth)
    if values.shape != truth.shape or not masked.any() or masked.all(-1).any():
        return values
    with np.errstate(invalid="ignore"):
        far = values < values.max(-1, keepdims=True) - FAR_BELOW
    return np.where(masked & far, -np.inf, values)


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same shape and the same numbers, up to rounding."""
    if a.shape != b.shape or not {a.dtype.kind, b.dtype.kind} <= set("fi"):
        return False
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 1.0
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-6 * scale, equal_nan=True))
