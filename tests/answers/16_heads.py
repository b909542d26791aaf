"""Right answers to exercises 16 in different styles: every one of them must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import linprog

from lib import functional
from lib.attention.heads import merge_heads
from lib.interpretability import head_scores
from lib.interpretability.same_output import null_space, other_weights


def habits_by_loop(weights):
    """By loops: row i gives the weight on token i - 1 and on the first token."""
    n = len(weights)
    previous = sum(weights[i][i - 1] for i in range(1, n)) / (n - 1)
    return previous, sum(weights[i][0] for i in range(1, n)) / (n - 1)


def habits_by_index(weights):
    i = np.arange(1, len(weights))
    return [weights[i, i - 1].mean(), weights[i, 0].mean()]


def induction_by_loop(weights, ids):
    """By loops: for each token, the keys that come just after its earlier copies."""
    shares = []
    for i in range(len(ids)):
        keys = [j for j in range(1, i + 1) if ids[j - 1] == ids[i]]
        if keys:
            shares.append(sum(float(weights[i, j]) for j in keys))
    return sum(shares) / len(shares)


def induction_by_copies(weights, ids):
    total, count = 0.0, 0
    for i, token in enumerate(ids):
        earlier = np.flatnonzero(ids[:i] == token)
        if len(earlier):
            total, count = total + weights[i, earlier + 1].sum(), count + 1
    return total / count


def induction_by_table(weights, ids):
    """One boolean table marks the keys after earlier copies, for all queries at once."""
    places = np.zeros(weights.shape, dtype=bool)
    places[:, 1:] = ids[:, None] == ids[None, :-1]
    places &= np.tri(len(ids), dtype=bool)
    return (weights * places).sum() / places.any(axis=1).sum()


def induction_in_torch(weights, ids):
    same = torch.tril(ids[:, None] == ids[None, :], diagonal=-1)
    places = same.roll(1, dims=1)
    asked = same.any(1)
    return (weights * places).sum(1)[asked].mean()


def off_by_loop(scores, values, w_o, b_o, head):
    heads, d_v, result = len(scores), values.shape[-1], 0
    for i in range(heads):
        if i != head:
            result = (
                result + functional.softmax(scores[i]) @ values[i] @ w_o[i * d_v : (i + 1) * d_v]
            )
    return result + b_o


def off_by_weights(scores, values, w_o, b_o, head):
    """The attention weights of the head become 0, after the softmax."""
    weights = functional.softmax(scores).copy()
    weights[head] = 0
    return merge_heads(weights @ values) @ w_o + b_o


def off_by_values(scores, values, w_o, b_o, head):
    values = values.copy()
    values[head] = 0.0
    outputs = functional.softmax(scores) @ values
    return np.concatenate(list(outputs), axis=-1) @ w_o + b_o


def off_by_rows(scores, values, w_o, b_o, head):
    """The head still computes; its rows of the output projection are 0."""
    d_v = values.shape[-1]
    pruned = w_o.copy()
    pruned[head * d_v : (head + 1) * d_v] = 0
    return merge_heads(functional.softmax(scores) @ values) @ pruned + b_o


def off_by_leaving_out(scores, values, w_o, b_o, head):
    """The head is never computed: only the other heads are projected and summed."""
    kept = [i for i in range(len(scores)) if i != head]
    slices = w_o.reshape(len(scores), values.shape[-1], -1)[kept]
    return (functional.softmax(scores[kept]) @ values[kept] @ slices).sum(0) + b_o


def off_in_torch(scores, values, w_o, b_o, head):
    outputs = torch.softmax(scores, -1) @ values
    on = torch.ones(len(scores), 1, 1, dtype=outputs.dtype)
    on[head] = 0
    joined = (outputs * on).transpose(0, 1).flatten(1)
    return F.linear(joined, w_o.T, b_o)


def attribution_by_loop(rest, outputs, w_o, unembed, right, wrong):
    """By a loop: each head meets its own rows of W_o; one divisor serves them all."""
    d_v = outputs.shape[-1]
    adds = [output @ w_o[i * d_v : (i + 1) * d_v] for i, output in enumerate(outputs)]
    x = rest + sum(adds)
    divisor = (x**2).mean() ** 0.5
    return [(part / divisor) @ (unembed[:, right] - unembed[:, wrong]) for part in adds]


def attribution_by_einsum(rest, outputs, w_o, unembed, right, wrong):
    """One einsum: head, its component, and the direction that tells right from wrong."""
    slices = w_o.reshape(*outputs.shape, -1)
    x = rest + outputs.reshape(-1) @ w_o
    direction = (unembed[:, right] - unembed[:, wrong]) / np.sqrt(np.mean(x * x))
    return np.einsum("hv,hvd,d->h", outputs, slices, direction)


def attribution_by_difference(rest, outputs, w_o, unembed, right, wrong):
    """The logits with the divisor kept, minus those without the head."""
    x = rest + outputs.ravel() @ w_o
    unembed = unembed / np.linalg.norm(x) * len(x) ** 0.5
    whole = (x @ unembed)[right] - (x @ unembed)[wrong]
    shares = []
    for head in range(len(outputs)):
        kept = outputs.copy()
        kept[head] = 0
        logits = (rest + kept.ravel() @ w_o) @ unembed
        shares.append(whole - (logits[right] - logits[wrong]))
    return np.array(shares)


def attribution_with_a_unit_column(rest, outputs, w_o, unembed, right, wrong):
    direction = w_o @ (unembed[:, right] - unembed[:, wrong])  # (heads * d_v,)
    x = rest + outputs.reshape(-1) @ w_o
    return (outputs * direction.reshape(outputs.shape)).sum(1) / np.sqrt((x * x).mean())


def attribution_in_torch(rest, outputs, w_o, unembed, right, wrong):
    adds = torch.einsum("hv,hvd->hd", outputs, w_o.reshape(*outputs.shape, -1))
    x = rest + adds.sum(0)
    return adds / x.pow(2).mean().sqrt() @ (unembed[:, right] - unembed[:, wrong])


def price_by_loop(logits, without, targets):
    """In plain Python: one loss for the whole model and one for each head without it."""

    def loss(table):
        total = 0
        for row, target in zip(table, targets, strict=True):
            row = [float(x) for x in row]
            total += math.log(sum(math.exp(x) for x in row)) - row[int(target)]
        return total / len(targets)

    return [loss(table) - loss(logits) for table in without]


def price_by_log_softmax(logits, without, targets):
    n = np.arange(len(targets))
    gain = (
        functional.log_softmax(logits)[n, targets] - functional.log_softmax(without)[:, n, targets]
    )
    return gain.mean(-1)


def price_by_probabilities(logits, without, targets):
    """The rise of the loss is the negative logarithm of a quotient of probabilities."""
    one_hot = np.eye(logits.shape[-1])[targets]
    whole = (functional.softmax(logits) * one_hot).sum(-1)
    parts = (functional.softmax(without) * one_hot).sum(-1)
    return -np.log(parts / whole).mean(-1)


def price_in_torch(logits, without, targets):
    whole = F.cross_entropy(logits, targets)
    return torch.stack([F.cross_entropy(logits, targets) for logits in without]) - whole


def price_in_one_call(logits, without, targets):
    every = torch.cat([logits[None], without])
    losses = F.cross_entropy(every.mT, targets.expand(len(every), -1), reduction="none").mean(-1)
    return losses[1:] - losses[0]


def other_by_svd(weights, values):
    """The last singular vectors span the null space; follow one until a weight is nearly 0."""
    seen = np.vstack([values.T, np.ones(len(values))])
    hidden = np.linalg.svd(seen)[2][len(seen) :][0]
    falling = hidden < 0
    return weights + 0.9 * hidden * (weights[falling] / -hidden[falling]).min()


def other_by_lib(weights, values):
    hidden = null_space(values)[0]
    return weights + hidden * min(w / -z for w, z in zip(weights, hidden, strict=True) if z < 0)


def other_by_projection(weights, values):
    """A random direction, minus its part that would change the output or the sum."""
    seen = np.column_stack([values, np.ones(len(values))])
    direction = np.random.default_rng(3).normal(size=len(values))
    hidden = direction - seen @ np.linalg.lstsq(seen, direction, rcond=None)[0]
    step = 1.0
    while (weights + step * hidden).min() < 0:
        step /= 1.5
    return weights + step * hidden


def other_by_program(weights, values):
    cost = np.zeros(len(weights))
    cost[weights.argmax()] = 1
    return other_weights(weights, values, cost)


def other_by_scipy(weights, values):
    seen = np.column_stack([values, np.ones(len(values))]).T
    cost = -np.eye(len(weights))[weights.argmin()]
    solution = linprog(cost, A_eq=seen, b_eq=seen @ weights, bounds=(0, 1))
    return solution.x


def other_in_torch(weights, values):
    seen = torch.cat([values, torch.ones_like(values[:, :1])], dim=1)
    hidden = torch.linalg.svd(seen.T, full_matrices=True).Vh[-1]
    hidden = hidden if hidden.min() < 0 else -hidden
    step = (weights / -hidden)[hidden < 0].min()
    return weights + 0.7 * step * hidden


def restored_by_two_hooks(model, clean, corrupted, answer, layer, head, position, d_v):
    """Two hooks with a dictionary between them: one remembers, one patches a copy."""
    seen = {}

    def remember(number, outputs):
        seen[number] = outputs

    def patch(number, outputs):
        if number != layer:
            return None
        outputs = outputs.copy()
        columns = slice(head * d_v, (head + 1) * d_v)
        outputs[position, columns] = seen[layer][position, columns]
        return outputs

    clean_logits = model(clean, remember)
    scores = [
        functional.log_softmax(logits[-1])[answer]
        for logits in (model(corrupted, patch), model(corrupted), clean_logits)
    ]
    return (scores[0] - scores[1]) / (scores[2] - scores[1])


def restored_by_where(model, clean, corrupted, answer, layer, head, position, d_v):
    """A boolean matrix chooses, entry by entry, between the two runs."""
    kept = []
    right = model(clean, lambda number, outputs: kept.append(outputs))
    chosen = np.zeros(kept[layer].shape, dtype=bool)
    chosen[position, head * d_v : (head + 1) * d_v] = True
    patched = model(corrupted, lambda number, outputs: np.where(
        chosen & (number == layer), kept[layer], outputs))  # fmt: skip

    def score(logits):
        row = logits[-1] - logits[-1].max()
        return row[answer] - np.log(np.exp(row).sum())

    low = score(model(corrupted))
    return 1 - (score(right) - score(patched)) / (score(right) - low)


def restored_on_a_copy(model, clean, corrupted, answer, layer, head, position, d_v):
    """The hook writes into a copy, and returns nothing where it changes nothing."""
    seen = []
    right = model(clean, lambda number, outputs: seen.append(outputs.copy()))

    def patch(number, outputs):
        if number == layer:
            at = position, slice(head * d_v, head * d_v + d_v)
            outputs = outputs.copy()
            outputs[at] = seen[layer][at]
            return outputs

    runs = right, model(corrupted), model(corrupted, patch)
    high, low, patched = (functional.log_softmax(logits)[-1, answer] for logits in runs)
    return (patched - low) / (high - low)


def restored_by_probabilities(model, clean, corrupted, answer, layer, head, position, d_v):
    seen = {}
    model(clean, lambda number, outputs: seen.update({number: outputs}))

    def patch(number, outputs):
        change = np.zeros_like(outputs)
        if number == layer:
            own = np.s_[position, head * d_v : (head + 1) * d_v]
            change[own] = seen[number][own] - outputs[own]
        return outputs + change

    runs = model(corrupted), model(corrupted, patch), model(clean)
    low, patched, high = (np.log(functional.softmax(run[-1])[answer]) for run in runs)
    return (patched - low) / (high - low)


def restored_in_torch(model, clean, corrupted, answer, layer, head, position, d_v):
    seen, columns = {}, slice(d_v * head, d_v * head + d_v)

    def patch(number, outputs):
        outputs = outputs.clone()
        if number == layer:
            outputs[position, columns] = seen[number][position, columns]
        return outputs

    right = model(clean, lambda number, outputs: seen.update({number: outputs}))
    scores = [
        torch.log_softmax(run[-1], 0)[answer]
        for run in (right, model(corrupted), model(corrupted, patch))
    ]
    return (scores[2] - scores[1]) / (scores[0] - scores[1])


def probed_by_loop(x, labels, control, train):
    def accuracy(names):
        means = {name: x[train & (names == name)].mean(0) for name in set(names.tolist())}
        right = [
            min(means, key=lambda name: ((vector - means[name]) ** 2).sum()) == name_
            for vector, name_ in zip(x[~train], names[~train], strict=True)
        ]
        return sum(right) / len(right)

    return accuracy(labels), accuracy(labels) - accuracy(control)


def probed_by_distances(x, labels, control, train):
    """All distances at once by broadcasting test vectors against class means."""

    def accuracy(names):
        kinds = np.unique(names)
        means = np.array([x[train][names[train] == kind].mean(axis=0) for kind in kinds])
        predicted = kinds[np.linalg.norm(x[~train][:, None] - means[None], axis=-1).argmin(axis=1)]
        return (predicted == names[~train]).mean()

    real = accuracy(labels)
    return real, real - accuracy(control)


def probed_by_products(x, labels, control, train):
    """The nearest mean m is the one with the largest x · m - |m|² / 2."""
    results = []
    for names in (labels, control):
        names = np.unique(names, return_inverse=True)[1]
        one_hot = np.eye(names.max() + 1)[names[train]]
        means = one_hot.T @ x[train] / one_hot.sum(0)[:, None]
        fit = x[~train] @ means.T - 0.5 * (means**2).sum(1)
        results.append(np.mean(fit.argmax(1) == names[~train]))
    return results[0], results[0] - results[1]


def probed_in_torch(x, labels, control, train):
    def accuracy(names):
        kinds = names.unique()
        means = torch.stack([x[train & (names == kind)].mean(0) for kind in kinds])
        return (kinds[torch.cdist(x[~train], means).argmin(1)] == names[~train]).double().mean()

    return accuracy(labels), accuracy(labels) - accuracy(control)


def probed_with_scipy(x, labels, control, train):
    from scipy.spatial.distance import cdist

    accuracies = []
    for names in (labels, control):
        kinds = np.unique(names)
        means = np.stack([x[np.logical_and(train, names == kind)].mean(0) for kind in kinds])
        accuracies.append(float((kinds[cdist(x[~train], means).argmin(1)] == names[~train]).mean()))
    return accuracies[0], accuracies[0] - accuracies[1]


def habits_by_trace(weights):
    """Without its first row and last column, the matrix has previous tokens on its diagonal."""
    return (np.trace(weights[1:, :-1]) / (len(weights) - 1), weights[1:, 0].mean())


def pairs_by_loop(parts, w_q, w_k):
    """By two loops over parts: an ordinary score matrix for each pair."""
    scale = w_q.shape[-1] ** 0.5
    return [[(a @ w_q) @ (b @ w_k).T / scale for b in parts] for a in parts]


def pairs_by_broadcast(parts, w_q, w_k):
    """Queries and keys get an axis each, and one matrix product makes all pairs."""
    q, k = parts @ w_q, parts @ w_k
    return q[:, None] @ k[None].swapaxes(-1, -2) / np.sqrt(q.shape[-1])


def pairs_by_one_matrix(parts, w_q, w_k):
    """Through the QK circuit: one bilinear form between parts of the residual stream."""
    circuit = w_q @ w_k.T / math.sqrt(w_q.shape[1])
    return np.einsum("aid,de,bje->abij", parts, circuit, parts)


def pairs_by_tensordot(parts, w_q, w_k):
    pairs = np.tensordot(parts @ w_q, parts @ w_k, axes=(-1, -1))  # (part, n, part, n)
    return pairs.swapaxes(1, 2) * w_q.shape[-1] ** -0.5


def pairs_in_torch(parts, w_q, w_k):
    return torch.einsum("aid,bjd->abij", parts @ w_q, parts @ w_k) / w_q.shape[-1] ** 0.5


RIGHT = {
    "16.1": [
        habits_by_loop,
        habits_by_index,
        lambda weights: (np.diag(weights, -1).mean(), np.mean(weights[1:, 0])),
        habits_by_trace,
        lambda weights: (weights.diagonal(-1).mean(), weights[1:, 0].mean()),
        lambda weights: (torch.diagonal(weights, -1).mean(), weights[1:, 0].mean()),
    ],
    "16.2": [
        induction_by_loop,
        induction_by_copies,
        induction_by_table,
        induction_in_torch,
        lambda weights, ids: head_scores.weight_on(weights, head_scores.after_same(ids)),
    ],
    "16.3": [
        off_by_loop,
        off_by_weights,
        off_by_values,
        off_by_rows,
        off_by_leaving_out,
        off_in_torch,
    ],
    "16.4": [
        attribution_by_loop,
        attribution_by_einsum,
        attribution_by_difference,
        attribution_with_a_unit_column,
        attribution_in_torch,
    ],
    "16.5": [
        price_by_loop,
        price_by_log_softmax,
        price_by_probabilities,
        price_in_torch,
        price_in_one_call,
    ],
    "16.6": [
        other_by_svd,
        other_by_lib,
        other_by_projection,
        other_by_program,
        other_by_scipy,
        other_in_torch,
    ],
    "16.7": [
        restored_by_two_hooks,
        restored_by_where,
        restored_on_a_copy,
        restored_by_probabilities,
        restored_in_torch,
    ],
    "16.8": [
        probed_by_loop,
        probed_by_distances,
        probed_by_products,
        probed_in_torch,
        probed_with_scipy,
    ],
    "16.9": [
        pairs_by_loop,
        pairs_by_broadcast,
        pairs_by_one_matrix,
        pairs_by_tensordot,
        pairs_in_torch,
    ],
}
