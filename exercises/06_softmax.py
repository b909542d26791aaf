"""The checks of chapter 06: softmax on any axis, its temperature, inverse, Jacobian and merging."""

import math

import numpy as np

from checks import Case, Exercise, Task, Wrong
from lib import functional
from lib.functional import RunningSoftmax

PAGE = "chapters/06_softmax.html"
DEEPER = "chapters/06_softmax_deeper.html"


def _shares(exponentials, axis=-1):
    return exponentials / exponentials.sum(axis, keepdims=True)


def _near(level, rng, shape, step=1 / 64):
    """Random scores near a level, exact in float32 too, which rounds 800.1 by 0.00002."""
    return level + step * np.round(64 * rng.normal(size=shape))


def _sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


# 6.1 Three weights by hand

LOGARITHMS = np.log(np.array([1.0, 2.0, 5.0]))
BY_HAND = [
    Wrong("M161", LOGARITHMS / LOGARITHMS.sum()),
    *(Wrong("M161", np.round(LOGARITHMS / LOGARITHMS.sum(), places)) for places in (1, 2, 3)),
    Wrong("M176", np.array([1.0, 2.0, 5.0])),
    Wrong("M16", np.array([0.0, 0.0, 1.0])),
    Wrong("M17", np.full(3, 1 / 3)),
    Wrong("M18", _sigmoid(LOGARITHMS)),
    Wrong("M19", functional.softmax(functional.softmax(LOGARITHMS))),
    Wrong("M646", np.array([0.0, 2.0, 5.0]) / 7),
    *(Wrong("M646", np.round(np.array([0.0, 2.0, 5.0]) / 7, places)) for places in (2, 3)),
]


# 6.2 Softmax along any axis

APART = np.array([[0.5, 1.25, -0.25], [-900.5, -901.25, -899.75]])


def softmax_cases(rng):
    far_below = np.array([[-0.3, -0.7, 0.4], [0.2, -800.3, -0.5]])
    wide = np.array([[-900.25, 799.75, -899.5, 799.5, -900.5]])
    return [
        Case((rng.normal(size=(2, 3)), 1), about="2 queries, 3 keys, axis 1"),
        Case((rng.normal(size=(2, 3)), 0), about="2 queries, 3 keys, axis 0"),
        Case((rng.normal(size=(3, 3)), 1), about="3 queries, 3 keys, axis 1"),
        Case((rng.normal(size=(2, 3, 5)), -1), about="a batch of 2 tables, axis -1"),
        Case((rng.normal(size=(2, 3, 5)), 1), about="a batch of 2 tables, axis 1"),
        Case((_near(800, rng, (2, 3)), 1), about="scores near 800: exp(800) overflows"),
        Case((far_below, 1), about="one score of -800 in a row of small ones"),
        Case((APART, 1), about="one row near 0, one near -900"),
        Case((wide, 1), about="scores near 800 and near -900 in one row"),
    ]


def _other_axis(scores, axis):
    highest = scores.max((axis + 1) % scores.ndim, keepdims=True)
    return _shares(np.exp(scores - highest), axis)


def _axis_dropped(shift):
    """Divide by sums without their axis: another shift of the rows gives other wrong numbers."""

    def answer(scores, axis):
        exponentials = np.exp(scores - shift(scores, axis))
        return exponentials / exponentials.sum(axis)

    return answer


def _maximum_dropped(scores, axis):
    """Subtract maxima without their axis, and divide by sums that kept it."""
    return _shares(np.exp(scores - scores.max(axis)), axis)


def _both_dropped(scores, axis):
    exponentials = np.exp(scores - scores.max(axis))
    return exponentials / exponentials.sum(axis)


def _last_axis_summed(scores, axis):
    return _shares(np.exp(scores - scores.max(axis, keepdims=True)), -1)


def _minimum_subtracted(scores, axis):
    return _shares(np.exp(scores - scores.min(axis, keepdims=True)), axis)


