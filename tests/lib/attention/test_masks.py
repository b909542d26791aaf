"""Masks say True where a query may attend, in the library that was asked for."""

import numpy as np
import pytest
import torch

from lib.attention import masks


def test_a_causal_mask_is_the_lower_triangle_with_its_diagonal():
    np.testing.assert_array_equal(masks.causal(5), np.tri(5, dtype=bool))


def test_with_more_keys_than_queries_the_last_query_meets_the_last_key():
    np.testing.assert_array_equal(masks.causal(3, 7), np.tri(7, dtype=bool)[-3:])


def test_more_queries_than_keys_are_refused():
    with pytest.raises(ValueError, match="3 queries, 2 keys"):
        masks.causal(3, 2)


def test_padding_hides_keys_and_never_queries():
    allowed = masks.padding(np.array([2, 5, 0]), 5)
    assert allowed.shape == (3, 1, 5)
    np.testing.assert_array_equal(allowed.sum(-1)[:, 0], [2, 5, 0])
    assert allowed[0, 0, :2].all()


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_a_sliding_window_sees_itself_and_its_nearest_past(width):
    expected = np.array([[j <= i < j + width for j in range(7)] for i in range(7)])
    np.testing.assert_array_equal(masks.sliding_window(7, width), expected)


def test_a_window_of_nothing_is_refused():
    with pytest.raises(ValueError, match="got 0"):
        masks.sliding_window(3, 0)


def test_a_prefix_is_seen_by_all_and_the_rest_is_causal():
    expected = np.tri(5, dtype=bool)
    expected[:, :2] = True
    np.testing.assert_array_equal(masks.prefix(5, 2), expected)


def test_the_and_of_two_masks_allows_what_both_of_them_allow():
    allowed = masks.causal(5) & masks.padding(np.array([2, 3]), 5)
    assert allowed.shape == (2, 5, 5)
    np.testing.assert_array_equal(allowed.sum((1, 2)), [1 + 2 * 4, 1 + 2 + 3 * 3])


def test_masks_follow_the_library_and_the_device_of_an_example():
    like = torch.empty(0, device="meta")
    for mask in (masks.causal(3, like=like), masks.sliding_window(3, 2, like=like),
                 masks.prefix(3, 1, like=like)):  # fmt: skip
        assert mask.device.type == "meta"
        assert mask.dtype == torch.bool
    assert masks.padding(torch.tensor([1]), 3).dtype == torch.bool
