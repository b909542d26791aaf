"""What the benchmarks say: medians and ratios that are right, whatever the machine. No timing."""

import json
import re
import sys
from collections import Counter
from itertools import count
from pathlib import Path

import pytest
import torch

from benchmarks import building, measuring, record, speeds, table
from benchmarks.measuring import Section, Setting
from benchmarks.peers.joint_gpt import JointGPT, Step
from benchmarks.sections import SECTIONS

FOLDER = Path(table.__file__).parent
EPYC = "processor : 0\nvendor_id : AuthenticAMD\nmodel name : AMD EPYC\nflags : fpu avx2 {}\n\n"
MACHINE = {"date": "2001-02-03", "processor": "an abacus", "python": "3.11"}


def test_each_round_begins_with_another_and_calls_all():
    called, clock = [], count()
    calls = {name: lambda name=name: called.append(name) or float(next(clock)) for name in "abc"}
    taken = measuring.in_turn(calls, budget=0, least=4)
    assert ["".join(called[i : i + 3]) for i in range(0, 12, 3)] == ["abc", "bca", "cab", "abc"]
    assert Counter(called) == dict.fromkeys("abc", 4)
    assert taken == {"a": [0, 5, 7, 9], "b": [1, 3, 8, 10], "c": [2, 4, 6, 11]}


def test_a_ratio_is_the_median_of_the_rounds_and_not_the_ratio_of_the_medians():
    taken = {"ours": [1.0, 2.0, 9.0], "theirs": [4.0, 2.0, 3.0]}
    ours, theirs = measuring.rows("a race", taken, "ours")
    assert [row["milliseconds"] for row in (ours, theirs)] == [2000, 3000]
    assert theirs["ratio"] == [0.625, 1, 2], "of 1/4, 2/2 and 9/3; of the medians it is 2/3"
    assert "ratio" not in ours
    assert ours["rounds"] == 3


def test_a_single_round_has_a_ratio_and_no_spread():
    theirs = measuring.rows("once", {"ours": [3.0], "theirs": [4.0]}, "ours")[1]
    assert theirs["ratio"] == [0.75]
    assert "(" not in table.cell(theirs)


def test_the_slow_stop_early_and_are_compared_with_the_rounds_that_they_had(monkeypatch):
    clock = {"ours": 2.0, "near": 3.0, "far": 10.0}
    monkeypatch.setattr(Setting, "timed", lambda self, call: call)
    monkeypatch.setattr(Setting, "seconds", lambda self, quiet: 1e-9)
    calls = {name: lambda name=name: clock[name] for name in clock}
    rows = measuring.contest("a race", calls, Setting(), ours="ours", budget=1)
    assert {row["name"]: row["rounds"] for row in rows} == {"ours": 6, "near": 6, "far": 3}
    assert [row["ratio"][1] for row in rows[1:]] == [0.667, 0.2]


def test_a_clock_of_the_processor_is_for_one_thread():
    assert Setting(clock="cpu").timed(lambda: None)() >= 0
    busy = Setting(threads=2, clock="cpu")
    assert record.circumstances(busy)["clock"] == "wall"


def test_a_gap_is_a_share_of_the_largest_number():
    exact = torch.tensor([1.0, -8.0, 2.0])
    assert measuring.gap(exact + torch.tensor([0.0, 0.0, -2.0]), exact) == 0.25


@pytest.mark.parametrize(
    ("flags", "family"), [("", "amd-avx2"), ("avx512f", "amd-avx512"), ("amx_tile", "amd-amx")]
)
def test_a_family_is_the_vendor_and_the_widest_instructions(flags, family):
    assert record.family(EPYC.format(flags)) == family


def test_an_intel_is_no_amd_and_an_unknown_vendor_keeps_its_machines_name(monkeypatch):
    intel = EPYC.replace("AuthenticAMD", "GenuineIntel")
    assert record.family(intel.format("avx512f amx_tile")) == "intel-amx"
    monkeypatch.setattr(record.platform, "machine", lambda: "arm64")
    assert record.family("") == "arm64"


