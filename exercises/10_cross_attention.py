"""Cross-attention: the checks."""

import numpy as np
from array_api_compat import array_namespace

from checks import Case, Exercise, Law, Task, Wrong
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.datasets import toy_translation

PAGE = "chapters/10_cross_attention.html"
DEEPER = "chapters/10_cross_attention_deeper.html"


def softmax(scores, axis=-1):
    """Softmax with an axis to get wrong; the scores here never need the maximum subtracted."""
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis, keepdims=True)


def like(values, array):
    """NumPy numbers as an array of the learner's library, in the precision of another."""
    return array_namespace(array).asarray(values, dtype=array.dtype)


# 10.1 ---------------------------------------------------------------------------------------


def cross_shapes(n_target, n_source, d_model, d_source, d_k, d_v):
    return {
        "w_q": (d_model, d_k),
        "w_k": (d_source, d_k),
        "w_v": (d_source, d_v),
        "weights": (n_target, n_source),
        "output": (n_target, d_v),
    }


def shape_cases(rng):
    drawn = tuple(rng.integers(2, 40, size=6).tolist())
    sizes = [(5, 7, 12, 20, 3, 4), (11, 2, 8, 6, 13, 5), drawn]
    words = "{} target words of width {}, {} source words of width {}, d_k = {}, d_v = {}"
    return [
        Case(size, about=words.format(*(size[i] for i in (0, 2, 1, 3, 4, 5)))) for size in sizes
    ]


def but(**wrong):
    """The right shapes with some of them replaced, each by a function of the sizes."""

    def answer(*sizes):
        return cross_shapes(*sizes) | {name: shape(*sizes) for name, shape in wrong.items()}

    return answer


SHAPES_WRONG = [
    Wrong("M130", but(
        w_k=lambda nt, ns, d, s, k, v: (d, k), w_v=lambda nt, ns, d, s, k, v: (d, v))),
    Wrong("M131", but(output=lambda nt, ns, d, s, k, v: (ns, v))),
    Wrong("M1126", but(weights=lambda nt, ns, d, s, k, v: (ns, nt))),
    Wrong("M46", but(
        w_k=lambda nt, ns, d, s, k, v: (d, k), weights=lambda nt, ns, d, s, k, v: (nt, nt))),
    Wrong("M45", but(w_v=lambda nt, ns, d, s, k, v: (d, v))),
    Wrong("M46", but(weights=lambda nt, ns, d, s, k, v: (nt, nt))),
    Wrong("M47", but(
        w_q=lambda nt, ns, d, s, k, v: (s, k), weights=lambda nt, ns, d, s, k, v: (ns, ns),
        output=lambda nt, ns, d, s, k, v: (ns, v))),
    Wrong("M45+M46", but(
        w_k=lambda nt, ns, d, s, k, v: (d, k), w_v=lambda nt, ns, d, s, k, v: (d, v),
        weights=lambda nt, ns, d, s, k, v: (nt, nt))),
    Wrong("M45+M46+M47", but(
        w_q=lambda nt, ns, d, s, k, v: (s, k), w_k=lambda nt, ns, d, s, k, v: (d, k),
        w_v=lambda nt, ns, d, s, k, v: (d, v), weights=lambda nt, ns, d, s, k, v: (ns, nt),
        output=lambda nt, ns, d, s, k, v: (ns, v))),
    Wrong("M1126+M131", but(
        weights=lambda nt, ns, d, s, k, v: (ns, nt), output=lambda nt, ns, d, s, k, v: (ns, v))),
    Wrong("M1127", but(
        w_q=lambda nt, ns, d, s, k, v: (k, d), w_k=lambda nt, ns, d, s, k, v: (k, s),
        w_v=lambda nt, ns, d, s, k, v: (v, s))),
    Wrong("M313", but(
        w_q=lambda nt, ns, d, s, k, v: (nt, k), w_k=lambda nt, ns, d, s, k, v: (ns, k),
        w_v=lambda nt, ns, d, s, k, v: (ns, v))),
]  # fmt: skip


