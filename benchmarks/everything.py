"""All of it in one run, in about twenty minutes, written to results.json: `make bench`.

python benchmarks/everything.py [--small] [--threads 1]
"""

import argparse
import json
import time
from pathlib import Path

import inference
import tiled
import tokenisers
import torch
import training
from measuring import in_turn, machine, rows
from table import RESULTS, markdown
from threadpoolctl import threadpool_limits


def tokenising(small: bool) -> list[dict]:
    """Our byte-pair encoder, each time cold, on the two texts of tokenisers.py."""
    peers = {"ours": tokenisers.ours,
             f"tokenizers {tokenisers.tokenizers.__version__}": tokenisers.hugging_face,
             f"tiktoken {tokenisers.tiktoken.__version__}": tokenisers.open_ai}  # fmt: skip
    texts = {"pages and modules": tokenisers.pages_and_modules(),
             "messages in many languages": tokenisers.messages()}  # fmt: skip
    table = []
    for name, text in texts.items():
        text = text[:50_000] if small else text
        truth = tokenisers.ours()(text)
        assert all(make()(text) == truth for make in peers.values()), "the ids differ"
        calls = {peer: lambda make=make, text=text: tokenisers.seconds(make, text)
                 for peer, make in peers.items()}  # fmt: skip
        what = f"Byte pairs, {name}, {len(text):,} characters"
        table += rows(what, in_turn(calls, 1 if small else 20), "ours")
    return table


def steps(small: bool) -> list[dict]:
    """A step of training, as training.py measures it."""
    found = training.steps(3 if small else 60)
    return [
        {"what": "A step of training, 0.8 M parameters", "name": name, "milliseconds": middle,
         **({} if name == "ours" else {"ratio": [found[f"ours / {name}"]] * 3})}
        for name, middle in found["milliseconds"].items()
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure everything against the peers.")
    parser.add_argument("--small", action="store_true", help="a rehearsal that writes nothing")
    parser.add_argument("--threads", type=int, default=1)
    said = parser.parse_args()
    torch.set_num_threads(said.threads)
    start = time.perf_counter()
    # NumPy's products have threads of their own.
    with threadpool_limits(said.threads):
        # A training has the process to itself: it is timed before the large models fill it.
        trained = steps(said.small)
        found, missing = inference.measure(said.small)
        found += trained + tokenising(said.small) + tiled.measure(said.small)
    result = {"machine": machine(said.threads), "rows": found, "missing": missing}
    if not said.small:
        Path(RESULTS).write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf8")
    print(markdown(result))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
