"""Show for which Pythons and systems every pin of the course comes as a wheel.

    .venv/bin/python tools/pins/wheels.py

pip itself is asked, for each system as if it ran there, and installs nothing. It takes minutes.
A Python is its first release, 3.11.0: what needs a later one has no wheel for it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13")
GLIBC = [f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 26, 24, 17, 12, 5)]
SYSTEMS = {  # what pip calls each system, the newest of its tags first
    "Linux": [*GLIBC, "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"],
    "macOS 15 on Apple silicon": ["macosx_15_0_arm64"],  # pip reads it as 15 and all before
    "Windows": ["win_amd64"],
}
# Plain Python that is published as source alone: pip builds it in a second, on any system.
SOURCE = {"future"}
LACKING = re.compile(r"No matching distribution found for (\S+)==")


def pinned() -> list[str]:
    """Every pin of what builds, runs and tests the course."""
    texts = [
        (ROOT / name).read_text("utf8") for name in ("requirements/book.txt", "requirements.txt")
    ]
    return [line for text in texts for line in text.splitlines() if "==" in line]


def ask(pins: list[str], python: str, tags: list[str]) -> subprocess.CompletedProcess:
    """Ask pip for wheels of all these pins."""
    options = [part for tag in tags for part in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps",
             "--only-binary", ":all:", "--disable-pip-version-check", "--quiet",
             "--python-version", python, *options, "--target", folder, *pins],
            capture_output=True, text=True,
        )  # fmt: skip


def lacking(pins: list[str], python: str, tags: list[str], ask=ask) -> list[str]:
    """The pins of which there is no wheel: each is asked for alone, and else set aside."""
    found, left = [], [pin for pin in pins if pin.split("==")[0] not in SOURCE]
    while (done := ask(left, python, tags)).returncode:
        name = LACKING.search(done.stderr)
        if not name:
            raise SystemExit(f"pip could not say:\n{done.stderr}")
        (suspect,) = (pin for pin in left if pin.split("==")[0] == name[1])
        if ask([suspect], python, tags).returncode:  # and not only an index that did not answer
            found.append(name[1])
            left.remove(suspect)
    return found


def main() -> None:
    """Print the table, and fail if a pin has no wheel somewhere."""
    pins, missing = pinned(), False
    print(f"{len(pins)} pins; as source alone: {', '.join(sorted(SOURCE))}")
    for system, tags in SYSTEMS.items():
        for python in PYTHONS:
            names = lacking(pins, python, tags)
            missing |= bool(names)
            said = f"none for it of {', '.join(names)}" if names else "a wheel of every other pin"
            print(f"{system:<27}{python:<6}{said}", flush=True)
    raise SystemExit(missing)


if __name__ == "__main__":
    main()
