"""The public graders are fairly restated, and what is said of them is what came out."""

from __future__ import annotations

import json
import re

import pytest

from checks.feedback.misconceptions import misconceptions
from tests.public_graders.bugs import BUGS
from tests.public_graders.grader import holds
from tests.public_graders.pieces import Pieces
from tests.public_graders.table import GRADERS, RESULTS, results

TESTS = [(grader, test) for grader in GRADERS for test in grader.tests]
each_test = pytest.mark.parametrize(
    ("grader", "test"), TESTS, ids=[f"{grader.name}: {test.says}" for grader, test in TESTS]
)


@each_test
def test_a_grader_passes_what_is_right(grader, test, bare_calls):
    assert test.holds(Pieces())


@each_test
def test_each_test_of_a_grader_fails_for_some_bug_that_it_can_see(grader, test):
    assert any(bug.part in test.sees and not holds(test, bug.pieces) for bug in BUGS)


def test_the_stored_table_is_what_comes_out_and_this_course_names_every_bug(bare_calls):
    record = results()
    assert record == json.loads(RESULTS.read_text("utf8")), (
        "run: tests.public_graders.table --write"
    )
    for bug in record["bugs"]:
        assert bug["ours"]["status"] == "wrong", bug
        assert set(bug["ours"]["misconceptions"]) & set(misconceptions()), bug


def test_every_grader_says_where_it_was_read_and_what_is_good_about_it():
    for grader in GRADERS:
        assert grader.strength.endswith(".")
        assert grader.limit.endswith(".")
        for read in grader.read:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", read.repository)
            assert re.fullmatch(r"[0-9a-f]{40}", read.commit)
