"""Counting parameters: the checks."""

import math

from checks import Case, Exercise, Task, Wrong

PAGE = "chapters/15_counting.html"
DEEPER = "chapters/15_counting_deeper.html"


# 15.1 ---------------------------------------------------------------------------------------


def rows(vocab, d_model, heads, d_k, layers, d_ff, *, maps=(1, 1, 1, 1), wide=(1, 1), out=1):
    """The eight rows of the ledger; what may be counted otherwise is a factor."""
    projection = layers * heads * d_k * d_model
    feed_forward = layers * d_model * d_ff
    attention = (projection * by for by in maps)
    return vocab * d_model, *attention, *(feed_forward * by for by in wide), out * vocab * d_model


def row_cases(rng):
    drawn = tuple(rng.integers(3, 60, size=6).tolist())
    sizes = [(7, 6, 3, 4, 5, 11), (11, 10, 2, 5, 3, 13), (50257, 12288, 96, 128, 96, 49152), drawn]
    about = "{} words, d_model = {}, {} heads, d_k = {}, {} layers, d_ff = {}"
    return [Case(size, about=about.format(*size)) for size in sizes]


def rows_of(**sizes):
    """The same with some sizes replaced by what a misconception takes for them."""
    names = ("vocab", "d_model", "heads", "d_k", "layers", "d_ff")

    def answer(*given):
        known = dict(zip(names, given, strict=True))
        return rows(**known | {name: by(**known) for name, by in sizes.items()})

    return answer


def square_value(vocab, d_model, heads, d_k, layers, d_ff, *, out=False):
    counts = list(rows(vocab, d_model, heads, d_k, layers, d_ff))
    counts[3] = layers * heads * d_model**2
    if out:
        counts[4] = 0
    return tuple(counts)


def network_per_head(vocab, d_model, heads, d_k, layers, d_ff):
    return rows(vocab, d_model, heads, d_k, layers, d_ff, wide=(heads, heads))


def down_inside(vocab, d_model, heads, d_k, layers, d_ff, *, up=False):
    counts = list(rows(vocab, d_model, heads, d_k, layers, d_ff))
    counts[5] = layers * d_ff**2 if up else counts[5]
    counts[6] = layers * d_ff**2
    return tuple(counts)


def row_once(*which):
    """Some rows counted for one layer."""

    def answer(vocab, d_model, heads, d_k, layers, d_ff):
        counts = rows(vocab, d_model, heads, d_k, layers, d_ff)
        once = rows(vocab, d_model, heads, d_k, 1, d_ff)
        return tuple(pair[n in which] for n, pair in enumerate(zip(counts, once, strict=True)))

    return answer


def one_joint_output(vocab, d_model, heads, d_k, layers, d_ff):
    counts = list(rows(vocab, d_model, heads, d_k, layers, d_ff))
    counts[4] = layers * d_model**2
    return tuple(counts)


def joint_projections(vocab, d_model, heads, d_k, layers, d_ff):
    """Four matrices d_model x d_model in each layer, as where the heads fill d_model."""
    counts = rows(vocab, d_model, heads, d_k, layers, d_ff)
    return (counts[0], *(layers * d_model**2 for _ in range(4)), *counts[5:])


