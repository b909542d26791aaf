"""From logits to the next token: temperature, top-k, top-p and the sample itself."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def apply_temperature(
    logits: Float[Tensor, "*batch vocab"], temperature: float
) -> Float[Tensor, "*batch vocab"]:
    """Divide by the temperature: below 1 likely tokens gain, above 1 they lose.

    (z - max z) / T: the softmax sees differences only, and nothing can overflow.
    In the limit T = 0 only the largest is left, or the first of several as large.

    Source: Holtzman et al. 2020, section 3.3.
    Taught in: chapter 12.
    Raises: ValueError for a temperature below 0, or so small that it cannot be divided by.
    """
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    least = torch.finfo(logits.dtype).tiny
    if not least <= temperature < float("inf"):
        raise ValueError(
            f"A temperature is 0 (greedy) or at least {least:.0e}, and finite; got {temperature}."
        )
    return (logits - logits.amax(-1, keepdim=True)) / temperature


def keep_top_k(logits: Float[Tensor, "*batch vocab"], k: int) -> Float[Tensor, "*batch vocab"]:
    """Keep the k largest logits, and whatever ties with the k-th; the rest become -inf.

    Source: Fan, Lewis and Dauphin 2018, section 5; ties are kept as in Radford et al.'s own code.
    Taught in: chapter 12.
    Raises: ValueError for k below 1.
    """
    if k < 1:
        raise ValueError(f"top_k keeps at least 1 token, and was given {k}. None keeps all.")
    least = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits < least, -torch.inf)


def keep_top_p(logits: Float[Tensor, "*batch vocab"], p: float) -> Float[Tensor, "*batch vocab"]:
    r"""Keep the smallest set of likeliest tokens that reaches the probability p: the nucleus.

    A token stays if those before it, from the likeliest down, sum to less than p;
    so the likeliest always stays. Of equals, the one with the smaller id comes first.

    Source: Holtzman et al. 2020, equation 2.
    Taught in: chapter 12.
    Raises: ValueError unless 0 < p <= 1.
    """
    if not 0 < p <= 1:
        raise ValueError(f"top_p is a probability above 0, at most 1; got {p}. None keeps all.")
    if p == 1:  # rounding may bring the sum to 1 before the last token
        return logits
    falling, order = logits.sort(descending=True, stable=True)
    reached = falling.double().softmax(-1).cumsum(-1)
    beyond = F.pad(reached[..., :-1], (1, 0)) >= p
    return logits.masked_fill(beyond.scatter(-1, order, beyond), -torch.inf)


def sample_probabilities(
    logits: Float[Tensor, "*batch vocab"], generator: torch.Generator
) -> Int[Tensor, "*batch"]:
    r"""Draw a token from softmax(logits): the first at which the summed probability passes u.

    One uniform number u for each row, in float64, from a generator on the CPU:
    rounding in the logits moves the bounds by as little, so that it hardly ever changes a token.

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
    """Choose the next token: at temperature 0 the likeliest, else a draw from what is kept.

    First the temperature, then top_k, then top_p.

    Source: Holtzman et al. 2020, section 3; the order is the one of `transformers`.
    Taught in: chapter 12.
    Raises: ValueError as the three functions do, and for a top_k or top_p at temperature 0.
    """
    if temperature == 0:
        if top_k is not None or top_p is not None:
            raise ValueError(
                "At temperature 0 the likeliest token is taken, whatever top_k and top_p keep. "
                "Give a temperature too, such as 1.0, to draw from what they keep."
            )
        return logits.argmax(-1)
    logits = apply_temperature(logits.double(), temperature)
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return sample_probabilities(logits, generator)
