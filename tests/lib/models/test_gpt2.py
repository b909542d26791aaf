"""Our GPT-2 is GPT-2: the logits of a tiny one, stored, and what each single slip does to them."""

import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from lib.models.config import SIZES, Config
from lib.models.gpt2 import GPT2, ModelOutput, next_token_loss
from lib.pretrained.gpt2 import TINY, load_gpt2

EXPECTED = load_file(TINY / "expected.safetensors")
IDS, LOGITS = EXPECTED["ids"], EXPECTED["logits"]
D = 35  # the width of the tiny model; queries, keys and values are D by D

SMALL = Config(vocab_size=61, context_length=23, d_model=35, heads=5, layers=3)


@pytest.fixture
def tiny() -> GPT2:
    return load_gpt2(TINY).double().requires_grad_(False)


def difference(model, ids=IDS, expected=LOGITS) -> float:
    """The largest difference of any logit, as a part of the largest logit."""
    with torch.no_grad():
        return ((model(ids).logits - expected).abs().max() / expected.abs().max()).item()


def test_the_logits_are_those_of_transformers_to_1e_minus_12(tiny):
    assert torch.get_float32_matmul_precision() == "highest"
    assert difference(tiny) <= 1e-12


def test_the_logits_are_those_of_transformers_to_1e_minus_5_in_float32():
    assert difference(load_gpt2(TINY)) <= 1e-5


# One thing is changed at a time, and parity is lost by far more than rounding: 100 times the bound.


def assert_not_gpt2(model):
    assert difference(model) > 1e-3


def test_with_the_exact_gelu_it_is_not_gpt2(tiny):
    for layer in tiny.layers:
        layer.feed_forward.gelu = nn.GELU("none")
    assert difference(tiny) > 1e-5  # the two differ by 5e-4 at most: the smallest of the slips


def test_without_the_final_norm_it_is_not_gpt2(tiny):
    tiny.norm = nn.Identity()
    assert_not_gpt2(tiny)


@pytest.mark.parametrize("by", [1, -1])
def test_with_positions_off_by_one_it_is_not_gpt2(tiny, by):
    tiny.position_embedding.weight.copy_(tiny.position_embedding.weight.roll(by, 0))
    assert_not_gpt2(tiny)


def test_with_positions_left_out_it_is_not_gpt2(tiny):
    tiny.position_embedding.weight.zero_()
    assert_not_gpt2(tiny)


@pytest.mark.parametrize("name", ["query", "key", "value", "out"])
def test_with_a_square_conv1d_not_transposed_it_is_not_gpt2(tiny, name):
    matrix = getattr(tiny.layers[1].attention, name).weight
    matrix.copy_(matrix.T.clone())
    assert_not_gpt2(tiny)


@pytest.mark.parametrize("order", ["qvk", "kqv", "vkq", "kvq", "vqk"])
def test_with_query_key_value_in_another_order_it_is_not_gpt2(tiny, order):
    attention = tiny.layers[0].attention
    parts = {"q": attention.query, "k": attention.key, "v": attention.value}
    attention.query, attention.key, attention.value = (parts[letter] for letter in order)
    assert_not_gpt2(tiny)


def test_with_post_norm_it_is_not_gpt2(tiny):
    for layer in tiny.layers:
        layer.norm_first = False
    assert_not_gpt2(tiny)


@pytest.mark.parametrize("eps", [1e-6, 1e-12])
def test_with_another_eps_it_is_not_gpt2(tiny, eps):
    for layer in tiny.layers:
        layer.attention_norm.eps = layer.feed_forward_norm.eps = eps
    assert difference(tiny) > 1e-4


def test_with_an_untied_head_it_is_not_gpt2(tiny):
    torch.manual_seed(0)
    other = torch.randn_like(tiny.token_embedding.weight) * 0.05
    tiny.unembed = lambda x: tiny.norm(x) @ other.T
    assert_not_gpt2(tiny)


def test_with_other_heads_it_is_not_gpt2(tiny):
    for layer in tiny.layers:
        layer.attention.heads = 7
    assert_not_gpt2(tiny)


def test_without_the_causal_mask_it_is_not_gpt2(tiny, monkeypatch):
    monkeypatch.setattr(
        "lib.attention.masks.causal", lambda n, like: torch.ones(n, n, dtype=torch.bool)
    )
    with torch.no_grad():
        seen = tiny(IDS, keep_weights=True).logits
    assert (seen - LOGITS).abs().max() > 1e-3 * LOGITS.abs().max()


