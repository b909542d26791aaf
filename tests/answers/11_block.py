"""Right answers to exercises 11 in different styles: every one of them must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from lib import functional
from lib.attention.dot_product import attend
from lib.models.block import Block


def norm_by_loops(x, gain, bias, eps):
    if x.ndim > 1:
        return np.stack([norm_by_loops(part, gain, bias, eps) for part in x])
    mean = sum(x) / len(x)
    variance = sum((number - mean) ** 2 for number in x) / len(x)
    root = math.sqrt(variance + eps)
    return np.array([
        g * (number - mean) / root + b for number, g, b in zip(x, gain, bias, strict=True)
    ])  # fmt: skip


def norm_by_std(x, gain, bias, eps):
    deviation = np.std(x, axis=-1, keepdims=True)
    return gain * (x - np.mean(x, axis=-1, keepdims=True)) / np.hypot(deviation, eps**0.5) + bias


def norm_by_squares(x, gain, bias, eps):
    """Variance as mean square minus squared mean: less exact where the mean is large."""
    mean = x.mean(-1)[..., None]
    variance = (x * x).mean(-1)[..., None] - mean**2
    return (x - mean) * (variance + eps) ** -0.5 * gain + bias


def norm_by_projection(x, gain, bias, eps):
    """Subtracting the mean as a matrix product with the identity minus 1 / d_model."""
    d_model = x.shape[-1]
    centred = x @ (np.eye(d_model) - 1 / d_model)
    length = np.sqrt(np.einsum("...d,...d->...", centred, centred) / d_model + eps)
    return centred / length[..., None] * gain + bias


def norm_in_torch(x, gain, bias, eps):
    variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    return torch.rsqrt(variance + eps) * (x - mean) * gain + bias


def gelu_by_loop(x):
    out = np.empty_like(x)
    for place, number in np.ndenumerate(x):
        inner = math.sqrt(2 / math.pi) * (number + 0.044715 * number**3)
        out[place] = 0.5 * number * (1 + math.tanh(inner))
    return out


def gelu_by_logistic(x):
    """(1 + tanh u) / 2 is the logistic function of 2u: one exponential, no tanh."""
    return x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_by_powers(x):
    """x is a factor of the cubic, so a square replaces the third power."""
    return x / 2 + x / 2 * np.tanh(0.7978845608028654 * x * (1 + 0.044715 * np.square(x)))


def one_by_multiplying_out(w_1, b_1, w_2, b_2):
    return w_1 @ w_2, b_1 @ w_2 + b_2


def one_by_trying(w_1, b_1, w_2, b_2):
    """Ask the two layers: the bias is what 0 gives, and row i of w what unit vector i adds."""

    def both(x):
        return (x @ w_1 + b_1) @ w_2 + b_2

    at_zero = both(0 * w_1[:, 0])
    return both(np.eye(len(w_1))) - at_zero, at_zero


def one_with_a_column_for_the_bias(w_1, b_1, w_2, b_2):
    """Append a component that is always 1: then each layer is a single matrix."""

    def with_bias(w, b):
        corner = np.zeros((len(w) + 1, 1))
        corner[-1] = 1
        return np.hstack([np.vstack([w, b]), corner])

    product = with_bias(w_1, b_1) @ with_bias(w_2, b_2)
    return product[:-1, :-1], product[-1, :-1]


def one_by_einsum(w_1, b_1, w_2, b_2):
    return np.einsum("ih,ho->io", w_1, w_2), np.einsum("h,ho->o", b_1, w_2) + b_2


def one_by_loops(w_1, b_1, w_2, b_2):
    inner, outer = range(len(b_1)), range(len(b_2))
    w = [[sum(row[h] * w_2[h, o] for h in inner) for o in outer] for row in w_1]
    b = [b_2[o] + sum(b_1[h] * w_2[h, o] for h in inner) for o in outer]
    return np.array(w), np.array(b)


def larger_by_what_is_missing():
    """b, plus what a has more than b."""
    return np.array([[1, 0, 0], [-1, 1, -1]]), np.zeros(3), np.array([[1], [1], [-1]]), np.zeros(1)


def larger_by_half_the_distance():
    """Half of the sum and half of the distance: (a + b) / 2 + |a - b| / 2."""
    w_1 = np.array([[1, -1, 1, -1], [1, -1, -1, 1]])
    return w_1, np.zeros(4), np.array([[1], [-1], [1], [1]]) / 2, np.zeros(1)


def larger_by_torch():
    w_1 = torch.tensor([[-1.0, 1.0, -1.0], [1.0, 0.0, 0.0]])
    return w_1, torch.zeros(3), torch.tensor([[1.0], [1.0], [-1.0]]), torch.zeros(1)


def larger_as_lists():
    return [[1, 0, 0], [-1, 1, -1]], [0, 0, 0], [[1], [1], [-1]], [0]


def larger_with_idle_components():
    """More hidden components than needed: those with weight 0 change nothing."""
    w_1 = np.array([[0.5, 0, 0, 3], [-0.5, 2, -2, 5]])
    return w_1, np.array([0.0, 0, 0, 7]), np.array([[2], [0.5], [-0.5], [0]]), np.zeros(1)


def order_in_steps(x, attention, feed_forward, norm_1, norm_2):
    normed = norm_1(x)
    stream = attention(normed)
    stream = stream + x
    return stream + feed_forward(norm_2(stream))


def order_in_one_line(x, attention, feed_forward, norm_1, norm_2):
    return (y := x + attention(norm_1(x))) + feed_forward(norm_2(y))


def order_by_loop(x, attention, feed_forward, norm_1, norm_2):
    """One loop for both sublayers: each reads a normalised copy and adds its change."""
    for sublayer, norm in ((attention, norm_1), (feed_forward, norm_2)):
        x = x + sublayer(norm(x))
    return x


def order_in_a_copy(x, attention, feed_forward, norm_1, norm_2):
    stream = x.copy()
    stream += attention(norm_1(stream))
    stream += feed_forward(norm_2(stream))
    return stream


def order_by_changes(x, attention, feed_forward, norm_1, norm_2):
    """Both changes get a name, and the output is x plus their sum."""
    first = attention(norm_1(x))
    second = feed_forward(norm_2(x + first))
    return x + first + second


def drop_by_loop(x, keep, rate, training):
    if not training:
        return x
    out = np.zeros_like(x)
    for place, kept in np.ndenumerate(keep):
        if kept:
            out[place] = x[place] / (1 - rate)
    return out


def drop_by_index(x, keep, rate, training):
    """Boolean indices set dropped numbers to 0 and scale the kept ones, in a copy."""
    out = x.copy()
    if training:
        out[~keep] = 0
        out[keep] /= 1 - rate
    return out


def drop_in_torch(x, keep, rate, training):
    return x.masked_fill(~keep, 0) / (1 - rate) if training else x.clone()


def layer_of_pytorch(x, p, heads):
    """PyTorch's own layer: only the names of the parameters have to be matched."""
    layer = torch.nn.TransformerEncoderLayer(
        x.shape[-1], heads, len(p["linear1_bias"]), dropout=0.0, activation="gelu",
        batch_first=True, norm_first=True, dtype=x.dtype,
    )  # fmt: skip
    names = {name: name.replace("self_attn.", "").replace("out_proj.", "out_proj_")
             .replace(".", "_") for name in layer.state_dict()}  # fmt: skip
    layer.load_state_dict({theirs: p[ours] for theirs, ours in names.items()})
    with torch.no_grad():
        return layer.eval()(x)


