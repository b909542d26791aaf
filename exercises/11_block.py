"""The transformer block: the checks."""

import numpy as np

from checks import Case, Exercise, Task, Wrong
from exercises.frames import (
    FRAMES,
    first_change_lost,
    norm_the_stream,
    post_norm,
    pre_norm,
    times_kept,
    with_norms,
)
from lib import functional
from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.attention.masks import causal

PAGE = "chapters/11_block.html"


# 11.1, 11.2, 11.3 ---------------------------------------------------------------------------


def norm(x, gain, bias, eps, *, axis=-1, spread=None, centre=True, dressed=True):
    """Layer norm with its parts exchangeable, so that each wrong idea is one line."""
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
    Wrong("M236", norm_wrong(spread=lambda variance, eps: 1)),
    Wrong("M236", norm_wrong(spread=lambda variance, eps: 1 / np.sqrt(variance + eps))),
    Wrong("M236", norm_by_length),
    Wrong("M236", norm_mean_deviation),
    Wrong("M237", lambda x, *rest: norm(x, *rest, axis=tuple(range(x.ndim)))),
    Wrong("M237", lambda x, *rest: norm(x, *rest, axis=tuple(range(x.ndim - 1)))),
]


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
CURVES = [
    lambda x: x / (1 + np.exp(-1.702 * x)),
    lambda x: x / (1 + np.exp(-x)),
    lambda x: gelu_from(x, ROOT * x),
    lambda x: gelu_from(x, ROOT * (x + PART * x) ** 3),
    lambda x: gelu_from(x, ROOT * (x + (PART * x) ** 3)),
    lambda x: gelu_from(x, ROOT * (x + PART * x**2)),
    lambda x: gelu_from(x, ROOT * x + PART * x**3),
    lambda x: gelu_from(x, ROOT * (x + 10 * PART * x**3)),
    lambda x: gelu_from(x, ROOT**2 * (x + PART * x**3)),
    lambda x: gelu_from(x, np.sqrt(2) / np.pi * (x + PART * x**3)),
    lambda x: 2 * functional.gelu(x),
    lambda x: functional.gelu(x) - x / 2,
    lambda x: gelu_from(1, ROOT * (x + PART * x**3)),
    lambda x: 0.5 * x + np.tanh(ROOT * (x + PART * x**3)),
]


def feed_forward(x, w_1, b_1, w_2, b_2, *, activation=functional.gelu, bias=(1, 1)):
    return activation(x @ w_1 + bias[0] * b_1) @ w_2 + bias[1] * b_2


def hidden_layer(x, w_1, b_1, w_2, b_2):
    return x @ w_1 + b_1


def activations(*arguments):
    return functional.gelu(hidden_layer(*arguments))


def feed_forward_cases(rng):
    def draw(*leading, d_model, d_ff):
        shapes = (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)
        maps = [rng.normal(size=shape) for shape in shapes]
        about = f"x of shape {(*leading, d_model)}, d_ff = {d_ff}"
        return Case((rng.normal(size=(*leading, d_model)), *maps), about=about)

    return [draw(2, d_model=2, d_ff=3), draw(3, d_model=2, d_ff=5), draw(2, 3, d_model=5, d_ff=7),
            draw(2, 3, 2, d_model=3, d_ff=4)]  # fmt: skip


def activation_last(x, w_1, b_1, w_2, b_2):
    return functional.gelu((x @ w_1 + b_1) @ w_2 + b_2)


def bend_first(x, w_1, b_1, w_2, b_2):
    return (functional.gelu(x) @ w_1 + b_1) @ w_2 + b_2


def bend_before_the_bias(x, w_1, b_1, w_2, b_2):
    return (functional.gelu(x @ w_1) + b_1) @ w_2 + b_2


def feed_wrong(**changes):
    return lambda *args: feed_forward(*args, **changes)


