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
    rows = [row for found in tried(source).values() for row in found]
    told = [one for row in rows for one in row["forms"].values() if one is not None]
    summed = {
        key: sum(row[key] for row in rows) for key in ("killed", "named", "styles", "refused")
    }
    ideas = sum(len(row["ideas"]) for row in rows)
    return "\n".join(
        [
            f"| in {len(rows)} tasks | tried | as it should be |",
            "|---|--:|--:|",
            f"| wrong ideas that are not accepted | {ideas:,} | {summed['killed']:,} |",
            f"| wrong ideas that are called by their own name | {ideas:,} | {summed['named']:,} |",
            f"| failures of form that are told as what they are | {len(told):,} | {sum(told):,} |",
            f"| right answers, in five styles or more for each task, that are accepted "
            f"| {summed['styles']:,} | {summed['styles'] - summed['refused']:,} |",
        ]
    )


def forms(source):
    """Each failure of form, with the number of tasks in which it was tried."""
    told = Counter()
    apart = Counter()
    for row in (row for found in tried(source).values() for row in found):
        for name, one in row["forms"].items():
            told[name] += one is True
            apart[name] += one is None
    rows = ["| what is handed in | told in | does not apply to |", "|---|--:|--:|"]
    return "\n".join(rows + [f"| {name} | {told[name]} | {apart[name] or ''} |" for name in told])


def matrix(source):
    """Every task by every wrong idea, a table for each chapter."""
    found = tried(source)
    parts = []
    for one in read_chapters(str(source)):
        rows = [
            "| task | wrong ideas, each killed and named | right styles | forms |",
            "|---|---|--:|--:|",
            *map(line, found[one.stem]),
        ]
        count = sum(len(row["ideas"]) for row in found[one.stem])
        head = f"<details><summary>{one.name}: {count} wrong ideas</summary>"
        parts += [head, "\n".join(rows), "</details>"]
    return "\n\n".join(parts)


def line(row):
    """One task: its wrong ideas by their ids, how often each, and what else was tried."""
    counted = Counter(row["ideas"])
    ideas = [linked(idea) + (f" × {n}" if n > 1 else "") for idea, n in counted.items()]
    told = sum(one is True for one in row["forms"].values())
    return f"| {row['task']} {row['title']} | {', '.join(ideas)} | {row['styles']} | {told} |"


def linked(idea):
    """One wrong idea, or several at once, each leading to what is told about it."""
    return " with ".join(f'<a href="guide.html#idea-{one}">{one}</a>' for one in idea.split("+"))


def attacks(source):
    """Every attack on the grader, with the status that it gets."""
    rows = ["| kind | what is handed in | status |", "|---|---|---|"]
    text = (source / ATTACKS).read_text("utf8")
    for group, body in GROUP.findall(text):
        for number, (name, status, _) in enumerate(ATTACK.findall(body)):
            rows.append(f"| {'' if number else group} | {name} | {status} |")
    return "\n".join(rows)


def others(source):
    """Each public grader: how many of the bugs it asks about, catches and lets pass."""
    found = json.loads((source / OTHERS).read_text("utf8"))
    rows = ["| tests | bugs they could see | caught | pass |", "|---|--:|--:|--:|"]
    for one in found["graders"]:
        seen = Counter(bug["graders"][one["name"]] for bug in found["bugs"])
        count = seen["caught"] + seen["passes"]
        rows.append(f"| {one['name']} | {count} | {seen['caught']} | {seen['passes']} |")
    wrong = sum(bug["ours"]["status"] != "passed" for bug in found["bugs"])
    every = len(found["bugs"])
    return "\n".join([*rows, f"| **this course** | {every} | {wrong} | {every - wrong} |"])


def strengths(source):
    """What each public grader does well, what it leaves open, and where it was read."""
    lines = []
    for one in json.loads((source / OTHERS).read_text("utf8"))["graders"]:
        read = "; ".join(f"{file['repository']}, `{file['path']}` at `{file['commit'][:9]}`"
                         for file in one["read"])  # fmt: skip
        lines.append(f"- **{one['name']}**. {one['strength']} {one['limit']} Read in {read}.")
    return "\n".join(lines)


def bugs(source):
    """Every bug: which public graders let it pass, and what it is called here."""
    found = json.loads((source / OTHERS).read_text("utf8"))["bugs"]
    rows = ["| bug | caught by | passes | name here |", "|---|--:|---|---|"]
    for one in found:
        passes = [name for name, said in one["graders"].items() if said == "passes"]
        asked = sum(said != "not asked" for said in one["graders"].values())
        name = ", ".join(map(linked, one["ours"]["ideas"])) or "caught without a name"
        caught = f"{asked - len(passes)} of {asked}"
        rows.append(f"| {one['name']} | {caught} | {'; '.join(passes)} | {name} |")
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
