"""The catalogue: claims and misconceptions are complete, valid, and lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from book.catalogue import KINDS, SOURCES, VERDICTS, claims, errata
from checks.feedback import catalogue_file
from checks.feedback.misconceptions import CatalogueError, misconceptions
from tests.support.attempts import NAMES, load
from tests.support.pages import anchors, executed

ROOT = Path(__file__).resolve().parents[2]
COUNTS = {"S0": 56, "S1": 48, "S2": 2, "S3": 31, "S4": 24}
ERRATA = 22
NOT_COMPUTED = {  # numbers that no code can find out
    "S0-07": "years of papers",
    "S0-38": "years of papers",
    "S3-03": "years of papers and machines",
    "S3-09": "the year of a paper",
    "S3-11": "scores that the paper measured",
    "S0-24": "what 26 % and 1 % leave of the source's own 100 %",
    "S0-55": "GPT-3's published sizes, with which chapter 15 counts",
}
NUMBER = re.compile(  # not the 2 of GPT-2, nor the 0 of S0
    r"(?<![\w.])(?<![A-Za-z]-)-?(?:\d{1,3}(?:,\d{3})+|\d+|\.(?=\d))(?:(?<!\.)\.\d+|(?<=\.)\d+)?"
    r"(?:e[+-]?\d+)?"
)
TIMES = {"%": 0.01, "million": 1e6, "billion": 1e9, "trillion": 1e12}
PAGES = sorted((ROOT / "chapters").glob("[0-9]*.md"))
WRITTEN = [path for path in PAGES if path.with_stem(f"{path.stem}_deeper") not in PAGES]


def test_every_claim_of_every_source_is_there_once_and_in_order():
    wanted = [f"{key}-{n:02d}" for key, count in COUNTS.items() for n in range(1, count + 1)]
    assert list(claims()) == wanted
    assert set(SOURCES) == set(COUNTS)


def test_every_claim_has_a_verdict_in_words_and_something_to_say():
    for claim in claims().values():
        assert claim.verdict in VERDICTS
        assert claim.claim.endswith((".", "?")), claim
        assert claim.says.endswith((".", "?")), claim
        assert len(claim.claim) < 160, claim


def test_the_misconceptions_begin_with_the_65_of_the_course():
    assert set(misconceptions()) >= {f"M{n:02d}" for n in range(1, 66)}


def test_every_misconception_is_one_that_some_task_can_name():
    tasks = [task for name in NAMES for task in load(name).tasks]
    named = {number for task in tasks for wrong in task.wrong for number in wrong.ids}
    named |= {law.misconception for task in tasks for law in task.laws}
    # M65, a tensor left on another device, needs a second one: the atlas makes it visible.
    assert misconceptions().keys() - named == {"M65"}


def test_no_two_misconceptions_share_a_name_or_a_sentence():
    for words in ("name", "sentence"):
        counted = Counter(
            getattr(misconception, words) for misconception in misconceptions().values()
        )
        assert counted.most_common(1)[0][1] == 1, counted.most_common(1)


def sections() -> dict[str, list[str]]:
    """The ids of the misconceptions below each heading of their file."""
    text = (ROOT / "checks" / "feedback" / "misconceptions.yml").read_text("utf8")
    parts = re.split(r"^# (\d\d_\w+|every chapter)$", text, flags=re.MULTILINE)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return {heading: re.findall(r"^(M\d+):", part, re.MULTILINE) for heading, part in pairs}


def test_a_misconception_stands_in_the_section_of_the_chapter_that_it_leads_to():
    assert list(sections()) == sorted(sections(), key=lambda heading: (heading[0] != "e", heading))
    for heading, keys in sections().items():
        for key in keys:
            page = PurePosixPath(misconceptions()[key].read.partition("#")[0]).stem
            chapter = page.removesuffix("_deeper") or "every chapter"
            assert chapter == heading, f"{key}: move it to the end of the section '# {chapter}'"
        assert keys == sorted(keys, key=lambda key: int(key[1:])), f"# {heading}: in rising order"


@pytest.mark.parametrize("key", misconceptions())
def test_a_misconception_says_what_was_done_and_how_to_fix_it(key):
    misconception = misconceptions()[key]
    assert not misconception.name.endswith(".")
    assert 40 < len(misconception.sentence) < 420, misconception.sentence
    assert "TODO" not in misconception.sentence


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
    anchors = Counter(re.findall(r'<a id="claim-(S\d-\d\d)">', path.read_text("utf8")))
    owned = {claim.id for claim in claims().values() if claim.chapter == path.stem[:2]}
    assert anchors == Counter(owned), "where a chapter has a deeper page, its claims stand there"


def test_every_claim_is_treated_at_one_anchor_of_the_whole_book():
    anchors = Counter(
        (anchor, path.stem[:2])
        for path in PAGES
        for anchor in re.findall(r'<a id="claim-(S\d-\d\d)">', path.read_text("utf8"))
    )
    assert anchors == Counter((claim.id, claim.chapter) for claim in claims().values())


def test_the_22_errata_are_there_in_order_and_every_wrong_claim_belongs_to_one():
    assert list(errata()) == [f"E{n}" for n in range(1, ERRATA + 1)]
    assert {claim.erratum for claim in claims().values()} - {""} == set(errata())
    for entry in claims().values():
        assert entry.erratum or entry.verdict not in ("wrong", "unsupported"), entry.id
    for entry in errata().values():
        assert entry.kind in KINDS
        assert not entry.name.endswith("."), entry.name
        assert entry.known.endswith("."), entry.known


def is_among(number: str, says: str, computed: list[float]) -> bool:
    """Whether a page has a number, rounded as it is itself; said as 21 %, it may be .213 there."""
    digits = len(number.partition("e")[0].partition(".")[2])
    wanted = float(number.replace(",", ""))
    if "e" in number:
        return any(f"{value:.{digits}e}" == f"{wanted:.{digits}e}" for value in computed)
    scales = [1, *(times for unit, times in TIMES.items() if unit in says)]
    return any(round(value / times, digits) == wanted for value in computed for times in scales)


@pytest.mark.parametrize("path", WRITTEN, ids=[path.stem for path in WRITTEN])
def test_every_number_that_answers_a_claim_is_printed_or_asserted_by_a_cell_of_its_chapter(path):
    pages = [page for page in PAGES if page.stem[:2] == path.stem[:2]]
    cells = "\n".join(executed(page.with_suffix(".ipynb")) for page in pages)
    page = re.sub(r"(?<=\d)_(?=\d)", "", cells)
    computed = [float(number.replace(",", "")) for number in NUMBER.findall(page)]
    missing = [
        (claim.id, number)
        for claim in claims().values()
        if claim.chapter == path.stem[:2] and claim.id not in NOT_COMPUTED
        for number in NUMBER.findall(claim.says)
        if not is_among(number, claim.says, computed)
    ]
    assert missing == []


def test_what_no_code_computes_is_said_of_claims_with_numbers_only():
    for key in NOT_COMPUTED:
        assert NUMBER.search(claims()[key].says), key


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("M01: {name: a}", "needs"),
        ("M01: {name: a, sentence: 'b.', colour: red}", "may have"),
        ("M01: {name: a, sentence: no stop}", "full stop"),
        ("M1: {name: a, sentence: 'b.'}", "two to four digits"),
        ("M01: {name: 3, sentence: 'b.'}", "text in quotes"),
        ("M01: {name: a, sentence: 'b.', read: 'somewhere'}", "must look like"),
        ("M01: {name: a, sentence: 'b.'}\nM01: {name: c, sentence: 'd.'}", "twice"),
    ],
)
def test_a_malformed_misconception_is_refused_with_its_reason(text, words, tmp_path, monkeypatch):
    (tmp_path / "misconceptions.yml").write_text(text, "utf8")
    monkeypatch.setattr(catalogue_file.resources, "files", lambda package: tmp_path)
    with pytest.raises(CatalogueError, match=words):
        misconceptions.__wrapped__()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("E01: {name: a}", "needs"),
        ("X1: {name: a, known: 'b.'}", "called like"),
        ("E99: {name: a, known: 'b.'}", "no claim"),
    ],
)
def test_a_malformed_erratum_is_refused_with_its_reason(text, words, tmp_path, monkeypatch):
    claims()
    (tmp_path / "errata.yml").write_text(text, "utf8")
    monkeypatch.setattr(catalogue_file.resources, "files", lambda package: tmp_path)
    with pytest.raises(CatalogueError, match=words):
        errata.__wrapped__()


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
    monkeypatch.setattr(catalogue_file.resources, "files", lambda package: tmp_path)
    with pytest.raises(CatalogueError, match=words):
        claims.__wrapped__()
