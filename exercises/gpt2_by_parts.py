"""GPT-2 in NumPy with every part exchangeable, and the usual mistakes as other parts.

A wrong part is a pair: its misconception, and what stands in the place of the right part.
The lists hold whole functions, so that a mistake in a part is one in the model as well.
"""

import functools
import math

import numpy as np

from exercises.frames import FRAMES, pre_norm

# softmax ------------------------------------------------------------------------------------------


def softmax(scores):
    return weighed(scores, lambda scores: scores.max(-1, keepdims=True))


def weighed(scores, lowered=lambda scores: 0, total=lambda powers: powers.sum(-1, keepdims=True)):
    powers = np.exp(scores - lowered(scores))
    return powers / total(powers)


# layer norm ---------------------------------------------------------------------------------------


def layer_norm(x, gain, bias):
    return normed()(x, gain, bias)


def deviation(variance):
    return np.sqrt(variance + 1e-5)


def normed(spread=deviation, *, over=lambda x: -1, ddof=0, centre=1, gained=1, shifted=1):
    """A layer norm with its parts exchangeable."""

    def norm(x, gain, bias):
        mean = centre * x.mean(over(x), keepdims=True)
        variance = x.var(over(x), ddof=ddof, keepdims=True) if centre else mean_square(x)
        return (x - mean) / spread(variance) * (gain if gained else 1) + shifted * bias

    return norm


def mean_square(x):
    return (x**2).mean(-1, keepdims=True)


def by_length(x, gain, bias):
    return layer_norm(x, gain / math.sqrt(x.shape[-1]), bias)


NORMS = [
    ("M51", normed(ddof=1)),
    ("M52", normed(lambda variance: np.sqrt(variance) + 1e-5)),
    ("M51+M52", normed(lambda variance: np.sqrt(variance) + 1e-5, ddof=1)),
    ("M226", normed(np.sqrt)),
    ("M226", normed(lambda variance: np.sqrt(variance + 1e-6))),
    ("M226", normed(lambda variance: np.sqrt(variance + 1e-8))),
    ("M53", normed(over=lambda x: -2)),
    ("M237", normed(over=lambda x: tuple(range(x.ndim)))),
    ("M237", normed(over=lambda x: tuple(range(x.ndim - 1)))),
    ("M234", normed(gained=0, shifted=0)),
    ("M234", normed(gained=0)),
    ("M234", normed(shifted=0)),
    ("M235", normed(centre=0)),
    ("M236", normed(lambda variance: variance + 1e-5)),
    ("M236", normed(lambda variance: 1)),
    ("M236", by_length),
]


# the feed-forward network -------------------------------------------------------------------------


def gelu(x, inner=lambda x: math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)):
    return x / 2 * (1 + np.tanh(inner(x)))


def exact(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def linear(x, p, name, without=(), turned=()):
    """A map as GPT-2's file stores it, (in, out), which may be turned round or lose its bias."""
    weight = p[f"{name}.weight"].T if name in turned else p[f"{name}.weight"]
    return x @ weight + (name not in without) * p[f"{name}.bias"]


def feed_forward(x, p, *, activation=gelu, last=lambda x: x, **maps):
    activated = activation(linear(x, p, "c_fc", **maps))
    return last(linear(activated, p, "c_proj", **maps))


def by_torch(x, p, name):
    """What `F.linear` makes of a weight that lies the other way round."""
    import torch

    inputs = (torch.from_numpy(array) for array in (x, p[f"{name}.weight"], p[f"{name}.bias"]))
    return torch.nn.functional.linear(*inputs).numpy()


def bent_before_the_bias(x, p):
    return linear(gelu(x @ p["c_fc.weight"]) + p["c_fc.bias"], p, "c_proj")


THOUGHTS = [
    ("M54", {"activation": exact}),
    ("M55", {"activation": lambda x: np.maximum(x, 0)}),
    ("M238", {"activation": lambda x: x / (1 + np.exp(-1.702 * x))}),
    ("M238", {"activation": lambda x: x / (1 + np.exp(-x))}),
    ("M238", {"activation": lambda x: gelu(x, lambda x: math.sqrt(2 / math.pi) * x)}),
    ("M238", {"activation": np.tanh}),
    ("M239", {"activation": lambda x: x}),
    ("M239", {"activation": lambda x: x, "last": gelu}),
    ("M228", {"last": gelu}),
    ("M44", {"without": ("c_fc", "c_proj")}),
    ("M44", {"without": ("c_fc",)}),
    ("M44", {"without": ("c_proj",)}),
    ("M10", {"turned": ("c_fc", "c_proj")}),
    ("M10", {"turned": ("c_proj",)}),
]
THINKS = [
    *((number, functools.partial(feed_forward, **how)) for number, how in THOUGHTS),
    ("M228", bent_before_the_bias),
    ("M63", lambda x, p: by_torch(x, p, "c_fc")),
    ("M227", lambda x, p: x + feed_forward(x, p)),
]


# attention ----------------------------------------------------------------------------------------


def split(x, heads):
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-2, -3)


