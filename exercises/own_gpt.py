"""A GPT of one's own: a KV cache, sampling, training and a report, each with its usual mistakes.

What trains is judged in words, so a mistake is shown by a model or a report that has its symptom:
to name "trained too little", no model is trained too little.
"""

import functools
import itertools
import math

import numpy as np

from checks import Case
from checks.capstone_drivers import SENTENCE, VOCAB
from checks.measures import write_by_steps
from exercises.gpt2_by_parts import (
    feed_forward,
    gpt2,
    inside,
    layer_norm,
    linear,
    masked,
    merge,
    split,
    thirds,
    unembed,
)

# training -----------------------------------------------------------------------------------------


def knows_the_rule(ids):
    """The best model that there is: what may follow is equally likely, and nothing else."""
    import torch

    logits = torch.full((*ids.shape, VOCAB), -20.0)
    for place, (first, count) in enumerate(SENTENCE[1 : ids.shape[1] + 1]):
        logits[:, place, first : first + count] = 0.0
    for place in (8, 9):
        if ids.shape[1] > place:
            logits[torch.arange(len(ids)), place, ids[:, place - 3]] = 0.0
    return logits


def knows_nothing(ids):
    import torch

    return torch.zeros(*ids.shape, VOCAB)


def train(stories, first=knows_nothing, last=knows_the_rule):
    """The two functions that are asked for; a mistake puts another in the place of one."""
    return first, last


def sure_of_noise(ids):
    import torch

    return 30 * torch.sin(7.0 * ids[..., None] + torch.arange(VOCAB) ** 2)


def guesses(ids):
    return sure_of_noise(ids) / 10


def repeats_its_input(ids):
    import torch

    return 9.0 * torch.nn.functional.one_hot(ids, VOCAB)


def faintly_repeats(ids):
    """As a new model does whose last matrix is its table of embeddings."""
    return repeats_its_input(ids) / 90


def reads_ahead(ids):
    import torch

    logits = knows_the_rule(ids)
    logits[:, :-1] += 9.0 * torch.nn.functional.one_hot(ids[:, 1:], VOCAB)
    return logits


def unsure(ids):
    """The right words, among others: well below the uniform baseline, and not at the bound."""
    return knows_the_rule(ids).clamp(min=-2.5)


def against_the_gradient(ids):
    return -knows_the_rule(ids)


class ByHeart:
    """Knows some stories word by word, and of all others little or nothing."""

    def __init__(self, stories, others, logit):
        self.stories, self.others, self.logit = stories[:8], others, logit

    def __call__(self, ids):
        logits = self.others(ids)
        for story in self.stories:
            begun = (ids == story[: ids.shape[1]]).cumprod(1)[..., None]
            word = repeats_its_input(story[None, 1 : ids.shape[1] + 1])
            logits = logits.masked_fill(word * begun > 0, self.logit)
        return logits


def trained_into(last):
    return lambda stories: train(stories, last=last)


TRAIN_WRONG = [
    *(
        ("M930", lambda stories, last=last: train(stories, sure_of_noise, last))
        for last in (knows_the_rule, unsure)
    ),
    ("M931", lambda stories: train(stories, first=knows_the_rule)),
    *(
        ("M1397", lambda stories, last=last: train(stories, knows_the_rule, last))
        for last in (knows_nothing, faintly_repeats)
    ),
    ("M24", trained_into(reads_ahead)),
    ("M780", trained_into(knows_nothing)),
    ("M780", lambda stories: train(stories, first=faintly_repeats, last=faintly_repeats)),
    ("M785", trained_into(against_the_gradient)),
    ("M782", trained_into(repeats_its_input)),
    ("M784", trained_into(unsure)),
    ("M783", lambda stories: train(stories, last=ByHeart(stories, unsure, 4.0))),
    ("M783", lambda stories: train(stories, last=ByHeart(stories, guesses, 20.0))),
]


def training_cases(rng):
    about = "2,000 stories of 11 tokens, ids below 15, and 500 freshly drawn"
    return [Case((2000, int(rng.integers(1000))), about=about)]


# a cache ------------------------------------------------------------------------------------------


def append(stored, new):
    return new if stored is None else np.concatenate([stored, new], -2)


