"""A GPT with one joint projection for query, key and value, written in torch for this comparison.

nanoGPT and most engines lay out the model this way. It is trained beside our model, and exported to
the engines that read a graph; with a past, it returns the keys and values for the next call.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class JointBlock(nn.Module):
    """A pre-norm block with one projection for query, key and value."""

    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
        self.gelu = nn.GELU("tanh")

    def forward(self, x: Tensor, past: tuple[Tensor, ...] = ()) -> tuple[Tensor, Tensor, Tensor]:
        """Return the residual stream, and the keys and values of all tokens so far."""
        batch, n, d_model = x.shape
        shape = (batch, n, 3 * self.heads, d_model // self.heads)
        q, k, v = self.qkv(self.ln_1(x)).view(shape).transpose(1, 2).chunk(3, dim=1)
        if not past:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
            keys = k.shape[2]
            mask = torch.ones(n, keys, dtype=torch.bool, device=x.device).tril(keys - n)
            mixed = F.scaled_dot_product_attention(q, k, v, mask)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, n, d_model))
        x = x + self.down(self.gelu(self.up(self.ln_2(x))))
        return x, k, v


class JointGPT(nn.Module):
    """A decoder-only model of such blocks, with its LM head tied to the token embedding."""

    def __init__(self, vocab: int, context_length: int, d_model: int, heads: int, layers: int):
        super().__init__()
        self.wte = nn.Embedding(vocab, d_model)
        self.wpe = nn.Embedding(context_length, d_model)
        self.h = nn.ModuleList(JointBlock(d_model, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits of every position."""
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.h:
            x, _, _ = block(x)
        return self.lm_head(self.ln_f(x))

    @classmethod
    def like(cls, model: nn.Module) -> "JointGPT":
        """Take the sizes of a GPT2LMHeadModel."""
        c = model.config
        return cls(c.vocab_size, c.n_positions, c.n_embd, c.n_head, c.n_layer)

    @classmethod
    def from_transformers(cls, model: nn.Module) -> "JointGPT":
        """Take its parameters too; its Conv1D stores a matrix transposed."""
        gpt, body = cls.like(model), model.transformer
        pairs = [(gpt.wte, body.wte), (gpt.wpe, body.wpe), (gpt.ln_f, body.ln_f)]
        for mine, theirs in zip(gpt.h, body.h, strict=True):
            pairs += [(mine.ln_1, theirs.ln_1), (mine.ln_2, theirs.ln_2)]
            pairs += [(mine.qkv, theirs.attn.c_attn), (mine.out, theirs.attn.c_proj)]
            pairs += [(mine.up, theirs.mlp.c_fc), (mine.down, theirs.mlp.c_proj)]
        with torch.no_grad():
            for mine, theirs in pairs:
                transposed = isinstance(mine, nn.Linear)
                mine.weight.copy_(theirs.weight.T if transposed else theirs.weight)
                if getattr(mine, "bias", None) is not None:
                    mine.bias.copy_(theirs.bias)
        return gpt.eval()


class Step(nn.Module):
    """The same model as a function (new ids, past) -> (logits of the last id, present).

    An engine that reads a graph generates with it: this present is the past of its next call, the
    keys of the first layer, its values, the keys of the second, and so on.
    """

    def __init__(self, gpt: JointGPT):
        super().__init__()
        self.gpt = gpt

    def forward(self, ids: Tensor, *past: Tensor) -> tuple[Tensor, ...]:
        """Return the next token's logits, then the keys and values of every layer."""
        start = past[0].shape[2]
        positions = torch.arange(start, start + ids.shape[1], device=ids.device)
        x, present = self.gpt.wte(ids) + self.gpt.wpe(positions), []
        for i, block in enumerate(self.gpt.h):
            x, k, v = block(x, past[2 * i : 2 * i + 2])
            present += [k, v]
        return self.gpt.lm_head(self.gpt.ln_f(x[:, -1:])), *present

    def empty(self, n: int = 0) -> list[Tensor]:
        """The past before the first token, or zeros for n tokens."""
        heads = self.gpt.h[0].heads
        d_k = self.gpt.wte.embedding_dim // heads
        return [torch.zeros(1, heads, n, d_k) for _ in range(2 * len(self.gpt.h))]
