"""Cost, cache, flash: the checks."""

import math

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from checks.drivers import most_bytes
from checks.run.call import Elsewhere
from checks.run.plain_data import is_tensor
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.grouped import grouped

PAGE = "chapters/14_cost.html"


# 14.1, 14.2 ---------------------------------------------------------------------------------


def multiply_adds(n, d_model, heads, d_ff, *, maps=4, table=2, inner=2, per_head=False,
                  tokens=None):  # fmt: skip
    """The three counts with their parts exchangeable, so that each misconception is one line."""
    rows = n if tokens is None else tokens
    pairs = table * n * n * d_model * (heads if per_head else 1)
    return maps * rows * d_model**2, pairs, inner * rows * d_model * d_ff


def causal_pairs(n, *sizes):
    first, pairs, last = multiply_adds(n, *sizes)
    return first, pairs * (n + 1) // (2 * n), last


def operation_cases(rng):
    n, heads, d_k, d_ff = rng.integers((9, 2, 3, 20), (300, 9, 40, 500)).tolist()
    drawn = n, heads * d_k, heads, d_ff
    sizes = [(5, 6, 2, 30), (1024, 768, 12, 3072), (100, 60, 4, 90), drawn]
    about = "n = {}, d_model = {}, {} heads, d_ff = {}"
    return [Case(size, about=about.format(*size)) for size in sizes]


def crossover(d_model, d_ff):
    return 2 * d_model + d_ff


def crossover_cases(rng):
    sizes = [(6, 30), (768, 3072), (50, 70), tuple(rng.integers(20, 900, size=2).tolist())]
    return [Case(size, about="d_model = {}, d_ff = {}".format(*size)) for size in sizes]


# 14.3 ---------------------------------------------------------------------------------------


def cache_bytes(layers, heads, groups, d_k, texts, tokens, bytes_each, *, queries=0):
    """Queries are asked once and never stored; `queries=1` stores them all the same."""
    return (2 * groups + queries * heads) * layers * d_k * texts * tokens * bytes_each


def cache_cases(rng):
    shared, *others = rng.integers(2, 9, size=6).tolist()
    layers, groups, d_k, texts, tokens = others
    drawn = layers, shared * groups, groups, d_k, texts, tokens, 2
    sizes = [(3, 6, 2, 5, 7, 11, 2), (12, 12, 12, 64, 1, 1024, 4), (32, 32, 8, 128, 4, 4096, 2),
             drawn]  # fmt: skip
    about = "{} layers, {} query heads, {} KV heads, d_k = {}, {} texts of {} tokens, {} bytes"
    return [Case(size, about=about.format(*size)) for size in sizes]


# 14.4 ---------------------------------------------------------------------------------------


def add_tile(maximum, total, mixture, scores, values, *, total_by=None, mixture_by=None,
             highest=max, early=False, base=None):  # fmt: skip
    """One tile for one row; `total_by` and `mixture_by` are the factors on what was kept."""
    new = highest(float(maximum), float(np.max(scores)))
    factor = math.exp(maximum - new)
    p = np.exp(np.asarray(scores) - (base(scores) if base else new))
    kept = [factor if by is None else by(factor) for by in (total_by, mixture_by)]
    fresh = p / p.sum() if early else p
    return new, kept[0] * total + p.sum(), kept[1] * np.asarray(mixture) + fresh @ values


def tile_cases(rng):
    def draw(old, new, d_v, higher):
        before, scores = rng.normal(size=old), rng.normal(size=new)
        scores += before.max() - scores.max() + higher
        p = np.exp(before - before.max())
        kept = float(before.max()), float(p.sum()), p @ rng.normal(size=(old, d_v))
        where = "above" if higher > 0 else "below"
        about = f"{old} keys seen, {new} new ones with their maximum {where} the old, d_v = {d_v}"
        return Case((*kept, scores, rng.normal(size=(new, d_v))), about=about)

    return [draw(2, 3, 2, 1.3), draw(3, 2, 5, -0.7), draw(5, 7, 3, 0.4)]


