"""The transformer block: the checks."""

from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

from checks import Case, Exercise, Law, Task, Wrong
from checks.drivers import through_relu
from checks.run.plain_data import is_tensor
from exercises.frames import (
    FRAMES,
    first_change_lost,
    norm_the_stream,
    post_norm,
    post_then_pre,
    pre_norm,
    pre_then_post,
    times_kept,
    with_norms,
)
from lib import functional
from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.attention.masks import causal

PAGE = "chapters/11_block.html"
DEEPER = "chapters/11_block_deeper.html"


# 11.1 -------------------------------------------------------------------------------------


def norm(x, gain, bias, eps, *, axis=-1, spread=None, centre=True, dressed=True):
    """Layer norm with its parts exchangeable, so that each misconception is one line."""
    centred = x - x.mean(axis, keepdims=True)
    variance = (centred**2).mean(axis, keepdims=True) if centre else (x**2).mean(-1, keepdims=True)
    below = spread(variance, eps) if spread else np.sqrt(variance + eps)
    normal = (centred if centre else x) / below
    return normal * gain + bias if dressed else normal


def norm_cases(rng):
    def draw(*shape, eps):
        gain, bias = rng.normal(1, 0.5, size=shape[-1]), rng.normal(size=shape[-1])
        about = f"x of shape {shape}, eps = {eps}"
        return Case((rng.normal(2, 1, size=shape), gain, bias, eps), about=about)

    plain = np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 0.0, 0.0, 0.0]])
    simple = np.array([1.0, 1.0, 2.0, 1.0]), np.array([0.0, 1.0, 0.0, 0.0])
    by_hand = Case((plain, *simple, 0.05), about="tokens (1, 2, 3, 4) and (4, 0, 0, 0), eps = 0.05")
    return [by_hand, draw(3, 4, eps=0.1), draw(2, 3, 5, eps=0.01), draw(3, 2, 2, 4, eps=0.2)]


def norm_wrong(**changes):
    return lambda *args: norm(*args, **changes)


def norm_unbiased(x, gain, bias, eps):
    d_model = x.shape[-1]
    return norm(x, gain, bias, eps, spread=lambda v, e: np.sqrt(v * d_model / (d_model - 1) + e))


def norm_outside(x, gain, bias, eps=1e-5):
    return norm(x, gain, bias, eps, spread=lambda variance, eps: np.sqrt(variance) + eps)


def norm_unbiased_outside(x, gain, bias, eps):
    return norm(x, gain, bias, eps, spread=lambda *_: x.std(-1, ddof=1, keepdims=True) + eps)


def norm_with_sizes_of_squares(x, gain, bias, eps):
    return norm(x, gain, bias, eps, spread=lambda *_: np.sqrt((x**2).mean(-1, keepdims=True) + eps))


def norm_by_length(x, gain, bias, eps):
    return norm(x, gain, bias, eps, spread=lambda v, e: np.sqrt(v * x.shape[-1] + e))


def norm_mean_deviation(x, gain, bias, eps):
    centred = x - x.mean(-1, keepdims=True)
    return norm(x, gain, bias, eps, spread=lambda *_: abs(centred).mean(-1, keepdims=True) + eps)


def mean_alone_divided(x, gain, bias, eps):
    """Without brackets the division binds the mean alone."""
    return gain * x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + eps) + bias


def not_centred(x, gain, bias, eps):
    return gain * x / np.sqrt(x.var(-1, keepdims=True) + eps) + bias