# 10.2 ---------------------------------------------------------------------------------------


def cross_attention(x, source, w_q, w_k, w_v):
    return attend(x @ w_q, source @ w_k, source @ w_v).output


def cross_cases(rng):
    def draw(*leading, target, source, d_model, d_source, d_k, d_v):
        about = f"{target} target tokens of width {d_model}, {source} source tokens of width"
        about += f" {d_source}, d_k = {d_k}, d_v = {d_v}"
        about += f", a batch of {' x '.join(map(str, leading))}" if leading else ""
        sequences = [rng.normal(size=(*leading, n, d))
                     for n, d in [(target, d_model), (source, d_source)]]  # fmt: skip
        widths = [(d_model, d_k), (d_source, d_k), (d_source, d_v)]
        maps = [rng.normal(size=shape) / np.sqrt(shape[0]) for shape in widths]
        return Case((*sequences, *maps), about=about)

    # Equal lengths and widths first: there a swap gives numbers and not an error.
    return [
        draw(target=2, source=2, d_model=2, d_source=2, d_k=2, d_v=2),
        draw(target=2, source=3, d_model=5, d_source=5, d_k=3, d_v=2),
        draw(target=3, source=5, d_model=2, d_source=7, d_k=4, d_v=3),
        draw(2, target=3, source=5, d_model=4, d_source=7, d_k=3, d_v=2),
        draw(2, 3, target=3, source=4, d_model=2, d_source=3, d_k=2, d_v=5),
    ]


def mixed(q, k, v, *, width=None, axis=-1):
    """Attention in plain NumPy, so that a misconception fails with the learner's own message."""
    table = q @ np.swapaxes(k, -1, -2) / np.sqrt(width or q.shape[-1])
    return softmax(table, axis) @ v


CROSS_WRONG = [
    Wrong("M45", lambda x, s, q, k, v: mixed(x @ q, s @ k, x @ v)),
    Wrong("M46", lambda x, s, q, k, v: mixed(x @ q, x @ k, s @ v)),
    Wrong("M47", lambda x, s, q, k, v: mixed(s @ q, s @ k, s @ v)),
    Wrong("M45+M46", lambda x, s, q, k, v: mixed(x @ q, x @ k, x @ v)),
    Wrong("M46+M47", lambda x, s, q, k, v: mixed(s @ q, x @ k, s @ v)),
    Wrong("M45+M46+M47", lambda x, s, q, k, v: mixed(s @ q, x @ k, x @ v)),
    Wrong("M08", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ k)),
    *(Wrong(numbers, lambda x, s, q, k, v, divide=divide: softmax(
        (x @ q) @ (s @ k).T / (np.sqrt(q.shape[-1]) if divide else 1)) @ (s @ v))
      for numbers, divide in (("M482", True), ("M01+M482", False))),
    Wrong("M01", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, width=1)),
    Wrong("M02", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, width=q.shape[-1] ** 2)),
    Wrong("M03", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, width=x.shape[-1])),
    Wrong("M982", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, width=s.shape[-1])),
    Wrong("M04", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, width=1 / q.shape[-1])),
    Wrong("M85", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, width=s.shape[-2])),
    Wrong("M11", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, axis=-2)),
    Wrong("M12", lambda x, s, q, k, v: mixed(x @ q, s @ k, s @ v, axis=(-2, -1))),
    Wrong("M05", lambda x, s, q, k, v: softmax(
        (x @ q) @ (s @ k) / np.sqrt(q.shape[-1])) @ (s @ v)),
    Wrong("M192", lambda x, s, q, k, v: (x @ q) @ np.swapaxes(s @ k, -1, -2)
          / np.sqrt(q.shape[-1]) @ (s @ v)),
    Wrong("M95", lambda x, s, q, k, v: mixed(x @ q, s @ k, s)),
    Wrong("M48", lambda x, s, q, k, v: attend(
        x @ q, s @ k, s @ v, np.tri(x.shape[-2], s.shape[-2], dtype=bool)).output),
]  # fmt: skip


