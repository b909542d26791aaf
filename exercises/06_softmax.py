"""The checks of chapter 06: repeated keys, temperature, inverse, Jacobian, entropy and merging."""

import math

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from lib import functional
from lib.functional import RunningSoftmax

PAGE = "chapters/06_softmax.html"
DEEPER = "chapters/06_softmax_deeper.html"


def _shares(exponentials):
    return exponentials / exponentials.sum(-1, keepdims=True)


def _near(level, rng, shape, step=1 / 64):
    """Random scores near a level, exact in float32 too, which rounds 800.1 by 0.00002."""
    return level + step * np.round(64 * rng.normal(size=shape))


def _sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


# 6.1 Three weights by hand


def _sum_subtracted(scores):
    low = scores - scores.max(-1, keepdims=True)
    return low - np.exp(low).sum(-1, keepdims=True)


def _divided_by_logarithm(scores):
    low = scores - scores.max(-1, keepdims=True)
    return low / np.log(np.exp(low).sum(-1, keepdims=True))


LOGARITHMS = np.log(np.array([1.0, 2.0, 5.0]))
OF_THE_NUMBERS = functional.softmax(np.array([1.0, 2.0, 5.0]))
BY_HAND = [
    Wrong("M161", LOGARITHMS / LOGARITHMS.sum()),
    *(Wrong("M161", np.round(LOGARITHMS / LOGARITHMS.sum(), places)) for places in (1, 2, 3)),
    Wrong("M176", np.array([1.0, 2.0, 5.0])),
    Wrong("M1363", OF_THE_NUMBERS),
    *(Wrong("M1363", np.round(OF_THE_NUMBERS, places)) for places in (2, 3, 4)),
    Wrong("M16", np.array([0.0, 0.0, 1.0])),
    Wrong("M17", np.full(3, 1 / 3)),
    Wrong("M18", _sigmoid(LOGARITHMS)),
    Wrong("M19", functional.softmax(functional.softmax(LOGARITHMS))),
    Wrong("M646", np.array([0.0, 2.0, 5.0]) / 7),
    *(Wrong("M646", np.round(np.array([0.0, 2.0, 5.0]) / 7, places)) for places in (2, 3)),
]


# 6.2 Keys that occur several times

APART = np.array([[0.5, 1.25, -0.25], [-900.5, -901.25, -899.75]])
COPIES = np.array([2, 1, 5])  # (key,)


def weights_of_copies(scores, counts):
    """The weight that all copies of each key get together."""
    return functional.softmax(scores + np.log(counts))


def copies_cases(rng):
    far_below = np.array([[-0.3, -0.7, 0.4], [0.2, -800.3, -0.5]])
    wide = np.array([[-900.25, 799.75, -899.5, 799.5, -900.5]])
    five = np.array([1, 3, 2, 7, 1])
    return [
        Case((rng.normal(size=(2, 3)), COPIES), about="2 queries, 3 keys with 2, 1 and 5 copies"),
        Case((rng.normal(size=(3, 3)), COPIES), about="3 queries, 3 keys with 2, 1 and 5 copies"),
        Case(
            (rng.normal(size=(2, 5)), five), about="2 queries, 5 keys with 1, 3, 2, 7 and 1 copies"
        ),
        Case((_near(800, rng, (2, 3)), COPIES), about="scores near 800: exp(800) overflows"),
        Case((far_below, COPIES), about="one score of -800 in a row of small ones"),
        Case((APART, COPIES), about="one row near 0, one near -900"),
        Case((wide, five), about="scores near 800 and near -900 in one row"),
    ]


def drawn_copies_cases(rng):
    """The levels of the fixed cases, with other scores and other numbers of copies."""
    return [
        Case((scores, rng.integers(1, 8, size=scores.shape[-1])), about="scores far apart")
        for scores in (_apart(rng), _one_far_below(rng), _both_far(rng))
    ]


def _apart(rng):
    """One row near 0, one near -900."""
    return np.stack([_near(0, rng, 3), _near(-900, rng, 3)])


