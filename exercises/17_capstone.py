"""GPT-2 from an empty file: the checks.

The model and its mistakes stand in `gpt2_by_parts.py`, the laws of the whole in `laws_of_gpt2.py`,
training, cache, sampling and report in `own_gpt.py`.
"""

import functools
import math
import sys
from itertools import pairwise

import numpy as np

from checks import Case, Exercise, Law, Task, Wrong
from checks.capstone_drivers import (
    hand_over_report,
    read_in_parts,
    train_from_nothing,
)
from checks.measures import own_model, own_report, write_by_steps
from checks.run.plain_data import is_tensor
from exercises.frames import FRAMES
from exercises.gpt2_by_parts import (
    ATTENDS,
    MODELS,
    NORMS,
    OF_THE_SCORES,
    THINKS,
    attention,
    block,
    chosen,
    gpt2,
    loss,
    softmax,
    surprise,
    weighed,
)  # fmt: skip
from exercises.laws_of_gpt2 import LAWS, near, of_same_library, table, without_a_key
from exercises.own_gpt import (
    READ_WRONG,
    REPORT_WRONG,
    TRAIN_WRONG,
    WRITE_WRONG,
    follows_the_draws,
    read_on,
    report,
    sampling_cases,
    train,
    training_cases,
    write,
)


def wrongs(numbers):
    """Pairs of a misconception and what it would answer, as the engine wants them."""
    return [Wrong(number, answer) for number, answer in numbers]


# models -------------------------------------------------------------------------------------------


def maps(rng, sizes):
    """Weights that keep numbers at about their size, with biases that matter."""
    p = {}
    for name, (rows, columns) in sizes.items():
        p[f"{name}.weight"] = rng.normal(size=(rows, columns)) / math.sqrt(rows)
        p[f"{name}.bias"] = rng.normal(size=columns) / 3
    return p


def layer(rng, d_model, place=""):
    """The parameters of one layer as GPT-2's file names them; no bias is 0 and no gain is 1."""
    p = {}
    for name in ("ln_1", "ln_2"):
        p |= dress(rng, d_model, name)
    sizes = {"attn.c_attn": 3, "attn.c_proj": 1, "mlp.c_fc": 4}
    shapes = {name: (d_model, by * d_model) for name, by in sizes.items()}
    p |= maps(rng, shapes | {"mlp.c_proj": (4 * d_model, d_model)})
    return {f"{place}{name}": array for name, array in p.items()}


def dress(rng, d_model, name):
    gain, bias = rng.normal(1, 0.3, size=d_model), rng.normal(size=d_model) / 3
    return {f"{name}.weight": gain, f"{name}.bias": bias}


# 17.1 ---------------------------------------------------------------------------------------------


def model_of(rng, layers, d_model, vocab, longest):
    """The parameters of a whole model, drawn at random."""
    # Small rows, so that the epsilon of the first norms counts too.
    p = {"wte.weight": rng.normal(size=(vocab, d_model)) / 20,
         "wpe.weight": rng.normal(size=(longest, d_model)) / 20}  # fmt: skip
    for i in range(layers):
        p |= layer(rng, d_model, f"h.{i}.")
    return p | dress(rng, d_model, "ln_f")


def model_cases(rng):
    def draw(*shape, layers, heads, d_k, vocab, longest):
        p = model_of(rng, layers, heads * d_k, vocab, longest)
        sizes = f"d_k = {d_k}, {vocab} words, {longest} positions"
        about = f"ids of shape {shape}; {counted(layers, 'layer')}, {heads} heads, {sizes}"
        return Case((rng.integers(vocab, size=shape), p, heads), about=about)

    return [
        by_hand(),
        draw(5, layers=1, heads=2, d_k=3, vocab=7, longest=11),
        draw(7, layers=3, heads=2, d_k=5, vocab=11, longest=13),
        draw(7, 11, layers=2, heads=3, d_k=5, vocab=13, longest=17),
        draw(3, layers=11, heads=2, d_k=13, vocab=5, longest=7),
    ]


def counted(number, what):
    return f"{number} {what}" + "s" * (number != 1)


