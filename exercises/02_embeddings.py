"""The checks of chapter 02: the table and its gradient, cosine, neighbours, analogies, senses."""

import functools

import numpy as np

from checks import Case, Exercise, Task, Wrong
from checks.drivers import ask_cosine
from lib import functional

PAGE = "chapters/02_embeddings.html"


# 2.1 How many numbers

VOCABULARY, WIDTH, POSITIONS = 50257, 12288, 2048
NUMBERS = [
    Wrong("M203", VOCABULARY + WIDTH),
    Wrong("M204", VOCABULARY),
    Wrong("M204", WIDTH),
    Wrong("M205", 4 * VOCABULARY * WIDTH),
    Wrong("M220", (VOCABULARY + POSITIONS) * WIDTH),
    Wrong("M221", POSITIONS * WIDTH),
    Wrong("M222", VOCABULARY**2),
    Wrong("M480", VOCABULARY * POSITIONS),
    *(Wrong("M1105", millions) for millions in (617.558016, 617.558, 617.56, 617.6, 618)),
    *(Wrong("M1106", rounded * 10**5) for rounded in (6000, 6170, 6175, 6176, 6180, 6200)),
]


# 2.2 The gradient of the table


def table_gradient(ids, dx, vocab):
    """Each row of dx, added to the row of its token."""
    return np.eye(vocab)[ids].T @ dx


def id_cases(rng):
    def draw(ids, d_model, vocab, about):
        dx = rng.normal(size=(len(ids), d_model))
        return Case((np.array(ids), dx, vocab), about=f"{about}, {vocab} words, d = {d_model}")

    return [
        draw([2, 0, 2], 3, 3, "3 ids, one of them twice"),
        draw([4, 2, 4, 0, 4], 2, 7, "5 ids, one of them three times"),
        draw([3, 1, 0, 3, 1], 3, 5, "5 ids, two of them twice"),
    ]


def _placed(ids, dx, vocab):
    """Rows of dx assigned, so that a later one replaces an earlier one."""
    gradient = np.zeros((vocab, dx.shape[1]))
    gradient[ids] = dx
    return gradient


def _first_placed(ids, dx, vocab):
    return _placed(ids[::-1], dx[::-1], vocab)


def _means(ids, dx, vocab):
    counts = np.bincount(ids, minlength=vocab)[:, None]
    return table_gradient(ids, dx, vocab) / np.maximum(counts, 1)


def _in_order_of_the_text(ids, dx, vocab):
    return table_gradient(np.arange(len(ids)), dx, max(vocab, len(ids)))[:vocab]


def _rows_of_words_that_occur(ids, dx, vocab):
    return table_gradient(ids, dx, vocab)[np.unique(ids)]


def _looked_up(ids, dx, vocab):
    """Row i gets the row of dx whose number is the i-th id."""
    gradient = np.zeros((vocab, dx.shape[1]))
    gradient[: len(ids)] += dx[ids]
    return gradient


TABLE_GRADIENT = [
    Wrong("M1102", _looked_up),
    Wrong("M734+M735", lambda ids, dx, vocab: _placed(ids, dx, vocab) / len(ids)),
    Wrong("M200", lambda ids, dx, vocab: table_gradient(ids, dx, vocab).T),
    Wrong("M201", lambda ids, dx, vocab: table_gradient(ids - 1, dx, vocab)),
    Wrong("M1301", lambda ids, dx, vocab: table_gradient(ids, dx[ids], vocab)),
    Wrong("M1301+M734", lambda ids, dx, vocab: _placed(ids, dx[ids], vocab)),
    Wrong("M1259", lambda ids, dx, vocab: np.eye(vocab)[ids].sum(0)[:, None] * dx.sum(0)),
    Wrong("M1259", lambda ids, dx, vocab: np.eye(vocab)[ids].max(0)[:, None] * dx.sum(0)),
    Wrong("M202", lambda ids, dx, vocab: np.zeros((vocab, 1)) + dx.sum(0)),
    Wrong("M202", lambda ids, dx, vocab: np.zeros((vocab, 1)) + dx.mean(0)),
    Wrong("M214", _in_order_of_the_text),
    Wrong("M223", lambda ids, dx, vocab: table_gradient(np.sort(ids), dx, vocab)),
    Wrong("M749", lambda ids, dx, vocab: np.eye(vocab)[ids] @ dx),
    Wrong("M734", _placed),
    Wrong("M948", _rows_of_words_that_occur),
    Wrong("M734", _first_placed),
    Wrong("M735", _means),
    Wrong("M735", lambda ids, dx, vocab: table_gradient(ids, dx, vocab) / len(ids)),
    Wrong("M736", lambda ids, dx, vocab: dx + 0),
    Wrong("M736", lambda ids, dx, vocab: table_gradient(ids, dx, vocab)[ids]),
]