FEED_WRONG = [
    Wrong("M239", feed_wrong(activation=lambda x: x)), Wrong("M239", activation_last),
    Wrong("M239", bend_first), Wrong("M228", bend_before_the_bias),
    Wrong("M228", lambda *args: functional.gelu(feed_forward(*args))),
    Wrong("M227", lambda x, *maps: x + feed_forward(x, *maps)),
    Wrong("M55", feed_wrong(activation=relu)), Wrong("M54", feed_wrong(activation=exact)),
    Wrong("M238", feed_wrong(activation=np.tanh)), Wrong("M238", feed_wrong(activation=CURVES[1])),
    Wrong("M44", feed_wrong(bias=(0, 1))), Wrong("M44", feed_wrong(bias=(1, 0))),
    Wrong("M44", feed_wrong(bias=(0, 0))),
    Wrong("M44+M55", feed_wrong(activation=relu, bias=(0, 0))),
    Wrong("M10", lambda x, w_1, b_1, w_2, b_2: feed_forward(x, w_1.T, b_1, w_2.T, b_2)),
]  # fmt: skip


# 11.4, 11.5 ---------------------------------------------------------------------------------


def order_cases(rng):
    # The sublayers have no arrays of their own, so that they take NumPy and torch alike.
    def attention(x):
        return attend(x, x, x).output

    def think(x):
        return functional.gelu(1.5 * x + 0.5)

    def norm_1(x):
        return 1.5 * functional.layer_norm(x)

    def norm_2(x):
        return functional.layer_norm(x) + 0.25

    def draw(*shape):
        args = rng.normal(1, 2, size=shape), attention, think, norm_1, norm_2
        return Case(args, about=f"a stream of shape {shape}, and four functions")

    return [draw(2, 4), draw(3, 5), draw(2, 3, 7)]


ORDER_WRONG = [Wrong(idea, frame) for idea, frame in FRAMES]


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


def dropped(train, calm=lambda x, rate: x):
    return lambda x, keep, rate, training: train(x, keep, rate) if training else calm(x, rate)


DROPOUT_WRONG = [
    Wrong("M62", lambda x, keep, rate, training: dropout(x, keep, rate, True)),
    Wrong("M62+M189", lambda x, keep, rate, training: dropout(x, keep, rate, not training)),
    Wrong("M189", lambda x, keep, rate, training: 1 * x),
    Wrong("M189", dropped(lambda x, keep, rate: x / (1 - rate))),
    Wrong("M188", dropped(lambda x, keep, rate: x * ~keep / (1 - rate))),
    Wrong("M188+M245", dropped(lambda x, keep, rate: x * ~keep)),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep)),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep * (1 - rate))),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep * (1 + rate))),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep / rate)),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep / np.sqrt(1 - rate))),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep / keep.mean())),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep, lambda x, rate: x * (1 - rate))),
    Wrong("M245", dropped(lambda x, keep, rate: x * keep, lambda x, rate: x * rate)),
    Wrong("M245", dropped(lambda *args: dropout(*args, True), lambda x, rate: x / (1 - rate))),
]


# 11.6 ---------------------------------------------------------------------------------------


def encoder_layer(x, p, heads, *, activation=exact, order=(0, 1, 2), stored=(), without=(),
                  cut=split_heads, join=merge_heads, project=True, scale=None, mask=None,
                  normal=functional.layer_norm, frame=pre_norm):  # fmt: skip
    """PyTorch's encoder layer with its parts exchangeable."""

    def linear(x, name):
        weight = p[f"{name}_weight"] if name in stored else p[f"{name}_weight"].T
        return x @ weight + (name not in without) * p[f"{name}_bias"]

    def attention(x):
        parts = np.split(linear(x, "in_proj"), 3, -1)
        q, k, v = (cut(parts[i], heads) for i in order)
        allowed = mask and mask(x.shape[-2], like=x)
        output = join(attend(q, k, v, allowed, scale=scale).output)
        return linear(output, "out_proj") if project else output

    def think(x):
        return linear(activation(linear(x, "linear1")), "linear2")

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


