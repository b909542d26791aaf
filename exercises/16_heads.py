"""What heads do: the checks."""

import base64
import json
import math
import sys
from functools import cache
from math import prod
from pathlib import Path

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from checks.run.plain_data import is_tensor
from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.functional import entropy, log_softmax, softmax
from lib.interpretability import head_scores
from lib.interpretability.same_output import null_space

PAGE = "chapters/16_heads.html"
DEEPER = "chapters/16_heads_deeper.html"
LETTERS = Path(__file__).resolve().parents[1] / "figures" / "widgets" / "head_switch.json"


def causal_scores(rng, *shape):
    """Random scores with minus infinity where the key comes after the query."""
    return np.where(np.tri(shape[-1], dtype=bool), rng.normal(size=shape), -np.inf)


# 16.1 ---------------------------------------------------------------------------------------


def habits(weights):
    return head_scores.previous_token_score(weights), head_scores.sink_score(weights)


def previous_by(read):
    """Another first number beside the right second one."""
    return lambda weights: (read(weights), habits(weights)[1])


def sink_by(read):
    return lambda weights: (habits(weights)[0], read(weights))


def strongest_at(wanted):
    """The share of the queries, the first left out, whose strongest key is the wanted one."""
    return lambda weights: np.mean(weights.argmax(1)[1:] == wanted(np.arange(1, len(weights))))


def to_previous(rows):
    return rows - 1


def to_first(rows):
    return 0 * rows


def table_cases(rng):
    def draw(n):
        return Case((softmax(causal_scores(rng, n, n)),), about=f"a table of {n} tokens")

    return [draw(4), draw(5), draw(7)]


# 16.2 ---------------------------------------------------------------------------------------


def found(weights, ids, *, near=1, own=False, join=sum, average=True):
    """The induction score with its parts exchangeable; `near` is how far the key stands from
    the earlier copy, and `join` makes one number of the weights on several keys."""
    shares = []
    for i, token in enumerate(ids):
        copies = [j for j in range(i + own) if ids[j] == token]
        keys = [j + near for j in copies if 0 <= j + near <= i]
        if keys:
            shares.append(join([weights[i, j] for j in keys]))
    return np.mean(shares) if average else np.sum(shares)


def found_with(**changes):
    return lambda weights, ids: found(weights, ids, **changes)


def over_all_queries(weights, ids):
    """The queries whose token is new have no place to look at, and yet they are counted."""
    return found(weights, ids, average=False) / len(ids)


def over_all_but_one(weights, ids):
    return found(weights, ids, average=False) / (len(ids) - 1)


def over_pairs(weights, ids):
    return weights[head_scores.after_same(ids)].mean()


def strongest_found(weights, ids):
    places = head_scores.after_same(ids)
    asked = np.flatnonzero(places.any(1))
    return np.mean([places[i, weights[i].argmax()] for i in asked])


def strongest_of_asked(weights, ids):
    return weights[head_scores.after_same(ids).any(1)].max(1).mean()


def before_copies(chosen):
    """The weights before the chosen copies; what stands before the first token is the last one."""

    def wrong(weights, ids):
        copies = [(i, np.flatnonzero(ids[:i] == token)[chosen]) for i, token in enumerate(ids)]
        return np.mean([weights[i, places - 1].sum() for i, places in copies if len(places)])

    return wrong


def repeat_cases(rng):
    def draw(n, vocab):
        ids = rng.integers(vocab, size=n)
        copies = [int((ids[:i] == token).sum()) for i, token in enumerate(ids)]
        # Tokens that are new late, that came once, and that came twice; and none beside itself.
        if (np.diff(ids) == 0).any() or not {1, 2} <= set(copies) or 0 not in copies[3:]:
            return draw(n, vocab)
        scores = causal_scores(rng, n, n)
        query, key = np.argwhere(head_scores.after_same(ids))[0]
        scores[query, key] = scores[query].max() + 0.5  # one right place is the strongest
        about = f"{n} tokens: {' '.join(map(str, ids))}"
        return Case((softmax(scores), ids), about=about)

    return [draw(7, 4), draw(9, 5), draw(11, 4)]


# 16.3 ---------------------------------------------------------------------------------------


def silenced(outputs, head, factor=1.0):
    """The heads' outputs with zeros for one of them, and a factor on the others."""
    kept = np.arange(len(outputs)) != head
    return factor * outputs * kept[:, None, None]


def switch_off(scores, values, w_o, b_o, head, *, quiet=silenced, bias=1.0):
    """A layer without one head; `quiet` says what becomes of its output before W_o."""
    return merge_heads(quiet(softmax(scores) @ values, head)) @ w_o + bias * b_o


def off_with(**changes):
    return lambda *args: switch_off(*args, **changes)


def with_scores(say):
    """The head goes on speaking, with other scores."""

    def wrong(scores, values, w_o, b_o, head):
        changed = scores.copy()
        changed[head] = say(scores[head])
        return merge_heads(softmax(changed) @ values) @ w_o + b_o

    return wrong


def every_other(outputs, head):
    """Right for heads that were dealt out number by number."""
    joined = merge_heads(outputs)
    kept = np.arange(joined.shape[-1]) % len(outputs) != head
    return np.stack(np.split(joined * kept, len(outputs), axis=-1))


def columns_from_its_number(scores, values, w_o, b_o, head):
    """d_v columns, from the head's number on."""
    joined = merge_heads(softmax(scores) @ values)
    joined[:, head : head + values.shape[-1]] = 0
    return joined @ w_o + b_o


def one_column_off(scores, values, w_o, b_o, head):
    """One column of the joined heads in the place of the head's own d_v."""
    joined = merge_heads(softmax(scores) @ values)
    joined[:, head] = 0
    return joined @ w_o + b_o


def bias_of_each(count):
    """The bias added as often as there are heads that are counted."""
    return lambda scores, *rest: switch_off(scores, *rest, bias=count(len(scores)))


def mean_ablated(outputs, head):
    kept = np.arange(len(outputs)) != head % len(outputs)
    return np.where(kept[:, None, None], outputs, outputs.mean(1, keepdims=True))