@pytest.mark.parametrize("parameter", GPT2(SMALL).state_dict())
def test_every_parameter_counts(tiny, parameter):
    if parameter.startswith("layers.2"):
        return  # the stored model has two layers
    before = tiny.state_dict()[parameter]
    before.copy_(before.flip(-1) + 0.01)
    if not parameter.endswith("attention.key.bias"):
        assert difference(tiny) > 1e-5
    else:  # adds the same number to a whole row of scores, which softmax takes away again
        assert difference(tiny) < 1e-12


# Its parameters.


@pytest.fixture(scope="module")
def counted() -> GPT2:
    with torch.device("meta"):
        return GPT2(SIZES["gpt2"])


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_gpt2_has_124_439_808_parameters_and_this_is_where_they_are(counted):
    block = counted.layers[0]
    attention = block.attention
    assert sum(map(count, (attention.query, attention.key, attention.value))) == 1_771_776
    assert count(attention.out) == 590_592
    assert count(attention) == 2_362_368
    assert count(block.feed_forward) == 4_722_432
    assert count(block.attention_norm) + count(block.feed_forward_norm) == 3_072
    assert count(block) == 7_087_872
    assert count(counted.layers) == 85_054_464
    assert count(counted.token_embedding) == 38_597_376
    assert count(counted.position_embedding) == 786_432
    assert count(counted.norm) == 1_536
    assert count(counted) == 85_054_464 + 38_597_376 + 786_432 + 1_536 == 124_439_808


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("gpt2-medium", 354_823_168), ("gpt2-large", 774_030_080), ("gpt2-xl", 1_557_611_200)],
)
def test_the_larger_ones_have_as_many_as_were_published(name, parameters):
    with torch.device("meta"):
        assert count(GPT2(SIZES[name])) == parameters


def test_the_loss_at_initialisation_is_near_that_of_knowing_nothing():
    torch.manual_seed(0)
    with torch.inference_mode():
        ids = torch.randint(50_257, (1, 101))
        loss = next_token_loss(GPT2(Config())(ids[:, :-1]).logits, ids[:, 1:])
    # The logits are not all 0 yet: their variance 768 * 0.02**2 costs half of itself.
    assert math.log(50_257) == pytest.approx(10.82, abs=0.01)
    assert loss.item() == pytest.approx(10.82 + 768 * 0.02**2 / 2, abs=0.1)


def test_the_loss_is_the_mean_surprise_at_the_next_token():
    torch.manual_seed(0)
    logits, targets = torch.randn(3, 5, 7).double(), torch.randint(7, (3, 5))
    surprises = [
        math.log(sum(math.exp(z) for z in row)) - row[target]
        for row, target in zip(logits.flatten(0, 1).tolist(), targets.flatten(), strict=True)
    ]
    expected = sum(surprises) / len(surprises)
    assert next_token_loss(logits, targets).item() == pytest.approx(expected, rel=1e-12)


def test_matrices_are_drawn_small_and_what_writes_into_the_stream_smaller():
    torch.manual_seed(0)
    model = GPT2(replace(SMALL, d_model=160, layers=8))
    layer = model.layers[3]
    for matrix in (
        model.token_embedding,
        model.position_embedding,
        layer.attention.query,
        layer.feed_forward.up,
    ):
        assert matrix.weight.std().item() == pytest.approx(0.02, rel=0.06)
    for matrix in (layer.attention.out, layer.feed_forward.down):
        assert matrix.weight.std().item() == pytest.approx(0.02 / 4, rel=0.06)
        assert not matrix.bias.any()


def test_one_table_embeds_and_scores_and_learns_from_both_ends():
    torch.manual_seed(0)
    model = GPT2(SMALL).double()
    assert not any("head" in name for name in model.state_dict())
    ids, targets = torch.tensor([3, 5, 7, 5]), torch.tensor([5, 7, 5, 11])

    def gradient(scoring_learns: bool, embedding_learns: bool):
        table = model.token_embedding.weight
        inside = table if embedding_learns else table.detach()
        x = inside[ids] + model.position_embedding.weight[:4]
        for block in model.layers:
            x, _ = block(x, torch.ones(4, 4).tril() == 1)
        logits = model.norm(x) @ (table if scoring_learns else table.detach()).T
        return torch.autograd.grad(next_token_loss(logits, targets), table)[0]

    next_token_loss(model(ids).logits, targets).backward()
    embedding, scoring = gradient(False, True), gradient(True, False)
    torch.testing.assert_close(model.token_embedding.weight.grad, embedding + scoring)
    assert embedding[[3, 5, 7]].any(-1).all()  # the words that were read
    assert embedding.any(-1).sum() == 3
    assert scoring.any(-1).all()  # every word was scored


