"""The same book in less time: what would be made again for every page is made once.

`jupyter-book build` has no option for several processes, so they are asked for here.
"""

import gc
import os
from functools import partial

from docutils import nodes
from pybtex.style.formatting import BaseStyle, FormattedEntry
from sphinx import addnodes
from sphinx.environment.adapters.toctree import global_toctree_for_doc


class Titles:
    """The environment as the tree of all titles needs it: with no section below a page's title.

    Sphinx copies every section of the book for every page, and throws the copies away.
    """

    def __init__(self, env):
        self.env = env
        self.tocs = {name: titles(toc) for name, toc in env.tocs.items()}

    def __getattr__(self, name):
        return getattr(self.env, name)


def titles(toc):
    """A page's contents, with nothing below its title but the pages that stand below it."""
    toc = toc.deepcopy()
    for item in toc.children:
        if len(item) > 1:
            if pages := list(item.findall(addnodes.toctree)):
                item[1][:] = pages
            else:
                item.pop(1)
    return toc


def tree_of_titles(app, page, whole, titles_only=False, collapse=True, **wanted):
    """What a template gets for `toctree(...)`: for titles alone, from the smaller environment."""
    if not titles_only:
        return whole(titles_only=titles_only, collapse=collapse, **wanted)
    if not hasattr(app, "titles"):
        app.titles = Titles(app.env)
    tree = global_toctree_for_doc(
        app.titles, page, app.builder, collapse=collapse, titles_only=True, **wanted
    )
    return app.builder.render_partial(tree)["fragment"]


def give_tree(app, page, template, context, doctree):
    context["toctree"] = partial(tree_of_titles, app, page, context["toctree"])


def format_entries_once():
    """Every chapter lists its own references, so a work is formatted as often as it is listed."""
    made, format_entry = {}, BaseStyle.format_entry

    def once(style, label, entry, bib_data=None):
        key = type(style), id(entry)
        if key not in made:  # the entry is kept, so that its id stays its own
            made[key] = entry, format_entry(style, label, entry, bib_data).text
        return FormattedEntry(entry.key, made[key][1], label)

    BaseStyle.format_entry = once


def below(start, holds):
    """A node and all below it that hold, in their order."""
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if holds(node):
            yield node
        waiting.extend(reversed(node.children))


def walk_without_recursion():
    """Docutils looks through a page a hundred times, with a generator in a generator at each level.

    A list of what is still to be looked at gives the same nodes in the same order.
    """
    findall = nodes.Node.findall

    def found(node, condition=None, include_self=True, descend=True, siblings=False, ascend=False):
        if siblings or ascend or not (include_self and descend):
            return findall(node, condition, include_self, descend, siblings, ascend)
        if condition is None:
            return below(node, lambda one: True)
        if isinstance(condition, type):
            return below(node, lambda one: isinstance(one, condition))
        return below(node, condition)

    nodes.Node.findall = found


# They number the chapters when all pages are read, and write LaTeX, which the book does not.
UNDECLARED = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def declare_safe(app):
    """Say of extensions that forgot it that pages may be read side by side."""
    for name in UNDECLARED:
        app.extensions[name].parallel_read_safe = True


def order_lists(app, env):
    """List the lists of references by page, whichever process read its page first.

    A citation without a list on its own page leads to the last list that has it.
    """
    lists = env.get_domain("cite").bibliographies
    ordered = sorted(lists.items(), key=lambda one: one[0].docname)
    lists.clear()
    lists.update(ordered)


def setup(app):
    # A build makes millions of nodes that live to its end: looking for garbage among them
    # as often as Python does takes an eighth of it, and spares 20 MB.
    gc.set_threshold(100_000, 20, 20)
    app.parallel = (os.cpu_count() or 1) + 1  # the first of them waits for the others
    format_entries_once()
    walk_without_recursion()
    app.connect("builder-inited", declare_safe)
    app.connect("env-updated", order_lists, priority=400)  # before the citations are labelled
    app.connect("html-page-context", give_tree)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
