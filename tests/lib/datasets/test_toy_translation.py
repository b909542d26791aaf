"""The small languages are what their grammar says, and their alignments are true."""

import numpy as np
import pytest

from lib.datasets import toy_translation
from lib.seeds import generator

# A dictionary by hand, so that the grammar's own tables are not their own judge.
ENGLISH = {
    "le": "the", "la": "the", "les": "the", "mon": "my", "ma": "my", "mes": "my",
    "voiture": "car", "voitures": "cars", "maison": "house", "maisons": "houses",
    "table": "table", "tables": "tables", "fleur": "flower", "fleurs": "flowers",
    "chat": "cat", "chats": "cats", "chien": "dog", "chiens": "dogs",
    "livre": "book", "livres": "books", "jardin": "garden", "jardins": "gardens",
    "rouge": "red", "rouges": "red", "vert": "green", "verte": "green", "verts": "green",
    "vertes": "green", "noir": "black", "noire": "black", "noirs": "black", "noires": "black",
    "grand": "big", "grande": "big", "grands": "big", "grandes": "big",
    "petit": "small", "petite": "small", "petits": "small", "petites": "small",
    "tombe": "falls", "tombent": "fall", "dort": "sleeps", "dorment": "sleep",
    "voit": "sees", "voient": "see", "trouve": "finds", "trouvent": "find",
    "souvent": "often", ".": ".",
}  # fmt: skip
FEMININE = {"voiture", "maison", "table", "fleur"}


def test_a_reversal_is_its_source_backwards_and_its_links_are_the_other_diagonal():
    for pair in toy_translation.reversal(generator(0), 50, shortest=2, longest=7):
        letters = pair.source[:-1]
        assert 2 <= len(letters) <= 7
        assert pair.target == [*reversed(letters), "."]
        assert pair.source[-1] == "."
        for t, j in pair.sure:
            assert pair.target[t] == pair.source[j]
            assert t + j == (len(letters) - 1 if pair.target[t] != "." else 2 * len(letters))
        assert pair.possible == pair.sure


@pytest.mark.parametrize(("shortest", "longest"), [(5, 3), (0, 3)])
def test_lengths_that_no_word_has_are_refused(shortest, longest):
    with pytest.raises(ValueError, match="1 <= shortest <= longest"):
        toy_translation.reversal(generator(0), 2, shortest, longest)


def test_the_number_of_sentences_is_that_of_the_grammar(monkeypatch):
    # A grammar of one word of each kind, small enough to be exhausted.
    for name in ("NOUNS", "VERBS", "TRANSITIVE"):
        monkeypatch.setattr(toy_translation, name, getattr(toy_translation, name)[:1])
    for name in ("SIZES", "COLOURS"):
        monkeypatch.setattr(
            toy_translation, name, dict([*getattr(toy_translation, name).items()][:1])
        )
    phrases = 2 * 2 * 2 * 2
    every = 2 * phrases * (1 + phrases)
    pairs = toy_translation.translation(generator(7), every)
    assert len({tuple(pair.source) for pair in pairs}) == every
    rng, seen = generator(8), {tuple(pair.source) for pair in pairs}
    assert all(tuple(toy_translation._sentence(rng).source) in seen for _ in range(2000))


def test_more_sentences_than_there_are_are_refused():
    assert toy_translation.SENTENCES == 591_360
    with pytest.raises(ValueError, match="591,360 sentences; got 600,000"):
        toy_translation.translation(generator(0), 600_000)


def test_every_sure_link_joins_a_word_to_its_translation():
    for pair in toy_translation.translation(generator(1), 400):
        assert sorted(t for t, _ in pair.sure) == list(range(len(pair.target)))
        assert sorted(j for _, j in pair.sure) == list(range(len(pair.source)))
        for t, j in pair.sure:
            assert ENGLISH[pair.target[t]] == pair.source[j]
        assert pair.sure < pair.possible


def test_colours_stand_behind_their_noun_and_sizes_before_it():
    pair = next(
        pair
        for pair in toy_translation.translation(generator(2), 6000)
        if pair.source[:4] == ["the", "small", "red", "car"]
    )
    assert pair.target[:4] == ["la", "petite", "voiture", "rouge"]
    assert {(0, 0), (1, 1), (2, 3), (3, 2)} <= pair.sure
    # The noun decides the form of the three words round it.
    assert {(0, 3), (1, 3), (3, 3)} <= pair.possible - pair.sure


