"""Multi-head attention: the checks."""

from typing import NamedTuple

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.functional import softmax

PAGE = "chapters/09_multi_head.html"


# 9.1 ----------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where a number stands after the split; feedback calls the three results by these names."""

    head: int
    token: int
    component: int


def place(number, n, d_model, heads):
    token, component = divmod(number, d_model)
    return Place(component // (d_model // heads), token, component % (d_model // heads))


def place_cases(rng):
    n, heads, d_k = rng.integers((3, 2, 2), (12, 6, 9)).tolist()
    drawn = int(rng.integers(n * heads * d_k)), n, heads * d_k, heads
    # Small numbers that a pencil can follow.
    sizes = [(6, 3, 4, 2), (23, 4, 10, 2), (57, 5, 12, 3), (95, 7, 15, 3), (100, 6, 24, 4), drawn]
    words = "number {} of n = {} tokens with d_model = {}, {} heads"
    return [Case(size, about=words.format(*size)) for size in sizes]


def split_by_view(x, heads):
    return x.reshape(*x.shape[:-2], heads, x.shape[-2], -1)


def split_interleaved(x, heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, heads), -1, -3)


def split_front_axes(x, heads):
    """Right for one sentence; in a batch the sentences and not the heads come second."""
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(0, 1)


def merge_by_view(x):
    *batch, heads, n, d_k = x.shape
    return x.reshape(*batch, n, heads * d_k)


def merge_front_axes(x):
    turned = x.swapaxes(0, 1)
    return turned.reshape(*turned.shape[:-2], -1)


def place_by(split):
    """Where the number stands after this split of all numbers."""

    def answer(number, n, d_model, heads):
        parts = split(np.arange(n * d_model).reshape(n, d_model), heads)
        return Place(*(int(at[0]) for at in np.nonzero(parts == number)))

    return answer


def place_in_the_vector(number, n, d_model, heads):
    right = place(number, n, d_model, heads)
    return right._replace(component=number % d_model)


def place_before_the_swap(number, n, d_model, heads):
    head, token, component = place(number, n, d_model, heads)
    return Place(token, head, component)


