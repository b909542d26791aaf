"""Self-attention, assembled: the checks."""

import sys

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from lib import functional
from lib.attention import positions
from lib.attention.dot_product import attend


def softmax(scores, axis=-1):
    """Softmax with an axis to get wrong; the scores here never need the maximum subtracted."""
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis, keepdims=True)


# 7.1 ----------------------------------------------------------------------------------------


def mix(weights, values):
    return weights @ values


def mix_cases(rng):
    square = functional.softmax(rng.normal(size=(3, 3)))
    return [
        Case((np.array([[0.6, 0.4], [0.7, 0.3]]), np.array([[10.0, 0.0], [0.0, 10.0]])),
             about="tokens A and B of the hint"),
        Case((square, rng.normal(size=(3, 2))), about="3 tokens, d_v = 2"),
        Case((functional.softmax(rng.normal(size=(2, 3))), rng.normal(size=(3, 5))),
             about="2 queries, 3 keys, d_v = 5"),
    ]  # fmt: skip


# 7.2, 7.3 -----------------------------------------------------------------------------------


def attention(q, k, v):
    return attend(q, k, v).output


def qkv_cases(rng):
    def draw(query, key, d_k, d_v):
        about = f"{query} queries, {key} keys, d_k = {d_k}, d_v = {d_v}"
        arrays = (rng.normal(size=shape) for shape in [(query, d_k), (key, d_k), (key, d_v)])
        return Case(tuple(arrays), about=about)

    # Square shapes first: there a missing transpose or a swap gives numbers and not an error.
    sizes = [(3, 3, 3, 3), (2, 3, 5, 2), (3, 2, 4, 5), (1, 1, 2, 3), (2, 7, 3, 2)]
    return [draw(*size) for size in sizes]


def with_switches(q, k, v, *, scale=None, axis=-1, weigh=None):
    """Attention with its parts exchangeable, so that each misconception is one line."""
    table = q @ k.T * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    return (weigh or (lambda scores: softmax(scores, axis)))(table) @ v


