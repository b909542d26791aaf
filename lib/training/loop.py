"""The complete training loop of a GPT-2, for one process and one precision."""

from collections.abc import Iterator
from typing import NamedTuple

from torch import nn

from lib.models.gpt2 import GPT2, next_token_loss
from lib.training.optimizers import Recipe, build_optimizers, set_learning_rates
from lib.training.windows import Corpus, evaluate


class StepRecord(NamedTuple):
    """The record of one step; `step` counts from 1, and the losses are in nats per token.

    `loss` is measured on the batch of the step, before the update; `validation`, if requested, on
    held-out text after it.
    """

    step: int
    loss: float
    rate: float
    norm: float
    validation: float | None


def train(
    model: GPT2,
    corpus: Corpus,
    recipe: Recipe,
    *,
    validation: Corpus | None = None,
    rows: int = 64,
    every: int = 25,
) -> Iterator[StepRecord]:
    """Train the model in place, one step for each record that is requested.

    Between two records the model is in eval mode and may be evaluated or sampled from.
    After `every` steps, and after the last, the loss is measured on `rows` windows of the
    validation text. `lib.training.resumable` adds checkpoints, several processes and bfloat16.

    Source: Brown et al. 2020, appendix B.
    Taught in: chapter 13.
    Raises: ValueError for `every` or `rows` below 1, or a recipe that accumulates gradients.
    """
    if every < 1 or rows < 1:
        raise ValueError(f"`every` and `rows` must be at least 1; got {every} and {rows}.")
    if recipe.accumulate != 1:
        raise ValueError("This loop needs accumulate = 1. To accumulate, use train_resumable.")
    optimizers = build_optimizers(model, recipe)
    for step in range(recipe.steps):
        model.train()
        ids, targets = (x.to(model.device) for x in corpus.draw(recipe, step))  # (batch, context)
        loss = next_token_loss(model(ids).logits, targets)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), recipe.grad_clip)
        rate = set_learning_rates(optimizers, recipe, step)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        due = (step + 1) % every == 0 or step + 1 == recipe.steps
        held_out = evaluate(model, validation, recipe.context, rows) if validation and due else None
        yield StepRecord(step + 1, loss.item(), rate, norm.item(), held_out)
