"""Masking: the checks."""

from itertools import pairwise

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.functional import log_softmax, softmax

# 8.1 ----------------------------------------------------------------------------------------


def inputs_and_labels(tokens, start, n):
    return tokens[start : start + n], tokens[start + 1 : start + n + 1]


def window_cases(rng):
    def draw(length, start, n):
        tokens = rng.permutation(50)[:length].tolist()
        return Case((tokens, start, n), about=f"{length} tokens, a window of {n} from {start}")

    names = rng.permutation(50)[:4]
    again = names[[0, 1, 0, 2, 1, 3, 0, 3, 2, 1]].tolist()
    repeated = Case((again, 2, 6), about="10 tokens, some of them repeated, a window of 6 from 2")
    return [draw(7, 0, 3), draw(13, 2, 5), draw(11, 0, 10), repeated]


def shifted(by):
    """Inputs and labels that lie `by` tokens apart, cut off where the text ends."""
    return lambda tokens, start, n: (
        tokens[start : start + n],
        tokens[start + by : start + by + n],
    )


def next_window(tokens, start, n):
    return tokens[start : start + n], tokens[start + n : start + 2 * n]


def wrapped(tokens, start, n):
    window = tokens[start : start + n]
    return window, window[1:] + window[:1]


def one_short(tokens, start, n):
    window = tokens[start : start + n]
    return window[:-1], window[1:]


# 8.2 ----------------------------------------------------------------------------------------


def triangle_cases(rng):
    queries = int(rng.integers(2, 9))
    drawn = queries, queries + int(rng.integers(9))
    sizes = [(3, 3), (2, 5), (5, 5), (1, 4), (3, 7), drawn]
    return [Case(size, about="{} queries, {} keys".format(*size)) for size in sizes]


def triangle(compare, *, offset=True):
    """The causal mask, with a choice of the comparison of key and query."""

    def build(queries, keys):
        at = np.arange(queries)[:, None] + (keys - queries if offset else 0)
        return compare(np.arange(keys)[None, :], at)

    return build


TRIANGLE_WRONG = [
    Wrong("M22", triangle(np.less)),
    Wrong("M23", triangle(np.greater_equal)),
    Wrong("M984", lambda queries, keys: np.ones((queries, keys), dtype=bool)),
    Wrong("M1050", triangle(np.greater)),
    Wrong("M1050+M32", triangle(np.greater, offset=False)),
    Wrong("M32", triangle(np.less_equal, offset=False)),
    Wrong("M484", triangle(lambda key, query: key <= query + 1)),
    Wrong("M1368", lambda queries, keys: np.tri(queries, keys, queries - keys, dtype=bool)),
]


# 8.3 ----------------------------------------------------------------------------------------


def masked_weights(scores, mask):
    return softmax(scores, where=mask)


def score_cases(rng):
    def draw(about, mask, *leading):
        shape = (*leading, *mask.shape[-2:])
        return Case((rng.normal(size=shape), mask), about=about)

    first = np.array([[2.0, 1.0, 3.0], [0.5, 1.5, 1.0]])
    some = np.array([[True, False, False], [True, True, False]])
    empty = np.array([[True, False, True], [False, False, False], [True, True, True]])
    return [
        Case((first, some), about="the row of the chapter, and one more"),
        draw("4 queries, 5 keys", masks.causal(4, 5)),
        draw("3 queries, the second of which may attend to nothing", empty),
        draw("a batch of 2", masks.causal(3), 2),
        Case((np.array([[0.0, 1000.0]]), some[:1, :2]), about="the larger score is forbidden"),
        Case((FAR_APART, masks.causal(3)), about="scores far apart, and all equal"),
    ]


def drawn_score_cases(rng):
    """Forbidden scores that are the largest of their rows, and rows far from each other."""
    loud = rng.normal(size=(3, 3)) + 1000 * np.triu(np.ones((3, 3)), 1)
    levels = np.array([-1000.0, 0.0, 1000.0])[rng.permutation(3), None]
    return [
        Case((loud, masks.causal(3)), about="the larger scores are forbidden"),
        Case((levels + rng.normal(size=(3, 3)), masks.causal(3)), about="scores far apart"),
    ]


FAR_APART = np.array([[0.0, 1000.0, 500.0], [-1000.0, -1001.0, 0.0], [1000.0] * 3])