def sums_dropped(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(-1)


def maxima_dropped(scores):
    return softmax(scores - scores.max(-1))


def one_hot(table):
    return np.eye(table.shape[-1])[table.argmax(-1)]


def in_torch(answer):
    """The same answer where it stops with an error of torch, and not of NumPy."""
    # torch was loaded by whoever wrote an answer in it
    return lambda *given: answer(*map(sys.modules["torch"].as_tensor, given))


def keys_as_they_are(q, k, v):
    return softmax(q @ k / np.sqrt(q.shape[-1])) @ v


def exchanged(q, k, v):
    return with_switches(k, q, v)


ATTENTION_WRONG = [
    Wrong("M01", lambda q, k, v: with_switches(q, k, v, scale=1.0)),
    Wrong("M02", lambda q, k, v: with_switches(q, k, v, scale=1 / q.shape[-1])),
    Wrong("M04", lambda q, k, v: with_switches(q, k, v, scale=np.sqrt(q.shape[-1]))),
    Wrong("M05", keys_as_they_are),
    Wrong("M05", in_torch(keys_as_they_are)),
    Wrong("M06", exchanged),
    Wrong("M06", in_torch(exchanged)),
    Wrong("M07", lambda q, k, v: with_switches(q, v, v)),
    Wrong("M08", lambda q, k, v: with_switches(q, k, k)),
    Wrong("M09", lambda q, k, v: with_switches(
        q, k, v, scale=1.0, weigh=lambda s: softmax(s) / np.sqrt(q.shape[-1]))),
    Wrong("M11", lambda q, k, v: with_switches(q, k, v, axis=0)),
    Wrong("M12", lambda q, k, v: with_switches(q, k, v, axis=(0, 1))),
    Wrong("M16", lambda q, k, v: with_switches(q, k, v, weigh=one_hot)),
    Wrong("M17", lambda q, k, v: with_switches(q, k, v, weigh=lambda s: softmax(0 * s))),
    Wrong("M18", lambda q, k, v: with_switches(q, k, v, weigh=lambda s: 1 / (1 + np.exp(-s)))),
    Wrong("M19", lambda q, k, v: with_switches(q, k, v, weigh=lambda s: softmax(softmax(s)))),
    Wrong("M33", lambda q, k, v: with_switches(q, k, v, weigh=lambda s: softmax(s).T)),
    Wrong("M15", lambda q, k, v: with_switches(q, k, v, weigh=sums_dropped)),
    Wrong("M15", lambda q, k, v: with_switches(q, k, v, weigh=maxima_dropped)),
    Wrong("M670", lambda q, k, v: with_switches(q, k, v, scale=1 / np.sqrt(v.shape[-1]))),
    Wrong("M85", lambda q, k, v: with_switches(q, k, v, scale=1 / np.sqrt(len(k)))),
    Wrong("M85", lambda q, k, v: with_switches(q, k, v, scale=1 / np.sqrt(len(q)))),
    Wrong("M1282", lambda q, k, v: with_switches(q[:1].repeat(len(q), 0), k, v)),
    Wrong("M1282+M01", lambda q, k, v: with_switches(q[:1].repeat(len(q), 0), k, v, scale=1.0)),
]  # fmt: skip


def between_the_values(answer, case):
    output, values = np.asarray(answer(*case.args)), np.asarray(case.args[2])
    margin = 0.01 * np.abs(values).max()  # half precision is right within 1%
    inside = (output >= values.min(0) - margin) & (output <= values.max(0) + margin)
    inside |= np.isnan(output)  # nan lies nowhere, and other words tell of it
    return bool(inside.all()) or "some output lies outside the range of the values"


def self_attention(x, w_q, w_k, w_v):
    return attend(x @ w_q, x @ w_k, x @ w_v).output


def self_attention_cases(rng):
    def draw(*leading, n, d_model, d_k, d_v):
        about = f"n = {n}, d_model = {d_model}, d_k = {d_k}, d_v = {d_v}"
        about += f", a batch of {' x '.join(map(str, leading))}" if leading else ""
        widths = (d_k, d_k, d_v)
        maps = [rng.normal(size=(d_model, width)) / np.sqrt(d_model) for width in widths]
        return Case((rng.normal(size=(*leading, n, d_model)), *maps), about=about)

    return [
        draw(n=3, d_model=3, d_k=3, d_v=3),
        draw(n=3, d_model=5, d_k=2, d_v=7),
        draw(2, n=3, d_model=5, d_k=4, d_v=3),
        draw(2, 3, n=4, d_model=3, d_k=2, d_v=5),
    ]


def no_mixing(answer, case):
    x, *maps = case.args
    if x.ndim == 2:
        return True
    sentences = x.reshape(-1, *x.shape[-2:])
    alone = np.stack([np.asarray(answer(sentence, *maps)) for sentence in sentences])
    together = np.asarray(answer(*case.args))
    return bool(np.allclose(alone, together.reshape(alone.shape), atol=1e-4, equal_nan=True))


def keys_over_the_batch(x, w_q, w_k, w_v):
    """`.T` of a batch turns all of its axes round; lists of sentences hide the mistake."""
    flat = x.reshape(-1, x.shape[-1])
    return self_attention(flat, w_q, w_k, w_v).reshape(*x.shape[:-1], -1)


def all_axes_turned(x, w_q, w_k, w_v):
    table = x @ w_q @ (x @ w_k).T / np.sqrt(w_q.shape[-1])  # an error where there is a batch
    return softmax(table) @ (x @ w_v)


def down_the_columns(x, w_q, w_k, w_v):
    table = x @ w_q @ (x @ w_k).swapaxes(-1, -2) / np.sqrt(w_q.shape[-1])
    return softmax(table, -2) @ (x @ w_v)


def axis_dropped(x, w_q, w_k, w_v):
    table = x @ w_q @ (x @ w_k).swapaxes(-1, -2) / np.sqrt(w_q.shape[-1])
    return sums_dropped(table) @ (x @ w_v)


def transposed_maps(x, w_q, w_k, w_v):
    return self_attention(x, w_q.T, w_k.T, w_v.T)


SELF_ATTENTION_WRONG = [
    Wrong("M10", transposed_maps),
    Wrong("M06", lambda x, w_q, w_k, w_v: self_attention(x, w_k, w_q, w_v)),
    Wrong("M08", lambda x, w_q, w_k, w_v: attend(x @ w_q, x @ w_k, x @ w_k).output),
    Wrong("M95", lambda x, w_q, w_k, w_v: attend(x @ w_q, x @ w_k, x).output),
    Wrong("M96", keys_over_the_batch),
    Wrong("M482", all_axes_turned),
    Wrong("M482", in_torch(all_axes_turned)),
    Wrong("M11", down_the_columns),
    Wrong("M15", axis_dropped),
    Wrong("M671", lambda x, *maps: x + self_attention(x, *maps)),
    Wrong("M01", lambda x, w_q, w_k, w_v: attend(x @ w_q, x @ w_k, x @ w_v, scale=1.0).output),
    Wrong("M03", lambda x, w_q, w_k, w_v: attend(
        x @ w_q, x @ w_k, x @ w_v, scale=1 / np.sqrt(x.shape[-1])).output),
]  # fmt: skip


# 7.4 ----------------------------------------------------------------------------------------


def add_change(x, weights, values, w_o):
    return x + weights @ values @ w_o


def stream_cases(rng):
    def draw(n, d_model, d_v):
        shapes = [(n, d_model), (n, n), (n, d_v), (d_v, d_model)]
        x, scores, values, w_o = (rng.normal(size=shape) for shape in shapes)
        about = f"n = {n}, d_model = {d_model}, d_v = {d_v}"
        return Case((x, functional.softmax(scores), values, w_o), about=about)

    return [draw(3, 3, 3), draw(3, 5, 2), draw(2, 3, 7)]


STREAM_WRONG = [
    Wrong("M34", lambda x, a, v, w: a @ v @ w),
    Wrong("M33+M34", lambda x, a, v, w: a.T @ v @ w),
    Wrong("M35", lambda x, a, v, w: 2 * x + a @ v @ w),
    Wrong("M40", lambda x, a, v, w: x + a @ v),
    Wrong("M33", lambda x, a, v, w: x + a.T @ v @ w),
    Wrong("M10", lambda x, a, v, w: x + a @ v @ w.T),
    Wrong("M1049", lambda x, a, v, w: a @ (x + v @ w)),
    Wrong("M1049", lambda x, a, v, w: (x + a @ v) @ w),
    Wrong("M1061", lambda x, a, v, w: x @ w + a @ v),
    Wrong("M1061", lambda x, a, v, w: x + v @ w),
]


# 7.5 ----------------------------------------------------------------------------------------


def recover_weights(output, values):
    system = np.concatenate([values.T, np.ones((1, len(values)))])
    return np.linalg.solve(system, np.concatenate([output.T, np.ones((1, len(output)))])).T


def triangle_cases(rng):
    triangle = np.array([[0.0, 0.0], [4.0, 4.0], [8.0, 0.0]])  # the example of the task
    fractions = np.array([[1 / 4, 1 / 4, 1 / 2], [1 / 8, 1 / 4, 5 / 8], [1 / 2, 1 / 4, 1 / 4]])
    other = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]]) + rng.normal(size=(3, 2)) / 10
    solid = np.concatenate([np.zeros((1, 3)), np.eye(3)]) + rng.normal(size=(4, 3)) / 10
    drawn = [functional.softmax(rng.normal(size=shape)) for shape in [(2, 3), (5, 4)]]
    return [
        Case((fractions @ triangle, triangle), about="the values of the example"),
        Case((drawn[0] @ other, other), about="2 queries, a triangle"),
        Case((drawn[1] @ solid, solid), about="5 queries, 4 values in 3 dimensions"),
    ]


