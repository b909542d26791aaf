"""The encoder-decoder is what it says, and what chapter 10 reports of it holds for five seeds."""

import pytest
import torch
from torch import nn

from lib import tasks
from lib.repro import generator, set_seed
from lib.seq2seq import NOTHING, DecoderBlock, Memory, Seq2Seq, pad, train

ENGLISH = ["the", "red", "car", "cat", "falls", "."]
FRENCH = ["la", "le", "voiture", "rouge", "chat", "tombe", "."]
SENTENCES = [["the", "red", "car", "falls", "."], ["the", "cat", "."]]


@pytest.fixture
def model() -> Seq2Seq:
    set_seed(3)
    return Seq2Seq(ENGLISH, FRENCH, d_model=14, heads=2, d_ff=10).double()


def test_rows_are_filled_up_and_the_mask_says_which_cells_are_real():
    ids, real = pad([[5, 3], [4, 2, 7]])
    assert ids.tolist() == [[5, 3, NOTHING], [4, 2, 7]]
    assert real.tolist() == [[[True, True, False]], [[True, True, True]]]


def test_a_decoder_block_equals_pytorchs_with_the_same_numbers():
    set_seed(0)
    ours = DecoderBlock(6, 1, 10, 6).double()
    theirs = nn.TransformerDecoderLayer(
        6, 1, 10, dropout=0.0, activation=lambda x: nn.functional.gelu(x, approximate="tanh"),
        batch_first=True, norm_first=True,
    ).double()  # fmt: skip
    names = [("self_attn", ours.attention), ("multihead_attn", ours.cross)]
    with torch.no_grad():
        for name, attention in names:
            there = getattr(theirs, name)
            parts = attention.query, attention.key, attention.value
            there.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
            there.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
            there.out_proj.load_state_dict(attention.out.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
    x, source = torch.randn(2, 3, 6).double(), torch.randn(2, 5, 6).double()
    real = torch.tensor([[[True] * 5], [[True, True, True, False, False]]])
    future = ~torch.ones(3, 3, dtype=torch.bool).tril()
    expected = theirs(x, source, tgt_mask=future, memory_key_padding_mask=~real[:, 0])
    torch.testing.assert_close(ours(x, Memory(source, real)).output, expected)


def test_the_weights_are_one_rectangle_for_a_sentence_and_rows_sum_to_1(model):
    tables = model.align(SENTENCES, [["la", "voiture", "."], ["le", "chat", "tombe", "."]])
    assert [tuple(table.shape) for table in tables] == [(3, 5), (4, 3)]
    for table in tables:
        torch.testing.assert_close(table.sum(dim=-1), torch.ones(len(table)).double())


def test_a_short_sentence_reads_and_writes_the_same_alone_as_beside_a_long_one(model):
    together, alone = model.encoder(SENTENCES), model.encoder(SENTENCES[1:])
    torch.testing.assert_close(together.vectors[1, :3], alone.vectors[0])
    ids = torch.tensor([[0, 3, 1]])
    both = model(together, ids.expand(2, 3))
    torch.testing.assert_close(both.output[1:], model(alone, ids).output)
    assert (both.weights[1, :, 3:] == 0).all()


def test_a_later_target_word_changes_nothing_before_it_and_any_source_word_may(model):
    memory = model.encoder(SENTENCES[:1])
    vectors = memory.vectors.detach().requires_grad_()
    first = model(Memory(vectors, memory.real), torch.tensor([[0, 2, 3]])).output
    other = model(Memory(vectors, memory.real), torch.tensor([[0, 2, 5]])).output
    assert torch.equal(first[:, :2], other[:, :2])
    assert not torch.equal(first[:, 2], other[:, 2])
    first[0, 0].square().sum().backward()
    assert (vectors.grad[0].abs().sum(dim=-1) > 0).all()


def test_the_decoder_reads_the_answers_one_step_late(model):
    read, answers = model.shifted([["la", "voiture", "."], ["."]])
    assert answers[:, 0].tolist() == [model.target.ids["la"], model.target.ids["."]]
    assert read[:, 0].tolist() == [NOTHING, NOTHING]
    assert torch.equal(read[0, 1:], answers[0, :-1])


def test_at_the_start_every_word_is_about_equally_likely(model):
    loss = model.loss(SENTENCES, [["la", "voiture", "."], ["le", "chat", "."]])
    assert loss.item() == pytest.approx(torch.tensor(8.0).log().item(), abs=0.6)


def test_writing_reads_the_source_once_and_gives_the_weights_of_being_led_along(model):
    calls = []
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    written = model.translate(SENTENCES)
    assert len(calls) == 1
    for sentence, (words, weights) in zip(SENTENCES, written, strict=True):
        assert weights.shape == (len(words), len(sentence))
        torch.testing.assert_close(weights, model.align([sentence], [words])[0])


def learn(task: str, seed: int) -> tuple[Seq2Seq, list[tasks.Pair], list[float]]:
    """Train as chapter 10 does, and draw pairs that the training has not seen."""
    rng = generator(task, seed)
    if task == "reversal":
        held_out = tasks.reversal(generator("held out", seed), 300)
        pool, steps = [], 800
    else:
        pairs = tasks.translation(rng, 2300)
        pool, held_out, steps = pairs[:2000], pairs[2000:], 500

    def draw(step: int):
        del step
        batch = [pool[i] for i in rng.integers(0, len(pool), 64)] if pool else (
            tasks.reversal(rng, 64))  # fmt: skip
        return [pair.source for pair in batch], [pair.target for pair in batch]

    set_seed(seed)
    model = Seq2Seq(*tasks.vocabulary(pool or tasks.reversal(generator(0), 300)))
    return model, held_out, train(model, draw, steps)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("task", ["reversal", "translation"])
def test_it_learns_the_task_and_its_alignment(task, seed, bare_calls):
    del bare_calls  # checking every shape of every step would take longer than the training
    model, held_out, losses = learn(task, seed)
    sources, targets = ([pair[i] for pair in held_out] for i in (0, 1))
    written = model.translate(sources)
    right = [one.words == target for one, target in zip(written, targets, strict=True)]
    found = tasks.alignment(held_out, model.align(sources, targets))
    print(task, seed, losses[-1], sum(right) / len(right), found)
    assert sum(right) / len(right) > 0.95
    assert found.error_rate < 0.1
    assert found.weight_on_truth > (0.9 if task == "reversal" else 0.8)