def one_head(x, p, heads):
    return encoder_layer(x, p, 1)


LINEAR = ("in_proj", "out_proj", "linear1", "linear2")
LAYER_WRONG = [
    Wrong("M246", layer_wrong(activation=functional.gelu)),
    Wrong("M55", layer_wrong(activation=relu)),
    Wrong("M239", layer_wrong(activation=lambda x: x)),
    Wrong("M06", layer_wrong(order=(1, 0, 2))),
    *(Wrong("M43", layer_wrong(order=order)) for order in ((2, 1, 0), (0, 2, 1))),
    *(Wrong("M10", layer_wrong(stored=(name,))) for name in LINEAR[:3]),
    *(Wrong("M44", layer_wrong(without=names)) for names in (LINEAR, *zip(LINEAR, strict=True))),
    Wrong("M37", layer_wrong(cut=split_by_view)), Wrong("M39", layer_wrong(cut=dealt_out)),
    Wrong("M38", layer_wrong(join=joined_by_view)), Wrong("M40", layer_wrong(project=False)),
    Wrong("M03", scaled_by_the_model), Wrong("M01", layer_wrong(scale=1.0)),
    Wrong("M194", one_head), Wrong("M195", layer_wrong(mask=causal)),
    Wrong("M51", layer_wrong(normal=lambda *args: norm_unbiased(*args, 1e-5))),
    Wrong("M52", layer_wrong(normal=norm_outside)),
    Wrong("M234", layer_wrong(normal=lambda x, *dress: functional.layer_norm(x))),
    Wrong("M50", layer_wrong(frame=post_norm)),
    Wrong("M50+M55", layer_wrong(frame=post_norm, activation=relu)),
    Wrong("M50+M246", layer_wrong(frame=post_norm, activation=functional.gelu)),
    Wrong("M34", layer_wrong(frame=times_kept(0, 0))),
    Wrong("M34", layer_wrong(frame=times_kept(0, 1))),
    Wrong("M34", layer_wrong(frame=times_kept(1, 0))),
    Wrong("M185", layer_wrong(frame=with_norms(lambda first, second, none: (none, second)))),
    Wrong("M185", layer_wrong(frame=with_norms(lambda first, second, none: (first, none)))),
    Wrong("M244", layer_wrong(frame=with_norms(lambda first, second, none: (first, first)))),
    Wrong("M240", layer_wrong(frame=norm_the_stream(True, False))),
    Wrong("M229", layer_wrong(frame=first_change_lost)),
]  # fmt: skip


# 11.7, 11.8 ---------------------------------------------------------------------------------


def parameters(d_model, d_ff, *, square=4, halves=2, biases=(5, 1), norms=4):
    """`biases` counts those as wide as d_model and as d_ff, `norms` the vectors of the norms."""
    small = (biases[0] + norms) * d_model + biases[1] * d_ff
    return square * d_model**2 + halves * d_model * d_ff + small


def parameter_cases(rng):
    drawn = tuple(rng.integers(8, 900, size=2).tolist())
    return [Case(size, about="d_model = {}, d_ff = {}".format(*size))
            for size in ((2, 3), (5, 7), (768, 3072), (384, 1536), drawn)]  # fmt: skip


def count_wrong(**changes):
    return lambda *args: parameters(*args, **changes)


COUNT_WRONG = [
    *(Wrong("M247", count_wrong(biases=biases))
      for biases in ((0, 0), (1, 1), (2, 1), (4, 0), (4, 2), (6, 0))),
    *(Wrong("M247", count_wrong(norms=norms)) for norms in (0, 2)),
    Wrong("M247", count_wrong(biases=(0, 0), norms=0)),
    Wrong("M247", lambda *size: parameters(*size, norms=0) + 4),
    Wrong("M247", lambda d_model, d_ff: parameters(d_model, d_ff, norms=2) + 2 * d_ff),
    Wrong("M127", count_wrong(square=3, biases=(4, 1))),
    Wrong("M127+M247", count_wrong(square=3, biases=(0, 0), norms=0)),
    Wrong("M196", count_wrong(halves=1)), Wrong("M196", count_wrong(halves=1, biases=(4, 1))),
    Wrong("M197", lambda d_model, d_ff: parameters(d_model, 4 * d_model)),
]  # fmt: skip


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
            (0.3, 0.7, 5, True),  # up to here chosen so that no two wrong ideas agree
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


