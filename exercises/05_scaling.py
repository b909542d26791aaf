"""The checks of chapter 05: the scale, what it is for, what it is not, and where it can hide."""

import functools
import math

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from checks.drivers import first_output, without_values
from checks.run.call import run_driver
from lib import functional
from lib.attention import dot_product
from lib.seeds import generator

PAGE = "chapters/05_scaling.html"
DEEPER = "chapters/05_scaling_deeper.html"


# 5.1 Scaled scores


def scaled_scores(x, W_q, W_k):
    """Scores of tokens against themselves, made from their queries and keys."""
    return dot_product.scores(x @ W_q, x @ W_k)


def projected_cases(rng):
    def case(n, d_model, d_k):
        x, W_q, W_k = rng.normal(size=(n, d_model)), *rng.normal(size=(2, d_model, d_k))
        about = f"{n} tokens, d_model = {d_model}, d_k = {d_k}"
        return Case((x, W_q / math.sqrt(d_model), W_k / math.sqrt(d_model)), about=about)

    return [case(2, 5, 3), case(3, 7, 5), case(5, 11, 2), case(3, 5, 3)]


def _over(divisor):
    """The scores divided by something else, given as a function of x and its queries."""

    def wrong(x, W_q, W_k):
        q, k = x @ W_q, x @ W_k
        return q @ k.T / divisor(x, q)

    return wrong


def _weights_first(d_k):
    """The projections multiplied from the left: no error only where d_k equals n."""

    def wrong(x, W_q, W_k):
        q, k = W_q @ x, W_k @ x
        return q @ k.T / math.sqrt(d_k(q, W_q))

    return wrong


SCORES = [
    Wrong("M01", _over(lambda x, q: 1)),
    Wrong("M02", _over(lambda x, q: q.shape[-1])),
    Wrong("M03", _over(lambda x, q: math.sqrt(x.shape[-1]))),
    Wrong("M04", _over(lambda x, q: 1 / math.sqrt(q.shape[-1]))),
    Wrong("M85", _over(lambda x, q: math.sqrt(q.shape[-1] * len(x)))),
    Wrong("M85", _over(lambda x, q: math.sqrt(len(x)))),
    Wrong("M05", lambda x, W_q, W_k: (x @ W_q).T @ (x @ W_k) / math.sqrt(W_q.shape[-1])),
    Wrong("M05", lambda x, W_q, W_k: (x @ W_q) @ (x @ W_k) / math.sqrt(W_q.shape[-1])),
    Wrong("M06", lambda x, W_q, W_k: scaled_scores(x, W_k, W_q)),
    Wrong("M640", _weights_first(lambda q, W_q: q.shape[-1])),
    Wrong("M640", _weights_first(lambda q, W_q: W_q.shape[-1])),
]


# 5.2 Scale, then softmax


def weights(q, k):
    """Attention weights of queries over keys."""
    return functional.softmax(dot_product.scores(q, k))


def query_key_cases(rng):
    def case(n_q, n_k, d_k):
        about = f"{n_q} queries, {n_k} keys, d_k = {d_k}"
        return Case((rng.normal(size=(n_q, d_k)), rng.normal(size=(n_k, d_k))), about=about)

    return [case(2, 3, 5), case(3, 5, 2), case(5, 3, 7)]


def _softmax_of(factor, axis=-1):
    """Softmax weights of the raw scores times a factor, given as a function of d_k."""
    return lambda q, k: functional.softmax(q @ k.T * factor(q.shape[-1]), axis)


def _scale_late(q, k):
    return functional.softmax(q @ k.T) / math.sqrt(q.shape[-1])


def _one_table(q, k):
    scores = dot_product.scores(q, k)
    return functional.softmax(scores.reshape(-1)).reshape(scores.shape)


def _axis_dropped(q, k):
    exponentials = np.exp(dot_product.scores(q, k))
    return exponentials / exponentials.sum(axis=-1)


