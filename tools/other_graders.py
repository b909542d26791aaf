"""Our checks inside nbgrader and otter: a class is handed out to, solved, graded and read.

make compat    installs both beside the course, runs this, and fills the table in guide.md
"""

from __future__ import annotations

import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

import nbformat

from classroom.handing_out.release import release
from classroom.provided import exercise_named
from tests.classroom.submissions import CLASS, EXERCISE, Submission, filled_in

ROOT = Path(__file__).resolve().parents[1]
RESULTS, GUIDE = ROOT / "tests/classroom/other_graders.json", ROOT / "appendix/guide.md"
MARKERS = "<!-- other graders: made by tools/other_graders.py -->", "<!-- end of other graders -->"
TASKS = {task.id: task for task in exercise_named(EXERCISE).tasks}
NAMES = {task.id: task.name for task in TASKS.values()}


def run(engine: str, folder: Path, *words: str | Path) -> None:
    """Run one command of an engine in a folder, as a teacher would; its words if it fails."""
    beside = ROOT / ".venv" / f".{engine}"
    settings = os.environ | {"PYTHONPATH": str(beside), "ATTENTION_RECORD": "off",
                             "PATH": f"{beside / 'bin'}:{os.environ['PATH']}"}  # fmt: skip
    done = subprocess.run([sys.executable, "-m", engine, *words], cwd=folder, env=settings,
                          capture_output=True, text=True, timeout=600)  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{engine} {' '.join(map(str, words))}:\n{done.stdout}\n{done.stderr}")


def written(page: Path, submission: Submission, to: Path) -> None:
    """One student's work: the page that was handed out, with answers."""
    notebook = nbformat.read(page, as_version=4)
    to.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(filled_in(notebook, submission.answers, NAMES), to)


def in_nbgrader(folder: Path) -> dict[str, tuple[float, str]]:
    """Points and feedback of everybody."""
    (folder / "nbgrader_config.py").write_text('get_config().CourseDirectory.course_id = "c"\n')
    release([EXERCISE], folder / "source" / "week", "nbgrader")
    run("nbgrader", folder, "generate_assignment", "week")
    page = folder / "release" / "week" / f"{EXERCISE}.ipynb"
    for submission in CLASS:
        written(page, submission, folder / "submitted" / submission.name / "week" / page.name)
    for command in (["autograde", "week"], ["generate_feedback", "week"], ["export"]):
        run("nbgrader", folder, *command)
    rows = csv.DictReader((folder / "grades.csv").read_text("utf8").splitlines())
    points = {row["student_id"]: float(row["score"]) for row in rows}
    results = {}
    for submission in CLASS:
        feedback = folder / "feedback" / submission.name / "week" / f"{EXERCISE}.html"
        results[submission.name] = (points[submission.name], plain(feedback.read_text("utf8")))
    return results


def in_otter(folder: Path) -> dict[str, tuple[float, str]]:
    """The same."""
    release([EXERCISE], folder / "source", "otter")
    run("otter", folder / "source", "assign", f"{EXERCISE}.ipynb", "../dist", "--no-pdfs")
    tests = next((folder / "dist" / "autograder").glob("*.zip"))
    results = {}
    for submission in CLASS:
        own = folder / submission.name / f"{EXERCISE}.ipynb"
        written(folder / "dist" / "student" / f"{EXERCISE}.ipynb", submission, own)
        run("otter", own.parent, "run", own, "-a", tests, "-o", ".", "--no-logo")
        tests_run = json.loads((own.parent / "results.json").read_text("utf8"))["tests"]
        points = sum(test.get("score") or 0 for test in tests_run)
        results[submission.name] = (points, "\n".join(test["output"] for test in tests_run))
    return results


def plain(page: str) -> str:
    """What a page of feedback says, without its markup."""
    return html.unescape(re.sub("<[^>]*>", "", page))


def outcome(submission: Submission, points: float, feedback: str) -> dict[str, object]:
    """What an engine gave, and whether the sentence that should be heard is on the page."""
    return {"points": points, "heard": submission.heard in " ".join(feedback.split())}


def should_get(submission: Submission) -> int:
    """The points of the tasks that are right."""
    return sum(TASKS[task].importance for task in submission.right)


def markdown(results: dict) -> str:
    """The table that the guide shows."""
    engines = [f"{name} {version}" for name, version in results["versions"].items()]
    lines = [f"| handed in | worth | {' | '.join(engines)} |", "|---|---:|---:|---:|"]
    for submission in CLASS:
        got = [
            f"{results['class'][submission.name][engine]['points']:g}"
            for engine in results["versions"]
        ]
        lines.append(f"| {submission.what} | {should_get(submission)} | {' | '.join(got)} |")
    return "\n".join(lines)


def main() -> int:
    """Run both, write down what came, and say what is not as it should be."""
    versions = {}
    for name, known in (("nbgrader", "nbgrader"), ("otter", "otter-grader")):
        beside = [str(ROOT / ".venv" / f".{name}")]
        versions[name] = next(
            distribution.version for distribution in distributions(path=beside, name=known)
        )
    folder = Path(tempfile.mkdtemp(prefix="engines-"))
    try:
        for name in versions:
            (folder / name).mkdir()
        given = {"nbgrader": in_nbgrader(folder / "nbgrader"), "otter": in_otter(folder / "otter")}
    finally:
        shutil.rmtree(folder)
    results = {"versions": versions, "class": {
        submission.name: {name: outcome(submission, *given[name][submission.name])
                          for name in versions} for submission in CLASS}}  # fmt: skip
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf8")
    before, rest = GUIDE.read_text("utf8").split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    GUIDE.write_text(f"{before}{MARKERS[0]}\n{markdown(results)}\n{MARKERS[1]}{after}", "utf8")
    print(markdown(results))
    wrong = [
        f"{submission.name} in {name}: {got['points']:g} points, {should_get(submission)} expected"
        + ("" if got["heard"] else f"; nothing is said of {submission.heard!r}")
        for submission in CLASS if submission.honest
        for name, got in results["class"][submission.name].items()
        if got != {"points": should_get(submission), "heard": True}
    ]  # fmt: skip
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
