"""How everything here is measured: in turn, as medians, and as ratios round by round."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

Seconds = dict[str, list[float]]
Calls = dict[str, Callable[[], object]]

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time, "thread": time.thread_time}


@dataclass(frozen=True)
class Setting:
    """How one section is measured.

    The clock "wall" is the right one on a quiet machine. "cpu" counts the time for which the
    process was at work, on all its threads together, and "thread" that of the calling thread: other
    programs on a busy machine then disturb less. With more than one thread the clock is "wall".
    """

    threads: int = 1
    clock: str = "wall"
    small: bool = False
    share: float = 1.0
    folder: str = ""

    def seconds(self, quiet: float) -> float:
        """The budget of a contest, for one that takes `quiet` seconds in the full run."""
        return 0.0 if self.small else quiet * self.share

    def timed(self, call: Callable[[], object]) -> Callable[[], float]:
        """Return a function that makes the call and returns the seconds it took."""
        clock = CLOCKS[self.clock if self.threads == 1 else "wall"]

        def seconds() -> float:
            start = clock()
            call()
            return clock() - start

        return seconds


@dataclass
class Section:
    """What one section found: a row for each contestant, and why others were not measured."""

    rows: list[dict] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


def in_turn(calls: dict[str, Callable[[], float]], budget: float, least: int = 3) -> Seconds:
    """Call all in rounds until the budget of seconds is spent, each round from another start.

    Whatever disturbs the machine for a while then disturbs all of them equally.
    """
    taken: Seconds = {name: [] for name in calls}
    start, names = time.perf_counter(), list(calls)
    while len(taken[names[0]]) < least or time.perf_counter() - start < budget:
        for name in names:
            taken[name].append(calls[name]())
        names = names[1:] + names[:1]
    return taken


def contest(
    what: str, calls: Calls, setting: Setting, *, ours: str, budget: float, least: int = 3
) -> list[dict]:
    """Time the calls in turn, and go on with those that come near the fastest.

    The slow ones stop after `least` rounds: else the near ones would be far apart in time.
    """
    timed = {name: setting.timed(call) for name, call in calls.items()}
    least = 1 if setting.small else least
    first = in_turn(timed, 0, least)
    table = {row["name"]: row for row in rows(what, first, ours)}
    middle = {name: statistics.median(seconds) for name, seconds in first.items()}
    limit = 1.6 * min(middle.values())
    near = {name: timed[name] for name in timed if middle[name] < limit or name == ours}
    if setting.seconds(budget):
        again = in_turn(near, setting.seconds(budget), least)
        joined = {name: first[name] + again[name] for name in near}
        table |= {row["name"]: row for row in rows(what, joined, ours)}
    return list(table.values())


def rows(what: str, taken: Seconds, ours: str) -> list[dict]:
    """One row for each: the median time, and the quartiles of ours / theirs."""
    table = []
    for name, seconds in taken.items():
        row = {"what": what, "name": name, "rounds": len(seconds)}
        row["milliseconds"] = round(1e3 * statistics.median(seconds), 3)
        if name != ours:
            row["ratio"] = quartiles(taken[ours][: len(seconds)], seconds)
        table.append(row)
    return table


def quartiles(ours: list[float], theirs: list[float]) -> list[float]:
    """The quartiles of ours / theirs, each round by itself: [low, median, high].

    A single round has no spread, and returns its ratio alone.
    """
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    if len(ratios) == 1:
        return [round(ratios[0], 3)]
    return [round(ratio, 3) for ratio in statistics.quantiles(ratios, n=4, method="inclusive")]


def gap(theirs: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((theirs - exact).abs().max() / exact.abs().max())
