"""Right answers to exercises 8 in different styles: every one of them must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from lib import functional
from lib.attention.dot_product import attend


def window_by_comprehension(tokens, start, n):
    inputs = [tokens[start + i] for i in range(n)]
    return inputs, [tokens[start + i + 1] for i in range(n)]


def window_by_one_cut(tokens, start, n):
    """One slice of n + 1 tokens: without its last it is the input, without its first the labels."""
    window = tokens[start : start + n + 1]
    return window[:-1], window[1:]


def window_in_torch(tokens, start, n):
    pairs = torch.as_tensor(tokens).unfold(0, 2, 1)[start : start + n]
    return pairs[:, 0], pairs[:, 1]


def window_by_roll(tokens, start, n):
    """`np.roll` puts the next token at every position; both arrays get the same slice."""
    after = np.roll(tokens, -1)
    return tokens[start : start + n], after[start : start + n]


def causal_by_loops(queries, keys):
    """By loops: query i stands at position i + keys - queries and sees up to there."""
    mask = np.zeros((queries, keys), dtype=bool)
    for i in range(queries):
        for j in range(keys):
            mask[i, j] = j <= i + keys - queries
    return mask


def causal_in_lists(queries, keys):
    return [[j - i <= keys - queries for j in range(keys)] for i in range(queries)]


def weights_renormalised(scores, mask):
    """The mask multiplies the exponentials, and an empty row is divided by 1."""
    highest = np.where(mask, scores, -1e30).max(-1, keepdims=True)
    exponentials = np.exp(np.where(mask, scores - highest, 0)) * mask
    total = exponentials.sum(-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def weights_nan_to_zero(scores, mask):
    table = torch.as_tensor(scores).masked_fill(~torch.as_tensor(mask), -torch.inf)
    return torch.nan_to_num(torch.softmax(table, dim=-1))


def weights_by_rows(scores, mask):
    """Row by row: only allowed keys enter the softmax, so nothing is minus infinity."""
    if scores.ndim > 2:
        return np.stack([weights_by_rows(table, mask) for table in scores])
    weights = np.zeros(scores.shape)
    for i, may in enumerate(mask):
        allowed = np.flatnonzero(may)
        highest = max((scores[i, j] for j in allowed), default=0.0)
        total = sum(math.exp(scores[i, j] - highest) for j in allowed)
        for j in allowed:
            weights[i, j] = math.exp(scores[i, j] - highest) / total
    return weights


def weights_additive_then_zeroed(scores, mask):
    """A large negative number replaces minus infinity; the mask then zeroes the rest."""
    penalised = np.asarray(scores) + np.where(mask, 0.0, -1e9)
    exponentials = np.exp(penalised - penalised.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True) * np.asarray(mask)


def weights_in_float32(scores, mask):
    return weights_renormalised(np.asarray(scores, dtype=np.float32), np.asarray(mask))


def padded_by_sentences(q, k, v, real):
    """Sentence by sentence, head by head: padding is cut off, so no mask is needed."""
    rows = [
        [attend(q[b, h], k[b, h][real[b]], v[b, h][real[b]]).output for h in range(q.shape[1])]
        for b in range(len(q))
    ]
    return np.stack([np.stack(heads) for heads in rows])


def padded_by_einsum(q, k, v, real):
    """With einsum: the letters name every axis, and padding gets the exponential 0."""
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    highest = np.where(real[:, None, None], scores, -np.inf).max(-1, keepdims=True)
    shifted = np.minimum(scores - highest, 0)  # padding may score higher; it is left out below
    exponentials = np.einsum("bhqk,bk->bhqk", np.exp(shifted), real)
    return np.einsum("bhqk,bhkv->bhqv", exponentials / exponentials.sum(-1, keepdims=True), v)


def padded_additive(q, k, v, real):
    penalty = np.where(real, 0.0, -np.inf)[:, None, None]
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / math.sqrt(q.shape[-1]) + penalty
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True) @ v


def padded_fused(q, k, v, real):
    """PyTorch's fused attention takes the mask, with an axis for heads and one for queries."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=real[:, None, None, :])


def stack_by_numpy(x, projections, mask):
    stream = np.array(x)
    for w_q, w_k, w_v in np.asarray(projections):
        scores = stream @ w_q @ (stream @ w_k).T / np.sqrt(stream.shape[1])
        scores[~np.asarray(mask)] = -np.inf
        exponentials = np.exp(scores - np.maximum(scores.max(1, keepdims=True), -1e30))
        total = np.maximum(exponentials.sum(1, keepdims=True), 1e-30)
        stream = stream + exponentials / total @ stream @ w_v
    return stream


def stack_by_recursion(x, projections, mask):
    """By recursion: one layer, then the remaining layers on its result."""
    if len(projections) == 0:
        return x
    w_q, w_k, w_v = projections[0]
    return stack_by_recursion(x + attend(x @ w_q, x @ w_k, x @ w_v, mask)[0], projections[1:], mask)


def stack_in_torch(x, projections, mask):
    for layer in projections:
        q, k, v = (x @ w for w in layer)
        x = x + F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask)[0]
    return x


