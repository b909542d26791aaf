"""The concept inventory: sound questions, a page that needs no script, and marks that hold."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, expect

from book.catalogue import claims
from book.catalogue import questions as module
from book.catalogue.questions import QuizQuestion, questions, skills
from book.concept_inventory import Questions, diagnostic, inventory
from checks.feedback.misconceptions import CatalogueError, misconceptions
from figures import palette
from tests.figures.widgets.node import call
from tests.support.pages import anchors

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "../../book/assets/inventory.js"
IDS = [question.id for question in questions()]
each_question = pytest.mark.parametrize("question", questions(), ids=IDS)


# The questions


def test_there_are_thirty_and_every_chapter_has_one():
    assert [f"Q{n:02d}" for n in range(1, 31)] == IDS
    written = {path.stem[:2] for path in (ROOT / "chapters").glob("[0-9]*.md")} - {"17", "18"}
    assert {question.chapter for question in questions()} == written


def test_every_skill_has_at_least_three_questions_that_follow_each_other():
    order = [question.skill for question in questions()]
    assert set(order) == set(skills())
    assert min(Counter(order).values()) >= 3
    assert list(dict.fromkeys(order)) == list(skills())
    assert order == sorted(order, key=list(skills()).index)


def test_right_answers_stand_in_every_place_alike():
    places = Counter(question.right for question in questions())
    assert set(places) == {0, 1, 2, 3}
    assert max(places.values()) - min(places.values()) <= 1
    in_a_row = zip(questions(), questions()[1:], questions()[2:], strict=False)
    assert not any(a.right == b.right == c.right for a, b, c in in_a_row)


def test_a_right_answer_is_the_longest_no_more_often_than_chance():
    ranks = Counter()
    for question in questions():
        lengths = [len(choice.text) for choice in question.choices]
        ranks["longest"] += sorted(lengths)[-1] == lengths[question.right] > sorted(lengths)[-2]
        ranks["shortest"] += sorted(lengths)[0] == lengths[question.right] < sorted(lengths)[1]
    assert 3 <= ranks["longest"] <= 9
    assert 3 <= ranks["shortest"] <= 9


@each_question
def test_choices_are_of_similar_length_and_differ(question: QuizQuestion):
    lengths = [len(choice.text) for choice in question.choices]
    assert max(lengths) <= 1.25 * min(lengths), lengths
    assert len({choice.text for choice in question.choices}) == 4
    assert max(lengths) <= 62


@each_question
def test_every_wrong_choice_names_an_idea_and_every_choice_says_why(question: QuizQuestion):
    for choice in question.choices:
        assert choice.why.endswith((".", ")"))
        assert 25 < len(choice.why) < 190
        if re.match(r"M\d", choice.misconception):
            assert choice.name == misconceptions()[choice.misconception].name
        elif not choice.right:
            assert len(choice.misconception) > 10
            assert not choice.misconception.endswith(".")


@each_question
def test_a_question_leads_to_a_paragraph_that_exists(question: QuizQuestion):
    page, _, anchor = question.read.partition("#")
    assert anchor in anchors((ROOT / page.replace(".html", ".md")).read_text("utf8"))
    if anchor.startswith("claim-"):
        assert claims()[anchor.removeprefix("claim-")].chapter == question.chapter


def test_the_diagnostic_asks_one_question_for_each_of_chapters_2_to_11():
    chapters = [question.chapter for question in diagnostic().asked]
    assert chapters == [f"{n:02d}" for n in range(2, 12)]


SOUND = {
    "skill": "a", "ask": "?", "read": "chapters/05_scaling.html#the-divisor",
    "choices": [{"text": "x", "why": "y.", "right": True}]
    + [{"text": "x", "why": "y.", "misconception": "z"}] * 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"skill": "b"}, "none of the skills"),
        ({"read": "somewhere"}, "must look like"),
        ({"colour": "red"}, "may have"),
        ({"choices": SOUND["choices"][1:] + SOUND["choices"][1:2]}, "one of them"),
        ({"choices": SOUND["choices"][:3]}, "four choices"),
        ({"choices": [{"text": "x", "why": "y."}] * 4}, "a choice has"),
    ],
)
def test_a_malformed_question_is_refused_with_its_reason(changed, words, monkeypatch):
    held = {"skills": {"a": "A"}, "questions": {"Q01": {**SOUND, **changed}}}
    monkeypatch.setattr(module, "load_catalogue", lambda package, name: held)
    monkeypatch.setattr(module, "skills", lambda: held["skills"])
    with pytest.raises(CatalogueError, match=words):
        questions.__wrapped__()


# The page as it is written


@pytest.mark.parametrize("made", [inventory(), diagnostic()], ids=["inventory", "diagnostic"])
def test_without_a_script_every_question_is_a_labelled_group_with_its_answer_folded(made):
    page = BeautifulSoup(made._repr_html_(), "html.parser")
    groups = page.select("fieldset.course-question")
    assert len(groups) == len(made.asked)
    for group, question in zip(groups, made.asked, strict=True):
        assert question.ask in group.legend.get_text()
        inputs = group.select("label > input[type=radio]")
        assert [field["name"] for field in inputs] == [question.id] * 4
        assert int(group["data-right"]) == question.right
        key = group.select_one("details.course-key:not([open])")
        explanations = key.select("li")
        assert [item.get_text().count("Right.") for item in explanations] == [
            c.right for c in question.choices
        ]
        assert key.select_one("a.course-read")["href"].endswith(question.read.partition("#")[2])
    assert not page.select("form"), "Enter in a form without a button would load the page anew"


def test_the_text_form_asks_the_same():
    assert repr(inventory()).count("\n") == 29
    assert questions()[0].ask in repr(inventory())


# The arithmetic of the script


def asked(made: Questions | None = None) -> list[dict]:
    return [
        {
            "id": question.id,
            "skill": question.skill,
            "chapter": question.chapter,
            "right": question.right,
        }
        for question in (made or inventory()).asked
    ]


def given(missed: set[str] = frozenset(), made: Questions | None = None) -> dict[str, int]:
    """The right answers, but for some."""
    return {q["id"]: (q["right"] + (q["id"] in missed)) % 4 for q in asked(made)}


def test_a_score_counts_right_answers_in_all_and_by_skill():
    result = call(SCRIPT, "score", asked(), given({"Q01", "Q02", "Q30"}))
    assert (result["right"], result["total"]) == (27, 30)
    by_skill = {skill["skill"]: (skill["right"], skill["total"]) for skill in result["bySkill"]}
    assert list(by_skill) == list(skills())
    assert by_skill["before"] == (2, 4)
    assert by_skill["evidence"] == (2, 3)
    assert call(SCRIPT, "score", asked(), {})["right"] == 0


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [(10, 20, 0.5), (0, 30, 1), (12, 12, 0), (20, 15, -0.5), (30, 30, None)],
)
def test_the_gain_is_the_share_of_what_was_left(before, after, share):
    assert call(SCRIPT, "gain", before, after, 30) == share


def test_open_questions_are_counted_from_one():
    answers = {name: choice for name, choice in given().items() if name not in ("Q03", "Q30")}
    assert call(SCRIPT, "open", asked(), answers) == [3, 30]


@pytest.mark.parametrize(
    ("missed", "start", "skip", "known"),
    [
        ((), None, range(2, 12), ()),
        ((2,), "02", (), range(3, 12)),
        ((4,), "04", (2, 3), range(5, 12)),
        ((4, 7, 11), "04", (2, 3), (5, 6, 8, 9, 10)),
        (range(2, 12), "02", (), ()),
    ],
)
def test_the_first_gap_is_where_to_start(missed, start, skip, known):
    ten = asked(diagnostic())
    wrong = {q["id"] for q in ten if int(q["chapter"]) in missed}
    result = call(SCRIPT, "route", ten, given(wrong, diagnostic()))
    assert result["start"] == start
    assert list(map(int, result["skip"])) == list(skip)
    assert list(map(int, result["known"])) == list(known)


def test_a_question_left_open_counts_as_missed():
    assert call(SCRIPT, "route", asked(diagnostic()), {})["start"] == "02"


@pytest.mark.parametrize(
    "text", [None, "", "{", "3", '{"version": 2}', '{"version": 1, "draft": 3}']
)
def test_what_is_no_record_is_an_empty_one(text):
    empty = {"version": 1, "draft": {}, "before": None, "after": None}
    assert call(SCRIPT, "restore", text) == empty


def attempt(right: int, form: str = "a") -> dict:
    by_skill = [{"skill": "masks", "right": right, "total": 30}]
    return {"right": right, "total": 30, "form": form, "bySkill": by_skill}


def test_a_record_is_read_again_as_it_was_kept():
    record = {"version": 1, "draft": {"Q01": 2}, "before": attempt(12), "after": None}
    assert call(SCRIPT, "restore", json.dumps(record)) == record
    spoiled = json.dumps({**record, "before": {"right": "many"}})
    assert call(SCRIPT, "restore", spoiled)["before"] is None


def test_before_and_after_stand_side_by_side():
    both = {"before": attempt(12), "after": attempt(21)}
    assert call(SCRIPT, "compared", both) == [
        ["masks", "12 of 30", "21 of 30"], ["in all", "12 of 30", "21 of 30"],
    ]  # fmt: skip
    only = {"before": attempt(12), "after": None}
    assert call(SCRIPT, "compared", only)[-1] == ["in all", "12 of 30", "–"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (attempt(12), attempt(21), "you gained 50 %"),
        (attempt(30), attempt(30), "nothing was left to gain"),
        (attempt(20), attempt(15), "5 fewer"),
        (attempt(12, "a"), attempt(21, "b"), "not quite comparable"),
        (attempt(12), None, ""),
    ],
)
def test_the_two_attempts_are_compared_in_a_sentence(before, after, words):
    sentence = call(SCRIPT, "conclusion", {"before": before, "after": after})
    assert words in sentence
    assert bool(words) == bool(sentence)


# The script in a browser

HOST = "http://course.test"
PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">
<title>Questions</title><link rel="stylesheet" href="/palette.css">
<main class="bd-article">{body}</main><script type="module" src="/inventory.js"></script></html>"""


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[[Questions], Page]]:
    """Open questions on a page of their own; afterwards, assert that nothing went wrong."""
    context = browser.new_context(accept_downloads=True)
    files = {
        "/palette.css": palette.css(),
        "/inventory.js": (ROOT / "book/assets/inventory.js").read_text(),
    }
    files |= {
        f"/widgets/{path.name}": path.read_text()
        for path in (ROOT / "figures/widgets").glob("*.js")
    }
    kinds = {".css": "text/css", ".js": "text/javascript", "": "text/html"}
    problems = []

    def answer(route):
        path = route.request.url.removeprefix(HOST)
        body = files.get(path)
        kind = kinds[Path(path).suffix]
        route.fulfill(status=200 if body else 404, body=body or "", content_type=kind)

    context.route("**/*", answer)

    def open_page(made: Questions) -> Page:
        files["/"] = PAGE.format(body=made._repr_html_() + '<link rel="icon" href="data:,">')
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console", lambda message: message.type == "error" and problems.append(message.text)
        )
        page.goto(f"{HOST}/")
        expect(page.locator(".course-questions")).to_have_attribute("data-mounted", "true")
        return page

    yield open_page
    context.close()
    assert problems == []


