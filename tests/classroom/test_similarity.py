"""A copied answer stands out, however it was renamed; a right answer that all write does not."""

from __future__ import annotations

import itertools
import json
import math

import pytest

from classroom.__main__ import main
from classroom.inspection.similar_page import excerpts, same_code, similar_page
from classroom.inspection.similarity import (
    class_runs,
    marked_lines,
    runs_of,
    similar_pairs,
)

COMMON = "def mix(weights, values):\n    return weights @ values\n" * 3
OWN = "def part_{0}(x, {1}):\n    {1} = x[{2}:] * {2} - {1} / {2}\n    return {1}.sum({2}) + x\n"
ODD = """
def attention(q, k, v):
    raw = [[sum(a * b for a, b in zip(row, key)) for key in k] for row in q]
    table = [[math.exp(s / 7) for s in line] for line in raw]
    return [[sum(w * c[j] for w, c in zip(line, v)) / 3 for j in range(4)] for line in table]
"""
RENAMED = ODD.replace("raw", "dots").replace("table", "soft").replace("line", "r2")


def own(n: int) -> str:
    return COMMON + "".join(OWN.format(n * 7 + i, f"v{n}_{i}", n * 11 + i) for i in range(4))


CLASS = {f"s{n}": own(n) for n in range(23)}


def test_a_copy_with_other_names_is_the_only_pair():
    texts = CLASS | {"s3": own(3) + ODD, "s17": own(17) + "\n\n\n" + RENAMED}
    (pair,) = similar_pairs(class_runs(texts), 0.3, 40)
    assert {pair.first, pair.second} == {"s3", "s17"}
    assert similar_pairs(class_runs(CLASS), 0.3, 40) == []


def test_what_the_whole_class_writes_weighs_nothing():
    same = {f"s{n}": COMMON + ODD for n in range(11)}
    assert similar_pairs(class_runs(same), 0.1, 1) == []


def test_the_bits_of_a_pair_are_those_of_a_count_by_hand():
    texts = {"a": "u v w x y z", "b": "u v w x y q", "c": "1 2 3 4 5", "d": "", "e": "7 8 9"}
    pairs = {(p.first, p.second): p for p in similar_pairs(class_runs(texts), 0, 1e-9)}
    held = {name: set(runs_of(text)) for name, text in texts.items()}
    for first, second in itertools.combinations(texts, 2):
        shared = held[first] & held[second]
        wanted = sum(
            math.log2(len(texts) / sum(run in other for other in held.values())) for run in shared
        )
        got = pairs[first, second].bits if (first, second) in pairs else 0
        assert got == pytest.approx(wanted)


def test_the_marked_lines_are_those_of_the_copy():
    texts = CLASS | {"s3": own(3) + ODD, "s17": own(17) + RENAMED}
    runs = class_runs(texts)
    lines = marked_lines(texts["s3"], runs.rare_in_both("s3", "s17"))
    marked = [line for line, is_marked in lines if is_marked]
    assert any("raw = [[" in line for line in marked)
    assert not any(line.startswith("def mix") for line in marked[:-6])
    shown = excerpts(lines)
    assert [number for number, _, _ in shown if number] == sorted(
        number for number, _, _ in shown if number
    )


def test_the_result_does_not_depend_on_the_order_of_the_class():
    texts = CLASS | {"s3": own(3) + ODD, "s17": own(17) + RENAMED}
    turned = dict(reversed(texts.items()))
    (one_way,), (other,) = (similar_pairs(class_runs(t), 0.3, 40) for t in (texts, turned))
    assert one_way.bits == pytest.approx(other.bits)


@pytest.mark.parametrize(
    "text", ["\n" * 2_000_000, "(" * 500_000, "a" * 900_000, "'''" * 9, "\x00"]
)
def test_hostile_text_takes_no_time(text):
    assert len(runs_of(text)) <= 80_000
    assert similar_pairs(class_runs({"a": text, "b": text, "c": "x"}), 0.5, 1) is not None


def test_the_command_writes_a_page_of_text(tmp_path, capsys):
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name, text in (CLASS | {"s3": own(3) + ODD + "# <script>", "s17": ODD}).items():
        cells = [{"cell_type": "code", "source": text}]
        (folder / f"{name}.ipynb").write_text(json.dumps({"cells": cells}), "utf8")
    (folder / "broken.ipynb").write_text("{", "utf8")
    out = tmp_path / "similar.html"
    assert main(["similar", str(folder), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "similar pairs: 1, of 23 submissions" in printed
    assert "left out, because it cannot be read: the work of broken" in printed
    page = out.read_text("utf8")
    assert "s17 and s3" in page
    assert "<mark>| def attention(q, k, v):</mark>" in page
    assert "<script" not in page
    assert main(["similar", str(folder), "--out", str(folder / "x.html")]) == 2
    assert "every file is a submission" in capsys.readouterr().err
    assert "No pair is as similar" in similar_page([], class_runs({"a": ""}), {}, 0.5)


def test_three_of_three_with_the_same_code_are_named(tmp_path, capsys):
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in ("anna", "ben", "carl"):
        cells = [{"cell_type": "code", "source": ODD + "\n" * (name == "ben")}]
        (folder / f"{name}.ipynb").write_text(json.dumps({"cells": cells}), "utf8")
    out = tmp_path / "similar.html"
    assert main(["similar", str(folder), "--out", str(out)]) == 0
    assert "the same code to the letter: anna, ben, carl" in capsys.readouterr().out
    page = out.read_text("utf8")
    assert "<li>anna, ben, carl</li>" in page
    assert "No pair is as similar" not in page
    assert same_code({"a": "x", "b": "y", "c": ""}) == []


def test_too_few_that_can_be_read_are_told_with_the_others(tmp_path, capsys):
    for name in ("anna", "ben"):
        cells = [{"cell_type": "code", "source": ODD}]
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": cells}), "utf8")
    (tmp_path / "carl.ipynb").write_text("{", "utf8")
    assert main(["similar", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "at least 3 submissions that can be read; got 2" in printed.err
    assert "the work of carl" in printed.out
