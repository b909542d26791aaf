"""Chapter 14: a table of scores made, used and forgotten tile by tile, in exact numbers."""

from fractions import Fraction

import numpy as np
import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive

SCORES = [
    [6, 2, 3, 1, 4, 2],
    [1, 2, 3, 4, 6, 12],
    [2, 2, 2, 2, 2, 2],
    [1, 3, 6, 2, 4, 12],
    [12, 4, 1, 2, 3, 6],
    [3, 1, 4, 12, 2, 6],
]
"""Each score is the logarithm of its number, so that all that follows is a fraction."""

VALUES = [[12, 0], [0, 12], [6, 0], [12, 6], [0, 6], [4, 8]]

Tile = tuple[range, range]
Kept = tuple[int, Fraction, list[Fraction]]


class TileWalk(Interactive):
    """Choose the tiles, go from one to the next, and see what is kept of one query's row."""

    module = "tile_walk.js"

    scores = traitlets.List(SCORES).tag(sync=True)
    values = traitlets.List(VALUES).tag(sync=True)
    rows = traitlets.Int(2, min=1).tag(sync=True)
    columns = traitlets.Int(2, min=1).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)
    forgets = traitlets.Bool(False).tag(sync=True)
    query = traitlets.Int(4, min=1).tag(sync=True)
    step = traitlets.Int(5, min=0).tag(sync=True)

    def visits(self) -> list[Tile]:
        """The tiles in their order, as the queries and the keys of each."""
        n, tiles = len(self.scores), []
        for top in range(0, n, self.rows):
            queries = range(top, min(top + self.rows, n))
            for left in range(0, n, self.columns):
                if not self.causal or left <= queries[-1]:
                    tiles.append((queries, range(left, min(left + self.columns, n))))
        return tiles

    def kept(self, step: int) -> Kept:
        """Of the chosen query's row after some tiles: e to its maximum, total and mixture."""
        row, maximum, total, mixture = self.query - 1, 0, Fraction(0), [Fraction(0)] * 2
        for queries, keys in self.visits()[:step]:
            seen = [key for key in keys if key <= row or not self.causal]
            if row not in queries or not seen:
                continue
            numbers = [self.scores[row][key] for key in seen]
            highest = max(maximum, *numbers)
            factor = 1 if self.forgets else Fraction(maximum, highest)
            total = factor * total + Fraction(sum(numbers), highest)
            for i in range(2):
                new = sum(a * self.values[key][i] for a, key in zip(numbers, seen, strict=True))
                mixture[i] = factor * mixture[i] + Fraction(new, highest)
            maximum = highest
        return maximum, total, mixture

    def still(self) -> Figure:
        """Draw the tile that is in memory, everything else hatched."""
        step = max(1, min(self.step, len(self.visits())))
        queries, keys = self.visits()[step - 1]
        n = len(self.scores)
        held = np.zeros((n, n), dtype=bool)
        held[np.ix_(list(queries), list(keys))] = True
        maximum, total, mixture = self.kept(step)
        kept = f"maximum ln {maximum}, total {total}, mixture ({mixture[0]}, {mixture[1]})"
        kept = kept if maximum else "nothing yet"
        names = [str(i + 1) for i in range(n)]
        return plots.heatmap(
            np.log(np.array(self.scores)),
            names,
            names,
            mask=held,
            alt=f"A table of {n} by {n} scores, all hatched but those of queries "
            f"{queries[0] + 1} to {queries[-1] + 1} and keys {keys[0] + 1} to {keys[-1] + 1}.",
            caption=f"Of {n * n} scores {held.sum()} are held. Kept of query {self.query}: {kept}.",
        )