# 2.3 Mom and King

TABLE = {
    "king": np.array([0.9, 0.5, 0.1]),
    "queen": np.array([0.2, 0.5, 0.1]),
    "dad": np.array([0.9, 0.7, 0.9]),
    "mom": np.array([0.2, 0.7, 0.9]),
}


def _of(first, other, measure=functional.cosine):
    return float(measure(TABLE[first], TABLE[other]))


def _dot(a, b):
    return (a * b).sum(-1)


def _norm(a):
    return np.sqrt((a * a).sum(-1))


def _distance(a, b):
    return _norm(a - b)


def _by_sizes(a, b):
    """Divided by the sums of the absolute values, not by the lengths."""
    return _dot(a, b) / (abs(a).sum(-1) * abs(b).sum(-1))


OTHER_PAIRS = [("mom", "dad"), ("mom", "queen"), ("king", "queen"), ("dad", "king")]
MOM_KING = [
    Wrong("M70", _of("mom", "king", _dot)),
    Wrong("M71", _of("mom", "king", lambda a, b: _dot(a, b) / (_dot(a, a) * _dot(b, b)))),
    Wrong("M72", _of("mom", "king", lambda a, b: _dot(a, b) / _norm(a))),
    Wrong("M72", _of("mom", "king", lambda a, b: _dot(a, b) / _norm(b))),
    Wrong("M73", _of("mom", "king", _distance)),
    Wrong("M1261", _of("mom", "king", _by_sizes)),
    Wrong("M224", 1 - _of("mom", "king")),
    Wrong("M1103", float(np.arccos(_of("mom", "king")))),
    Wrong("M1103", float(np.degrees(np.arccos(_of("mom", "king"))))),
    Wrong("M1104", _of("mom", "king", lambda a, b: _dot(a, b) / (_norm(a) + _norm(b)))),
    *(Wrong("M213", _of(*pair)) for pair in OTHER_PAIRS),
]


# 2.4 Cosine


def pair_cases(rng):
    m, n = rng.permutation(np.arange(2.0, 9))[:2]
    return [
        Case(
            (np.array([3.0, 4.0]), np.array([12.0, -5.0])), about="2 dimensions, lengths 5 and 13"
        ),
        Case((rng.normal(size=3), rng.normal(size=3) / 5), about="3 dimensions"),
        Case((4 * rng.normal(size=5), rng.normal(size=5)), about="5 dimensions"),
        Case((np.array([m, n, 0.0]), np.array([-n, m, 3.0])), about="perpendicular vectors"),
        Case((np.array([m, n]), np.array([-n, m])), about="perpendicular, no component is 0"),
        Case((np.array([m, 0.0, 1.0]), np.array([1.0, n, 2.0])), about="one component is 0"),
        Case(
            (np.array([m, n, -m - n]), np.array([1.0, -3.0, 2.0])),
            about="the components of each vector add up to 0",
        ),
        Case((np.array([3e-9, 0, 4e-9]), rng.normal(size=3)), about="a is tiny, but not zero"),
        Case((rng.normal(size=3), np.array([0, 4e-9, 3e-9])), about="b is tiny, but not zero"),
        Case((rng.normal(size=7), np.zeros(7)), about="b is all zeros"),
        Case((np.zeros(7), rng.normal(size=7)), about="a is all zeros"),
    ]


