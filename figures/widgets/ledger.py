"""Chapter 15: the parameters of a decoder as a spreadsheet whose sizes can be typed."""

import traitlets

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.models.parameter_count import PRESETS, Counted, by_group, total

FIELDS = (
    "vocab_size", "context_length", "d_model", "heads", "layers", "d_ff",
    "positions", "biases", "norms", "tied",
)  # fmt: skip


class Ledger(Interactive):
    """Type the sizes of a decoder, or take a model's, and read each row, its share, the total."""

    module = "ledger.js"

    presets = traitlets.Dict(
        {
            name: {field: getattr(sizes, field) for field in FIELDS}
            for name, sizes in PRESETS.items()
        }
    ).tag(sync=True)
    vocab_size = traitlets.Int(50_257).tag(sync=True)
    context_length = traitlets.Int(2048).tag(sync=True)
    d_model = traitlets.Int(12_288).tag(sync=True)
    heads = traitlets.Int(96).tag(sync=True)
    layers = traitlets.Int(96).tag(sync=True)
    d_ff = traitlets.Int(49_152).tag(sync=True)
    positions = traitlets.Bool(False).tag(sync=True)
    biases = traitlets.Bool(False).tag(sync=True)
    norms = traitlets.Bool(False).tag(sync=True)
    tied = traitlets.Bool(False).tag(sync=True)

    @property
    def sizes(self) -> Counted:
        """The present sizes, as lib.models.parameter_count takes them."""
        return Counted(**{field: getattr(self, field) for field in FIELDS})

    def still(self) -> Figure:
        """Draw the groups as bars, in per cent of the total."""
        groups, whole = by_group(self.sizes), total(self.sizes)
        shares = {group: 100 * count / whole for group, count in groups.items()}
        bars = ", ".join(f"{group} {share:.1f}" for group, share in shares.items())
        return plots.bars(
            list(shares.values()),
            list(shares),
            digits=1,
            label=f"per cent of {whole:,} parameters",
            alt=f"Bars in per cent: {bars}.",
            caption=f"The groups of {whole:,} parameters. In the live figure every size can be "
            "typed, and every row shows its formula.",
        )
