"""Checkpoints: all that a training run needs to resume, in one file written atomically."""

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
    """Hash the ids of a text, so that a run resumes only on the same text.

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
    """Save the model, its optimizers and the number of steps done, from which a run can resume.

    No random state is saved, because each step derives its random numbers from the seed and the
    step. The file is written under a temporary name and then renamed, so that an interrupted save
    leaves the old file intact.

    Source: rename(2), which replaces a file atomically.
    Taught in: chapter 13.
    """
    state = {
        "config": asdict(model.config),
        "recipe": asdict(recipe),
        "text": text,
        "step": step,
        "model": model.state_dict(),
        "optimisers": [optimizer.state_dict() for optimizer in trained],
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
    """Restore the model and its optimizers, and return the number of steps done.

    Source: the inverse of `save`.
    Taught in: chapter 13.
    Raises: ValueError if the file is damaged, or its model, recipe or text differs.
    """
    state = _read(Path(path))
    current = {"config": asdict(model.config), "recipe": asdict(recipe), "text": {"text": text}}
    for part, wanted in current.items():
        stored = state[part] if isinstance(state[part], dict) else {part: state[part]}
        different = [f"{name} {stored.get(name)} in the file, {wanted[name]} here"
                     for name in wanted if stored.get(name) != wanted[name]]  # fmt: skip
        if different:
            raise ValueError(
                f"{path} is from a different training run: {'; '.join(different)}. "
                "Resume with the same settings, or choose a different file."
            )
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(trained, state["optimisers"], strict=True):
        optimizer.load_state_dict(saved)
    return state["step"]


def load(path: Path) -> tuple[GPT2, BytePair | None]:
    """Load the model of a checkpoint in eval mode, and its tokenizer if it has one.

    Source: the inverse of `save`.
    Taught in: chapter 13.
    Raises: FileNotFoundError if the file is missing, ValueError if it is damaged.
    """
    state = _read(Path(path))
    model = GPT2(Config(**state["config"]))
    model.load_state_dict(state["model"])
    tokenizer = state["tokenizer"]
    return model.eval(), BytePair(**tokenizer) if tokenizer else None


def _described(tokenizer: BytePair) -> dict:
    order = b"".join(tokenizer.vocabulary[:256])
    return {"merges": tokenizer.merges, "order": order, "special": [*tokenizer.special]}


def _read(path: Path) -> dict:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; train with --checkpoint {path}.")
    try:
        # torch writes a checksum with each part, but does not verify it on loading.
        with ZipFile(path) as parts:
            if broken := parts.testzip():
                raise BadZipFile(f"{broken} has changed")
        state = torch.load(path, map_location="cpu", weights_only=True)
        wanted = {"config", "recipe", "text", "step", "model", "optimisers", "tokenizer"}
        missing = wanted - set(state)
    except (BadZipFile, RuntimeError, TypeError, OSError, pickle.UnpicklingError) as error:
        raise ValueError(
            f"{path} is damaged, or not a checkpoint: {error}. "
            "Delete it to train from the start, or choose a different file."
        ) from error
    if missing:
        raise ValueError(f"{path} is not a checkpoint: it lacks {sorted(missing)}.")
    return state