def stack_by_selection(x, projections, mask):
    """No masked scores: each token reads only the tokens that its row of the mask allows."""
    stream = np.array(x)
    for w_q, w_k, w_v in np.asarray(projections):
        seen = [stream[np.asarray(row)] for row in mask]
        rows = [
            attend(stream[t : t + 1] @ w_q, seen[t] @ w_k, seen[t] @ w_v).output[0]
            if len(seen[t])
            else np.zeros(stream.shape[1])
            for t in range(len(stream))
        ]
        stream = stream + np.stack(rows)
    return stream


def causal_by_loops_over_pairs(f, x):
    before = f(x)
    for late in range(1, len(x)):
        other = x.copy()
        other[late] += np.array([1.0, -2.0, 0.5])
        for early in range(late):
            if not np.allclose(f(other)[early], before[early]):
                return False
    return True


def causal_by_slopes(f, x):
    """Finite differences: every later token against every earlier output."""
    for late in range(1, len(x)):
        for feature in range(x.shape[1]):
            step = np.zeros_like(x)
            step[late, feature] = 1e-4
            if np.abs(f(x + step)[:late] - f(x - step)[:late]).max() > 1e-9:
                return False
    return True


def causal_by_bits(f, x):
    noise = np.random.default_rng(5).normal(size=x.shape)
    kept = [np.arange(len(x))[:, None] < t for t in range(1, len(x))]
    return all(
        np.array_equal(f(np.where(keep, x, noise))[:t], f(x)[:t]) for t, keep in enumerate(kept, 1)
    )


def causal_by_cutting(f, x):
    """A causal function cannot tell a text that goes on from one that ends."""
    return all(np.allclose(f(x[:t]), f(x)[:t]) for t in range(1, len(x)))


def causal_by_permuting(f, x):
    other = [np.concatenate([x[:t], -3 * x[t:][::-1] + 1]) for t in range(1, len(x))]
    return bool(np.all([np.allclose(f(o)[:t], f(x)[:t]) for t, o in enumerate(other, 1)]))


def loss_by_loops(logits, tokens, real):
    losses = []
    for i in range(len(tokens) - 1):
        if real[i + 1]:
            highest = max(logits[i])
            normaliser = math.log(sum(math.exp(score - highest) for score in logits[i]))
            losses.append(highest + normaliser - logits[i][int(tokens[i + 1])])
    return sum(losses) / len(losses)


def loss_in_torch(logits, tokens, real):
    labels = torch.where(real[1:], tokens[1:], -100)
    return F.cross_entropy(logits[:-1], labels, ignore_index=-100)


def loss_by_selecting_first(logits, tokens, real):
    """Rows without a real next token are dropped before any exponential is computed."""
    places = np.flatnonzero(np.asarray(real)[1:])
    chosen = np.asarray(logits)[places]
    highest = chosen.max(1)
    normaliser = highest + np.log(np.exp(chosen - highest[:, None]).sum(1))
    return float(
        np.mean(normaliser - chosen[np.arange(len(places)), np.asarray(tokens)[places + 1]])
    )


def loss_by_weights(logits, tokens, real):
    """`np.average` with the mask as weights divides by the number of real targets."""
    losses = -np.take_along_axis(functional.log_softmax(logits)[:-1], tokens[1:, None], axis=1)[
        :, 0
    ]
    return np.average(losses, weights=real[1:])


def loss_by_one_hot(logits, tokens, real):
    """A product with one-hot targets picks the log-probability of each next token."""
    one_hot = np.eye(np.shape(logits)[1])[np.asarray(tokens)[1:]]
    logarithms = functional.log_softmax(np.asarray(logits, dtype=float)[:-1])
    kept = np.asarray(real)[1:]
    return -(one_hot * logarithms)[kept].sum() / kept.sum()


def batch_by_loops(lengths, n):
    """By loops: each real token becomes a key for the queries from its position on."""
    encoder = np.zeros((len(lengths), 1, 1, n), dtype=bool)
    decoder = np.zeros((len(lengths), 1, n, n), dtype=bool)
    for b, length in enumerate(lengths):
        for j in range(n - int(length), n):
            encoder[b, 0, 0, j] = True
            decoder[b, 0, j:, j] = True
    return encoder, decoder


def batch_in_torch(lengths, n):
    real = (torch.arange(n) >= n - torch.as_tensor(lengths)[:, None])[:, None, None, :]
    return real, real & torch.ones(n, n, dtype=torch.bool).tril()


def batch_by_reshape(lengths, n):
    real = np.greater_equal.outer(np.arange(n), n - np.asarray(lengths)).T.reshape(-1, 1, 1, n)
    return real, np.logical_and(real, np.tri(n, dtype=bool).reshape(1, 1, n, n))


def batch_by_product(lengths, n):
    """The decoder's mask as a product: real keys times a lower triangle of ones."""
    real = np.stack([np.arange(n) >= n - int(length) for length in lengths]).astype(int)
    decoder = np.einsum("bk,qk->bqk", real, np.tri(n, dtype=int))
    return real[:, None, None] == 1, decoder[:, None] == 1


