"""GPT-2 small, read and written: ours against the peers, and against what the machine can do.

python benchmarks/inference.py
"""

import tempfile
import time
from statistics import median

import torch
from measuring import gap, in_turn, rows, timed
from peers import Peer, all_peers, ours
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from lib.fast.loops import in_large_pages
from lib.fast.one_token import PRECISIONS
from lib.fast.packed import PackedGPT2, PackedLinear
from lib.models.config import Config
from lib.models.generation import generate, stream
from lib.models.gpt2 import GPT2
from lib.pretrained.gpt2 import load_gpt2

BEST, PLAIN = "ours, packed", "ours, plain"


def work(config: Config, batch: int, n: int) -> float:
    """Multiplications and additions of a forward pass, attention by its causal half."""
    maps = config.layers * (4 * config.d_model**2 + 2 * config.d_model * config.d_ff)
    mixing = config.layers * (n + 1) * config.d_model
    return 2.0 * batch * n * (maps + config.vocab_size * config.d_model + mixing)


def read(config: Config) -> float:
    """Bytes of weights that one token needs, in float32."""
    maps = config.layers * (4 * config.d_model**2 + 2 * config.d_model * config.d_ff)
    return 4.0 * (maps + config.vocab_size * config.d_model)


def limits() -> dict:
    """Calls that do nothing but multiply, or read: what the machine can do at this moment."""
    product = PackedLinear(torch.randn(3072, 768), None)
    x, usual = torch.randn(1024, 768), torch.ones(2**27)
    large = torch.from_numpy(in_large_pages(usual.shape, usual.numpy().dtype)).copy_(usual)
    return {"multiply": lambda: product(x), "read": large.sum, "read usual pages": usual.sum}


def forward(peers: dict[str, Peer], config: Config, shape: tuple[int, int], budget: float) -> list:
    """All logits of a batch."""
    ids = torch.randint(config.vocab_size, shape, generator=torch.Generator().manual_seed(0))
    able = {name: peer.forward for name, peer in peers.items() if peer.forward}
    truth, gaps = able[PLAIN](ids), {}
    for name, call in able.items():
        gaps[name] = gap(call(ids), truth)
        allowed = 1e-5 if name.startswith("ours") else 1e-4
        assert gaps[name] < allowed, f"{name} differs by {gaps[name]:.1e} of the largest logit"
    calls = {name: timed(lambda call=call: call(ids)) for name, call in able.items()}
    multiply = timed(limits()["multiply"])
    # Three, of which the best is the peak at that moment.
    calls["peak"] = lambda: min(multiply() for _ in range(3))
    first = in_turn(calls, 0)
    # The nearest go on by themselves: among slow peers two of them are half a minute apart.
    limit = 1.6 * median(first[BEST])
    near = {name: call for name, call in calls.items() if median(first[name]) < limit}
    found = {}
    for taken in (first, in_turn(near, budget, least=7)):
        peak = [2.0 * 1024 * 768 * 3072 / seconds for seconds in taken.pop("peak")]
        for row in rows(f"Forward, {shape[0]} x {shape[1]} tokens", taken, BEST, PLAIN):
            shares = [work(config, *shape) / one / top
                      for one, top in zip(taken[row["name"]], peak, strict=True)]  # fmt: skip
            more = {"share_of_peak": _middle(shares), "gap": gaps[row["name"]]}
            found[row["name"]] = row | more
    return list(found.values())


