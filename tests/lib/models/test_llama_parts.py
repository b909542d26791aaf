"""RMSNorm and SwiGLU equal the modules of torch and transformers, given their weights."""

import pytest
import torch
from torch import nn
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP, LlamaRMSNorm

from lib.models.block import RMSNorm, SwiGLU

BATCH, N, D_MODEL, D_FF = 2, 5, 7, 11


def random(*shape: int) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("eps", [1e-5, 0.3])
@pytest.mark.parametrize("theirs", [nn.RMSNorm, LlamaRMSNorm])
def test_rms_norm_equals_torchs_and_llamas(theirs, eps):
    ours, theirs = RMSNorm(D_MODEL, eps).double(), theirs(D_MODEL, eps=eps).double()
    with torch.no_grad():
        ours.gain.copy_(random(D_MODEL))
        theirs.weight.copy_(ours.gain)
    x = 3 + random(BATCH, N, D_MODEL)
    # Llama's norm computes in float32, whatever it is given.
    tolerance = 1e-5 if isinstance(theirs, LlamaRMSNorm) else 1e-12
    torch.testing.assert_close(ours(x), theirs(x), rtol=tolerance, atol=tolerance)


def test_swiglu_equals_llamas():
    config = LlamaConfig(
        hidden_size=D_MODEL, intermediate_size=D_FF, num_attention_heads=1, head_dim=2
    )
    ours, theirs = SwiGLU(D_MODEL, D_FF).double(), LlamaMLP(config).double()
    theirs.load_state_dict({f"{name}_proj.weight": getattr(ours, name).weight
                            for name in ("gate", "up", "down")})  # fmt: skip
    x = random(BATCH, N, D_MODEL)
    torch.testing.assert_close(ours(x), theirs(x))


def test_swiglu_tells_its_gate_from_its_up_projection():
    right = SwiGLU(D_MODEL, D_FF).double()
    exchanged = SwiGLU(D_MODEL, D_FF).double()
    exchanged.load_state_dict({"gate.weight": right.up.weight, "up.weight": right.gate.weight,
                               "down.weight": right.down.weight})  # fmt: skip
    x = random(BATCH, N, D_MODEL)
    assert (right(x) - exchanged(x)).abs().max() > 1e-3