def divided(*args):
    """The output so far in the place of the mixture."""
    maximum, total, mixture = add_tile(*args)
    return maximum, total, mixture / total


def key_by_key(maximum, total, mixture, scores, values):
    """A loop over the keys that rescales the total alone."""
    for score, value in zip(scores, values, strict=True):
        maximum, total, mixture = add_tile(
            maximum, total, mixture, [score], value[None], mixture_by=one
        )
    return maximum, total, mixture


def mixed_by_scores(maximum, total, mixture, scores, values):
    """The values of the tile weighted by the scores themselves."""
    new, total_now, _ = add_tile(maximum, total, mixture, scores, values)
    kept = math.exp(maximum - new) * np.asarray(mixture)
    return new, total_now, kept + np.asarray(scores) @ values


def one(factor):
    del factor
    return 1.0


def inverse(factor):
    return 1 / factor


# 14.5 ---------------------------------------------------------------------------------------


def tiled(q, k, v, columns, *, scale=None, last=True, kept_by=None, step=add_tile, divide=True,
          **parts):  # fmt: skip
    """Attend tile by tile; `step` walks a row, with `kept_by` from its second tile on."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    rows = []
    for query in q:
        kept = -math.inf, 0.0, np.zeros(v.shape[-1])
        for left in range(0, len(k) if last else len(k) - len(k) % columns, columns):
            tile = slice(left, left + columns)
            forgotten = kept_by if kept_by and left else {}
            kept = step(*kept, k[tile] @ query * scale, v[tile], **parts, **forgotten)
        rows.append(kept[2] / kept[1] if divide else kept[2])
    return np.array(rows)


def tiled_cases(rng):
    def draw(n, keys, d_k, d_v, columns):
        shapes = (n, d_k), (keys, d_k), (keys, d_v)
        about = f"{n} queries, {keys} keys, d_k = {d_k}, d_v = {d_v}, tiles of {columns} keys"
        return Case((*(rng.normal(size=shape) for shape in shapes), columns), about=about)

    def far_apart():
        """Scores that rise to 900 for one query, fall to -900 for another, and stay small for one.

        So the largest score of a row is in its last tile, in its first, or far below other rows'.
        """
        k = rng.normal(size=(7, 2)) / 50
        k[:, 0] += np.array([-30.0, -30, -10, 0, 5, 30, 30])
        arrays = np.array([[42.0, 1], [-43, 1], [0.1, 1]]), k, rng.normal(size=(7, 3))
        about = "7 keys in tiles of 2; scores rise to 900, fall to -900, and stay below 5"
        return Case((*arrays, 2), about=about)

    return [draw(2, 5, 4, 3, 2), draw(3, 7, 2, 5, 3), draw(5, 11, 3, 2, 4), far_apart()]


def tile_softmaxes(join):
    def wrong(q, k, v, columns):
        lefts = range(0, len(k), columns)
        tiles = [attend(q, k[i : i + columns], v[i : i + columns]).output for i in lefts]
        return join(np.array(tiles))

    return wrong


def without_maximum(q, k, v, columns):
    rows = []
    for query in q:
        p = np.exp(k @ query / math.sqrt(len(query)))
        rows.append(p @ v / p.sum())
    return np.array(rows)


def one_maximum_for_all(q, k, v, columns):
    """A running maximum, and not one for each query."""
    highest, total, mixture = -math.inf, np.zeros(len(q)), np.zeros((len(q), v.shape[-1]))
    for left in range(0, len(k), columns):
        scores = q @ k[left : left + columns].T / math.sqrt(q.shape[-1])
        new = max(highest, scores.max())
        p, factor = np.exp(scores - new), math.exp(highest - new)
        total, mixture = factor * total + p.sum(-1), factor * mixture + p @ v[left : left + columns]
        highest = new
    return mixture / total[:, None]


def of_the_tile_alone(maximum, total, mixture, scores, values):
    """The new tile's maximum, also where an earlier one was higher; its factor may overflow."""
    new, p = scores.max(), np.exp(scores - scores.max())
    factor = np.exp(maximum - new)
    return new, factor * total + p.sum(), factor * mixture + p @ values


