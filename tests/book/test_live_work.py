"""What the page keeps of a learner's work, and what it makes of it: the arithmetic, under node."""

import json
from pathlib import Path

import pytest
from docutils import nodes

from book.live.front_end import chapters
from checks.check import judge
from checks.progress.log import Note
from checks.progress.summary import all_exercises, standing
from checks.status import Status
from classroom.submissions import read_submission
from tests.figures.widgets.node import call, run

ROOT = Path(__file__).resolve().parents[2]
BROWSER = "../../book/live/browser"

# A storage as browsers have one; work.js is called with what follows, and prints its last value.
STORE = """
const held = new Map();
globalThis.localStorage = new Proxy({
    getItem: (name) => held.get(name) ?? null,
    setItem: (name, text) => void held.set(name, String(text)),
    removeItem: (name) => void held.delete(name),
}, { ownKeys: () => [...held.keys()],
     getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) });
const work = await import(process.argv[1]);
const given = JSON.parse(process.argv[2]);
process.stdout.write(JSON.stringify((() => { %s })() ?? null));
"""


def work(body: str, given: object = None) -> object:
    """What a body of JavaScript returns that uses `work` and `given`."""
    return run(STORE % body, f"{BROWSER}/work.js", json.dumps(given))


def note(task: str, status: str, *misconceptions: str, answer: str = "a", time: str = "") -> dict:
    """One note, as a check writes it."""
    return {"task": task, "status": status, "misconceptions": list(misconceptions),
            "answer": answer, "time": time}  # fmt: skip


def lines(notes: list[dict]) -> str:
    return "".join(f"\n{json.dumps(entry)}\n" for entry in notes)


STORY = [
    note("6.2", "wrong", "M13", answer="a"),
    note("6.2", "wrong", "M13", answer="a"),
    note("6.2", "raised", answer="b"),
    note("11.1", "wrong", "M5", answer="c"),
    note("6.2", "passed", answer="d"),
    note("6.2", "wrong", "M11", answer="e"),
]


def test_a_task_stands_in_the_page_as_in_the_learners_own_record():
    ours = work("work.addNotes(given); return [...work.standings()];", lines(STORY))
    tasks = {task.id: task for exercise in all_exercises() for task in exercise.tasks}
    assert [task for task, _ in ours] == ["6.2", "11.1"]
    for task, mine in ours:
        notes = [Note(n["task"], n["status"], tuple(n["misconceptions"]), n["answer"])
                 for n in STORY if n["task"] == task]  # fmt: skip
        theirs = standing(tasks[task], "", notes)
        expected = {"passed": theirs.passed, "tries": theirs.tries, "misconceptions": theirs.met}
        assert mine == expected


def test_the_same_result_for_the_same_answer_is_kept_once():
    assert len(work("work.addNotes(given); return work.notes();", lines(STORY))) == 5


@pytest.mark.parametrize("spoiled", ["{", "3", '{"task": 6}', '{"task": "6.2"}', "null"])
def test_a_damaged_note_harms_no_other(spoiled):
    text = f"{spoiled}\n{lines(STORY)}"
    assert len(work("work.addNotes(given); return work.notes();", text)) == 5


def test_answers_are_kept_in_the_order_of_the_course_and_forgotten():
    body = """
        for (const task of ["11.1", "2.10", "2.9"]) work.keepAnswer(task, `x = ${task}`);
        work.keepAnswer("2.9", null);
        const before = [work.answered(), work.answer("2.10").text, work.answer("2.9")];
        work.addNotes(given);
        work.forget();
        return [...before, work.answered(), work.notes(), held.size];
    """
    assert work(body, lines(STORY)) == [["2.10", "11.1"], "x = 2.10", None, [], [], 0]


def test_an_edit_is_kept_until_it_is_undone_forgotten_or_the_book_changes_the_cell():
    body = """
        const kept = () => ["x = 1", "x = 9"].map((now) => work.edit("06_softmax.3", now));
        work.keepEdit("06_softmax.3", "x = 1", "x = 2");
        const seen = [kept()];
        work.keepEdit("06_softmax.3", "x = 1", "x = 1");
        seen.push(kept());
        work.keepEdit("06_softmax.3", "x = 1", "x = 3");
        work.forget();
        return [...seen, kept(), held.size];
    """
    assert work(body) == [["x = 2", None], [None, None], [None, None], 0]


def test_what_was_saved_is_loaded_and_a_newer_answer_stays():
    body = """
        work.keepAnswer("6.1", "old", "2026-01-01");
        work.keepAnswer("6.2", "saved", "2026-01-01");
        work.addNotes(given);
        const file = JSON.stringify(work.everything());
        work.forget();
        work.keepAnswer("6.1", "new", "2026-01-02");
        const merged = work.merge(file);
        work.merge(file);
        return [merged, work.answer("6.1").text, work.answer("6.2").text, work.notes().length];
    """
    merged, first, second, count = work(body, lines(STORY))
    assert merged == {"answers": 1, "passed": 1}
    assert (first, second) == ("new", "saved")
    assert count == 5, "loaded twice, a file adds nothing"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"course": "x"}', '{"version": 1, "answers": {}}']
)
def test_a_file_of_something_else_is_refused(text):
    assert work("return work.merge(given);", text) is None


