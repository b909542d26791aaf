"""Text into numbers and back: whole words, or byte pairs that no text can surprise."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import regex

from lib.text import byte_pairs

UNKNOWN = "[UNK]"

# A word is letters or digits, with apostrophes inside it; any other visible sign stands alone.
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")

# Merges never cross these: an English ending; letters, digits or other signs with the space before
# them; or white space. Every character falls in one of them, so that nothing is lost. In Unicode
# \p{L} is any letter and \p{N} any digit, which the standard library's `re` cannot say.
CHUNK = regex.compile(r"'(?:[sdmt]|ll|re|ve)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

END_OF_TEXT = "<|endoftext|>"


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

    ids 0 to 255 are the bytes, 256 the first pair that was joined, and so on;
    special tokens, which stand for no text, come last.
    Any text is some sequence of bytes, so no text is unknown and decode(encode(x)) == x.

    Source: Sennrich et al. 2016, algorithm 1; Radford et al. 2019, section 2.2 (bytes, chunks).
    Taught in: chapter 02; as GPT-2's in chapter 12.
    Raises: ValueError for a merge of ids that do not exist before it, or for an order of the bytes
        that is not one of all 256.
    """

    def __init__(
        self,
        merges: Iterable[byte_pairs.Pair],
        *,
        order: bytes = bytes(range(256)),
        special: Iterable[str] = (),
    ):
        if sorted(order) != list(range(256)):
            raise ValueError(f"order names each of the 256 bytes once; these {len(order)} do not")
        self.merges = list(merges)
        self.vocabulary = [bytes([byte]) for byte in order]
        self.becomes = {}
        for pair in self.merges:
            left, right = (_lookup(self.vocabulary, i) for i in pair)
            self.becomes.setdefault(pair, len(self.vocabulary))
            self.vocabulary.append(left + right)
        self.special = {text: i for i, text in enumerate(special, len(self.vocabulary))}
        self.vocabulary += [text.encode() for text in self.special]
        self._id_of_byte = bytes.maketrans(order, bytes(range(256)))

    @classmethod
    def train(cls, text: str, merges: int) -> "BytePair":
        """Learn up to `merges` joins from a text: see `lib.text.byte_pairs.learn`."""
        chunks = Counter(CHUNK.findall(_valid(text)))
        return cls(byte_pairs.learn({chunk.encode(): n for chunk, n in chunks.items()}, merges))

    @classmethod
    def gpt2(cls, folder: str | Path | None = None) -> "BytePair":
        """GPT-2's own: 256 bytes, 50,000 merges and `<|endoftext|>`, 50,257 ids in all.

        Raises: FileNotFoundError if its merges are not installed, ValueError if they were altered.
        """
        return cls(
            byte_pairs.gpt2_merges(folder), order=byte_pairs.GPT2_BYTES, special=[END_OF_TEXT]
        )

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """Apply the merges to the text in the order in which they were learned.

        What looks like a special token is plain text, so that no reader's text can end a document;
        with special=True it becomes the special token's id.
        Half of a surrogate pair, which is no character, is read as �.
        """
        text = _valid(text)
        if not (special and self.special):
            return self._encode_plain(text)
        ids, marks = [], sorted(self.special, key=len, reverse=True)
        for part in re.split(f"({'|'.join(map(re.escape, marks))})", text):
            ids += [self.special[part]] if part in self.special else self._encode_plain(part)
        return ids

    def _encode_plain(self, text: str) -> list[int]:
        chunks = CHUNK.findall(text)
        # A text repeats its words: each is encoded once.
        ids = {chunk: self._encode_chunk(chunk) for chunk in set(chunks)}
        return list(chain.from_iterable(map(ids.__getitem__, chunks)))

    def _encode_chunk(self, chunk: str) -> list[int]:
        return byte_pairs.join(chunk.encode().translate(self._id_of_byte), self.becomes)

    def decode(self, ids: Iterable[int]) -> str:
        """Glue the bytes together and read them as UTF-8.

        Half a character, which one token alone may be, is shown as �.

        Raises: ValueError for a number that is no id.
        """
        return b"".join(_lookup(self.vocabulary, i) for i in ids).decode(errors="replace")

    def stream(self, ids: Iterable[int]) -> Iterator[str]:
        """Decode ids as they come: half a character waits for the ids that make it whole.

        Together the strings are decode(ids).

        Raises: ValueError for a number that is no id.
        """
        read = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        for i in ids:
            if text := read(_lookup(self.vocabulary, i)):
                yield text
        if text := read(b"", final=True):
            yield text

    def pieces(self, text: str) -> list[str]:
        """The tokens of a text as readable strings; a leading space belongs to its token."""
        return [self.decode([i]) for i in self.encode(text)]


def _valid(text: str) -> str:
    """Join the two halves of a surrogate pair, and put � for a half that stands alone."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _lookup(vocabulary: list, i: int):
    if not 0 <= i < len(vocabulary):
        raise ValueError(
            f"{i} is no id of this vocabulary; ids run from 0 to {len(vocabulary) - 1}"
        )
    return vocabulary[i]
