"""The classic bugs, each as one replaced part, with the task of this course that asks for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tests.public_graders.pieces import (
    FORBIDDEN,
    Maps,
    Pieces,
    angles,
    layer_norm,
    scores,
    split,
    weigh,
)


@dataclass(frozen=True)
class Bug:
    """What was done, the part that it is in, and the task whose check should name it."""

    name: str
    part: str
    task: str
    pieces: Pieces


def bug(name: str, part: str, task: str, **changes: Callable) -> Bug:
    """A bug from the parts that it replaces."""
    return Bug(name, part, task, Pieces(**changes))


def table(q: Tensor, k: Tensor) -> Tensor:
    """Scores as they are."""
    return q @ k.transpose(-1, -2)


def masked(change: Callable[[Tensor, Tensor], Tensor]) -> Callable:
    """Weights whose mask, where there is one, goes another way into the scores."""
    return lambda s, mask: weigh(s if mask is None else change(s, mask), None)


def hidden_after(s: Tensor, mask: Tensor | None) -> Tensor:
    """A mask that zeroes weights, whose rows then sum to less than 1."""
    weights = weigh(s, None)
    return weights if mask is None else weights * mask


def not_a_number(s: Tensor, mask: Tensor | None) -> Tensor:
    """A row of minus infinities goes into the softmax."""
    return torch.softmax(s if mask is None else s.masked_fill(~mask, FORBIDDEN), -1)


def without_maximum(s: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax as it stands in books, which overflows."""
    s = s if mask is None else s.masked_fill(~mask, FORBIDDEN)
    return s.exp() / s.exp().sum(-1, keepdim=True)


def down(axis: int | tuple[int, ...]) -> Callable:
    """Softmax along another axis, or several at once."""

    def change(s: Tensor, mask: Tensor | None) -> Tensor:
        s = s if mask is None else s.masked_fill(~mask, FORBIDDEN)
        powers = (s - s.amax().nan_to_num(0.0)).exp()
        return powers / powers.sum(axis, keepdim=True)

    return change


class ScaledLate:
    """Scores that remember their width, and weights that are divided by its root."""

    width = 1

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """Undivided scores."""
        self.width = q.shape[-1]
        return table(q, k)

    def weigh(self, s: Tensor, mask: Tensor | None) -> Tensor:
        """Divided weights."""
        return weigh(s, mask) / math.sqrt(self.width)


LATE = ScaledLate()


def future(change: Callable[[int, int], Tensor]) -> Callable:
    """A causal mask with another triangle; what is True is hidden."""
    return lambda s: s.masked_fill(change(*s.shape[-2:]), FORBIDDEN)


def ones(n: int, m: int) -> Tensor:
    """A table to cut triangles from."""
    return torch.ones(n, m, dtype=torch.bool)


