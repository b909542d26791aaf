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
    verdict = judge(task, ours(bug.pieces, bug.task))
    return {"status": verdict.status, "misconceptions": list(verdict.misconceptions),
            "sentence": verdict.sentences[0] if verdict.sentences else ""}  # fmt: skip


def results() -> dict[str, object]:
    """Everything, as data."""
    graders = []
    for grader in GRADERS:
        tests = [{"says": test.says, "sees": sorted(test.sees)} for test in grader.tests]
        graders.append({"name": grader.name, "read": [asdict(file) for file in grader.read],
                        "strength": grader.strength, "limit": grader.limit,
                        "tests": tests})  # fmt: skip
    bugs = [{"name": bug.name, "part": bug.part, "task": bug.task,
             "graders": {grader.name: grader.verdict(bug.pieces, bug.part) for grader in GRADERS},
             "ours": our_verdict(bug)} for bug in BUGS]  # fmt: skip
    return {"graders": graders, "bugs": bugs}


def markdown(record: dict) -> str:
    """The table: a row for each bug, a column for each grader, and the name that we give."""
    names = [grader["name"] for grader in record["graders"]]
    lines = [f"| bug | {' | '.join(names)} | this course |", "|---" * (len(names) + 2) + "|"]
    for bug in record["bugs"]:
        signs = [SIGNS[bug["graders"][name]] for name in names]
        named = ", ".join(bug["ours"]["misconceptions"]) or bug["ours"]["status"]
        lines.append(f"| {bug['name']} | {' | '.join(signs)} | {named} |")
    return "\n".join(lines)


if __name__ == "__main__":
    record = results()
    if "--write" in sys.argv:
        RESULTS.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf8")
    print(markdown(record))