def rows_moved_up(scores, values, w_o, b_o, head):
    joined = merge_heads(np.delete(softmax(scores) @ values, head, axis=0))
    return joined @ w_o[: joined.shape[-1]] + b_o


def merged_by_view(scores, values, w_o, b_o, head, bias=1):
    outputs = silenced(softmax(scores) @ values, head)
    return outputs.reshape(scores.shape[1], -1) @ w_o + bias * b_o


def off_in_columns(scores, values, w_o, b_o, head):
    wide = w_o.shape[1] // len(scores)
    kept = np.arange(w_o.shape[1]) // wide != head
    return merge_heads(softmax(scores) @ values) @ (w_o * kept) + b_o


def off_in_place(scores, values, w_o, b_o, head):
    """The right change, and a model that has lost the head for good."""
    right = switch_off(scores, values, w_o, b_o, head)
    w_o[head * values.shape[-1] : (head + 1) * values.shape[-1]] = 0
    return right


def layer_cases(rng):
    def draw(heads, n, d_v, d_model, head):
        scores, values = causal_scores(rng, heads, n, n), rng.normal(size=(heads, n, d_v))
        w_o, b_o = rng.normal(size=(heads * d_v, d_model)), rng.normal(size=d_model)
        about = f"head {head} of {heads}, {n} tokens, d_v = {d_v}, d_model = {d_model}"
        return Case((scores, values, w_o, b_o, head), about=about)

    return [draw(2, 3, 2, 4, 0), draw(3, 4, 2, 6, 1), draw(3, 5, 4, 7, 2), draw(3, 4, 5, 2, 0)]


# 16.4 ---------------------------------------------------------------------------------------


def two_columns(unembed, right, wrong):
    return unembed[:, right] - unembed[:, wrong]


def attribution(
    rest, outputs, w_o, unembed, right, wrong, *, divisor=None, cut=merge_heads, column=two_columns
):
    """What each head adds to a difference of two logits, with the parts exchangeable."""
    adds = np.stack([cut(alone) @ w_o for alone in one_at_a_time(outputs)])[:, 0]  # (head, d_model)
    divided = divisor(rest, adds) if divisor else root_mean_square(rest + adds.sum(0))
    return adds @ column(unembed, right, wrong) / divided


def one_at_a_time(outputs):
    """Each head's output, with zeros for the others: (head, head, 1, d_v)."""
    return np.eye(len(outputs))[:, :, None, None] * outputs[:, None]


def root_mean_square(x):
    return np.sqrt((x * x).mean(-1))


def by_length(rest, adds):
    return np.linalg.norm(rest + adds.sum(0))


def by_layer_norm(rest, outputs, w_o, unembed, right, wrong, *, centred=True, column=two_columns):
    """Chapter 11's norm, with the standard deviation of the whole, and the means of all parts."""
    adds = np.stack([merge_heads(alone) @ w_o for alone in one_at_a_time(outputs)])[:, 0]
    parts = adds - adds.mean(-1, keepdims=True) if centred else adds
    return parts @ column(unembed, right, wrong) / (rest + adds.sum(0)).std()


def share_with_divisor(divisor):
    return lambda *args: attribution(*args, divisor=divisor)


def logit_of(column):
    return lambda *args: attribution(*args, column=column)


def head_by_columns(rest, outputs, w_o, unembed, right, wrong):
    """W_o cut along its columns: a head gets its own part of the residual stream."""
    heads, wide = len(outputs), w_o.shape[1] // len(outputs)
    whole = outputs.reshape(-1) @ w_o
    own = np.arange(len(whole)) // wide == np.arange(heads)[:, None]
    return own * whole @ (unembed[:, right] - unembed[:, wrong]) / root_mean_square(rest + whole)


def head_left_out(rest, outputs, w_o, unembed, right, wrong):
    """What the difference loses if the norm is computed without the head as well."""
    adds = np.stack([merge_heads(alone) @ w_o for alone in one_at_a_time(outputs)])[:, 0]
    x, column = rest + adds.sum(0), unembed[:, right] - unembed[:, wrong]
    without = (x - adds) @ column / root_mean_square(x - adds)
    return x @ column / root_mean_square(x) - without


def dealt_out(alone):
    return np.swapaxes(alone, -1, -3).reshape(1, -1)


def stream_cases(rng):
    def draw(heads, d_v, d_model, vocab):
        rest, outputs = rng.normal(size=d_model), rng.normal(size=(heads, d_v))
        w_o = 0.7 * rng.normal(size=(heads * d_v, d_model))
        right, wrong = (int(token) for token in rng.choice(vocab, 2, replace=False))
        unembed = rng.normal(size=(d_model, vocab))
        about = f"{heads} heads, d_v = {d_v}, d_model = {d_model}, tokens {right} and {wrong}"
        return Case((rest, outputs, w_o, unembed, right, wrong), about=about)

    return [draw(2, 3, 4, 5), draw(3, 2, 6, 7), draw(3, 4, 9, 5)]


# 16.5 ---------------------------------------------------------------------------------------


def surprise(logits, targets):
    """The loss in nats at each position: minus the log of the weight of the true token."""
    n = np.arange(len(targets))
    return -np.log(softmax(logits))[..., n, targets]


def price(logits, without, targets, *, lose=surprise, average=np.mean):
    """The loss without each head less the loss of the whole model."""
    return average(lose(without, targets), axis=-1) - average(lose(logits, targets))


def of_losses(combine):
    """The two mean losses, put together in another way than by their difference."""
    return lambda logits, without, targets: combine(
        surprise(without, targets).mean(-1), surprise(logits, targets).mean()
    )


def given_truth(logits, targets):
    return softmax(logits)[..., np.arange(len(targets)), targets]


def raw_scores(logits, targets):
    return -logits[..., np.arange(len(targets)), targets]


def all_pairs(logits, without, targets):
    """Every position with every target, as `p[:, targets]` takes them."""

    def loss(z):
        return -np.log(softmax(z)[..., targets]).mean((-2, -1))

    return loss(without) - loss(logits)


