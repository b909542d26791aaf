"""The checks of chapter 03: a word in company, averages with weights, and what they cannot part."""

import math

import numpy as np

from checks import Case, Exercise, Task, Wrong
from lib import functional

PAGE = "chapters/03_context.html"
DEEPER = "chapters/03_context_deeper.html"


# 3.1 The two banks, the average added

BANK, SAVINGS, RIVER = np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.array([0.0, 1.0])
BY_MONEY, BY_RIVER = np.array([0.75, 0.25]), np.array([0.25, 0.75])
SUMS = BANK + BY_MONEY, BANK + BY_RIVER


def _dot(a, b):
    return float((a * b).sum(-1))


def _norm(a):
    return np.sqrt((a * a).sum(-1))


WITH_THE_ROW = float(functional.cosine(*SUMS))
BANKS = [
    Wrong("M993", float(functional.cosine(SAVINGS + BY_MONEY, RIVER + BY_RIVER))),
    Wrong("M280", float(functional.cosine(BY_MONEY, BY_RIVER))),
    Wrong("M35", float(functional.cosine(2 * BANK + BY_MONEY, 2 * BANK + BY_RIVER))),
    Wrong("M280", 1.0),
    Wrong("M1005", float(functional.cosine(BANK + 2 * BY_MONEY, BANK + 2 * BY_RIVER))),
    Wrong("M70", _dot(*SUMS)),
    Wrong("M71", _dot(*SUMS) / _dot(SUMS[0], SUMS[0]) ** 2),
    Wrong("M1204", _dot(*SUMS) / SUMS[0].sum()),
    Wrong("M1204", _dot(*SUMS) / (SUMS[0].sum() * SUMS[1].sum())),
    Wrong("M1064", float(functional.cosine(SUMS[0], BANK))),
    Wrong("M72", _dot(*SUMS) / float(_norm(SUMS[0]))),
    Wrong("M73", float(_norm(SUMS[0] - SUMS[1]))),
]


# 3.2 One weighted average


def weighted_average(weights, rows):
    """The rows, each as often as its weight says, divided by all weights together."""
    return weights @ rows / weights.sum()


