"""The peers that generate with int8 weights: (generate, the logits of the last token)."""

import warnings

import torch
from torch import Tensor, nn

from benchmarks.peers import Forward, Generate, Weights, engines
from lib.fast.int8 import Int8GPT2
from lib.models.generation import generate
from lib.models.gpt2 import GPT2

Pair = tuple[Generate, Forward]


def with_cache(model) -> Pair:
    """A model that generates by the course's loop; its last token is read alone."""

    def last_logits(ids: Tensor) -> Tensor:
        caches = model.caches()
        model(ids[:, :-1], caches=caches, last=True)
        return model(ids[:, -1:], caches=caches, last=True).logits[:, -1]

    return lambda ids, count: generate(model, ids, count), last_logits


def ours(weights: Weights) -> Pair:
    """`lib.fast.int8`: the weights alone are rounded."""
    return with_cache(Int8GPT2(weights.ours))


def plain(weights: Weights) -> Pair:
    """The plain model, to see what int8 saves."""
    return with_cache(weights.ours)


class Headed(GPT2):
    """The plain model with its LM head as a linear layer, which torch can then replace."""

    def __init__(self, model: GPT2):
        with torch.device("meta"):
            super().__init__(model.config)
        self.load_state_dict(model.state_dict(), assign=True)
        vocab, d_model = model.token_embedding.weight.shape
        self.lm_head = nn.Linear(d_model, vocab, bias=False, device="meta")
        self.lm_head.weight = self.token_embedding.weight
        self.eval()

    def unembed(self, x: Tensor) -> Tensor:
        """Score every token of the vocabulary."""
        return self.lm_head(self.norm(x))


def quantize_dynamic(weights: Weights) -> Pair:
    """torch's own, which also rounds what is multiplied with the weights; deprecated since 2.10."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.ao.quantization import quantize_dynamic

        model = quantize_dynamic(Headed(weights.ours), {nn.Linear}, dtype=torch.qint8)
    return with_cache(model)


def ctranslate2(weights: Weights) -> Pair:
    """Its own int8, which also rounds what is multiplied with the weights."""
    logits = engines.ctranslate2_forward(weights, "int8")
    return engines.ctranslate2_generate(weights, "int8"), lambda ids: logits(ids)[:, -1]


def llama_cpp(weights: Weights) -> Pair:
    """Q8_0: one scale for 32 weights, and what is multiplied is rounded as well."""
    logits = engines.llama_cpp_forward(weights, "int8")
    return engines.llama_cpp_generate(weights, "int8"), lambda ids: logits(ids)[:, -1]
