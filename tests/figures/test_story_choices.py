"""The schematic of chapter 13 shows the page's story, with arrows from words that are certain."""

from figures.diagrams.story_choices import FACT, FIRST, OWNER, PRONOUN, SOURCES, story_choices
from lib.datasets.stories import split


def test_the_sentences_and_their_surprisals_are_those_of_the_first_story():
    story = split(4000, 200)[0][0]
    words = [token.strip() for token in story.tokens]
    nats = [f"{cost:.1f}" if cost else "" for cost in story.surprisal]
    read = list(zip(words, nats, strict=True))
    assert tuple(read[:6]) == FIRST
    ends = [i for i, word in enumerate(words) if word == "."]
    assert tuple(read[ends[2] + 1 : ends[3] + 1]) == FACT


def test_an_arrow_leads_from_a_certain_word_to_one_that_was_chosen():
    for at, source in SOURCES.items():
        assert not FACT[at][1]
        assert FIRST[source][1]
    assert not FACT[PRONOUN][1]
    assert FACT[OWNER][1]
    svg = story_choices().svg
    assert svg.count(">blue<") == svg.count(">drums<") == svg.count(">Ben<") == 2