def last_tile_alone(q, k, v, columns):
    """What comes where the maximum stays at -inf: exp(-inf) is 0 times all that was kept."""
    left = (len(k) - 1) // columns * columns
    return attend(q, k[left:], v[left:]).output


def is_right(answer, case):
    came, exact = (np.asarray(f(*case.args)) for f in (answer, tiled))
    return came.shape == exact.shape and bool(np.allclose(came, exact, atol=1e-4))


def stays_finite(sign):
    """Every score of the tables is near +850 or -850, where a bare exp overflows or vanishes."""

    def holds(answer, case):
        rng = np.random.default_rng(14)
        q, k = 40 + rng.normal(size=(3, 2)), 15 + 0.02 * rng.normal(size=(7, 2))
        arrays = sign * q, k, rng.normal(size=(7, 5))
        exact = attend(*arrays).output
        if is_tensor(case.args[0]):
            arrays = [case.args[0].new_tensor(array) for array in arrays]
        came = np.asarray(answer(*arrays, 3))
        if np.allclose(came, exact, atol=5e-3):
            return True
        if np.isfinite(came).all() and not is_right(answer, case):
            return True  # wrong on small scores too: how large they are is not the reason
        if sign > 0:
            return "where all scores are near 850, it is wrong"
        return "where all scores are near -850, it is wrong; a row's maximum begins at -inf"

    return holds


def holds_no_table(answer, case):
    """Half of the table of 128 by 1024 is too much: six times what q, k and v take as lists."""
    if isinstance(answer, Elsewhere):
        return _holds_no_large_table(answer, case)
    arrays = _long_text(128, 1024)
    if is_tensor(case.args[0]):
        arrays = [case.args[0].new_tensor(array) for array in arrays]
    return most_bytes(answer, *arrays, 16) < 8 * 128 * 1024 / 2 or _table_words(128, 1024, 16)


def _holds_no_large_table(answer, case):
    """The same from outside: the table is larger than what a process needs besides.

    A few rows are compared, so that an answer cannot be small by doing something else here.
    """
    n, keys, columns = 80, 400_000, 4096
    arrays = _long_text(n, keys)
    library = "torch" if is_tensor(case.args[0]) else "numpy"
    held, output = answer.held_bytes((*arrays, columns), library)
    exact = attend(arrays[0][:3], *arrays[1:]).output
    rows = np.asarray(output)[:3]
    if rows.shape != exact.shape or not np.allclose(rows, exact, atol=1e-4):
        return f"with {n} queries, {keys} keys and tiles of {columns} keys, its result is wrong"
    return held < 8 * n * keys / 2 or _table_words(n, keys, columns)


def _long_text(n, keys):
    rng = np.random.default_rng(14)
    return [rng.normal(size=shape) for shape in ((n, 2), (keys, 2), (keys, 3))]


def _table_words(n, keys, columns):
    return (
        f"with {n} queries, {keys} keys and tiles of {columns} keys, "
        "it holds more bytes at once than half of the table takes"
    )


# 14.6 ---------------------------------------------------------------------------------------


def share(q, k, v):
    return grouped(q, k, v).output


def by_index(choose):
    def wrong(q, k, v):
        read = [choose(i, len(q), len(k)) for i in range(len(q))]
        return attend(q, k[read], v[read]).output

    return wrong


