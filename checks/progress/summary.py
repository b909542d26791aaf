"""What the notes of the log amount to: how each task, skill and misconception stands."""

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
from checks.feedback.sentences import place_of
from checks.feedback.verdict import ReadingList, Table, split_read
from checks.progress.log import Note, read_notes
from checks.status import Status
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
    """How one task stands: attempts up to the first pass, and misconceptions, overcome or not."""

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
    for note in notes:
        # The same answer run again, with the same result, is no other attempt.
        tries += not passed and note != before
        before = note
        if note.status == Status.PASSED:
            passed, answer = True, note.answer
            met = dict.fromkeys(met, True)
        else:
            met |= dict.fromkeys(note.misconceptions, False)
    return Standing(task, skill, passed, tries, met, answer)


def all_exercises() -> list[Exercise]:
    """Every exercise of the course, in order."""
    folders = importlib.import_module("exercises").__path__
    names = sorted(module.name for module in pkgutil.iter_modules(folders))
    names = [name for name in names if re.match(r"\d\d_", name)]
    return [importlib.import_module(f"exercises.{name}").EXERCISE for name in names]


def tasks_by_skill(exercises: Iterable[Exercise]) -> dict[str, list[Task]]:
    """The tasks by skill: the title of the chapter to which a task sends its reader."""
    every = list(exercises)
    titles = {exercise.chapter: exercise.title for exercise in every}
    grouped: dict[str, list[Task]] = {title: [] for title in titles.values()}
    for exercise in every:
        for task in exercise.tasks:
            chapter = split_read(task.read)[0].partition("_")[0]
            grouped[titles.get(chapter, exercise.title)].append(task)
    return grouped


@dataclass(frozen=True)
class ProgressSummary:
    """The progress by skill and by misconception, which prints as text and as HTML."""

    standings: tuple[Standing, ...]
    sizes: dict[str, int]
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self._tables())) or self._foot()

    def _repr_html_(self) -> str:
        tables = [table._repr_html_() for table in self._tables()]
        return "\n".join(tables) or f"<p>{self._foot()}</p>"

    def _tables(self) -> list[Table]:
        if not self.standings:
            return []
        head = ("skill", "passed", "at once", "misconceptions overcome", "to read again")
        tables = [Table(head, [self._row(skill) for skill in self._touched()], self._foot())]
        met = self.misconceptions()
        if met:
            rows = [(f"{row['id']} {row['name']}", ", ".join(row["tasks"]),
                     "overcome" if row["overcome"] else "not yet") for row in met]  # fmt: skip
            done = sum(row["overcome"] for row in met)
            foot = f"{done} of {len(met)} misconceptions overcome."
            tables.append(Table(("misconception", "met in", "since"), rows, foot))
        return tables

    def _touched(self) -> list[str]:
        return [skill for skill in self.sizes if self.of(skill)]

    def of(self, skill: str) -> list[Standing]:
        """The attempted tasks of a skill."""
        return [standing for standing in self.standings if standing.skill == skill]

    def _row(self, skill: str) -> tuple:
        touched = self.of(skill)
        passed, at_once, met, overcome = count_standings(touched)
        mistakes = f"{overcome} of {met}" if met else ""
        again = ReadingList(tuple(again_of(touched))[:MOST_READ])
        return skill, f"{passed} of {self.sizes[skill]}", at_once, mistakes, again

    def misconceptions(self) -> list[dict[str, Any]]:
        """Each misconception that was met: where, and whether every such task has passed since."""
        where: dict[str, list[Standing]] = {}
        for standing in self.standings:
            for number in standing.met:
                where.setdefault(number, []).append(standing)
        known = misconceptions()
        return [
            {"id": number, "name": known[number].name, "tasks": [met.task.id for met in standings],
             "overcome": all(met.met[number] for met in standings)}
            for number, standings in sorted(where.items(), key=lambda pair: (len(pair[0]), pair[0]))
            if number in known
        ]  # fmt: skip

    def _foot(self) -> str:
        text = "Nothing is noted yet. Each check that you run in a notebook will be,"
        if self.standings:
            done, total = sum(each.passed for each in self.standings), sum(self.sizes.values())
            text = f"{done} of {total} tasks passed. It is noted"
        text += " on this machine alone, until check.forget() removes it."
        return " ".join([text, *self.remarks])

    def export(self, path: str | Path) -> dict[str, Any]:
        """Write the results to a file of JSON, with what they prove and what not."""
        results = {"worth": WORTH, "course": course_version(),
                   "made": datetime.now(UTC).date().isoformat(),
                   "skills": [self._skill(skill) for skill in self._touched()],
                   "tasks": [_task(standing) for standing in self.standings],
                   "misconceptions": self.misconceptions()}  # fmt: skip
        results["digest"] = digest(results)
        Path(path).write_text(json.dumps(results, indent=1) + "\n", "utf8")
        return results

    def _skill(self, skill: str) -> dict[str, Any]:
        passed, at_once, met, overcome = count_standings(self.of(skill))
        return {"skill": skill, "tasks": self.sizes[skill], "passed": passed,
                "at_once": at_once, "misconceptions": met, "overcome": overcome}  # fmt: skip


def count_standings(standings: list[Standing]) -> tuple[int, int, int, int]:
    """How many tasks passed, and at once; how many misconceptions were met, and overcome."""
    met = [overcome for standing in standings for overcome in standing.met.values()]
    passed = sum(standing.passed for standing in standings)
    return passed, sum(standing.first_try for standing in standings), len(met), sum(met)


def _task(standing: Standing) -> dict[str, Any]:
    return {"task": standing.task.id, "title": standing.task.title, "passed": standing.passed,
            "tries": standing.tries, "answer_sha256": standing.answer}  # fmt: skip


def again_of(standings: Iterable[Standing]) -> dict[str, None]:
    """What to read again, most pressing first: misconceptions not overcome, tasks not passed."""
    every, known = list(standings), misconceptions()
    sections = [
        place_of(known[number], standing.task)
        for standing in every
        for number, overcome in standing.met.items()
        if not overcome and number in known
    ]
    return dict.fromkeys([*sections, *(each.task.read for each in every if not each.passed)])


def read_progress() -> ProgressSummary:
    """The progress that was noted on this machine."""
    notes, remarks = read_notes()
    if not notes:
        return ProgressSummary((), {}, tuple(remarks))
    grouped = tasks_by_skill(all_exercises())
    by_task: dict[str, list[Note]] = {}
    for note in notes:
        by_task.setdefault(note.task, []).append(note)
    standings = tuple(
        standing(task, skill, by_task[task.id])
        for skill, tasks in grouped.items()
        for task in tasks
        if task.id in by_task
    )
    sizes = {skill: len(tasks) for skill, tasks in grouped.items()}
    return ProgressSummary(standings, sizes, tuple(remarks))


def course_version() -> dict[str, str]:
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