def log_of_mean(logits, without, targets):
    """The logarithm of the mean probability, where the mean of the logarithms is asked for."""
    return np.log(given_truth(logits, targets).mean()) - np.log(
        given_truth(without, targets).mean(-1)
    )


def misses(logits, targets):
    return (logits.argmax(-1) != targets).astype(float)


def loss_cases(rng):
    def draw(heads, n, vocab):
        logits = 1.5 * rng.normal(size=(n, vocab))
        without = logits + rng.normal(size=(heads, n, vocab))
        targets = rng.integers(vocab, size=n)
        about = f"{heads} heads, {n} positions, {vocab} tokens in the vocabulary"
        return Case((logits, without, targets), about=about)

    return [draw(3, 4, 5), draw(2, 5, 3), draw(4, 7, 6)]


# 16.6 ---------------------------------------------------------------------------------------


def other_weights(weights, values):
    """Walk from the given row along what the values cannot see, half the way to the wall."""
    hidden = null_space(values)[0]
    return weights + 0.5 * hidden / np.abs(np.minimum(hidden, 0) / weights).max()


def row_cases(rng):
    def draw(n, d_v):
        weights, values = softmax(0.5 * rng.normal(size=n)), rng.normal(size=(n, d_v))
        return Case((weights, values), about=f"{n} tokens, d_v = {d_v}")

    def along(direction, weights, about):
        """A case in which only this direction, and its opposite, keeps output and sum."""
        z, weights = np.array(direction), np.array(weights)
        order = rng.permutation(len(z))
        z, weights = z[order], weights[order]
        values = rng.normal(size=(len(z), 2))
        values -= np.outer(z, z @ values) / (z @ z)
        return Case((weights, values), about=about)

    # Where a weight is small, the wall is near, on either side or on one alone.
    lopsided = [-0.5, 0.2, 0.6, -0.3]
    return [
        draw(4, 2), draw(5, 2), draw(7, 3),
        along([1, -1, 3.2, -3.2], [0.01, 0.01, 0.49, 0.49], "4 tokens, two weights of 0.01"),
        along(lopsided, [0.05, 0.35, 0.4, 0.2], "4 tokens, a weight of 0.05"),
        along(lopsided, [0.05, 0.35, 0.4, 0.2], "4 tokens, a weight of 0.05, in another order"),
        along(lopsided, [0.4, 0.35, 0.05, 0.2], "4 tokens, another weight of 0.05"),
    ]  # fmt: skip


def without_ones(weights, values, part=0.5):
    """The null space of the values alone, and a part of the way as far as the smallest bound."""
    z = np.linalg.svd(values.T)[2][-1]
    step = min(weights[j] / -z[j] for j in range(len(z)) if z[j] < 0)
    return weights + part * step * z


def row_of(answer, case):
    row = answer(*case.args)
    return np.asarray(row.detach().cpu() if is_tensor(row) else row, dtype=float)


def arrays_of(case):
    return [np.asarray(array) for array in case.args]


def is_a_row(answer, case):
    row, (weights, _) = row_of(answer, case), arrays_of(case)
    return row.shape == weights.shape or (
        f"it has shape {row.shape}, and the row given has {weights.shape}"
    )


def none_below_zero(answer, case):
    row = row_of(answer, case)
    # Of nan the next law speaks.
    return not row.min() < -1e-9 or f"the smallest of them is {row.min():.3g}"


def sums_to_one(answer, case):
    total = row_of(answer, case).sum()
    return bool(abs(total - 1) < 1e-5) or f"they sum to {total:.4g}"


def mixes_the_same(answer, case):
    row, (weights, values) = row_of(answer, case), arrays_of(case)
    gap = np.abs(row @ values - weights @ values).max()
    zeros = int((row == 0).sum())
    seen = f", and {zeros} of the {len(row)} weights {'is' if zeros == 1 else 'are'} exactly 0"
    return bool(gap < 1e-5) or (
        f"the largest gap between the two outputs is {gap:.3g}{seen if zeros else ''}"
    )


def is_another_row(answer, case):
    row, (weights, _) = row_of(answer, case), arrays_of(case)
    gap = np.abs(row - weights).max()
    moved = f"no weight moves by more than {gap:.3g}" if gap > 1e-9 else "no weight moves"
    return bool(gap >= 0.01) or moved


def too_far(weights, values):
    """Twice the way to the wall."""
    return weights + 4 * (other_weights(weights, values) - weights)


def blind_to_the_sum(weights, values):
    """A direction that the values cannot see, but the sum of the weights can."""
    hidden = np.linalg.svd(values.T)[2][-1]
    hidden = hidden * np.sign(hidden.sum())
    return weights + 0.5 * hidden / max(1, np.abs(np.minimum(hidden, 0) / weights).max())


def exchanged(weights, values):
    """The largest and the smallest weight change places."""
    del values
    row, (low, high) = weights.copy(), (weights.argmin(), weights.argmax())
    row[[low, high]] = weights[[high, low]]
    return row


# 16.7 ---------------------------------------------------------------------------------------


@cache
def letters():
    """The trained model of the page's figure: its sizes, and its parameters by name."""
    stored = json.loads(LETTERS.read_text("utf8"))["model"]
    numbers = np.frombuffer(base64.b64decode(stored["parameters"]), "<f4").astype(float)
    parameters = {}
    for name, shape in stored["shapes"].items():
        parameters[name], numbers = numbers[: prod(shape)].reshape(shape), numbers[prod(shape) :]
    return stored["heads"], parameters


