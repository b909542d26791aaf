"""The twenty suspects: one fault each, told apart by the experiments, named by the tree."""

import inspect
import itertools
from collections import Counter

import numpy as np
import pytest

from checks.feedback.misconceptions import misconceptions
from figures.widgets.bug_hunt import RIGHT
from figures.widgets.bug_hunt import SHOWN as BY_KEY
from lib.debugging import broken_models
from lib.debugging.broken_models import SUSPECTS
from lib.debugging.decision_tree import TREE, Question, diagnose, written
from lib.debugging.experiments import EXPERIMENTS, random
from lib.debugging.findings import FINDINGS, VISIBLE, all_findings
from lib.debugging.numpy_gpt2 import Model

SHOWN = {kind: BY_KEY[kind.key] for kind in SUSPECTS}
IDS = [kind.key for kind in SUSPECTS]


def differ(first: dict, second: dict) -> list[str]:
    """The experiments that tell one set of tables from the other."""
    return [key for key in EXPERIMENTS if np.abs(first[key] - second[key]).max() > VISIBLE]


def of(key: str) -> dict:
    return SHOWN[next(kind for kind in SUSPECTS if kind.key == key)]


def test_they_are_twenty_with_the_names_of_the_catalogue():
    assert len(SUSPECTS) == len(set(IDS)) == 20
    for kind in SUSPECTS:
        assert kind.name == misconceptions()[kind.key].name
        assert 30 < len(kind.sign) < 120
        assert kind.sign.endswith(".")


@pytest.mark.parametrize("kind", SUSPECTS, ids=IDS)
def test_each_has_exactly_one_step_of_its_own(kind):
    own = {name for name, thing in vars(kind).items() if inspect.isfunction(thing)}
    assert len(own - {"__init__"}) == 1
    assert own - {"__init__"} <= set(vars(Model))


@pytest.mark.parametrize("kind", SUSPECTS, ids=IDS)
def test_each_is_seen_by_an_experiment_and_by_no_means_by_all(kind):
    assert 1 <= len(differ(SHOWN[kind], RIGHT)) < len(EXPERIMENTS)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(SUSPECTS, 2)))
def test_every_two_are_told_apart(first, second):
    assert differ(SHOWN[first], SHOWN[second]), (
        f"{first.key} and {second.key} look the same everywhere"
    )


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_every_experiment_finds_a_suspect_and_a_table_has_its_labels(key):
    experiment = EXPERIMENTS[key]
    assert any(key in differ(shown, RIGHT) for shown in SHOWN.values())
    for shown in (RIGHT, *SHOWN.values()):
        assert shown[key].shape == (len(experiment.rows), len(experiment.columns))
        assert np.isfinite(shown[key]).all()


def test_a_difference_is_either_plain_or_nothing():
    sizes = [np.abs(shown[key] - RIGHT[key]) for shown in SHOWN.values() for key in EXPERIMENTS]
    sizes = np.concatenate([size.ravel() for size in sizes])
    assert not ((sizes > VISIBLE / 10) & (sizes < VISIBLE * 2)).any()


FOUND = {kind: all_findings(SHOWN[kind], RIGHT) for kind in SUSPECTS}


def proved(*keys: str) -> list[str]:
    """The faults that no other of the twenty shares all findings of these experiments with."""
    seen = {kind: tuple(FOUND[kind][key] for key in keys) for kind in SUSPECTS}
    alone = {findings for findings, count in Counter(seen.values()).items() if count == 1}
    return [kind.key for kind, findings in seen.items() if findings in alone]


def test_no_experiment_proves_more_than_two_names_and_no_two_more_than_five():
    assert list(FINDINGS) == list(EXPERIMENTS)
    assert max(len(proved(key)) for key in EXPERIMENTS) == 2
    assert max(len(proved(*pair)) for pair in itertools.combinations(EXPERIMENTS, 2)) == 5


def test_all_twenty_names_need_seven_experiments():
    everything = [
        keys for keys in itertools.combinations(EXPERIMENTS, 7) if len(proved(*keys)) == 20
    ]
    assert everything
    assert max(len(proved(*keys)) for keys in itertools.combinations(EXPERIMENTS, 6)) < 20


@pytest.mark.parametrize("kind", SUSPECTS, ids=IDS)
def test_a_finding_that_is_not_the_right_models_comes_from_numbers_that_differ(kind):
    right, seen = all_findings(RIGHT, RIGHT), differ(SHOWN[kind], RIGHT)
    unlike = [key for key in EXPERIMENTS if FOUND[kind][key] != right[key]]
    assert unlike
    # Where a wrong model moves the same rows as a right one, its numbers alone differ.
    assert set(seen) - set(unlike) <= {"future", "swap"}
    assert set(unlike) <= set(seen)


