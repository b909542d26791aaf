"""Text from a model, a token at a time: how the next one is chosen, and the loop around it."""

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

# A GPT2, or another that is called as one and has its `config`, `caches` and `training`.
Model = Callable[..., ModelOutput]


def window_start(tokens: int, context_length: int) -> int:
    """Say which token is the first that a model with this context length still reads.

    All, until there is no room; then the oldest half of the window goes, again and again.
    A learned position belongs to a place in the window, so what is stored of the rest, computed
    at other places, is worthless: the rest is read anew, once in every half window.

    Source: a rule of this course; the alternatives are to drop one token each time, and so read
    everything anew each time, or to stop.
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
    """Give up to `count` tokens, one for each prompt at a time, each after all that came before.

    The choices are those of `sample`: temperature (0, greedy, if nothing is said), top_k, top_p.
    A prompt that has come to a stop token repeats it, until all have come to one.
    Without the cache the whole window is read again for each token, with the same result.
    What cannot be done is refused at once, before the first token is asked for.

    Source: Radford et al. 2019, equation 1, read as a recipe; `window_start` for long texts.
    Taught in: chapter 12.
    Raises: TypeError for ids that are no tensor or no ids, ValueError for a prompt that cannot
    be read, and as `sample` does.
    """
    _check(model, ids, count)
    sample(torch.zeros(1), torch.Generator(), **choices)  # refuses now what it would refuse later
    stops = torch.tensor(_stops(stop), dtype=ids.dtype, device=ids.device)
    generator = torch.Generator().manual_seed(seed)

    def tokens() -> Iterator[Int[Tensor, "*batch"]]:
        over = torch.zeros_like(ids[..., 0], dtype=torch.bool)
        text, unread, start, caches = ids, ids, -1, None
        for _ in range(count):
            first = window_start(text.shape[-1], model.config.context_length)
            if first != start or not cached:
                start, unread = first, text[..., first:]
                caches = model.caches() if cached else None
            token = sample(_last_logits(model, unread, caches), generator, **choices)
            token = torch.where(over, text[..., -1], token)
            yield token
            over = over | torch.isin(token, stops)
            if over.all():
                return
            unread = token[..., None]
            text = torch.cat([text, unread], dim=-1)

    return tokens()


def generate(
    model: Model, ids: Int[Tensor, "*batch n"], count: int, **choices
) -> Int[Tensor, "..."]:
    """Return the prompts with up to `count` tokens after each: those of `stream`.

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
    """Print a prompt and what the model adds to it, as it comes; return the whole text.

    Any tokeniser with `encode` and `decode` will do; one with `stream`, which decodes ids as they
    come, has the least work. A character of several tokens is printed when it is whole, and a
    stop token is not.

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
    """Decode new ids as they come, by a tokeniser that decodes only whole texts."""
    shown = tokenizer.decode(ids)
    for i in new:
        ids.append(i)
        # The first tokens of a character decode to signs that the rest of it will replace.
        text = tokenizer.decode(ids).rstrip("\ufffd")
        yield text[len(shown) :]
        shown = max(text, shown, key=len)
    yield tokenizer.decode(ids)[len(shown) :]


def _stops(stop: Collection[int]) -> list[int]:
    try:
        return [index(i) for i in stop]
    except TypeError as error:
        raise TypeError(
            f"stop holds the ids that end a text, such as [50256]; got {stop!r}."
        ) from error


@torch.inference_mode()
def _last_logits(
    model: Model, ids: Int[Tensor, "*batch n"], caches: list[KeyValueCache] | None
) -> Float[Tensor, "*batch vocab"]:
    return model(ids, caches=caches, last=True).logits[..., -1, :]


def _check(model: Model, ids: Int[Tensor, "*batch n"], count: int) -> None:
    """Say what is wrong with a prompt before the model stumbles over it."""
    check_ids(ids)
    if count < 0:
        raise ValueError(f"The number of tokens to add is 0 or more; got {count}.")
    if not ids.numel():
        raise ValueError(
            "A prompt holds at least one token. To start from nothing, give the token that ends "
            "a text, which for GPT-2 is 50256."
        )
    if ids.min() < 0 or ids.max() >= model.config.vocab_size:
        raise ValueError(
            f"The model knows the tokens 0 to {model.config.vocab_size - 1}, and the prompt holds "
            f"{ids.min()} to {ids.max()}. Was it encoded by another tokeniser?"
        )
    if model.training and model.config.dropout:
        raise ValueError(
            "The model is training, and drops numbers at random. Call model.eval() first."
        )