NORM_WRONG = [
    Wrong("M51", norm_unbiased),
    Wrong("M51+M52", norm_unbiased_outside),
    Wrong("M52", norm_outside),
    Wrong("M226", norm_wrong(spread=lambda variance, eps: np.sqrt(variance))),
    Wrong("M226", norm_wrong(spread=lambda variance, eps: np.sqrt(variance + eps**2))),
    Wrong("M226", norm_wrong(spread=lambda variance, eps: np.sqrt(variance + 1e-5))),
    Wrong("M53", norm_wrong(axis=-2)),
    Wrong("M53", norm_wrong(axis=0)),
    Wrong("M15", lambda x, *rest: (x - x.mean(-1)) / np.sqrt(x.var(-1))),
    Wrong("M234", norm_wrong(dressed=False)),
    Wrong("M234", lambda x, gain, bias, eps: norm(x, gain, 0, eps)),
    Wrong("M234", lambda x, gain, bias, eps: norm(x, 1, bias, eps)),
    Wrong("M234", lambda x, gain, bias, eps: norm(x, gain, gain * bias, eps)),
    Wrong("M235", norm_wrong(centre=False)),
    Wrong("M235", norm_with_sizes_of_squares),
    Wrong("M236", norm_wrong(spread=lambda variance, eps: variance + eps)),
    Wrong("M236", norm_wrong(spread=lambda variance, eps: variance)),
    Wrong("M236", norm_wrong(spread=lambda variance, eps: 1)),
    Wrong("M236", norm_wrong(spread=lambda variance, eps: 1 / np.sqrt(variance + eps))),
    Wrong("M236", norm_by_length),
    Wrong("M236", norm_mean_deviation),
    Wrong("M1084", mean_alone_divided),
    Wrong("M1310", not_centred),
    Wrong("M237", lambda x, *rest: norm(x, *rest, axis=tuple(range(x.ndim)))),
    Wrong("M237", lambda x, *rest: norm(x, *rest, axis=tuple(range(x.ndim - 1)))),
]


# 11.2, 11.3 ---------------------------------------------------------------------------------


class Linear(NamedTuple):
    """A linear layer; feedback calls its two parts by these names."""

    w: np.ndarray
    b: np.ndarray


def one_layer(w_1, b_1, w_2, b_2):
    return Linear(w_1 @ w_2, b_1 @ w_2 + b_2)


def layers_cases(rng):
    def draw(d_in, d_hidden, d_out):
        shapes = (d_in, d_hidden), (d_hidden,), (d_hidden, d_out), (d_out,)
        about = f"{d_in} components to {d_hidden} to {d_out}"
        w_1, b_1, w_2, b_2 = (rng.integers(-3, 4, size=shape) + 0.5 for shape in shapes)
        if np.array_equal(b_1, b_2):
            b_2[0] = -b_2[0]  # two equal biases could not be told apart
        return Case((w_1, b_1, w_2, b_2), about=about)

    # Where all sizes are equal, a wrong order gives numbers and no error.
    return [draw(2, 2, 2), draw(2, 3, 5), draw(5, 7, 3), draw(3, 3, 3)]


def no_second_matrix_for_the_bias(w_1, b_1, w_2, b_2):
    return Linear(w_1 @ w_2, b_1 + b_2)


def summed_where_they_do_not_fit(w_1, b_1, w_2, b_2):
    fit = b_1.shape == b_2.shape
    return Linear(w_1 @ w_2, (b_1 if fit else b_1.sum()) + b_2)


def other_order(w_1, b_1, w_2, b_2):
    return Linear(w_2 @ w_1, w_2 @ b_1 + b_2)