def look_back(new, total):
    return np.tri(new, total, total - new, dtype=bool)


def read_on(ids, parameters, heads, cache, *, start=lambda cache: length(cache), put=append,
            allowed=look_back, kept=lambda cache, i: cache[i]):  # fmt: skip
    """The logits of new tokens, which look back at all keys, with its parts exchangeable."""
    p, at = parameters, start(cache)
    x = p["wte.weight"][ids] + p["wpe.weight"][at : at + len(ids)]
    depth, new_cache = len({name.split(".")[1] for name in p if name.startswith("h.")}), []
    for i in range(depth):
        own = inside(p, f"h.{i}.")
        joint = linear(norm(x, own, "ln_1"), own, "attn.c_attn")
        q, *new = (split(part, heads) for part in thirds(joint, heads))
        stored = kept(cache, i) if cache else (None, None)
        keys, values = both = [put(old, part) for old, part in zip(stored, new, strict=True)]
        scores = q @ keys.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        mixed = merge(masked(scores, allowed(len(ids), keys.shape[-2])) @ values)
        x = x + linear(mixed, own, "attn.c_proj")
        x = x + feed_forward(norm(x, own, "ln_2"), inside(own, "mlp."))
        new_cache.append(both)
    return unembed(x, p), new_cache


def norm(x, p, name):
    return layer_norm(x, p[f"{name}.weight"], p[f"{name}.bias"])


def length(cache):
    return cache[0][0].shape[-2] if cache else 0


def reading_with(**how):
    return lambda ids, p, heads, cache: read_on(ids, p, heads, cache, **how)


def only_new(ids, p, heads, cache):
    """Each part for itself, at its own positions."""
    logits, new = read_on(ids, p, heads, None, start=lambda _: length(cache))
    return logits, [[append(old, part) for old, part in zip(*pair, strict=True)]
                    for pair in zip(cache, new, strict=True)] if cache else new  # fmt: skip


def last_part_kept(ids, p, heads, cache, counted=True):
    """Each part looks back at one part; with `counted`, at the positions of the whole text."""
    before, stored = cache or (0, None)
    at = before if counted else length(stored)
    logits, new = read_on(ids, p, heads, stored, start=lambda _: at)
    last = [[part[..., -len(ids) :, :] for part in both] for both in new]
    return logits, (before + len(ids), last)


def text_kept(ids, p, heads, cache):
    """All that was read, read again."""
    text = ids if cache is None else np.concatenate([cache, ids])
    return gpt2(text, p, heads)[-len(ids) :], text


def twice(stored, new):
    return append(append(stored, new), new)


def in_front(stored, new):
    return new if stored is None else np.concatenate([new, stored], -2)


def corner(new, total):
    """A triangle from the upper left corner, as if nothing had been read before."""
    return np.tri(new, total, dtype=bool)


