"""What is asked again, and when: the arithmetic under node, and the front page in Chromium."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from book.catalogue.remember import asked_for, reminders
from tests.book.test_book import wider_than_the_page
from tests.book.test_live_work import BROWSER, lines, note, work
from tests.figures.widgets.node import call
from tests.support.accessibility import objections

DUE = f"{BROWSER}/remember/due.js"
YESTERDAY, TODAY = "2026-11-22T20:00:00", "2026-11-23"
ASKED = {"M01": [0, 1], "M02": [0], "M03": [2], "M04": [3], "M05": [4]}


def nothing() -> dict:
    return {"later": "", "misconceptions": {}}


def due(notes, memory=None, day=TODAY) -> list[dict]:
    return call(DUE, "dueOn", day, notes, memory or nothing(), ASKED)


def misconceptions(asked: list[dict]) -> list[str]:
    return [item["misconception"] for item in asked]


def wrong(task: str, *named: str, time: str = YESTERDAY) -> dict:
    return note(task, "wrong", *named, time=time)


def entry(step: int, due_on: str, time: str = "2026-11-22T21:00:00Z") -> dict:
    return {"step": step, "due": due_on, "time": time}


def test_a_mistake_is_asked_about_from_the_next_day_on():
    notes = [wrong("5.1", "M01", time="2026-11-22T23:59:00")]
    assert due(notes, day="2026-11-22") == []
    assert due(notes) == [{"misconception": "M01", "task": "5.1", "step": 0, "question": 0}]


def test_the_latest_open_mistakes_come_first_and_no_two_of_a_task_or_a_question():
    notes = [
        wrong("5.1", "M03", time="2026-11-20T10:00:00"),
        wrong("5.2", "M04", time="2026-11-22T12:00:00"),
        note("5.2", "passed", time="2026-11-22T12:05:00"),
        wrong("5.3", "M01", "M05", time="2026-11-21T10:00:00"),
        wrong("5.4", "M02", time="2026-11-21T09:00:00"),  # the question of M01
        wrong("5.5", "M99", time="2026-11-22T18:00:00"),  # has no question
    ]
    assert misconceptions(due(notes)) == ["M01", "M03", "M04"]


def test_three_are_asked_in_a_day_and_no_more():
    notes = [wrong(f"5.{n}", f"M0{n}") for n in (1, 3, 4, 5)]
    assert len(due(notes)) == 3
    today = entry(1, "2026-11-26", f"{TODAY}T10:00:00")
    assert len(due(notes, {"later": "", "misconceptions": {"M01": today, "M03": today}})) == 1


def test_right_answers_lengthen_the_interval_until_it_is_done():
    days, step, now = [], 0, datetime(2026, 11, 23, 12)
    for _ in range(4):
        kept = call(DUE, "after", step, True, now.isoformat())
        step = kept["step"]
        if kept["due"]:
            next_day = datetime.fromisoformat(kept["due"])
            days.append((next_day.date() - now.date()).days)
            now = next_day + timedelta(hours=12)
    assert days == [3, 7, 21]
    assert (kept["step"], kept["due"]) == (4, "")
    assert (
        due([wrong("5.1", "M01")], {"later": "", "misconceptions": {"M01": kept}}, "2027-12-01")
        == []
    )


@pytest.mark.parametrize("step", range(4))
def test_a_wrong_answer_begins_again_with_a_day(step):
    kept = call(DUE, "after", step, False, f"{TODAY}T12:00:00")
    assert (kept["step"], kept["due"]) == (0, "2026-11-24")


def test_what_is_kept_says_when_and_which_of_several_questions():
    memory = {"later": "", "misconceptions": {"M01": entry(1, "2026-11-25")}}
    notes = [wrong("5.1", "M01")]
    assert due(notes, memory, "2026-11-24") == []
    assert due(notes, memory, "2026-11-25")[0]["question"] == 1


def test_a_mistake_that_a_check_names_again_begins_anew():
    memory = {"later": "", "misconceptions": {"M01": entry(3, "2026-12-20")}}
    again = [wrong("5.1", "M01"), wrong("5.4", "M01", time="2026-11-22T23:00:00Z")]
    assert due(again, memory, "2026-11-24")[0] == {
        "misconception": "M01", "task": "5.4", "step": 0, "question": 0,
    }  # fmt: skip


def test_not_now_is_until_the_day_after():
    notes = [wrong("5.1", "M01")]
    assert due(notes, {"later": "2026-11-24", "misconceptions": {}}) == []
    assert len(due(notes, {"later": "2026-11-24", "misconceptions": {}}, "2026-11-24")) == 1


@pytest.mark.parametrize(
    ("day", "count", "later"), [("2026-12-31", 1, "2027-01-01"), ("2028-02-28", 2, "2028-03-01")]
)
def test_days_are_counted_over_the_end_of_a_month(day, count, later):
    assert call(DUE, "dayAfter", day, count) == later


def test_choices_change_places_from_time_to_time():
    assert call(DUE, "turned", ["a", "b", "c"], 4) == ["b", "c", "a"]


def test_what_is_remembered_is_saved_loaded_and_forgotten():
    body = """
        const [old, recent] = given;
        work.keepMemory({ M01: old, M02: recent }, "2026-11-24");
        const file = JSON.stringify(work.everything());
        work.forget();
        const empty = [work.memory(), held.size];
        work.keepMemory({ M01: recent, M02: old }, "2026-11-20");
        work.merge(file);
        return [...empty, work.memory()];
    """
    old, recent = entry(0, "2026-11-23"), entry(2, "2026-11-30", "2026-11-23T09:00:00Z")
    empty, size, merged = work(body, [old, recent])
    assert (empty, size) == (nothing(), 0)
    assert merged == {"later": "2026-11-24", "misconceptions": {"M01": recent, "M02": recent}}


@pytest.mark.parametrize(
    "spoiled", ["{", "3", '{"misconceptions": 3}', '{"misconceptions": {"M01": {"step": "x"}}}']
)
def test_a_damaged_memory_is_an_empty_one(spoiled):
    body = "localStorage.setItem('attention-course.remember', given); return work.memory();"
    assert work(body, spoiled) == nothing()


# The front page


def visit(browser: Browser, book: str, notes: list[dict], when: str, **how):
    """The front page at a moment, for somebody with these notes, and what it asked for."""
    context = browser.new_context(**how)
    page = context.new_page()
    page.clock.install(time=datetime.fromisoformat(when))
    fetched, problems = [], []
    page.on("request", lambda asked: fetched.append(asked.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.add_init_script(
        f"if (!localStorage.getItem('attention-course.notes'))"
        f" localStorage.setItem('attention-course.notes', {json.dumps(lines(notes))})"
    )
    page.goto(f"{book}/index.html", wait_until="networkidle")
    return page, fetched, problems


def reload_at(page, when: str) -> None:
    page.clock.set_system_time(datetime.fromisoformat(when))
    page.reload(wait_until="networkidle")


def choose(page, misconception: str, is_right: bool) -> str:
    """Give the right answer to the question that stands there, or that of a misconception."""
    section = page.locator(".live-again")
    question = reminders()[asked_for()[misconception][0]]
    wanted = next(
        c for c in question.choices if (c.right if is_right else c.misconception == misconception)
    )
    expect(section.get_by_role("group", name=question.ask[:20])).to_be_visible()
    section.get_by_role("radio", name=wanted.text, exact=True).focus()
    page.keyboard.press("Space")
    section.get_by_role("button", name="Answer").focus()
    page.keyboard.press("Enter")
    expect(section.get_by_role("status")).to_contain_text("Right" if is_right else "Not quite")
    return section.get_by_role("status").inner_text()


def kept(page) -> dict:
    return json.loads(page.evaluate("localStorage.getItem('attention-course.remember')"))


def test_the_next_day_the_front_page_asks_and_remembers_the_answers(browser, book):
    notes = [wrong("5.2", "M04"), wrong("8.1", "M61", time="2026-11-22T21:00:00")]
    page, fetched, problems = visit(browser, book, notes, "2026-11-22T22:00:00")
    section = page.locator(".live-again")
    expect(page.locator(".live-front")).to_be_visible()
    assert section.count() == 0, "on the same day nothing is asked"
    assert not any("remember" in url for url in fetched)
    reload_at(page, "2026-11-23T08:00:00")
    verdict = choose(page, "M61", is_right=False)
    assert "tomorrow" in verdict
    assert "labels shifted by two" in verdict
    link = section.get_by_role("link", name="chapter 8")
    assert link.get_attribute("href").startswith("chapters/08_masking.html#")
    task = section.get_by_role("link", name="8.1")
    expect(section.get_by_role("button", name="Next question")).to_be_focused()
    assert task.get_attribute("href").startswith("exercises/08_masking.html#")
    page.keyboard.press("Enter")
    expect(section.locator("legend")).to_be_focused()
    assert "26 November" in choose(page, "M04", is_right=True)
    expect(section).to_contain_text("1 of 2 right")
    misconceptions = kept(page)["misconceptions"]
    assert {number: (each["step"], each["due"]) for number, each in misconceptions.items()} == {
        "M61": (0, "2026-11-24"), "M04": (1, "2026-11-26"),
    }  # fmt: skip
    reload_at(page, "2026-11-23T21:00:00")
    expect(page.locator(".live-front")).to_be_visible()
    assert section.count() == 0
    reload_at(page, "2026-11-24T06:00:00")
    expect(section.locator("legend")).to_contain_text("label")
    section.get_by_role("button", name="Not now").click()
    expect(section).to_have_count(0)
    reload_at(page, "2026-11-24T20:00:00")
    expect(page.locator(".live-front")).to_be_visible()
    assert section.count() == 0
    reload_at(page, "2026-11-26T06:00:00")
    expect(section.locator("legend")).to_contain_text("1 of 2")
    assert problems == []
    assert all(url.startswith((book, "data:", "blob:")) for url in fetched)
    page.context.close()


@pytest.mark.parametrize(("width", "is_answered"), [(1280, False), (390, True)])
def test_a_question_is_accessible_and_never_wider_than_the_screen(
    browser, book, width, is_answered
):
    page, _, problems = visit(
        browser, book, [wrong("2.3", "M70")], "2026-11-23T08:00:00",
        viewport={"width": width, "height": 844}, reduced_motion="reduce",
    )  # fmt: skip
    page.locator(".live-again").get_by_role("button", name="Answer").click()
    expect(page.locator(".live-again").get_by_role("status")).to_contain_text("Choose")
    if is_answered:
        choose(page, "M70", is_right=False)
    assert wider_than_the_page(page) == []
    assert objections(page) == []
    assert problems == []
    page.context.close()


def test_every_question_of_the_catalogue_can_be_asked(book_folder: Path):
    (script,) = (book_folder / "_static" / "live").glob("remember-*.js")
    text = script.read_text("utf8")
    assert all(f'id:"{each.id}"' in text for each in reminders())
