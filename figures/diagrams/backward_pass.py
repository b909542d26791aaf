"""Schematic of chapter 13: two operations forwards, and their derivatives backwards, in numbers."""

from figures import plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure

VALUES = ("w = 0", "z = 0,  p₀ = 0.5", "loss L = 0.69")
OPERATIONS = ("times x = 2", "−ln p₀")
DERIVATIVES = ("dL/dw = −1", "dL/dz = −0.5", "dL/dL = 1")
FACTORS = ("times x = 2", "times p₀ − 1 = −0.5")
FORWARD, BACKWARD, WIDTH, HEIGHT = 72, 232, 122, 26
ROWS = (52, 116, 180)


def backward_pass() -> Figure:
    """Draw the values of a forward pass, and beside them the derivatives of its backward pass."""
    fig, axes = sheet(204)
    put_text(axes, FORWARD, 16, "forward pass", weight="bold")
    put_text(axes, BACKWARD, 16, "backward pass", "accent", weight="bold")
    for y, value, derivative in zip(ROWS, VALUES, DERIVATIVES, strict=True):
        put_box(axes, FORWARD, y, WIDTH, HEIGHT, "ink")
        put_text(axes, FORWARD, y, value)
        put_box(axes, BACKWARD, y, WIDTH, HEIGHT, "accent")
        put_text(axes, BACKWARD, y, derivative, "accent")
    for i, (operation, factor) in enumerate(zip(OPERATIONS, FACTORS, strict=True)):
        top, bottom = ROWS[i] + HEIGHT / 2, ROWS[i + 1] - HEIGHT / 2
        put_arrow(axes, (FORWARD, top), (FORWARD, bottom))
        put_text(axes, FORWARD + 8, (top + bottom) / 2, operation, "muted", ha="left")
        put_arrow(axes, (BACKWARD, bottom), (BACKWARD, top), "accent")
        put_text(axes, BACKWARD + 8, (top + bottom) / 2, factor, "muted", ha="left")
    put_arrow(axes, (FORWARD + WIDTH / 2, ROWS[-1]), (BACKWARD - WIDTH / 2, ROWS[-1]), "accent")
    return plots.figure(
        fig,
        alt="Two columns. The forward pass goes down: w = 0, times x = 2, gives z = 0 and "
        "p₀ = 0.5, and minus the logarithm of p₀ is the loss L = 0.69. The backward pass goes up "
        "beside it: dL/dL = 1, times p₀ − 1 = −0.5, gives dL/dz = −0.5, and times x = 2 gives "
        "dL/dw = −1.",
        caption="A model with one parameter w and two words, whose logits are z = wx and 0. The "
        "label is word 0, so L = −ln p₀ = −z + ln(eᶻ + 1), whose derivative with respect to z is "
        "p₀ − 1.",
    )
