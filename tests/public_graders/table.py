"""Every bug against every grader, and against our own checks.

python -m tests.public_graders.table            print the table
python -m tests.public_graders.table --write    store what it is made from, in results.json
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from checks import judge
from classroom.provided import exercise_named
from tests.public_graders import (
    arena,
    cs231n,
    cs336,
    d2l,
    deep_ml,
    deeplearning_ai,
    llms_from_scratch,
    llmsys,
)
from tests.public_graders.bugs import BUGS, Bug, ours

RESULTS = Path(__file__).with_name("results.json")
GRADERS = [
    cs336.GRADER, llmsys.GRADER, arena.GRADER, cs231n.GRADER, *llms_from_scratch.GRADERS,
    deeplearning_ai.GRADER, *deep_ml.GRADERS, d2l.GRADER,
]  # fmt: skip
PAGES = {"6": "06_softmax", "7": "07_self_attention", "8": "08_masking", "9": "09_multi_head",
         "11": "11_block"}  # fmt: skip
SIGNS = {"caught": "caught", "passes": "**passes**", "not asked": "–"}


def our_verdict(bug: Bug) -> dict[str, object]:
    """What the check of this course says, to the same parts."""
    task = exercise_named(PAGES[bug.task.split(".")[0]])[bug.task]
    said = judge(task, ours(bug.pieces, bug.task))
    return {"status": said.status, "ideas": list(said.misconceptions),
            "sentence": said.sentences[0] if said.sentences else ""}  # fmt: skip


def results() -> dict[str, object]:
    """Everything, as data."""
    graders = []
    for one in GRADERS:
        tests = [{"says": test.says, "sees": sorted(test.sees)} for test in one.tests]
        graders.append({"name": one.name, "read": [asdict(file) for file in one.read],
                        "strength": one.strength, "limit": one.limit, "tests": tests})  # fmt: skip
    bugs = [{"name": bug.name, "part": bug.part, "task": bug.task,
             "graders": {one.name: one.verdict(bug.pieces, bug.part) for one in GRADERS},
             "ours": our_verdict(bug)} for bug in BUGS]  # fmt: skip
    return {"graders": graders, "bugs": bugs}


def markdown(found: dict) -> str:
    """The table: a row for each bug, a column for each grader, and the name that we give."""
    names = [one["name"] for one in found["graders"]]
    lines = [f"| bug | {' | '.join(names)} | this course |", "|---" * (len(names) + 2) + "|"]
    for bug in found["bugs"]:
        signs = [SIGNS[bug["graders"][name]] for name in names]
        named = ", ".join(bug["ours"]["ideas"]) or bug["ours"]["status"]
        lines.append(f"| {bug['name']} | {' | '.join(signs)} | {named} |")
    return "\n".join(lines)


if __name__ == "__main__":
    found = results()
    if "--write" in sys.argv:
        RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf8")
    print(markdown(found))
