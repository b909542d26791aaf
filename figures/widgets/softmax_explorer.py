"""Chapter 06: four scores and a temperature, with the weights and their derivatives."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.functional import softmax, softmax_jacobian

KEYS = ["A", "B", "C", "D"]


class SoftmaxExplorer(Interactive):
    """Move four scores, the temperature, or all scores; watch the weights and derivatives."""

    module = "softmax_explorer.js"

    scores = traitlets.List([2.0, 1.0, 0.0, -1.0]).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    shift = traitlets.Float(0.0).tag(sync=True)

    def still(self) -> Figure:
        """Draw the weights and their Jacobian."""
        moved = np.array(self.scores, dtype=float) + self.shift
        weights = softmax(moved, temperature=self.temperature)
        listed = ", ".join(f"{score:g}" for score in self.scores)
        return plots.heatmap(
            np.column_stack([weights, softmax_jacobian(weights)]),
            rows=KEYS,
            columns=["weight", *(f"by {key}" for key in KEYS)],
            row_label="key",
            column_label="weight, and its derivatives by the scores",
            high=1.0,
            alt=f"Four keys with the scores {listed} have the weights "
            f"{', '.join(f'{weight:.2f}' for weight in weights)}. Next to them, their derivatives "
            "by the scores: positive on the diagonal, negative elsewhere.",
            caption=f"Weights of the scores {listed} at T = {self.temperature:.2g}. Raising a "
            "score raises its own weight, and every other key loses in proportion to its weight.",
        )