def test_where_storage_is_forbidden_the_work_lasts_as_long_as_the_page():
    body = """
        globalThis.localStorage.__proto__ = null;
        Object.defineProperty(globalThis, "localStorage", { get: () => { throw new Error(); } });
        work.keepAnswer("6.1", "x");
        work.addNotes(given);
        return [work.answer("6.1").text, work.answered(), work.notes().length, work.isRefused()];
    """
    assert work(body, lines(STORY)) == ["x", ["6.1"], 5, True]


# The marks, and where to go on


@pytest.mark.parametrize(
    ("passed", "total", "text"), [(0, 8, None), (3, 8, "3/8"), (8, 8, "✓"), (1, 1, "✓")]
)
def test_a_chapter_is_marked_by_what_was_passed(passed, total, text):
    mark = call(f"{BROWSER}/live.js", "markOf", passed, total)
    assert (mark and mark["text"]) == text
    if mark:
        assert "passed" in mark["name"]


def test_passed_tasks_are_counted_by_chapter():
    held = [["6.2", {"passed": True}], ["6.3", {"passed": False}], ["11.1", {"passed": True}]]
    assert call(f"{BROWSER}/live.js", "passedByChapter", held) == {"06": 1, "11": 1}


NEXT = """
const { nextTask } = await import(process.argv[1]);
const [chapters, standings, notes] = JSON.parse(process.argv[2]);
process.stdout.write(JSON.stringify(nextTask(chapters, new Map(standings), notes)));
"""


@pytest.mark.parametrize(
    ("passed", "last", "next_task"),
    [
        ((), None, "0.1"),
        (("6.2",), "6.2", "6.3"),
        (("6.2",), "6.5", "6.5"),
        (("18.9",), "18.9", "0.1"),
    ],
)
def test_the_next_task_follows_the_last_that_was_tried(passed, last, next_task):
    standings = [[task, {"passed": True}] for task in passed]
    notes = [note(last, "wrong")] if last else []
    given = json.dumps([chapters(ROOT / "exercises"), standings, notes])
    assert run(NEXT, f"{BROWSER}/exercise/panel.js", given) == next_task


def test_the_list_of_tasks_is_that_of_the_course():
    listed = [
        (task["number"], task["anchor"])
        for chapter in chapters(ROOT / "exercises")
        for task in chapter["tasks"]
    ]
    every = [task.id for exercise in all_exercises() for task in exercise.tasks]
    assert [number for number, _ in listed] == every
    assert all(anchor and anchor == nodes.make_id(anchor) for _, anchor in listed)


# Which cells an answer needs
CELLS = """
const { needed, namesIn } = await import(process.argv[1]);
const given = JSON.parse(process.argv[2]);
const cells = given.map(([kind, text, changed], n) =>
    ({ kind, n, source: () => text, changed: () => changed }));
const names = given.map(([, text]) => namesIn(text));
const taken = needed(cells, cells.at(-1)).map(({ n }) => n);
process.stdout.write(JSON.stringify([taken, names]));
"""


def needed(*cells: tuple) -> tuple[list[int], list[list[str]]]:
    return run(CELLS, f"{BROWSER}/session.js", json.dumps(cells))


def test_an_answer_needs_what_is_given_and_the_answers_whose_names_it_uses():
    taken, names = needed(
        ("given", "import numpy as np", False),
        ("answer", "import math, cmath as c\nbase = 2", True),
        ("answer", "def helper(x):\n    return base * x", True),
        ("answer", "def loop():\n    pass\nwhile True: pass", True),
        ("answer", "def untouched(): ...", False),
        ("summary", "check.progress()", False),
        ("answer", "def mine(x):\n    return helper(untouched(x))", True),
    )
    assert taken == [0, 1, 2, 6]
    assert names[:3] == [["np"], ["base", "math", "c"], ["helper"]]
    assert needed(*[("cell", "x = 1", False)] * 3)[0] == [0, 1, 2]  # of a chapter


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from math import (exp, log)  # two", ["exp", "log"]),
        ("import os.path", ["os"]),
        ("async def f(): ...\nclass A: ...", ["f", "A"]),
        ("x: int = 3\ny == 4\n  z = 5", ["x"]),
    ],
)
def test_the_names_of_a_cell(source, names):
    assert call(f"{BROWSER}/session.js", "namesIn", source) == names


# The notebook to hand in


def handed_in(tmp_path: Path, stem: str, answers: list[str]) -> Path:
    notebook = json.loads((ROOT / "exercises" / f"{stem}.ipynb").read_text("utf8"))
    path = tmp_path / "anna.ipynb"
    made = call(f"{BROWSER}/exercise/notebook.js", "withAnswers", notebook, answers)
    path.write_text(json.dumps(made), "utf8")
    return path


def test_what_is_handed_in_is_what_the_class_grader_reads(tmp_path):
    exercise = next(each for each in all_exercises() if each.tasks[0].id == "6.1")
    answers = ["weights_by_hand = [1 / 8, 2 / 8, 5 / 8]"] + ["pass"] * (len(exercise.tasks) - 1)
    submission = read_submission([handed_in(tmp_path, "06_softmax", answers)])
    assert (submission.student, submission.status) == ("anna", None)
    assert answers[0] in submission.sources
    namespace = {}
    exec(answers[0], namespace)
    assert judge(exercise["6.1"], namespace["weights_by_hand"]).status == Status.PASSED


def test_a_notebook_of_other_tasks_is_refused(tmp_path):
    with pytest.raises(AssertionError, match="different tasks"):
        handed_in(tmp_path, "06_softmax", ["pass"] * 20)
