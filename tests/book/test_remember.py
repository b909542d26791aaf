"""What the front page asks again: the catalogue of questions, and their numbers computed anew."""

import functools
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from book.catalogue import quizzes as quiz_module
from book.catalogue import remember as module
from book.catalogue.remember import asked_for, for_the_page, lost_choices, reminders
from checks.feedback.misconceptions import CatalogueError, misconceptions
from tests.support.pages import anchors
from tests.support.reminder_models import block_namespace, model_numbers
from tests.support.reminder_numbers import numbers, online

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "book" / "catalogue" / "kill_matrix.json"
COMMON = 4  # tasks that can name a misconception: these many, and it is one of the commonest
PRINTED = re.compile(r"−?\d[\d,]*(?:\.\d+)?|nan")
each_question = pytest.mark.parametrize("reminder", reminders(), ids=lambda each: each.id)


def tasks_that_name() -> dict[str, set[str]]:
    """The tasks whose checks recognise each misconception, by the kill matrix."""
    named: dict[str, set[str]] = {}
    for rows in json.loads(RECORD.read_text("utf8")).values():
        for row in rows:
            for number in re.findall(r"M\d+", " ".join(map(str, row["misconceptions"]))):
                named.setdefault(number, set()).add(row["task"])
    return named


def test_every_misconception_that_four_tasks_name_has_a_question():
    common = {number for number, tasks in tasks_that_name().items() if len(tasks) >= COMMON}
    assert len(common) >= 60
    assert common <= set(asked_for()), common - set(asked_for())


def test_only_misconceptions_that_a_check_can_name_are_asked_for():
    assert set(asked_for()) <= set(tasks_that_name())


def test_every_quiz_still_has_the_choices_that_the_catalogue_names():
    assert lost_choices() == [], "rewrite or remove them in book/catalogue/remember.yml"


@each_question
def test_a_question_has_one_right_choice_and_a_reason_for_each(reminder):
    assert sum(choice.right for choice in reminder.choices) == 1
    assert 2 <= len(reminder.choices) <= 4
    assert len({choice.text for choice in reminder.choices}) == len(reminder.choices)
    assert reminder.misconceptions
    assert len(reminder.ask) < 230
    for choice in reminder.choices:
        assert 10 < len(choice.why) < 200
        assert choice.why.endswith((".", ")"))


def test_right_answers_stand_in_every_place():
    places = Counter([choice.right for choice in each.choices].index(True) for each in reminders())
    assert min(places[n] for n in range(3)) >= len(reminders()) // 5


@pytest.fixture(scope="module")
def on_the_page() -> dict:
    return for_the_page()


@pytest.mark.parametrize("number", asked_for())
def test_a_question_leads_to_the_section_of_its_misconception(on_the_page, number):
    page, _, anchor = misconceptions()[number].read.partition("#")
    assert anchor in anchors((ROOT / page.replace(".html", ".md")).read_text("utf8"))
    words = on_the_page["misconceptions"][number]["section"]
    assert re.fullmatch(r"chapter \d+: \S.*", words)


def flat(values) -> np.ndarray:
    if isinstance(values, torch.Tensor):
        values = values.detach()
    return np.asarray(values, dtype=float).ravel()


def agrees(printed: str, value: float) -> bool:
    """Whether a number rounds to what is printed."""
    if printed == "nan":
        return bool(np.isnan(value))
    decimals = len(printed.partition(".")[2])
    number = float(printed.replace("−", "-").replace(",", ""))
    return abs(number - value) <= 0.5 * 10**-decimals * (decimals > 0 or number > 1000) + 1e-6


@functools.cache
def computed() -> dict[str, list]:
    return numbers() | model_numbers()


WITH_A_NUMBER = [
    each for each in reminders()
    if any(c.right and PRINTED.search(c.text) and "`" not in c.text for c in each.choices)
]  # fmt: skip


def test_the_numbers_of_all_questions_that_have_some_are_computed():
    assert {each.id for each in WITH_A_NUMBER} == set(computed())


