"""The list of pages in the sidebar, read from the table of contents once for all pages."""

from functools import cache

from sphinx import addnodes


@cache
def sidebar(env):
    """Each part of the book: its caption, and its pages with the pages below them."""

    def titled(page):
        return page, env.titles[page].astext()

    return [
        {
            "caption": tree["caption"],
            "pages": [
                (*titled(page), list(map(titled, env.toctree_includes.get(page, []))))
                for page in tree["includefiles"]
            ],
        }
        for tree in env.master_doctree.findall(addnodes.toctree)
    ]


def hand_over(app, page, template, context, doctree):
    """Let the sidebar's template have the parts."""
    context["contents"] = sidebar(app.env)


def read_once(app, env):
    """Read the parts before the processes that write are started: each has them then."""
    sidebar(env)
    return []  # no page changes by it


def setup(app):
    app.connect("env-updated", read_once)
    app.connect("html-page-context", hand_over)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
