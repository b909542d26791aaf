"""Greedy decoding with SmolLM2: in float32, and from the 4 bits in which its file holds it."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from benchmarks.measuring import Section, Setting, contest, gap
from benchmarks.peers import first_line
from benchmarks.peers.engines import greedy
from lib.fast.llama import FastLlama, int4_linear
from lib.models.generation import generate
from lib.models.llama import Llama
from lib.pretrained.smollm2 import load_smollm2, prepared
from lib.pretrained.smollm2_package import installed_file

OURS, OURS_INT4, READING = "ours", "ours, 4 bits", "ours, if it only read the weights"
TEXT = "The history of the city begins with a small village on the river. "
PROMPT, NEW = 128, 64
Decode = Callable[[Tensor, int], Tensor]


def transformers_decode() -> Decode:
    """Return the greedy decoding of `transformers`."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(prepared(), dtype=torch.float32).eval()

    def decode(ids: Tensor, count: int) -> Tensor:
        return model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False,
            max_new_tokens=count, min_new_tokens=count,
        )  # fmt: skip

    return decode


def llama_cpp_decode(threads: int) -> Decode:
    """Return the greedy decoding of llama.cpp from the file as it is."""
    from llama_cpp import Llama as Engine

    return greedy(Engine(
        str(installed_file()), n_ctx=2 * (PROMPT + NEW), n_threads=threads,
        n_threads_batch=threads, verbose=False,
    ))  # fmt: skip


def measure(setting: Setting) -> Section:
    """Time float32, where every token must be the same, and 4 bits beside llama.cpp."""
    section, (model, tokenizer) = Section(), load_smollm2()
    count = 4 if setting.small else NEW
    ids = torch.tensor([tokenizer.encode(9 * TEXT)[:PROMPT]])
    exact, calls = generate(model, ids, count), {}
    makers: dict[str, Callable[[], Decode]] = {
        OURS: lambda: partial(generate, FastLlama(model)),
        "ours, plain": lambda: partial(generate, model),
        "transformers": transformers_decode,
    }
    for name, make in makers.items():
        decode = make()
        if torch.equal(decode(ids, count), exact):
            calls[name] = partial(decode, ids, count)
        else:
            section.missing[name] = "it generates other tokens"
    what = f"SmolLM2 in float32, {count} tokens after {PROMPT}"
    section.rows = contest(what, calls, setting, ours=OURS, budget=60)
    section.rows += one_token(setting, model, ids)
    section.rows += four_bits(setting, section, model, ids, count)
    return section


@torch.inference_mode()
def one_token(setting: Setting, model: Llama, ids: Tensor) -> list[dict]:
    """Time one new token, beside what memory allows: to read each weight once."""
    from transformers import AutoModelForCausalLM

    fast, caches = FastLlama(model), model.caches()
    fast(ids, caches=caches, last=True)
    theirs = AutoModelForCausalLM.from_pretrained(prepared(), dtype=torch.float32).eval()
    past = theirs(ids).past_key_values
    layers = model.parameters["layers"]
    weights = [
        model.parameters["embedding"],
        *(part for layer in layers for part in layer.values()),
    ]
    weights = torch.cat([part.flatten() for part in weights])

    def ours(step: Callable[..., object]) -> None:
        for cache in caches:
            cache.used = ids.shape[1]
        step(ids[:, -1:], caches=caches)

    def transformers_step() -> None:
        theirs(ids[:, -1:], past_key_values=past)
        past.crop(-1)

    calls = {
        OURS: partial(ours, fast), "ours, plain": partial(ours, model),
        "transformers": transformers_step, READING: weights.sum,
    }  # fmt: skip
    calls[OURS]()  # the first call compiles
    what = f"One token of SmolLM2 in float32 after {PROMPT}"
    return contest(what, calls, setting, ours=OURS, budget=20, least=15)


def four_bits(setting: Setting, section: Section, model: Llama, ids: Tensor, count: int) -> list:
    """Time 4 bits: each engine rounds in its own way, so its first logits are compared, too."""
    fast = FastLlama(model, int4_linear)
    calls = {OURS_INT4: partial(generate, fast, ids, count)}
    try:
        calls["llama.cpp, the file"] = partial(llama_cpp_decode(setting.threads), ids, count)
    except Exception as error:
        section.missing["llama.cpp, the file"] = first_line(error)
    for call in calls.values():
        call()  # the first call compiles
    what = f"SmolLM2 in 4 bits, {count} tokens after {PROMPT}"
    rows = contest(what, calls, setting, ours=OURS_INT4, budget=30)
    caches = fast.caches()
    fast(ids[:, :-1], caches=caches, last=True)
    error = gap(fast(ids[:, -1:], caches=caches).logits, model(ids, last=True).logits)
    rows[0]["error"] = float(f"{error:.1e}")
    return rows