def _one_far_below(rng):
    """One score near -800 in a row of small ones."""
    scores = _near(0, rng, (2, 3))
    scores[rng.integers(2), rng.integers(3)] -= 800
    return scores


def _both_far(rng):
    """Scores near 800 and near -900 in one row."""
    return np.where(np.arange(5) % 2, _near(800, rng, (1, 5)), _near(-900, rng, (1, 5)))


def _counted(scores, counts, shift=0.0):
    return counts * np.exp(scores - shift)


def _highest(scores):
    return scores.max(-1, keepdims=True)


def _sums_dropped(shift):
    """Divide by sums without their axis: another shift of the rows gives other wrong numbers."""

    def answer(scores, counts):
        exponentials = _counted(scores, counts, shift(scores))
        return exponentials / exponentials.sum(-1)

    return answer


def _maximum_dropped(scores, counts):
    """Subtract maxima without their axis, and divide by sums that kept it."""
    return _shares(_counted(scores, counts, scores.max(-1)))


def _both_dropped(scores, counts):
    exponentials = _counted(scores, counts, scores.max(-1))
    return exponentials / exponentials.sum(-1)


def _of_columns(scores, counts):
    return functional.softmax(scores + np.log(counts), 0)


def _of_the_table(scores, counts):
    shifted = scores + np.log(counts)
    return functional.softmax(shifted.reshape(-1)).reshape(scores.shape)


def _mean(scores):
    return scores.mean(-1, keepdims=True)


def _lowest(scores):
    return scores.min(-1, keepdims=True)


def _all_to_the_largest(scores):
    return (scores == _highest(scores)) * 1.0


def _equal(scores):
    return np.full(scores.shape, 1 / scores.shape[-1])


COPIED = [
    Wrong("M759", lambda scores, counts: functional.softmax(scores)),
    Wrong("M760", lambda scores, counts: functional.softmax(scores * counts)),
    Wrong("M761", lambda scores, counts: counts * functional.softmax(scores)),
    Wrong("M762", lambda scores, counts: weights_of_copies(scores, counts) / counts),
    Wrong("M763", lambda scores, counts: functional.softmax(scores + counts)),
    Wrong("M11", _of_columns),
    Wrong("M12", _of_the_table),
    Wrong("M13", lambda scores, counts: _shares(_counted(scores, counts))),
    Wrong("M14", lambda scores, counts: _shares(_counted(scores, counts, scores.max(0)))),
    Wrong("M15", _sums_dropped(_highest)),
    Wrong("M15", _sums_dropped(np.max)),
    Wrong("M15", _sums_dropped(lambda scores: 0.0)),
    Wrong("M15", _maximum_dropped),
    Wrong("M15", _both_dropped),
    Wrong("M16", lambda scores, counts: _all_to_the_largest(scores)),
    Wrong("M17", lambda scores, counts: _equal(scores)),
    Wrong("M18", lambda scores, counts: counts * _sigmoid(scores)),
    Wrong("M19", lambda scores, counts: functional.softmax(weights_of_copies(scores, counts))),
    Wrong("M90", lambda scores, counts: _shares(_counted(scores, counts, _lowest(scores)))),
    Wrong("M90", lambda scores, counts: _shares(_counted(scores, counts, _mean(scores)))),
    Wrong("M91", lambda scores, counts: _shares(_counted(scores, counts, scores.max()))),
    Wrong("M176", lambda scores, counts: _counted(scores, counts, _highest(scores))),
]


# 6.3 A temperature for finished weights


def at_temperature(weights, temperature):
    """The weights at a temperature, from those at temperature 1: their logarithms are scores."""
    return functional.softmax(np.log(weights), temperature=temperature)


def temperature_cases(rng):
    def weights(*shape):
        return functional.softmax(rng.normal(size=shape))

    def close(*shape):
        return rng.normal(size=shape) / 1024

    cases = [
        Case((weights(3), 0.5), about="3 weights, T = 0.5"),
        Case((weights(5), 3.0), about="5 weights, T = 3"),
        Case((weights(2, 5), 0.7), about="2 rows of 5 weights, T = 0.7"),
        Case((weights(3, 3), 1.7), about="3 rows of 3 weights, T = 1.7"),
    ]
    cold = "T = 1/1024: 0.2 to the power 1024 rounds to 0"
    row, rows = close(5), close(2, 5)
    rows[0, 2:] = -20  # two weights near 1/2 above five near 1/5
    for name, scores in (("5 weights", row), ("2 rows of 5 weights", rows)):
        cases.append(Case((functional.softmax(scores), 1 / 1024), about=f"{name}, {cold}"))
    return cases


