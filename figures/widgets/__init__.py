"""Interactive figures: widgets in a notebook, which run without a kernel in the book.

A figure is a pair, `name.py` with its state and `name.js` with its arithmetic and its looks; a long
module has parts of its own, `name_part.js`.
The book mounts the JavaScript module itself (book/assets/mount.js); Jupyter shows it
as an anywidget.
"""

import json
import re
from html import escape
from pathlib import Path

import anywidget

from figures import palette
from figures.svg import Figure

HERE = Path(__file__).parent
SHARED = ("arithmetic.js", "kit.js")
RELATIVE_IMPORT = re.compile(r'^import\s[^;]*?\sfrom\s+"\./([\w.]+)";\n', re.MULTILINE)


def joined(module: str) -> str:
    """Join a module and those it imports into one text, since Jupyter cannot resolve the imports.

    Raises: FileNotFoundError if the module is not beside this file.
    """
    sources: dict[str, str] = {}

    def add(name: str) -> None:
        """Add a module behind those that it imports, each once."""
        source = (HERE / name).read_text("utf8")
        for imported in RELATIVE_IMPORT.findall(source):
            if imported not in sources:
                add(imported)
        sources[name] = RELATIVE_IMPORT.sub("", source)

    for name in (*SHARED, module):
        add(name)
    return "\n".join(sources.values())


class Interactive(anywidget.AnyWidget):
    """The base of every interactive figure: a subclass names its `module` and its synced traits."""

    module = ""

    def __init_subclass__(cls, **keywords: object) -> None:
        """Give the subclass the text of its module and the style that Jupyter does not know."""
        # Adding a trait makes a nameless subclass on the way; it must keep what it inherits.
        if "module" in vars(cls) and (HERE / "kit.js").exists():  # the book's page has them itself
            cls._esm = joined(cls.module)
            cls._css = palette.css() + (HERE / "kit.css").read_text("utf8")
        super().__init_subclass__(**keywords)

    def still(self) -> Figure:
        """Draw the present state as a figure that stands where no script runs."""
        raise NotImplementedError(f"{type(self).__name__} needs a still() for readers on paper")

    @property
    def state(self) -> dict[str, object]:
        """The values that the module starts from: the subclass's own synced traits."""
        own = set(self.traits(sync=True)) - set(anywidget.AnyWidget.class_traits(sync=True))
        return {name: getattr(self, name) for name in sorted(own) if not name.startswith("_")}

    def __repr__(self) -> str:
        return f"{type(self).__name__}: an interactive figure"

    def _repr_mimebundle_(self, **keywords: object) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**keywords) or ({}, {})
        data["text/plain"] = repr(self)
        data["text/html"] = (
            f'<div class="course-widget" data-module="{self.module}" '
            f'data-state="{escape(json.dumps(self.state))}">{self.still()._repr_html_()}</div>'
        )
        return data, metadata
