"""What the teacher's guide counts and quotes, read from the pages, the tasks and the catalogue."""

import ast
import os
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

from book.extensions.api_reference import parsed
from book.sizes import page_size

GUIDE = "appendix/guide"
NUMBER = re.compile(r"M\d{2,4}")
LEVELS = range(1, 6)
SLASH = r"\\\1"  # these sentences are no Markdown, but for their code


@dataclass(frozen=True)
class GuideTask:
    """What a teacher needs to know of a task, and the misconceptions that its check names."""

    id: str
    title: str
    difficulty: int
    importance: int
    minutes: int
    misconceptions: tuple


@dataclass(frozen=True)
class Chapter:
    """A chapter's text, and the code of its checks."""

    stem: str
    text: str
    checks: Path

    @property
    def name(self):
        return re.search(r"^# (.+)$", self.text, re.MULTILINE)[1]

    @property
    def link(self):
        return f"[{self.name}](/chapters/{self.stem}.ipynb)"

    @property
    def number(self):
        return int(self.stem[:2])

    @property
    def reading(self):
        """The minutes that its core page takes, code included."""
        return page_size(self.text).minutes

    @property
    def working(self):
        """The minutes that its tasks take."""
        return sum(task.minutes for task in self.tasks)

    @cached_property
    def tasks(self):
        """Its tasks, as their file declares them."""
        tree = ast.parse(self.checks.read_text("utf8"))
        known = assigned(tree, self.checks.parent)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return [task(call, known) for call in calls if getattr(call.func, "id", "") == "Task"]


def assigned(tree, folder):
    """What a module of checks gives a name to, and the modules from which it imports."""
    known = {}
    for part in tree.body:
        if isinstance(part, ast.Assign):
            known |= {name.id: part for name in part.targets if isinstance(name, ast.Name)}
        elif isinstance(part, ast.ImportFrom) and part.module.startswith("exercises."):
            other = folder / f"{part.module.removeprefix('exercises.')}.py"
            known |= assigned(ast.parse(other.read_text("utf8")), folder)
    return known


def task(call, known):
    """A task from the call that makes it, which is read and never run."""
    given = {word.arg: word.value for word in call.keywords}
    plain = [ast.literal_eval(given[name]) for name in list(GuideTask.__annotations__)[:-1]]
    parts = [given[name] for name in ("wrong", "laws") if name in given]
    misconceptions = dict.fromkeys(number for part in parts for number in named(part, known))
    return GuideTask(*plain, tuple(misconceptions))


def named(part, known, seen=()):
    """The ids of the misconceptions in a piece of code, and in what it refers to by name."""
    for node in ast.walk(part):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if all(NUMBER.fullmatch(word) for word in node.value.split("+")):
                yield from node.value.split("+")
        elif isinstance(node, ast.Name) and node.id in known and node.id not in seen:
            yield from named(known[node.id], known, (*seen, node.id))


@cache
def read_chapters(source):
    """Every chapter that has exercises, in order."""
    source = Path(source)
    pages = sorted((source / "chapters").glob("[0-9]*.md"))
    checks = {page: source / "exercises" / f"{page.stem}.py" for page in pages}
    return [
        Chapter(page.stem, page.read_text("utf8"), file)
        for page, file in checks.items()
        if file.exists() and page.with_suffix(".ipynb").exists()
    ]


@cache
def read_misconceptions(source):
    """The catalogue of misconceptions, by id."""
    text = (Path(source) / "checks" / "feedback" / "misconceptions.yml").read_text("utf8")
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def minutes(chapters, misconceptions):
    """How long each chapter takes: its core page, and its tasks as they are rated."""
    del misconceptions
    rows = ["| chapter | reading | tasks | their minutes | together |", "|---|" + "--:|" * 4]
    total = Counter()
    for chapter in chapters:
        row = {"read": chapter.reading, "tasks": len(chapter.tasks), "work": chapter.working}
        total.update(row)
        cells = " | ".join(map(str, [*row.values(), chapter.reading + chapter.working]))
        rows.append(f"| {chapter.link} | {cells} |")
    read, work = (total[kind] / 60 for kind in ("read", "work"))
    cells = f"{read:.0f} h | {total['tasks']} | {work:.0f} h | {read + work:.0f} h"
    return "\n".join([*rows, f"| **all** | {cells} |"])


