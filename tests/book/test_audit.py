"""What `make audit` makes of Lighthouse's reports; Lighthouse itself runs only there."""

from urllib.request import urlopen

import pytest

from book.build import audit as tool


def report(**audits: dict) -> dict:
    """A report in which these audits weigh, all in one category."""
    least = min((audit["score"] or 0 for audit in audits.values()), default=1)
    refs = [{"id": name, "weight": 7} for name in audits]
    rest = {name: {"score": 1, "auditRefs": []} for name in tool.CATEGORIES}
    return {"categories": {**rest, "seo": {"score": least, "auditRefs": refs}}, "audits": audits}


def audit(score: float | None, *items: dict, mode: str = "binary", **more: str) -> dict:
    """An audit as Lighthouse writes it."""
    shown = {"title": "What is wrong", "details": {"items": list(items)}}
    return {"score": score, "scoreDisplayMode": mode, **shown, **more}


def judged(capsys, made: dict) -> tuple[list[str], str]:
    """The pages below 100 of a book of one page, and what is printed of it."""
    return tool.verdict([("a.html", made)]), capsys.readouterr().out


def test_a_page_without_a_fault_has_a_line_with_three_hundreds(capsys):
    made = report(title=audit(1), hreflang=audit(None, mode="notApplicable"))
    made["categories"]["seo"]["score"] = 1
    assert judged(capsys, made) == ([], "  100  100  100  a.html\n")


def test_a_fault_is_named_with_its_elements_and_the_rest_is_counted(capsys):
    items = [{"node": {"snippet": f"<img src='{n}'>", "selector": "main > img"}} for n in range(8)]
    below, output = judged(capsys, report(alt=audit(0, *items), title=audit(1)))
    assert below == ["a.html"]
    assert output.splitlines()[0].split() == ["100", "100", "0", "a.html"]
    assert "alt: What is wrong" in output
    assert "title" not in output
    assert "<img src='4'>" in output
    assert "<img src='5'>" not in output
    assert "and 3 more" in output


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ({"source": "network", "description": "no", "sourceLocation": {"url": "x.js"}}, "x.js no"),
        ({"source": {"type": "node", "snippet": "<meta>"}}, "<meta>"),
        ({"url": "x.js", "totalBytes": 3}, "x.js"),
        ({"source": "exception", "description": "no\n  such thing"}, "exception no such thing"),
        ({"statistic": 3}, '{"statistic": 3}'),
    ],
)  # fmt: skip
def test_each_kind_of_finding_is_a_line(item, line):
    assert tool.element(item) == line


def test_a_fault_so_small_that_the_score_is_rounded_to_100_counts(capsys):
    made = report(title=audit(0))
    made["categories"]["seo"]["score"] = 1
    assert judged(capsys, made)[0] == ["a.html"]


def test_an_audit_that_broke_is_a_fault_and_not_a_pass(capsys):
    made = report(title=audit(None, mode="error", errorMessage="it timed out"))
    below, output = judged(capsys, made)
    assert below == ["a.html"]
    assert "title: it timed out" in output


def test_a_page_that_did_not_load_says_so_once(capsys):
    made = report(title=audit(None, mode="error"), alt=audit(None, mode="error"))
    made["categories"]["seo"]["score"] = None
    below, output = judged(capsys, {**made, "runtimeError": {"message": "Status code: 404"}})
    assert below == ["a.html"]
    assert [line.strip() for line in output.splitlines()[1:]] == ["Status code: 404"]


def test_every_page_that_a_reader_can_reach_is_audited_and_no_template(tmp_path):
    listed = ["404.html", "chapters/05.html", "index.html", "search.html"]
    for name in [*listed, "_static/webpack-macros.html", "_static/a.js"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert tool.pages(tmp_path) == listed
    assert set(tool.EXCUSED) <= set(listed)


def test_the_book_is_served_at_the_path_of_its_address(tmp_path):
    (tmp_path / "index.html").write_text("here", "utf8")
    with tool.served_at(tmp_path, "/some/path/") as address:
        assert address.endswith("/some/path/")
        assert urlopen(address + "index.html").read() == b"here"


def test_a_book_with_a_page_below_100_fails_and_says_which(monkeypatch, tmp_path, capsys):
    for name in ("a.html", "b.html"):
        (tmp_path / name).touch()
    reports = {"a.html": report(title=audit(1)), "b.html": report(title=audit(0))}
    monkeypatch.setattr(tool, "audited", lambda address, page: reports[page])
    with pytest.raises(SystemExit, match=r"Below 100: 1 of 2 pages: b\.html"):
        tool.main(tmp_path)
    reports["b.html"] = reports["a.html"]
    tool.main(tmp_path)
    assert "All 2 pages" in capsys.readouterr().out
