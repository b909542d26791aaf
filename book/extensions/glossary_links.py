"""Link the first use of each glossary term on a page to its entry, discreetly.

Nothing is written for it: a page says *perplexity*, and its first use becomes a dotted link with
the definition as its title. Sphinx itself links only what is marked as a term by hand.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "appendix/glossary"
NOT_READ = (GLOSSARY, "appendix/reference/")  # the entries themselves, and what is quoted from lib
UNLINKED = {"Exercises", "References", "Check yourself", "What the sources say", "How far you are"}
PASSED_OVER = (
    nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.reference,
    nodes.caption, nodes.table, nodes.strong, nodes.citation, nodes.footnote, nodes.figure,
)  # fmt: skip
EVERYDAY = {  # words that mean something of their own until their chapter defines them
    "activation", "block", "context", "key", "label", "leak", "output", "patching", "probe",
    "rank", "score", "sink", "stream", "tied", "tile", "value", "weight",
}  # fmt: skip
OTHER_WORDS = (  # in which a term means something else
    "absolute value", "arrow keys", "a block of queries", "half a cosine",
    "little loss",
    "published weights", "the weights were never", "weights of a trained model",
)  # fmt: skip


class Term(NamedTuple):
    """An entry: all its names, where it is, its first sentence, and the chapter that defines it."""

    names: tuple[str, ...]
    anchor: str
    definition: str
    home: str


def entries(glossary: nodes.document) -> Iterator[Term]:
    """Every entry of the glossary page, as it was read."""
    for item in glossary.findall(nodes.definition_list_item):
        names = [node for node in item.children if isinstance(node, nodes.term)]
        definition = item.next_node(nodes.definition)
        yield Term(
            tuple(name.astext() for name in names),
            names[0]["ids"][0],
            re.split(r"(?<=\.)\s", definition.astext())[0],
            PurePosixPath(definition.next_node(addnodes.pending_xref)["reftarget"]).name,
        )


def forms(name: str) -> str:
    """A pattern for a name and its plural: query, queries; loss, losses; in any case, or as RNN."""
    if name.endswith("y"):
        both = f"{re.escape(name[:-1])}(?:y|ies)"
    else:
        both = re.escape(name) + ("(?:es)?" if name.endswith(("s", "x")) else "s?")
    return f"(?i:{both})" if name.islower() else both


def finder(names: list[str]) -> re.Pattern:
    """What finds any of these names as whole words, the longest first."""
    words = sorted([*names, *OTHER_WORDS], key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(forms, words))})(?![\w-])")


def running_text(doctree: nodes.document) -> Iterator[nodes.Text]:
    """The text of a page, without its opening, headings, code, links, tables and what is folded."""
    folded, opening = 0, doctree.next_node(nodes.paragraph)

    def walk(node: nodes.Element) -> Iterator[nodes.Text]:
        nonlocal folded
        for child in list(node.children):
            if isinstance(child, nodes.raw):
                html = child.astext()
                folded += html.count("<details") - html.count("</details>")
            elif isinstance(child, nodes.Text):
                if not folded:
                    yield child
            elif not (isinstance(child, PASSED_OVER) or child is opening or is_apart(child)):
                yield from walk(child)

    yield from walk(doctree)


def is_apart(node: nodes.Element) -> bool:
    """A cell with its outputs, a card that is a link itself, or a section where links disturb."""
    if isinstance(node, nodes.section):
        return node.next_node(nodes.title).astext() in UNLINKED
    return not {"cell", "sd-card"}.isdisjoint(node.get("classes", ()))


class Linker:
    """What is found on the glossary page, and how to link to it."""

    def __init__(self, terms: list[Term]):
        self.terms = terms
        self.find = finder([name for term in terms for name in term.names])
        self.forms = [(re.compile(forms(name)), term) for term in terms for name in term.names]

    def meaning(self, word: str) -> Term | None:
        """The term that a word of a page is a form of."""
        return next((term for form, term in self.forms if form.fullmatch(word)), None)

    def link(self, doctree: nodes.document, page: str, glossary: str) -> None:
        """Link the first use of each term, unless this page is about the term itself."""
        done = {term for term in self.terms if is_left_alone(term, PurePosixPath(page).name)}
        for text in list(running_text(doctree)):
            pieces, end = [], 0
            for match in self.find.finditer(text):
                term = self.meaning(match.group())
                if term is None or term in done:
                    continue
                done.add(term)
                pieces += [nodes.Text(text[end : match.start()]), to(term, match.group(), glossary)]
                end = match.end()
            if pieces:
                text.parent.replace(text, [*pieces, nodes.Text(text[end:])])


def is_left_alone(term: Term, page: str) -> bool:
    """Whether a page defines the term itself, or comes too early for so common a word."""
    early = page[:2].isdigit() and page < term.home and term.names[0] in EVERYDAY
    return early or page == term.home


def to(term: Term, word: str, glossary: str) -> nodes.reference:
    """A link that says on the way what the word means."""
    where = f"{glossary}#{term.anchor}"
    title = f"{term.names[0]}: {term.definition}"
    return nodes.reference(
        "", word, internal=True, refuri=where, reftitle=title, classes=["glossary-link"]
    )


def link_page(app, doctree, page):
    """Link the terms of a page that is about to be written, and is for reading."""
    if (
        app.builder.format != "html"
        or page.startswith(NOT_READ)
        or GLOSSARY not in app.env.all_docs
    ):
        return
    if not hasattr(app, "glossary_linker"):
        app.glossary_linker = Linker(list(entries(app.env.get_doctree(GLOSSARY))))
    app.glossary_linker.link(doctree, page, app.builder.get_relative_uri(page, GLOSSARY))


def setup(app):
    app.connect("doctree-resolved", link_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