def batch_in_lists(lengths, n):
    encoder = [[[[j >= n - length for j in range(n)]]] for length in lengths]
    return encoder, [[[[n - length <= j <= i for j in range(n)] for i in range(n)]]
                     for length in lengths]  # fmt: skip


def bigram_by_loops(tokens, words, steps, learning_rate):
    logits = [[0.0] * words for _ in range(words)]
    pairs = [(int(tokens[i]), int(tokens[i + 1])) for i in range(len(tokens) - 1)]
    for _ in range(steps):
        change = [[0.0] * words for _ in range(words)]
        for a, b in pairs:
            total = sum(math.exp(score) for score in logits[a])
            for c in range(words):
                change[a][c] += (math.exp(logits[a][c]) / total - (c == b)) / len(pairs)
        for a in range(words):
            for c in range(words):
                logits[a][c] -= learning_rate * change[a][c]
    return logits


def bigram_by_one_hot(tokens, words, steps, learning_rate):
    """One-hot inputs make the lookup a matrix product; the gradient is one as well."""
    one_hot = np.eye(words)[np.asarray(tokens)]
    logits = np.zeros((words, words))
    for _ in range(steps):
        error = functional.softmax(one_hot[:-1] @ logits) - one_hot[1:]
        logits -= learning_rate * one_hot[:-1].T @ error / len(error)
    return logits


def bigram_by_counts(tokens, words, steps, learning_rate):
    """The counts of all pairs are enough: the text itself is read only once."""
    counts = np.zeros((words, words))
    np.add.at(counts, (np.asarray(tokens)[:-1], np.asarray(tokens)[1:]), 1)
    logits = np.zeros((words, words))
    for _ in range(steps):
        p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        logits = logits - learning_rate * (counts.sum(1, keepdims=True) * p - counts) / counts.sum()
    return logits


def bigram_by_autograd(tokens, words, steps, learning_rate):
    tokens = torch.as_tensor(tokens)
    logits = torch.zeros(words, words, dtype=torch.float64, requires_grad=True)
    for _ in range(steps):
        loss = F.cross_entropy(logits[tokens[:-1]], tokens[1:])
        (change,) = torch.autograd.grad(loss, logits)
        with torch.no_grad():
            logits -= learning_rate * change
    return logits.detach()


def bigram_by_optimizer(tokens, words, steps, learning_rate):
    """An embedding, a loss and an optimizer of PyTorch: no gradient is written out."""
    tokens = torch.as_tensor(tokens)
    model = torch.nn.Embedding(words, words, _weight=torch.zeros(words, words))
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(model(tokens[:-1]), tokens[1:]).backward()
        optimizer.step()
    return model.weight.detach()


def causal_from_the_square(queries, keys):
    """The square mask of all keys, of which the last rows belong to the queries."""
    return np.tri(keys, dtype=bool)[-queries:]


def causal_by_negation(queries, keys):
    """Mark the forbidden upper triangle, then negate it."""
    return ~np.triu(np.ones((queries, keys), dtype=bool), keys - queries + 1)


RIGHT = {
    "8.1": [
        lambda tokens, start, n: (tokens[start : start + n], tokens[start + 1 : start + n + 1]),
        window_by_comprehension,
        window_by_one_cut,
        window_in_torch,
        window_by_roll,
    ],
    "8.2": [
        causal_by_loops,
        causal_in_lists,
        lambda queries, keys: np.tri(queries, keys, k=keys - queries, dtype=bool),
        causal_from_the_square,
        lambda queries, keys: torch.tril(torch.ones(keys, keys)).bool()[keys - queries :],
        causal_by_negation,
    ],
    "8.3": [
        weights_renormalised,
        weights_nan_to_zero,
        weights_by_rows,
        weights_additive_then_zeroed,
        weights_in_float32,
        lambda scores, mask: functional.softmax(scores, where=mask),
    ],
    "8.4": [
        batch_by_loops,
        batch_in_torch,
        batch_by_reshape,
        batch_by_product,
        batch_in_lists,
    ],
    "8.5": [
        padded_by_sentences,
        padded_by_einsum,
        padded_additive,
        padded_fused,
        lambda q, k, v, real: attend(q, k, v, real[:, None, None, :]).output,
    ],
    "8.6": [
        stack_by_numpy,
        stack_by_recursion,
        stack_in_torch,
        stack_by_selection,
        lambda x, projections, mask: stack_by_numpy(
            x.astype(np.float32), projections.astype(np.float32), mask
        ),
    ],
    "8.7": [
        causal_by_loops_over_pairs,
        causal_by_slopes,
        causal_by_bits,
        causal_by_cutting,
        causal_by_permuting,
    ],
    "8.8": [
        loss_by_loops,
        loss_in_torch,
        loss_by_selecting_first,
        loss_by_weights,
        loss_by_one_hot,
    ],
    "8.9": [
        bigram_by_loops,
        bigram_by_one_hot,
        bigram_by_counts,
        bigram_by_autograd,
        bigram_by_optimizer,
    ],
}