def _product_late(inside, outside):
    """The softmax of the queries, and its product with the keys."""
    return lambda q, k: functional.softmax(q * inside(len(q.T))) @ k.T * outside(len(q.T))


WEIGHTS = [
    Wrong("M1265", _product_late(lambda d_k: 1 / math.sqrt(d_k), lambda d_k: 1)),
    Wrong("M1265", _product_late(lambda d_k: 1, lambda d_k: 1 / math.sqrt(d_k))),
    Wrong("M09", _scale_late),
    Wrong("M01", _softmax_of(lambda d_k: 1)),
    Wrong("M02", _softmax_of(lambda d_k: 1 / d_k)),
    Wrong("M04", _softmax_of(lambda d_k: math.sqrt(d_k))),
    Wrong("M11", _softmax_of(lambda d_k: 1 / math.sqrt(d_k), axis=0)),
    Wrong("M12", _one_table),
    Wrong("M15", _axis_dropped),
    Wrong("M85", lambda q, k: functional.softmax(q @ k.T / math.sqrt(len(k)))),
    Wrong("M85", lambda q, k: functional.softmax(q @ k.T / math.sqrt(len(q)))),
    Wrong("M85", lambda q, k: functional.softmax(q @ k.T / math.sqrt(len(k) * q.shape[-1]))),
]


# 5.3 Measure the variance

SAMPLES = 20_000


def _products(d_k, seed):
    q, k = generator(seed).standard_normal((2, SAMPLES, d_k))
    return (q * k).sum(-1)


def measured_variance(d_k, seed):
    """The variance of q . k over many random pairs."""
    return float(_products(d_k, seed).var())


def width_cases(rng):
    seed = int(rng.integers(1000))
    return [Case((d_k, seed), about=f"d_k = {d_k}, seed {seed}") for d_k in (3, 7, 31)]


SIZES = (3, 7, 31)


def _measured(answer, case):
    """What the answer measures at each size, divided by the right variance."""
    return [float(answer(d_k, case.args[1])) / d_k for d_k in SIZES]


def _once(holds):
    """A law that looks at all sizes itself: asked about the smallest case alone."""
    return lambda answer, case: case.args[0] != SIZES[0] or holds(answer, case)


def _not_near(value_of):
    """Whether the answer is not, at every size, what a misconception would measure."""

    @_once
    def holds(answer, case):
        pairs = zip(SIZES, _measured(answer, case), strict=True)
        return not all(abs(share * d_k / value_of(d_k) - 1) < 0.08 for d_k, share in pairs)

    return holds


def _estimates(answer, d_k, case, seeds):
    return np.array([float(answer(d_k, case.args[1] + more)) for more in range(seeds)])