def a_mixture_of_the_source(answer, case):
    output = np.asarray(answer(*case.args))
    values = np.asarray(case.args[1] @ case.args[4])
    low, high = values.min(-2, keepdims=True), values.max(-2, keepdims=True)
    inside = (output >= low - 1e-4) & (output <= high + 1e-4)
    inside |= np.isnan(output)  # nan lies nowhere, and other words tell of it
    return bool(inside.all()) or "some output lies outside the range of the source's values"


# 10.3 ---------------------------------------------------------------------------------------


def masked_cross(q, k, v, lengths):
    return attend(q, k, v, masks.padding(lengths, k.shape[-2])).output


def masked_cases(rng):
    def draw(query, key, d_k, d_v, lengths):
        about = f"{query} queries, sources of {lengths} real tokens filled up to {key}"
        shapes = [(len(lengths), n, d) for n, d in [(query, d_k), (key, d_k), (key, d_v)]]
        q, k, v = (rng.normal(size=shape) for shape in shapes)
        return Case((q, k, v, np.array(lengths)), about=about)

    def loud_pads(case):
        """Pads with scores of 80, which exp can take in float32, and huge values."""
        q, k, v, lengths = case.args
        pads = np.arange(k.shape[1]) >= lengths[:, None]
        q[..., 0] = 1
        k[pads], v[pads] = [80 * np.sqrt(2), 0.0], 1e9
        return Case(case.args, about=f"{case.about}; scores and values of the padding are large")

    return [
        draw(2, 3, 2, 2, [1, 2]),
        draw(2, 3, 4, 5, [2]),
        draw(3, 5, 4, 2, [5, 2]),
        draw(7, 3, 2, 5, [1, 3]),
        loud_pads(draw(3, 4, 2, 3, [2, 3])),
    ]


def hidden(allowed, *, fill=None):
    """Attention with a mask made from (queries, keys, lengths); `fill` is what is hidden with."""

    def answer(q, k, v, lengths):
        mask = allowed(q.shape[1], k.shape[1], lengths)
        if fill is None:
            return attend(q, k, v, mask).output
        table = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        if fill == "after":
            return softmax(table) * mask @ v
        return softmax(np.where(mask, table, fill)) @ v

    return answer


def hidden_by(amount):
    """A fixed number subtracted from the scores of the padding."""

    def answer(q, k, v, lengths):
        table = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        table = table - amount * ~real(q.shape[1], k.shape[1], lengths)
        return softmax(table - table.max(-1, keepdims=True)) @ v

    return answer


def real(query, key, lengths):
    return np.broadcast_to(masks.padding(lengths, key), (len(lengths), query, key))


def past(query, key, lengths):
    return np.broadcast_to(np.tri(query, key, dtype=bool), (len(lengths), query, key))


def rows(query, key, lengths):
    short = np.arange(query)[None, :, None] < lengths[:, None, None]
    return np.broadcast_to(short, (len(lengths), query, key))


def for_all(length):
    """The mask of one length, chosen from all, for every sentence."""
    return lambda query, key, lengths: real(query, key, 0 * lengths + length(lengths))


def short_targets(q, k, v, lengths):
    """The right output, but 0 for each target token beyond the length of its source."""
    shown = np.arange(q.shape[1]) < lengths[:, None]
    return masked_cross(q, k, v, lengths) * shown[..., None]