def hooked_model(rng):
    """The letters' model as `model(ids, hook=None)`, less sharp so that every head writes."""
    heads, parameters = letters()
    noisy = {name: w + 0.1 * rng.normal(size=w.shape) for name, w in parameters.items()}
    for layer in (0, 1):
        noisy[f"layers.{layer}.query.weight"] *= 0.4  # softer attention: every key gets weight

    def model(ids, hook=None):
        """The logits (n, vocab); `hook(layer, outputs)` may return what `out` gets instead."""
        library = sys.modules["torch"] if is_tensor(ids) else np
        p = {name: library.asarray(w) for name, w in noisy.items()}
        x = p["token_embedding.weight"][ids] + p["position_embedding.weight"][: len(ids)]
        past = library.asarray(np.tri(len(ids), dtype=bool))
        for layer in (0, 1):
            q, k, v = (split_heads(x @ p[f"layers.{layer}.{name}.weight"].T, heads)
                       for name in ("query", "key", "value"))  # fmt: skip
            outputs = merge_heads(attend(q, k, v, past).output)
            changed = hook(layer, outputs) if hook else None
            x = x + (outputs if changed is None else changed) @ p[f"layers.{layer}.out.weight"].T
        return x @ p["unembed.weight"].T

    return model


def restored(model, clean, corrupted, answer, layer, head, position, d_v, *, put=None, share=None,
             score=lambda logits, answer: log_softmax(logits[-1])[answer], swap=False):  # fmt: skip
    """How much of the answer returns with one output of the clean run, parts exchangeable."""
    if swap:
        clean, corrupted = corrupted, clean
    seen = {}
    model(clean, seen.__setitem__)

    def hook(number, outputs):
        return (put or one_position)(outputs.copy(), seen, number, layer, head, position, d_v)

    runs = model(corrupted, hook), model(corrupted), model(clean)
    scores = [score(logits, answer) for logits in runs]
    return share(*scores) if share else (scores[0] - scores[1]) / (scores[2] - scores[1])


def rows_and_columns(choose, *, every_layer=False):
    """A patch: `choose` gives its rows and columns for a head, a position, n, d_v and all."""

    def put(outputs, seen, number, layer, head, position, d_v):
        if every_layer or number == layer:
            at = choose(head, position, *outputs.shape, d_v)
            outputs[at] = seen[number][at]
        return outputs

    return put


def own(head, d_v):
    return slice(head * d_v, (head + 1) * d_v)


def at_its_position(head, position, n, width, d_v):
    return position, own(head, d_v)


one_position = rows_and_columns(at_its_position)


def patch_with(choose, **changes):
    return lambda *args: restored(*args, put=rows_and_columns(choose, **changes))


def share_with(share, **changes):
    return lambda *args: restored(*args, share=share, **changes)


def score_with(score):
    return lambda *args: restored(*args, score=score)


def score_at_the_position(model, clean, corrupted, answer, layer, head, position, d_v):
    return restored(
        model, clean, corrupted, answer, layer, head, position, d_v,
        score=lambda logits, answer: log_softmax(logits[position])[answer],
    )  # fmt: skip


def zeros_put_in(outputs, seen, number, layer, head, position, d_v):
    if number == layer:
        outputs[position, own(head, d_v)] = 0
    return outputs


def nothing_returned(*args):
    """The hook changes a copy and returns None, so the model goes on with its own outputs."""
    return restored(*args, put=lambda *given: None)


def one_memory(*args):
    """One memory for both layers: what the second hands over replaces what the first did."""
    return restored(*args, put=lambda outputs, seen, *rest: one_position(
        outputs, dict.fromkeys(seen, seen[1]), *rest))  # fmt: skip


def leaves_the_outputs(answer, case):
    """Whether no hook changes what it is given, whatever it returns."""
    model, *rest = case.args
    changed = set()

    def watched(ids, hook=None):
        def asked(layer, outputs):
            before = np.array(outputs)
            returned = hook(layer, outputs)
            if not np.array_equal(before, np.array(outputs)):
                changed.add(layer)
            return returned

        return model(ids, asked if hook else None)

    answer(watched, *rest)
    return not changed or f"one changes the array of layer {min(changed)}"


OTHER_PLACES = [
    ("M1234", lambda head, position, n, width, d_v: (slice(None), own(head, d_v))),
    ("M1234", lambda head, position, n, width, d_v: (slice(position + 1), own(head, d_v))),
    ("M1234", lambda head, position, n, width, d_v: (slice(position, None), own(head, d_v))),
    ("M425", lambda head, position, n, width, d_v: (position, slice(None))),
    ("M425+M1234", lambda head, position, n, width, d_v: (slice(None), slice(None))),
    ("M1235", lambda head, position, n, width, d_v: (position - 1, own(head, d_v))),
    ("M1327", lambda head, position, n, width, d_v: (position, slice(head, head + d_v))),
]
OTHER_SHARES = [
    lambda patched, corrupted, clean: patched,
    lambda patched, corrupted, clean: patched - corrupted,
    lambda patched, corrupted, clean: patched / clean,
    lambda patched, corrupted, clean: (patched - corrupted) / clean,
    lambda patched, corrupted, clean: (patched - corrupted) / corrupted,
    lambda patched, corrupted, clean: (clean - patched) / (clean - corrupted),
    lambda patched, corrupted, clean: (corrupted - patched) / (clean - corrupted),
    lambda patched, corrupted, clean: (patched - corrupted) / (patched - clean),
]


def one_run(rng, period, layer, head, after):
    """A pattern twice, cut after a query; in the corrupted text its first copy is missing."""
    model, pattern = hooked_model(rng), rng.permutation(20)[: period + 1]
    there = int(rng.integers(1, period - 1))
    clean = np.concatenate([pattern[:-1], pattern[: there + 1]])
    corrupted, answer = clean.copy(), int(pattern[there + 1])
    corrupted[there] = pattern[-1]
    position = there + 1 if after else len(clean) - 1
    scores = [log_softmax(model(ids)[-1])[answer] for ids in (clean, corrupted)]
    if scores[0] - scores[1] < 1:
        return one_run(rng, period, layer, head, after)
    words = ["".join(chr(97 + token) for token in ids) for ids in (clean, corrupted)]
    about = f"{words[0]} and {words[1]}, head {layer}.{head} at position {position}"
    return Case((model, clean, corrupted, answer, layer, head, position, 8), about=about)


def run_cases(rng):
    sizes = (5, 0, 0, True), (7, 1, 2, False), (6, 0, 1, True), (8, 0, 0, True), (7, 0, 3, False)
    return [one_run(rng, *size) for size in sizes]