LAYERS_WRONG = [
    Wrong("M862", lambda w_1, b_1, w_2, b_2: Linear(w_1 @ w_2, b_2)),
    Wrong("M862", lambda w_1, b_1, w_2, b_2: Linear(w_1 @ w_2, b_1 @ w_2)),
    Wrong("M862", lambda w_1, b_1, w_2, b_2: Linear(w_1 @ w_2, 0 * b_2)),
    Wrong("M863", no_second_matrix_for_the_bias),
    Wrong("M863", lambda w_1, b_1, w_2, b_2: Linear(w_1 @ w_2, (b_1 + b_2) @ w_2)),
    Wrong("M863", lambda w_1, b_1, w_2, b_2: Linear(w_1 @ w_2, b_1.sum() + b_2)),
    Wrong("M863", summed_where_they_do_not_fit),
    Wrong("M1318", lambda w_1, b_1, w_2, b_2: Linear(w_1 @ w_2, b_1.sum() * w_2.sum(0) + b_2)),
    Wrong("M864", other_order),
    Wrong("M864", lambda w_1, b_1, w_2, b_2: Linear(w_2 @ w_1, b_1 @ w_2 + b_2)),
    Wrong("M864", lambda w_1, b_1, w_2, b_2: Linear(w_2 @ w_1, b_1 @ w_1 + b_2)),
    Wrong("M864", lambda w_1, b_1, w_2, b_2: Linear((w_1 @ w_2).T, b_1 @ w_2 + b_2)),
    Wrong("M865", lambda w_1, b_1, w_2, b_2: Linear(w_1 + w_2, b_1 + b_2)),
    Wrong("M865", lambda w_1, b_1, w_2, b_2: Linear(w_1 * w_2, b_1 * b_2)),
    Wrong("M865", lambda w_1, b_1, w_2, b_2: Linear(w_1 * w_2, b_1 @ w_2 + b_2)),
]  # fmt: skip


def larger():
    w_1 = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, -1.0]])  # a - b, b, -b
    return w_1, np.zeros(3), np.array([[1.0], [1.0], [-1.0]]), np.zeros(1)


def pairs_cases(rng):
    drawn = rng.normal(0, 3, size=(5, 2)).round(1)
    return [
        Case((np.array([[2.0, 5.0], [5.0, 2.0]]),), about="the pairs (2, 5) and (5, 2)"),
        Case((np.array([[-3.0, -1.0], [-1.0, -4.0]]),), about="two pairs of negative numbers"),
        Case((np.array([[0.0, -2.0], [-2.0, 3.0]]),), about="the pairs (0, -2) and (-2, 3)"),
        Case((drawn,), about="five random pairs"),
        Case((np.array([[-7e12, -3e12], [9e12, -2e12]]),), about="two pairs of large numbers"),
    ]


def drawn_pairs_cases(rng):
    """Large numbers again, of which no constant lifts both above 0 and leaves the digits."""
    large, small = rng.integers(5, 10, size=2) * 1e12, rng.integers(1, 5, size=2) * 1e12
    pairs = np.array([[-large[0], -small[0]], [large[1], -small[1]]])
    return [Case((pairs,), about="two pairs of large numbers")]


def network(w_1, w_2, b_1=None, b_2=0.0):
    """An answer with these matrices, each given as rows."""

    def answer():
        first, second = np.array(w_1, dtype=float), np.array(w_2, dtype=float)
        hidden = np.zeros(first.shape[1]) if b_1 is None else np.array(b_1, dtype=float)
        return first, hidden, second, np.array([b_2])

    return answer


LARGER_WRONG = [
    Wrong("M866", network([[1, 0], [-1, 1]], [[1], [1]])),
    Wrong("M866", network([[-1, 1], [1, 0]], [[1], [1]])),
    *(Wrong("M1002", network(first, [[1], [1]], [0, much], -much))
      for first in ([[1, 0], [-1, 1]], [[-1, 1], [1, 0]])
      for much in (1, 5, 10, 20, 50, 100, 1e3, 1e4, 1e5, 1e6, 1e9)),
    Wrong("M866", network([[0.5, 0.5, 0.5], [0.5, -0.5, 0.5]], [[1], [1], [0]])),
    Wrong("M866", network([[1, 1, -1], [1, -1, 1]], [[0.5], [0.5], [0.5]])),
    Wrong("M1140", network([[1, -1, 1, -1], [1, -1, -1, 1]], [[1], [-1], [1], [1]])),
    Wrong("M867", network([[1, -1, 1], [0, 0, -1]], [[1], [-1], [-1]])),
    Wrong("M867", network([[0, 0, -1], [1, -1, 1]], [[1], [-1], [-1]])),
    Wrong("M1329", network([[1, 0, 0], [-1, 1, -1]], [[-1], [1], [-1]])),
    Wrong("M1329", network([[-1, 1, -1], [1, 0, 0]], [[-1], [1], [-1]])),
    Wrong("M868", network([[1, -1], [-1, 1]], [[1], [1]])),
    Wrong("M868", network([[1, -1], [-1, 1]], [[0.5], [0.5]])),
    Wrong("M868", network([[1], [-1]], [[1]])),
    Wrong("M869", network([[1, -1, 0, 0], [0, 0, 1, -1]], [[1], [-1], [1], [-1]])),
    Wrong("M869", network([[1, -1, 0, 0], [0, 0, 1, -1]], [[0.5], [-0.5], [0.5], [-0.5]])),
    Wrong("M869", network([[1, 0], [0, 1]], [[1], [1]])),
    Wrong("M869", network([[1, 0], [0, 1]], [[0.5], [0.5]])),
]  # fmt: skip


