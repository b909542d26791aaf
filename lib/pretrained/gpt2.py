"""Load a published GPT-2: convert its configuration and parameters into ours."""

import json
import re
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.pretrained import hub

# A tiny GPT-2 with random parameters, as transformers saves one, and its logits.
TINY = Path(__file__).resolve().parents[1] / "datasets" / "tiny_gpt2"

# The keys of the published config.json, and the fields of our Config.
SIZES = {
    "vocab_size": "vocab_size",
    "n_positions": "context_length",
    "n_embd": "d_model",
    "n_head": "heads",
    "n_layer": "layers",
}
# Settings that GPT-2 requires; a missing setting has this value.
FIXED = {
    "model_type": "gpt2",
    "activation_function": "gelu_new",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "reorder_and_upcast_attn": False,
    "add_cross_attention": False,
    "tie_word_embeddings": True,
}

# Our modules on the left, the file's on the right.
IN_THE_FILE = {
    "token_embedding": "wte",
    "position_embedding": "wpe",
    "attention_norm": "ln_1",
    "attention.query": "attn.c_attn",
    "attention.key": "attn.c_attn",
    "attention.value": "attn.c_attn",
    "attention.out": "attn.c_proj",
    "feed_forward_norm": "ln_2",
    "feed_forward.up": "mlp.c_fc",
    "feed_forward.down": "mlp.c_proj",
    "norm": "ln_f",
}
# The file holds queries, keys and values side by side in one matrix, in this order.
IN_ONE = ("attention.query", "attention.key", "attention.value")
PREFIX, HEAD = "transformer.", "lm_head.weight"
# Masks and a stand-in for minus infinity, which old files store beside the parameters.
UNREAD = re.compile(r"h\.\d+\.attn\.(?:bias|masked_bias)")


def load_gpt2(name: str | Path, *, dropout: float = 0.0, endpoint: str | None = None) -> GPT2:
    """Load a published GPT-2 in float32 and eval mode.

    The name is a key of `SIZES` in `lib.models.config`, or a folder.

    The folder holds config.json and model.safetensors, as `transformers` saves a GPT-2.
    A name, or `owner/name` for any other GPT-2 of the hub, is downloaded once and cached.

    Source: Radford et al. 2019, and the files that were published with it.
    Taught in: chapter 12.
    Raises: FileNotFoundError, ConnectionError or ValueError, with the fix.
    """
    settings, stored = read(hub.folder(name, endpoint=endpoint))
    # On the meta device no memory is allocated for parameters that the file provides.
    with torch.device("meta"):
        model = GPT2(Config(**sizes(settings), dropout=dropout))
    model.load_state_dict(renamed(stored, model.state_dict()), assign=True)
    return model.eval()


def sizes(settings: dict) -> dict[str, int | float]:
    """Convert a published config.json to the arguments of `lib.models.config.Config`.

    Source: the configuration of GPT-2 in `transformers`.
    Taught in: chapter 12.
    Raises: ValueError if a size is missing, or the model differs from GPT-2 in any setting.
    """
    wrong = {key: settings[key] for key in FIXED if settings.get(key, FIXED[key]) != FIXED[key]}
    if wrong:
        required = ", ".join(f"{key} = {FIXED[key]!r}" for key in wrong)
        raise ValueError(f"The config of a GPT-2 must have {required}; got {wrong}.")
    missing = [key for key in SIZES if key not in settings]
    if missing:
        raise ValueError(
            f"The config must have {', '.join(missing)}. Give the config.json of a GPT-2."
        )
    d_model = settings["n_embd"]
    if settings.get("n_inner") not in (None, 4 * d_model):
        raise ValueError(
            f"GPT-2's feed-forward network has dimension 4 * {d_model} = {4 * d_model}; "
            f"got n_inner = {settings['n_inner']}."
        )
    named = {ours: settings[theirs] for theirs, ours in SIZES.items()}
    return named | {"eps": settings.get("layer_norm_epsilon", 1e-5)}


def read(folder: Path) -> tuple[dict, dict[str, Tensor]]:
    """Read the two files of a published model: its configuration, and its parameters by name.

    Source: the safetensors format (a header of names, shapes and offsets, then the numbers).
    Taught in: chapter 12.
    Raises: ValueError if a file is truncated or has a different format.
    """
    try:
        settings = json.loads((folder / "config.json").read_text("utf8"))
        return settings, load_file(folder / "model.safetensors")
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"A file in {folder} is truncated, or only a pointer to a file: {error}. "
            "Delete it and download it again."
        ) from error


def renamed(stored: dict[str, Tensor], wanted: dict[str, Tensor]) -> dict[str, Tensor]:
    r"""Map the tensors of the file to our parameter names and layout, in float32.

    The file multiplies $x W$, with W as (input, output); ours, like `nn.Linear`, $x W^\top$,
    so every matrix except the two embeddings is transposed. Each tensor is copied.

    Source: `Conv1D` of `transformers`, after the code of Radford et al. 2019.
    Taught in: chapter 12.
    Raises: ValueError for a tensor that is missing, left over, of the wrong shape, or not finite,
    and if the LM head is not tied to the token embedding.
    """
    stored = {name.removeprefix(PREFIX): tensor for name, tensor in stored.items()}
    head = stored.pop(HEAD, stored.get("wte.weight"))
    if head is not None and not torch.equal(head, stored.get("wte.weight", head)):
        raise ValueError(
            f"{HEAD} differs from wte.weight. GPT-2 ties the LM head to the token embedding; "
            "a model with two different matrices cannot be loaded."
        )
    sources = {ours: _source(ours) for ours in wanted}
    theirs = {name for name, _ in sources.values()}
    missing = sorted(theirs - set(stored))
    left_over = sorted(set(stored) - theirs - set(filter(UNREAD.fullmatch, stored)))
    if missing or left_over:
        raise ValueError(
            f"The parameters are not those of this GPT-2: missing {missing[:5] or 'none'}, "
            f"left over {left_over[:5] or 'none'} ({len(missing)} and {len(left_over)} in all). "
            "Do config.json and model.safetensors belong together?"
        )
    return {
        ours: _fitting(stored[name], name, part, wanted[ours].shape)
        for ours, (name, part) in sources.items()
    }


def _source(ours: str) -> tuple[str, int | None]:
    """Return the name in the file of one of our parameters, and which third of it, if any."""
    module, parameter = ours.rsplit(".", 1)
    layer = re.match(r"layers\.(\d+)\.", module)
    module = module[layer.end() :] if layer else module
    # Our gain is the weight of the norm in the file.
    theirs = f"{IN_THE_FILE[module]}.{parameter.replace('gain', 'weight')}"
    part = IN_ONE.index(module) if module in IN_ONE else None
    return (f"h.{layer[1]}.{theirs}" if layer else theirs), part


def _fitting(tensor: Tensor, name: str, part: int | None, shape: torch.Size) -> Tensor:
    """Slice, transpose and copy one tensor of the file, and check its shape and values."""
    piece = tensor if part is None else tensor.chunk(3, dim=-1)[part]
    piece = piece.mT if ".c_" in name and piece.ndim == 2 else piece
    if piece.shape != shape or not piece.is_floating_point():
        raise ValueError(
            f"{name} has the shape {tuple(tensor.shape)} of {tensor.dtype}, which does not give "
            f"the {tuple(shape)} of floating-point numbers that config.json requires. "
            "Do config.json and model.safetensors belong together?"
        )
    if not piece.isfinite().all():
        raise ValueError(f"{name} must be finite, and is not. Download the file again.")
    return piece.float().clone(memory_format=torch.contiguous_format)
