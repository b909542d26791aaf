"""Greedy decoding with a KV cache: GPT-2 small in float32, and in int8."""

from functools import partial

import torch
from torch import Tensor

from benchmarks.measuring import Section, Setting, contest, gap
from benchmarks.peers import Weights, build, engines, exported, first_line, in_eight_bits, in_torch

OURS, OURS_INT8 = "ours", "ours, int8"
PROMPT, NEW = 128, 64
MAKERS = {
    OURS: in_torch.ours_generate,
    "transformers": in_torch.transformers_generate,
    "transformers, compiled": in_torch.transformers_compiled_generate,
    "TransformerLens": in_torch.transformer_lens_generate,
    "x-transformers": in_torch.x_transformers_generate,
    "CTranslate2": engines.ctranslate2_generate,
    "llama.cpp": engines.llama_cpp_generate,
    "ONNX Runtime": exported.onnx_runtime_generate,
    "OpenVINO": exported.openvino_generate,
}
INT8 = {
    OURS_INT8: in_eight_bits.ours,
    "ours, float32": in_eight_bits.plain,
    "torch, quantize_dynamic": in_eight_bits.quantize_dynamic,
    "CTranslate2, int8": in_eight_bits.ctranslate2,
    "llama.cpp, Q8_0": in_eight_bits.llama_cpp,
}


def prompt(weights: Weights) -> Tensor:
    """The same random tokens for all."""
    vocab = weights.ours.config.vocab_size
    return torch.randint(vocab, (1, PROMPT), generator=torch.Generator().manual_seed(1))


def measure(setting: Setting) -> Section:
    """Float32: every text must be the same, token for token."""
    section, weights = Section(), Weights(setting.folder, setting.threads, setting.small)
    peers, section.missing = build(MAKERS, weights)
    section.missing["llms-from-scratch"] = "its cached generation fails in the pinned release"
    count, ids, calls = 8 if setting.small else NEW, prompt(weights), {}
    exact = peers[OURS](ids, count)
    for name, peer in peers.items():
        try:
            same = torch.equal(peer(ids, count).long(), exact)
        except Exception as error:
            section.missing[name] = first_line(error)
            continue
        if same:
            calls[name] = partial(peer, ids, count)
        else:
            section.missing[name] = "it generates other tokens"
    what = f"Greedy decoding in float32, {count} tokens after {PROMPT}"
    section.rows = contest(what, calls, setting, ours=OURS, budget=100)
    return section


def measure_int8(setting: Setting) -> Section:
    """Int8: each rounds in its own way, so the error of each is measured first."""
    section, weights = Section(), Weights(setting.folder, setting.threads, setting.small)
    peers, section.missing = build(INT8, weights)
    count, ids = 8 if setting.small else NEW, prompt(weights)
    exact, errors, calls = weights.ours(ids).logits[:, -1], {}, {}
    for name, (generate, last_logits) in peers.items():
        errors[name] = gap(last_logits(ids), exact)
        generate(ids, 2)  # the first call compiles
        calls[name] = partial(generate, ids, count)
    what = f"Greedy decoding in int8, {count} tokens after {PROMPT}"
    section.rows = contest(what, calls, setting, ours=OURS_INT8, budget=60)
    for row in section.rows:
        row["error"] = float(f"{errors[row['name']]:.1e}")
    return section