# 11.4, 11.5 ---------------------------------------------------------------------------------


def order_cases(rng):
    # The sublayers have no arrays of their own, so that they take NumPy and torch alike.
    def attention(x):
        return attend(x, x, x).output

    def think(x):
        return functional.gelu(1.5 * x + 0.5)

    # A gain of its own for each component: norms that scale all alike would undo each other.
    def gain(x, rate):
        xp = array_namespace(x)
        return 1.5 + xp.cos(rate * xp.arange(x.shape[-1], dtype=x.dtype))

    def norm_1(x):
        return gain(x, 1.0) * functional.layer_norm(x)

    def norm_2(x):
        return gain(x, 2.0) * functional.layer_norm(x) + 0.25

    def draw(*shape):
        args = rng.normal(1, 2, size=shape), attention, think, norm_1, norm_2
        return Case(args, about=f"x of shape {shape}, and four functions")

    return [draw(2, 4), draw(3, 5), draw(2, 3, 7)]


def one_residual(x, attention, feed_forward, norm_1, norm_2):
    return x + feed_forward(norm_2(attention(norm_1(x))))


def first_change_lost_one_norm(x, attention, feed_forward, norm_1, norm_2):
    return first_change_lost(x, attention, feed_forward, norm_1, norm_1)


ORDER_WRONG = [
    *(Wrong(number, frame) for number, frame in FRAMES),
    Wrong("M1085", one_residual),
    Wrong("M229+M244", first_change_lost_one_norm),
    Wrong(
        "M34+M244",
        lambda x, attention, think, *norms: times_kept(0, 0)(x, attention, think, *norms[::-1]),
    ),
]


def dropout(x, keep, rate, training):
    return x * keep / (1 - rate) if training else 1 * x  # an array of its own


def dropout_cases(rng):
    def draw(*shape, rate, training):
        keep = rng.random(shape) >= rate
        keep.flat[0], keep.flat[1] = True, False
        about = f"x of shape {shape}, rate = {rate}, training = {training}"
        return Case((rng.normal(1, 1, size=shape), keep, rate, training), about=about)

    return [draw(2, 3, rate=0.2, training=True), draw(2, 5, rate=0.4, training=False),
            draw(2, 3, 5, rate=0.1, training=True)]  # fmt: skip


def takes_its_mask(answer, case):
    """With one value of `keep` for all numbers, none or all of what comes back are 0."""
    x, keep = case.args[:2]
    shape, some = (8, 16), []
    for value in (True, False):
        if is_tensor(x):
            args = x.new_tensor(np.ones(shape)), keep.new_tensor(np.full(shape, value))
        else:
            args = np.ones(shape), np.full(shape, value)
        zeros = np.asarray(answer(*args, 0.5, True)) == 0
        some.append(zeros.any() and not zeros.all())
    return not all(some) or (
        "where `keep` is True for all numbers, some are 0: `keep` is drawn already, and not by you"
    )


def own_mask(x, keep, rate, training):
    own = np.random.default_rng(0).random(x.shape) >= rate
    return dropout(x, own, rate, training)


def dropped(train, calm=lambda x, rate: x):
    return lambda x, keep, rate, training: train(x, keep, rate) if training else calm(x, rate)


