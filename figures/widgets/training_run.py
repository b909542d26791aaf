"""Chapter 13: a recorded training: its losses, what it wrote, and every head at each checkpoint."""

import base64
import json
from pathlib import Path

import numpy as np
import traitlets
from jaxtyping import Float

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive

STORED = json.loads(Path(__file__).with_suffix(".json").read_text("utf8"))
RECORDED, RACES = STORED["run"], STORED["races"]
"""What tools/recordings/record_training_run.py wrote: a story, with losses, a sample and the
weights at each checkpoint; and the steps that each of three optimisers needed to one loss, for
each seed."""


def unpack(text: str, n: int, heads: int) -> Float[np.ndarray, "head n n"]:
    """One table for each head; only what lies on or below the diagonal is stored, as bytes."""
    stored = np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(heads, -1)
    tables = np.zeros((heads, n, n))
    tables[:, *np.tril_indices(n)] = stored / 255
    return tables


def weights_as_text(tables: Float[np.ndarray, "head n n"]) -> str:
    """The inverse of `unpack`, to a 255th: one table for each head, as text."""
    lower = tables[:, *np.tril_indices(tables.shape[-1])]
    return base64.b64encode(np.round(255 * lower).astype(np.uint8).tobytes()).decode()


class TrainingRun(Interactive):
    """The checkpoints of one run on a slider."""

    module = "training_run.js"

    run = traitlets.Dict(RECORDED).tag(sync=True)
    checkpoint = traitlets.Int(len(RECORDED["points"]) - 1, min=0).tag(sync=True)
    head = traitlets.Int(RECORDED["head"], min=0).tag(sync=True)
    query = traitlets.Int(RECORDED["query"], min=0).tag(sync=True)

    def weights(self) -> Float[np.ndarray, "head n n"]:
        """The tables of all heads, layer after layer, at the chosen checkpoint."""
        count = self.run["layers"] * self.run["heads"]
        stored = self.run["points"][self.checkpoint]["weights"]
        return unpack(stored, len(self.run["tokens"]), count)

    def still(self) -> Figure:
        """Draw the losses of the whole run."""
        points = self.run["points"]
        first, last = points[0], points[-1]
        return plots.lines(
            [point["step"] for point in points],
            {
                "training": [point["training"] for point in points],
                "validation": [point["validation"] for point in points],
                "lower bound": [self.run["floor"]] * len(points),
            },
            x_label="step",
            y_label="loss in nats",
            alt=f"Both losses fall from {first['validation']:.2f} to near the entropy lower bound "
            f"of {self.run['floor']:.2f}: after {last['step']} steps the validation loss is "
            f"{last['validation']:.2f}.",
            caption=f"The run: from {first['validation']:.2f} nats per token to "
            f"{last['validation']:.2f}; the entropy lower bound is {self.run['floor']:.2f}.",
        )
