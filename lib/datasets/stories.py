"""Small stories made by rule: what comes next is often settled by what was said long before."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, islice
from math import log, prod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from lib.seeds import generator
from lib.shapes import Array

# A name, and the word for what belongs to its bearer.
NAMES = {"Ann": "her", "Eve": "her", "Mia": "her", "Tom": "his", "Ben": "his", "Sam": "his"}
COLOURS = ["red", "blue", "green", "black", "white"]
THINGS = ["ball", "cup", "book", "hat", "kite", "drum"]

# How many stories there are: two owners without a word in common, then three of the four facts
# about the first in some order, then two of the seven that are left.
COUNT = prod([6, 2, 5, 6, *(5, 2, 4, 5), *(4, 3, 2), *(7, 6)])

Sentence = tuple[str, ...]


class Owner(NamedTuple):
    """Who has what: Tom has two red balls."""

    name: str
    plural: bool
    colour: str
    thing: str

    @property
    def things(self) -> str:
        """The thing in its number: ball or balls."""
        return self.thing + "s" * self.plural


class Story(NamedTuple):
    """One story as tokens, and how surprising each is to one who knows the grammar and the past.

    A token of surprisal 0 can be known from the tokens before it. Joined, the tokens are the text.
    """

    tokens: list[str]
    surprisal: list[float]
    owners: tuple[Owner, Owner]

    @property
    def text(self) -> str:
        """The story on one line, which ends with a line break."""
        return "".join(self.tokens)


def stories(seed: int = 0) -> Iterator[Story]:
    r"""Tell stories without end: one owner and three facts, another owner and two more facts.

    Every choice is uniform, and has as many options as in any other story. So all stories are
    equally likely, and the surprisals of each add up to $\log(\text{COUNT})$, in nats.

    Source: a grammar of our own.
    Taught in: chapter 13.
    """
    rng = generator("stories", seed)
    while True:
        first = _pick(rng, OWNERS)
        second = _pick(rng, _strangers(first))
        told = [_tell(introduction(first), _introductions())]
        told += _draw(rng, options := facts(first), 3)
        told.append(_tell(introduction(second), _introductions(first)))
        told += _draw(rng, options + facts(second) + wishes(first, second), 2)
        tokens = [token for sentence, _ in told for token in sentence]
        surprisal = [nats for _, costs in told for nats in costs]
        yield Story([tokens[0].lstrip(), *tokens[1:], "\n"], [*surprisal, 0.0], (first, second))


def split(training: int, validation: int, seed: int = 0) -> tuple[list[Story], list[Story]]:
    """Tell so many different stories of each kind: no story is told twice, in one or in both.

    Source: a grammar of our own; Goodfellow et al. 2016, section 5.3, for a set held out.
    Taught in: chapter 13.
    Raises: ValueError if there is nothing to train on, or less than nothing to hold out.
    """
    if training < 1 or validation < 0:
        raise ValueError(
            f"Split into at least 1 story to train on and 0 to hold out, not {training} and "
            f"{validation}."
        )
    different = {}
    for story in stories(seed):
        different.setdefault(story.text, story)
        if len(different) == training + validation:
            told = list(different.values())
            return told[:training], told[training:]


def surprisals(told: Sequence[Story], n: int, rows: int | None = None) -> Float[Array, "batch n"]:
    """Give the grammar's own loss: n tokens from the second of each story on, into the next ones.

    There is a row for each story after which n tokens follow, or for the first `rows` of these.
    The mean is the least loss that any model can reach on these tokens, on average.

    Source: Shannon 1948, section 7, for a choice of which the probabilities are known.
    Taught in: chapter 13.
    """
    nats = np.concatenate([story.surprisal for story in told])
    starts = accumulate((len(story.tokens) for story in told[:-1]), initial=0)
    fitting = (start for start in starts if start + n < len(nats))
    return np.stack([nats[start + 1 : start + 1 + n] for start in islice(fitting, rows)])


def introduction(owner: Owner) -> Sentence:
    """Introduce an owner: `Ann has a red ball.` or `Ann has two red balls.`

    Source: a grammar of our own.
    Taught in: chapter 13.
    """
    number = "two" if owner.plural else "a"
    return _cut(f"{owner.name} has {number} {owner.colour} {owner.things} .")


def facts(owner: Owner) -> list[Sentence]:
    """Say all that follows about one owner, in four sentences.

    Source: a grammar of our own.
    Taught in: chapter 13.
    """
    name, colour, things = owner.name, owner.colour, owner.things
    be, it = ("are", "They") if owner.plural else ("is", "It")
    return [
        _cut(f"The {things} {be} {colour} ."),
        _cut(f"{name} likes {NAMES[name]} {colour} {things} ."),
        _cut(f"Who has the {things} ? {name} does ."),
        _cut(f"What colour {be} the {things} ? {it} {be} {colour} ."),
    ]


def wishes(first: Owner, second: Owner) -> list[Sentence]:
    """Let each owner want what the other has.

    Source: a grammar of our own.
    Taught in: chapter 13.
    """
    return [
        _cut(f"{one.name} wants {other.name} 's {other.things} .")
        for one, other in ((first, second), (second, first))
    ]


@cache
def _strangers(first: Owner) -> list[Owner]:
    """The owners that share neither name nor colour nor thing with the first."""
    shared = {first.name, first.colour, first.thing}
    return [one for one in OWNERS if not shared & {one.name, one.colour, one.thing}]


@cache
def _introductions(first: Owner | None = None) -> tuple[Sentence, ...]:
    """All that a story may begin with, or introduce after the first owner."""
    return tuple(map(introduction, _strangers(first) if first else OWNERS))


def _cut(sentence: str) -> Sentence:
    """Tokens as byte pairs make them: a word with the space before it, a mark without."""
    return tuple(word if word in (".", "?", "'s") else " " + word for word in sentence.split())


def _draw(
    rng: np.random.Generator, options: list[Sentence], count: int
) -> list[tuple[Sentence, list[float]]]:
    """Tell so many of the sentences and take them off the list."""
    told = []
    for _ in range(count):
        told.append(_tell(_pick(rng, options), tuple(options)))
        options.remove(told[-1][0])
    return told


def _tell(sentence: Sentence, options: tuple[Sentence, ...]) -> tuple[Sentence, list[float]]:
    r"""Give each token its surprisal $\log(a / b)$: of the a options left, b go on like this."""
    costs = []
    for i, token in enumerate(sentence):
        left = [one for one in options if one[i] == token]
        costs.append(log(len(options) / len(left)))
        options = left
    return sentence, costs


def _pick(rng: np.random.Generator, options: list):
    return options[int(rng.integers(len(options)))]


OWNERS = [Owner(name, plural, colour, thing)
          for name in NAMES for plural in (False, True)
          for colour in COLOURS for thing in THINGS]  # fmt: skip