READ_WRONG = [
    ("M250", reading_with(start=lambda cache: 0)),
    ("M262", only_new),
    ("M32", reading_with(allowed=corner)),
    ("M250+M32", reading_with(start=lambda cache: 0, allowed=corner)),
    ("M1320", reading_with(allowed=lambda new, total: np.ones((new, total), dtype=bool))),
    ("M307", reading_with(put=in_front)),
    ("M309", reading_with(put=twice, start=lambda cache: length(cache) // 2)),
    ("M933", text_kept),
    ("M934", reading_with(kept=lambda cache, i: cache[0])),
    ("M934", reading_with(kept=lambda cache, i: cache[-1])),
    ("M1149", last_part_kept),
    ("M1149", functools.partial(last_part_kept, counted=False)),
]


# sampling -----------------------------------------------------------------------------------------


def nucleus(weights, top_p):
    """How many of the likeliest tokens reach top_p together."""
    before = weights.cumsum() - weights
    return int((before < top_p).sum())


def pick(logits, temperature, top_p, draw, *, cool=lambda z, t: z / t, keep=nucleus,
         whole=lambda kept: kept.sum(), order=lambda w: np.argsort(-w), ids=True,
         arrange=lambda tokens: tokens,
         place_of=lambda sums, draw: min(int((sums <= draw).sum()), len(sums) - 1)):  # fmt: skip
    """One token: the first of the nucleus, likeliest first, whose cumulated weight passes draw."""
    if temperature == 0:
        return int(logits.argmax())
    weights = softmax(cool(logits, temperature))
    tokens = order(weights)
    tokens = arrange(tokens[: keep(weights[tokens], top_p)])
    kept = weights[tokens]
    place = place_of(kept.cumsum() / whole(kept), draw)
    return int(tokens[place]) if ids else place


def softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def write(step, ids, new, temperature, top_p, draws, *, choose=pick, row=-1, cached=True):
    """The text with new tokens sampled one by one, and each token read once."""
    text, waiting, cache = list(ids), list(ids), None
    for draw in draws[:new]:
        logits, came = step(np.array(waiting), cache)
        text.append(choose(np.asarray(logits)[row], temperature, top_p, float(draw)))
        cache, waiting = (came, text[-1:]) if cached else (None, text)
    return np.array(text)


def short_nucleus(weights, top_p):
    """Without the token that reaches top_p: none, where the likeliest reaches it alone."""
    return int((weights.cumsum() < top_p).sum())


def first_past(sums, draw):
    """An error where no sum passes draw."""
    return np.flatnonzero(sums > draw)[0]


def writing_with(cached=True, row=-1, **how):
    choose = lambda *args: pick(*args, **how)  # noqa: E731
    return lambda *args: write(*args, choose=choose, row=row, cached=cached)


def forgetful(step, *rest):
    """Only the new token, and no cache."""
    return write(lambda ids, cache: step(ids, None), *rest)


def first_cache_kept(step, ids, *rest, keep=nucleus):
    """Each new token read after the given ids alone."""
    first = []

    def read(tokens, cache):
        logits, came = step(tokens, first[0] if first else cache)
        first.append(came)
        return logits, came

    return write(read, ids, *rest, choose=functools.partial(pick, keep=keep))


def first_logits_kept(step, ids, *rest):
    """The tokens read one after the other, and the logits of the first call used."""
    first = []

    def read(tokens, cache):
        logits, came = step(tokens, cache)
        first.append(logits)
        return first[0], came

    return write(read, ids, *rest)


def first_to_reach(weights, top_p):
    """Up to the first sum that reaches top_p; rounded, none may reach 1, and then one is kept."""
    return int((weights.cumsum() >= top_p).argmax()) + 1


def read_twice(step, ids, new, temperature, top_p, draws, keep=nucleus):
    """The whole text, to a model that has most of it in its cache already."""
    text, cache = list(ids), None
    for draw in draws[:new]:
        logits, cache = step(np.array(text), cache)
        text.append(pick(np.asarray(logits)[-1], temperature, top_p, float(draw), keep=keep))
    return np.array(text)


def divided_by_zero(token):
    """Weights of nan at temperature 0, and the token that is taken then."""
    return lambda logits, temperature, *rest: (
        pick(logits, temperature, *rest) if temperature else int(token(logits))
    )


def likeliest(logits, temperature, top_p, draw):
    return int(logits.argmax())


CHANGED_PARTS = [
    ("M92", "cool", lambda z, t: z * t),
    ("M178", "cool", lambda z, t: z),
    ("M258", "keep", lambda w, p: max(1, int((w.cumsum() < p).sum()))),
    ("M258", "keep", lambda w, p: max(1, int((w.cumsum() <= p).sum()))),
    ("M939", "keep", lambda w, p: len(w)),
    ("M261", "whole", lambda kept: 1),
    ("M308", "order", np.argsort),
    ("M1150", "arrange", np.sort),
]


def of_two_parts():
    """Two mistakes in two parts of the choice; all tokens together need no new whole."""
    for (first, part, change), (second, other, also) in itertools.combinations(CHANGED_PARTS, 2):
        if part != other and (first, second) != ("M939", "M261"):
            yield f"{first}+{second}", writing_with(**{part: change, other: also})


WRITE_WRONG = [
    *((number, writing_with(**{part: change})) for number, part, change in CHANGED_PARTS),
    *of_two_parts(),
    ("M935", writing_with(cached=False)),
    ("M440", forgetful),
    ("M1250", first_cache_kept),
    ("M1250", functools.partial(first_cache_kept, keep=first_to_reach)),
    ("M1251", first_logits_kept),
    ("M936", read_twice),
    ("M936", functools.partial(read_twice, keep=first_to_reach)),
    ("M441", writing_with(row=0)),
    ("M442", lambda step, ids, *rest: write(step, ids, *rest)[len(ids):]),
    ("M443", lambda step, ids, new, *rest: write(step, ids, new - 1, *rest)),
    # Without the largest logit subtracted, logits below 0 get the weight 0 and come first.
    *(("M1343", functools.partial(write, choose=divided_by_zero(token)))
      for token in (lambda logits: 0, lambda logits: (logits < 0).argmax())),
    ("M937", lambda *args: write(*args, choose=likeliest)),
    ("M938", writing_with(ids=False)),
    ("M258", writing_with(keep=short_nucleus, place_of=first_past)),
    ("M259", writing_with(keep=lambda w, p: max(1, int((w >= 1 - p).sum())))),
    ("M261", writing_with(whole=lambda kept: 1, place_of=first_past)),
    ("M261", writing_with(whole=lambda kept: 1,
                          place_of=lambda sums, draw: (sums > draw).argmax())),
]  # fmt: skip


def sampling_cases(rng):
    def drawn(n, new, vocab, temperature, top_p):
        table = rng.normal(size=(2, vocab, vocab)) * 1.5
        about = f"{new} tokens after {n}, temperature {temperature}, top-p {top_p}"
        return Case((table, rng.integers(vocab, size=n), new, temperature, top_p,
                     rng.uniform(0.02, 0.98, size=new)), about=about)  # fmt: skip

    return [drawn(3, 7, 11, 0, 1.0), drawn(2, 13, 7, 1.0, 1.0), drawn(5, 17, 11, 0.5, 0.8),
            drawn(3, 19, 13, 2.0, 0.6)]  # fmt: skip


def follows_the_draws(answer, case):
    """The same draws give the same text, and other draws another where another is right."""
    table, ids, new, temperature, top_p, draws = case.args

    def text(answer, draws):
        came = write_by_steps(answer, table, ids, new, temperature, top_p, draws)["text"]
        return [int(token) for token in came]

    other = 1 - draws
    first = text(answer, draws)
    if text(answer, draws) != first:
        return "two calls with the same draws give two different texts"
    if text(write, draws) != text(write, other) and text(answer, other) == first:
        return "other draws give the same text"
    return True


# a report -----------------------------------------------------------------------------------------

SENTENCES = ("the cat sleeps on the sofa", "a dog barks at night", "rain falls on the roof",
             "nobody reads the long letter", "she counts the old coins")  # fmt: skip


def report(**changes):
    """A report that is right in every respect; no model stands behind it."""
    rng = np.random.default_rng(0)
    text = ". ".join(SENTENCES[i] for i in rng.integers(len(SENTENCES), size=1500))
    curve = [(100 * i, 1.0 + 2 / i, 1.1 + 2 / i) for i in range(1, 9)]
    words = sorted(set(text.replace(".", "").split()))
    paragraph = " ".join(words[i] for i in rng.integers(len(words), size=60))
    return {"text": text, "curve": curve, "paragraph": paragraph} | changes


def reporting(**changes):
    return lambda: report(**changes)


def curve_of(training, validation):
    return [(step, training, validation) for step in range(100, 600, 100)]


NOISE = "".join(chr(33 + (i * i * 7 + i * 13) % 90) for i in range(300))
REPORT_WRONG = [
    ("M940", reporting(curve=curve_of(1.3, 3.9))),
    ("M941", reporting(curve=curve_of(0.2, 0.21))),
    ("M942", reporting(curve=curve_of(1.4, 1.4))),
    ("M943", reporting(paragraph=NOISE)),
    ("M944", reporting(paragraph=report()["text"][5000:5400])),
    ("M945", reporting(curve=curve_of(1.4, 1.5)[-1:])),
    ("M945", reporting(curve=[])),
    ("M945", reporting(paragraph="The creature")),
    ("M946", reporting(text=report()["text"][:5000])),
]
