"""The parameter count of a decoder: one row per matrix or bias, with formula and number."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from lib.models.config import Config


@dataclass(frozen=True)
class Counted(Config):
    """The hyperparameters of a decoder and the parts that are counted; the defaults are GPT-2's.

    `tied`: the token embedding is also the LM head.

    Source: Radford et al. 2019, table 2 and section 2.3.
    Taught in: chapter 15.
    Raises: ValueError for an impossible size, or a switch that is not a bool.
    """

    positions: bool = True
    biases: bool = True
    norms: bool = True
    tied: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("positions", "biases", "norms", "tied"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"`{name}` must be True or False; got {getattr(self, name)!r}.")

    @property
    def untied(self) -> bool:
        """Whether the LM head has its own matrix."""
        return not self.tied


PRESETS = {
    "GPT-2": Counted(),
    "GPT-2 medium": Counted(d_model=1024, heads=16, layers=24),
    "GPT-2 large": Counted(d_model=1280, heads=20, layers=36),
    "GPT-2 xl": Counted(d_model=1600, heads=25, layers=48),
    "GPT-3": Counted(context_length=2048, d_model=12_288, heads=96, layers=96),
    "GPT-3, matrices only": Counted(
        context_length=2048, d_model=12_288, heads=96, layers=96,
        positions=False, biases=False, norms=False, tied=False,
    ),
}  # fmt: skip
"""GPT-2's four sizes, GPT-3 with GPT-2's architecture, and GPT-3 as source S1 counts it."""

_ROWS = (  # part, group, the switch that includes it, its factors
    ("embedding", "embeddings", None, "vocab_size × d_model"),
    ("positions", "embeddings", "positions", "context_length × d_model"),
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
    ("unembedding", "embeddings", "untied", "vocab_size × d_model"),
)

GROUPS = ("embeddings", "attention", "feed-forward", "norms")


class Row(NamedTuple):
    """One row of a ledger: the part, its group, the formula, the numbers and the count."""

    part: str
    group: str
    formula: str
    numbers: str
    count: int


def ledger(sizes: Counted) -> list[Row]:
    r"""Count each part of a decoder; a part that is switched off has the count 0.

    A linear layer from a to b components has $a\,b$ parameters, and b more if it has a bias;
    a norm has 2 for each feature. The parts of a layer are counted `layers` times.

    Source: Radford et al. 2019, section 2.3; S1 for the rows.
    Taught in: chapter 15.
    """
    rows = []
    for part, group, switch, formula in _ROWS:
        factors = [_factor(sizes, name) for name in formula.split(" × ")]
        numbers = " × ".join(f"{factor:,}" for factor in factors)
        included = switch is None or getattr(sizes, switch)
        count = math.prod(factors) if included else 0
        rows.append(Row(part, group, formula, numbers, count))
    return rows


def _factor(sizes: Counted, name: str) -> int:
    return int(name) if name.isdigit() else getattr(sizes, name)


def by_group(sizes: Counted) -> dict[str, int]:
    """Add up the ledger by group: embeddings, attention, feed-forward, norms.

    Source: S1, who compares attention with the rest of the model.
    Taught in: chapter 15.
    """
    rows = ledger(sizes)
    return {group: sum(row.count for row in rows if row.group == group) for group in GROUPS}


def total(sizes: Counted) -> int:
    """Add up the whole ledger.

    Source: the definition: every trainable number, counted once.
    Taught in: chapter 15.
    """
    return sum(row.count for row in ledger(sizes))
