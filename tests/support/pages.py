"""What the tests read from a written page: its code cells and its anchors."""

from __future__ import annotations

import io
import json
import re
import tokenize
from pathlib import Path
from typing import Any

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(text: str) -> list[tuple[set[str], str]]:
    """The code cells of a page as (tags, source)."""
    listed = []
    for body in CELL.findall(text):
        tags = re.match(r":tags: \[([^\]]*)\]\n", body)
        source = re.sub(r"\A(?::[^\n]*\n)+", "", body).strip("\n")
        listed.append(
            ({tag.strip(" \"'") for tag in tags[1].split(",")} if tags else set(), source)
        )
    return listed


def names_of(chapter: str, tag: str) -> dict[str, Any]:
    """The names that the cells of a chapter with this tag define, when they are run."""
    namespace: dict[str, Any] = {"__name__": "page"}
    for tags, source in cells((CHAPTERS / f"{chapter}.md").read_text("utf8")):
        if tag in tags:
            exec(source, namespace)
    return namespace


def executed(notebook: Path) -> str:
    """What the code cells of a notebook say and print, without comments and the sources' claims."""
    outputs = []
    for cell in json.loads(notebook.read_text("utf8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or source.lstrip().startswith("sources_say("):
            continue
        outputs += [
            token.string
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type != tokenize.COMMENT
        ]
        for output in cell["outputs"]:
            outputs.append(
                "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
            )
    return " ".join(outputs)


def anchors(text: str) -> set[str]:
    """The ids that a page offers: labels, ids in HTML, and headings."""
    labels = re.findall(r"^\(([\w-]+)\)=", text, re.MULTILINE)
    ids = re.findall(r'\bid="([\w-]+)"', text)
    heads = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    return {*labels, *ids, *(re.sub(r"[^\w]+", "-", head.lower()).strip("-") for head in heads)}
