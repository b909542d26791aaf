"""The schematic of chapter 12 cuts its rows where lib.models.sampling does."""

import pytest
import torch

from figures.diagrams.sampling import kept_by_top_p, top_cuts
from lib.models import sampling

ROWS = {
    "sharp": [0.70, 0.22, 0.03, 0.01, 0.01, 0.01, 0.01, 0.01],
    "flat": [0.17, 0.15, 0.14, 0.13, 0.12, 0.11, 0.10, 0.08],
}


@pytest.mark.parametrize("p", [0.3, 0.65, 0.9, 0.97])
@pytest.mark.parametrize("name", ROWS)
def test_it_keeps_what_lib_keeps(name, p):
    logits = torch.tensor(ROWS[name], dtype=torch.float64).log()
    assert kept_by_top_p(ROWS[name], p) == (sampling.keep_top_p(logits, p).softmax(-1) > 0).sum()


def test_the_drawing_says_what_is_kept():
    figure = top_cuts(ROWS, k=4, p=0.9)
    assert "sharp: 0.70, 0.22, 0.03, 0.01, 0.01, 0.01, 0.01, 0.01; top-p keeps 2." in figure.alt
    assert "0.10, 0.08; top-p keeps 7." in figure.alt
    assert figure.svg.count("top-k, k = 4") == figure.svg.count("top-p, p = 0.9") == 2


def test_a_row_that_is_not_sorted_is_refused():
    with pytest.raises(ValueError, match="8 falling probabilities"):
        top_cuts({"rising": [*reversed(ROWS["flat"])]}, k=4, p=0.9)