def raw_softmax(scores):
    """Softmax as it stands in books: an empty row is 0 / 0, and large scores overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.exp(scores)
        return exponentials / exponentials.sum(-1, keepdims=True)


def shifted_softmax(scores):
    """Softmax after the maximum of each row is subtracted: an empty row is still 0 / 0."""
    with np.errstate(invalid="ignore"):
        return raw_softmax(scores - scores.max(-1, keepdims=True))


def hidden_late(scores, mask, *, shifted, guarded, selected=False):
    """Take the exponentials of all scores, then leave out the forbidden ones."""
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.exp(scores - scores.max(-1, keepdims=True) if shifted else scores)
        kept = np.where(mask, exponentials, 0.0) if selected else exponentials * mask
        total = kept.sum(-1, keepdims=True)
        return kept / (np.where(total == 0, 1, total) if guarded else total)


def late(**choice):
    return lambda scores, mask: hidden_late(scores, mask, **choice)


def hidden_first(scores, mask, *, guarded):
    """Hide first, and subtract the maximum of all rows together from each of them."""
    with np.errstate(invalid="ignore"):
        hidden = np.where(mask, scores, -np.inf)
        exponentials = np.exp(hidden - hidden.max())
        total = exponentials.sum(-1, keepdims=True)
        return exponentials / (np.where(total == 0, 1, total) if guarded else total)


def infinity_times_mask(scores, mask):
    """Where the mask allows, 0 times infinity is NaN."""
    with np.errstate(invalid="ignore"):
        return shifted_softmax(scores + ~mask * -np.inf)


WITH_SOFTMAX = {
    "M20": lambda scores, mask, weigh: weigh(np.where(mask, scores, 0.0)),
    "M21": lambda scores, mask, weigh: np.where(mask, weigh(scores), 0.0),
    "M24": lambda scores, mask, weigh: weigh(scores),
    "M30": lambda scores, mask, weigh: weigh(np.where(mask, scores, -np.inf)),
    "M485": lambda scores, mask, weigh: weigh(scores + mask),
}


HIDING = [
    lambda scores, mask: np.where(mask, scores, -np.inf),
    lambda scores, mask: np.where(mask, scores, -1e9),
    lambda scores, mask: scores + np.where(mask, 0.0, -1e9),
]


def with_softmax(build, weigh):
    return lambda scores, mask: build(scores, mask, weigh)


def inverted(hide, weigh):
    return lambda scores, mask: weigh(hide(scores, ~mask))


WEIGHTS_WRONG = [
    *(
        Wrong(number, with_softmax(build, weigh))
        for number, build in WITH_SOFTMAX.items()
        for weigh in (raw_softmax, shifted_softmax)
    ),
    Wrong("M26", lambda scores, mask: softmax(scores, where=~mask)),
    *(
        Wrong("M26", inverted(hide, weigh))
        for hide in HIDING
        for weigh in (raw_softmax, shifted_softmax)
    ),
    Wrong("M1003", infinity_times_mask),
    Wrong("M29", lambda scores, mask: softmax(np.where(mask, scores, -1e9))),
    Wrong("M819", lambda scores, mask: softmax(scores + np.where(mask, 0.0, -1e9))),
    Wrong("M11", lambda scores, mask: softmax(scores, -2, where=mask)),
    Wrong("M610", late(shifted=True, guarded=True)),
    Wrong("M13", lambda scores, mask: hidden_first(scores, mask, guarded=True)),
    Wrong("M30+M13", lambda scores, mask: hidden_first(scores, mask, guarded=False)),
    Wrong("M13", late(shifted=False, guarded=True)),
    Wrong("M13", late(shifted=False, guarded=True, selected=True)),
    Wrong("M30+M610", late(shifted=True, guarded=False)),
    Wrong("M30+M13", late(shifted=False, guarded=False)),
]


def rows_sum_to_one_or_nothing(answer, case):
    mask = np.asarray(case.args[1])
    totals = np.asarray(answer(*case.args)).sum(-1)
    expected = np.broadcast_to(mask.any(-1), totals.shape)
    return bool(np.allclose(totals, expected, atol=1e-4)) or "some row sums to something else"


# 8.4 ----------------------------------------------------------------------------------------


def batch_masks(lengths, n):
    encoder = real_tokens(lengths, n)[:, None, None, :]
    return encoder, encoder & masks.causal(n)


def length_cases(rng):
    n = int(rng.integers(5, 12))
    drawn = rng.integers(1, n, size=4).tolist()
    given = [([2, 3], 3), ([5, 1, 3], 5), ([4, 7], 7), (drawn, n)]
    return [Case((np.array(some), n), about=f"lengths {some}, n = {n}") for some, n in given]


def real_tokens(lengths, n):
    """Padded on the left, so that a causal mask does not hide the pads: (batch, key)."""
    return np.arange(n) >= n - lengths[:, None]


def everywhere(table, lengths):
    return np.broadcast_to(table, (len(lengths), *table.shape[-2:]))


def both_masks(encoder, *, causal=None, combine=np.logical_and):
    """The wrong pair that follows from a mask for the encoder: (batch, 1, 1, n)."""

    def build(lengths, n):
        hidden = encoder(lengths, n)
        triangle = masks.causal(n) if causal is None else causal(n)
        return hidden, combine(hidden, triangle)

    return build


def real_keys(lengths, n):
    return real_tokens(lengths, n)[:, None, None, :]


def real_rows(lengths, n):
    """The causal mask without the rows of the pads: (batch, 1, n, n)."""
    return real_tokens(lengths, n)[:, None, :, None] & masks.causal(n)


BATCH_WRONG = [
    Wrong("M26", lambda lengths, n: tuple(~mask for mask in batch_masks(lengths, n))),
    Wrong("M27", both_masks(lambda lengths, n: real_tokens(lengths, n)[:, None, :, None])),
    Wrong("M611", lambda lengths, n: (real_keys(lengths, n), real_rows(lengths, n))),
    Wrong("M28", lambda lengths, n: (real_keys(lengths, n),
                                     everywhere(masks.causal(n), lengths)[:, None])),
    Wrong("M112", lambda lengths, n: (real_keys(lengths, n), real_keys(lengths, n).repeat(n, 2))),
    Wrong("M113", both_masks(real_keys, combine=np.logical_or)),
    Wrong("M23", both_masks(real_keys, causal=lambda n: masks.causal(n).T)),
    Wrong("M22", both_masks(real_keys, causal=lambda n: np.tri(n, k=-1, dtype=bool))),
    Wrong("M581", both_masks(lambda lengths, n: real_keys(lengths + 1, n))),
    Wrong("M613", both_masks(lambda lengths, n: masks.padding(lengths, n)[:, None])),
    Wrong("M582", lambda lengths, n: batch_masks(lengths, n)[::-1]),
    Wrong("M115", lambda lengths, n: (real_tokens(lengths, n)[:, None],
                                      masks.causal(n) & real_tokens(lengths, n)[:, None])),
]  # fmt: skip


# 8.5 ----------------------------------------------------------------------------------------


def attend_padded(q, k, v, real):
    return attend(q, k, v, real[:, None, None, :]).output


def padded_cases(rng):
    def draw(lengths, head, query, key, d_k, d_v):
        batch = len(lengths)
        shapes = [(batch, head, query, d_k), (batch, head, key, d_k), (batch, head, key, d_v)]
        arrays = (rng.normal(size=shape) for shape in shapes)
        about = f"batch {batch}, {head} heads, {query} queries, {key} keys, d_k {d_k}, d_v {d_v}"
        return Case((*arrays, real_tokens(np.array(lengths), key)), about=about)

    def loud_pads(case):
        """The case, with a score above a million at every pad: no fixed penalty is enough."""
        q, k, v, real = case.args
        q, k = q.copy(), k.copy()
        q[..., 0] = 1 + abs(q[..., 0])
        k[~np.broadcast_to(real[:, None], k.shape[:-1])] = [2e6, 0.0, 0.0]
        return Case((q, k, v, real), about=f"{case.about}; the scores of pads are huge")

    # Equal sizes first: there a mask on the wrong axis gives numbers and not an error. There are
    # always as many heads as texts, so that a mask read as (head, query, key) never fails.
    return [draw([1, 2], 2, 2, 2, 3, 2), draw([3, 1, 2], 3, 3, 3, 2, 5),
            draw([4, 7, 5], 3, 5, 7, 4, 2), loud_pads(draw([1, 2], 2, 3, 3, 3, 2))]  # fmt: skip


def hidden_before_the_scale(q, k, v, real):
    """A penalty of 10 that the divisor makes smaller."""
    table = np.where(real[:, None, None, :], 0.0, -10.0) + q @ k.swapaxes(-1, -2)
    return softmax(table / np.sqrt(q.shape[-1])) @ v


def padded(weigh, place=lambda real: real[:, None, None, :]):
    """Attention with its own way from scores and a mask, placed on some axes, to weights."""

    def answer(q, k, v, real):
        return weigh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), place(real)) @ v

    return answer


def by_selection(scores, mask):
    return shifted_softmax(np.where(mask, scores, -np.inf))


def with_a_penalty(amount):
    return padded(lambda scores, mask: softmax(scores - amount * ~mask))


PADDED_WRONG = [
    *(Wrong("M1352", with_a_penalty(amount)) for amount in (100.0, 1e4)),
    Wrong("M24", lambda q, k, v, real: attend(q, k, v).output),
    Wrong("M26", lambda q, k, v, real: attend(q, k, v, ~real[:, None, None, :]).output),
    Wrong("M27", lambda q, k, v, real: attend(q, k, v, real[:, None, :, None]).output),
    Wrong("M114", lambda q, k, v, real: attend(q, k, v, real).output),
    Wrong("M115", lambda q, k, v, real: attend(q, k, v, real[:, None, :]).output),
    Wrong("M1121", lambda q, k, v, real: attend(q, k, v, real[:, :, None, None]).output),
    Wrong("M1121", padded(by_selection, lambda real: real[:, :, None, None])),
    Wrong("M25", hidden_before_the_scale),
    Wrong("M20", padded(lambda scores, mask: softmax(np.where(mask, scores, 0.0)))),
    Wrong("M21", padded(lambda scores, mask: softmax(scores) * mask)),
    Wrong("M20+M21", padded(lambda scores, mask: softmax(np.where(mask, scores, 0.0)) * mask)),
    *(Wrong("M26", padded(inverted(hide, shifted_softmax))) for hide in HIDING),
    Wrong("M27", padded(by_selection, lambda real: real[:, None, :, None])),
    Wrong("M114", padded(by_selection, lambda real: real)),
    Wrong("M610", padded(late(shifted=True, guarded=True))),
    Wrong("M610", padded(late(shifted=True, guarded=False))),
    Wrong("M610", padded(late(shifted=False, guarded=False))),
    Wrong("M01", lambda q, k, v, real: attend(q, k, v, real[:, None, None, :], scale=1.0).output),
]


# 8.6 ----------------------------------------------------------------------------------------


def run_stack(x, projections, mask):
    return layered(x, projections, [mask] * len(projections))


def attention(q, k, v, mask):
    return attend(q, k, v, mask).output


def layered(x, projections, layer_masks, *, residual=True, in_sequence=True, attention=attention):
    """Attention layers in sequence, with a choice of their parts."""
    stream = x
    for (w_q, w_k, w_v), mask in zip(projections, layer_masks, strict=True):
        source = stream if in_sequence else x
        change = attention(source @ w_q, source @ w_k, source @ w_v, mask)
        stream = stream + change if residual else change
    return stream


def stack_cases(rng):
    def draw(layers, n, d_model):
        projections = rng.normal(size=(layers, 3, d_model, d_model)) / np.sqrt(d_model)
        about = f"{layers} layers, n = {n}, d_model = {d_model}"
        return Case((rng.normal(size=(n, d_model)), projections, masks.causal(n)), about=about)

    loud = np.array([[1.0, 0.0], [0.0, 1.0], [1500.0, 0.0]])
    plain = np.broadcast_to(np.eye(2), (2, 3, 2, 2)).copy()
    about = "2 layers; the forbidden scores of the last token are huge"
    x, projections, mask = draw(2, 4, 3).args
    window = Case(
        (x, projections, mask & ~np.tri(4, k=-2, dtype=bool)),
        about="2 layers; each token may attend to itself and the one before",
    )
    free = np.array([[True, False, True], [False, False, False], [True, True, False]])
    ahead = Case(
        (*draw(2, 3, 2).args[:2], free),
        about="2 layers; the first token hears the last, and the second hears nothing",
    )
    return [draw(2, 3, 2), draw(3, 5, 4), Case((loud, plain, masks.causal(3)), about=about), window,
            ahead]  # fmt: skip


def drawn_stack_cases(rng):
    loud = rng.normal(size=(4, 2))
    loud[0, 0] = rng.uniform(0.5, 1.5)  # so that the first token's score of the last is huge
    loud[-1, 0] += 1500
    plain = np.eye(2) + 0.01 * rng.normal(size=(2, 3, 2, 2))
    about = "2 layers; the forbidden scores of the last token are huge"
    return [Case((loud, plain, masks.causal(4)), about=about)]


def renormalised_attention(q, k, v, mask):
    return hidden_late(q @ k.T / np.sqrt(q.shape[-1]), mask, shifted=True, guarded=True) @ v


def one_maximum(q, k, v, mask):
    """Subtract the largest of all scores, forbidden ones too, from every row."""
    scores = q @ k.T / np.sqrt(q.shape[-1])
    kept = np.where(mask, np.exp(scores - scores.max()), 0.0)
    total = kept.sum(-1, keepdims=True)
    return kept / np.where(total == 0, 1, total) @ v


def filled_attention(q, k, v, mask):
    """A row that allows nothing is uniform."""
    return softmax(np.where(mask, q @ k.T / np.sqrt(q.shape[-1]), -1e9)) @ v


def nan_attention(q, k, v, mask):
    """A row that allows nothing is NaN."""
    return by_selection(q @ k.T / np.sqrt(q.shape[-1]), mask) @ v


def bare_attention(**choice):
    """Exponentials of the scores as they are; huge ones are infinite."""

    def attention(q, k, v, mask):
        scores = q @ k.T / np.sqrt(q.shape[-1])
        return hidden_late(scores, mask, shifted=False, **choice) @ v

    return attention


def unscaled_attention(q, k, v, mask):
    return attend(q, k, v, mask, scale=1.0).output


def one_update_added(x, projections, mask):
    """Every layer reads the first input, and only what the last one adds is kept."""
    return layered(x, projections[-1:], [mask])


def updated_in_turn(x, projections, mask):
    """The later tokens of a layer read the new vectors of the earlier ones."""
    stream = x.copy()
    for w_q, w_k, w_v in projections:
        for i in range(len(x)):
            own = stream[i : i + 1] @ w_q
            stream[i] += attend(own, stream @ w_k, stream @ w_v, mask[i : i + 1]).output[0]
    return stream


def every_layer(mask, layers):
    return [mask] * layers


def first_layer(mask, layers):
    return [mask] + [np.ones_like(mask)] * (layers - 1)


STACK_WRONG = [
    Wrong(
        "M95",
        lambda x, projections, mask: layered(
            x,
            [(w_q, w_k, np.eye(len(w_k))) for w_q, w_k, _ in projections],
            [mask] * len(projections),
        ),
    ),
    Wrong("M1081", one_update_added),
    Wrong("M1377", updated_in_turn),
    Wrong(
        "M1082",
        lambda x, projections, mask: layered(
            x, projections[:1].repeat(len(projections), 0), [mask] * len(projections)
        ),
    ),
    Wrong(
        "M1083",
        lambda x, projections, mask: layered(
            x, projections, [masks.causal(len(x))] * len(projections)
        ),
    ),
    Wrong(
        "M31",
        lambda x, projections, mask: layered(
            x, projections, [mask] + [None] * (len(projections) - 1)
        ),
    ),
    *(Wrong(number, lambda x, projections, mask, attention=attention: layered(
        x, projections, [mask] * len(projections), attention=attention))
      for number, attention in (("M30", nan_attention), ("M01", unscaled_attention))),
    Wrong("M1122", lambda x, projections, mask: layered(
        x, projections, [mask & masks.causal(len(x))] * len(projections))),
    Wrong("M24", lambda x, projections, mask: layered(x, projections, [None] * len(projections))),
    Wrong("M23", lambda x, projections, mask: layered(x, projections, [mask.T] * len(projections))),
    Wrong(
        "M34",
        lambda x, projections, mask: layered(
            x, projections, [mask] * len(projections), residual=False
        ),
    ),
    Wrong(
        "M232",
        lambda x, projections, mask: layered(
            x, projections, [mask] * len(projections), in_sequence=False
        ),
    ),
    Wrong(
        "M610",
        lambda x, projections, mask: layered(
            x, projections, [mask] * len(projections), attention=renormalised_attention
        ),
    ),
    *(Wrong(f"{number}+{late}", lambda x, projections, mask, masks_of=masks_of, parts=parts,
            attention=attention: layered(
                x, projections, masks_of(mask, len(projections)), attention=attention, **parts))
      for number, masks_of, parts in (("M34", every_layer, {"residual": False}),
                                    ("M232", every_layer, {"in_sequence": False}),
                                    ("M31", first_layer, {}))
      for late, attention in (
          ("M610", renormalised_attention), ("M91", one_maximum), ("M29", filled_attention),
          *(("M13", bare_attention(selected=selected, guarded=True))
            for selected in (True, False)))),
    *(Wrong(number, lambda x, projections, mask, attention=attention: layered(
        x, projections, [mask] * len(projections), attention=attention))
      for number, attention in (
          ("M91", one_maximum), ("M29", filled_attention),
          *((number, bare_attention(selected=selected, guarded=guarded))
            for number, guarded in (("M13", True), ("M30+M13", False))
            for selected in (True, False)))),
]  # fmt: skip


def the_past_is_deaf(answer, case):
    x, projections, mask = case.args
    if np.asarray(mask)[:-1, -1].any():
        return True  # this mask lets an earlier token hear the last
    other = x + 0
    other[-1] = other[-1] + 1.0
    before, after = (np.asarray(answer(some, projections, mask)) for some in (x, other))
    return bool(np.allclose(before[:-1], after[:-1], atol=1e-4, equal_nan=True)) or (
        "changing the last token changes an earlier output"
    )


# 8.7 ----------------------------------------------------------------------------------------


def is_causal(f, x):
    return unmoved(f, x, firsts=range(1, len(x)), look=lambda first: slice(0, first))


def unmoved(f, x, firsts, look, change=lambda first: slice(first, None), same=0.0):
    """Change some tokens and compare some outputs, for each of several positions.

    What is added is random, or `same` for all components.
    """
    before = f(x)
    for first in firsts:
        other = x.copy()
        noise = np.random.default_rng(first).normal(size=x[change(first)].shape)
        other[change(first)] += same or noise
        if not np.allclose(f(other)[look(first)], before[look(first)]):
            return False
    return True


def attend_to_the_past(x):
    return attend(x, x, x, masks.causal(len(x))).output


def attend_to_all(x):
    return attend(x, x, x).output


def attend_one_ahead(x):
    """A triangle that is one diagonal too wide."""
    return attend(x, x, x, np.tri(len(x), k=1, dtype=bool)).output


def attend_to_itself_and_the_end(x):
    return attend(x, x, x, np.eye(len(x), dtype=bool) | (np.arange(len(x)) == len(x) - 1)).output


def with_one_cell_more(query, key):
    """A causal mask with a single leak, which a narrow test does not look at."""

    def f(x):
        mask = masks.causal(len(x))
        if key < len(x):
            mask[query, key] = True
        return attend(x, x, x, mask).output

    return f


def mean_of_the_past(x):
    return np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None]


def with_a_narrow_leak(read, write):
    """Some components of the next token leak into some components of the sum of the past."""

    def f(x):
        sums = np.cumsum(x, axis=0)
        sums[:-1, write] += x[1:, read].sum(-1, keepdims=True)
        return sums

    return f


def first_reads_third(x):
    """Sums of the past, and a single leak from a token that is two steps ahead."""
    sums = np.cumsum(x, axis=0)
    sums[0] += x[2:3].sum(0)
    return sums


def mean_of_the_past_by_shares(x):
    """Divided by the length and multiplied by it: a shorter text rounds in another way."""
    return np.cumsum(x / len(x), axis=0) * (len(x) / np.arange(1, len(x) + 1))[:, None]


def attend_to_normalised(x):
    """A layer that reads all tokens, and of each only how its components differ."""
    read = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    return x + attend(read, read, read).output


def causality_cases(rng):
    x = rng.normal(size=(5, 3))
    candidates = {
        "attention with a causal mask": attend_to_the_past,
        "attention without a mask": attend_to_all,
        "a causal mask that is one diagonal too wide": attend_one_ahead,
        "a causal mask, but the first token sees the second": with_one_cell_more(0, 1),
        "a causal mask, but the second token sees the third": with_one_cell_more(1, 2),
        "a causal mask, but the third token sees the fourth": with_one_cell_more(2, 3),
        "every token sees itself and the last": attend_to_itself_and_the_end,
        "the mean of what came so far": mean_of_the_past,
        "pre-norm attention without a mask": attend_to_normalised,
        "the sum of what came so far, but the first token sees the third": first_reads_third,
        "the mean of what came so far, rounded by the length": mean_of_the_past_by_shares,
        "the first component of the next token leaks": with_a_narrow_leak([0], [0, 1, 2]),
        "the second component of the next token leaks": with_a_narrow_leak([1], [0, 1, 2]),
        "the next token leaks into the first component": with_a_narrow_leak([0, 1, 2], [0]),
        "the next token leaks into the second component": with_a_narrow_leak([0, 1, 2], [1]),
    }
    longer = Case((attend_to_the_past, rng.normal(size=(16, 3))),
                  about="attention with a causal mask, 16 tokens")  # fmt: skip
    return [*(Case((f, x), about=name) for name, f in candidates.items()), longer]


def everything_before(first):
    return slice(0, first)


def one_token(first):
    return first


def the_first_output(first):
    return slice(0, 1)


def prefixes_equal(f, x):
    whole = f(x)
    return all(np.array_equal(whole[:n], f(x[:n])) for n in range(1, len(x)))


def one_component(axis):
    """Change a single component of the tokens from each position on."""

    def answer(f, x):
        return all(
            np.allclose(f(x + (np.arange(len(x)) >= first)[:, None] * np.eye(3)[axis])[:first],
                        f(x)[:first])
            for first in range(1, len(x)))  # fmt: skip

    return answer


def part_of_the_output(axis):
    return lambda f, x: is_causal(lambda x: f(x)[:, axis], x)


CAUSALITY_WRONG = [
    *(Wrong("M1350", one_component(axis)) for axis in range(3)),
    *(Wrong("M1369", part_of_the_output(axis)) for axis in range(3)),
    Wrong("M230", lambda f, x: unmoved(f, x, [len(x) // 2], everything_before)),
    Wrong("M230", lambda f, x: unmoved(f, x, [1], everything_before, change=one_token)),
    Wrong("M1123", lambda f, x: True),
    Wrong("M1124", lambda f, x: unmoved(f, x, range(1, len(x)), everything_before, same=1.0)),
    Wrong("M230+M1124", lambda f, x: unmoved(
        f, x, [len(x) - 1], everything_before, same=1.0)),
    Wrong("M230+M231", lambda f, x: unmoved(f, x, [len(x) - 1], the_first_output)),
    Wrong("M230+M231+M1124", lambda f, x: unmoved(
        f, x, [len(x) - 1], the_first_output, same=1.0)),
    Wrong("M230", lambda f, x: unmoved(f, x, [len(x) - 1], everything_before)),
    *(Wrong("M230", lambda f, x, change=change: any(
        unmoved(f, x, [first], everything_before, change) for first in range(1, len(x))))
      for change in (lambda first: slice(first, None), one_token)),
    Wrong("M230", lambda f, x: unmoved(f, x, range(2, len(x)), everything_before)),
    Wrong("M231", lambda f, x: unmoved(f, x, range(1, len(x)), lambda first: slice(0, 1))),
    Wrong("M231", lambda f, x: unmoved(
        f, x, range(1, len(x)), lambda first: first - 1, change=lambda first: first)),
    Wrong("M119", lambda f, x: unmoved(f, x, range(1, len(x)), lambda first: slice(None))),
    Wrong("M233", lambda f, x: unmoved(
        f, x, range(1, len(x)), lambda first: slice(first, None), everything_before)),
    Wrong("M1285", prefixes_equal),
    Wrong("M1286", lambda f, x: not is_causal(f, x)),
]  # fmt: skip


# 8.8 ----------------------------------------------------------------------------------------


def next_token_loss(logits, tokens, real):
    return shifted_loss(logits, tokens, real[1:])


def shifted_loss(logits, tokens, counted, by=1, divide_by=None, log=log_softmax):
    """The mean loss of tokens that lie `by` positions after the one that predicts them."""
    rows = len(tokens) - by
    losses = -log(logits)[np.arange(rows), tokens[by:]]
    total = float(np.where(counted[:rows], losses, 0.0).sum())
    return total / (counted[:rows].sum() if divide_by is None else divide_by)


def loss_cases(rng):
    def draw(n, vocabulary, length):
        logits, tokens = rng.normal(size=(n, vocabulary)), rng.integers(vocabulary, size=n)
        tokens = np.where(np.arange(n) < length, tokens, 0)
        about = f"{n} tokens of which {length} are real, {vocabulary} words"
        return Case((logits, tokens, np.arange(n) < length), about=about)

    def with_hole(case):
        logits, tokens, real = case.args
        here = real & (np.arange(len(real)) != 2)
        about = "padding in front and at the end, and a pad between"
        return Case((logits, tokens, here & (np.arange(len(real)) > 0)), about=about)

    far = np.array([[0.5, 0.0, -0.5], [-800.0, 0.0, 800.0], [-900.0, -901.0, -902.0]])
    apart = Case(
        (np.concatenate([far, np.zeros((2, 3))]), np.array([0, 2, 1, 0, 0]), np.arange(5) < 4),
        about="5 tokens of which 4 are real, 3 words, logits far apart",
    )
    return [draw(5, 3, 3), draw(7, 5, 6), draw(11, 7, 5), with_hole(draw(9, 5, 7)), apart]


def drawn_loss_cases(rng):
    logits = rng.normal(size=(6, 3)) + np.array([-800.0, 0.0, 800.0])
    logits[::2] = rng.normal(size=(3, 3)) - 900
    tokens = rng.integers(3, size=6)
    tokens[2] = 0  # the one whose logit is near -800
    return [
        Case(
            (logits, tokens, np.arange(6) < 5),
            about="6 tokens of which 5 are real, 3 words, logits far apart",
        )
    ]


def log_of_softmax(weigh):
    def logarithm(logits):
        with np.errstate(divide="ignore"):
            return np.log(weigh(logits))

    return logarithm


def with_floor(floor, clipped):
    """Logarithms of probabilities that are never below some small number."""

    def logarithm(logits):
        weights = softmax(logits)
        return np.log(np.maximum(weights, floor) if clipped else weights + floor)

    return logarithm


FLOORS = [
    with_floor(10.0**-digits, clipped)
    for digits in (6, 7, 8, 9, 10, 12, 15, 16)
    for clipped in (True, False)
]
LOSSES = {
    "M60": lambda tokens, real: {"counted": real, "by": 0},
    "M61": lambda tokens, real: {"counted": real[2:], "by": 2},
    "M116": lambda tokens, real: {"counted": real[:-1]},
    "M117": lambda tokens, real: {"counted": real[1:] | True},
    "M118": lambda tokens, real: {"counted": real[1:], "divide_by": len(tokens) - 1},
    "M1287": lambda tokens, real: {"counted": real[1:], "divide_by": 1},
}


def rolled_loss(log):
    def answer(logits, tokens, real):
        losses = -log(logits)[np.arange(len(tokens)), np.roll(tokens, -1)]
        return float(losses[np.roll(real, -1)].mean())

    return answer


def loss_of_the_mean(weigh):
    def answer(logits, tokens, real):
        right = weigh(logits)[np.arange(len(tokens) - 1), tokens[1:]]
        return -float(np.log(right[real[1:]].mean()))

    return answer


def with_loss(choose, log):
    return lambda logits, tokens, real: shifted_loss(
        logits, tokens, log=log, **choose(tokens, real)
    )


LOGS = log_softmax, log_of_softmax(softmax), log_of_softmax(raw_softmax)
LOSS_WRONG = [
    *(
        Wrong(number, with_loss(choose, log))
        for number, choose in LOSSES.items()
        for log in LOGS
    ),
    *(Wrong("M118", with_loss(
        lambda tokens, real: {"counted": real[1:], "divide_by": len(tokens)}, log))
      for log in LOGS),
    *(Wrong("M1288", rolled_loss(log)) for log in LOGS),
    *(Wrong("M1370", loss_of_the_mean(weigh)) for weigh in (softmax, raw_softmax)),
    *(Wrong("M1125", with_loss(lambda tokens, real: {"counted": real[1:]}, log))
      for log in FLOORS),
    Wrong("M93", lambda logits, tokens, real: shifted_loss(
        logits, tokens, real[1:], log=log_of_softmax(softmax))),
    Wrong("M93+M13", lambda logits, tokens, real: shifted_loss(
        logits, tokens, real[1:], log=log_of_softmax(raw_softmax))),
]  # fmt: skip


# 8.9 ----------------------------------------------------------------------------------------


def train_bigram(tokens, words, steps, learning_rate):
    return trained(tokens, words, steps, learning_rate, gradient)


def trained(tokens, words, steps, learning_rate, slope, *, sign=-1, once=False):
    """Gradient descent from zero logits, with a choice of the gradient."""
    tokens, logits = np.asarray(tokens), np.zeros((words, words))
    first = slope(logits, tokens)
    for _ in range(steps):
        logits = logits + sign * learning_rate * (first if once else slope(logits, tokens))
    return logits


def gradient(logits, tokens, *, by=1, mean=True, probabilities=softmax, target=1.0, uncounted=0):
    """The derivative of the mean loss with respect to every logit: (word, next word)."""
    rows = tokens[: len(tokens) - by]
    change = probabilities(logits[rows])  # (pair, next word)
    change[np.arange(len(rows)), tokens[by:]] -= target
    total = np.zeros_like(logits)
    np.add.at(total, rows, change)
    return total / (len(rows) + uncounted) if mean else total


def last_of_each_word(logits, tokens):
    """The gradient that NumPy's `total[rows] += change` gives: one pair for each word."""
    rows = tokens[:-1]
    change = softmax(logits[rows])
    change[np.arange(len(rows)), tokens[1:]] -= 1
    total = np.zeros_like(logits)
    total[rows] += change
    return total / len(rows)


