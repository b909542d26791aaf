"""The peers: each is built from the weights of one `transformers` model, and says its own name.

A peer gives `forward(ids) -> logits` and `generate(ids, count) -> ids`, or None for what it lacks.
"""

import importlib.metadata
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from transformers import GPT2LMHeadModel

from lib.fast.packed import PackedGPT2
from lib.models.generation import generate
from lib.models.gpt2 import GPT2


class Peer(NamedTuple):
    """What is measured of one."""

    forward: Callable[[Tensor], Tensor] | None
    generate: Callable[[Tensor, int], Tensor] | None


def version(package: str) -> str:
    return importlib.metadata.version(package)


def ours(model: GPT2) -> dict[str, Peer]:
    """The model that the chapter shows, and its packed form."""
    packed = PackedGPT2(model)
    return {
        "ours, packed": Peer(
            lambda ids: packed(ids).logits, lambda ids, count: generate(packed, ids, count)
        ),
        "ours, plain": Peer(
            lambda ids: model(ids).logits, lambda ids, count: generate(model, ids, count)
        ),
    }


def transformers(model: GPT2LMHeadModel, folder: str) -> dict[str, Peer]:
    """Both of its attentions: fused, and written out."""
    eager = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").eval()
    found = {}
    for name, one in (("sdpa", model), ("eager", eager)):
        one.generation_config.eos_token_id = None  # so that it writes as many as asked
        one.generation_config.pad_token_id = 0
        found[f"transformers {version('transformers')}, {name}"] = Peer(
            lambda ids, one=one: one(ids, use_cache=False).logits,
            lambda ids, count, one=one: one.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False
            ),
        )
    return found


