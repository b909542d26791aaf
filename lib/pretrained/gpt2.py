"""GPT-2 as it is published: its settings and parameters, turned into ours."""

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

# A tiny GPT-2 with random parameters, as transformers saves one, and the logits that it gives.
TINY = Path(__file__).resolve().parents[1] / "datasets" / "tiny_gpt2"

# What the published config.json says, and what our Config calls it.
SIZES = {
    "vocab_size": "vocab_size",
    "n_positions": "context_length",
    "n_embd": "d_model",
    "n_head": "heads",
    "n_layer": "layers",
}
# What must hold, or the model is another one; a setting that is left out has this value.
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
# Masks and the number that once stood for minus infinity were stored beside the parameters.
UNREAD = re.compile(r"h\.\d+\.attn\.(?:bias|masked_bias)")


def load_gpt2(name: str | Path, *, dropout: float = 0.0, endpoint: str | None = None) -> GPT2:
    """Load a published GPT-2 in float32, ready to be read: a name of `SIZES`, or a folder.

    The folder holds config.json and model.safetensors, as `transformers` saves a GPT-2.
    A name, or `owner/name` for any other GPT-2 of the hub, is fetched once and kept.

    Source: Radford et al. 2019, and the files that were published with it.
    Taught in: chapter 12.
    Raises: FileNotFoundError, ConnectionError or ValueError, with what to do about it.
    """
    settings, stored = read(hub.folder(name, endpoint=endpoint))
    # Nothing is initialised or held for parameters that the file is about to give.
    with torch.device("meta"):
        model = GPT2(Config(**sizes(settings), dropout=dropout))
    model.load_state_dict(renamed(stored, model.state_dict()), assign=True)
    return model.eval()


def sizes(settings: dict) -> dict[str, int | float]:
    """Turn a published config.json into the arguments of `lib.models.config.Config`.

    Source: the configuration of GPT-2 in `transformers`.
    Taught in: chapter 12.
    Raises: ValueError if a size is missing, or the model differs from GPT-2 in any setting.
    """
    other = {key: settings[key] for key in FIXED if settings.get(key, FIXED[key]) != FIXED[key]}
    if other:
        asked = ", ".join(f"{key} = {FIXED[key]!r}" for key in other)
        raise ValueError(f"This is no GPT-2: its config says {other}, and GPT-2 has {asked}.")
    missing = [key for key in SIZES if key not in settings]
    if missing:
        raise ValueError(
            f"The config says nothing about {', '.join(missing)}. Is it the config.json of a GPT-2?"
        )
    d_model = settings["n_embd"]
    if settings.get("n_inner") not in (None, 4 * d_model):
        raise ValueError(
            f"GPT-2 is 4 * {d_model} = {4 * d_model} wide inside its feed-forward map, "
            f"and this config says n_inner = {settings['n_inner']}."
        )
    named = {ours: settings[theirs] for theirs, ours in SIZES.items()}
    return named | {"eps": settings.get("layer_norm_epsilon", 1e-5)}


def read(folder: Path) -> tuple[dict, dict[str, Tensor]]:
    """Read the two files of a published model: its settings, and its parameters by their names.

    Source: the safetensors format (a header of names, shapes and places, then the numbers).
    Taught in: chapter 12.
    Raises: ValueError if one of them is cut short or is something else.
    """
    try:
        settings = json.loads((folder / "config.json").read_text("utf8"))
        return settings, load_file(folder / "model.safetensors")
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"A file in {folder} is cut short, or only a pointer to another: {error}. "
            "Remove it and fetch it again."
        ) from error


def renamed(stored: dict[str, Tensor], wanted: dict[str, Tensor]) -> dict[str, Tensor]:
    r"""Find each parameter that is wanted in the file, and turn it into our layout, in float32.

    The file multiplies $x W$, with W as (input, output); ours, like `nn.Linear`, $x W^\top$,
    so every matrix but the two tables is transposed. Each is copied, so the file may go away.

    Source: `Conv1D` of `transformers`, after the code of Radford et al. 2019.
    Taught in: chapter 12.
    Raises: ValueError for a tensor that is missing, left over, of another shape, or not finite,
    and if the words are scored by another table than the one that embeds them.
    """
    stored = {name.removeprefix(PREFIX): tensor for name, tensor in stored.items()}
    head = stored.pop(HEAD, stored.get("wte.weight"))
    if head is not None and not torch.equal(head, stored.get("wte.weight", head)):
        raise ValueError(
            f"{HEAD} differs from wte.weight. GPT-2 scores words by the table that embeds them; "
            "a model whose two tables are not tied cannot be read as one."
        )
    places = {ours: _place(ours) for ours in wanted}
    theirs = {name for name, _ in places.values()}
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
        for ours, (name, part) in places.items()
    }


def _place(ours: str) -> tuple[str, int | None]:
    """The name in the file of one of our parameters, and which third of it, if it is a third."""
    module, parameter = ours.rsplit(".", 1)
    layer = re.match(r"layers\.(\d+)\.", module)
    module = module[layer.end() :] if layer else module
    # What is called gain here is called the norm's weight there.
    theirs = f"{IN_THE_FILE[module]}.{parameter.replace('gain', 'weight')}"
    part = IN_ONE.index(module) if module in IN_ONE else None
    return (f"h.{layer[1]}.{theirs}" if layer else theirs), part


def _fitting(tensor: Tensor, name: str, part: int | None, shape: torch.Size) -> Tensor:
    """Cut, transpose and copy one tensor of the file, and refuse it if it does not fit."""
    piece = tensor if part is None else tensor.chunk(3, dim=-1)[part]
    piece = piece.mT if ".c_" in name and piece.ndim == 2 else piece
    if piece.shape != shape or not piece.is_floating_point():
        raise ValueError(
            f"{name} has the shape {tuple(tensor.shape)} of {tensor.dtype}, which does not give "
            f"the {tuple(shape)} of floating-point numbers that config.json asks for. "
            "Do config.json and model.safetensors belong together?"
        )
    if not piece.isfinite().all():
        raise ValueError(f"{name} holds numbers that are not finite. Fetch the file again.")
    return piece.float().clone(memory_format=torch.contiguous_format)