def drawn_run_cases(rng):
    """Heads of the second layer: whoever patches the first one too gets another share."""
    return [one_run(rng, period, 1, head, False) for period, head in ((6, 0), (8, 3), (9, 1))]


# 16.8 ---------------------------------------------------------------------------------------


def nearest_mean(x, labels, known):
    """The label of the nearest mean for every vector; the means are of the known ones."""
    names = np.unique(labels[known])
    means = np.stack([x[known & (labels == name)].mean(0) for name in names])
    gaps = ((x[:, None] - means) ** 2).sum(-1)  # (n, label)
    return names[gaps.argmin(1)]


def accuracy(x, names, fitted, tested):
    return np.mean((nearest_mean(x, names, fitted) == names)[tested])


def probed(x, labels, control, train, *, fit=None, test=None, second=None):
    """Accuracy on held-out vectors, and what of it a control task does not reach."""
    fitted = train if fit is None else fit(train)
    tested = ~train if test is None else test(train)
    on_labels, on_control = (accuracy(x, names, fitted, tested) for names in (labels, control))
    return on_labels, second(on_labels, on_control) if second else on_labels - on_control


def probe_with(**changes):
    return lambda *args: probed(*args, **changes)


def numbers_of_the_means(x, labels, control, train):
    """The number of the nearest mean, compared with the label itself."""
    results = []
    for names in (labels, control):
        numbers = np.unique(names[train], return_inverse=True)[1]
        known = np.full(len(names), -1)
        known[train] = numbers
        means = np.stack([x[known == n].mean(0) for n in range(numbers.max() + 1)])
        nearest = ((x[~train][:, None] - means) ** 2).sum(-1).argmin(1)
        results.append(np.mean(nearest == names[~train]))
    return results[0], results[0] - results[1]


def by_dot_product(x, labels, control, train, second=np.subtract):
    """The mean with the largest dot product in place of the nearest."""

    def share(names):
        kinds = np.unique(names[train])
        means = np.stack([x[train & (names == kind)].mean(0) for kind in kinds])
        return np.mean(kinds[(x[~train] @ means.T).argmax(1)] == names[~train])

    return share(labels), second(share(labels), share(control))


def control_in_training(x, labels, control, train):
    on_labels = accuracy(x, labels, train, ~train)
    return on_labels, on_labels - accuracy(x, control, train, train)


def control_on_the_labels(x, labels, control, train):
    on_labels = accuracy(x, labels, train, ~train)
    return on_labels, on_labels - np.mean((nearest_mean(x, control, train) == labels)[~train])


def one_probe_for_both(x, labels, control, train):
    guesses = nearest_mean(x, labels, train)
    on_labels, on_control = (np.mean((guesses == names)[~train]) for names in (labels, control))
    return on_labels, on_labels - on_control


def gap_of_training(x, labels, control, train):
    del control
    on_labels = accuracy(x, labels, train, ~train)
    return on_labels, accuracy(x, labels, train, train) - on_labels


def chance_taken_off(x, labels, control, train):
    on_labels, _ = probed(x, labels, control, train)
    return on_labels, on_labels - 1 / len(np.unique(labels))


def commonest_taken_off(x, labels, control, train):
    on_labels, _ = probed(x, labels, control, train)
    return on_labels, on_labels - np.unique(labels[~train], return_counts=True)[1].max() / (
        ~train
    ).sum()


def train_and_test_exchanged(x, labels, control, train):
    return probed(x, labels, control, ~train)


def errors(x, labels, control, train):
    on_labels, gain = probed(x, labels, control, train)
    return 1 - on_labels, -gain


def everything(train):
    return np.ones_like(train)


def probe_cases(rng):
    def draw(n, features, senses):
        """Words in several senses: a vector tells of both, and the control goes by the word."""
        words, labels = rng.integers(9, size=n), rng.integers(senses, size=n)
        by_word, by_sense = rng.normal(size=(9, features)), rng.normal(size=(senses, features))
        x = 0.8 * by_word[words] + by_sense[labels] + 0.5 * rng.normal(size=(n, features))
        control = rng.integers(senses, size=9)[words]
        train = rng.permutation(n) < n // 2
        sets = labels[train], labels[~train], control[train], control[~train]
        if any(len(np.unique(part)) < senses for part in sets):
            return draw(n, features, senses)
        about = f"{n} vectors of {features} numbers, {senses} labels"
        return Case((x, labels, control, train), about=about)

    def renamed(case):
        x, labels, control, train = case.args
        names = np.array([5, 9, 2])
        about = f"{case.about}: 5, 9 and 2"
        return Case((x, names[labels], names[control], train), about=about)

    return [draw(31, 3, 2), draw(47, 5, 3), draw(61, 2, 3), renamed(draw(53, 4, 3))]


# 16.9 ---------------------------------------------------------------------------------------


def score_parts(parts, w_q, w_k, *, divisor=np.sqrt, letters="aid,bjd->abij"):
    """The scores as a sum over pairs of parts: what the query reads, and what the key reads."""
    return np.einsum(letters, parts @ w_q, parts @ w_k) / divisor(w_q.shape[-1])


def pairs_with(**changes):
    return lambda *args: score_parts(*args, **changes)


def each_pair_a_softmax(parts, w_q, w_k, by=1):
    return softmax(by * score_parts(parts, w_q, w_k))


def by_the_model(w_q):
    """The factor from a score divided by the root of d_k to one divided by that of d_model."""
    return math.sqrt(w_q.shape[-1] / len(w_q))


def whole_on_one_side(parts, w_q, w_k, *, keys=True):
    """One side reads a part, and the other side the whole residual stream."""
    whole = np.broadcast_to(parts.sum(0), parts.shape)
    sides = (parts @ w_q, whole @ w_k) if keys else (whole @ w_q, parts @ w_k)
    return np.einsum("aid,bjd->abij", *sides) / np.sqrt(w_q.shape[-1])


def same_part_only(parts, w_q, w_k):
    return score_parts(parts, w_q, w_k) * np.eye(len(parts))[:, :, None, None]