@pytest.mark.parametrize("reminder", WITH_A_NUMBER, ids=lambda each: each.id)
def test_every_number_of_a_choice_is_what_lib_or_the_misconception_gives(reminder):
    for choice, values in zip(reminder.choices, computed()[reminder.id], strict=True):
        printed = PRINTED.findall(choice.text)
        if values is None:
            assert not choice.right
            continue
        assert len(printed) == flat(values).size, (choice.text, values)
        for text, value in zip(printed, flat(values), strict=True):
            assert agrees(text, value), (choice.text, flat(values))


def test_a_kept_total_is_halved_under_twice_the_maximum():
    assert flat(online()) == pytest.approx(0.5)


@pytest.mark.parametrize(("key", "wanted"), [("R74", 1), ("R75", 2), ("R76", 2), ("R95", 2)])
def test_the_right_formula_alone_is_the_block(key, wanted):
    names, *results = block_namespace()
    reminder = next(each for each in reminders() if each.id == key)
    for choice in reminder.choices:
        value = eval(choice.text.strip("`"), dict(names))
        assert torch.allclose(value, results[wanted - 1]) == choice.right, choice.text


QUIZ = """# 5. Chapter

## Check yourself

**1. How many?**

<details class="choice"><summary>one</summary>

Right: one.

</details>
<details class="choice"><summary>two</summary>

Not quite: {why}.

</details>
"""
RIGHT = {"text": "a", "why": "b.", "right": True}
WRONG = {"text": "c", "why": "d.", "misconception": "M01"}
WRITTEN = {"ask": "?", "choices": [RIGHT, WRONG]}


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    """Read a catalogue of these questions and this quiz."""

    def read(questions, quizzes=None, why="it is one"):
        (tmp_path / "05_x.md").write_text(QUIZ.format(why=why), "utf8")
        monkeypatch.setattr(quiz_module, "CHAPTERS", tmp_path)
        held = {"quizzes": quizzes or {}, "questions": questions}
        monkeypatch.setattr(module, "load_catalogue", lambda package, name: held)
        monkeypatch.setattr(module, "reminders", reminders.__wrapped__)
        return module.reminders()

    return read


def test_a_question_of_a_quiz_is_asked_in_its_own_words(catalogue):
    (reminder,) = catalogue({}, {"05_x": {"two": "M01"}})
    assert (reminder.id, reminder.ask) == ("05_x 1", "How many?")
    assert [choice.why for choice in reminder.choices] == ["One.", "It is one."]
    assert [choice.right for choice in reminder.choices] == [True, False]
    assert reminder.misconceptions == {"M01"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"choices": [WRONG, WRONG]}, "one of them right"),
        ({"choices": [RIGHT]}, "two to four"),
        ({"choices": [RIGHT | {"misconception": "M01"}, WRONG]}, "reveals no"),
        ({"choices": [RIGHT, WRONG | {"misconception": "M9999"}]}, "no misconception"),
        ({"choices": [RIGHT, WRONG | {"misconception": "M36"}]}, "no section"),
        ({"ask": "$x$?"}, "a formula"),
        ({"colour": "red"}, "with ask and choices"),
        ({"choices": [{"text": "a"}]}, "text and why"),
    ],
)
def test_a_malformed_question_is_refused_with_its_reason(catalogue, changed, words):
    with pytest.raises(CatalogueError, match=words):
        catalogue({"R01": WRITTEN | changed})


def test_a_choice_that_its_quiz_has_no_more_is_lost_and_harms_nothing_else(catalogue):
    assert len(catalogue({}, {"05_x": {"two": "M01", "three": "M02"}})) == 1
    assert lost_choices() == ["05_x: three"]
    assert catalogue({}, {"05_x": {"three": "M01"}}) == ()


def test_a_quiz_with_a_link_is_refused(catalogue):
    with pytest.raises(CatalogueError, match="a formula, a link"):
        catalogue({}, {"05_x": {"two": "M01"}}, why="see [6](06.md)")
