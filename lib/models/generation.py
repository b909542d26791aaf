"""Text generation: sample one token at a time, with or without a KV cache."""

from collections.abc import Callable, Collection, Iterable, Iterator
from io import TextIOBase
from itertools import takewhile
from operator import index

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lib.attention.kv_cache import KeyValueCache
from lib.models.gpt2 import ModelOutput, check_ids
from lib.models.sampling import sample

# A GPT2, or any callable with the same signature, `config`, `caches` and `training`.
Model = Callable[..., ModelOutput]


def window_start(tokens: int, context_length: int) -> int:
    """Return the index of the first token that fits in a model with this context length.

    It is 0 until the window is full; then the oldest half of the window is dropped, repeatedly.
    A learned position belongs to an index in the window, so the cached keys and values of the
    other half become invalid: the model reads that half again, once per half window.

    Source: a rule of this course; the alternatives are to stop, or to drop one token each time,
    which recomputes the whole window for every token.
    Taught in: chapter 12.
    """
    half = max(context_length // 2, 1)
    return half * max(0, -(-(tokens - context_length) // half))


def stream(
    model: Model,
    ids: Int[Tensor, "*batch n"],
    count: int,
    *,
    stop: Collection[int] = (),
    seed: int = 0,
    cached: bool = True,
    **choices,
) -> Iterator[Int[Tensor, "*batch"]]:
    """Generate up to `count` tokens, one per prompt at a time.

    The options are those of `sample`: temperature (default 0, greedy), top_k, top_p.
    A prompt that has reached a stop token repeats it until all prompts have reached one.
    Without the cache the whole window is read again for each token, with the same result.
    Invalid arguments raise at once, before the first token is requested.

    Source: Radford et al. 2019, equation 1, sampled token by token; `window_start` for long texts.
    Taught in: chapter 12.
    Raises: TypeError if ids is not a tensor of ids, ValueError for an empty or unknown prompt,
    and as `sample` does.
    """
    _check(model, ids, count)
    sample(torch.zeros(1), torch.Generator(), **choices)  # raises now instead of later
    stops = torch.tensor(_stops(stop), dtype=ids.dtype, device=ids.device)
    generator = torch.Generator().manual_seed(seed)

    def tokens() -> Iterator[Int[Tensor, "*batch"]]:
        finished = torch.zeros_like(ids[..., 0], dtype=torch.bool)
        text, unread, start, caches = ids, ids, -1, None
        for _ in range(count):
            first = window_start(text.shape[-1], model.config.context_length)
            if first != start or not cached:
                start, unread = first, text[..., first:]
                caches = model.caches() if cached else None
            token = sample(_last_logits(model, unread, caches), generator, **choices)
            token = torch.where(finished, text[..., -1], token)
            yield token
            finished = finished | torch.isin(token, stops)
            if finished.all():
                return
            unread = token[..., None]
            text = torch.cat([text, unread], dim=-1)

    return tokens()


def generate(
    model: Model, ids: Int[Tensor, "*batch n"], count: int, **choices
) -> Int[Tensor, "..."]:
    """Return each prompt followed by up to `count` generated tokens, those of `stream`.

    Source: as `stream`.
    Taught in: chapter 12.
    Raises: ValueError as `stream` does.
    """
    new = list(stream(model, ids, count, **choices))
    return torch.cat([ids, torch.stack(new, dim=-1)], dim=-1) if new else ids


def write(
    model: Model,
    tokenizer,
    prompt: str,
    count: int,
    *,
    stop: Collection[int] = (),
    file: TextIOBase | None = None,
    **choices,
) -> str:
    """Print a prompt and the generated text token by token, and return the whole text.

    Any tokenizer with `encode` and `decode` works; `stream`, which decodes ids incrementally, is
    used if it exists. A character of several tokens is printed once it is complete; a stop token
    is not printed.

    Source: as `stream`.
    Taught in: chapter 12.
    Raises: as `stream` does, before anything is printed.
    """
    ids = list(tokenizer.encode(prompt))
    prompts = torch.tensor(ids, dtype=torch.long, device=getattr(model, "device", None))
    tokens = stream(model, prompts, count, stop=stop, **choices)
    ends = _stops(stop)
    new = takewhile(lambda i: i not in ends, (token.item() for token in tokens))
    text = tokenizer.decode(ids)
    pieces = tokenizer.stream(new) if hasattr(tokenizer, "stream") else _read(tokenizer, ids, new)
    print(text, end="", flush=True, file=file)
    for piece in pieces:
        print(piece, end="", flush=True, file=file)
        text += piece
    return text


def _read(tokenizer, ids: list[int], new: Iterable[int]) -> Iterator[str]:
    """Decode new ids incrementally with a tokenizer that decodes only whole sequences."""
    shown = tokenizer.decode(ids)
    for i in new:
        ids.append(i)
        # An incomplete character decodes to U+FFFD, which later tokens replace.
        text = tokenizer.decode(ids).rstrip("\ufffd")
        yield text[len(shown) :]
        shown = max(text, shown, key=len)
    yield tokenizer.decode(ids)[len(shown) :]


def _stops(stop: Collection[int]) -> list[int]:
    try:
        return [index(i) for i in stop]
    except TypeError as error:
        raise TypeError(
            f"`stop` must be a collection of token ids, such as [50256]; got {stop!r}."
        ) from error


@torch.inference_mode()
def _last_logits(
    model: Model, ids: Int[Tensor, "*batch n"], caches: list[KeyValueCache] | None
) -> Float[Tensor, "*batch vocab"]:
    return model(ids, caches=caches, last=True).logits[..., -1, :]


def _check(model: Model, ids: Int[Tensor, "*batch n"], count: int) -> None:
    """Check the prompt and the number of tokens before the model runs."""
    check_ids(ids)
    if count < 0:
        raise ValueError(f"`count` must be at least 0; got {count}.")
    if not ids.numel():
        raise ValueError(
            "A prompt must hold at least one token. To generate without a prompt, start from the "
            "end-of-text token, which for GPT-2 is 50256."
        )
    if ids.min() < 0 or ids.max() >= model.config.vocab_size:
        raise ValueError(
            f"Token ids must be from 0 to {model.config.vocab_size - 1}; the prompt holds "
            f"{ids.min()} to {ids.max()}. Encode it with the model's own tokenizer."
        )
    if model.training and model.config.dropout:
        raise ValueError(
            "The model is in training mode, so dropout is active. Call model.eval() first."
        )
