"""Loops that numba compiles: one vector through a model, at the speed of memory.

A model that writes reads each of its weights for a single multiplication: memory is the limit.
So weights lie in the order in which they are read, and the rest is to cost next to nothing.
"""

import inspect
import math
import mmap
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from jaxtyping import Float, Shaped
from numba import njit, types
from numba.extending import intrinsic, overload

BLOCK = 128
"""Bytes of a column that lie side by side: two lines of a cache."""


def compiled(loop: Callable) -> Callable:
    """Turn a loop over numbers into machine code, and keep that for the next time.

    Sums may be regrouped, so that several numbers are added at once.

    Source: Lam, Pitrou and Seibert 2015.
    Taught in: chapter 14.
    """
    loop = inspect.unwrap(loop)  # the shape checks of the tests cannot be compiled
    # Division by zero gives infinity, as in torch: a check for it would slow down every loop.
    how = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
    with suppress(RuntimeError):  # where nothing may be written, nothing is kept
        return njit(cache=True, **how)(loop)
    return njit(**how)(loop)


@intrinsic
def _as_upper_half(context, bits):
    def write(context, builder, signature, arguments):
        whole, number = map(context.get_value_type, (types.uint32, types.float32))
        return builder.bitcast(builder.shl(builder.zext(arguments[0], whole), whole(16)), number)

    return types.float32(types.uint16), write


def _factor(weight):
    """A stored weight as a number to multiply by: a bfloat16 is the upper half of a float32."""


@overload(_factor)
def _(weight):
    if weight == types.uint16:
        return lambda weight: _as_upper_half(weight)
    return lambda weight: np.float32(weight) if weight is types.int8 else weight


@compiled
def add_product(
    blocks: Shaped[np.ndarray, "..."],
    x: Float[np.ndarray, " features"],
    y: Float[np.ndarray, "..."],
) -> None:
    r"""Add $x W^\top$ to y, where W lies as `in_blocks` laid it.

    The sums of a block stay in the first cache while its columns stream by, four at a time.

    Source: Goto and van de Geijn 2008, section 4.
    Taught in: chapter 14.
    """
    count, columns, rows = blocks.shape
    whole = columns - columns % 4
    for i in range(count):
        sums = y[i * rows : (i + 1) * rows]
        for j in range(0, whole, 4):
            a, b, c, d = blocks[i, j], blocks[i, j + 1], blocks[i, j + 2], blocks[i, j + 3]
            for r in range(rows):
                sums[r] += (
                    _factor(a[r]) * x[j] + _factor(b[r]) * x[j + 1]
                    + _factor(c[r]) * x[j + 2] + _factor(d[r]) * x[j + 3]
                )  # fmt: skip
        for j in range(whole, columns):
            for r in range(rows):
                sums[r] += _factor(blocks[i, j, r]) * x[j]


@compiled
def normalised(
    x: Float[np.ndarray, " features"],
    gain: Float[np.ndarray, " features"],
    bias: Float[np.ndarray, " features"],
    eps: float,
) -> Float[np.ndarray, " features"]:
    """Normalise one vector: `lib.functional.layer_norm` without the axes.

    Source: Ba, Kiros and Hinton 2016, equation 4.
    Taught in: chapter 14.
    """
    mean = x.mean()
    deviation = np.sqrt(((x - mean) ** 2).mean() + x.dtype.type(eps))
    return (x - mean) / deviation * gain + bias


@compiled
def attend_one(
    q: Float[np.ndarray, "head d_k"],
    keys: Float[np.ndarray, "head key d_k"],
    values: Float[np.ndarray, "head key d_v"],
    used: int,
) -> Float[np.ndarray, "head d_v"]:
    """Let one query of each head attend to the first `used` keys.

    Source: Vaswani et al. 2017, equation 1.
    Taught in: chapter 14.
    """
    scale = q.dtype.type(1 / math.sqrt(q.shape[1]))
    output = np.zeros((len(q), values.shape[2]), q.dtype)
    weights = np.empty(used, q.dtype)
    for h in range(len(q)):
        for i in range(used):
            score = q.dtype.type(0)
            for c in range(q.shape[1]):
                score += q[h, c] * keys[h, i, c]
            weights[i] = scale * score
        largest = weights.max()
        for i in range(used):
            weights[i] = math.exp(weights[i] - largest)
        weights /= weights.sum()
        for i in range(used):
            for c in range(values.shape[2]):
                output[h, c] += weights[i] * values[h, i, c]
    return output


def in_blocks(weight: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Lay a matrix out as (block, column, row), so that memory is read from end to end.

    A block holds as many rows as fill `BLOCK` bytes of a column; the last is filled with zeros.

    Source: Goto and van de Geijn 2008, section 4, who pack matrices for the same reason.
    Taught in: chapter 14.
    """
    rows = BLOCK // weight.itemsize
    padded = np.pad(weight, ((0, -len(weight) % rows), (0, 0)))
    blocks = padded.reshape(-1, rows, weight.shape[1]).swapaxes(1, 2)
    stored = in_large_pages(blocks.shape, blocks.dtype)
    stored[...] = blocks
    return stored


def in_large_pages(shape: tuple[int, ...], dtype: np.dtype) -> Shaped[np.ndarray, "..."]:
    """Make room for numbers in pages of 2 MiB, where the system has them: memory is faster there.

    A processor looks up where each page lies, and usual pages are 500 times smaller.

    Source: the Linux kernel's page on transparent huge pages, which a program asks for.
    Taught in: chapter 14.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < 2**21 or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.empty(shape, dtype)
    room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel that was built without them
        room.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(room, dtype).reshape(shape)
