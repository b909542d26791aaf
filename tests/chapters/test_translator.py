"""What chapter 10 says of the translator that it trains holds for more seeds than it shows."""

from __future__ import annotations

import pytest

from tests.support import pages
from tests.support.seeds import training_seeds


@pytest.mark.parametrize("seed", training_seeds(5))
def test_the_translator_is_right_and_the_gender_is_where_the_weight_is(seed, monkeypatch, capsys):
    read = pages.cells
    monkeypatch.setattr(pages, "cells", lambda text: [
        (tags, source.replace("SEED = 0", f"SEED = {seed}")) for tags, source in read(text)
    ])  # fmt: skip
    page = pages.names_of("10_cross_attention", "seeds")
    printed = capsys.readouterr().out
    assert page["SEED"] == seed
    assert printed.count("Holds:") == 4
    assert "it is not so" not in printed
    assert page["right"] > 0.95