def writing(
    peers: dict[str, Peer], model: GPT2, count: int, prompt: int, budget: float
) -> list[dict]:
    """Greedy text after a prompt, cached: token for token the same."""
    config = model.config
    ids = torch.randint(config.vocab_size, (1, prompt), generator=torch.Generator().manual_seed(1))
    able = {name: peer.generate for name, peer in peers.items() if peer.generate}
    truth = able[PLAIN](ids, count)
    other = {name for name, call in able.items() if not torch.equal(call(ids, count).long(), truth)}
    assert not {name for name in other if name.startswith(("ours", "transformers"))}, other
    able = {name: call for name, call in able.items() if name not in other}
    calls = {name: timed(lambda call=call: call(ids, count)) for name, call in able.items()}
    packed, limit = PackedGPT2(model), limits()
    calls["a token"] = lambda: token(packed, ids, count)
    for name in ("read", "read usual pages"):
        reading = timed(limit[name])
        calls[name] = lambda one=reading: min(one() for _ in range(3)) * read(config) / 2**29
    taken = in_turn(calls, budget)
    alone, large, usual = (taken.pop(name) for name in ("a token", "read", "read usual pages"))
    table = rows(f"Greedy text, {count} tokens after {prompt}", taken, BEST, PLAIN)
    table[0]["milliseconds_a_token"] = round(1e3 * _middle(alone), 2)
    table[0]["limit_a_token"] = round(1e3 * _middle(large), 2)
    for key, best in (("share_of_bandwidth", large), ("share_of_usual_bandwidth", usual)):
        table[0][key] = _middle([a / b for a, b in zip(best, alone, strict=True)])
    notes = dict.fromkeys(other, "writes another text") | {
        name: "no cached text that runs" for name, peer in peers.items() if not peer.generate
    }
    what = table[0]["what"]
    return table + [{"what": what, "name": name, "note": note} for name, note in notes.items()]


def token(model: PackedGPT2, ids: Tensor, count: int) -> float:
    """Seconds a token, the prompt and the token that comes with it not counted."""
    tokens = stream(model, ids, count)
    next(tokens)
    start = time.perf_counter()
    for _ in tokens:
        pass
    return (time.perf_counter() - start) / (count - 1)


def precisions(model: GPT2, count: int, prompt: int, budget: float) -> list[dict]:
    """The packed model in coarser numbers, with the error that each states."""
    ids = torch.randint(
        model.config.vocab_size, (1, prompt), generator=torch.Generator().manual_seed(1)
    )
    forms = {precision: PackedGPT2(model, precision) for precision in PRECISIONS}
    errors = {name: form.error for name, form in forms.items()}
    calls = {name: lambda form=form: token(form, ids, count) for name, form in forms.items()}
    table = rows("A token, by precision", in_turn(calls, budget), "float32")
    return [row | {"error": errors[row["name"]]} for row in table]


def caching(model: GPT2, count: int, prompt: int) -> list[dict]:
    """Our own text with the cache and without."""
    ids = torch.randint(
        model.config.vocab_size, (1, prompt), generator=torch.Generator().manual_seed(1)
    )
    packed = PackedGPT2(model)
    calls = {
        name: timed(lambda form=form, kept=kept: generate(form, ids, count, cached=kept))
        for form, forms in ((packed, "packed"), (model, "plain"))
        for name, kept in ((f"{forms}, cached", True), (f"{forms}, uncached", False))
    }
    assert torch.equal(generate(packed, ids, 8), generate(model, ids, 8, cached=False))
    taken = in_turn(calls, 0, least=1)
    what = f"Our cache, {count} tokens after {prompt}"
    return rows(what, taken, "packed, cached", "plain, cached")


def _middle(values: list[float]) -> float:
    return round(sorted(values)[len(values) // 2], 4)


@torch.inference_mode()
def measure(small: bool = False) -> tuple[list[dict], dict[str, str]]:
    """Everything above. `small` is a rehearsal on a model of two layers."""
    torch.manual_seed(0)
    sizes = {"n_layer": 2, "vocab_size": 5003} if small else {}
    with tempfile.TemporaryDirectory() as folder:
        GPT2LMHeadModel(GPT2Config(**sizes)).save_pretrained(folder)
        theirs = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="sdpa").eval()
        model = load_gpt2(folder)
        peers, missing = all_peers(theirs, folder)
    peers = ours(model) | peers
    seconds, count = (2.0, 32) if small else (110.0, 128)
    table = forward(peers, model.config, (1, 1024), seconds)
    table += forward(peers, model.config, (4, 256), seconds)
    table += writing(peers, model, count, 128, 1.3 * seconds)
    table += precisions(model, count, 128, seconds / 6)
    table += caching(model, count, 128)
    return table, missing


if __name__ == "__main__":
    for row in measure(small=True)[0]:
        print(row)
