"""Scores that say what a head does, from its attention weights alone."""

from array_api_compat import array_namespace
from jaxtyping import Bool, Float, Int

from lib.attention import masks
from lib.shapes import Array


def weight_on(
    weights: Float[Array, "*#batch query key"], places: Bool[Array, "*#batch query key"]
) -> Float[Array, "*batch"]:
    r"""How much weight goes to these places, averaged over the queries that have one.

    $\frac{1}{|Q|} \sum_{i \in Q} \sum_{j:\, M_{ij}} A_{ij}$ where Q holds the queries i whose row
    of the boolean table M is not empty. An even share is no 0: compare with uniform weights.

    Source: Clark et al. 2019, section 3 (mean weight on a kind of token).
    Taught in: chapter 16.
    Raises: ValueError if a table has no query with a place.
    """
    xp = array_namespace(weights, places)
    ask = xp.astype(xp.any(places, axis=-1), weights.dtype)
    count = xp.sum(ask, axis=-1)
    if not bool(xp.all(count > 0)):
        raise ValueError("In one of these tables no query has a place to look at.")
    on = xp.sum(weights * xp.astype(places, weights.dtype), axis=-1)
    return xp.sum(on, axis=-1) / count


def after_same(ids: Int[Array, "*batch n"]) -> Bool[Array, "*batch n n"]:
    r"""Where an induction head should look: at what followed earlier when this token came.

    True at (i, j) if $t_{j-1} = t_i$ and $j \le i$. In a row of p different tokens, told twice,
    that is the stripe j = i - (p - 1).

    Source: Olsson et al. 2022, section "Model Analysis Table" (prefix matching).
    Taught in: chapter 16.
    """
    xp = array_namespace(ids)
    same = ids[..., :, None] == ids[..., None, :]
    behind = xp.concat([xp.zeros_like(same[..., :1]), same[..., :-1]], axis=-1)
    return behind & masks.causal(ids.shape[-1], like=ids)


def induction_score(
    weights: Float[Array, "*#batch n n"], ids: Int[Array, "*#batch n"]
) -> Float[Array, "*batch"]:
    r"""How much weight goes to what followed earlier, when the present token came before.

    `weight_on(weights, after_same(ids))`: 1 for a head that does nothing else, on tokens that
    come again. Weights with an axis of heads need ids with one of length 1: `ids[:, None]`.

    Source: Olsson et al. 2022, section "Model Analysis Table" (prefix matching score).
    Taught in: chapter 16.
    Raises: ValueError if no token comes a second time.
    """
    return weight_on(weights, after_same(ids))


def previous_token_score(weights: Float[Array, "*batch n n"]) -> Float[Array, "*batch"]:
    r"""How much weight goes to the token before: $\frac{1}{n-1} \sum_{i \ge 1} A_{i, i-1}$.

    Source: Olsson et al. 2022, section "Model Analysis Table"; Voita et al. 2019, section 5.
    Taught in: chapter 16.
    """
    xp = array_namespace(weights)
    return xp.mean(xp.linalg.diagonal(weights, offset=-1), axis=-1)


def sink_score(weights: Float[Array, "*batch n n"]) -> Float[Array, "*batch"]:
    r"""How much weight goes to the first token: $\frac{1}{n-1} \sum_{i \ge 1} A_{i, 0}$.

    The first query is left out: under a causal mask it can look nowhere else.

    Source: Xiao et al. 2024, section 3.1, for the phenomenon; the mean is the plainest measure.
    Taught in: chapter 16.
    """
    xp = array_namespace(weights)
    return xp.mean(weights[..., 1:, 0], axis=-1)
