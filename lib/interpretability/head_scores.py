"""Head scores: what a head does, measured from its attention weights alone."""

from array_api_compat import array_namespace
from jaxtyping import Bool, Float, Int

from lib.attention import masks
from lib.shapes import Array


def weight_on(
    weights: Float[Array, "*#batch query key"], places: Bool[Array, "*#batch query key"]
) -> Float[Array, "*batch"]:
    r"""Compute the mean weight on the marked positions, over the queries that have any.

    $\frac{1}{|Q|} \sum_{i \in Q} \sum_{j:\, M_{ij}} A_{ij}$ where Q holds the queries i whose row
    of the boolean matrix M is not all False. Compare the result with that of uniform attention.

    Source: Clark et al. 2019, section 3 (mean weight on a kind of token).
    Taught in: chapter 16.
    Raises: ValueError if a matrix marks no position for any query.
    """
    xp = array_namespace(weights, places)
    asking = xp.astype(xp.any(places, axis=-1), weights.dtype)
    count = xp.sum(asking, axis=-1)
    if not bool(xp.all(count > 0)):
        raise ValueError(
            "`places` must mark at least one position in each matrix; one is all False."
        )
    marked = xp.sum(weights * xp.astype(places, weights.dtype), axis=-1)
    return xp.sum(marked, axis=-1) / count


def after_same(ids: Int[Array, "*batch n"]) -> Bool[Array, "*batch n n"]:
    r"""Mark where an induction head attends: the token after an earlier copy of this token.

    True at (i, j) if $t_{j-1} = t_i$ and $j \le i$. In a sequence of p different tokens, repeated
    once, that is the diagonal j = i - (p - 1).

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
    r"""Compute the mean weight on the token that followed an earlier copy of this token.

    `weight_on(weights, after_same(ids))`: it is 1 for a head that attends to nothing else at
    repeated tokens. Weights with a head axis need ids with a head axis of length 1: `ids[:, None]`.

    Source: Olsson et al. 2022, section "Model Analysis Table" (prefix matching score).
    Taught in: chapter 16.
    Raises: ValueError if no token is repeated.
    """
    return weight_on(weights, after_same(ids))


def previous_token_score(weights: Float[Array, "*batch n n"]) -> Float[Array, "*batch"]:
    r"""Compute the mean weight on the previous token: $\frac{1}{n-1} \sum_{i \ge 1} A_{i, i-1}$.

    Source: Olsson et al. 2022, section "Model Analysis Table"; Voita et al. 2019, section 5.
    Taught in: chapter 16.
    """
    xp = array_namespace(weights)
    return xp.mean(xp.linalg.diagonal(weights, offset=-1), axis=-1)


def sink_score(weights: Float[Array, "*batch n n"]) -> Float[Array, "*batch"]:
    r"""Compute the mean weight on the first token: $\frac{1}{n-1} \sum_{i \ge 1} A_{i, 0}$.

    The first query is excluded, because under a causal mask it can attend to nothing else.

    Source: Xiao et al. 2024, section 3.1, for the phenomenon; the mean is the simplest measure.
    Taught in: chapter 16.
    """
    xp = array_namespace(weights)
    return xp.mean(weights[..., 1:, 0], axis=-1)