def test_a_copied_table_parts_from_the_other_at_the_first_step():
    torch.manual_seed(0)
    model = GPT2(SMALL)
    copy = model.token_embedding.weight.detach().clone()
    ids = torch.tensor([3, 5, 7, 5])
    next_token_loss(model(ids[:-1]).logits, ids[1:]).backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    x = torch.randn(1, SMALL.d_model)
    torch.testing.assert_close(model.unembed(x), model.norm(x) @ model.token_embedding.weight.T)
    assert not torch.allclose(model.unembed(x), model.norm(x) @ copy.T)


# What it returns.


@torch.no_grad()
def test_not_a_bit_of_an_earlier_logit_changes_with_the_future(tiny):
    other = IDS.clone()
    other[:, 13:] = (other[:, 13:] + 1) % 61
    for model, keep_weights in ((tiny, False), (tiny, True), (tiny.float(), False)):
        first, second = (model(ids, keep_weights=keep_weights).logits for ids in (IDS, other))
        assert torch.equal(first[:, :13], second[:, :13])
        assert not torch.equal(first[:, 13:], second[:, 13:])


@torch.no_grad()
def test_weights_are_kept_on_request_and_change_nothing(tiny):
    plain, kept = tiny(IDS), tiny(IDS, keep_weights=True)
    assert isinstance(plain, ModelOutput)
    assert plain.weights is None
    torch.testing.assert_close(kept.logits, plain.logits, rtol=0, atol=1e-13)
    assert kept.weights.shape == (3, 2, 5, 23, 23)  # batch, layer, head, query, key
    torch.testing.assert_close(kept.weights.sum(-1), torch.ones(3, 2, 5, 23).double())
    assert not kept.weights.triu(1).any()


@torch.no_grad()
def test_the_last_logits_alone_are_the_last_of_all(tiny):
    torch.testing.assert_close(
        tiny(IDS, last=True).logits, LOGITS[:, -1:], rtol=0, atol=1e-12 * LOGITS.abs().max().item()
    )


@torch.no_grad()
def test_one_sequence_needs_no_batch_axis(tiny):
    torch.testing.assert_close(tiny(IDS[1]).logits, LOGITS[1], rtol=0, atol=1e-12)


def test_a_text_longer_than_the_learned_positions_is_refused(tiny):
    with pytest.raises(ValueError, match=r"23 learned positions; got 24 tokens. Give"):
        tiny(torch.zeros(24, dtype=torch.long))


def test_positions_before_the_first_are_refused(tiny):
    with pytest.raises(ValueError, match=r"at least 0; got -1"):
        tiny.embed(IDS, -1)


@pytest.mark.parametrize("ids", [[3, 5], IDS.double(), IDS[0, 0], IDS.to(torch.uint8)], ids=repr)
def test_what_cannot_be_looked_up_is_refused_by_saying_what_came(tiny, ids, bare_calls):
    with pytest.raises(TypeError, match=r"such as torch.tensor\(.*got (a list|torch.\w+ \()"):
        tiny(ids)
    assert torch.equal(tiny(IDS.int()).logits, tiny(IDS).logits)


@pytest.mark.parametrize("keep_weights", [False, True])
def test_dropout_acts_while_training_and_not_otherwise(keep_weights):
    torch.manual_seed(0)
    model = GPT2(replace(SMALL, dropout=0.3)).double()
    first, second = (model(IDS, keep_weights=keep_weights).logits for _ in range(2))
    assert not torch.allclose(first, second)
    model.eval()
    first, second = (model(IDS, keep_weights=keep_weights).logits for _ in range(2))
    assert torch.equal(first, second)


@pytest.fixture
def only_weights_dropped() -> GPT2:
    """A model in training whose dropout, 0.3, falls on the attention weights alone."""
    torch.manual_seed(0)
    model = GPT2(replace(SMALL, layers=1, dropout=0.3)).double().requires_grad_(False)
    model.initialise(0.5)  # so that attention moves the logits
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


