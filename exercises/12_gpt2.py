"""GPT-2: the checks."""

import itertools
import math

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from checks.drivers import one_step
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.functional import layer_norm, log_softmax, softmax

PAGE, DEEPER = "chapters/12_gpt2.html", "chapters/12_gpt2_deeper.html"


# 12.1, 12.2 ---------------------------------------------------------------------------------


def embed(ids, words, positions, start):
    return words[ids] + position_rows(ids, words, positions, start)


def position_rows(ids, words, positions, start):
    return positions[start : start + ids.shape[-1]]


def embed_cases(rng):
    def draw(start, *shape, vocab=7, longest=11, d_model=5):
        ids = rng.permutation(vocab)[: shape[-1]] + np.zeros(shape, dtype=int)
        tables = rng.normal(size=(vocab, d_model)), rng.normal(size=(longest, d_model))
        return Case((ids, *tables, start), about=f"ids of shape {shape}, start = {start}")

    return [draw(0, 3), draw(2, 3, d_model=2), draw(4, 2, 5), draw(1, 3, 2, 4)]


def unembed(x, gain, bias, words):
    return layer_norm(x, gain, bias) @ words.T


def unembed_cases(rng):
    def draw(*shape, vocab):
        x = rng.normal(1, 2, size=shape)
        x[..., 0, :] *= 0.005  # where the variance is small, epsilon shows
        gain, bias = rng.normal(1, 0.3, size=shape[-1]), rng.normal(size=shape[-1])
        words = rng.normal(size=(vocab, shape[-1]))
        return Case((x, gain, bias, words), about=f"x of shape {shape}, {vocab} words")

    return [
        draw(2, 4, vocab=3),
        draw(3, 5, vocab=7),
        draw(2, 3, 4, vocab=5),
        draw(2, 3, 2, 5, vocab=4),
    ]


def unembed_by(spread, *, ddof=0, gained=True, shifted=True):
    """The same with another divisor than sqrt(variance + epsilon), or without gain or bias."""

    def answer(x, gain, bias, words):
        variance = x.var(-1, keepdims=True, ddof=ddof)
        normal = (x - x.mean(-1, keepdims=True)) / spread(variance)
        return (normal * (gain if gained else 1) + (bias if shifted else 0)) @ words.T

    return answer


def deviation(variance):
    return np.sqrt(variance + 1e-5)


def unembed_uncentred(x, gain, bias, words):
    return (x / deviation(x.var(-1, keepdims=True)) * gain + bias) @ words.T


def unembed_over_tokens(x, gain, bias, words):
    return (layer_norm(x.swapaxes(-1, -2)).swapaxes(-1, -2) * gain + bias) @ words.T


def unembed_by_length(x, gain, bias, words):
    return (x / np.linalg.norm(x, axis=-1, keepdims=True) * gain + bias) @ words.T


def unembed_by_root_mean_square(x, gain, bias, words):
    return (x / deviation((x**2).mean(-1, keepdims=True)) * gain + bias) @ words.T


def unembed_over(*axes):
    """One mean and one variance over these axes; none are all axes."""

    def answer(x, gain, bias, words):
        mean, variance = (f(axis=axes or None, keepdims=True) for f in (x.mean, x.var))
        return ((x - mean) / deviation(variance) * gain + bias) @ words.T

    return answer


def unembed_by_cosines(x, gain, bias, words):
    return unembed(x, gain, bias, words / np.linalg.norm(words, axis=-1, keepdims=True))


# 12.3 ---------------------------------------------------------------------------------------


def linear_layer(wide, high, bias=False):
    """A linear layer of torch, which only this task needs."""
    from torch import nn

    return nn.Linear(wide, high, bias=bias)


def tie(words):
    head = linear_layer(words.embedding_dim, words.num_embeddings)
    head.weight = words.weight
    return head


def tie_cases(rng):
    def draw(vocab, d_model, n):
        table = rng.normal(size=(vocab, d_model)).astype(np.float32)
        ids, targets = rng.integers(vocab, size=(2, n))
        about = f"{vocab} words, d_model = {d_model}, one step of training on {n} tokens"
        return Case((table, ids, targets), about=about)

    return [draw(5, 3, 2), draw(7, 2, 3)]


def fresh_head(words):
    return linear_layer(words.embedding_dim, words.num_embeddings)


def copied_head(words):
    head = fresh_head(words)
    head.weight = type(words.weight)(words.weight.detach().clone())
    return head


