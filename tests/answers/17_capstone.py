"""Right answers to exercises 17 in different styles: every one of them must pass."""

import copy
import functools
import json
import math
from importlib.resources import files

import numpy as np
import torch
import torch.nn.functional as F

from lib import functional
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.models.config import Config
from lib.models.gpt2 import GPT2, next_token_loss
from lib.pretrained.gpt2 import renamed

# Norms and feed-forward networks, from which the larger answers are made


def norm_by_loops(x, gain, bias):
    """Vector by vector in plain Python: mean, variance, then each component."""
    if x.ndim > 1:
        return np.stack([norm_by_loops(row, gain, bias) for row in x])
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    return np.array([(value - mean) / math.sqrt(variance + 1e-5) * g + b
                     for value, g, b in zip(x, gain, bias, strict=True)])  # fmt: skip


def norm_by_matrix(x, gain, bias):
    """Subtracting the mean is a product with the identity minus 1 / d."""
    d = x.shape[-1]
    centred = x @ (np.eye(d) - 1 / d)
    size = np.sqrt(np.einsum("...d,...d->...", centred, centred) / d + 1e-5)
    return gain * centred / size[..., None] + bias


def norm_in_torch(x, gain, bias):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + 1e-5), gain)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def think(x, p):
    return gelu(x @ p["c_fc.weight"] + p["c_fc.bias"]) @ p["c_proj.weight"] + p["c_proj.bias"]


def think_in_torch(x, p):
    hidden = F.linear(x, p["c_fc.weight"].T, p["c_fc.bias"])
    return F.linear(F.gelu(hidden, approximate="tanh"), p["c_proj.weight"].mT, p["c_proj.bias"])


def think_token_by_token(x, p):
    """Token by token and neuron by neuron; recursion handles the leading axes."""
    if x.ndim > 1:
        return np.stack([think_token_by_token(row, p) for row in x])
    hidden = [gelu(p["c_fc.weight"][:, j] @ x + p["c_fc.bias"][j]) for j in range(4 * len(x))]
    return np.array(hidden) @ p["c_proj.weight"] + p["c_proj.bias"]


def think_by_einsum(x, p):
    """With einsum, and a GELU with one exponential in place of tanh."""
    hidden = np.einsum("...d,df->...f", x, p["c_fc.weight"]) + p["c_fc.bias"]
    active = hidden / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)))
    return np.einsum("...f,fd->...d", active, p["c_proj.weight"]) + p["c_proj.bias"]


def think_with_lib(x, p):
    return (
        functional.gelu(x @ p["c_fc.weight"] + p["c_fc.bias"]) @ p["c_proj.weight"]
        + p["c_proj.bias"]
    )


# 17.6