def one_of_each_pair(logits, tokens):
    """The gradient of probabilities added with `+=` at the words, and 1 subtracted at the pairs."""
    rows, total = tokens[:-1], np.zeros_like(logits)
    total[rows] += softmax(logits[rows])
    total[rows, tokens[1:]] -= 1
    return total / len(rows)


def mean_of_each_word(logits, tokens):
    """The gradient whose every row is divided by the pairs of its own word."""
    count = np.bincount(tokens[:-1], minlength=len(logits))[:, None]
    return gradient(logits, tokens, mean=False) / np.maximum(count, 1)


def with_other_gradient(**choice):
    return lambda tokens, words, steps, learning_rate: trained(
        tokens, words, steps, learning_rate,
        lambda logits, tokens: gradient(logits, tokens, **choice),
    )  # fmt: skip


def pair_by_pair(tokens, words, steps, learning_rate, *, mean=False):
    """The matrix changes after every pair, as in stochastic gradient descent."""
    logits = np.zeros((words, words))
    for _ in range(steps):
        for a, b in pairwise(tokens):
            change = softmax(logits[int(a)])
            change[int(b)] -= 1
            logits[int(a)] -= learning_rate * change / (len(tokens) - 1 if mean else 1)
    return logits


def bigram_cases(rng):
    def draw(n, words, steps, learning_rate):
        tokens = np.concatenate([np.arange(words), rng.integers(words, size=n - words)])
        about = f"{n} tokens, {words} words, {steps} step{'s' if steps > 1 else ''}"
        about += f", learning rate {learning_rate}"
        return Case((tokens, words, steps, learning_rate), about=about)

    return [draw(7, 3, 1, 1.0), draw(11, 3, 2, 0.5), draw(17, 5, 7, 2.0)]


