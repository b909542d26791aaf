"""The peers that training is timed against, with our parameters."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel

from lib.models.config import Config
from lib.models.gpt2 import GPT2

PLACES = {  # in a block of ours, of nanoGPT's kind, of transformers
    "attention_norm": ("before", "ln_1"),
    "attention.out": ("out", "attn.c_proj"),
    "feed_forward_norm": ("between", "ln_2"),
    "feed_forward.up": ("widen", "mlp.c_fc"),
    "feed_forward.down": ("narrow", "mlp.c_proj"),
}
NAMES = {  # of nanoGPT's kind, of transformers
    "words": "transformer.wte",
    "positions": "transformer.wpe",
    "layers": "transformer.h",
    "joint": "attn.c_attn",
    "norm": "transformer.ln_f",
    "scores": "lm_head",
}


class JointBlock(nn.Module):
    """A block as nanoGPT's kind of model has it: one projection for query, key and value."""

    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.joint, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.widen, self.narrow = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
        self.gelu = nn.GELU("tanh")

    def forward(self, x: Tensor) -> Tensor:
        """Attend in one fused call, then widen and narrow."""
        batch, n, d_model = x.shape
        shape = (batch, n, self.heads, d_model // self.heads)
        q, k, v = (part.view(shape).transpose(1, 2)
                   for part in self.joint(self.before(x)).split(d_model, dim=2))  # fmt: skip
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).contiguous().view(batch, n, d_model))
        return x + self.narrow(self.gelu(self.widen(self.between(x))))


class Joint(nn.Module):
    """nanoGPT's kind of model, written for this comparison."""

    def __init__(self, config: Config):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.context_length, config.d_model)
        self.layers = nn.ModuleList(
            JointBlock(config.d_model, config.heads) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.d_model)
        self.scores = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.scores.weight = self.words.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits."""
        x = self.words(ids) + self.positions(torch.arange(ids.shape[-1]))
        for layer in self.layers:
            x = layer(x)
        return self.scores(self.norm(x))


class Logits(nn.Module):
    """A peer that returns more, as a function from ids to logits."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits alone."""
        return self.model(ids).logits


def layout(model: GPT2, peer: int) -> dict[str, Tensor]:
    """Our parameters under the names and in the layout of a peer, 0 or 1 as in PLACES."""
    words, positions, layers, joint, norm, scores = NAMES.values() if peer else NAMES
    parts = {
        words: model.token_embedding,
        positions: model.position_embedding,
        norm: model.norm,
        scores: model.words,
    }
    for i, block in enumerate(model.layers):
        parts[f"{layers}.{i}.{joint}"] = stacked(block.attention)
        for ours, theirs in PLACES.items():
            parts[f"{layers}.{i}.{theirs[peer]}"] = block.get_submodule(ours)
    found = {}
    for place, part in parts.items():
        for name, one in part.state_dict().items():
            # A transformers Conv1D holds its matrix the other way round.
            turned = peer and isinstance(part, nn.Linear) and name == "weight"
            found[f"{place}.{name.replace('gain', 'weight')}"] = (one.T if turned else one).clone()
    return found


def stacked(attention: nn.Module) -> nn.Linear:
    """The maps to queries, keys and values as one."""
    three = [one.state_dict() for one in (attention.query, attention.key, attention.value)]
    one = nn.Linear(attention.query.in_features, 3 * attention.query.out_features)
    one.load_state_dict({name: torch.cat([each[name] for each in three]) for name in three[0]})
    return one


def contestants(config: Config) -> tuple[GPT2, dict[str, tuple[nn.Module, bool]]]:
    """Ours, and peers with its parameters; with each, whether its AdamW is the fused one."""
    torch.manual_seed(0)
    ours, joint, fused = GPT2(config), Joint(config), Joint(config)
    for model in (joint, fused):
        model.load_state_dict(layout(ours, 0))
    theirs = GPT2LMHeadModel(GPT2Config(
        vocab_size=config.vocab_size, n_positions=config.context_length, n_embd=config.d_model,
        n_layer=config.layers, n_head=config.heads, resid_pdrop=0.0, embd_pdrop=0.0,
        attn_pdrop=0.0, use_cache=False, attn_implementation="sdpa",
        bos_token_id=None, eos_token_id=None,
    ))  # fmt: skip
    theirs.load_state_dict(layout(ours, 1))
    # On a CPU nanoGPT asks for the AdamW that is not fused, transformers' Trainer for the fused.
    return ours, {
        "nanoGPT's kind": (joint, False),
        "nanoGPT's kind, AdamW fused": (fused, True),
        "transformers": (Logits(theirs), True),
    }
