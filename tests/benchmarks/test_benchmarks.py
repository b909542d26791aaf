"""What the benchmarks say: medians and ratios that are right, whatever the machine. No timing."""

import importlib.util
import json
import sys
from collections import Counter
from itertools import count
from pathlib import Path

import pytest
import torch

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def room(name):
    """A module of benchmarks/, which is a folder of scripts and no package."""
    found = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


sys.path.append(str(FOLDER))  # as Python does for a script
measuring, table, building = room("measuring"), room("table"), room("building")

MACHINE = {"date": "2001-02-03", "processor": "an abacus", "flags": ["beads"], "threads": 2,
           "system": "wood", "python": "3.11", "torch": "0"}  # fmt: skip


def test_each_round_begins_with_another_and_calls_all():
    called, clock = [], count()
    calls = {name: lambda name=name: called.append(name) or float(next(clock)) for name in "abc"}
    taken = measuring.in_turn(calls, budget=0, least=4)
    assert ["".join(called[i : i + 3]) for i in range(0, 12, 3)] == ["abc", "bca", "cab", "abc"]
    assert Counter(called) == dict.fromkeys("abc", 4)
    assert taken == {"a": [0, 5, 7, 9], "b": [1, 3, 8, 10], "c": [2, 4, 6, 11]}


def test_a_ratio_is_the_median_of_the_rounds_and_not_the_ratio_of_the_medians():
    taken = {"ours": [1.0, 2.0, 9.0], "theirs": [4.0, 2.0, 3.0], "third": [2.0, 8.0, 9.0]}
    ours, theirs, third = measuring.rows("a race", taken, "ours", "third")
    assert [row["milliseconds"] for row in (ours, theirs, third)] == [2000, 3000, 8000]
    assert theirs["ratio"] == [0.625, 1, 2], "of 1/4, 2/2 and 9/3; of the medians it is 2/3"
    assert third["ratio"] == [0.375, 0.5, 0.75]
    assert theirs["ratio_plain"][1] == 3, "of 2/4, 8/2 and 9/3"
    assert "ratio" not in ours
    assert "ratio_plain" not in third
    assert {row["what"] for row in (ours, theirs, third)} == {"a race"}
    assert ours["rounds"] == 3


def test_a_single_round_has_a_ratio_and_no_spread():
    theirs = measuring.rows("once", {"ours": [3.0], "theirs": [4.0]}, "ours")[1]
    assert theirs["ratio"] == [0.75] * 3
    assert "(" not in table.line(theirs)


def test_a_gap_is_a_share_of_the_largest_number():
    exact = torch.tensor([1.0, -8.0, 2.0])
    assert measuring.gap(exact + torch.tensor([0.0, 0.0, -2.0]), exact) == 0.25


@pytest.mark.parametrize(
    ("milliseconds", "said"), [(0.1234, "0.123 ms"), (45.67, "45.7 ms"), (1234.5, "1.23 s")]
)
def test_a_time_has_three_digits(milliseconds, said):
    assert table.duration(milliseconds) == said


def test_the_table_says_where_when_what_and_by_how_much():
    result = {
        "machine": MACHINE,
        "rows": [
            {"what": "A race", "name": "ours", "milliseconds": 12.3, "share_of_peak": 0.8},
            {"what": "A race", "name": "theirs", "milliseconds": 2460.0, "ratio": [0.4, 0.5, 0.6],
             "extra_bytes": 2_500_000},
            {"what": "A stroll", "name": "theirs", "note": "stayed at home"},
        ],
        "missing": {"an engine": "not measured"},
    }  # fmt: skip
    said = table.markdown(result)
    assert "2001-02-03: an abacus (beads), 2 threads" in said
    assert said.splitlines()[-6:] == [
        "| **A race** | | | |",
        "| ours | 12.3 ms |  | 80% of the peak |",
        "| theirs | 2.46 s | 0.50 (0.40 to 0.60) | 2.5 MB beside the output |",
        "| **A stroll** | | | |",
        "| theirs |  |  | stayed at home |",
        "| an engine | | | not measured |",
    ]


