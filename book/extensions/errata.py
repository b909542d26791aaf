"""The errata page, out of the catalogue: what the sources get wrong, counted and linked."""

from collections import Counter
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book.catalogue import KINDS, SOURCES, VERDICTS, Claim, Erratum, claims, errata
from book.page import citation, set_text

ROOT = Path(__file__).resolve().parents[2]
UNSOUND = ("wrong", "unsupported", "imprecise")


class Errata(SphinxDirective):
    """A section for each erratum of one kind: `wrong`, `half right`, `unsupported`, `slip`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        kind = self.arguments[0]
        if kind not in KINDS:
            raise self.error(f"there are the kinds {', '.join(KINDS)}, and not {kind!r}")
        return [section(erratum) for erratum in errata().values() if erratum.kind == kind]


class Imprecise(SphinxDirective):
    """The claims that are not quite right, and that no erratum treats."""

    def run(self):
        rest = [
            claim for claim in claims().values() if claim.verdict in UNSOUND and not claim.erratum
        ]
        return [raw("\n".join(map(claim_html, rest)))]


class Verdicts(SphinxDirective):
    """How many claims of each source got which verdict."""

    def run(self):
        return [raw(table())]


def raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def section(erratum: Erratum) -> nodes.section:
    """One erratum: its claims, what holds, where that is shown, and how we know."""
    title = f"{erratum.id}. {erratum.name}"
    node = nodes.section("", nodes.title("", title), ids=[erratum.id], names=[erratum.id.lower()])
    known = f'<p class="known"><strong>How we know.</strong> {set_text(erratum.known)}</p>'
    node += raw("\n".join([*map(claim_html, erratum.claims), known]))
    return node


def claim_html(claim: Claim) -> str:
    """What a source says, the verdict, what holds, and the place of the course that shows it."""
    who = f'<abbr title="{escape(citation(claim.source))}">{claim.source}</abbr>'
    return (
        '<div class="erratum">\n'
        f'<p class="said">{who} says: {set_text(claim.claim)}</p>\n'
        f'<p><strong class="verdict">{VERDICTS[claim.verdict].capitalize()}.</strong> '
        f"{set_text(claim.says)} {shown(claim)}</p>\n</div>"
    )


def shown(claim: Claim) -> str:
    """A link to the claim's anchor in its chapter."""
    pages = sorted((ROOT / "chapters").glob(f"{claim.chapter}_*.md"))
    page = pages[-1] if pages else None  # `x_deeper` comes after `x`
    words = f"{claim.id} in chapter {int(claim.chapter)}"
    if page is None:
        return f'<span class="where">{words}</span>'
    return f'<a class="where" href="../chapters/{page.stem}.html#claim-{claim.id}">{words}</a>'


def table() -> str:
    """All claims, counted by source and verdict."""
    counted = Counter((claim.source, claim.verdict) for claim in claims().values())
    head = "".join(f'<th scope="col">{word}</th>' for word in ["source", *VERDICTS.values(), "all"])
    rows = [
        counts(f"{key}: {SOURCES[key][0]}", [counted[key, word] for word in VERDICTS])
        for key in SOURCES
    ]
    rows.append(counts("all", [sum(counted[key, word] for key in SOURCES) for word in VERDICTS]))
    return (
        '<div class="verdicts" style="overflow-x:auto" tabindex="0" role="region" '
        'aria-label="Verdicts counted">\n'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>"
    )


def counts(name: str, numbers: list[int]) -> str:
    cells = "".join(f"<td>{number}</td>" for number in [*numbers, sum(numbers)])
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>\n'


def setup(app):
    app.add_directive("errata", Errata)
    app.add_directive("imprecise", Imprecise)
    app.add_directive("verdicts", Verdicts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