MASK_WRONG = [
    Wrong("M1128", short_targets),
    Wrong("M49", lambda q, k, v, lengths: attend(q, k, v).output),
    Wrong("M48", hidden(lambda q, k, n: real(q, k, n) & past(q, k, n))),
    Wrong("M48+M49", hidden(past)),
    Wrong("M27", hidden(rows)),
    Wrong("M26", hidden(lambda q, k, n: ~real(q, k, n))),
    Wrong("M26", hidden(lambda q, k, n: ~real(q, k, n), fill=-np.inf)),
    Wrong("M312", hidden(for_all(lambda lengths: lengths.max()))),
    Wrong("M312", hidden(for_all(lambda lengths: lengths[0]))),
    Wrong("M316", hidden(lambda q, k, n: real(q, k, n + 1))),
    Wrong("M1294", hidden(lambda q, k, n: real(q, k, n)[..., ::-1])),
    Wrong("M01", lambda q, k, v, n: hidden(real)(q * np.sqrt(q.shape[-1]), k, v, n)),
    *(Wrong("M1352", hidden_by(amount)) for amount in (50.0, 100.0)),
    Wrong(
        "M20+M21",
        lambda q, k, v, n: hidden(real, fill=0.0)(
            q, k, v * masks.padding(n, k.shape[1]).swapaxes(-1, -2), n
        ),
    ),
    Wrong("M20", hidden(real, fill=0.0)),
    Wrong("M21", hidden(real, fill="after")),
]


def blind_to_padding(answer, case):
    q, k, v, lengths = case.args
    key, before = k.shape[-2], np.asarray(answer(*case.args))
    pads = (np.arange(key)[None, :] >= np.asarray(lengths)[:, None])[..., None]
    changed = [array + 0 * array for array in (k, v)]
    for array in changed:
        array[np.broadcast_to(pads, array.shape)] = 3.0
    after = np.asarray(answer(q, *changed, lengths))
    return bool(np.allclose(before, after, atol=1e-4)) or "the output changes with the filling"


# 10.4 ---------------------------------------------------------------------------------------


def shift_right(answers, start):
    return np.concatenate([np.full((len(answers), 1), start), answers[:, :-1]], axis=1)


def shift_cases(rng):
    def draw(batch, n, start):
        about = f"{batch} sentences of {n} words, the start is {start}"
        return Case((rng.integers(1, 30, size=(batch, n)), start), about=about)

    return [draw(1, 3, 0), draw(2, 5, 0), draw(3, 2, 31)]


def start_in_one_row(roll_axis):
    """The words rolled, and the start put over the whole first sentence."""

    def wrong(answers, start):
        rolled = np.roll(answers, 1, axis=roll_axis)
        rolled[0] = start
        return rolled

    return wrong


SHIFT_WRONG = [
    Wrong("M1129", start_in_one_row(1)),
    Wrong("M311+M1129", start_in_one_row(None)),
    Wrong("M310", lambda answers, start: answers.copy()),
    Wrong("M310", lambda answers, start: np.concatenate(
        [np.full((len(answers), 1), start), answers[:, 1:]], axis=1)),
    Wrong("M311", lambda answers, start: np.concatenate(
        [np.full((1, answers.shape[1]), start), answers[:-1]])),
    Wrong("M311", lambda answers, start: np.roll(answers, 1)),
    Wrong("M311", lambda answers, start: np.roll(answers, 1, axis=0)),
    Wrong("M132", lambda answers, start: np.concatenate(
        [answers[:, 1:], np.full((len(answers), 1), start)], axis=1)),
    Wrong("M133", lambda answers, start: np.roll(answers, 1, axis=1)),
    Wrong("M134", lambda answers, start: np.concatenate(
        [np.full((len(answers), 1), start), answers], axis=1)),
    Wrong("M985", lambda answers, start: np.concatenate(
        [np.full((len(answers), 2), start), answers], axis=1)[:, : answers.shape[1]]),
]  # fmt: skip


# 10.5 ---------------------------------------------------------------------------------------

WORDS, END = 9, 0


def read(source):
    """An encoder: it notes the words in the order in which they are to be written, backwards."""
    return array_namespace(source).flip(source)


def next_word(memory, written):
    """Scores of the next word: that of the memory whose turn it is, and then the end."""
    if not hasattr(memory, "shape"):
        raise TypeError("step takes what encode returned, and then the list of the words so far")
    done = np.atleast_1d(written).size
    best = int(memory[done]) if done < len(memory) else END
    scores = np.cos(np.arange(WORDS) - best)
    return scores if isinstance(memory, np.ndarray) else array_namespace(memory).asarray(scores)