def _quietly(measure):
    def run(a, b):
        with np.errstate(all="ignore"):
            return measure(a, b)

    return run


def _zero_if_zero(a, b):
    return float(functional.cosine(a, b)) if a.any() and b.any() else 0.0


def _none_of_no_component(measure):
    """A measure that takes a component of 0 for a vector of zeros."""

    def run(a, b):
        if (a == 0).any() or (b == 0).any():
            raise ValueError("a vector of zeros has no direction")
        return measure(a, b)

    return run


def _error_returned(measure):
    def run(a, b):
        return measure(a, b) if a.any() and b.any() else ValueError("a vector is all zeros")

    return run


def _refuses_perpendicular(a, b):
    if _dot(a, b) == 0:
        raise ValueError("a vector of zeros has no direction")
    return functional.cosine(a, b)


def _refuses_a_sum_of_0(a, b):
    if a.sum() == 0 or b.sum() == 0:
        raise ValueError("a vector of zeros has no direction")
    return functional.cosine(a, b)


def _refuses_tiny(a, b):
    if np.allclose(a, 0) or np.allclose(b, 0):
        raise ValueError("a vector of zeros has no direction")
    return functional.cosine(a, b)


COSINE = [
    Wrong("M1292", _refuses_tiny),
    Wrong("M1107", _none_of_no_component(functional.cosine)),
    Wrong("M1205", _refuses_perpendicular),
    Wrong("M1260", _refuses_a_sum_of_0),
    Wrong("M71+M1107", _none_of_no_component(
        lambda a, b: _dot(a, b) / (_dot(a, a) * _dot(b, b)))),
    Wrong("M1220", _error_returned(functional.cosine)),
    Wrong("M71+M1220", _error_returned(lambda a, b: _dot(a, b) / (_dot(a, a) * _dot(b, b)))),
    Wrong("M1103", _quietly(lambda a, b: np.arccos(functional.cosine(a, b)))),
    Wrong("M1103", _quietly(lambda a, b: np.degrees(np.arccos(functional.cosine(a, b))))),
    Wrong("M1104", _quietly(lambda a, b: _dot(a, b) / (_norm(a) + _norm(b)))),
    Wrong("M70", _dot),
    Wrong("M71", _quietly(lambda a, b: _dot(a, b) / (_dot(a, a) * _dot(b, b)))),
    Wrong("M72", _quietly(lambda a, b: _dot(a, b) / _norm(a))),
    Wrong("M72", _quietly(lambda a, b: _dot(a, b) / _norm(b))),
    Wrong("M73", _distance),
    Wrong("M1261", _quietly(_by_sizes)),
    Wrong("M74", _quietly(lambda a, b: _dot(a, b) / (_norm(a) * _norm(b)))),
    Wrong("M74", _quietly(lambda a, b: functional.cosine(a, b) if b.any() else np.nan)),
    Wrong("M74", _quietly(lambda a, b: functional.cosine(a, b) if a.any() else np.nan)),
    Wrong("M210", _zero_if_zero),
    Wrong("M224", _quietly(lambda a, b: 1 - _dot(a, b) / (_norm(a) * _norm(b)))),
    Wrong("M219", _quietly(lambda a, b: np.corrcoef(a, b)[0, 1])),
]  # fmt: skip


# 2.5 All pairs


def cosine_table(x):
    """The cosine of every row of x with every row."""
    return functional.cosine(x[:, None, :], x[None, :, :])


