"""Queries, keys, values: the checks."""

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from lib import functional
from lib.attention import dot_product

PAGE = "chapters/04_queries_keys_values.html"

# 4.1 ----------------------------------------------------------------------------------------


def project(x, weight, bias):
    return x @ weight.T + bias


def project_cases(rng):
    def draw(*leading, d_in, d_out):
        about = f"{leading[-1]} tokens, d_in = {d_in}, d_out = {d_out}"
        about += f", a batch of {' x '.join(map(str, leading[:-1]))}" if leading[1:] else ""
        shapes = [(*leading, d_in), (d_out, d_in), (d_out,)]
        return Case(tuple(rng.normal(size=shape) for shape in shapes), about=about)

    # A square matrix first: there a missing transpose gives numbers and not an error.
    return [draw(2, d_in=3, d_out=3), draw(3, d_in=5, d_out=2), draw(2, 3, d_in=4, d_out=5),
            draw(3, 2, 4, d_in=2, d_out=3), draw(3, d_in=2, d_out=3)]  # fmt: skip


# 4.2 ----------------------------------------------------------------------------------------


def score(q, k):
    return q @ k


def score_cases(rng):
    widths = (2, 5, 7)
    drawn = [
        Case((rng.normal(size=width), rng.normal(size=width)), about=f"d_k = {width}")
        for width in widths
    ]
    pencil = np.array([4.0, 0.0]), np.array([1.0, 1.0])
    return [Case(pencil, about="a query (4, 0) and a key (1, 1)"), *drawn]


def cosine(q, k):
    return q @ k / np.sqrt((q @ q) * (k @ k))


# 4.3 ----------------------------------------------------------------------------------------


def all_scores(q, k):
    return dot_product.scores(q, k, scale=1.0)


CHANGES = {"A": "b", "B": "c", "C": "a", "D": "a", "E": "d", "F": "e"}
CHANGES_WRONG = [
    Wrong(number, {**CHANGES, change: letter})
    for number, change in zip(
        ("M740", "M741", "M742", "M743", "M744", "M745"), "ABCDEF", strict=True
    )
    for letter in "abcde"
    if letter != CHANGES[change]
]


# 4.4 ----------------------------------------------------------------------------------------


def token_scores(x, w_q, w_k):
    return all_scores(x @ w_q, x @ w_k)


def by_letters(with_batch):
    """The scores by an einsum that knows one batch axis at most."""

    def answer(x, w_q, w_k):
        letters = "id,dk,jc,ck->ij" if x.ndim == 2 else with_batch
        return np.einsum(letters, x, w_q, x, w_k)

    return answer


def token_cases(rng):
    def draw(*leading, n, d_model, d_k):
        about = f"n = {n}, d_model = {d_model}, d_k = {d_k}"
        about += f", a batch of {' x '.join(map(str, leading))}" if leading else ""
        maps = [rng.normal(size=(d_model, d_k)) / np.sqrt(d_model) for _ in range(2)]
        return Case((rng.normal(size=(*leading, n, d_model)), *maps), about=about)

    return [
        draw(n=2, d_model=3, d_k=3),
        draw(n=3, d_model=5, d_k=2),
        draw(2, n=3, d_model=5, d_k=3),
        draw(2, n=2, d_model=2, d_k=2),
        draw(3, 2, n=4, d_model=3, d_k=2),
    ]


# 4.5 ----------------------------------------------------------------------------------------


def attends_to(grid, words, queries_in):
    table = grid if queries_in == "rows" else grid.T
    return {words[i]: words[int(row.argmax())] for i, row in enumerate(table)}


def keys_first(grid, words, queries_in):
    """The key before the query that attends to it most."""
    return {key: query for query, key in attends_to(grid, words, queries_in).items()}


def indices_for_words(grid, words, queries_in):
    attended = attends_to(grid, words, queries_in)
    return {query: words.index(key) for query, key in attended.items()}


def grid_cases(rng):
    def draw(sentence, queries_in, weights):
        words = sentence.split()
        table = rng.normal(size=(len(words), len(words)))
        table = functional.softmax(table) if weights else table
        about = f"{'weights' if weights else 'scores'} with queries in {queries_in}"
        grid = np.ascontiguousarray(table if queries_in == "rows" else table.T)
        return Case((grid, words, queries_in), about=about)

    yogurt, creature = "loves Mango Greek Yogurt", "a fluffy blue creature roamed"
    return [
        draw(yogurt, "rows", True),
        draw(yogurt, "columns", True),
        draw(creature, "rows", False),
        draw(creature, "columns", False),
        all_below_zero(rng, creature.split()),
    ]


def all_below_zero(rng, words):
    """Scores among which a search that begins at 0 finds no largest one."""
    grid = -0.1 - abs(rng.normal(size=(len(words), len(words))))
    return Case((grid, words, "rows"), about="scores, all below 0, with queries in rows")