def test_words_agree_in_gender_and_number():
    for pair in toy_translation.translation(generator(3), 400):
        nouns = {j: pair.target[t] for t, j in pair.sure if pair.target[t].rstrip("s") in {
            "voiture", "maison", "table", "fleur", "chat", "chien", "livre", "jardin"}}  # fmt: skip
        for t, j in pair.possible - pair.sure:
            word, noun = pair.target[t], nouns[j]
            if word in {"le", "la", "mon", "ma"}:
                assert (word in {"la", "ma"}) == (noun in FEMININE)
            elif word in {"les", "mes"} or word.endswith("ent"):
                assert noun.endswith("s")
            elif word.rstrip("es") in {"vert", "noir", "grand", "petit"}:
                assert word.endswith("s") == noun.endswith("s")
                assert ("e" in word[-2:]) == (noun.rstrip("s") in FEMININE)


def test_an_adverb_moves_behind_the_verb():
    for pair in toy_translation.translation(generator(4), 100):
        if "often" in pair.source:
            t = pair.target.index("souvent")
            assert (t, pair.source.index("often")) in pair.sure
            assert (t - 1, pair.source.index("often") + 1) in pair.sure


def test_sentences_differ_from_each_other_and_the_same_seed_gives_the_same():
    pairs = toy_translation.translation(generator(5), 700)
    assert len({tuple(p.source) for p in pairs}) == 700
    assert pairs == toy_translation.translation(generator(5), 700)
    assert max(len(p.source) for p in pairs) <= 11


def test_the_vocabulary_holds_every_word_of_its_side_in_order():
    pairs = toy_translation.translation(generator(6), 2000)
    source, target = toy_translation.vocabulary(iter(pairs))
    assert set(target) == set(ENGLISH)
    assert source == sorted(source)
    assert {"often", "cars", "falls"} <= set(source)
    assert len(source) == 33
    assert len(target) == len(ENGLISH)


def test_the_strongest_link_of_each_row_is_its_largest_weight():
    weights = np.array([[0.2, 0.7, 0.1], [0.5, 0.1, 0.4]])
    assert toy_translation.strongest(weights) == {(0, 1), (1, 0)}


def test_the_error_rate_follows_och_and_ney():
    sure, possible = frozenset({(0, 0), (1, 2)}), frozenset({(0, 0), (1, 2), (1, 1)})
    rate = toy_translation.alignment_error_rate
    assert rate(sure, sure, possible) == 0
    assert rate(frozenset({(0, 0), (1, 1)}), sure, possible) == pytest.approx(1 - (1 + 2) / 4)
    assert rate(frozenset({(0, 1), (1, 0)}), sure, possible) == 1
    # Without possible links it is 1 minus the harmonic mean of precision and recall.
    links = frozenset({(0, 0), (0, 1), (0, 2)})
    assert rate(links, sure) == pytest.approx(1 - 2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    with pytest.raises(ValueError, match="at least one link"):
        rate(frozenset(), frozenset())


def test_a_corpus_is_rated_over_all_its_links_without_the_full_stops():
    links = frozenset({(0, 1), (1, 0), (2, 2)})
    pairs = [toy_translation.Pair(["a", "b", "."], ["b", "a", "."], links, links)] * 2
    right = np.array([[0.4, 0.6, 0.0], [0.9, 0.1, 0.0], [1.0, 0.0, 0.0]])
    wrong = np.array([[0.8, 0.2, 0.0], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    result = toy_translation.alignment(pairs, [right, wrong])
    assert result.weight_on_truth == pytest.approx((0.6 + 0.9 + 0.2 + 0.5) / 4)
    assert result.error_rate == pytest.approx(1 / 4)


def test_a_table_of_another_shape_is_refused(bare_calls):
    del bare_calls
    pairs = toy_translation.reversal(generator(0), 1, shortest=3, longest=3)
    with pytest.raises(ValueError, match=r"\(4, 4\); got \(3, 4\)"):
        toy_translation.alignment(pairs, [np.zeros((3, 4))])
