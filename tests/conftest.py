"""What the tests share."""

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture
def bare_calls() -> Iterator[None]:
    """Turn off the shape checks that the tests add, so that lib's own errors are met."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
