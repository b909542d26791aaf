"""What learns on one thread gets torch's values and gradients, by other ways."""

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lib import onethread
from lib.efficient import fused
from lib.gpt2 import GPT2, next_token_loss
from lib.onethread import GELU, SHORT, Bent, Linear, linear
from tests.models import ids, lively_gpt2, relative


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """One thread, and afterwards as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def ways(monkeypatch) -> list[str]:
    """The names of the other ways, in the order in which they are taken."""
    taken = []
    for way in (onethread.Product, onethread.Bent, onethread.ShortAttention):

        def noted(*given, name=way.__name__, go=way.apply):
            taken.append(name)
            return go(*given)

        monkeypatch.setattr(way, "apply", noted)
    return taken  # fmt: skip


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


SHAPES = [(2, 5, 7), (3, 7), (7,), (0, 3, 7)]


def mapped(map_, dtype, shape, wanted, bias):
    """The output of a map, and the gradients of x, weight and bias where they are wanted."""
    given = [random(*shape), random(11, 7, seed=1), random(11, seed=2) if bias else None]
    given = [one if one is None else one.to(dtype, copy=True) for one in given]
    for one, wants in zip(given, wanted, strict=True):
        if one is not None:
            one.requires_grad_(wants)
    y = map_(*given)
    y.backward(random(*y.shape, seed=3).to(dtype))
    return [y.detach(), *(one.grad for one in given if one is not None)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("wants_x", [True, False])
def test_a_map_that_learns_has_the_output_and_gradients_of_torchs(shape, bias, wants_x, ways):
    wanted = (wants_x, True, True)
    ours = mapped(linear, torch.float32, shape, wanted, bias)
    exact = mapped(F.linear, torch.float64, shape, wanted, bias)
    assert ways == ["Product"]
    for one, other in zip(ours, exact, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == torch.float32
            torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-5)


def test_only_the_bias_may_learn():
    map_ = Linear(7, 11)
    map_.weight.requires_grad_(False)
    map_(random(5, 7)).sum().backward()
    assert torch.equal(map_.bias.grad, torch.full((11,), 5.0))
    assert map_.weight.grad is None


def test_vectors_that_do_not_lie_side_by_side_are_mapped_too():
    x, map_ = random(7, 5).requires_grad_(), Linear(7, 11)
    (2 * map_(x.T)).T.sum().backward()  # and the gradient that comes back is no block either
    torch.testing.assert_close(x.grad, 2 * map_.weight.sum(0)[:, None].expand(7, 5))
    torch.testing.assert_close(map_.weight.grad, 2 * x.detach().sum(1).expand(11, 7))


@pytest.mark.parametrize("approximate", ["tanh", "none"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_bend_that_learns_has_the_value_and_slope_of_torchs(approximate, shape, ways):
    given, back = 3 * random(*shape), random(*shape, seed=1)
    results = []
    for bend, dtype in [(GELU(approximate), torch.float32), (nn.GELU(approximate), torch.float64)]:
        x = given.to(dtype, copy=True).requires_grad_()
        y = bend(x.mT if x.ndim > 1 else x)  # numbers that do not lie side by side
        y.backward(back.to(dtype).mT if x.ndim > 1 else back.to(dtype))
        results.append([y, x.grad])
    assert ways == ["Bent"] * (approximate == "tanh")
    for ours, exact in zip(*results, strict=True):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours.double(), exact, rtol=0, atol=1e-5)


def attended(shape, d_v, dtype, n_keys=None, **options):
    """The output of causal attention, and the gradients of queries, keys and values."""
    keys = (*shape[:-2], n_keys or shape[-2], shape[-1])
    three = [random(*shape), random(*keys, seed=1), random(*keys[:-1], d_v, seed=2)]
    three = [one.to(dtype, copy=True).requires_grad_() for one in three]
    output = fused(*three, causal=True, **options).output
    output.backward(random(*output.shape, seed=3).to(dtype))
    return [output.detach(), *(one.grad for one in three)]


@pytest.mark.parametrize("shape", [(2, 3, 13, 7), (3, 2, 5), (5, 7), (1, 1, SHORT, 4)], ids=str)
@pytest.mark.parametrize("d_v", [7, 11])
def test_short_attention_has_the_output_and_gradients_of_torchs(shape, d_v, ways):
    ours, exact = (attended(shape, d_v, dtype) for dtype in (torch.float32, torch.float64))
    assert ways == ["ShortAttention"]
    for one, other in zip(ours, exact, strict=True):
        assert relative(one.double(), other) < 1e-5


def test_long_texts_masks_and_dropout_are_torchs(ways):
    attended((1, 2, SHORT + 1, 7), 7, torch.float32)
    attended((1, 2, 5, 7), 7, torch.float32, mask=torch.ones(5, 5, dtype=torch.bool))
    attended((1, 2, 5, 7), 7, torch.float32, n_keys=6)
    attended((1, 2, 5, 7), 7, torch.float32, dropout=0.5)
    attended((2, 3, 2, 5, 7), 7, torch.float32)  # and more axes than a batch and its heads
    assert not ways


def test_heads_lie_side_by_side_so_that_they_are_merged_without_a_copy():
    q, k, v = (random(2, 3, 5, 7, seed=seed).requires_grad_() for seed in range(3))
    output = fused(q, k, v, causal=True).output
    assert output.transpose(1, 2).is_contiguous()


def test_a_query_that_is_no_number_gives_an_output_that_is_none():
    q, k, v = (random(1, 1, 5, 7, seed=seed) for seed in range(3))
    q[0, 0, 2, 3] = float("nan")
    output = fused(q.requires_grad_(), k.requires_grad_(), v.requires_grad_(), causal=True).output
    assert output.isnan().all(-1).flatten().tolist() == [False, False, True, False, False]


def test_large_scores_are_shifted_before_they_are_exponents():
    q, k, v = (1e3 * random(1, 1, 5, 7, seed=seed) for seed in range(3))
    ours = fused(q.requires_grad_(), k.requires_grad_(), v.requires_grad_(), causal=True).output
    assert relative(ours, F.scaled_dot_product_attention(q, k, v, is_causal=True)) < 1e-5


def test_a_second_derivative_of_short_attention_is_refused():
    q, k, v = (random(1, 1, 5, 7, seed=seed).requires_grad_() for seed in range(3))
    output = fused(q, k, v, causal=True).output
    (once,) = torch.autograd.grad(output.square().sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        once.sum().backward()


def both(x):
    """A map and a bend after it."""
    torch.manual_seed(0)
    return GELU("tanh")(Linear(7, 11).to(x.dtype)(x))


def test_a_way_back_can_be_gone_twice():
    x = random(3, 7).requires_grad_()
    y = both(x).sum()
    y.backward(retain_graph=True)
    once = x.grad.clone()
    y.backward()
    torch.testing.assert_close(x.grad, 2 * once)


def test_the_second_derivatives_are_torchs(ways):
    twice = []
    for dtype in (torch.float32, torch.float64):
        given = [random(*shape).to(dtype).requires_grad_() for shape in ((7, 3), (11, 7), (11,))]
        x, weight, bias = given
        y = linear(x.T, weight, bias)
        y = Bent.apply(y.T) if dtype == torch.float32 else F.gelu(y.T, approximate="tanh")
        once = torch.autograd.grad(y.square().sum(), given, create_graph=True)
        twice.append(torch.autograd.grad(sum(one.square().sum() for one in once), given))
    assert ways == ["Product", "Bent"]
    for ours, exact in zip(*twice, strict=True):
        assert relative(ours, exact) < 1e-5


def test_where_nothing_learns_it_is_torchs(ways):
    with torch.no_grad():
        both(random(3, 7))
    assert not ways


def test_double_precision_is_torchs(ways):
    both(random(3, 7).double().requires_grad_())
    assert not ways


def test_several_threads_are_torchs(ways):
    torch.set_num_threads(2)
    both(random(3, 7).requires_grad_())
    assert not ways


def test_where_the_processor_may_round_it_is_torchs(ways):
    with torch.autocast("cpu", torch.bfloat16):
        assert both(random(3, 7).requires_grad_()).dtype == torch.bfloat16
    assert not ways


def test_the_transforms_of_torch_func_meet_torchs_own_operations(ways):
    weight = Linear(7, 11).weight.detach()
    slopes = torch.func.jacrev(lambda x: GELU("tanh")(linear(x, weight)))
    ours = torch.func.vmap(slopes)(random(3, 7))
    exact = torch.func.vmap(torch.func.jacrev(
        lambda x: F.gelu(F.linear(x, weight), approximate="tanh")
    ))(random(3, 7))  # fmt: skip
    assert torch.equal(ours, exact)
    assert not ways


def loss_and_gradient(model: GPT2) -> tuple[torch.Tensor, torch.Tensor]:
    given = ids(2, 13)
    loss = next_token_loss(model(given).logits[:, :-1], given[:, 1:])
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    return loss, torch.cat([one.flatten() for one in gradients])


def test_a_whole_model_learns_the_same(ways):
    loss, ours = loss_and_gradient(lively_gpt2())
    # In each block one product for queries, keys and values, and three more; then the logits.
    assert ways.count("Product") == 3 * 4 + 1
    assert ways.count("Bent") == ways.count("ShortAttention") == 3
    exact_loss, exact = loss_and_gradient(lively_gpt2().double())
    assert abs(loss - exact_loss) < 1e-6
    assert relative(ours, exact) < 1e-5
