"""The pages to look things up in: the atlas's tests are true, terms are used, errata are whole."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from urllib.parse import urldefrag

import pytest
import torch
import torch.nn.functional as F

from book.catalogue import VERDICTS, claims, errata
from book.extensions import glossary_links
from checks.feedback.misconceptions import misconceptions
from lib.debugging.broken_models import SUSPECTS
from lib.debugging.numpy_gpt2 import Model
from tests.atlas import PATIENTS
from tests.atlas.suspects import examined
from tests.support.built import tree

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*.md"))
ATLAS = (ROOT / "appendix/atlas.md").read_text("utf8")


def slug(head: str) -> str:
    return re.sub(r"[^\w]+", "-", head.lower()).strip("-")


def symptoms() -> dict[str, str]:
    """Every entry of the atlas by its anchor, as text."""
    parts = re.split(r"^### (.+)$", ATLAS, flags=re.MULTILINE)
    return {
        slug(head): body.split("\n## ")[0]
        for head, body in zip(parts[1::2], parts[2::2], strict=True)
    }


SYMPTOMS = symptoms()


def decide(symptom: str, patient: dict) -> None:
    """Run the test of an entry on a patient."""
    torch.manual_seed(0)
    (source,) = re.findall(r"^```python\n(.*?)^```$", SYMPTOMS[symptom], re.MULTILINE | re.DOTALL)
    exec(compile(source, symptom, "exec"), {"torch": torch, "F": F, "math": math} | patient)


def test_every_entry_of_the_atlas_has_patients_and_every_named_cause_is_one_of_them():
    assert list(SYMPTOMS) == list(PATIENTS)
    for symptom, body in SYMPTOMS.items():
        named = set(re.findall(r"\bM\d{2,4}\b", body))
        assert named <= set(misconceptions())
        assert named == {cause for cause in PATIENTS[symptom][1] if re.fullmatch(r"M\d+", cause)}
        assert PATIENTS[symptom][1], symptom
        assert "\nRead [" in body, f"{symptom} does not say where to read"


@pytest.mark.parametrize("symptom", PATIENTS)
def test_a_test_of_the_atlas_passes_on_a_healthy_model(symptom):
    decide(symptom, PATIENTS[symptom][0]())


@pytest.mark.parametrize(
    ("symptom", "cause"),
    [(symptom, cause) for symptom in PATIENTS for cause in PATIENTS[symptom][1]],
)
def test_a_test_of_the_atlas_fails_for_each_of_its_causes(symptom, cause):
    patient = PATIENTS[symptom][1][cause]()
    with pytest.raises(AssertionError):
        decide(symptom, patient)


def test_a_test_of_the_atlas_is_short():
    for symptom, body in SYMPTOMS.items():
        code = re.search(r"^```python\n(.*?)^```$", body, re.MULTILINE | re.DOTALL).group(1)
        assert len(code.splitlines()) <= 4, symptom
        assert max(map(len, code.splitlines())) <= 84, symptom


@pytest.mark.parametrize("suspect", [Model, *SUSPECTS], ids=lambda model: model.key or "right")
def test_the_atlas_finds_the_suspects_of_the_bug_hunt(suspect):
    """Of the entries that name a fault and can be asked of such a model, one at least fails."""
    patient, failed = examined(suspect), set()
    for symptom in patient:
        try:
            decide(symptom, patient[symptom])
        except AssertionError:
            failed.add(symptom)
    named = {symptom for symptom in patient if re.search(rf"\b{suspect.key}\b", SYMPTOMS[symptom])}
    if suspect is Model:
        assert not failed
    elif named:
        assert failed & named


def entries() -> list[list[str]]:
    """The names of every entry of the glossary."""
    written = (ROOT / "appendix/glossary.md").read_text("utf8").split("{glossary}")[1]
    blocks = re.findall(r"^((?:[^\s:`].*\n)+)(?=  )", written, re.MULTILINE)
    return [block.splitlines() for block in blocks]


def prose(path: Path) -> str:
    """A page without its code and its mathematics."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\$[^$]*\$|`[^`]*`|\*", "", text)


def is_said(name: str, text: str) -> bool:
    """Whether a text has a term, in either number."""
    return bool(re.search(rf"(?<![\w-]){glossary_links.forms(name)}(?![\w-])", text))