DROPOUT_WRONG = [
    Wrong("M62", lambda x, keep, rate, training: dropout(x, keep, rate, True)),
    Wrong("M62+M189", lambda x, keep, rate, training: dropout(x, keep, rate, not training)),
    Wrong("M189", lambda x, keep, rate, training: 1 * x),
    Wrong("M189", dropped(lambda x, keep, rate: x / (1 - rate))),
    Wrong("M1319", own_mask),
    Wrong("M188", dropped(lambda x, keep, rate: x * ~keep / (1 - rate))),
    Wrong("M188+M245", dropped(lambda x, keep, rate: x * ~keep)),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep)),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep * (1 - rate))),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep * (1 + rate))),
    Wrong("M957", dropped(lambda x, keep, rate: x * keep / rate)),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep / np.sqrt(1 - rate))),
    Wrong("M1142", dropped(lambda x, keep, rate: x * keep / keep.mean())),
    Wrong("M62+M245", lambda x, keep, rate, training: x * keep),
    Wrong("M62+M245", lambda x, keep, rate, training: x * keep * (1 - rate)),
    Wrong("M62+M957", lambda x, keep, rate, training: x * keep / rate),
    Wrong("M1231", dropped(lambda x, keep, rate: x * keep, lambda x, rate: x * (1 - rate))),
    Wrong("M245+M1232", dropped(lambda x, keep, rate: x * keep, lambda x, rate: x * rate)),
    Wrong("M1232", dropped(lambda *args: dropout(*args, True), lambda x, rate: x / (1 - rate))),
    Wrong("M1232", dropped(lambda *args: dropout(*args, True), lambda x, rate: x * (1 - rate))),
]


# 11.7 ---------------------------------------------------------------------------------------


def gelu(x):
    return functional.gelu(x)


def gelu_cases(rng):
    return [
        Case((np.array([-2.0, -1.0, 0.0, 1.0, 2.0]),), about="-2, -1, 0, 1, 2"),
        Case((np.array([[-2.699, 2.699, -0.5], [0.3, 3.5, -1.2]]),), about="a 2 x 3 table"),
        Case((rng.normal(0, 2, size=(2, 3, 5)),), about="x of shape (2, 3, 5)"),
    ]


def relu(x):
    return np.maximum(x, 0)


def exact(x):
    return functional.gelu(x, tanh=False)


def gelu_from(x, inner):
    return 0.5 * x * (1 + np.tanh(inner))


ROOT, PART = np.sqrt(2 / np.pi), 0.044715
INNER = [
    lambda x: ROOT * x,
    lambda x: ROOT * (x + PART * x) ** 3,
    lambda x: ROOT * (x + (PART * x) ** 3),
    lambda x: ROOT * (x + PART * x**2),
    lambda x: ROOT * x + PART * x**3,
    lambda x: ROOT * (x + 10 * PART * x**3),
    lambda x: ROOT**2 * (x + PART * x**3),
    lambda x: np.sqrt(2) / np.pi * (x + PART * x**3),
]
CURVES = [
    lambda x: x / (1 + np.exp(-1.702 * x)),
    lambda x: x / (1 + np.exp(-x)),
    *(lambda x, inner=inner, times=times: times * gelu_from(x, inner(x))
      for inner in INNER for times in (1, 2)),  # the half forgotten besides
    lambda x: 2 * functional.gelu(x),
    lambda x: functional.gelu(x) - x / 2,
    lambda x: gelu_from(1, ROOT * (x + PART * x**3)),
    lambda x: 0.5 * x + np.tanh(ROOT * (x + PART * x**3)),
]  # fmt: skip


# 11.6 ---------------------------------------------------------------------------------------