def similarity_weights(output, values):
    return softmax(output @ values.T / np.sqrt(values.shape[-1]))


def normalised_afterwards(output, values):
    weights = np.linalg.lstsq(values.T, output.T)[0].T
    return weights / weights.sum(-1, keepdims=True)


def values_as_rows(output, values):
    system = np.concatenate([values, np.ones((len(values), 1))], axis=1)
    return np.linalg.solve(system, np.concatenate([output.T, np.ones((1, len(output)))])).T


def by_distance(near):
    def answer(output, values):
        shares = near(np.linalg.norm(output[:, None] - values, axis=-1))
        return shares / shares.sum(-1, keepdims=True)

    return answer


NEAR = [
    lambda distance: 1 / (distance + 1e-12), lambda distance: 1 / (distance**2 + 1e-12),
    lambda distance: np.exp(-distance), lambda distance: np.exp(-(distance**2)),
    lambda distance: np.exp(-(distance**2) / 2),
]  # fmt: skip


def one_equation_short(output, values):
    return np.linalg.solve(values.T, output.T).T


# 7.6 ----------------------------------------------------------------------------------------


def is_equivariant(f, x, permutation):
    return bool(np.allclose(f(x[permutation]), f(x)[permutation]))


def attend_to_self(x):
    return attend(x, x, x).output