def test_the_table_takes_its_place_and_nothing_else_moves():
    page = f"above\n{table.MARKERS[0]}\nold\n{table.MARKERS[1]}\nbelow\n"
    new = table.placed(page, "new")
    assert new == page.replace("old", "new")
    assert table.placed(new, "new") == new
    table.placed(table.README.read_text("utf8"), "new")


def test_the_machine_is_named():
    said = measuring.machine(3)
    assert said["threads"] == 3
    assert said["processor"]
    assert len(said["date"]) == 10


def test_the_page_shows_what_was_measured():
    page = table.README.read_text("utf8")
    shown = table.tables()
    assert len(shown) == 2
    for markers, text in shown.items():
        assert table.placed(page, text, markers) == page


SPEEDS = {"machine": MACHINE, "seconds": {"book": 12.34, "draft": 4.0},
          "notebooks": {"chapters/01": 5.0, "chapters/02": 44.0, "chapters/03": 3.0,
                        "exercises/01": 7.0}}  # fmt: skip


def test_the_speeds_stand_against_their_limits_with_the_longest_notebooks_first():
    assert table.speeds(SPEEDS).splitlines()[4:] == [
        "| The whole book, from clean | 12.3 s | 20 s |",
        "| A sentence saved, until its page says it | 4 s | 4 s |",
        "| chapters/02.ipynb | 44 s | 90 s |",
        "| exercises/01.ipynb | 7 s | 90 s |",
        "| chapters/01.ipynb | 5 s | 90 s |",
        "| All 4 notebooks together | 59 s | |",
    ]


def test_what_takes_minutes_is_told_in_minutes():
    assert table.seconds(1170.97) == "19.5 minutes"
    assert table.seconds(599.4) == "599 s"


def test_what_takes_too_long_is_named():
    assert table.beyond(SPEEDS) == []
    slow = SPEEDS | {"seconds": {"book": 20.1, "test": 1201.0}, "notebooks": {"chapters/02": 91.0}}
    assert [line.split(":")[0] for line in table.beyond(slow)] == ["book", "test", "chapters/02"]


def test_the_speeds_on_record_keep_their_limits():
    for record in FOLDER.glob("building.json"):
        assert table.beyond(json.loads(record.read_text("utf8"))) == []


DRAFT = """
import pathlib, sys, time
page, built = (pathlib.Path(name) for name in sys.argv[1:])
print("It follows what you save")
while True:
    half = built.with_suffix(".half")  # nobody is to read a page that is half written
    half.write_text(page.read_text("utf8"), "utf8")
    half.replace(built)
    time.sleep(0.01)
"""


def test_the_record_is_of_a_copy_of_the_tree_and_waits_for_each_sentence_that_it_adds(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(building, "PAUSE", 0)
    building.copy_of_the_tree(tmp_path)
    page = tmp_path / building.EDITED
    assert page.read_text("utf8").count("\n## Summary\n") == 1
    assert (tmp_path / ".venv").is_symlink()
    built = tmp_path / "_build" / "html" / building.EDITED.with_suffix(".html")
    built.parent.mkdir(parents=True)
    built.touch()
    (tmp_path / "draft.py").write_text(DRAFT, "utf8")
    recipe = f"draft:\n\t@{sys.executable} draft.py {page} {built}\n"
    (tmp_path / "Makefile").write_text(recipe, "utf8")
    with building.drafting(tmp_path):
        assert 0 <= building.edit(tmp_path, 1) < building.PATIENCE
        assert 0 <= building.edit(tmp_path, 2) < building.PATIENCE
    for number in (1, 2):
        assert building.SENTENCE.format(number).strip() in built.read_text("utf8")


def test_a_draft_that_does_not_build_is_no_measurement(tmp_path, monkeypatch):
    (tmp_path / "Makefile").write_text("draft:\n\t@echo the page is broken; false\n", "utf8")
    with (
        pytest.raises(AssertionError, match="make draft ends:\nthe page is broken"),
        building.drafting(tmp_path),
    ):
        pass
    monkeypatch.setattr(building, "PATIENCE", 0)
    for name in (building.EDITED, Path("_build") / "html" / building.EDITED.with_suffix(".html")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("\n## Summary\n", "utf8")
    with pytest.raises(AssertionError, match="not built in 0 s"):
        building.edit(tmp_path, 1)