def _powers(weights, temperature):
    return weights ** (1 / temperature)


def _powers_of(shares):
    """Raise the shares of the largest weight to a power and forget to divide by the sum."""
    return lambda weights, temperature: _powers(weights / shares(weights), temperature)


def _rows_dropped(weights, temperature):
    powers = _powers(weights / _highest(weights), temperature)
    return powers / powers.sum(-1)


def _hot_columns(weights, temperature):
    return functional.softmax(np.log(weights), 0, temperature=temperature)


def _hot_table(weights, temperature):
    return at_temperature(weights.reshape(-1), temperature).reshape(weights.shape)


HEATED = [
    Wrong("M764", lambda weights, temperature: functional.softmax(weights / temperature)),
    Wrong("M765", lambda weights, temperature: _shares(_powers(weights, temperature))),
    Wrong(
        "M988", lambda weights, temperature: _shares(_powers(weights / weights.max(), temperature))
    ),
    Wrong("M92", lambda weights, temperature: at_temperature(weights, 1 / temperature)),
    Wrong("M178", lambda weights, temperature: weights),
    Wrong("M160", lambda weights, temperature: weights / temperature),
    Wrong("M1364", _powers),
    Wrong("M1364", _powers_of(_highest)),
    Wrong("M15", _rows_dropped),
    Wrong("M11", _hot_columns),
    Wrong("M12", _hot_table),
    Wrong("M16", lambda weights, temperature: _all_to_the_largest(weights)),
    Wrong("M17", lambda weights, temperature: _equal(weights)),
    Wrong(
        "M19", lambda weights, temperature: functional.softmax(at_temperature(weights, temperature))
    ),
]


# 6.4 Back to the scores


def _centred(scores):
    return scores - scores.mean(-1, keepdims=True)


def scores_behind(weights):
    """The scores with mean 0 in each row whose softmax these weights are."""
    return _centred(np.log(weights))


def weights_cases(rng):
    three, five = rng.normal(size=3), rng.normal(size=(2, 5))
    return [
        Case((functional.softmax(three),), about="3 weights"),
        Case((functional.softmax(five),), about="2 rows of 5 weights"),
    ]


BEHIND = [
    Wrong("M168", np.log),
    Wrong("M168", lambda weights: np.log(weights) - np.log(weights).max(-1, keepdims=True)),
    Wrong("M168", lambda weights: np.log(weights / weights.mean(-1, keepdims=True))),
    Wrong("M1068", lambda weights: weights),
    Wrong("M1068", _centred),
    Wrong("M1068", lambda weights: _centred(np.exp(weights))),
    Wrong("M1069", lambda weights: np.log(weights) / np.log(weights).mean(-1, keepdims=True)),
    Wrong("M166", lambda weights: _centred(np.log(weights / (1 - weights)))),
    Wrong("M166", lambda weights: np.log(weights / (1 - weights))),
    Wrong("M167", lambda weights: _centred(np.log2(weights))),
    Wrong("M182", lambda weights: -scores_behind(weights)),
    Wrong("M183", lambda weights: np.log(weights) - np.log(weights).mean()),
    Wrong("M15", lambda weights: np.log(weights) - np.log(weights).mean(-1)),
    Wrong("M648", lambda weights: np.log(_centred(weights))),
    Wrong("M648", lambda weights: _centred(np.log(_centred(weights)))),
]


# 6.5 Logarithms of weights


def scores_cases(rng):
    far = np.array([[0.3, -0.5, -800.2], [-0.4, 0.9, 0.1]])
    return [
        Case((rng.normal(size=(2, 3)),), about="2 rows of 3 scores"),
        Case((rng.normal(size=(3, 5)),), about="3 rows of 5 scores"),
        Case((far,), about="one score of -800: its weight rounds to 0"),
        Case((_near(900, rng, (2, 3)),), about="scores near 900: exp(900) overflows"),
        Case((APART,), about="one row near 0, one near -900"),
    ]


