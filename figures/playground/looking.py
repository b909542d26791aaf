"""The tokens of a text as buttons; the pressed one shows its attention and its next words."""

from typing import Any

from ipywidgets import HTML, BoundedIntText, Box, Button, ButtonStyle, Layout, VBox

from figures.playground import SHORT
from figures.playground import language_model as lm
from lib.interpretability.head_rules import Heads
from lib.text.tokenizers import BytePair


class Looking(VBox):
    """One button per token, fields for layer and head, and two tables of the pressed token."""

    def __init__(self):
        self.reading, self.tokenizer, self.heads, self.query = None, None, [], 0
        wrapped = Layout(display="flex", flex_flow="row wrap")
        self.tokens = Box(layout=wrapped)
        self.layer = BoundedIntText(0, max=0, description="layer", **SHORT)
        self.head = BoundedIntText(0, max=0, description="head", **SHORT)
        self.attention, self.next = HTML(), HTML()
        for control in (self.layer, self.head):
            control.observe(self.draw, "value")
        hint = HTML("<p>Press a token to see to which tokens it attended.</p>")
        tables = Box([self.attention, self.next], layout=wrapped)
        super().__init__([hint, self.tokens, Box([self.layer, self.head], layout=wrapped), tables])

    def fit(self, layers: int, heads: int, chosen: tuple[int, int]) -> None:
        """Allow the layers and heads of a model, and choose a head, or the last if it has fewer."""
        self.layer.max, self.head.max = layers - 1, heads - 1
        self.layer.value, self.head.value = chosen

    def show(self, reading: lm.Reading, tokenizer: BytePair, heads: Heads) -> None:
        """Show a reading; a new text begins at its last token, a known one keeps the token."""
        known = self.reading is not None and reading.ids == self.reading.ids
        self.reading, self.tokenizer, self.heads = reading, tokenizer, heads
        if not known:
            self.tokens.children = self.buttons()
        self.choose(self.query if known else len(reading.ids) - 1)

    def buttons(self) -> tuple[Button, ...]:
        """Make one button per token; all share a layout and a style, which is fast."""
        layout, style = Layout(width="auto", margin="1px", padding="0 4px"), ButtonStyle()
        buttons = []
        for i, token in enumerate(self.reading.ids):
            name = lm.visible_token(self.tokenizer, token)
            tip = f"token {i}, {name}: show its attention"
            button = Button(description=name, tooltip=tip, layout=layout, style=style)
            button.on_click(lambda _, i=i: self.choose(i))
            buttons.append(button)
        return tuple(buttons)

    def choose(self, query: int) -> None:
        """Mark one token, and show its tables."""
        for button in self.tokens.children:
            button.button_style = ""
        self.tokens.children[query].button_style = "primary"
        self.query = query
        self.draw()

    def draw(self, _change: Any = None) -> None:
        """Draw the tables of the pressed token in the chosen head."""
        if self.reading is None:
            return
        at = self.layer.value, self.head.value
        parts = self.reading, self.tokenizer, self.query
        self.attention.value = lm.describe_attention(*parts, *at, out=at in self.heads)
        self.next.value = lm.describe_next(*parts, self.heads)