def head_of_one_storage(words):
    head = fresh_head(words)
    head.weight.data = words.weight.data
    return head


def module_for_its_parameter(words):
    head = fresh_head(words)
    head.weight = words
    return head


def turned_head(words):
    head = linear_layer(words.num_embeddings, words.embedding_dim)
    head.weight = type(words.weight)(words.weight.T)
    return head


def head_with_bias(words):
    head = linear_layer(words.embedding_dim, words.num_embeddings, bias=True)
    head.weight = words.weight
    return head


def table_replaced(words):
    head = fresh_head(words)
    words.weight = head.weight
    return head


# 12.4 ---------------------------------------------------------------------------------------

LINEAR = {"out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}


def in_columns(weight):
    return np.split(weight, 3, axis=-1)


def carry_over(
    layer, *, order=(0, 1, 2), bias_order=None, stored=(), cut=in_columns, cut_bias=in_columns
):
    """The maps of one layer, as nn.Linear keeps them; those named in `stored` as they were."""
    weights, biases = cut(layer["attn.c_attn.weight"]), cut_bias(layer["attn.c_attn.bias"])
    ours = {}
    for name, part, other in zip(
        ("query", "key", "value"), order, bias_order or order, strict=True
    ):
        ours[f"{name}.weight"], ours[f"{name}.bias"] = weights[part], biases[other]
    for name, theirs in LINEAR.items():
        ours[f"{name}.weight"], ours[f"{name}.bias"] = (
            layer[f"{theirs}.{kind}"] for kind in ("weight", "bias")
        )
    turned = {name for name in ours if name.endswith(".weight")} - set(stored)
    return {name: array.T if name in turned else array for name, array in ours.items()}


def layer_cases(rng):
    def draw(d_model):
        sizes = {"attn.c_attn": 3, "attn.c_proj": 1, "mlp.c_fc": 4}
        ends = {name: (d_model, by * d_model) for name, by in sizes.items()}
        ends["mlp.c_proj"] = 4 * d_model, d_model
        layer = {}
        for name, shape in ends.items():
            layer[f"{name}.weight"] = rng.normal(size=shape).round(2)
            layer[f"{name}.bias"] = rng.normal(size=shape[1]).round(2)
        return Case((layer,), about=f"one layer with d_model = {d_model}")

    return [draw(2), draw(5)]


SQUARE = [f"{name}.weight" for name in ("query", "key", "value", "out")]
EVERY = [*SQUARE, "up.weight", "down.weight"]


def by_rows(weight):
    return list(weight.reshape(3, len(weight), -1))


def across_rows(weight):
    return np.split(weight, 3, axis=0)


def every_third(weight):
    return [weight[..., i::3] for i in range(3)]


def not_at_all(bias):
    return [bias] * 3


def layer_wrong(**changes):
    return lambda layer: carry_over(layer, **changes)


PLACES = (0, 1, 2)
SWAPS = ((1, 0, 2), (2, 1, 0), (0, 2, 1))
LAYER_WRONG = [
    Wrong("M63", layer_wrong(stored=EVERY)),
    Wrong("M255", layer_wrong(stored=["out.weight"])),
    Wrong("M255", layer_wrong(stored=SQUARE[:3])),
    Wrong("M255", layer_wrong(stored=SQUARE)),
    *(Wrong("M43", layer_wrong(order=order)) for order in (*SWAPS, (1, 2, 0), (2, 0, 1))),
    *(Wrong("M43", layer_wrong(order=order, bias_order=PLACES)) for order in SWAPS),
    *(Wrong("M43", layer_wrong(bias_order=order)) for order in SWAPS),
    Wrong("M256", layer_wrong(cut=by_rows)),
    Wrong("M256", layer_wrong(cut=by_rows, stored=SQUARE[:3])),
    Wrong("M256", layer_wrong(cut=across_rows)),
    Wrong("M256", layer_wrong(cut=every_third)),
    Wrong("M256", layer_wrong(cut=every_third, cut_bias=every_third)),
    Wrong("M256", layer_wrong(cut_bias=every_third)),
    Wrong("M256", layer_wrong(cut_bias=not_at_all)),
]


# 12.5 ---------------------------------------------------------------------------------------

SHIFTS = (-1, 0, 1, 2)


def loss_with_shift(shift):
    """A loss that compares the prediction at position i with token i + shift."""

    def shifted(logits, ids):
        logits, ids = np.asarray(logits, dtype=float), np.asarray(ids)
        at = np.arange(max(0, -shift), len(ids) - max(0, shift))
        return float(-log_softmax(logits)[at, ids[at + shift]].mean())

    return shifted


def find_shift(loss, vocab):
    return min(SHIFTS, key=lambda shift: probed(loss, vocab, shift))


def probed(loss, vocab, shift):
    """The loss of logits that are sure of the token `shift` further on, going round at the end."""
    ids = np.arange(vocab)
    logits = np.zeros((vocab, vocab))
    logits[ids, np.roll(ids, -shift)] = 5
    return loss(logits, ids)


def shift_cases(rng):
    vocabs = rng.permutation([5, 7, 8, 11])
    return [
        Case((loss_with_shift(int(shift)), int(vocab)), about=f"a vocabulary of {vocab}")
        for shift, vocab in zip(rng.permutation(SHIFTS), vocabs, strict=True)
    ]


def zero_or_one(otherwise):
    """Only two shifts are tried; `otherwise` says which of them the others are taken for."""

    def answer(loss, vocab):
        shift = find_shift(loss, vocab)
        return shift if shift in (0, 1) else otherwise[shift]

    return answer


def without(*untried):
    """Some shifts are never tried."""
    tried = [shift for shift in SHIFTS if shift not in untried]
    return lambda loss, vocab: min(tried, key=lambda shift: probed(loss, vocab, shift))


def takes_the_smallest(answer, case):
    """Whether the answer is right, or not the shift of the largest of the losses that it saw."""
    loss, vocab = case.args
    seen = {}

    def noted(logits, ids):
        value = seen[shift_of_sure(logits, ids)] = loss(logits, ids)
        return value

    came, right = answer(noted, vocab), find_shift(loss, vocab)
    if None in seen or len(seen) < 3 or came == right:
        return True
    if (min(seen, key=seen.get), max(seen, key=seen.get)) != (right, came):
        return True
    shown = ", ".join(f"{value:.3g}" for value in seen.values())
    return f"of your {len(seen)} losses, {shown}, you took the shift of the largest"


def texts_that_tell(answer, case):
    """Whether the answer is right, or tries a text in which some tokens differ."""
    loss, vocab = case.args
    texts = []

    def noted(logits, ids):
        texts.append(np.asarray(ids).tolist())
        return loss(logits, ids)

    if answer(noted, vocab) == find_shift(loss, vocab) or not texts:
        return True
    if any(len(set(text)) > 1 for text in texts):
        return True
    return "all tokens of your text are equal, so logits that are sure of one are sure of all"


def shift_of_sure(logits, ids):
    """By how much the tokens are shifted that logits are sure of; None if by none of the four."""
    ids, likeliest = np.asarray(ids), np.asarray(logits).argmax(-1)
    for shift in SHIFTS:
        at = np.arange(max(0, -shift), len(ids) - max(0, shift))
        if (likeliest[at] == ids[at + shift]).mean() > 0.9:
            return shift
    return None


def by_table(answers):
    """What an answer gives for the shifts -1, 0, 1 and 2, whatever it does to find it."""
    return lambda loss, vocab: answers[SHIFTS.index(find_shift(loss, vocab))]


# No answer but 0 and 1, and the wrong one of them where the shift is 0 or 1.
ZEROS_AND_ONES = [answers for answers in itertools.product((0, 1), repeat=4)
                  if len(set(answers)) > 1 and answers[1:3] != (0, 1)]  # fmt: skip

SHIFT_WRONG = [
    *(Wrong("M1392", by_table(bits)) for bits in ZEROS_AND_ONES),
    *(Wrong("M1073", without(shift)) for shift in SHIFTS),
    Wrong("M1074", lambda loss, vocab: find_shift(loss, vocab) + 1),
    *(Wrong("M880", lambda loss, vocab, shift=shift: shift) for shift in SHIFTS),
    Wrong("M881", lambda loss, vocab: max(SHIFTS, key=lambda by: probed(loss, vocab, by))),
    Wrong(
        "M881",
        lambda loss, vocab: max(
            SHIFTS, key=lambda by: loss(5 * np.eye(vocab, k=by), np.arange(vocab))
        ),
    ),
    Wrong("M882", lambda loss, vocab: -find_shift(loss, vocab)),
    Wrong("M882", lambda loss, vocab: min(SHIFTS, key=lambda by: probed(loss, vocab, -by))),
    *(Wrong("M883", zero_or_one({-1: before, 2: after})) for before in (0, 1) for after in (0, 1)),
]


# 12.6 ---------------------------------------------------------------------------------------


def loss(logits, ids):
    return shifted_loss(logits, ids, 1)


def shifted_loss(logits, ids, by):
    surprise = -log_softmax(logits)[:, : ids.shape[-1] - by]
    return float(np.take_along_axis(surprise, ids[:, by:, None], axis=-1).mean())


def shifted_along_the_batch(logits, ids):
    """Each text of the batch compared with the next one, at the same positions."""
    return float(-np.take_along_axis(log_softmax(logits[:-1]), ids[1:, :, None], axis=-1).mean())


def loss_cases(rng):
    def draw(batch, n, vocab):
        about = f"{batch} sentences of {n} tokens, {vocab} words"
        logits = rng.normal(size=(batch, n, vocab))
        return Case((logits, rng.integers(vocab, size=(batch, n))), about=about)

    return [draw(2, 3, 4), draw(3, 5, 7)]


def loss_across_sentences(logits, ids):
    return shifted_loss(logits.reshape(1, -1, logits.shape[-1]), ids.reshape(1, -1), 1)


def rolled_loss(by):
    """Every prediction compared, each with a token of its own sentence, found going round."""
    return lambda logits, ids: shifted_loss(logits, np.roll(ids, by, axis=1), 0)


def backwards_loss(logits, ids):
    return shifted_loss(logits[:, ::-1], ids[:, ::-1], 1)


def divided(by):
    """The sum over all predictions, divided by another number."""

    def answer(logits, ids):
        batch, n = ids.shape
        return loss(logits, ids) * batch * (n - 1) / by(batch, n)

    return answer


def unreduced(logits, ids):
    surprise = -log_softmax(logits)[:, :-1]
    return np.take_along_axis(surprise, ids[:, 1:, None], axis=-1)[..., 0]


def of_probabilities(measure):
    """A measure of the probabilities of the true next tokens."""
    return lambda logits, ids: float(measure(np.exp(-unreduced(logits, ids))))


def all_pairs(logits, ids):
    """Each position of each sentence with the labels of all."""
    return float(-log_softmax(logits)[:, :-1][..., ids[:, 1:]].mean())


LOSS_WRONG = [
    Wrong("M1187", all_pairs),
    Wrong("M1075", of_probabilities(lambda p: -np.log(p.mean()))),
    Wrong("M167+M1075", of_probabilities(lambda p: -np.log2(p.mean()))),
    Wrong("M1076", of_probabilities(lambda p: 1 - p.mean())),
    Wrong("M1076", of_probabilities(lambda p: p.mean())),
    Wrong("M1076", of_probabilities(lambda p: -p.mean())),
    Wrong("M60", lambda logits, ids: shifted_loss(logits, ids, 0)),
    Wrong("M61", lambda logits, ids: shifted_loss(logits, ids, 2)),
    Wrong("M257", loss_across_sentences),
    Wrong("M1048", shifted_along_the_batch),
    Wrong("M19", lambda logits, ids: loss(softmax(logits), ids)),
    Wrong("M304", rolled_loss(-1)),
    Wrong("M305", rolled_loss(1)),
    Wrong("M305", backwards_loss),
    Wrong("M306", divided(lambda batch, n: 1)),
    Wrong("M306", divided(lambda batch, n: batch * n)),
    Wrong("M306", divided(lambda batch, n: batch)),
    Wrong("M306", divided(lambda batch, n: n - 1)),
    Wrong("M306", divided(lambda batch, n: n)),
    Wrong("M306", unreduced),
    Wrong("M306", lambda logits, ids: unreduced(logits, ids).ravel()),
    Wrong("M306", lambda logits, ids: unreduced(logits, ids).mean(-1)),
    Wrong("M167", lambda logits, ids: loss(logits, ids) / np.log(2)),
]


# 12.7 ---------------------------------------------------------------------------------------


def nucleus(logits, p):
    return kept_of(logits, p)


def kept_of(logits, p, *, one_short=False, rising=False, back="inverse", renormalise=True,
            by_row=True, largest=True):  # fmt: skip
    """Top-p with its parts exchangeable."""
    weights = softmax(logits)
    order = np.argsort(weights if rising else -weights, axis=-1)
    falling = np.take_along_axis(weights, order, axis=-1)
    reached = np.cumsum(falling, axis=-1 if by_row else None).reshape(falling.shape)
    kept = reached <= p if one_short else reached - falling < p
    kept[..., 0] |= largest
    if back in ("inverse", "order"):
        places = np.argsort(order, axis=-1) if back == "inverse" else order
        kept = np.take_along_axis(kept, places, axis=-1)
    left = np.where(kept, falling if back == "sorted" else weights, 0)
    return left / left.sum(-1, keepdims=True) if renormalise else left


def nucleus_cases(rng):
    rhyme = np.log([2.0, 5.0, 1.0, 4.0, 3.0])
    rows = np.log(rng.permuted([[1.0, 2, 4, 8, 16, 32], [9.0, 10, 11, 12, 13, 14]], axis=-1))
    return [
        Case((rhyme, 0.75), about="logits ln 2, ln 5, ln 1, ln 4, ln 3 and p = 0.75"),
        Case((rhyme, 0.5), about="the same logits, p = 0.5"),
        Case((rows, 0.9), about="2 rows of 6 words, p = 0.9"),
        Case((rows[1:], 0.5), about="a row of 6 words of nearly equal weights, p = 0.5"),
    ]


def above_the_bar(bar, *, guarded=True):
    """Keep each weight by itself: from p, from 1 - p, or from a share p of the largest up."""

    def keep(logits, p):
        weights = softmax(logits)
        left = np.where(weights >= bar(p, weights.max(-1, keepdims=True)), weights, 0)
        total = left.sum(-1, keepdims=True)
        return left / (np.where(total == 0, 1, total) if guarded else total)

    return keep


def softmax_again(hidden):
    """The weights of the nucleus taken for logits, with 0 or minus infinity for the others."""

    def answer(logits, p):
        return softmax(np.where(nucleus(logits, p) > 0, softmax(logits), hidden))

    return answer


def sorted_once_more(logits, p):
    """What was decided in falling order, shuffled by this order and not put back."""
    weights = softmax(logits)
    order = np.argsort(-weights, axis=-1)
    left = np.take_along_axis(nucleus(logits, p), order, axis=-1)
    return np.take_along_axis(left, order, axis=-1)


def in_order_of_ids(keeps):
    """The weights added up as they stand; `keeps` sees the sum before each and with it."""

    def answer(logits, p):
        weights = softmax(logits)
        reached = np.cumsum(weights, axis=-1)
        left = np.where(keeps(reached - weights, reached, p), weights, 0)
        return left / left.sum(-1, keepdims=True)

    return answer


def share_of_tokens(logits, p):
    """As many tokens as p times the vocabulary."""
    weights = softmax(logits)
    count = math.ceil(p * weights.shape[-1])
    bar = np.sort(weights, axis=-1)[..., -count][..., None]
    left = np.where(weights >= bar, weights, 0)
    return left / left.sum(-1, keepdims=True)


NUCLEUS_WRONG = [
    *(
        Wrong("M1393", lambda *args, largest=largest: kept_of(*args, by_row=False, largest=largest))
        for largest in (True, False)
    ),
    Wrong("M1077", sorted_once_more),
    Wrong("M1078", share_of_tokens),
    Wrong("M1313", in_order_of_ids(lambda before, reached, p: before < p)),
    Wrong("M1313", in_order_of_ids(lambda before, reached, p: reached <= p)),
    Wrong("M1079", lambda logits, p: softmax(np.where(nucleus(logits, p) > 0, logits, 0))),
    Wrong("M258", lambda logits, p: kept_of(logits, p, one_short=True)),
    Wrong("M259", above_the_bar(lambda p, most: p)),
    Wrong("M259", above_the_bar(lambda p, most: p, guarded=False)),
    Wrong("M259", above_the_bar(lambda p, most: 1 - p)),
    Wrong("M259", above_the_bar(lambda p, most: 1 - p, guarded=False)),
    Wrong("M259", above_the_bar(lambda p, most: p * most)),
    Wrong("M260", lambda logits, p: kept_of(logits, p, back="not at all")),
    Wrong("M260", lambda logits, p: kept_of(logits, p, back="sorted")),
    Wrong("M260", lambda logits, p: kept_of(logits, p, back="order")),
    Wrong("M308", lambda logits, p: kept_of(logits, p, rising=True)),
    Wrong("M261", lambda logits, p: kept_of(logits, p, renormalise=False)),
    Wrong("M19", softmax_again(0)),
    Wrong("M19", softmax_again(-np.inf)),
]


# 12.8 ---------------------------------------------------------------------------------------


def step(q, k, v, keys, values):
    return cached(q, k, v, keys, values, mask=masks.causal(len(q), len(keys) + len(k)))


def cached(q, k, v, keys, values, mask, *, scale=None, past=True):
    """One head on new tokens and stored ones, with its parts exchangeable."""
    all_keys, all_values = np.concatenate([keys, k]), np.concatenate([values, v])
    used = (all_keys, all_values) if past else (k, v)
    return attend(q, *used, mask, scale=scale).output, all_keys, all_values


def step_cases(rng):
    def draw(new, old, d_k, d_v):
        shapes = [(new, d_k), (new, d_k), (new, d_v), (old, d_k), (old, d_v)]
        about = f"{new} new tokens after {old}, d_k = {d_k}, d_v = {d_v}"
        return Case(tuple(rng.normal(size=shape) for shape in shapes), about=about)

    return [draw(2, 3, 2, 3), draw(1, 5, 3, 2), draw(3, 2, 4, 5), draw(2, 1, 3, 2)]


def mask_from_the_start(q, k, v, keys, values):
    mask = np.tri(len(q), len(keys) + len(k), dtype=bool)
    return cached(q, k, v, keys, values, mask)


def without_itself(q, k, v, keys, values):
    mask = np.tri(len(q), len(keys) + len(k), len(keys) - 1, dtype=bool)
    return cached(q, k, v, keys, values, mask)


def only_the_past(q, k, v, keys, values):
    return attend(q, keys, values).output, *cached(q, k, v, keys, values, None)[1:]


def new_in_front(mask):
    return lambda q, k, v, keys, values: cached(
        q, keys, values, k, v, mask(len(q), len(keys) + len(k))
    )


def past_behind(new, total):
    """The mask that fits new keys in front: the past, and the new ones up to oneself."""
    return np.tri(new, total, dtype=bool) | (np.arange(total) >= new)


def itself_twice(*, stored):
    """The new keys stand in the table a second time; in what is stored too, or not."""

    def answer(q, k, v, keys, values):
        both, new = (np.concatenate([keys, k]), np.concatenate([values, v])), len(q)
        twice = np.concatenate([both[0], k]), np.concatenate([both[1], v])
        seen = np.concatenate([masks.causal(new, len(both[0])), np.eye(new, dtype=bool)], axis=1)
        return attend(q, *twice, seen).output, *(twice if stored else both)

    return answer


STEP_WRONG = [
    Wrong("M32", mask_from_the_start),
    Wrong("M24", lambda *args: cached(*args, mask=None)),
    Wrong("M22", without_itself),
    Wrong("M262", lambda *args: cached(*args, mask=masks.causal(len(args[0])), past=False)),
    Wrong("M262", only_the_past),
    Wrong("M307", new_in_front(masks.causal)),
    Wrong("M307", new_in_front(past_behind)),
    Wrong("M307", new_in_front(lambda new, total: None)),
    Wrong("M309", itself_twice(stored=False)),
    Wrong("M309", itself_twice(stored=True)),
    Wrong("M01", lambda q, k, v, keys, values: cached(
        q, k, v, keys, values, masks.causal(len(q), len(keys) + len(k)), scale=1.0)),
]  # fmt: skip


def in_two_calls(answer, case):
    """All at once, and one after the other: the same outputs."""
    q, k, v, keys, values = case.args
    whole = np.asarray(answer(q, k, v, keys, values)[0])
    parts = []
    for at in range(len(q)):
        row = slice(at, at + 1)
        output, keys, values = answer(q[row], k[row], v[row], keys, values)
        parts.append(np.asarray(output))
    return bool(np.allclose(np.concatenate(parts), whole, atol=1e-4, equal_nan=True)) or (
        "the tokens one by one do not give what they give together"
    )


EXERCISE = Exercise(
    chapter="12",
    title="GPT-2",
    tasks=[
        Task(
            id="12.1", name="embed", title="Tokens and positions in", difficulty=2, importance=5,
            minutes=5, reference=embed, cases=embed_cases,
            read=f"{PAGE}#the-whole-model-on-one-screen",
            steps={
                "the token embeddings": lambda ids, words, positions, start: words[ids],
                "the position embeddings": position_rows,
            },
            wrong=[
                Wrong("M57", lambda ids, words, positions, start: words[ids]),
                Wrong("M58", lambda ids, words, positions, start: embed(
                    ids, words, positions, start + 1)),
                Wrong("M962", lambda ids, words, positions, start:
                      words[ids] + positions[start]),
                Wrong("M250", lambda ids, words, positions, start: embed(
                    ids, words, positions, 0)),
                Wrong("M251", lambda ids, words, positions, start: words[ids] + positions[ids]),
                Wrong("M303", lambda ids, words, positions, start: embed(
                    ids, words * words.shape[-1] ** 0.5, positions, start)),
            ],
        ),
        Task(
            id="12.2", name="unembed", title="Logits out", difficulty=2, importance=5, minutes=10,
            reference=unembed, cases=unembed_cases, read=f"{PAGE}#one-matrix-at-both-ends",
            wrong=[
                Wrong("M56", lambda x, gain, bias, words: x @ words.T),
                Wrong("M51", unembed_by(deviation, ddof=1)),
                Wrong("M52", unembed_by(lambda variance: np.sqrt(variance) + 1e-5)),
                Wrong("M226", unembed_by(np.sqrt)),
                Wrong("M234", unembed_by(deviation, gained=False, shifted=False)),
                Wrong("M234", unembed_by(deviation, gained=False)),
                Wrong("M234", unembed_by(deviation, shifted=False)),
                Wrong("M53", unembed_over_tokens),
                Wrong("M1245", lambda x, gain, bias, words: (x * gain + bias) @ words.T),
                Wrong("M1246", unembed_by_length),
                Wrong("M235", unembed_by_root_mean_square),
                Wrong("M1310", unembed_uncentred),
                Wrong("M1247", unembed_over(-2, -1)),
                Wrong("M1247", unembed_over()),
                Wrong("M252", lambda *args: softmax(unembed(*args))),
                Wrong("M252", lambda *args: log_softmax(unembed(*args))),
                Wrong("M283", unembed_by_cosines),
            ],
        ),
        Task(
            id="12.3", name="tie", title="Tie the two ends", difficulty=3, importance=4,
            minutes=10, reference=tie, cases=tie_cases, call=one_step, arrays=("torch",),
            read=f"{PAGE}#one-matrix-at-both-ends",
            wrong=[
                Wrong("M59", fresh_head), Wrong("M253", copied_head),
                Wrong("M254", head_of_one_storage), Wrong("M300", table_replaced),
                Wrong("M301", head_with_bias), Wrong("M302", turned_head),
                Wrong("M1311", module_for_its_parameter),
            ],
        ),
        Task(
            id="12.4", name="carry_over", title="Carry over one layer", difficulty=4,
            importance=5, minutes=20, reference=carry_over, cases=layer_cases,
            wrong=LAYER_WRONG, read=f"{DEEPER}#the-transposition-trap",
        ),
        Task(
            id="12.5", name="find_shift", title="Which token does it compare?", difficulty=3,
            importance=4, minutes=15, reference=find_shift, cases=shift_cases,
            read=f"{PAGE}#a-loss-at-every-position", wrong=SHIFT_WRONG,
            laws=[
                Law(None, "the shift is that of the smallest loss", takes_the_smallest),
                Law(None, "the tokens of the text differ", texts_that_tell),
            ],
        ),
        Task(
            id="12.6", name="loss", title="The loss of a batch", difficulty=3, importance=5,
            minutes=10, reference=loss, cases=loss_cases, read=f"{PAGE}#a-loss-at-every-position",
            wrong=LOSS_WRONG,
        ),
        Task(
            id="12.7", name="nucleus", title="The nucleus", difficulty=4, importance=4,
            minutes=20, reference=nucleus, cases=nucleus_cases,
            read=f"{PAGE}#from-a-row-of-logits-to-a-token",
            wrong=NUCLEUS_WRONG,
        ),
        Task(
            id="12.8", name="step", title="One step with a cache", difficulty=4, importance=5,
            minutes=15, reference=step, cases=step_cases,
            read=f"{DEEPER}#what-need-not-be-computed-again",
            laws=[Law(None, "one by one gives what together gives", in_two_calls)],
            wrong=STEP_WRONG,
        ),
    ],
)  # fmt: skip
