"""Free text and plots are marked by a rubric, on a page that obeys no student and no other page."""

from __future__ import annotations

import base64
import http.client
import json
import re
import struct
import zlib
from threading import Thread
from urllib.parse import urlencode

import pytest

from classroom.__main__ import main
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import read_table
from classroom.grading.grades_table import read_grades
from classroom.marking import answers
from classroom.marking.answers import (
    AnswerPart,
    read_answer,
    read_answer_apart,
    safe_picture,
)
from classroom.marking.marks import Marks
from classroom.marking.page import MarkingDesk
from classroom.marking.rubric import read_rubric
from classroom.marking.server import MarkingServer
from tests.classroom.test_gradebook import folder, grade, row_of  # noqa: F401

RUBRIC = """
essay:
  title: Why the root?
  below: Your explanation
  criteria:
  - {points: 3, text: Variance grows.}
  - {points: 2, text: Softmax saturates.}
plot:
  title: Draw the weights
  below: your plot
  criteria:
  - {points: 4, text: "Axes <named>."}
"""


def png(width: int = 2, height: int = 3) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (width + 1) * height)
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


PICTURE = base64.b64encode(png()).decode()
CELLS = [
    {"cell_type": "markdown", "source": "# Title\nintro"},
    {"cell_type": "markdown", "source": ["## Your explanation\n", "the <b>variance</b>"]},
    {"cell_type": "markdown", "source": "### a part of it"},
    {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}, 7]},
    {"cell_type": "markdown", "source": "## Your plot"},
    {"cell_type": "code", "source": "plot()",
     "outputs": [{"data": {"image/png": PICTURE, "text/plain": "<Figure>"}},
                 {"data": {"text/html": "<script>alert(1)</script>"}}, {"text": "printed"}]},
]  # fmt: skip


@pytest.fixture
def graded(folder, tmp_path):  # noqa: F811
    """Two students, one with an answer, and a rubric beside their table."""
    (folder / "anna.ipynb").write_text(json.dumps({"cells": CELLS}), "utf8")
    out = tmp_path / "grades.csv"
    grade(folder, out)
    (tmp_path / "grades.rubric.yml").write_text(RUBRIC, "utf8")
    return out


def test_an_answer_is_what_stands_below_its_heading(graded, folder):  # noqa: F811
    parts = read_answer(folder / "anna.ipynb", "your EXPLANATION")
    assert [part.kind for part in parts] == ["text", "text", "code", "output"]
    assert "<b>variance</b>" in parts[0].text
    plot = read_answer(folder / "anna.ipynb", "Your plot")
    assert [part.kind for part in plot] == ["text", "code", "picture", "output"]
    assert plot[-1] == AnswerPart("output", "printed")
    assert read_answer(folder / "anna.ipynb", "nothing like it") == []


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"cells": 3}', b"PK\x03\x04x", b"\xff"])
def test_an_answer_that_cannot_be_read_says_so(tmp_path, raw):
    (tmp_path / "x.ipynb").write_bytes(raw)
    (part,) = read_answer(tmp_path / "x.ipynb", "a")
    assert "cannot be read" in part.text


def test_an_answer_that_asks_for_too_much_ends_only_its_reader(tmp_path, monkeypatch):
    # Three letters become 64 bytes: a list, and where it is kept.
    (tmp_path / "big.ipynb").write_text(f'{{"cells": [{"[]," * 4_000_000}[]]}}', "utf8")
    (tmp_path / "good.ipynb").write_text(json.dumps({"cells": CELLS}), "utf8")
    answers.answer_reader.cache_clear()
    monkeypatch.setattr(answers, "READER_MEMORY", 2**27)
    (part,) = read_answer_apart(tmp_path / "big.ipynb", "a")
    assert "cannot be read" in part.text
    assert len(read_answer_apart(tmp_path / "good.ipynb", "Your plot")) == 4
    answers.answer_reader().end()
    answers.answer_reader.cache_clear()


