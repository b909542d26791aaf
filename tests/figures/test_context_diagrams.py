"""The schematics of chapter 3 show their weights and scores, in words too."""

import pytest

from figures.diagrams.context import arrows_of_weights, query_meets_key, two_roles
from figures.diagrams.two_banks import moved_halfway, nearer_to

SAID = {"alt": "Arrows from tower.", "caption": "Tower attends to Eiffel."}
SCORES = {"miniature": -1.0, "Eiffel": 0.5, "the": 0.0}


def test_each_attempt_shows_its_title_its_words_and_its_weights():
    words = ["the", "miniature", "Eiffel", "tower"]
    attempts = {"average": [0.25] * 4, "the word before": [0, 0, 0.5, 0.5]}
    figure = arrows_of_weights(words, attempts, 3, **SAID)
    for text in (*attempts, *words, "0.25", "0.50", "0.00"):
        assert text in figure.svg


def test_each_attempt_may_have_its_own_attending_word():
    bank = arrows_of_weights(["a", "b"], {"first": [0, 1], "second": [1, 0]}, (0, 1), **SAID)
    alone = arrows_of_weights(["a", "b"], {"first": [0, 1], "second": [1, 0]}, 0, **SAID)
    assert bank.svg != alone.svg


def test_an_attempt_has_one_weight_for_each_word():
    with pytest.raises(ValueError, match="one weight for each of 2 words; got 3"):
        arrows_of_weights(["a", "tower"], {"average": [0.3, 0.3, 0.4]}, 1, **SAID)


def test_the_two_roles_show_both_scores_of_each_word():
    figure = two_roles(SCORES, {"miniature": "ln 8", "Eiffel": "ln 8", "the": 0})
    for text in ("looks for:", "is: not tall", "0.5", "ln 8"):
        assert text in figure.svg
    assert "by similarity: miniature -1, Eiffel 0.5, the 0" in figure.alt
    assert "with two roles: miniature ln 8, Eiffel ln 8, the 0" in figure.alt


def test_the_two_roles_are_of_these_words():
    with pytest.raises(ValueError, match="Give the scores of"):
        two_roles(SCORES, {"bank": 1})


def test_a_key_picks_one_penalty_from_the_list_of_its_query():
    figure = query_meets_key(["the", "bank", "of", "the", "river"], 1, 4, ("river",))
    for text in ("bank (1)", "river (4)", "score = ln 8 − 3 ln 2", "8/8"):
        assert text in figure.svg
    assert "1 at position 4" in figure.alt


def test_the_key_of_the_list_is_a_describing_word():
    with pytest.raises(ValueError, match="must be one of"):
        query_meets_key(["the", "bank"], 1, 0, ("river",))


def test_the_average_of_two_words_lies_halfway():
    figure = moved_halfway("mole", (0.5, 0.5), {"shrew": (1, 0), "gram": (0, 1)})
    for text in ("mole", "shrew", "mole in gram mole"):
        assert f">{text}<" in figure.svg
    assert "halfway to shrew, to (0.75, 0.25); in gram mole" in figure.alt


def test_a_point_of_the_plane_has_two_components():
    with pytest.raises(ValueError, match="two components"):
        moved_halfway("mole", (0.5, 0.5, 0), {"shrew": (1, 0)})


def test_known_bars_stand_beside_those_of_the_sentences():
    known = {"steep bank": -0.25}
    figure = nearer_to(("water", "cash"), known, {"a bank": {"bank": 0.1}}, caption="Both.")
    for text in ("← water", "cash →", "steep bank", "−0.25", "a bank", "bank", "0.10"):
        assert f">{text}<" in figure.svg
    assert "below 0 nearer to water, above 0 nearer to cash" in figure.alt
    assert "sentences that leave no doubt: steep bank -0.25; a bank: bank 0.10." in figure.alt


def test_bars_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"from -0\.3 to 0\.18"):
        nearer_to(("water", "cash"), {"steep bank": -0.4}, {"a bank": {"bank": 0.1}}, caption="C.")
