"""Core pages are short, and state the reading time that the rule of book/sizes.py gives."""

from pathlib import Path

import pytest

from book.extensions import reading_time, teachers_guide
from book.sizes import HIDDEN, code_cells, page_size, stated

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = {chapter.stem: chapter for chapter in teachers_guide.read_chapters(ROOT)}
WITH_DEEPER = [stem for stem in CHAPTERS if (ROOT / f"chapters/{stem}_deeper.md").exists()]
SHORT = [stem for stem in WITH_DEEPER if int(stem[:2]) <= 12 or int(stem[:2]) >= 16]
LINES = 130
WORDS, MINUTES = 2500, 25
LETTERS = 88  # in the page's font, 1280 pixels wide
WORDS_OF_THE_FIRST_LAP, MINUTES_OF_THE_FIRST_LAP = 3000, 30  # chapter 1 is a small course


@pytest.mark.parametrize("stem", SHORT)
def test_a_core_page_is_short(stem):
    size = page_size(CHAPTERS[stem].text)
    words, minutes = WORDS, MINUTES
    if stem.startswith("01"):
        words, minutes = WORDS_OF_THE_FIRST_LAP, MINUTES_OF_THE_FIRST_LAP
    numbers = f"{stem}: {size.words} words, {size.code_lines} lines, {size.minutes} minutes"
    assert size.words <= words, numbers
    assert size.code_lines <= LINES, numbers
    assert size.minutes <= minutes, numbers


@pytest.mark.parametrize("stem", WITH_DEEPER)
def test_a_core_page_states_its_minutes_and_those_of_its_tasks(stem):
    chapter = CHAPTERS[stem]
    needed = (chapter.reading, chapter.working)
    assert stated(chapter.text) == needed, (
        f"{stem}: write “Reading takes about {needed[0]} minutes, the exercises {needed[1]}.” "
        f"({page_size(chapter.text)})"
    )


def test_the_hours_of_the_front_page_are_sums():
    chapters = list(CHAPTERS.values())
    hours = reading_time.hours(chapters)
    assert hours["core"] == round(sum(chapter.reading for chapter in chapters) / 60)
    assert 0 < hours["afternoon"] < hours["core"]
    front = (ROOT / "index.md").read_text("utf8")
    for kind in hours:
        assert f"{{hours}}`{kind}`" in front
    for chapter in chapters:
        assert f"{{minutes}}`{chapter.number}`" in front, f"{chapter.stem}: no minutes on index.md"


def test_the_rule_for_sizes():
    page = """---
head: not counted
---
# Two words

Three words here, [a link](somewhere.ipynb) and $x$.

$$
y = x
$$ (eq-one)

<details class="choice"><summary>A choice</summary>

Not counted.

</details>

```{code-cell} ipython3
:tags: [hide-input]

hidden = 1
```

```{code-cell} ipython3
from lib.functional import gelu

show(gelu)
```
"""
    size = page_size(page)
    assert size.words == 2 + 7 + 2
    assert size.code_lines > 2 + 5
    assert (size.minutes, page_size("word " * 901).minutes) == (5, 10)


@pytest.mark.parametrize("stem", CHAPTERS)
def test_no_visible_line_of_code_is_cut_off_at_the_right_edge(stem):
    visible = [code for tags, code in code_cells(CHAPTERS[stem].text) if not tags & HIDDEN]
    assert not [line for code in visible for line in code.splitlines() if len(line) > LETTERS]


def test_no_line_of_the_gpt_that_the_pages_quote_is_cut_off_at_the_right_edge():
    source = (ROOT / "chapters/gpt.py").read_text("utf8")
    quoted = source[source.index("class Config") : source.index("def main")]
    assert not [line for line in quoted.splitlines() if len(line) > LETTERS]
