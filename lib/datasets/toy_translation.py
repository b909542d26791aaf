"""Small languages made by rule, in which every sentence comes with its true alignment."""

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
# A noun phrase has a noun in one of two numbers and a determiner, perhaps a size and a colour;
# behind the subject *often* may stand, and behind half of the verbs an object.
PHRASES = 2 * len(NOUNS) * len(DETERMINERS) * (1 + len(SIZES)) * (1 + len(COLOURS))
SENTENCES = 2 * PHRASES * (len(VERBS) + len(TRANSITIVE) * PHRASES)


class Alignment(NamedTuple):
    """How well attention finds the true links of many pairs."""

    weight_on_truth: float
    error_rate: float


class Pair(NamedTuple):
    """A source sentence, its target, and the true links as (target position, source position).

    `sure` links are translations of each other. `possible` ones, which contain the sure ones,
    also join a word to the one that decides its form, as *car* decides between le and la.
    """

    source: list[str]
    target: list[str]
    sure: Links
    possible: Links


def reversal(
    rng: np.random.Generator, count: int, shortest: int = 3, longest: int = 5
) -> list[Pair]:
    """Random letters to be written backwards; the full stop stays at the end.

    Source: the sequence tasks of Graves, Wayne and Danihelka 2014, section 4, turned round.
    Taught in: chapter 10.
    Raises: ValueError unless 1 <= shortest <= longest.
    """
    if not 1 <= shortest <= longest:
        raise ValueError(f"Words of {shortest} to {longest} letters: 1 <= shortest <= longest.")
    pairs = []
    for n in rng.integers(shortest, longest + 1, size=count).tolist():
        letters = [ascii_lowercase[i] for i in rng.integers(0, 26, size=n)]
        links = frozenset((t, n - 1 - t) for t in range(n)) | {(n, n)}
        pairs.append(Pair([*letters, "."], [*letters[::-1], "."], links, links))
    return pairs


def translation(rng: np.random.Generator, count: int) -> list[Pair]:
    """Different English sentences with their French: colours move behind their noun, sizes do not.

    Source: a grammar of our own, for the effect that Bahdanau et al. 2014 show in section 5.2.1.
    Taught in: chapter 10.
    Raises: ValueError if there are not so many different sentences.
    """
    if count > SENTENCES:
        raise ValueError(f"The grammar makes {SENTENCES:,} sentences, and {count:,} are asked for.")
    found: dict[tuple[str, ...], Pair] = {}
    while len(found) < count:
        pair = _sentence(rng)
        found.setdefault(tuple(pair.source), pair)
    return list(found.values())


def vocabulary(pairs: Iterable[Pair]) -> tuple[list[str], list[str]]:
    """The words of the sources and the words of the targets, each list in alphabetical order.

    Source: the usual way; the alphabet makes the ids the same for any order of the pairs.
    Taught in: chapter 10.
    """
    pairs = list(pairs)
    sides = ([pair.source for pair in pairs], [pair.target for pair in pairs])
    return tuple(sorted({word for words in side for word in words}) for side in sides)


def strongest(weights: Real[Array, "query key"]) -> Links:
    """Read an alignment off the weights: each target word is linked to where it looks most.

    Source: Bahdanau, Cho and Bengio 2014, section 5.2.1 (soft alignments made hard).
    Taught in: chapter 10.
    """
    return frozenset((t, int(row.argmax())) for t, row in enumerate(np.asarray(weights)))


def alignment_error_rate(found: Links, sure: Links, possible: Links | None = None) -> float:
    r"""How far the found links are from the true ones: 0 is perfect, 1 is nothing right.

    $1 - (|A \cap S| + |A \cap P|) / (|A| + |S|)$
    for the found links $A$, the sure ones $S$, and the possible ones $P$, which contain $S$.

    Source: Och and Ney 2003.
    Taught in: chapter 10.
    Raises: ValueError if there are neither found nor sure links.
    """
    if not found and not sure:
        raise ValueError("without any link, found or sure, there is nothing to rate")
    possible = sure if possible is None else possible | sure
    return 1 - (len(found & sure) + len(found & possible)) / (len(found) + len(sure))


def alignment(pairs: list[Pair], tables: list[Real[Array, "query key"]]) -> Alignment:
    """Hold the weights of many pairs against their true links, the full stops left out.

    The first number is the mean weight that a word puts on its own sources;
    the second is the error rate of the strongest links, over all pairs together.

    Source: Och and Ney 2003 for the rate; the mean weight is its soft companion.
    Taught in: chapter 10.
    Raises: ValueError if a table has not a row for each target word and a column for each source
        word.
    """
    for pair, table in zip(pairs, tables, strict=True):
        expected = (len(pair.target), len(pair.source))
        if tuple(table.shape) != expected:
            raise ValueError(f"The table of {pair.source} is {tuple(table.shape)}, not {expected}.")
    found, sure, possible, weights = set(), set(), set(), []
    for number, (pair, table) in enumerate(zip(pairs, tables, strict=True)):
        words = {t for t, word in enumerate(pair.target) if word != "."}
        for links, kept in (
            (strongest(table), found), (pair.sure, sure), (pair.possible, possible),
        ):  # fmt: skip
            kept |= {(number, t, j) for t, j in links if t in words}
        weights += [float(table[t, j]) for t, j in sorted(pair.sure) if t in words]
    rate = alignment_error_rate(frozenset(found), frozenset(sure), frozenset(possible))
    return Alignment(float(np.mean(weights)), rate)


def _sentence(rng: np.random.Generator) -> Pair:
    """Build both sides at once: each French word knows the English position it comes from."""
    english: list[str] = []
    french: list[tuple[str, int, list[int]]] = []  # word, what it translates, what shapes it
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
    at = first + len(before) + len(behind)  # where the English noun stands
    shaped = [
        (forms.split()[form], first + i, [at]) for i, (_, forms) in enumerate(before + behind)
    ]
    english += [word for word, _ in before + behind] + [noun[plural]]
    french += [*shaped[: len(before)], (noun[2 + plural], at, []), *shaped[len(before) :]]
    return plural


def _pick(rng: np.random.Generator, options: list):
    return options[int(rng.integers(len(options)))]