def start_shrunk(start, added, blocks, scaled):
    return stream_variance(start, added, blocks, False) / (2 * blocks if scaled else 1)


GROWTH_WRONG = [
    Wrong("M248", one_change), Wrong("M248", one_change_shrunk(1)),
    Wrong("M248", one_change_shrunk(1, number=2)), Wrong("M248+M249", one_change_shrunk(0.5)),
    Wrong("M249", lambda *args: stream_variance(*args, shrink=np.sqrt)),
    Wrong("M249", lambda *args: stream_variance(*args, shrink=np.square)),
    Wrong("M248+M249", lambda *args: stream_variance(*args, shrink=lambda n: np.sqrt(n / 2))),
    Wrong("M198", lambda start, added, blocks, scaled: stream_variance(start, added, blocks, 0)),
    Wrong("M199", start_shrunk), Wrong("M199", lambda start, *rest: stream_variance(0, *rest)),
    Wrong("M89", lambda *args: np.sqrt(stream_variance(*args))),
]  # fmt: skip


EXERCISE = Exercise(
    chapter="11",
    title="The transformer block",
    tasks=[
        Task(
            id="11.1", name="layer_norm", title="Layer norm", difficulty=2, importance=5,
            minutes=10, reference=norm, cases=norm_cases, wrong=NORM_WRONG,
            read=f"{PAGE}#claim-S0-45",
        ),
        Task(
            id="11.2", name="gelu", title="The GELU of GPT-2", difficulty=1, importance=3,
            minutes=5, reference=gelu, cases=gelu_cases, read=f"{PAGE}#claim-S0-50",
            wrong=[
                Wrong("M54", exact), Wrong("M55", relu),
                *(Wrong("M238", curve) for curve in CURVES),
            ],
        ),
        Task(
            id="11.3", name="feed_forward", title="Think about each token", difficulty=2,
            importance=4, minutes=8, reference=feed_forward, cases=feed_forward_cases,
            steps={"the hidden layer": hidden_layer, "the activations": activations},
            read=f"{PAGE}#claim-S0-50",
            wrong=FEED_WRONG,
        ),
        Task(
            id="11.4", name="pre_norm", title="The order", difficulty=2, importance=5, minutes=10,
            reference=pre_norm, cases=order_cases, read=f"{PAGE}#claim-S0-49",
            wrong=ORDER_WRONG,
        ),
        Task(
            id="11.5", name="dropout", title="Drop, and make up for it", difficulty=2, importance=3,
            minutes=8, reference=dropout, cases=dropout_cases, read=f"{PAGE}#where-dropout-goes",
            wrong=DROPOUT_WRONG,
        ),
        Task(
            id="11.6", name="encoder_layer", title="PyTorch's block", difficulty=4, importance=5,
            minutes=25, reference=encoder_layer, cases=layer_cases,
            graded_cases=drawn_layer_cases, wrong=LAYER_WRONG,
            read=f"{PAGE}#equal-to-the-block-of-pytorch",
        ),
        Task(
            id="11.7", name="parameters", title="Count the parameters", difficulty=2, importance=4,
            minutes=5, reference=parameters, cases=parameter_cases, read=f"{PAGE}#claim-S0-51",
            wrong=COUNT_WRONG,
        ),
        Task(
            id="11.8", name="stream_variance", title="How the stream grows", difficulty=3,
            importance=3, minutes=10, reference=stream_variance,
            cases=variance_cases, read=f"{PAGE}#the-stream-grows",
            wrong=GROWTH_WRONG,
        ),
    ],
)  # fmt: skip