def drawn_scores_cases(rng):
    return [
        Case((_one_far_below(rng),), about="one score near -800: its weight rounds to 0"),
        Case((_apart(rng),), about="one row near 0, one near -900"),
    ]


def _one_maximum_for_all(scores):
    shifted = scores - scores.max()
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _logarithm_last(scores):
    with np.errstate(divide="ignore"):
        return np.log(functional.softmax(scores))


def _log_of_more(little):
    return lambda scores: np.log(functional.softmax(scores) + little)


LOGARITHM = [
    Wrong("M93", _logarithm_last),
    *(Wrong("M995", _log_of_more(little)) for little in (1e-8, 1e-9, 1e-10, 1e-12, 1e-16, 1e-300)),
    Wrong("M93+M13", lambda scores: np.log(_shares(np.exp(scores)))),
    Wrong("M13", lambda scores: scores - np.log(np.exp(scores).sum(-1, keepdims=True))),
    Wrong("M91", _one_maximum_for_all),
    Wrong("M175", lambda scores: scores - scores.max(-1, keepdims=True)),
    Wrong("M11", lambda scores: functional.log_softmax(scores, 0)),
    Wrong("M12", lambda scores: functional.log_softmax(scores.reshape(-1)).reshape(scores.shape)),
    Wrong("M167", lambda scores: functional.log_softmax(scores) / math.log(2)),
    *(Wrong("M1060", wrong) for wrong in (_sum_subtracted, _divided_by_logarithm)),
    Wrong("M947", lambda scores: -functional.log_softmax(scores)),
    Wrong("M947+M93", lambda scores: -np.log(functional.softmax(scores))),
]


# 6.6 The Jacobian


def jacobian(scores):
    """The slopes of the weights of one row by its scores."""
    return functional.softmax_jacobian(functional.softmax(scores))


def row_cases(rng):
    return [
        Case((rng.normal(size=3),), about="3 scores"),
        Case((rng.normal(size=5),), about="5 scores"),
        Case((_near(800, rng, 3),), about="scores near 800: exp(800) overflows"),
    ]


def _slopes(weights):
    return np.diag(weights) - np.outer(weights, weights)


def _less_products(weights):
    """The weights, in every row, minus the products."""
    return weights - np.outer(weights, weights)


def _less_length(weights):
    """The diagonal, minus one number: a vector has no transpose of its own."""
    return np.diag(weights) - weights @ weights


JACOBIAN = [
    Wrong("M162", lambda scores: -jacobian(scores)),
    Wrong("M163", lambda scores: np.diag(np.diag(jacobian(scores)))),
    Wrong("M163", lambda scores: np.diag(jacobian(scores))),
    Wrong("M163+M13", lambda scores: np.diag(np.diag(_slopes(_shares(np.exp(scores)))))),
    Wrong("M184", lambda scores: np.diag(functional.softmax(scores))),
    Wrong("M164", lambda scores: -np.outer(functional.softmax(scores), functional.softmax(scores))),
    Wrong("M165", _slopes),
    Wrong("M13", lambda scores: _slopes(_shares(np.exp(scores)))),
    Wrong("M1182", lambda scores: np.abs(jacobian(scores))),
    Wrong("M1222", lambda scores: _less_length(functional.softmax(scores))),
    Wrong("M1222+M13", lambda scores: _less_length(_shares(np.exp(scores)))),
    Wrong("M1185", lambda scores: _less_products(functional.softmax(scores))),
    Wrong("M1185", lambda scores: _less_products(functional.softmax(scores)).T),
    Wrong("M1185+M13", lambda scores: _less_products(_shares(np.exp(scores)))),
    Wrong("M1185+M13", lambda scores: _less_products(_shares(np.exp(scores))).T),
    Wrong("M1182+M13", lambda scores: np.abs(_slopes(_shares(np.exp(scores))))),
]


# 6.7 Entropy