def layer_of_the_course(x, p, heads):
    block = Block(x.shape[-1], heads, len(p["linear1_bias"]), tanh=False).to(x.dtype)
    parts = {}
    for kind in ("weight", "bias"):
        thirds = p[f"in_proj_{kind}"].chunk(3)
        for name, part in zip(("query", "key", "value"), thirds, strict=True):
            parts[f"attention.{name}.{kind}"] = part
        parts[f"attention.out.{kind}"] = p[f"out_proj_{kind}"]
        parts[f"feed_forward.up.{kind}"] = p[f"linear1_{kind}"]
        parts[f"feed_forward.down.{kind}"] = p[f"linear2_{kind}"]
        for i, name in ((1, "attention_norm"), (2, "feed_forward_norm")):
            parts[f"{name}.{kind.replace('weight', 'gain')}"] = p[f"norm{i}_{kind}"]
    block.load_state_dict(parts)
    with torch.no_grad():
        return block(x).output


def layer_with_functions(x, p, heads):
    def norm(x, i):
        return F.layer_norm(x, x.shape[-1:], p[f"norm{i}_weight"], p[f"norm{i}_bias"])

    joint = F.linear(norm(x, 1), p["in_proj_weight"], p["in_proj_bias"]).chunk(3, dim=-1)
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(-2, -3) for part in joint)
    attended = F.scaled_dot_product_attention(q, k, v).transpose(-2, -3).flatten(-2)
    x = x + F.linear(attended, p["out_proj_weight"], p["out_proj_bias"])
    inner = F.gelu(F.linear(norm(x, 2), p["linear1_weight"], p["linear1_bias"]))
    return x + F.linear(inner, p["linear2_weight"], p["linear2_bias"])


