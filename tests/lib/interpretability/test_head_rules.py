"""Heads are taken out of a Llama by a rule, and head scores read its weights."""

import numpy as np
import pytest
import torch

from lib.datasets.english import BEGINNINGS, FRAMES, NAMES, ORDINARY, RIDDLE
from lib.interpretability.head_rules import heads_off
from lib.interpretability.head_scores import previous_token_score
from lib.models.config import LlamaConfig
from lib.models.llama import Llama, parameter_shapes
from lib.pretrained import smollm2
from lib.seeds import generator
from lib.text.batches import pad_left

CONFIG = LlamaConfig(
    vocab_size=53, context_length=31, d_model=30, heads=5, kv_heads=1, layers=3, d_ff=37
)


def random_parameters(shapes, rng):
    if isinstance(shapes, dict):
        return {name: random_parameters(part, rng) for name, part in shapes.items()}
    if isinstance(shapes, list):
        return [random_parameters(part, rng) for part in shapes]
    return rng.normal(size=shapes) / 3


@pytest.fixture
def tiny():
    return Llama(CONFIG, random_parameters(parameter_shapes(CONFIG), generator("tiny llama")))


def ids(batch: int = 2, n: int = 7) -> np.ndarray:
    return generator("ids").integers(0, 53, (batch, n))


@pytest.mark.parametrize("heads", [[(0, 4)], [(1, 0), (1, 3), (2, 2)]])
def test_a_head_taken_out_is_its_slice_of_the_output_projection_set_to_zero(tiny, heads):
    without = tiny(ids(), rule=heads_off(tiny, heads)).logits
    for layer, head in heads:
        tiny.parameters["layers"][layer]["out"][:, 6 * head : 6 * head + 6] = 0
    assert np.abs(without - tiny(ids()).logits).max() < 1e-12


def test_a_rule_leaves_the_model_and_the_other_layers_as_they_are(tiny):
    before = tiny(ids(), keep_weights=True)
    without = tiny(ids(), rule=heads_off(tiny, [(1, 2)]), keep_weights=True)
    assert np.abs(without.logits - before.logits).max() > 1e-3
    assert np.array_equal(without.weights[:, :2], before.weights[:, :2])
    assert np.array_equal(tiny(ids()).logits, before.logits)


def test_a_rule_without_heads_changes_no_bit(tiny):
    assert np.array_equal(tiny(ids(), rule=heads_off(tiny, [])).logits, tiny(ids()).logits)


@pytest.mark.parametrize("head", [(3, 0), (0, 5), (-1, 0), (0, -1)])
def test_a_head_that_does_not_exist_is_refused(tiny, head):
    with pytest.raises(ValueError, match=r"There is no head .* numbers of heads: 5, 5, 5"):
        heads_off(tiny, [head])


def test_rows_padded_on_the_left_end_with_their_last_token():
    rows = [[3, 1, 4, 1, 5], [9], [2, 6]]
    batch = pad_left(rows, padding=7)
    assert batch.ids.tolist() == [[3, 1, 4, 1, 5], [7, 7, 7, 7, 9], [7, 7, 7, 2, 6]]
    kept = [row[real].tolist() for row, real in zip(batch.ids, batch.real, strict=True)]
    assert kept == rows


@pytest.mark.parametrize("rows", [[], [[1], []]])
def test_a_batch_needs_rows_and_each_row_a_token(rows):
    with pytest.raises(ValueError, match="none of them empty"):
        pad_left(rows)


def test_an_attractor_has_the_other_number():
    assert FRAMES[0].sentence(1) == "The keys to the cabinet"
    assert FRAMES[0].sentence(0) == "The key to the cabinets"
    assert len({frame.text for frame in FRAMES}) > 10
    assert len(set(FRAMES)) == len(set(ORDINARY)) == len(set(NAMES)) == 20


@torch.no_grad()
def test_smollm2_needs_head_26_0_for_the_keys_and_its_heads_score_as_the_chapters_say():
    try:
        model, tokenizer = smollm2.load_smollm2()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert {len(tokenizer.encode(text)) for text in ORDINARY} == {10}
    assert {len(tokenizer.encode(text)) for text in BEGINNINGS} == {3}
    assert {len(tokenizer.encode(f" {name}")) for pair in NAMES for name in pair} == {1}
    was, were = (tokenizer.encode(word)[0] for word in (" was", " were"))
    rows = [tokenizer.encode(RIDDLE.format(word)) for word in ("keys", "key")]
    batch = pad_left([*rows, tokenizer.encode("The keys to the cabinet")])
    differences = []
    for heads in ([], [(26, 0)]):
        rule = heads_off(model, heads)
        logits = model(batch.ids, real=batch.real, last=True, rule=rule).logits[:, -1]
        differences.append((logits[:, were] - logits[:, was]).tolist())
    whole, without = differences
    assert whole[0] > 1.5 > 0.3 > without[0]
    assert whole[1] < -4
    assert whole[2] > 3 > 1.5 > without[2]
    texts = torch.tensor([tokenizer.encode(text) for text in ORDINARY[:4]])
    scores = previous_token_score(model(texts, keep_weights=True).weights).mean(0)
    assert divmod(int(scores.argmax()), 9) == (16, 0)
    assert scores[16, 0] > 0.7 > 0.3 > scores.median()
