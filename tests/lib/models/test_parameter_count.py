"""The ledger counts what a model holds, row by row."""

import dataclasses
import itertools

import pytest
import torch
from torch import nn

from lib.models.config import SIZES
from lib.models.gpt2 import GPT2
from lib.models.parameter_count import GROUPS, PRESETS, Counted, by_group, ledger, total

FOUR = dict(zip(("GPT-2", "GPT-2 medium", "GPT-2 large", "GPT-2 xl"), SIZES, strict=True))
PART = {  # a name in lib.models.gpt2, and the row that counts it
    "token_embedding.weight": "embedding", "position_embedding.weight": "positions",
    "attention.query.weight": "queries", "attention.key.weight": "keys",
    "attention.value.weight": "values", "attention.out.weight": "output",
    "attention.query.bias": "attention biases", "attention.key.bias": "attention biases",
    "attention.value.bias": "attention biases", "attention.out.bias": "attention biases",
    "feed_forward.up.weight": "up", "feed_forward.up.bias": "up biases",
    "feed_forward.down.weight": "down", "feed_forward.down.bias": "down biases",
    "attention_norm.gain": "norms of the blocks", "attention_norm.bias": "norms of the blocks",
    "feed_forward_norm.gain": "norms of the blocks",
    "feed_forward_norm.bias": "norms of the blocks",
    "norm.gain": "last norm", "norm.bias": "last norm",
}  # fmt: skip
SMALL = Counted(vocab_size=11, context_length=7, d_model=6, heads=3, layers=5, d_ff=13)


def counts_of(model: nn.Module) -> dict[str, int]:
    """The rows as they are read off the tensors of a model."""
    counts = {}
    for name, parameter in model.named_parameters():
        kind = name.split(".", 2)[2] if name.startswith("layers.") else name
        counts[PART[kind]] = counts.get(PART[kind], 0) + parameter.numel()
    return counts


@pytest.mark.parametrize("name", FOUR)
def test_each_row_is_what_the_model_holds(name):
    config = SIZES[FOUR[name]]
    with torch.device("meta"):
        model = GPT2(config)
    rows = {row.part: row.count for row in ledger(PRESETS[name]) if row.count}
    assert rows == counts_of(model)
    assert total(PRESETS[name]) == sum(parameter.numel() for parameter in model.parameters())


def test_the_sizes_are_those_of_the_models():
    for name, theirs in FOUR.items():
        config, sizes = SIZES[theirs], PRESETS[name]
        for field in ("vocab_size", "context_length", "d_model", "heads", "layers", "d_ff"):
            assert getattr(config, field) == getattr(sizes, field)


def test_gpt3_has_the_numbers_of_the_source():
    sizes = PRESETS["GPT-3, matrices only"]
    rows = {row.part: row.count for row in ledger(sizes)}
    assert rows["embedding"] == rows["unembedding"] == 617_558_016
    assert rows["queries"] == rows["keys"] == rows["values"] == rows["output"] == 14_495_514_624
    assert rows["up"] == rows["down"] == 57_982_058_496
    assert by_group(sizes)["attention"] == 57_982_058_496
    assert total(sizes) == 175_181_291_520


@pytest.mark.parametrize("switches", list(itertools.product([True, False], repeat=4)))
def test_a_switch_takes_its_rows_and_no_others(switches):
    names = ("positions", "biases", "norms", "tied")
    sizes = dataclasses.replace(SMALL, **dict(zip(names, switches, strict=True)))
    positions, biases, norms, tied = switches
    expected = (11 + 7 * positions + 11 * (not tied)) * 6
    expected += 5 * (4 * 36 + 24 * biases + 2 * 6 * 13 + (13 + 6) * biases)
    expected += (5 * 4 * 6 + 2 * 6) * norms
    assert total(sizes) == expected == sum(by_group(sizes).values())


def test_a_row_says_how_it_was_counted():
    for row in ledger(dataclasses.replace(SMALL, tied=False)):
        assert row.group in GROUPS
        factors = [int(factor.replace(",", "")) for factor in row.numbers.split(" × ")]
        product = 1
        for factor in factors:
            product *= factor
        assert product == row.count
        assert len(factors) == len(row.formula.split(" × "))


def test_pytorchs_own_decoder_layer_has_as_many():
    with torch.device("meta"):
        theirs = nn.TransformerEncoderLayer(6, 3, 13)
    parts = by_group(dataclasses.replace(SMALL, layers=1))
    block = parts["attention"] + parts["feed-forward"] + parts["norms"] - 2 * 6
    assert sum(parameter.numel() for parameter in theirs.parameters()) == block


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 4}, "divisible by `heads`; got 6 and 4"),
        ({"layers": 0}, "`layers` must be an int"),
        ({"d_ff": -3}, "`d_ff` must be an int"),
        ({"vocab_size": True}, "`vocab_size` must be an int"),
        ({"d_model": 6.0}, "`d_model` must be an int"),
        ({"context_length": "7"}, "`context_length` must be an int"),
        ({"tied": "no"}, "`tied` must be True or False; got 'no'"),
        ({"biases": 0}, "`biases` must be True or False; got 0"),
    ],
)
@pytest.mark.usefixtures("bare_calls")
def test_impossible_sizes_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SMALL, **change)
