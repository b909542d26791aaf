"""Chapter 1: a real language model by the sentence: who looks at whom, and what comes next."""

import json
from pathlib import Path

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.patches import PathPatch, Polygon, Rectangle
from matplotlib.path import Path as Outline

from figures import palette, svg
from figures.svg import Figure
from figures.widgets import Interactive

RECORDED = json.loads(Path(__file__).with_suffix(".json").read_text("utf8"))
"""What tools/recordings/record_word_arrows.py wrote: for each sentence the attention weights of all
heads of SmolLM2-135M-Instruct, and the next word with all heads and without each."""

LAYERS, HEADS = RECORDED["layers"], RECORDED["heads"]
NAMES = {".": "full stop", ",": "comma", "\n": "a new line"}


class Recording:
    """One recorded sentence: its tokens, the weights of every head, and the next word."""

    def __init__(self, stored: dict):
        self.name, self.tokens, self.words = stored["name"], stored["tokens"], stored["words"]
        self.head, self.right = stored["head"], stored["right"]
        self._stored = stored

    def weights(self, head: int) -> Float[np.ndarray, "n n"]:
        """The attention weights of a head, counted from 0 through all layers."""
        n = len(self.tokens)
        size = n * (n + 1) // 2 - 1  # the first word has only itself
        values = expand(self._stored["weights"])[head * size : (head + 1) * size]
        table = np.zeros((n, n))
        table[np.tril_indices(n)] = [1.0, *values]
        return table

    def chances(self) -> Float[np.ndarray, "runs words"]:
        """The probabilities of the listed words: with all heads, then without each head."""
        whole = np.array(self._stored["surprisals"]) / 1000
        changes = np.array(self._stored["changes"]).T / 100  # (head, words)
        return np.exp(-np.vstack([whole, whole + changes]))

    def odds(self, without: int | None = None) -> float:
        """The odds of the first listed word against the second, with all heads or without one."""
        first, second = self.chances()[0 if without is None else without + 1, :2]
        return float(first / second)


def expand(text: str) -> Float[np.ndarray, " n"]:
    """Return the weights that tools/recordings/record_word_arrows.py shortened."""
    values = []
    for code in map(ord, text):
        values += [0] * (code - 0x200) if code > 0x200 else [code - (0xA0 if code > 0xA0 else 0x24)]
    return np.array(values) / 100


def recording(name: str) -> Recording:
    """Return the recorded sentence of this name.

    Raises: KeyError that lists the names if there is none of this name.
    """
    stored = {sentence["name"]: sentence for sentence in RECORDED["sentences"]}
    if name not in stored:
        raise KeyError(f"`name` must be one of {', '.join(stored)}; got {name!r}.")
    return Recording(stored[name])


def head_name(head: int) -> str:
    """Write a head, counted from 0 through all layers, as papers do: L26H0."""
    return f"L{head // HEADS}H{head % HEADS}"


def as_word(token: str) -> str:
    """Write a token as a word; a piece that continues a word gets a hyphen."""
    if token.startswith(" "):
        return token[1:]
    return f"-{token}" if token[0].isalnum() else NAMES.get(token, token)


def called(tokens: list[str], at: int) -> str:
    """Name a token by the word that it belongs to: "keys", or for a piece "Qu- of Quill"."""
    first, last = at, at + 1
    while first and tokens[first][0].isalnum():
        first -= 1
    while last < len(tokens) and tokens[last][0].isalnum():
        last += 1
    name = as_word(tokens[at]) if at else tokens[at]
    whole = "".join(tokens[first:last]).strip()
    return name if last - first == 1 else f"{name}{'-' * (last - at > 1)} of {whole}"


def called_next(word: str, tokens: list[str]) -> str:
    """Name a word that may come next by the same name if the sentence holds it."""
    return called(tokens, tokens.index(word)) if word in tokens else as_word(word)


def percent(p: float) -> str:
    """Write a probability as a percentage with two significant digits."""
    return f"{100 * p:.{2 if p < 0.00995 else 1 if p < 0.0995 else 0}f}%"


def rivals(text: Recording, p: Float[np.ndarray, " words"]) -> str:
    """Write the two compared words with their probabilities."""
    names = [called_next(word, text.tokens) for word in text.words[:2]]
    return " and ".join(f"{name} {percent(p[i])}" for i, name in enumerate(names))


