"""The logits of a whole text: GPT-2 small in float32, ours and the peers'."""

from functools import partial

import torch

from benchmarks.measuring import Section, Setting, contest, gap
from benchmarks.peers import Forward, Weights, build, engines, exported, first_line, in_torch

OURS = "ours"
MAKERS = {
    OURS: in_torch.ours,
    "ours, compiled": in_torch.ours_compiled,
    "transformers": in_torch.transformers,
    "transformers, compiled": in_torch.transformers_compiled,
    "TransformerLens": in_torch.bridge,
    "x-transformers": in_torch.x_transformers_model,
    "llms-from-scratch": in_torch.llms_from_scratch,
    "CTranslate2": engines.ctranslate2_forward,
    "llama.cpp": engines.llama_cpp_forward,
    "ONNX Runtime": exported.onnx_runtime_forward,
    "OpenVINO": exported.openvino_forward,
}
ALLOWED = 1e-4  # of the largest logit
LOOKED_UP = {"llama.cpp": 1e-3}  # takes GELU from a table of float16 numbers
PEAK, SIDE = "peak", 1536  # the product of two square matrices of this side


def measure(setting: Setting) -> Section:
    """One text of 1,024 tokens, and four of 256; on two threads the first alone."""
    section, weights = Section(), Weights(setting.folder, setting.threads, setting.small)
    peers, section.missing = build(MAKERS, weights)
    shapes = [(1, 1024), (4, 256)] if setting.threads == 1 else [(1, 1024)]
    for shape in [(1, 64), (2, 32)] if setting.small else shapes:
        section.rows += one_shape(peers, weights, shape, setting, section.missing)
    return section


def one_shape(
    peers: dict[str, Forward],
    weights: Weights,
    shape: tuple[int, int],
    setting: Setting,
    missing: dict[str, str],
) -> list[dict]:
    """Compare the logits, then time the calls; the peak is timed in each round."""
    size = f"{shape[0]} x {shape[1]:,} tokens"
    vocab = weights.ours.config.vocab_size
    ids = torch.randint(vocab, shape, generator=torch.Generator().manual_seed(0))
    exact, gaps, calls = peers[OURS](ids), {}, {}
    for name, peer in peers.items():
        try:
            gaps[name] = gap(peer(ids), exact)
        except Exception as error:
            missing[f"{name}, {size}"] = first_line(error)
            continue
        if gaps[name] > LOOKED_UP.get(name, ALLOWED):
            missing[f"{name}, {size}"] = f"its logits differ by {gaps[name]:.1e} of the largest"
        else:
            calls[name] = partial(peer, ids)
    square = torch.randn(SIDE, SIDE)
    calls[PEAK] = partial(torch.mm, square, square)
    table = contest(f"Forward pass, {size}", calls, setting, ours=OURS, budget=90)
    peak = next(row for row in table if row["name"] == PEAK)
    table.remove(peak)
    for row in table:
        share = work(weights, *shape) / row["milliseconds"] * peak["milliseconds"] / (2 * SIDE**3)
        row |= {"gap": float(f"{gaps[row['name']]:.1e}"), "share_of_peak": round(share, 3)}
    return table


def work(weights: Weights, batch: int, n: int) -> float:
    """Multiplications and additions of a forward pass; attention by its causal half."""
    config = weights.ours.config
    linear = config.layers * (4 * config.d_model**2 + 2 * config.d_model * config.d_ff)
    attention = config.layers * (n + 1) * config.d_model
    return 2.0 * batch * n * (linear + config.vocab_size * config.d_model + attention)
