"""What chapter 09 says of its training holds for more seeds than the page shows."""

from pathlib import Path

import pytest

from tests.support.pages import cells

PAGE = Path(__file__).resolve().parents[2] / "chapters" / "09_multi_head.md"


@pytest.mark.nightly
def test_one_head_cannot_and_two_heads_can_for_five_other_seeds():
    sources = [source for _, source in cells(PAGE.read_text("utf8"))]
    training = next(source for source in sources if "def train(" in source)
    assert training.count("range(3)]") == 1
    page: dict = {}
    exec(sources[0], page)
    # The cell asserts its own thresholds.
    exec(training.replace("range(3)]", "range(3, 8)]"), page)
    assert [len(runs) for runs in page["trained"].values()] == [5, 5]
