"""The schematics of chapter 16 show what they say, in words too."""

import re

import pytest

from figures.diagrams.head_evidence import (
    PARTS,
    composition_cuts,
    lead_steps,
    logit_parts,
    smollm2_circuit,
    two_runs,
)
from figures.diagrams.induction import (
    hook_points,
    induction_circuit,
    patching,
    repetition,
    tokens_with_losses,
)


def test_the_repetition_stands_below_what_it_repeats():
    figure = repetition([*range(40, 61), 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6], 6)
    for token in range(40, 61):
        assert figure.svg.count(f">{token}<") == 1
    for token in range(1, 7):
        assert figure.svg.count(f">{token}<") == 2
    assert "the other 5 are marked as predictable" in figure.alt
    assert "the last one is only predicted, and not read" in figure.alt


def test_the_circuit_writes_after_nine_into_the_vector_of_one_and_predicts_it():
    figure = induction_circuit()
    for word in ("after 7", "after 9", "after 1", "after 5", "key: after 9", "query: I am 9"):
        assert f">{word}<" in figure.svg
    assert "the vector of 1 holds: 1, after 9" in figure.alt
    assert figure.svg.count(">9<") == 2 + 2 + 1 + 2  # tokens, vectors, and components
    assert "of 1 after 9 it is 0 0 1, score 1; of 9 after 1 it is 1 0 0, score 0" in figure.alt


def test_the_two_hooks_sit_at_key_and_at_out():
    figure = hook_points()
    for word in ("query", "key", "value", "out"):
        assert f">{word}<" in figure.svg
    assert figure.svg.count(">hook<") == 2
    assert "One hook sits at the entrance of key, one at the entrance of out" in figure.alt


def test_the_patch_goes_from_the_clean_run_into_the_corrupted_one_and_leaves_its_answer_open():
    figure = patching()
    for word in ("clean run", "corrupted run", "put in", "a", "a?"):
        assert figure.svg.count(f">{word}<") == 1
    assert "of the clean run into the corrupted run" in figure.alt


def test_each_word_has_its_loss_in_each_part_and_the_first_of_a_text_has_none():
    parts = {"first time": [None, 15.04, 17.0], "again": [12.0, 3.0, 0.26]}
    figure = tokens_with_losses(["one", "two", "three"], parts, caption="Losses.")
    for number in ("15.0", "17.0", "12.0", "3.0", "0.3"):
        assert figure.svg.count(f">{number}<") == 1
    assert figure.svg.count(">two<") == 2
    assert "first time: none 15.0 17.0; again: 12.0 3.0 0.3" in figure.alt
    with pytest.raises(ValueError, match=r"1 losses, one for each word; got \[2, 1\]"):
        tokens_with_losses(["one"], {"first": [1.0, 2.0], "again": [1.0]}, caption="Losses.")


def test_each_wire_to_layer_1_is_cut_once_and_shows_its_loss():
    losses = {"uncut": 0.031, "queries": 0.12, "keys": 4.71, "values": 0.06}
    figure = composition_cuts(losses)
    for word in ("queries cut", "keys cut", "values cut", "loss in nats; uncut: 0.03", "0.12",
                 "4.71", "0.06"):  # fmt: skip
        assert figure.svg.count(f">{word}<") == 1
    for letter in "QKV":
        assert figure.svg.count(f">{letter}<") == 3
    across = [float(re.search(rf'x="([0-9.]+)"[^>]*>{word}<', figure.svg)[1])
              for word in ("keys cut", "4.71")]  # fmt: skip
    assert across[0] == pytest.approx(across[1], abs=1)
    assert "the wire to the keys: 4.71" in figure.alt
    assert "run" not in figure.svg  # the runs are named on the page, and not by numbers
    with pytest.raises(ValueError, match="after the whole model, queries, keys, values; got keys"):
        composition_cuts({"uncut": 0.0, "keys": 1.0})


def test_two_runs_swap_one_input_and_show_the_loss_of_each_kind():
    figure = two_runs({"uncut": 4.58, "queries": 4.59, "keys": 8.19, "values": 4.8})
    for word in ("keys", "queries", "values", "8.19", "4.59", "4.80", "nothing swapped: 4.58"):
        assert figure.svg.count(f">{word}<") == 1
    assert figure.svg.count(">L16H0<") == 2
    assert "keys: 8.19; queries: 4.59; values: 4.80" in figure.alt


def test_the_parts_of_a_lead_add_up_and_the_head_of_layer_0_adds_nothing():
    figure = logit_parts()
    assert ">the lead: 1 + 0 + 5 + 6 = 12<" in figure.svg
    assert PARTS["a head of layer 0"][0] == 0 < PARTS["a head of layer 0"][1]
    for name in PARTS:
        assert f">{name}<" in figure.svg
    assert "a head of layer 0: 0" in figure.alt


def test_the_steps_of_a_lead_end_at_their_sum_and_go_back_for_a_negative_part():
    figure = lead_steps({"embedding": 0.5, "L0H0": -0.6, "L1H0": 6.0, "L1H1": 4.0})
    for word in ("0.5", "-0.6", "6.0", "4.0", "the lead", "9.9"):
        assert figure.svg.replace("\u2212", "-").count(f">{word}<") == 1
    assert "L1H1: 4.0; the lead: 9.9" in figure.alt


def test_the_circuit_of_smollm2_has_its_stages_and_says_what_each_adds():
    adds = {"all heads": [0.0, 0.2, 2.8, 4.7, 2.9, 10.6],
            "without the finders": [0.1, 0.3, 1.2, 2.1, 2.3, 5.7]}  # fmt: skip
    figure = smollm2_circuit(adds)
    for word in ("L16H0", "L17H3, L17H4, L17H5, L18H6", "L23H1, L23H2, L23H7, L29H1", "10.6",
                 "path not measured"):  # fmt: skip
        assert figure.svg.count(f">{word}<") == 1
    assert "L23H1, L23H2, L23H7, L29H1: 2.8 and 1.2" in figure.alt
    assert "the path of the match to them is not measured" in figure.alt