def _mean_subtracted(scores, axis):
    return _shares(np.exp(scores - scores.mean(axis, keepdims=True)), axis)


def _whole_table(scores):
    return functional.softmax(scores.reshape(-1)).reshape(scores.shape)


def _all_to_the_largest(scores, axis=-1):
    return (scores == scores.max(axis, keepdims=True)) * 1.0


SOFTMAX = [
    Wrong("M11", lambda scores, axis: functional.softmax(scores, 0)),
    Wrong("M177", lambda scores, axis: functional.softmax(scores, -1)),
    Wrong("M12", lambda scores, axis: _whole_table(scores)),
    Wrong("M13", lambda scores, axis: _shares(np.exp(scores), axis)),
    Wrong("M14", _other_axis),
    Wrong("M15", _axis_dropped(lambda scores, axis: scores.max(axis, keepdims=True))),
    Wrong("M15", _axis_dropped(lambda scores, axis: scores.max())),
    Wrong("M15", _axis_dropped(lambda scores, axis: 0)),
    Wrong("M15", _maximum_dropped),
    Wrong("M15", _both_dropped),
    Wrong("M177", _last_axis_summed),
    Wrong("M16", _all_to_the_largest),
    Wrong("M17", lambda scores, axis: np.full(scores.shape, 1 / scores.shape[axis])),
    Wrong("M18", lambda scores, axis: _sigmoid(scores)),
    Wrong("M19", lambda scores, axis: functional.softmax(functional.softmax(scores, axis), axis)),
    Wrong("M90", _minimum_subtracted),
    Wrong("M90", _mean_subtracted),
    Wrong("M91", lambda scores, axis: _shares(np.exp(scores - scores.max()), axis)),
    Wrong("M176", lambda scores, axis: np.exp(scores - scores.max(axis, keepdims=True))),
]


# 6.3 A temperature


def softmax_at(scores, temperature):
    """Softmax along the last axis of scores divided by a temperature."""
    return functional.softmax(scores, temperature=temperature)


def temperature_cases(rng):
    return [
        Case((rng.normal(size=3), 0.5), about="3 scores, T = 0.5"),
        Case((rng.normal(size=5), 3.0), about="5 scores, T = 3"),
        Case((rng.normal(size=(2, 5)), 0.7), about="2 rows of 5 scores, T = 0.7"),
        Case((_near(40, rng, 3, 1 / 64**2), 1 / 64), about="scores near 40, T = 1/64: s/T is 2560"),
        Case((APART, 0.5), about="2 rows, one near 0 and one near -900, T = 0.5"),
        Case((_near(600, rng, 3), 0.5), about="scores near 600, T = 0.5: s/T is 1200"),
    ]


def _one_maximum(scores, temperature):
    scaled = scores / temperature
    return _shares(np.exp(scaled - scaled.max()))


def _maximum_undivided(scores, temperature):
    highest = scores.max(-1, keepdims=True)
    return _shares(np.exp(scores / temperature - highest))


def _rows_dropped(scores, temperature):
    exponentials = np.exp(scores / temperature - (scores / temperature).max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1)