def test_only_a_picture_of_ordinary_size_is_shown():
    assert safe_picture(PICTURE) == PICTURE
    assert safe_picture([PICTURE[:40], PICTURE[40:]]) == PICTURE
    bomb = base64.b64encode(png()[:16] + struct.pack(">II", 90_000, 90_000) + png()[24:]).decode()
    for other in (bomb, "x", "!", None, 3, base64.b64encode(b"<svg onload=x>" * 9).decode()):
        assert safe_picture(other) == ""


def test_marks_count_in_the_table_the_pages_and_every_later_run(graded, folder):  # noqa: F811
    desk = MarkingDesk(graded, folder, by="dr. c")
    assert desk.waiting() == [("essay", 0), ("essay", 1), ("plot", 0), ("plot", 1)]
    desk.save("essay", 0, ["2,5", "2"], "Good.")
    assert desk.next_after("essay", 0) == ("essay", 1)
    anna = row_of(graded, "anna")
    assert (anna["essay"], anna["score"], anna["max"]) == ("4.5", "9.5", "15")
    assert (row_of(graded, "ben")["essay"], row_of(graded, "ben")["max"]) == ("", "10")
    sentences = read_grades(graded)[0][0].grades[-1].sentences
    assert sentences == ("Why the root?", "2.5 of 3: Variance grows.",
                         "2 of 2: Softmax saturates.", "Good.")  # fmt: skip
    desk.save("essay", 0, ["3", ""], "")
    grade(folder, graded)
    assert row_of(graded, "anna")["essay"] == "3", "the last mark counts"
    assert [row["by"] for row in read_table(desk.marks.path).rows] == ["dr. c", "dr. c"]
    assert main(["correct", str(graded), "anna", "essay", "5", "--why", "oral"]) == 0
    assert row_of(graded, "anna")["score"] == "10"


def test_answers_that_wait_for_a_mark_are_named_and_every_student_has_the_same_maximum(
    graded, folder, tmp_path, capsys  # noqa: F811
):  # fmt: skip
    desk = MarkingDesk(graded, folder)
    desk.save("essay", 0, ["3", "2"], "")
    desk.save("plot", 0, ["1"], "")
    whole = 10 + 3 + 2 + 4
    sheet, out = tmp_path / "worksheet.csv", tmp_path / "upload.csv"
    sheet.write_text(
        "Identifier,Full name,Grade,Last modified (grade),Feedback comments\n"
        "Participant 1,anna,,-,\nParticipant 2,ben,,-,\n", "utf8"
    )  # fmt: skip
    assert main(["upload", str(graded), "--moodle", str(sheet), "--out", str(out)]) == 0
    assert "not marked yet, and counted as 0: answers of ben in" in capsys.readouterr().out
    comments = [row["Feedback comments"] for row in read_table(out).rows]
    assert all(f"of {whole} points" in comment for comment in comments)
    assert "essay not graded: not marked yet" in comments[1]
    assert "not marked" not in comments[0]
    book = tmp_path / "gradebook.csv"
    assert main(["gradebook", str(graded), "--out", str(book), "--page",
                 str(tmp_path / "g.html")]) == 0  # fmt: skip
    assert "answers of ben in" in capsys.readouterr().out
    assert f"07_self_attention of {whole}" in read_table(book).columns
    assert [float(row["total %"]) for row in read_table(book).rows][1] == pytest.approx(
        100 * 5 / whole, abs=0.01
    )


def test_marks_beyond_a_criterion_are_refused(graded, folder):  # noqa: F811
    desk = MarkingDesk(graded, folder)
    for points in (["4", "0"], ["-1", "0"], ["1"], ["x", "1"], ["nan", "1"]):
        with pytest.raises(ValueError, match="points in the line of anna"):
            desk.save("essay", 0, points, "")
    assert not desk.marks.path.exists()


