"""A training on disk: all that it needs to go on, in one file that is whole or not there."""

import hashlib
import os
import pickle
from dataclasses import asdict
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import torch
from torch import Tensor
from torch.optim import Optimizer

from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.text.tokenizers import BytePair
from lib.training.optimizers import Recipe


def fingerprint(ids: Tensor) -> str:
    """Give a short name to a text, so that a training goes on with no other one.

    Source: SHA-256, cut to 16 letters.
    Taught in: chapter 13.
    """
    return hashlib.sha256(ids.cpu().numpy().tobytes()).hexdigest()[:16]


def save(
    path: Path,
    model: GPT2,
    trained: list[Optimizer],
    recipe: Recipe,
    step: int,
    text: str,
    tokenizer: BytePair | None = None,
) -> None:
    """Write the model, its optimisers and the number of steps done, after which it can go on.

    No random state is needed: what a step draws follows from the seed and the number of the step.
    The file is written beside its place and then renamed, so that a kill leaves the old one whole.

    Source: rename(2), which replaces a file in one act.
    Taught in: chapter 13.
    """
    state = {
        "config": asdict(model.config),
        "recipe": asdict(recipe),
        "text": text,
        "step": step,
        "model": model.state_dict(),
        "optimisers": [one.state_dict() for one in trained],
        "tokenizer": _described(tokenizer) if tokenizer else None,
    }
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def resume(path: Path, model: GPT2, trained: list[Optimizer], recipe: Recipe, text: str) -> int:
    """Put the model and its optimisers back where they were, and return the steps done.

    Source: the inverse of `save`.
    Taught in: chapter 13.
    Raises: ValueError if the file is damaged, or is of another model, recipe or text.
    """
    state = _read(Path(path))
    here = {"config": asdict(model.config), "recipe": asdict(recipe), "text": {"text": text}}
    for part, wanted in here.items():
        stored = state[part] if isinstance(state[part], dict) else {part: state[part]}
        other = [f"{name} {stored.get(name)} there, {wanted[name]} here" for name in wanted
                 if stored.get(name) != wanted[name]]  # fmt: skip
        if other:
            raise ValueError(
                f"{path} is of another training: {'; '.join(other)}. "
                "Train with what it was made with, or choose another file."
            )
    model.load_state_dict(state["model"])
    for optimiser, its in zip(trained, state["optimisers"], strict=True):
        optimiser.load_state_dict(its)
    return state["step"]


def load(path: Path) -> tuple[GPT2, BytePair | None]:
    """Give back the model of a checkpoint, ready to be read, and its tokenizer if it has one.

    Source: the inverse of `save`.
    Taught in: chapter 13.
    Raises: FileNotFoundError if there is none, ValueError if it is damaged.
    """
    state = _read(Path(path))
    model = GPT2(Config(**state["config"]))
    model.load_state_dict(state["model"])
    how = state["tokenizer"]
    return model.eval(), BytePair(**how) if how else None


def _described(tokenizer: BytePair) -> dict:
    order = b"".join(tokenizer.vocabulary[:256])
    return {"merges": tokenizer.merges, "order": order, "special": [*tokenizer.special]}


def _read(path: Path) -> dict:
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}; train with --checkpoint {path}")
    try:
        # torch writes a check sum with each part, and does not look at it when it reads.
        with ZipFile(path) as parts:
            if broken := parts.testzip():
                raise BadZipFile(f"{broken} has changed")
        state = torch.load(path, map_location="cpu", weights_only=True)
        wanted = {"config", "recipe", "text", "step", "model", "optimisers", "tokenizer"}
        missing = wanted - set(state)
    except (BadZipFile, RuntimeError, TypeError, OSError, pickle.UnpicklingError) as error:
        raise ValueError(
            f"{path} is damaged, or no checkpoint: {error}. "
            "Delete it to train from the start, or choose another file."
        ) from error
    if missing:
        raise ValueError(f"{path} is no checkpoint of a training: it lacks {sorted(missing)}.")
    return state
