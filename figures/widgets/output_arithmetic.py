"""Chapter 07: the worked example of self-attention, with the arithmetic of every number."""

import math

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.attention.dot_product import attend
from lib.attention.masks import causal

ONE, TWO, THREE = (math.log(number) for number in (1, 2, 3))


class OutputArithmetic(Interactive):
    """Three queries over three keys with d_k = 4: click a number and see where it comes from."""

    module = "output_arithmetic.js"

    scores = traitlets.List(
        [[2 * ONE, 2 * TWO, 2 * THREE], [2 * ONE, 2 * ONE, 2 * TWO], [2 * THREE, 2 * TWO, 2 * ONE]]
    ).tag(sync=True)
    values = traitlets.List([[6, 0], [0, 6], [6, 6]]).tag(sync=True)
    words = traitlets.List(["0", "1", "2"]).tag(sync=True)
    components = traitlets.List(["0", "1"]).tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)
    reversible = traitlets.Bool(False).tag(sync=True)  # whether to offer both orders
    reversed = traitlets.Bool(False).tag(sync=True)

    def still(self) -> Figure:
        """Draw the weights, and write the outputs that they make into the caption."""
        # With the unit vectors as keys, the raw score is the entry of the query.
        order = [2, 1, 0] if self.reversed else [0, 1, 2]
        scores, values = np.array(self.scores, dtype=float), np.array(self.values, dtype=float)
        words, values = [self.words[i] for i in order], values[order]
        q = np.column_stack([scores[np.ix_(order, order)], np.zeros(3)])
        mask = causal(3) if self.causal else None
        output, weights = attend(
            q, np.eye(4)[:3], values, mask,
            scale=0.5 if self.scaled else 1.0,
        )  # fmt: skip
        rows = "; ".join(
            f"query {word} weighs them {', '.join(f'{weight:.2f}' for weight in row)}"
            for word, row in zip(words, weights, strict=True)
        )
        given, mixed = (
            ", ".join(f"({x:.3g}, {y:.3g})" for x, y in pairs) for pairs in (values, output)
        )
        return plots.heatmap(
            weights,
            rows=[f"query {word}" for word in words],
            columns=[f"key {word}" for word in words],
            high=1.0,
            alt=f"Three queries over three keys: {rows}. Each row sums to 1.",
            caption=f"These weights mix the values {given} into {mixed}.",
        )