def layer_head_by_head(x, p, heads):
    """Head by head: each head adds its change through its columns of the output weight."""
    d_model = x.shape[-1]
    d_k = d_model // heads
    normed = norm_by_squares(x, p["norm1_weight"], p["norm1_bias"], 1e-5)
    joint = normed @ p["in_proj_weight"].T + p["in_proj_bias"]
    x = x + p["out_proj_bias"]
    for head in range(heads):
        at = [slice(i * d_model + head * d_k, i * d_model + (head + 1) * d_k) for i in range(3)]
        attended = attend(*(joint[..., part] for part in at)).output
        x = x + attended @ p["out_proj_weight"][:, at[0]].T
    normed = norm_by_squares(x, p["norm2_weight"], p["norm2_bias"], 1e-5)
    inner = functional.gelu(normed @ p["linear1_weight"].T + p["linear1_bias"], tanh=False)
    return x + inner @ p["linear2_weight"].T + p["linear2_bias"]


def layer_by_einsum(x, p, heads):
    """With einsum, the heads as an axis, and `math.erf` for the exact GELU."""

    def linear(x, name):
        return np.einsum("...i,oi->...o", x, p[f"{name}_weight"]) + p[f"{name}_bias"]

    def norm(x, i):
        return norm_by_std(x, p[f"norm{i}_weight"], p[f"norm{i}_bias"], 1e-5)

    q, k, v = (
        part.reshape(*x.shape[:-1], heads, -1)
        for part in np.split(linear(norm(x, 1), "in_proj"), 3, axis=-1)
    )
    scores = np.exp(np.einsum("...qhd,...khd->...hqk", q, k) / np.sqrt(q.shape[-1]))
    weights = scores / scores.sum(-1, keepdims=True)
    attended = np.einsum("...hqk,...khd->...qhd", weights, v).reshape(x.shape)
    x = x + linear(attended, "out_proj")
    inner = linear(norm(x, 2), "linear1")
    normal = np.array([math.erf(number / 2**0.5) for number in inner.ravel()])
    return x + linear(inner * (1 + normal.reshape(inner.shape)) / 2, "linear2")


def grow_by_loop(start, added, blocks, scaled):
    """By a loop over all sublayers: the variances of independent changes add up."""
    variance = start
    for _ in range(blocks):
        for _ in ("attention", "feed-forward"):
            variance += added / (2 * blocks) if scaled else added
    return variance


def grow_by_factor(start, added, blocks, scaled):
    """The factor on the weights enters the variance squared."""
    factor = 1 / np.sqrt(2 * blocks) if scaled else 1.0
    return start + 2 * blocks * factor**2 * added


def drop_by_a_power(x, keep, rate, training):
    """`training` is an exponent: outside training the factor to the power 0 is 1."""
    return x * (keep / (1 - rate)) ** training


RIGHT = {
    "11.1": [
        norm_by_loops,
        norm_by_std,
        norm_by_squares,
        norm_by_projection,
        norm_in_torch,
        lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], gain, bias, eps),
    ],
    "11.2": [
        one_by_multiplying_out,
        one_by_trying,
        one_with_a_column_for_the_bias,
        one_by_einsum,
        one_by_loops,
    ],
    "11.3": [
        larger_by_what_is_missing,
        larger_by_half_the_distance,
        larger_by_torch,
        larger_as_lists,
        larger_with_idle_components,
    ],
    "11.4": [
        order_in_steps, order_in_one_line, order_by_loop, order_in_a_copy, order_by_changes,
    ],
    "11.5": [
        drop_by_loop,
        drop_by_index,
        drop_in_torch,
        lambda x, keep, rate, training: np.where(keep, x / (1 - rate), 0) if training else x,
        drop_by_a_power,
        lambda x, keep, rate, training: (keep * x) / (1 - rate) if training else 1 * x,
    ],
    "11.6": [
        layer_of_pytorch,
        layer_of_the_course,
        layer_with_functions,
        layer_head_by_head,
        layer_by_einsum,
    ],
    "11.7": [
        gelu_by_loop,
        gelu_by_logistic,
        gelu_by_powers,
        lambda x: F.gelu(x, approximate="tanh"),
        torch.nn.GELU("tanh"),
        lambda x: 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))),
    ],
    "11.8": [
        grow_by_loop,
        grow_by_factor,
        lambda start, added, blocks, scaled: start + added * (1 if scaled else 2 * blocks),
        lambda start, added, blocks, scaled: start + (added if scaled else 2 * blocks * added),
        lambda start, added, blocks, scaled: np.sum(
            [start, *[added / (2 * blocks) ** scaled] * (2 * blocks)]
        ),
    ],
}  # fmt: skip
