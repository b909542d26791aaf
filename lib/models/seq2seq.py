"""A small encoder-decoder: one part reads the source, the other writes and looks back at it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from lib.attention import masks
from lib.attention.multi_head import MultiHeadAttention
from lib.attention.positions import sinusoidal
from lib.models.block import Block, FeedForward, LayerNorm
from lib.shapes import AttentionOutput
from lib.text.tokenizers import WordTokenizer

NOTHING = 0  # no word: it fills short rows, and the decoder reads it before its first word
END = "."  # the last word of every sentence, on both sides

Sentences = list[list[str]]


class Memory(NamedTuple):
    """What the encoder hands over: a vector for each source word, and which words are real."""

    vectors: Float[Tensor, "batch key d_source"]
    real: Bool[Tensor, "batch 1 key"]


class Written(NamedTuple):
    """A sentence that the decoder wrote, with the weights of each of its words on the source."""

    words: list[str]
    weights: Float[Tensor, "query key"]


def pad(
    rows: list[list[int]], *, like: Tensor | None = None
) -> tuple[Int[Tensor, "batch n"], Bool[Tensor, "batch 1 n"]]:
    """Make a rectangle of rows of different lengths, and say which of its cells are real.

    Both come to the device of `like`.

    Source: the common practice; the mask is `lib.attention.masks.padding`.
    Taught in: chapter 10.
    Raises: ValueError if there is no row, or one of them is empty.
    """
    if not rows or not all(rows):
        raise ValueError(f"Each of one or more rows holds something, and these do not: {rows}.")
    device = None if like is None else like.device
    longest = max(map(len, rows))
    ids = [[*row, *[NOTHING] * (longest - len(row))] for row in rows]
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return torch.tensor(ids, device=device), masks.padding(lengths, longest)


def _rows(tokenizer: WordTokenizer, sentences: Sentences) -> list[list[int]]:
    """The ids of the words; an unknown word is an error here, since `NOTHING` stands for none."""
    for words in sentences:
        if isinstance(words, str):
            raise ValueError(f"A sentence is a list of words, and {words!r} is one text: split it.")
        unknown = [word for word in words if word not in tokenizer.ids]
        if unknown:
            raise ValueError(
                f"The vocabulary does not hold {unknown} of {words}. "
                f"It knows these words: {' '.join(tokenizer.vocabulary[1:])}"
            )
    return [[tokenizer.ids[word] for word in words] for words in sentences]


class SourceEncoder(nn.Module):
    """Read the source: self-attention in both directions, so that each word knows the others.

    Source: Vaswani et al. 2017, section 3.1, with the norms first (Xiong et al. 2020).
    Taught in: chapter 10.
    Raises: ValueError for an unknown word, an empty sentence, or a text that was not split.
    """

    def __init__(self, words: WordTokenizer, d_model: int, heads: int, layers: int, d_ff: int):
        super().__init__()
        self.tokenizer = words
        self.token_embedding = nn.Embedding(len(words), d_model)
        self.layers = nn.ModuleList(Block(d_model, heads, d_ff) for _ in range(layers))
        self.norm = LayerNorm(d_model)

    def forward(self, sentences: Sentences) -> Memory:
        """Turn sentences into vectors; a pad is hidden from every real word."""
        ids, real = pad(_rows(self.tokenizer, sentences), like=self.token_embedding.weight)
        x = self.token_embedding(ids)  # (batch, key, d_model)
        x = x + sinusoidal(x.shape[-2], x.shape[-1], like=x)
        for layer in self.layers:
            x, _ = layer(x, real[:, None])
        return Memory(self.norm(x), real)


class DecoderBlock(nn.Module):
    """One layer of a decoder: attend to what was written, attend to the source, then think.

    Source: Vaswani et al. 2017, section 3.1, with the norms first (Xiong et al. 2020).
    Taught in: chapter 10.
    """

    def __init__(self, d_model: int, heads: int, d_ff: int, d_source: int):
        super().__init__()
        self.attention, self.attention_norm = (
            MultiHeadAttention(d_model, heads), LayerNorm(d_model),
        )  # fmt: skip
        # One head, so that there is one alignment to read.
        self.cross, self.cross_norm = (
            MultiHeadAttention(d_model, 1, d_source=d_source), LayerNorm(d_model),
        )  # fmt: skip
        self.feed_forward, self.feed_forward_norm = FeedForward(d_model, d_ff), LayerNorm(d_model)

    def forward(self, x: Float[Tensor, "batch query d_model"], memory: Memory) -> AttentionOutput:
        """Return the changed stream, and the weights on the source: (batch, query, key)."""
        past = masks.causal(x.shape[-2], like=x)
        x = x + self.attention(self.attention_norm(x), mask=past).output
        found, weights = self.cross(self.cross_norm(x), memory.vectors, memory.real[:, None])
        x = x + found
        return AttentionOutput(x + self.feed_forward(self.feed_forward_norm(x)), weights[:, 0])


class Seq2Seq(nn.Module):
    """Encoder and decoder, with the words of both languages.

    `encoder` may be any callable from sentences to a `Memory` whose vectors are d_source wide.

    Source: Vaswani et al. 2017, figure 1, at a thousandth of the size.
    Taught in: chapter 10.
    Raises: ValueError if the target has no full stop to end with; for an unknown word.
    """

    def __init__(
        self,
        source: Iterable[str],
        target: Iterable[str],
        *,
        d_model: int = 32,
        heads: int = 2,
        layers: int = 1,
        d_ff: int = 64,
        encoder: Callable[[Sentences], Memory] | None = None,
        d_source: int | None = None,
    ):
        super().__init__()
        self.target = WordTokenizer(target)
        if END not in self.target.ids:
            raise ValueError(f"Every sentence ends with {END!r}: add it to the target's words.")
        if encoder is None:
            encoder = SourceEncoder(WordTokenizer(source), d_model, heads, layers, d_ff)
        self.encoder = encoder
        self.token_embedding = nn.Embedding(len(self.target), d_model)
        self.block = DecoderBlock(d_model, heads, d_ff, d_source or d_model)
        self.norm = LayerNorm(d_model)
        self.vocab = nn.Linear(d_model, len(self.target))

    def forward(self, memory: Memory, written: Int[Tensor, "batch query"]) -> AttentionOutput:
        """Score every word of the vocabulary as the next one, after each word written so far."""
        x = self.token_embedding(written)  # (batch, query, d_model)
        x, weights = self.block(x + sinusoidal(x.shape[-2], x.shape[-1], like=x), memory)
        return AttentionOutput(self.vocab(self.norm(x)), weights)

    def shifted(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """What the decoder reads, and what it should answer: the same words, one step apart."""
        answers, _ = pad(_rows(self.target, sentences), like=self.token_embedding.weight)
        read = torch.full_like(answers, NOTHING)
        read[:, 1:] = answers[:, :-1]
        return read, answers

    def loss(self, sources: Sentences, targets: Sentences) -> Float[Tensor, ""]:
        """The mean cross-entropy of the right next word, over the real words of the targets.

        Raises: ValueError if there are not as many targets as sources.
        """
        if len(sources) != len(targets):
            raise ValueError(f"{len(sources)} sources cannot be paired with {len(targets)} targets")
        read, answers = self.shifted(targets)
        scores = self(self.encoder(sources), read).output  # (batch, query, vocab)
        return cross_entropy(scores.transpose(1, 2), answers, ignore_index=NOTHING)

    @torch.no_grad()
    def align(self, sources: Sentences, targets: Sentences) -> list[Float[Tensor, "query key"]]:
        """The weights on the source while the decoder is led along the given targets."""
        weights = self(self.encoder(sources), self.shifted(targets)[0]).weights
        pairs = zip(weights, sources, targets, strict=True)
        return [table[: len(target), : len(source)] for table, source, target in pairs]

    @torch.no_grad()
    def write(self, memory: Memory, longest: int = 16) -> list[Written]:
        """Write greedily: at each step the best next word, until the full stop.

        The source was read once, before the first step; only the decoder runs again.

        Raises: ValueError if there is no room for a word.
        """
        if longest < 1:
            raise ValueError(f"longest is the room for words, at least 1, and it is {longest}")
        end = self.target.ids[END]
        written = torch.full((len(memory.real), 1), NOTHING, device=memory.real.device)
        while written.shape[1] <= longest and not (written == end).any(dim=1).all():
            scores, weights = self(memory, written)
            written = torch.cat([written, scores[:, -1:].argmax(dim=-1)], dim=1)
        return [
            self._until_the_end(row, table, real)
            for row, table, real in zip(written[:, 1:].tolist(), weights, memory.real, strict=True)
        ]

    def translate(self, sentences: Sentences) -> list[Written]:
        """Read the sentences once and write their translations."""
        with torch.no_grad():
            return self.write(self.encoder(sentences))

    def _until_the_end(self, ids: list[int], weights: Tensor, real: Tensor) -> Written:
        end = self.target.ids[END]
        length = ids.index(end) + 1 if end in ids else len(ids)
        words = [self.target.vocabulary[i] for i in ids[:length]]
        return Written(words, weights[:length, real[0]])


def train(
    model: Seq2Seq,
    draw: Callable[[int], tuple[Sentences, Sentences]],
    steps: int,
    *,
    rate: float = 1e-2,
    watch: Callable[[int, str], Iterable[int]] = lambda steps, label: range(steps),
) -> list[float]:
    """Train on what `draw(step)` gives, sources and targets, and return the loss of each step.

    The rate rises for a tenth of the steps and then falls to nothing;
    Adam's memory of past gradients goes the other way, from .95 to .85 and back.

    Source: Kingma and Ba 2015 (Adam); Smith and Topin 2018 (one cycle of the rate).
    Taught in: chapter 10.
    """
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    adam = torch.optim.Adam(trained, lr=rate, betas=(0.95, 0.98), fused=True)
    cycle = torch.optim.lr_scheduler.OneCycleLR(adam, rate, total_steps=steps, pct_start=0.1)
    losses = []
    for step in watch(steps, "training"):
        loss = model.loss(*draw(step))
        adam.zero_grad()
        loss.backward()
        adam.step()
        cycle.step()
        losses.append(loss.item())
    return losses
