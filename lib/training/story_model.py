"""The story model of chapter 8: the language of chapter 1's stories, and a decoder for it."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import nn
from torch.nn.functional import cross_entropy

from lib import seeds
from lib.attention import masks
from lib.attention.multi_head import MultiHeadAttention

KINDS = {
    "the": ["the"],
    "adjective": ["fluffy", "blue", "small", "old"],
    "noun": ["creature", "fox", "owl", "cat", "dog"],
    "verb": ["sees", "follows", "helps", "finds"],
    ".": ["."],
}
PATTERN = ["the", "adjective", "noun", "verb", "the", "adjective", "noun", "."]
WORDS = [word for words in KINDS.values() for word in words]
IDS = {kind: [WORDS.index(word) for word in words] for kind, words in KINDS.items()}
CONTEXT_LENGTH = 10
LOWER_BOUND = (3 * math.log(4) + 2 * math.log(5)) / CONTEXT_LENGTH
"""The entropy per label: three labels are one of 4 words, two are one of 5, five are certain."""
UNIFORM_LOSS = math.log(len(WORDS))
"""The loss of a model that gives every word the same probability."""

Masking = Callable[..., torch.Tensor] | None
"""What builds the mask of n tokens, such as `masks.causal`; None for no mask."""


def sample_stories(count: int, seed: int) -> Int[torch.Tensor, "batch n"]:
    """Sample stories of 11 tokens: ten inputs, and ten labels shifted by one.

    Each word is uniform within its kind; the last three words repeat the object.

    Source: this course.
    Taught in: chapter 8.
    """
    rng = seeds.generator(seed)
    columns = [torch.tensor(rng.choice(IDS[kind], size=count)) for kind in PATTERN]
    return torch.stack(columns + columns[4:7], dim=1)


class StoryModel(nn.Module):
    """A decoder of embeddings and attention: each layer adds what it attends to, nothing else.

    Source: Vaswani et al. 2017, without norms or feed-forward networks.
    Taught in: chapter 8.
    """

    def __init__(self, layers: int = 2, d_model: int = 32, heads: int = 4):
        super().__init__()
        self.word = nn.Embedding(len(WORDS), d_model)
        self.position = nn.Embedding(CONTEXT_LENGTH, d_model)
        self.layers = nn.ModuleList(MultiHeadAttention(d_model, heads) for _ in range(layers))
        self.next_word = nn.Linear(d_model, len(WORDS))

    def forward(
        self, ids: Int[torch.Tensor, "batch n"], masking: Masking = masks.causal
    ) -> Float[torch.Tensor, "batch n vocab"]:
        """Return the logits of the next word at every position; masking=None hides nothing."""
        n = ids.shape[-1]
        mask = masking(n, like=ids) if masking else None  # (n, n)
        x = self.word(ids) + self.position.weight[:n]  # (batch, n, d_model)
        for layer in self.layers:
            x = x + layer(x, mask=mask).output
        return self.next_word(x)


def story_loss(
    model: nn.Module, stories: Int[torch.Tensor, "batch n"], masking: Masking = masks.causal
) -> Float[torch.Tensor, ""]:
    """Return the mean negative log-probability of the true next words.

    Source: the cross-entropy of a language model.
    Taught in: chapter 8.
    """
    logits = model(stories[:, :-1], masking)  # (batch, n, vocab)
    return cross_entropy(logits.flatten(0, 1), stories[:, 1:].flatten())


def train_story_model(
    masking: Masking = masks.causal, *, seed: int = 0, layers: int = 2, steps: int = 400
) -> tuple[StoryModel, list[float]]:
    """Train a story model, on new stories at every step. Return it with the loss of each step.

    Source: Kingma and Ba 2015 for the optimizer, Adam.
    Taught in: chapter 8.
    """
    seeds.set_seed(seed)
    model, losses = StoryModel(layers), []
    stories = sample_stories(64 * steps, seed).split(64)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for batch in stories:
        loss = story_loss(model, batch, masking)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


@torch.no_grad()
def write_stories(
    model: nn.Module, count: int, seed: int, masking: Masking = masks.causal
) -> Int[torch.Tensor, "batch n"]:
    """Sample stories word by word from the predictions of a model, each from "the".

    Source: ancestral sampling.
    Taught in: chapter 8.
    """
    chance = torch.Generator().manual_seed(seed)
    ids = torch.full((count, 1), WORDS.index("the"))
    while ids.shape[1] < CONTEXT_LENGTH:
        p = model(ids, masking)[:, -1].softmax(-1)  # (batch, vocab)
        ids = torch.cat([ids, torch.multinomial(p, 1, generator=chance)], dim=1)
    return ids


def is_allowed(story: Int[torch.Tensor, " n"]) -> bool:
    """Say whether ten words follow the grammar: each of its kind, and the object repeated.

    Source: this course.
    Taught in: chapter 8.
    """
    pairs = zip(story.tolist(), (PATTERN + PATTERN)[:CONTEXT_LENGTH], strict=True)
    return all(token in IDS[kind] for token, kind in pairs) and bool(story[9] == story[5])
