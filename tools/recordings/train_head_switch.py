"""Train the model of chapter 16's figure once more: two layers of attention that copy patterns.

    python tools/recordings/train_head_switch.py            the model: half a minute
    python tools/recordings/train_head_switch.py --seeds    and single heads: five more

writes figures/widgets/head_switch.json: the parameters, and over five seeds, trained with and
without the price on heads, what the loss becomes when each head alone is switched off. Another
processor
trains slightly other numbers; the tests hold the file itself against torch, whatever is in it.
"""

import argparse
import base64
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lib.datasets.repeats import Repeats
from lib.interpretability import interventions
from lib.models.attention_only import AttentionOnly
from lib.seeds import generator, set_seed, threads

TARGET = Path(__file__).resolve().parents[2] / "figures" / "widgets" / "head_switch.json"
LETTERS = "abcdefghijklmnopqrst"
LONGEST, PATTERNS = 24, (3, 12)
D_MODEL, HEADS, LAYERS = 32, 4, 2
STEPS, BATCH, RATE, WARMUP, CLIP = 1200, 64, 1e-2, 50, 1.0
PRICE = 3e-3  # of a head's maps, so that heads that are not needed say nothing
SEED = 0


def texts(rng: np.random.Generator, count: int) -> Repeats:
    """Some letters of no use, often none, and then a pattern again and again; all different.

    Unlike those of `lib.datasets.repeats.repeats` these repeat more than once, as the reader's
    will, and their patterns may be as short as three letters.
    """
    vocab, (shortest, longest) = len(LETTERS), PATTERNS
    period = rng.integers(shortest, longest + 1, size=(count, 1))  # (batch, 1)
    start = rng.integers(0, vocab - period + 1) * (rng.random((count, 1)) < 0.7)  # (batch, 1)
    fresh = rng.permuted(np.tile(np.arange(vocab), (count, 1)), axis=1)  # (batch, vocab)
    place = np.arange(LONGEST + 1)
    from_pattern = np.where(place < start, place, start + (place - start) % period)
    ids = torch.from_numpy(np.take_along_axis(fresh, from_pattern, axis=1))
    known = torch.from_numpy(place >= start + period)
    return Repeats(ids[:, :-1], ids[:, 1:], known[:, :-1])


def loss_of(model: AttentionOnly, text: Repeats) -> Tensor:
    """The mean loss, in nats, where the next letter can be known."""
    return F.cross_entropy(model(text.ids).logits[text.known], text.targets[text.known])


def sizes(model: AttentionOnly) -> Tensor:
    """The lengths of every head's value map and of its slice of W_o, added up."""
    parts = [
        torch.stack(
            [
                layer.value.weight.unflatten(0, (HEADS, -1)).norm(dim=(1, 2)),
                layer.out.weight.unflatten(1, (HEADS, -1)).norm(dim=(0, 2)),
            ]
        )
        for layer in model.layers
    ]
    return torch.stack(parts).sum()


def trained(seed: int, price: float) -> AttentionOnly:
    """Train a model; its loss is that of the known letters, and a price for heads that speak."""
    set_seed(seed)
    rng = generator("head switch", seed)
    model = AttentionOnly(len(LETTERS), LONGEST, D_MODEL, HEADS, LAYERS)
    adam = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)

    def rate(step: int) -> float:
        wave = 0.05 + 0.95 * (1 + np.cos(np.pi * step / STEPS)) / 2
        return min(1.0, (step + 1) / WARMUP) * wave

    schedule = torch.optim.lr_scheduler.LambdaLR(adam, rate)
    for _ in range(STEPS):
        adam.zero_grad()
        (loss_of(model, texts(rng, BATCH)) + price * sizes(model)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        adam.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def prices(model: AttentionOnly) -> tuple[float, list[float]]:
    """The loss on new texts, and how much it rises without each head."""
    text = texts(generator("head switch", "new"), 400)
    whole, rises = loss_of(model, text).item(), []
    for layer in range(LAYERS):
        for head in range(HEADS):
            with interventions.ablate(model, [(layer, head)]):
                rises.append(loss_of(model, text).item() - whole)
    return whole, rises


def packed(model: AttentionOnly) -> dict:
    """Letters, shapes, and one row of bytes for all parameters, in the order of the names."""
    parameters = model.state_dict()
    numbers = torch.cat([tensor.flatten() for tensor in parameters.values()]).numpy()
    return {
        "letters": LETTERS,
        "longest": LONGEST,
        "heads": HEADS,
        "layers": LAYERS,
        "shapes": {name: list(tensor.shape) for name, tensor in parameters.items()},
        "parameters": base64.b64encode(numbers.astype("<f4").tobytes()).decode(),
    }


def compared(seeds: int = 5) -> dict:
    """For each seed, with the price and without, the loss and its rise without each head."""
    results = {}
    for name, price in (("price", PRICE), ("free", 0.0)):
        results[name] = []
        for seed in range(seeds):
            whole, rises = prices(trained(seed, price))
            results[name].append({"loss": round(whole, 4), "rises": np.round(rises, 3).tolist()})
            print(name, seed, results[name][-1], flush=True)
    return results


def main() -> None:
    """Train, compare seeds if asked, and write the file."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--seeds", action="store_true", help="train five seeds in two ways too")
    seeds = asked.parse_args().seeds
    threads(1)
    before = json.loads(TARGET.read_text("utf8")) if TARGET.exists() else {}
    model = trained(SEED, PRICE)
    whole, rises = prices(model)
    print(f"loss {whole:.4f}, without each head {np.round(whole + np.array(rises), 2)}")
    result = {"model": packed(model), "seeds": compared() if seeds else before.get("seeds", {})}
    TARGET.write_text(json.dumps(result) + "\n", "utf8")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
