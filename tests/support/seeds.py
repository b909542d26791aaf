"""The seeds from which a page's trainings are repeated: one in every run, the others nightly."""

import pytest


def training_seeds(count: int = 5) -> list:
    """Return the seeds 1 to `count`; all but the first are left to `make seeds`."""
    return [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, count + 1))]
