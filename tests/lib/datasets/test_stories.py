"""The stories: deterministic, all equally likely, and their surprisals are the true ones."""

import math
import re
from collections import Counter
from itertools import islice, permutations

import numpy as np
import pytest

from lib.datasets import stories as grammar
from lib.datasets.stories import (
    COUNT,
    NAMES,
    OWNERS,
    Owner,
    facts,
    introduction,
    split,
    stories,
    surprisals,
)
from lib.text.tokenizers import BytePair


def told(count: int, seed: int = 0) -> list[grammar.Story]:
    return list(islice(stories(seed), count))


def sentences(text: str) -> list[str]:
    """A question and its answer are one sentence."""
    return re.findall(r"[^.]+\.", text)


def test_a_seed_tells_the_same_stories_and_another_seed_others():
    assert told(11, seed=3) == told(11, seed=3)
    assert told(11, seed=3) != told(11, seed=5)


def test_each_story_costs_the_logarithm_of_how_many_there_are():
    for story in told(101):
        assert sum(story.surprisal) == pytest.approx(math.log(COUNT), rel=1e-12)
        assert len(story.surprisal) == len(story.tokens)


def test_the_stories_are_as_many_as_a_count_by_loops_says():
    first = Owner("Ann", True, "red", "ball")
    strangers = [owner for owner in OWNERS if owner.name != "Ann" and owner.colour != "red"
                 and owner.thing != "ball"]  # fmt: skip
    second = strangers[0]
    endings = 0
    for three in permutations(facts(first), 3):
        left = [*facts(first), *facts(second), *grammar.wishes(first, second)]
        left = [owner for owner in left if owner not in three]
        endings += len(list(permutations(left, 2)))
    assert len(OWNERS) * len(strangers) * endings == COUNT


def test_the_surprisal_of_a_first_word_is_the_frequency_with_which_it_comes():
    heard = told(3000)
    names = Counter(story.tokens[0] for story in heard)
    assert set(names) == set(NAMES)
    for count in names.values():
        assert count / 3000 == pytest.approx(1 / 6, abs=0.03)
    assert heard[0].surprisal[0] == pytest.approx(math.log(6))


def test_the_surprisals_are_those_of_counting_among_all_ways_to_go_on():
    """After the first owner is known, count by the text alone how many second facts start so."""
    for story in told(31):
        options = ["".join(fact) for fact in facts(story.owners[0])]
        start = len(introduction(story.owners[0]))
        for i in range(story.tokens[start:].index(".")):
            so_far = "".join(story.tokens[start : start + i])
            longer = "".join(story.tokens[start : start + i + 1])
            a = sum(option.startswith(so_far) for option in options)
            b = sum(option.startswith(longer) for option in options)
            assert story.surprisal[start + i] == pytest.approx(math.log(a / b))


def test_what_a_story_says_later_agrees_with_its_beginning():
    for story in told(211):
        for owner in story.owners:
            text = story.text
            for colour in re.findall(rf"The {owner.things} (?:is|are) (\w+)", text):
                assert colour == owner.colour
            for answer in re.findall(rf"Who has the {owner.things}\? (\w+) does", text):
                assert answer == owner.name
            for pronoun in re.findall(rf"{owner.name} likes (\w+)", text):
                assert pronoun == NAMES[owner.name]
            assert f"{owner.things} {'is' if owner.plural else 'are'}" not in text


def test_the_owners_of_a_story_share_no_word_and_each_is_introduced_once():
    for story in told(211):
        first, second = story.owners
        assert not {first.name, first.colour, first.thing} & {*second}
        assert story.text.count(" has a ") + story.text.count(" has two ") == 2


def test_a_split_tells_no_story_twice():
    training, validation = split(300, 97)
    assert (len(training), len(validation)) == (300, 97)
    assert len({story.text for story in training + validation}) == 397


@pytest.mark.parametrize(("training", "validation"), [(0, 0), (-97, 97), (3, -1)])
def test_a_split_into_fewer_than_one_story_is_an_error_and_no_endless_tale(training, validation):
    with pytest.raises(ValueError, match=f"got {training} and {validation}"):
        split(training, validation)


def test_byte_pairs_learn_every_word_as_one_token():
    training, validation = split(1500, 53)
    tokenizer = BytePair.train("".join(story.text for story in training), 400)
    for story in validation:
        assert tokenizer.pieces(story.text) == story.tokens


def test_the_grammars_own_loss_stands_window_by_window():
    few = told(7)
    nats = [value for story in few for value in story.surprisal]
    table = surprisals(few, 43)
    start = 0
    for row, story in zip(table, few, strict=False):
        np.testing.assert_array_equal(row, nats[start + 1 : start + 44])
        start += len(story.tokens)
    assert len(table) == sum(
        sum(len(story.tokens) for story in few[:i]) + 43 < len(nats) for i in range(7)
    )
    assert surprisals(few, 43, rows=2).shape == (2, 43)
