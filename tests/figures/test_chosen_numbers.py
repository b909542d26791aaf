"""The schematics of chapter 17's two heads show the numbers of the models themselves."""

import numpy as np

from figures.diagrams.chosen_numbers import (
    QUERIES,
    VALUES,
    swapped_sets,
    two_cuts,
    two_heads,
    wrong_merge,
    wrong_split,
)
from figures.widgets.bug_hunt import RIGHT, SHOWN


def test_the_swap_changes_the_sets_of_the_first_two_tokens_alone():
    figure = swapped_sets()
    for word, times in (("different set", 2), ("same set", 2), ("4", 2), ("3", 4)):
        assert figure.svg.count(f">{word}<") == times
    assert "token 3 reads 1, 2 and 3 before and 2, 1 and 3 after" in figure.alt
    for times in (4, 3):
        assert figure.svg.count(f">1 is read {times} times<") == 1


def test_the_two_heads_return_the_numbers_of_the_correct_model():
    figure = two_heads()
    assert "head 1 returns 6, 0 | 2, 4 | 4.91, 4.36; head 2 returns 60, 0 | 15, 45 | 48, 36" in (
        figure.alt
    )
    a, b = np.array(QUERIES).reshape(3, 2, 2).transpose(2, 1, 0)  # (head, query) each
    e = np.tril(np.stack([a, b, a * b], axis=-1))  # (head, query, key)
    values = np.array(VALUES).reshape(3, 2, 2).swapaxes(0, 1)  # (head, key, component)
    outputs = e / e.sum(-1, keepdims=True) @ values
    assert np.allclose(np.hstack(outputs)[:, ::-1], RIGHT["heads"], atol=1e-7)


def test_the_wrong_merge_of_the_drawing_is_a_reshape_and_moves_what_the_broken_model_moves():
    heads = np.arange(8).reshape(2, 4)  # (head, token)
    for name, merged in (("correct merge", heads.T), ("without a transpose", heads.reshape(4, 2))):
        listed = "; ".join(
            " and ".join(f"head {x // 4 + 1} of token {x % 4 + 1}" for x in row) for row in merged
        )
        assert f"{name}: {listed}" in wrong_merge().alt
    moved = np.isin(heads.reshape(4, 2) % 4, (0, 1)).any(-1)  # rows with tokens 1 and 2
    assert moved[2:].tolist() == (SHOWN["M38"]["swap"][2:, 0] > 1e-6).tolist() == [True, False]


def test_the_wrong_split_of_the_drawing_gives_the_numbers_of_the_broken_model():
    figure = wrong_split()
    assert "token 2: (6 + 60) / 2 = 33" in figure.svg
    query, value = (np.reshape(numbers, (2, 3, 2)) for numbers in (QUERIES, VALUES))
    assert query[0, 1].tolist() == [1, 1]
    assert value[0, :2, 0].tolist() == [6, 60]
    assert value[1, 0].tolist() == list(VALUES[1][2:])
    shown = SHOWN["M37"]["heads"]  # the output projection reverses the four components
    assert shown[1, 3] == (6 + 60) / 2
    assert shown[0, 1::-1].tolist() == value[1, 0].tolist()


def test_a_cut_in_the_middle_gives_token_1_of_head_2_a_value_of_token_2():
    cuts = {"correct cut": np.reshape(VALUES, (3, 2, 2)).swapaxes(0, 1),
            "cut in the middle": np.reshape(VALUES, (2, 3, 2))}  # fmt: skip
    for name, (first, second) in cuts.items():
        for head, values in ((1, first), (2, second)):
            pair = f"({values[0, 0]}, {values[0, 1]})"
            assert f"{name}: in head {head}, token 1 gets {pair}" in two_cuts().alt
    assert np.allclose(SHOWN["M37"]["heads"][0, ::-1], [6, 0, *VALUES[1][2:]])
