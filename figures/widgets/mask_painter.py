"""Chapter 08: a mask to paint on, with an alarm for every cell that sees the future."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.attention import masks
from lib.functional import softmax

TOKENS = ["the", "blue", "owl", "sees", "a", "fox"]
SCORES = [
    [1.0, 0.4, 1.8, -0.6, 0.2, 1.2],
    [0.2, 0.9, 2.0, 0.5, -0.8, 0.3],
    [-0.4, 1.9, 0.6, 1.4, 0.1, 0.8],
    [0.3, -0.5, 1.7, 0.7, 0.0, 2.1],
    [0.6, 0.1, -0.3, 0.9, 0.5, 1.6],
    [-0.7, 0.8, 1.1, 2.2, 0.4, 0.9],
]


class MaskPainter(Interactive):
    """Six tokens: toggle who may attend to whom, and see the weights and the leaks."""

    module = "mask_painter.js"

    tokens = traitlets.List(TOKENS).tag(sync=True)
    scores = traitlets.List(SCORES).tag(sync=True)
    mask = traitlets.List(masks.causal(6).tolist()).tag(sync=True)
    way = traitlets.Enum(["infinity", "billion", "scores", "weights"], "infinity").tag(sync=True)

    def weights(self) -> np.ndarray:
        """The weights that this way of forbidding leaves: (query, key)."""
        table, may = np.array(self.scores, dtype=float), np.array(self.mask)
        if self.way == "infinity":
            return softmax(table, where=may)
        if self.way == "weights":
            return np.where(may, softmax(table), 0.0)
        # In float32, because there a billion swallows every ordinary score.
        far = (table - 1e9).astype(np.float32).astype(float)
        return softmax(np.where(may, table, far if self.way == "billion" else 0.0))

    def still(self) -> Figure:
        """Draw the weights, with the forbidden cells hatched."""
        ahead = int(np.triu(np.array(self.mask), 1).sum())
        closed = int((~np.array(self.mask)).sum())
        return plots.heatmap(
            self.weights(),
            rows=self.tokens,
            columns=self.tokens,
            mask=np.array(self.mask),
            high=1.0,
            alt=f"Six queries over six keys: {closed} of 36 cells are hatched as forbidden, "
            f"and {ahead} of the 15 above the diagonal are open.",
            caption=f"Under this mask {ahead} cells let a query see the future.",
        )
