"""Chapter 11: one block as a diagram, with the numbers that run along each of its edges."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.attention.dot_product import attend
from lib.attention.masks import causal
from lib.functional import layer_norm


class BlockDiagram(Interactive):
    """Choose an edge and read what runs along it; move the norms, or leave an addition out."""

    module = "block_diagram.js"

    x = traitlets.List([[5, 5, -1, -1], [4, -2, 4, -2], [5, 5, -5, -5]]).tag(sync=True)
    value = traitlets.List([[4, 0, 0, 0], [0, -4, 0, 0], [0, 0, 0, 4], [0, 0, -4, 0]]).tag(
        sync=True
    )
    norm_first = traitlets.Bool(True).tag(sync=True)
    add_first = traitlets.Bool(True).tag(sync=True)
    add_second = traitlets.Bool(True).tag(sync=True)
    edge = traitlets.Unicode("first_norm").tag(sync=True)

    def steps(self) -> dict[str, np.ndarray]:
        """What runs along each edge, in the order in which it is computed.

        All scores are 0, so each token attends equally to itself and to those before it.
        The feed-forward network applies the ReLU to each component and to its negative, and adds
        both, which is the absolute value.
        """
        x, edges = np.array(self.x, dtype=float), {}
        edges["residual_stream"] = x
        for name, add in (("first", self.add_first), ("second", self.add_second)):
            if self.norm_first:
                edges[f"{name}_norm"] = layer_norm(x)
            read = edges[f"{name}_norm"] if self.norm_first else x
            edges |= self._attention(read) if name == "first" else self._feed_forward(read)
            change = edges["attention_update" if name == "first" else "feed_forward_update"]
            edges[f"{name}_sum"] = x + change if add else change
            if not self.norm_first:
                edges[f"{name}_norm"] = layer_norm(edges[f"{name}_sum"])
            x = edges[f"{name}_sum" if self.norm_first else f"{name}_norm"]
        return edges

    def _attention(self, read: np.ndarray) -> dict[str, np.ndarray]:
        silent = np.zeros_like(read)  # queries and keys of 0 make scores of 0
        output, weights = attend(silent, silent, read @ np.array(self.value), causal(len(read)))
        return {"weights": weights, "attention_update": output}

    def _feed_forward(self, read: np.ndarray) -> dict[str, np.ndarray]:
        hidden = np.maximum(np.hstack([read, -read]), 0)  # (n, d_ff)
        halves = np.split(hidden, 2, axis=-1)
        return {"hidden": hidden, "feed_forward_update": halves[0] + halves[1]}

    def still(self) -> Figure:
        """Draw the tables that run along the edges, one after the other."""
        wide = {"weights", "hidden"}
        tables = {name: table for name, table in self.steps().items() if name not in wide}
        order = "pre-norm" if self.norm_first else "post-norm"
        return plots.heatmaps(
            list(tables.values()),
            [name.replace("_", " ") for name in tables],
            rows=[f"token {i + 1}" for i in range(len(self.x))],
            columns=[str(i + 1) for i in range(len(self.x[0]))],
            values=True,
            row_label="",
            column_label="component",
            alt=f"{len(tables)} tables on the edges of a {order} block, from the residual "
            f"stream to the last sum: {len(self.x)} tokens of {len(self.x[0])} components each.",
            caption=f"A {order} block step by step: every table that is added has the shape "
            "of the residual stream. In the live figure the additions can be left out.",
        )
