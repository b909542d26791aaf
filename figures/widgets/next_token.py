"""Chapter 12: from a row of logits to the next word, and on to a text, by a table of counts."""

from itertools import pairwise

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.functional import softmax

RHYME = """This is the house that Jack built .
This is the malt that lay in the house that Jack built .
This is the rat that ate the malt that lay in the house that Jack built .
This is the cat that killed the rat that ate the malt that lay in the house that Jack built .
This is the dog that worried the cat that killed the rat that ate the malt that lay in the house
that Jack built ."""
"""Five verses of a nursery rhyme that nobody owns."""

NEVER = 0.02  # added to every count, so that a pair that the text does not hold is not impossible


class NextToken(Interactive):
    """Choose how the next word is drawn from its row, and read what texts come of it."""

    module = "next_token.js"

    text = traitlets.Unicode(RHYME).tag(sync=True)
    temperature = traitlets.Float(1.0, min=0).tag(sync=True)
    top_k = traitlets.Int(17, min=1).tag(sync=True)
    top_p = traitlets.Float(1.0, min=0.01, max=1).tag(sync=True)
    seed = traitlets.Int(2).tag(sync=True)
    at = traitlets.Int(0, min=0).tag(sync=True)

    def row(self, after: str) -> dict[str, float]:
        """The logit of each word after a given one: the log of 0.02 more than it followed."""
        words = self.text.split()
        counts = dict.fromkeys(words, NEVER)
        for left, right in pairwise(words):
            counts[right] += left == after
        return {word: float(np.log(count)) for word, count in counts.items()}

    def weights(self, logits: np.ndarray) -> np.ndarray:
        """What the next word is drawn from: temperature, then top-k, then top-p."""
        if self.temperature == 0:
            return np.eye(len(logits))[logits.argmax()]
        least = np.sort(logits)[-min(self.top_k, len(logits))]
        scaled = softmax(logits, temperature=self.temperature, where=logits >= least)
        order = np.argsort(-scaled, kind="stable")
        before = np.cumsum(scaled[order]) - scaled[order]
        kept = np.zeros(len(logits), dtype=bool)
        kept[order] = (before < self.top_p) | (self.top_p == 1)
        return softmax(logits, temperature=self.temperature, where=kept & (logits >= least))

    def still(self) -> Figure:
        """Draw the row after `the`, before and after the choices."""
        row = self.row("the")
        logits = np.array(list(row.values()))
        first = np.argsort(-logits, kind="stable")[:7]
        names = [list(row)[i] for i in first]
        kept = self.weights(logits)
        chosen = f"temperature {self.temperature:.2g}, top-k {self.top_k}, top-p {self.top_p:.2g}"
        return plots.bars(
            {"softmax of the row": softmax(logits)[first], "drawn from": kept[first]},
            names,
            label="weight",
            alt=f"The {len(first)} likeliest words after the, from {names[0]} to {names[-1]}, in "
            f"pairs of bars: {names[0]} has {softmax(logits)[first[0]]:.2f} of the row, and "
            f"{kept[first[0]]:.2f} with {chosen}.",
            caption=f"After the word the: with {chosen}, {int((kept > 0).sum())} of {len(row)} "
            f"words can come, and {names[0]} comes in {kept[first[0]]:.0%} of all draws.",
        )
