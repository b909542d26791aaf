"""The checks of chapter 01: attention by pencil and in code, then the tasks of the deeper page."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong

LAP, PAGE = "chapters/01_first_lap.html", "chapters/01_first_lap_deeper.html"


# 1.1 One output with a pencil

VALUES = np.array([[8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])


def pencil(*weights):
    """What an answer with these weights says, if it averages the values with them."""
    return {"weights": list(weights), "output": (np.array(weights) @ VALUES).tolist()}


def shares(*numbers):
    return [number / sum(numbers) for number in numbers]


BY_PENCIL = pencil(1 / 2, 1 / 8, 3 / 8)
LEFT_OUT = ([4, 4], [7, 1], [4, 1], [3, 4], [7, 3])  # the third value, the first, the second
PENCIL_WRONG = [
    Wrong("M01", pencil(*shares(16, 1, 9))),
    Wrong("M02", pencil(*shares(2, 1, 3**0.5))),
    Wrong("M620", pencil(*shares(math.log(4), 0, math.log(3)))),
    Wrong("M620", pencil(math.log(4), 0, math.log(3))),
    Wrong("M621", pencil(4, 1, 3)),
    Wrong("M621", {**BY_PENCIL, "weights": [4, 1, 3]}),
    Wrong("M1256", pencil(*shares(4, 0, 3))),
    Wrong("M1256", pencil(1 / 2, 0, 3 / 8)),
    Wrong("M17", pencil(1 / 3, 1 / 3, 1 / 3)),
    Wrong("M16", pencil(1, 0, 0)),
    Wrong("M622", {**BY_PENCIL, "output": [16, 16]}),
    Wrong("M622", {**BY_PENCIL, "output": [16 / 3, 16 / 3]}),
    Wrong("M623", {**BY_PENCIL, "output": [4, 7]}),
    *(Wrong("M961", {**BY_PENCIL, "output": output}) for output in LEFT_OUT),
]


# 1.2 Attention in a window


def last_few(n, window):
    """The mask: each token and the window - 1 tokens before it."""
    return np.tri(n) - np.tri(n, k=-window)


def attend_nearby(q, k, v, window, *, scale=None, axis=-1, allowed=last_few, forbidden=-np.inf,
                  weigh=None, after=None):  # fmt: skip
    """Causal attention in a window; its parts are exchangeable: each misconception is one line."""
    scores = q @ k.T * (1 / np.sqrt(k.shape[-1]) if scale is None else scale)
    mask = allowed(len(q), window) == 1
    powers = np.exp(np.where(mask, scores, forbidden))
    weights = powers / powers.sum(axis, keepdims=True) if weigh is None else weigh(powers)
    return (weights if after is None else after(weights, last_few(len(q), window))) @ v


def qkv_cases(rng):
    def draw(n, d_k, d_v, window):
        arrays = tuple(rng.normal(size=(n, size)) for size in (d_k, d_k, d_v))
        about = f"{n} tokens, d_k = {d_k}, d_v = {d_v}, window = {window}"
        return Case((*arrays, window), about=about)

    return [draw(3, 3, 3, 2), draw(5, 4, 2, 3), draw(7, 2, 4, 4), draw(4, 3, 2, 1),
            draw(4, 2, 4, 9)]  # fmt: skip


def changed(**changes):
    return lambda q, k, v, window: attend_nearby(q, k, v, window, **changes)


def everywhere(n, window):
    return np.ones((n, n))


def not_itself(n, window):
    """The tokens before it alone; the first row must not be empty."""
    return np.tri(n, k=-1) - np.tri(n, k=-window - 1) + np.eye(n)[[0]].T @ np.eye(n)[[0]]


def near_on_both_sides(n, window):
    return last_few(n, window) + last_few(n, window).T - np.eye(n)


def slices(q, k, v, window):
    """A slice of keys for each query; a negative start counts from the end."""
    rows = []
    for i, query in enumerate(q):
        near = slice(i - window + 1, i + 1)
        powers = np.exp(k[near] @ query / np.sqrt(q.shape[1]))
        rows.append(powers @ v[near] / (powers.sum() or 1))
    return np.array(rows)


def ends_before_itself(nobody):
    """The window without the token; `nobody` is the sum where no key is left."""

    def weigh(powers):
        total = powers.sum(-1, keepdims=True)
        return powers / np.where(total == 0, nobody, total)

    return changed(allowed=lambda n, w: last_few(n, w) - np.eye(n), weigh=weigh)


CAUSAL_WRONG = [
    Wrong("M1304", ends_before_itself(1)),
    Wrong("M1304", ends_before_itself(np.nan)),
    Wrong("M1200", slices),
    Wrong("M01", changed(scale=1.0)),
    Wrong("M02", lambda q, k, v, w: attend_nearby(q, k, v, w, scale=1 / k.shape[-1])),
    Wrong("M04", lambda q, k, v, w: attend_nearby(q, k, v, w, scale=k.shape[-1] ** 0.5)),
    Wrong("M85", lambda q, k, v, w: attend_nearby(q, k, v, w, scale=len(q) ** -0.5)),
    Wrong("M05", lambda q, k, v, w: attend_nearby(q, k.T, v, w)),
    Wrong("M06", lambda q, k, v, w: attend_nearby(k, q, v, w)),
    Wrong("M07", lambda q, k, v, w: attend_nearby(q, v, v, w)),
    Wrong("M11", changed(axis=0)),
    Wrong("M12", changed(axis=None)),
    Wrong("M15", changed(weigh=lambda powers: powers / powers.sum(-1))),
    Wrong("M17", changed(weigh=lambda powers: (powers > 0) / (powers > 0).sum(-1, keepdims=True))),
    Wrong("M621", changed(weigh=lambda powers: powers)),
    Wrong("M20", changed(forbidden=0.0)),
    Wrong("M20+M01", changed(scale=1.0, forbidden=0.0)),
    Wrong("M21", changed(allowed=everywhere, after=lambda weights, mask: weights * mask)),
    Wrong("M22", changed(allowed=not_itself)),
    Wrong("M23", changed(allowed=lambda n, window: last_few(n, window).T)),
    Wrong("M24", changed(allowed=everywhere)),
    Wrong("M624", changed(allowed=lambda n, w: np.tri(n, k=1) - np.tri(n, k=-w))),
    Wrong("M625", lambda q, k, v, w: attend_nearby(q, k, np.eye(len(v)), w)),
    Wrong("M730", changed(allowed=lambda n, w: last_few(n, w + 1))),
    Wrong("M730", changed(allowed=lambda n, w: last_few(n, max(w - 1, 1)))),
    Wrong("M731", changed(allowed=lambda n, w: np.tri(n))),
    Wrong("M732", changed(allowed=near_on_both_sides)),
    Wrong("M732", changed(allowed=lambda n, w: 1 - np.tri(n, k=-w))),
    Wrong("M732", changed(allowed=lambda n, w: np.tri(n, k=w - 1))),
    Wrong("M733", changed(allowed=lambda n, w: np.tri(n) * (np.arange(n) < w))),
]


# 1.3 Four programs

SYMPTOMS = {"A": "b", "B": "a", "C": "c", "D": "e"}


def but(program, *letters):
    """The right answers but for one program."""
    return [{**SYMPTOMS, program: letter} for letter in letters]


SYMPTOMS_WRONG = [
    *(Wrong("M626", answer) for answer in but("A", "a", "c", "d", "e")),
    *(Wrong("M627", answer) for answer in but("B", "b", "c", "d", "e")),
    *(Wrong("M628", answer) for answer in but("C", "a", "b", "d", "e")),
    *(Wrong("M629", answer) for answer in but("D", "a", "b", "c", "d")),
]


# 1.4 A bag of words


def bag(ids, vocab):
    """How often each word of the vocabulary occurs."""
    return np.bincount(ids, minlength=vocab).astype(float)


def text_cases(rng):
    def draw(n, vocab):
        ids = rng.integers(1, vocab - 1, size=n)
        ids[[0, 3]] = ids[1]  # one word thrice at least
        ids[2] = (ids[1] + 1) % vocab
        return Case((rng.permutation(ids), vocab), about=f"{n} words of a vocabulary of {vocab}")

    return [draw(5, 7), draw(11, 7), draw(7, 13)]


def _set(ids, vocab):
    return (bag(ids, vocab) > 0).astype(float)


def _log(ids, vocab):
    return np.log1p(bag(ids, vocab))


def _last(ids, vocab):
    return np.eye(vocab)[ids[-1]]


def _ids_added(ids, vocab):
    return bag(ids, vocab) * np.arange(vocab)


def _padded(ids, vocab):
    counts = np.zeros(max(vocab, len(ids)))
    counts[: len(ids)] = ids
    return counts[:vocab]


def _by_length(ids, vocab):
    counts = bag(ids, vocab)
    return counts / np.sqrt((counts**2).sum())


BAG = [
    Wrong("M360", _set),
    Wrong("M360", lambda ids, vocab: bag(ids, vocab) > 0),
    Wrong("M360", _log),
    Wrong("M361", lambda ids, vocab: bag(ids, vocab) / len(ids)),
    Wrong("M361", _by_length),
    Wrong("M361", lambda ids, vocab: bag(ids, vocab) / vocab),
    Wrong("M361", lambda ids, vocab: bag(ids, vocab) / bag(ids, vocab).max()),
    Wrong("M361", lambda ids, vocab: bag(ids, vocab) - len(ids) / vocab),
    Wrong("M378", lambda ids, vocab: np.roll(bag(ids, vocab), -1)),
    Wrong("M378", lambda ids, vocab: np.roll(bag(ids, vocab), 1)),
    Wrong("M378", lambda ids, vocab: np.append(bag(ids, vocab), 0)),
    Wrong("M378", lambda ids, vocab: np.append(0, bag(ids, vocab))),
    Wrong("M362", _last),
    Wrong("M362", lambda ids, vocab: np.eye(vocab)[ids[0]]),
    Wrong("M362", lambda ids, vocab: np.eye(vocab)[ids]),
    Wrong("M362", _padded),
    Wrong("M362", _ids_added),
    Wrong("M362", lambda ids, vocab: np.sort(ids)),
    Wrong("M362", lambda ids, vocab: np.unique(ids)),
    Wrong("M990", lambda ids, vocab: np.unique(ids, return_counts=True)[1]),
    Wrong("M990", lambda ids, vocab: list(Counter(ids.tolist()).values())),
    Wrong("M818", lambda ids, vocab: np.bincount(ids)),
    Wrong("M362", lambda ids, vocab: np.full(vocab, len(ids))),
]


# 1.5 TF-IDF


def tf_idf(counts):
    """Each count times the logarithm of: texts by texts with the word."""
    inside = (counts > 0).sum(0)
    return counts * np.log(len(counts) / inside)


def count_cases(rng):
    def draw(texts, vocab):
        counts = rng.integers(1, 5, size=(texts, vocab)) * (rng.random((texts, vocab)) < 0.6)
        counts[0] = np.where(counts.sum(0) == 0, 2, counts[0])
        counts[:, 0] = rng.integers(1, 4, size=texts)  # a word that is everywhere
        counts[:, 1] = 0
        counts[0, 1] = 3  # and one in the first text alone
        return Case((counts.astype(float),), about=f"{texts} texts, {vocab} words")

    return [draw(3, 5), draw(7, 4), draw(5, 11)]


def _idf(counts):
    return np.log(len(counts) / (counts > 0).sum(0))


def _of_shares(counts):
    return counts / counts.sum(1, keepdims=True) * _idf(counts)


def _rows_of_length_1(counts):
    rows = tf_idf(counts)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def _by_odds(counts):
    inside = (counts > 0).sum(0)
    return counts * np.log(np.maximum(len(counts) - inside, 1e-9) / inside)


TF_IDF = [
    Wrong("M363", lambda c: c * np.log(c.sum() / c.sum(0))),
    Wrong("M363", lambda c: c * np.log(len(c) / c.sum(0))),
    Wrong("M1203", lambda c: c * np.log(c.shape[1] / (c > 0).sum(0))),
    Wrong("M363", lambda c: c * np.log(len(c) / (c > 0).sum(1, keepdims=True))),
    Wrong("M363", lambda c: c * np.log(c.shape[1] / (c > 0).sum(1, keepdims=True))),
    Wrong("M364", lambda c: c * (_idf(c) + 1)),
    Wrong("M364", lambda c: c * np.log(len(c) / (1 + (c > 0).sum(0)))),
    Wrong("M364", lambda c: c * np.log((1 + len(c)) / (1 + (c > 0).sum(0)))),
    Wrong("M364", lambda c: c * (np.log((1 + len(c)) / (1 + (c > 0).sum(0))) + 1)),
    Wrong("M364", lambda c: c * np.log1p(len(c) / (c > 0).sum(0))),
    Wrong("M364", lambda c: c * len(c) / (c > 0).sum(0)),
    Wrong("M364", lambda c: c / (c > 0).sum(0)),
    Wrong("M364", lambda c: c * (c > 0).sum(0) / len(c)),
    Wrong("M364", lambda c: c * (np.log2(len(c) / (c > 0).sum(0)) + 1)),
    Wrong("M364", lambda c: c * _idf(c) ** 2),
    Wrong("M364", _by_odds),
    Wrong("M376", lambda c: -c * _idf(c)),
    Wrong("M376", lambda c: c * _idf(c) / np.log(2)),
    Wrong("M376", lambda c: c * _idf(c) / np.log(10)),
    Wrong("M361", _of_shares),
    Wrong("M361", lambda c: c / c.max(1, keepdims=True) * _idf(c)),
    Wrong("M361", lambda c: c / c.sum(0) * _idf(c)),
    Wrong("M361", _rows_of_length_1),
    Wrong("M360", lambda c: (c > 0) * _idf(c)),
    Wrong("M360", lambda c: np.log1p(c) * _idf(c)),
    Wrong("M360", lambda c: np.sqrt(c) * _idf(c)),
    Wrong("M360", lambda c: (c > 0) * (1 + np.log(np.maximum(c, 1))) * _idf(c)),
    Wrong("M365", lambda c: c + 0),
    Wrong("M365", lambda c: _idf(c) + 0 * c),
    Wrong("M365", _idf),
    Wrong("M365", lambda c: c + _idf(c)),
    Wrong("M365", lambda c: np.log(np.maximum(c, 1) * len(c) / (c > 0).sum(0))),
]


# 1.6 What passes through a tanh


def passes(weight, states):
    """The derivative of the last state by the one before the first: a factor for each step."""
    return float(np.prod(weight * (1 - states**2)))


def state_cases(rng):
    def draw(n, low, high, loudness=1.0):
        weight = round(float(rng.uniform(low, high)), 2)
        states = np.tanh(loudness * rng.normal(size=n))
        return Case((weight, states), about=f"{n} states, weight {weight}")

    by_hand = Case((1.25, np.array([0.6, 0.6])), about="two steps of the example by hand")
    explodes = draw(4, 1.6, 1.9, loudness=0.2)
    negative = draw(3, -1.6, -1.1)  # an odd number of steps, so that the product is below 0
    return [by_hand, draw(3, 1.2, 1.9), draw(5, 0.5, 0.9), negative, explodes]


PASSES = [
    Wrong("M366", lambda u, h: u ** len(h)),
    Wrong("M366", lambda u, h: abs(u) ** len(h)),
    Wrong("M366", lambda u, h: np.prod(u * h)),
    Wrong("M366", lambda u, h: np.prod(u * (1 - h))),
    Wrong("M366", lambda u, h: np.prod(u * (1 + h**2))),
    Wrong("M366", lambda u, h: np.prod(u * (1 - np.tanh(h) ** 2))),
    Wrong("M366", lambda u, h: np.prod(u * (1 - np.tanh(u * h) ** 2))),
    Wrong("M366", lambda u, h: np.prod(u * h * (1 - h))),
    Wrong("M366", lambda u, h: np.prod(u * np.sqrt(1 - h**2))),
    Wrong("M366", lambda u, h: np.prod(u * np.abs(h))),
    Wrong("M366", lambda u, h: np.prod(u * (1 - h) ** 2)),
    Wrong("M366", lambda u, h: np.prod(u * (1 - 2 * h))),
    Wrong("M366", lambda u, h: np.prod(-2 * u * h)),
    Wrong("M366", lambda u, h: np.prod(u * (1 - (u * h) ** 2))),
    Wrong("M366", lambda u, h: np.prod(1 - (u * h) ** 2)),
    Wrong("M366", lambda u, h: np.prod(1 - u * h**2)),
    Wrong("M366", lambda u, h: np.prod(u - h**2)),
    Wrong("M366+M367", lambda u, h: np.prod(1 - np.tanh(h) ** 2)),
    Wrong("M367", lambda u, h: np.prod((1 - h**2) / u)),
    Wrong("M367", lambda u, h: np.prod(u + 1 - h**2)),
    Wrong("M367", lambda u, h: u * len(h) * np.prod(1 - h**2)),
    Wrong("M367", lambda u, h: np.prod(1 - h**2)),
    Wrong("M367", lambda u, h: u * np.prod(1 - h**2)),
    Wrong("M368", lambda u, h: np.sum(u * (1 - h**2))),
    Wrong("M368", lambda u, h: np.mean(u * (1 - h**2))),
    Wrong("M368", lambda u, h: (u * np.mean(1 - h**2)) ** len(h)),
    Wrong("M368", lambda u, h: (u * (1 - h[-1] ** 2)) ** len(h)),
    Wrong("M368", lambda u, h: np.prod(u * (1 - h[1:] ** 2))),
    Wrong("M368", lambda u, h: np.prod(u * (1 - h[:-1] ** 2))),
    Wrong("M368", lambda u, h: u ** (len(h) - 1) * np.prod(1 - h**2)),
    Wrong("M368", lambda u, h: u ** (len(h) + 1) * np.prod(1 - h**2)),
    Wrong("M368", lambda u, h: u * (1 - h[-1] ** 2)),
    Wrong("M368", lambda u, h: u * (1 - h[0] ** 2)),
    Wrong("M368", lambda u, h: u * (1 - h**2)),
    Wrong("M368", lambda u, h: np.cumprod(u * (1 - h**2))),
    Wrong("M368", lambda u, h: u ** len(h) * (1 - np.sum(h**2))),
    Wrong("M377", lambda u, h: abs(passes(u, h))),
    Wrong("M377", lambda u, h: min(1.0, passes(u, h))),
    Wrong("M377", lambda u, h: math.log(abs(passes(u, h)))),
]


# 1.7 When less than a share is left


def steps_until(factor, share):
    """The fewest steps after which less than the share is left."""
    factor, share, steps = Fraction(str(factor)), Fraction(str(share)), 1
    while factor**steps >= share:  # exact: a quotient of logarithms may round down
        steps += 1
    return steps


def factor_cases(rng):
    def draw(low, high, share):
        while True:  # the quotient must lie clear of a whole number and of a half
            factor = round(float(rng.uniform(low, high)), 3)
            part = math.log(share) / math.log(factor) % 1
            if 0.1 < part < 0.4:
                return Case((factor, share), about=f"factor {factor}, less than {share}")

    whole = Case((0.5, 0.25), about="factor 0.5, less than 0.25: two steps leave exactly 0.25")
    return [whole, draw(0.9, 0.96, 0.01), draw(0.6, 0.8, 0.05), draw(0.96, 0.99, 0.2)]


def drawn_factor_cases(rng):
    """Exactly the share is left; in eighths, so that powers and logarithms are exact, too."""
    whole = [(n / 8, (n / 8) ** 2) for n in (2, 3, 5, 6, 7)]
    whole += [(0.25, 0.25**3), (0.5, 0.5**3), (0.5, 0.5**4)]
    return [
        Case(whole[n], about="factor {}, less than {}".format(*whole[n]))
        for n in rng.permutation(len(whole))[:3]
    ]


STEPS = [
    Wrong("M369", lambda f, s: math.ceil(math.log(s) / math.log(f)) - 1),
    Wrong("M369", lambda f, s: math.floor(math.log(s) / math.log(f))),
    Wrong("M1207", lambda f, s: math.ceil(math.log(s) / math.log(f))),
    Wrong("M369", lambda f, s: round(math.log(s) / math.log(f))),
    Wrong("M369", lambda f, s: math.floor(math.log(s) / math.log(f)) + 2),
    Wrong("M369", lambda f, s: math.log(s) / math.log(f)),
    Wrong("M369", lambda f, s: math.log(s) / math.log(f) + 1),
    Wrong("M396", lambda f, s: math.floor((1 - s) / (1 - f)) + 1),
    Wrong("M396", lambda f, s: math.ceil((1 - s) / (1 - f))),
    Wrong("M396", lambda f, s: math.floor(1 / (1 - f)) + 1),
    Wrong("M396", lambda f, s: math.floor(1 / s) + 1),
    Wrong("M396", lambda f, s: math.floor(f / s) + 1),
    Wrong("M396", lambda f, s: math.floor(s / (1 - f)) + 1),
    Wrong("M396", lambda f, s: math.ceil(1 / (s * f))),
    Wrong("M397", lambda f, s: math.floor(math.log(f) / math.log(s)) + 1),
    Wrong("M397", lambda f, s: math.floor(-math.log(s)) + 1),
    Wrong("M397", lambda f, s: math.floor(math.log2(s) / math.log(f)) + 1),
    Wrong("M397", lambda f, s: math.floor(math.log10(s) / math.log(f)) + 1),
    Wrong("M397", lambda f, s: math.floor(math.log(s) * math.log(f)) + 1),
    Wrong("M397", lambda f, s: math.floor(-math.log(s) / (1 - f)) + 1),
    Wrong("M397", lambda f, s: math.floor(math.log(f) - math.log(s)) + 1),
    Wrong("M397", lambda f, s: math.floor(math.log(0.5) / math.log(f)) + 1),
    Wrong("M1257", lambda f, s: steps_until(1 - f, s)),
    Wrong("M1257+M1207", lambda f, s: math.ceil(math.log(s) / math.log(1 - f))),
    Wrong("M1258", lambda f, s: steps_until(f, 1 - s)),
]


# 1.8 The longest text that a state can hold


def longest(numbers, bits, vocab):
    """The longest length at which every text can have a state of its own."""
    n, states = 0, 2 ** (numbers * bits)
    while vocab ** (n + 1) <= states:
        n += 1
    return n


def size_cases(rng):
    whole = Case((3, 8, 64), about="3 numbers of 8 bits, 64 words: exactly 4")
    sizes = [(rng.integers(3, 9), 16, 29), (rng.integers(9, 17), 8, 11), (5, 32, 1009)]
    sizes += [(5, 7, 32), (3, 17, 2)]  # exact powers, which a logarithm of floats may miss
    drawn = [
        Case(tuple(map(int, size)), about=f"{size[0]} numbers of {size[1]} bits, {size[2]} words")
        for size in sizes
    ]
    return [whole, *drawn]


def counts_many_states(answer, case):
    """There are more of them than a float can count, whose largest is near 2**1024."""
    numbers, bits, vocab = size = (80, 16, 1009)
    got = answer(*size)
    return got == longest(*size) or f"for {numbers} numbers of {bits} bits, {vocab} words: {got}"


def drawn_size_cases(rng):
    """Exact powers, which a logarithm of floats may miss, whatever is rounded."""
    powers = [(d, b, 2**k) for d in range(3, 12) for b in range(5, 18) for k in range(1, 8)
              if d * b % k == 0 and d * b <= 70]  # fmt: skip
    about = "{} numbers of {} bits, {} words"
    drawn = [powers[n] for n in rng.permutation(len(powers))[:3]]
    drawn.append((5, 32, 2 * int(rng.integers(500, 900)) + 1))
    return [Case(size, about=about.format(*size)) for size in drawn]


def _quotient(numbers, bits, vocab):
    return numbers * bits / math.log2(vocab)


LONGEST = [
    Wrong("M398", lambda d, b, v: d * b // v),
    Wrong("M398", lambda d, b, v: 2**b * d // v),
    Wrong("M398", lambda d, b, v: math.floor(d * b / math.log(v))),
    Wrong("M398", lambda d, b, v: math.floor(d * b / math.log10(v))),
    Wrong("M398", lambda d, b, v: math.floor(2 ** (d * b) / v)),
    Wrong("M398", lambda d, b, v: math.floor(d * b / math.log2(d * b))),
    Wrong("M398", lambda d, b, v: d * b),
    Wrong("M398", lambda d, b, v: d),
    Wrong("M398", lambda d, b, v: math.floor(d / math.log2(v))),
    Wrong("M398", lambda d, b, v: math.floor(b / math.log2(v))),
    Wrong("M398", lambda d, b, v: math.floor(d * b / 8 / math.log2(v))),
    Wrong("M398", lambda d, b, v: math.floor(8 * d * b / math.log2(v))),
    Wrong("M398", lambda d, b, v: math.floor(math.log2(d * b))),
    Wrong("M1208", lambda d, b, v: math.floor(math.log(d * b) / math.log(v))),
    Wrong("M398", lambda d, b, v: math.floor((d + b) / math.log2(v))),
    Wrong("M398", lambda d, b, v: math.floor((math.log2(d) + b) / math.log2(v))),
    Wrong("M398", lambda d, b, v: math.floor(d * math.log2(b) / math.log2(v))),
    Wrong("M398", lambda d, b, v: math.floor(b * math.log2(d) / math.log2(v))),
    Wrong("M398", lambda d, b, v: 2 ** (d * b)),
    Wrong("M398", lambda d, b, v: math.floor(2 ** (d * b / v))),
    Wrong("M1373", lambda d, b, v: d * math.floor(b / math.log2(v))),
    Wrong("M1373", lambda d, b, v: d * b // math.ceil(math.log2(v))),
    Wrong("M369", lambda d, b, v: longest(d, b, v) + 1),
    Wrong("M369", lambda d, b, v: longest(d, b, v) - 1),
    Wrong("M369", lambda d, b, v: math.ceil(_quotient(d, b, v))),
    Wrong("M369", lambda d, b, v: math.ceil(_quotient(d, b, v)) - 1),
    Wrong("M369", _quotient),
]


# 1.9 Work, steps and paths


def _layers(n, k):
    layers = 0
    while k**layers < n:
        layers += 1
    return layers


def costs(n, d, k):
    """The table of Vaswani et al. for attention, recurrence and convolution, in whole numbers."""
    return np.array(
        [[n * n * d, 1, 1], [n * d * d, n, n], [k * n * d * d, 1, _layers(n, k)]], float
    )


def layer_cases(rng):
    def draw(n, k):
        d = int(rng.integers(20, 30))
        return Case((n, d, k), about=f"{n} words, width {d}, window {k}")

    # 5**3 exactly, and one more than 3**3: logarithms round, and the next layer begins there.
    lengths = [int(rng.integers(12, 19)), int(rng.integers(40, 80)), 125, 28]
    return [draw(n, k) for n, k in zip(lengths, (3, 2, 5, 3), strict=True)]


def _changed(*changes):
    """The table with some entries (row, column, number) put in place of the right ones."""

    def answer(n, d, k):
        table = costs(n, d, k).astype(float)
        for i, j, value in changes:
            table[i, j] = value(n, d, k)
        return table

    return answer


def _swapped_work(n, d, k):
    table = costs(n, d, k)
    table[:2, 0] = table[1::-1, 0]
    return table


COSTS = [
    Wrong("M399", _swapped_work),
    Wrong("M399", _changed((0, 0, lambda n, d, k: n * d))),
    Wrong("M399", _changed((0, 0, lambda n, d, k: n * d * d))),
    Wrong("M399", _changed((1, 0, lambda n, d, k: n * n * d))),
    Wrong("M399", _changed((1, 0, lambda n, d, k: n * d))),
    Wrong("M399", _changed((0, 0, lambda n, d, k: n * n * d * d))),
    Wrong("M399", _changed((0, 0, lambda n, d, k: n * n))),
    Wrong("M399", _changed((2, 0, lambda n, d, k: n * d * d))),
    Wrong("M399", _changed((2, 0, lambda n, d, k: k * n * d))),
    Wrong("M399", _changed((0, 0, lambda n, d, k: 2 * n * n * d))),
    Wrong("M399", _changed((0, 0, lambda n, d, k: n * n * d + n * d * d))),
    Wrong("M399", _changed((0, 0, lambda n, d, k: n * n * d + 4 * n * d * d))),
    Wrong("M399", _changed((1, 0, lambda n, d, k: 2 * n * d * d))),
    Wrong("M399", _changed((1, 0, lambda n, d, k: n * n * d * d))),
    Wrong("M399", _changed((1, 0, lambda n, d, k: d * d))),
    Wrong("M399", _changed((2, 0, lambda n, d, k: k * k * n * d * d))),
    Wrong("M399", _changed((2, 0, lambda n, d, k: k * n * n * d))),
    Wrong("M399", _changed((2, 0, lambda n, d, k: k * n * d * d * _layers(n, k)))),
    Wrong("M374", _changed((0, 1, lambda n, d, k: n))),
    Wrong("M374", _changed((0, 1, lambda n, d, k: 0))),
    Wrong("M374", _changed((0, 1, lambda n, d, k: math.ceil(math.log2(n))))),
    Wrong("M374", _changed((1, 1, lambda n, d, k: n * d))),
    Wrong("M374", _changed((2, 1, lambda n, d, k: _layers(n, k)))),
    Wrong("M374", _changed((0, 1, lambda n, d, k: n * n))),
    Wrong("M374", _changed((1, 1, lambda n, d, k: 1))),
    Wrong("M374", _changed((1, 1, lambda n, d, k: d))),
    Wrong("M374", _changed((2, 1, lambda n, d, k: n))),
    Wrong("M374", _changed((2, 1, lambda n, d, k: k))),
    Wrong("M375", _changed((0, 2, lambda n, d, k: n))),
    Wrong("M375", _changed((1, 2, lambda n, d, k: 1))),
    Wrong("M375", _changed((1, 2, lambda n, d, k: math.ceil(math.log2(n))))),
    Wrong("M375", _changed((2, 2, lambda n, d, k: 1))),
    Wrong("M375", _changed((2, 2, lambda n, d, k: math.ceil(n / k)))),
    Wrong("M375", _changed((2, 2, lambda n, d, k: math.ceil((n - 1) / (k - 1))))),
    Wrong("M375", _changed((2, 2, lambda n, d, k: k))),
    Wrong("M375", _changed((0, 2, lambda n, d, k: 0))),
    Wrong("M375", _changed((2, 2, lambda n, d, k: n))),
    Wrong("M375", _changed((2, 2, lambda n, d, k: math.ceil(math.log(n))))),
    Wrong("M375", _changed((2, 2, lambda n, d, k: math.ceil(math.log2(n))))),
    Wrong("M369", _changed((1, 1, lambda n, d, k: n - 1))),
    Wrong("M369", _changed((1, 2, lambda n, d, k: n - 1))),
    Wrong("M369", _changed(*((1, j, lambda n, d, k: n - 1) for j in (1, 2)))),
    Wrong("M369", _changed((2, 2, lambda n, d, k: math.log(n) / math.log(k)))),
    Wrong("M369", _changed((2, 2, lambda n, d, k: _layers(n, k) - 1))),
    Wrong("M369", _changed((2, 2, lambda n, d, k: int(math.log(n, k))))),
    Wrong("M369", _changed((2, 2, lambda n, d, k: _layers(n, k) + 1))),
    Wrong("M379", lambda n, d, k: costs(n, d, k).T),
    Wrong("M379", lambda n, d, k: costs(n, d, k)[:, [0, 2, 1]]),
    Wrong("M379", lambda n, d, k: costs(n, d, k)[[1, 0, 2]]),
    Wrong("M379", lambda n, d, k: costs(n, d, k)[[0, 2, 1]]),
]


EXERCISE = Exercise(
    chapter="01",
    title="The first lap",
    tasks=[
        Task(
            id="1.1", name="by_pencil", title="One output with a pencil", difficulty=1,
            importance=5, minutes=8, reference=BY_PENCIL, wrong=PENCIL_WRONG,
            read=f"{LAP}#by-hand",
        ),
        Task(
            id="1.2", name="attend_nearby", title="Attention in a window", difficulty=2,
            importance=5, minutes=15, reference=attend_nearby, cases=qkv_cases,
            wrong=CAUSAL_WRONG, read=f"{LAP}#the-mask-one-line-more",
        ),
        Task(
            id="1.3", name="symptoms", title="Four programs", difficulty=3, importance=5,
            minutes=12, reference=SYMPTOMS, wrong=SYMPTOMS_WRONG,
            read=f"{LAP}#the-mask-one-line-more",
        ),
        Task(
            id="1.4", name="bag", title="A bag of words", difficulty=1, importance=3, minutes=6,
            reference=bag, cases=text_cases, wrong=BAG, read=f"{PAGE}#a-text-as-numbers",
        ),
        Task(
            id="1.5", name="tf_idf", title="TF-IDF", difficulty=2, importance=2, minutes=8,
            reference=tf_idf, cases=count_cases, wrong=TF_IDF, read=f"{PAGE}#a-text-as-numbers",
        ),
        Task(
            id="1.6", name="passes", title="What passes through a tanh", difficulty=3,
            importance=5, minutes=8, reference=passes, cases=state_cases, wrong=PASSES,
            read=f"{PAGE}#by-hand",
        ),
        Task(
            id="1.7", name="steps_until", title="When less than a share is left", difficulty=2,
            importance=3, minutes=8, reference=steps_until, cases=factor_cases, wrong=STEPS,
            graded_cases=drawn_factor_cases,
            read=f"{PAGE}#what-arrives-from-far-away",
        ),
        Task(
            id="1.8", name="longest", title="The longest text that a state can hold",
            difficulty=3, importance=3, minutes=8, reference=longest, cases=size_cases,
            graded_cases=drawn_size_cases, wrong=LONGEST,
            laws=[Law(None, "it holds for 2**1280 states as well", counts_many_states,
                      own_numbers=True)],
            read=f"{PAGE}#one-vector-for-a-whole-sentence",
        ),
        Task(
            id="1.9", name="costs", title="Work, steps and paths", difficulty=3, importance=5,
            minutes=12, reference=costs, cases=layer_cases, wrong=COSTS,
            read=f"{PAGE}#what-it-costs",
        ),
    ],
)  # fmt: skip
