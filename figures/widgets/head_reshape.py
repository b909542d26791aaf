"""Chapter 09: a vector split into heads and merged again, with the name of every number."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive


class HeadReshape(Interactive):
    """Choose the sizes and follow each number through split and merge, or lose it on the way."""

    module = "head_reshape.js"

    n = traitlets.Int(3, min=2, max=4).tag(sync=True)
    d_model = traitlets.Int(8).tag(sync=True)
    heads = traitlets.Int(2, min=1, max=4).tag(sync=True)
    step = traitlets.Int(2, min=0, max=4).tag(sync=True)
    view_splits = traitlets.Bool(False).tag(sync=True)
    view_merges = traitlets.Bool(False).tag(sync=True)

    def split(self) -> np.ndarray:
        """The numbers inside the heads, named as token and feature: 2.5 is feature 5 of token 2."""
        tokens, features = np.arange(1, self.n + 1), np.arange(1, self.d_model + 1)
        x = tokens[:, None] + features / 10  # (n, d_model)
        d_k = self.d_model // self.heads
        if self.view_splits:
            return x.reshape(self.heads, self.n, d_k)
        return x.reshape(self.n, self.heads, d_k).swapaxes(0, 1)

    def still(self) -> Figure:
        """Draw the contents of each head after the split."""
        inside = self.split()  # (head, n, d_k)
        rows = [f"head {h + 1}, token {t + 1}" for h, t in np.ndindex(inside.shape[:2])]
        how = "a reshape alone" if self.view_splits else "a reshape and a swap of axes"
        fate = "tokens are mixed" if self.view_splits else "every row holds one token"
        return plots.heatmap(
            inside.reshape(-1, inside.shape[-1]),
            rows=rows,
            columns=[str(feature + 1) for feature in range(inside.shape[-1])],
            digits=1,
            row_label="row of a head",
            column_label="component",
            alt=f"The contents of the heads after {how}: the first row of head 1 holds "
            f"{', '.join(f'{name:.1f}' for name in inside[0, 0])}, and its second row "
            f"{', '.join(f'{name:.1f}' for name in inside[0, 1])}.",
            caption=f"After {how}, {fate}; 2.5 is feature 5 of token 2.",
        )
