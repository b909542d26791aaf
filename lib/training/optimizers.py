"""From gradients to new parameters: how far, in which direction, and what shrinks on the way."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer


@dataclass(frozen=True)
class Recipe:
    """All that decides how a model is trained, but for the model and its text.

    A step reads `batch` rows of `context` tokens, in `accumulate` parts if memory is short.
    `learning_rate` is the highest of AdamW, `muon_learning_rate` that of Muon; both warm up for
    `warmup_steps` and fall to `min_lr_ratio`, a share of the highest.

    Source: Brown et al. 2020, appendix B, for warm-up, cosine, clipping and decay.
    """

    steps: int = 200
    batch: int = 12
    context: int = 64
    accumulate: int = 1
    optimizer: str = "muon"
    learning_rate: float = 3e-3
    muon_learning_rate: float = 2e-2
    warmup_steps: int = 10
    min_lr_ratio: float = 0.1
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    grad_clip: float = 1.0
    seed: int = 0

    def __post_init__(self):
        if self.optimizer not in ("adamw", "muon"):
            raise ValueError(f'optimizer must be "adamw" or "muon"; got {self.optimizer!r}')
        for name in ("steps", "batch", "context", "accumulate"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        for name in ("learning_rate", "muon_learning_rate", "grad_clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0; got {getattr(self, name)}")
        if not 0 <= self.min_lr_ratio <= 1:
            raise ValueError(
                f"min_lr_ratio must be a share of the highest learning rate, from 0 to 1; "
                f"got {self.min_lr_ratio}"
            )
        if not 0 <= self.warmup_steps < self.steps:
            raise ValueError(
                f"warmup_steps must be below the number of steps, {self.steps}, so that some are "
                f"left to come down in; got {self.warmup_steps}"
            )


def learning_rate(step: int, steps: int, warmup: int, peak: float, floor: float) -> float:
    r"""Rise in equal stages to the peak, which the last step of the warm-up has; then come down.

    Counted from 0: $\eta_s = \text{peak} \cdot (s + 1) / \text{warmup}$ while s < warmup, then
    $\text{floor} + (\text{peak} - \text{floor}) (1 + \cos \pi \tau) / 2$ with
    $\tau = (s + 1 - \text{warmup}) / (\text{steps} - \text{warmup})$: the last step has the floor.

    Source: Loshchilov and Hutter 2017, equation 5, for one cycle; Goyal et al. 2017, section 2.2.
    Taught in: chapter 13.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    done = (step + 1 - warmup) / (steps - warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2


def param_groups(parameters: list[nn.Parameter], weight_decay: float) -> list[dict]:
    """Let matrices shrink, the tables of embeddings among them, and biases and gains not.

    A product of matrices can do with smaller ones what it did; a gain of 0 would silence a norm.

    Source: Brown et al. 2020, appendix B, for the decay; Radford et al. 2018, section 4.1, for
        what is exempt from it.
    Taught in: chapter 13.
    """
    return [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]


def orthogonalize(matrix: Float[Tensor, "d_model d_source"]) -> Float[Tensor, "d_model d_source"]:
    r"""Bring all singular values near 1: roughly $U V^\top$ for $U S V^\top$, by products alone.

    Five rounds of $X \leftarrow aX + (bA + cA^2)X$ with $A = XX^\top$ send each singular value s
    to $as + bs^3 + cs^5$. These a, b, c lift small ones fast, and let them end between 0.7 and 1.2.

    Source: Jordan et al. 2024 (the coefficients); Higham 2008, section 8.3 (Newton-Schulz).
    Taught in: chapter 13.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = matrix.shape[0] > matrix.shape[1]
    x = (matrix.T if tall else matrix) / (matrix.norm() + 1e-7)
    for _ in range(5):
        square = x @ x.T
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Muon(Optimizer):
    r"""Step in the direction of the momentum, but equally far in all directions of a matrix.

    $B \leftarrow \mu B + G$, then
    $W \leftarrow (1 - \eta\lambda) W - \eta \sqrt{\max(1, r/c)}\, \mathrm{orthogonal}(G + \mu B)$
    for a matrix of r rows and c columns. Adam's steps are nearly of low rank: Jordan et al. suppose
    that what is rare in the gradients is then hardly learned. torch.optim.Muon is the same in
    bfloat16; float32 adds up the same on one process and on several.

    Source: Jordan et al. 2024; Liu et al. 2025, section 2.2, for the decay.
    Taught in: chapter 13.
    """

    def __init__(
        self, maps: list[nn.Parameter], lr: float, weight_decay: float, momentum: float = 0.95
    ):
        super().__init__(maps, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        """Change every matrix that has a gradient."""
        for group in self.param_groups:
            rate, mu = group["lr"], group["momentum"]
            for w in (one for one in group["params"] if one.grad is not None):
                if "memory" not in self.state[w]:
                    self.state[w]["memory"] = torch.zeros_like(w)
                memory = self.state[w]["memory"].mul_(mu).add_(w.grad)
                step = orthogonalize(w.grad + mu * memory) * max(1, w.shape[0] / w.shape[1]) ** 0.5
                w.mul_(1 - rate * group["weight_decay"]).sub_(step, alpha=rate)


def build_optimizers(model: nn.Module, recipe: Recipe) -> list[Optimizer]:
    """AdamW for all parameters; or Muon for the matrices of the layers, and AdamW for the rest.

    A table of embeddings is no map from vectors to vectors, and keeps AdamW.

    Source: Loshchilov and Hutter 2019, algorithm 2 (AdamW); Jordan et al. 2024 (Muon).
    Taught in: chapter 13.
    """
    parameters = [one for one in model.parameters() if one.requires_grad]
    maps = [one for one in model.layers.parameters() if one.ndim == 2 and one.requires_grad]
    if recipe.optimizer == "adamw":
        maps = []
    taken = set(map(id, maps))
    groups = param_groups([one for one in parameters if id(one) not in taken], recipe.weight_decay)
    adamw = AdamW(groups, lr=recipe.learning_rate, betas=recipe.betas, fused=True)
    return [adamw, Muon(maps, recipe.muon_learning_rate, recipe.weight_decay)] if maps else [adamw]


def set_learning_rates(trained: list[Optimizer], recipe: Recipe, step: int) -> float:
    """Give each optimizer its learning rate for this step, and return AdamW's.

    Source: both follow `learning_rate`, each under its own peak.
    Taught in: chapter 13.
    """
    rates = [
        learning_rate(step, recipe.steps, recipe.warmup_steps, peak, recipe.min_lr_ratio * peak)
        for peak in (recipe.learning_rate, recipe.muon_learning_rate)[: len(trained)]
    ]
    for optimiser, rate in zip(trained, rates, strict=True):
        for group in optimiser.param_groups:
            group["lr"] = rate
    return rates[0]
