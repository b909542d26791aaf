"""The decks of slides: what they hold, and how they look and answer in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from book.build.local_browser import served
from book.teaching.page_parts import chapter_slides, plain_text, read_page
from book.teaching.slides import meetings, write_decks

MEETINGS = 12


@pytest.fixture(scope="module")
def decked(book_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with its decks, whose pages are those of the built book."""
    book = tmp_path_factory.mktemp("book")
    for entry in book_folder.resolve().iterdir():
        if entry.name != "slides":
            (book / entry.name).symlink_to(entry)
    write_decks(book)
    return book


@pytest.fixture(scope="module")
def decks(decked: Path) -> dict[int, BeautifulSoup]:
    """The decks, parsed, by the number of their meeting."""
    files = sorted((decked / "slides").glob("*.html"))
    return {int(file.stem[-2:]): BeautifulSoup(file.read_text("utf8"), "lxml") for file in files}


@pytest.fixture(scope="module")
def host(decked: Path) -> Iterator[str]:
    """Where the decks are served."""
    with served(decked) as address:
        yield address


def test_every_meeting_of_the_guide_has_a_deck_that_begins_with_its_plan(decks):
    assert list(decks) == list(range(1, MEETINGS + 1))
    for number, deck in decks.items():
        plan = deck.select_one(".slides > section.plan")
        assert plan.h2.get_text() == f"Meeting {number}"
        assert "In class" in plan.get_text()


def test_every_prediction_of_a_chapter_is_asked_before_it_is_answered(decked, decks):
    for meeting in meetings(decked):
        asked = decks[meeting.number].select("section.prediction")
        wanted = [
            details
            for page in meeting.pages
            for details in read_page(decked / "chapters" / page).select("details.prediction")
            if plain_text(details.find_parent("section").find(["h1", "h2", "h3"])) != "Exercises"
        ]
        assert len(asked) == len(wanted)
        assert all(slide.select_one(".fragment.answer").get_text(strip=True) for slide in asked)
        assert all("fragment" not in str(slide.select_one(".shown")) for slide in asked)


def test_a_quiz_shows_every_choice_and_answers_with_the_right_one(decks):
    quizzes = [slide for deck in decks.values() for slide in deck.select("section.quiz")]
    assert len(quizzes) >= 3 * 17  # chapters 1 to 17
    for slide in quizzes:
        choices = [choice.get_text() for choice in slide.select(".shown li")]
        assert len(choices) >= 2
        assert slide.select_one(".answer li").get_text() in choices
        assert slide.select_one(".answer p").get_text().startswith("Right")


def test_what_the_guide_expects_is_for_the_speaker_alone(decks):
    questions = [slide for deck in decks.values() for slide in deck.select("section.question")]
    assert sum("Expect" in slide.select_one("aside.notes").get_text() for slide in questions
               if slide.select_one("aside.notes")) > 20  # fmt: skip
    assert not any("Expect" in slide.select_one(".shown").get_text() for slide in questions)


def test_every_link_of_a_deck_leads_to_a_file_and_nothing_comes_from_elsewhere(decked, decks):
    for deck in decks.values():
        for tag in deck.select("a[href], link[href], img[src]"):
            link = tag.get("href") or tag["src"]
            if ":" not in link:
                target = re.split(r"[#?]", link)[0]
                assert (decked / "slides" / target).exists(), link
        assert not deck.select('link[href^="http"], img[src^="http"], script[src]')


@pytest.mark.parametrize("number", [4, 12])
def test_every_slide_fits_its_frame_and_a_press_answers(browser, host, number):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(f"{host}/slides/meeting-{number:02d}.html")
    page.wait_for_function("() => window.deck?.isReady()")
    too_full = page.evaluate("""async () => {
        const full = [];
        for (let i = 0; i < deck.getTotalSlides(); i++) {
            deck.slide(i);
            await new Promise(requestAnimationFrame);
            const slide = deck.getCurrentSlide();
            if (slide.scrollHeight > slide.clientHeight || slide.scrollWidth > slide.clientWidth)
                full.push(slide.innerText.slice(0, 60));
        }
        return full;
    }""")
    assert not too_full
    first = page.evaluate('deck.getSlides().findIndex((each) => each.matches(".prediction"))')
    page.goto(f"{host}/slides/meeting-{number:02d}.html?again#/{first}")
    answer = page.locator("section.present .answer")
    assert answer.evaluate("e => getComputedStyle(e).visibility") == "hidden"
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('section.present .answer'))"
        ".visibility == 'visible'"
    )
    assert not failed
    page.close()


def test_a_chapter_becomes_slides_in_the_order_of_its_page(decked):
    slides = list(chapter_slides(decked / "chapters" / "05_scaling.html"))
    kinds = [slide.kind for slide in slides]
    assert kinds[:2] == ["opening", "picture"]
    assert kinds.index("prediction") < kinds.index("quiz")
    assert slides[-1].heading == "Summary"
    assert not any(slide.heading in ("Exercises", "References") for slide in slides)


def test_without_a_built_book_the_message_says_what_to_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="run `make book` first"):
        write_decks(tmp_path)