@pytest.mark.parametrize(
    "text",
    ["[]", "essay: 3", "essay: {title: a, below: b, criteria: []}", "a: {", "essay:\n  title: x",
     "essay: {title: a, below: b, criteria: [{points: 0.5, text: c}]}"],
)  # fmt: skip
def test_a_wrong_rubric_is_refused_with_an_example(tmp_path, text):
    (tmp_path / "r.yml").write_text(text, "utf8")
    with pytest.raises(ValueError, match=r"(?s)must hold tasks.*For example"):
        read_rubric(tmp_path / "r.yml")


def test_without_a_rubric_the_command_says_what_is_missing(graded, folder, capsys):  # noqa: F811
    graded.with_suffix(".rubric.yml").unlink()
    assert main(["mark", str(folder), str(graded)]) == 2
    assert "grades.rubric.yml must hold the tasks" in capsys.readouterr().err
    assert Marks(graded).tasks == {}


def test_whoever_handed_in_nothing_has_no_points_for_a_task_by_hand(graded, folder):  # noqa: F811
    grade(folder, graded, roster=Roster.of(["anna", "ben", "zoe"]))
    assert (row_of(graded, "zoe")["plot"], row_of(graded, "zoe")["max"]) == ("0", "19")
    assert len(MarkingDesk(graded, folder).students) == 2


@pytest.fixture
def server(graded, folder):  # noqa: F811
    with MarkingServer(MarkingDesk(graded, folder), 0) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        yield serving
        serving.shutdown()


def ask(server, method: str, path: str, form: dict | None = None, **headers: str):
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    body = urlencode(form, doseq=True) if form else None
    connection.request(method, path, body, headers)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply, text


def test_the_pages_show_answers_as_text_and_forbid_scripts(server):
    reply, text = ask(server, "GET", f"/{server.word}/")
    assert reply.status == 200
    assert "4 of 4 answers wait" in text
    reply, text = ask(server, "GET", f"/{server.word}/essay/0")
    assert "&lt;b&gt;variance" in text
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    _, text = ask(server, "GET", f"/{server.word}/plot/0")
    assert f"data:image/png;base64,{PICTURE}" in text
    assert "<script" not in text
    assert "Axes &lt;named&gt;." in text
    assert 'max="4"' in text


def test_a_mark_is_saved_and_leads_to_the_next_answer(server):
    path = f"/{server.word}/essay/0"
    reply, _ = ask(server, "POST", path, {"points": ["3", "1"], "comment": "fine"})
    assert (reply.status, reply.headers["Location"]) == (303, f"/{server.word}/essay/1")
    _, text = ask(server, "GET", f"/{server.word}/")
    assert "3 of 4 answers wait" in text
    assert re.search(r'essay/0">4<', text)
    reply, text = ask(server, "POST", path, {"points": ["9", "1"]})
    assert reply.status == 400
    assert "must be a number for each criterion" in text


@pytest.mark.parametrize("path", ["/", "/wrong/", "/{word}/essay/7", "/{word}/none/0", "/{word}x/"])
def test_nobody_without_the_word_sees_or_sends_anything(server, path):
    path = path.format(word=server.word)
    assert ask(server, "GET", path)[0].status == 404
    assert ask(server, "POST", path, {"points": ["1", "1"]})[0].status == 404
    assert not server.desk.marks.path.exists()


def test_another_host_name_for_this_machine_is_refused(server):
    path = f"/{server.word}/essay/0"
    assert ask(server, "GET", path, Host="evil.example")[0].status == 404
    assert ask(server, "POST", path, {"points": "1"}, Host="evil.example")[0].status == 404
    assert server.server_address[0] == "127.0.0.1"


def test_marking_without_names_shows_none(graded, folder):  # noqa: F811
    desk = MarkingDesk(graded, folder, anonymous=True)
    pages = desk.overview() + desk.answer("essay", 0) + desk.answer("essay", 1)
    assert "submission 2" in pages
    assert "anna" not in pages
    assert "ben" not in pages
