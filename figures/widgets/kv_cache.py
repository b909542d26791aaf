"""Chapter 14: one token at a time, what is computed, kept and read, with and without a KV cache."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive

TOKENS = ["The", "keys", "that", "the", "man", "had", "left", "on", "the"]
# SmolLM2 in half precision: the sizes of its attention, and all its parameters.
SIZES = {"layers": 30, "heads": 9, "d_k": 64, "d_model": 576, "bytes": 2, "parameters": 134_515_008,
         "kv_heads": 3}  # fmt: skip


class KVCache(Interactive):
    """Generate token by token; switch the cache, the KV heads and a window."""

    module = "kv_cache.js"

    tokens = traitlets.List(TOKENS).tag(sync=True)
    sizes = traitlets.Dict(SIZES).tag(sync=True)
    step = traitlets.Int(5, min=1).tag(sync=True)
    cached = traitlets.Bool(True).tag(sync=True)
    kv_heads = traitlets.Int(3, min=1).tag(sync=True)
    window = traitlets.Int(0, min=0).tag(sync=True)

    def counts(self) -> dict[str, int]:
        """The tokens and scores that this step computes, and the bytes that it keeps and reads."""
        sizes, t = self.sizes, self.step
        seen = [min(i, self.window or i) for i in range(1, t + 1)]
        per_token = 2 * sizes["layers"] * self.kv_heads * sizes["d_k"] * sizes["bytes"]
        fewer = sizes["kv_heads"] - self.kv_heads  # KV heads that the projections do not make
        saved = 2 * sizes["layers"] * sizes["d_model"] * fewer * sizes["d_k"]
        kept = seen[-1] * per_token if self.cached else 0
        return {
            "tokens": 1 if self.cached else t,
            "scores": (seen[-1] if self.cached else sum(seen)) * sizes["layers"] * sizes["heads"],
            "kept": kept,
            "read": (sizes["parameters"] - saved) * sizes["bytes"] + kept,
        }

    def still(self) -> Figure:
        """Draw the scores of this step, everything else hatched."""
        n, t, counts = len(self.tokens), min(self.step, len(self.tokens)), self.counts()
        now = np.zeros((n, n), dtype=bool)
        for i in range(t - 1 if self.cached else 0, t):
            now[i, max(0, i + 1 - (self.window or n)) : i + 1] = True
        how = "with a cache" if self.cached else "without a cache"
        return plots.heatmap(
            now.astype(float), self.tokens, self.tokens, mask=now, values=False, high=1.6,
            row_label="query", column_label="key",
            alt=f"A grid of {n} by {n} scores. Step {t}, {how}: {now.sum()} scores are computed.",
            caption=f"Step {t}, {how}: K and V are computed for {counts['tokens']} token(s), "
            f"{counts['kept']:,} bytes are kept, {counts['read']:,} bytes are loaded.",
        )  # fmt: skip
