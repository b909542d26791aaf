"""What the deeper page of chapter 5 says of its training holds for more seeds than it shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.pages import names_of
from tests.support.seeds import training_seeds

D_K, ROOT = 256, 16


@pytest.fixture(scope="module")
def page(bare_lib) -> dict[str, Any]:
    """The names that the page's cells tagged `seeds` define."""
    return names_of("05_scaling_deeper", "seeds")


@pytest.mark.parametrize("seed", training_seeds(3))
def test_only_the_scaled_head_is_calm_at_learning_rate_1(page, seed):
    def growth(**start) -> float:
        """How far a change of 1e-15 in W_q carries."""
        runs = [page["train"](D_K, **start, seed=seed, nudge=nudge) for nudge in (0, 2**-50)]
        return np.abs(runs[0] - runs[1]).max()

    assert growth(scale=1 / ROOT) < 1e-9
    assert growth(scale=1.0) > 1e-2
    assert growth(scale=1.0, shrink=1 / ROOT) > 1e-2


@pytest.mark.parametrize("seed", training_seeds(3))
def test_a_smaller_learning_rate_helps_the_folded_head_and_not_the_raw_one(page, seed):
    def end(**start) -> float:
        return page["train"](D_K, **start, seed=seed)[-20:].mean()

    assert end(scale=1 / ROOT) > 0.85
    assert end(scale=1.0, learning_rate=0.01) < 0.5
    assert end(scale=1.0, shrink=1 / ROOT, learning_rate=0.1) > 0.95
