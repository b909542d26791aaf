"""The peers that run in torch, eager and compiled."""

import functools
import os

import torch
from torch import Tensor, nn
from transformers import StaticCache

from benchmarks.peers import Forward, Generate, Weights
from lib.models.generation import generate as generate_ours


def ours(weights: Weights) -> Forward:
    """The plain model of chapter 12."""
    return lambda ids: weights.ours(ids).logits


def ours_generate(weights: Weights) -> Generate:
    """The loop of chapter 12, with its KV cache."""
    return lambda ids, count: generate_ours(weights.ours, ids, count)


def compiled(model: nn.Module) -> nn.Module:
    """torch.compile at its best for inference: weights are constants, packed once (freezing)."""
    return torch.compile(model, dynamic=False, options={"freezing": True})


def ours_compiled(weights: Weights) -> Forward:
    """The plain model through torch.compile."""
    model = compiled(weights.ours)
    return lambda ids: model(ids).logits


def transformers(weights: Weights) -> Forward:
    """With the fused attention kernel and the fused GELU."""
    return lambda ids: weights.transformers(ids, use_cache=False).logits


def transformers_compiled(weights: Weights) -> Forward:
    """The same through torch.compile."""
    model = compiled(weights.transformers)
    return lambda ids: model(ids, use_cache=False).logits


def transformers_generate(weights: Weights) -> Generate:
    """Its own greedy decoding."""
    model = weights.transformers
    options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    return lambda ids, count: model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, **options
    )


def transformers_compiled_generate(weights: Weights) -> Generate:
    """A step with a cache of fixed size, compiled once; the prompt is read by the eager model.

    The cache is kept from call to call, because the compiled step is bound to its memory.
    """
    model = weights.transformers
    step = compiled(model)

    @functools.cache
    def cache_of(room: int) -> StaticCache:
        return StaticCache(config=model.config, max_cache_len=room)

    def written(ids: Tensor, count: int) -> Tensor:
        room = ids.shape[1] + count
        cache = cache_of(room)
        cache.reset()
        logits = model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
        for position in range(ids.shape[1], room):
            new = logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], dim=1)
            if position + 1 < room:
                place = torch.tensor([[position]])
                logits = step(new, past_key_values=cache, use_cache=True, position_ids=place).logits
        return ids

    return written


def bridge(weights: Weights):
    """TransformerLens's recommended class, which wraps the transformers model with hooks."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from tokenizers import Tokenizer, models
    from transformer_lens.model_bridge import TransformerBridge
    from transformers import AutoTokenizer, GPT2LMHeadModel, PreTrainedTokenizerFast

    config = weights.transformers.config
    vocab = {f"<{i}>": i for i in range(config.vocab_size)}
    special = dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "<0>")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(vocab, "<0>")), **special
    )
    tokenizer.save_pretrained(weights.saved)  # it refuses one that came from no folder
    model = GPT2LMHeadModel.from_pretrained(
        weights.saved, activation_function="gelu_pytorch_tanh", attn_implementation="eager"
    ).eval()
    loaded = AutoTokenizer.from_pretrained(weights.saved)
    name = str(weights.saved)
    return TransformerBridge.boot_transformers(name, hf_model=model, tokenizer=loaded)


def transformer_lens_generate(weights: Weights) -> Generate:
    """Its own greedy decoding, with its cache."""
    lens = bridge(weights)
    options = {"do_sample": False, "stop_at_eos": False, "verbose": False, "prepend_bos": False}
    return lambda ids, count: lens.generate(
        ids, max_new_tokens=count, return_type="tokens", **options
    )


def x_transformers_model(weights: Weights) -> nn.Module:
    """Its projections and norms have no biases: equal only because a new GPT-2's are all 0."""
    from x_transformers import Decoder, TransformerWrapper

    config, body = weights.transformers.config, weights.transformers.transformer
    wrapper = TransformerWrapper(
        num_tokens=config.vocab_size, max_seq_len=config.n_positions, tie_embedding=True,
        tie_embedding_scale=1.0,
        attn_layers=Decoder(
            dim=config.n_embd, depth=config.n_layer, heads=config.n_head,
            attn_dim_head=config.n_embd // config.n_head, attn_flash=True,
            ff_custom_activation=nn.GELU("tanh"),
        ),
    ).eval()  # fmt: skip
    with torch.no_grad():
        wrapper.token_emb.emb.weight.copy_(body.wte.weight)
        wrapper.pos_emb.emb.weight.copy_(body.wpe.weight / wrapper.pos_emb.scale)
        for layer, (_, part, _) in enumerate(wrapper.attn_layers.layers):
            block = body.h[layer // 2]
            if layer % 2 == 0:
                three = block.attn.c_attn.weight.T.chunk(3)
                for to, weight in zip((part.to_q, part.to_k, part.to_v), three, strict=True):
                    to.weight.copy_(weight)
                part.to_out.weight.copy_(block.attn.c_proj.weight.T)
            else:
                up, down = (each for each in part.modules() if isinstance(each, nn.Linear))
                up.weight.copy_(block.mlp.c_fc.weight.T)
                down.weight.copy_(block.mlp.c_proj.weight.T)
                for linear in (up, down):
                    linear.bias.zero_()
    return wrapper


def x_transformers_generate(weights: Weights) -> Generate:
    """Its own greedy decoding, with its cache."""
    from x_transformers import AutoregressiveWrapper

    writer = AutoregressiveWrapper(x_transformers_model(weights))
    return lambda ids, count: torch.cat(
        [ids, writer.generate(ids, count, temperature=0.0, cache_kv=True)], dim=1
    )


def llms_from_scratch(weights: Weights) -> Forward:
    """The GPT-2 of the book. Its cached generation does not run in the pinned release."""
    from llms_from_scratch.kv_cache.gpt2 import GPTModel

    config, body = weights.transformers.config, weights.transformers.transformer
    gpt = GPTModel({"vocab_size": config.vocab_size, "context_length": config.n_positions,
                    "emb_dim": config.n_embd, "n_heads": config.n_head,
                    "n_layers": config.n_layer, "drop_rate": 0.0,
                    "qkv_bias": True}).eval()  # fmt: skip
    state = {"tok_emb.weight": body.wte.weight, "pos_emb.weight": body.wpe.weight,
             "out_head.weight": body.wte.weight, "final_norm.scale": body.ln_f.weight,
             "final_norm.shift": body.ln_f.bias}  # fmt: skip
    for i, block in enumerate(body.h):
        place, joint = f"trf_blocks.{i}", block.attn.c_attn
        linear = {"att.out_proj": block.attn.c_proj, "ff.layers.0": block.mlp.c_fc,
                  "ff.layers.2": block.mlp.c_proj}  # fmt: skip
        for name, part in linear.items():
            state |= {f"{place}.{name}.weight": part.weight.T, f"{place}.{name}.bias": part.bias}
        three = zip(("query", "key", "value"), joint.weight.T.chunk(3), joint.bias.chunk(3),
                    strict=True)  # fmt: skip
        for name, weight, bias in three:
            state |= {f"{place}.att.W_{name}.weight": weight, f"{place}.att.W_{name}.bias": bias}
        for name, norm in (("norm1", block.ln_1), ("norm2", block.ln_2)):
            state |= {f"{place}.{name}.scale": norm.weight, f"{place}.{name}.shift": norm.bias}
    gpt.load_state_dict(state)
    return gpt
