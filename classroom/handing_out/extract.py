"""Cut out of a module what some of its functions need, and nothing else."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from classroom.sandbox.isolation import ROOT


def slices(wanted: dict[str, set[str]]) -> dict[str, str]:
    """The sources of modules, reduced to the wanted names and whatever these rest on.

    `wanted` names definitions by module, such as `{"lib.functional": {"softmax"}}`.
    """
    names: dict[str, set[str]] = defaultdict(set)
    waiting = [(module, name) for module, found in wanted.items() for name in found]
    while waiting:
        module, name = waiting.pop()
        if name in names[module]:
            continue
        names[module].add(name)
        for used in used_by(module, name):
            origin = imported(module).get(used)
            if origin is not None and origin[0].startswith("lib"):
                waiting.append(origin)
            elif used in defined(module):
                waiting.append((module, used))
    return {module: reduced(module, found) for module, found in names.items()}


def tree(module: str) -> ast.Module:
    """A module of ours, parsed."""
    return ast.parse(path_of(module).read_text("utf8"))


def path_of(module: str) -> Path:
    """The file of a module of ours."""
    path = ROOT / (module.replace(".", "/") + ".py")
    return path if path.exists() else ROOT / module.replace(".", "/") / "__init__.py"


def defined(module: str) -> dict[str, ast.stmt]:
    """The statements at the top of a module that define a name, by name."""
    found: dict[str, ast.stmt] = {}
    for node in tree(module).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            for one in ast.walk(target) if target is not None else ():
                if isinstance(one, ast.Name):
                    found[one.id] = node
    return found


def imported(module: str) -> dict[str, tuple[str, str]]:
    """Where the names come from that a module imports, by the name that it uses."""
    found: dict[str, tuple[str, str]] = {}
    for node in tree(module).body:
        if isinstance(node, ast.ImportFrom):
            for one in node.names:
                found[one.asname or one.name] = (node.module or "", one.name)
        elif isinstance(node, ast.Import):
            for one in node.names:
                found[one.asname or one.name.partition(".")[0]] = (one.name, "")
    return found


def used_by(module: str, name: str) -> set[str]:
    """The names that a definition mentions."""
    node = defined(module)[name]
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {name}


def reduced(module: str, names: set[str]) -> str:
    """A module with these definitions only, in their order, and with the imports that they need."""
    text = path_of(module).read_text("utf8")
    used = set().union(*(used_by(module, name) for name in names)) | names
    kept = ["from __future__ import annotations"]
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found = [
                one for one in node.names if (one.asname or one.name).partition(".")[0] in used
            ]
            if found and getattr(node, "module", "") != "__future__":
                node.names = found
                kept.append(ast.unparse(node))
    bodies = [source for node, source in statements(text) if node in names_of(names, module)]
    return "\n".join(kept) + "\n\n\n" + "\n\n\n".join(bodies) + "\n"


def names_of(names: set[str], module: str) -> set[int]:
    """The first lines of the statements that define these names."""
    return {defined(module)[name].lineno for name in names}


def statements(text: str) -> list[tuple[int, str]]:
    """Each statement at the top of a source: its first line, and its text with its decorators."""
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        found.append((node.lineno, "\n".join(lines[first - 1 : node.end_lineno])))
    return found
