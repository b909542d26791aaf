"""The tokens, hidden states and attention weights of one forward pass, kept together."""

from dataclasses import dataclass

from jaxtyping import Bool, Float

from lib.shapes import Array


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The results of a forward pass of an encoder, for one sentence or for a batch.

    hidden[0] are the embeddings, hidden[i] is the output of layer i;
    weights[i, h] is the attention matrix of head h between hidden[i] and hidden[i + 1].
    For a batch, all four fields start with a batch axis, the mask is True for real tokens, and
    `states[2]` is the third sentence alone.

    Source: Devlin et al. 2019 for the model; the embeddings have index 0 as in `transformers`.
    Taught in: chapter 07.
    """

    tokens: list
    hidden: Float[Array, "*batch layer n d_model"]
    weights: Float[Array, "*batch layer-1 head query key"]
    mask: Bool[Array, "*batch n"]

    def __len__(self) -> int:
        """Return the number of sentences in a batch, or of tokens in one sentence."""
        return len(self.tokens)

    def __getitem__(self, sentence: int) -> "HiddenStates":
        """Return one sentence of a batch, without its padding.

        Raises: TypeError if there is no batch axis.
        """
        if self.mask.ndim == 1:
            raise TypeError(
                "Only a batch can be indexed; these are the hidden states of one sentence. "
                "Use .hidden for its vectors and .weights for its attention weights."
            )
        n = int(self.mask[sentence].sum())
        return HiddenStates(
            self.tokens[sentence][:n],
            self.hidden[sentence][:, :n],
            self.weights[sentence][:, :, :n, :n],
            self.mask[sentence][:n],
        )

    def words(self) -> list[tuple[str, list[int]]]:
        """Merge word pieces (`yo ##gur ##t`) into words, each with the indices of its pieces.

        Raises: TypeError for a batch.
        """
        if self.mask.ndim != 1:
            raise TypeError(
                "Choose one sentence of the batch first: states[0].vector('apple', layer=6)."
            )
        words: list[tuple[str, list[int]]] = []
        for index, token in enumerate(self.tokens):
            if token.startswith("##") and words:
                word, indices = words.pop()
                words.append((word + token[2:], [*indices, index]))
            else:
                words.append((token, [index]))
        return words

    def positions(self, word: str, occurrence: int = 0) -> list[int]:
        """Return the position of a word, or the positions of its pieces.

        Raises: KeyError if the word has no such occurrence, with the words of the sentence.
        """
        words = self.words()
        matches = [indices for name, indices in words if name.lower() == word.lower()]
        if not -len(matches) <= occurrence < len(matches):
            sentence = " ".join(name for name, _ in words)
            raise KeyError(
                f"There is no occurrence {occurrence} (counted from 0) of {word!r}, which occurs "
                f"{len(matches)} times. The words are: {sentence}"
            )
        return matches[occurrence]

    def vector(self, word: str, layer: int, occurrence: int = 0) -> Float[Array, " d_model"]:
        """Return the mean hidden state of a word's pieces after a layer (0: the embeddings).

        Raises: KeyError if the word has no such occurrence; IndexError for an unknown layer.
        """
        layers = self.hidden.shape[-3] - 1
        if not 0 <= layer <= layers:
            raise IndexError(f"`layer` must be from 0 (the embeddings) to {layers}; got {layer}.")
        indices = self.positions(word, occurrence)
        return sum(self.hidden[layer][index] for index in indices) / len(indices)