def place_by_heads(number, n, d_model, heads):
    token, component = divmod(number, d_model)
    return Place(component // heads, token, component % heads)


def place_down_the_columns(number, n, d_model, heads):
    component, token = divmod(number, n)
    return Place(component // (d_model // heads), token, component % (d_model // heads))


def place_by_rows_of_n(number, n, d_model, heads):
    token, component = divmod(number, n)
    return Place(component // (d_model // heads), token, component % (d_model // heads))


def place_from_1(number, n, d_model, heads):
    return Place(*(at + 1 for at in place(number, n, d_model, heads)))


def place_after_1(number, n, d_model, heads):
    return place(number - 1, n, d_model, heads)


# 9.2 ----------------------------------------------------------------------------------------


def repair(wrong):
    return np.array(split_heads(merge_by_view(wrong), wrong.shape[-3]))  # einops returns a view


def repair_cases(rng):
    numbered = split_by_view(np.arange(12.0).reshape(3, 4), 2)
    return [
        Case((numbered,), about="2 heads, 3 tokens, d_k = 2: the numbers 0 to 11, split wrongly"),
        Case((rng.normal(size=(3, 2, 5)),), about="3 heads, 2 tokens, d_k = 5"),
        Case((rng.normal(size=(2, 3, 5, 7)),), about="a batch of 2, 3 heads, 5 tokens, d_k = 7"),
        Case((rng.normal(size=(2, 3, 2, 5, 4)),), about="a batch of 2 x 3, 2 heads, 5 tokens"),
    ]


def split_as(split):
    """Put the reading order back, then split in this way."""
    return lambda wrong: split(merge_by_view(wrong), wrong.shape[-3])


def swapped_first(wrong):
    return wrong.swapaxes(-3, -2).reshape(wrong.shape)


def swapped_alone(wrong):
    return wrong.swapaxes(-3, -2)


def not_swapped(wrong):
    *batch, heads, n, d_k = wrong.shape
    return wrong.reshape(*batch, n, heads, d_k)


def merged_properly(wrong):
    return np.array(merge_heads(wrong))


def repaired_one_sentence(wrong):
    heads, n, d_k = wrong.shape  # an error where there is a batch
    return wrong.reshape(n, heads, d_k).swapaxes(0, 1)


def repaired_from_the_front(wrong):
    return wrong.reshape(wrong.shape[1], wrong.shape[0], -1).swapaxes(0, 1)


# 9.3, 9.4 -----------------------------------------------------------------------------------


def loop(x, w_q, w_k, w_v, w_o, *, scale=None, same=False, project=True, backwards=False):
    """A loop over heads with its parts exchangeable, so that each misconception is one line."""
    outputs = []
    for head in range(len(w_q)):
        i = 0 if same else head
        outputs.append(attend(x @ w_q[i], x @ w_k[i], x @ w_v[i], scale=scale).output)
    joined = np.concatenate(outputs[::-1] if backwards else outputs, -1)
    return joined @ w_o if project else joined


def loop_cases(rng):
    def draw(n, d_model, heads, d_k, d_v):
        maps = [rng.normal(size=(heads, d_model, d)) / np.sqrt(d_model) for d in (d_k, d_k, d_v)]
        w_o = rng.normal(size=(heads * d_v, d_model))
        about = f"n = {n}, d_model = {d_model}, {heads} heads, d_k = {d_k}, d_v = {d_v}"
        return Case((rng.normal(size=(n, d_model)), *maps, w_o), about=about)

    return [draw(3, 4, 2, 2, 2), draw(2, 5, 3, 2, 7), draw(3, 6, 2, 5, 3)]


def outputs_of_heads(x, w_q, w_k, w_v):
    maps = zip(w_q, w_k, w_v, strict=True)
    return [attend(x @ q, x @ k, x @ v) for q, k, v in maps]


def pairs_concatenated(x, w_q, w_k, w_v, w_o):
    return np.concatenate(outputs_of_heads(x, w_q, w_k, w_v), axis=-1) @ w_o


def outputs_added(x, w_q, w_k, w_v, w_o):
    return sum(pair.output for pair in outputs_of_heads(x, w_q, w_k, w_v)) @ w_o


def outputs_stacked(x, w_q, w_k, w_v, w_o):
    return np.stack([pair.output for pair in outputs_of_heads(x, w_q, w_k, w_v)]) @ w_o


def concatenated_below(x, w_q, w_k, w_v, w_o):
    return np.concatenate([pair.output for pair in outputs_of_heads(x, w_q, w_k, w_v)]) @ w_o


def one_after_another(x, w_q, w_k, w_v, w_o):
    for q, k, v in zip(w_q, w_k, w_v, strict=True):
        x = attend(x @ q, x @ k, x @ v).output
    return x @ w_o


def one_softmax(q, k, v):
    table = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(table) / np.exp(table).sum((-1, -3), keepdims=True)
    return weights @ v


def loop_one_softmax(x, w_q, w_k, w_v, w_o):
    outputs = one_softmax(*(np.stack([x @ w for w in maps]) for maps in (w_q, w_k, w_v)))
    return np.concatenate(list(outputs), -1) @ w_o


def by_view(x, w_q, w_k, w_v, w_o):
    maps = zip(w_q, w_k, w_v, strict=True)
    outputs = np.stack([attend(x @ q, x @ k, x @ v).output for q, k, v in maps])
    return merge_by_view(outputs) @ w_o


def multi_head(x, w_qkv, b_qkv, w_o, b_o, heads, *, cut=None, order=(0, 1, 2), join=merge_heads,
               scale=None, mix=None, bias=(1, 1), project=True):  # fmt: skip
    """The whole block with its parts exchangeable."""
    parts = np.split(x @ w_qkv + bias[0] * b_qkv, 3, -1)
    q, k, v = ((cut or split_heads)(parts[i], heads) for i in order)
    output = mix(q, k, v) if mix else attend(q, k, v, scale=scale).output
    joined = join(output)
    return joined @ w_o + bias[1] * b_o if project else joined


def block_cases(rng):
    def draw(*leading, n, d_model, heads):
        shapes = [(d_model, 3 * d_model), (3 * d_model,), (d_model, d_model), (d_model,)]
        w_qkv, b_qkv, w_o, b_o = (rng.normal(size=shape) for shape in shapes)
        x = rng.normal(size=(*leading, n, d_model))
        about = f"n = {n}, d_model = {d_model}, {heads} heads"
        about += f", a batch of {leading[0]}" if leading else ""
        return Case((x, w_qkv / np.sqrt(d_model), b_qkv, w_o, b_o, heads), about=about)

    return [draw(n=3, d_model=4, heads=2), draw(n=2, d_model=15, heads=3),
            draw(2, n=5, d_model=6, heads=3)]  # fmt: skip


def per_head_order(x, w_qkv, b_qkv, w_o, b_o, heads):
    """Read the columns as head by head, each with its q, k and v."""
    joint = (x @ w_qkv + b_qkv).reshape(*x.shape[:-1], heads, 3, -1)
    q, k, v = (np.swapaxes(joint[..., i, :], -2, -3) for i in range(3))
    return merge_heads(attend(q, k, v).output) @ w_o + b_o


def block_wrong(**changes):
    return lambda *args: multi_head(*args, **changes)


BLOCK_WRONG = [
    Wrong("M37", block_wrong(cut=split_by_view)),
    Wrong("M38", block_wrong(join=merge_by_view)),
    Wrong("M37+M38", block_wrong(cut=split_by_view, join=merge_by_view)),
    Wrong("M39", block_wrong(cut=split_interleaved)),
    Wrong("M120", block_wrong(cut=split_front_axes, join=merge_front_axes)),
    Wrong("M40", block_wrong(project=False)),
    Wrong("M194", lambda *args: multi_head(*args[:-1], 1)),
    Wrong("M41", block_wrong(mix=one_softmax)),
    Wrong("M43", block_wrong(order=(2, 1, 0))),
    Wrong("M43", block_wrong(order=(1, 2, 0))),
    Wrong("M677", per_head_order),
    Wrong("M06", block_wrong(order=(1, 0, 2))),
    Wrong("M44", block_wrong(bias=(0, 1))),
    Wrong("M44", block_wrong(bias=(1, 0))),
    Wrong("M44", block_wrong(bias=(0, 0))),
    Wrong("M38+M44", block_wrong(join=merge_by_view, bias=(1, 0))),
    *(Wrong("M44+M03", lambda x, *rest, bias=bias: multi_head(
        x, *rest, bias=bias, scale=1 / np.sqrt(x.shape[-1]))) for bias in ((0, 1), (1, 0))),
    Wrong("M1071", lambda x, w_qkv, b_qkv, w_o, b_o, heads: multi_head(
        x, w_qkv, b_qkv, w_o, b_o @ w_o, heads)),
    Wrong("M1372", lambda *args: multi_head(*args[:-2], args[-2] * args[-1], args[-1])),
    Wrong("M01", block_wrong(scale=1.0)),
    Wrong("M03", lambda x, *rest: multi_head(x, *rest, scale=1 / np.sqrt(x.shape[-1]))),
    Wrong("M10", lambda x, w_qkv, b_qkv, w_o, b_o, heads: multi_head(
        x, w_qkv, b_qkv, w_o.T, b_o, heads)),
    Wrong("M19", block_wrong(mix=lambda q, k, v: softmax(attend(q, k, v).weights) @ v)),
]  # fmt: skip


# 9.5, 9.7 -----------------------------------------------------------------------------------


def rows_of(w_o, heads):
    return w_o.reshape(heads, -1, w_o.shape[-1])


def changes(outputs, w_o):
    return outputs @ rows_of(w_o, len(outputs))


def changes_cases(rng):
    def draw(heads, n, d_v, d_model):
        args = rng.normal(size=(heads, n, d_v)), rng.normal(size=(heads * d_v, d_model))
        return Case(args, about=f"{heads} heads, n = {n}, d_v = {d_v}, d_model = {d_model}")

    return [draw(2, 3, 2, 4), draw(3, 2, 5, 15), draw(2, 3, 5, 7)]


def changes_by_columns(outputs, w_o):
    return outputs @ np.swapaxes(rows_of(w_o.T, len(outputs)), -1, -2)


def changes_interleaved(outputs, w_o):
    return np.stack([o @ w_o[i :: len(outputs)] for i, o in enumerate(outputs)])


def changes_in_equal_shares(outputs, w_o):
    heads = len(outputs)
    return np.stack([merge_heads(outputs) @ w_o / heads] * heads)


def add_up(answer, case):
    outputs, w_o = (np.asarray(array) for array in case.args)
    total = np.asarray(answer(*case.args)).sum(0)
    return bool(np.allclose(total, merge_heads(outputs) @ w_o, atol=1e-4)) or (
        "the changes of the heads do not add up to the joined heads times W_o"
    )


def prune(w_o, heads, head):
    kept = (np.arange(heads) != head)[:, None, None]
    return (rows_of(w_o, heads) * kept).reshape(w_o.shape)


def prune_cases(rng):
    def draw(heads, d_v, d_model, head):
        about = f"{heads} heads of d_v = {d_v}, d_model = {d_model}, prune head {head}"
        return Case((rng.normal(size=(heads * d_v, d_model)), heads, head), about=about)

    return [draw(2, 2, 4, 0), draw(3, 5, 15, 1), draw(3, 2, 7, 1), draw(2, 3, 4, 1)]


def changes_from_row_i(outputs, w_o):
    d_v = outputs.shape[-1]
    return np.array([output @ w_o[i : i + d_v] for i, output in enumerate(outputs)])


def prune_columns(w_o, heads, head):
    return prune(w_o.T, heads, head).T


def prune_columns_by_rows(w_o, heads, head):
    """The rows of a head, taken for columns."""
    d_v = len(w_o) // heads
    columns = np.arange(w_o.shape[1]) // d_v
    return w_o * (columns != head)


def prune_rows(w_o, first, count):
    kept = np.ones(len(w_o), dtype=bool)
    kept[first : first + count] = False
    return w_o * kept[:, None]


def prune_interleaved(w_o, heads, head):
    kept = np.arange(len(w_o)) % heads != head
    return w_o * kept[:, None]


# 9.6, 9.8 -----------------------------------------------------------------------------------


def parameters(d_model, heads, bias):
    return 4 * d_model * (d_model + bias)


def parameter_cases(rng):
    heads, d_k = rng.integers((2, 3), (9, 40)).tolist()
    drawn = heads * d_k, heads, bool(rng.integers(2))
    sizes = [(6, 2, False), (512, 4, False), (384, 12, True), (30, 5, True), drawn]
    return [Case(size, about="d_model = {}, {} heads, bias {}".format(*size)) for size in sizes]


def value_map(w_v, w_o, heads, head):
    d_v = w_v.shape[1] // heads
    part = slice(head * d_v, (head + 1) * d_v)
    return w_v[:, part] @ w_o[part]


def rank_of(table, above=1e-6, absolute=False):
    values = np.linalg.svd(table, compute_uv=False)
    return int((values > above * (1 if absolute else values[0])).sum())


def value_rank(w_v, w_o, heads, head):
    return rank_of(value_map(w_v, w_o, heads, head))


def rank_cases(rng):
    def draw(d_model, heads, head, rows=0, columns=0, rows_of_v=0):
        w_v, w_o = rng.normal(size=(2, d_model, d_model))
        d_v = d_model // heads
        start, last = head * d_v, (head + 1) * d_v - 1
        # What repeats another row or column adds no direction; each slice loses another number.
        w_o[start : start + rows] = w_o[last]
        w_o[:, start : start + columns] = w_o[:, [last]]
        w_v[start : start + rows_of_v] = w_v[last]
        about = f"d_model = {d_model}, {heads} heads, head {head}"
        return Case((w_v, w_o, heads, head), about=about + (", repeated rows" if rows else ""))

    def small(w_v, w_o, heads, head):
        return Case((w_v / 1e4, w_o / 1e4, heads, head), about="all numbers near 1/10000")

    def turning():
        """A map of rank 2 that brings one of its directions to the other, which goes to 0."""
        w_v, w_o = rng.normal(size=(2, 6, 6))
        w_o[:3] = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 1.0]]) @ np.linalg.pinv(w_v[:, :3])
        return Case((w_v, w_o, 2, 0), about="what it writes in one direction, it reads in another")

    def meeting():
        """Slices of ranks 2 and 2 whose product has rank 1, and a singular value of 1e-8."""
        w_v, w_o = rng.normal(size=(2, 6, 6))
        w_v[:, 3:] = np.outer(w_v[:, 3], [1.0, 0, 0]) + np.outer(w_v[:, 4], [0, 1.0, 0])
        w_o[3:] = np.outer([1.0, 0, 0], w_o[3]) + np.outer([0, 0, 1.0], w_o[5])
        w_o[4] = 1e-8 * rng.normal(size=6)
        return Case((w_v, w_o, 2, 1), about="what one slice writes, the other hardly reads")

    def parted():
        """Slices of rank 4; V O has rank 2, and 3 where 1e-8 counts; O V has rank 1."""
        w_v, w_o = rng.normal(size=(2, 12, 12))
        axes = np.linalg.qr(rng.normal(size=(12, 12)))[0]
        w_v[:, 6:] = np.outer(axes[:, 0], [1.0, 2, 1, 2, 0, 0])
        w_v[:, 6:10] += axes[:, 1:4] @ rng.normal(size=(3, 4))
        w_o[6:] = rng.normal(size=(6, 8)) @ axes[:, 4:].T
        w_o[6:] += np.outer([2.0, 1, 0, 0, 1, 2], axes[:, 0])
        w_o[8:10] *= [[1e-8], [0]]
        return Case((w_v, w_o, 2, 1), about="slices of rank 4 that have little in common")

    def faint():
        """Singular values of 2, 1 and 1e-5: the last is above 1e-6 of the largest."""
        w_v, w_o = rng.normal(size=(2, 6, 6))
        ours, theirs = (np.linalg.qr(rng.normal(size=(6, 3)))[0] for _ in range(2))
        w_v[:, :3], w_o[:3] = ours * [2.0, 1, 1e-5], theirs.T
        return Case((w_v, w_o, 2, 0), about="a singular value of 5/1000000 of the largest")

    return [draw(6, 2, 1), draw(15, 3, 0), draw(14, 2, 1, rows=2, columns=3, rows_of_v=4),
            small(*draw(6, 3, 1).args), meeting(), turning(), parted(), faint()]  # fmt: skip


