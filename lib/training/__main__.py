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
    """Train by the command line: one process alone, or each that `torchrun` starts.

    Source: the environment that torchrun gives to its processes.
    Taught in: chapter 13.
    """
    parser = options.parser()
    args = parser.parse_args(arguments)
    on_gpu = torch.cuda.is_available() and not args.cpu
    local = int(os.environ.get("LOCAL_RANK", 0))
    if on_gpu:
        torch.cuda.set_device(local)
    if started := "LOCAL_RANK" in os.environ:
        dist.init_process_group("nccl" if on_gpu else "gloo")
    try:
        _run(args, torch.device("cuda", local) if on_gpu else torch.device("cpu"))
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    finally:
        if started:
            dist.destroy_process_group()


def _run(args: argparse.Namespace, device: torch.device) -> None:
    recipe = options.recipe(args)
    tokenizer, corpus, validation = _texts(args)
    sizes = {"d_model": args.width, "heads": args.heads, "layers": args.layers}
    torch.manual_seed(recipe.seed)
    config = Config(len(tokenizer), recipe.context, dropout=args.dropout, **sizes)
    model = GPT2(config).to(device)
    records = train_resumable(
        model, corpus, recipe, validation=validation, rows=args.rows, every=args.every,
        checkpoint=args.checkpoint, tokenizer=tokenizer,
    )  # fmt: skip
    rank, count = process()
    if rank == 0:
        print(f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters, "
              f"{len(corpus.ids):,} tokens of {len(tokenizer)} kinds, "
              f"{count} process{'es' * (count > 1)} on {device.type}", flush=True)  # fmt: skip
    for record in records:
        if rank == 0:
            _report(args, record, model, tokenizer)


def _texts(args: argparse.Namespace) -> tuple[BytePair, Corpus, Corpus]:
    """The tokeniser, learned from the training text alone, and the two texts."""
    if args.text:
        text = _whole(args.text)
        training, held_out = text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :]
    else:
        parts = split(args.stories, 100)
        training, held_out = ("".join(story.text for story in stories) for stories in parts)
    tokenizer = BytePair.train(training, args.merges)
    return tokenizer, *(
        Corpus.read(part, tokenizer, by_line=not args.text) for part in (training, held_out)
    )


def _whole(path: Path) -> str:
    try:
        return path.read_text("utf8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8: {error}. Save it as UTF-8 first.") from error


def _report(args: argparse.Namespace, record: StepRecord, model: GPT2, tokenizer: BytePair) -> None:
    """Print what there is to see now and then, and log every step."""
    if args.records:
        with args.records.open("a") as file:
            print(json.dumps(record._asdict()), file=file)
    if record.validation is None:
        return
    print(f"step {record.step:5}  loss {record.loss:.4f}  validation {record.validation:.4f}  "
          f"rate {record.rate:.1e}  gradient {record.norm:.2f}", flush=True)  # fmt: skip
    if args.sample:
        print("  ", end="")
        write(model, tokenizer, args.sample, args.count, temperature=1.0, seed=record.step)
        print(flush=True)


if __name__ == "__main__":
    main()
