"""GPT-2: the checks."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from lib import masks
from lib.attention import attend
from lib.checking import Case, Exercise, Law, Task, Wrong
from lib.ops import layer_norm, log_softmax, softmax

PAGE = "chapters/12_gpt2.html"


# 12.1, 12.2 ---------------------------------------------------------------------------------


def embed(ids, words, positions, start):
    return words[ids] + positions[start : start + ids.shape[-1]]


def embed_cases(rng):
    def draw(start, *shape, vocab=7, longest=11, d_model=5):
        ids = rng.permutation(vocab)[: shape[-1]] + np.zeros(shape, dtype=int)
        tables = rng.normal(size=(vocab, d_model)), rng.normal(size=(longest, d_model))
        return Case((ids, *tables, start), about=f"ids of shape {shape}, start = {start}")

    return [draw(0, 3), draw(2, 3, d_model=2), draw(4, 2, 5)]


def unembed(x, gain, bias, words):
    return layer_norm(x, gain, bias) @ words.T


def unembed_cases(rng):
    def draw(*shape, vocab):
        x = rng.normal(1, 2, size=shape)
        gain, bias = rng.normal(1, 0.3, size=shape[-1]), rng.normal(size=shape[-1])
        words = rng.normal(size=(vocab, shape[-1]))
        return Case((x, gain, bias, words), about=f"x of shape {shape}, {vocab} words")

    return [draw(2, 4, vocab=3), draw(3, 5, vocab=7), draw(2, 3, 4, vocab=5)]


def unembed_unbiased(x, gain, bias, words):
    d_model = x.shape[-1]
    return ((layer_norm(x) * np.sqrt((d_model - 1) / d_model)) * gain + bias) @ words.T


def unembed_over_tokens(x, gain, bias, words):
    return (layer_norm(x.swapaxes(-1, -2)).swapaxes(-1, -2) * gain + bias) @ words.T


# 12.3 ---------------------------------------------------------------------------------------


def tie(words):
    head = nn.Linear(words.embedding_dim, words.num_embeddings, bias=False)
    head.weight = words.weight
    return head


def one_step(answer, table, ids, targets):
    """Train one step with what the answer made, and see what became of both ends."""
    words = nn.Embedding.from_pretrained(table.clone(), freeze=False)
    head = answer(words)
    parts = nn.ModuleList(part for part in (words, head) if isinstance(part, nn.Module))
    optimizer = torch.optim.SGD(parts.parameters(), lr=0.5)
    F.cross_entropy(head(words(ids)), targets).backward()
    optimizer.step()
    rows = torch.arange(len(table))
    scores = head(torch.eye(table.shape[1], dtype=table.dtype)).detach().T
    return {
        "parameters": sum(parameter.numel() for parameter in parts.parameters()),
        "rows that embed": words(rows).detach(),
        "rows that score": scores,
    }


def tie_cases(rng):
    def draw(vocab, d_model, n):
        table = rng.normal(size=(vocab, d_model)).astype(np.float32)
        ids, targets = rng.integers(vocab, size=(2, n))
        about = f"{vocab} words, d_model = {d_model}, one step of training on {n} tokens"
        return Case((table, ids, targets), about=about)

    return [draw(5, 3, 2), draw(7, 2, 3)]


def fresh_head(words):
    return nn.Linear(words.embedding_dim, words.num_embeddings, bias=False)


def copied_head(words):
    head = fresh_head(words)
    head.weight = nn.Parameter(words.weight.detach().clone())
    return head


def head_of_one_storage(words):
    head = fresh_head(words)
    head.weight.data = words.weight.data
    return head


# 12.4 ---------------------------------------------------------------------------------------

LINEAR = {"out": "attn.c_proj", "expand": "mlp.c_fc", "contract": "mlp.c_proj"}


def carry_over(layer, *, order=(0, 1, 2), stored=(), cut=None):
    """The maps of one layer, as nn.Linear keeps them; those named in `stored` as they were."""
    weights, biases = layer["attn.c_attn.weight"], np.split(layer["attn.c_attn.bias"], 3)
    thirds = (cut or (lambda weight: np.split(weight, 3, axis=1)))(weights)
    ours = {}
    for name, part in zip(("query", "key", "value"), order, strict=True):
        ours[f"{name}.weight"], ours[f"{name}.bias"] = thirds[part], biases[part]
    for name, theirs in LINEAR.items():
        ours[f"{name}.weight"], ours[f"{name}.bias"] = (
            layer[f"{theirs}.{kind}"] for kind in ("weight", "bias")
        )
    turned = {name for name in ours if name.endswith(".weight")} - set(stored)
    return {name: array.T if name in turned else array for name, array in ours.items()}


def layer_cases(rng):
    def draw(d_model):
        sizes = {"attn.c_attn": 3, "attn.c_proj": 1, "mlp.c_fc": 4}
        ends = {name: (d_model, by * d_model) for name, by in sizes.items()}
        ends["mlp.c_proj"] = 4 * d_model, d_model
        layer = {}
        for name, shape in ends.items():
            layer[f"{name}.weight"] = rng.normal(size=shape).round(2)
            layer[f"{name}.bias"] = rng.normal(size=shape[1]).round(2)
        return Case((layer,), about=f"one layer with d_model = {d_model}")

    return [draw(2), draw(5)]


SQUARE = [f"{name}.weight" for name in ("query", "key", "value", "out")]
EVERY = [*SQUARE, "expand.weight", "contract.weight"]


def by_rows(weight):
    return list(weight.reshape(3, len(weight), -1))


def layer_wrong(**changes):
    return lambda layer: carry_over(layer, **changes)


LAYER_WRONG = [
    Wrong("M63", layer_wrong(stored=EVERY)),
    Wrong("M255", layer_wrong(stored=["out.weight"])),
    Wrong("M255", layer_wrong(stored=SQUARE[:3])),
    Wrong("M255", layer_wrong(stored=SQUARE)),
    Wrong("M43", layer_wrong(order=(1, 0, 2))),
    Wrong("M43", layer_wrong(order=(2, 1, 0))),
    Wrong("M43", layer_wrong(order=(1, 2, 0))),
    Wrong("M256", layer_wrong(cut=by_rows)),
    Wrong("M256", layer_wrong(cut=by_rows, stored=SQUARE[:3])),
]


# 12.5 ---------------------------------------------------------------------------------------


def parameters(vocab, longest, d_model, layers, heads, *, tables=1, positions=1, last=1, small=1,
               width=1):  # fmt: skip
    """All numbers of a GPT-2, with what may be forgotten or counted twice made a factor."""
    del heads  # they share the width
    matrices = layers * (4 * width + 8) * d_model**2
    beside = layers * (4 + 5 + 4) * d_model + last * 2 * d_model
    return tables * vocab * d_model + positions * longest * d_model + matrices + small * beside


def parameter_cases(rng):
    del rng  # sizes have no random part
    sizes = [(7, 5, 6, 2, 3), (50257, 1024, 768, 12, 12), (50257, 1024, 1600, 48, 25)]
    words = "vocabulary {}, {} positions, d_model = {}, {} layers of {} heads"
    return [Case(size, about=words.format(*size)) for size in sizes]


def every_head_whole(vocab, longest, d_model, layers, heads):
    return parameters(vocab, longest, d_model, layers, heads, width=heads)


# 12.6 ---------------------------------------------------------------------------------------


def loss(logits, ids):
    return shifted_loss(logits, ids, 1)


def shifted_loss(logits, ids, by):
    surprise = -log_softmax(logits)[:, : ids.shape[-1] - by]
    return float(np.take_along_axis(surprise, ids[:, by:, None], axis=-1).mean())


def loss_cases(rng):
    def draw(batch, n, vocab):
        about = f"{batch} sentences of {n} tokens, {vocab} words"
        logits = rng.normal(size=(batch, n, vocab))
        return Case((logits, rng.integers(vocab, size=(batch, n))), about=about)

    return [draw(2, 3, 4), draw(3, 5, 7)]


def loss_across_sentences(logits, ids):
    return shifted_loss(logits.reshape(1, -1, logits.shape[-1]), ids.reshape(1, -1), 1)


# 12.7 ---------------------------------------------------------------------------------------


def nucleus(logits, p):
    return kept_of(logits, p)


def kept_of(logits, p, *, one_short=False, unsorted=False, renormalise=True):
    """Top-p with its parts exchangeable."""
    weights = softmax(logits)
    order = np.argsort(-weights, axis=-1)
    falling = np.take_along_axis(weights, order, axis=-1)
    reached = np.cumsum(falling, axis=-1)
    kept = reached <= p if one_short else reached - falling < p
    kept[..., 0] = True
    if not unsorted:
        kept = np.take_along_axis(kept, np.argsort(order, axis=-1), axis=-1)
    left = np.where(kept, weights, 0)
    return left / left.sum(-1, keepdims=True) if renormalise else left


def nucleus_cases(rng):
    rhyme = np.log([2.0, 5.0, 1.0, 4.0, 3.0])
    rows = np.log(rng.permuted([[1.0, 2, 4, 8, 16, 32], [9.0, 10, 11, 12, 13, 14]], axis=-1))
    return [
        Case((rhyme, 0.75), about="logits ln 2, ln 5, ln 1, ln 4, ln 3 and p = 0.75"),
        Case((rhyme, 0.5), about="the same logits, p = 0.5"),
        Case((rows, 0.9), about="2 rows of 6 words, p = 0.9"),
        Case((rows[1:], 0.5), about="a row of 6 words of nearly equal weights, p = 0.5"),
    ]


def above_the_bar(bar):
    def keep(logits, p):
        weights = softmax(logits)
        left = np.where(weights >= bar(p), weights, 0)
        total = left.sum(-1, keepdims=True)
        return left / np.where(total == 0, 1, total)

    return keep


# 12.8 ---------------------------------------------------------------------------------------


def step(q, k, v, keys, values):
    return cached(q, k, v, keys, values, mask=masks.causal(len(q), len(keys) + len(k)))


def cached(q, k, v, keys, values, mask, *, scale=None, past=True):
    """One head on new tokens and stored ones, with its parts exchangeable."""
    all_keys, all_values = np.concatenate([keys, k]), np.concatenate([values, v])
    used = (all_keys, all_values) if past else (k, v)
    return attend(q, *used, mask, scale=scale).output, all_keys, all_values


def step_cases(rng):
    def draw(new, old, d_k, d_v):
        shapes = [(new, d_k), (new, d_k), (new, d_v), (old, d_k), (old, d_v)]
        about = f"{new} new tokens after {old}, d_k = {d_k}, d_v = {d_v}"
        return Case(tuple(rng.normal(size=shape) for shape in shapes), about=about)

    return [draw(2, 3, 2, 3), draw(1, 5, 3, 2), draw(3, 2, 4, 5)]


def mask_from_the_start(q, k, v, keys, values):
    mask = np.tri(len(q), len(keys) + len(k), dtype=bool)
    return cached(q, k, v, keys, values, mask)


def in_two_calls(answer, case):
    """All at once, and one after the other: the same outputs."""
    q, k, v, keys, values = case.args
    whole = np.asarray(answer(q, k, v, keys, values)[0])
    parts = []
    for at in range(len(q)):
        row = slice(at, at + 1)
        output, keys, values = answer(q[row], k[row], v[row], keys, values)
        parts.append(np.asarray(output))
    return bool(np.allclose(np.concatenate(parts), whole, atol=1e-4)) or (
        "the tokens one by one do not give what they give together"
    )


EXERCISE = Exercise(
    chapter="12",
    title="GPT-2",
    tasks=[
        Task(
            id="12.1", name="embed", title="Tokens and positions in", difficulty=2, importance=5,
            minutes=5, reference=embed, cases=embed_cases, read=f"{PAGE}#claim-S0-44",
            wrong=[
                Wrong("M57", lambda ids, words, positions, start: words[ids]),
                Wrong("M58", lambda ids, words, positions, start: embed(
                    ids, words, positions, start + 1)),
                Wrong("M250", lambda ids, words, positions, start: embed(
                    ids, words, positions, 0)),
                Wrong("M251", lambda ids, words, positions, start: words[ids] + positions[ids]),
            ],
        ),
        Task(
            id="12.2", name="unembed", title="Logits out", difficulty=2, importance=5, minutes=10,
            reference=unembed, cases=unembed_cases, read=f"{PAGE}#claim-S0-52",
            wrong=[
                Wrong("M56", lambda x, gain, bias, words: x @ words.T),
                Wrong("M51", unembed_unbiased),
                Wrong("M53", unembed_over_tokens),
                Wrong("M252", lambda *args: softmax(unembed(*args))),
            ],
        ),
        Task(
            id="12.3", name="tie", title="Tie the two ends", difficulty=3, importance=4,
            minutes=10, reference=tie, cases=tie_cases, call=one_step, arrays=("torch",),
            read=f"{PAGE}#one-table-at-both-ends",
            wrong=[
                Wrong("M59", fresh_head), Wrong("M253", copied_head),
                Wrong("M254", head_of_one_storage),
            ],
        ),
        Task(
            id="12.4", name="carry_over", title="Carry over one layer", difficulty=4,
            importance=5, minutes=20, reference=carry_over, cases=layer_cases,
            wrong=LAYER_WRONG, read=f"{PAGE}#the-transposition-trap",
        ),
        Task(
            id="12.5", name="parameters", title="Count any GPT-2", difficulty=3, importance=4,
            minutes=15, reference=parameters, cases=parameter_cases,
            read=f"{PAGE}#counting-the-parameters",
            wrong=[
                Wrong("M59", lambda *sizes: parameters(*sizes, tables=2)),
                Wrong("M57", lambda *sizes: parameters(*sizes, positions=0)),
                Wrong("M56", lambda *sizes: parameters(*sizes, last=0)),
                Wrong("M126", every_head_whole),
                Wrong("M263", lambda *sizes: parameters(*sizes, small=0)),
            ],
        ),
        Task(
            id="12.6", name="loss", title="The loss of a batch", difficulty=3, importance=5,
            minutes=10, reference=loss, cases=loss_cases, read=f"{PAGE}#claim-S0-53",
            wrong=[
                Wrong("M60", lambda logits, ids: shifted_loss(logits, ids, 0)),
                Wrong("M61", lambda logits, ids: shifted_loss(logits, ids, 2)),
                Wrong("M257", loss_across_sentences),
                Wrong("M19", lambda logits, ids: loss(softmax(logits), ids)),
            ],
        ),
        Task(
            id="12.7", name="nucleus", title="The nucleus", difficulty=4, importance=4,
            minutes=20, reference=nucleus, cases=nucleus_cases,
            read=f"{PAGE}#from-a-row-of-logits-to-a-token",
            wrong=[
                Wrong("M258", lambda logits, p: kept_of(logits, p, one_short=True)),
                Wrong("M259", above_the_bar(lambda p: p)),
                Wrong("M259", above_the_bar(lambda p: 1 - p)),
                Wrong("M260", lambda logits, p: kept_of(logits, p, unsorted=True)),
                Wrong("M261", lambda logits, p: kept_of(logits, p, renormalise=False)),
            ],
        ),
        Task(
            id="12.8", name="step", title="One step with a cache", difficulty=4, importance=5,
            minutes=15, reference=step, cases=step_cases,
            read=f"{PAGE}#what-need-not-be-computed-again",
            laws=[Law(None, "one by one gives what together gives", in_two_calls)],
            wrong=[
                Wrong("M32", mask_from_the_start),
                Wrong("M24", lambda *args: cached(*args, mask=None)),
                Wrong("M262", lambda *args: cached(
                    *args, mask=masks.causal(len(args[0])), past=False)),
                Wrong("M01", lambda q, k, v, keys, values: cached(
                    q, k, v, keys, values, masks.causal(len(q), len(keys) + len(k)), scale=1.0)),
            ],
        ),
    ],
)  # fmt: skip
