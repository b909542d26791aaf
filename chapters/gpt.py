"""A GPT in one file: the model of chapters 11 and 12, trained by the loop of chapter 13.

Run `python gpt.py` to train it on the pages of this course, or `python gpt.py book.txt` to train it
on a text of your own. It needs PyTorch, and takes some minutes on a laptop.
"""

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy

# ----- Chapter 11: attention, the feed-forward network, the block


@dataclass
class Config:
    """The sizes of a model. For text in bytes, there are 256 tokens."""

    vocab_size: int = 256
    context_length: int = 64
    d_model: int = 128
    heads: int = 4
    layers: int = 4


class CausalSelfAttention(nn.Module):
    """Let each position read itself and those before it, with several heads."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.d_model, config.d_model)
        self.key = nn.Linear(config.d_model, config.d_model)
        self.value = nn.Linear(config.d_model, config.d_model)
        self.out = nn.Linear(config.d_model, config.d_model)

    def split(self, x):
        """(batch, n, d_model) -> (batch, heads, n, d_k)"""
        batch, n, d_model = x.shape
        return x.reshape(batch, n, self.heads, d_model // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.split(part(x)) for part in (self.query, self.key, self.value))
        scores = q @ k.mT / math.sqrt(k.shape[-1])  # (batch, heads, n, n)
        allowed = torch.ones_like(scores).tril() == 1
        weights = torch.where(allowed, scores, -torch.inf).softmax(-1)
        output = (weights @ v).transpose(1, 2)  # (batch, n, heads, d_k)
        return self.out(output.reshape(x.shape))


class FeedForward(nn.Module):
    """Two linear layers and a nonlinearity, applied to each position separately."""

    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(config.d_model, 4 * config.d_model)
        self.down = nn.Linear(4 * config.d_model, config.d_model)
        self.gelu = nn.GELU("tanh")

    def forward(self, x):
        return self.down(self.gelu(self.up(x)))


class Block(nn.Module):
    """Add attention's and the feed-forward network's output to the residual stream."""

    def __init__(self, config):
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.d_model)
        self.attention = CausalSelfAttention(config)
        self.feed_forward_norm = nn.LayerNorm(config.d_model)
        self.feed_forward = FeedForward(config)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


# ----- Chapter 12: the model


class GPT(nn.Module):
    """Predict every next token: ids (batch, n) -> logits (batch, n, vocab_size)."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position_embedding = nn.Embedding(config.context_length, config.d_model)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.d_model)
        initialise(self)

    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        for block in self.layers:
            x = block(x)
        # The same matrix embeds and predicts.
        return self.norm(x) @ self.token_embedding.weight.T


def loss_on(model, ids, targets):
    """The mean of -ln p, where p is the probability of the true next token."""
    return cross_entropy(model(ids).flatten(0, 1), targets.flatten())


def sample(logits, temperature, top_p):
    """Sample an id from the likeliest tokens that together reach top_p."""
    if temperature == 0:
        return logits.argmax()
    probabilities, ids = (logits / temperature).softmax(-1).sort(descending=True)
    before = probabilities.cumsum(-1) - probabilities  # of all likelier tokens
    probabilities[before >= top_p] = 0
    return ids[torch.multinomial(probabilities, 1).item()]


@torch.no_grad()
def generate(model, ids, count, temperature=1.0, top_p=1.0):
    """Continue a sequence of ids by `count` tokens, one at a time."""
    for _ in range(count):
        window = ids[-model.config.context_length :]
        logits = model(window[None])[0, -1]
        ids = torch.cat([ids, sample(logits, temperature, top_p)[None]])
    return ids


# ----- Chapter 13: initialisation, batches, the loop


def initialise(model, std=0.02):
    """Start from small random weights, smaller where a block adds to the stream."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=std)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
    for block in model.layers:
        for output in (block.attention.out, block.feed_forward.down):
            nn.init.normal_(output.weight, std=std / math.sqrt(2 * len(model.layers)))


def course_text():
    """Return the prose of this course's pages, beside this file, without code."""
    pages = sorted(Path(__file__).parent.glob("[0-9]*.md"))
    text = "\n".join(page.read_text("utf8") for page in pages)
    return re.sub(r"(?ms)^```.*?^```$", "", text)


def encode(text):
    return torch.tensor(list(text.encode("utf8")))


def decode(ids):
    return bytes(ids.tolist()).decode("utf8", errors="replace")


def windows(ids, starts, n):
    """Return the n tokens at each of these starts, and the token after each."""
    rows = ids[starts[:, None] + torch.arange(n + 1, device=ids.device)]
    return rows[:, :-1], rows[:, 1:]


@torch.no_grad()
def evaluate(model, ids, count=64):
    """Measure the loss on `count` windows, spread evenly over a text."""
    n = model.config.context_length
    starts = torch.linspace(0, len(ids) - n - 1, count, device=ids.device).long()
    return loss_on(model, *windows(ids, starts, n)).item()


def learning_rate(step, steps, peak, warmup=20):
    """Rise to the peak in `warmup` steps, then fall to a tenth on half a cosine."""
    if step < warmup:
        return peak * (step + 1) / warmup
    done = (step + 1 - warmup) / (steps - warmup)
    return peak * (0.1 + 0.9 * (1 + math.cos(math.pi * done)) / 2)


def adamw(model):
    """Return AdamW, with weight decay on the matrices and none on biases and norms."""
    matrices = [p for p in model.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others}]
    return torch.optim.AdamW(groups, betas=(0.9, 0.95), weight_decay=0.0)


def train(model, ids, new, steps=1500, batch=16, peak=3e-3, every=100, starts=None):
    """Train a model; after each `every` steps, yield the step and both losses.

    A window starts anywhere in the text, or at one of `starts`.
    """
    optimizer = adamw(model)
    n = model.config.context_length
    if starts is None:
        starts = torch.arange(len(ids) - n, device=ids.device)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, peak)
        chosen = starts[torch.randint(len(starts), (batch,), device=ids.device)]
        # 1 forward pass, 2 cross-entropy
        loss = loss_on(model, *windows(ids, chosen, n))
        # 3 backward pass
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        # 4 optimizer step
        optimizer.step()
        if (step + 1) % every == 0:
            yield step + 1, evaluate(model, ids), evaluate(model, new)


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    text = Path(sys.argv[1]).read_text("utf8") if len(sys.argv) > 1 else course_text()
    ids = encode(text).to(device)
    training, validation = ids[: len(ids) * 9 // 10], ids[len(ids) * 9 // 10 :]
    model = GPT(Config()).to(device)
    print(f"{len(ids):,} bytes, {sum(p.numel() for p in model.parameters()):,} parameters")
    for step, loss, validation_loss in train(model, training, validation):
        print(f"step {step}: training loss {loss:.2f}, validation loss {validation_loss:.2f}")
    print(decode(generate(model, encode("\nAttention ").to(device), 500, 0.8, 0.95)))


if __name__ == "__main__":
    main()