def entropy_cases(rng):
    holes = np.array([[0.5, 0.0, 0.5], [0.0, 0.25, 0.75]])
    return [
        Case((functional.softmax(rng.normal(size=3)),), about="3 weights"),
        Case((functional.softmax(rng.normal(size=(2, 5))),), about="2 rows of 5 weights"),
        Case((holes,), about="2 rows of 3 weights, some of them 0"),
    ]


def drawn_entropy_cases(rng):
    weights = rng.uniform(0.1, 1, size=(3, 5))
    weights[[0, 1, 2], rng.integers(5, size=3)] = 0
    return [Case((_shares(weights),), about="3 rows of 5 weights, one in each of them 0")]


def _never_negative(answer, case):
    return bool((np.asarray(answer(*case.args)) > -1e-6).all())


def _terms(weights):
    return weights * _logarithms(weights)


def _logarithms(weights):
    return np.log(np.where(weights > 0, weights, 1.0))


def _away_from_zero(form, little):
    return lambda weights: -form(weights, little).sum(-1)


LIFTED = [
    lambda weights, little: weights * np.log(weights + little),
    lambda weights, little: (weights + little) * np.log(weights + little),
    lambda weights, little: np.maximum(weights, little) * np.log(np.maximum(weights, little)),
]
ENTROPY = [
    Wrong("M169", lambda weights: -(weights * np.log(weights)).sum(-1)),
    Wrong("M1402", lambda weights: np.nan_to_num(-(weights * np.log(weights)).sum(-1))),
    Wrong("M170", lambda weights: _terms(weights).sum(-1)),
    Wrong("M1365", lambda weights: -(weights * np.log1p(weights)).sum(-1)),
    Wrong("M1365", lambda weights: (weights * np.log1p(weights)).sum(-1)),
    Wrong("M167", lambda weights: -_terms(weights).sum(-1) / math.log(2)),
    Wrong("M171", lambda weights: -_terms(weights).mean(-1)),
    Wrong("M951", lambda weights: -_logarithms(weights).mean(-1)),
    Wrong("M951", lambda weights: -_logarithms(weights).sum(-1)),
    Wrong("M960", lambda weights: -_terms(weights).sum()),
    Wrong("M170+M960", lambda weights: _terms(weights).sum()),
    Wrong("M978", lambda weights: -_terms(weights).sum(0)),
    Wrong("M180", lambda weights: -_terms(weights).sum(-1) / math.log(weights.shape[-1])),
    *(Wrong("M1280", _away_from_zero(form, little))
      for form in LIFTED for little in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)),
]  # fmt: skip


# 6.8 Merging two halves


def merge_cases(rng):
    def halves(rows, level=0):
        first, second = _near(level, rng, (rows, 5)), _near(level, rng, (rows, 3))
        # The higher maximum is now in the first half, now in the second.
        first[0] += 2
        second[-1] += 3
        return functional.running_softmax(first), functional.running_softmax(second)

    return [
        Case(halves(2), about="2 rows, seen as 5 scores and then 3"),
        Case(halves(3), about="3 rows, seen as 5 scores and then 3"),
        Case(halves(2, 900), about="2 rows with scores near 900"),
    ]


def _unscaled(a, b):
    total = a.total * np.exp(a.maximum) + b.total * np.exp(b.maximum)
    highest = np.maximum(a.maximum, b.maximum)
    return RunningSoftmax(highest, total / np.exp(highest))


def _rescaled(maximum, a, b, sign=1):
    first, second = np.exp(sign * (a.maximum - maximum)), np.exp(sign * (b.maximum - maximum))
    return RunningSoftmax(maximum, a.total * first + b.total * second)


def _one_rescaled(a, b, first):
    """One total measured from the maximum of the other, the other as it is."""
    total = (
        a.total * np.exp(a.maximum - b.maximum) + b.total
        if first
        else a.total + b.total * np.exp(b.maximum - a.maximum)
    )
    return RunningSoftmax(np.maximum(a.maximum, b.maximum), total)


def _first_rescaled(a, b):
    """One total measured from the higher maximum, the other as it is."""
    highest = np.maximum(a.maximum, b.maximum)
    return RunningSoftmax(highest, a.total * np.exp(a.maximum - highest) + b.total)