TEMPERATURE = [
    Wrong("M91", _one_maximum),
    Wrong("M92", lambda scores, temperature: functional.softmax(scores * temperature)),
    Wrong("M178", lambda scores, temperature: functional.softmax(scores)),
    Wrong("M160", lambda scores, temperature: functional.softmax(scores) / temperature),
    Wrong("M13", lambda scores, temperature: _shares(np.exp(scores / temperature))),
    Wrong("M647", _maximum_undivided),
    Wrong("M15", _rows_dropped),
    Wrong(
        "M11", lambda scores, temperature: functional.softmax(scores, 0, temperature=temperature)
    ),
    Wrong("M16", lambda scores, temperature: _all_to_the_largest(scores)),
    Wrong("M17", lambda scores, temperature: np.full(scores.shape, 1 / scores.shape[-1])),
    Wrong("M19", lambda scores, temperature: functional.softmax(softmax_at(scores, temperature))),
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


def _one_maximum_for_all(scores):
    shifted = scores - scores.max()
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _logarithm_last(scores):
    with np.errstate(divide="ignore"):
        return np.log(functional.softmax(scores))


LOGARITHM = [
    Wrong("M93", _logarithm_last),
    Wrong("M93+M13", lambda scores: np.log(_shares(np.exp(scores)))),
    Wrong("M13", lambda scores: scores - np.log(np.exp(scores).sum(-1, keepdims=True))),
    Wrong("M91", _one_maximum_for_all),
    Wrong("M175", lambda scores: scores - scores.max(-1, keepdims=True)),
    Wrong("M11", lambda scores: functional.log_softmax(scores, 0)),
    Wrong("M12", lambda scores: functional.log_softmax(scores.reshape(-1)).reshape(scores.shape)),
    Wrong("M167", lambda scores: functional.log_softmax(scores) / math.log(2)),
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


JACOBIAN = [
    Wrong("M162", lambda scores: -jacobian(scores)),
    Wrong("M163", lambda scores: np.diag(np.diag(jacobian(scores)))),
    Wrong("M163", lambda scores: np.diag(jacobian(scores))),
    Wrong("M184", lambda scores: np.diag(functional.softmax(scores))),
    Wrong("M164", lambda scores: -np.outer(functional.softmax(scores), functional.softmax(scores))),
    Wrong("M165", _slopes),
    Wrong("M13", lambda scores: _slopes(_shares(np.exp(scores)))),
]


# 6.7 Entropy


def entropy_cases(rng):
    holes = np.array([[0.5, 0.0, 0.5], [0.0, 0.25, 0.75]])
    return [
        Case((functional.softmax(rng.normal(size=3)),), about="3 weights"),
        Case((functional.softmax(rng.normal(size=(2, 5))),), about="2 rows of 5 weights"),
        Case((holes,), about="2 rows of 3 weights, some of them 0"),
    ]


def _terms(weights):
    return weights * np.log(np.where(weights > 0, weights, 1.0))


ENTROPY = [
    Wrong("M169", lambda weights: -(weights * np.log(weights)).sum(-1)),
    Wrong("M170", lambda weights: _terms(weights).sum(-1)),
    Wrong("M167", lambda weights: -_terms(weights).sum(-1) / math.log(2)),
    Wrong("M171", lambda weights: -_terms(weights).mean(-1)),
    Wrong("M12", lambda weights: -_terms(weights).sum()),
    Wrong("M11", lambda weights: -_terms(weights).sum(0)),
    Wrong("M180", lambda weights: -_terms(weights).sum(-1) / math.log(weights.shape[-1])),
]


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


MERGE = [
    Wrong("M94", lambda a, b: RunningSoftmax(np.maximum(a.maximum, b.maximum), a.total + b.total)),
    Wrong("M172", lambda a, b: _rescaled(a.maximum + b.maximum, a, b)),
    Wrong("M172+M94", lambda a, b: RunningSoftmax(a.maximum + b.maximum, a.total + b.total)),
    Wrong("M173", lambda a, b: _rescaled(np.maximum(a.maximum, b.maximum), a, b, sign=-1)),
    Wrong("M181", lambda a, b: _rescaled(a.maximum, a, b)),
    Wrong("M174", _unscaled),
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
            name="softmax",
            title="Softmax along any axis, for any scores",
            difficulty=3,
            importance=5,
            minutes=12,
            reference=functional.softmax,
            cases=softmax_cases,
            wrong=SOFTMAX,
            read=f"{PAGE}#numbers-that-overflow",
        ),
        Task(
            id="6.3",
            name="softmax_at",
            title="Softmax at a temperature",
            difficulty=2,
            importance=4,
            minutes=5,
            reference=softmax_at,
            cases=temperature_cases,
            wrong=TEMPERATURE,
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
            wrong=ENTROPY,
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
