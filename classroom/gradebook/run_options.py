"""The options of the last run of `grade`, beside its table: grades.csv has grades.options.json.

A run that leaves out an option uses the one of the last run, and says so: without its roster or its
dates the same command would change points without a word.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from classroom.gradebook.attempts import LAST
from classroom.gradebook.tables import write_whole

DEFAULTS: dict[str, Any] = {
    "roster": None, "dates": None, "due": None, "zone": "", "grace": "0:00", "late": 0.1,
    "late_most": 1.0, "attempts": LAST, "partial": 0.0,
}  # fmt: skip


def options_path(grades: Path) -> Path:
    """Return the file that holds the options of a table of grades."""
    return grades.with_suffix(".options.json")


def recall_options(arguments: argparse.Namespace, grades: Path) -> str:
    """Fill in the options that were left out; return a line about those of the last run."""
    kept = read_options(options_path(grades))
    recalled = []
    for name, default in DEFAULTS.items():
        if getattr(arguments, name) is None:
            value = kept.get(name, default)
            setattr(
                arguments, name, Path(value) if name in ("roster", "dates") and value else value
            )
            if value != default:
                recalled.append(f"--{name.replace('_', '-')} {value}")
    if not recalled:
        return ""
    return (
        f"as in the last run: {' '.join(recalled)} (delete {options_path(grades)} to begin again)"
    )


def read_options(path: Path) -> dict[str, Any]:
    """Read what `keep_options` wrote; without a file there are none."""
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text("utf8")))
    except ValueError:
        raise ValueError(
            f"{path} must hold the options of the last run; it cannot be read. Delete it, and give "
            "all options of `grade` again"
        ) from None


def keep_options(arguments: argparse.Namespace, grades: Path) -> None:
    """Write the options of this run beside its table."""
    values = {name: getattr(arguments, name) for name in DEFAULTS}
    chosen = {name: str(value) if isinstance(value, Path) else value
              for name, value in values.items() if value != DEFAULTS[name]}  # fmt: skip
    write_whole(options_path(grades), json.dumps(chosen, indent=1) + "\n")