def test_three_tenths_of_the_kept_weights_are_zero_and_the_others_are_larger(only_weights_dropped):
    ids = IDS[:1].expand(101, -1)
    weights = only_weights_dropped(ids, keep_weights=True).weights
    whole = only_weights_dropped.eval()(ids, keep_weights=True).weights
    past = torch.ones(23, 23, dtype=torch.bool).tril().expand_as(weights)
    # 101 * 5 * 276 weights: the standard deviation of the share is 0.0012.
    assert (weights[past] == 0).double().mean().item() == pytest.approx(0.3, abs=0.01)
    assert (weights[~past] == 0).all()
    kept = weights > 0
    torch.testing.assert_close(weights[kept] * 0.7, whole[kept])


def test_the_plain_call_drops_the_weights_as_often_as_the_one_that_keeps_them(only_weights_dropped):
    ids, model = IDS[:1, :7].expand(2003, -1), only_weights_dropped
    plain, kept = (model(ids, keep_weights=keep).logits for keep in (False, True))
    whole = model.eval()(ids[:1]).logits
    spread = plain.std(0)
    assert (spread > 0.01 * whole.abs().max()).double().mean() > 0.9
    # Each mean is off by 1/45 of the spread, each spread by about 2%, in one standard deviation.
    assert ((plain.mean(0) - kept.mean(0)).abs() <= 0.2 * spread).all()
    assert ((plain.std(0) - kept.std(0)).abs() <= 0.2 * spread).all()


def test_a_model_that_drops_refuses_caches_and_reads_with_them_in_evaluation():
    model = GPT2(replace(SMALL, dropout=0.3))
    with pytest.raises(ValueError, match=r"training mode with dropout 0.3. Call model.eval\(\) fi"):
        model(IDS, caches=model.caches())
    model.eval()
    torch.testing.assert_close(model(IDS, caches=model.caches()).logits, model(IDS).logits)


# With caches.


@torch.no_grad()
@pytest.mark.parametrize("chunks", [[23], [1] * 23, [7, 1, 1, 11, 3]], ids=str)
@pytest.mark.parametrize(("dtype", "bound"), [("float32", 1e-5), ("float64", 1e-12)])
def test_with_caches_a_text_may_come_in_pieces(tiny, chunks, dtype, bound):
    model = tiny.to(getattr(torch, dtype))
    caches = model.caches()
    pieces = [model(piece, caches=caches).logits for piece in IDS.split(chunks, dim=-1)]
    assert (torch.cat(pieces, dim=1) - LOGITS).abs().max() <= bound * LOGITS.abs().max()
    assert {cache.used for cache in caches} == {23}


@torch.no_grad()
def test_positions_that_restart_at_0_with_a_cache_are_not_gpt2s(tiny, monkeypatch):
    from_the_start = GPT2.embed
    monkeypatch.setattr(GPT2, "embed", lambda self, ids, start=0: from_the_start(self, ids))
    caches = tiny.caches()
    pieces = [tiny(piece, caches=caches).logits for piece in IDS.split([7, 16], dim=-1)]
    assert (pieces[0] - LOGITS[:, :7]).abs().max() < 1e-12
    assert (pieces[1] - LOGITS[:, 7:]).abs().max() > 1e-3


@torch.no_grad()
def test_a_mask_aligned_with_the_first_key_is_not_gpt2s(tiny, monkeypatch):
    caches = tiny.caches()
    tiny(IDS[:, :7], caches=caches)
    monkeypatch.setattr(
        "lib.attention.masks.causal", lambda n, m, like: torch.ones(n, m, dtype=torch.bool).tril()
    )
    rest = tiny(IDS[:, 7:], caches=caches).logits
    assert (rest - LOGITS[:, 7:]).abs().max() > 1e-3


def test_weights_are_not_kept_by_a_model_that_reads_with_caches(tiny):
    with pytest.raises(ValueError, match=r"For the weights, give the whole sequence and no caches"):
        tiny(IDS, caches=tiny.caches(), keep_weights=True)


@torch.no_grad()
def test_a_full_cache_takes_no_more(tiny):
    caches = tiny.caches()
    tiny(IDS, caches=caches)
    with pytest.raises(ValueError, match=r"23 learned positions; got 24 tokens"):
        tiny(IDS[:, :1], caches=caches)
