"""Chapter 05: one row of attention at any d_k, with the scale, without it, or with too much."""

import math

import numpy as np
import traitlets
from jaxtyping import Float

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.functional import entropy, softmax, softmax_jacobian

MIXER = 0x6D2B79F5
LOW = np.uint64(0xFFFFFFFF)


def normals(seed: int, count: int) -> Float[np.ndarray, " features"]:
    """Normal numbers of a seed, the same as `normal(seed)` of arithmetic.js gives."""
    steps = np.arange(1, 2 * count + 1, dtype=np.uint64)
    state = (np.uint64(seed) + steps * np.uint64(MIXER)) & LOW
    t = (state ^ (state >> np.uint64(15))) * (state | np.uint64(1)) & LOW
    mixed = (t ^ (t >> np.uint64(7))) * (t | np.uint64(61)) & LOW
    t = (t + mixed) & LOW ^ t
    first, second = ((t ^ (t >> np.uint64(14))) / 2**32).reshape(count, 2).T
    return np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)


def vectors(
    seed: int, keys: int, d_k: int
) -> tuple[Float[np.ndarray, " d_k"], Float[np.ndarray, "key d_k"]]:
    """One query and its keys; a longer vector begins with the numbers of the shorter one."""
    q, *K = (normals(64 * seed + place, d_k) for place in range(keys + 1))
    return q, np.stack(K)


class ScalingLab(Interactive):
    """Random queries and keys: drag the dimension and see what each divisor does to the weights."""

    module = "scaling_lab.js"

    d_k = traitlets.Int(256, min=1, max=1024).tag(sync=True)
    n = traitlets.Int(16, min=2, max=24).tag(sync=True)
    divisor = traitlets.Enum(["nothing", "root", "width"], "nothing").tag(sync=True)
    seed = traitlets.Int(4, min=1, max=1000).tag(sync=True)

    def look(self) -> dict[str, np.ndarray]:
        """What the figure shows: the scores, the weights, and the size of dw/dq."""
        q, K = vectors(self.seed, self.n, self.d_k)
        factor = {"nothing": 1, "root": 1 / math.sqrt(self.d_k), "width": 1 / self.d_k}
        scores = K @ q * factor[self.divisor]
        weights = softmax(scores)
        slopes = softmax_jacobian(weights) @ K * factor[self.divisor]
        return {"scores": scores, "weights": weights, "gradient": np.linalg.norm(slopes)}

    def still(self) -> Figure:
        """Draw the weights, the largest first."""
        seen = self.look()
        weights = np.sort(seen["weights"])[::-1]
        words = {"nothing": "not divided", "root": "divided by √d_k", "width": "divided by d_k"}
        return plots.bars(
            weights,
            [f"rank {place + 1}" for place in range(self.n)],
            role="key",
            label="weight",
            alt=f"{self.n} bars, the largest first: {weights[0]:.2f}, then {weights[1]:.2f}, "
            f"and {weights[2:].sum():.2f} for all others together.",
            caption=f"One query of {self.d_k} components over {self.n} random keys, the scores "
            f"{words[self.divisor]}: the largest weight is {weights[0]:.2f}, the entropy "
            f"{entropy(weights):.2f} of at most {math.log(self.n):.2f}, and the weights' "
            f"gradient by the query has size {seen['gradient']:.2g}.",
        )