def by_hand():
    """A layer of zeros adds nothing; 0.015 and -0.015 among zeros become 3/2 and -3/2."""
    words = np.array([[1.0, -1, 0, 0, 0], [0, 1, -1, 0, 0], [0, 0, 0, 1, -1]]) / 100
    p = {name: array * 0 for name, array in layer(np.random.default_rng(0), 5, "h.0.").items()}
    p |= {"wte.weight": words, "wpe.weight": np.concatenate([words, words[:2]]) / 2}
    p |= {"ln_f.weight": np.ones(5), "ln_f.bias": np.zeros(5)}
    about = "a layer of zeros: the logits are 3/100 on the diagonal, -3/200 beside it, and 0"
    return Case((np.arange(3), p, 1), about=about)


# 17.3 ---------------------------------------------------------------------------------------------


def reading_cases(rng):
    def draw(n, *cuts, layers, heads, d_k, vocab, longest):
        p = model_of(rng, layers, heads * d_k, vocab, longest)
        lengths = [end - start for start, end in pairwise([0, *cuts, n])]
        about = f"parts of {lengths} tokens; {counted(layers, 'layer')}, {heads} heads"
        return Case((rng.integers(vocab, size=n), p, heads, cuts), about=about)

    return [draw(4, 2, 3, layers=1, heads=2, d_k=3, vocab=7, longest=11),
            draw(11, 3, 4, 6, layers=2, heads=3, d_k=5, vocab=13, longest=17)]  # fmt: skip


# 17.6 ---------------------------------------------------------------------------------------------


def attention_cases(rng):
    def draw(*shape, heads, steady=False):
        d_model = shape[-1]
        p = maps(rng, {"c_attn": (d_model, 3 * d_model), "c_proj": (d_model, d_model)})
        if steady:  # queries of zeros compare all keys alike
            p["c_attn.weight"][:, :d_model] = p["c_attn.bias"][:d_model] = 0
        about = f"x of shape {shape}, {heads} heads"
        about += ", no queries: each token takes the plain mean up to itself" if steady else ""
        return Case((rng.normal(size=shape), p, heads), about=about)

    return [draw(3, 4, heads=2, steady=True), draw(5, 6, heads=2), draw(2, 5, 21, heads=3)]


def future_unseen(answer, case):
    x, p, heads = case.args
    other = x + 0
    other[..., -1, :] = other[..., -1, :] + 1
    first, second = (table(answer, x, p, heads)[..., :-1, :] for x in (x, other))
    return near(first, second)


def nobody_else(answer, case):
    """The first token can attend to itself alone, whatever the scores."""
    x, p, heads = case.args
    rows = table(answer, x, p, heads)
    alone = table(answer, x[..., :1, :], p, heads)
    return without_a_key(rows) or near(rows[..., :1, :], alone)


# 17.7 ---------------------------------------------------------------------------------------------


def block_cases(rng):
    def draw(*shape, heads):
        about = f"a stream of shape {shape}, {heads} heads"
        return Case((rng.normal(size=shape), layer(rng, shape[-1]), heads), about=about)

    return [draw(3, 10, heads=5), draw(2, 5, 21, heads=3)]


def silent(answer, case):
    """A layer whose last maps are 0 adds nothing."""
    x, p, heads = case.args
    mute = {name: array * ("c_proj" not in name) for name, array in p.items()}
    return near(table(lambda: x), table(answer, x, mute, heads))


# 17.8 ---------------------------------------------------------------------------------------------


def loss_cases(rng):
    def draw(*shape, vocab):
        logits, ids = rng.normal(size=(*shape, vocab)), rng.integers(vocab, size=shape)
        return Case((logits, ids), about=f"logits of shape {logits.shape}")

    arguments = np.log([[1.0, 2, 3], [1, 4, 5], [7, 1, 1]]), np.array([0, 1, 2])
    sure = np.array([[0.0, -900, 1], [1, 0, -1], [0, 0, 0]]), np.array([0, 1, 0])
    high = rng.normal(size=(3, 5)) + 1000, np.array([3, 1, 4])
    steps = rng.normal(size=(3, 5)) + np.array([[900], [0], [-900]]), np.array([2, 0, 3])
    return [
        Case(arguments, about="the second token had the weight 2/6, the third 5/10"),
        Case(sure, about="a token that was thought all but impossible came next"),
        Case(high, about="every logit is near 1000"),
        Case(steps, about="the logits of the positions are far apart"),
        draw(2, 5, vocab=7),
        draw(2, 3, 5, vocab=11),
    ]


