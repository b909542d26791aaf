"""Sample the next token from logits: temperature, top-k and top-p."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def apply_temperature(
    logits: Float[Tensor, "*batch vocab"], temperature: float
) -> Float[Tensor, "*batch vocab"]:
    """Divide logits by the temperature: below 1 the distribution is sharper, above 1 flatter.

    (z - max z) / T: softmax depends on differences only, so the subtraction prevents overflow.
    At T = 0 only the largest logit remains, the first of them if several are equal.

    Source: Holtzman et al. 2020, section 3.3.
    Taught in: chapter 12.
    Raises: ValueError for a temperature below 0, or too small to divide by.
    """
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    smallest = torch.finfo(logits.dtype).tiny
    if not smallest <= temperature < float("inf"):
        raise ValueError(
            f"`temperature` must be 0 (greedy) or at least {smallest:.0e}, and finite; "
            f"got {temperature}."
        )
    return (logits - logits.amax(-1, keepdim=True)) / temperature


def keep_top_k(logits: Float[Tensor, "*batch vocab"], k: int) -> Float[Tensor, "*batch vocab"]:
    """Keep the k largest logits and all that equal the k-th; set the rest to -inf.

    Source: Fan, Lewis and Dauphin 2018, section 5; ties are kept as in Radford et al.'s own code.
    Taught in: chapter 12.
    Raises: ValueError for k below 1.
    """
    if k < 1:
        raise ValueError(f"`top_k` must be at least 1; got {k}. Use None to keep all tokens.")
    threshold = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits < threshold, -torch.inf)


def keep_top_p(logits: Float[Tensor, "*batch vocab"], p: float) -> Float[Tensor, "*batch vocab"]:
    r"""Keep the nucleus: the smallest set of most likely tokens that reaches probability p.

    A token is kept if the probabilities of all more likely tokens sum to less than p, so the most
    likely token is always kept. Of equal logits, the smaller id comes first.

    Source: Holtzman et al. 2020, equation 2.
    Taught in: chapter 12.
    Raises: ValueError unless 0 < p <= 1.
    """
    if not 0 < p <= 1:
        raise ValueError(f"`top_p` must be above 0 and at most 1; got {p}. Use None to keep all.")
    if p == 1:  # rounding may bring the sum to 1 too early
        return logits
    descending, order = logits.sort(descending=True, stable=True)
    cumulative = descending.double().softmax(-1).cumsum(-1)
    dropped = F.pad(cumulative[..., :-1], (1, 0)) >= p
    return logits.masked_fill(dropped.scatter(-1, order, dropped), -torch.inf)


def sample_probabilities(
    logits: Float[Tensor, "*batch vocab"], generator: torch.Generator
) -> Int[Tensor, "*batch"]:
    r"""Sample a token from softmax(logits): the first whose cumulative probability exceeds u.

    Each row uses one uniform number u, in float64, from a generator on the CPU, so that rounding
    in the logits very rarely changes the sampled token.

    Source: Devroye 1986, section III.2.1 (inversion by sequential search).
    Taught in: chapter 12.
    """
    sums = logits.double().softmax(-1).cumsum(-1)
    u = torch.rand(*sums.shape[:-1], 1, dtype=torch.float64, generator=generator).to(sums.device)
    return torch.searchsorted(sums, u * sums[..., -1:], right=True).squeeze(-1)


def sample(
    logits: Float[Tensor, "*batch vocab"],
    generator: torch.Generator,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Int[Tensor, "*batch"]:
    """Sample the next token; at temperature 0 take the most likely token.

    The temperature is applied first, then top_k, then top_p.

    Source: Holtzman et al. 2020, section 3; the order is the one of `transformers`.
    Taught in: chapter 12.
    Raises: ValueError as the three functions do, and for a top_k or top_p at temperature 0.
    """
    if temperature == 0:
        if top_k is not None or top_p is not None:
            raise ValueError(
                "`top_k` and `top_p` need a temperature above 0; at temperature 0 the most likely "
                "token is taken. Give a temperature too, such as 1.0."
            )
        return logits.argmax(-1)
    logits = apply_temperature(logits.double(), temperature)
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return sample_probabilities(logits, generator)
