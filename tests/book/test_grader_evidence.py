"""The page about the checks shows what the tests tried: all of it, and nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.classroom.attacks import ATTACKS
from tests.public_graders.table import RESULTS
from tests.support.attempts import NAMES, answers, load
from tests.support.kill_matrix import FORMS

TASKS = [(name, task) for name in NAMES for task in load(name).tasks]


@pytest.fixture(scope="module")
def shown(book_folder: Path) -> BeautifulSoup:
    return BeautifulSoup((book_folder / "appendix" / "trust.html").read_text("utf8"), "lxml")


def rows(shown: BeautifulSoup, section: str) -> list[list[str]]:
    """The cells of all tables in a section, without their heads."""
    rows = shown.find(id=section).select("tbody tr")
    return [[cell.get_text().replace("’", "'") for cell in row.find_all("td")] for row in rows]


def test_its_totals_are_those_of_the_tasks(shown):
    count = sum(len(task.wrong) for _, task in TASKS)
    styles = sum(len(answers(name)[task.id]) for name, task in TASKS)
    table = rows(shown, "what-was-tried")
    assert [row[1:] for row in table[:2]] == [[f"{count:,}"] * 2] * 2
    assert table[3][1:] == [f"{styles:,}"] * 2
    forms = {row[0]: (int(row[1]), int(row[2] or 0)) for row in table[4:]}
    assert list(forms) == [form.name.replace("`", "") for form in FORMS]
    assert {named + apart for named, apart in forms.values()} == {len(TASKS)}
    total = f"{sum(named for named, _ in forms.values()):,}"
    assert table[2][1:] == [total, total]


def test_every_task_stands_beside_every_misconception_and_each_leads_to_what_is_told_of_it(
    shown, book_folder
):
    table = rows(shown, "every-task-by-every-misconception")
    assert [row[0] for row in table] == [f"{task.id} {task.title}" for _, task in TASKS]
    for row, (_, task) in zip(table, TASKS, strict=True):
        listed = row[1].split(", ")
        counts = [int((re.findall(r"× (\d+)$", line) or [1])[0]) for line in listed]
        assert sum(counts) == len(task.wrong)
        ids = {number for line in listed for number in re.findall(r"M\d+", line)}
        assert ids == {number for wrong in task.wrong for number in wrong.ids}
    guide = BeautifulSoup((book_folder / "appendix" / "guide.html").read_text("utf8"), "lxml")
    anchors = {element["id"] for element in guide.find_all(id=True)}
    for link in shown.select('a[href^="guide.html#misconception-"]'):
        assert link["href"].partition("#")[2] in anchors, link


def test_every_attack_stands_with_its_status(shown):
    table = rows(shown, "what-was-tried-on-the-grader")
    assert [tuple(row[1:]) for row in table] == [
        (name, attack.status) for name, attack in ATTACKS.items()
    ]


def test_every_bug_stands_with_who_lets_it_pass(shown):
    results = json.loads(RESULTS.read_text("utf8"))
    table = rows(shown, "the-same-bugs-elsewhere")
    graders, bugs = table[: len(results["graders"]) + 1], table[len(results["graders"]) + 1 :]
    assert "Thirty-nine" in shown.find(id="the-same-bugs-elsewhere").get_text()
    assert [row[0] for row in bugs] == [bug["name"] for bug in results["bugs"]]
    assert len(bugs) == 39
    passes = Counter(name for row in bugs for name in filter(None, row[2].split("; ")))
    for name, seen, caught, passed in graders:
        assert int(seen) == int(caught) + int(passed)
        assert int(passed) == passes[name]
    assert graders[-1] == ["this course", "39", "39", "0"]