def merge(x):
    return x.swapaxes(-2, -3).reshape(*x.shape[:-3], x.shape[-2], -1)


def thirds(joint, heads):
    return np.split(joint, 3, -1)


def masked(scores, allowed):
    return softmax(np.where(allowed, scores, -np.inf))


def root(n, d_k, heads):
    return 1 / math.sqrt(d_k)


def present(n):
    return np.tri(n, dtype=bool)


def compared(q, k, v):
    return q @ k.swapaxes(-1, -2)


def mixed(weights, k, v, x):
    return weights @ v


def attention(x, p, heads, *, parts=thirds, order=(0, 1, 2), cut=split, join=merge,
              scale=root, score=compared, allowed=present, weigh=masked, mix=mixed,
              project=True, **maps):  # fmt: skip
    """Causal attention in heads, with every part exchangeable."""
    joint = parts(linear(x, p, "c_attn", **maps), heads)
    q, k, v = (cut(joint[i], heads) for i in order)
    scores = score(q, k, v) * scale(x.shape[-2], q.shape[-1], heads)
    weights = weigh(scores, allowed(x.shape[-2]))
    mixed = join(mix(weights, k, v, cut(x, heads)))
    return linear(mixed, p, "c_proj", **maps) if project else mixed


def weights_of(powers, allowed, axes):
    powers = np.where(allowed, powers, 0)
    return powers / powers.sum(axes, keepdims=True)


def tempered(scores, allowed):
    """Lowered by the largest score of a column, so that a row's scores lose different amounts."""
    return weights_of(np.exp(scores - np.where(allowed, scores, -np.inf).max(-2, keepdims=True)),
                      allowed, -1)  # fmt: skip


def over_heads(scores, allowed):
    """What `softmax(..., 0)` gives of one text: heads that compete, and where all hide, 0 / 0."""
    hidden = np.where(allowed, scores, -np.inf)
    powers = np.exp(hidden - hidden.max(0))
    return powers / powers.sum(0)


def or_nothing(scores, allowed):
    """Softmax in which a row that may see nothing has weights of zero."""
    return np.nan_to_num(masked(scores, allowed))


def filled(scores, allowed):
    return softmax(np.where(allowed, scores, -1e9))


def lowered(scores, allowed):
    return softmax(scores + np.where(allowed, 0, -1e9))


def strict(n):
    return np.tri(n, k=-1, dtype=bool)


def future(n):
    return ~np.tri(n, dtype=bool)


def everything(n):
    return np.ones((n, n), dtype=bool)


def split_by_view(x, heads):
    return x.reshape(*x.shape[:-2], heads, x.shape[-2], -1)


def merged_by_view(x):
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


def dealt(x, heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, heads), -1, -3)


def gathered(x):
    return np.moveaxis(x, -3, -1).reshape(*x.shape[:-3], x.shape[-2], -1)


def head_by_head(joint, heads):
    cut = joint.reshape(*joint.shape[:-1], heads, 3, -1)
    return [cut[..., i, :].reshape(*joint.shape[:-1], -1) for i in range(3)]


