"""Tiled attention is attention: exact for any tiles, in the memory of one."""

import inspect
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.attention import tiled as room
from lib.attention.dot_product import attend
from lib.attention.masks import causal as causal_mask
from lib.attention.tiled import tiled
from lib.shapes import ShapeError


def drawn(*shapes, seed=0, dtype=np.float64, size=1.0):
    noise = np.random.default_rng(seed)
    return [(size * noise.standard_normal(shape)).astype(dtype) for shape in shapes]


@given(batch=st.lists(st.integers(1, 3), max_size=2), queries=st.integers(1, 41),
       more=st.integers(-19, 23), d_k=st.integers(1, 11), d_v=st.integers(1, 7),
       rows=st.integers(1, 50), columns=st.integers(1, 50), causal=st.booleans(),
       size=st.sampled_from([0.1, 1.0, 30.0]), seed=st.integers(0, 99))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_every_tiling_gives_the_output_of_attend(
    batch, queries, more, d_k, d_v, rows, columns, causal, size, seed
):
    keys = max(queries + more, queries if causal else 1)
    shapes = (*batch, queries, d_k), (*batch, keys, d_k), (*batch, keys, d_v)
    q, k, v = drawn(*shapes, seed=seed, size=size)
    mask = causal_mask(queries, keys) if causal else None
    ours = tiled(q, k, v, causal=causal, rows=rows, columns=columns)
    np.testing.assert_allclose(ours, attend(q, k, v, mask).output, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("causal", [False, True])
def test_in_single_precision_the_output_is_exact_to_a_hundred_thousandth(causal):
    q, k, v = drawn((3, 701, 64), (3, 701, 64), (3, 701, 64))
    exact = attend(q, k, v, causal_mask(701) if causal else None).output
    ours = tiled(*(array.astype(np.float32) for array in (q, k, v)), causal=causal, columns=128)
    assert ours.dtype == np.float32
    # float32 rounds by 6e-8; a tile that is lost or not rescaled changes the second digit.
    assert np.abs(ours - exact).max() < 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize("forgotten", ["        weighted *= correction\n", "correction * "])
def test_what_was_summed_has_to_be_rescaled(forgotten):
    source = inspect.getsource(room)
    assert source.count(forgotten) == 1
    wrong = {"__name__": "wrong"}
    exec(source.replace(forgotten, ""), wrong)
    q, k, v = drawn((13, 5), (29, 5), (29, 3), size=3.0)
    exact = attend(q, k, v).output
    assert np.abs(wrong["tiled"](q, k, v, columns=7) - exact).max() > 1e-2
    assert np.abs(wrong["tiled"](q, k, v, columns=29) - exact).max() < 1e-12, "one tile: no need"


def test_tiles_that_no_query_may_see_are_never_made():
    q, k, v = drawn((23, 5), (23, 5), (23, 3))
    exact = attend(q, k, v, causal_mask(23)).output
    # Whatever touches a NaN is NaN, even with a weight of 0.
    k[-1], v[-1] = np.nan, np.nan
    ours = tiled(q, k, v, causal=True, rows=7, columns=5)
    np.testing.assert_allclose(ours[:21], exact[:21], atol=1e-12)


def test_scores_of_a_thousand_do_not_overflow():
    q, k, v = drawn((11, 5), (31, 5), (31, 3), size=100.0)
    with np.errstate(all="raise", under="ignore"):
        ours = tiled(q, k, v, columns=4)
    np.testing.assert_allclose(ours, attend(q, k, v).output, atol=1e-9)


def extra(n, **choices):
    """Bytes at the peak, less those of the output."""
    q, k, v = drawn(*3 * [(2, n, 16)], dtype=np.float32)
    tracemalloc.start()
    try:
        output = tiled(q, k, v, causal=True, **choices)
        return tracemalloc.get_traced_memory()[1] - output.nbytes
    finally:
        tracemalloc.stop()


def test_the_extra_memory_does_not_grow_with_the_text():
    short, long = extra(1024, rows=64, columns=128), extra(4096, rows=64, columns=128)
    assert long < 1.1 * short
    assert long < 8 * 4 * 64 * 128, "a few tiles: scores, mask, NumPy's own buffers"
    assert extra(4096) < 0.02 * 4 * 4096**2, "the table of one head, which is never held"


def test_an_input_is_not_written(bare_calls):
    arrays = drawn((9, 5), (9, 5), (9, 3))
    before = [array.copy() for array in arrays]
    tiled(*arrays, causal=True, rows=4, columns=2)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))


@pytest.mark.parametrize("shapes", [((7, 5), (11, 3), (11, 2)), ((7, 5), (11, 5), (13, 2)),
                                    ((2, 7, 5), (3, 11, 5), (3, 11, 2))], ids=str)  # fmt: skip
def test_shapes_that_do_not_fit_are_named(bare_calls, shapes):
    with pytest.raises(ShapeError, match=r"all the same leading axes.*q \("):
        tiled(*drawn(*shapes))


def test_queries_without_any_key_are_refused():
    with pytest.raises(ValueError, match="13 queries and 11 keys"):
        tiled(*drawn((13, 5), (11, 5), (11, 3)), causal=True)


def test_nothing_to_attend_to_is_said_so():
    with pytest.raises(ShapeError, match="at least one key"):
        tiled(*drawn((7, 5), (0, 5), (0, 3)))


@pytest.mark.parametrize("tile", [{"rows": 0}, {"columns": 0}, {"rows": -2}], ids=str)
def test_a_tile_that_holds_nothing_is_refused(tile):
    with pytest.raises(ValueError, match="`rows` and `columns` must be at least 1"):
        tiled(*drawn((7, 5), (11, 5), (11, 3)), **tile)


def test_whole_numbers_are_refused_with_the_way_out(bare_calls):
    q, k, v = drawn((7, 5), (11, 5), (11, 3))
    with pytest.raises(TypeError, match=r"must be floating-point; got .*int64.*astype"):
        tiled(q, k, v.astype(np.int64))
