"""Compare what the cells of a page gave under several settings, and what is stored of them."""

import configparser
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from tools.portability.settings import ROOT

MARGIN = 10  # how often the spread between settings must fit between a number and its limit
Cell = Mapping[str, Any]  # of a notebook
Record = Mapping[str, Any]  # of tools.portability.watch


@dataclass
class CellReport:
    """What differed in one code cell."""

    number: int
    source: str
    failed: dict[str, str] = field(default_factory=dict)  # by setting
    difference: float = 0.0
    margin: float = math.inf
    place: str = ""

    @property
    def passes(self) -> bool:
        return not self.failed and self.margin >= MARGIN


def sanitizers() -> list[tuple[re.Pattern[str], str]]:
    """Return what nbval replaces before it compares outputs."""
    config = configparser.RawConfigParser()
    config.read(ROOT / "tests" / "nbval.cfg", encoding="utf8")
    return [(re.compile(config[name]["regex"]), config[name]["replace"])
            for name in config.sections()]  # fmt: skip


def shown(cell: Cell) -> str:
    """Return the outputs of a cell as nbval compares them."""
    text = json.dumps([{key: value for key, value in output.items()
                        if key not in ("metadata", "execution_count", "traceback")}
                       for output in cell["outputs"]], sort_keys=True)  # fmt: skip
    for pattern, replacement in sanitizers():
        text = pattern.sub(replacement, text)
    return text


def failure(cell: Cell, stored: Cell) -> str:
    """Say why a cell fails under a setting, or nothing if it passes."""
    tags = cell["metadata"].get("tags", [])
    for output in cell["outputs"]:
        if output["output_type"] == "error" and "raises-exception" not in tags:
            return f"{output['ename']}: {output['evalue']}"[:200]
    if "nbval-ignore-output" in tags or shown(cell) == shown(stored):
        return ""
    return "the output differs from the stored one"


def margin(same: list[Record]) -> float:
    """How often the spread of an event fits between it and where its outcome changes.

    The spread is over the settings. A comparison has the larger of two margins, that of differences
    and that of ratios: 2.0 and 2.3 are far above 0.1 although they are not close to each other.
    """
    kinds = [kind for kind in ("values", "ratios") if all(record.get(kind) for record in same)]
    return max(min(map(margin_of, zip(*(record[kind] for record in same), strict=True),
                       repeat(same[0].get("unit", 0)))) for kind in kinds)  # fmt: skip


def margin_of(values: Sequence[float], unit: float) -> float:
    """Return the margin of one number, by setting, before it crosses 0 or rounds differently."""
    spread = max(values) - min(values)
    if spread == 0 or not math.isfinite(spread):
        return math.inf
    if unit:
        nearest = unit * round(values[0] / unit)
        return min(unit / 2 - abs(value - nearest) for value in values) / spread
    return -1.0 if min(values) < 0 < max(values) else min(map(abs, values)) / spread


def records_by_event(records: Mapping[str, list[Record]]) -> dict[tuple, list[Record]]:
    """Bring together the records that the settings have of the same event."""
    events = defaultdict(list)
    for setting_records in records.values():
        for record in setting_records:
            events[record["cell"], record["place"], record["turn"]].append(record)
    return events


def reports(
    stored: list[Cell], runs: Mapping[str, list[Cell]], records: Mapping[str, list[Record]]
) -> list[CellReport]:
    """Report on each code cell of a page that was run under several settings."""
    result = [CellReport(number, (cell["source"] or " ").splitlines()[0])
              for number, cell in enumerate(stored, start=1)]  # fmt: skip
    for setting, cells in runs.items():
        for report, cell, before in zip(result, cells, stored, strict=True):
            if reason := failure(cell, before):
                report.failed[setting] = reason
    for (number, place, _), same in records_by_event(records).items():
        report, tags = result[number], stored[number]["metadata"].get("tags", [])
        if "nbval-ignore-output" in tags and same[0].get("unit"):
            continue  # the page says that these numbers are those of one processor
        report.difference = max(report.difference, difference(same))
        if (distance := margin(same)) < report.margin:
            report.margin, report.place = distance, f"line {place}: {spelled(same)}"
    return result


def spelled(same: list[Record]) -> str:
    """Write the numbers of an event, from the smallest to the largest setting's."""
    ends = sorted((record["values"] for record in same), key=max)
    kind = "shown" if same[0].get("unit") else "from the limit"
    return f"{min(ends[0]):.4g} to {max(ends[-1]):.4g} {kind}"


def difference(same: list[Record]) -> float:
    """Return the largest difference between settings, relative to the size of the numbers."""
    spreads = [max(values) - min(values)
               for values in zip(*(record["values"] for record in same), strict=False)]  # fmt: skip
    scale = max(record["scale"] for record in same)
    return max(spreads) / scale if scale else 0.0


def times(margin: float) -> str:
    """Write a margin for the table."""
    return "any" if margin > 999 else f"{margin:.0f}"


def verdict(cell: CellReport) -> str:
    """Write in words whether a cell passes, and why not."""
    if cell.failed:
        return "; ".join(f"**{setting}**: {reason}" for setting, reason in cell.failed.items())
    if not cell.passes:
        return f"**too small a margin**: {MARGIN} times the spread is required; {cell.place}"
    return "passes"


def row(*entries: str) -> str:
    """Write one line of the table; a bar inside an entry would end it."""
    return "| " + " | ".join(entry.replace("|", "\\|") for entry in entries) + " |"


def table(pages: Mapping[str, list[CellReport]]) -> str:
    """Write each cell whose numbers differ between settings, page by page."""
    lines = ["| page | cell | first line | largest difference | margin | verdict |",
             "|---|--:|---|--:|--:|---|"]  # fmt: skip
    for page, cells in pages.items():
        differing = [cell for cell in cells if cell.difference or not cell.passes]
        lines += [row(page, str(cell.number), f"`{cell.source[:50]}`", f"{cell.difference:.0e}",
                      times(cell.margin), verdict(cell)) for cell in differing]  # fmt: skip
        if not differing:
            lines.append(row(page, f"all {len(cells)}", "", "0", "any", "passes"))
    return "\n".join(lines)
