"""The reference of lib and the teacher's guide say what the code says, and nothing is missing."""

import ast
import importlib
import inspect
import re
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
from lxml.html import HtmlElement

from book.extensions import api_reference, teachers_guide
from tests.support.built import tree
from tests.test_rules import imported

ROOT = Path(__file__).resolve().parents[2]
STRAIGHT = str.maketrans("“”‘’", "\"\"''")

ROOMS = api_reference.modules(ROOT)
DEFINITIONS = [(room, definition) for room in ROOMS for definition in room.definitions()]
PAGES = ("small", "tokens", "attention", "models", "training", "interpretability")
TAUGHT = re.compile(r"^Taught in: (.+?)(?=^\w+:|\Z)", re.MULTILINE | re.DOTALL)
each_definition = pytest.mark.parametrize(
    ("room", "definition"),
    DEFINITIONS,
    ids=[f"{room.name}.{definition.name}" for room, definition in DEFINITIONS],
)


def page(folder: Path, name: str) -> HtmlElement:
    return tree(folder / f"{name}.html")


def article_of(folder: Path, name: str) -> HtmlElement:
    """What a page says, without the theme's frame around it."""
    (article,) = page(folder, name).iter("article")
    return article


@cache
def written(folder: str, number: str) -> str:
    """The text of a chapter, or of its exercises; nothing if there is none."""
    return "".join(path.read_text("utf8") for path in (ROOT / folder).glob(f"{number}_*.md"))


def test_what_others_may_use_is_found_without_running_a_module():
    for room in ROOMS:
        module = importlib.import_module(f"lib.{room.name}")
        public = {
            name
            for name, thing in vars(module).items()
            if name[0] != "_" and getattr(thing, "__module__", None) == module.__name__
            and (inspect.isclass(thing) or inspect.isroutine(inspect.unwrap(thing)))
        }  # fmt: skip
        assert {definition.name for definition in room.definitions()} == public, room.name


def test_every_definition_is_in_the_reference_once_with_its_shapes(book_folder):
    folder = book_folder / "appendix" / "reference"
    places = [(name, place) for name in PAGES for place in page(folder, name).xpath("//*[@id]")]
    linked = set(page(folder, "overview").xpath("//table//a/@href"))
    for room, definition in DEFINITIONS:
        anchor = re.sub(r"[._]", "-", api_reference.label(f"lib.{room.name}.{definition.name}"))
        matching = [(name, place) for name, place in places if place.get("id") == anchor]
        assert len(matching) == 1, f"{room.name}.{definition.name}: {len(matching)} places"
        name, place = matching[0]
        section = next(place.iterancestors("section")) if place.tag != "section" else place
        assert section.find(".//h3").text_content().startswith(definition.name)
        assert f"{name}.html#{anchor}" in linked
        stub = section.find(".//pre").text_content()
        assert stub.startswith(("def ", "class ", "@")), stub
        for shape in re.findall(
            r'"[^"\n]+"\]', api_reference.stub(definition, room.file.read_text("utf8"))
        ):
            assert shape in stub, f"{room.name}.{definition.name}: {shape}"
        assert definition.name in section.find_class("source")[0].find(".//pre").text_content()


def test_no_page_of_the_back_matter_shows_its_markup(book_folder):
    names = [f"appendix/reference/{name}" for name in (*PAGES, "overview")]
    for name in [*names, *(f"appendix/{name}" for name in ("guide", "contribute", "changes"))]:
        article = deepcopy(article_of(book_folder, name))
        for code in {*article.iter("pre", "code"), *article.find_class("math")}:
            code.drop_tree()
        assert not re.search(r"\$|```|:::|\{\w+\}|\]\(|<details", article.text_content()), name


@cache
def built_on(name: str) -> frozenset[str]:
    """The modules of lib that import a module, or one that imports it."""
    own = f"lib.{name}"
    above = {other.name for other in ROOMS if any(
        imports == own or imports.startswith(f"{own}.")
        for imports in imported(other.file.relative_to(ROOT))
    )} - {name}  # fmt: skip
    return frozenset(above.union(*map(built_on, above)))


