"""Chapter 01: what is left of a gradient at a distance, through an RNN, an LSTM and attention."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive

LONGEST = 100
LOWEST = 1e-12  # what is smaller is drawn here


class GradientReach(Interactive):
    """Choose a distance and the factors of each step, and see what arrives from there."""

    module = "gradient_reach.js"

    distance = traitlets.Int(40, min=1, max=LONGEST).tag(sync=True)
    weight = traitlets.Float(1.1, min=0.5, max=1.6).tag(sync=True)
    state_size = traitlets.Float(0.4, min=0, max=0.9).tag(sync=True)
    forget = traitlets.Float(0.95, min=0.5, max=1).tag(sync=True)

    def arriving(self, distance: int) -> dict[str, float]:
        """The share of a gradient that arrives: u(1 - h^2) and f for each step, or one weight."""
        step = self.weight * (1 - self.state_size**2)
        return {
            "RNN": step**distance,
            "LSTM": self.forget**distance,
            "attention": 1 / (distance + 1),
        }

    def still(self) -> Figure:
        """Draw the three curves over all distances."""
        reach = range(1, LONGEST + 1)
        curves = {
            name: [max(LOWEST, self.arriving(k)[name]) for k in reach] for name in self.arriving(1)
        }
        here = self.arriving(self.distance)
        shares = ", ".join(f"{name} {share:.1g}" for name, share in here.items())
        return plots.lines(
            np.arange(1, LONGEST + 1),
            curves,
            log_y=True,
            x_label="distance in words",
            y_label="what arrives",
            alt=f"Three curves over distances from 1 to {LONGEST}, the height logarithmic: the RNN "
            "and the LSTM are straight lines, attention falls ever more slowly.",
            caption=f"Recurrent weight {self.weight:.2f} at states of {self.state_size:.2f}, "
            f"forget gate {self.forget:.3f}; from distance {self.distance} arrive: {shares}.",
        )