BIGRAM_WRONG = [
    Wrong("M60", with_other_gradient(by=0)),
    Wrong("M61", with_other_gradient(by=2)),
    Wrong("M583", lambda tokens, words, steps, learning_rate: trained(
        tokens, words, steps, learning_rate, gradient, sign=1)),
    Wrong("M584", with_other_gradient(mean=False)),
    Wrong("M612", with_other_gradient(uncounted=1)),
    Wrong("M585", lambda tokens, words, steps, learning_rate: trained(
        tokens, words, steps, learning_rate, gradient, once=True)),
    Wrong("M586", lambda tokens, words, steps, learning_rate: trained(
        tokens, words, steps, learning_rate, last_of_each_word)),
    Wrong("M586", lambda tokens, words, steps, learning_rate: trained(
        tokens, words, steps, learning_rate, one_of_each_pair)),
    Wrong("M955", lambda tokens, words, steps, learning_rate: trained(
        tokens, words, steps, learning_rate, mean_of_each_word)),
    Wrong("M587", lambda *given: pair_by_pair(*given)),
    Wrong("M587", lambda *given: pair_by_pair(*given, mean=True)),
    Wrong("M588", with_other_gradient(probabilities=lambda scores: scores.copy())),
    Wrong("M589", lambda *given: train_bigram(*given).T),
    Wrong("M590", with_other_gradient(target=0.0)),
]  # fmt: skip