def table_cases(rng):
    return [
        Case((rng.normal(size=(2, 3)),), about="2 words, 3 dimensions"),
        Case((rng.normal(size=(3, 3)),), about="3 words, 3 dimensions"),
        Case((rng.normal(size=(7, 5)) * np.arange(1, 8)[:, None],), about="7 words, 5 dimensions"),
    ]


def _column_norms(x):
    scaled = x / np.sqrt((x * x).sum(0))
    return scaled @ scaled.T


def _axis_dropped(x):
    scaled = x / np.linalg.norm(x, axis=1)
    return scaled @ scaled.T


ALL_PAIRS = [
    Wrong("M737", _axis_dropped),
    Wrong("M70", lambda x: x @ x.T),
    Wrong("M71", lambda x: x @ x.T / np.outer((x * x).sum(1), (x * x).sum(1))),
    Wrong("M72", lambda x: x @ x.T / _norm(x)[:, None]),
    Wrong("M72", lambda x: x @ x.T / _norm(x)),
    Wrong("M992", lambda x: x @ x.T / (x * x).sum(1)),
    Wrong("M992", lambda x: x @ x.T / (x * x).sum(1)[:, None]),
    Wrong("M73", lambda x: _distance(x[:, None], x)),
    Wrong("M1261", lambda x: _by_sizes(x[:, None], x)),
    Wrong("M206", _column_norms),
    Wrong("M207", lambda x: x @ x.T / (x * x).sum()),
    Wrong("M218", lambda x: cosine_table(x.T)),
    Wrong("M219", np.corrcoef),
]


def _best(measures, left_out=()):
    measures = np.array(measures, dtype=float)
    measures[list(left_out)] = -np.inf
    return int(np.argmax(measures))


# 2.6 The nearest word


def nearest(word, table):
    """The row, not that of the word itself, whose cosine with the word's row is largest."""
    return _best(functional.cosine(table, table[word]), [word])


def _furthest(word, table):
    return int(np.argmin(functional.cosine(table, table[word])))


def _in_the_shorter_list(word, table):
    return int(np.argmax(np.delete(functional.cosine(table, table[word]), word)))


def _largest_product(word, table):
    return _best(_dot(table, table[word]))


NEAREST = [
    Wrong("M75", lambda word, table: _best(functional.cosine(table, table[word]))),
    Wrong("M76", _furthest),
    Wrong("M70", lambda word, table: _best(_dot(table, table[word]), [word])),
    Wrong("M73", lambda word, table: _best(-_distance(table, table[word]), [word])),
    Wrong("M70+M75", _largest_product),
    Wrong("M949", _in_the_shorter_list),
    Wrong("M225", lambda word, table: _best(np.abs(functional.cosine(table, table[word])), [word])),
]


def _begun_at_0(choose, nothing):
    """A search whose largest cosine so far begins at 0, so that it may find nothing."""
    return lambda *given: row if (row := choose(*given)) is not None else nothing


def _nearest_above_0(word, table):
    cosines = functional.cosine(table, table[word])
    return nearest(word, table) if np.delete(cosines, word).max() > 0 else None


NEAREST_OTHERS = [
    *(Wrong("M1100", _begun_at_0(_nearest_above_0, nothing)) for nothing in (None, 0, -1)),
    Wrong("M1305", lambda word, table: int(np.argsort(-_dot(table, table[word]))[1])),
]


def _words(rng, shape, opposite_wins, itself_wins):
    """Draw a word and a table for which no misconception gives the right row, but perhaps the last.

    `itself_wins`: whether the word's product with itself is the largest.
    """
    *others, sign = NEAREST
    for _ in range(100_000):
        table = (rng.normal(size=shape) * rng.uniform(0.5, 2.5, size=(shape[0], 1))).round(2)
        word = int(rng.integers(shape[0]))
        right = nearest(word, table)
        apart = all(wrong.answer(word, table) != right for wrong in others)
        wins = sign.answer(word, table) != right, _largest_product(word, table) == word
        if apart and wins == (opposite_wins, itself_wins):
            return word, table
    raise RuntimeError("no table separates the answers")


