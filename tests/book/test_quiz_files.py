"""The quizzes for learning platforms: read back as Moodle and Canvas read them."""

import io
import re
import zipfile
from xml.etree import ElementTree

import pytest

from book.catalogue.questions import questions
from book.catalogue.quizzes import CHAPTERS
from book.teaching.quiz_files import as_gift, as_qti, course_quizzes

QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
QUIZZES = {quiz.name: quiz for quiz in course_quizzes()}
each_quiz = pytest.mark.parametrize("quiz", QUIZZES.values(), ids=list(QUIZZES))


def gift_questions(text: str) -> list[list[tuple[str, str, str]]]:
    """Read GIFT in Moodle's order: put escaped signs aside, cut at the bare ones, put them back."""
    for code, sign in enumerate("\\~=#{}:"):
        text = text.replace("\\" + sign, chr(0xE000 + code))

    def plain(part: str) -> str:
        for code, sign in enumerate("\\~=#{}:"):
            part = part.replace(chr(0xE000 + code), sign)
        return part.strip()

    return [
        [tuple(map(plain, choice)) for choice in re.findall(r"([=~])([^#~=]+)#([^~=}]+)", body)]
        for body in re.findall(r"\{([^{}]*)\}", text)
    ]


def qti_items(packed: bytes) -> list[ElementTree.Element]:
    """Unpack the items of the one assessment in an archive."""
    archive = zipfile.ZipFile(io.BytesIO(packed))
    (name,) = [name for name in archive.namelist() if re.search(r"(\w+)/\1\.xml$", name)]
    return list(ElementTree.fromstring(archive.read(name)).iter(f"{QTI}item"))


def full_marks(item: ElementTree.Element) -> list[str]:
    """The answers for which an item gives 100 points."""
    return [
        condition.find(f".//{QTI}varequal").text
        for condition in item.iter(f"{QTI}respcondition")
        if [value.text for value in condition.iter(f"{QTI}setvar")] == ["100"]
    ]


def test_every_core_page_and_the_inventory_have_a_quiz():
    pages = {page.stem for page in CHAPTERS.glob("*.md") if not page.stem.endswith("_deeper")}
    assert set(QUIZZES) == pages | {"inventory"}
    assert all(len(quiz.questions) >= 3 for quiz in QUIZZES.values())
    assert len(QUIZZES["inventory"].questions) == len(questions())


@each_quiz
def test_moodle_reads_each_choice_with_its_reason_and_one_right_one(quiz):
    read = gift_questions(as_gift(quiz))
    assert len(read) == len(quiz.questions)
    for choices, (_, wanted) in zip(read, quiz.questions, strict=True):
        assert [sign == "=" for sign, *_ in choices] == [choice.right for choice in wanted]
        assert all(text and why for _, text, why in choices)


@each_quiz
def test_canvas_gives_full_marks_for_the_right_choice_alone(quiz):
    items = qti_items(as_qti(quiz))
    assert len(items) == len(quiz.questions)
    for item, (_, choices) in zip(items, quiz.questions, strict=True):
        offered = [label.get("ident") for label in item.iter(f"{QTI}response_label")]
        right = [choice.right for choice in choices]
        assert [ident in full_marks(item) for ident in offered] == right
        assert len(list(item.iter(f"{QTI}itemfeedback"))) == len(choices)


def test_formulas_and_signs_of_the_format_arrive_as_they_were():
    asked = as_gift(QUIZZES["05_scaling"])
    first = gift_questions(asked)[0]
    assert first[0] == ("=", "8", r"\(d_k = 512/8 = 64\), and \(\sqrt{64} = 8\).")
    assert ".ipynb" not in "".join(map(as_gift, QUIZZES.values()))