def greedy(encode, step, source, end, longest):
    memory, written = encode(source), []
    while len(written) < longest and (not written or written[-1] != end):
        written.append(int(np.argmax(step(memory, written))))
    return written


def writing_cases(rng):
    def draw(n, longest, about):
        source = rng.permutation(np.arange(1, WORDS))[:n]
        return Case((read, next_word, source, END, longest), about=about)

    return [
        draw(3, 10, "three words to be written backwards, the end is 0"),
        draw(5, 10, "five words, the end is 0"),
        draw(5, 3, "five words, and room for three"),
    ]


def with_the_last_word(encode, step, source, end, longest):
    return greedy(encode, lambda memory, written: step(memory, written[-1:]), source, end, longest)


def reading_again(encode, step, source, end, longest):
    return greedy(lambda s: s, lambda s, written: step(encode(s), written), source, end, longest)


def without_the_end(encode, step, source, end, longest):
    return [word for word in greedy(encode, step, source, end, longest) if word != end]


def without_reading(encode, step, source, end, longest):
    return greedy(lambda source: source, step, source, end, longest)


def the_best_score(encode, step, source, end, longest):
    memory, written = encode(source), []
    while len(written) < longest and (not written or written[-1] != end):
        written.append(float(max(step(memory, written))))
    return written


def read_once(answer, case):
    encode, *rest = case.args
    calls = []

    def counted(source):
        calls.append(source)
        return encode(source)

    answer(counted, *rest)
    return len(calls) <= 1 or f"the source was read {len(calls)} times"


# 10.6 ---------------------------------------------------------------------------------------


def links(table):
    return frozenset(map(tuple, np.argwhere(table).tolist()))


def error_rate(predicted, sure, possible):
    return toy_translation.alignment_error_rate(links(predicted), links(sure), links(possible))


def precision_and_recall(predicted, sure, possible):
    return (predicted & possible).sum() / predicted.sum(), (predicted & sure).sum() / sure.sum()


def link_cases(rng):
    def draw(target, source):
        sure = np.eye(target, source, dtype=bool)
        possible = sure | (rng.random((target, source)) < 0.3)
        predicted = np.eye(source, dtype=bool)[rng.integers(0, source, size=target)]
        predicted[0] = sure[0]  # something is right
        predicted[-1, 0] = predicted[-1, 1] = True  # and one word has more than one link
        return Case(
            (predicted, sure, possible), about=f"{target} target words, {source} source words"
        )

    by_hand = [[[0, 1], [0, 1]], [[1, 0], [0, 1]], [[1, 1], [0, 1]]]
    example = Case(tuple(np.array(table, dtype=bool) for table in by_hand),
                   about="la voiture and the car, as in the chapter")  # fmt: skip
    return [example, draw(5, 7), draw(7, 3)]