def first_for_all(x, heads):
    first = split(x, heads)[..., :1, :, :]
    return np.repeat(first, heads, axis=-3)


def penalised(q, k, v):
    """Minus 10 where the future is, to be divided by sqrt(d_k) with the rest."""
    return q @ k.swapaxes(-1, -2) - 10 * future(q.shape[-2])


def scaled_late(weights, k, v, x):
    return weights / math.sqrt(k.shape[-1]) @ v


def one_long_text(x, p, heads):
    return attention(x.reshape(1, -1, x.shape[-1]), p, heads).reshape(x.shape)


WITH_EMPTY_ROWS = (masked, or_nothing, filled, lowered)
OF_THE_SCORES = [
    ("M01", {"scale": lambda n, d_k, heads: 1}),
    ("M02", {"scale": lambda n, d_k, heads: 1 / d_k}),
    ("M03", {"scale": lambda n, d_k, heads: 1 / math.sqrt(d_k * heads)}),
    ("M04", {"scale": lambda n, d_k, heads: math.sqrt(d_k)}),
    ("M1399", {"scale": lambda n, d_k, heads: 1 / math.sqrt(heads)}),
    *(("M22", {"allowed": strict, "weigh": weigh}) for weigh in WITH_EMPTY_ROWS),
]
HOW = [
    *OF_THE_SCORES,
    ("M85", {"scale": lambda n, d_k, heads: 1 / math.sqrt(n)}),
    ("M05", {"score": lambda q, k, v: q @ k}),
    ("M07", {"score": lambda q, k, v: q @ v.swapaxes(-1, -2)}),
    ("M06", {"order": (1, 0, 2)}),
    *(("M43", {"order": order}) for order in ((2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1))),
    *(("M81", {"order": order}) for order in ((0, 0, 2), (1, 1, 2))),
    ("M09", {"scale": lambda *_: 1, "mix": scaled_late}),
    ("M08", {"mix": lambda weights, k, v, x: weights @ k}),
    ("M33", {"mix": lambda weights, k, v, x: weights.swapaxes(-1, -2) @ v}),
    ("M95", {"mix": lambda weights, k, v, x: weights @ x}),
    ("M11", {"weigh": lambda s, may: weights_of(np.exp(s), may, -2)}),
    ("M12", {"weigh": lambda s, may: weights_of(np.exp(s), may, (-1, -2))}),
    ("M41", {"weigh": lambda s, may: weights_of(np.exp(s), may, (-1, -3))}),
    ("M14", {"weigh": tempered}),
    ("M16", {"weigh": lambda s, may: np.eye(len(may))[np.where(may, s, -np.inf).argmax(-1)]}),
    ("M17", {"weigh": lambda s, may: weights_of(np.ones(s.shape), may, -1)}),
    ("M18", {"weigh": lambda s, may: may / (1 + np.exp(-s))}),
    ("M452", {"weigh": over_heads}),
    ("M19", {"weigh": lambda s, may: softmax(masked(s, may))}),
    ("M19", {"weigh": lambda s, may: masked(masked(s, may), may)}),
    ("M176", {"weigh": lambda s, may: may * np.exp(s)}),
    ("M192", {"weigh": lambda s, may: may * s}),
    ("M20", {"weigh": lambda s, may: softmax(np.where(may, s, 0))}),
    ("M21", {"weigh": lambda s, may: may * softmax(s)}),
    ("M25", {"score": penalised, "allowed": everything}),
    *(("M26", {"allowed": future, "weigh": weigh}) for weigh in WITH_EMPTY_ROWS),
    ("M23", {"allowed": lambda n: np.tri(n, dtype=bool).T}),
    ("M24", {"allowed": everything}),
    ("M37", {"cut": split_by_view}),
    ("M38", {"join": merged_by_view}),
    ("M37+M38", {"cut": split_by_view, "join": merged_by_view}),
    ("M39", {"cut": dealt}),
    ("M39", {"cut": dealt, "join": gathered}),
    ("M42", {"cut": first_for_all}),
    ("M256", {"parts": lambda joint, heads: [joint[..., i::3] for i in range(3)]}),
    ("M256", {"parts": head_by_head}),
    ("M40", {"project": False}),
    ("M44", {"without": ("c_attn", "c_proj")}),
    ("M44", {"without": ("c_attn",)}),
    ("M44", {"without": ("c_proj",)}),
    ("M10", {"turned": ("c_proj",)}),
    ("M10", {"turned": ("c_attn", "c_proj")}),
]
ATTENDS = [
    *((number, functools.partial(attention, **how)) for number, how in HOW),
    ("M63", lambda x, p, heads: by_torch(x, p, "c_attn")),
    ("M96", one_long_text),
    ("M194", lambda x, p, heads: attention(x, p, 1)),
]


