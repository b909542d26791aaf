"""Small rule-based languages, in which every sentence pair has a known alignment."""

from collections.abc import Iterable
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
from jaxtyping import Real

from lib.shapes import Array

Links = frozenset[tuple[int, ...]]

# English singular and plural, French singular and plural, gender.
NOUNS = [
    ("car", "cars", "voiture", "voitures", "f"),
    ("house", "houses", "maison", "maisons", "f"),
    ("table", "tables", "table", "tables", "f"),
    ("flower", "flowers", "fleur", "fleurs", "f"),
    ("cat", "cats", "chat", "chats", "m"),
    ("dog", "dogs", "chien", "chiens", "m"),
    ("book", "books", "livre", "livres", "m"),
    ("garden", "gardens", "jardin", "jardins", "m"),
]
# The French forms: masculine singular and plural, feminine singular and plural.
DETERMINERS = {"the": "le les la les", "my": "mon mes ma mes"}
SIZES = {"big": "grand grands grande grandes", "small": "petit petits petite petites"}
COLOURS = {
    "red": "rouge rouges rouge rouges",
    "green": "vert verts verte vertes",
    "black": "noir noirs noire noires",
}
# English singular and plural, French singular and plural; TRANSITIVE ones take an object.
VERBS = [("falls", "fall", "tombe", "tombent"), ("sleeps", "sleep", "dort", "dorment")]
TRANSITIVE = [("sees", "see", "voit", "voient"), ("finds", "find", "trouve", "trouvent")]
# A noun phrase has a noun in singular or plural and a determiner, perhaps a size and a colour;
# *often* may follow the subject, and half of the verbs take an object.
PHRASES = 2 * len(NOUNS) * len(DETERMINERS) * (1 + len(SIZES)) * (1 + len(COLOURS))
SENTENCES = 2 * PHRASES * (len(VERBS) + len(TRANSITIVE) * PHRASES)


class Alignment(NamedTuple):
    """How well the attention weights of many pairs match the true links."""

    weight_on_truth: float
    error_rate: float


class Pair(NamedTuple):
    """A source sentence, its target, and the true links as (target position, source position).

    `sure` links join translations of each other. `possible` links include the sure ones and also
    join a word to the word that determines its form, as *car* decides between le and la.
    """

    source: list[str]
    target: list[str]
    sure: Links
    possible: Links


def reversal(
    rng: np.random.Generator, count: int, shortest: int = 3, longest: int = 5
) -> list[Pair]:
    """Sample random letters and their reversal; the full stop stays at the end.

    Source: the sequence tasks of Graves, Wayne and Danihelka 2014, section 4, reversed.
    Taught in: chapter 10.
    Raises: ValueError unless 1 <= shortest <= longest.
    """
    if not 1 <= shortest <= longest:
        raise ValueError(f"1 <= shortest <= longest is required; got {shortest}, {longest}.")
    pairs = []
    for n in rng.integers(shortest, longest + 1, size=count).tolist():
        letters = [ascii_lowercase[i] for i in rng.integers(0, 26, size=n)]
        links = frozenset((t, n - 1 - t) for t in range(n)) | {(n, n)}
        pairs.append(Pair([*letters, "."], [*letters[::-1], "."], links, links))
    return pairs


def translation(rng: np.random.Generator, count: int) -> list[Pair]:
    """Sample different English sentences with their French; colours move behind the noun.

    Source: a grammar of our own, for the effect in Bahdanau et al. 2014, section 5.2.1.
    Taught in: chapter 10.
    Raises: ValueError if the grammar has fewer different sentences.
    """
    if count > SENTENCES:
        raise ValueError(f"`count` must be at most {SENTENCES:,} sentences; got {count:,}.")
    pairs: dict[tuple[str, ...], Pair] = {}
    while len(pairs) < count:
        pair = _sentence(rng)
        pairs.setdefault(tuple(pair.source), pair)
    return list(pairs.values())


def vocabulary(pairs: Iterable[Pair]) -> tuple[list[str], list[str]]:
    """Return the words of the sources and the words of the targets, each list sorted.

    Source: the usual way; sorting makes the ids independent of the order of the pairs.
    Taught in: chapter 10.
    """
    pairs = list(pairs)
    sides = ([pair.source for pair in pairs], [pair.target for pair in pairs])
    return tuple(sorted({word for words in side for word in words}) for side in sides)


