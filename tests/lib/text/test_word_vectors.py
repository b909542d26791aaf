"""Words as vectors: neighbours, analogies and the errors on the way."""

import numpy as np
import pytest

from lib.shapes import ShapeError
from lib.text.word_vectors import WordVectors

# Three axes: royalty, masculinity, kinship; the numbers make the analogy exact.
TABLE = {
    "king": [1.0, 1.0, 0.0],
    "queen": [1.0, 0.0, 0.0],
    "man": [0.0, 1.0, 0.1],
    "woman": [0.0, 0.0, 0.1],
    "dad": [0.0, 1.0, 1.0],
    "mom": [0.0, 0.0, 1.0],
    "prince": [2.0, 2.0, 0.1],
}


@pytest.fixture
def family() -> WordVectors:
    return WordVectors(list(TABLE), np.array(list(TABLE.values())))


def test_a_word_is_looked_up_by_name(family):
    assert family["dad"].tolist() == TABLE["dad"]
    assert len(family) == 7
    assert "mom" in family
    assert "aunt" not in family


def test_changing_a_vector_leaves_the_table_alone(family):
    family["dad"][0] = 9.0
    assert family["dad"].tolist() == TABLE["dad"]


def test_an_unknown_word_is_answered_with_the_nearest_spelling(family):
    with pytest.raises(KeyError, match="'quen' is not one of the 7 words; similar: queen"):
        family["quen"]
    with pytest.raises(KeyError, match="none is similar"):
        family["xylophone"]
    with pytest.raises(KeyError, match="similar: woman"):
        family.nearest(family["king"], 2, exclude=["womann"])


def test_neighbours_come_in_the_order_of_their_cosines(family):
    neighbours = family.nearest(family["king"], 7)
    k = np.array(TABLE["king"])
    by_hand = {w: k @ v / np.linalg.norm(k) / np.linalg.norm(v) for w, v in TABLE.items()}
    assert [word for word, _ in neighbours] == sorted(by_hand, key=by_hand.get, reverse=True)
    assert dict(neighbours) == pytest.approx(by_hand)


def test_direction_counts_and_length_does_not(family):
    assert family.nearest(family["king"], 1, exclude=["king"])[0][0] == "prince"
    longer, king = family.nearest(family["king"] * 17, 5), family.nearest(family["king"], 5)
    assert dict(longer) == pytest.approx(dict(king))


def test_excluded_words_do_not_answer_and_all_may_be_asked_for(family):
    answer = family.nearest(family["king"], 99, exclude=["king", "prince"])
    assert {word for word, _ in answer} == set(TABLE) - {"king", "prince"}


def test_ties_keep_the_order_of_the_table():
    vectors = WordVectors(["b", "a", "c"], np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]))
    assert [word for word, _ in vectors.nearest(np.array([0.0, 5.0]), 3)] == ["b", "a", "c"]


def test_king_minus_man_plus_woman_is_queen(family):
    word, cosine = family.analogy(minus="man", plus="woman", start="king", count=1)[0]
    assert word == "queen"
    assert cosine == pytest.approx(1.0)


def test_an_analogy_may_be_won_by_its_own_start():
    lazy = WordVectors(
        ["king", "queen", "man", "woman"],
        np.array([[9.0, 1.0], [9.0, -4.0], [0.0, 1.0], [1.0, 1.0]]),
    )
    question = {"minus": "man", "plus": "woman", "start": "king", "count": 1}
    assert lazy.analogy(**question)[0][0] == "queen"
    assert lazy.analogy(**question, exclude_inputs=False)[0][0] == "king"


def test_the_cosine_of_two_words_is_that_of_their_vectors(family):
    assert family.cosine("king", "queen") == pytest.approx(np.sqrt(0.5))
    assert family.cosine("queen", "mom") == 0


def test_norms_are_lengths_in_the_order_of_the_words(family):
    assert family.norms() == pytest.approx([np.sqrt(np.dot(v, v)) for v in TABLE.values()])


def test_the_numbers_of_the_article_come_out():
    family = WordVectors(
        ["King", "Queen", "Dad", "Mom"],
        np.array([[0.9, 0.5, 0.1], [0.2, 0.5, 0.1], [0.9, 0.7, 0.9], [0.2, 0.7, 0.9]]),
    )
    assert family.cosine("Mom", "Dad") == pytest.approx(0.8802, abs=5e-5)
    assert family.cosine("Mom", "King") == pytest.approx(0.5178, abs=5e-5)
    assert family.analogy(minus="King", plus="Queen", start="Dad", count=1)[0][0] == "Mom"


def test_a_word_in_place_of_a_vector_is_told_how_to_ask(family, bare_calls):
    with pytest.raises(ShapeError, match=r"vectors\['king'\]"):
        family.nearest("king", 3)
    with pytest.raises(ShapeError, match=r"vector \(2,\), rows \(7, 3\)"):
        family.nearest(np.ones(2), 3)


def test_zeros_have_no_neighbours(family):
    with pytest.raises(ValueError, match="no direction"):
        family.nearest(np.zeros(3), 2)


def test_a_table_must_fit_its_words():
    with pytest.raises(ShapeError, match=r"2 words need .* Got vectors \(3, 5\)"):
        WordVectors(["one", "two"], np.ones((3, 5)))
    with pytest.raises(ValueError, match="repeated: one"):
        WordVectors(["one", "two", "one"], np.ones((3, 5)))
