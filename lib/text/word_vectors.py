"""Words as vectors: who is near whom, and where the difference of two words leads."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np
from jaxtyping import Float

from lib.functional import cosine
from lib.shapes import Array, mismatch


class WordVectors:
    """A table with one row per word, and the questions that one asks of it.

    Source: Mikolov et al. 2013, section 4 (neighbours by cosine, analogies by addition).
    Taught in: chapter 02.
    Raises: ShapeError if words and rows differ in number; ValueError if a word comes twice.
    """

    def __init__(self, words: Sequence[str], vectors: Float[Array, "vocab d_model"]):
        self.words, self.vectors = list(words), np.asarray(vectors)
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise mismatch(
                f"{len(self.words)} words need a table with as many rows.",
                "Give one row for each word: (vocab, d_model).",
                vectors=self.vectors,
            )
        twice = [word for word, count in Counter(self.words).items() if count > 1]
        if twice:
            raise ValueError(f"A word has one row, and these have several: {', '.join(twice)}.")
        self.rows = {word: row for row, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.rows

    def __getitem__(self, word: str) -> Float[np.ndarray, " d_model"]:
        """The vector of a word; a copy, so that no experiment changes the table.

        Raises: KeyError for an unknown word, with the nearest spellings.
        """
        return self.vectors[self._row(word)].copy()

    def norms(self) -> Float[np.ndarray, " vocab"]:
        """The length of each word's vector, in the order of `words`."""
        return np.linalg.norm(self.vectors, axis=-1)

    def cosine(self, a: str, b: str) -> float:
        """Compare the directions of two words: `lib.functional.cosine` of their vectors."""
        return float(cosine(self[a], self[b]))

    def nearest(
        self, vector: Float[Array, " d_model"], count: int, exclude: Iterable[str] = ()
    ) -> list[tuple[str, float]]:
        """The words whose vectors point most nearly the same way, best first, with their cosines.

        Raises: ShapeError if the vector is not as long as the rows; KeyError for an unknown
        word in `exclude`; ValueError for a vector of zeros.
        """
        vector = np.asarray(vector)
        if vector.shape != self.vectors.shape[1:]:
            raise mismatch(
                "Neighbours are looked for around one vector as long as the rows.",
                "The vector of a word is vectors['king'].",
                vector=vector,
                rows=self.vectors,
            )
        cosines = cosine(self.vectors, vector)  # (vocab,)
        left_out = {self._row(word) for word in exclude}
        # A stable sort leaves words of equal cosine in the order of the table.
        order = [row for row in np.argsort(-cosines, kind="stable") if row not in left_out]
        return [(self.words[row], float(cosines[row])) for row in order[:count]]

    def analogy(
        self, minus: str, plus: str, start: str, *, count: int = 5, exclude_inputs: bool = True
    ) -> list[tuple[str, float]]:
        """The words nearest to start - minus + plus: king - man + woman leads where?

        The three words are left out of the answer, as is usual;
        `exclude_inputs=False` shows how often the start itself would have won.

        Source: Mikolov et al. 2013, section 4; Linzen 2016 on leaving the inputs out.
        """
        target = self[start] - self[minus] + self[plus]
        return self.nearest(target, count, exclude=(minus, plus, start) if exclude_inputs else ())

    def _row(self, word: str) -> int:
        if word not in self.rows:
            alike = get_close_matches(word, self.words, n=3)
            hint = f"spelt alike: {', '.join(alike)}" if alike else "none is spelt alike"
            raise KeyError(f"{word!r} is none of the {len(self)} words; {hint}")
        return self.rows[word]