class WordArrows(Interactive):
    """Arrows from word to word, as thick as a head's weights; the next word with and without it."""

    module = "word_arrows.js"

    sentence = traitlets.Unicode("keys").tag(sync=True)
    head = traitlets.Int(26 * HEADS, min=0, max=LAYERS * HEADS - 1).tag(sync=True)
    query = traitlets.Int(-1, min=-1).tag(sync=True)
    every = traitlets.Bool(False).tag(sync=True)
    out = traitlets.Bool(False).tag(sync=True)
    recorded = traitlets.Dict(RECORDED).tag(sync=True)

    @traitlets.validate("sentence")
    def _known(self, proposal: dict) -> str:
        names = [sentence["name"] for sentence in RECORDED["sentences"]]
        if proposal["value"] not in names:
            raise traitlets.TraitError(
                f"`sentence` must be one of {', '.join(names)}; got {proposal['value']!r}."
            )
        return proposal["value"]

    @property
    def state(self) -> dict[str, object]:
        """The state without the recording, which the book's page reads from a file of its own."""
        return {name: value for name, value in super().state.items() if name != "recorded"}

    def still(self) -> Figure:
        """Draw the arrows from the chosen word, and the next word with the head and without it."""
        text = recording(self.sentence)
        n = len(text.tokens)
        query = n - 1 if self.query < 0 else min(self.query, n - 1)
        weights, chances = text.weights(self.head)[query], text.chances()
        best = int(weights[:query].argmax()) if query else 0
        fig, ax = svg.canvas(width=360, height=max(18 * n + 16, 250))
        with svg.styled():
            ax.set(xlim=(0, 360), ylim=(n + 0.2, -0.8))
            ax.axis("off")
            fig.set_layout_engine("none")
            ax.set_position((0, 0, 1, 1))
            draw_words(ax, text.tokens, weights, query)
            draw_chances(ax, text, chances[0], chances[self.head + 1])
        name = head_name(self.head)
        looker, seen = called(text.tokens, query), called(text.tokens, best)
        whole, without = (rivals(text, chances[row]) for row in (0, self.head + 1))
        return svg.figure(
            fig,
            alt=f"The words of a sentence below each other. From {looker} an arrow of head {name} "
            f"goes back to {seen}; its weight is {weights[best]:.2f}.",
            caption=f"The next word, by SmolLM2 with all its {LAYERS * HEADS} heads: {whole}. "
            f"Without head {name}: {without}.",
        )


def draw_words(ax, tokens: list[str], weights: Float[np.ndarray, " n"], query: int) -> None:
    """Draw the words below each other, with arcs from the query to what it looks at."""
    ink, paint = palette.light("ink"), palette.light("query")
    for at, token in enumerate(tokens):
        colour = paint if at == query else ink if at < query else palette.light("muted")
        bold = "bold" if at == query else "normal"
        ax.text(4, at, as_word(token) if at else token, va="center", color=colour, fontweight=bold)
    for at, weight in enumerate(weights[:query]):
        if weight < 0.05:
            continue
        colour = palette.light("query" if at else "masked")
        reach = 90 + 75 * np.sqrt((query - at) / max(1, len(tokens) - 1))
        corners = [(78, query), (reach, query), (reach, at), (86, at)]
        moves = [Outline.MOVETO, *[Outline.CURVE4] * 3]
        width = 1 + 6 * weight
        ax.add_patch(PathPatch(Outline(corners, moves), fill=False, ec=colour, lw=width))
        half = 0.22 + 0.2 * weight
        ax.add_patch(Polygon([(76, at), (87, at - half), (87, at + half)], color=colour, lw=0))
        ax.text(74, at, f"{weight:.2f}", va="center", ha="right", color=ink, fontsize=9)


def draw_chances(ax, text: Recording, whole: np.ndarray, without: np.ndarray) -> None:
    """Draw two bars for each word that may come next, with all heads and without one."""
    high = max(whole.max(), without.max())
    for at, (word, before, after) in enumerate(zip(text.words, whole, without, strict=True)):
        y = 2.0 * at
        ax.text(
            205,
            y,
            f"{called_next(word, text.tokens)}: {percent(before)}, without {percent(after)}",
            va="center",
            fontsize=9,
        )
        for row, (share, role) in enumerate(((before, "accent"), (after, "masked"))):
            bar = Rectangle((205, y + 0.42 + 0.4 * row), 150 * share / high, 0.36, lw=0)
            ax.add_patch(bar)
            bar.set_color(palette.light(role))
