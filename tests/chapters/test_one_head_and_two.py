"""What chapter 09 says of its two training runs holds for more seeds than its pages show."""

from pathlib import Path

import pytest

from tests.support.pages import cells

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"


@pytest.mark.nightly
@pytest.mark.parametrize("page", ["09_multi_head", "09_multi_head_deeper"])
def test_one_head_cannot_and_two_heads_can_for_five_other_seeds(page, capsys):
    sources = [source for _, source in cells((CHAPTERS / f"{page}.md").read_text("utf8"))]
    at = next(i for i, source in enumerate(sources) if "def train(" in source)
    assert sources[at].count("range(3)]") == 1
    names: dict = {}
    exec(next(source for source in sources if "import torch" in source), names)
    exec(sources[at].replace("range(3)]", "range(3, 8)]"), names)
    if "holds(" not in sources[at]:  # then the next cell proves what was trained
        exec(sources[at + 1], names)
    assert [len(runs) for runs in names["trained"].values()] == [5, 5]
    printed = capsys.readouterr().out
    assert printed.count("Holds: ") == 3, printed
    assert "it is not so" not in printed