# the block ----------------------------------------------------------------------------------------


def block(x, p, heads, *, frame=pre_norm, norm=layer_norm, attend=attention, think=feed_forward):
    """One layer of GPT-2, with every part exchangeable."""
    return frame(
        x,
        lambda x: attend(x, inside(p, "attn."), heads),
        lambda x: think(x, inside(p, "mlp.")),
        *(lambda x, name=name: norm(x, p[f"{name}.weight"], p[f"{name}.bias"])
          for name in ("ln_1", "ln_2")),
    )  # fmt: skip


def inside(p, place):
    """The parameters below a place, by the rest of their names."""
    return {name.removeprefix(place): array for name, array in p.items() if name.startswith(place)}


# the loss -----------------------------------------------------------------------------------------


def loss(logits, ids):
    return surprise(logits, ids).mean()


def surprise(logits, ids, by=1):
    """How surprised each prediction is by the token that stands `by` places further on."""
    high = logits.max(-1, keepdims=True)
    logs = logits - high - np.log(np.exp(logits - high).sum(-1, keepdims=True))
    made = logs[..., : ids.shape[-1] - by, :]
    return -np.take_along_axis(made, ids[..., by:, None], -1)[..., 0]


# the model ----------------------------------------------------------------------------------------


def embed(ids, p, at=lambda table, n: table[:n]):
    return p["wte.weight"][ids] + at(p["wpe.weight"], ids.shape[-1])


def unembed(x, p, norm=layer_norm):
    return norm(x, p["ln_f.weight"], p["ln_f.bias"]) @ p["wte.weight"].T


def gpt2(ids, parameters, heads, *, start=embed, end=unembed, norm=layer_norm, order=range,
         later=None, before=lambda x, i, p: x, **how):  # fmt: skip
    """The logits for every next token, with every step exchangeable."""
    p = parameters
    x = start(ids, p)
    depth = len({name.split(".")[1] for name in p if name.startswith("h.")})
    for place, i in enumerate(order(depth)):
        own = how | (later if later and place else {})
        x = block(before(x, place, p), inside(p, f"h.{i}."), heads, norm=norm, **own)
    return end(x, p, norm)


IN_ONE_PLACE = {"M22", "M34", "M35", "M44", "M51+M52", "M185", "M226", "M234", "M238", "M240",
                "M244"}  # fmt: skip


def chosen(numbers):
    """Of each misconception the first part in the list; all, where it may sit in two places."""
    seen = set()
    for number, answer in numbers:
        if number not in seen or number in IN_ONE_PLACE:
            yield number, answer
        seen.add(number)


def whole(**how):
    return lambda ids, p, heads: gpt2(ids, p, heads, **how)


def moved(at):
    return whole(start=lambda ids, p: embed(ids, p, at))


def started(change):
    return whole(start=lambda ids, p: embed(ids, p | {"wte.weight": change(p["wte.weight"])}))


def ended(change):
    return whole(end=lambda x, p, norm: change(x, p))


def cosines(x, p):
    words = p["wte.weight"]
    return unembed(x, p | {"wte.weight": words / np.linalg.norm(words, axis=-1, keepdims=True)})