def the_loss_falls(answer, case):
    tokens, words, steps, learning_rate = case.args
    tokens = np.asarray(tokens)
    logits = np.asarray(answer(tokens, words, steps, learning_rate))
    loss = -log_softmax(logits)[tokens[:-1], tokens[1:]].mean()
    return bool(loss < np.log(words)) or "the loss does not fall below that of zero logits"


PAGE, DEEPER = "chapters/08_masking.html", "chapters/08_masking_deeper.html"
EXERCISE = Exercise(
    chapter="08",
    title="Masking",
    tasks=[
        Task(
            id="8.1", name="inputs_and_labels", title="Cut inputs and labels", difficulty=1,
            importance=5, minutes=5, reference=inputs_and_labels, cases=window_cases,
            read=f"{PAGE}#the-causal-mask",
            wrong=[Wrong("M1040", shifted(0)), Wrong("M61", shifted(2)), Wrong("M110", wrapped),
                   Wrong("M111", one_short), Wrong("M1096", shifted(-1)),
                   Wrong("M1097", next_window)],
        ),
        Task(
            id="8.2", name="causal_mask", title="The causal mask", difficulty=2, importance=5,
            minutes=10, reference=masks.causal, cases=triangle_cases, wrong=TRIANGLE_WRONG,
            read=f"{PAGE}#the-causal-mask",
        ),
        Task(
            id="8.3", name="masked_weights", title="Weights under a mask", difficulty=3,
            importance=5, minutes=15, reference=masked_weights, cases=score_cases,
            graded_cases=drawn_score_cases,
            wrong=WEIGHTS_WRONG, read=f"{PAGE}#four-ways-to-forbid", saturated=True,
            laws=[Law(None, "each row sums to 1, an empty one to 0", rows_sum_to_one_or_nothing)],
        ),
        Task(
            id="8.4", name="batch_masks", title="Masks for a batch, from its lengths",
            difficulty=3, importance=5, minutes=10, reference=batch_masks, cases=length_cases,
            wrong=BATCH_WRONG, read=f"{DEEPER}#padding-in-a-batch",
        ),
        Task(
            id="8.5", name="attend_padded", title="A batch with heads and padding", difficulty=3,
            importance=4, minutes=10, reference=attend_padded, cases=padded_cases,
            wrong=PADDED_WRONG, read=f"{DEEPER}#padding-in-a-batch",
        ),
        Task(
            id="8.6", name="run_stack", title="A mask for every layer", difficulty=3,
            importance=4, minutes=10, reference=run_stack, cases=stack_cases, wrong=STACK_WRONG,
            graded_cases=drawn_stack_cases,
            read=f"{PAGE}#every-layer-needs-the-mask",
            laws=[Law(None, "the past does not hear the future", the_past_is_deaf)],
        ),
        Task(
            id="8.7", name="is_causal", title="Catch a function looking ahead", difficulty=4,
            importance=4, minutes=10, reference=is_causal, cases=causality_cases,
            wrong=CAUSALITY_WRONG, read=f"{PAGE}#every-layer-needs-the-mask", arrays=("numpy",),
        ),
        Task(
            id="8.8", name="next_token_loss", title="The loss of next tokens", difficulty=3,
            importance=5, minutes=10, reference=next_token_loss, cases=loss_cases,
            graded_cases=drawn_loss_cases,
            wrong=LOSS_WRONG, read=f"{DEEPER}#the-loss-without-the-pads",
        ),
        Task(
            id="8.9", name="train_bigram", title="A first training run", difficulty=3,
            importance=5, minutes=15, reference=train_bigram, cases=bigram_cases,
            wrong=BIGRAM_WRONG, read="chapters/01_first_lap.html#the-training-loop", slow=True,
            laws=[Law(None, "training lowers the loss", the_loss_falls)],
        ),
    ],
)  # fmt: skip
