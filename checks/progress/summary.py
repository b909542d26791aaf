"""What the notes of the record amount to: how each task, skill and wrong idea stands."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import pkgutil
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from checks.feedback.misconceptions import misconceptions
from checks.feedback.verdict import Reading, Table, split_read
from checks.feedback.words import place_of
from checks.progress.log import Note, found
from checks.task import Exercise, Task

MOST_READ = 3
FOLDERS = ("exercises", "checks")
WORTH = (
    "Results of a learner, made on the learner's own machine. The digest shows whether this file "
    "was damaged or edited by hand afterwards. It proves neither who wrote the answers nor that "
    "any check was run, for whoever can run the course can make such a file: only marking the "
    "answers themselves shows what they are worth. Whoever has the answers can compare them "
    "with the SHA-256 of each cell's text."
)


@dataclass(frozen=True)
class Standing:
    """How one task stands: attempts up to the first pass, and the wrong ideas, mended or not."""

    task: Task
    skill: str
    passed: bool
    tries: int
    met: dict[str, bool]
    answer: str

    @property
    def first_try(self) -> bool:
        """Whether the first attempt was right."""
        return self.passed and self.tries == 1


def standing(task: Task, skill: str, notes: Iterable[Note]) -> Standing:
    """Go through the notes of one task in their order."""
    passed, tries, answer, before = False, 0, "", None
    met: dict[str, bool] = {}
    for one in notes:
        # The same answer run again, with the same result, is no other attempt.
        tries += not passed and one != before
        before = one
        if one.status == "passed":
            passed, answer = True, one.answer
            met = dict.fromkeys(met, True)
        else:
            met |= dict.fromkeys(one.misconceptions, False)
    return Standing(task, skill, passed, tries, met, answer)


def exercises() -> list[Exercise]:
    """Every exercise of the course, in order."""
    rooms = importlib.import_module("exercises").__path__
    names = sorted(one.name for one in pkgutil.iter_modules(rooms) if re.match(r"\d\d_", one.name))
    return [importlib.import_module(f"exercises.{name}").EXERCISE for name in names]


def skills(all_of: Iterable[Exercise]) -> dict[str, list[Task]]:
    """The tasks by skill: the title of the chapter to which a task sends its reader."""
    every = list(all_of)
    titles = {one.chapter: one.title for one in every}
    grouped: dict[str, list[Task]] = {title: [] for title in titles.values()}
    for one in every:
        for task in one.tasks:
            chapter = split_read(task.read)[0].partition("_")[0]
            grouped[titles.get(chapter, one.title)].append(task)
    return grouped


@dataclass(frozen=True)
class Record:
    """The record by skill and by wrong idea, which prints as text and as HTML."""

    standings: tuple[Standing, ...]
    sizes: dict[str, int]
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self._tables())) or self._foot()

    def _repr_html_(self) -> str:
        return "\n".join(one._repr_html_() for one in self._tables()) or f"<p>{self._foot()}</p>"

    def _tables(self) -> list[Table]:
        if not self.standings:
            return []
        head = ("skill", "passed", "at once", "ideas overcome", "to read again")
        tables = [Table(head, [self._row(skill) for skill in self._touched()], self._foot())]
        ideas = self.ideas()
        if ideas:
            rows = [(f"{one['id']} {one['name']}", ", ".join(one["tasks"]),
                     "overcome" if one["overcome"] else "not yet") for one in ideas]  # fmt: skip
            left = sum(not one["overcome"] for one in ideas)
            foot = f"{len(ideas) - left} of {len(ideas)} wrong ideas overcome."
            tables.append(Table(("wrong idea", "met in", "since"), rows, foot))
        return tables

    def _touched(self) -> list[str]:
        return [skill for skill in self.sizes if self.of(skill)]

    def of(self, skill: str) -> list[Standing]:
        """The attempted tasks of a skill."""
        return [one for one in self.standings if one.skill == skill]

    def _row(self, skill: str) -> tuple:
        ours = self.of(skill)
        passed, at_once, met, mended = counts(ours)
        ideas = f"{mended} of {met}" if met else ""
        again = Reading(tuple(again_of(ours))[:MOST_READ])
        return skill, f"{passed} of {self.sizes[skill]}", at_once, ideas, again

    def ideas(self) -> list[dict[str, Any]]:
        """Each wrong idea that was met: where, and whether every such task has passed since."""
        where: dict[str, list[Standing]] = {}
        for one in self.standings:
            for idea in one.met:
                where.setdefault(idea, []).append(one)
        known = misconceptions()
        return [
            {"id": idea, "name": known[idea].name, "tasks": [one.task.id for one in ones],
             "overcome": all(one.met[idea] for one in ones)}
            for idea, ones in sorted(where.items(), key=lambda pair: (len(pair[0]), pair[0]))
            if idea in known
        ]  # fmt: skip

    def _foot(self) -> str:
        said = "Nothing is noted yet. Each check that you run in a notebook will be,"
        if self.standings:
            done, total = sum(one.passed for one in self.standings), sum(self.sizes.values())
            said = f"{done} of {total} tasks passed. It is noted"
        said += " on this machine alone, until check.forget() removes it."
        return " ".join([said, *self.remarks])

    def export(self, path: str | Path) -> dict[str, Any]:
        """Write the results to a file of JSON, with what they prove and what not."""
        results = {"worth": WORTH, "course": course(), "made": datetime.now(UTC).date().isoformat(),
                   "skills": [self._skill(skill) for skill in self._touched()],
                   "tasks": [_task(one) for one in self.standings],
                   "wrong_ideas": self.ideas()}  # fmt: skip
        results["digest"] = digest(results)
        Path(path).write_text(json.dumps(results, indent=1) + "\n", "utf8")
        return results

    def _skill(self, skill: str) -> dict[str, Any]:
        passed, at_once, met, mended = counts(self.of(skill))
        return {"skill": skill, "tasks": self.sizes[skill], "passed": passed,
                "at_once": at_once, "wrong_ideas": met, "overcome": mended}  # fmt: skip


def counts(ones: list[Standing]) -> tuple[int, int, int, int]:
    """How many tasks passed, and at once; how many wrong ideas were met, and overcome."""
    met = [mended for one in ones for mended in one.met.values()]
    passed, at_once = sum(one.passed for one in ones), sum(one.first_try for one in ones)
    return passed, at_once, len(met), sum(met)


def _task(one: Standing) -> dict[str, Any]:
    return {"task": one.task.id, "title": one.task.title, "passed": one.passed,
            "tries": one.tries, "answer_sha256": one.answer}  # fmt: skip


def again_of(ones: Iterable[Standing]) -> dict[str, None]:
    """What to read again, most pressing first: the ideas not overcome, then tasks not passed."""
    every, known = list(ones), misconceptions()
    ideas = [place_of(known[idea], one.task) for one in every
             for idea, mended in one.met.items() if not mended and idea in known]  # fmt: skip
    return dict.fromkeys([*ideas, *(one.task.read for one in every if not one.passed)])


def read() -> Record:
    """The record of this machine."""
    notes, remarks = found()
    if not notes:
        return Record((), {}, tuple(remarks))
    grouped = skills(exercises())
    by_task: dict[str, list[Note]] = {}
    for one in notes:
        by_task.setdefault(one.task, []).append(one)
    standings = tuple(
        standing(task, skill, by_task[task.id])
        for skill, tasks in grouped.items()
        for task in tasks
        if task.id in by_task
    )
    return Record(standings, {skill: len(tasks) for skill, tasks in grouped.items()}, (*remarks,))


def course() -> dict[str, str]:
    """Which course this is: its version, and a digest of all that marks an answer."""
    root, total = Path(__file__).resolve().parents[2], hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".py", ".yml"):
                total.update(path.name.encode() + b"\0" + path.read_bytes())
    try:
        version = importlib.metadata.version("attention-course")
    except importlib.metadata.PackageNotFoundError:
        version = "not installed"
    return {"version": version, "checks_sha256": total.hexdigest()}


def digest(results: dict[str, Any]) -> str:
    """The SHA-256 of everything in some results but the digest itself."""
    rest = {key: value for key, value in results.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def unharmed(path: str | Path) -> bool:
    """Whether an exported file is as it was written."""
    results = json.loads(Path(path).read_text("utf8"))
    return results.get("digest") == digest(results)
