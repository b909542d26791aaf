"""Tokenizers: whole words, or byte pairs, for which no text is unknown."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import regex

from lib.text import byte_pairs

UNKNOWN = "[UNK]"

# A word is letters or digits, with apostrophes inside it; any other character is its own token.
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")

# Merges never cross these chunks: an English ending; letters, digits or other characters with the
# space before them; or white space. Every character is in one chunk, so nothing is lost. \p{L} is
# any Unicode letter and \p{N} any digit, which the standard library's `re` does not support.
CHUNK = regex.compile(r"'(?:[sdmt]|ll|re|ve)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

END_OF_TEXT = "<|endoftext|>"


def words(text: str) -> list[str]:
    """Split a text into lower-case words and punctuation marks: `Stop, Ann!` is four tokens.

    Source: Jurafsky and Martin 2025, chapter 2 (tokens by a regular expression).
    Taught in: chapter 02.
    """
    return WORD.findall(text.lower())


class WordTokenizer:
    """Map whole words to ids; id 0 is `[UNK]`, which replaces every unknown word.

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
        """Build the vocabulary from every word of the text, in the order of first appearance."""
        return cls(words(text))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """Return one id per word; an unknown word becomes 0 and cannot be recovered."""
        return [self.ids.get(word, 0) for word in words(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """Join the words by spaces; capitals and the original spacing are lost.

        Raises: ValueError for an id outside the vocabulary.
        """
        return " ".join(_lookup(self.vocabulary, i) for i in ids)

    def unknown(self, text: str) -> list[str]:
        """Return the unknown words of the text, each once."""
        return [word for word in dict.fromkeys(words(text)) if word not in self.ids]


class BytePair:
    """Byte-pair encoding: start from the 256 bytes and merge the most frequent pairs.

    Ids 0 to 255 are the bytes, 256 is the first merged pair, and so on;
    special tokens, which represent no text, come last.
    Every text is a sequence of bytes, so no text is unknown and decode(encode(x)) == x.

    Source: Sennrich et al. 2016, algorithm 1; Radford et al. 2019, section 2.2 (bytes, chunks).
    Taught in: chapter 02; as GPT-2's in chapter 12.
    Raises: ValueError for a merge of ids that do not exist yet, or an order that does not name
        each of the 256 bytes once.
    """

    chunk = CHUNK  # the pattern of the chunks

    def __init__(
        self,
        merges: Iterable[byte_pairs.Pair],
        *,
        order: bytes = bytes(range(256)),
        special: Iterable[str] = (),
    ):
        if sorted(order) != list(range(256)):
            raise ValueError(
                f"`order` must name each of the 256 bytes once; got {len(order)} bytes."
            )
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
        """Learn up to `merges` merges from a text: see `lib.text.byte_pairs.learn`."""
        chunks = Counter(CHUNK.findall(_valid(text)))
        return cls(byte_pairs.learn({chunk.encode(): n for chunk, n in chunks.items()}, merges))

    @classmethod
    def gpt2(cls, folder: str | Path | None = None) -> "BytePair":
        """Load GPT-2's tokenizer: 256 bytes, 50,000 merges and `<|endoftext|>`, 50,257 ids in all.

        Raises: FileNotFoundError if its merges are not installed, ValueError if they were changed.
        """
        return cls(
            byte_pairs.gpt2_merges(folder), order=byte_pairs.GPT2_BYTES, special=[END_OF_TEXT]
        )

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """Apply the merges to the text in the order in which they were learned.

        By default the spelling of a special token is plain text, so that user input cannot end a
        document; with special=True it becomes the special token's id.
        An unpaired surrogate, which is not a character, is read as �.
        """
        text = _valid(text)
        if not (special and self.special):
            return self._encode_plain(text)
        ids = []
        for part in self._split_special(text):
            ids += [self.special[part]] if part in self.special else self._encode_plain(part)
        return ids

    def _split_special(self, text: str) -> list[str]:
        """Split a text at the special tokens, the longest first, and keep them."""
        spellings = sorted(self.special, key=len, reverse=True)
        return re.split(f"({'|'.join(map(re.escape, spellings))})", text)

    def _encode_plain(self, text: str) -> list[int]:
        chunks = self.chunk.findall(text)
        # Chunks repeat, so encode each different chunk once.
        ids = {chunk: self._encode_chunk(chunk) for chunk in set(chunks)}
        return list(chain.from_iterable(map(ids.__getitem__, chunks)))

    def _encode_chunk(self, chunk: str) -> list[int]:
        return byte_pairs.join(chunk.encode().translate(self._id_of_byte), self.becomes)

    def decode(self, ids: Iterable[int]) -> str:
        """Concatenate the bytes and decode them as UTF-8.

        An incomplete character, which a single token may be, is decoded to �.

        Raises: ValueError for an id outside the vocabulary.
        """
        return b"".join(_lookup(self.vocabulary, i) for i in ids).decode(errors="replace")

    def stream(self, ids: Iterable[int]) -> Iterator[str]:
        """Decode ids incrementally: an incomplete character waits for the ids that complete it.

        The concatenated strings equal decode(ids).

        Raises: ValueError for an id outside the vocabulary.
        """
        read = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        for i in ids:
            if text := read(_lookup(self.vocabulary, i)):
                yield text
        if text := read(b"", final=True):
            yield text

    def pieces(self, text: str) -> list[str]:
        """Return the tokens of a text as readable strings; a leading space belongs to its token."""
        return [self.decode([i]) for i in self.encode(text)]


def _valid(text: str) -> str:
    """Join the two halves of a surrogate pair, and put � for a half that stands alone."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _lookup(vocabulary: list, i: int):
    if not 0 <= i < len(vocabulary):
        raise ValueError(
            f"An id of this vocabulary must be from 0 to {len(vocabulary) - 1}; got {i}."
        )
    return vocabulary[i]
