"""Attention masks: boolean, one row for each query, True means "may attend"."""

from array_api_compat import array_namespace, device
from jaxtyping import Bool, Int

from lib.shapes import Array


def _range(count: int, like: Array | None) -> Int[Array, " n"]:
    """Count up from 0 in the library and on the device of `like`, or in NumPy."""
    if like is None:
        import numpy as np

        return np.arange(count)
    return array_namespace(like).arange(count, device=device(like))


def causal(
    queries: int, keys: int | None = None, *, like: Array | None = None
) -> Bool[Array, "query key"]:
    """Let each token attend to itself and to all earlier tokens.

    allowed[i, j] = j <= i + (keys - queries): the last query is aligned with the last key,
    so that one new query may attend to all keys in a cache.

    Source: Vaswani et al. 2017, section 3.2.3.
    Taught in: chapter 08.
    Raises: ValueError if there are more queries than keys.
    """
    keys = queries if keys is None else keys
    if queries > keys:
        raise ValueError(
            f"A causal mask needs at least as many keys as queries; got {queries} queries, "
            f"{keys} keys. Swap the two numbers if they are in the wrong order."
        )
    return _range(keys, like)[None, :] <= _range(queries, like)[:, None] + (keys - queries)


def padding(lengths: Int[Array, " batch"], keys: int) -> Bool[Array, "batch 1 key"]:
    """Let every query attend to the real tokens of its sequence, never to the padding.

    allowed[b, 0, j] = j < lengths[b]; the axis of length 1 broadcasts over the queries.

    Source: the convention of PyTorch's key_padding_mask, with True and False swapped.
    Taught in: chapter 08.
    """
    return _range(keys, lengths)[None, None, :] < lengths[:, None, None]


def sliding_window(
    queries: int, width: int, *, like: Array | None = None
) -> Bool[Array, "query key"]:
    """Let each token attend to itself and to the `width - 1` tokens before it.

    allowed[i, j] = i - width < j <= i.

    Source: Beltagy, Peters and Cohan 2020, section 3.1.
    Taught in: chapter 08.
    Raises: ValueError if the width is below 1.
    """
    if width < 1:
        raise ValueError(f"`width` must be at least 1, the token itself; got {width}.")
    key, query = _range(queries, like)[None, :], _range(queries, like)[:, None]
    return (key <= query) & (key > query - width)


def prefix(queries: int, length: int, *, like: Array | None = None) -> Bool[Array, "query key"]:
    """Let every token attend to the first `length` tokens and causally to the rest.

    allowed[i, j] = (j < length) or (j <= i).

    Source: Raffel et al. 2020, figure 3 (causal mask with prefix).
    Taught in: chapter 08.
    """
    key, query = _range(queries, like)[None, :], _range(queries, like)[:, None]
    return (key < length) | (key <= query)