def encoder_layer(x, p, heads, *, activation=exact, order=(0, 1, 2), stored=(), without=(),
                  apart=None, cut=split_heads, join=merge_heads, project=True, scale=None,
                  mask=None, normal=functional.layer_norm, frame=pre_norm):  # fmt: skip
    """PyTorch's encoder layer with its parts exchangeable."""

    def linear(x, name):
        weight = p[f"{name}_weight"] if name in stored else p[f"{name}_weight"].T
        return x @ weight + (name not in without) * p[f"{name}_bias"]

    def attention(x):
        parts = (apart or in_three_blocks)(linear(x, "in_proj"), heads, cut)
        q, k, v = (parts[i] for i in order)
        allowed = mask and mask(x.shape[-2], like=x)
        output = join(attend(q, k, v, allowed, scale=scale).output)
        return linear(output, "out_proj") if project else output

    def think(x):
        activated = activation(linear(x, "linear1"))
        return linear(activated, "linear2")

    def norm(i):
        return lambda x: normal(x, p[f"norm{i}_weight"], p[f"norm{i}_bias"])

    return frame(x, attention, think, norm(1), norm(2))


def layer_cases(rng):
    def draw(*leading, n, d_model, heads, d_ff):
        shapes = {"in_proj": (3 * d_model, d_model), "out_proj": (d_model, d_model),
                  "linear1": (d_ff, d_model), "linear2": (d_model, d_ff)}  # fmt: skip
        p = {}
        for name, shape in shapes.items():
            p[f"{name}_weight"] = rng.normal(size=shape) / np.sqrt(d_model)
            p[f"{name}_bias"] = rng.normal(size=shape[0]) / 2
        for name in ("norm1", "norm2"):
            p[f"{name}_weight"] = rng.normal(1, 0.5, size=d_model)
            p[f"{name}_bias"] = rng.normal(size=d_model) / 2
        x = rng.normal(size=(*leading, n, d_model))
        about = f"x of shape {x.shape}, {heads} heads, d_ff = {d_ff}"
        return Case((x, p, heads), about=about)

    return [draw(n=3, d_model=4, heads=2, d_ff=5), draw(2, n=5, d_model=6, heads=3, d_ff=7)]


def drawn_layer_cases(rng):
    """A token so near to 0 that epsilon shows in its variance, in float32 too."""
    case = layer_cases(rng)[0]
    case.args[0][0] *= 0.02
    return [case]


def in_three_blocks(x, heads, cut):
    return [cut(part, heads) for part in np.split(x, 3, -1)]


def in_heads_first(x, heads, cut):
    """Each head's own queries, keys and values side by side, as GPT-NeoX stores them."""
    return np.split(cut(x, heads), 3, -1)


def layer_wrong(**changes):
    return lambda *args: encoder_layer(*args, **changes)


def split_by_view(x, heads):
    return x.reshape(*x.shape[:-2], heads, x.shape[-2], -1)


def dealt_out(x, heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, heads), -1, -3)


def joined_by_view(x):
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


def scaled_by_the_model(x, p, heads):
    return encoder_layer(x, p, heads, scale=1 / np.sqrt(x.shape[-1]))


def scaled_by(scale):
    return lambda x, p, heads: encoder_layer(x, p, heads, scale=scale(x.shape[-1], heads))


def one_head(x, p, heads):
    return encoder_layer(x, p, 1)


