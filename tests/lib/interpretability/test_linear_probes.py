"""Linear probes, against scikit-learn's ridge regression."""

from __future__ import annotations

import numpy as np

from lib.interpretability import linear_probes
from lib.seeds import generator


def test_the_probe_is_scikit_learns_ridge():
    from sklearn.linear_model import Ridge

    rng = generator("ridge")
    x, y, new = rng.normal(size=(13, 17)), rng.normal(size=(13, 2, 3)), rng.normal(size=(5, 17))
    scale = ((x - x.mean(0)) ** 2).sum() / 13
    theirs = Ridge(alpha=0.7 * scale).fit(x, y.reshape(13, 6)).predict(new).reshape(5, 2, 3)
    assert np.abs(linear_probes.ridge(x, y, new, decay=0.7) - theirs).max() < 1e-9


def test_an_example_is_answered_by_the_groups_that_it_is_not_in():
    rng = generator("held out")
    x, y = rng.normal(size=(11, 3)), rng.normal(size=(11, 2))
    groups = np.array(list("aabbbcddeff"))
    answers = linear_probes.predict_held_out(x, y, groups)
    for i in range(11):
        others = [j for j in range(11) if groups[j] != groups[i]]
        by_hand = linear_probes.ridge(x[others], y[others], x[i : i + 1])
        assert np.abs(answers[i] - by_hand[0]).max() < 1e-12
    changed = y.copy()
    changed[2:5] += 9.0
    assert np.array_equal(linear_probes.predict_held_out(x, changed, groups)[2:5], answers[2:5])


def test_vectors_that_are_all_equal_tell_nothing():
    y = np.eye(2)[[0, 1, 1, 1]]
    answers = linear_probes.ridge(np.ones((4, 3)), y, np.ones((2, 3)))
    assert np.array_equal(answers, np.tile(y.mean(0), (2, 1)))