def rank_by_eigenvalues(w_v, w_o, heads, head):
    values = np.abs(np.linalg.eigvals(value_map(w_v, w_o, heads, head)))
    return int((values > 1e-6 * values.max()).sum())


def rank_by_columns(w_v, w_o, heads, head):
    return value_rank(w_v, w_o.T, heads, head)


def rank_by_rows(w_v, w_o, heads, head):
    return value_rank(w_v.T, w_o, heads, head)


def rank_of_rows(w_v, w_o, heads, head):
    d = len(w_v) // heads
    rows = slice(head * d, (head + 1) * d)
    return rank_of(w_v[rows].T @ w_o[rows])


def rank_turned(w_v, w_o, heads, head):
    return rank_of(rows_of(w_o, heads)[head] @ rows_of(w_v.T, heads)[head].T)


EXERCISE = Exercise(
    chapter="09",
    title="Multi-head attention",
    tasks=[
        Task(
            id="9.1", name="place", title="Where each number goes", difficulty=2, importance=4,
            minutes=10, reference=place, cases=place_cases,
            read=f"{PAGE}#all-heads-at-once-split-and-merge",
            wrong=[
                Wrong("M997", place_by(split_by_view)), Wrong("M998", place_by(split_interleaved)),
                Wrong("M800", place_before_the_swap), Wrong("M801", place_in_the_vector),
                Wrong("M1371", place_by_rows_of_n),
                Wrong("M802", place_by_heads), Wrong("M804", place_down_the_columns),
                Wrong("M805", place_from_1), Wrong("M805", place_after_1),
            ],
        ),
        Task(
            id="9.2", name="repair", title="Repair a wrong split", difficulty=3, importance=5,
            minutes=10, reference=repair, cases=repair_cases,
            read=f"{PAGE}#all-heads-at-once-split-and-merge",
            wrong=[
                Wrong("M806", lambda wrong: wrong.copy()),
                Wrong("M807", swapped_first), Wrong("M807", swapped_alone),
                Wrong("M1186", not_swapped),
                Wrong("M808", merge_by_view), Wrong("M1378", merged_properly),
                Wrong("M39", split_as(split_interleaved)),
                Wrong("M120", split_as(split_front_axes)),
                Wrong("M673", repaired_one_sentence), Wrong("M673", repaired_from_the_front),
            ],
        ),
        Task(
            id="9.3", name="heads_by_loop", title="Head after head", difficulty=2, importance=5,
            minutes=10, reference=loop, cases=loop_cases, read=f"{PAGE}#several-heads-side-by-side",
            wrong=[
                Wrong("M42", lambda *args: loop(*args, same=True)),
                Wrong("M40", lambda *args: loop(*args, project=False)),
                Wrong("M38", by_view),
                Wrong("M41", loop_one_softmax),
                Wrong("M674", pairs_concatenated),
                Wrong("M675", concatenated_below), Wrong("M675", outputs_added),
                Wrong("M675", outputs_stacked),
                Wrong("M676", one_after_another),
                Wrong("M01", lambda *args: loop(*args, scale=1.0)),
                Wrong("M03", lambda x, *maps: loop(x, *maps, scale=1 / np.sqrt(x.shape[-1]))),
            ],
        ),
        Task(
            id="9.4", name="multi_head", title="All heads at once", difficulty=4, importance=5,
            minutes=20, reference=multi_head, cases=block_cases, wrong=BLOCK_WRONG,
            read=f"{PAGE}#all-heads-at-once-split-and-merge",
        ),
        Task(
            id="9.5", name="changes", title="What each head adds", difficulty=3, importance=4,
            minutes=10, reference=changes, cases=changes_cases,
            read=f"{PAGE}#the-output-projection-adds-the-heads",
            laws=[Law(None, "the changes add up", add_up)],
            wrong=[
                Wrong("M124", changes_by_columns), Wrong("M803", changes_interleaved),
                Wrong("M42", lambda outputs, w_o: outputs @ rows_of(w_o, len(outputs))[0]),
                Wrong("M678", lambda outputs, w_o: outputs @ w_o),
                Wrong("M1072", changes_from_row_i),
                Wrong("M956", changes_in_equal_shares),
            ],
        ),
        Task(
            id="9.6", name="parameters", title="Count the parameters", difficulty=2, importance=4,
            minutes=5, reference=parameters, cases=parameter_cases, read=f"{PAGE}#what-heads-cost",
            wrong=[
                Wrong("M126", lambda d, heads, bias: d * (d + bias) * (3 * heads + 1)),
                Wrong("M126", lambda d, heads, bias: heads * 4 * d * d + bias * 4 * d),
                Wrong("M126", lambda d, heads, bias: heads * 4 * d * (d + bias)),
                Wrong("M126", lambda d, heads, bias: (3 * heads + 1) * d * d + bias * 4 * d),
                Wrong("M127", lambda d, heads, bias: 3 * d * (d + bias)),
                Wrong("M125+M127", lambda d, heads, bias: 3 * d * d),
                Wrong("M1293", lambda d, heads, bias: 3 * d * d + 4 * d * bias),
                Wrong("M679", lambda d, heads, bias: 4 * d * d + bias * (3 * (d // heads) + d)),
                Wrong("M679", lambda d, heads, bias: 4 * d * d + bias * 4 * (d // heads)),
                Wrong("M125", lambda d, heads, bias: 4 * d * d),
            ],
        ),
        Task(
            id="9.7", name="prune", title="Prune a head", difficulty=3, importance=3, minutes=10,
            reference=prune, cases=prune_cases,
            read=f"{PAGE}#the-output-projection-adds-the-heads",
            wrong=[
                Wrong("M124", prune_columns), Wrong("M124", prune_columns_by_rows),
                Wrong("M803", prune_interleaved),
                Wrong("M1072", lambda w_o, heads, head: prune_rows(w_o, head, len(w_o) // heads)),
                Wrong("M1072", lambda w_o, heads, head: prune_rows(w_o, head, 1)),
                Wrong("M1072", lambda w_o, heads, head: prune_rows(w_o, head * heads, heads)),
                Wrong("M121", lambda w_o, heads, head: w_o - prune(w_o, heads, head)),
                Wrong("M129", lambda w_o, heads, head: prune(w_o, heads, head - 1)),
            ],
        ),
        Task(
            id="9.8", name="value_rank", title="The rank of one head", difficulty=4, importance=3,
            minutes=15, reference=value_rank, cases=rank_cases,
            read="chapters/09_multi_head_deeper.html#claim-S1-32",
            wrong=[
                Wrong("M123", lambda w_v, w_o, heads, head: rank_of(w_v @ w_o)),
                Wrong("M122", lambda w_v, w_o, heads, head: w_v.shape[1] // heads),
                Wrong("M124", rank_by_columns),
                Wrong("M803", lambda w_v, w_o, heads, head: rank_of(
                    w_v[:, head::heads] @ w_o[head::heads])),
                Wrong("M330", rank_by_rows),
                Wrong("M330", rank_of_rows),
                Wrong("M1062", lambda w_v, w_o, heads, head: rank_of(rows_of(w_v.T, heads)[head])),
                Wrong("M1062", lambda w_v, w_o, heads, head: rank_of(rows_of(w_o, heads)[head])),
                Wrong("M1062", lambda w_v, w_o, heads, head: rank_of(
                    rows_of(w_o, heads)[head], above=1e-14)),
                Wrong("M1062", lambda w_v, w_o, heads, head: min(
                    rank_of(rows_of(w_v.T, heads)[head]), rank_of(rows_of(w_o, heads)[head]))),
                Wrong("M1063", rank_by_eigenvalues),
                Wrong("M128", lambda *args: rank_of(value_map(*args), above=0)),
                Wrong("M1289", lambda *args: rank_of(value_map(*args), above=1e-14)),
                Wrong("M1290", rank_turned),
                Wrong("M1291", lambda *args: rank_of(value_map(*args), absolute=True)),
                Wrong("M1353", lambda *args: rank_of(value_map(*args), above=1e-3)),
            ],
        ),
    ],
)  # fmt: skip
