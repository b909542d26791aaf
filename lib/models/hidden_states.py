"""What a model made of a text, kept together: its tokens, its vectors, its attention weights."""

from dataclasses import dataclass

from jaxtyping import Bool, Float

from lib.shapes import Array


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """Everything that was computed on the way through a model, for one sentence or for several.

    hidden[0] are the embeddings, hidden[i] is what layer i made of them;
    weights[i, h] is the table of head h in the layer that leads from hidden[i] to hidden[i + 1].
    Of several sentences, all four fields start with a batch axis, the mask says which tokens
    are real, and `reading[2]` is the third sentence alone.

    Source: Devlin et al. 2019 for the model; the first state is named 0 as in `transformers`.
    Taught in: chapter 07.
    """

    tokens: list
    hidden: Float[Array, "*batch layer n d_model"]
    weights: Float[Array, "*batch layer-1 head query key"]
    mask: Bool[Array, "*batch n"]

    def __len__(self) -> int:
        """The number of sentences of a batch, or of tokens in one sentence."""
        return len(self.tokens)

    def __getitem__(self, sentence: int) -> "Reading":
        """One sentence of a batch, with its pads cut off.

        Raises: TypeError if this is the reading of one sentence.
        """
        if self.mask.ndim == 1:
            raise TypeError(
                "this is the reading of one sentence and has no others to choose from; "
                "its vectors are in .hidden, its weights in .weights"
            )
        n = int(self.mask[sentence].sum())
        return HiddenStates(
            self.tokens[sentence][:n],
            self.hidden[sentence][:, :n],
            self.weights[sentence][:, :, :n, :n],
            self.mask[sentence][:n],
        )

    def words(self) -> list[tuple[str, list[int]]]:
        """Whole words, put together from their pieces (`yo ##gur ##t`), and where the pieces are.

        Raises: TypeError for a batch.
        """
        if self.mask.ndim != 1:
            raise TypeError("choose a sentence first: reading[0].vector('apple', layer=6)")
        words: list[tuple[str, list[int]]] = []
        for place, token in enumerate(self.tokens):
            if token.startswith("##") and words:
                word, places = words.pop()
                words.append((word + token[2:], [*places, place]))
            else:
                words.append((token, [place]))
        return words

    def positions(self, word: str, occurrence: int = 0) -> list[int]:
        """Where a word stands: the index of its token, or of each of its pieces.

        Raises: KeyError if it does not occur so often, with the words that are there.
        """
        words = self.words()
        found = [places for name, places in words if name.lower() == word.lower()]
        if not -len(found) <= occurrence < len(found):
            there = " ".join(name for name, _ in words)
            raise KeyError(
                f"no occurrence {occurrence} (counted from 0) of {word!r}, "
                f"which is there {len(found)} times; the words are: {there}"
            )
        return found[occurrence]

    def vector(self, word: str, layer: int, occurrence: int = 0) -> Float[Array, " d_model"]:
        """The vector of a word after a layer (0: the embeddings), averaged over its pieces.

        Raises: KeyError if the word does not occur so often; IndexError for a layer too many.
        """
        layers = self.hidden.shape[-3] - 1
        if not 0 <= layer <= layers:
            raise IndexError(f"layer {layer} is not one of 0 (the embeddings) to {layers}")
        places = self.positions(word, occurrence)
        return sum(self.hidden[layer][place] for place in places) / len(places)