def choose(page: Page, answers: dict[str, int]) -> None:
    for name, choice in answers.items():
        page.locator(f"input[name={name}][value='{choice}']").check()


def test_answers_stay_folded_away_until_they_are_asked_for(visit):
    page = visit(diagnostic())
    expect(page.locator(".course-key:visible")).to_have_count(0)
    page.get_by_role("button", name="Where do I begin?").click()
    expect(page.locator(".course-key:visible")).to_have_count(0)
    page.get_by_role("button", name="Show the answers").click()
    expect(page.locator(".course-key:visible")).to_have_count(10)


def test_the_diagnostic_names_the_chapter_and_what_may_be_skipped(visit):
    page = visit(diagnostic())
    wrong = {q["id"] for q in asked(diagnostic()) if q["chapter"] in ("05", "09")}
    choose(page, given(wrong, diagnostic()))
    page.get_by_role("button", name="Where do I begin?").click()
    results = page.locator(".course-results")
    expect(results).to_be_focused()
    expect(results).to_contain_text("8 of 10 right. Start at chapter 5, Scaling.")
    expect(results).to_contain_text("You may skip chapters 2, 3 and 4.")
    expect(results).to_contain_text("Chapters 6, 7, 8, 10 and 11 should be quick")
    assert results.locator("a").first.get_attribute("href") == "05_scaling.html"
    assert page.evaluate("localStorage.length") == 0


