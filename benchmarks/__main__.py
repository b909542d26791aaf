"""Measure everything against the peers and store it for this kind of processor: `make bench`.

python -m benchmarks [--only SECTION ...] [--threads 1 2] [--clock cpu] [--share 0.3] [--small]
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from tempfile import TemporaryDirectory

from benchmarks import record
from benchmarks.measuring import CLOCKS, Setting
from benchmarks.sections import SECTIONS, measure


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split(":")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--clock", choices=CLOCKS, default="wall",
                        help="cpu: for a machine that others use too")  # fmt: skip
    parser.add_argument("--share", type=float, default=1.0, help="of the time of the full run")
    parser.add_argument("--small", action="store_true", help="a rehearsal that stores nothing")
    return parser.parse_args()


def main() -> None:
    args = options()
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    if busy > record.BUSY and args.clock == "wall":
        print(f"Other programs use {busy:.0%} of the processors, so the times will be off. "
              "Wait until they end, or measure with --clock cpu.", file=sys.stderr)  # fmt: skip
    os.environ["TQDM_DISABLE"] = "1"  # no progress bars of the peers
    start, failed = time.perf_counter(), []
    with TemporaryDirectory() as folder:
        for name in args.only:
            for threads in sorted(set(args.threads) & set(SECTIONS[name][2])):
                try:
                    run(name, Setting(threads, args.clock, args.small, args.share, folder))
                except Exception as error:  # a native engine may end the process
                    print(f"  not measured: {type(error).__name__}: {error}", file=sys.stderr)
                    failed.append(f"{name} ({threads})")
    print(f"{time.perf_counter() - start:.0f} s")
    if failed:
        sys.exit(f"Not measured, and left as they were: {', '.join(failed)}")


def run(name: str, setting: Setting) -> None:
    """Measure one section, print it and store it."""
    print(f"{name}, {setting.threads} thread{'s' * (setting.threads > 1)}", flush=True)
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        section = process.submit(measure, name, setting).result()
    for row in section.rows:
        ratio = "  ".join(f"{each:.2f}" for each in row.get("ratio", []))
        print(f"  {row['name']:32} {row['milliseconds']:10.1f} ms  {ratio}")
    for peer, why in section.missing.items():
        print(f"  {peer}: not measured: {why}")
    if not setting.small:
        record.store(name, section, setting)


if __name__ == "__main__":
    main()
