"""What a page calls: `show` quotes code, `holds` proves a caption, `sources_say` answers claims."""

from __future__ import annotations

import html
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from book.catalogue import SOURCES, VERDICTS, Claim, claims

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
HEAD = ("claim", "source", "what it says", "verdict", "what this course says")


@dataclass(frozen=True)
class Source:
    """The source of a definition; notebooks show it highlighted."""

    path: str
    text: str

    def __repr__(self) -> str:
        return f"# {self.path}\n{self.text}"

    def _repr_markdown_(self) -> str:
        return f"```python\n# {self.path}\n{self.text}\n```"


def show(*things: Any) -> Source:
    """Quote functions, classes or methods of one file of lib or chapters as they stand there.

    Raises: TypeError for anything that is defined elsewhere, ValueError for things of two files.
    """
    sources = [_quote(thing) for thing in things]
    paths = {source.path for source in sources}
    if len(paths) != 1:
        raise ValueError(f"show: give definitions of one file; these are of {sorted(paths)}")
    return Source(paths.pop(), "\n\n\n".join(source.text for source in sources))


def _quote(thing: Any) -> Source:
    definition = inspect.unwrap(thing) if callable(thing) else thing
    module = getattr(definition, "__module__", None) or ""
    if not module.startswith(("lib.", "chapters.")) or not (
        inspect.isclass(definition) or inspect.isroutine(definition)
    ):
        raise TypeError(
            "show: give a function or a class of lib or chapters, such as "
            "lib.attention.dot_product.attend"
        )
    path = module.replace(".", "/") + ".py"
    if getattr(sys.modules[module], "__path__", None):
        path = module.replace(".", "/") + "/__init__.py"
    return Source(path, textwrap.dedent(inspect.getsource(definition)).rstrip())


@dataclass(frozen=True)
class SourcesSay:
    """The claims of one chapter as a table."""

    chapter: str
    claims: tuple[Claim, ...]

    def __repr__(self) -> str:
        lines = [
            f"{claim.id} ({claim.source}): {claim.claim} [{VERDICTS[claim.verdict]}] {claim.says}"
            for claim in self.claims
        ]
        return "\n".join([*lines, *map(citation, self.used)])

    @property
    def used(self) -> list[str]:
        """The sources that this chapter treats."""
        return sorted({claim.source for claim in self.claims})

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in HEAD)
        body = "\n".join(map(row, self.claims))
        cited = "\n".join(f"<li>{html.escape(citation(key))}</li>" for key in self.used)
        return (
            '<div class="sources" style="overflow-x:auto" tabindex="0" role="region" '
            'aria-label="What the sources say">\n'
            f'<table class="sources" style="min-width:40rem">\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody>\n</table>\n</div>\n"
            f'<ul class="sources-cited">\n{cited}\n</ul>'
        )


def sources_say(chapter: str) -> SourcesSay:
    """What the five sources claim on the subject of a chapter, and what this course answers.

    Raises: ValueError for a chapter that treats no claim.
    """
    own_claims = tuple(claim for claim in claims().values() if claim.chapter == chapter)
    if not own_claims:
        raise ValueError(f'sources_say: no claim belongs to chapter {chapter!r}; write "05"')
    return SourcesSay(chapter, own_claims)


def progress(steps: int, label: str) -> Iterator[int]:
    """Count the steps of a training from 0, under a bar that only a live notebook shows.

    The bar is a widget's view and nothing else, which a saved page leaves out.
    """
    from IPython import get_ipython
    from IPython.display import display
    from ipywidgets import IntProgress

    if get_ipython() is None:
        yield from range(steps)
        return
    bar = IntProgress(max=steps, description=label)
    view = {"version_major": 2, "version_minor": 0, "model_id": bar.model_id}
    display({WIDGET_VIEW: view}, raw=True)
    for step in range(steps):
        yield step
        if (step + 1) % max(1, steps // 50) == 0 or step + 1 == steps:
            bar.value = step + 1


def holds(statement: str, true: object) -> None:
    """Print whether a statement about the numbers of a page is true.

    A caption is proved behind its figure by this and not by an assertion, so a reader who changes
    a number gets a picture and a sentence instead of a traceback. The tests compare what is
    printed, so a page whose own numbers break a statement fails.
    """
    print(f"Holds: {statement}" if true else f"With these numbers it is not so: {statement}")


def row(claim: Claim) -> str:
    """One claim as a row of the table."""
    link = f'<a href="#claim-{claim.id}">{claim.id}</a>'
    who = f'<abbr title="{html.escape(citation(claim.source))}">{claim.source}</abbr>'
    verdict = f'<td class="verdict-{claim.verdict}">{VERDICTS[claim.verdict]}</td>'
    return (
        f'<tr><th scope="row" style="white-space:nowrap">{link}</th><td>{who}</td>'
        f"<td>{set_text(claim.claim)}</td>{verdict}<td>{set_text(claim.says)}</td></tr>"
    )


def set_text(text: str) -> str:
    """Escape a sentence, with code between backticks, and indices and powers where they belong."""
    pieces = html.escape(text, quote=False).split("`")
    for n, piece in enumerate(pieces):
        if n % 2:
            pieces[n] = f"<code>{piece}</code>"
        else:
            lowered = re.sub(r"\b([A-Za-z])_([A-Za-z]+)\b", r"\1<sub>\2</sub>", piece)
            pieces[n] = re.sub(r"\^(\d+)", r"<sup>\1</sup>", lowered)
    return "".join(pieces)


def citation(source: str) -> str:
    """A source as it is cited below the table."""
    author, title, kind = SOURCES[source]
    return f"{source}: {author}, {title} ({kind})"
