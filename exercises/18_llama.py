"""From GPT-2 to the model on your laptop: the checks.

Beside many wrong answers stands a public thread in which somebody met the mistake.
"""

from typing import NamedTuple

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from exercises.frames import FRAMES, pre_norm
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.functional import gelu, silu

PAGE = "chapters/18_llama.html"
ROTARY, KV_CACHE = f"{PAGE}#rotary-positions", f"{PAGE}#the-kv-cache-with-rotation"
CONVENTIONS = "chapters/18_llama_deeper.html#two-conventions-in-full"


def changed(function, **changes):
    """The function with some of its parts exchanged."""
    return lambda *args: function(*args, **changes)


# 18.1 ---------------------------------------------------------------------------------------


def rms_norm(x, gain, eps, *, axis=-1, centre=False, square=np.square, total=np.mean, extra=None,
             divide=lambda x, square: x / np.sqrt(square), scale=lambda gain: gain):  # fmt: skip
    """RMSNorm with its parts exchangeable, so that each misconception is one line."""
    x = np.asarray(x, dtype=np.float64)  # the square of 300 does not fit into float16
    x = x - x.mean(-1, keepdims=True) if centre else x
    eps = eps if extra is None else extra
    return divide(x, total(square(x), axis=axis, keepdims=True) + eps) * scale(gain)


def norm_cases(rng):
    def draw(*shape, eps):
        x = rng.normal(0.5, 2, size=shape)
        x[..., 0, :] *= 0.005  # where the mean square is small, epsilon shows
        about = f"x of shape {shape}, eps = {eps}"
        return Case((x, rng.normal(1, 0.3, size=shape[-1]), eps), about=about)

    return [draw(2, 3, eps=1e-5), draw(3, 5, eps=1e-6), draw(2, 3, 7, eps=1e-3)]


def by_the_deviation(x, gain, eps):
    return x / np.sqrt(x.var(-1, keepdims=True) + eps) * gain


def eps_outside(x, square, eps):
    return x / (np.sqrt(square - eps) + eps)


def norm_wrong(x, gain, eps):
    return rms_norm(x, gain, eps, divide=lambda x, square: eps_outside(x, square, eps))


def holds_in_half_precision(answer, case):
    """The squares of these numbers are above 65,504, the largest number of float16."""
    arrays = np.array([[300.0, -200.0, 400.0, 100.0]]), np.array([1.0, 0.5, 2.0, 1.0])
    exact = rms_norm(*arrays, 1e-5)
    like = case.args[0]
    if hasattr(like, "new_tensor"):
        wholes = [like.new_tensor(array) for array in arrays]
        halves = [array.half() for array in wholes]
    else:
        wholes, halves = arrays, [array.astype(np.float16) for array in arrays]
    small = np.asarray(answer(wholes[0] / 100, wholes[1], 1e-5))
    if not np.allclose(small, rms_norm(arrays[0] / 100, arrays[1], 1e-5), rtol=1e-3):
        return True  # what is wrong for small numbers, in any precision, has another cause
    with np.errstate(over="ignore"):
        came = np.asarray(answer(*halves, 1e-5), dtype=np.float64)
    return bool(np.allclose(came, exact, rtol=1e-2)) or (
        "for x = (300, -200, 400, 100) in float16, with the gain (1, 0.5, 2, 1), it returns "
        f"({row(came)}) instead of ({row(exact)})"
    )


def row(x):
    return ", ".join(f"{number:.2f}" for number in np.ravel(x))


def by_the_length(x, gain, eps):
    x = np.asarray(x, dtype=np.float64)
    return x / np.linalg.norm(x, axis=-1, keepdims=True) * gain