def outcomes(chapters, misconceptions):
    """What a learner can do after each chapter, and what it asks for, in its own words."""
    del misconceptions
    parts = []
    for chapter in chapters:
        section = chapter.text.split("\n## Before you start\n")[1].split("\n## ")[0]
        goals = re.findall(r"^\d\. (.+)$", section, re.MULTILINE)
        needs = re.search(r"^You need .+?(?=^Reading takes)", section, re.MULTILINE | re.DOTALL)
        lines = [f"{number}. {goal}" for number, goal in enumerate(goals, 1)]
        parts += [f"**{chapter.link}**", "\n".join(lines), at_root(needs[0].strip())]
    return "\n\n".join(parts)


def at_root(text):
    """The links of a chapter, as they read from elsewhere."""
    text = re.sub(r"\]\((\d\d_\w+\.ipynb)", r"](/chapters/\1", text)
    return text.replace("](../", "](/")


def difficulty(chapters, misconceptions):
    """How many tasks of each difficulty, and how many a busy class may leave out."""
    del misconceptions
    rows = [
        f"| chapter | {' | '.join(map(str, LEVELS))} | misconceptions named |",
        "|---|" + "--:|" * (len(LEVELS) + 1),
    ]
    for chapter in chapters:
        tasks = chapter.tasks
        count = Counter(each.difficulty for each in tasks)
        cells = [str(count[level] or "") for level in LEVELS]
        wrong = {number for each in tasks for number in each.misconceptions}
        rows.append(f"| {chapter.link} | {' | '.join(cells)} | {len(wrong)} |")
    return "\n".join(rows)


def tasks(chapters, misconceptions):
    """Every task with its ratings, and every misconception that its check can name."""
    parts, explained = [], set()
    for chapter in chapters:
        rows = ["| task | difficulty | importance | minutes | names |", "|---|--:|--:|--:|---|"]
        for each in chapter.tasks:
            wrong = ", ".join(each.misconceptions)
            rated = f"{each.difficulty} | {each.importance} | {each.minutes}"
            rows.append(f"| {each.id} {each.title} | {rated} | {wrong} |")
        listed = dict.fromkeys(number for each in chapter.tasks for number in each.misconceptions)
        lines = [entry(number, misconceptions[number], number in explained) for number in listed]
        explained |= set(listed)
        parts += [f"<details><summary>{chapter.name}</summary>", "\n".join(rows), "\n".join(lines)]
        parts += [f"[Exercises](/exercises/{chapter.stem}.ipynb)", "</details>"]
    return "\n\n".join(parts)


def entry(number, misconception, explained):
    """A misconception: its name, and, where it is met first, what is told to whoever has it."""
    mark = "" if explained else f'<a id="misconception-{number}"></a>'
    text = "" if explained else f": {re.sub(r'([*$<])', SLASH, misconception['sentence'])}"
    return f"- {mark}{number}, *{misconception['name']}*{text}"


class Teaching(SphinxDirective):
    """`{teaching} minutes` is the table that the function of this name makes."""

    required_arguments = 1

    def run(self):
        makers = {make.__name__: make for make in (minutes, outcomes, difficulty, tasks)}
        source = self.env.srcdir
        chapters = read_chapters(source)
        for chapter in chapters:
            self.env.note_dependency(f"{source}/chapters/{chapter.stem}.md")
            self.env.note_dependency(f"{source}/exercises/{chapter.stem}.py")
        return parsed(self, makers[self.arguments[0]](chapters, read_misconceptions(source)))


class MisconceptionRole(SphinxRole):
    """{misconception}`M37` names a misconception, and leads to its sentence."""

    def run(self):
        name = read_misconceptions(self.env.srcdir)[self.text]["name"]
        link = nodes.reference(
            "", f"{name} ({self.text})", refid=f"misconception-{self.text}", internal=True
        )
        return [link], []


class TaskName(SphinxRole):
    """{task}`9.1` is the title of a task, with its minutes."""

    def run(self):
        every = [task for chapter in read_chapters(self.env.srcdir) for task in chapter.tasks]
        (chosen,) = [task for task in every if task.id == self.text]
        name = nodes.emphasis("", f"{chosen.id} {chosen.title}")
        return [name, nodes.Text(f" ({chosen.minutes} min)")], []


def leave_for_the_book(app, env, pages):
    """In a draft, do not count every chapter again because a sentence of one has changed."""
    drafted = os.environ.get("COURSE_DRAFT") and GUIDE in pages and GUIDE in env.all_docs
    if drafted and os.stat(env.doc2path(GUIDE)).st_mtime * 1e6 < env.all_docs[GUIDE]:
        pages.remove(GUIDE)


def setup(app):
    app.connect("env-before-read-docs", leave_for_the_book)
    app.add_directive("teaching", Teaching)
    app.add_role("misconception", MisconceptionRole())
    app.add_role("task", TaskName())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
