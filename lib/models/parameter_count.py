"""The ledger of a decoder: a row for each group of its parameters, with formula and number."""

import math
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Sizes:
    """The sizes of a decoder, and which of its small parts are counted; as they stand, GPT-2's.

    A head is d_model / heads wide. `tied`: the table that embeds also makes the logits.

    Source: Radford et al. 2019, table 2 and section 2.3.
    Taught in: chapter 15.
    Raises: ValueError for sizes that no model can have, and for a switch that is none.
    """

    vocab: int = 50_257
    longest: int = 1_024
    d_model: int = 768
    heads: int = 12
    layers: int = 12
    d_ff: int = 3_072
    positions: bool = True
    biases: bool = True
    norms: bool = True
    tied: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab", "longest", "d_model", "heads", "layers", "d_ff"):
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise ValueError(f"{name} is a whole number (an int) from 1 up; got {size!r}.")
        for name in ("positions", "biases", "norms", "tied"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is True or False; got {getattr(self, name)!r}.")
        if self.d_model % self.heads:
            raise ValueError(
                f"The heads share d_model equally, and {self.heads} does not divide "
                f"{self.d_model}. Choose heads that divide d_model."
            )

    @property
    def d_k(self) -> int:
        """The width of a query, a key and a value of one head."""
        return self.d_model // self.heads

    @property
    def untied(self) -> bool:
        """Whether the logits have a table of their own."""
        return not self.tied


SIZES = {
    "GPT-2": Sizes(),
    "GPT-2 medium": Sizes(d_model=1024, heads=16, layers=24, d_ff=4096),
    "GPT-2 large": Sizes(d_model=1280, heads=20, layers=36, d_ff=5120),
    "GPT-2 xl": Sizes(d_model=1600, heads=25, layers=48, d_ff=6400),
    "GPT-3": Sizes(longest=2048, d_model=12_288, heads=96, layers=96, d_ff=49_152),
    "GPT-3, matrices only": Sizes(
        longest=2048, d_model=12_288, heads=96, layers=96, d_ff=49_152,
        positions=False, biases=False, norms=False, tied=False,
    ),
}  # fmt: skip
"""GPT-2's four sizes, GPT-3 built as GPT-2 is, and GPT-3 as the source S1 counts it."""

_ROWS = (  # part, group, the switch that it needs, and its factors
    ("embedding", "tables", None, "vocab × d_model"),
    ("positions", "tables", "positions", "longest × d_model"),
    ("queries", "attention", None, "layers × heads × d_k × d_model"),
    ("keys", "attention", None, "layers × heads × d_k × d_model"),
    ("values", "attention", None, "layers × heads × d_k × d_model"),
    ("output", "attention", None, "layers × heads × d_model × d_k"),
    ("attention biases", "attention", "biases", "layers × 4 × d_model"),
    ("up", "feed-forward", None, "layers × d_ff × d_model"),
    ("up biases", "feed-forward", "biases", "layers × d_ff"),
    ("down", "feed-forward", None, "layers × d_model × d_ff"),
    ("down biases", "feed-forward", "biases", "layers × d_model"),
    ("norms of the blocks", "norms", "norms", "layers × 4 × d_model"),
    ("last norm", "norms", "norms", "2 × d_model"),
    ("unembedding", "tables", "untied", "vocab × d_model"),
)

GROUPS = ("tables", "attention", "feed-forward", "norms")


class Row(NamedTuple):
    """One row of a ledger: what is counted, where it belongs, how, and how many."""

    part: str
    group: str
    formula: str
    numbers: str
    count: int


def ledger(sizes: Sizes) -> list[Row]:
    r"""Count each part of a decoder; a part that is switched off has the count 0.

    A map from a to b numbers has $a\,b$ parameters, and b more if it has a bias;
    a norm has 2 for each feature. What every layer has is counted `layers` times.

    Source: Radford et al. 2019, section 2.3; S1 for the rows.
    Taught in: chapter 15.
    """
    rows = []
    for part, group, switch, formula in _ROWS:
        factors = [_factor(sizes, name) for name in formula.split(" × ")]
        numbers = " × ".join(f"{factor:,}" for factor in factors)
        there = switch is None or getattr(sizes, switch)
        count = math.prod(factors) if there else 0
        rows.append(Row(part, group, formula, numbers, count))
    return rows


def _factor(sizes: Sizes, name: str) -> int:
    return int(name) if name.isdigit() else getattr(sizes, name)


def by_group(sizes: Sizes) -> dict[str, int]:
    """Add up the ledger by group: tables, attention, feed-forward, norms.

    Source: S1, who compares attention with the rest in this way.
    Taught in: chapter 15.
    """
    rows = ledger(sizes)
    return {group: sum(row.count for row in rows if row.group == group) for group in GROUPS}


def total(sizes: Sizes) -> int:
    """Add up the whole ledger.

    Source: the definition: every number that training may change, counted once.
    Taught in: chapter 15.
    """
    return sum(row.count for row in ledger(sizes))
