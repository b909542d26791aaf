"""A small GPT-2 for tests of the fast ways: whatever one of them leaves out shows in its logits."""

import torch

from lib.models.config import Config
from lib.models.gpt2 import GPT2

SMALL = Config(vocab_size=211, context_length=67, d_model=60, heads=5, layers=3)


def lively_gpt2() -> GPT2:
    """A model whose every part matters: no bias is 0, no gain is 1, no logit is tiny."""
    noise = torch.manual_seed(0)
    model = GPT2(SMALL).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=noise))
    return model


def ids(*shape: int) -> torch.Tensor:
    """Tokens that it knows, the same each time."""
    return torch.randint(SMALL.vocab_size, shape, generator=torch.Generator().manual_seed(1))


def relative(ours: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((ours - exact).detach().abs().max() / exact.detach().abs().max())