def test_the_glossary_has_every_name_once_and_each_entry_leads_to_its_chapter():
    names = [name for entry in entries() for name in entry]
    assert len(names) == len(set(names))
    assert 70 <= len(entries()) <= 150
    text = (ROOT / "appendix/glossary.md").read_text("utf8")
    for entry in entries():
        body = text.split("\n" + "\n".join(entry) + "\n")[1].split("\n\n")[0]
        link = re.search(r"\]\(\.\./(chapters/\d\d_\w+)\.ipynb\)", body)
        assert link, f"{entry[0]} does not say where it is defined"
        page = (ROOT / f"{link[1]}.md").read_text("utf8").lower()
        assert any(name.lower()[:6] in page for name in entry), f"{entry[0]}: {link[1]}"


def test_every_term_is_used_on_a_page():
    pages = "\n".join(map(prose, CHAPTERS))
    for entry in entries():
        assert any(is_said(name, pages) for name in entry), f"nobody uses {entry[0]}"


def test_every_other_meaning_is_met_on_a_page():
    pages = "\n".join(map(prose, CHAPTERS)).lower()
    for words in glossary_links.OTHER_WORDS:
        assert words in pages, f"nobody says {words!r}"
    assert {entry[0] for entry in entries()} >= glossary_links.EVERYDAY


@pytest.mark.parametrize(
    "word",
    ["score", "weight", "output", "query", "key", "value", "mask", "head", "embedding", "token",
     "self-attention", "cross-attention", "softmax", "temperature", "causal", "padding", "batch",
     "vocabulary", "feed-forward network", "layer norm", "stream", "value-down", "value-up"],
)  # fmt: skip
def test_a_word_of_the_notation_page_or_of_the_course_has_an_entry(word):
    assert word in {name for entry in entries() for name in entry}


def test_each_chapter_links_each_term_at_most_once_and_every_link_resolves(book_folder):
    glossary = tree(book_folder / "appendix/glossary.html")
    (listed,) = glossary.find_class("glossary")
    terms = set(listed.xpath(".//dt/@id"))
    linked = Counter()
    for path in CHAPTERS:
        page = tree(book_folder / f"chapters/{path.stem}.html")
        anchors = Counter()
        for link in page.find_class("glossary-link"):
            where, anchor = urldefrag(link.get("href"))
            assert where == "../appendix/glossary.html", link.attrib
            assert anchor in terms, link.attrib
            assert len(link.get("title")) > 20, link.attrib
            above = {element.tag for element in link.iterancestors()}
            assert not above & {"h1", "h2", "h3", "a", "code", "details", "figcaption"}
            anchors[anchor] += 1
        assert set(anchors.values()) <= {1}, path.stem
        linked += anchors
    assert not glossary.find_class("glossary-link")
    assert len(linked) > 60


def test_a_chapter_is_not_paved_with_links(book_folder):
    for path in CHAPTERS:
        links = tree(book_folder / f"chapters/{path.stem}.html").find_class("glossary-link")
        for paragraph, count in Counter(link.getparent() for link in links).items():
            assert count <= 6, f"{path.stem}: {paragraph.text_content()[:80]}"


def test_the_errata_page_has_all_of_them_with_links_to_what_shows_them(book_folder):
    page = tree(book_folder / "appendix/errata.html")
    errors = page.xpath("//section[starts-with(@id, 'E')]")
    sections = {section.get("id"): section for section in errors}
    assert set(sections) == set(errata())
    for key, erratum in errata().items():
        assert sections[key].text_content().count("How we know.") == 1
        links = {link.get("href") for link in sections[key].find_class("where")}
        for claim in erratum.claims:
            assert any(href.endswith(f"#claim-{claim.id}") for href in links), claim.id
    unsound = [claim.id for claim in claims().values() if claim.verdict not in ("right", "example")]
    anchors = {urldefrag(link.get("href")).fragment for link in page.find_class("where")}
    assert {f"claim-{key}" for key in unsound} <= anchors


def test_the_table_of_verdicts_counts_every_claim(book_folder):
    (table,) = tree(book_folder / "appendix/errata.html").find_class("verdicts")
    rows = table.xpath(".//tbody/tr")
    numbers = [[int(cell.text_content()) for cell in row.xpath("td")] for row in rows]
    assert [sum(column) for column in zip(*numbers[:-1], strict=True)] == numbers[-1]
    counted = Counter(claim.verdict for claim in claims().values())
    assert numbers[-1] == [*(counted[verdict] for verdict in VERDICTS), len(claims())]