def _crossed(a, b):
    """Each total measured from the maximum of the other half."""
    highest = np.maximum(a.maximum, b.maximum)
    first, second = np.exp(b.maximum - highest), np.exp(a.maximum - highest)
    return RunningSoftmax(highest, a.total * first + b.total * second)


MERGE = [
    Wrong("M952", _first_rescaled),
    Wrong("M952", lambda a, b: _first_rescaled(b, a)),
    Wrong("M1070", _crossed),
    Wrong("M94", lambda a, b: RunningSoftmax(np.maximum(a.maximum, b.maximum), a.total + b.total)),
    Wrong("M172", lambda a, b: _rescaled(a.maximum + b.maximum, a, b)),
    Wrong("M172+M94", lambda a, b: RunningSoftmax(a.maximum + b.maximum, a.total + b.total)),
    Wrong("M173", lambda a, b: _rescaled(np.maximum(a.maximum, b.maximum), a, b, sign=-1)),
    Wrong("M181", lambda a, b: _rescaled(a.maximum, a, b)),
    Wrong("M174", _unscaled),
    Wrong("M952", lambda a, b: _one_rescaled(a, b, first=True)),
    Wrong("M952", lambda a, b: _one_rescaled(a, b, first=False)),
]


EXERCISE = Exercise(
    chapter="06",
    title="Softmax",
    tasks=[
        Task(
            id="6.1",
            name="weights_by_hand",
            title="Three weights by hand",
            difficulty=1,
            importance=4,
            minutes=3,
            reference=np.array([1.0, 2.0, 5.0]) / 8,
            wrong=BY_HAND,
            read=f"{PAGE}#by-hand",
        ),
        Task(
            id="6.2",
            name="weights_of_copies",
            title="Keys that occur several times",
            difficulty=3,
            importance=5,
            minutes=12,
            reference=weights_of_copies,
            cases=copies_cases,
            graded_cases=drawn_copies_cases,
            wrong=COPIED,
            read=f"{PAGE}#numbers-that-overflow",
        ),
        Task(
            id="6.3",
            name="at_temperature",
            title="A temperature for finished weights",
            difficulty=3,
            importance=4,
            minutes=8,
            reference=at_temperature,
            cases=temperature_cases,
            wrong=HEATED,
            read=f"{PAGE}#temperature",
        ),
        Task(
            id="6.4",
            name="scores_behind",
            title="Back to the scores",
            difficulty=2,
            importance=3,
            minutes=6,
            reference=scores_behind,
            cases=weights_cases,
            wrong=BEHIND,
            read=f"{PAGE}#only-differences-matter",
        ),
        Task(
            id="6.5",
            name="log_weights",
            title="Logarithms of weights",
            difficulty=3,
            importance=4,
            minutes=8,
            reference=functional.log_softmax,
            cases=scores_cases,
            graded_cases=drawn_scores_cases,
            wrong=LOGARITHM,
            read=f"{DEEPER}#logarithms-of-weights",
        ),
        Task(
            id="6.6",
            name="jacobian",
            title="How the weights change",
            difficulty=4,
            importance=4,
            minutes=12,
            reference=jacobian,
            cases=row_cases,
            wrong=JACOBIAN,
            read=f"{DEEPER}#the-jacobian",
        ),
        Task(
            id="6.7",
            name="entropy",
            title="How many keys",
            difficulty=2,
            importance=3,
            minutes=6,
            reference=functional.entropy,
            cases=entropy_cases,
            graded_cases=drawn_entropy_cases,
            wrong=ENTROPY,
            laws=[Law(None, "an entropy is never negative", _never_negative)],
            read=f"{DEEPER}#entropy-how-many-keys",
        ),
        Task(
            id="6.8",
            name="merge",
            title="Merge two halves of a row",
            difficulty=4,
            importance=5,
            minutes=12,
            reference=functional.merge,
            cases=merge_cases,
            wrong=MERGE,
            read=f"{DEEPER}#one-pass-is-enough",
        ),
    ],
)
