"""Right answers to exercises 12 in different styles: every one of them must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.fused import fused
from lib.attention.kv_cache import KeyValueCache
from lib.functional import layer_norm, log_softmax, softmax
from lib.models.gpt2 import next_token_loss


def embed_by_loops(ids, words, positions, start):
    """Token by token: one row of each table; recursion handles the batch."""
    if ids.ndim > 1:
        return np.stack([embed_by_loops(sequence, words, positions, start) for sequence in ids])
    return np.array([words[token] + positions[start + i] for i, token in enumerate(ids)])


def embed_by_one_hot(ids, words, positions, start):
    """Both lookups as matrix products with one-hot rows."""
    at = np.arange(start, start + ids.shape[-1])
    return np.eye(len(words))[ids] @ words + np.eye(len(positions))[at] @ positions


def embed_in_torch(ids, words, positions, start):
    at = torch.arange(ids.shape[-1]) + start
    return F.embedding(ids, words) + F.embedding(at, positions)


def embed_by_take(ids, words, positions, start):
    at = np.broadcast_to(start + np.arange(ids.shape[-1]), ids.shape)
    return np.take(words, ids, axis=0) + np.take(positions, at, axis=0)


def unembed_by_hand(x, gain, bias, words):
    """The layer norm written out: centre, divide, scale, shift."""
    centred = x - x.mean(-1, keepdims=True)
    normal = centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return (normal * gain + bias) @ words.T


def unembed_in_torch(x, gain, bias, words):
    return F.linear(F.layer_norm(x, gain.shape, gain, bias), words)


def unembed_by_loops(x, gain, bias, words):
    if x.ndim > 2:
        return np.stack([unembed_by_loops(sequence, gain, bias, words) for sequence in x])
    normal = layer_norm(x, gain, bias)
    return np.array([[vector @ row for row in words] for vector in normal])


def tie_a_class(words):
    """A linear layer of our own that takes its sizes and its matrix from the embedding."""

    class Head(nn.Linear):
        def __init__(self, words):
            super().__init__(words.embedding_dim, words.num_embeddings, bias=False)
            self.weight = words.weight

        def forward(self, x):
            return x @ self.weight.T

    return Head(words)


def tie_by_turning(words):
    """The sizes of the matrix that is replaced do not matter."""
    head = nn.Linear(words.num_embeddings, words.embedding_dim, bias=False)
    head.weight = words.weight
    return head


def tie_by_assignment(words):
    head = nn.Linear(*words.weight.shape[::-1], bias=False)
    head.weight = words.weight
    return head


def tie_on_the_meta_device(words):
    """The meta device allocates no weight for a layer that is tied at once."""
    head = nn.Linear(words.embedding_dim, words.num_embeddings, bias=False, device="meta")
    head.weight = words.weight
    return head


def tie_by_registering(words):
    head = nn.Linear(1, 1, bias=False)
    head.register_parameter("weight", words.weight)
    return head


def layer_by_hand(layer):
    ours = {}
    d_model = len(layer["attn.c_proj.bias"])
    for i, name in enumerate(("query", "key", "value")):
        part = slice(i * d_model, (i + 1) * d_model)
        ours[f"{name}.weight"] = layer["attn.c_attn.weight"][:, part].T
        ours[f"{name}.bias"] = layer["attn.c_attn.bias"][part]
    for name, theirs in (
        ("out", "attn.c_proj"), ("up", "mlp.c_fc"), ("down", "mlp.c_proj"),
    ):  # fmt: skip
        ours[f"{name}.weight"] = layer[f"{theirs}.weight"].T
        ours[f"{name}.bias"] = layer[f"{theirs}.bias"]
    return ours


def layer_in_torch(layer):
    turned = {name: tensor.mT if tensor.ndim == 2 else tensor for name, tensor in layer.items()}
    ours = {}
    for kind in ("weight", "bias"):
        for i, part in enumerate(turned[f"attn.c_attn.{kind}"].chunk(3)):
            ours[f"{('query', 'key', 'value')[i]}.{kind}"] = part
        ours[f"out.{kind}"] = turned[f"attn.c_proj.{kind}"].contiguous()
        ours[f"up.{kind}"] = turned[f"mlp.c_fc.{kind}"]
        ours[f"down.{kind}"] = turned[f"mlp.c_proj.{kind}"]
    return ours


def layer_turned_first(layer):
    """Transpose first, then `np.vsplit` cuts the rows of query, key and value."""
    q, k, v = np.vsplit(layer["attn.c_attn.weight"].T, 3)
    q_bias, k_bias, v_bias = layer["attn.c_attn.bias"].reshape(3, -1)
    return {
        "query.weight": q, "key.weight": k, "value.weight": v,
        "query.bias": q_bias, "key.bias": k_bias, "value.bias": v_bias,
        "out.weight": layer["attn.c_proj.weight"].T, "out.bias": layer["attn.c_proj.bias"],
        "up.weight": layer["mlp.c_fc.weight"].T, "up.bias": layer["mlp.c_fc.bias"],
        "down.weight": layer["mlp.c_proj.weight"].T, "down.bias": layer["mlp.c_proj.bias"],
    }  # fmt: skip


def layer_by_axes(layer):
    w = layer["attn.c_attn.weight"]
    three = np.moveaxis(w.reshape(len(w), 3, -1), 0, -1)
    ours = {f"{name}.weight": three[i] for i, name in enumerate(("query", "key", "value"))}
    biases = np.array_split(layer["attn.c_attn.bias"], 3)
    ours |= {f"{n}.bias": b for n, b in zip(("query", "key", "value"), biases, strict=True)}
    rest = {"out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}
    ours |= {f"{n}.weight": np.transpose(layer[f"{t}.weight"]) for n, t in rest.items()}
    return ours | {f"{n}.bias": layer[f"{t}.bias"] for n, t in rest.items()}


def layer_by_multiplying(layer):
    """A layer shows its matrix when the identity passes through it; einsum transposes."""
    parts = dict(zip(("query", "key", "value"), np.hsplit(layer["attn.c_attn.weight"], 3),
                     strict=True))  # fmt: skip
    parts |= {"out": layer["attn.c_proj.weight"], "up": layer["mlp.c_fc.weight"],
              "down": layer["mlp.c_proj.weight"]}  # fmt: skip
    weights = {f"{n}.weight": np.einsum("io->oi", np.eye(len(w)) @ w) for n, w in parts.items()}
    q, k, v = np.split(layer["attn.c_attn.bias"], 3)
    return weights | {"query.bias": q, "key.bias": k, "value.bias": v} | {
        "out.bias": layer["attn.c_proj.bias"], "up.bias": layer["mlp.c_fc.bias"],
        "down.bias": layer["mlp.c_proj.bias"]}  # fmt: skip


def shift_by_one_row(loss, vocab):
    """One row alone is sure; the loss falls below that of equal logits for the right token only."""
    ids, equal = np.arange(5) % vocab, np.zeros((5, vocab))
    for shift in (-1, 0, 1, 2):
        logits = equal.copy()
        logits[2, ids[2 + shift]] = 3
        if loss(logits, ids) < loss(equal, ids):
            return shift


def shift_by_exclusion(loss, vocab):
    """The right token is made impossible, and the loss becomes the largest."""
    ids = np.arange(5)

    def without(shift):
        logits = np.zeros((5, vocab))
        logits[2, 2 + shift] = -9
        return loss(logits, ids)

    return max((-1, 0, 1, 2), key=without)


def shift_by_reading_off(loss, vocab):
    """Four logits of one row are 1, 2, 3 and 4, so a single difference of losses tells."""
    ids, row = np.arange(5), np.zeros((5, vocab))
    row[2, 1:5] = 1, 2, 3, 4
    total = np.log(np.exp(row[2]).sum()) - np.log(vocab)  # what the row adds for every label
    for shift, logit in zip((-1, 0, 1, 2), (1, 2, 3, 4), strict=True):
        compared = 5 - abs(shift)
        if math.isclose(loss(row, ids) - np.log(vocab), (total - logit) / compared):
            return shift


def shift_by_loops(loss, vocab):
    # Position by position: a row is sure of the token that the shift promises it.
    text = list(range(4))
    best = None
    for shift in (2, 1, 0, -1):
        logits = [[0.0] * vocab for _ in text]
        for i in text:
            if 0 <= i + shift < len(text):
                logits[i][text[i + shift]] = 20.0
        value = loss(logits, text)
        if best is None or value < best[0]:
            best = (value, shift)
    return best[1]


def shift_in_torch(loss, vocab):
    ids = torch.arange(vocab)
    losses = {shift: loss(8 * F.one_hot(ids.roll(-shift), vocab).double(), ids)
              for shift in range(-1, 3)}  # fmt: skip
    return min(losses, key=losses.get)


def loss_by_loops(logits, ids):
    total, count = 0.0, 0
    for row, tokens in zip(logits, ids, strict=True):
        for i in range(len(tokens) - 1):
            highest = max(row[i])
            normaliser = highest + math.log(sum(math.exp(s - highest) for s in row[i]))
            total += normaliser - row[i][tokens[i + 1]]
            count += 1
    return total / count


def loss_in_torch(logits, ids):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:]).item()


def loss_of_each_sentence(logits, ids):
    """A mean of means, which is right because all sentences have the same length."""
    return np.mean([-log_softmax(row)[np.arange(len(tokens) - 1), tokens[1:]].mean()
                    for row, tokens in zip(logits, ids, strict=True)])  # fmt: skip


def loss_by_one_hot(logits, ids):
    """One-hot targets: the product keeps the log-probability of each next token."""
    targets = np.eye(logits.shape[-1])[ids[:, 1:]]
    return -(targets * np.log(softmax(logits[:, :-1]))).sum(-1).mean()


def nucleus_by_loops(logits, p):
    if logits.ndim > 1:
        return np.stack([nucleus_by_loops(row, p) for row in logits])
    weights = softmax(logits)
    left = np.zeros_like(weights)
    total = 0.0
    for token in sorted(range(len(weights)), key=lambda i: -weights[i]):
        if total >= p:
            break
        left[token] = weights[token]
        total += weights[token]
    return left / total


def nucleus_in_torch(logits, p):
    weights, order = logits.softmax(-1).sort(descending=True)
    kept = weights.cumsum(-1) - weights < p
    left = torch.zeros_like(weights).scatter(-1, order, weights * kept)
    return left / left.sum(-1, keepdim=True)


def nucleus_put_back(logits, p):
    weights = softmax(logits)
    order = np.argsort(-weights, axis=-1)
    falling = np.take_along_axis(weights, order, axis=-1)
    kept = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(kept, order, falling.cumsum(axis=-1) - falling < p, axis=-1)
    return weights * kept / (weights * kept).sum(axis=-1, keepdims=True)


def nucleus_by_bar(logits, p):
    """The smallest kept weight becomes a threshold, so nothing is put back in order."""
    weights = softmax(logits)
    falling = np.sort(weights, axis=-1)[..., ::-1]
    before = np.cumsum(falling, axis=-1) - falling
    smallest = np.where(before < p, falling, np.inf).min(-1, keepdims=True)
    left = weights * (weights >= smallest)
    return left / left.sum(-1, keepdims=True)


def nucleus_by_masked_logits(logits, p):
    order = np.argsort(logits, axis=-1)  # rising
    rising = np.take_along_axis(softmax(logits), order, axis=-1)
    dropped = np.cumsum(rising, axis=-1) <= 1 - p
    hidden = np.zeros(logits.shape, dtype=bool)
    np.put_along_axis(hidden, order, dropped, axis=-1)
    return softmax(np.where(hidden, -np.inf, logits))


def nucleus_by_pairs(logits, p):
    """Compare every weight with every other: no sorting at all."""
    weights = softmax(logits)
    larger = weights[..., None, :] > weights[..., :, None]
    before = (larger * weights[..., None, :]).sum(-1)
    left = np.where(before < p, weights, 0)
    return left / left.sum(-1, keepdims=True)


def step_by_loops(q, k, v, keys, values):
    """Token by token: a query reads before later keys are stored, so no mask is needed."""
    keys, values = list(keys), list(values)
    output = []
    for query, key, value in zip(q, k, v, strict=True):
        keys.append(key)
        values.append(value)
        weights = softmax(np.array(keys) @ query / math.sqrt(len(query)))
        output.append(weights @ np.array(values))
    return np.array(output), np.array(keys), np.array(values)


def step_in_torch(q, k, v, keys, values):
    keys, values = torch.cat([keys, k]), torch.cat([values, v])
    return fused(q, keys, values, causal=True).output, keys, values


def step_by_whole_table(q, k, v, keys, values):
    """Compute as without a cache, with any queries for old tokens; keep the new rows."""
    old = len(keys)
    all_q = np.concatenate([np.zeros((old, q.shape[1])), q])
    keys, values = np.vstack([keys, k]), np.vstack([values, v])
    whole = attend(all_q, keys, values, np.tri(len(keys), dtype=bool))
    return whole.output[old:], keys, values


def step_with_a_store(q, k, v, keys, values):
    cache = KeyValueCache(len(keys) + len(k))
    cache(torch.zeros_like(keys), keys, values)
    return cache(q, k, v).output, cache.keys, cache.values


def step_by_minus_infinity(q, k, v, keys, values):
    keys, values = np.r_[keys, k], np.r_[values, v]
    scores = q @ keys.T / np.sqrt(keys.shape[1])
    ahead = np.triu(np.ones(scores.shape), k=len(keys) - len(q) + 1)
    return softmax(np.where(ahead, -np.inf, scores)) @ values, keys, values


def unembed_with_a_folded_gain(x, gain, bias, words):
    """Gain and bias are folded into the table, because both steps are linear."""
    return np.einsum("...d,vd->...v", layer_norm(x), words * gain) + words @ bias


RIGHT = {
    "12.1": [
        lambda ids, words, positions, start: (
            words[ids] + positions[start : start + ids.shape[-1]]
        ),
        embed_by_loops,
        embed_by_one_hot,
        embed_in_torch,
        embed_by_take,
    ],
    "12.2": [
        lambda x, gain, bias, words: layer_norm(x, gain, bias) @ words.T,
        unembed_by_hand,
        unembed_in_torch,
        unembed_by_loops,
        unembed_with_a_folded_gain,
    ],
    "12.3": [
        tie_by_assignment,
        tie_on_the_meta_device,
        tie_by_registering,
        tie_a_class,
        tie_by_turning,
    ],
    "12.4": [
        layer_by_hand,
        layer_in_torch,
        layer_turned_first,
        layer_by_axes,
        layer_by_multiplying,
    ],
    "12.5": [
        shift_by_one_row,
        shift_by_exclusion,
        shift_by_reading_off,
        shift_by_loops,
        shift_in_torch,
    ],
    "12.6": [
        loss_by_loops,
        loss_in_torch,
        loss_of_each_sentence,
        loss_by_one_hot,
        lambda logits, ids: next_token_loss(logits[:, :-1], ids[:, 1:]),
    ],
    "12.7": [
        nucleus_by_loops,
        nucleus_put_back,
        nucleus_in_torch,
        nucleus_by_bar,
        nucleus_by_masked_logits,
        nucleus_by_pairs,
    ],
    "12.8": [
        step_by_loops,
        step_in_torch,
        step_by_whole_table,
        step_with_a_store,
        step_by_minus_infinity,
        lambda q, k, v, keys, values: (
            attend(q, np.vstack([keys, k]), np.vstack([values, v]),
                   masks.causal(len(q), len(keys) + len(k))).output,
            np.vstack([keys, k]), np.vstack([values, v]),
        ),
    ],
}  # fmt: skip