def attention(x, p, heads):
    *batch, n, d_model = x.shape
    joint = x @ p["c_attn.weight"] + p["c_attn.bias"]
    q, k, v = (
        part.reshape(*batch, n, heads, d_model // heads).swapaxes(-2, -3)
        for part in np.split(joint, 3, axis=-1)
    )
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(d_model // heads)
    scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = functional.softmax(scores)
    attended = (weights @ v).swapaxes(-2, -3).reshape(*batch, n, d_model)
    return attended @ p["c_proj.weight"] + p["c_proj.bias"]


def attention_in_torch(x, p, heads):
    q, k, v = F.linear(x, p["c_attn.weight"].T, p["c_attn.bias"]).chunk(3, -1)
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(-2, -3) for part in (q, k, v))
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.linear(attended.transpose(-2, -3).flatten(-2), p["c_proj.weight"].T, p["c_proj.bias"])


def attention_head_by_head(x, p, heads):
    """Each head adds its change through its own rows of the output projection."""
    d_k = x.shape[-1] // heads
    d_model, change = heads * d_k, p["c_proj.bias"]
    for head in range(heads):
        q, k, v = (
            x @ p["c_attn.weight"][:, place] + p["c_attn.bias"][place]
            for part in range(3)
            for place in [slice(part * d_model + head * d_k, part * d_model + (head + 1) * d_k)]
        )
        own = attend(q, k, v, masks.causal(x.shape[-2], like=x)).output
        change = change + own @ p["c_proj.weight"][head * d_k : (head + 1) * d_k]
    return change


def attention_token_by_token(x, p, heads):
    """No mask: each token is given only the keys up to itself."""
    if x.ndim > 2:
        return np.stack([attention_token_by_token(text, p, heads) for text in x])
    q, k, v = np.split(x @ p["c_attn.weight"] + p["c_attn.bias"], 3, axis=-1)
    q, k, v = (part.reshape(len(x), heads, -1) for part in (q, k, v))
    rows = []
    for i in range(len(x)):
        scores = np.einsum("hd,jhd->hj", q[i], k[: i + 1]) / math.sqrt(q.shape[-1])
        rows.append(np.einsum("hj,jhd->hd", functional.softmax(scores), v[: i + 1]).ravel())
    return np.array(rows) @ p["c_proj.weight"] + p["c_proj.bias"]


def attention_by_einsum(x, p, heads):
    w = p["c_attn.weight"].reshape(x.shape[-1], 3, heads, -1)
    b = p["c_attn.bias"].reshape(3, heads, 1, -1)
    b = b.reshape(3, *[1] * (x.ndim - 2), *b.shape[1:])
    q, k, v = torch.einsum("...nd,dthk->t...hnk", x, w) + b
    scores = torch.einsum("...hik,...hjk->...hij", q, k) / q.shape[-1] ** 0.5
    ahead = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = scores.masked_fill(ahead, -torch.inf).softmax(-1)
    out = p["c_proj.weight"].reshape(heads, -1, x.shape[-1])
    return torch.einsum("...hij,...hjk,hkd->...id", weights, v, out) + p["c_proj.bias"]


def attention_with_lib(x, p, heads):
    parts = np.split(x @ p["c_attn.weight"] + p["c_attn.bias"], 3, axis=-1)
    q, k, v = (split_heads(part, heads) for part in parts)
    attended = attend(q, k, v, masks.causal(x.shape[-2], like=x)).output
    return merge_heads(attended) @ p["c_proj.weight"] + p["c_proj.bias"]


# 17.7


def below(p, prefix):
    return {name[len(prefix) :]: array for name, array in p.items() if name.startswith(prefix)}


def block_of(norm, attention, think):
    """A block from any three parts that fit together."""

    def block(x, p, heads):
        read = norm(x, p["ln_1.weight"], p["ln_1.bias"])
        x = x + attention(read, below(p, "attn."), heads)
        return x + think(norm(x, p["ln_2.weight"], p["ln_2.bias"]), below(p, "mlp."))

    return block


def block_by_loop(x, p, heads):
    """One loop for both sublayers: each reads a normalised copy and adds its change."""
    sublayers = {"attn.": lambda y, own: attention_with_lib(y, own, heads), "mlp.": think_with_lib}
    for i, (prefix, sublayer) in enumerate(sublayers.items(), 1):
        y = functional.layer_norm(x, p[f"ln_{i}.weight"], p[f"ln_{i}.bias"])
        x = x + sublayer(y, below(p, prefix))
    return x


def block_all_in_one(x, p, heads):
    """All in one function: heads in a loop, and a mask that multiplies exponentials."""
    n, d = x.shape[-2:]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        return (centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
                * p[f"{name}.weight"] + p[f"{name}.bias"])  # fmt: skip

    q, k, v = np.split(norm(x, "ln_1") @ p["attn.c_attn.weight"] + p["attn.c_attn.bias"], 3, -1)
    attended = np.empty_like(x)
    for head in range(heads):
        own = slice(head * d // heads, (head + 1) * d // heads)
        scores = q[..., own] @ k[..., own].swapaxes(-1, -2) * (d // heads) ** -0.5
        exponentials = np.exp(scores - scores.max(-1, keepdims=True)) * np.tri(n)
        attended[..., own] = exponentials / exponentials.sum(-1, keepdims=True) @ v[..., own]
    x = x + attended @ p["attn.c_proj.weight"] + p["attn.c_proj.bias"]
    return x + think(norm(x, "ln_2"), below(p, "mlp."))


BLOCKS = [
    block_of(functional.layer_norm, attention, think),
    block_of(norm_in_torch, attention_in_torch, think_in_torch),
    block_of(norm_by_loops, attention_token_by_token, think_token_by_token),
    block_of(norm_by_matrix, attention_with_lib, think_by_einsum),
]


# 17.8


def loss_by_loops(logits, ids):
    """Position by position: log-sum-exp of the row, minus the logit of the next token."""
    if ids.ndim > 1:
        return np.mean([loss_by_loops(*pair) for pair in zip(logits, ids, strict=True)])
    total = 0
    for row, token in zip(logits[:-1], ids[1:], strict=True):
        total += max(row) + math.log(sum(math.exp(score - max(row)) for score in row)) - row[token]
    return total / (len(ids) - 1)


def loss_in_torch(logits, ids):
    return F.cross_entropy(logits[..., :-1, :].flatten(0, -2), ids[..., 1:].flatten())


def loss_by_one_hot(logits, ids):
    """A one-hot product picks the targets' logits; log-sum-exp does the rest."""
    asked = np.eye(logits.shape[-1])[ids[..., 1:]]
    known = logits[..., :-1, :]
    return (functional.logsumexp(known) - (known * asked).sum(-1)).mean()


def loss_by_gather(logits, ids):
    logs = torch.log_softmax(logits, -1)[..., :-1, :]
    return -logs.gather(-1, ids[..., 1:].unsqueeze(-1)).mean()


# 17.9


def generate_with_lists(model, ids, new, longest):
    text = [int(token) for token in ids]
    while len(text) < len(ids) + new:
        row = model(np.array(text[max(0, len(text) - longest) :]))[-1]
        text.append(max(range(len(row)), key=lambda token: row[token]))
    return text


def generate_in_torch(model, ids, new, longest):
    for _ in range(new):
        ids = torch.cat([ids, model(ids[-longest:])[-1:].argmax(-1)])
    return ids


def generate_into_an_array(model, ids, new, longest):
    """An array of the final length is filled from the left; the window is a slice."""
    text = np.zeros(len(ids) + new, dtype=int)
    text[: len(ids)] = ids
    for end in range(len(ids), len(text)):
        text[end] = np.argmax(model(text[max(0, end - longest) : end])[-1])
    return text


def generate_by_recursion(model, ids, new, longest):
    """By recursion: append one token, then generate one token fewer."""
    if new == 0:
        return ids
    token = model(ids[-longest:])[-1].argmax()
    return generate_by_recursion(model, np.append(ids, token), new - 1, longest)


def generate_as_a_batch(model, ids, new, longest):
    text = ids.unsqueeze(0)
    for _ in range(new):
        logits = model(text[:, -longest:])[:, -1, :]
        text = torch.cat([text, logits.topk(1).indices], dim=1)
    return text.squeeze(0)


# 17.1


def model_of(norm, block):
    """A model from its norm and its block."""

    def gpt2(ids, p, heads):
        x = p["wte.weight"][ids] + p["wpe.weight"][: ids.shape[-1]]
        layers = 1 + max(int(name.split(".")[1]) for name in p if name.startswith("h."))
        for i in range(layers):
            x = block(x, below(p, f"h.{i}."), heads)
        return norm(x, p["ln_f.weight"], p["ln_f.bias"]) @ p["wte.weight"].T

    return gpt2


def gpt2_of_lib(ids, p, heads):
    """The model of chapter 12 itself, with these parameters carried over."""
    p = {name: torch.as_tensor(array) for name, array in p.items()}
    (vocab, d_model), longest = p["wte.weight"].shape, len(p["wpe.weight"])
    layers = sum(name.endswith("ln_1.bias") for name in p)
    model = GPT2(Config(vocab, longest, d_model, heads, layers))
    model.load_state_dict(renamed(p, model.state_dict()))
    with torch.no_grad():
        return model.eval()(torch.as_tensor(ids)).logits


def gpt2_in_one_cell(ids, p, heads):
    """The whole model in one function, which finds every layer by its name."""

    def linear(x, name):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:]) * p[name + ".weight"] + p[name + ".bias"]

    n, i = ids.shape[-1], 0
    ahead = torch.full((n, n), -torch.inf).triu(1)
    x = F.embedding(ids, p["wte.weight"]) + p["wpe.weight"].narrow(0, 0, n)
    while f"h.{i}.ln_1.weight" in p:
        joint = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn")
        q, k, v = joint.unflatten(-1, (3, heads, -1)).movedim((-3, -2), (0, -3))
        weights = (q @ k.mT / k.shape[-1] ** 0.5 + ahead).softmax(-1)
        x = x + linear((weights @ v).movedim(-3, -2).flatten(-2), f"h.{i}.attn.c_proj")
        hidden = F.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
        x = x + linear(hidden, f"h.{i}.mlp.c_proj")
        i += 1
    return F.linear(norm(x, "ln_f"), p["wte.weight"])


def gpt2_by_one_hot(ids, p, heads):
    """Lookups as matrix products, and the gain of the last norm folded into the table."""
    words, n = p["wte.weight"], ids.shape[-1]
    x = np.eye(len(words))[ids] @ words + np.eye(n, len(p["wpe.weight"])) @ p["wpe.weight"]
    i = 0
    while below(p, f"h.{i}."):
        x = block_by_loop(x, below(p, f"h.{i}."), heads)
        i += 1
    return functional.layer_norm(x) @ (words * p["ln_f.weight"]).T + words @ p["ln_f.bias"]


def gpt2_text_by_text(ids, p, heads):
    if ids.ndim > 1:
        return np.stack([gpt2_text_by_text(text, p, heads) for text in ids])
    return model_of(norm_by_matrix, block_all_in_one)(ids, p, heads)


# 17.2


def fresh_parameters(vocab, longest, d_model, layers, std=0.08):
    """Parameters under GPT-2's names: gains of 1, biases of 0, small normal matrices."""
    p = {"wte.weight": torch.randn(vocab, d_model) * std,
         "wpe.weight": torch.randn(longest, d_model) * std,
         "ln_f.weight": torch.ones(d_model), "ln_f.bias": torch.zeros(d_model)}  # fmt: skip
    for i in range(layers):
        for name in (f"h.{i}.ln_1", f"h.{i}.ln_2"):
            p[f"{name}.weight"], p[f"{name}.bias"] = torch.ones(d_model), torch.zeros(d_model)
        for name, rows, columns in (("attn.c_attn", 1, 3), ("attn.c_proj", 1, 1),
                                    ("mlp.c_fc", 1, 4), ("mlp.c_proj", 4, 1)):  # fmt: skip
            p[f"h.{i}.{name}.weight"] = torch.randn(rows * d_model, columns * d_model) * std
            p[f"h.{i}.{name}.bias"] = torch.zeros(columns * d_model)
    return p


def train_a_dictionary(stories):
    """The model is a function, its parameters a dictionary, and AdamW moves them."""
    p = fresh_parameters(15, 10, 32, 1)
    first = {name: tensor.clone() for name, tensor in p.items()}
    optimizer = torch.optim.AdamW([tensor.requires_grad_() for tensor in p.values()], lr=0.01)
    for _ in range(140):
        rows = stories[torch.randint(len(stories), (64,))]
        logits = gpt2_in_one_cell(rows[:, :-1], p, 8)
        loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return lambda ids: gpt2_in_one_cell(ids, first, 8), lambda ids: gpt2_in_one_cell(ids, p, 8)


def train_a_module(stories):
    """A module of torch, copied before the first step; each epoch goes through all stories."""
    model = GPT2(Config(15, 10, 32, 8, 1))
    for matrix in (parameter for parameter in model.parameters() if parameter.ndim == 2):
        torch.nn.init.normal_(matrix, std=0.09)
    first = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(8):
        for rows in stories[torch.randperm(len(stories))].split(64):
            optimizer.zero_grad()
            next_token_loss(model(rows[:, :-1]).logits, rows[:, 1:]).backward()
            optimizer.step()
    return lambda ids: first(ids).logits, lambda ids: model(ids).logits


def train_by_own_adam(stories):
    """Adam in four lines, without an optimizer: two running means for each parameter."""
    p = fresh_parameters(15, 10, 32, 1, std=0.09)
    first = {name: tensor.clone() for name, tensor in p.items()}
    moments = {name: (torch.zeros_like(tensor), torch.zeros_like(tensor))
               for name, tensor in p.items()}  # fmt: skip
    for step in range(1, 101):
        rows = stories[torch.randint(len(stories), (64,))]
        leaves = {name: tensor.detach().requires_grad_() for name, tensor in p.items()}
        loss = loss_in_torch(gpt2_in_one_cell(rows, leaves | {"wpe.weight": F.pad(
            leaves["wpe.weight"], (0, 0, 0, 1))}, 8), rows)  # fmt: skip
        loss.backward()
        for name, leaf in leaves.items():
            mean, square = moments[name]
            mean.lerp_(leaf.grad, 0.1)
            square.lerp_(leaf.grad**2, 0.05)
            step_size = mean / (1 - 0.9**step) / ((square / (1 - 0.95**step)).sqrt() + 1e-8)
            p[name] = leaf.detach() - 0.01 * step_size
    return lambda ids: gpt2_in_one_cell(ids, first, 8), lambda ids: gpt2_in_one_cell(ids, p, 8)


class Encoder(torch.nn.Module):
    """Torch's own layers, with the norm first and a causal mask, and a separate LM head."""

    def __init__(self):
        super().__init__()
        self.word, self.position = torch.nn.Embedding(15, 32), torch.nn.Embedding(10, 32)
        self.layer = torch.nn.TransformerEncoderLayer(
            32, 4, 128, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.head = torch.nn.Linear(32, 15)
        for matrix in (parameter for parameter in self.parameters() if parameter.ndim == 2):
            torch.nn.init.normal_(matrix, std=0.1)

    def forward(self, ids):
        n = ids.shape[1]
        ahead = torch.ones(n, n, dtype=torch.bool).triu(1)
        x = self.word(ids) + self.position.weight[:n]
        return self.head(self.layer(x, src_mask=ahead))


def train_torchs_layer(stories):
    model = Encoder()
    first = copy.deepcopy(model)
    optimizer = torch.optim.NAdam(model.parameters(), lr=0.01)
    for _ in range(110):
        rows = stories[torch.randint(len(stories), (64,))]
        loss = F.cross_entropy(model(rows[:, :-1]).mT, rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return first, model


def train_with_a_schedule(stories):
    # The learning rate rises, then falls along half a cosine.
    p = fresh_parameters(15, 10, 32, 1, std=0.09)
    first = copy.deepcopy(p)
    optimizer = torch.optim.AdamW([tensor.requires_grad_() for tensor in p.values()], lr=1.0)
    for step in range(150):
        rate = min((step + 1) / 20, (1.1 + math.cos(math.pi * step / 150)) / 2) * 0.012
        optimizer.param_groups[0]["lr"] = rate
        rows = stories[torch.randint(len(stories), (64,))]
        logits = gpt2_in_one_cell(rows[:, :-1], p, 8)
        optimizer.zero_grad()
        (-logits.log_softmax(-1).gather(-1, rows[:, 1:, None]).mean()).backward()
        optimizer.step()
    return (functools.partial(gpt2_in_one_cell, p=first, heads=8),
            functools.partial(gpt2_in_one_cell, p=p, heads=8))  # fmt: skip


# 17.3


def read_in_numpy(ids, p, heads, cache):
    """The cache is a list of pairs, the old keys and values of each layer."""
    old = cache[0][0].shape[-2] if cache else 0
    n, d_model = len(ids), p["wte.weight"].shape[1]
    x = p["wte.weight"][ids] + p["wpe.weight"][old : old + n]
    new = []
    for i in range(sum(name.endswith("ln_1.bias") for name in p)):
        own = below(p, f"h.{i}.")
        y = functional.layer_norm(x, own["ln_1.weight"], own["ln_1.bias"])
        joint = y @ own["attn.c_attn.weight"] + own["attn.c_attn.bias"]
        q, k, v = joint.reshape(n, 3, heads, -1).transpose(1, 2, 0, 3)
        if cache:
            k, v = (np.concatenate(pair, axis=1) for pair in zip(cache[i], (k, v), strict=True))
        new.append((k, v))
        scores = q @ k.swapaxes(1, 2) / math.sqrt(d_model // heads)
        weights = functional.softmax(np.where(np.tri(n, old + n, old, dtype=bool), scores, -np.inf))
        mixed = (weights @ v).swapaxes(0, 1).reshape(n, d_model)
        x = x + mixed @ own["attn.c_proj.weight"] + own["attn.c_proj.bias"]
        y = functional.layer_norm(x, own["ln_2.weight"], own["ln_2.bias"])
        x = x + think(y, below(own, "mlp."))
    return functional.layer_norm(x, p["ln_f.weight"], p["ln_f.bias"]) @ p["wte.weight"].T, new


def read_in_torch(ids, p, heads, cache):
    """The cache is a dictionary that grows in place, with its own count of tokens."""
    cache = cache or {"read": 0}
    old, n = cache["read"], len(ids)
    x = F.embedding(ids, p["wte.weight"]) + p["wpe.weight"][old : old + n]
    ahead = torch.ones(n, old + n).triu(old + 1) == 1
    for i in range(sum(name.endswith("ln_1.bias") for name in p)):
        own = below(p, f"h.{i}.")
        y = norm_in_torch(x, own["ln_1.weight"], own["ln_1.bias"])
        joint = torch.addmm(own["attn.c_attn.bias"], y, own["attn.c_attn.weight"])
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(0, 1) for part in joint.chunk(3, -1))
        if i in cache:
            k, v = torch.cat([cache[i][0], k], 1), torch.cat([cache[i][1], v], 1)
        cache[i] = k, v
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=~ahead)
        mixed = attended.transpose(0, 1).flatten(1)
        x = x + torch.addmm(own["attn.c_proj.bias"], mixed, own["attn.c_proj.weight"])
        y = norm_in_torch(x, own["ln_2.weight"], own["ln_2.bias"])
        x = x + think_in_torch(y, below(own, "mlp."))
    cache["read"] = old + n
    return norm_in_torch(x, p["ln_f.weight"], p["ln_f.bias"]) @ p["wte.weight"].T, cache


def read_one_by_one(ids, p, heads, cache):
    """One token at a time, head by head: no mask is needed, because nothing later is stored yet."""
    cache, rows = list(cache or []), []
    d_model = p["wte.weight"].shape[1]
    layers = 1 + max(int(name.split(".")[1]) for name in p if name.startswith("h."))
    cache = cache or [([], []) for _ in range(layers)]
    for token in ids:
        x = p["wte.weight"][token] + p["wpe.weight"][len(cache[0][0])]
        for i, (keys, values) in enumerate(cache):
            own = below(p, f"h.{i}.")
            y = functional.layer_norm(x, own["ln_1.weight"], own["ln_1.bias"])
            q, k, v = np.split(y @ own["attn.c_attn.weight"] + own["attn.c_attn.bias"], 3)
            keys.append(k)
            values.append(v)
            mixed = np.empty(d_model)
            for head in range(heads):
                part = slice(head * d_model // heads, (head + 1) * d_model // heads)
                scores = np.stack(keys)[:, part] @ q[part] / math.sqrt(d_model // heads)
                mixed[part] = functional.softmax(scores) @ np.stack(values)[:, part]
            x = x + mixed @ own["attn.c_proj.weight"] + own["attn.c_proj.bias"]
            y = functional.layer_norm(x, own["ln_2.weight"], own["ln_2.bias"])
            x = x + think(y, below(own, "mlp."))
        rows.append(functional.layer_norm(x, p["ln_f.weight"], p["ln_f.bias"]))
    return np.stack(rows) @ p["wte.weight"].T, cache


def read_with_lib(ids, p, heads, cache):
    # The model of chapter 12 with its own caches.
    p = {name: torch.as_tensor(array) for name, array in p.items()}
    (vocab, d_model), longest = p["wte.weight"].shape, len(p["wpe.weight"])
    layers = sum(name.endswith("ln_1.bias") for name in p)
    model = GPT2(Config(vocab, longest, d_model, heads, layers)).double()
    model.load_state_dict(renamed(p, model.state_dict()))
    cache = cache or model.caches()
    with torch.no_grad():
        return model.eval()(torch.as_tensor(ids)[None], caches=cache).logits[0], cache


def read_by_split_heads(ids, p, heads, cache):
    # Keys and values of all layers in one array each, cut and merged as in chapter 9.
    keys, values = cache if cache else ([], [])
    old, new_keys, new_values = len(keys[0][0]) if cache else 0, [], []
    x = p["wte.weight"][ids] + p["wpe.weight"][np.arange(old, old + len(ids))]
    mask = np.arange(old + len(ids)) <= np.arange(old, old + len(ids))[:, None]
    for i in range(sum(name.endswith("ln_1.bias") for name in p)):
        own = below(p, f"h.{i}.")
        y = norm_by_matrix(x, own["ln_1.weight"], own["ln_1.bias"])
        joint = y @ own["attn.c_attn.weight"] + own["attn.c_attn.bias"]
        q, k, v = (split_heads(part, heads) for part in np.split(joint, 3, -1))
        new_keys.append(np.concatenate([keys[i], k], -2) if cache else k)
        new_values.append(np.concatenate([values[i], v], -2) if cache else v)
        output = merge_heads(attend(q, new_keys[i], new_values[i], mask).output)
        x = x + output @ own["attn.c_proj.weight"] + own["attn.c_proj.bias"]
        y = norm_by_matrix(x, own["ln_2.weight"], own["ln_2.bias"])
        x = x + think_by_einsum(y, below(own, "mlp."))
    final = norm_by_matrix(x, p["ln_f.weight"], p["ln_f.bias"])
    return final @ p["wte.weight"].T, (new_keys, new_values)


# 17.4


def write_with_lists(step, ids, new, temperature, top_p, draws):
    """Plain Python: walk down the sorted tokens until the draw is passed."""
    text, waiting, cache = [int(token) for token in ids], ids, None
    for draw in draws:
        logits, cache = step(waiting, cache)
        row = [float(z) for z in logits[-1]]
        if temperature == 0:
            token = row.index(max(row))
        else:
            powers = [math.exp((z - max(row)) / temperature) for z in row]
            ranked = sorted(range(len(row)), key=lambda i: -powers[i])
            kept, mass = [], 0.0
            while mass < top_p * sum(powers) and len(kept) < len(ranked):
                kept.append(ranked[len(kept)])
                mass += powers[kept[-1]]
            left = float(draw) * mass
            for token in kept:
                left -= powers[token]
                if left < 0:
                    break
        text.append(token)
        waiting = ids[:1] * 0 + token
    return text


def write_in_numpy(step, ids, new, temperature, top_p, draws):
    logits, cache = step(ids, None)
    for i in range(new):
        row = logits[-1]
        if temperature == 0:
            token = row.argmax()
        else:
            weights = functional.softmax(row / temperature)
            order = weights.argsort()[::-1]
            total = weights[order].cumsum()
            count = np.searchsorted(total, top_p - 1e-12) + 1
            total = total[:count] / total[:count][-1]
            token = order[(total > draws[i]).argmax()]
        ids = np.append(ids, token)
        if i < new - 1:
            logits, cache = step(ids[-1:], cache)
    return ids


def write_in_torch(step, ids, new, temperature, top_p, draws):
    text, waiting, cache = ids, ids, None
    for draw in draws:
        logits, cache = step(waiting, cache)
        if temperature == 0:
            waiting = logits[-1:].argmax(-1)
        else:
            weights, order = (logits[-1] / temperature).softmax(-1).sort(descending=True)
            weights[weights.cumsum(-1) - weights >= top_p] = 0
            passed = weights.cumsum(-1) > draw * weights.sum()
            waiting = order[passed.int().argmax()][None]
        text = torch.cat([text, waiting])
    return text


def write_by_recursion(step, ids, new, temperature, top_p, draws):
    """The rest of the text is the text of what is left to write."""

    def rest(waiting, cache, draws):
        if not len(draws):
            return []
        logits, cache = step(waiting, cache)
        token = choose(np.asarray(logits[-1]), float(draws[0]))
        return [token, *rest(np.array([token]), cache, draws[1:])]

    def choose(row, draw):
        if temperature == 0:
            return int(np.argmax(row))
        weights = np.exp(row / temperature) / np.exp(row / temperature).sum()
        order = np.argsort(-weights)
        sizes = np.concatenate([[0], weights[order].cumsum()[:-1]])
        order = order[sizes < top_p]
        bounds = weights[order].cumsum() / weights[order].sum()
        return int(order[np.searchsorted(bounds, draw, side="right")])

    return [*np.asarray(ids).tolist(), *rest(ids, None, draws)]


def write_with_minus_infinity(step, ids, new, temperature, top_p, draws):
    """Tokens outside the nucleus get a logit of minus infinity, then one softmax more."""
    logits, cache = step(ids, None)
    text = np.concatenate([ids, np.zeros(new, dtype=int)])
    for i, draw in enumerate(draws, start=len(ids)):
        row = logits[-1] / (temperature or 1e-9)
        order = np.argsort(-row)
        before = functional.softmax(row)[order].cumsum() - functional.softmax(row)[order]
        kept = functional.softmax(np.where(before < top_p, row[order], -np.inf))
        text[i] = order[np.count_nonzero(kept.cumsum() <= draw)]
        logits, cache = step(text[i : i + 1], cache)
    return text


# 17.5


def letters(rng, count):
    """Words of five consonants and vowels in turn, so that letters follow each other by a rule."""
    words = ["".join(rng.choice(list("bdklmnrst" if i % 2 == 0 else "aeiou")) for i in range(5))
             for _ in range(count // 6)]  # fmt: skip
    return " ".join(words)


def report_of(text, paragraph, losses, steps=None):
    steps = steps or range(50, 50 * len(losses) + 50, 50)
    curve = [(step, loss, loss + 0.05) for step, loss in zip(steps, losses, strict=True)]
    return {"text": text, "curve": curve, "paragraph": paragraph}


def report_plainly():
    rng = np.random.default_rng(1)
    return report_of(letters(rng, 24_000), letters(rng, 300), [2.5, 2.2, 1.9, 1.7, 1.6])


def report_with_arrays():
    """The curve as one array of three columns."""
    report = report_plainly()
    return report | {"curve": np.array(report["curve"])}


def report_with_tensors():
    # The losses as torch left them, and more in the report than was asked for.
    report = report_plainly()
    curve = [[step, torch.tensor(a), torch.tensor(b)] for step, a, b in report["curve"]]
    return report | {"curve": curve, "device": "cpu"}


def report_of_the_course():
    """The pages of this course and the recorded run of chapter 13."""
    from chapters.gpt import course_text

    recorded = files("lib.datasets").joinpath("first_trainings.json").read_text("utf8")
    run = json.loads(recorded)["pages"]
    curve = [(point["step"], point["training"], point["validation"]) for point in run["points"]]
    return {"text": course_text(), "curve": curve, "paragraph": run["points"][-1]["text"]}


def report_in_another_script():
    """Bytes are bytes: a text of Greek letters, each of which has two."""
    rng = np.random.default_rng(2)
    greek = str.maketrans("bdklmnrstaeiou", "βδκλμνρστάέίόύ")
    text, paragraph = (letters(rng, count).translate(greek) for count in (24_000, 300))
    return report_of(text, paragraph, [1.6, 1.3, 1.1, 1.0, 0.9, 0.85])


HUNTED = {"A": (1, 4), "B": (3,), "C": (1, 2), "D": (1,)}

RIGHT = {
    "17.1": [
        model_of(functional.layer_norm, BLOCKS[0]),
        model_of(norm_in_torch, BLOCKS[1]),
        model_of(norm_by_loops, BLOCKS[2]),
        gpt2_of_lib,
        gpt2_in_one_cell,
        gpt2_by_one_hot,
        gpt2_text_by_text,
    ],
    "17.2": [
        train_a_dictionary,
        train_a_module,
        train_by_own_adam,
        train_torchs_layer,
        train_with_a_schedule,
    ],
    "17.3": [
        read_in_numpy,
        read_in_torch,
        read_one_by_one,
        read_with_lib,
        read_by_split_heads,
    ],
    "17.4": [
        write_with_lists,
        write_in_numpy,
        write_in_torch,
        write_by_recursion,
        write_with_minus_infinity,
    ],
    "17.5": [
        report_plainly,
        report_with_arrays,
        report_with_tensors,
        report_of_the_course,
        report_in_another_script,
    ],
    "17.6": [
        attention,
        attention_in_torch,
        attention_head_by_head,
        attention_token_by_token,
        attention_by_einsum,
        attention_with_lib,
    ],
    "17.7": [
        BLOCKS[0],
        BLOCKS[1],
        BLOCKS[2],
        BLOCKS[3],
        block_by_loop,
        block_all_in_one,
    ],
    "17.8": [
        loss_by_loops,
        loss_in_torch,
        loss_by_one_hot,
        loss_by_gather,
        lambda logits, ids: next_token_loss(logits[..., :-1, :], ids[..., 1:]),
    ],
    "17.9": [
        generate_with_lists,
        generate_in_torch,
        generate_into_an_array,
        generate_by_recursion,
        generate_as_a_batch,
    ],
    "17.10": [
        {"A1", "A4", "B3", "C1", "C2", "D1"},
        {"D1", "C2", "C1", "B3", "A4", "A1"},
        {"A1", "A4"} | {"B3"} | {"C1", "C2"} | {"D1"},
        {f"{hunt}{number}" for hunt, numbers in HUNTED.items() for number in numbers},
        frozenset(json.loads('["A1", "A4", "B3", "C1", "C2", "D1"]')),
    ],
}