def _moves(estimates):
    """How far chance moves the estimate, as a share of it; never, where it is not a number."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = estimates.std(ddof=1) / abs(estimates.mean())
    return share if np.isfinite(share) else 0.0


@_once
def _pairs_differ(answer, case):
    """A generator begun inside the loop gives each pair the numbers of the first."""
    if max(map(abs, _measured(answer, case))) > 1e-9:
        return True
    return (
        "the variance is 0. Is a generator made inside a loop, which gives the same numbers in "
        "each turn? Make it once, before the loop. Or does each vector meet itself, or is there "
        "one pair only? Sample many pairs, and queries separately from keys"
    )


@_once
def _no_vector_shared(answer, case):
    """Of few pairs the estimate moves as far in every d_k; if all share a vector, it does not."""
    few = _estimates(answer, 3, case, 6)
    if _moves(few) < 0.4 or _moves(_estimates(answer, 200, case, 10)) > 0.18:
        return True
    return f"for d_k = 3 six seeds gave from {min(few):.2g} to {max(few):.2g}"


@_once
def _of_many_pairs(answer, case):
    """Six seeds are enough where chance moves the estimate by little, as 20,000 pairs do."""
    if _moves(_estimates(answer, 3, case, 6)) < 0.03:
        return True
    share = _moves(_estimates(answer, 3, case, 24))
    return bool(share < 0.05) or (
        f"chance moves that for d_k = 3 by about {share:.0%}: the pairs are fewer than 20,000, "
        "they share vectors, or their distribution has rare, very large numbers"
    )


@_once
def _unit(answer, case):
    """Whether the components have unit variance: if not, the result is another multiple of d_k."""
    shares = _measured(answer, case)
    share = sum(shares) / len(shares)
    if not share > 0 or max(shares) > 1.1 * min(shares) or abs(share - 1) < 0.08:
        return True
    return f"you measured about {share:.2g} d_k at every d_k"


@_once
def _summed_over_components(answer, case):
    return not _measured(answer, case)[-1] >= 20


@functools.cache
def _without_signs(d_k):
    return np.abs(_products(d_k, 0)).var()


@_once
def _zero_mean(answer, case):
    """Whether the components are neither uniform from 0 to 1 nor coins that show 0 and 1."""
    return all(_not_near(lambda d_k, c=c: c * d_k)(answer, case) for c in (7 / 144, 3 / 16))


def _near(answer, case):
    got = float(answer(*case.args))
    if abs(got / case.args[0] - 1) < 0.08:
        return True
    return f"d_k is {case.args[0]} and you measured {got:.3g}"


def _follows_seed(answer, case):
    d_k, seed = case.args
    first, again, other = (float(answer(d_k, number)) for number in (seed, seed, seed + 1))
    return first == again != other


@_once
def _scatters(answer, case):
    """Whether chance moves the estimate at all: even of 100 million pairs it does by more."""
    d_k = SIZES[0]
    seeds = np.random.default_rng(case.args[1]).integers(10**6, size=6).tolist()
    variances = np.array([float(answer(d_k, seed)) for seed in seeds])
    if not (abs(variances / d_k - 1) < 0.08).all():
        return f"of d_k = {d_k}, six seeds gave from {variances.min():.3g} to {variances.max():.3g}"
    return bool(variances.std() > 1e-4 * d_k) or "six seeds gave the same to four digits"


def _one_number(answer, case):
    shape = np.shape(answer(*case.args))
    return shape == () or f"the shape is {shape}"


MEASURED = [
    Law(None, "the answer is one number", _one_number),
    Law(None, "the scores of the pairs are not all the same", _pairs_differ),
    Law("M89", "the result is a variance, not a standard deviation", _not_near(math.sqrt)),
    Law("M146", "the result grows with d_k", _not_near(lambda d_k: 1)),
    Law("M145", "queries and keys are sampled separately", _not_near(lambda d_k: 2 * d_k)),
    Law("M1374", "the scores keep their signs", _not_near(_without_signs)),
    Law("M86", "the components have mean 0", _zero_mean),
    Law("M643", "each product of two components has the variance 1", _unit),
    Law("M644", "the result is not far above d_k", _summed_over_components),
    Law("M645", "no vector is shared by all pairs", _no_vector_shared),
    Law(None, "chance moves the estimate by less than 5%", _of_many_pairs),
    Law(None, "the measured variance is within 8% of d_k", _near),
    Law(None, "the same seed gives the same estimate, another seed another", _follows_seed),
    Law(None, "random numbers move the estimate, and by little", _scatters),
]


def _uniform_variance(d_k, seed):
    q, k = generator(seed).random((2, SAMPLES, d_k))
    return (q * k).sum(-1).var()


def _coins_of_0_and_1(d_k, seed):
    q, k = generator(seed).integers(0, 2, (2, SAMPLES, d_k))
    return (q * k).sum(-1).var()


def _from_minus_1_to_1(d_k, seed):
    q, k = generator(seed).uniform(-1, 1, (2, SAMPLES, d_k))
    return (q * k).sum(-1).var()


def _summed_over_pairs(d_k, seed):
    q, k = generator(seed).standard_normal((2, SAMPLES, d_k))
    return (q * k).sum(0).var()


def _one_query(d_k, seed):
    rng = generator(seed)
    q, k = rng.standard_normal(d_k), rng.standard_normal((SAMPLES, d_k))
    return (k @ q).var()


VARIANCE = [
    Wrong("M89", lambda d_k, seed: _products(d_k, seed).std()),
    Wrong("M1374", lambda d_k, seed: np.abs(_products(d_k, seed)).var()),
    Wrong("M146", lambda d_k, seed: (_products(d_k, seed) / math.sqrt(d_k)).var()),
    Wrong(
        "M145", lambda d_k, seed: (generator(seed).normal(size=(SAMPLES, d_k)) ** 2).sum(-1).var()
    ),
    Wrong("M86", _uniform_variance),
    Wrong("M86", _coins_of_0_and_1),
    Wrong("M643", _from_minus_1_to_1),
    Wrong("M644", _summed_over_pairs),
    Wrong("M645", _one_query),
]


# 5.4 Choose the divisor


def divisor(d_model, heads, n):
    """The number that the scores of one head are divided by."""
    return math.sqrt(d_model / heads)


def model_cases(rng):
    n = int(rng.integers(100, 1000))
    return [
        Case((384, 12, 13), about="MiniLM: d_model = 384, 12 heads, 13 tokens"),
        Case((768, 12, n), about=f"GPT-2: d_model = 768, 12 heads, {n} tokens"),
        Case((12288, 96, 2048), about="GPT-3: d_model = 12288, 96 heads, 2048 tokens"),
    ]


DIVISORS = [
    Wrong("M01", lambda d_model, heads, n: 1.0),
    Wrong("M02", lambda d_model, heads, n: d_model / heads),
    Wrong("M03", lambda d_model, heads, n: math.sqrt(d_model)),
    Wrong("M85", lambda d_model, heads, n: math.sqrt(d_model / heads * n)),
    Wrong("M1114", lambda d_model, heads, n: 1 / math.sqrt(d_model / heads)),
    Wrong("M641", lambda d_model, heads, n: math.sqrt(d_model) / heads),
    Wrong("M642", lambda d_model, heads, n: math.sqrt(heads)),
    Wrong("M642", lambda d_model, heads, n: heads),
]


# 5.5 Mean and variance of a score


def score_moments(mean_q, sd_q, mean_k, sd_k, d_k):
    """Mean and variance of q . k for independent components."""
    variance = (sd_q * sd_k) ** 2 + (mean_q * sd_k) ** 2 + (mean_k * sd_q) ** 2
    return d_k * mean_q * mean_k, d_k * variance


def moment_cases(rng):
    def case(mean_q, sd_q, mean_k, sd_k, d_k):
        about = f"means {mean_q} and {mean_k}, standard deviations {sd_q} and {sd_k}, d_k = {d_k}"
        return Case((mean_q, sd_q, mean_k, sd_k, d_k), about=about)

    return [
        case(0.0, 0.5, 0.0, 3.0, 7),
        case(2.0, 0.5, 0.0, 3.0, 5),
        case(0.7, 1.1, -0.4, 2.0, 11),
        case(round(rng.uniform(0.2, 0.9), 2), 0.8, 1.3, 1.7, 13),
    ]


def _squares_only(mean_q, sd_q, mean_k, sd_k, d_k):
    mean, variance = score_moments(mean_q, sd_q, mean_k, sd_k, d_k)
    return mean, variance + mean**2


def _squares_each(mean_q, sd_q, mean_k, sd_k, d_k):
    return d_k * mean_q * mean_k, d_k * (mean_q**2 + sd_q**2) * (mean_k**2 + sd_k**2)


def _root(*args):
    mean, variance = score_moments(*args)
    return mean, math.sqrt(variance)


def _unsquared(mean_q, sd_q, mean_k, sd_k, d_k):
    spread = sd_q * sd_k + mean_q**2 * sd_k + mean_k**2 * sd_q
    return d_k * mean_q * mean_k, d_k * spread


def _with_own_spread(mean_q, sd_q, mean_k, sd_k, d_k):
    variance = (sd_q * sd_k) ** 2 + (mean_q * sd_q) ** 2 + (mean_k * sd_k) ** 2
    return d_k * mean_q * mean_k, d_k * variance


MOMENTS = [
    Wrong("M1115", _with_own_spread),
    Wrong("M88", lambda mq, sq, mk, sk, d_k: (d_k * mq * mk, d_k)),
    Wrong("M88", lambda mq, sq, mk, sk, d_k: (0, d_k)),
    Wrong("M140", lambda mq, sq, mk, sk, d_k: (d_k * mq * mk, d_k * (sq * sk) ** 2)),
    Wrong("M140", lambda mq, sq, mk, sk, d_k: (0, d_k * (sq * sk) ** 2)),
    Wrong("M141", _squares_only),
    Wrong("M141", _squares_each),
    Wrong("M142", _unsquared),
    Wrong("M140+M142", lambda mq, sq, mk, sk, d_k: (d_k * mq * mk, d_k * sq * sk)),
    Wrong("M89", _root),
]


# 5.6 The gradient with respect to the query


def query_gradient(q, K):
    """How each weight of one query answers to each number of that query."""
    w = weights(q[None], K)[0]
    return functional.softmax_jacobian(w) @ K / math.sqrt(q.shape[-1])


def gradient_cases(rng):
    def case(n, d_k):
        return Case(
            (rng.normal(size=d_k), rng.normal(size=(n, d_k))), about=f"{n} keys, d_k = {d_k}"
        )

    return [case(3, 2), case(5, 3), case(3, 7)]


def _gradient(scale, jacobian, chained=None):
    """A gradient with another scale, another Jacobian, or another factor from the chain rule."""

    def wrong(q, K):
        factor = scale(q.shape[-1])
        w = functional.softmax(K @ q * factor)
        return jacobian(w) @ K * (factor if chained is None else chained)

    return wrong


def _root_scale(d_k):
    return 1 / math.sqrt(d_k)


def _scaled_late(q, K):
    return functional.softmax_jacobian(functional.softmax(K @ q)) @ K / math.sqrt(len(q))


def _sign_of_outer(w):
    return np.diag(w) + np.outer(w, w)


def _over_keys(jacobian):
    """The root of the number of keys in the place of that of d_k."""

    def wrong(q, K):
        root = math.sqrt(len(K))
        return jacobian(functional.softmax(K @ q / root)) @ K / root

    return wrong


def _quotient(step, back=0.0):
    """Differences of weights over a step of the query; `back` is how far it goes the other way."""

    def wrong(q, K):
        moves = np.eye(len(q))[:, None]
        ahead, behind = (weights(q + far * moves, K)[:, 0] for far in (step, -back))
        return (ahead - behind).T / (step + back)

    return wrong


GRADIENT = [
    Wrong("M1116", _scaled_late),
    Wrong("M1118", _gradient(_root_scale, _sign_of_outer)),
    Wrong("M85", _over_keys(functional.softmax_jacobian)),
    Wrong("M85+M1118", _over_keys(_sign_of_outer)),
    *(Wrong("M1117", _quotient(10.0**-n)) for n in range(6)),
    *(Wrong("M1117", _quotient(0.0, 10.0**-n)) for n in range(6)),
    *(Wrong("M1117", _quotient(10.0**-n, 10.0**-n)) for n in range(3)),
    Wrong("M1266", lambda q, K: 0 * K + query_gradient(q, K).sum(1, keepdims=True)),
    Wrong("M87", _gradient(_root_scale, functional.softmax_jacobian, chained=1)),
    Wrong("M01", _gradient(lambda d_k: 1, functional.softmax_jacobian)),
    Wrong("M02", _gradient(lambda d_k: 1 / d_k, functional.softmax_jacobian)),
    Wrong("M162", _gradient(_root_scale, lambda w: -functional.softmax_jacobian(w))),
    Wrong("M163", _gradient(_root_scale, lambda w: np.diag(w * (1 - w)))),
    Wrong("M164", _gradient(_root_scale, lambda w: -np.outer(w, w))),
    Wrong("M184", _gradient(_root_scale, np.diag)),
    Wrong(
        "M165",
        lambda q, K: functional.softmax_jacobian(K @ q / math.sqrt(len(q))) @ K / math.sqrt(len(q)),
    ),
]


# 5.7 Fold the scale into the projection


def fold(W_q, b_q):
    """A projection whose queries need no scale any more."""
    root = math.sqrt(W_q.shape[-1])
    return W_q / root, b_q / root


def projection_cases(rng):
    def case(d_model, d_k):
        about = f"d_model = {d_model}, d_k = {d_k}"
        return Case((rng.normal(size=(d_model, d_k)), rng.normal(size=d_k)), about=about)

    return [case(3, 2), case(7, 5)]


FOLDED = [
    Wrong("M143", lambda W_q, b_q: (W_q / math.sqrt(W_q.shape[-1]), b_q)),
    Wrong("M01", lambda W_q, b_q: (W_q, b_q)),
    Wrong("M02", lambda W_q, b_q: (W_q / W_q.shape[-1], b_q / W_q.shape[-1])),
    Wrong("M03", lambda W_q, b_q: (W_q / math.sqrt(len(W_q)), b_q / math.sqrt(len(W_q)))),
    Wrong("M04", lambda W_q, b_q: (W_q * math.sqrt(W_q.shape[-1]), b_q * math.sqrt(W_q.shape[-1]))),
]


# 5.8 Repair the head

NAMES = ("W_q", "W_k", "W_v")


class Head:
    """A head of attention that keeps its parameters."""

    def __init__(self, d_model, d_k, seed):
        drawn = generator(seed).standard_normal((3, d_model, d_k)) / math.sqrt(d_model)
        self.W_q, self.W_k, self.W_v = drawn

    def __call__(self, x):
        return dot_product.attend(x @ self.W_q, x @ self.W_k, x @ self.W_v).output


class DrawnFromZeroToOne(Head):
    """The start of the article's code."""

    def __init__(self, d_model, d_k, seed):
        self.W_q, self.W_k, self.W_v = generator(seed).random((3, d_model, d_k))


