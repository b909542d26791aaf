"""What may be args to `python -m lib.training`, and what holds if it is not."""

import argparse
from dataclasses import fields
from pathlib import Path

from lib.training.optimizers import Recipe

HELP = {
    "steps": "steps in all",
    "batch": "windows in one step, over all processes",
    "context": "tokens in a window",
    "accumulate": "parts of a process's share, if memory is short",
    "optimizer": "adamw, or muon for the matrices of the layers",
    "learning_rate": "AdamW's highest learning rate",
    "muon_learning_rate": "Muon's highest learning rate",
    "warmup_steps": "steps until the highest learning rate",
    "min_lr_ratio": "the last learning rate, as a share of the highest",
    "weight_decay": "how strongly matrices shrink",
    "betas": "AdamW's memory of gradients and of their squares",
    "grad_clip": "the largest gradient norm that is not scaled down",
    "seed": "what every random choice follows from",
}


def parser() -> argparse.ArgumentParser:
    """Make the parser of the training command; every part of a Recipe is an option.

    Source: argparse, of Python's own library.
    Taught in: chapter 13.
    """
    made = argparse.ArgumentParser(
        prog="python -m lib.training",
        description="Train a small GPT-2 on the course's stories, or on a text of your own.",
        epilog="On several processes: torchrun --standalone --nproc_per_node 2 -m lib.training",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    _add_text_and_model(made.add_argument_group("text and model"))
    _add_what_is_kept(made.add_argument_group("what is kept and shown"))
    group = made.add_argument_group("recipe")
    for field in fields(Recipe):
        kind = (
            {"nargs": 2, "type": float} if field.name == "betas" else {"type": type(field.default)}
        )
        option = f"--{field.name.replace('_', '-')}"
        group.add_argument(option, default=field.default, help=HELP[field.name], **kind)
    return made


def recipe(args: argparse.Namespace) -> Recipe:
    """Put together the recipe that was asked for.

    Source: the options of `parser`.
    Taught in: chapter 13.
    Raises: ValueError if no training can follow it.
    """
    parts = {field.name: getattr(args, field.name) for field in fields(Recipe)}
    return Recipe(**parts | {"betas": tuple(args.betas)})


def _add_text_and_model(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--text", type=Path, help="a file; its last tenth is held out")
    group.add_argument("--stories", type=_count, default=3000, help="how many, without --text")
    group.add_argument("--merges", type=_natural, default=400, help="byte pairs to learn")
    group.add_argument("--layers", type=_count, default=4, help="blocks")
    group.add_argument("--heads", type=_count, default=4, help="heads in each")
    group.add_argument("--width", type=_count, default=128, help="d_model")
    group.add_argument("--dropout", type=float, default=0.0, help="share of changes dropped")


def _add_what_is_kept(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--checkpoint", type=Path, help="file to save to, and to go on from")
    group.add_argument("--every", type=_count, default=25, help="steps between two looks")
    group.add_argument("--rows", type=_count, default=64, help="held-out windows looked at")
    group.add_argument("--records", type=Path, help="file that gets one line of JSON a step")
    group.add_argument("--sample", help="a beginning that the model goes on from at each look")
    group.add_argument("--count", type=_count, default=40, help="tokens of a sample")
    group.add_argument("--cpu", action="store_true", help="leave the GPU alone")


def _count(word: str) -> int:
    if number := _natural(word):
        return number
    raise argparse.ArgumentTypeError("must be at least 1; got 0")


def _natural(word: str) -> int:
    if word.isdecimal():
        return int(word)
    raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more; got {word!r}")