@pytest.mark.parametrize(
    ("wrong", "words"), [(False, "begin with chapter 12"), (True, "Start at chapter 1, ")]
)
def test_who_knows_all_or_nothing_is_sent_far_or_to_the_beginning(visit, wrong, words):
    page = visit(diagnostic())
    choose(page, given({q["id"] for q in asked()} if wrong else set(), diagnostic()))
    page.get_by_role("button", name="Where do I begin?").click()
    expect(page.locator(".course-results")).to_contain_text(words)


def test_the_whole_inventory_is_taken_by_keyboard_before_and_after(visit):
    page = visit(inventory())
    keys = page.keyboard
    page.get_by_label("before the course").focus()

    def take(answers: dict[str, int]) -> None:
        for name, choice in answers.items():
            keys.press("Tab")
            assert page.evaluate("document.activeElement.name") == name
            keys.press("Space")
            for _ in range(choice):
                keys.press("ArrowDown")
            assert page.evaluate("document.activeElement.value") == str(choice)
        keys.press("Tab")
        keys.press("Enter")
        expect(page.locator(".course-results")).to_be_focused()

    take(given({"Q01", "Q08", "Q09", "Q10"}))
    results = page.locator(".course-results")
    expect(results.get_by_role("row", name="in all")).to_have_text("in all26 of 30–")
    expect(results.get_by_role("row", name="reading a grid")).to_have_text("reading a grid0 of 3–")
    expect(results).to_contain_text("chapter 0, Start here; chapter 1")
    expect(page.locator(".course-key:visible")).to_have_count(0)

    page.reload()
    expect(page.get_by_label("after the course")).to_be_checked()
    expect(page.locator(".course-question input:checked")).to_have_count(0)
    page.get_by_label("after the course").focus()
    take(given({"Q08"}))
    expect(results.get_by_role("row", name="in all")).to_have_text("in all26 of 3029 of 30")
    expect(results).to_contain_text("you gained 75 %")
    expect(page.locator(".course-key:visible")).to_have_count(30)
    eighth = page.locator("#Q08")
    expect(eighth.locator("summary")).to_have_text("Not so")
    expect(eighth.locator("li.chosen")).to_contain_text("Your answer: ")
    expect(page.locator("#Q01 summary")).to_have_text("Right")


