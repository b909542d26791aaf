"""The directive `stored-figure`: a page without code shows a figure of a verified notebook.

No extension shows one output of another page: `glue` of MyST-NB needs the output to be named when
the notebook runs, and a page that runs nothing cannot name it.
"""

import json

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def stored_html(notebook: str, name: str) -> str:
    """Return the HTML of the one output of a notebook that is this figure.

    A live figure is named by its widget's module, a picture by how its description begins.

    Raises: ValueError unless exactly one output does.
    """
    cells = json.loads(notebook)["cells"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    texts = ["".join(data.get("text/html", "")) for data in outputs]
    marks = f'data-module="{name}"', f'aria-label="{name}'
    figures = [text for text in texts if any(mark in text for mark in marks)]
    if len(figures) != 1:
        raise ValueError(f"{name} must be one output of the notebook; it is {len(figures)}.")
    return figures[0]


class StoredFigure(SphinxDirective):
    """Show a figure of a notebook: its path, and its module or how its description begins."""

    required_arguments = 2
    final_argument_whitespace = True

    def run(self):
        path, name = self.arguments
        self.env.note_dependency(path)
        notebook = (self.env.srcdir / path).read_text("utf8")
        try:
            return [nodes.raw("", stored_html(notebook, name), format="html")]
        except ValueError as error:
            raise self.error(f"{path}: {error}") from None


def setup(app):
    app.add_directive("stored-figure", StoredFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
