"""Train GPT-2 with each of Llama's changes alone, over three seeds, for chapter 18.

    python tools/recordings/record_llama_changes.py

writes lib/training/llama_changes.json: for each variant and seed the parameters of the layers and
the loss at each position of held-out text. It takes about five minutes on one thread. A different
processor trains slightly different weights.
"""

import json

from lib.seeds import threads
from lib.training.llama_changes import STORED, VARIANTS, run

SEEDS = range(3)


def main() -> None:
    """Run every variant with every seed, and store the results."""
    threads(1)
    runs = [run(variant, seed) for seed in SEEDS for variant in VARIANTS]
    runs += [run(variant, seed, std=0.02) for seed in SEEDS for variant in ("GPT-2", "SwiGLU")]
    STORED.write_text(json.dumps(runs, separators=(",", ":")) + "\n", "utf8")


if __name__ == "__main__":
    main()
