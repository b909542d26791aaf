"""How long a page is and how long it takes, by one rule for the tests, the guide and the pages."""

import ast
import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS_A_MINUTE, LINES_A_MINUTE, STEP = 180, 8, 5
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_TAGS = re.compile(r"\A:tags: \[(.*?)\]\n")
# Not prose: the head of a page, code, formulas on lines of their own, directives, tags, addresses,
# and what a quiz answers to each choice, of which a reader unfolds one. Folded predictions are.
_NOT_PROSE = re.compile(
    r"\A---.*?^---$|^```.*?^```$|^\$\$.*?\$\$[^\n]*$|</?[a-z][^>\n]*>|\{cite:\w+\}`[^`]*`"
    r"|(?<=\])\([^)\s]*\)",
    re.DOTALL | re.MULTILINE,
)
_FEEDBACK = re.compile(r'(<details class="choice">.*?</summary>).*?</details>', re.DOTALL)
_WORD = re.compile(r"\S*\w\S*")
_READING = re.compile(
    r"^Reading takes about (\d+) minutes, the exercises (?:about )?(\d+)\.$", re.M
)


@dataclass(frozen=True)
class PageSize:
    """The words of a page's prose and its visible lines of code."""

    words: int
    code_lines: int

    @property
    def minutes(self) -> int:
        """The reading time: 180 words and 8 lines of code a minute, rounded up to 5 minutes."""
        exact = self.words / WORDS_A_MINUTE + self.code_lines / LINES_A_MINUTE
        return STEP * math.ceil(exact / STEP)


def code_cells(text: str) -> list[tuple[set[str], str]]:
    """Return the tags and the code of each cell of a page's MyST text."""
    listed = []
    for body in _CELL.findall(text):
        tags = _TAGS.match(body)
        listed.append(
            ({tag.strip() for tag in tags[1].split(",")} if tags else set(), _TAGS.sub("", body))
        )
    return listed


@cache
def page_size(text: str) -> PageSize:
    """Measure a page's MyST text.

    A cell with hidden input does not count as code; every other line that is not blank does, and
    so does every line that `show` prints, if the cell's output is not folded, too.
    """
    words = len(_WORD.findall(_NOT_PROSE.sub(" ", _FEEDBACK.sub(r"\1", text))))
    code_lines, sources = 0, []
    for named, code in code_cells(text):
        if "hide-cell" not in named:  # which folds what it prints, too
            sources.append(code)
        if not HIDDEN & named:
            code_lines += sum(bool(line.strip()) for line in code.splitlines())
    return PageSize(words, code_lines + _quoted("\n".join(sources)))


def stated(text: str) -> tuple[int, int] | None:
    """The minutes that a page states for its reading and for its exercises, if it states both."""
    match = _READING.search(text)
    return (int(match[1]), int(match[2])) if match else None


def _quoted(source: str) -> int:
    """Count the lines that the calls of `show` on a page print."""
    tree = ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE))  # magic is no Python
    imports = _imports(tree)
    lines = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "show":
            for thing in node.args:
                name, *attributes = ast.unparse(thing).split(".")
                if name in imports:
                    lines += _printed(*imports[name], tuple(attributes))
    return lines


def _imports(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """The names from lib or chapters, each with its module and what it is called there."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] in {"lib", "chapters"}
        for alias in node.names
    }


@cache
def _printed(module: str, name: str, attributes: tuple[str, ...]) -> int:
    """The lines of a definition, blank ones aside."""
    path = ROOT / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if attributes and (path.parent / f"{name}.py").exists():  # `name` is itself a module
        return _printed(f"{module}.{name}", attributes[0], attributes[1:])
    text = path.read_text("utf8")
    scope: ast.AST = ast.parse(text)
    imports = _imports(scope)
    for part in (name, *attributes):
        inner = {getattr(node, "name", ""): node for node in ast.iter_child_nodes(scope)}
        if part not in inner:
            return _printed(*imports[name], attributes)
        scope = inner[part]
    first = min([scope.lineno, *(decorator.lineno for decorator in scope.decorator_list)])
    return sum(bool(line.strip()) for line in text.splitlines()[first - 1 : scope.end_lineno])
