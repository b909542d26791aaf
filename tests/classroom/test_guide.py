"""What the teacher's guide writes is what the commands take, and what they know."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from classroom.__main__ import command_line
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import read_table
from classroom.platforms.uploads import MODIFIED
from classroom.status import GradeStatus

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "appendix" / "guide.md").read_text("utf8").replace("\\\n", "")
COMMAND = re.compile(r"^ *\.venv/bin/python -m classroom (.+)$", re.MULTILINE)
TABLE = re.compile(r"^( *)```text\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
NAMES = re.compile(r"know the exercises by these names: (.+)\.")


def tables() -> list[str]:
    """The tables that the guide prints, as files."""
    return [re.sub(f"^{indent}", "", text, flags=re.M) for indent, text in TABLE.findall(GUIDE)]


@pytest.mark.parametrize("command", COMMAND.findall(GUIDE))
def test_every_command_of_the_guide_has_the_words_that_the_program_takes(command):
    assert command_line().parse_args(shlex.split(command)).run


def test_the_steps_of_a_week_name_every_command_but_those_for_free_text():
    week = GUIDE.partition("## One week in seven steps")[2].partition("\n## ")[0]
    named = [command.partition(" ")[0] for command in COMMAND.findall(week)]
    assert named == ["doctor", "release", "grade", "report", "rerun", "correct", "similar",
                     "feedback", "upload", "gradebook"]  # fmt: skip


def test_the_guide_lists_the_exercises_and_the_statuses_that_there_are():
    listed = re.findall(r"`(\w+)`", NAMES.search(GUIDE)[1])
    assert listed == sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.py"))
    rows = GUIDE.partition("| status | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    shown = [row.split("|")[1].strip() for row in rows.splitlines()]
    assert sorted(shown) == sorted(status.value for status in GradeStatus)


def test_the_tables_that_the_guide_prints_can_be_read(tmp_path):
    roster, dates, worksheet = map(str.encode, tables())
    path = tmp_path / "table.csv"
    path.write_bytes(roster)
    students = Roster.from_csv(path).students
    assert [name for name, own in students.items() if own.due] == ["Max Rüger"]
    path.write_bytes(dates)
    assert [row["student"] for row in read_table(path).require("student", "date").rows] == [
        "Jane Doe", "Max Rüger",
    ]  # fmt: skip
    path.write_bytes(worksheet)
    read_table(path).require("Identifier", "Grade", MODIFIED)
    assert list(Roster.from_csv(path).students) == ["Jane Doe"]