def repeated(kept, q):
    return np.repeat(kept, len(q) // len(kept), axis=0)


def mean_queries(q, k, v):
    """One query for each KV head, the mean of its query heads'."""
    means = q.reshape(len(k), -1, *q.shape[1:]).mean(1)
    return repeated(attend(means, k, v).output, q)


def dealt_values(q, k, v):
    """Keys shared by neighbours, and values dealt out in turn."""
    i = np.arange(len(q))
    return attend(q, k[i * len(k) // len(q)], v[i % len(v)]).output


def group_cases(rng):
    def draw(heads, groups, n, keys, d_k, d_v):
        shapes = (heads, n, d_k), (groups, keys, d_k), (groups, keys, d_v)
        about = f"{heads} query heads, {groups} KV heads, {n} queries, {keys} keys"
        return Case(tuple(rng.normal(size=shape) for shape in shapes), about=about)

    return [draw(4, 2, 2, 3, 2, 3), draw(6, 3, 3, 5, 4, 2), draw(6, 2, 5, 7, 3, 4)]


# 14.7, 14.8 ---------------------------------------------------------------------------------


def read_on(x, positions, w_q, w_k, w_v, keys, values, *, start=len, mask=masks.causal, past=True,
            carry=True, front=False):  # fmt: skip
    """New tokens after stored ones, with the parts exchangeable."""
    at = start(keys)
    x = x + positions[at : at + len(x)]
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    order = slice(None, None, -1 if front else 1)
    all_keys, all_values = (np.concatenate(pair[order]) for pair in ((keys, k), (values, v)))
    used = (all_keys, all_values) if past else (k, v)
    output = attend(q, *used, mask(len(q), len(used[0])) if mask else None).output
    return (output, all_keys, all_values) if carry else (output, keys, values)


def new_unseen(x, positions, w_q, w_k, w_v, keys, values):
    output, *kept = read_on(x, positions, w_q, w_k, w_v, keys, values)
    queries = (x + positions[len(keys) : len(keys) + len(x)]) @ w_q
    return attend(queries, keys, values).output.reshape(output.shape), *kept


def one_position(x, positions, w_q, w_k, w_v, keys, values):
    """The first new token's position for all of them."""
    same = np.repeat(positions[len(keys) :][:1], len(positions), axis=0)
    return read_on(x, same, w_q, w_k, w_v, keys, values)


def read_on_cases(rng):
    def draw(new, old, d_model, d_k, d_v):
        shapes = [(new, d_model), (new + old + 2, d_model), (d_model, d_k), (d_model, d_k),
                  (d_model, d_v), (old, d_k), (old, d_v)]  # fmt: skip
        about = f"{new} new tokens after {old}, d_model = {d_model}, d_k = {d_k}, d_v = {d_v}"
        return Case(tuple(0.7 * rng.normal(size=shape) for shape in shapes), about=about)

    return [draw(2, 3, 4, 2, 3), draw(1, 4, 3, 2, 5), draw(3, 2, 5, 3, 4)]


def in_two_calls(answer, case):
    """One token after the other, each call given what the last one returned."""
    x, positions, w_q, w_k, w_v, keys, values = case.args
    whole, parts = np.asarray(answer(*case.args)[0]), []
    for at in range(len(x)):
        output, keys, values = answer(x[at : at + 1], positions, w_q, w_k, w_v, keys, values)
        parts.append(np.asarray(output))
    return bool(np.allclose(np.concatenate(parts), whole, atol=1e-4, equal_nan=True)) or (
        "the tokens one by one do not give what they give together"
    )


def in_window(q, k, v, keys, values, width, *, seen=0, kept=0):
    """One token more; `seen` and `kept` are how many tokens too many it attends to and keeps."""
    keys, values = np.concatenate([keys, k[None]]), np.concatenate([values, v[None]])
    read, stored = slice(-width - seen, None), slice(-width - kept, None)
    output = attend(q[None], keys[read], values[read]).output[0]
    return output, keys[stored], values[stored]


def oldest_dropped(full):
    """The oldest leaves at every call, or when `full` less than the width are stored."""

    def wrong(q, k, v, keys, values, width):
        gone = int(full is None or len(keys) >= width - full)
        keys = np.concatenate([keys[gone:], k[None]])
        values = np.concatenate([values[gone:], v[None]])
        return attend(q[None], keys, values).output[0], keys, values

    return wrong


def last_stored_by_minus(q, k, v, keys, values, width):
    """A slice from -0 keeps everything."""
    keys = np.concatenate([keys[-(width - 1) :], k[None]])
    values = np.concatenate([values[-(width - 1) :], v[None]])
    return attend(q[None], keys, values).output[0], keys, values


def newest_in_front(q, k, v, keys, values, width):
    keys, values = np.concatenate([k[None], keys]), np.concatenate([v[None], values])
    return attend(q[None], keys[:width], values[:width]).output[0], keys[:width], values[:width]


def newest_unseen(q, k, v, keys, values, width):
    right = in_window(q, k, v, keys, values, width)
    return attend(q[None], keys, values).output[0], *right[1:]


def newest_dropped(q, k, v, keys, values, width):
    keys, values = np.concatenate([keys, k[None]]), np.concatenate([values, v[None]])
    return attend(q[None], keys[:width], values[:width]).output[0], keys[:width], values[:width]


def window_cases(rng):
    def draw(old, width, d_k, d_v):
        shapes = [(d_k,), (d_k,), (d_v,), (old, d_k), (old, d_v)]
        about = f"a window of {width}, {old} tokens stored, d_k = {d_k}, d_v = {d_v}"
        return Case((*(rng.normal(size=shape) for shape in shapes), width), about=about)

    return [
        draw(3, 3, 2, 3),
        draw(5, 5, 4, 2),
        draw(2, 5, 3, 4),
        draw(3, 4, 5, 2),
        draw(1, 1, 3, 2),
    ]


EXERCISE = Exercise(
    chapter="14",
    title="Cost, cache, flash",
    tasks=[
        Task(
            id="14.1", name="multiply_adds", title="Count the multiply-adds", difficulty=2,
            importance=5, minutes=10, reference=multiply_adds, cases=operation_cases,
            read=f"{PAGE}#what-grows-with-the-length",
            wrong=[
                Wrong("M290", lambda *sizes: multiply_adds(*sizes, per_head=True)),
                Wrong("M291", lambda *sizes: multiply_adds(*sizes, table=1)),
                Wrong("M1053", causal_pairs),
                Wrong("M1043", lambda *sizes: multiply_adds(*sizes, maps=3)),
                Wrong("M292", lambda n, d, heads, d_ff: multiply_adds(n, d, heads, 4 * d)),
                Wrong("M293", lambda *sizes: multiply_adds(*sizes, tokens=1)),
                Wrong("M326", lambda *sizes: multiply_adds(*sizes, inner=1)),
                Wrong("M340", lambda *sizes: multiply_adds(*sizes, maps=8, table=4, inner=4)),
            ],
        ),
        Task(
            id="14.2", name="crossover", title="Where the attention matrix takes over",
            difficulty=2, importance=3, minutes=5, reference=crossover, cases=crossover_cases,
            read=f"{PAGE}#what-grows-with-the-length",
            wrong=[
                Wrong("M294", lambda d_model, d_ff: 2 * d_model),
                Wrong("M294", lambda d_model, d_ff: d_ff),
                Wrong("M291", lambda d_model, d_ff: 4 * d_model + 2 * d_ff),
                Wrong("M292", lambda d_model, d_ff: 6 * d_model),
                *(Wrong("M1043", lambda d_model, d_ff, whole=whole: whole(1.5 * d_model + d_ff))
                  for whole in (float, math.ceil, math.floor)),
                *(Wrong("M326", lambda d_model, d_ff, whole=whole: whole(2 * d_model + d_ff / 2))
                  for whole in (float, math.ceil, math.floor)),
                Wrong("M1052", lambda d_model, d_ff: 4 * d_model**2 + 2 * d_model * d_ff),
                Wrong("M1052", lambda d_model, d_ff: (4 * d_model**2 + 2 * d_model * d_ff) / 2),
            ],
        ),
        Task(
            id="14.3", name="cache_bytes", title="The bytes of a cache", difficulty=1,
            importance=5, minutes=5, reference=cache_bytes, cases=cache_cases,
            read=f"{PAGE}#one-token-at-a-time-the-kv-cache",
            wrong=[
                Wrong("M295", lambda *sizes: cache_bytes(*sizes) // 2),
                Wrong("M296", lambda layers, heads, groups, *rest: cache_bytes(
                    layers, heads, heads, *rest)),
                Wrong("M333", lambda layers, heads, groups, *rest: (
                    cache_bytes(layers, heads, heads, *rest)
                    + cache_bytes(layers, heads, groups, *rest)) // 2),
                Wrong("M1044", lambda layers, heads, groups, *rest: cache_bytes(
                    layers, heads, heads // groups, *rest)),
                Wrong("M297", lambda layers, *rest: cache_bytes(1, *rest)),
                Wrong("M298", lambda *sizes: cache_bytes(*sizes) // sizes[4]),
                Wrong("M341", lambda *sizes: cache_bytes(*sizes) // sizes[-1]),
                Wrong("M342", lambda *sizes: cache_bytes(*sizes, queries=1)),
            ],
        ),
        Task(
            id="14.4", name="add_tile", title="Add a tile to a row", difficulty=3, importance=5,
            minutes=15, reference=add_tile, cases=tile_cases,
            read=f"{PAGE}#attention-in-tiles",
            wrong=[
                Wrong("M299", lambda *args: add_tile(*args, mixture_by=one)),
                Wrong("M299", key_by_key),
                Wrong("M94", lambda *args: add_tile(*args, total_by=one)),
                Wrong("M94+M299", lambda *args: add_tile(*args, total_by=one, mixture_by=one)),
                Wrong("M173", lambda *args: add_tile(
                    *args, total_by=inverse, mixture_by=inverse)),
                Wrong("M181", lambda *args: add_tile(*args, highest=lambda old, new: old)),
                Wrong("M320", lambda *args: add_tile(*args, early=True)),
                Wrong("M320", divided),
                Wrong("M1080", mixed_by_scores),
                Wrong("M343", lambda *args: add_tile(*args, highest=lambda old, new: new)),
                Wrong("M344", lambda *args: add_tile(*args, base=np.max)),
                Wrong("M13", lambda *args: add_tile(*args, base=np.zeros_like)),
            ],
        ),
        Task(
            id="14.5", name="tiled", title="Attend in tiles", difficulty=4, importance=5,
            minutes=20, reference=tiled, cases=tiled_cases,
            read=f"{PAGE}#attention-in-tiles",
            laws=[
                Law("M13", "high scores do not overflow", stays_finite(1)),
                Law(None, "low scores do not vanish", stays_finite(-1)),
                Law("M321", "nothing as large as the table is held", holds_no_table),
            ],
            wrong=[
                Wrong("M13", without_maximum),
                Wrong("M321", lambda q, k, v, columns: attend(q, k, v).output),
                Wrong("M299", lambda *args: tiled(*args, kept_by={"mixture_by": one})),
                Wrong("M94", lambda *args: tiled(*args, kept_by={"total_by": one})),
                Wrong("M94+M299", lambda *args: tiled(
                    *args, kept_by={"total_by": one, "mixture_by": one})),
                Wrong("M322", tile_softmaxes(lambda tiles: tiles.mean(0))),
                Wrong("M322", tile_softmaxes(lambda tiles: tiles.sum(0))),
                Wrong("M320", lambda *args: tiled(*args, early=True)),
                Wrong("M320", lambda *args: tiled(*args, step=divided, divide=False)),
                Wrong("M320", lambda *args: tiled(*args, step=divided)),
                Wrong("M176", lambda *args: tiled(*args, divide=False)),
                Wrong("M323", lambda *args: tiled(*args, last=False)),
                Wrong("M1323", last_tile_alone),
                Wrong("M1000", lambda *args: tiled(*args, step=of_the_tile_alone)),
                Wrong("M1001", one_maximum_for_all),
                Wrong("M01+M1001", lambda q, *rest: one_maximum_for_all(
                    q * math.sqrt(q.shape[-1]), *rest)),
                Wrong("M01", lambda *args: tiled(*args, scale=1.0)),
                Wrong("M02", lambda q, *rest: tiled(q, *rest, scale=1 / q.shape[-1])),
            ],
        ),
        Task(
            id="14.6", name="share", title="Shared heads", difficulty=3, importance=4, minutes=10,
            reference=share, cases=group_cases, read=f"{PAGE}#grouped-heads-and-windows",
            wrong=[
                Wrong("M324", by_index(lambda i, heads, groups: i % groups)),
                Wrong("M1180", by_index(lambda i, heads, groups: i // groups)),
                Wrong("M1248", by_index(lambda i, heads, groups: min(i // groups, groups - 1))),
                Wrong("M1324", mean_queries),
                Wrong("M1059", dealt_values),
                Wrong("M1059", lambda q, k, v: attend(q, repeated(k, q), v[0]).output),
                Wrong("M1059", lambda q, k, v: attend(q, k[0], repeated(v, q)).output),
                Wrong("M1315", lambda q, k, v: attend(q, k.sum(0), v.sum(0)).output),
                Wrong("M1315", lambda q, k, v: attend(q, k.sum(0), repeated(v, q)).output),
                Wrong("M1315", lambda q, k, v: attend(q, repeated(k, q), v.sum(0)).output),
                Wrong("M325", by_index(lambda i, heads, groups: 0)),
                Wrong("M325", lambda q, k, v: attend(q, k.mean(0), v.mean(0)).output),
                Wrong("M01", lambda q, k, v: grouped(q * np.sqrt(q.shape[-1]), k, v).output),
            ],
        ),
        Task(
            id="14.7", name="read_on", title="Read on", difficulty=4, importance=5, minutes=15,
            reference=read_on, cases=read_on_cases, read=f"{PAGE}#one-token-at-a-time-the-kv-cache",
            laws=[Law(None, "one by one gives what together gives", in_two_calls)],
            wrong=[
                Wrong("M250", lambda *args: read_on(*args, start=lambda keys: 0)),
                Wrong("M58", lambda *args: read_on(*args, start=lambda keys: len(keys) + 1)),
                Wrong("M32", lambda *args: read_on(
                    *args, mask=lambda new, keys: np.tri(new, keys, dtype=bool))),
                Wrong("M1325", one_position),
                Wrong("M1320", lambda *args: read_on(*args, mask=None)),
                Wrong("M57", lambda x, positions, *rest: read_on(x, 0 * positions, *rest)),
                Wrong("M22", lambda *args: read_on(
                    *args, mask=lambda new, keys: np.tri(new, keys, keys - new - 1, dtype=bool))),
                Wrong("M262", lambda *args: read_on(*args, past=False)),
                Wrong("M262", new_unseen),
                Wrong("M307", lambda *args: read_on(*args, front=True)),
                Wrong("M327", lambda *args: read_on(*args, carry=False)),
                Wrong("M01", lambda x, positions, w_q, *rest: read_on(
                    x, positions, w_q * np.sqrt(w_q.shape[1]), *rest)),
            ],
        ),
        Task(
            id="14.8", name="in_window", title="Write with a window", difficulty=3, importance=3,
            minutes=10, reference=in_window, cases=window_cases,
            read=f"{PAGE}#grouped-heads-and-windows",
            wrong=[
                Wrong("M328", lambda *args: in_window(*args, seen=1, kept=1)),
                Wrong("M328", lambda *args: in_window(*args, seen=1)),
                Wrong("M329", newest_dropped),
                Wrong("M345", lambda *args: in_window(*args, seen=-1, kept=-1)),
                Wrong("M345", oldest_dropped(None)),
                Wrong("M999", last_stored_by_minus),
                Wrong("M345", oldest_dropped(1)),
                Wrong("M307", newest_in_front),
                Wrong("M262", newest_unseen),
                Wrong("M01", lambda q, *rest: (
                    in_window(q * np.sqrt(len(q)), *rest))),
            ],
        ),
    ],
)  # fmt: skip