# Row 3 is nearest to row 1, after it and at more than a right angle, as all others are.
BEHIND = np.array([[-0.1, 0.0, 0.05], [1.0, 0.2, 0.0], [-1.0, 1.0, 3.0], [-0.1, -1.0, 2.0]])
ALL_BEHIND = "4 words, all at obtuse angles to the word"


def word_cases(rng):
    shapes = (
        ((5, 3), False, True),
        ((7, 3), True, False),
        ((7, 5), False, True),
        ((11, 5), True, False),
    )
    drawn = [
        Case(_words(rng, shape, *wins), about=f"{shape[0]} words, d = {shape[1]}")
        for shape, *wins in shapes
    ]
    return [*drawn, Case((1, BEHIND), about=ALL_BEHIND)]


def drawn_word_cases(rng):
    """The words at obtuse angles once more, turned and of other lengths: no angle changes."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return [Case((1, BEHIND @ turn * rng.uniform(0.5, 2, size=(4, 1))), about=ALL_BEHIND)]


# 2.7 Analogies


def _cosines(table, aim):
    return table @ aim / (_norm(table) * _norm(aim))


def analogy(start, minus, plus, table):
    """The row nearest to start - minus + plus by cosine, none of the three among the answers."""
    target = table[start] - table[minus] + table[plus]
    return _best(_cosines(table, target), [start, minus, plus])


def _toward(target, measure=_cosines, left_out=lambda start, minus, plus: [start, minus, plus]):
    def run(start, minus, plus, table):
        aim = target(table[start], table[minus], table[plus])
        return _best(measure(table, aim), left_out(start, minus, plus))

    return run


def _right_target(start, minus, plus):
    return start - minus + plus


SEPARATING = (33, 7), (19, 7)  # seeds for which such tables are found at once, each with its d

ANALOGY = [
    Wrong("M77", _toward(_right_target, left_out=lambda *rows: [])),
    Wrong("M78", _toward(lambda start, minus, plus: start + minus - plus)),
    Wrong("M79", _toward(lambda start, minus, plus: start + minus + plus)),
    Wrong("M211", _toward(_right_target, left_out=lambda start, minus, plus: [start])),
    Wrong("M212", _toward(lambda start, minus, plus: plus - minus)),
    Wrong("M215", _toward(lambda start, minus, plus: start)),
    Wrong("M73", _toward(_right_target, lambda table, aim: -_distance(table, aim))),
    Wrong("M70", _toward(_right_target, _dot)),
]


def _near(rng, aim, noise, length):
    row = aim / _norm(aim) + noise * rng.normal(size=aim.shape) / np.sqrt(len(aim))
    return length * row / _norm(row)


@functools.cache
def _eleven_words(seed, d):
    """Rows 0, 1, 2 are start, minus, plus; every answer, right or wrong, picks a row of its own."""
    rng = np.random.default_rng(seed)
    for _ in range(100_000):
        start, minus, plus = rng.normal(size=(3, d))
        plus = plus + 0.7 * start
        target = start - minus + plus
        noises = (1.0, target, 1.5), (1.3, target, 9.0), (1.3, target, _norm(target))
        aims = start + minus - plus, start + minus + plus, plus - minus, start
        rows = [_near(rng, aim, noise, length) for noise, aim, length in noises]
        rows += [_near(rng, aim, 0.6, 1.5) for aim in aims]
        table = np.stack([start, minus, plus, *rows, rng.normal(size=d)])
        answers = [wrong.answer(0, 1, 2, table) for wrong in ANALOGY]
        if len({*answers, analogy(0, 1, 2, table)}) == 1 + len(ANALOGY):
            return table
    raise RuntimeError("no table separates the answers")


def _turned(rng, table):
    """Turn all rows together and shuffle them: no angle and no length changes."""
    turn = np.linalg.qr(rng.normal(size=(table.shape[1],) * 2))[0]
    order = rng.permutation(len(table))
    return (*(int(np.argwhere(order == row)[0, 0]) for row in range(3)), (table @ turn)[order])


def _of_unit_rows(start, minus, plus, table):
    return analogy(start, minus, plus, table / _norm(table)[:, None])


def _of_products(start, minus, plus, table):
    """3CosMul: similarities from 0 to 1, multiplied and divided."""
    near = [(1 + _cosines(table, table[row])) / 2 for row in (start, plus, minus)]
    return _best(near[0] * near[1] / (near[2] + 1e-3), [start, minus, plus])


def _above_0(start, minus, plus, table):
    """The nearest row if its cosine is above 0, and None if not."""
    row = analogy(start, minus, plus, table)
    target = table[start] - table[minus] + table[plus]
    return row if functional.cosine(table[row], target) > 0 else None


def _zeros_for_the_three(start, minus, plus, table):
    cosines = _cosines(table, table[start] - table[minus] + table[plus])
    cosines[[start, minus, plus]] = 0
    return int(cosines.argmax())


def _of_all(measure):
    """The best row by another measure, where the three given words take part too."""
    return _toward(_right_target, measure, left_out=lambda *rows: [])


ANALOGY_OTHERS = [
    Wrong("M1209", _toward(_right_target, left_out=lambda start, minus, plus: [start, plus])),
    Wrong("M70+M77", _of_all(_dot)),
    Wrong("M73+M77", _of_all(lambda table, aim: -_distance(table, aim))),
    *(Wrong("M1100", _begun_at_0(_above_0, nothing)) for nothing in (None, 0, -1)),
    Wrong("M1101", _zeros_for_the_three),
    Wrong("M1111", lambda start, minus, plus, table: start - minus + plus),
]


OTHER_ARITHMETIC = [Wrong("M820", _of_unit_rows), Wrong("M821", _of_products)]


def _words_of_all_lengths(rng):
    """A table for which other arithmetic finds another word."""
    for _ in range(10_000):
        table = rng.normal(size=(13, 5)) * rng.uniform(0.3, 4, size=(13, 1))
        others = [wrong.answer(0, 1, 2, table) for wrong in OTHER_ARITHMETIC]
        if len({*others, analogy(0, 1, 2, table)}) == 3:
            return table
    raise RuntimeError("no table separates the ways of arithmetic")


def _words_at_obtuse_angles(rng):
    """A table in which only the three given words point towards the target at all."""
    given = rng.normal(size=(3, 3))
    given[2] += 2 * (given[0] - given[1])  # so that the target is long
    target = given[0] - given[1] + given[2]
    others = rng.normal(size=(4, 3))
    # Each by an amount of its own, so that no two dot products tie.
    away = np.array([0.5, 0.7, 0.9, 1.1]) + np.maximum(others @ target, 0)
    others -= away[:, None] * target / (target @ target)
    return np.concatenate([given, others])


def _words_with_minus_between(rng):
    """Minus lies, short, between start and plus, and so nearest of all to the result."""
    start, plus = np.linalg.qr(rng.normal(size=(5, 2)))[0].T * 2
    minus = (start + plus) / 10
    target = start - minus + plus
    rows = [_near(rng, target, 0.7, 1.5), *rng.normal(size=(3, 5)) - target / 2]
    return np.stack([start, minus, plus, *rows])


def analogy_cases(rng):
    tables = [*(_eleven_words(*pair) for pair in SEPARATING), _words_of_all_lengths(rng)]
    drawn = [
        Case(_turned(rng, table), about=f"{len(table)} words, d = {table.shape[1]}")
        for table in tables
    ]
    table = _words_at_obtuse_angles(rng)
    turned = (_turned(rng, table) for _ in range(1000))
    # Row 0, where a search may begin, is neither one of the three words nor the right one.
    behind = next(given for given in turned if 0 not in (*given[:3], analogy(*given)))
    about = "7 words, of which all that may win are at obtuse angles to the target"
    between = _turned(rng, _words_with_minus_between(rng))
    about_minus = "7 words, and minus lies between start and plus"
    return [*drawn, Case(behind, about=about), Case(between, about=about_minus)]


# 2.8 One row for all senses


def one_row(senses, counts):
    """The mean of the senses' vectors, each counted as often as it is used."""
    return counts @ senses / counts.sum()


