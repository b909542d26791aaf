"""Chapter 02: a colour as a point with three named coordinates, and its neighbours."""

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.functional import cosine

COLOURS = {
    "red": [255, 0, 0],
    "dark red": [128, 0, 0],
    "orange": [255, 165, 0],
    "yellow": [255, 255, 0],
    "green": [0, 128, 0],
    "blue": [0, 0, 255],
    "navy": [0, 0, 128],
    "purple": [128, 0, 128],
    "pink": [255, 192, 203],
    "grey": [128, 128, 128],
    "white": [255, 255, 255],
    "black": [0, 0, 0],
}


class ColourMixer(Interactive):
    """Mix red, green and blue, and see which named colours come nearest in two senses."""

    module = "colour_mixer.js"

    mix = traitlets.List([255, 127, 0]).tag(sync=True)
    colours = traitlets.Dict(COLOURS).tag(sync=True)

    def look(self) -> dict[str, object]:
        """The nearest names by distance and by cosine; several if they tie, none for black."""
        mix = np.array(self.mix, dtype=float)
        table = {name: np.array(rgb, dtype=float) for name, rgb in self.colours.items()}
        gaps = {name: np.linalg.norm(mix - rgb) for name, rgb in table.items()}
        low = min(gaps.values())
        near = [name for name, gap in gaps.items() if gap <= low + 1e-9]
        if not mix.any():
            return {"distance": low, "near": near, "cosine": None, "alike": []}
        cosines = {name: float(cosine(mix, rgb)) for name, rgb in table.items() if rgb.any()}
        high = max(cosines.values())
        alike = [name for name, value in cosines.items() if value >= high - 1e-9]
        return {"distance": low, "near": near, "cosine": high, "alike": alike}

    def still(self) -> Figure:
        """Draw the three coordinates, and name the neighbours in the caption."""
        seen = self.look()
        by_cosine = ", ".join(seen["alike"]) or "none, since black has no direction"
        return plots.bars(
            np.array(self.mix, dtype=float),
            ["red", "green", "blue"],
            digits=0,
            label="of 255",
            alt=f"Three bars: red {self.mix[0]}, green {self.mix[1]}, blue {self.mix[2]}.",
            caption=f"A colour has three coordinates. Nearest to this one by distance: "
            f"{', '.join(seen['near'])}; by cosine: {by_cosine}.",
        )
