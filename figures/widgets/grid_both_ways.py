"""Chapter 00: one table of weights in both layouts, with queries in rows or in columns."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive


class GridBothWays(Interactive):
    """Three words and their weights: choose a cell, and turn the table round."""

    module = "grid_both_ways.js"

    words = traitlets.List(["fluffy", "blue", "creature"]).tag(sync=True)
    weights = traitlets.List([[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1]]).tag(sync=True)
    queries_in = traitlets.Enum(["rows", "columns"], "rows").tag(sync=True)
    query = traitlets.Int(2).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)

    def table(self) -> np.ndarray:
        """The weights as they are shown: queries in rows, or in columns."""
        weights = np.array(self.weights)
        return weights if self.queries_in == "rows" else weights.T

    def still(self) -> Figure:
        """Draw the table in both layouts, one beside the other."""
        weights = np.array(self.weights)
        return plots.heatmaps(
            [weights, weights.T],
            ["queries in rows: each row sums to 1", "queries in columns: each column does"],
            self.words, self.words, values=True, digits=1, high=1.0, row_label="", column_label="",
            alt="Two tables of the same nine weights, the second one transposed. In the first, the "
            "row of creature has .5, .4 and .1; in the second, the column of creature has them.",
            caption="The same weights in two layouts. Creature attends to fluffy with .5 in both: "
            "find its line, which sums to 1. In the live figure the table can be turned.",
        )  # fmt: skip