def drawn_loss_cases(rng):
    logits, ids = rng.normal(size=(4, 5)), rng.integers(5, size=4)
    place = int(rng.integers(3))
    logits[place, ids[place + 1]] -= 900
    return [Case((logits, ids), about="a token that was thought all but impossible came next")]


def alike_for_all(answer, case):
    """Logits that know nothing cost ln V."""
    logits, ids = case.args
    got = float(table(answer, logits * 0 + 3, ids))
    right = math.log(logits.shape[-1])
    return abs(got - right) < 1e-4 or f"for {logits.shape[-1]} equal logits yours is {got:.3g}"


def rolled(logits, ids, by):
    """Every prediction compared, each with a token found by going round."""
    return surprise(np.repeat(logits, 2, -2)[..., ::2, :], np.roll(ids, by, -1), 0).mean()


def joined(logits, ids, total=np.mean):
    return total(surprise(logits.reshape(-1, logits.shape[-1]), ids.ravel()))


def across_texts(logits, ids):
    """Cut along the first axis, whose rows are the texts of a batch, and picked there."""
    z, targets = logits[:-1], ids[1:]
    logs = z - z.max(-1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(-1, keepdims=True))
    return -np.mean([logs[i, target] for i, target in enumerate(targets)])


FLOORS = [*(10.0**-n for n in (*range(5, 21), 30, 37, 38, 45, 50, 100, 200, 300, 308)),
          *(np.finfo(kind).eps for kind in (np.float32, np.float64)),
          *(np.finfo(kind).tiny for kind in (np.float32, np.float64))]  # fmt: skip


def naively(logits, ids, weigh=softmax):
    picked = np.take_along_axis(weigh(logits)[..., :-1, :], ids[..., 1:, None], -1)
    return -np.log(picked).mean()


def with_floor(floor):
    """No probability below a floor, which caps what a token can cost."""
    return lambda logits, ids: naively(logits, ids, lambda z: np.clip(softmax(z), floor, None))


BOUNDS = 10, 20, 30, 50, 60, 80, 88, 100, 500, 700


def cut_off(bound, under=lambda logits: 0):
    """Logits no further than a bound from 0, or from the largest of their row."""
    return lambda logits, ids: loss(np.clip(logits - under(logits), -bound, bound), ids)


LOSS_WRONG = wrongs([
    *(("M1398", cut_off(bound)) for bound in BOUNDS),
    *(("M1398", cut_off(bound, lambda logits: logits.max(-1, keepdims=True))) for bound in BOUNDS),
    *(("M1238", with_floor(floor)) for floor in FLOORS),
    ("M60", lambda logits, ids: surprise(logits, ids, 0).mean()),
    ("M60", lambda logits, ids: surprise(logits, ids, 0)[..., :-1].mean()),
    ("M61", lambda logits, ids: surprise(logits, ids, 2).mean()),
    ("M304", lambda logits, ids: rolled(logits, ids, -1)),
    ("M305", lambda logits, ids: rolled(logits, ids, 1)),
    ("M305", lambda logits, ids: surprise(logits[..., ::-1, :], ids[..., ::-1]).mean()),
    ("M257", joined),
    ("M257+M306", functools.partial(joined, total=np.sum)),
    ("M1344", across_texts),
    ("M1344", lambda logits, ids: surprise(logits[:-1], ids[1:], 0).mean()),
    ("M306", lambda logits, ids: surprise(logits, ids).sum()),
    ("M306", lambda logits, ids: surprise(logits, ids).sum() / ids.size),
    ("M306", lambda logits, ids: surprise(logits, ids).sum() / logits.shape[-1]),
    ("M306", lambda logits, ids: loss(logits, ids) / logits.shape[-1]),
    ("M306", surprise),
    ("M306", lambda logits, ids: surprise(logits, ids).mean(-1)),
    ("M19", lambda logits, ids: loss(softmax(logits), ids)),
    ("M167", lambda logits, ids: loss(logits, ids) / math.log(2)),
    ("M438", lambda logits, ids: -loss(logits, ids)),
    ("M439", lambda logits, ids: np.exp(loss(logits, ids))),
    ("M93", naively),
    ("M13", lambda logits, ids: naively(logits, ids, weighed)),
])  # fmt: skip


