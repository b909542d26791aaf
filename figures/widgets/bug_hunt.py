"""Chapter 17: diagnose twenty broken models from their outputs."""

import numpy as np
import traitlets

from figures import palette, plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.debugging.broken_models import SUSPECTS
from lib.debugging.decision_tree import diagnose
from lib.debugging.experiments import EXPERIMENTS
from lib.debugging.findings import all_findings, differs
from lib.debugging.numpy_gpt2 import Model

RIGHT = {key: experiment(Model) for key, experiment in EXPERIMENTS.items()}
SHOWN = {kind.key: {key: run(kind) for key, run in EXPERIMENTS.items()} for kind in SUSPECTS}
"""The results of the right model and of each suspect, computed when the module is imported."""


def cases() -> dict[str, list]:
    """Return the data of the figure: experiments with the right results, suspects with theirs.

    `findings` is what each experiment shows in words, and the only thing that proves a name;
    `walk` is the path through the decision tree.
    """
    return {
        "experiments": [
            {
                "key": experiment.key, "name": experiment.name,
                "does": experiment.does, "right": experiment.right,
                "rows": list(experiment.rows), "columns": list(experiment.columns),
                "fractions": experiment.fractions,
                "table": RIGHT[experiment.key].tolist(),
            }
            for experiment in EXPERIMENTS.values()
        ],
        "suspects": [
            {
                "key": kind.key, "name": kind.name, "sign": kind.sign,
                "findings": all_findings(SHOWN[kind.key], RIGHT),
                "walk": [
                    [question.experiment, question.asks, "yes" if answer else "no"]
                    for question, answer in diagnose(SHOWN[kind.key], RIGHT)[0]
                ],
                "tables": {key: table.tolist() for key, table in SHOWN[kind.key].items()},
            }
            for kind in SUSPECTS
        ],
    }  # fmt: skip


def seen_by() -> np.ndarray:
    """Which suspect differs from the right model in which experiment: (suspect, experiment)."""
    return np.array([
        [differs(shown[key], RIGHT[key]) for key in EXPERIMENTS]
        for shown in SHOWN.values()
    ])  # fmt: skip


class BugHunt(Interactive):
    """Choose a suspect, ask for experiments, and name the fault once its outputs prove it."""

    module = "bug_hunt.js"

    cases = traitlets.Dict(cases()).tag(sync=True)
    seed = traitlets.Int(17, min=1, max=9999).tag(sync=True)
    number = traitlets.Int(1, min=1, max=len(SUSPECTS)).tag(sync=True)

    def still(self) -> Figure:
        """Draw which experiment shows which suspect."""
        seen = seen_by()
        fewest, most = seen.sum(1).min(), seen.sum(1).max()
        fig, axes = plots.canvas(360, 560)
        edges = np.arange(seen.shape[1] + 1), np.arange(len(seen) + 1)
        axes.pcolormesh(
            *edges, seen.astype(float), cmap=plots.RAMP, vmin=-1, vmax=1,
            edgecolor=palette.light("paper"), linewidth=1,
        )  # fmt: skip
        names = [experiment.name for experiment in EXPERIMENTS.values()]
        axes.set_xticks(edges[0][:-1] + 0.5, names, rotation=90, fontsize=11)
        axes.set_yticks(edges[1][:-1] + 0.5, [kind.name for kind in SUSPECTS], fontsize=11)
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.invert_yaxis()
        axes.spines[:].set_visible(False)
        return plots.figure(
            fig,
            alt="A table of twenty faults and eleven experiments, dark where the experiment shows "
            f"the fault. Each row has between {fewest} and {most} dark cells.",
            caption=f"Every fault is shown by at least {fewest} of the eleven experiments, and "
            f"none by more than {most}.",
        )
