"""The directive `stored-figure`: a page without code shows a figure of a verified notebook.

No extension shows one output of another page: `glue` of MyST-NB needs the output to be named when
the notebook runs, and a page that runs nothing cannot name it.
"""

import json

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def stored_html(notebook: str, module: str) -> str:
    """Return the HTML of the one output of a notebook that starts this widget module.

    Raises: ValueError unless exactly one output does.
    """
    cells = json.loads(notebook)["cells"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    texts = ["".join(data.get("text/html", "")) for data in outputs]
    figures = [text for text in texts if f'data-module="{module}"' in text]
    if len(figures) != 1:
        raise ValueError(f"{module} must be one output of the notebook; it is {len(figures)}.")
    return figures[0]


class StoredFigure(SphinxDirective):
    """Show the interactive figure of a notebook: its path, and the name of its module."""

    required_arguments = 2

    def run(self):
        path, module = self.arguments
        self.env.note_dependency(path)
        notebook = (self.env.srcdir / path).read_text("utf8")
        try:
            return [nodes.raw("", stored_html(notebook, module), format="html")]
        except ValueError as error:
            raise self.error(f"{path}: {error}") from None


def setup(app):
    app.add_directive("stored-figure", StoredFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