@pytest.mark.parametrize("kind", SUSPECTS, ids=IDS)
def test_the_tree_leads_from_the_outputs_to_the_name(kind):
    walked, key = diagnose(SHOWN[kind], RIGHT)
    assert key == kind.key
    assert 1 <= len(walked) <= 9


def ends(tree: Question | str) -> list[str]:
    return [tree] if isinstance(tree, str) else ends(tree.yes) + ends(tree.no)


def test_the_tree_has_each_of_the_twenty_at_one_end_and_is_written_whole():
    assert Counter(ends(TREE)) == Counter(IDS)
    names = {kind.key: kind.name for kind in SUSPECTS}
    lines = list(written(names, {key: experiment.name for key, experiment in EXPERIMENTS.items()}))
    assert len(lines) == 3 * (len(SUSPECTS) - 1)
    ends_in = Counter(line.split(":", 1)[1].strip() for line in lines)
    assert [ends_in[kind.name] for kind in SUSPECTS] == [1] * 20
    led_to = [int(line.split()[-1]) for line in lines if "go to" in line]
    assert sorted(led_to) == list(range(2, len(SUSPECTS)))


def test_the_right_models_exact_tables_are_the_ones_of_the_page():
    assert RIGHT["exact"].tolist() == [[6, 0], [3, 3], [4, 3]]
    np.testing.assert_allclose(RIGHT["weights"][:, 4], 1, atol=1e-7)
    np.testing.assert_allclose(RIGHT["heads"][1], [45, 15, 4, 2], atol=1e-7)
    assert RIGHT["block"].tolist() == [[1, 2, 3, 4], [4, 0, 0, 0]]
    assert not RIGHT["future"][:3, 0].any()
    assert not any(RIGHT[key].any() for key in ("batch", "twice"))


def test_the_signs_are_what_the_tables_show():
    squares = RIGHT["weights"][:, :4] ** 2
    np.testing.assert_allclose(
        of("M01")["weights"][:, :4], squares / squares.sum(-1, keepdims=True), atol=1e-6
    )
    np.testing.assert_allclose(of("M35")["block"], 4 * RIGHT["block"])
    np.testing.assert_allclose(of("M51")["ends"], RIGHT["ends"] * np.sqrt(3 / 4), atol=1e-6)
    np.testing.assert_allclose(of("M11")["weights"][:, :4].sum(0), 1, atol=1e-7)
    np.testing.assert_allclose(of("M40")["heads"][:, ::-1], RIGHT["heads"])
    np.testing.assert_allclose(of("M54")["gelu"] - RIGHT["gelu"], [[-4.73e-4, 0, 0, -4.73e-4]],
                               atol=5e-5)  # fmt: skip
    assert of("M58")["ends"][:2].tolist() == RIGHT["ends"][1:].tolist()
    assert differ(of("M27"), RIGHT) == ["batch"]
    assert not of("M27")["batch"][:, 1].any()
    assert differ(of("M03"), RIGHT) == ["heads", "future", "swap", "whole"]


def test_the_lineup_is_a_shuffle_that_the_seed_decides():
    orders = [broken_models.lineup(seed) for seed in range(1, 200)]
    assert all(sorted(order) == list(range(20)) for order in orders)
    firsts = Counter(order[0] for order in orders)
    assert len(firsts) == 20
    assert max(firsts.values()) < 30
    assert broken_models.lineup(7) == broken_models.lineup(7)


def test_a_suspect_is_called_by_its_number_and_can_be_called_like_any_model():
    order = broken_models.lineup(7)
    for number in (1, 20):
        kind = broken_models.suspect(number, seed=7)
        assert kind is SUSPECTS[order[number - 1]]
        assert kind(random())(np.array([[0, 1, 2]])).shape == (1, 3, 5)


@pytest.mark.parametrize("number", [0, 21])
def test_a_number_without_a_suspect_is_refused(number):
    with pytest.raises(ValueError, match="1 to 20"):
        broken_models.suspect(number)


@pytest.mark.parametrize("seed", [0, 2**31 - 1])
def test_a_seed_that_would_stand_still_is_refused(seed):
    with pytest.raises(ValueError, match="from 1 to"):
        broken_models.lineup(seed)