# 4.6 ----------------------------------------------------------------------------------------


def soft_lookup(query, keys, values, nothing, *, weigh=functional.softmax, match=None):
    """The empty entry is the first row: the given score and a value of zeros."""
    scores = keys @ query if match is None else match
    scores = np.append(nothing, scores)
    return weigh(scores) @ np.concatenate([np.zeros((1, values.shape[1])), values])


def lookup_cases(rng):
    def draw(key, d_k, d_v, nothing):
        arrays = (0.7 * rng.normal(size=d_k), rng.normal(size=(key, d_k)))
        about = f"{key} entries, d_k = {d_k}, d_v = {d_v}, nothing = {nothing}"
        return Case((*arrays, rng.normal(size=(key, d_v)), nothing), about=about)

    paint = Case(
        (np.array([0.9, 0.1, 0.3]), np.eye(3), np.array([[10.0], [20.0], [30.0]]), 0.6),
        about="crimson in the chapter's dictionary of prices, nothing = 0.6",
    )
    return [paint, draw(3, 3, 3, 0.4), draw(5, 3, 2, -0.7), draw(2, 3, 5, 1.2)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def weighing(weigh):
    """The soft dictionary with the empty entry and other weights."""
    return lambda *arguments: soft_lookup(*arguments, weigh=weigh)


def matching(match):
    """The soft dictionary with the empty entry and other scores."""
    return lambda query, keys, values, nothing: soft_lookup(
        query, keys, values, nothing, match=match(query, keys, values)
    )


def best_alone(scores):
    return np.eye(len(scores))[scores.argmax()]


def below_it_left_out(query, keys, values, nothing):
    scores = keys @ query
    powers = np.where(scores > nothing, np.exp(scores), 0)
    return powers @ values / max(powers.sum(), 1e-12)


LOOKUP_WRONG = [
    Wrong("M05", matching(lambda query, keys, values: keys.T @ query)),
    Wrong("M07", matching(lambda query, keys, values: values @ query)),
    Wrong("M08", lambda query, keys, values, nothing: soft_lookup(query, keys, keys, nothing)),
    Wrong("M16", weighing(best_alone)),
    Wrong("M17", weighing(lambda scores: np.full(len(scores), 1 / len(scores)))),
    Wrong("M18", weighing(sigmoid)),
    Wrong("M19", weighing(lambda scores: functional.softmax(functional.softmax(scores)))),
    Wrong("M80", matching(lambda query, keys, values: keys @ query / np.sqrt(len(query)))),
    Wrong("M80", weighing(lambda scores: functional.softmax(scores / np.sqrt(3)))),
    Wrong("M176", weighing(np.exp)),
    Wrong("M192", weighing(lambda scores: scores)),
    Wrong("M746", lambda query, keys, values, nothing:
          functional.softmax(keys @ query) @ values),
    Wrong("M746", lambda query, keys, values, nothing:
          functional.softmax(keys @ query - nothing) @ values),
    Wrong("M747", below_it_left_out),
    Wrong("M748", lambda query, keys, values, nothing:
          np.exp(keys @ query) @ values / (nothing + np.exp(keys @ query).sum())),
    Wrong("M748", lambda query, keys, values, nothing: soft_lookup(query, keys, values, 0.0)),
    Wrong("M1303", lambda query, keys, values, nothing:
          soft_lookup(query, keys, values, nothing * query.sum())),
]  # fmt: skip

# 4.7 ----------------------------------------------------------------------------------------


def one_way(a, b):
    # A column of the pseudo-inverse meets one of the two vectors with 1 and the other with 0.
    for_a, for_b = np.linalg.pinv(np.stack([a, b])).T
    return for_a[:, None], for_b[:, None]


def one_way_cases(rng):
    drawn = [
        Case((rng.normal(size=width), rng.normal(size=width)), about=f"d_model = {width}")
        for width in (2, 3, 5)
    ]
    by_hand = [((2, 4), (1, 0)), ((1, 2, 0), (2, 4, 5))]  # the last pair differs in its end alone
    return drawn + [
        Case((np.array(a, dtype=float), np.array(b, dtype=float)), about=f"a = {a}, b = {b}")
        for a, b in by_hand
    ]


def both_scores(answer, case):
    """The score of a's query with b's key, and of b's query with a's key."""
    a, b = (np.asarray(vector, dtype=float) for vector in case.args)
    w_q, w_k = (np.asarray(matrix, dtype=float) for matrix in answer(*case.args))
    return float((a @ w_q) @ (b @ w_k)), float((b @ w_q) @ (a @ w_k))


def two_matrices(answer, case):
    given = answer(*case.args)
    if given is None:
        return "it returns None: did you forget `return`?"
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        return "it returns something else than the pair (W_q, W_k)"
    shapes = [np.shape(np.asarray(matrix)) for matrix in given]
    fits = all(len(shape) == 2 and shape[0] == len(case.args[0]) for shape in shapes)
    if fits and shapes[0] == shapes[1]:
        return True
    return f"the shapes are {shapes[0]} and {shapes[1]}, and d_model is {len(case.args[0])}"


def not_one_matrix(answer, case):
    return not np.array_equal(*(np.asarray(matrix) for matrix in answer(*case.args)))


def not_tied(answer, case):
    there, back = both_scores(answer, case)
    undefined = np.isnan(there) or np.isnan(back)  # of which another law tells
    return undefined or abs(there - back) > 1e-6 or f"both scores are {there:.3g}"


def not_swapped(answer, case):
    there, back = both_scores(answer, case)
    swapped = abs(there) < 1e-4 and abs(back - 1) < 1e-4
    return not swapped or "the score of b's query with a's key is 1, and the other is 0"


def looks_once(answer, case):
    there, back = both_scores(answer, case)
    right = abs(there - 1) < 1e-4 and abs(back) < 1e-4
    return right or (
        f"the score of a's query with b's key is {round(there, 6):.3g}, "
        f"that of b's query with a's key {round(back, 6):.3g}"
    )


def not_onto_themselves(answer, case):
    """Where W_q holds a and W_k holds b, one score is the other times their squared cosine."""
    a, b = (np.asarray(vector, dtype=float) for vector in case.args)
    there, back = both_scores(answer, case)
    share = cosine(a, b) ** 2
    onto = share > 1e-3 and abs(there) > 1e-6 and abs(back - share * there) < 1e-6 * abs(there)
    return not onto or (
        f"it is {round(share, 6):.3g} times the other score, "
        "and so much is the square of the cosine of a and b"
    )


def one_way_tied(a, b):
    w_q, w_k = one_way(a, b)
    return w_q + w_k, w_q + w_k


# 4.8 ----------------------------------------------------------------------------------------


def count(n, d_model, d_k, d_v):
    return n * n, d_model * (2 * d_k + d_v)


def count_cases(rng):
    drawn = tuple(rng.integers(3, 40, size=4).tolist())
    sizes = [(2, 3, 5, 7), (5, 11, 2, 3), (8, 13, 5, 2), drawn]
    gpt2 = Case((1024, 768, 64, 64), about="one head of GPT-2 on its longest text")
    return [
        *(Case(size, about="n = {}, d_model = {}, d_k = {}, d_v = {}".format(*size))
          for size in sizes),
        gpt2,
    ]  # fmt: skip


def count_with(scores=lambda n: n * n, parameters=lambda *sizes: count(*sizes)[1]):
    return lambda *sizes: (scores(sizes[0]), parameters(*sizes))


COUNT_WRONG = [
    Wrong("M82", count_with(parameters=lambda n, d_model, d_k, d_v: n * d_model * (2 * d_k + d_v))),
    Wrong("M81", count_with(parameters=lambda n, d_model, d_k, d_v: d_model * (d_k + d_v))),
    Wrong("M1009", count_with(parameters=lambda n, d_model, d_k, d_v: n * (2 * d_k + d_v))),
    Wrong("M190", count_with(parameters=lambda n, d_model, d_k, d_v: 3 * d_model * d_k)),
    Wrong("M1112", count_with(parameters=lambda n, d_model, d_k, d_v:
                              (d_model + 1) * (2 * d_k + d_v))),
    Wrong("M1113", lambda n, d_model, d_k, d_v: (n * n * d_k, count(n, d_model, d_k, d_v)[1])),
    Wrong("M191", count_with(scores=lambda n: n * (n + 1) // 2)),
    Wrong("M191", count_with(scores=lambda n: n * (n - 1) // 2)),
]  # fmt: skip

EXERCISE = Exercise(
    chapter="04",
    title="Queries, keys, values",
    tasks=[
        Task(
            id="4.1",
            name="project",
            title="Project as nn.Linear does",
            difficulty=1,
            importance=4,
            minutes=6,
            reference=project,
            cases=project_cases,
            wrong=[
                Wrong("M1004", lambda x, weight, bias: x @ weight + bias),
                Wrong("M44", lambda x, weight, bias: x @ weight.T),
                Wrong("M1004+M44", lambda x, weight, bias: x @ weight),
            ],
            read=f"{PAGE}#in-a-real-model",
        ),
        Task(
            id="4.2",
            name="score",
            title="One score, by a loop",
            difficulty=1,
            importance=5,
            minutes=4,
            reference=score,
            cases=score_cases,
            wrong=[
                Wrong("M80", lambda q, k: q @ k / np.sqrt(len(q))),
                Wrong("M83", cosine),
                Wrong("M80", lambda q, k: q @ k / len(q)),
                Wrong("M193", lambda q, k: q * k),
                Wrong("M1264", lambda q, k: q[-1] * k[-1]),
                Wrong("M1264", lambda q, k: q[0] * k[0]),
                Wrong("M996", lambda q, k: q.sum() * k.sum()),
                Wrong("M1375", lambda q, k: (q + k).prod()),
            ],
            read=f"{PAGE}#one-score-then-all-of-them",
        ),
        Task(
            id="4.3",
            name="changes",
            title="Six changes to a head",
            difficulty=3,
            importance=5,
            minutes=6,
            reference=CHANGES,
            wrong=CHANGES_WRONG,
            read=f"{PAGE}#how-to-read-a-grid",
        ),
        Task(
            id="4.4",
            name="token_scores",
            title="From tokens to scores, by einsum",
            difficulty=3,
            importance=4,
            minutes=12,
            reference=token_scores,
            cases=token_cases,
            wrong=[
                Wrong("M05", lambda x, w_q, w_k: (x @ w_q) @ (x @ w_k)),
                Wrong("M96", lambda x, w_q, w_k: (x @ w_q) @ (x @ w_k).T),
                Wrong("M06", lambda x, w_q, w_k: token_scores(x, w_k, w_q)),
                Wrong("M10", lambda x, w_q, w_k: token_scores(x, w_q.T, w_k.T)),
                Wrong("M80", lambda x, w_q, w_k: dot_product.scores(x @ w_q, x @ w_k)),
                Wrong("M81", lambda x, w_q, w_k: token_scores(x, w_q, w_q)),
                Wrong("M81", lambda x, w_q, w_k: token_scores(x, w_k, w_k)),
                Wrong(
                    "M991",
                    lambda x, w_q, w_k: np.einsum("...id,dc,dc,...jd->...ij", x, w_q, w_k, x),
                ),
                Wrong(
                    "M1008",
                    lambda x, w_q, w_k: np.einsum("...id,dc,ed,...je->...ij", x, w_q, w_k, x),
                ),
                Wrong("M1302", by_letters("bid,dk,ajc,ck->bij")),
                Wrong("M1302", by_letters("bid,dk,bjc,ck->ij")),
            ],
            read=f"{PAGE}#one-score-then-all-of-them",
        ),
        Task(
            id="4.5",
            name="attends_to",
            title="Read a grid in either layout",
            difficulty=2,
            importance=4,
            minutes=8,
            reference=attends_to,
            cases=grid_cases,
            wrong=[
                Wrong("M464", lambda grid, words, side: attends_to(grid, words, "rows")),
                Wrong("M464", lambda grid, words, side: attends_to(grid, words, "columns")),
                Wrong("M84", lambda grid, words, side: attends_to(grid.T, words, side)),
                Wrong("M1109", keys_first),
                Wrong("M1110", indices_for_words),
            ],
            read=f"{PAGE}#how-to-read-a-grid",
        ),
        Task(
            id="4.6",
            name="soft_lookup",
            title="A dictionary that may say nothing",
            difficulty=2,
            importance=5,
            minutes=10,
            reference=soft_lookup,
            cases=lookup_cases,
            wrong=LOOKUP_WRONG,
            read=f"{PAGE}#a-dictionary-that-answers-nearly",
        ),
        Task(
            id="4.7",
            name="one_way",
            title="Make a look for b, and b not for a",
            difficulty=4,
            importance=3,
            minutes=20,
            reference=one_way,
            cases=one_way_cases,
            wrong=[
                Wrong("M81", one_way_tied),
                Wrong("M06", lambda a, b: one_way(a, b)[::-1]),
                Wrong("M1206", lambda a, b: (a[:, None], b[:, None])),
                Wrong("M1206", lambda a, b: (a[:, None] / (a @ a), b[:, None] / (b @ b))),
            ],
            laws=[
                Law(None, "two matrices of one shape, (d_model, d_k)", two_matrices),
                Law("M81", "W_q and W_k are two matrices", not_one_matrix),
                Law(None, "the two scores differ", not_tied),
                Law("M06", "it is a that looks for b", not_swapped),
                Law("M1206", "the score of b's query with a's key is 0", not_onto_themselves),
                Law(None, "a's query scores 1 with b's key, and b's query 0 with a's", looks_once),
            ],
            unique=False,
            read=f"{PAGE}#why-two-matrices-for-one-match",
        ),
        Task(
            id="4.8",
            name="count",
            title="Count scores and parameters",
            difficulty=1,
            importance=3,
            minutes=5,
            reference=count,
            cases=count_cases,
            wrong=COUNT_WRONG,
            read=f"{PAGE}#one-score-then-all-of-them",
        ),
    ],
)