def own_head(x, p):
    """A map of its own for the logits, as torch draws it."""
    import torch

    head = torch.nn.Linear(x.shape[-1], len(p["wte.weight"]), bias=False).double()
    return layer_norm(x, p["ln_f.weight"], p["ln_f.bias"]) @ head.weight.detach().numpy().T


def dropping(after_attention, after_thought):
    """Pre-norm with GPT-2's dropout still on, after one of the changes or both."""

    def drop(change):
        import torch

        return torch.nn.functional.dropout(torch.from_numpy(change), 0.1).numpy()

    def frame(x, attend, think, norm_1, norm_2):
        first = (lambda x: drop(attend(x))) if after_attention else attend
        second = (lambda x: drop(think(x))) if after_thought else think
        return pre_norm(x, first, second, norm_1, norm_2)

    return frame


def drawn_anew(ids, p, heads):
    return gpt2(
        ids, {name: np.random.normal(0, 0.02, array.shape) for name, array in p.items()}, heads
    )


def final_norm_again(x, place, p):
    return layer_norm(x, p["ln_f.weight"], p["ln_f.bias"]) if place else x


def positions_again(x, place, p):
    return x + p["wpe.weight"][: x.shape[-2]] if place else x


def overflowing(ids, p, heads):
    powers = lambda scores, may: weighed(np.where(may, scores, -np.inf))  # noqa: E731
    return gpt2(ids, p, heads, attend=functools.partial(attention, weigh=powers))


NO_BIASES = {
    "attend": functools.partial(attention, without=("c_attn", "c_proj")),
    "think": functools.partial(feed_forward, without=("c_fc", "c_proj")),
}
OF_ATTENTION_TOO = ("M10", "M63")
EVERYTHING_SEEN = functools.partial(attention, allowed=everything)
MODELS = [
    *((number, whole(attend=attend)) for number, attend in chosen(ATTENDS)),
    *(
        (number, whole(think=think))
        for number, think in chosen(THINKS)
        if number not in OF_ATTENTION_TOO
    ),
    *((number, whole(norm=norm)) for number, norm in chosen(NORMS)),
    *((number, whole(frame=frame)) for number, frame in chosen(FRAMES)),
    ("M44", whole(**NO_BIASES)),
    ("M13", overflowing),
    ("M31", whole(later={"attend": EVERYTHING_SEEN})),
    ("M56", ended(lambda x, p: x @ p["wte.weight"].T)),
    ("M57", moved(lambda table, n: 0)),
    ("M58", moved(lambda table, n: table[1 : n + 1])),
    ("M436", moved(lambda table, n: table[-n:])),
    ("M436", moved(lambda table, n: table[:n][::-1])),
    ("M251", whole(start=lambda ids, p: p["wte.weight"][ids] + p["wpe.weight"][ids])),
    ("M201", started(lambda words: np.roll(words, 1, 0))),
    ("M303", started(lambda words: words * math.sqrt(words.shape[-1]))),
    ("M59", ended(own_head)),
    ("M283", ended(cosines)),
    ("M252", ended(lambda x, p: softmax(unembed(x, p)))),
    ("M252", ended(lambda x, p: np.log(softmax(unembed(x, p))))),
    ("M435", ended(lambda x, p: unembed(x[..., -1:, :], p))),
    ("M435", ended(lambda x, p: unembed(x[..., -1, :], p))),
    *(("M62", whole(frame=dropping(*where))) for where in ((1, 1), (1, 0), (0, 1))),
    ("M64", drawn_anew),
    ("M430", whole(order=lambda depth: [0])),
    ("M430", whole(order=lambda depth: range(depth - 1))),
    ("M430", whole(order=lambda depth: range(1, depth))),
    ("M431", whole(order=lambda depth: range(depth)[::-1])),
    ("M432", whole(order=lambda depth: [0] * depth)),
    ("M432", whole(order=lambda depth: [depth - 1] * depth)),
    ("M433", whole(before=final_norm_again)),
    ("M437", whole(before=positions_again)),
]
