"""Short stories from a grammar, in which many tokens follow from much earlier tokens."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, islice
from math import log, prod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from lib.seeds import generator
from lib.shapes import Array

# A name, and its possessive pronoun.
NAMES = {"Ann": "her", "Eve": "her", "Mia": "her", "Tom": "his", "Ben": "his", "Sam": "his"}
COLOURS = ["red", "blue", "green", "black", "white"]
THINGS = ["ball", "cup", "book", "hat", "kite", "drum"]

# The number of stories: two owners without a word in common, then three of the four facts about
# the first in any order, then two of the seven sentences that are left.
COUNT = prod([6, 2, 5, 6, *(5, 2, 4, 5), *(4, 3, 2), *(7, 6)])

Sentence = tuple[str, ...]


class Owner(NamedTuple):
    """An owner and what it owns: Tom has two red balls."""

    name: str
    plural: bool
    colour: str
    thing: str

    @property
    def things(self) -> str:
        """The thing in singular or plural: ball or balls."""
        return self.thing + "s" * self.plural


class Story(NamedTuple):
    """One story as tokens, with the surprisal of each given the grammar and the tokens before it.

    A token of surprisal 0 follows from the tokens before it. Concatenated, the tokens are the text.
    """

    tokens: list[str]
    surprisal: list[float]
    owners: tuple[Owner, Owner]

    @property
    def text(self) -> str:
        """The story as one line, with a line break at the end."""
        return "".join(self.tokens)


def stories(seed: int = 0) -> Iterator[Story]:
    r"""Generate stories endlessly: an owner and three facts, a second owner and two more facts.

    Every choice is uniform and has the same number of options in every story. So all stories are
    equally likely, and the surprisals of each story sum to $\log(\text{COUNT})$, in nats.

    Source: a grammar of our own.
    Taught in: chapter 13.
    """
    rng = generator("stories", seed)
    while True:
        first = _pick(rng, OWNERS)
        second = _pick(rng, _strangers(first))
        scored = [_score(introduction(first), _introductions())]
        scored += _sample(rng, options := facts(first), 3)
        scored.append(_score(introduction(second), _introductions(first)))
        scored += _sample(rng, options + facts(second) + wishes(first, second), 2)
        tokens = [token for sentence, _ in scored for token in sentence]
        surprisal = [nats for _, surprisals in scored for nats in surprisals]
        yield Story([tokens[0].lstrip(), *tokens[1:], "\n"], [*surprisal, 0.0], (first, second))


def split(training: int, validation: int, seed: int = 0) -> tuple[list[Story], list[Story]]:
    """Generate a training set and a validation set of stories that are all different.

    Source: a grammar of our own; Goodfellow et al. 2016, section 5.3, for a held-out set.
    Taught in: chapter 13.
    Raises: ValueError if training is below 1 or validation below 0.
    """
    if training < 1 or validation < 0:
        raise ValueError(
            f"`training` must be at least 1 and `validation` at least 0; got {training} and "
            f"{validation}."
        )
    different = {}
    for story in stories(seed):
        different.setdefault(story.text, story)
        if len(different) == training + validation:
            result = list(different.values())
            return result[:training], result[training:]


def surprisals(texts: Sequence[Story], n: int, rows: int | None = None) -> Float[Array, "batch n"]:
    """Return the surprisals under the grammar: n tokens from the second token of each story on.

    A row may reach into the next stories. There is one row for each story that n tokens follow, or
    for the first `rows` of them. The mean is the entropy lower bound of the loss on these tokens.

    Source: Shannon 1948, section 7, for a source whose probabilities are known.
    Taught in: chapter 13.
    """
    nats = np.concatenate([story.surprisal for story in texts])
    starts = accumulate((len(story.tokens) for story in texts[:-1]), initial=0)
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
    """Return the four sentences that follow from one owner.

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
    """Return two sentences in which each owner wants what the other has.

    Source: a grammar of our own.
    Taught in: chapter 13.
    """
    return [
        _cut(f"{wisher.name} wants {owner.name} 's {owner.things} .")
        for wisher, owner in ((first, second), (second, first))
    ]


@cache
def _strangers(first: Owner) -> list[Owner]:
    """Return the owners that share neither name nor colour nor thing with the first."""
    shared = {first.name, first.colour, first.thing}
    return [owner for owner in OWNERS if not shared & {owner.name, owner.colour, owner.thing}]


@cache
def _introductions(first: Owner | None = None) -> tuple[Sentence, ...]:
    """Return all possible introductions of the first owner, or of the second after the first."""
    return tuple(map(introduction, _strangers(first) if first else OWNERS))


def _cut(sentence: str) -> Sentence:
    """Split into tokens as BPE does: a word with the space before it, punctuation without."""
    return tuple(word if word in (".", "?", "'s") else " " + word for word in sentence.split())


def _sample(
    rng: np.random.Generator, options: list[Sentence], count: int
) -> list[tuple[Sentence, list[float]]]:
    """Sample sentences with their surprisals, and remove them from the options."""
    scored = []
    for _ in range(count):
        scored.append(_score(_pick(rng, options), tuple(options)))
        options.remove(scored[-1][0])
    return scored


def _score(sentence: Sentence, options: tuple[Sentence, ...]) -> tuple[Sentence, list[float]]:
    r"""Compute the surprisal $\log(a / b)$ of each token: b of the a remaining options match."""
    surprisals = []
    for i, token in enumerate(sentence):
        matching = [option for option in options if option[i] == token]
        surprisals.append(log(len(options) / len(matching)))
        options = matching
    return sentence, surprisals


def _pick(rng: np.random.Generator, options: list):
    return options[int(rng.integers(len(options)))]


OWNERS = [Owner(name, plural, colour, thing)
          for name in NAMES for plural in (False, True)
          for colour in COLOURS for thing in THINGS]  # fmt: skip