def attend_with_positions(x):
    x = x + positions.sinusoidal(*x.shape)
    return attend(x, x, x).output


def attend_to_the_past(x):
    return attend(x, x, x, np.tri(len(x), dtype=bool)).output


def average_of_all(x):
    return 0 * x + x.mean(0)


def twice_the_neighbour(x):
    return x + np.roll(x, 1, axis=0)


def with_cancelling_positions(x):
    """Positions that neither the sum of all numbers nor that of a token's features shows."""
    steps = np.arange(len(x))[:, None] * np.array([1.0, -1.0, 0.0, 0.0])
    return x + steps


def divided_by_length(x):
    """A second run changes nothing, so it shows who runs f twice."""
    return x / np.sqrt((x * x).sum(-1, keepdims=True))


def every_second_turned(x):
    """The rows hold the same numbers wherever they stand, and not in the same order."""
    return np.where(np.arange(len(x))[:, None] % 2, x[:, ::-1], x)


def equivariance_cases(rng):
    x, cycle = rng.normal(size=(5, 4)), np.array([2, 0, 1, 4, 3])
    candidates = {
        "self-attention": attend_to_self,
        "self-attention with positions": attend_with_positions,
        "self-attention with a causal mask": attend_to_the_past,
        "the average of all tokens": average_of_all,
        "each token plus its left neighbour": twice_the_neighbour,
        "each feature sorted": lambda tokens: np.sort(tokens, axis=0),
        "this very permutation, and no other commutes with it": lambda tokens: tokens[cycle],
        "a step for each position that cancels over the features": with_cancelling_positions,
        "1 added to the last token": lambda tokens: tokens + np.eye(len(tokens))[-1][:, None],
        "each token divided by its length": divided_by_length,
        "the tokens as they are": lambda tokens: tokens + 0,
        "the components of every second token turned round": every_second_turned,
    }
    cases = [Case((f, x, cycle), about=name) for name, f in candidates.items()]
    swap = np.array([0, 3, 2, 1, 4])
    return [*cases, Case((attend_to_self, x, swap), about="self-attention, two tokens swapped")]


def sums_compared(axis):
    """Two tables whose sums agree need not agree."""

    def answer(f, x, permutation):
        return bool(np.allclose(f(x[permutation]).sum(axis), f(x)[permutation].sum(axis)))

    return answer


# 7.7 ----------------------------------------------------------------------------------------


def waves(n, d_model, *, first=0, exponent=2.0, halves=False, swap=False, degrees=False):
    """Sinusoidal positions with their parts exchangeable."""
    speeds = 10000.0 ** (-np.arange(d_model // 2) * exponent / d_model)
    angles = np.outer(np.arange(first, first + n), speeds)
    angles = np.radians(angles) if degrees else angles
    pair = (np.cos(angles), np.sin(angles)) if swap else (np.sin(angles), np.cos(angles))
    return np.concatenate(pair, -1) if halves else np.stack(pair, -1).reshape(n, d_model)


def a_speed_for_each_column(exponent):
    """The column counted where the pair should be: the cosine gets a speed of its own."""

    def answer(n, d_model):
        columns = np.arange(d_model)
        angles = np.outer(np.arange(n), 10000.0 ** (-exponent * columns / d_model))
        return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))

    return answer