# 17.9 ---------------------------------------------------------------------------------------------


def generate(model, ids, new, longest):
    return grown(model, ids, new, longest)


def grown(model, ids, new, longest, *, window=lambda text, longest: text[-longest:],
          choose=lambda logits: logits[-1].argmax()):  # fmt: skip
    """Greedy generation, with its parts exchangeable."""
    text = np.array(ids)
    for _ in range(new):
        text = np.append(text, choose(model(window(text, longest))))
    return text


def speaker(rng, vocab, longest, d_model=5):
    """A small model of language that reads NumPy or torch, and at most `longest` tokens."""
    words, positions = rng.normal(size=(vocab, d_model)), rng.normal(size=(longest, d_model))
    out = rng.normal(size=(d_model, vocab))

    def model(ids):
        read = np.asarray(ids)
        n = read.shape[-1]
        if n > longest:
            raise ValueError(f"This model has {longest} positions, and was given {n} tokens.")
        ago = np.arange(n)[:, None] - np.arange(n)
        logits = (np.where(ago >= 0, 0.8 ** np.abs(ago), 0) @ words[read] + positions[:n]) @ out
        return sys.modules["torch"].from_numpy(logits) if is_tensor(ids) else logits

    return model


def generate_cases(rng):
    def draw(n, new, longest, vocab):
        about = f"{new} tokens after {n}, from a model of {longest} positions and {vocab} words"
        model = speaker(rng, vocab, longest)
        return Case((model, rng.integers(vocab, size=n), new, longest), about=about)

    return [draw(2, 7, 11, 13), draw(3, 11, 5, 17), draw(7, 5, 3, 19)]


