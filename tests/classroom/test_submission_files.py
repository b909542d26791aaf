"""Any file at all gives code cells, or a status with its reason; nothing is followed or run."""

from __future__ import annotations

import io
import json
import os
import random
import stat
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from classroom.submissions import (
    group_by_student,
    hidden_entries,
    list_submissions,
    read_submission,
)
from classroom.unpacking import notebook_code


def notebook(*cells, **more) -> bytes:
    listed = [{"cell_type": "code", "source": source, "metadata": {}} for source in cells]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, **more}).encode()


GOOD = notebook("x = 1\n", ["y = ", "2"])


def archive(**members) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return made.getvalue()


def link_in_archive() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        link = zipfile.ZipInfo("work.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    return made.getvalue()


def flipped(raw: bytes, start: int, end: int) -> bytes:
    """The bytes with some of them inverted, as by an upload that went wrong."""
    return raw[:start] + bytes(byte ^ 255 for byte in raw[start:end]) + raw[end:]


GRADED = {
    "a notebook": GOOD,
    "with a byte-order mark": b"\xef\xbb\xbf" + GOOD,
    "of another kernel": notebook(
        "x = 1\n", "y = 2", metadata={"kernelspec": {"name": "julia-1.9"}}
    ),
    "of a format to come": notebook("x = 1\n", "y = 2", nbformat=99),
    "with cells that are no cells": json.dumps(
        {
            "cells": [
                1,
                None,
                {"cell_type": "code"},
                {"cell_type": "code", "source": "x = 1\n"},
                {"cell_type": "code", "source": ["y = ", 3, "2"]},
            ]
        }
    ).encode(),
    "in an archive": archive(
        **{"homework/a.ipynb": GOOD, "__MACOSX/homework/._a.ipynb": b"?", "b.png": b""}
    ),
}

UNREADABLE = {
    "empty": (b"", "empty"),
    "cut off": (GOOD[:-20], "not a notebook"),
    "in latin-1": ("é".encode("latin-1"), "UTF-8"),
    "a list": (b"[]", "no list of cells"),
    "200,000 brackets": (b"[" * 200_000, "not a notebook"),
    "without code": (notebook("", "  "), "no code"),
    "a damaged archive": (archive(**{"a.ipynb": GOOD * 50})[:-30] + b"\0" * 30, "not"),
    "damaged where it is packed": (flipped(archive(**{"a.ipynb": GOOD * 9}), 60, 100), "damaged"),
    "8 million entries in 60 kB": (
        archive(**{"a.ipynb": b'{"metadata": [' + b'{"":0},' * 8_000_000}), "too much memory"
    ),
}  # fmt: skip

REFUSED = {
    "an archive with two notebooks": (archive(**{"a.ipynb": GOOD, "b.ipynb": GOOD}), "2 notebooks"),
    "an archive without a notebook": (archive(**{"a.txt": b"x"}), "0 notebooks"),
    "an archive that leads out": (archive(**{"../a.ipynb": GOOD}), "out of it"),
    "an archive from the root": (archive(**{"/etc/a.ipynb": GOOD}), "out of it"),
    "an archive from a drive": (archive(**{"C:\\a.ipynb": GOOD}), "out of it"),
    "an archive with a link": (link_in_archive(), "a link"),
    "an archive of many files": (
        archive(**{f"{n}.txt": b"" for n in range(1001)}), "more than 1000 files"
    ),
    "an archive of a million names": (
        GOOD + notebook_code.MEMBER * 10**6 + archive(**{"a.ipynb": GOOD}), "more than 1000 files"
    ),
    "a bomb": (archive(**{"a.ipynb": b" " * (notebook_code.MAX_BYTES + 5)}), "larger than 64 MiB"),
    "a novel": (notebook("#" * (notebook_code.MAX_SOURCE + 1)), "longer than"),
    "a swarm of cells": (notebook(*["1"] * 10_001), "more than 10000 cells"),
}  # fmt: skip


@pytest.mark.parametrize("raw", GRADED.values(), ids=GRADED)
def test_what_can_be_read_gives_its_code(tmp_path, raw):
    (tmp_path / "anna.ipynb").write_bytes(raw)
    submission = read_submission([tmp_path / "anna.ipynb"])
    assert (submission.student, submission.status) == ("anna", None)
    assert [source for source in submission.sources if source] == ["x = 1\n", "y = 2"]


@pytest.mark.parametrize(("raw", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_unreadable_with_a_reason(tmp_path, raw, reason):
    (tmp_path / "anna.ipynb").write_bytes(raw)
    submission = read_submission([tmp_path / "anna.ipynb"])
    assert (submission.status, submission.sources) == ("unreadable", ())
    assert reason in submission.reason


@pytest.mark.parametrize(("raw", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_should_not_be_opened_is_refused_with_a_reason(tmp_path, raw, reason):
    (tmp_path / "anna.zip").write_bytes(raw)
    submission = read_submission([tmp_path / "anna.zip"])
    assert (submission.status, submission.sources) == ("refused", ())
    assert reason in submission.reason


def mutated(raw: bytes, chance: random.Random) -> bytes:
    """The bytes with a stretch inverted, removed, doubled, zeroed, or replaced by random ones."""
    start = chance.randrange(len(raw))
    end = min(len(raw), start + chance.choice([1, 1, 2, 5, 23, 89]))
    part = raw[start:end]
    changed = chance.choice(
        [bytes(byte ^ 255 for byte in part), b"", part * 2, bytes(len(part)),
         chance.randbytes(len(part)), bytes([part[0] ^ 1 << chance.randrange(8)]) + part[1:]]
    )  # fmt: skip
    return raw[:start] + changed + raw[end:]


def kinds_of_file() -> list[bytes]:
    """A notebook, and archives of it by each method of packing."""
    files = [GOOD]
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", method) as file:
            file.writestr("work.ipynb", GOOD * 3)
            file.writestr("notes.txt", b"text")
        files.append(made.getvalue())
    return files


@pytest.mark.parametrize(
    ("first", "count"), [(0, 600), pytest.param(600, 12_000, marks=pytest.mark.nightly)]
)
def test_no_damage_of_a_file_ends_the_run(first, count):
    files = kinds_of_file()
    ends = Counter(
        ending(mutated(files[seed % len(files)], random.Random(seed)))
        for seed in range(first, first + count)
    )
    assert set(ends) == {"read", "refused", "unreadable"}


def ending(raw: bytes) -> str:
    """What becomes of a file, by its status."""
    try:
        return "read" if notebook_code.code_in_file(raw) else "nothing"
    except notebook_code.RejectedError as error:
        return error.status if str(error) else "no reason"


def test_a_file_that_never_ends_to_be_read_costs_its_own_row_only(tmp_path, monkeypatch):
    monkeypatch.setattr("classroom.submissions.PATIENCE", 0.0)
    (tmp_path / "anna.ipynb").write_bytes(GOOD)
    submission = read_submission([tmp_path / "anna.ipynb"])
    assert submission.status == "unreadable"
    assert "too much memory or time" in submission.reason


def test_a_pipe_a_link_and_a_folder_never_make_it_wait_or_follow(tmp_path):
    hidden = tmp_path / "elsewhere"
    hidden.mkdir()
    (hidden / "a.ipynb").write_bytes(GOOD)
    folder = tmp_path / "submissions"
    folder.mkdir()
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "link.ipynb").symlink_to(hidden / "a.ipynb")
    (folder / "linked").symlink_to(hidden)
    (folder / "gone.ipynb").symlink_to("nowhere")
    (folder / "empty").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "work.ipynb").write_bytes(GOOD)
    (folder / "full" / "notes.txt").write_bytes(b"")
    (folder / "inner.ipynb").mkdir()
    submissions = {
        name: read_submission(paths)
        for name, paths in group_by_student(list_submissions(folder)).items()
    }
    assert {name: submission.status for name, submission in submissions.items()} == {
        "empty": "refused", "full": None, "gone": "refused", "inner": "refused", "link": "refused",
        "linked": "refused", "pipe": "refused",
    }  # fmt: skip
    assert submissions["full"].sources


def test_a_file_too_large_is_refused_unread(tmp_path):
    with open(tmp_path / "anna.ipynb", "wb") as file:
        file.truncate(notebook_code.MAX_BYTES + 1)
    assert read_submission([tmp_path / "anna.ipynb"]).status == "refused"


def test_every_student_has_one_row_and_the_newest_work_counts(tmp_path):
    for n, name in enumerate(["anna.zip", "anna.ipynb", "bert.ipynb"]):
        raw = archive(**{"a.ipynb": notebook("old")}) if name.endswith("zip") else GOOD
        (tmp_path / name).write_bytes(raw)
        os.utime(tmp_path / name, (n, n))
    (tmp_path / ".DS_Store").write_bytes(b"")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    grouped = group_by_student(list_submissions(tmp_path))
    assert list(grouped) == ["anna", "bert"]
    anna = read_submission(grouped["anna"])
    assert anna.sources == ("x = 1\n", "y = 2")
    assert anna.notes == ("2 submissions, the newest counts",)


def test_if_the_newest_cannot_be_read_an_older_one_counts_and_the_row_says_so(tmp_path):
    (tmp_path / "anna.ipynb").write_bytes(GOOD)
    (tmp_path / "anna.zip").mkdir()
    os.utime(tmp_path / "anna.ipynb", (1, 1))
    (paths,) = group_by_student(list_submissions(tmp_path)).values()
    submission = read_submission(paths)
    assert (submission.file, submission.status) == ("anna.ipynb", None)
    assert submission.notes == ("2 submissions, the newest that can be read counts",)


def test_a_second_download_and_another_spelling_of_an_accent_are_the_same_student(tmp_path):
    for name in ("zoë.ipynb", unicodedata.normalize("NFD", "zoë") + ".zip", "zoë (1).ipynb"):
        (tmp_path / name).write_bytes(GOOD)
    assert list(group_by_student(list_submissions(tmp_path))) == ["zoë"]


def test_a_name_of_two_alphabets_is_pointed_out(tmp_path):
    cyrillic_a = "\u0430"
    for name in (f"{cyrillic_a}nna.ipynb", "anna.ipynb", "Анна.ipynb", "漢 anna.ipynb"):
        (tmp_path / name).write_bytes(GOOD)
    students = group_by_student(list_submissions(tmp_path))
    notes = {student: read_submission(paths).notes for student, paths in students.items()}
    assert notes.pop(f"{cyrillic_a}nna") == (
        "its name mixes the alphabets Cyrillic and Latin: look whose it is",
    )
    assert set(notes.values()) == {()}


def test_entries_that_begin_with_a_dot_are_passed_over_and_can_be_named(tmp_path):
    for name in (".anna.ipynb", ".DS_Store", "bert.ipynb"):
        (tmp_path / name).write_bytes(GOOD)
    assert [path.name for path in list_submissions(tmp_path)] == ["bert.ipynb"]
    assert hidden_entries(tmp_path) == [".anna.ipynb"]


def test_odd_names_are_names(tmp_path):
    names = ["-rf.ipynb", "=1+1.ipynb", "a\nb.ipynb", "ø 漢.ipynb", "x.y.ipynb", "no ending"]
    for name in names:
        (tmp_path / name).write_bytes(GOOD)
    (tmp_path / os.fsdecode(b"\xff.ipynb")).write_bytes(GOOD)
    submissions = {
        name: read_submission(paths)
        for name, paths in group_by_student(list_submissions(tmp_path)).items()
    }
    assert set(submissions) == {"-rf", "=1+1", "a?b", "ø 漢", "x.y", "no ending", "\\xff"}
    assert not any(submission.status for submission in submissions.values())


def test_a_folder_that_is_none_is_an_error(tmp_path):
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        list_submissions(Path(tmp_path / "nothing"))
