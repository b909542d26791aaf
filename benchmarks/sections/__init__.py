"""What is measured: each module has a function `measure(setting)`, which returns a `Section`."""

import importlib
import logging
import warnings

from benchmarks.measuring import Section, Setting

SECTIONS = {  # what is measured where, and on how many threads
    "training step": ("training_step", "measure", (1, 2)),
    "forward": ("forward", "measure", (1, 2)),
    "decoding": ("decoding", "measure", (1, 2)),
    "int8": ("decoding", "measure_int8", (1,)),
    "SmolLM2": ("smollm2", "measure", (1, 2)),
    "byte pairs": ("byte_pairs", "measure", (1,)),
    "tiles": ("tiles", "measure", (1,)),
}


def measure(name: str, setting: Setting) -> Section:
    """One section, in a process of its own: nothing is left of the one before."""
    import torch
    from threadpoolctl import threadpool_limits

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(setting.threads)
    module, function, _ = SECTIONS[name]
    section = importlib.import_module(f"benchmarks.sections.{module}")
    # A model in training needs gradients; everything else must not pay for them.
    gradients = torch.enable_grad() if name == "training step" else torch.no_grad()
    with threadpool_limits(setting.threads), gradients:  # NumPy's threads are others than torch's
        return getattr(section, function)(setting)
