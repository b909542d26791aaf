"""The peers: each is built from the weights of one transformers model, at its best settings.

A maker takes the `Weights` and returns a function: `forward` makes ids -> logits, `generate` makes
(ids, count) -> ids. A peer that cannot be built is not measured, and the table says why.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from lib.models.gpt2 import GPT2
from lib.pretrained.gpt2 import load_gpt2

Forward = Callable[[Tensor], Tensor]
Generate = Callable[[Tensor, int], Tensor]


class Weights:
    """One GPT-2 small with random weights, as transformers, ours and the engines read it.

    What is converted for an engine is kept in the folder, for the next section of the run.
    """

    def __init__(self, folder: str, threads: int, small: bool):
        self.folder, self.threads = Path(folder), threads
        self.saved = self.folder / ("small" if small else "gpt2")
        if not self.saved.exists():
            torch.manual_seed(0)
            sizes = {"n_layer": 2, "vocab_size": 5003} if small else {}
            # Wider than the default 0.02, with which greedy decoding repeats a single token.
            sizes |= {"initializer_range": 0.05, "bos_token_id": None, "eos_token_id": None}
            config = GPT2Config(**sizes)
            GPT2LMHeadModel(config).save_pretrained(self.saved)

    @cached_property
    def transformers(self) -> GPT2LMHeadModel:
        """With GELU in one operation: the default, gelu_new, computes the same in eight."""
        return GPT2LMHeadModel.from_pretrained(
            self.saved, activation_function="gelu_pytorch_tanh", attn_implementation="sdpa"
        ).eval()

    @cached_property
    def ours(self) -> GPT2:
        """The model of chapter 12."""
        return load_gpt2(self.saved)

    def converted(self, name: str, convert: Callable[[Path], None]) -> Path:
        """The path of a converted model, which is converted on the first call."""
        path = self.saved / name
        if not path.exists():
            convert(path)
        return path


def build(makers: dict[str, Callable], weights: Weights) -> tuple[dict[str, Callable], dict]:
    """Build what can be built; of the rest, say why not."""
    built, missing = {}, {}
    for name, maker in makers.items():
        try:
            built[name] = maker(weights)
        except ModuleNotFoundError as error:
            missing[name] = f"{error.name} is not installed"
        except Exception as error:
            missing[name] = f"cannot be built: {first_line(error)}"
    return built, missing


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its name."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:120]