def in_two_calls(answer, case):
    """Five tokens are two, and then three more."""
    model, ids, new, longest = case.args
    half = table(answer, model, ids, new // 2, longest).astype(np.int64)
    again = of_same_library(ids, half)
    return near(table(answer, model, ids, new, longest),
                table(answer, model, again, new - new // 2, longest))  # fmt: skip


def in_one_pass(model, ids, new, longest):
    return np.append(ids, model(ids[-longest:]).argmax(-1)[-new:])


GENERATE_WRONG = wrongs([
    ("M440", lambda model, ids, new, longest: grown(model, ids, new, 1)),
    ("M441", lambda *args: grown(*args, choose=lambda logits: logits[0].argmax())),
    ("M441", lambda *args: grown(*args, choose=lambda logits: logits[:, -1].argmax())),
    ("M442", lambda model, ids, new, longest: generate(model, ids, new, longest)[len(ids):]),
    ("M443", lambda model, ids, new, longest: generate(model, ids, new - 1, longest)),
    ("M443", lambda model, ids, new, longest: generate(model, ids, new + 1, longest)),
    ("M443", lambda model, ids, new, longest: generate(model, ids, new - len(ids), longest)),
    ("M444", lambda *args: grown(*args, window=lambda text, longest: text[:longest])),
    ("M445", lambda *args: grown(*args, window=lambda text, longest: text)),
    ("M450", lambda *args: grown(*args, window=lambda text, longest: text[-longest + 1:])),
    ("M446", in_one_pass),
    ("M447", lambda *args: grown(*args, choose=lambda logits: logits[-1].argmin())),
    ("M448", lambda model, ids, new, longest: generate(model, ids, new, longest)[-longest:]),
    ("M448", lambda model, ids, new, longest: generate(model, ids, new, longest)[-longest - 1 :]),
    ("M449", lambda *args: grown(*args, choose=lambda logits: logits.argmax())),
    ("M1252", lambda *args: grown(*args, choose=lambda logits: logits.argmax() % logits.shape[-1])),
])  # fmt: skip


# 17.10 --------------------------------------------------------------------------------------------

HUNTS = {"A1", "A4", "B3", "C1", "C2", "D1"}
MISJUDGED = {
    "A1": "M1010", "A2": "M1011", "A3": "M1012", "A4": "M1013", "A5": "M1014",
    "B1": "M1015", "B2": "M1016", "B3": "M1017", "B4": "M1018",
    "C1": "M1019", "C2": "M1020", "C3": "M1021", "C4": "M1022", "C5": "M1023",
    "D1": "M1024", "D2": "M1025", "D3": "M1026", "D4": "M1027", "D5": "M1028",
}  # fmt: skip
HUNTS_WRONG = [Wrong(number, HUNTS ^ {label}) for label, number in MISJUDGED.items()]
"""One label too many, or one that is missing."""


EXERCISE = Exercise(
    chapter="17",
    title="GPT-2 from an empty file",
    tasks=[
        Task(
            id="17.1", name="gpt2", title="The empty file", difficulty=5, importance=5,
            minutes=120, reference=gpt2, cases=model_cases, wrong=wrongs(MODELS), laws=LAWS,
            read="chapters/12_gpt2.html#the-whole-model-on-one-screen",
        ),
        Task(
            id="17.2", name="train", title="Initialise and train", difficulty=5, importance=5,
            minutes=90, reference=train, cases=training_cases, call=train_from_nothing,
            measure=own_model, arrays=("torch",), slow=True,
            read="chapters/13_training.html#the-program", wrong=wrongs(TRAIN_WRONG),
        ),
        Task(
            id="17.3", name="read_on", title="A cache of your own", difficulty=5, importance=4,
            minutes=60, reference=read_on, cases=reading_cases, call=read_in_parts,
            read="chapters/12_gpt2_deeper.html#what-need-not-be-computed-again",
            wrong=wrongs(READ_WRONG),
        ),
        Task(
            id="17.4", name="write", title="Sample with the cache", difficulty=4, importance=4,
            minutes=45, reference=write, cases=sampling_cases, call=write_by_steps,
            read="chapters/12_gpt2.html#from-a-row-of-logits-to-a-token",
            wrong=wrongs(WRITE_WRONG),
            laws=[Law(None, "the draws decide the text", follows_the_draws)],
        ),
        Task(
            id="17.5", name="report", title="Train it on your own text", difficulty=3,
            importance=5, minutes=60, reference=report, call=hand_over_report,
            measure=own_report, arrays=("torch",),
            read="chapters/13_training.html#a-text-of-your-own", wrong=wrongs(REPORT_WRONG),
        ),
        Task(
            id="17.6", name="attention", title="Attend", difficulty=4, importance=5, minutes=25,
            reference=attention, cases=attention_cases, wrong=wrongs(ATTENDS),
            read="chapters/09_multi_head.html#all-heads-at-once-split-and-merge",
            laws=[
                Law(None, "what comes later changes nothing before it", future_unseen),
                Law(None, "the first token attends to itself alone", nobody_else),
            ],
        ),
        Task(
            id="17.7", name="block", title="The block", difficulty=2, importance=5, minutes=10,
            reference=block, cases=block_cases, read="chapters/11_block.html#before-or-after",
            wrong=wrongs([
                *((number, functools.partial(block, frame=frame)) for number, frame in FRAMES),
                *((number, functools.partial(block, norm=norm)) for number, norm in chosen(NORMS)),
                *((number, functools.partial(block, think=think))
                  for number, think in chosen(THINKS)),
                *((number, functools.partial(block, attend=functools.partial(attention, **how)))
                  for number, how in OF_THE_SCORES),
            ]),
            laws=[Law(None, "a layer with nothing to add returns the residual stream", silent)],
        ),
        Task(
            id="17.8", name="loss", title="The loss", difficulty=3, importance=5, minutes=10,
            reference=loss, cases=loss_cases, wrong=LOSS_WRONG, graded_cases=drawn_loss_cases,
            read="chapters/12_gpt2.html#a-loss-at-every-position",
            laws=[Law(None, "equal logits cost ln V", alike_for_all)],
        ),
        Task(
            id="17.9", name="generate", title="Write on", difficulty=3, importance=4, minutes=10,
            reference=generate, cases=generate_cases, wrong=GENERATE_WRONG,
            read="chapters/12_gpt2.html#from-a-row-of-logits-to-a-token",
            laws=[Law(None, "in two calls as in one", in_two_calls)],
        ),
        Task(
            id="17.10", name="hunts", title="Four hunts", difficulty=3, importance=5, minutes=25,
            reference=HUNTS, wrong=HUNTS_WRONG, read="chapters/17_capstone.html#one-hunt",
        ),
    ],
)  # fmt: skip
