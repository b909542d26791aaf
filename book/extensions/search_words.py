"""What the search knows beyond the words on the pages: symbols, and what others call a thing.

The search of Sphinx drops every sign that is no letter, so nobody finds the root in √d with it.
But it compares what is typed with the entries of an index, sign by sign. So each symbol of the
notation page becomes such an entry in all its spellings, there and in the chapter where it is met.
"""

import re
from pathlib import PurePosixPath

from docutils import nodes
from sphinx import addnodes

NOTATION, GLOSSARY = "appendix/notation", "appendix/glossary"
ABOUT = "Search the course for a word, a symbol such as √d_k, or a name of its code."
ALSO = {  # what readers type: the entry of the glossary where they find it
    "attend": "query",
    "backprop": "gradient",
    "backpropagation": "gradient",
    "BPE": "byte-pair encoding",
    "cross entropy": "surprisal",
    "FFN": "feed-forward network",
    "FlashAttention": "flash attention",
    "GQA": "grouped-query attention",
    "layer normalisation": "layer norm",
    "layer normalization": "layer norm",
    "LayerNorm": "layer norm",
    "MHA": "multi-head attention",
    "MLP": "multilayer perceptron",
    "MQA": "multi-query attention",
    "position embedding": "sinusoidal positions",
    "positional embedding": "sinusoidal positions",
    "positional encoding": "sinusoidal positions",
    "RoPE": "sinusoidal positions",
    "rotary embedding": "sinusoidal positions",
    "scaled dot-product attention": "attention",
    "skip connection": "residual connection",
    "tokeniser": "token",
    "tokenizer": "token",
    "weight sharing": "tied",
}


def spellings(symbol):
    """A symbol in LaTeX as people type it: √d_k, √dk, sqrt(d_k), and with a bare d √d."""
    plain = re.sub(r"\\(?:text|mathrm|operatorname)\{(\w+)\}", r"\1", symbol)
    plain = plain.replace(r"\Delta", "Δ").replace(" ", "")
    plain = re.sub(r"_\{(\w+)\}", r"_\1", plain)
    root, typed = re.compile(r"\\sqrt\{(\w+)\}"), {plain}
    if root.search(plain):
        typed = {root.sub(sign, plain) for sign in (r"√\1", r"√(\1)", r"sqrt(\1)", r"sqrt \1")}
        typed |= {f"1/{spelling}" for spelling in typed} | {"√d", "square root"}
    if r"^\top" in plain:
        typed = {plain.replace(r"^\top", sign) for sign in ("ᵀ", "^T", "T", "'")}
    return typed | {spelling.replace("_", "") for spelling in typed}


def add_entries(node, anchor, words):
    """Index a place under these words, as what is meant by them."""
    entries = [("single", word, anchor, "main", None) for word in sorted(words)]
    node.append(addnodes.index(entries=entries))


def symbols(doctree):
    """The rows of the notation page that explain a symbol: (row, spellings, page it is met on)."""
    for row in doctree.findall(nodes.row):
        formulas = list(row[0].findall(nodes.math))
        link = row[-1].next_node(addnodes.pending_xref)
        if not formulas or link is None:
            continue
        each = [symbol for math in formulas for symbol in math.astext().split(", ")]
        yield row, set().union(*map(spellings, each)), PurePosixPath(link["reftarget"]).stem


def name_symbols(app, doctree):
    """Give each symbol of the notation page an anchor and its entries, when the page is read."""
    if app.env.docname == NOTATION:
        app.env.symbols = {}
        for number, (row, typed, page) in enumerate(symbols(doctree), 1):
            row["ids"].append(f"symbol-{number}")
            add_entries(doctree, f"symbol-{number}", typed)
            app.env.symbols.setdefault(page, set()).update(typed)
    elif app.env.docname == GLOSSARY:
        anchors = {term.astext(): term["ids"][0] for term in doctree.findall(nodes.term)}
        for word, meant in ALSO.items():
            add_entries(doctree, anchors[meant], {word})


def bring_symbols(app, env, pages, other):
    """Take over what the process that read the notation page found there."""
    if NOTATION in pages:
        env.symbols = other.symbols


def lead_to_chapters(app, doctree, page):
    """Index the chapter where a symbol is met under it, when the chapter is written."""
    path = PurePosixPath(page)
    met = getattr(app.env, "symbols", {}).get(path.stem)
    if met and path.parent.name == "chapters":
        add_entries(doctree, "", met)


def choose_script(app, page, template, context, doctree):
    """The search page says what it is, and shows what was found as readers read it."""
    if template == "search.html":
        context["metatags"] = f'<meta name="description" content="{ABOUT}" />'
        app.add_js_file("search.js", type="module")


def setup(app):
    app.connect("doctree-read", name_symbols)
    app.connect("env-merge-info", bring_symbols)
    app.connect("doctree-resolved", lead_to_chapters)
    app.connect("html-page-context", choose_script)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