RATE_WRONG = [
    Wrong("M1361", lambda a, s, p: 1 - ((a == s).sum() + (a == p).sum()) / (a.sum() + s.sum())),
    Wrong("M1362", lambda a, s, p: 1 - 2 * (a & p).sum() / (a.sum() + s.sum())),
    Wrong("M1403", lambda a, s, p: 1 - ((a & s).sum() + (a & p).sum()) / (a | s).sum()),
    Wrong("M138", lambda a, s, p: 1 - 2 * (a & s).sum() / (a.sum() + s.sum())),
    Wrong("M139", lambda a, s, p: 1 - (a & p).sum() / a.sum()),
    Wrong("M139+M151", lambda a, s, p: (a & p).sum() / a.sum()),
    Wrong("M1296", lambda a, s, p: 1 - (a & p).sum() / (a.sum() + s.sum())),
    Wrong("M1296", lambda a, s, p: 1 - (a & s).sum() / (a.sum() + s.sum())),
    Wrong(
        "M1297",
        lambda a, s, p: np.mean(1 - ((a & s).sum(1) + (a & p).sum(1)) / (a.sum(1) + s.sum(1))),
    ),
    Wrong("M1298", lambda a, s, p: 1 - (s.sum() + p.sum()) / (a.sum() + s.sum())),
    Wrong("M331", lambda a, s, p: 1 - (a & s).sum() / a.sum()),
    Wrong("M331+M151", lambda a, s, p: (a & s).sum() / a.sum()),
    Wrong("M150", lambda a, s, p: 1 - (a & s).sum() / s.sum()),
    Wrong("M150+M151", lambda a, s, p: (a & s).sum() / s.sum()),
    Wrong("M317", lambda a, s, p: 1 - ((a & s).sum() + (a & p).sum()) / (a.sum() + p.sum())),
    Wrong("M318", lambda a, s, p: 1 - np.mean(precision_and_recall(a, s, p))),
    Wrong("M318", lambda a, s, p: 1 - 2 / sum(1 / x for x in precision_and_recall(a, s, p))),
    Wrong("M151", lambda a, s, p: ((a & s).sum() + (a & p).sum()) / (a.sum() + s.sum())),
    Wrong("M1131", lambda a, s, p: 1 - (a & s).sum() + (a & p).sum() / a.sum() + s.sum()),
    Wrong("M1131", lambda a, s, p: 1 - ((a & s).sum() + (a & p).sum() / a.sum() + s.sum())),
    Wrong("M1131", lambda a, s, p: 1 - ((a & s).sum() + (a & p).sum()) / a.sum() + s.sum()),
    Wrong("M1058", lambda a, s, p: 1 - (a & s).sum() + (a & p).sum() / (a.sum() + s.sum())),
    Wrong("M1058", lambda a, s, p: 1 - ((a & s).sum() + (a & p).sum() / (a.sum() + s.sum()))),
]


# 10.7 ---------------------------------------------------------------------------------------


def share_changed(decode, memory):
    return np.mean(decode(memory).argmax(-1) != decode(np.zeros_like(memory)).argmax(-1))


def ablation_cases(rng):
    def draw(target, source, width, vocab, strength):
        x, w = rng.normal(size=(target, width)), rng.normal(size=(width, vocab))

        def decode(memory):
            ours, out = like(x, memory), like(w, memory)
            return (ours + strength * attend(ours, memory, memory).output) @ out

        about = f"{target} target words, {source} source words, a vocabulary of {vocab}"
        return Case((decode, rng.normal(size=(source, width))), about=about)

    def until(share, strength, about):
        """Cases are drawn until this share of the words changes."""
        while True:
            case = draw(4, 3, 4, 7, strength)
            if share_changed(*case.args) == share:
                return Case(case.args, about=f"{case.about}; {about}")

    return [
        draw(3, 2, 4, 5, 2.0),
        draw(11, 3, 4, 7, 1.0),
        draw(7, 5, 6, 13, 3.0),
        until(0, 0.01, "no best word changes"),
        until(1, 5.0, "every best word changes"),
    ]


def _best(scores):
    return scores.argmax(-1)


def compared(of, reduce=np.mean, instead=np.zeros_like):
    """Something else compared than the best words, or otherwise, or with another memory."""
    return lambda decode, memory: float(reduce(of(decode(memory)) != of(decode(instead(memory)))))


def by_sets(union):
    def answer(decode, memory):
        a, b = (set(_best(decode(some)).tolist()) for some in (memory, 0 * memory))
        return len(a - b) / len(a | b if union else a)

    return answer