def from_one_part(axis):
    """Query and key from the same part: a for axis 1, b for axis 0."""

    def answer(parts, w_q, w_k):
        own = np.einsum("aid,ajd->aij", parts @ w_q, parts @ w_k) / np.sqrt(w_q.shape[-1])
        return np.repeat(np.expand_dims(own, axis), len(parts), axis)

    return answer


def in_equal_shares(parts, w_q, w_k):
    """The whole scores, divided by the number of pairs."""
    whole = (parts.sum(0) @ w_q) @ (parts.sum(0) @ w_k).T / np.sqrt(w_q.shape[-1])
    return np.broadcast_to(whole / len(parts) ** 2, (len(parts), len(parts), *whole.shape))


def part_cases(rng):
    def draw(count, n, d_model, d_k):
        w_q, w_k = rng.normal(size=(2, d_model, d_k)) / np.sqrt(d_model)
        about = f"{count} parts of {n} tokens, d_model = {d_model}, d_k = {d_k}"
        return Case((rng.normal(size=(count, n, d_model)), w_q, w_k), about=about)

    return [draw(2, 3, 5, 2), draw(3, 4, 7, 5), draw(2, 5, 3, 7)]


def pairs_sum_to_the_scores(answer, case):
    given = [np.asarray(array) for array in case.args]
    pairs = answer(*case.args)
    pairs = np.asarray(pairs.detach().cpu() if is_tensor(pairs) else pairs, dtype=float)
    x, w_q, w_k = given[0].sum(0), *given[1:]
    gap = np.abs(pairs.sum((0, 1)) - (x @ w_q) @ (x @ w_k).T / np.sqrt(w_q.shape[-1])).max()
    return bool(gap < 1e-4) or f"the largest gap between their sum and the scores is {gap:.3g}"


