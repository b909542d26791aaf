"""Print what is new in a version, if a tag names just that version.

    python book/build/release_notes.py v0.1.0

A release is made from a tag, so three places must say the same: the tag, `pyproject.toml`, and the
first heading of CHANGELOG.md, `## [0.1.0] - 2026-12-01`, which until then was `## [Unreleased]`.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^## \[([^\]]+)\](?: - (.+))?$", re.MULTILINE)


def notes(tag: str, version: str, changes: str) -> str:
    """The first section of the changes, if it is this version's and its day is set."""
    if tag != f"v{version}":
        raise SystemExit(f"The tag must be v{version}, the version in pyproject.toml; got {tag}.")
    first = HEADING.search(changes)
    if not first or first[1] != version:
        got = f"[{first[1]}]" if first else "no heading"
        raise SystemExit(f"CHANGELOG.md must begin with [{version}]; got {got}. Rename it.")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", first[2] or ""):
        raise SystemExit(f"CHANGELOG.md must date {version}, as in 2027-01-31; got {first[2]!r}.")
    return changes[first.end() :].split("\n## ")[0].strip() + "\n"


def main(tag: str) -> None:
    """Print the notes of the version that stands in this folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text("utf8")
    print(notes(tag, project["version"], changes), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