def sense_cases(rng):
    return [
        Case((rng.normal(size=(2, 3)), np.array([3, 1])), about="2 senses, used 3 times and once"),
        Case((rng.normal(size=(3, 5)), np.array([7, 2, 5])), about="3 senses, d = 5"),
        Case((rng.normal(size=(3, 3)), np.array([1, 11, 2])), about="3 senses, d = 3"),
    ]


ONE_ROW = [
    Wrong("M208", lambda senses, counts: senses.mean(0)),
    Wrong("M209", lambda senses, counts: senses[counts.argmax()]),
    Wrong("M216", lambda senses, counts: counts @ senses),
    Wrong("M216", lambda senses, counts: senses.sum(0)),
    Wrong("M217", lambda senses, counts: counts @ senses / len(counts)),
]


EXERCISE = Exercise(
    chapter="02",
    title="Embeddings",
    tasks=[
        Task(
            id="2.1",
            name="table_numbers",
            title="The size of a table",
            difficulty=1,
            importance=3,
            minutes=2,
            reference=VOCABULARY * WIDTH,
            wrong=NUMBERS,
            read=f"{PAGE}#a-vector-for-each-token",
        ),
        Task(
            id="2.2",
            name="table_gradient",
            title="What one text teaches the table",
            difficulty=2,
            importance=4,
            minutes=6,
            reference=table_gradient,
            cases=id_cases,
            wrong=TABLE_GRADIENT,
            read=f"{PAGE}#a-vector-for-each-token",
        ),
        Task(
            id="2.3",
            name="cos_mom_king",
            title="Mom and King with a pencil",
            difficulty=2,
            importance=4,
            minutes=5,
            reference=_of("mom", "king"),
            wrong=MOM_KING,
            read=f"{PAGE}#by-hand",
            tolerance=1e-3,
        ),
        Task(
            id="2.4",
            name="cosine",
            title="Cosine",
            difficulty=2,
            importance=5,
            minutes=8,
            reference=functional.cosine,
            cases=pair_cases,
            call=ask_cosine,
            wrong=COSINE,
            read=f"{PAGE}#how-near-is-near",
        ),
        Task(
            id="2.5",
            name="cosine_table",
            title="All pairs at once",
            difficulty=3,
            importance=4,
            minutes=8,
            reference=cosine_table,
            cases=table_cases,
            wrong=ALL_PAIRS,
            read=f"{PAGE}#how-near-is-near",
        ),
        Task(
            id="2.6",
            name="nearest",
            title="The nearest word",
            difficulty=3,
            importance=4,
            minutes=8,
            reference=nearest,
            cases=word_cases,
            graded_cases=drawn_word_cases,
            wrong=[*NEAREST, *NEAREST_OTHERS],
            read=f"{PAGE}#how-near-is-near",
        ),
        Task(
            id="2.7",
            name="analogy",
            title="An analogy, honestly searched",
            difficulty=3,
            importance=4,
            minutes=10,
            reference=analogy,
            cases=analogy_cases,
            wrong=[*ANALOGY, *ANALOGY_OTHERS, *OTHER_ARITHMETIC],
            read=f"{PAGE}#directions-that-mean-something",
        ),
        Task(
            id="2.8",
            name="one_row",
            title="One row for all senses",
            difficulty=3,
            importance=5,
            minutes=6,
            reference=one_row,
            cases=sense_cases,
            wrong=ONE_ROW,
            read="chapters/02_embeddings_deeper.html#the-best-single-vector-is-a-mean",
        ),
    ],
)