def transformer_lens(model: GPT2LMHeadModel, folder: str) -> dict[str, Peer]:
    """Made for looking inside, with a hook at every step; its cached loop is written out here."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig
    from transformer_lens.cache.key_value_cache import TransformerLensKeyValueCache
    from transformer_lens.pretrained.weight_conversions.gpt2 import convert_gpt2_weights

    said = model.config
    config = HookedTransformerConfig(
        n_layers=said.n_layer, d_model=said.n_embd, n_ctx=said.n_positions, n_heads=said.n_head,
        d_head=said.n_embd // said.n_head, d_vocab=said.vocab_size, act_fn="gelu_new",
        eps=said.layer_norm_epsilon, normalization_type="LN", default_prepend_bos=False,
        device="cpu",
    )  # fmt: skip
    lens = HookedTransformer(config).eval()
    lens.load_state_dict(convert_gpt2_weights(model, config), strict=False)

    def written(ids: Tensor, count: int) -> Tensor:
        cache, new = TransformerLensKeyValueCache.init_cache(config, "cpu", len(ids)), ids
        for _ in range(count):
            mask = torch.ones_like(new)
            logits = lens(new, past_kv_cache=cache, attention_mask=mask)
            new = logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], dim=1)
        return ids

    return {f"TransformerLens {version('transformer-lens')}": Peer(lens, written)}


def x_transformers(model: GPT2LMHeadModel, folder: str) -> dict[str, Peer]:
    """Its maps and norms have no biases: equal only because a new GPT-2's biases are 0."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    said, body = model.config, model.transformer
    wrapper = TransformerWrapper(
        num_tokens=said.vocab_size, max_seq_len=said.n_positions, tie_embedding=True,
        tie_embedding_scale=1.0,
        attn_layers=Decoder(
            dim=said.n_embd, depth=said.n_layer, heads=said.n_head,
            attn_dim_head=said.n_embd // said.n_head, attn_flash=True,
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
                linear = [one for one in part.modules() if isinstance(one, nn.Linear)]
                linear[0].weight.copy_(block.mlp.c_fc.weight.T)
                linear[1].weight.copy_(block.mlp.c_proj.weight.T)
                for one in linear:
                    one.bias.zero_()
    writer = AutoregressiveWrapper(wrapper)
    return {
        f"x-transformers {version('x-transformers')}": Peer(
            wrapper,
            lambda ids, count: torch.cat(
                [ids, writer.generate(ids, count, temperature=0.0, cache_kv=True)], dim=1
            ),
        )
    }


def llms_from_scratch(model: GPT2LMHeadModel, folder: str) -> dict[str, Peer]:
    """The other teaching GPT-2; with its cache, the mask does not fit the first new token."""
    from llms_from_scratch.kv_cache.gpt2 import GPTModel

    said, body = model.config, model.transformer
    config = {"vocab_size": said.vocab_size, "context_length": said.n_positions,
              "emb_dim": said.n_embd, "n_heads": said.n_head, "n_layers": said.n_layer,
              "drop_rate": 0.0, "qkv_bias": True}  # fmt: skip
    gpt = GPTModel(config).eval()
    weights = {"tok_emb.weight": body.wte.weight, "pos_emb.weight": body.wpe.weight,
               "out_head.weight": body.wte.weight, "final_norm.scale": body.ln_f.weight,
               "final_norm.shift": body.ln_f.bias}  # fmt: skip
    for i, block in enumerate(body.h):
        maps = {"att.out_proj": block.attn.c_proj, "ff.layers.0": block.mlp.c_fc,
                "ff.layers.2": block.mlp.c_proj}  # fmt: skip
        place = f"trf_blocks.{i}"
        for name, one in maps.items():
            weights |= {f"{place}.{name}.weight": one.weight.T, f"{place}.{name}.bias": one.bias}
        joint = block.attn.c_attn
        three = zip(("query", "key", "value"), joint.weight.T.chunk(3), joint.bias.chunk(3),
                    strict=True)  # fmt: skip
        for name, weight, bias in three:
            weights |= {f"{place}.att.W_{name}.weight": weight, f"{place}.att.W_{name}.bias": bias}
        for name, norm in (("norm1", block.ln_1), ("norm2", block.ln_2)):
            weights |= {f"{place}.{name}.scale": norm.weight, f"{place}.{name}.shift": norm.bias}
    gpt.load_state_dict(weights)

    return {f"llms-from-scratch {version('llms-from-scratch')}": Peer(gpt, None)}


def ctranslate2(model: GPT2LMHeadModel, folder: str) -> dict[str, Peer]:
    """A native engine, in float32."""
    import ctranslate2
    from ctranslate2.converters.transformers import GPT2Loader

    words = [f"<{i}>" for i in range(model.config.vocab_size)]
    spec = GPT2Loader().get_model_spec(model)
    spec.register_vocabulary(words)
    spec.config.bos_token = spec.config.eos_token = spec.config.unk_token = words[-1]
    with tempfile.TemporaryDirectory() as place:
        spec.validate()
        spec.optimize()
        spec.save(place)
        threads = torch.get_num_threads()
        engine = ctranslate2.Generator(place, compute_type="float32", intra_threads=threads)

    def forward(ids: Tensor) -> Tensor:
        logits = engine.forward_batch(ids.tolist())
        return torch.from_numpy(np.array(logits))

    def written(ids: Tensor, count: int) -> Tensor:
        prompts = [[words[i] for i in row] for row in ids.tolist()]
        found = engine.generate_batch(
            prompts, max_length=count, min_length=count, sampling_topk=1, end_token=[],
            include_prompt_in_result=False,
        )  # fmt: skip
        return torch.cat([ids, torch.tensor([one.sequences_ids[0] for one in found])], dim=1)

    return {f"CTranslate2 {version('ctranslate2')}": Peer(forward, written)}


def llama_cpp(model: GPT2LMHeadModel, folder: str) -> dict[str, Peer]:
    """A native engine, in float32, from a file of its own format."""
    import gguf
    from llama_cpp import Llama

    said, body = model.config, model.transformer
    path = f"{folder}/model.gguf"
    file = gguf.GGUFWriter(path, "gpt2")
    file.add_block_count(said.n_layer)
    file.add_context_length(said.n_positions)
    file.add_embedding_length(said.n_embd)
    file.add_feed_forward_length(4 * said.n_embd)
    file.add_head_count(said.n_head)
    file.add_layer_norm_eps(said.layer_norm_epsilon)
    file.add_file_type(gguf.LlamaFileType.ALL_F32)
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_token_list([f"<{i}>" for i in range(said.vocab_size)])
    file.add_token_merges([])
    tensors = {"token_embd": body.wte, "position_embd": body.wpe, "output_norm": body.ln_f}
    for i, block in enumerate(body.h):
        tensors |= {f"blk.{i}.attn_norm": block.ln_1, f"blk.{i}.ffn_norm": block.ln_2,
                    f"blk.{i}.attn_qkv": block.attn.c_attn,
                    f"blk.{i}.attn_output": block.attn.c_proj,
                    f"blk.{i}.ffn_up": block.mlp.c_fc,
                    f"blk.{i}.ffn_down": block.mlp.c_proj}  # fmt: skip
    for name, one in tensors.items():
        weight = one.weight.detach()
        weight = weight.T if type(one).__name__ == "Conv1D" else weight
        file.add_tensor(f"{name}.weight", weight.contiguous().numpy())
        if getattr(one, "bias", None) is not None:
            file.add_tensor(f"{name}.bias", one.bias.detach().numpy())
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    threads = torch.get_num_threads()
    engine = Llama(path, n_ctx=said.n_positions, n_batch=512, n_threads=threads,
                   n_threads_batch=threads, verbose=False)  # fmt: skip

    def written(ids: Tensor, count: int) -> Tensor:
        engine.reset()
        new = []
        for token in engine.generate(ids[0].tolist(), temp=0.0, repeat_penalty=1.0):
            new.append(token)
            if len(new) == count:
                break
        return torch.cat([ids, torch.tensor([new])], dim=1)

    return {f"llama-cpp-python {version('llama-cpp-python')}": Peer(None, written)}


def all_peers(model: GPT2LMHeadModel, folder: str) -> tuple[dict[str, Peer], dict[str, str]]:
    """Build what is installed; say of the rest why it is missing."""
    makers = {"transformers": transformers, "TransformerLens": transformer_lens,
              "x-transformers": x_transformers, "llms-from-scratch": llms_from_scratch,
              "CTranslate2": ctranslate2, "llama-cpp-python": llama_cpp}  # fmt: skip
    peers, missing = {}, {}
    for name, maker in makers.items():
        try:
            peers |= maker(model, folder)
        except ModuleNotFoundError as error:
            missing[name] = f"not measured: {error.name} is not installed here"
    return peers, missing