EXERCISE = Exercise(
    chapter="16",
    title="What heads do",
    tasks=[
        Task(
            id="16.1", name="habits", title="Two scores of a head", difficulty=1, importance=5,
            minutes=5, reference=habits, cases=table_cases,
            read=f"{PAGE}#a-text-that-can-only-be-copied",
            wrong=[
                Wrong("M400", sink_by(lambda weights: weights[:, 0].mean())),
                Wrong("M400", previous_by(
                    lambda weights: np.diag(weights, -1).sum() / len(weights))),
                Wrong("M400", lambda weights: (
                    np.diag(weights, -1).sum() / len(weights), weights[:, 0].mean())),
                Wrong("M401", lambda weights: habits(weights.T)),
                Wrong("M401", sink_by(lambda weights: weights[0].mean())),
                Wrong("M401", sink_by(lambda weights: weights[0, 1:].mean())),
                Wrong("M401", previous_by(lambda weights: np.diag(weights, 1).mean())),
                Wrong("M402", previous_by(lambda weights: np.diag(weights).mean())),
                Wrong("M402", previous_by(lambda weights: np.diag(weights)[1:].mean())),
                Wrong("M402", previous_by(lambda weights: np.diag(weights, -2).mean())),
                Wrong("M403", lambda weights: (
                    strongest_at(to_previous)(weights), strongest_at(to_first)(weights))),
                Wrong("M403", previous_by(strongest_at(to_previous))),
                Wrong("M403", sink_by(strongest_at(to_first))),
                Wrong("M403", previous_by(lambda weights: weights[1:].max(1).mean())),
                Wrong("M1154", lambda weights: habits(weights)[::-1]),
                Wrong("M400+M1154", lambda weights: (
                    weights[1:, 0].sum() / len(weights),
                    np.diag(weights, -1).sum() / len(weights))),
                Wrong("M404", lambda weights: (np.diag(weights, -1).sum(), weights[1:, 0].sum())),
                Wrong("M404", previous_by(lambda weights: np.diag(weights, -1).sum())),
                Wrong("M404", sink_by(lambda weights: weights[1:, 0].sum())),
            ],
        ),
        Task(
            id="16.2", name="induction", title="The induction score", difficulty=2, importance=5,
            minutes=10, reference=head_scores.induction_score, cases=repeat_cases,
            read=f"{PAGE}#a-text-that-can-only-be-copied",
            wrong=[
                Wrong("M405", found_with(near=0)),
                Wrong("M405", found_with(near=0, own=True)),
                Wrong("M406", found_with(near=-1)),
                Wrong("M406", found_with(near=2)),
                Wrong("M406", before_copies(slice(None))),
                *(Wrong("M406+M408", before_copies(chosen))
                  for chosen in (slice(1), slice(-1, None))),
                Wrong("M407", over_all_queries),
                Wrong("M407", over_all_but_one),
                Wrong("M405+M407", lambda weights, ids: (
                    found(weights, ids, near=0, average=False) / len(ids))),
                *(Wrong("M408", found_with(join=join)) for join in (
                    max, lambda several: several[-1], lambda several: several[0])),
                Wrong("M409", over_pairs),
                Wrong("M409", found_with(join=np.mean)),
                Wrong("M401", lambda weights, ids: found(weights.T, ids)),
                Wrong("M403", strongest_found),
                Wrong("M403", strongest_of_asked),
                Wrong("M404", found_with(average=False)),
            ],
        ),
        Task(
            id="16.3", name="switch_off", title="Switch a head off", difficulty=3, importance=5,
            minutes=10, reference=switch_off, cases=layer_cases,
            read=f"{PAGE}#a-hook-and-what-it-lets-you-change",
            wrong=[
                Wrong("M410", with_scores(lambda scores: 0 * np.nan_to_num(scores, neginf=0))),
                Wrong("M410", with_scores(lambda scores: np.where(np.isinf(scores), scores, 0))),
                Wrong("M1144", with_scores(lambda scores: np.full_like(scores, -np.inf))),
                Wrong("M411", off_with(quiet=lambda outputs, head: silenced(
                    outputs, head, len(outputs) / (len(outputs) - 1)))),
                Wrong("M39", off_with(quiet=every_other)),
                Wrong("M124", off_in_columns),
                Wrong("M44", off_with(bias=0.0)),
                Wrong("M1090", bias_of_each(lambda heads: heads - 1)),
                Wrong("M1090", bias_of_each(lambda heads: heads)),
                Wrong("M1342", bias_of_each(lambda heads: 1 - 1 / heads)),
                Wrong("M1348", off_with(quiet=mean_ablated)),
                *(Wrong("M129+M1348", off_with(quiet=lambda outputs, head, by=by: mean_ablated(
                    outputs, head + by))) for by in (-1, 1)),
                Wrong("M1091", one_column_off),
                Wrong("M1327", columns_from_its_number),
                Wrong("M1145", rows_moved_up),
                Wrong("M121", off_with(quiet=lambda outputs, head: (
                    outputs - silenced(outputs, head)))),
                *(Wrong("M129", off_with(quiet=quiet)) for quiet in (
                    lambda outputs, head: silenced(outputs, (head - 1) % len(outputs)),
                    lambda outputs, head: silenced(outputs, (head + 1) % len(outputs)))),
                Wrong("M40", lambda scores, values, w_o, b_o, head: merge_heads(
                    silenced(softmax(scores) @ values, head))),
                Wrong("M38", merged_by_view),
                Wrong("M38+M44", lambda *args: merged_by_view(*args, bias=0)),
                Wrong("M33", lambda scores, values, w_o, b_o, head: merge_heads(silenced(
                    np.swapaxes(softmax(scores), -1, -2) @ values, head)) @ w_o + b_o),
                Wrong("M36", off_in_place),
            ],
        ),
        Task(
            id="16.4", name="attribution", title="Who wrote the answer", difficulty=3, importance=5,
            minutes=15, reference=attribution, cases=stream_cases,
            read=f"{PAGE}#what-each-head-adds-to-the-answer",
            wrong=[
                Wrong("M850", share_with_divisor(lambda rest, adds: 1.0)),
                Wrong("M1092", share_with_divisor(
                    lambda rest, adds: root_mean_square(rest + adds.sum(0)) ** 2)),
                Wrong("M1146", share_with_divisor(by_length)),
                Wrong("M1146+M853", lambda *args: attribution(
                    *args, divisor=by_length, column=lambda unembed, right, _: unembed[:, right])),
                Wrong("M851", share_with_divisor(lambda rest, adds: root_mean_square(adds))),
                Wrong("M852", share_with_divisor(lambda rest, adds: root_mean_square(rest))),
                Wrong("M852", share_with_divisor(lambda rest, adds: root_mean_square(adds.sum(0)))),
                Wrong("M852", share_with_divisor(
                    lambda rest, adds: root_mean_square(rest + adds))),
                Wrong("M853", logit_of(lambda unembed, right, wrong: unembed[:, right])),
                Wrong("M853", logit_of(
                    lambda unembed, right, wrong: unembed[:, right] - unembed.mean(1))),
                Wrong("M977", logit_of(
                    lambda unembed, right, wrong: unembed[:, wrong] - unembed[:, right])),
                Wrong("M854", head_left_out),
                Wrong("M1047", by_layer_norm),
                Wrong("M1047", lambda *args: by_layer_norm(*args, centred=False)),
                *(Wrong("M1047+M853", lambda *args, centred=centred: by_layer_norm(
                    *args, centred=centred, column=lambda unembed, right, wrong: unembed[:, right]))
                  for centred in (True, False)),
                Wrong("M124", head_by_columns),
                Wrong("M39", lambda *args: attribution(*args, cut=dealt_out)),
            ],
        ),
        Task(
            id="16.5", name="price", title="How much the loss rises without a head", difficulty=2,
            importance=5, minutes=10, reference=price, cases=loss_cases,
            read=f"{PAGE}#a-hook-and-what-it-lets-you-change",
            wrong=[
                Wrong("M415", of_losses(lambda without, whole: whole - without)),
                *(Wrong("M416", of_losses(combine)) for combine in (
                    lambda without, whole: without / whole,
                    lambda without, whole: (without - whole) / whole,
                    lambda without, whole: np.exp(without - whole),
                    lambda without, whole: np.exp(without) - np.exp(whole),
                )),
                Wrong("M417", of_losses(lambda without, whole: without)),
                Wrong("M417+M167", of_losses(lambda without, whole: without / np.log(2))),
                Wrong("M418", lambda *args: -price(*args, lose=given_truth)),
                Wrong("M418", log_of_mean),
                Wrong("M1328", all_pairs),
                Wrong("M418", lambda *args: price(*args, lose=misses)),
                Wrong("M418", lambda *args: price(*args, lose=raw_scores)),
                Wrong("M404", lambda *args: price(*args, average=np.sum)),
                Wrong("M167", of_losses(lambda without, whole: (without - whole) / np.log(2))),
                Wrong("M419", lambda logits, without, targets: (
                    entropy(softmax(without)).mean(-1) - entropy(softmax(logits)).mean())),
                Wrong("M979", lambda *args: price(*args, lose=lambda logits, targets: -np.log(
                    softmax(logits, axis=-2))[..., np.arange(len(targets)), targets])),
                Wrong("M61", lambda logits, without, targets: price(
                    logits[:-1], without[:, :-1], targets[1:])),
            ],
        ),
        Task(
            id="16.6", name="other_weights", title="Other weights, same output", difficulty=4,
            importance=4, minutes=20, reference=other_weights, cases=row_cases, unique=False,
            read=f"{DEEPER}#two-attention-matrices-one-output",
            laws=[
                Law(None, "a row with one weight for each token", is_a_row),
                Law("M420", "no weight is below 0", none_below_zero),
                Law("M421", "the weights sum to 1", sums_to_one),
                Law("M422", "the output is the same", mixes_the_same),
                Law("M423", "another row than the one given", is_another_row),
            ],
            wrong=[
                Wrong("M423", lambda weights, values: weights),
                Wrong("M423", lambda weights, values: (
                    weights @ values @ np.linalg.pinv(values)
                    + weights @ (np.eye(len(values)) - values @ np.linalg.pinv(values)))),
                Wrong("M420", too_far),
                Wrong("M420", lambda weights, values: weights + 5 * null_space(values)[0]),
                Wrong("M421", blind_to_the_sum),
                Wrong("M421", without_ones),
                Wrong("M421", lambda *args: without_ones(*args, part=1)),
                Wrong("M421", lambda weights, values: 2 * weights),
                Wrong("M422", exchanged),
                Wrong("M422", lambda weights, values: np.full(len(weights), 1 / len(weights))),
                Wrong("M422", lambda weights, values: weights[::-1].copy()),
                Wrong("M422", lambda weights, values: weights**2 / (weights**2).sum()),
            ],
        ),
        Task(
            id="16.7", name="restored", title="A hook that patches", difficulty=4, importance=5,
            minutes=20, reference=restored, cases=run_cases,
            graded_cases=drawn_run_cases,
            read=f"{DEEPER}#patch-which-path-does-the-fact-take",
            laws=[Law("M1148", "your hooks leave the array that they are given as it is",
                      leaves_the_outputs)],
            wrong=[
                *(Wrong("M424", share_with(share, swap=True)) for share in (
                    None,
                    lambda patched, clean, corrupted: (patched - corrupted) / (clean - corrupted),
                    lambda patched, clean, corrupted: (corrupted - patched) / (clean - corrupted),
                )),
                *(Wrong(number, patch_with(choose)) for number, choose in OTHER_PLACES),
                *(Wrong("M426", share_with(share)) for share in OTHER_SHARES),
                Wrong("M855", patch_with(at_its_position, every_layer=True)),
                Wrong("M855", one_memory),
                *(Wrong(f"M855+{number}", patch_with(choose, every_layer=True))
                  for number, choose in OTHER_PLACES if number != "M425+M1234"),
                # Outputs put back into their own run, or all of them put in: the clean run.
                Wrong("M1390", share_with(lambda patched, corrupted, clean: clean / clean)),
                Wrong("M856", nothing_returned),
                Wrong("M1093", score_at_the_position),
                Wrong("M1094", lambda *args: restored(*args, put=zeros_put_in)),
                Wrong("M129", patch_with(lambda head, position, n, width, d_v: (
                    position, own((head + 1) % 4, d_v)))),
                Wrong("M129", patch_with(lambda head, position, n, width, d_v: (
                    position, own((head - 1) % 4, d_v)))),
                Wrong("M39", patch_with(lambda head, position, n, width, d_v: (
                    position, slice(head, None, 4)))),
                Wrong("M418", score_with(lambda logits, answer: logits[-1, answer])),
                *(Wrong("M418+M426", share_with(
                    share, score=lambda logits, answer: logits[-1, answer]))
                  for share in OTHER_SHARES),
                Wrong("M418", score_with(lambda logits, answer: softmax(logits[-1])[answer])),
                Wrong("M1391", score_with(
                    lambda logits, answer: log_softmax(logits)[:, answer].mean())),
            ],
        ),
        Task(
            id="16.8", name="probed", title="A probe and its control", difficulty=4, importance=4,
            minutes=20, reference=probed, cases=probe_cases, read=f"{DEEPER}#the-senses-of-mole",
            wrong=[
                Wrong("M427", probe_with(test=lambda train: train)),
                Wrong("M427", probe_with(test=everything)),
                Wrong("M1095", train_and_test_exchanged),
                Wrong("M429", probe_with(fit=everything)),
                Wrong("M429", probe_with(fit=lambda train: ~train, test=lambda train: ~train)),
                Wrong("M427+M429", probe_with(fit=everything, test=everything)),
                Wrong("M959", probe_with(second=lambda accuracy, control: control)),
                Wrong("M428", probe_with(second=lambda accuracy, control: accuracy)),
                Wrong("M959", probe_with(second=lambda accuracy, control: control - accuracy)),
                Wrong("M959", probe_with(second=lambda accuracy, control: accuracy / control)),
                Wrong("M958", numbers_of_the_means),
                Wrong("M1056", by_dot_product),
                Wrong("M1056+M959", lambda *args: by_dot_product(
                    *args, second=lambda accuracy, control: control)),
                Wrong("M427", control_in_training),
                Wrong("M1147", control_on_the_labels),
                Wrong("M1237", one_probe_for_both),
                Wrong("M428", gap_of_training),
                Wrong("M428", chance_taken_off),
                Wrong("M428", commonest_taken_off),
                Wrong("M986", errors),
            ],
        ),
        Task(
            id="16.9", name="score_parts", title="The pairs behind a score", difficulty=3,
            importance=5, minutes=15, reference=score_parts, cases=part_cases,
            read=f"{PAGE}#composition-who-reads-what-layer-0-wrote",
            laws=[Law("M857", "the pairs sum to the scores", pairs_sum_to_the_scores)],
            wrong=[
                Wrong("M857", whole_on_one_side),
                Wrong("M857", lambda *args: whole_on_one_side(*args, keys=False)),
                Wrong("M857", same_part_only),
                *(Wrong("M1249", from_one_part(axis)) for axis in (0, 1)),
                Wrong("M858", pairs_with(letters="aid,bjd->baij")),
                Wrong("M859", pairs_with(letters="aid,bjd->abji")),
                Wrong("M1340", pairs_with(divisor=lambda d_k: 1)),
                *(Wrong(f"M1340+{number}", pairs_with(divisor=lambda d_k: 1, letters=letters))
                  for number, letters in (
                      ("M858", "aid,bjd->baij"), ("M859", "aid,bjd->abji"))),
                Wrong("M02", pairs_with(divisor=lambda d_k: d_k)),
                Wrong("M03", lambda parts, w_q, w_k: (
                    by_the_model(w_q) * score_parts(parts, w_q, w_k))),
                Wrong("M860", each_pair_a_softmax),
                Wrong("M03+M860", lambda parts, w_q, w_k: each_pair_a_softmax(
                    parts, w_q, w_k, by_the_model(w_q))),
                Wrong("M1340+M860", lambda parts, w_q, w_k: each_pair_a_softmax(
                    parts, w_q, w_k, math.sqrt(w_q.shape[-1]))),
                Wrong("M861", in_equal_shares),
            ],
        ),
    ],
)  # fmt: skip
