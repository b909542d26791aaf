"""Schematic of chapter 13: which words of a story are chosen, and what makes the others certain."""

from figures import plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure

# The first sentence of a story and a fact, each word with its surprisal in nats where it is chosen.
FIRST = (("Ben", "1.8"), ("has", ""), ("two", "0.7"), ("blue", "1.6"), ("drums", "1.8"), (".", ""))
FACT = (("Ben", "0.7"), ("likes", ""), ("his", ""), ("blue", ""), ("drums", ""), (".", ""))
OWNER, PRONOUN = 0, 2  # in the fact itself, his follows from Ben
PLACES = (50, 112, 172, 232, 300, 338)  # the middle of each word
SOURCES = {3: 3, 4: 4}  # a certain word of the fact: the word above that makes it certain
TOP, BOTTOM = 20, 112


def story_choices() -> Figure:
    """Draw two sentences: choices in boxes with their nats, and arrows from certain words."""
    fig, axes = sheet(148)
    for at, source in SOURCES.items():
        put_arrow(axes, (PLACES[at], BOTTOM - 13), (PLACES[source], TOP + 32), "accent")
    put_arrow(axes, (PLACES[PRONOUN], BOTTOM - 13), (PLACES[OWNER], BOTTOM - 14), "accent",
              connectionstyle="arc3,rad=0.4")  # fmt: skip
    for words, height in ((FIRST, TOP), (FACT, BOTTOM)):
        for i, (word, nats) in enumerate(words):
            x, follows = PLACES[i], height == BOTTOM and i in (PRONOUN, *SOURCES)
            if nats:
                put_box(axes, x, height, 14 + 8 * len(word), 24, "ink")
                put_text(axes, x, height + 22, nats, "muted")
            put_text(axes, x, height, word, "accent" if follows else "ink")
    return plots.figure(
        fig,
        alt="Two sentences, one below the other. Ben has two blue drums: Ben is a choice of 1.8 "
        "nats, two of 0.7, blue of 1.6, drums of 1.8. Ben likes his blue drums: Ben is a choice of "
        "0.7 nats; arrows lead from his back to Ben, and up from blue to blue and from drums to "
        "drums.",
        caption="The first sentence of this story, and the last fact about Ben. In boxes: "
        "choices, with their surprisals in nats. An arrow leads from a word without a choice to "
        "the word that decides it.",
    )