class UnitVariance(Head):
    """Centred, but too large by sqrt(d_model)."""

    def __init__(self, d_model, d_k, seed):
        self.W_q, self.W_k, self.W_v = generator(seed).standard_normal((3, d_model, d_k))


class DrawnInEachCall(Head):
    """New parameters for each sentence."""

    def __init__(self, d_model, d_k, seed):
        super().__init__(d_model, d_k, seed)
        self.shape, self.stream = (d_model, d_k), generator(seed)

    def __call__(self, x):
        q, k, v = (x @ self.stream.normal(size=self.shape) / 8 for _ in range(3))
        return dot_product.attend(q, k, v).output


class SeededInEachCall(DrawnInEachCall):
    """The same new parameters for each sentence, so that nothing can be learned."""

    def __call__(self, x):
        self.stream = generator(0)
        return super().__call__(x)


def scaled_by(divisor):
    """A head with another divisor, given as a function of x and its queries."""

    class ScaledBy(Head):
        def __call__(self, x):
            q = x @ self.W_q
            scale = 1 / divisor(x, q)
            return dot_product.attend(q, x @ self.W_k, x @ self.W_v, scale=scale).output

    return ScaledBy


def sentence_cases(rng):
    return [
        Case((7, 3, rng.normal(size=(5, 7))), about="5 tokens, d_model = 7, d_k = 3"),
        Case((61, 53, rng.normal(size=(3, 61))), about="3 tokens, d_model = 61, d_k = 53"),
    ]


