"""Make lib/tiny_gpt2: a GPT-2 of transformers with random parameters, and its logits.

.venv/bin/python tools/recordings/make_gpt2_fixture.py
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

from lib.pretrained.gpt2 import TINY


def model() -> GPT2LMHeadModel:
    """Two layers whose every parameter matters: no bias is 0 and no gain is 1."""
    config = GPT2Config(vocab_size=61, n_positions=23, n_embd=35, n_head=5, n_layer=2,
                        bos_token_id=60, eos_token_id=60)  # fmt: skip
    tiny = GPT2LMHeadModel(config).eval()
    noise = torch.Generator().manual_seed(2019)
    with torch.no_grad():
        for name, parameter in tiny.named_parameters():
            # Small embeddings, so that the eps of the first norms counts too.
            std = 0.05 if name.endswith(("wte.weight", "wpe.weight")) else 0.3
            centre = 1.0 if ".ln_" in name and name.endswith("weight") else 0.0
            parameter.copy_(torch.empty_like(parameter).normal_(centre, std, generator=noise))
    return tiny


def texts() -> torch.Tensor:
    """Three sequences that fill the context."""
    return torch.randint(61, (3, 23), generator=torch.Generator().manual_seed(117))


@torch.no_grad()
def logits(tiny: GPT2LMHeadModel, ids: torch.Tensor) -> torch.Tensor:
    """What transformers computes in float64, by its plain form of attention."""
    tiny.set_attn_implementation("eager")
    return tiny.double()(ids).logits


def save(folder: Path) -> None:
    """Write the model as transformers saves it, and beside it the texts and their logits."""
    tiny = model()
    tiny.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    ids = texts()
    save_file({"ids": ids, "logits": logits(tiny, ids)}, folder / "expected.safetensors")
    settings = json.loads((folder / "config.json").read_text("utf8"))
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n", "utf8")


if __name__ == "__main__":
    save(Path(sys.argv[1]) if len(sys.argv) > 1 else TINY)
