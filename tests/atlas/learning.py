"""Patients of the atlas that do not learn, or learn what they should not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lib.models.block import Block
from tests.atlas.bodies import VOCAB, Decoder, N, Names, Patients, but, cross_entropy, draw, ids


def starting(model: nn.Module) -> Names:
    return {"loss": cross_entropy(model, ids(rows=16)).item(), "vocab": VOCAB}


def learning(model: nn.Module) -> Names:
    return {"model": model, "loss": cross_entropy(model, ids())}


def detached(self, block: Block, x: Tensor, mask: Tensor | None) -> Tensor:
    return block(x, mask).output.detach()


def stepping(rate: float, of: Callable[[nn.Module], nn.Module] = lambda model: model) -> Names:
    model = Decoder()
    optimiser = torch.optim.AdamW(of(model).parameters(), lr=rate, weight_decay=0.0)

    def step() -> None:
        cross_entropy(model, ids()).backward()
        optimiser.step()

    return {"model": model, "step": step}


def shifted(by: int) -> Names:
    text = torch.arange(40)
    return {"ids": text[5:25].view(2, 10), "targets": text[5 + by : 25 + by].view(2, 10)}


def dealt(*, first: bool) -> Names:
    """Stories of three sentences, dealt out whole, or cut into windows before that."""
    if not first:
        return {"training": range(8), "validation": range(8, 10)}
    windows = [story for _ in range(3) for story in range(10)]
    return {"training": windows[:24], "validation": windows[24:]}


def no_stream(self, block: Block, x: Tensor, mask: Tensor | None) -> Tensor:
    return block.feed_forward(block.attention(x, mask=mask).output)


def deep(model: Decoder) -> Names:
    return {"model": model, "loss": cross_entropy(model, ids())}


def accumulating(weigh: Callable[[Tensor, Tensor, int], Tensor]) -> Names:
    """The gradient of a loss on sentences of different lengths, computed in parts."""
    x, y = draw(24, 3), draw(24, seed=1)
    real = torch.arange(24) % 6 < torch.tensor([1, 6, 2, 5]).repeat_interleave(6)

    def gradient(parts: int) -> Tensor:
        w = torch.zeros(3, requires_grad=True)
        for xs, ys, rs in zip(*(tensor.chunk(parts) for tensor in (x, y, real)), strict=True):
            weigh((xs @ w - ys)[rs] ** 2, real, parts).backward()
        return w.grad

    return {"gradient": gradient}


def resuming(kept: set[str]) -> Names:
    """A training that is stopped and goes on from what was kept."""

    def run(*until: int) -> list[float]:
        saved: dict[str, Any] = {}
        losses: list[float] = []
        for stop in until:
            model = Decoder(layers=1)
            optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
            numbers = torch.Generator().manual_seed(0)
            for name, thing in (("model", model), ("optimiser", optimiser)):
                if name in saved:
                    thing.load_state_dict(saved[name])
            if "draws" in saved:
                numbers.set_state(saved["draws"])
            while len(losses) < stop:
                loss = cross_entropy(model, torch.randint(VOCAB, (2, N), generator=numbers))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append(loss.item())
            state = {"model": model.state_dict(), "optimiser": optimiser.state_dict(),
                     "draws": numbers.get_state()}  # fmt: skip
            saved = {name: state[name] for name in kept}
        return losses

    return {"run": run}


def padded_loss(of: Callable[[Tensor, Tensor], Tensor]) -> Names:
    targets = torch.cat([ids(), torch.full((2, 3), -1)], dim=1)
    surprise = draw(2, N + 3).abs()
    return {"loss": of(surprise, targets), "alone": surprise[:, :N].mean()}


def keeping(what: Callable[[Tensor], Any]) -> Names:
    model = Decoder(layers=1)
    return {"history": [what(cross_entropy(model, ids())) for _ in range(2)]}


PATIENTS: dict[str, Patients] = {
    "a-first-loss-far-above-ln-v": (
        lambda: starting(Decoder(std=0.02)),
        {
            "std of 1": lambda: starting(Decoder(std=1.0)),
            "M56": lambda: starting(but(last=lambda self, x: 300 * x)(std=0.2)),
        },
    ),
    "stuck-at-ln-v": (
        lambda: learning(Decoder()),
        {"detached": lambda: learning(but(through=detached)())},
    ),
    "parameters-that-never-move": (
        lambda: stepping(0.01),
        {
            "no rate": lambda: stepping(0.0),
            "of another model": lambda: stepping(0.01, lambda model: Decoder()),
        },
    ),
    "a-loss-of-0-within-minutes": (
        lambda: shifted(1),
        {"M60": lambda: shifted(0), "M61": lambda: shifted(2), "M305": lambda: shifted(-1)},
    ),
    "validation-below-the-floor": (
        lambda: dealt(first=False),
        {"windows dealt out": lambda: dealt(first=True)},
    ),
    "gradients-vanish-with-depth": (
        lambda: deep(Decoder(layers=8)),
        {"M34": lambda: deep(but(through=no_stream)(layers=8))},
    ),
    "parts-give-another-gradient": (
        lambda: accumulating(lambda loss, real, parts: loss.sum() / 14),
        {
            "M271": lambda: accumulating(lambda loss, real, parts: loss.mean()),
            "M272": lambda: accumulating(lambda loss, real, parts: loss.mean() / parts),
        },
    ),
    "resumed-and-different": (
        lambda: resuming({"model", "optimiser", "draws"}),
        {
            "without the optimiser": lambda: resuming({"model", "draws"}),
            "without the draws": lambda: resuming({"model", "optimiser"}),
        },
    ),
    "the-loss-depends-on-padding": (
        lambda: padded_loss(lambda surprise, targets: surprise[targets >= 0].mean()),
        {
            "M117": lambda: padded_loss(lambda surprise, targets: surprise.mean()),
            "M118": lambda: padded_loss(
                lambda surprise, targets: (surprise * (targets >= 0)).mean()
            ),
        },
    ),
    "memory-grows-with-every-step": (
        lambda: keeping(lambda loss: loss.item()),
        {"graphs kept": lambda: keeping(lambda loss: loss)},
    ),
}