ABLATION_WRONG = [
    *(Wrong("M1356", compared(_best, reduce)) for reduce in (np.any, np.all)),
    Wrong("M1357", compared(lambda scores: scores.argsort(-1))),
    Wrong("M1357", compared(lambda scores: scores.argsort(-1), lambda far: far.any(-1).mean())),
    Wrong("M1358", compared(np.sign)),
    Wrong("M1359", by_sets(union=False)),
    Wrong("M1359", by_sets(union=True)),
    Wrong("M1360", compared(_best, instead=np.ones_like)),
    Wrong("M152", lambda decode, memory: np.mean(
        (decode(memory) != decode(0 * memory)).any(-1))),
    Wrong("M153", lambda decode, memory: np.mean(
        decode(memory).argmax(-1) == decode(0 * memory).argmax(-1))),
    Wrong("M154", lambda decode, memory: np.mean(
        decode(memory).argmax(-1) != decode(memory[::-1]).argmax(-1))),
    Wrong("M1299", lambda decode, memory: float(
        decode(memory).argmax() != decode(0 * memory).argmax())),
    Wrong("M319", lambda decode, memory: np.mean(
        decode(memory).argmax(0) != decode(0 * memory).argmax(0))),
    *(Wrong(number, lambda decode, memory, axis=axis: np.sum(
        decode(memory).argmax(axis) != decode(0 * memory).argmax(axis)))
      for number, axis in (("M1221", -1), ("M319+M1221", 0))),
]  # fmt: skip


def ablation_sizes(case):
    decode, memory = case.args
    rows, words = decode(memory).shape
    return {"the number of target words": rows, "the number of scores": rows * words}


EXERCISE = Exercise(
    chapter="10",
    title="Cross-attention",
    tasks=[
        Task(
            id="10.1", name="cross_shapes", title="Predict every shape", difficulty=1,
            importance=4, minutes=5, reference=cross_shapes, cases=shape_cases,
            wrong=SHAPES_WRONG, read=f"{PAGE}#two-sequences-one-function",
        ),
        Task(
            id="10.2", name="cross_attention", title="Cross-attention with its projections",
            difficulty=2, importance=5, minutes=10, reference=cross_attention, cases=cross_cases,
            wrong=CROSS_WRONG, read=f"{PAGE}#two-sequences-one-function",
            laws=[Law("M45", "outputs are mixtures of the source's values",
                      a_mixture_of_the_source)],
        ),
        Task(
            id="10.3", name="masked_cross", title="Mask what must be masked", difficulty=3,
            importance=5, minutes=10, reference=masked_cross, cases=masked_cases,
            wrong=MASK_WRONG, read=f"{PAGE}#what-may-be-seen",
            laws=[Law("M49", "the filling of the source plays no part", blind_to_padding)],
        ),
        Task(
            id="10.4", name="shift_right", title="The decoder's input from its answers",
            difficulty=2, importance=4, minutes=5, reference=shift_right, cases=shift_cases,
            wrong=SHIFT_WRONG, read=f"{PAGE}#the-shifted-target",
        ),
        Task(
            id="10.5", name="greedy", title="Write greedily, read once", difficulty=3,
            importance=4, minutes=15, reference=greedy, cases=writing_cases,
            read=f"{DEEPER}#read-once-write-many-times",
            wrong=[
                Wrong("M135", with_the_last_word),
                Wrong("M1130", the_best_score),
                Wrong("M1306", lambda *args: []),
                Wrong("M136", reading_again),
                Wrong("M137", lambda encode, step, source, end, longest: greedy(
                    encode, step, source, None, longest)),
                Wrong("M155", without_the_end),
                Wrong("M314", without_reading),
                Wrong("M315", lambda encode, step, source, end, longest: greedy(
                    encode, step, source, end, 99)),
            ],
            laws=[Law("M136", "the source is read once", read_once)],
        ),
        Task(
            id="10.6", name="error_rate", title="The alignment error rate", difficulty=2,
            importance=3, minutes=10, reference=error_rate, cases=link_cases, wrong=RATE_WRONG,
            read=f"{DEEPER}#measuring-an-alignment",
        ),
        Task(
            id="10.7", name="share_changed", title="Take the encoder away", difficulty=3,
            importance=3, minutes=10, reference=share_changed, cases=ablation_cases,
            wrong=ABLATION_WRONG, constants=ablation_sizes,
            read=f"{DEEPER}#take-the-encoder-away",
        ),
    ],
)  # fmt: skip
