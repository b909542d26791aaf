"""The seeds from which a page's trainings are repeated, nightly: the page itself trains from 0."""

import pytest


def training_seeds(count: int = 5) -> list:
    """Return the seeds 1 to `count`, which are left to `make nightly`."""
    return [pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, count + 1)]