ROWS_WRONG = [
    Wrong("M346", rows_of(heads=lambda **known: 1)),
    Wrong("M346", rows_of(layers=lambda **known: 1)),
    Wrong("M346", rows_of(heads=lambda **known: 1, layers=lambda **known: 1)),
    *(Wrong("M346", row_once(*which)) for which in ((5, 6), (5,), (6,), (4,), (1, 2, 3))),
    Wrong("M347", rows_of(d_k=lambda d_model, heads, **known: d_model // heads)),
    Wrong("M347", one_joint_output),
    Wrong("M347", joint_projections),
    Wrong("M126", rows_of(d_k=lambda d_model, **known: d_model)),
    Wrong("M348", square_value),
    Wrong("M348", lambda *sizes: square_value(*sizes, out=True)),
    Wrong("M292", rows_of(d_ff=lambda d_model, **known: 4 * d_model)),
    Wrong("M127", lambda *sizes: rows(*sizes, maps=(1, 1, 1, 0))),
    Wrong("M196", lambda *sizes: rows(*sizes, wide=(1, 0))),
    Wrong("M1045", lambda *sizes: rows(*sizes, out=0)),
    Wrong("M1394", lambda *sizes: rows(*sizes)[:-1]),
    Wrong("M1045+M347", lambda *sizes: (*joint_projections(*sizes)[:-1], 0)),
    Wrong("M356", network_per_head),
    Wrong("M358", down_inside),
    Wrong("M358", lambda *sizes: down_inside(*sizes, up=True)),
]


# 15.2 ---------------------------------------------------------------------------------------


def total(vocab, longest, d_model, layers, d_ff, tied, biases, *, tables=None, positions=1,
          maps=4, wide=2, map_biases=(4, 1, 1), norms=4, last=2, word_bias=0):  # fmt: skip
    """All numbers of a decoder; what may be forgotten is a factor."""
    attention, up, down = map_biases if biases else (0, 0, 0)
    block = maps * d_model**2 + wide * d_model * d_ff + norms * d_model
    block += (attention + down) * d_model + up * d_ff
    count = (2 - tied) if tables is None else tables(tied)
    ends = (count * vocab + positions * longest + last) * d_model + word_bias * vocab
    return ends + layers * block


def total_cases(rng):
    drawn = (*rng.integers(3, 60, size=5).tolist(), *(rng.random(2) < 0.5).tolist())
    sizes = [
        (7, 5, 6, 2, 11, True, True),
        (7, 5, 6, 2, 11, False, True),
        (13, 3, 4, 3, 7, True, False),
        (50257, 1024, 768, 12, 3072, True, True),
        (50257, 2048, 12288, 96, 49152, False, False),
        (50257, 2047, 5141, 39, 20561, False, True),  # a float32 cannot hold this count
        drawn,
    ]
    about = "{} words, {} positions, d_model = {}, {} layers, d_ff = {}, tied = {}, biases = {}"
    return [Case(size, about=about.format(*size)) for size in sizes]


def drawn_total_cases(rng):
    """Every choice of tied tables and of biases, which a draw of both may leave out."""
    cases = []
    for tied, biases in ((True, True), (True, False), (False, True), (False, False)):
        size = (*rng.integers(3, 60, size=5).tolist(), tied, biases)
        cases.append(Case(size, about=f"tied = {tied}, biases = {biases}"))
    return cases


def counted(**factors):
    return lambda *sizes: total(*sizes, **factors)


def norms_follow_biases(share):
    """A switch for the biases of the maps that also takes the norms' biases, or the norms."""
    return lambda *sizes: total(
        *sizes, norms=4 if sizes[-1] else 4 * share, last=2 if sizes[-1] else 2 * share
    )


def four_times_wide(vocab, longest, d_model, layers, d_ff, tied, biases):
    return total(vocab, longest, d_model, layers, 4 * d_model, tied, biases)


def in_one_layer(vocab, longest, d_model, layers, d_ff, tied, biases):
    return total(vocab, longest, d_model, 1, d_ff, tied, biases)


def never_a_bias(*sizes):
    return total(*sizes[:-1], False)


def always_biases(*sizes):
    return total(*sizes[:-1], True)


def last_in_each_layer(*sizes):
    return total(*sizes, norms=6, last=0)


def positions_in_each_layer(*sizes):
    return total(*sizes, positions=sizes[3])


def positions_at_both_ends(*sizes):
    return total(*sizes, positions=2 - sizes[-2])


def tables_in_each_layer(*sizes):
    return total(*sizes, positions=sizes[3], tables=lambda tied: sizes[3] * (2 - tied))


def no_block_without_biases(*sizes):
    """`if biases else 0` behind a sum takes the whole sum."""
    return total(*sizes) if sizes[-1] else total(*sizes, maps=0, wide=0, norms=0)


def one_wide_square(vocab, longest, d_model, layers, d_ff, tied, biases):
    return total(vocab, longest, d_model, layers, d_ff, tied, biases, wide=1) + layers * d_ff**2


def one_bias_each(vocab, longest, d_model, layers, d_ff, tied, biases):
    return total(vocab, longest, d_model, layers, d_ff, tied, False) + biases * layers * 6


def biased_words(*sizes, **others):
    """The LM head, where it has a matrix of its own, with a bias like the other linear layers."""
    return total(*sizes, word_bias=(1 - sizes[-2]) * sizes[-1], **others)


TOTAL_WRONG = [
    Wrong("M1326", no_block_without_biases),
    Wrong("M354", counted(tables=lambda tied: 2)),
    Wrong("M354", counted(tables=lambda tied: 1)),
    Wrong("M354", counted(tables=lambda tied: 1 + tied)),
    Wrong("M301", lambda *sizes: total(*sizes, word_bias=1 - sizes[-2])),
    Wrong("M301", lambda *sizes: total(*sizes, word_bias=1)),
    Wrong("M301", biased_words),
    *(Wrong("M301+M975", lambda *sizes, last=last: biased_words(*sizes, norms=2, last=last))
      for last in (2, 1)),
    Wrong("M1341", counted(positions=0)),
    Wrong("M354+M1341", counted(tables=lambda tied: 1 + tied, positions=0)),
    Wrong("M56", counted(last=0)),
    Wrong("M354+M56", counted(tables=lambda tied: 1 + tied, last=0)),
    Wrong("M127", counted(maps=3)),
    Wrong("M127", counted(maps=3, map_biases=(3, 1, 1))),
    Wrong("M196", counted(wide=1)),
    Wrong("M196", counted(wide=1, map_biases=(4, 1, 0))),
    Wrong("M292", four_times_wide),
    Wrong("M346", in_one_layer),
    Wrong("M263", lambda *sizes: total(*sizes[:-1], False, norms=0, last=0)),
    Wrong("M263", lambda *sizes: total(*sizes[:-1], False, norms=0)),
    Wrong("M354", never_a_bias),
    Wrong("M354", always_biases),
    Wrong("M975", norms_follow_biases(0)),
    Wrong("M975", norms_follow_biases(0.5)),
    Wrong("M975", counted(norms=0)),
    Wrong("M975", counted(norms=0, last=0)),
    Wrong("M975", counted(norms=2)),
    Wrong("M975", counted(norms=2, last=1)),
    Wrong("M987", counted(map_biases=(3, 1, 1))),
    Wrong("M974", counted(map_biases=(4, 0, 1))),
    Wrong("M1395", counted(map_biases=(4, 0, 2))),
    Wrong("M974", counted(map_biases=(4, 0, 0))),
    Wrong("M247", counted(map_biases=(0, 1, 1))),
    Wrong("M974", counted(map_biases=(4, 2, 0))),
    Wrong("M247", one_bias_each),
    Wrong("M356", last_in_each_layer),
    Wrong("M356", positions_in_each_layer),
    Wrong("M356", tables_in_each_layer),
    Wrong("M356", positions_at_both_ends),
    Wrong("M358", one_wide_square),
]  # fmt: skip


# 15.3, 15.4 ---------------------------------------------------------------------------------


def memory(parameters, bytes_each, adam_bytes, *, weights=1, gradients=1, means=2):
    run = parameters * bytes_each
    return run, run * (weights + gradients) + parameters * means * adam_bytes


UNITS = 10**9, 2**30, 10**6, 2**20


def in_units(unit, *sizes):
    return tuple(count / unit for count in memory(*sizes))


def memory_cases(rng):
    drawn = int(rng.integers(1000, 10**7)), 2, 4
    # Every sum is below 2**31: in a browser, integers of NumPy's have 32 bits.
    sizes = [(1000, 2, 4), (124_439_808, 4, 4), (134_515_008, 2, 4), drawn]
    about = "{:,} parameters, {} bytes each, {} bytes for each of Adam's numbers"
    return [Case(size, about=about.format(*size)) for size in sizes]


def multiply_adds(vocab, longest, d_model, layers, d_ff, n, *, table=2, maps=4, wide=2, scored=1,
                  looked_up=0, placed=0):  # fmt: skip
    """What one token costs, the n-th; `looked_up` and `placed` take a lookup for a product."""
    ends = ((scored + looked_up) * vocab + placed * longest) * d_model
    return ends + layers * (maps * d_model**2 + wide * d_model * d_ff + table * n * d_model)


def operation_cases(rng):
    vocab, longest, d_model, layers, d_ff = rng.integers(5, 60, size=5).tolist()
    drawn = vocab, longest, d_model, layers, d_ff, int(rng.integers(1, longest))
    sizes = [(7, 9, 6, 2, 11, 5), (13, 11, 4, 3, 7, 3), (50257, 1024, 768, 12, 3072, 1000), drawn]
    about = "{} words, {} positions, d_model = {}, {} layers, d_ff = {}, token number {}"
    return [Case(size, about=about.format(*size)) for size in sizes]


def costing(**factors):
    return lambda *sizes: multiply_adds(*sizes, **factors)


def of_token(*, place=lambda n, longest: n, **others):
    """Another place than n, or other sizes."""

    def answer(vocab, longest, d_model, layers, d_ff, n):
        sizes = {"layers": layers, "d_ff": d_ff}
        sizes |= {name: by(d_model) for name, by in others.items()}
        return multiply_adds(vocab, longest, d_model, n=place(n, longest), **sizes)

    return answer


def scores_without_width(vocab, longest, d_model, layers, d_ff, n):
    return multiply_adds(vocab, longest, d_model, layers, d_ff, n, table=0) + layers * 2 * n


def logits_in_each_layer(*sizes):
    return multiply_adds(*sizes, scored=sizes[3])


def without_a_cache(*sizes):
    return sizes[-1] * multiply_adds(*sizes)


def keys_and_values_again(vocab, longest, d_model, layers, d_ff, n):
    return multiply_adds(vocab, longest, d_model, layers, d_ff, n, maps=2 + 2 * n)


def every_token_again(vocab, longest, d_model, layers, d_ff, n):
    """n times the layers, and the logits of the last token alone."""
    return multiply_adds(vocab, longest, d_model, n * layers, d_ff, n)


def every_map_again(vocab, longest, d_model, layers, d_ff, n):
    return multiply_adds(vocab, longest, d_model, layers, d_ff, n, maps=4 * n, wide=2 * n)


def logits_of_every_token(*sizes):
    return multiply_adds(*sizes, scored=sizes[-1])


OPERATIONS_WRONG = [
    Wrong("M349", costing(looked_up=1)),
    Wrong("M349", costing(looked_up=1, placed=1)),
    Wrong("M349", costing(placed=1)),
    Wrong("M349", costing(scored=0)),
    *(Wrong("M349+M350", costing(**ends, table=table)) for table in (0, 1) for ends in (
        {"scored": 0}, {"looked_up": 1}, {"placed": 1}, {"looked_up": 1, "placed": 1})),
    Wrong("M350", costing(table=0)),
    Wrong("M350", of_token(place=lambda n, longest: longest)),
    Wrong("M350", of_token(place=lambda n, longest: n - 1)),
    Wrong("M350", of_token(place=lambda n, longest: n * n)),
    Wrong("M350", costing(table=1)),
    Wrong("M350", costing(table=4)),
    Wrong("M127", costing(maps=3)),
    Wrong("M196", costing(wide=1)),
    Wrong("M292", of_token(d_ff=lambda d_model: 4 * d_model)),
    Wrong("M346", of_token(layers=lambda d_model: 1)),
    Wrong("M340", lambda *sizes: 2 * multiply_adds(*sizes)),
    Wrong("M350", of_token(place=lambda n, longest: n + 1)),
    Wrong("M350", scores_without_width),
    Wrong("M356", logits_in_each_layer),
    Wrong("M359", without_a_cache),
    Wrong("M359", every_token_again),
    Wrong("M359", every_map_again),
    Wrong("M359", keys_and_values_again),
    Wrong("M359", logits_of_every_token),
]  # fmt: skip


# 15.5 ---------------------------------------------------------------------------------------


def is_mask(name):
    return name.endswith((".attn.bias", ".attn.masked_bias"))


def read_off(file):
    return counted_in(file, lambda name, shape: not is_mask(name) and name != "lm_head.weight")


def counted_in(file, keep):
    """Add up the sizes of those tensors that a misconception keeps."""
    return sum(math.prod(shape) for name, shape in file.items() if keep(name, shape))


def stored(vocab, longest, d_model, layers, *, tied_twice, masked):
    """Names and shapes of a GPT-2 as its file has them; older files hold the mask as well."""
    file = {"wte.weight": (vocab, d_model), "wpe.weight": (longest, d_model)}
    for i in range(layers):
        block = {
            "ln_1": d_model, "attn.c_attn": (d_model, 3 * d_model),
            "attn.c_proj": (d_model, d_model), "ln_2": d_model,
            "mlp.c_fc": (d_model, 4 * d_model), "mlp.c_proj": (4 * d_model, d_model),
        }  # fmt: skip
        for name, shape in block.items():
            shape = shape if isinstance(shape, tuple) else (shape,)
            file |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[-1:]}
        if masked:
            file |= {f"h.{i}.attn.bias": (1, 1, longest, longest), f"h.{i}.attn.masked_bias": ()}
    file |= {"ln_f.weight": (d_model,), "ln_f.bias": (d_model,)}
    return file | {"lm_head.weight": (vocab, d_model)} if tied_twice else file


def file_cases(rng):
    drawn = rng.integers((5, 4, 3, 1), (40, 30, 20, 5)).tolist()
    return [
        Case((stored(7, 5, 4, 1, tied_twice=True, masked=True),), about="a GPT-2 of one layer"),
        Case((stored(11, 3, 2, 2, tied_twice=False, masked=True),),
             about="one of two layers, without the second name for the table"),
        Case((stored(50257, 1024, 768, 12, tied_twice=True, masked=True),), about="GPT-2 small"),
        Case((stored(*drawn, tied_twice=True, masked=True),), about=f"one of {drawn[-1]} layers"),
    ]  # fmt: skip


def drawn_file_cases(rng):
    """A file of other sizes without the second name for the table."""
    drawn = rng.integers((5, 4, 3, 1), (40, 30, 20, 5)).tolist()
    about = f"one of {drawn[-1]} layers, without the second name for the table"
    return [Case((stored(*drawn, tied_twice=False, masked=True),), about=about)]


def keeping(keep):
    return lambda file: counted_in(file, keep)


def second_name_read(file):
    """The matrix under its second name taken off, which some files lack."""
    every = counted_in(file, lambda name, shape: not is_mask(name))
    return every - math.prod(file["lm_head.weight"])


def length_taken_off(file):
    every = counted_in(file, lambda name, shape: not is_mask(name))
    return every - len(file.get("lm_head.weight", ()))


def learned(file):
    return {name: shape for name, shape in file.items()
            if not is_mask(name) and name != "lm_head.weight"}  # fmt: skip


FILE_WRONG = [
    Wrong("M357", len),
    Wrong("M357", lambda file: len(learned(file))),
    Wrong("M357", lambda file: sum(sum(shape) for shape in learned(file).values())),
    Wrong("M357", lambda file: 4 * read_off(file)),
    Wrong("M355", lambda file: read_off(file) - math.prod(file["wpe.weight"])),
    Wrong("M355", keeping(lambda name, shape: ".ln_" not in name
                          and not is_mask(name) and name != "lm_head.weight")),
    Wrong("M353", keeping(lambda name, shape: name not in
                          ("h.0.attn.bias", "h.0.attn.masked_bias", "lm_head.weight"))),
    Wrong("M353+M983", keeping(lambda name, shape: True)),
    Wrong("M353", keeping(lambda name, shape: name != "lm_head.weight")),
    Wrong("M353", keeping(lambda name, shape: not name.endswith(".attn.bias")
                          and name != "lm_head.weight")),
    Wrong("M353", keeping(lambda name, shape: not name.endswith(".attn.masked_bias")
                          and name != "lm_head.weight")),
    Wrong("M983", keeping(lambda name, shape: not is_mask(name))),
    Wrong("M1345", second_name_read),
    Wrong("M983", keeping(lambda name, shape: not is_mask(name)
                          and name not in ("lm_head.weight", "wte.weight"))),
    Wrong("M355", keeping(lambda name, shape: not is_mask(name) and name.startswith("h."))),
    Wrong("M1242", keeping(lambda name, shape: not name.endswith(("attn.bias", "masked_bias"))
                          and name != "lm_head.weight")),
    Wrong("M1242+M983", keeping(
        lambda name, shape: not name.endswith(("attn.bias", "masked_bias")))),
    *(Wrong(f"M1242+M357{rest}", lambda file, also=also: sum(
        sum(shape) for name, shape in file.items()
        if not name.endswith(("attn.bias", "masked_bias")) and name != also))
      for rest, also in (("", "lm_head.weight"), ("+M983", ""))),
    Wrong("M1396", length_taken_off),
    Wrong("M353+M1242", keeping(lambda name, shape: "attn.bias" not in name
                               and name != "lm_head.weight")),
    Wrong("M355", keeping(lambda name, shape: len(shape) == 2 and name != "lm_head.weight")),
    Wrong("M355", keeping(lambda name, shape: not name.endswith("bias")
                          and name != "lm_head.weight")),
    Wrong("M355", keeping(lambda name, shape: not ("attn" in name and name.endswith("bias"))
                          and name != "lm_head.weight")),
]  # fmt: skip


# 15.6 ---------------------------------------------------------------------------------------

FALSE = {"A", "D", "F"}
MISJUDGED = ("M351", "M968", "M969", "M970", "M971", "M972", "M973")
FALSE_WRONG = [
    Wrong(number, FALSE ^ {letter}) for number, letter in zip(MISJUDGED, "ABCDEFG", strict=True)
]


EXERCISE = Exercise(
    chapter="15",
    title="Counting parameters",
    tasks=[
        Task(
            id="15.1", name="rows", title="The rows of the ledger", difficulty=2, importance=5,
            minutes=10, reference=rows, cases=row_cases, wrong=ROWS_WRONG,
            read=f"{PAGE}#count-a-decoder",
        ),
        Task(
            id="15.2", name="total", title="Count a decoder, to the last number", difficulty=3,
            importance=4, minutes=15, reference=total, cases=total_cases,
            graded_cases=drawn_total_cases, wrong=TOTAL_WRONG,
            read=f"{DEEPER}#what-that-count-leaves-out",
        ),
        Task(
            id="15.3", name="memory", title="Bytes to run it, bytes to train it", difficulty=2,
            importance=4, minutes=10, reference=memory, cases=memory_cases,
            read=f"{PAGE}#from-parameters-to-bytes",
            wrong=[
                Wrong("M1241", lambda p, b, adam: memory(p, b, adam, gradients=0)),
                Wrong("M1240", lambda p, b, adam: memory(p, b, adam, means=1)),
                Wrong("M1240", lambda p, b, adam: memory(p, b, adam, means=0)),
                Wrong("M1240+M1241", lambda p, b, adam: memory(p, b, adam, gradients=0, means=1)),
                Wrong("M1240+M1241", lambda p, b, adam: (p * b, p * b)),
                Wrong("M1243", lambda p, b, adam: memory(p, b, b)),
                Wrong("M1244", lambda p, b, adam: memory(p, b, adam, gradients=0, means=3)),
                Wrong("M1244", lambda p, b, adam: memory(p, b, adam, means=3)),
                Wrong("M352", lambda p, b, adam: (p * b, p * b + 2 * p * b * adam)),
                Wrong("M341", lambda p, b, adam: memory(p, 1, 1)),
                Wrong("M341", lambda p, b, adam: (p, p)),
                *(Wrong("M1346", lambda *sizes, unit=unit: in_units(unit, *sizes))
                  for unit in UNITS),
                *(Wrong("M1346+M1347", lambda *sizes, unit=unit: in_units(unit, *sizes)[::-1])
                  for unit in UNITS),
            ],
        ),
        Task(
            id="15.4", name="multiply_adds", title="What one token costs", difficulty=3,
            importance=4, minutes=10, reference=multiply_adds, cases=operation_cases,
            wrong=OPERATIONS_WRONG, read=f"{PAGE}#two-operations-for-each-parameter",
        ),
        Task(
            id="15.5", name="read_off", title="Read the count off a file", difficulty=3,
            importance=5, minutes=10, reference=read_off, cases=file_cases, wrong=FILE_WRONG,
            graded_cases=drawn_file_cases, read=f"{PAGE}#in-a-real-model",
        ),
        Task(
            id="15.6", name="false", title="Find the false numbers", difficulty=2, importance=4,
            minutes=10, reference=FALSE, read=f"{PAGE}#where-the-parameters-are",
            wrong=FALSE_WRONG,
        ),
    ],
)  # fmt: skip
