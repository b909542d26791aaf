"""The catalogue: claims and misconceptions are complete, valid, and lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from lib import catalogue
from lib.catalogue import SOURCES, VERDICTS, CatalogueError, claims, misconceptions
from tests.pages import anchors

ROOT = Path(__file__).resolve().parents[1]
COUNTS = {"S0": 56, "S1": 48, "S2": 2, "S3": 31, "S4": 24}
WRITTEN = sorted((ROOT / "chapters").glob("[0-9]*.md"))


def test_every_claim_of_every_source_is_there_once_and_in_order():
    wanted = [f"{key}-{n:02d}" for key, count in COUNTS.items() for n in range(1, count + 1)]
    assert list(claims()) == wanted
    assert set(SOURCES) == set(COUNTS)


def test_every_claim_has_a_verdict_in_words_and_something_to_say():
    for one in claims().values():
        assert one.verdict in VERDICTS
        assert one.claim.endswith((".", "?")), one
        assert one.says.endswith((".", "?")), one
        assert len(one.claim) < 160, one


def test_the_misconceptions_begin_with_the_65_of_the_course():
    assert set(misconceptions()) >= {f"M{n:02d}" for n in range(1, 66)}


def test_no_two_misconceptions_share_a_name_or_a_sentence():
    for words in ("name", "sentence"):
        counted = Counter(getattr(one, words) for one in misconceptions().values())
        assert counted.most_common(1)[0][1] == 1, counted.most_common(1)


@pytest.mark.parametrize("key", misconceptions())
def test_a_misconception_says_what_was_done_and_how_to_mend_it(key):
    one = misconceptions()[key]
    assert not one.name.endswith(".")
    assert 40 < len(one.sentence) < 420, one.sentence
    assert "TODO" not in one.sentence


@pytest.mark.parametrize("key", misconceptions())
def test_a_misconception_leads_to_a_paragraph_that_exists(key):
    page, _, anchor = misconceptions()[key].read.partition("#")
    path = ROOT / page.replace(".html", ".md")
    if anchor.startswith("claim-"):
        owner = claims()[anchor.removeprefix("claim-")].chapter
        assert page.startswith(f"chapters/{owner}_"), f"{anchor} is treated in chapter {owner}"
    if page and path.exists() and anchor:
        assert anchor in anchors(path.read_text("utf8")), f"{key} points to #{anchor} in {page}"


@pytest.mark.parametrize("path", WRITTEN, ids=[path.stem for path in WRITTEN])
def test_a_chapter_treats_each_of_its_claims_exactly_once(path):
    found = Counter(re.findall(r'<a id="claim-(S\d-\d\d)">', path.read_text("utf8")))
    owned = {one.id for one in claims().values() if one.chapter == path.stem[:2]}
    assert found == Counter(owned)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("M01: {name: a}", "needs"),
        ("M01: {name: a, sentence: 'b.', colour: red}", "may have"),
        ("M01: {name: a, sentence: no stop}", "full stop"),
        ("M1: {name: a, sentence: 'b.'}", "two or three digits"),
        ("M01: {name: 3, sentence: 'b.'}", "text in quotes"),
        ("M01: {name: a, sentence: 'b.', read: 'somewhere'}", "must look like"),
        ("M01: {name: a, sentence: 'b.'}\nM01: {name: c, sentence: 'd.'}", "twice"),
    ],
)
def test_a_malformed_misconception_is_refused_with_its_reason(text, words, tmp_path, monkeypatch):
    (tmp_path / "misconceptions.yml").write_text(text, "utf8")
    monkeypatch.setattr(catalogue.resources, "files", lambda package: tmp_path)
    with pytest.raises(CatalogueError, match=words):
        misconceptions.__wrapped__()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("S0-01: {claim: 'a.', verdict: right, says: 'b.'}", "needs"),
        ("S0-01: {claim: 'a.', verdict: true, says: 'b.', chapter: '02'}", "text in quotes"),
        ("S0-01: {claim: 'a.', verdict: maybe, says: 'b.', chapter: '02'}", "one of"),
        ("S0-01: {claim: 'a.', verdict: right, says: 'b.', chapter: '2'}", "two digits"),
        ("S9-01: {claim: 'a.', verdict: right, says: 'b.', chapter: '02'}", "called like"),
    ],
)
def test_a_malformed_claim_is_refused_with_its_reason(text, words, tmp_path, monkeypatch):
    (tmp_path / "claims.yml").write_text(text, "utf8")
    monkeypatch.setattr(catalogue.resources, "files", lambda package: tmp_path)
    with pytest.raises(CatalogueError, match=words):
        claims.__wrapped__()
