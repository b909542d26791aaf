"""Train a GPT-2 from the command line: `python -m lib.training`."""

import argparse
import json
import os
from pathlib import Path

import torch
import torch.distributed as dist

from lib.datasets.stories import split
from lib.models.config import Config
from lib.models.generation import write
from lib.models.gpt2 import GPT2
from lib.text.tokenizers import BytePair
from lib.training import options
from lib.training.loop import StepRecord
from lib.training.resumable import process, train_resumable
from lib.training.windows import Corpus


def main(arguments: list[str] | None = None) -> None:
    """Train as the command line says: one process alone, or each that `torchrun` starts.

    Source: the environment that torchrun gives to its processes.
    Taught in: chapter 13.
    """
    parser = options.parser()
    said = parser.parse_args(arguments)
    graphics = torch.cuda.is_available() and not said.cpu
    local = int(os.environ.get("LOCAL_RANK", 0))
    if graphics:
        torch.cuda.set_device(local)
    if started := "LOCAL_RANK" in os.environ:
        dist.init_process_group("nccl" if graphics else "gloo")
    try:
        _run(said, torch.device("cuda", local) if graphics else torch.device("cpu"))
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    finally:
        if started:
            dist.destroy_process_group()


def _run(said: argparse.Namespace, device: torch.device) -> None:
    recipe = options.recipe(said)
    tokenizer, corpus, validation = _texts(said)
    sizes = {"d_model": said.width, "heads": said.heads, "layers": said.layers}
    torch.manual_seed(recipe.seed)
    config = Config(len(tokenizer), recipe.context, dropout=said.dropout, **sizes)
    model = GPT2(config).to(device)
    records = train_resumable(
        model, corpus, recipe, validation=validation, rows=said.rows, every=said.every,
        checkpoint=said.checkpoint, tokenizer=tokenizer,
    )  # fmt: skip
    rank, count = process()
    if rank == 0:
        print(f"{sum(one.numel() for one in model.parameters()):,} parameters, "
              f"{len(corpus.ids):,} tokens of {len(tokenizer)} kinds, "
              f"{count} process{'es' * (count > 1)} on {device.type}", flush=True)  # fmt: skip
    for record in records:
        if rank == 0:
            _tell(said, record, model, tokenizer)


def _texts(said: argparse.Namespace) -> tuple[BytePair, Corpus, Corpus]:
    """The tokeniser, learned from the training text alone, and the two texts."""
    if said.text:
        text = _whole(said.text)
        training, held_out = text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :]
    else:
        parts = split(said.stories, 100)
        training, held_out = ("".join(story.text for story in told) for told in parts)
    tokenizer = BytePair.train(training, said.merges)
    return tokenizer, *(
        Corpus.read(part, tokenizer, by_line=not said.text) for part in (training, held_out)
    )


def _whole(path: Path) -> str:
    try:
        return path.read_text("utf8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8: {error}. Save it as UTF-8 first.") from error


def _tell(said: argparse.Namespace, record: StepRecord, model: GPT2, tokenizer: BytePair) -> None:
    """Print what there is to see now and then, and log every step."""
    if said.records:
        with said.records.open("a") as file:
            print(json.dumps(record._asdict()), file=file)
    if record.validation is None:
        return
    print(f"step {record.step:5}  loss {record.loss:.4f}  validation {record.validation:.4f}  "
          f"rate {record.rate:.1e}  gradient {record.norm:.2f}", flush=True)  # fmt: skip
    if said.sample:
        print("  ", end="")
        write(model, tokenizer, said.sample, said.count, temperature=1.0, seed=record.step)
        print(flush=True)


if __name__ == "__main__":
    main()