def _array(numbers):
    return np.asarray(numbers.detach() if hasattr(numbers, "detach") else numbers, dtype=float)


def _parameters(head):
    return [_array(getattr(head, name)) for name in NAMES]


def _has_output(answer, case):
    d_model, d_k, x = case.args
    output = answer(d_model, d_k, 0)(x)
    if output is None:
        return "`head(x)` returns None, as a function without `return` does"
    shape = tuple(getattr(output, "shape", ()))
    return shape == (len(x), d_k) or f"the output has shape {shape}, not {(len(x), d_k)}"


def _keeps_its_parameters(answer, case):
    d_model, d_k, _ = case.args
    head = answer(d_model, d_k, 0)
    lost = [name for name in NAMES if not hasattr(head, name)]
    made = "once `Head(d_model, d_k, seed)` is made"
    where = "make the parameters in `__init__`, under the names W_q, W_k and W_v"
    return not lost or f"{made}, it has no `{lost[0]}`: {where}"


def _same_twice(answer, case):
    d_model, d_k, x = case.args
    head = answer(d_model, d_k, 0)
    return np.allclose(_array(head(x)), _array(head(x)), equal_nan=True)


def _alone(answer, case):
    """Two heads alive at once, and two texts in turn: the first is asked before and after."""
    d_model, d_k, x = case.args
    first = answer(d_model, d_k, 0)
    before, shorter = _array(first(x)), _array(first(x[:-1] * 2))
    answer(d_model, d_k, 1)(x)
    if not np.allclose(_array(first(x)), before):
        return "once a second head is made, the first gives a different output"
    fresh = _array(answer(d_model, d_k, 0)(x[:-1] * 2))
    return bool(shorter.shape == fresh.shape and np.allclose(shorter, fresh)) or (
        "its output on a second text depends on the first"
    )


