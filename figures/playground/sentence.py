"""The reader's own sentence in the real encoder: one head's table, and where a word moves."""

from typing import Any

import numpy as np
from ipywidgets import HTML, BoundedIntText, Combobox, Text
from jaxtyping import Float

from figures import plots
from figures.playground import SHORT, WIDE, Playground
from lib.functional import cosine
from lib.models.hidden_states import HiddenStates, Reader
from lib.shapes import Array

ROOM = 24  # tokens of a sentence whose table can still be read


class OwnSentence(Playground):
    """A sentence, a layer and a head, and a word that is compared with two others."""

    yours = "a sentence of your own"

    def __init__(
        self,
        encoder: Reader,
        sentence: str,
        word: str,
        poles: tuple[str, str],
        *,
        layer: int = 0,
        head: int = 0,
    ):
        self.encoder, self.reading, self.words, self.drawn = encoder, None, {}, None
        layers, heads = len(encoder.layers), encoder.layers[0].attention.heads
        self.sentence = Text(sentence, description="sentence", continuous_update=False, **WIDE)
        self.layer = BoundedIntText(layer, max=layers - 1, description="layer", **SHORT)
        self.head = BoundedIntText(head, max=heads - 1, description="head", **SHORT)
        self.word = Combobox(value=word, description="word", continuous_update=False, **SHORT)
        self.poles = [
            Text(pole, description=name, continuous_update=False, **SHORT)
            for name, pole in zip(("nearer to", "or to"), poles, strict=True)
        ]
        self.table, self.path = HTML(), HTML()
        rows = [[self.sentence], [self.layer, self.head], [self.word, *self.poles]]
        super().__init__(rows, [self.table, self.path])
        self.read()
        self.sentence.observe(self.read, "value")
        for control in (self.layer, self.head, self.word, *self.poles):
            control.observe(self.draw, "value")

    def still(self) -> str:
        """What the controls show now."""
        return self.table.value + self.path.value

    def read(self, _change: Any = None) -> None:
        """Read the sentence again, or say why it cannot be read."""
        try:
            self.reading = read_short(self.encoder, self.sentence.value)
        except ValueError as error:
            self.reading, self.table.value, self.path.value = None, "", ""
            self.drawn = None  # the next reading may have the id of the one that is gone
            self.say(str(error))
            return
        self.words = words_of(self.reading)
        self.word.options = tuple(self.words)
        if self.word.value not in self.words:
            self.word.value = self.word.options[0]
        self.draw()

    def draw(self, _change: Any = None) -> None:
        """Draw what the controls ask for, unless it is what is there."""
        poles = [pole.value.strip() for pole in self.poles]
        wanted = [id(self.reading), self.layer.value, self.head.value, self.word.value, *poles]
        if self.reading is None or wanted == self.drawn:
            return
        self.drawn = wanted
        self.say(unknown_in(self.reading))
        self.table.value = table_of(self.reading, self.layer.value, self.head.value)
        self.path.value = ""
        if self.word.value not in self.words:
            self.say(f"The sentence has no such word; it has: {', '.join(self.words)}")
            return
        try:
            ends = [read_short(self.encoder, pole).hidden[:, 1:-1].mean(1) for pole in poles]
        except ValueError as error:
            self.say(f"Of the two to compare with: {error}")
            return
        self.path.value = way_of(self.reading, self.words[self.word.value], poles, ends)


def read_short(encoder: Reader, text: str) -> HiddenStates:
    """Read a text whose table can be shown.

    Raises: ValueError with a sentence for the reader, if it is empty or too long.
    """
    if not text.strip():
        raise ValueError("There is nothing to read; write at least one word.")
    count = len(encoder.tokenizer.encode(text).ids)
    if count > ROOM:
        raise ValueError(
            f"This text has {count} tokens, and the table has room for {ROOM}; write a shorter one."
        )
    return encoder.read(text)


def unknown_in(reading: HiddenStates) -> str:
    """Say how many words of a sentence the model cannot tell apart, if there are any."""
    count = reading.tokens.count("[UNK]")
    return f"Words that the model does not know: {count}. It reads [UNK] there." if count else ""


def words_of(reading: HiddenStates) -> dict[str, list[int]]:
    """The words between the markers, numbered where they repeat, and where their pieces are."""
    words = reading.words()[1:-1]
    names = [name for name, _ in words]
    counted = [f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name
               for i, name in enumerate(names)]  # fmt: skip
    return {name: places for name, (_, places) in zip(counted, words, strict=True)}


def table_of(reading: HiddenStates, layer: int, head: int) -> str:
    """Draw the weights of one head; caption and description say who looks where."""
    weights, tokens = np.asarray(reading.weights[layer, head]), reading.tokens
    strongest = [f"{tokens[i]} to {tokens[j]} with {weights[i, j]:.2f}"
                 for i, j in enumerate(weights.argmax(1))]  # fmt: skip
    words = weights[1:-1, 1:-1]  # (query, key), without the markers
    i, j = (int(at) + 1 for at in np.unravel_index(words.argmax(), words.shape))
    return plots.heatmap(
        weights, tokens, tokens, high=1.0, values=False,
        alt=f"A table of {len(tokens)} queries by {len(tokens)} keys. The strongest weight of "
            f"each query: {', '.join(strongest)}.",
        caption=f"Head {head} of layer {layer}, queries in rows. The largest weight between two "
                f"words: {tokens[i]} attends to {tokens[j]} with {weights[i, j]:.2f}.",
    )._repr_html_()  # fmt: skip


def way_of(
    reading: HiddenStates,
    places: list[int],
    poles: list[str],
    ends: list[Float[Array, "layer d_model"]],
) -> str:
    """Draw the cosines of a word with two others, before the first layer and after each."""
    word = "".join(reading.tokens[place].removeprefix("##") for place in places)
    vectors = np.asarray(reading.hidden[:, places].mean(1))  # (layer, d_model)
    near = np.stack([cosine(vectors, np.asarray(end)) for end in ends])  # (pole, layer)
    names = poles if poles[0] != poles[1] else [f"{poles[0]}, left", f"{poles[1]}, right"]
    before, after = (names[int(near[:, at].argmax())] for at in (0, -1))
    ranges = [f"{name} from {row[0]:.2f} to {row[-1]:.2f}"
            for name, row in zip(names, near, strict=True)]  # fmt: skip
    return plots.lines(
        range(near.shape[1]), dict(zip(names, near, strict=True)), markers=True,
        x_label="layers passed", y_label=f"cosine with {word}",
        alt=f"The cosine of {word} with two others, over the layers: {' and '.join(ranges)}.",
        caption=f"Before the first layer {word} is nearer to {before}, after the last to {after}.",
    )._repr_html_()  # fmt: skip