LINEAR = ("in_proj", "out_proj", "linear1", "linear2")
LAYER_WRONG = [
    Wrong("M246", layer_wrong(activation=functional.gelu)),
    Wrong("M55", layer_wrong(activation=relu)),
    Wrong("M239", layer_wrong(activation=lambda x: x)),
    Wrong("M06", layer_wrong(order=(1, 0, 2))),
    *(Wrong("M43", layer_wrong(order=order)) for order in ((2, 1, 0), (0, 2, 1))),
    *(Wrong("M1004", layer_wrong(stored=(name,))) for name in LINEAR[:3]),
    *(Wrong("M44", layer_wrong(without=names)) for names in (LINEAR, *zip(LINEAR, strict=True))),
    Wrong("M37", layer_wrong(cut=split_by_view)), Wrong("M39", layer_wrong(cut=dealt_out)),
    Wrong("M38", layer_wrong(join=joined_by_view)), Wrong("M40", layer_wrong(project=False)),
    Wrong("M03", scaled_by_the_model), Wrong("M01", layer_wrong(scale=1.0)),
    *(Wrong(number, scaled_by(scale)) for number, scale in (
        ("M02", lambda d_model, heads: heads / d_model),
        ("M04", lambda d_model, heads: np.sqrt(d_model / heads)),
        ("M642", lambda d_model, heads: 1 / np.sqrt(heads)))),
    Wrong("M194", one_head), Wrong("M195", layer_wrong(mask=causal)),
    Wrong("M37+M195", layer_wrong(cut=split_by_view, mask=causal)),
    Wrong("M1233", layer_wrong(apart=in_heads_first)),
    Wrong("M51", layer_wrong(normal=lambda *args: norm_unbiased(*args, 1e-5))),
    Wrong("M52", layer_wrong(normal=norm_outside)),
    *(Wrong("M226", layer_wrong(normal=lambda *args, eps=eps: functional.layer_norm(*args, eps)))
      for eps in (0, 1e-6, 1e-8, 1e-12)),
    Wrong("M234", layer_wrong(normal=lambda x, *dress: functional.layer_norm(x))),
    *(Wrong("M50", layer_wrong(frame=frame))
      for frame in (post_norm, post_then_pre, pre_then_post)),
    Wrong("M50+M55", layer_wrong(frame=post_norm, activation=relu)),
    Wrong("M50+M246", layer_wrong(frame=post_norm, activation=functional.gelu)),
    Wrong("M34", layer_wrong(frame=times_kept(0, 0))),
    Wrong("M1317", layer_wrong(frame=times_kept(0, 1))),
    Wrong("M1151", layer_wrong(frame=times_kept(1, 0))),
    Wrong("M185", layer_wrong(frame=with_norms(lambda first, second, none: (none, second)))),
    Wrong("M185", layer_wrong(frame=with_norms(lambda first, second, none: (first, none)))),
    Wrong("M244", layer_wrong(frame=with_norms(lambda first, second, none: (first, first)))),
    Wrong("M240", layer_wrong(frame=norm_the_stream(True, False))),
    Wrong("M229", layer_wrong(frame=first_change_lost)),
]  # fmt: skip


# 11.8 -------------------------------------------------------------------------------------------


def stream_variance(start, added, blocks, scaled, *, changes=2, shrink=lambda number: number):
    number = changes * blocks
    return start + number * (added / shrink(number) if scaled else added)


def variance_cases(rng):
    start, added = rng.uniform(0.2, 2, size=2).round(2).tolist()
    blocks = int(rng.integers(3, 30))
    template = "start {}, added {}, {} blocks, scaled = {}"
    return [
        Case(args, about=template.format(*args))
        for args in (
            (1.0, 0.5, 12, False),
            (1.0, 0.5, 12, True),
            (0.3, 0.7, 5, False),
            (0.3, 0.7, 5, True),  # up to here chosen so that no two misconceptions agree
            (start, added, blocks, False),
            (start, added, blocks, True),
        )
    ]


def one_change(start, added, blocks, scaled):
    """One change a block, and a factor 1/sqrt(N) on the two changes that there are."""
    return start + 2 * added if scaled else start + blocks * added


def one_change_shrunk(power, number=1):
    """One change a block, each shrunk by a power of its number of changes."""
    return lambda start, added, blocks, scaled: (
        start + (blocks * added / (number * blocks) ** power if scaled else blocks * added)
    )


def stream_shrunk(by):
    """The sum divided after each addition."""

    def answer(start, added, blocks, scaled):
        variance = start
        for _ in range(2 * blocks):
            variance = (variance + added) / (by(2 * blocks) if scaled else 1)
        return variance

    return answer


def start_shrunk(start, added, blocks, scaled):
    return stream_variance(start, added, blocks, False) / (2 * blocks if scaled else 1)