def _uses_its_values(answer, case):
    return not _array(run_driver(answer, without_values, *case.args)).any()


def _centred(answer, case):
    # 61 x 53 numbers are enough: their mean is off by less than 1/57 of their spread.
    drawn = np.concatenate([w.ravel() for w in _parameters(answer(61, 53, 0))])
    return bool(abs(drawn.mean()) <= 0.1 * drawn.std())


def _narrow(answer, case):
    # A variance of 1 / d_k is 2.7 times too large here.
    variances = [61 * w.var() for w in _parameters(answer(61, 23, 0))]
    wrong = [f"{variance:.2g}" for variance in variances if not 0.7 < variance < 1.4]
    return not wrong or f"of a new head with d_model = 61, variance times d_model is {wrong[0]}"


def _divided_otherwise(divisor):
    """Whether the output is not the one that another divisor gives."""

    def holds(answer, case):
        d_model, d_k, x = case.args
        head, x_plain = answer(d_model, d_k, 0), _array(x)
        q, k, v = (x_plain @ w for w in _parameters(head))
        wrong = dot_product.attend(q, k, v, scale=1 / divisor(x_plain, q)).output
        return not np.allclose(_array(head(x)), wrong, atol=1e-5)

    return holds


def _attends(answer, case):
    d_model, d_k, x = case.args
    head = answer(d_model, d_k, 0)
    q, k, v = (_array(x) @ w for w in _parameters(head))
    return np.allclose(_array(head(x)), dot_product.attend(q, k, v).output, atol=1e-5)


