"""The compiled loops are the formulas, and memory is laid out as they read it."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lib.fast import loops
from lib.fast.loops import (
    add_product,
    attend_one,
    in_blocks,
    in_large_pages,
    normalised,
)


def random(*shape, dtype=np.float32):
    return np.random.default_rng(math.prod(shape)).standard_normal(shape).astype(dtype)


def test_a_matrix_lies_in_blocks_of_columns_filled_with_zeros():
    weight = random(37, 5)
    blocks = in_blocks(weight)
    assert blocks.shape == (2, 5, 32), "32 numbers of 4 bytes are 128 bytes"
    assert np.array_equal(blocks[0], weight[:32].T)
    assert np.array_equal(blocks[1, :, :5], weight[32:].T)
    assert not blocks[1, :, 5:].any()
    assert blocks.flags.c_contiguous
    assert in_blocks(weight.astype(np.float64)).shape == (3, 5, 16)
    assert in_blocks(weight.astype(np.int8)).shape == (1, 5, 128)
    weight[0, 0] = 7
    assert blocks[0, 0, 0] != 7, "weights that change later"


@pytest.mark.parametrize("columns", [1, 3, 4, 7, 61])
def test_a_product_is_added_to_what_was_there(columns):
    weight, x, y = random(37, columns), random(columns), random(64)
    before = y.copy()
    add_product(in_blocks(weight), x, y)
    assert np.allclose(y[:37] - before[:37], weight @ x, atol=1e-5)
    assert np.array_equal(y[37:], before[37:]), "the zeros of the last block"


def test_the_bits_of_a_bfloat16_are_the_upper_half_of_a_number():
    weight, x, y = torch.randn(5, 7), random(7), np.zeros(64, np.float32)
    add_product(in_blocks(weight.bfloat16().view(torch.uint16).numpy()), x, y)
    assert np.allclose(y[:5], weight.bfloat16().float().numpy() @ x, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_vector_is_normalised_as_torch_does(dtype):
    x, gain, bias = 3 + random(61, dtype=dtype), random(61, dtype=dtype) + 1, random(61)
    bias = bias.astype(dtype)
    ours = normalised(x, gain, bias, 1e-5)
    exact = F.layer_norm(*(torch.from_numpy(one) for one in (x,)), (61,),
                         torch.from_numpy(gain), torch.from_numpy(bias), 1e-5)  # fmt: skip
    assert ours.dtype == dtype
    assert np.allclose(ours, exact, atol=1e-12 if dtype == np.float64 else 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("used", [1, 2, 11, 13])
def test_one_query_attends_to_what_is_used_of_a_store(used, dtype):
    q, k, v = (
        random(3, 5, dtype=dtype),
        random(3, 13, 5, dtype=dtype),
        random(3, 13, 7, dtype=dtype),
    )
    k[:, used:] = v[:, used:] = np.nan
    ours = attend_one(q, k, v, used)
    exact = F.scaled_dot_product_attention(
        *(torch.from_numpy(one.copy()) for one in (q[:, None], k[:, :used], v[:, :used]))
    )[:, 0]
    assert ours.dtype == dtype
    assert np.allclose(ours, exact, atol=1e-12 if dtype == np.float64 else 1e-6)


def test_scores_that_an_exponential_cannot_hold_are_shifted_first():
    q, k, v = 1e3 * np.ones((1, 4), np.float32), np.ones((1, 3, 4), np.float32), random(1, 3, 5)
    assert np.allclose(attend_one(q, k, v, 3), v.mean(axis=1), atol=1e-6)


@pytest.mark.parametrize("system", ["here", "without large pages"])
def test_room_in_large_pages_keeps_its_own_memory_alive(system, monkeypatch):
    if system != "here":
        monkeypatch.delattr(loops.mmap, "MADV_HUGEPAGE", raising=False)
    room = in_large_pages((2**10, 2**10), np.dtype(np.float32))
    room[...] = 1
    part = room[1]
    del room
    assert part.sum() == 2**10
    assert part.dtype == np.float32


def test_loops_are_compiled_where_nothing_may_be_kept_too(tmp_path):
    script = tmp_path / "without_a_file.py"
    script.write_text(
        "from lib.compiled import compiled\n"
        "exec(compile('def twice(x):\\n    return 2 * x', '<nowhere>', 'exec'))\n"
        "assert compiled(twice)(21) == 42\n"
    )
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, script], cwd=root, env={"PYTHONPATH": str(root)}, check=True)
