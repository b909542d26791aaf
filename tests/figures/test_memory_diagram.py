"""The schematics of chapter 14 draw the trips, the tiles and the step that the chapter counts."""

from fractions import Fraction

import pytest

from figures.diagrams import memory
from figures.diagrams.cost import memory_of_lengths, prefill_and_decode
from figures.diagrams.decode_step import decode_step
from figures.widgets.tile_walk import TileWalk
from lib.attention import masks

VALUES = ((12, 0), (0, 12), (6, 0), (12, 6))  # of the first four keys in "By hand"


def test_standard_attention_moves_four_large_matrices_and_tiles_none():
    large = [name for name, _ in memory.STANDARD if name in memory.LARGE]
    assert len(large) == 4
    assert not any(name in memory.LARGE for name, _ in memory.IN_TILES)
    for trips in (memory.STANDARD, memory.IN_TILES):
        assert trips[-1] == ("output", False)
    figure = memory.slow_and_fast_memory()
    for words in ("slow memory: large", "K, V again", "weights,"):
        assert words in figure.svg


def test_the_tiles_are_numbered_in_the_order_of_the_walk_and_forbidden_ones_left_out():
    walk = TileWalk(rows=memory.SIDE, columns=memory.SIDE, causal=True)
    tiles = [(queries[0] // memory.SIDE, keys[0] // memory.SIDE) for queries, keys in walk.visits()]
    assert memory.tiles_of_causal() == tiles
    edges = memory.N // memory.SIDE
    cut = masks.causal(memory.N).reshape(edges, memory.SIDE, edges, memory.SIDE)
    assert len(tiles) == cut.any(axis=(1, 3)).sum() == 6
    figure = memory.tiles_in_order()
    assert tiles[memory.NOW - 1][0] == edges - 1  # a tile of the last, framed row
    assert "numbered row by row: 1; 2, 3; 4, 5, 6" in figure.alt
    for words in ("5: in fast memory now", "unfinished", ">output<"):
        assert words in figure.svg
    row = memory.row_in_tiles().svg
    assert all(f"tile {number}" in row for number, (i, _) in enumerate(tiles, 1) if i == edges - 1)


def test_what_is_kept_after_a_tile_follows_from_the_scores_of_the_page():
    scores = [Fraction(number) for number in (1, 3, 6, 2)]
    for tiles in (1, 2):
        kept = memory.KEPT[tiles - 1][1]
        seen = scores[: 2 * tiles]  # e to the power of each score
        terms = [score / max(seen) for score in seen]
        pairs = list(zip(terms, VALUES, strict=False))
        o = [sum(term * value[i] for term, value in pairs) for i in (0, 1)]
        assert kept == (f"m = ln {max(seen)}", f"ℓ = {sum(terms)}", f"o = ({o[0]}, {o[1]})")
    assert all(text in memory.row_in_tiles().svg for text in ("ln 12", "ℓ = 4/3", "o = (12, 8)"))


def test_the_bar_of_standard_attention_is_as_long_as_its_parts():
    parts = dict(zip(memory.SEGMENTS, (30.0, 10.0, 40.0, 100.0, 20.0), strict=True))
    figure = memory.time_apart(parts, {"all scores": 25.0})
    assert "standard attention: 200 ms" in figure.svg
    assert "new memory 100" in figure.alt
    assert "all scores 25" in figure.alt
    assert "50%" in figure.caption


def test_a_decode_step_adds_a_column_to_the_cache_and_one_row_of_scores():
    figure = decode_step()
    assert "one row of 5 scores" in figure.alt
    for words in (">that<", ">man<", "KV cache", "kept from earlier steps"):
        assert words in figure.svg
    assert "one row of 3 scores" in decode_step(("The", "keys", "that")).alt


@pytest.mark.parametrize("count", [1, 6])
def test_a_decode_step_that_does_not_fit_the_drawing_is_refused(count):
    with pytest.raises(ValueError, match=f"got {count}"):
        decode_step(["the"] * count)


def test_the_memory_that_did_not_fit_is_drawn_hollow_above_that_of_the_gpu():
    short = [(1024, "standard", 1.0, 100.0), (1024, "fused", 1.0, 2.0)]
    rows = [*short, (2048, "standard", None, None), (2048, "fused", 1.0, 4.0)]
    figure = memory_of_lengths(rows, missing=400e3, room=80e3)
    for words in (">400 GB<", ">4 MB<", "80 GB, the GPU"):
        assert words in figure.svg
    assert "computed, four times" in figure.caption


def test_prefill_loads_once_and_decode_once_for_each_token():
    figure = prefill_and_decode(prompt=4, written=2)
    assert "leads from the parameters in slow memory to 4 tokens" in figure.alt
    assert figure.svg.count(">again<") == 1
    assert ">6<" in figure.svg