def test_a_section_replaces_its_last_result_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    monkeypatch.setattr(record, "family", lambda: "amd-avx2")
    for name, threads, rows in (("tiles", 1, []), ("forward", 2, []), ("tiles", 1, [{"a": 1}])):
        record.store(name, Section(rows), Setting(threads))
    (known,) = record.load().values()
    assert [(run["section"], run["threads"]) for run in known["runs"]] == [
        ("forward", 2), ("tiles", 1)
    ]  # fmt: skip
    assert known["runs"][1]["rows"] == [{"a": 1}]
    assert known["runs"][1]["measured"]["processor"]
    assert len(known["runs"][1]["measured"]["date"]) == 10


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0.1234, "0.123 ms"), (45.67, "45.7 ms"), (1234.5, "1.23 s")]
)
def test_a_time_has_three_digits(milliseconds, text):
    assert table.duration(milliseconds) == text


def family(ours, theirs, ratio, what="Forward pass, 1 x 2 tokens"):
    rows = [{"what": what, "name": "ours", "milliseconds": ours, "share_of_peak": 0.8},
            {"what": what, "name": "transformers", "milliseconds": theirs,
             "ratio": ratio}]  # fmt: skip
    measured = MACHINE | {
        "commit": "abc",
        "torch": "9",
        "flags": ["beads"],
        "clock": "cpu",
        "busy": 3,
    }
    return {"runs": [{"section": "forward", "threads": 1, "measured": measured, "rows": rows,
                      "missing": {"an engine": "not installed"}}]}  # fmt: skip


TWO = {"amd": family(12.3, 2460.0, [0.4, 0.5, 0.6]), "intel": family(5.0, 4.0, [1.1, 1.25, 1.3])}


def test_families_stand_side_by_side_and_a_faster_peer_is_bold():
    assert table.results(TWO).splitlines() == [
        "| | amd | intel |",
        "|---|---|---|",
        "| **Forward pass, 1 x 2 tokens** | | |",
        "| ours | 12.3 ms; 80% of peak | 5 ms; 80% of peak |",
        "| transformers | 2.46 s; 0.50 (0.40 to 0.60) | 4 ms; **1.25** (1.10 to 1.30) |",
    ]


def test_what_one_family_alone_has_leaves_a_gap_in_the_other():
    other = family(1.0, 2.0, [0.5], what="Forward pass, 9 x 9 tokens")
    last = table.results({"amd": TWO["amd"], "intel": other}).splitlines()[-1]
    assert last == "| transformers |  | 2 ms; 0.50 |"


def test_the_list_of_faster_peers_leaves_out_what_the_spread_covers():
    assert table.where_faster(TWO) == "- Forward pass, 1 x 2 tokens, intel: transformers (1.25)."
    near = {"amd": family(1.0, 1.0, [0.9, 1.01, 1.1])}
    assert table.where_faster(near) == "No peer was faster."


def test_a_goal_is_held_against_the_best_peer_of_each_family():
    line = table.goals(TWO).splitlines()[2]
    assert line.endswith("| 1.05 | 0.50 (transformers): met | 1.25 (transformers): missed |")


def test_the_origins_name_the_day_the_commit_the_clock_and_what_is_missing():
    text = table.origins({"amd": TWO["amd"]})
    assert "2001-02-03, commit abc, torch 9, CPU time on a busy machine (load 3.0 a core)" in text
    assert "an abacus (beads) | forward (1) |" in text
    assert text.splitlines()[-1] == "- amd: not installed: an engine in forward (1)."


def test_the_table_takes_its_place_and_nothing_else_moves():
    start, end = table.markers("goals")
    page = f"above\n{start}\nold\n{end}\nbelow\n"
    new = table.placed(page, "goals", "new")
    assert new == page.replace("old", "new")
    assert table.placed(new, "goals", "new") == new


