"""Training that can be stopped, resumed, and distributed over several processes.

Every random choice of a step is derived from the seed and the step, never from the state of a
process. So an interrupted run resumes with identical steps, and several processes take the same
steps as a single process.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from lib.models.gpt2 import GPT2, next_token_loss
from lib.seeds import generator
from lib.text.tokenizers import BytePair
from lib.training import checkpoints
from lib.training.loop import StepRecord
from lib.training.optimizers import Recipe, build_optimizers, set_learning_rates
from lib.training.windows import Corpus, evaluate


def train_resumable(
    model: GPT2,
    corpus: Corpus,
    recipe: Recipe,
    *,
    validation: Corpus | None = None,
    rows: int = 64,
    every: int = 25,
    checkpoint: str | Path | None = None,
    tokenizer: BytePair | None = None,
) -> Iterator[StepRecord]:
    """Take the steps of `lib.training.loop.train`, with checkpoints and several processes.

    Between two records the model is in eval mode and may be evaluated or sampled from.
    After `every` steps, and after the last, it is evaluated on `rows` windows of the validation
    text and saved as the checkpoint. If the checkpoint exists at the start, the run resumes from
    it. Under `torchrun` each process trains on its share of every batch.

    Source: Brown et al. 2020, appendix B; Li et al. 2020 for several processes.
    Taught in: chapter 13.
    Raises: ValueError for a checkpoint of a different run, or a batch that cannot be divided.
    """
    if every < 1 or rows < 1:
        raise ValueError(f"`every` and `rows` must be at least 1; got {every} and {rows}.")
    optimizers, done = build_optimizers(model, recipe), 0
    text = checkpoints.fingerprint(torch.cat([corpus.ids, corpus.starts])) if checkpoint else ""
    if checkpoint and Path(checkpoint).exists():
        done = checkpoints.resume(Path(checkpoint), model, optimizers, recipe, text)
    rank, count = process()
    parallel = DistributedDataParallel(model) if count > 1 else model
    model.eval()
    for step in range(done, recipe.steps):
        model.train()
        loss = gradients(parallel, corpus, recipe, step)
        rate, norm = update(model, optimizers, recipe, step)
        model.eval()
        now = (step + 1) % every == 0 or step + 1 == recipe.steps
        held_out = evaluate(model, validation, recipe.context, rows) if validation and now else None
        if checkpoint and now and rank == 0:
            checkpoints.save(Path(checkpoint), model, optimizers, recipe, step + 1, text, tokenizer)
        yield StepRecord(step + 1, loss, rate, norm, held_out)


def gradients(model: nn.Module, corpus: Corpus, recipe: Recipe, step: int) -> float:
    """Accumulate the gradient of one step's loss in the parameters, and return the loss.

    The batch is divided among the processes, and each divides its share into `accumulate` parts.
    The loss of a part is divided by their number, so that the gradients sum to that of the mean.
    DistributedDataParallel averages the gradients of the processes once, after the last part.

    Source: Goyal et al. 2017, section 3; Li et al. 2020, section 3.2.4 (no_sync).
    Taught in: chapter 13.
    Raises: ValueError if the batch is not a multiple of processes times parts.
    """
    rank, count = process()
    _check_shares(recipe, count)
    device = next(model.parameters()).device
    mine = [x.chunk(count)[rank].to(device) for x in corpus.draw(recipe, step)]
    parts = list(zip(*(x.chunk(recipe.accumulate) for x in mine), strict=True))
    total = torch.zeros((), device=device)
    with _own_numbers(device, "dropout", recipe.seed, step, rank):
        for i, (ids, targets) in enumerate(parts, 1):
            with model.no_sync() if count > 1 and i < len(parts) else nullcontext():
                with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                    loss = next_token_loss(model(ids).logits, targets) / len(parts)
                loss.backward()
            total += loss.detach()
    if count > 1:
        dist.all_reduce(total)
    return total.item() / count


def update(
    model: nn.Module, optimizers: list[Optimizer], recipe: Recipe, step: int
) -> tuple[float, float]:
    """Clip the gradient, take one optimizer step, and clear the gradient.

    Returns AdamW's learning rate, and the gradient norm before clipping.

    Source: Pascanu et al. 2013, algorithm 1 (clipping).
    Taught in: chapter 13.
    """
    norm = nn.utils.clip_grad_norm_(model.parameters(), recipe.grad_clip)
    rate = set_learning_rates(optimizers, recipe, step)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    return rate, norm.item()


def process() -> tuple[int, int]:
    """Return the rank and the number of processes: 0 and 1 without `torchrun`.

    Source: torch.distributed.
    Taught in: chapter 13.
    """
    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)


def _check_shares(recipe: Recipe, count: int) -> None:
    if recipe.batch % (count * recipe.accumulate):
        raise ValueError(
            f"`batch` must be a multiple of processes x accumulate = {count} x "
            f"{recipe.accumulate}; got {recipe.batch}. "
            f"Choose a multiple of {count * recipe.accumulate}."
        )


@contextmanager
def _own_numbers(device: torch.device, *seed: int | str) -> Iterator[None]:
    """Use a generator with these seeds inside the context, then restore the previous state."""
    cuda = device.type == "cuda"
    source = torch.cuda.default_generators[device.index] if cuda else torch.default_generator
    before = source.get_state()
    source.manual_seed(generator(*seed).integers(2**63).item())
    try:
        yield
    finally:
        source.set_state(before)
