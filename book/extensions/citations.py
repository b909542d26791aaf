"""Citations as prose has them: Vaswani et al. (2017), or (Vaswani et al., 2017)."""

from pybtex.plugin import find_plugin, register_plugin
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.plugin import register_plugin as register_style
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

# Pybtex reads the metadata of every installed package each time that it looks one of these up,
# and it does so for every citation; a registered plugin is found at once.
LOOKED_UP = {
    "pybtex.backends": ("docutils", "plaintext"),
    "pybtex.style.formatting": ("alpha",),
    "pybtex.style.labels": ("alpha",),
    "pybtex.style.names": ("plain",),
    "pybtex.style.sorting": ("author_year_title",),
}


class AuthorYear(AuthorYearReferenceStyle):
    """Author and year, in round brackets where the style has square ones."""

    def __init__(self) -> None:
        kinds = ("parenthetical", "textual", "author", "label", "year")
        super().__init__(**{f"bracket_{kind}": BracketStyle("(", ")") for kind in kinds})


def order_lists(app: Sphinx, env: BuildEnvironment) -> None:
    """Sort the lists of references by page, whichever process read its page first.

    A citation without a list on its own page links to the last list that has its work.
    """
    lists = env.get_domain("cite").bibliographies
    ordered = sorted(lists.items(), key=lambda item: item[0].docname)
    lists.clear()
    lists.update(ordered)


def setup(app: Sphinx) -> dict:
    for group, names in LOOKED_UP.items():
        for name in names:
            register_plugin(group, name, find_plugin(group, name), force=True)
    register_style("sphinxcontrib.bibtex.style.referencing", "author_year_round", AuthorYear)
    app.connect("env-updated", order_lists, priority=400)  # before the citations are labelled
    return {"parallel_read_safe": True, "parallel_write_safe": True}