def square_as_given(x, gain, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain


def by_the_largest(x, gain, eps):
    return rms_norm(x / np.abs(x).max(-1, keepdims=True), gain, eps)


def by_the_mean_size(kept):
    """Divided by the mean of the absolute values; `kept`: how often eps is added to it."""
    return lambda x, gain, eps: (
        x / (np.abs(x).mean(-1, keepdims=True, dtype=np.float64) + kept * eps) * gain
    )


NORM_WRONG = [
    Wrong("M497", square_as_given),  # pytorch/pytorch/pull/133085, xlite-dev/LeetCUDA/pull/335
    Wrong("M1152", by_the_largest),
    *(Wrong("M1253", by_the_mean_size(kept)) for kept in (0, 1)),
    Wrong("M486", changed(rms_norm, centre=True)),
    Wrong("M487", by_the_deviation),
    Wrong("M488", norm_wrong),  # NVIDIA/TransformerEngine/pull/364, tile-ai/tilelang/pull/1243
    *(Wrong("M489", changed(rms_norm, extra=extra)) for extra in (0, 1e-12, 1e-8, 1e-6, 1e-5)),
    Wrong("M490", changed(rms_norm, axis=-2)),
    Wrong("M491", changed(rms_norm, axis=None)),
    Wrong("M488+M491", lambda x, gain, eps: rms_norm(
        x, gain, eps, axis=None, divide=lambda x, square: eps_outside(x, square, eps))),
    Wrong("M492", changed(rms_norm, scale=lambda gain: 1)),
    Wrong("M493", changed(rms_norm, scale=lambda gain: 1 + gain)),  # utensils/mold/pull/1078
    Wrong("M494", changed(rms_norm, total=np.sum)),
    Wrong("M494", by_the_length),
    Wrong("M550", lambda x, gain, eps: rms_norm(x * gain, 1, eps)),
    Wrong("M550", lambda x, gain, eps: rms_norm(x * gain, gain, eps)),
    Wrong("M495", changed(rms_norm, divide=lambda x, square: x / square)),
    # rasbt/LLMs-from-scratch/issues/871
    Wrong("M496", changed(rms_norm, divide=lambda x, square: x * np.sqrt(square))),
]  # fmt: skip


# 18.2 ---------------------------------------------------------------------------------------


def rotary_angles(positions, d_k, base):
    """The angle of each position and pair."""
    return np.asarray(positions)[..., None] * float(base) ** (-np.arange(0, d_k, 2) / d_k)


def base_10000(function, at):
    """The function with the base 10,000, whatever base is given as this argument."""
    return lambda *args: function(*args[:at], 10_000, *args[at + 1 :])


def twice_over(angles):
    return np.concatenate([angles, angles], axis=-1)


def each_twice(angles):
    return np.repeat(angles, 2, axis=-1)


def base_for(d_k, n, *, turn=2 * np.pi, last=lambda d_k: (d_k - 2) / d_k):
    """The base with which the slowest hand, whose exponent is `last`, turns once in n positions."""
    return (n / turn) ** (1 / last(d_k))


def base_cases(rng):
    del rng  # sizes have no random part
    sizes = [(4, 100), (6, 1_000), (64, 440_000), (128, 8_192)]
    words = "d_k = {}, one turn in {:,} positions"
    return [Case(size, about=words.format(*size)) for size in sizes]


def drawn_base_cases(rng):
    sizes = [(2 * int(rng.integers(3, 70)), int(n)) for n in rng.integers(50, 500_000, size=4)]
    return [Case(size, about="d_k = {}, one turn in {:,} positions".format(*size))
            for size in sizes]  # fmt: skip


BASE_WRONG = [
    Wrong("M809", changed(base_for, turn=1)),
    Wrong("M810", changed(base_for, turn=360)),
    Wrong("M810", changed(base_for, turn=180 / np.pi)),
    Wrong("M817", changed(base_for, turn=np.pi)),
    Wrong("M811", lambda d_k, n: (n / (2 * np.pi)) ** ((d_k - 2) / d_k)),
    Wrong("M812", lambda d_k, n: n / (2 * np.pi) * d_k / (d_k - 2)),
    # rasbt/LLMs-from-scratch/issues/410
    Wrong("M499", changed(base_for, last=lambda d_k: (d_k / 2 - 1) / d_k)),
    # lucidrains/RETRO-pytorch/issues/12
    Wrong("M500", changed(base_for, last=lambda d_k: 2 * (d_k - 2) / d_k)),
    Wrong("M1239", changed(base_for, last=lambda d_k: 1 / 2)),
    Wrong("M1046", changed(base_for, last=lambda d_k: -(d_k - 2) / d_k)),
    Wrong("M508", changed(base_for, last=lambda d_k: 1)),
    Wrong("M976", changed(base_for, last=lambda d_k: 2 / d_k)),
    *(
        Wrong("M1054", changed(base_for, last=lambda d_k, less=less: (d_k - less) / d_k))
        for less in (1, 4)
    ),
    Wrong("M1055", changed(base_for, turn=1 / (2 * np.pi))),
]


# 18.3 ---------------------------------------------------------------------------------------


def halves(x):
    return np.split(x, 2, axis=-1)


def neighbours(x):
    return x[..., 0::2], x[..., 1::2]


def from_halves(first, second):
    return np.concatenate([first, second], axis=-1)


def from_neighbours(first, second):
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def turn(first, second, cos, sin):
    return first * cos - second * sin, first * sin + second * cos


def rotate(x, angles, *, apart=halves, join=from_halves, turned=turn, unit=1.0):
    """Rotate each pair by its angle, with the parts exchangeable."""
    cos, sin = np.cos(unit * angles), np.sin(unit * angles)
    return join(*turned(*apart(x), cos, sin))


def rotate_cases(rng):
    def draw(*leading, n, d_k):
        x, angles = rng.normal(size=(*leading, n, d_k)), rng.uniform(0.3, 2.8, size=(n, d_k // 2))
        return Case((x, angles), about=f"x of shape {x.shape}, angles of shape {angles.shape}")

    return [draw(n=2, d_k=4), draw(3, n=2, d_k=6), draw(2, 3, n=5, d_k=10)]


def with_angles(spread, swap):
    """x * cos + swap(x) * sin with an angle for every component."""

    def answer(x, angles):
        angles = spread(angles)
        return x * np.cos(angles) + swap(x) * np.sin(angles)

    return answer


def swap_halves(x):
    first, second = halves(x)
    return from_halves(-second, first)


def swap_neighbours(x):
    first, second = neighbours(x)
    return from_neighbours(-second, first)


def back(first, second, cos, sin):
    return turn(first, second, cos, -sin)


def no_minus(first, second, cos, sin):
    return first * cos + second * sin, first * sin + second * cos


def sine_for_cosine(first, second, cos, sin):
    return turn(first, second, sin, cos)


def first_overwritten(first, second, cos, sin):
    first = first * cos - second * sin
    return first, first * sin + second * cos


def of_itself(sign):
    def answer(first, second, cos, sin):
        return first * (cos + sign * sin), second * (cos - sign * sin)

    return answer


def cosine_alone(first, second, cos, sin):
    return first * cos, second * cos


def score_depends_on_the_distance(answer, case):
    x, _ = case.args
    n, d_k = x.shape[-2:]
    like = x.new_tensor if hasattr(x, "new_tensor") else np.asarray

    def scores(start):
        angles = like(rotary_angles(np.arange(start, start + n), d_k, 100.0))
        q, k = (np.asarray(answer(part, angles)) for part in (x, x * x))
        return q @ np.swapaxes(k, -1, -2)

    return bool(np.allclose(scores(0), scores(7), atol=1e-3)) or (
        "the scores change when all positions move on by 7"
    )


TURNED_WRONG = [  # a pair turned wrongly, whichever two numbers form it
    ("M513", {"turned": back}),  # karpathy/nanochat turns this way, for queries and keys alike
    ("M514", {"turned": no_minus}),
    ("M516", {"turned": first_overwritten}),
    ("M517", {"turned": cosine_alone}),
    ("M552", {"turned": of_itself(1)}),
    ("M552", {"turned": of_itself(-1)}),
    ("M506", {"unit": np.pi / 180}),
]
SCORES_WRONG = [  # the changes that show even in the scores of rotated queries and keys
    ("M510", {"apart": neighbours, "join": from_neighbours}),
    *TURNED_WRONG,
]
SINE_FOR_COSINE = ("M515", {"turned": sine_for_cosine})
PAIRS_WRONG = [  # the changes that are wrong wherever a vector is rotated
    # lucidrains/PaLM-rlhf-pytorch/issues/56, EleutherAI/gpt-neox/issues/834,
    # huggingface/transformers/issues/25199, pytorch/torchtitan/issues/335,
    # jzhang38/TinyLlama/issues/24, nurl-lang/nurl/pull/584 and a dozen more
    *SCORES_WRONG,
    # These change queries and keys in the same way, so the scores stay as they were.
    ("M512", {"apart": neighbours, "join": from_halves}),
    ("M512", {"apart": halves, "join": from_neighbours}),
    SINE_FOR_COSINE,
]
_of_neighbours = changed(rotate, apart=neighbours, join=from_neighbours)


def rotate_neighbours(x, angles):
    return _of_neighbours(x, angles)


NEIGHBOURS_WRONG = [
    *(
        Wrong(number, changed(rotate, **{"apart": neighbours, "join": from_neighbours, **changes}))
        for number, changes in [*TURNED_WRONG, SINE_FOR_COSINE]
    ),
    Wrong("M813", rotate),
    Wrong("M513+M813", changed(rotate, turned=back)),
    Wrong("M513+M814", changed(rotate, apart=halves, join=from_neighbours, turned=back)),
    Wrong("M814", changed(rotate, apart=neighbours, join=from_halves)),
    Wrong("M814", changed(rotate, apart=halves, join=from_neighbours)),
    # raiyanyahya/how-to-train-your-gpt/issues/6
    Wrong("M511", with_angles(each_twice, swap_halves)),
    Wrong("M511", with_angles(twice_over, swap_neighbours)),
]


# 18.4 ---------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def swiglu(x, gate, up, down, *, curve=silu, other=lambda x: x, meet=np.multiply):
    """The gated feed-forward network with its parts exchangeable."""
    return meet(curve(x @ gate.T), other(x @ up.T)) @ down.T


def joined(answer):
    """The answer, given the gate and the up projection one below the other."""
    return lambda x, gate_up, down: answer(x, *np.split(gate_up, 2), down)


def swiglu_cases(rng):
    def draw(*shape, d_ff):
        d_model = shape[-1]
        shapes = [(d_ff, d_model), (d_ff, d_model), (d_model, d_ff)]
        gate, up, down = (rng.normal(size=size) / np.sqrt(size[1]) for size in shapes)
        about = f"x of shape {shape}, d_ff = {d_ff}"
        args = rng.normal(0, 2, size=shape), np.concatenate([gate, up]), down
        return Case(args, about=about)

    return [draw(2, 3, d_ff=5), draw(3, 4, d_ff=7), draw(2, 3, 5, d_ff=11)]


def exact_gelu(x):
    return gelu(x, tanh=False)


FEED_WRONG = [  # the feed-forward networks that are wrong alone and in the block
    # ml-explore/mlx-lm/pull/767, ooples/AiDotNet.Tensors/pull/46
    ("M518", lambda x, gate, up, down: swiglu(x, up, gate, down)),
    ("M519", changed(swiglu, other=silu)),
    # Nijikadesu/breakdown-minimind/issues/3
    ("M520", lambda x, gate, up, down: silu((x @ gate.T) * (x @ up.T)) @ down.T),
    ("M553", lambda *args: silu(swiglu(*args, curve=lambda x: x))),
    ("M553", lambda x, gate, up, down: ((silu(x) @ gate.T) * (x @ up.T)) @ down.T),
    ("M553", lambda x, gate, up, down: swiglu(silu(x), gate, up, down, curve=lambda x: x)),
    ("M521", changed(swiglu, curve=gelu)),
    ("M521", changed(swiglu, curve=exact_gelu)),
    ("M522", changed(swiglu, curve=sigmoid)),
    ("M523", changed(swiglu, curve=lambda x: np.maximum(x, 0))),
    ("M524", changed(swiglu, meet=np.add)),
    ("M525", changed(swiglu, meet=lambda a, b: a)),  # google-research/timesfm/issues/493
    ("M525", lambda x, gate, up, down: swiglu(x, up, gate, down, meet=lambda a, b: a)),
    ("M526", changed(swiglu, curve=lambda x: x)),
    ("M527", changed(swiglu, curve=lambda x: x * sigmoid(-x))),
]


def dealt_rows(x, gate_up, down):
    return swiglu(x, gate_up[0::2], gate_up[1::2], down)


def cut_by_tokens(x, gate_up, down):
    curved, passed = np.split(x @ gate_up.T, 2)  # axis 0
    return (silu(curved) * passed) @ down.T


def as_input_output(x, gate_up, down):
    curved, passed = np.split(x @ gate_up, 2, axis=-1)
    return (silu(curved) * passed) @ down


# 18.5 ---------------------------------------------------------------------------------------


def repeat_kv(x, heads, *, number=lambda heads, kv_heads: heads // kv_heads):
    return np.repeat(x, number(heads, x.shape[-3]), axis=-3)


def repeat_cases(rng):
    def draw(*leading, heads, kv_heads, n, d_k):
        x = rng.normal(size=(*leading, kv_heads, n, d_k)).round(2)
        about = f"{kv_heads} KV heads for {heads} query heads, {n} tokens, d_k = {d_k}"
        about += f", a batch of {leading[0]}" if leading else ""
        return Case((x, heads), about=about)

    return [draw(heads=4, kv_heads=2, n=3, d_k=1), draw(heads=9, kv_heads=3, n=2, d_k=2),
            draw(4, heads=6, kv_heads=3, n=2, d_k=1)]  # fmt: skip


def by_index(choose):
    def answer(x, heads):
        kv_heads = x.shape[-3]
        return x[..., [choose(i, heads, kv_heads) for i in range(heads)], :, :]

    return answer


def from_the_front(axis, counted):
    """Repeat an axis counted from the front, so often that the `counted` axis would fit."""
    return lambda x, heads: np.repeat(x, heads // x.shape[counted], axis=axis)


def tokens_repeated(x, heads):
    repeated = np.repeat(x, heads // x.shape[-3], axis=-2)
    return repeated.reshape(*x.shape[:-3], heads, *x.shape[-2:])


def in_turn(i, heads, kv_heads):
    return i % kv_heads


def by_their_number(i, heads, kv_heads):
    return i // kv_heads


REPEAT_WRONG = [
    # onnx/onnx/pull/7274, fkodom/grouped-query-attention-pytorch/issues/5
    Wrong("M324", by_index(in_turn)),
    Wrong("M325", by_index(lambda i, heads, kv_heads: 0)),
    Wrong("M1180", by_index(by_their_number)),
    Wrong("M528", from_the_front(0, counted=0)),
    Wrong("M528", from_the_front(0, counted=-3)),
    Wrong("M528", from_the_front(1, counted=1)),
    Wrong("M528", from_the_front(1, counted=-3)),
    Wrong("M529", tokens_repeated),  # ByteDance-Seed/VeOmni/pull/162
    Wrong("M528", from_the_front(-3, counted=0)),
    Wrong("M530", changed(repeat_kv, number=lambda heads, kv_heads: kv_heads)),
    Wrong("M530", changed(repeat_kv, number=lambda heads, kv_heads: heads)),
]


# 18.6 ---------------------------------------------------------------------------------------


def as_it_is(x, position, base):
    return x


def turned_at(x, position, base, how=rotate):
    """The rows of x, rotated as if the first stood at this position."""
    positions = np.arange(position, position + len(x))
    return how(x, rotary_angles(positions, x.shape[-1], base))


class Step(NamedTuple):
    """What one step returns; feedback calls the three results by these names."""

    output: np.ndarray
    keys: np.ndarray
    values: np.ndarray


def decode_step(x, query, key, value, keys, values, base, *, place=len, turns=(turned_at,) * 2,
                value_turn=as_it_is, stored="as appended", read=lambda keys, base: keys, past=True,
                front=False, carry=True, scale=1.0):  # fmt: skip
    """One token after those in the cache, with the parts exchangeable."""
    at = place(keys)
    q, k = (how(x[None] @ w.T, at, base) for how, w in zip(turns, (query, key), strict=True))
    v = value_turn(x[None] @ value.T, at, base)
    order = slice(None, None, -1 if front else 1)
    seen = np.concatenate([keys, k][order]) if past else k
    all_values = np.concatenate([values, v][order]) if past else v
    all_keys = read(seen, base)
    output = attend(q * scale, all_keys, all_values).output[0]
    if not carry:
        return Step(output, keys, values)
    new = x[None] @ key.T if stored == "unrotated" else k
    kept = all_keys if stored == "as read" else np.concatenate([keys, new][order])
    return Step(output, kept, np.concatenate([values, v][order]))


def step_cases(rng):
    def draw(old, d_model, d_k, d_v, base):
        shapes = [(d_model,), (d_k, d_model), (d_k, d_model), (d_v, d_model)]
        x, query, key, value = (rng.normal(size=shape) for shape in shapes)
        keys = turned_at(rng.normal(size=(old, d_k)), 0, base)
        values = rng.normal(size=(old, d_v))
        matrices = (w / np.sqrt(d_model) for w in (query, key, value))
        sizes = f"d_model = {d_model}, d_k = {d_k}, d_v = {d_v}"
        about = f"a token after {old} others, {sizes}, base = {base:,}"
        return Case((x, *matrices, keys, values, base), about=about)

    return [draw(2, 3, 4, 4, 100), draw(3, 5, 6, 8, 100_000), draw(7, 5, 4, 4, 500)]


def turned_by(**changes):
    return lambda x, position, base: turned_at(x, position, base, how=changed(rotate, **changes))


def one_by_one(answer, case):
    """From an empty cache, each call given what the one before returned."""
    _, query, key, value, _, _, base = case.args
    n = 5
    tokens = np.random.default_rng(18).normal(size=(n, query.shape[1]))
    plain = [np.asarray(w, dtype=np.float64) for w in (query, key, value)]
    q, k, v = (tokens @ w.T for w in plain)
    whole = attend(turned_at(q, 0, base), turned_at(k, 0, base), v, masks.causal(n)).output
    like = query.new_tensor if hasattr(query, "new_tensor") else np.asarray
    tokens, outputs = like(tokens), []
    keys, values = (like(np.empty((0, len(w)))) for w in (key, value))
    for token in tokens:
        output, keys, values = answer(token, query, key, value, keys, values, base)
        outputs.append(np.asarray(output))
    return bool(np.allclose(outputs, whole, atol=1e-4)) or (
        "from an empty cache, token by token, the outputs are not those of the whole sequence"
    )


def each_turned(keys, base):
    """The whole cache rotated, each key by its own position."""
    return turned_at(keys, 0, base)


def all_turned_alike(keys, base):
    """The whole cache rotated by the position of the newest key."""
    return rotate(keys, rotary_angles(np.full(len(keys), len(keys) - 1), keys.shape[-1], base))


AGAIN = [  # how the whole cache is rotated, the new key before that, and which keys are stored
    (each_turned, turned_at, "as appended"), (each_turned, turned_at, "as read"),
    (each_turned, as_it_is, "as appended"), (each_turned, as_it_is, "as read"),
    # Rotated alike but stored as appended, they give the numbers of M509 or of M531.
    (all_turned_alike, turned_at, "as read"), (all_turned_alike, as_it_is, "as read"),
]  # fmt: skip

STEP_WRONG = [
    # Blaizzy/mlx-vlm/issues/1983, RobertCsordas/moeut/pull/6; position 0 is no rotation at all
    Wrong("M509", changed(decode_step, place=lambda keys: 0)),
    # fla-org/flash-linear-attention/issues/766
    Wrong("M505", changed(decode_step, place=lambda keys: len(keys) + 1)),
    Wrong("M505", changed(decode_step, place=lambda keys: len(keys) - 1)),
    Wrong("M531", changed(decode_step, turns=(turned_at, as_it_is))),
    Wrong("M531", changed(decode_step, turns=(as_it_is, turned_at))),
    # mistralai/mistral-inference/issues/147
    Wrong("M532", changed(decode_step, value_turn=turned_at)),
    Wrong("M532", lambda x, query, *rest: decode_step(
        x, query, *rest, value_turn=lambda v, at, base: rotate(
            v, rotary_angles(np.arange(at, at + 1), len(query), base)))),
    Wrong("M533", changed(decode_step, stored="unrotated")),  # EleutherAI/gpt-neox/pull/363
    # NeuraLegion/shainet/pull/110
    *(Wrong("M534", changed(decode_step, turns=(turned_at, key_turn), stored=stored, read=read))
      for read, key_turn, stored in AGAIN),
    *(Wrong(number, changed(decode_step, turns=(turned_by(**changes),) * 2))
      for number, changes in PAIRS_WRONG),
    Wrong("M498", base_10000(decode_step, 6)),
    Wrong("M262", changed(decode_step, past=False)),
    Wrong("M307", changed(decode_step, front=True)),
    Wrong("M327", changed(decode_step, carry=False)),
    Wrong("M01", lambda x, query, *rest: decode_step(x, query, *rest, scale=len(query) ** 0.5)),
    Wrong("M670", lambda x, query, key, value, *rest: decode_step(
        x, query, key, value, *rest, scale=(len(query) / len(value)) ** 0.5)),
]  # fmt: skip


# 18.7 ---------------------------------------------------------------------------------------


def eps_5(x, gain):
    return rms_norm(x, gain, 1e-5)


def llama_block(x, layer, heads, kv_heads, base, *, norm=eps_5, feed=swiglu, frame=pre_norm,
                turn_query=turned_at, turn_key=turned_at, turn_value=as_it_is, share=repeat_kv,
                mask=masks.causal, scale=None, join=merge_heads, project=True,
                whole=False):  # fmt: skip
    """One block with its parts exchangeable; with `whole`, rotated before the heads are split."""

    def per_head(x, count, how):
        if whole:
            return split_heads(turned(x, how), count)
        return turned(split_heads(x, count), how)

    def turned(x, how):
        flat = x.reshape(-1, *x.shape[-2:])
        return np.stack([how(rows, 0, base) for rows in flat]).reshape(x.shape)

    def attention(x):
        q = per_head(x @ layer["query"].T, heads, turn_query)
        kv_keys = per_head(x @ layer["key"].T, kv_heads, turn_key)
        kv_values = per_head(x @ layer["value"].T, kv_heads, turn_value)
        repeated_keys, repeated_values = (share(part, heads) for part in (kv_keys, kv_values))
        allowed = mask and mask(x.shape[-2])
        output = join(attend(q, repeated_keys, repeated_values, allowed, scale=scale).output)
        return output @ layer["out"].T if project else output

    def feed_forward(x):
        return feed(x, layer["gate"], layer["up"], layer["down"])

    gains = "attention_norm", "feed_forward_norm"
    norms = [lambda x, gain=layer[name]: norm(x, gain) for name in gains]
    return frame(x, attention, feed_forward, *norms)


def block_cases(rng):
    def draw(*leading, n, d_k, heads, kv_heads, d_ff, base):
        d_model, d_kv = d_k * heads, d_k * kv_heads
        shapes = {"query": (d_model, d_model), "key": (d_kv, d_model), "value": (d_kv, d_model),
                  "out": (d_model, d_model), "gate": (d_ff, d_model), "up": (d_ff, d_model),
                  "down": (d_model, d_ff)}  # fmt: skip
        layer = {name: rng.normal(size=shape) / np.sqrt(shape[1]) for name, shape in shapes.items()}
        for name in ("attention_norm", "feed_forward_norm"):
            layer[name] = rng.normal(1, 0.4, size=d_model)
        x = rng.normal(0.4, 1, size=(*leading, n, d_model))
        about = f"x of shape {x.shape}, {heads} query heads, {kv_heads} KV heads, d_k = {d_k}"
        return Case((x, layer, heads, kv_heads, base), about=f"{about}, base = {base:,}")

    return [draw(n=3, d_k=4, heads=4, kv_heads=2, d_ff=7, base=100),
            draw(2, n=5, d_k=6, heads=6, kv_heads=3, d_ff=11, base=100_000)]  # fmt: skip


def transposed(*names):
    def answer(x, layer, *rest):
        return llama_block(x, {**layer, **{name: layer[name].T for name in names}}, *rest)

    return answer


def layer_norm(x, gain):
    return rms_norm(x, gain, 1e-5, centre=True)


def joined_by_view(x):
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


def scaled_by_the_model(x, *rest):
    return llama_block(x, *rest, scale=x.shape[-1] ** -0.5)


def turned_by_the_model(x, *rest):
    """Angles made for d_model, of which each head takes the first."""

    def how(rows, position, base):
        angles = rotary_angles(position + np.arange(len(rows)), x.shape[-1], base)
        return rotate(rows, angles[:, : rows.shape[-1] // 2])

    return llama_block(x, *rest, turn_query=how, turn_key=how)


def both_turned(how):
    return changed(llama_block, turn_query=how, turn_key=how)


BLOCK_WRONG = [
    *(Wrong(number, changed(llama_block, frame=frame)) for number, frame in FRAMES),
    Wrong("M486", changed(llama_block, norm=layer_norm)),
    Wrong("M492", changed(llama_block, norm=lambda x, gain: eps_5(x, 1.0))),
    Wrong("M493", changed(llama_block, norm=lambda x, gain: eps_5(x, 1 + gain))),
    Wrong("M494", changed(llama_block, norm=lambda x, gain: rms_norm(
        x, gain, 1e-5, total=np.sum))),
    *(Wrong("M489", changed(llama_block, norm=lambda x, gain, eps=eps: rms_norm(x, gain, eps)))
      for eps in (0, 1e-6, 1e-8, 1e-12)),
    *(Wrong(number, both_turned(turned_by(**changes))) for number, changes in SCORES_WRONG),
    Wrong("M1400", turned_by_the_model),
    Wrong("M498", base_10000(llama_block, 4)),
    Wrong("M531", changed(llama_block, turn_key=as_it_is)),
    Wrong("M531", changed(llama_block, turn_query=as_it_is)),
    Wrong("M532", changed(llama_block, turn_value=turned_at)),
    Wrong("M535", both_turned(as_it_is)),
    Wrong("M536", changed(llama_block, whole=True)),  # lucidrains/rotary-embedding-torch/issues/4
    Wrong("M324", changed(llama_block, share=by_index(in_turn))),
    Wrong("M324+M532", changed(llama_block, share=by_index(in_turn), turn_value=turned_at)),
    Wrong("M325", changed(llama_block, share=by_index(lambda i, heads, kv_heads: 0))),
    Wrong("M1180", changed(llama_block, share=by_index(by_their_number))),
    Wrong("M537", changed(llama_block, mask=None)),
    Wrong("M01", changed(llama_block, scale=1.0)),
    Wrong("M03", scaled_by_the_model),
    Wrong("M38", changed(llama_block, join=joined_by_view)),
    Wrong("M40", changed(llama_block, project=False)),
    *(Wrong("M538", transposed(*names)) for names in (["query"], ["out"], ["query", "out"])),
    *(Wrong(number, changed(llama_block, feed=feed)) for number, feed in FEED_WRONG),
]  # fmt: skip


# 18.8 ---------------------------------------------------------------------------------------


def to_halves(w, heads, *, order=lambda d_k: [*range(0, d_k, 2), *range(1, d_k, 2)]):
    apart = w.reshape(heads, -1, w.shape[-1])
    return apart[:, order(apart.shape[1])].reshape(w.shape)


def reorder_cases(rng):
    def draw(heads, d_k, d_model):
        w = rng.normal(size=(heads * d_k, d_model)).round(1)
        named = "1 head" if heads == 1 else f"{heads} heads"
        return Case((w, heads), about=f"{named}, d_k = {d_k}, d_model = {d_model}")

    return [draw(2, 4, 4), draw(1, 6, 6), draw(3, 6, 18), draw(2, 10, 20), draw(3, 6, 36)]


def opposite(d_k):
    return np.argsort([*range(0, d_k, 2), *range(1, d_k, 2)])


def odd_first(d_k):
    return [*range(1, d_k, 2), *range(0, d_k, 2)]


def columns(w, heads):
    d_k = len(w) // heads
    return to_halves(w.T, w.shape[1] // d_k).T


def heads_last(w, heads):
    """The heads taken as the last axis of the rows: head i gets every row number i modulo heads."""
    apart = w.reshape(-1, heads, w.shape[-1])
    order = [*range(0, len(apart), 2), *range(1, len(apart), 2)]
    return apart[order].reshape(w.shape)


def same_scores(answer, case):
    """Neighbours with the old rows, halves with the new ones, and the same matrix for the keys."""
    w, heads = case.args
    x = np.random.default_rng(18).normal(size=(3, w.shape[1]))
    angles = rotary_angles(np.arange(3), w.shape[0] // heads, 100.0)

    def scores(w, **convention):
        q = rotate(split_heads(x @ np.asarray(w).T, heads), angles, **convention)
        return q @ np.swapaxes(q, -1, -2)

    before = scores(w, apart=neighbours, join=from_neighbours)
    return bool(np.allclose(scores(answer(w, heads)), before, atol=1e-3)) or (
        "with the new rows, rotated in halves, the scores are not those of the old rows, "
        "rotated as neighbours"
    )


def in_blocks_of_heads(w, heads):
    blocks = [w[start : start + heads] for start in range(0, len(w), heads)]
    return np.vstack([part for block in blocks for part in (block[::2], block[1::2])])


REORDER_WRONG = [
    Wrong("M539", changed(to_halves, order=opposite)),  # InternLM/lmdeploy/issues/2639
    Wrong("M540", lambda w, heads: to_halves(w, 1)),
    Wrong("M540", heads_last),
    Wrong("M1153", in_blocks_of_heads),
    Wrong("M541", columns),
    Wrong("M541", lambda w, heads: to_halves(w.T, 1).T),
    Wrong("M542", changed(to_halves, order=odd_first)),
    # jzhang38/TinyLlama/issues/24, nurl-lang/nurl/pull/584
    Wrong("M543", changed(to_halves, order=lambda d_k: list(range(d_k)))),
    Wrong("M543", changed(to_halves, order=lambda d_k: list(range(d_k))[::-1])),
]


# 18.9 ---------------------------------------------------------------------------------------


def count(vocab, d_model, heads, kv_heads, layers, d_ff, bytes_each, *, tables=1, kv=None,
          query=1, out=1, wide=3, biases=0, norms=2, last=1, stored=2, kept=None,
          deep=None):  # fmt: skip
    """The parameters of a Llama and the bytes that one token adds to its KV cache."""
    d_k = d_model // heads
    kv, kept = (kv_heads if number is None else number for number in (kv, kept))
    attention = (query + out) * d_model**2 + 2 * kv * d_k * d_model
    # GPT-2 would have a bias for each of the seven outputs of the linear layers.
    small = norms * d_model + biases * (3 * d_model + 2 * kv * d_k + 2 * d_ff)
    layer = attention + wide * d_model * d_ff + small
    parameters = (tables * vocab + last) * d_model + layers * layer
    return parameters, stored * kept * d_k * (layers if deep is None else deep) * bytes_each


def count_cases(rng):
    del rng  # sizes have no random part
    sizes = [(7, 12, 6, 3, 2, 11, 4), (49_152, 576, 9, 3, 30, 1_536, 2),
             (1_000, 320, 10, 5, 6, 700, 1)]  # fmt: skip
    words = "vocabulary {:,}, d_model = {}, {} query heads, {} KV heads, {} layers, d_ff = {:,}"
    return [Case(size, about=f"{words}, {{}} bytes".format(*size)) for size in sizes]


def drawn_count_cases(rng):
    cases = []
    for bytes_each in (1, 2, 4, 2):
        kv_heads, each, half, layers = rng.integers(2, 7, size=4).tolist()
        heads = kv_heads * each
        vocab, d_ff = rng.integers((50, 200), (9_000, 2_000)).tolist()
        size = vocab, 2 * half * heads, heads, kv_heads, layers, d_ff, bytes_each
        cases.append(Case(size, about=f"{heads} query heads, {kv_heads} KV heads"))
    return cases


def counted(**factors):
    return lambda *sizes: count(*sizes, **factors)


def by_query_heads(*names):
    """The number of query heads in the place of the number of KV heads."""
    return lambda *sizes: count(*sizes, **dict.fromkeys(names, sizes[2]))


COUNT_WRONG = [
    Wrong("M544", counted(tables=2)),
    Wrong("M545", by_query_heads("kv")),
    Wrong("M545", by_query_heads("kv", "kept")),
    Wrong("M296", by_query_heads("kept")),
    Wrong("M546", counted(wide=2)),
    Wrong("M544+M545", lambda *sizes: count(*sizes, tables=2, kv=sizes[2])),
    Wrong("M544+M545", lambda *sizes: count(*sizes, tables=2, kv=sizes[2], kept=sizes[2])),
    Wrong("M545+M546", lambda *sizes: count(*sizes, kv=sizes[2], kept=sizes[2], wide=2)),
    Wrong("M292", lambda vocab, d_model, heads, kv_heads, layers, d_ff, bytes_each: count(
        vocab, d_model, heads, kv_heads, layers, 4 * d_model, bytes_each)),
    Wrong("M547", counted(biases=1)),
    *(Wrong(number, counted(norms=norms, last=last, wide=wide))
      for number, wide in (("M548", 3), ("M546+M548", 2))
      for norms, last in ((0, 0), (0, 1), (2, 0), (1, 1), (1, 0), (4, 2), (4, 1))),
    Wrong("M549", counted(out=0)),
    Wrong("M295", counted(stored=1)),
    Wrong("M297", counted(deep=1)),
    Wrong("M341", lambda *sizes: count(*sizes[:-1], 1)),
]  # fmt: skip


EXERCISE = Exercise(
    chapter="18",
    title="From GPT-2 to the model on your laptop",
    tasks=[
        Task(
            id="18.1", name="rms_norm", title="Repair RMSNorm", difficulty=2, importance=5,
            minutes=10, reference=rms_norm, cases=norm_cases, wrong=NORM_WRONG,
            read=f"{PAGE}#rmsnorm",
            laws=[Law("M497", "half precision does not overflow", holds_in_half_precision,
                      own_numbers=True)],
        ),
        Task(
            id="18.2", name="base_for", title="A base for a longer text", difficulty=3,
            importance=3, minutes=12, reference=base_for, cases=base_cases,
            graded_cases=drawn_base_cases,
            wrong=BASE_WRONG, read=ROTARY,
        ),
        Task(
            id="18.3", name="rotate_neighbours", title="Rotate neighbours", difficulty=3,
            importance=4, minutes=12, reference=rotate_neighbours, cases=rotate_cases,
            wrong=NEIGHBOURS_WRONG, read=CONVENTIONS,
            laws=[Law(None, "moved along together, query and key keep their score",
                      score_depends_on_the_distance)],
        ),
        Task(
            id="18.4", name="swiglu", title="SwiGLU in one product", difficulty=2, importance=4,
            minutes=8, reference=joined(swiglu), cases=swiglu_cases, read=f"{PAGE}#swiglu",
            wrong=[*(Wrong(number, joined(answer)) for number, answer in FEED_WRONG),
                   Wrong("M815", dealt_rows), Wrong("M816", cut_by_tokens),
                   Wrong("M561", as_input_output)],
        ),
        Task(
            id="18.5", name="repeat_kv", title="Grouped KV heads", difficulty=2, importance=4,
            minutes=6, reference=repeat_kv, cases=repeat_cases, wrong=REPEAT_WRONG,
            read=f"{PAGE}#grouped-kv-heads",
        ),
        Task(
            id="18.6", name="decode_step", title="One step with the KV cache", difficulty=4,
            importance=5, minutes=15, reference=decode_step, cases=step_cases,
            wrong=STEP_WRONG, read=KV_CACHE,
            laws=[Law(None, "token by token gives what the whole sequence gives", one_by_one)],
        ),
        Task(
            id="18.7", name="llama_block", title="The whole block", difficulty=4, importance=5,
            minutes=20, reference=llama_block, cases=block_cases, wrong=BLOCK_WRONG,
            read=f"{PAGE}#the-whole-of-smollm2",
        ),
        Task(
            id="18.8", name="to_halves", title="From neighbours to halves", difficulty=3,
            importance=3, minutes=15, reference=to_halves, cases=reorder_cases,
            wrong=REORDER_WRONG, read=CONVENTIONS,
            laws=[Law(None, "the scores stay what they were", same_scores)],
        ),
        Task(
            id="18.9", name="count", title="Count SmolLM2", difficulty=2, importance=4,
            minutes=10, reference=count, cases=count_cases, wrong=COUNT_WRONG,
            graded_cases=drawn_count_cases,
            read=f"{PAGE}#the-whole-of-smollm2",
        ),
    ],
)  # fmt: skip
