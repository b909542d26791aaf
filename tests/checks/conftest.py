"""What the tests of the checks share: an answer meets lib as a reader's does."""

from collections.abc import Iterator

import pytest

from tests.conftest import without_shape_checks


@pytest.fixture(autouse=True, scope="package")
def as_for_a_reader() -> Iterator[None]:
    """Judge without the shape checks that the tests add to every call: they take half the time."""
    with without_shape_checks():
        yield