def mention(name: str) -> str:
    """A pattern for how a page imports a module, or runs the package that it stands in."""
    package, _, last = f"lib.{name}".rpartition(".")
    runs = (ROOT / package.replace(".", "/") / "__main__.py").exists()
    command = rf"|python -m {package}\b" if runs else ""
    return rf"\blib\.{name}\b|from {package} import .*\b{last}\b{command}"


@each_definition
def test_taught_in_names_chapters_that_name_it_or_what_is_built_on_it(room, definition):
    match = TAUGHT.search(ast.get_docstring(definition) or "")
    if not match:
        untaught = isinstance(definition, ast.ClassDef) or room.name in ("shapes", "seeds")
        assert untaught, "say which chapter teaches it"
        return
    named = "|".join([rf"\b{definition.name}\b", *map(mention, {room.name, *built_on(room.name)})])
    for number in re.findall(r"\b\d\d\b", match[1]):
        text = written("chapters", number)
        assert text, f"there is no chapter {number}"
        assert re.search(named, text + written("exercises", number)), f"not named in {number}"


def test_a_page_that_quotes_a_definition_links_to_its_place(book_folder):
    reference = "../appendix/reference"
    for name, links in {
        "09_multi_head_deeper": {
            f"{reference}/attention.html#lib-attention-heads-split-heads",
            f"{reference}/attention.html#lib-attention-multi-head-type-multiheadattention",
        },
        "11_block_deeper": {f"{reference}/models.html#lib-models-block"},  # a method
    }.items():
        chapter = page(book_folder / "chapters", name)
        quoted = chapter.find_class("to-reference")
        assert links <= {href for shown in quoted for href in shown.xpath(".//a/@href")}, name


@pytest.mark.parametrize(
    "chapter", teachers_guide.read_chapters(ROOT), ids=lambda chapter: chapter.stem
)
def test_the_guide_reads_from_the_files_what_the_tasks_are(chapter):
    real = importlib.import_module(f"exercises.{chapter.stem}").EXERCISE.tasks
    assert len(chapter.tasks) == len(real)
    for read, task in zip(chapter.tasks, real, strict=True):
        assert (read.id, read.title, read.minutes) == (task.id, task.title, task.minutes)
        assert (read.difficulty, read.importance) == (task.difficulty, task.importance)
        named = {number for wrong in task.wrong for number in wrong.ids}
        named |= {law.misconception for law in task.laws if law.misconception}
        assert set(read.misconceptions) == named, task.id


def test_the_guide_tells_the_goals_and_the_hours_of_every_chapter(book_folder):
    guide = page(book_folder / "appendix", "guide")
    shown = article_of(book_folder / "appendix", "guide").text_content()
    for chapter in teachers_guide.read_chapters(ROOT):
        assert shown.count(chapter.name) >= 4, chapter.name
    minutes = guide.get_element_by_id("how-long-it-takes").find(".//table")
    assert len(list(minutes.iter("tr"))) == 2 + len(teachers_guide.read_chapters(ROOT))


def test_every_misconception_that_the_guide_mentions_is_explained_on_it(book_folder):
    guide = page(book_folder / "appendix", "guide")
    named = {href[1:] for href in guide.xpath("//a/@href[starts-with(., '#misconception-')]")}
    assert len(named) > 30
    for anchor in named:
        entry = next(guide.get_element_by_id(anchor).iterancestors("li"))
        assert len(entry.text_content()) > 40, anchor


def test_contributing_and_changes_are_written_once_and_shown_whole(book_folder):
    for source, name in [("CONTRIBUTING.md", "contribute"), ("CHANGELOG.md", "changes")]:
        article = article_of(book_folder / "appendix", name)
        shown = " ".join(article.text_content().split()).translate(STRAIGHT)
        for line in (ROOT / source).read_text("utf8").splitlines()[1:]:
            words = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", line)  # a link shows its words alone
            plain = re.sub(r"[`*]|^\W*\d?\.? ?", "", words.replace(" | ", " ")).strip(" |")
            assert plain[:30] in shown, f"{source}: {line}"
