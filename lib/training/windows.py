"""Windows of a text with their targets, and the loss of a model on them."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lib.models.gpt2 import GPT2
from lib.seeds import generator
from lib.text.tokenizers import BytePair
from lib.training.optimizers import Recipe


class Corpus(NamedTuple):
    """A text as ids, and the positions at which a window may start, in ascending order.

    Source: Radford et al. 2019, section 2.1, for one long text; the starts are this course's.
    Taught in: chapter 13.
    """

    ids: Int[Tensor, "n"]
    starts: Int[Tensor, "batch"]

    @classmethod
    def read(cls, text: str, tokenizer: BytePair, *, by_line: bool = True) -> "Corpus":
        """Encode a text; its windows start at the start of a line, or at any token.

        A window that starts with a story never needs tokens from before the window.

        Raises: ValueError for an empty text.
        """
        if not text:
            raise ValueError("`text` must hold at least one line; got an empty text.")
        if not by_line:
            ids = torch.tensor(tokenizer.encode(text))
            return cls(ids, torch.arange(len(ids)))
        lines = [torch.tensor(tokenizer.encode(line)) for line in text.splitlines(keepends=True)]
        lengths = torch.tensor([0, *map(len, lines)])
        return cls(torch.cat(lines), lengths.cumsum(0)[:-1])

    def windows(
        self, n: int, chosen: Int[Tensor, "batch"] | slice = slice(None)
    ) -> tuple[Int[Tensor, "batch n"], Int[Tensor, "batch n"]]:
        """Return windows of n tokens, and their targets: the windows shifted by one token.

        Windows are numbered in the order of their starts; higher numbers wrap around.

        Raises: ValueError if the text has no window of that length.
        """
        count = int(torch.searchsorted(self.starts, len(self.ids) - n))
        if count == 0:
            raise ValueError(
                f"A window of {n} tokens and its targets need at least {n + 1} tokens from a start "
                f"on; the text has {len(self.ids)}. Give more text, or a shorter context."
            )
        starts = self.starts[:count][chosen if isinstance(chosen, slice) else chosen % count]
        rows = self.ids[starts[:, None] + torch.arange(n + 1)]
        return rows[:, :-1], rows[:, 1:]

    def draw(
        self, recipe: Recipe, step: int
    ) -> tuple[Int[Tensor, "batch n"], Int[Tensor, "batch n"]]:
        """Sample the batch of one step, which depends only on the seed and the step."""
        numbers = generator("windows", recipe.seed, step).integers(2**40, size=recipe.batch)
        return self.windows(recipe.context, torch.from_numpy(numbers))


@torch.no_grad()
def token_losses(
    model: GPT2, corpus: Corpus, n: int, rows: int | None = None, batch: int = 64
) -> Float[Tensor, "batch n"]:
    """Compute the loss at each token of the first windows of a text, without dropout.

    Source: Radford et al. 2019, equation 1, token by token.
    Taught in: chapter 13.
    """
    training, device = model.training, model.token_embedding.weight.device
    model.eval()
    losses = []
    for ids, targets in zip(*(x.split(batch) for x in corpus.windows(n, slice(rows))), strict=True):
        logits = model(ids.to(device)).logits  # (batch, n, vocab)
        losses.append(F.cross_entropy(logits.mT, targets.to(device), reduction="none"))
    model.train(training)
    return torch.cat(losses).cpu()


def evaluate(model: GPT2, corpus: Corpus, n: int, rows: int | None = None) -> float:
    """Compute the mean loss on the first windows of a text, without dropout.

    Source: Radford et al. 2019, equation 1.
    Taught in: chapter 13.
    """
    return token_losses(model, corpus, n, rows).mean().item()