def norm(spread: Callable[[Tensor, float], Tensor]) -> Callable:
    """Layer norm with another divisor, from the centred numbers and eps."""

    def change(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        return centred / spread(centred, eps) * gain + bias

    return change


def variance(centred: Tensor) -> Tensor:
    """The variance of each token."""
    return centred.square().mean(-1, keepdim=True)


BUGS = [
    bug("no scale", "attention", "7.2", scores=table),
    bug("divided by d_k, not its root", "attention", "7.2",
        scores=lambda q, k: table(q, k) / q.shape[-1]),
    bug("multiplied by the root", "attention", "7.2",
        scores=lambda q, k: table(q, k) * math.sqrt(q.shape[-1])),
    bug("divided after the softmax", "attention", "7.2", scores=LATE.scores, weigh=LATE.weigh),
    bug("keys not transposed", "attention", "7.2",
        scores=lambda q, k: q @ k / math.sqrt(q.shape[-1])),
    bug("queries and keys exchanged", "attention", "7.2", scores=lambda q, k: scores(k, q)),
    bug("keys used as values", "attention", "7.2", values=lambda weights, k, v: weights @ k),
    bug("softmax down the columns", "attention", "7.2", weigh=down(-2)),
    bug("one softmax for the whole table", "attention", "7.2", weigh=down((-2, -1))),
    bug("softmax twice", "attention", "7.2", weigh=lambda s, mask: weigh(weigh(s, mask), mask)),
    bug("maximum not subtracted", "large scores", "6.2", weigh=without_maximum),
    bug("mask ignored", "given mask", "8.3", weigh=masked(lambda s, mask: s)),
    bug("mask inverted", "given mask", "8.3",
        weigh=masked(lambda s, mask: s.masked_fill(mask, FORBIDDEN))),
    bug("forbidden scores set to 0", "given mask", "8.3",
        weigh=masked(lambda s, mask: s.masked_fill(~mask, 0.0))),
    bug("mask added as 0 and 1", "given mask", "8.3", weigh=masked(lambda s, mask: s + mask)),
    bug("weights set to 0 after the softmax", "given mask", "8.3", weigh=hidden_after),
    bug("a fully masked row becomes NaN", "empty row", "8.3", weigh=not_a_number),
    bug("the diagonal is hidden too", "causal mask", "8.2",
        look_back=future(lambda n, m: ones(n, m).triu(m - n))),
    bug("one token ahead can be seen", "causal mask", "8.2",
        look_back=future(lambda n, m: ones(n, m).triu(m - n + 2))),
    bug("the past is hidden, not the future", "causal mask", "8.2",
        look_back=future(lambda n, m: ones(n, m).tril(m - n - 1))),
    bug("no causal mask", "causal mask", "8.2", look_back=lambda s: s),
    bug("triangle from the corner, more keys than queries", "fewer queries", "8.2",
        look_back=future(lambda n, m: ones(n, m).triu(1))),
    bug("heads cut by reshape alone", "heads", "9.4",
        split=lambda x, heads: x.reshape(*x.shape[:-2], heads, x.shape[-2], -1)),
    bug("heads joined without a transpose", "heads", "9.4",
        merge=lambda x: x.reshape(*x.shape[:-3], x.shape[-2], -1)),
    bug("heads interleaved", "heads", "9.4",
        split=lambda x, heads: x.unflatten(-1, (-1, heads)).movedim(-1, -3)),
    bug("output matrix forgotten", "output matrix", "9.4", project=lambda joined, w_o, b_o: joined),
    bug("output matrix transposed", "output matrix", "9.4",
        project=lambda joined, w_o, b_o: joined @ w_o.T + b_o),
    bug("scaled by d_model, not by the head's width", "heads", "9.4",
        split=lambda x, heads: split(x, heads) / heads**0.25,
        values=lambda weights, k, v: weights @ v * v.shape[-3] ** 0.25),
    bug("eps outside the root", "layer norm", "11.1",
        layer_norm=norm(lambda centred, eps: variance(centred).sqrt() + eps)),
    bug("eps forgotten", "layer norm", "11.1",
        layer_norm=norm(lambda centred, eps: variance(centred).sqrt())),
    bug("variance with n - 1", "layer norm", "11.1", layer_norm=norm(
        lambda centred, eps: (variance(centred) * centred.shape[-1] / (centred.shape[-1] - 1)
                              + eps).sqrt())),
    bug("normalised over the tokens", "layer norm", "11.1",
        layer_norm=lambda x, gain, bias, eps: layer_norm(
            x.transpose(-1, -2), 1, 0, eps).transpose(-1, -2) * gain + bias),
    bug("gain and bias forgotten", "layer norm", "11.1",
        layer_norm=lambda x, gain, bias, eps: layer_norm(x, 1, 0, eps)),
    bug("exact GELU for the tanh form", "GELU", "11.7", gelu=torch.nn.functional.gelu),
    bug("sines and cosines exchanged", "positions", "7.7", waves=lambda turned: torch.stack(
        [turned[:, 0::2].cos(), turned[:, 1::2].sin()], -1).flatten(-2)),
    bug("all sines first, then all cosines", "positions", "7.7", waves=lambda turned: torch.cat(
        [turned[:, 0::2].sin(), turned[:, 1::2].cos()], -1)),
    bug("an angle for each feature, not for each pair", "positions", "7.7",
        angles=lambda n, d: torch.arange(n, dtype=torch.float64)[:, None]
        / 10000 ** (torch.arange(d, dtype=torch.float64) / d)),
    bug("the exponent without its 2", "positions", "7.7",
        angles=lambda n, d: angles(n, 2 * d)[:, :d]),
    bug("positions counted from 1", "positions", "7.7", angles=lambda n, d: angles(n + 1, d)[1:]),
]  # fmt: skip


def ours(pieces: Pieces, task: str) -> Callable:
    """What a learner with these parts hands in as the answer to a task of this course."""

    def tensors(*given: np.ndarray) -> list[Tensor]:
        return [torch.as_tensor(array) for array in given]

    def weights_of_copies(values, counts):
        values, counts = tensors(values, counts)
        return pieces.weigh(values + counts.log(), None)

    def attention(q, k, v):
        return pieces.attention(*tensors(q, k, v))[0]

    def masked_weights(values, mask):
        return pieces.weigh(*tensors(values, mask))

    def causal_mask(queries, keys):
        return pieces.look_back(torch.zeros(queries, keys)) == 0

    def multi_head(x, w_qkv, b_qkv, w_o, b_o, heads):
        x, w_qkv, b_qkv, w_o, b_o = tensors(x, w_qkv, b_qkv, w_o, b_o)
        maps = Maps(w_qkv.chunk(3, -1), b_qkv.chunk(3), w_o, b_o)
        return pieces.multi_head(x, x, maps, heads)

    def layer_norm_of(x, gain, bias, eps):
        return pieces.layer_norm(*tensors(x, gain, bias), eps)

    return {
        "6.2": weights_of_copies, "7.2": attention, "7.7": pieces.positions, "8.2": causal_mask,
        "8.3": masked_weights, "9.4": multi_head, "11.1": layer_norm_of,
        "11.7": lambda x: pieces.gelu(torch.as_tensor(x)),
    }[task]  # fmt: skip
