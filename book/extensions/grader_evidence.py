"""What was tried on the checks and on the grader, counted and listed out of their tests."""

import json
import re
from collections import Counter
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

from book.extensions.api_reference import parsed
from book.extensions.teachers_guide import read_chapters

RECORD = "book/catalogue/kill_matrix.json"
ATTACKS = "tests/classroom/attacks.md"
OTHERS = "tests/public_graders/results.json"
GROUP = re.compile(r"^## ([^\n]+)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ATTACK = re.compile(r"^### ([^\n]+): ([a-z ]+) \(([a-z, ]+)\)$", re.MULTILINE)


def tried(source):
    """The record of the kill matrix, as its test wrote it."""
    return json.loads((source / RECORD).read_text("utf8"))


def totals(source):
    """All tasks in one table."""
    rows = [row for listed in tried(source).values() for row in listed]
    named = [outcome for row in rows for outcome in row["forms"].values() if outcome is not None]
    summed = {
        key: sum(row[key] for row in rows) for key in ("killed", "named", "styles", "refused")
    }
    misconceptions = sum(len(row["misconceptions"]) for row in rows)
    return "\n".join(
        [
            f"| in {len(rows)} tasks | tried | as it should be |",
            "|---|--:|--:|",
            f"| misconceptions that are not accepted | {misconceptions:,} | {summed['killed']:,} |",
            f"| misconceptions that are named | {misconceptions:,} | {summed['named']:,} |",
            f"| failures of form that are named | {len(named):,} | {sum(named):,} |",
            f"| right answers, in five styles or more for each task, that are accepted "
            f"| {summed['styles']:,} | {summed['styles'] - summed['refused']:,} |",
        ]
    )


def forms(source):
    """Each failure of form, with the number of tasks in which it was tried."""
    named = Counter()
    apart = Counter()
    for row in (row for listed in tried(source).values() for row in listed):
        for name, outcome in row["forms"].items():
            named[name] += outcome is True
            apart[name] += outcome is None
    rows = ["| submission | named in | does not apply to |", "|---|--:|--:|"]
    return "\n".join(rows + [f"| {name} | {named[name]} | {apart[name] or ''} |" for name in named])


def matrix(source):
    """Every task by every misconception, a table for each chapter."""
    by_exercise = tried(source)
    parts = []
    for chapter in read_chapters(str(source)):
        rows = [
            "| task | misconceptions, each killed and named | right styles | forms |",
            "|---|---|--:|--:|",
            *map(line, by_exercise[chapter.stem]),
        ]
        count = sum(len(row["misconceptions"]) for row in by_exercise[chapter.stem])
        head = f"<details><summary>{chapter.name}: {count} misconceptions</summary>"
        parts += [head, "\n".join(rows), "</details>"]
    return "\n\n".join(parts)


def line(row):
    """One task: its misconceptions by their ids, how often each, and what else was tried."""
    counted = Counter(row["misconceptions"])
    named = [linked(ids) + (f" × {n}" if n > 1 else "") for ids, n in counted.items()]
    forms = sum(outcome is True for outcome in row["forms"].values())
    return f"| {row['task']} {row['title']} | {', '.join(named)} | {row['styles']} | {forms} |"


def linked(ids):
    """One misconception, or several at once, each leading to its explanation."""
    link = '<a href="guide.html#misconception-{0}">{0}</a>'
    return " with ".join(map(link.format, ids.split("+")))


def attacks(source):
    """Every attack on the grader, with the status that it gets."""
    rows = ["| kind | submission | status |", "|---|---|---|"]
    text = (source / ATTACKS).read_text("utf8")
    for group, body in GROUP.findall(text):
        for number, (name, status, _) in enumerate(ATTACK.findall(body)):
            rows.append(f"| {'' if number else group} | {name} | {status} |")
    return "\n".join(rows)


def others(source):
    """Each public grader: how many of the bugs it asks about, catches and lets pass."""
    record = json.loads((source / OTHERS).read_text("utf8"))
    rows = ["| tests | bugs they could see | caught | pass |", "|---|--:|--:|--:|"]
    for grader in record["graders"]:
        seen = Counter(bug["graders"][grader["name"]] for bug in record["bugs"])
        count = seen["caught"] + seen["passes"]
        rows.append(f"| {grader['name']} | {count} | {seen['caught']} | {seen['passes']} |")
    wrong = sum(bug["ours"]["status"] != "passed" for bug in record["bugs"])
    every = len(record["bugs"])
    return "\n".join([*rows, f"| **this course** | {every} | {wrong} | {every - wrong} |"])


def strengths(source):
    """What each public grader does well, what it leaves open, and where it was read."""
    lines = []
    for grader in json.loads((source / OTHERS).read_text("utf8"))["graders"]:
        read = "; ".join(f"{file['repository']}, `{file['path']}` at `{file['commit'][:9]}`"
                         for file in grader["read"])  # fmt: skip
        lines.append(
            f"- **{grader['name']}**. {grader['strength']} {grader['limit']} Read in {read}."
        )
    return "\n".join(lines)


def bugs(source):
    """Every bug: which public graders let it pass, and what it is called here."""
    listed = json.loads((source / OTHERS).read_text("utf8"))["bugs"]
    rows = ["| bug | caught by | passes | name here |", "|---|--:|---|---|"]
    for bug in listed:
        passes = [name for name, verdict in bug["graders"].items() if verdict == "passes"]
        asked = sum(verdict != "not asked" for verdict in bug["graders"].values())
        name = ", ".join(map(linked, bug["ours"]["misconceptions"])) or "caught without a name"
        caught = f"{asked - len(passes)} of {asked}"
        rows.append(f"| {bug['name']} | {caught} | {'; '.join(passes)} | {name} |")
    return "\n".join(rows)


class Tried(SphinxDirective):
    """`{tried} totals` is the table that the function of this name makes."""

    required_arguments = 1

    def run(self):
        makers = (totals, forms, matrix, attacks, others, strengths, bugs)
        makers = {make.__name__: make for make in makers}
        for name in (RECORD, ATTACKS, OTHERS):
            self.env.note_dependency(f"{self.env.srcdir}/{name}")
        return parsed(self, makers[self.arguments[0]](Path(self.env.srcdir)))


def setup(app):
    app.add_directive("tried", Tried)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
