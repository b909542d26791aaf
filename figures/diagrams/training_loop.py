"""Schematic of chapter 13: one step of training, from a window of text to changed parameters."""

from figures import plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure

TEXT = ("Mia", "has", "a", "red", "ball", ".")
LEFT, CELL = 84, 46  # the middle of the first word, and from one word to the next
INPUTS, LABELS = 22, 52
STEPS = (  # the parts of the loop, with what comes out of each; from top to bottom
    (112, "1 model: forward pass", "logits (batch, n, vocab)"),
    (166, "2 cross-entropy", "loss: one number"),
    (220, "3 zero_grad, backward pass", "a gradient for each parameter"),
    (274, "4 optimizer step", "new parameters"),
)
MIDDLE, WIDTH, BACK, SIDE = 132, 192, 16, 52


def training_loop() -> Figure:
    """Draw one step: inputs and labels, forward pass, loss, backward pass, and the update."""
    fig, axes = sheet(318)
    for height, name, words, role in (
        (INPUTS, "inputs", TEXT[:-1], "ink"), (LABELS, "labels", TEXT[1:], "accent"),
    ):  # fmt: skip
        put_text(axes, 4, height, name, "muted", ha="left")
        for i, word in enumerate(words):
            x = LEFT + CELL * i
            put_box(axes, x, height, CELL - 5, 22, role)
            put_text(axes, x, height, word, role)
    put_text(axes, 310, INPUTS, "(batch, n)", "muted", ha="left")
    put_arrow(axes, (SIDE, INPUTS + 12), (SIDE, STEPS[0][0] - 14))  # past the labels
    right, loss = LEFT + CELL * (len(TEXT) - 2) + 22, STEPS[1][0]
    put_arrow(axes, (right, LABELS), (right + 14, LABELS), "accent", arrowstyle="-")
    put_arrow(axes, (right + 14, LABELS), (right + 14, loss), "accent", arrowstyle="-")
    put_arrow(axes, (right + 14, loss), (MIDDLE + WIDTH / 2, loss), "accent")
    for at, (height, name, result) in enumerate(STEPS):
        put_box(axes, MIDDLE, height, WIDTH, 26, "accent" if at == 2 else "ink")
        put_text(axes, MIDDLE, height, name, weight="bold")
        last = at == len(STEPS) - 1
        put_text(axes, MIDDLE + 8, height + (24 if last else 27), result, "muted", ha="left")
        if not last:
            put_arrow(axes, (MIDDLE, height + 13), (MIDDLE, STEPS[at + 1][0] - 14))
    bottom, top = STEPS[-1][0], STEPS[0][0]
    put_arrow(axes, (MIDDLE - WIDTH / 2, bottom), (BACK, bottom), arrowstyle="-")
    put_arrow(axes, (BACK, bottom), (BACK, top), arrowstyle="-")
    put_arrow(axes, (BACK, top), (MIDDLE - WIDTH / 2, top))
    return plots.figure(
        fig,
        alt="One step of training in four numbered boxes, read downwards. A window of text gives "
        "inputs, Mia has a red ball, and labels, the same words shifted by one: has a red "
        "ball full stop. The inputs go into the model, whose forward pass gives logits of "
        "shape (batch, n, vocab). The labels go into the cross-entropy, which gives one "
        "number, the loss; after zero_grad, the backward pass gives a gradient for each "
        "parameter; a step of the optimizer gives new parameters. An arrow leads from there "
        "back to the model.",
        caption="One step of training. Every position of every window is a question, and its label "
        "is the next word. The next step starts again at the model, with the new parameters.",
    )
