"""AdamW and Muon, the learning rate schedule, and weight decay."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer


@dataclass(frozen=True)
class Recipe:
    """The hyperparameters of a training run.

    A step reads `batch` rows of `context` tokens, in `accumulate` parts to save memory.
    `learning_rate` is the peak of AdamW, `muon_learning_rate` that of Muon; both warm up for
    `warmup_steps` and fall to `min_lr_ratio` times the peak.

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
            raise ValueError(f'`optimizer` must be "adamw" or "muon"; got {self.optimizer!r}.')
        for name in ("steps", "batch", "context", "accumulate"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
        for name in ("learning_rate", "muon_learning_rate", "grad_clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"`{name}` must be above 0; got {getattr(self, name)}.")
        if not 0 <= self.min_lr_ratio <= 1:
            raise ValueError(
                f"`min_lr_ratio` must be from 0 to 1, a fraction of the peak learning rate; "
                f"got {self.min_lr_ratio}."
            )
        if not 0 <= self.warmup_steps < self.steps:
            raise ValueError(
                f"`warmup_steps` must be at least 0 and below the number of steps, {self.steps}; "
                f"got {self.warmup_steps}."
            )


def learning_rate(step: int, steps: int, warmup: int, peak: float, floor: float) -> float:
    r"""Compute the learning rate of a step: linear warm-up to the peak, then cosine decay.

    Counted from 0: $\eta_s = \text{peak} \cdot (s + 1) / \text{warmup}$ while s < warmup, then
    $\text{floor} + (\text{peak} - \text{floor}) (1 + \cos \pi \tau) / 2$ with
    $\tau = (s + 1 - \text{warmup}) / (\text{steps} - \text{warmup})$: the last has the floor.

    Source: Loshchilov and Hutter 2017, equation 5, for one cycle; Goyal et al. 2017, section 2.2.
    Taught in: chapter 13.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    done = (step + 1 - warmup) / (steps - warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2


def param_groups(parameters: list[nn.Parameter], weight_decay: float) -> list[dict]:
    """Apply weight decay to matrices, including embeddings, but not to biases and gains.

    Smaller matrices can compute the same function; a gain of 0 would switch a norm off.

    Source: Brown et al. 2020, appendix B, for the decay; Radford et al. 2018, section 4.1, for
        what is exempt from it.
    Taught in: chapter 13.
    """
    return [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]


def orthogonalize(matrix: Float[Tensor, "d_model d_source"]) -> Float[Tensor, "d_model d_source"]:
    r"""Orthogonalise approximately: $U V^\top$ for $U S V^\top$, by matrix products only.

    Five rounds of $X \leftarrow aX + (bA + cA^2)X$ with $A = XX^\top$ send each singular value s
    to $as + bs^3 + cs^5$. These a, b, c increase small ones fast and end between 0.7 and 1.2.

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
    r"""Step along the orthogonalised momentum, so that all singular directions get equal steps.

    $B \leftarrow \mu B + G$, then
    $W \leftarrow (1 - \eta\lambda) W - \eta \sqrt{\max(1, r/c)}\, \mathrm{orthogonal}(G + \mu B)$
    for a matrix of r rows and c columns. Adam's updates are nearly of low rank: Jordan et al.
    suppose that rare directions of the gradients are then rarely learned. torch.optim.Muon is the
    same in bfloat16; float32 gives the same sums on one process and on several.

    Source: Jordan et al. 2024; Liu et al. 2025, section 2.2, for the decay.
    Taught in: chapter 13.
    """

    def __init__(
        self, matrices: list[nn.Parameter], lr: float, weight_decay: float, momentum: float = 0.95
    ):
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            rate, mu = group["lr"], group["momentum"]
            for w in (matrix for matrix in group["params"] if matrix.grad is not None):
                if "memory" not in self.state[w]:
                    self.state[w]["memory"] = torch.zeros_like(w)
                momentum = self.state[w]["memory"].mul_(mu).add_(w.grad)
                step = orthogonalize(w.grad + mu * momentum)
                step *= max(1, w.shape[0] / w.shape[1]) ** 0.5
                w.mul_(1 - rate * group["weight_decay"]).sub_(step, alpha=rate)


def build_optimizers(model: nn.Module, recipe: Recipe) -> list[Optimizer]:
    """Build AdamW for all parameters, or Muon for the layers' matrices and AdamW for the rest.

    Embeddings are lookups rather than linear layers, so they keep AdamW.

    Source: Loshchilov and Hutter 2019, algorithm 2 (AdamW); Jordan et al. 2024 (Muon).
    Taught in: chapter 13.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in model.layers.parameters() if p.ndim == 2 and p.requires_grad]
    if recipe.optimizer == "adamw":
        matrices = []
    taken = set(map(id, matrices))
    groups = param_groups([p for p in parameters if id(p) not in taken], recipe.weight_decay)
    adamw = AdamW(groups, lr=recipe.learning_rate, betas=recipe.betas, fused=True)
    if not matrices:
        return [adamw]
    return [adamw, Muon(matrices, recipe.muon_learning_rate, recipe.weight_decay)]


def set_learning_rates(trained: list[Optimizer], recipe: Recipe, step: int) -> float:
    """Set the learning rate of each optimizer for this step, and return AdamW's.

    Source: both follow `learning_rate`, each with its own peak.
    Taught in: chapter 13.
    """
    rates = [
        learning_rate(step, recipe.steps, recipe.warmup_steps, peak, recipe.min_lr_ratio * peak)
        for peak in (recipe.learning_rate, recipe.muon_learning_rate)[: len(trained)]
    ]
    for optimizer, rate in zip(trained, rates, strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
    return rates[0]
