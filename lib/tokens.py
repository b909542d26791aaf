"""Text into numbers and back: whole words, or byte pairs that no text can surprise."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

UNKNOWN = "[UNK]"

# A word is letters or digits, with apostrophes inside it; any other visible sign stands alone.
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")

# Merges never cross these: an English ending, a word or a number or punctuation with the space
# before it, or white space. Every character falls in one of them, so that nothing is lost.
CHUNK = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


def words(text: str) -> list[str]:
    """Split a text into lower-case words and punctuation marks: `Stop, Ann!` is four tokens.

    Source: Jurafsky and Martin 2025, chapter 2 (tokens by a regular expression).
    Taught in: chapter 02.
    """
    return WORD.findall(text.lower())


class WordTokenizer:
    """Numbers for whole words: id 0 is `[UNK]`, which every word outside the vocabulary becomes.

    Source: Jurafsky and Martin 2025, chapter 2.
    Taught in: chapter 02.
    """

    def __init__(self, vocabulary: Iterable[str]):
        known = dict.fromkeys(word.lower() for word in vocabulary)
        known.pop(UNKNOWN.lower(), None)
        self.vocabulary = [UNKNOWN, *known]
        self.ids = {word: i for i, word in enumerate(self.vocabulary)}

    @classmethod
    def train(cls, text: str) -> "WordTokenizer":
        """Take every word of the text into the vocabulary, in the order of first appearance."""
        return cls(words(text))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """One id per word; an unknown word is 0, and what it was is lost."""
        return [self.ids.get(word, 0) for word in words(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The words with spaces between them; capitals and the original spacing are lost.

        Raises: ValueError for a number that is no id.
        """
        return " ".join(_lookup(self.vocabulary, i) for i in ids)

    def unknown(self, text: str) -> list[str]:
        """The words of the text that the vocabulary does not hold, each once."""
        return [word for word in dict.fromkeys(words(text)) if word not in self.ids]


class BytePair:
    """Byte-pair encoding: start from the 256 bytes and join, one by one, the commonest neighbours.

    ids 0 to 255 are the bytes themselves, 256 the first pair that was joined, and so on.
    Any text is some sequence of bytes, so no text is unknown and decode(encode(x)) == x.

    Source: Sennrich et al. 2016, algorithm 1; Radford et al. 2019, section 2.2 (bytes, chunks).
    Taught in: chapter 02.
    """

    def __init__(self, merges: Iterable[tuple[int, int]]):
        self.merges = list(merges)
        self.vocabulary = [bytes([byte]) for byte in range(256)]
        for left, right in self.merges:
            self.vocabulary.append(self.vocabulary[left] + self.vocabulary[right])
        self.rank = {pair: i for i, pair in enumerate(self.merges)}

    @classmethod
    def train(cls, text: str, merges: int) -> "BytePair":
        """Learn up to `merges` joins: each time, the pair that occurs most often becomes one token.

        Of pairs that occur equally often, the one with the smaller ids is taken;
        other libraries settle ties in other ways, and then learn other merges from there on.
        Learning stops early when no pair occurs twice.
        """
        chunks = Counter(CHUNK.findall(text))
        pieces = {chunk: list(chunk.encode()) for chunk in chunks}
        learned = []
        for _ in range(merges):
            pairs = _count_pairs(pieces, chunks)
            if not pairs or max(pairs.values()) < 2:
                break
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            pieces = {chunk: _join(ids, best, 256 + len(learned)) for chunk, ids in pieces.items()}
            learned.append(best)
        return cls(learned)

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """Apply the merges to the text in the order in which they were learned."""
        return [i for chunk in CHUNK.findall(text) for i in self._encode_chunk(chunk)]

    def _encode_chunk(self, chunk: str) -> list[int]:
        ids = list(chunk.encode())
        while len(ids) > 1:
            # The pair learned earliest goes first; what it makes may complete a later one.
            first = min(pairwise(ids), key=lambda pair: self.rank.get(pair, len(self.rank)))
            if first not in self.rank:
                break
            ids = _join(ids, first, 256 + self.rank[first])
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Glue the bytes together and read them as UTF-8.

        Half a character, which one token alone may be, is shown as �.

        Raises: ValueError for a number that is no id.
        """
        return b"".join(_lookup(self.vocabulary, i) for i in ids).decode(errors="replace")

    def pieces(self, text: str) -> list[str]:
        """The tokens of a text as readable strings; a leading space belongs to its token."""
        return [self.decode([i]) for i in self.encode(text)]


def _count_pairs(pieces: dict[str, list[int]], chunks: Counter) -> Counter:
    """How often each two tokens stand side by side, counted in every copy of every chunk."""
    pairs = Counter()
    for chunk, ids in pieces.items():
        for pair in pairwise(ids):
            pairs[pair] += chunks[chunk]
    return pairs


def _join(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Replace the pair by its new id, from left to right: in a a a, the first two are joined."""
    joined, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            joined.append(new)
            i += 2
        else:
            joined.append(ids[i])
            i += 1
    return joined


def _lookup(vocabulary: list, i: int):
    if not 0 <= i < len(vocabulary):
        raise ValueError(
            f"{i} is no id of this vocabulary; ids run from 0 to {len(vocabulary) - 1}"
        )
    return vocabulary[i]