def weight_cases(rng):
    money_bank = np.array([[2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    return [
        Case((np.array([3.0, 1.0]), money_bank), about="2 words, 3 axes; the first counts thrice"),
        Case((rng.uniform(0.5, 3, size=3), rng.normal(size=(3, 3))), about="3 words, 3 axes"),
        Case((rng.uniform(0.5, 3, size=5), rng.normal(size=(5, 2))), about="5 words, 2 axes"),
    ]


AVERAGE = [
    Wrong("M281", lambda weights, rows: weights @ rows),
    Wrong("M281", lambda weights, rows: weights @ rows / len(rows)),
    Wrong("M281", lambda weights, rows: weights @ rows / rows.shape[1]),
    Wrong("M281", lambda weights, rows: weights @ rows / weights.max()),
    Wrong("M281", lambda weights, rows: weights @ rows / _norm(weights)),
    Wrong("M281", lambda weights, rows: weights @ rows / weights.sum() / len(rows)),
    Wrong("M281", lambda weights, rows: rows.sum(0) + 0 * weights.sum()),
    Wrong("M980", lambda weights, rows: rows.mean(0) + 0 * weights.sum()),
    Wrong("M757", lambda weights, rows: rows @ weights / weights.sum()),
    Wrong("M757", lambda weights, rows: (weights * rows).sum(0) / weights.sum()),
    Wrong("M980", lambda weights, rows: rows[weights.argmax()]),
    Wrong("M980", lambda weights, rows: functional.softmax(weights) @ rows),
]


# 3.3 Similarity, repaired


def alike(x, strength):
    """Each word as an average of all, with weights softmax(strength x x^T)."""
    return functional.softmax(strength * (x @ x.T)) @ x


def _steps(x):
    """The distance of every two positions, with its sign."""
    return np.arange(len(x))[:, None] - np.arange(len(x))


def near_and_alike(
    x, strength, penalty, *, distance=None, similarity=None, weigh=functional.softmax
):
    """Similar and near words get more weight; the parts are exchangeable."""
    distance = np.abs(_steps(x)) if distance is None else distance(x)
    similarity = x @ x.T if similarity is None else similarity(x)
    return weigh(strength * similarity - penalty * distance) @ x


def near_cases(rng):
    def draw(n, d, strength, penalty):
        x = rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, size=(n, 1))
        about = f"{n} words, {d} axes, strength {strength}, penalty {penalty}"
        return Case((x, strength, penalty), about=about)

    both = np.array([[2.0, 0], [1, 1], [0, 2], [1, 1]])
    about = "savings bank river bank, strength 0.75, penalty 0.5"
    return [Case((both, 0.75, 0.5), about=about), draw(3, 3, 0.7, 0.4), draw(5, 2, 1.5, 0.3),
            draw(4, 5, 0.8, 0.0), draw(3, 7, 0.0, 0.6)]  # fmt: skip


def other(**changes):
    return lambda x, strength, penalty: near_and_alike(x, strength, penalty, **changes)


def _units(x):
    return x / _norm(x)[:, None]


def _raw_shares(scores):
    with np.errstate(invalid="ignore", divide="ignore"):
        return scores / scores.sum(1, keepdims=True)


def _powers(scores):
    return np.exp(scores)


NEAR_AND_ALIKE = [
    Wrong("M05", other(similarity=lambda x: x.T @ x)),
    Wrong("M05", other(similarity=lambda x: x @ x)),
    Wrong("M11", other(weigh=lambda scores: functional.softmax(scores, axis=0))),
    Wrong("M12", other(weigh=lambda scores: _powers(scores) / _powers(scores).sum())),
    Wrong("M11", other(weigh=lambda scores: _powers(scores) / _powers(scores).sum(1))),
    Wrong("M16", other(weigh=lambda scores: np.eye(len(scores))[scores.argmax(1)])),
    Wrong("M17", other(weigh=lambda scores: np.full_like(scores, 1 / len(scores)))),
    Wrong("M19", other(weigh=lambda scores: functional.softmax(functional.softmax(scores)))),
    Wrong("M18", other(weigh=lambda scores: 1 / (1 + np.exp(-scores)))),
    Wrong("M80", lambda x, s, p: near_and_alike(x, s / x.shape[1] ** 0.5, p / x.shape[1] ** 0.5)),
    Wrong("M80", lambda x, s, p: near_and_alike(x, s / x.shape[1] ** 0.5, p)),
    Wrong("M161", other(weigh=_raw_shares)),
    Wrong("M192", other(weigh=lambda scores: scores)),
    Wrong("M281", other(weigh=_powers)),
    Wrong("M283", other(similarity=lambda x: _units(x) @ _units(x).T)),
    Wrong("M284", lambda x, s, p: s * near_and_alike(x, 1.0, p)),
    Wrong("M284", lambda x, s, p: near_and_alike(x, 1.0, p)),
    Wrong("M284", lambda x, s, p: near_and_alike(x, 1 / (s or 1), p)),
    Wrong("M284", lambda x, s, p: near_and_alike(x, -s, p)),
    Wrong("M756", lambda x, s, p: near_and_alike(x, s, s * p)),
    Wrong("M1007", lambda x, s, p: near_and_alike(x, s, math.log(2))),
    Wrong("M285", lambda x, s, p: alike(x, s)),
    Wrong("M738", lambda x, s, p: near_and_alike(x, s, -p)),
    Wrong("M739", other(distance=_steps)),
    Wrong("M739", other(distance=lambda x: -_steps(x))),
    Wrong("M750", other(distance=lambda x: _steps(x) ** 2)),
    Wrong(
        "M750+M11",
        other(
            distance=lambda x: _steps(x) ** 2,
            weigh=lambda scores: functional.softmax(scores, axis=0),
        ),
    ),
    Wrong("M750", other(distance=lambda x: (_steps(x) != 0) * 1.0)),
    Wrong("M750", other(distance=lambda x: _norm(x[:, None] - x))),
    Wrong("M751", lambda x, s, p: (functional.softmax(s * (x @ x.T)) - p * np.abs(_steps(x))) @ x),
]


# 3.4 Which attempt gets it right?


def word_before(x):
    """The mean of each word and the one before it; the first stays as it is."""
    return np.concatenate([x[:1], (x[:-1] + x[1:]) / 2])


RIGHT_ATTEMPTS = {"A": "b", "B": "ac", "C": "c", "D": "abc"}
SETS = ("", "a", "b", "c", "ab", "ac", "bc", "abc")
ATTEMPTS_WRONG = [
    Wrong(number, {**RIGHT_ATTEMPTS, sentence: letters})
    for number, sentence in zip(("M752", "M753", "M754", "M755"), "ABCD", strict=True)
    for letters in SETS
    if letters != RIGHT_ATTEMPTS[sentence]
]


# 3.5 Falsify "averaging is enough"


def parts_twins(method, x, first, second):
    """Whether two equal rows of x come out different, by more than rounding."""
    y = method(x)
    return not np.allclose(y[first], y[second])


def _plain(x):
    return np.zeros_like(x) + x.mean(0)


def _in_another_order(x):
    """A plain average whose sums are taken in another order for each word, so that they round."""
    turned = (np.roll(x / 10, i, axis=0) for i in range(len(x)))
    return np.stack([rows.cumsum(0)[-1] * 10 / len(x) for rows in turned])


def _similarity_and_position(x):
    n = len(x)
    distance = np.abs(np.arange(n)[:, None] - np.arange(n))
    return functional.softmax(x @ x.T - distance) @ x


def _by_place(x):
    """One average for all, in which later words count more: order matters, twins stay equal."""
    places = np.arange(1, len(x) + 1.0)
    return np.zeros_like(x) + places @ x / places.sum()


def _numbered(x):
    """The place is added to the first axis alone."""
    y = x.copy()
    y[:, 0] += 0.1 * np.arange(len(x))
    return y


def _numbered_between(x):
    """The place is added to the second axis alone."""
    return x + 0.1 * np.arange(len(x))[:, None] * (np.arange(x.shape[1]) == 1)


def _longer_by_place(x):
    """Later rows are longer: a row keeps its direction."""
    return x * np.arange(1, len(x) + 1)[:, None]


def _every_other_turned(x):
    """Every second row is read backwards: the same sum and length, another row."""
    y = x.copy()
    y[1::2] = y[1::2, ::-1]
    return y


PAIRS = ((1, 4), (3, 0))  # the equal rows, in turn


def twin_cases(rng):
    methods = {
        "lookup alone": lambda rows: rows + 0,
        "the plain average": _plain,
        "similarity": lambda rows: alike(rows, 1.0),
        "similarity, strength 7": lambda rows: alike(rows, 7.0),
        "the average, summed in another order for each word": _in_another_order,
        "one average, later words count more": _by_place,
        "the word before": word_before,
        "the place added to the first axis": _numbered,
        "every second row read backwards": _every_other_turned,
        "the place subtracted from the first axis": lambda rows: 2 * rows - _numbered(rows),
        "similarity minus distance": _similarity_and_position,
        "the place added to the second axis": _numbered_between,
        "each row multiplied by its place": _longer_by_place,
        "each row moved away from ones by its place": lambda rows: 1 - _longer_by_place(1 - rows),
    }
    cases = []
    for i, (name, method) in enumerate(methods.items()):
        x, (first, second) = rng.normal(size=(5, 3)), PAIRS[i % 2]
        x[second] = x[first]
        cases.append(Case((method, x, first, second), about=name))
    return cases


def drawn_twin_cases(rng):
    """Twins whose averages are rounded to different numbers, which not all random rows are."""
    while True:
        case = next(case for case in twin_cases(rng) if case.args[0] is _in_another_order)
        if _exactly(*case.args):
            return [case]


def _exactly(method, x, first, second):
    y = method(x)
    return not np.array_equal(y[first], y[second])


def _signed(method, x, first, second):
    y = method(x)
    return bool((y[first] - y[second]).max() > 1e-9)


def _signed_the_other_way(method, x, first, second):
    return _signed(method, x, second, first)


def _signed_sum(sign):
    def answer(method, x, first, second):
        y = method(x).sum(1)
        return bool(sign * (y[first] - y[second]) > 1e-9)

    return answer


def _in_sum(method, x, first, second):
    y = method(x).sum(1)
    return not np.isclose(y[first], y[second])


def _in_length(method, x, first, second):
    y = _norm(method(x))
    return not np.isclose(y[first], y[second])


def _in_one_component(axis):
    return lambda method, x, i, j: bool(abs(np.diff(method(x)[[i, j], axis])[0]) > 1e-9)


def _in_direction(method, x, first, second):
    y = method(x)
    return bool(functional.cosine(y[first], y[second]) < 1 - 1e-9)


def _order_matters(method, x, first, second):
    order = np.arange(len(x))[::-1]
    return not np.allclose(method(x[order])[order], method(x))


TWINS = [
    Wrong("M288", lambda method, x, i, j: not np.allclose(method(x), x)),
    Wrong("M288", lambda method, x, i, j: not np.allclose(method(x)[i], x[i])),
    Wrong("M288", lambda method, x, i, j: not np.allclose(method(x), method(x)[i])),
    Wrong("M288", lambda method, x, i, j: not np.allclose(method(x)[0], method(x)[1])),
    Wrong("M288", lambda method, x, i, j: not np.allclose(x[i], x[j])),
    Wrong("M288", lambda method, x, i, j: not np.allclose(*method(x[[i, j]]))),
    Wrong("M288", lambda method, x, i, j: not np.allclose(method(x)[:, 0], method(x)[:, 1])),
    Wrong("M950", lambda method, x, i, j: bool((method(x)[i] != method(x)[j]).all())),
    Wrong("M950", lambda method, x, i, j: not np.isclose(method(x)[i], method(x)[j]).any()),
    Wrong("M1181", _exactly),
    Wrong("M1262", _signed),
    Wrong("M1262", _signed_the_other_way),
    *(Wrong("M1262", _signed_sum(sign)) for sign in (1, -1)),
    Wrong("M288", lambda method, x, i, j: not np.allclose(method(x)[1], method(x)[4])),
    *(Wrong("M1376", _in_one_component(axis)) for axis in range(3)),
    Wrong("M1351", _in_direction),
    Wrong("M288", _in_length),
    Wrong("M288", _order_matters),
    Wrong("M288", _in_sum),
    Wrong("M1006", lambda method, x, i, j: bool(np.allclose(method(x)[i], method(x)[j]))),
]


# 3.6 The gap between senses


def gap(vectors, senses):
    """Mean cosine of the pairs of one sense, less that of the pairs of different senses."""
    return _gap(vectors, senses)


def _gap(vectors, senses, measure=functional.cosine, itself=False, part=None):
    i, j = np.triu_indices(len(senses), 0 if itself else 1)
    measured, same = measure(vectors[i], vectors[j]), senses[i] == senses[j]
    means = measured[same].mean(), measured[~same].mean()
    return float(means[0] - means[1] if part is None else means[part])


def use_cases(rng):
    def draw(senses, d):
        senses = np.array(senses)
        centres = rng.normal(size=(senses.max() + 1, d))
        vectors = centres[senses] + rng.normal(size=(len(senses), d))
        vectors = vectors * rng.uniform(0.5, 2, size=(len(senses), 1))
        about = f"{len(senses)} uses, {senses.max() + 1} senses, {d} axes"
        return Case((vectors, senses), about=about)

    drawn = [draw([0, 0, 1, 1], 3), draw([0, 1, 0, 1, 0], 5), draw([0, 0, 1, 2, 1, 2, 2], 4)]
    # Uses of one sense that are farther apart than others find out who takes the size of the gap.
    apart = np.array([[3, 1, 0.5], [1, 2, -0.5], [2, 1, 0], [0.5, 2, -1]])
    apart = apart + rng.normal(size=apart.shape) / 10
    return [*drawn, Case((apart, np.array([0, 0, 1, 1])), about="4 uses, a gap below 0")]


def _sums(vectors, senses):
    i, j = np.triu_indices(len(senses), 1)
    similarity, same = functional.cosine(vectors[i], vectors[j]), senses[i] == senses[j]
    return float(similarity[same].sum() - similarity[~same].sum())


def _zeros_counted(vectors, senses):
    """Both means over all pairs, with 0 for the pairs of the other kind."""
    i, j = np.triu_indices(len(senses), 1)
    similarity, same = functional.cosine(vectors[i], vectors[j]), senses[i] == senses[j]
    return float((similarity * same).mean() - (similarity * ~same).mean())


def _of_centres(vectors, senses):
    """Each use against the mean of its sense, and these means against each other."""
    centres = np.array([vectors[senses == sense].mean(0) for sense in np.unique(senses)])
    own = functional.cosine(vectors, centres[senses]).mean()
    i, j = np.triu_indices(len(centres), 1)
    return float(own - functional.cosine(centres[i], centres[j]).mean())


def _mean_of_means(vectors, senses):
    """The senses' own means averaged, so that a pair of a rare sense counts for more."""
    i, j = np.triu_indices(len(senses), 1)
    similarity, same = functional.cosine(vectors[i], vectors[j]), senses[i] == senses[j]
    within = [similarity[same & (senses[i] == sense)] for sense in np.unique(senses)]
    means = [each.mean() for each in within if len(each)]
    return float(np.mean(means) - similarity[~same].mean())


def _against_all(vectors, senses, part):
    i, j = np.triu_indices(len(senses), 1)
    every = functional.cosine(vectors[i], vectors[j]).mean()
    return float((-1) ** part * (_gap(vectors, senses, part=part) - every))


def _whole_table(vectors, senses, blank=False):
    table, same = functional.cosine(vectors[:, None], vectors[None]), senses[:, None] == senses
    table = table * ~np.eye(len(senses), dtype=bool) if blank else table
    return float(table[same].mean() - table[~same].mean())


def _apart(a, b):
    return _norm(a - b)


def _neighbours_only(mean):
    def run(vectors, senses):
        measured, same = functional.cosine(vectors[:-1], vectors[1:]), senses[:-1] == senses[1:]
        return float(mean(measured[same]) - mean(measured[~same]))

    return run


GAP = [
    Wrong("M1210", _neighbours_only(np.mean)),
    Wrong("M1210", _neighbours_only(lambda some: sum(some) / len(some))),
    Wrong("M282", lambda vectors, senses: -_gap(vectors, senses)),
    Wrong("M282", lambda vectors, senses: abs(_gap(vectors, senses))),
    Wrong("M287", lambda vectors, senses: _gap(vectors, senses, itself=True)),
    Wrong("M287", _whole_table),
    Wrong("M287", lambda vectors, senses: _whole_table(vectors, senses, blank=True)),
    Wrong("M70", lambda vectors, senses: _gap(vectors, senses, lambda a, b: (a * b).sum(-1))),
    Wrong("M73", lambda vectors, senses: _gap(vectors, senses, _apart)),
    Wrong("M73", lambda vectors, senses: -_gap(vectors, senses, _apart)),
    Wrong("M286", lambda vectors, senses: _gap(vectors, senses, part=0)),
    Wrong("M286", lambda vectors, senses: _gap(vectors, senses, part=1)),
    Wrong("M286", lambda vectors, senses: _against_all(vectors, senses, 0)),
    Wrong("M286", lambda vectors, senses: _against_all(vectors, senses, 1)),
    Wrong("M286", _sums),
    Wrong("M1065", _zeros_counted),
    Wrong("M1066", _of_centres),
    Wrong("M1067", _mean_of_means),
]


# 3.7 A threshold


def _best(distances, same, candidates, worth):
    """The candidate of the greatest worth; the worth is made from two shares and the calls."""

    def of(t):
        called = distances < t
        return worth(called[same].mean(), (~called[~same]).mean(), called, same)

    return max(candidates.tolist(), key=of)


def best_threshold(distances, same, candidates):
    """The candidate with the best mean of two shares: same called same, different different."""
    return _best(
        distances,
        same,
        candidates,
        lambda sensitivity, specificity, *_: (sensitivity + specificity) / 2,
    )


def _midway(distances, same, candidates):
    middle = (distances[same].mean() + distances[~same].mean()) / 2
    return float(candidates[np.abs(candidates - middle).argmin()])


def _right_among(calls, truth):
    """The share of these calls that is true (precision), not the share of the truth found."""
    return truth[calls].mean() if calls.any() else 0.0


def _by(worth):
    return lambda distances, same, candidates: _best(distances, same, candidates, worth)


def _at_the_threshold(below, above):
    """The mean of the shares, with other comparisons where a distance is the threshold itself."""

    def choose(distances, same, candidates):
        a, b = distances[same], distances[~same]
        return max(candidates.tolist(), key=lambda t: below(a, t).mean() + above(b, t).mean())

    return choose


def _best_mean(distances, same, candidates):
    t = best_threshold(distances, same, candidates)
    return float(((distances[same] < t).mean() + (distances[~same] >= t).mean()) / 2)


THRESHOLD = [
    Wrong("M1263", _at_the_threshold(np.less_equal, np.greater)),
    Wrong("M1263", _at_the_threshold(np.less_equal, np.greater_equal)),
    Wrong("M1263", _at_the_threshold(np.less, np.greater)),
    Wrong("M1223", _by(lambda sensitivity, specificity, *_: -sensitivity - specificity)),
    Wrong("M289", _by(lambda _, __, called, same: (called == same).mean())),
    Wrong("M289", _by(lambda sensitivity, *_: sensitivity)),
    Wrong("M289", _by(lambda _sensitivity, specificity, *_: specificity)),
    Wrong("M289", _by(lambda sensitivity, specificity, *_: sensitivity * specificity)),
    Wrong("M289", _by(lambda sensitivity, specificity, *_: min(sensitivity, specificity))),
    Wrong("M289", _by(lambda sensitivity, specificity, *_: -abs(sensitivity - specificity))),
    Wrong("M289", _by(lambda _, __, c, same: 2 * (c & same).sum() / (c.sum() + same.sum()))),
    Wrong("M289", _by(lambda _, __, c, same: (c & same).sum() / max(1, c.sum()))),
    Wrong("M289", _by(lambda _, __, called, same: _right_among(~called, ~same))),
    Wrong("M289", _by(lambda _, __, c, same: _right_among(c, same) + _right_among(~c, ~same))),
    Wrong("M289", _midway),
    Wrong("M1366", lambda distances, same, candidates: float(candidates[-1])),
    Wrong("M1367", _best_mean),
]


# How many same pairs and how many others lie between each two candidates: found by a search for
# counts in which every wrong measure above prefers another candidate than the mean of the shares;
# the last is for those that count among the calls.
COUNTS = [
    ([1, 1, 0, 1, 0, 3], [3, 3, 5, 1, 0, 17]),
    ([2, 0, 3, 1, 0, 1], [0, 0, 13, 3, 12, 3]),
    ([3, 3, 3, 3, 1, 0], [0, 0, 2, 2, 0, 1]),
]
# How many are equal to each candidate: each side that equality may take prefers another one.
TIED = [3, 1, 0, 3, 1, 1], [0, 1, 0, 1, 1, 1]


def pair_cases(rng):
    candidates = np.linspace(0.05, 0.45, 9)
    cases, first = [], rng.integers(3)
    for counts in (*COUNTS, TIED):
        steps = first + np.concatenate([np.repeat(np.arange(6), of) for of in counts])
        beyond = 0.05 * rng.uniform(0.2, 0.8, size=len(steps)) * (counts is not TIED)
        distances = candidates[steps] + beyond
        ones, others = map(sum, counts)
        order = rng.permutation(ones + others)
        case = distances[order], (np.arange(ones + others) < ones)[order], candidates
        about = f"{ones} same pairs, {others} different ones"
        about += "; distances that are equal to candidates" * (counts is TIED)
        cases.append(Case(case, about=about))
    return cases


EXERCISE = Exercise(
    chapter="03",
    title="The context problem",
    tasks=[
        Task(
            id="3.1", name="cos_banks", title="The two banks, the average added", difficulty=1,
            importance=4, minutes=6, reference=WITH_THE_ROW, wrong=BANKS, read=f"{PAGE}#by-hand",
        ),
        Task(
            id="3.2", name="weighted_average", title="One weighted average", difficulty=1,
            importance=4, minutes=5, reference=weighted_average, cases=weight_cases,
            wrong=AVERAGE, read=f"{PAGE}#the-same-row-in-every-sentence",
        ),
        Task(
            id="3.3", name="near_and_alike", title="Similarity, repaired", difficulty=3,
            importance=5, minutes=10, reference=near_and_alike, cases=near_cases,
            wrong=NEAR_AND_ALIKE, read=f"{PAGE}#similarity-cannot-separate-equal-words",
        ),
        Task(
            id="3.4", name="right_attempts", title="Which attempt gets it right?", difficulty=2,
            importance=4, minutes=6, reference=RIGHT_ATTEMPTS, wrong=ATTEMPTS_WRONG,
            read=f"{PAGE}#what-a-word-looks-for-and-what-it-is",
        ),
        Task(
            id="3.5", name="parts_twins", title="Falsify that averaging is enough", difficulty=3,
            importance=4, minutes=8, reference=parts_twins, cases=twin_cases,
            graded_cases=drawn_twin_cases, wrong=TWINS,
            read=f"{PAGE}#third-attempt-similarity",
        ),
        Task(
            id="3.6", name="gap", title="The gap between senses", difficulty=3, importance=4,
            minutes=10, reference=gap, cases=use_cases, wrong=GAP,
            read=f"{DEEPER}#do-the-senses-separate",
        ),
        Task(
            id="3.7", name="best_threshold", title="A threshold for the same sense",
            difficulty=3, importance=3, minutes=10, reference=best_threshold, cases=pair_cases,
            wrong=THRESHOLD, read=f"{DEEPER}#does-one-threshold-serve-all-words",
        ),
    ],
)  # fmt: skip
