"""Word vectors: nearest neighbours and analogies."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np
from jaxtyping import Float

from lib.functional import cosine
from lib.shapes import Array, mismatch


class WordVectors:
    """A matrix with one row per word, with neighbours by cosine similarity and analogies.

    Source: Mikolov et al. 2013, section 4 (neighbours by cosine, analogies by addition).
    Taught in: chapter 02.
    Raises: ShapeError if words and rows differ in number; ValueError for a repeated word.
    """

    def __init__(self, words: Sequence[str], vectors: Float[Array, "vocab d_model"]):
        self.words, self.vectors = list(words), np.asarray(vectors)
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise mismatch(
                f"{len(self.words)} words need one row each.",
                "Give vectors of shape (vocab, d_model).",
                vectors=self.vectors,
            )
        repeated = [word for word, count in Counter(self.words).items() if count > 1]
        if repeated:
            raise ValueError(f"Each word must occur once; repeated: {', '.join(repeated)}.")
        self.rows = {word: row for row, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.rows

    def __getitem__(self, word: str) -> Float[np.ndarray, " d_model"]:
        """Return a copy of the vector of a word.

        Raises: KeyError for an unknown word, with the most similar spellings.
        """
        return self.vectors[self._row(word)].copy()

    def norms(self) -> Float[np.ndarray, " vocab"]:
        """Return the norm of each word's vector, in the order of `words`."""
        return np.linalg.norm(self.vectors, axis=-1)

    def cosine(self, a: str, b: str) -> float:
        """Return the cosine similarity of two words: `lib.functional.cosine` of their vectors."""
        return float(cosine(self[a], self[b]))

    def nearest(
        self, vector: Float[Array, " d_model"], count: int, exclude: Iterable[str] = ()
    ) -> list[tuple[str, float]]:
        """Return the words with the largest cosine similarity, best first, with their cosines.

        Raises: ShapeError if the vector and the rows differ in dimension; KeyError for an unknown
        word in `exclude`; ValueError for a zero vector.
        """
        vector = np.asarray(vector)
        if vector.shape != self.vectors.shape[1:]:
            raise mismatch(
                "`vector` must be one vector with the dimension of the rows.",
                "Get the vector of a word by vectors['king'].",
                vector=vector,
                rows=self.vectors,
            )
        cosines = cosine(self.vectors, vector)  # (vocab,)
        excluded = {self._row(word) for word in exclude}
        # A stable sort keeps words of equal cosine in the order of the rows.
        order = [row for row in np.argsort(-cosines, kind="stable") if row not in excluded]
        return [(self.words[row], float(cosines[row])) for row in order[:count]]

    def analogy(
        self, minus: str, plus: str, start: str, *, count: int = 5, exclude_inputs: bool = True
    ) -> list[tuple[str, float]]:
        """Return the words nearest to start - minus + plus, such as king - man + woman.

        By default the three inputs are excluded from the answer, as is usual;
        `exclude_inputs=False` shows how often the start itself would be nearest.

        Source: Mikolov et al. 2013, section 4; Linzen 2016 on excluding the inputs.
        """
        target = self[start] - self[minus] + self[plus]
        return self.nearest(target, count, exclude=(minus, plus, start) if exclude_inputs else ())

    def _row(self, word: str) -> int:
        if word not in self.rows:
            similar = get_close_matches(word, self.words, n=3)
            hint = f"similar: {', '.join(similar)}" if similar else "none is similar"
            raise KeyError(f"{word!r} is not one of the {len(self)} words; {hint}")
        return self.rows[word]