def test_what_is_open_is_said_and_gone_to(visit):
    page = visit(inventory())
    choose(page, {name: choice for name, choice in given().items() if name not in ("Q04", "Q11")})
    expect(page.locator(".course-status")).to_have_text("28 of 30 answered.")
    page.get_by_role("button", name="Mark my answers").click()
    expect(page.locator(".course-status")).to_have_text("Still open: 4 and 11.")
    assert page.evaluate("document.activeElement.name") == "Q04"
    expect(page.locator(".course-results")).to_be_hidden()


def test_half_an_attempt_is_there_after_a_reload_and_can_be_cleared(visit):
    page = visit(inventory())
    choose(page, {"Q01": 2, "Q02": 0})
    page.reload()
    expect(page.locator("input:checked[name^=Q]")).to_have_count(2)
    expect(page.locator(".course-status")).to_have_text("2 of 30 answered.")
    page.get_by_role("button", name="Clear the choices").click()
    page.reload()
    expect(page.locator("input:checked[name^=Q]")).to_have_count(0)


def test_a_record_is_saved_as_a_file_and_forgotten_with_one_button(visit):
    page = visit(inventory())
    choose(page, given({"Q05"}))
    page.get_by_role("button", name="Mark my answers").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as a file").click()
    saved = json.loads(Path(waiting.value.path()).read_text("utf8"))
    assert waiting.value.suggested_filename == "attention-inventory.json"
    assert saved["before"]["right"] == 29
    assert saved["before"]["answers"] == given({"Q05"})
    assert saved["before"]["form"] == module.form()
    page.get_by_role("button", name="Forget it all").click()
    expect(page.locator(".course-status")).to_have_text(
        "Forgotten: nothing is kept in this browser."
    )
    assert page.evaluate("localStorage.length") == 0
    page.reload()
    expect(page.locator(".course-results")).to_be_hidden()
    expect(page.get_by_label("before the course")).to_be_checked()


def test_where_storage_is_forbidden_it_still_marks(visit):
    page = visit(inventory())
    page.evaluate("void (Storage.prototype.setItem = () => { throw new Error('full') })")
    choose(page, given())
    page.get_by_role("button", name="Mark my answers").click()
    expect(page.locator(".course-results")).to_contain_text("30 of 30")


def test_the_data_is_written_once():
    held = yaml.safe_load((ROOT / "book/catalogue/questions.yml").read_text("utf8"))
    first = held["questions"]["Q01"]["ask"]
    written = [path for path in ROOT.glob("*.md") if first in path.read_text("utf8")]
    assert written == []
