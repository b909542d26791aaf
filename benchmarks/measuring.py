"""How everything here is measured: in turn, in one run, as medians and as ratios to ours."""

import datetime
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

Seconds = dict[str, list[float]]


def timed(
    call: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> Callable[[], float]:
    """Make of a call one that says how many seconds it took, by that clock."""

    def seconds() -> float:
        start = clock()
        call()
        return clock() - start

    return seconds


def in_turn(calls: dict[str, Callable[[], float]], budget: float, least: int = 3) -> Seconds:
    """Go round until the budget of seconds is spent, each time beginning with another.

    What disturbs the machine for a while then disturbs all of them alike.
    """
    taken: Seconds = {name: [] for name in calls}
    start, names = time.perf_counter(), list(calls)
    while len(taken[names[0]]) < least or time.perf_counter() - start < budget:
        for name in names:
            taken[name].append(calls[name]())
        names = names[1:] + names[:1]
    return taken


def rows(what: str, taken: Seconds, ours: str, better: str | None = None) -> list[dict]:
    """One row for each: the median, and how long ours takes for each second of it.

    With `better`, a second of our forms is compared with it too.
    """
    table = []
    for name, seconds in taken.items():
        middle = round(1e3 * statistics.median(seconds), 2)
        row = {"what": what, "name": name, "milliseconds": middle, "rounds": len(seconds)}
        for key, form in (("ratio", ours), ("ratio_plain", better)):
            if form and form != name:
                row[key] = _ratio(taken[form], seconds)
        table.append(row)
    return table


def _ratio(ours: list[float], theirs: list[float]) -> list[float]:
    """The quartiles of ours / theirs, each round by itself: [low, median, high]."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    if len(ratios) == 1:
        return [round(ratios[0], 3)] * 3
    return [round(one, 3) for one in statistics.quantiles(ratios, n=4, method="inclusive")]


def gap(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((ours - theirs).abs().max() / theirs.abs().max())


def machine(threads: int) -> dict[str, object]:
    """Say where and when, so that a number can be read later."""
    said = Path("/proc/cpuinfo")
    lines = [line.split(":", 1) for line in said.read_text().splitlines()] if said.exists() else []
    found = {key[0].strip(): key[1].strip() for key in lines if len(key) == 2}
    flags = found.get("flags", "").split()
    wanted = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": found.get("model name", platform.processor() or platform.machine()),
        "flags": [flag for flag in wanted if flag in flags],
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