def without_brackets(upside_down):
    """The exponent is 2 alone, and what should stand in it is outside."""

    def answer(n, d_model):
        power = 1 / 10000**2 if upside_down else 10000**2
        angles = np.outer(np.arange(n), power * np.arange(d_model // 2) / d_model)
        return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(n, d_model)

    return answer


def wave_cases(rng):
    drawn = int(rng.integers(3, 12)), 2 * int(rng.integers(4, 9))
    sizes = [(2, 4), (5, 6), (7, 2), drawn]
    return [Case(size, about="n = {}, d_model = {}".format(*size)) for size in sizes]


# 7.8 ----------------------------------------------------------------------------------------


def same_rotary_score(query, key, n):
    return np.subtract.outer(np.arange(n), np.arange(n)) == query - key


def rotary_cases(rng):
    del rng  # whether two scores are equal for all queries and keys depends on positions alone
    return [
        Case((2, 1, 4), about="query at 2, key at 1, 4 positions"),
        Case((1, 3, 5), about="the key stands after the query"),
        Case((2, 2, 3), about="a word with itself"),
        Case((4, 1, 6), about="query at 4, key at 1, 6 positions"),
    ]


def drawn_rotary_cases(rng):
    """Positions of which one is first, then the other, and twice the same."""
    cases = []
    for n in rng.permutation(np.arange(5, 12))[:3].tolist():
        low, high = sorted(rng.permutation(n - 1)[:2].tolist())
        cases += [Case((*pair, n), about="query at {}, key at {}, {} positions".format(*pair, n))
                  for pair in ((high, low), (low, high), (high, high))]  # fmt: skip
    return cases


def either_way_round(query, key, n):
    return abs(np.subtract.outer(np.arange(n), np.arange(n))) == abs(query - key)


def this_pair_alone(query, key, n):
    same = np.zeros((n, n), bool)
    same[query, key] = True
    return same


def this_pair_and_its_swap(query, key, n):
    return this_pair_alone(query, key, n) | this_pair_alone(key, query, n)


def along_one_way(onward):
    """The diagonal on one side of the pair alone, the pair itself included."""

    def answer(query, key, n):
        at = np.arange(n)[:, None]
        side = at >= query if onward else at <= query
        return same_rotary_score(query, key, n) & side

    return answer


def the_row_of_the_query(query, key, n):
    return np.repeat(np.arange(n) == query, n).reshape(n, n)


def the_column_of_the_key(query, key, n):
    return the_row_of_the_query(key, query, n).T


def round_the_edge(query, key, n):
    return np.roll(np.eye(n, dtype=bool), key - query, axis=1)


def before_the_first(query, key, n):
    """A negative index counts from the end; one beyond the end is an error."""
    same = np.zeros((n, n), bool)
    for i in range(n):
        same[i, i - query + key] = True
    return same


def near_enough(query, key, n):
    return np.subtract.outer(np.arange(n), np.arange(n)) <= query - key


EXERCISE = Exercise(
    chapter="07",
    title="Self-attention, assembled",
    tasks=[
        Task(
            id="7.1", name="mix", title="Mix the values", difficulty=1, importance=5, minutes=5,
            reference=mix, cases=mix_cases,
            read="chapters/07_self_attention.html#one-function-five-steps",
            wrong=[
                Wrong("M33", lambda weights, values: weights.T @ values),
                Wrong("M758", lambda weights, values: weights * values),
                Wrong("M758", in_torch(lambda weights, values: weights * values)),
                Wrong("M1281", lambda weights, values: weights[:, -1:] * values[-1]),
                Wrong("M981", lambda weights, values: 0 * weights @ values + values.mean(0)),
                Wrong("M981", lambda weights, values: one_hot(weights) @ values),
                Wrong("M981", lambda weights, values: softmax(weights) @ values),
            ],
        ),
        Task(
            id="7.2", name="attention", title="Attention, whole", difficulty=3, importance=5,
            minutes=15, reference=attention, cases=qkv_cases, wrong=ATTENTION_WRONG,
            read="chapters/07_self_attention.html#one-function-five-steps",
            laws=[Law(None, "outputs lie between the values", between_the_values)],
        ),
        Task(
            id="7.3", name="self_attention", title="Self-attention with its projections",
            difficulty=3, importance=5, minutes=10, reference=self_attention,
            cases=self_attention_cases, wrong=SELF_ATTENTION_WRONG,
            read="chapters/07_self_attention.html#one-function-five-steps",
            laws=[Law("M96", "a sentence comes out the same in a batch as alone", no_mixing)],
        ),
        Task(
            id="7.4", name="add_change", title="Add the change to the residual stream",
            difficulty=2, importance=4, minutes=5, reference=add_change, cases=stream_cases,
            steps={"the change": lambda x, weights, values, w_o: weights @ values @ w_o},
            wrong=STREAM_WRONG,
            read="chapters/07_self_attention.html#the-residual-connection",
        ),
        Task(
            id="7.5", name="recover_weights", title="Recover the weights from the output",
            difficulty=4, importance=2, minutes=15, reference=recover_weights,
            cases=triangle_cases,
            read="chapters/07_self_attention.html#what-comes-out-lies-between-the-values",
            wrong=[
                Wrong("M97", lambda output, values: np.linalg.lstsq(values.T, output.T)[0].T),
                Wrong("M98", similarity_weights),
                Wrong("M98", lambda output, values: softmax(output @ values.T)),
                Wrong("M953", normalised_afterwards),
                Wrong("M1184", values_as_rows),
                *(Wrong("M954", by_distance(near)) for near in NEAR),
                Wrong("M1283", one_equation_short),
            ],
        ),
        Task(
            id="7.6", name="is_equivariant", title="Test for permutation equivariance",
            difficulty=3, importance=4, minutes=10, reference=is_equivariant,
            cases=equivariance_cases,
            read="chapters/07_self_attention.html#order-is-invisible-without-a-mask",
            wrong=[
                Wrong("M99", lambda f, x, p: bool(np.allclose(f(x[p]), f(x)))),
                Wrong("M99", lambda f, x, p: bool(np.allclose(f(x)[p], f(x)))),
                Wrong("M1354", lambda f, x, p: True),
                Wrong("M1355", lambda f, x, p: bool(np.allclose(f(x), x))),
                Wrong("M100", lambda f, x, p: bool(
                    np.allclose(f(x[p]), f(x)[np.argsort(p)]))),
                *(Wrong("M101", sums_compared(axis)) for axis in (None, 0, 1)),
                Wrong("M101", lambda f, x, p: bool(np.allclose(f(x[p])[0], f(x)[p][0]))),
                Wrong("M1183", lambda f, x, p: bool(np.allclose(f(f(x)[p]), f(x)[p]))),
                Wrong("M989", lambda f, x, p: bool(
                    np.allclose(np.sort(f(x[p]), axis=0), np.sort(f(x), axis=0)))),
                Wrong("M672", lambda f, x, p: f(x[p]) == f(x)[p]),
                Wrong("M672", lambda f, x, p: bool(np.array_equal(f(x[p]), f(x)[p]))),
            ],
        ),
        Task(
            id="7.7", name="sinusoids", title="Sinusoidal positions", difficulty=3, importance=3,
            minutes=15, reference=lambda n, d_model: positions.sinusoidal(n, d_model),
            cases=wave_cases, read="chapters/07_self_attention_deeper.html#why-sinusoids",
            wrong=[
                Wrong("M58", lambda n, d: waves(n, d, first=1)),
                Wrong("M58+M481", lambda n, d: waves(n, d, first=1, exponent=4.0)),
                Wrong("M58+M104", lambda n, d: waves(n, d, first=1, swap=True)),
                Wrong("M102+M104", lambda n, d: waves(n, d, halves=True, swap=True)),
                Wrong("M103+M104", lambda n, d: waves(n, d, exponent=1.0, swap=True)),
                Wrong("M58+M102", lambda n, d: waves(n, d, first=1, halves=True)),
                Wrong("M58+M103", lambda n, d: waves(n, d, first=1, exponent=1.0)),
                Wrong("M1119", without_brackets(True)),
                Wrong("M1119", without_brackets(False)),
                Wrong("M102", lambda n, d: waves(n, d, halves=True)),
                Wrong("M103", lambda n, d: waves(n, d, exponent=1.0)),
                Wrong("M481", a_speed_for_each_column(2)),
                Wrong("M481", lambda n, d: waves(n, d, exponent=4.0)),
                Wrong("M483", a_speed_for_each_column(1)),
                Wrong("M104", lambda n, d: waves(n, d, swap=True)),
                Wrong("M105", lambda n, d: waves(n, d, degrees=True)),
            ],
        ),
        Task(
            id="7.8", name="same_rotary_score", title="Which rotary scores agree?", difficulty=2,
            importance=3, minutes=8, reference=same_rotary_score, cases=rotary_cases,
            graded_cases=drawn_rotary_cases,
            read="chapters/07_self_attention.html#four-ways-to-tell-the-position",
            wrong=[
                Wrong("M554", either_way_round),
                Wrong("M555", lambda query, key, n: same_rotary_score(key, query, n)),
                Wrong("M556", this_pair_alone),
                Wrong("M557", this_pair_and_its_swap),
                Wrong("M1120", along_one_way(True)),
                Wrong("M1120", along_one_way(False)),
                Wrong("M558", the_row_of_the_query),
                Wrong("M558", the_column_of_the_key),
                Wrong("M559", near_enough),
                Wrong("M1284", round_the_edge),
                Wrong("M1284", before_the_first),
            ],
        ),
    ],
)  # fmt: skip
