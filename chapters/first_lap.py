"""The first lap: a language model with one layer of attention, trained in seconds on tiny stories.

Run `python first_lap.py`; it needs PyTorch. Chapter 1 shows this file and explains every line.
"""

import random

import torch
from torch import nn
from torch.nn.functional import cross_entropy

KINDS = {
    "the": ["the"],
    "adjective": ["fluffy", "blue", "small", "old"],
    "noun": ["creature", "fox", "owl", "cat", "dog"],
    "verb": ["sees", "follows", "helps", "finds"],
    ".": ["."],
}
PATTERN = ["the", "adjective", "noun", "verb", "the", "adjective", "noun", "."]
WORDS = [word for kind in KINDS.values() for word in kind]


def attention(q, k, v, masked):
    """q, k, v (batch, n, d_k) -> output (batch, n, d_k), weights (batch, n, n)."""
    scores = q @ k.mT / k.shape[-1] ** 0.5  # k.mT: k.T for each text
    if masked:  # as before, with tril() in place of np.tri
        scores = torch.where(torch.ones_like(scores).tril() == 1, scores, -torch.inf)
    weights = scores.softmax(-1)  # along each row
    return weights @ v, weights


class Head(nn.Module):
    """One head of attention, with its three matrices."""

    def __init__(self, d, d_k, masked):
        super().__init__()  # a line that PyTorch needs
        self.masked = masked
        self.query = nn.Linear(d, d_k, bias=False)  # self.query(x) is x W_q
        self.key = nn.Linear(d, d_k, bias=False)
        self.value = nn.Linear(d, d_k, bias=False)

    def forward(self, x):
        """x (batch, n, d) -> output (batch, n, d_k), weights (batch, n, n)."""
        return attention(self.query(x), self.key(x), self.value(x), self.masked)


class TinyModel(nn.Module):
    """A language model with one layer of four heads."""

    def __init__(self, masked, d=64, heads=4):
        super().__init__()
        self.word = nn.Embedding(len(WORDS), d)  # a table of 15 learned vectors
        self.position = nn.Embedding(10, d)  # 10 positions: word 11 is only a label
        self.heads = nn.ModuleList(Head(d, d // heads, masked) for _ in range(heads))
        self.next_word = nn.Linear(d, len(WORDS))  # a matrix, from 64 to 15 numbers

    def embed(self, ids):  # 1. (batch, n) -> (batch, n, 64)
        return self.word(ids) + self.position(torch.arange(ids.shape[1]))

    def forward(self, ids):
        x = self.embed(ids)
        outputs = [head(x)[0] for head in self.heads]  # 2. four outputs, (batch, n, 16)
        x = x + torch.cat(outputs, -1)  # 3. side by side (batch, n, 64), and added
        return self.next_word(x)  # 4. (batch, n, 15)


def sample_story():
    """Return eleven words; the last three repeat the object of the sentence."""
    sentence = [random.choice(KINDS[kind]) for kind in PATTERN]
    return sentence + sentence[4:7]


def sample_batch(count):
    """Sample stories as numbers, one for each word. -> (count, 11)"""
    return torch.tensor([[WORDS.index(w) for w in sample_story()] for _ in range(count)])


def loss_on(model, stories):
    """The mean of -ln p, where p is the probability of the true next word."""
    logits, labels = model(stories[:, :-1]), stories[:, 1:]  # labels: shifted by one
    # flatten: the questions of all texts in one list; softmax is included
    return cross_entropy(logits.flatten(0, 1), labels.flatten())


def train(masked, seed=4, steps=400):
    """Train a model from random numbers, always on new stories."""
    random.seed(seed)
    torch.manual_seed(seed)
    model, losses = TinyModel(masked), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(steps):
        loss = loss_on(model, sample_batch(64))  # on 64 new stories
        optimizer.zero_grad()  # forget the gradient of the last step
        loss.backward()  # the gradient of the loss
        optimizer.step()  # a small step against the gradient
        losses.append(loss.item())
    return model, losses


@torch.no_grad()
def write(model):
    """Let a model write a story, word by word."""
    ids = [WORDS.index("the")]
    while len(ids) < 11:
        probabilities = model(torch.tensor([ids]))[0, -1].softmax(-1)
        ids.append(torch.multinomial(probabilities, 1).item())
    return " ".join(WORDS[i] for i in ids)


with_mask, losses_with = train(masked=True)
print(f"with the mask, loss {losses_with[-1]:.2f}:")
print(*[write(with_mask) for _ in range(4)], sep="\n")

without_mask, losses_without = train(masked=False)
print(f"without the mask, loss {losses_without[-1]:.2f}:")
print(*[write(without_mask) for _ in range(4)], sep="\n")
