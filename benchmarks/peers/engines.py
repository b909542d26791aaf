"""The native engines CTranslate2 and llama.cpp, in float32 or int8."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.peers import Forward, Generate, Weights


def ctranslate2(weights: Weights, precision: str = "float32"):
    """Its generator, and the names that it gives to tokens."""
    import ctranslate2 as engine
    from ctranslate2.converters.transformers import GPT2Loader

    words = [f"<{i}>" for i in range(weights.transformers.config.vocab_size)]

    def convert(path: Path) -> None:
        spec = GPT2Loader().get_model_spec(weights.transformers)
        spec.register_vocabulary(words)
        spec.config.bos_token = spec.config.eos_token = spec.config.unk_token = words[-1]
        spec.validate()
        spec.optimize()
        path.mkdir()
        spec.save(str(path))

    path = weights.converted("ctranslate2", convert)
    threads = weights.threads
    return engine.Generator(str(path), compute_type=precision, intra_threads=threads), words


def ctranslate2_forward(weights: Weights, precision: str = "float32") -> Forward:
    """All logits of a batch, without a copy."""
    engine, _ = ctranslate2(weights, precision)
    return lambda ids: torch.from_numpy(np.asarray(engine.forward_batch(ids.tolist())))


def ctranslate2_generate(weights: Weights, precision: str = "float32") -> Generate:
    """Its own greedy decoding."""
    engine, words = ctranslate2(weights, precision)

    def written(ids: Tensor, count: int) -> Tensor:
        prompts = [[words[i] for i in row] for row in ids.tolist()]
        results = engine.generate_batch(
            prompts, max_length=count, min_length=count, sampling_topk=1, end_token=[],
            include_prompt_in_result=False,
        )  # fmt: skip
        return torch.cat([ids, torch.tensor([each.sequences_ids[0] for each in results])], dim=1)

    return written


def gguf_parts(body: nn.Module) -> dict[str, nn.Module]:
    """The parts of transformers' GPT-2 by the names that a GGUF file gives them."""
    parts = {"token_embd": body.wte, "position_embd": body.wpe, "output_norm": body.ln_f}
    for i, block in enumerate(body.h):
        parts |= {f"blk.{i}.attn_norm": block.ln_1, f"blk.{i}.ffn_norm": block.ln_2,
                  f"blk.{i}.attn_qkv": block.attn.c_attn,
                  f"blk.{i}.attn_output": block.attn.c_proj,
                  f"blk.{i}.ffn_up": block.mlp.c_fc,
                  f"blk.{i}.ffn_down": block.mlp.c_proj}  # fmt: skip
    return parts


def gguf_file(weights: Weights, precision: str) -> Path:
    """The model as llama.cpp reads it: in F32, or its matrices in Q8_0."""
    import gguf

    kinds = {"float32": ("ALL_F32", None), "int8": ("MOSTLY_Q8_0", gguf.GGMLQuantizationType.Q8_0)}
    file_type, kind = kinds[precision]

    def add(file, name: str, part: nn.Module) -> None:
        weight = part.weight.detach()
        weight = weight.T if type(part).__name__ == "Conv1D" else weight
        weight = weight.contiguous().numpy()
        if kind is None or weight.ndim == 1 or name == "position_embd":
            file.add_tensor(f"{name}.weight", weight)
        else:
            file.add_tensor(f"{name}.weight", gguf.quantize(weight, kind), raw_dtype=kind)
        if getattr(part, "bias", None) is not None:
            file.add_tensor(f"{name}.bias", part.bias.detach().numpy())

    def convert(path: Path) -> None:
        config, body = weights.transformers.config, weights.transformers.transformer
        file = gguf.GGUFWriter(path, "gpt2")
        file.add_block_count(config.n_layer)
        file.add_context_length(config.n_positions)
        file.add_embedding_length(config.n_embd)
        file.add_feed_forward_length(4 * config.n_embd)
        file.add_head_count(config.n_head)
        file.add_layer_norm_eps(config.layer_norm_epsilon)
        file.add_file_type(gguf.LlamaFileType[file_type])
        file.add_tokenizer_model("gpt2")
        file.add_tokenizer_pre("gpt-2")
        file.add_token_list([f"<{i}>" for i in range(config.vocab_size)])
        file.add_token_merges(["< 0"])  # it refuses a tokenizer without merges
        for name, part in gguf_parts(body).items():
            add(file, name, part)
        file.write_header_to_file()
        file.write_kv_data_to_file()
        file.write_tensors_to_file()
        file.close()

    return weights.converted(f"{precision}.gguf", convert)


def llama_cpp(weights: Weights, precision: str = "float32", **options):
    """The engine behind llama-cpp-python. Its KV cache is in float16 unless it is told."""
    from llama_cpp import GGML_TYPE_F32, Llama

    threads = {"n_threads": weights.threads, "n_threads_batch": weights.threads}
    kept = {"type_k": GGML_TYPE_F32, "type_v": GGML_TYPE_F32}
    path = str(gguf_file(weights, precision))
    return Llama(path, n_ctx=1024, n_batch=1024, verbose=False, **threads, **kept, **options)


def llama_cpp_forward(weights: Weights, precision: str = "float32") -> Forward:
    """All logits of one text; a batch of several is refused."""
    engine = llama_cpp(weights, precision, logits_all=True)

    def logits(ids: Tensor) -> Tensor:
        if len(ids) > 1:
            raise ValueError("its Python package reads one text at a time")
        engine.reset()
        engine.eval(ids[0].tolist())
        return torch.from_numpy(engine.scores[: ids.shape[1]])[None]

    return logits


def llama_cpp_generate(weights: Weights, precision: str = "float32") -> Generate:
    """Its own greedy decoding."""
    return greedy(llama_cpp(weights, precision))


def greedy(engine: Any) -> Generate:
    """The greedy decoding of a loaded llama.cpp."""

    def written(ids: Tensor, count: int) -> Tensor:
        engine.reset()
        tokens = engine.generate(ids[0].tolist(), temp=0.0, repeat_penalty=1.0)
        new = [token for token, _ in zip(tokens, range(count), strict=False)]
        return torch.cat([ids, torch.tensor([new])], dim=1)

    return written
