"""Write a deck of slides for each meeting of the teacher's guide (reveal.js shows them)."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from book.teaching.page_parts import Slide, chapter_slides, plain_text, read_page

ROOT = Path(__file__).resolve().parents[2]
REVEAL = ROOT / "node_modules" / "reveal.js" / "dist"
PARTS = ("reveal.css", "reveal.mjs", "plugin/notes.mjs")
OURS = ("slides.css", "slides.js")
SHEETS = ("katex", "palette", "kit", "course")  # of the book's own style sheets
MEETING = re.compile(r"Meeting (\d+)\.")
DECK = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{sheets}
<link rel="stylesheet" href="reveal/reveal.css">
<link rel="stylesheet" href="slides.css">
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script type="module">
import {{ show }} from "./slides.js";
show();
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Meeting:
    """A meeting of the guide: its number, its chapters, its plan and its questions."""

    number: int
    pages: tuple[str, ...]
    plan: Tag
    questions: tuple[Tag, ...]


def meetings(book: Path) -> list[Meeting]:
    """Read the meetings of the six weeks from the guide's page."""
    guide = read_page(book / "appendix" / "guide.html")
    planned = []
    for plan in guide.select("#six-weeks p"):
        number = MEETING.match(plain_text(plan))
        if number:
            pages = [link["href"] for link in plan.select("a") if "chapters/" in link["href"]]
            stems = dict.fromkeys(Path(page.partition("#")[0]).name for page in pages)
            asked = plan.find_next_sibling()
            questions = asked.find_all("li") if asked and asked.name == "ul" else []
            planned.append(Meeting(int(number[1]), tuple(stems), plan, tuple(questions)))
    return planned


def meeting_slides(meeting: Meeting, book: Path) -> Iterator[Slide]:
    """Return the slides of a meeting: the plan, its chapters, then the guide's own questions."""
    meeting.plan.find("strong").decompose()  # its number, which is the heading
    yield Slide(f"Meeting {meeting.number}", [meeting.plan], kind="plan")
    for page in meeting.pages:
        yield from chapter_slides(book / "chapters" / page)
    for item in meeting.questions:
        ask, _, expect = plain_text(item).partition("Expect ")
        paragraph = BeautifulSoup(f"<p>{escape(ask.removeprefix('Ask: '))}</p>", "lxml").p
        notes = f"Expect {expect}" if expect else ""
        yield Slide("To discuss", [paragraph], notes=notes, kind="question")


def write_decks(book: Path) -> list[Path]:
    """Write the decks into the built book, beside its pages, and return their files.

    Raises: FileNotFoundError if the book or reveal.js is missing; the message says what to run.
    """
    for needed, command in ((book / "appendix" / "guide.html", "make book"), (REVEAL, "npm ci")):
        if not needed.exists():
            raise FileNotFoundError(f"{needed} is required and missing; run `{command}` first")
    folder = book / "slides"
    for part in PARTS:
        (folder / "reveal" / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REVEAL / part, folder / "reveal" / part)
    for name in OURS:
        shutil.copyfile(Path(__file__).with_name(name), folder / name)
    return [_write(meeting, book, folder) for meeting in meetings(book)]


def _write(meeting: Meeting, book: Path, folder: Path) -> Path:
    page = read_page(book / "chapters" / meeting.pages[0])
    sheets = [link for link in page.select("link[rel=stylesheet]") if _kept(link["href"])]
    slides = "\n".join(map(_section, meeting_slides(meeting, book)))
    path = folder / f"meeting-{meeting.number:02d}.html"
    text = DECK.format(
        title=f"Meeting {meeting.number}", sheets="\n".join(map(str, sheets)), slides=slides
    )
    path.write_text(text, "utf8")
    return path


def _kept(sheet: str) -> bool:
    return Path(sheet.partition("?")[0]).stem in SHEETS


def _section(slide: Slide) -> str:
    shown = "".join(map(str, slide.shown))
    answer = "".join(map(str, slide.answer))
    hidden = f'<div class="fragment answer">{answer}</div>' if answer else ""
    notes = f'<aside class="notes">{escape(slide.notes)}</aside>' if slide.notes else ""
    return (
        f'<section class="{slide.kind}"><h2>{escape(slide.heading)}</h2>'
        f'<div class="shown">{shown}</div>{hidden}{notes}</section>'
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", type=Path, help="the folder of the built book: _build/html")
    written = write_decks(parser.parse_args().book)
    print(f"{len(written)} decks in {written[0].parent}")
