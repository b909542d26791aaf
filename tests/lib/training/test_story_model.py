"""The grammar of the short stories stands three times, because two of its places import no lib."""

import ast
import math
from pathlib import Path

import pytest

from checks import capstone_drivers, measures
from lib.training import story_model

ROOT = Path(__file__).resolve().parents[3]


def test_the_program_of_chapter_1_writes_the_stories_of_lib():
    body = ast.parse((ROOT / "chapters/first_lap.py").read_text("utf8")).body  # importing it trains
    values = {node.targets[0].id: node.value for node in body if isinstance(node, ast.Assign)
              and isinstance(node.targets[0], ast.Name)}  # fmt: skip
    assert ast.literal_eval(values["KINDS"]) == story_model.KINDS
    assert ast.literal_eval(values["PATTERN"]) == story_model.PATTERN


def test_the_checks_sample_the_stories_of_lib():
    places = (story_model.PATTERN * 2)[: story_model.CONTEXT_LENGTH - 1]  # the last two repeat
    ids = [story_model.IDS[kind] for kind in places]
    assert [list(range(first, first + count)) for first, count in capstone_drivers.SENTENCE] == ids
    assert len(story_model.WORDS) == capstone_drivers.VOCAB
    assert measures.SHORT_WORDS.split() == story_model.WORDS


def test_the_bound_of_both_is_three_choices_of_4_words_and_two_of_5_in_ten_labels():
    bound = math.log(4**3 * 5**2) / 10
    assert pytest.approx(bound) == story_model.LOWER_BOUND
    assert pytest.approx(bound) == measures.SHORT_BOUND