def strongest(weights: Real[Array, "query key"]) -> Links:
    """Link each target word to the source position with the largest weight.

    Source: Bahdanau, Cho and Bengio 2014, section 5.2.1 (hard alignment from soft).
    Taught in: chapter 10.
    """
    return frozenset((t, int(row.argmax())) for t, row in enumerate(np.asarray(weights)))


def alignment_error_rate(predicted: Links, sure: Links, possible: Links | None = None) -> float:
    r"""Compute the alignment error rate: 0 if all links are right, 1 if none is.

    $1 - (|A \cap S| + |A \cap P|) / (|A| + |S|)$
    for the predicted links $A$, the sure links $S$, and the possible links $P$, which contain $S$.

    Source: Och and Ney 2003.
    Taught in: chapter 10.
    Raises: ValueError if there are neither predicted nor sure links.
    """
    if not predicted and not sure:
        raise ValueError("`predicted` or `sure` must hold at least one link; both are empty.")
    possible = sure if possible is None else possible | sure
    correct = len(predicted & sure) + len(predicted & possible)
    return 1 - correct / (len(predicted) + len(sure))


def alignment(pairs: list[Pair], matrices: list[Real[Array, "query key"]]) -> Alignment:
    """Compare the attention weights of many pairs with their true links, without the full stops.

    The first number is the mean weight of a word on its true sources;
    the second is the error rate of the strongest links, over all pairs together.

    Source: Och and Ney 2003 for the error rate; the mean weight is its soft counterpart.
    Taught in: chapter 10.
    Raises: ValueError unless each matrix has a row per target word and a column per source word.
    """
    for pair, matrix in zip(pairs, matrices, strict=True):
        expected = (len(pair.target), len(pair.source))
        if tuple(matrix.shape) != expected:
            raise ValueError(
                f"The weights of {pair.source} must have the shape {expected}; "
                f"got {tuple(matrix.shape)}."
            )
    predicted, sure, possible, weights = set(), set(), set(), []
    for number, (pair, matrix) in enumerate(zip(pairs, matrices, strict=True)):
        words = {t for t, word in enumerate(pair.target) if word != "."}
        for links, kept in (
            (strongest(matrix), predicted), (pair.sure, sure), (pair.possible, possible),
        ):  # fmt: skip
            kept |= {(number, t, j) for t, j in links if t in words}
        weights += [float(matrix[t, j]) for t, j in sorted(pair.sure) if t in words]
    rate = alignment_error_rate(frozenset(predicted), frozenset(sure), frozenset(possible))
    return Alignment(float(np.mean(weights)), rate)


def _sentence(rng: np.random.Generator) -> Pair:
    """Build both sentences at once, with the English position of each French word."""
    english: list[str] = []
    french: list[tuple[str, int, list[int]]] = []  # word, its source, what determines its form
    plural = _noun_phrase(rng, english, french)
    subject = len(english) - 1
    english += ["often"] if rng.random() < 0.3 else []
    transitive = rng.random() < 0.5
    verb = _pick(rng, TRANSITIVE if transitive else VERBS)
    french.append((verb[2 + plural], len(english), [subject]))
    if english[-1] == "often":
        french.append(("souvent", len(english) - 1, []))
    english.append(verb[plural])
    if transitive:
        _noun_phrase(rng, english, french)
    french.append((".", len(english), []))
    english.append(".")
    sure = frozenset((t, own) for t, (_, own, _) in enumerate(french))
    shaped = {(t, j) for t, (_, _, shaping) in enumerate(french) for j in shaping}
    return Pair(english, [word for word, _, _ in french], sure, sure | shaped)


def _noun_phrase(rng: np.random.Generator, english: list, french: list) -> int:
    """Append determiner, adjectives and noun to both sides; return 1 for a plural, else 0."""
    noun, plural = _pick(rng, NOUNS), int(rng.random() < 0.4)
    before = [_pick(rng, list(DETERMINERS.items()))]
    before += [_pick(rng, list(SIZES.items()))] if rng.random() < 0.35 else []
    behind = [_pick(rng, list(COLOURS.items()))] if rng.random() < 0.6 else []
    first, form = len(english), plural + 2 * (noun[4] == "f")
    at = first + len(before) + len(behind)  # the position of the English noun
    shaped = [
        (forms.split()[form], first + i, [at]) for i, (_, forms) in enumerate(before + behind)
    ]
    english += [word for word, _ in before + behind] + [noun[plural]]
    french += [*shaped[: len(before)], (noun[2 + plural], at, []), *shaped[len(before) :]]
    return plural


def _pick(rng: np.random.Generator, options: list):
    return options[int(rng.integers(len(options)))]