def test_the_page_shows_what_was_measured():
    page = table.PAGE.read_text("utf8")
    for name, text in table.tables().items():
        assert table.placed(page, name, text) == page, f"{name}: python -m benchmarks.table --write"


def test_every_result_on_record_belongs_to_a_section_and_says_where_it_comes_from():
    families = record.load()
    assert len(families) >= 2
    for known in families.values():
        for run in known["runs"]:
            assert run["section"] in SECTIONS
            assert re.match(r"\d{4}-\d\d", run["measured"]["date"])
            assert re.match(r"[0-9a-f]{7}", run["measured"]["commit"])
            assert run["rows"]


def test_no_benchmark_patches_a_name_of_the_course_or_reads_a_private_one():
    for path in FOLDER.rglob("*.py"):
        text = path.read_text("utf8")
        assert "unittest.mock" not in text, path
        assert not re.search(r"from lib[\w.]* import .*\b_", text), path


def test_the_step_of_the_joint_model_goes_on_where_the_past_ends():
    torch.manual_seed(0)
    gpt = JointGPT(vocab=29, context_length=13, d_model=12, heads=3, layers=2).eval()
    ids = torch.randint(29, (1, 11))
    with torch.no_grad():
        step = Step(gpt)
        _, *past = step(ids[:, :7], *step.empty())
        logits, *past = step(ids[:, 7:], *past)
        assert past[0].shape == (1, 3, 11, 4)
        assert measuring.gap(logits[:, -1], gpt(ids)[:, -1]) < 1e-5


SPEEDS = {"machine": MACHINE, "seconds": {"book": 12.34, "draft": 4.0},
          "notebooks": {"chapters/01": 5.0, "chapters/02": 44.0, "chapters/03": 3.0,
                        "exercises/01": 7.0}}  # fmt: skip


def test_the_speeds_stand_against_their_limits_with_the_longest_notebooks_first():
    assert speeds.rendered(SPEEDS).splitlines()[4:] == [
        "| The whole book, from clean | 12.3 s | 33 s |",
        "| A sentence saved, until its page says it | 4 s | 4 s |",
        "| chapters/02.ipynb | 44 s | 90 s |",
        "| exercises/01.ipynb | 7 s | 90 s |",
        "| chapters/01.ipynb | 5 s | 90 s |",
        "| All 4 notebooks together | 59 s | |",
    ]


def test_what_takes_minutes_is_told_in_minutes():
    assert speeds.seconds(1170.97) == "19.5 minutes"
    assert speeds.seconds(599.4) == "599 s"


def test_what_takes_too_long_is_named():
    assert speeds.beyond(SPEEDS) == []
    slow = SPEEDS | {"seconds": {"book": 40.1, "test": 1201.0}, "notebooks": {"chapters/02": 91.0}}
    assert [line.split(":")[0] for line in speeds.beyond(slow)] == ["book", "test", "chapters/02"]


def test_the_speeds_on_record_keep_their_limits():
    assert speeds.beyond(json.loads(speeds.BUILDING.read_text("utf8"))) == []


def test_the_waits_in_the_page_on_record_keep_their_limits():
    waits = json.loads(speeds.WAITS.read_text("utf8"))["waits"]
    late = [name for name, (_, most) in speeds.WAITS_LIMITS.items() if waits[name] > most]
    assert late == []
    assert waits["tokens a second"] >= speeds.SLOWEST


def test_the_waits_stand_against_their_limits():
    names = dict.fromkeys(speeds.WAITS_LIMITS, 1.25)
    known = {"machine": MACHINE, "browser": "Chromium 1", "cores": 2}
    lines = speeds.waits_rendered(known | {"waits": names | {"tokens a second": 9.5}}).splitlines()
    assert lines[0].startswith("Measured on 2001-02-03: an abacus, 2 processors, Chromium 1.")
    assert "| The same on a later visit | 1.2 s | 6 s |" in lines
    assert lines[-1] == "| *Continue*, tokens a second | 9.5 | at least 8 |"


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