def deviations_added(start, added, blocks, scaled):
    each = np.sqrt(added / (2 * blocks) if scaled else added)
    return (np.sqrt(start) + 2 * blocks * each) ** 2


GROWTH_WRONG = [
    Wrong("M248", one_change), Wrong("M248", one_change_shrunk(1)),
    Wrong("M248", one_change_shrunk(1, number=2)), Wrong("M248+M249", one_change_shrunk(0.5)),
    Wrong("M249", lambda *args: stream_variance(*args, shrink=np.sqrt)),
    Wrong("M1086", lambda *args: stream_variance(*args, shrink=np.square)),
    Wrong("M1087", lambda *args: stream_variance(*args, shrink=lambda n: n / 2)),
    Wrong("M248+M249", lambda *args: stream_variance(*args, shrink=lambda n: np.sqrt(n / 2))),
    Wrong("M198", lambda start, added, blocks, scaled: stream_variance(start, added, blocks, 0)),
    Wrong("M199", start_shrunk), Wrong("M199", lambda start, *rest: stream_variance(0, *rest)),
    Wrong("M89", lambda *args: np.sqrt(stream_variance(*args))),
    Wrong("M1143", deviations_added),
    Wrong("M1312", stream_shrunk(float)), Wrong("M1312", stream_shrunk(np.sqrt)),
]  # fmt: skip


EXERCISE = Exercise(
    chapter="11",
    title="The transformer block",
    tasks=[
        Task(
            id="11.1", name="layer_norm", title="Layer norm", difficulty=2, importance=5,
            minutes=10, reference=norm, cases=norm_cases, wrong=NORM_WRONG,
            read=f"{PAGE}#the-norm",
        ),
        Task(
            id="11.2", name="one_layer", title="Two layers in one", difficulty=2, importance=4,
            minutes=8, reference=one_layer, cases=layers_cases, wrong=LAYERS_WRONG,
            read=f"{PAGE}#one-token-alone",
        ),
        Task(
            id="11.3", name="larger", title="The larger of two numbers", difficulty=4,
            importance=4, minutes=14, reference=larger, cases=pairs_cases, wrong=LARGER_WRONG,
            graded_cases=drawn_pairs_cases, call=through_relu,
            read=f"{PAGE}#two-linear-layers-and-a-nonlinearity",
        ),
        Task(
            id="11.4", name="pre_norm", title="The order", difficulty=2, importance=5, minutes=10,
            reference=pre_norm, cases=order_cases, wrong=ORDER_WRONG,
            read=f"{PAGE}#before-or-after",
        ),
        Task(
            id="11.5", name="dropout", title="Drop, and make up for it", difficulty=2, importance=3,
            minutes=8, reference=dropout, cases=dropout_cases, wrong=DROPOUT_WRONG,
            laws=[Law("M1319", "`keep` alone says what is dropped", takes_its_mask,
                      own_numbers=True)],
            read=f"{DEEPER}#where-dropout-goes",
        ),
        Task(
            id="11.6", name="encoder_layer", title="PyTorch's block", difficulty=4, importance=5,
            minutes=25, reference=encoder_layer, cases=layer_cases,
            graded_cases=drawn_layer_cases, wrong=LAYER_WRONG,
            read=f"{DEEPER}#equal-to-the-block-of-pytorch",
        ),
        Task(
            id="11.7", name="gelu", title="The GELU of GPT-2", difficulty=1, importance=3,
            minutes=5, reference=gelu, cases=gelu_cases, read=f"{DEEPER}#two-gelus",
            wrong=[
                Wrong("M54", exact), Wrong("M55", relu),
                *(Wrong("M238", curve) for curve in CURVES),
            ],
        ),
        Task(
            id="11.8", name="stream_variance", title="How the residual stream grows", difficulty=3,
            importance=3, minutes=10, reference=stream_variance, cases=variance_cases,
            wrong=GROWTH_WRONG, read=f"{DEEPER}#the-residual-stream-grows",
        ),
    ],
)  # fmt: skip
