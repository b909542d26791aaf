"""Load SmolLM2-135M-Instruct: a language model that runs offline on a laptop."""

import hashlib
import json
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock
from platformdirs import user_cache_path
from safetensors import SafetensorError
from safetensors.numpy import save_file

from lib.pretrained.llama import load_llama
from lib.pretrained.smollm2_file import (
    LanguageModel,
    open_file,
    parameters_of,
    settings,
    tokens_of,
)
from lib.pretrained.smollm2_package import INSTALL, SHA256, installed_file
from lib.text.chat_tokenizer import ChatTokenizer


@lru_cache(maxsize=2)
def load_smollm2(*, numpy: bool = False) -> LanguageModel:
    """Load SmolLM2-135M-Instruct and its tokenizer. A second call returns the same two.

    The first call on a machine reads the 4-bit file, which takes seconds, and stores a float32 copy
    of 538 MB in the cache folder of the user; later calls read that copy.

    Source: Allal et al. 2025; the weights are the package's, under Apache 2.0.
    Taught in: chapter 18.
    Raises: FileNotFoundError if the package is not installed, ValueError if its file or the copy
    was changed, OSError if the copy cannot be written.
    """
    folder = prepared()
    try:
        return LanguageModel(load_llama(folder, numpy=numpy), ChatTokenizer.load(folder))
    except (FileNotFoundError, ValueError) as error:
        raise ValueError(
            f"The copy of SmolLM2 in {folder} is damaged. Delete this folder; the next call makes "
            "it again."
        ) from error


def prepared(source: Path | None = None, cache: Path | None = None) -> Path:
    """Return a folder with config.json, model.safetensors and tokenizer.json; make it once.

    Source: the format in which `transformers` saves a model.
    Taught in: chapter 18.
    Raises: FileNotFoundError, ValueError and OSError as `load_smollm2` does.
    """
    source = source or installed_file()
    with source.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        raise ValueError(
            f"{source.name} was changed or is a different model: its sha256 must be {SHA256}; got "
            f"{digest}. Install it again: {INSTALL} --upgrade"
        )
    folder = (cache or user_cache_path("attention-course")) / f"smollm2-{SHA256[:12]}"
    if not folder.is_dir():
        _make(source, folder)
    return folder


def _make(source: Path, folder: Path) -> None:
    """Convert the file; the folder appears only when it is complete."""
    part = folder.with_suffix(".part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # A second process waits here for the first one, and then finds the folder complete.
        with FileLock(folder.with_suffix(".lock")):
            if folder.is_dir():
                return
            shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
            part.mkdir()
            try:
                write_folder(source, part)
                part.rename(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except (OSError, SafetensorError) as error:  # safetensors reports a full disk as its own error
        raise OSError(
            f"The float32 copy of SmolLM2, 540 MB, cannot be written in {folder.parent}: {error}. "
            "Free some space there or allow writing, or set XDG_CACHE_HOME to a different folder."
        ) from error


def write_folder(source: Path, folder: Path) -> None:
    """Write the model of a GGUF file as a folder that `transformers` and `load_llama` read.

    Source: the GGUF format of llama.cpp, read by `lib.pretrained.gguf_file`.
    Taught in: chapter 18.
    Raises: ValueError for a GGUF file of a different kind of model.
    """
    file = open_file(source)
    save_file(dict(parameters_of(file)), folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(settings(file.metadata), indent=1), "utf8")
    _write_tokenizer(file.metadata, folder)


def _write_tokenizer(metadata: dict[str, Any], folder: Path) -> None:
    """Write the tokenizer in the format of `tokenizers`, with the two steps before its merges."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    ids, merges, special = tokens_of(metadata)
    tokenizer = Tokenizer(models.BPE(ids, merges))
    steps = [
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    ]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer.save(str(folder / "tokenizer.json"))
    template = {"chat_template": metadata["tokenizer.chat_template"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(template), "utf8")