def _seeded(answer, case):
    d_model, d_k, _ = case.args
    first, again, other = (_parameters(answer(d_model, d_k, seed)) for seed in (0, 0, 1))
    if not all(np.array_equal(a, b) for a, b in zip(first, again, strict=True)):
        return "the same seed drew other parameters"
    return not any(np.allclose(a, b) for a, b in zip(first, other, strict=True))


def _drawn_apart(answer, case):
    W_q, W_k, W_v = _parameters(answer(*case.args[:2], 0))
    return not any(np.allclose(a, b) for a, b in ((W_q, W_k), (W_k, W_v), (W_q, W_v)))


HEAD = [
    Law(None, "the output has a row for each token and d_k columns", _has_output),
    Law(None, "the head keeps its parameters as W_q, W_k and W_v", _keeps_its_parameters),
    Law("M64", "the same sentence twice gives the same output", _same_twice),
    Law("M64", "the head uses its own W_v: if it is set to 0, so is the output", _uses_its_values),
    Law("M86", "the parameters have mean 0", _centred),
    Law("M144", "the parameters have variance 1 / d_model", _narrow),
    Law("M01", "the scores are scaled", _divided_otherwise(lambda x, q: 1)),
    Law("M02", "the divisor is not d_k", _divided_otherwise(lambda x, q: q.shape[-1])),
    Law("M03", "the divisor is not sqrt(d_model)",
        _divided_otherwise(lambda x, q: math.sqrt(x.shape[-1]))),
    Law(None, "the seed decides the parameters, and another seed draws others", _seeded),
    Law(None, "each head has parameters of its own, and each text an output", _alone),
    Law(None, "the output is that of attention with the head's own parameters", _attends),
    Law(None, "W_q, W_k and W_v are three different draws", _drawn_apart),
]  # fmt: skip

