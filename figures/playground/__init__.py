"""Playgrounds for the reader's own sentence and prompt, in a running notebook.

In the book no kernel runs, so each playground shows an example and says how to run it.
"""

from html import escape
from typing import Any

from ipywidgets import HTML, Box, Layout, VBox, Widget

LABELS = {"description_width": "7em"}
WIDE = {"style": LABELS, "layout": Layout(width="34em", max_width="100%")}
SHORT = {"style": LABELS, "layout": Layout(width="16em", max_width="100%")}
ALIVE = (
    "Where this page runs as a notebook, here is a field for {yours}. The rocket at the top of the "
    "book's page opens it there, and so does <code>make lab</code>; then run its cells."
)


class Playground(VBox):
    """Rows of controls, a status line for errors, and the results below.

    Controls are text fields and buttons, because JupyterLab captures the arrow keys of others.
    """

    yours = ""  # what the reader may bring, in words

    def __init__(self, rows: list[list[Widget]], shown: list[Widget]):
        self.status = HTML()
        wrapped = Layout(display="flex", flex_flow="row wrap")
        super().__init__([*(Box(row, layout=wrapped) for row in rows), self.status, *shown])

    def say(self, text: str) -> None:
        """Show a sentence in the status line, which screen readers announce."""
        self.status.value = f'<p role="status">{escape(text)}</p>' if text else ""

    def still(self) -> str:
        """Draw the example shown without a kernel, as HTML."""
        raise NotImplementedError(f"{type(self).__name__} needs a still() for readers of the book")

    def __repr__(self) -> str:
        return f"{type(self).__name__}: in a notebook that runs, a field for {self.yours}"

    def _repr_mimebundle_(self, **keywords: Any) -> dict[str, Any]:
        edge = "border-left:3px solid var(--accent,currentColor);padding-left:0.8em;margin:1em 0"
        note = f'<p style="{edge}">{ALIVE.format(yours=self.yours)}</p>'
        own = {"text/plain": repr(self), "text/html": f"<div>{self.still()}{note}</div>"}
        return super()._repr_mimebundle_(**keywords) | own