HEADS = [
    Wrong("M64", DrawnInEachCall),
    Wrong("M64", SeededInEachCall),
    Wrong("M86", DrawnFromZeroToOne),
    Wrong("M144", UnitVariance),
    Wrong("M01", scaled_by(lambda x, q: 1)),
    Wrong("M02", scaled_by(lambda x, q: q.shape[-1])),
    Wrong("M03", scaled_by(lambda x, q: math.sqrt(x.shape[-1]))),
]


EXERCISE = Exercise(
    chapter="05",
    title="Scaling",
    tasks=[
        Task(
            id="5.1",
            name="scaled_scores",
            title="Scaled scores",
            difficulty=1,
            importance=5,
            minutes=5,
            reference=scaled_scores,
            cases=projected_cases,
            wrong=SCORES,
            read=f"{PAGE}#the-divisor",
        ),
        Task(
            id="5.2",
            name="weights",
            title="From queries and keys to weights",
            difficulty=1,
            importance=4,
            minutes=5,
            reference=weights,
            cases=query_key_cases,
            wrong=WEIGHTS,
            read=f"{PAGE}#the-divisor",
        ),
        Task(
            id="5.3",
            name="measured_variance",
            title="Measure the variance",
            difficulty=2,
            importance=4,
            minutes=8,
            reference=measured_variance,
            cases=width_cases,
            wrong=VARIANCE,
            laws=MEASURED,
            unique=False,
            read=f"{PAGE}#why-the-variance-grows",
        ),
        Task(
            id="5.4",
            name="divisor",
            title="Choose the divisor",
            difficulty=1,
            importance=5,
            minutes=4,
            reference=divisor,
            cases=model_cases,
            wrong=DIVISORS,
            read=f"{PAGE}#the-divisor",
        ),
        Task(
            id="5.5",
            name="score_moments",
            title="What if the mean is not 0 and sigma not 1",
            difficulty=3,
            importance=3,
            minutes=12,
            reference=score_moments,
            cases=moment_cases,
            wrong=MOMENTS,
            read=f"{DEEPER}#break-each-assumption",
        ),
        Task(
            id="5.6",
            name="query_gradient",
            title="The gradient on the query",
            difficulty=4,
            importance=3,
            minutes=12,
            reference=query_gradient,
            cases=gradient_cases,
            wrong=GRADIENT,
            read=f"{DEEPER}#the-gradient-on-the-query",
        ),
        Task(
            id="5.7",
            name="fold",
            title="Fold the scale into the projection",
            difficulty=2,
            importance=3,
            minutes=6,
            reference=fold,
            cases=projection_cases,
            wrong=FOLDED,
            read=f"{DEEPER}#what-does-the-scale-buy",
        ),
        Task(
            id="5.8",
            name="Head",
            title="Repair the head",
            difficulty=4,
            importance=5,
            minutes=20,
            reference=Head,
            cases=sentence_cases,
            wrong=HEADS,
            laws=HEAD,
            call=first_output,
            unique=False,
            read=f"{DEEPER}#claim-S3-28",
        ),
    ],
)
