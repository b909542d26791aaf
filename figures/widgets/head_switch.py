"""Chapter 16: a small trained model that copies patterns, with a switch for each of its heads."""

import base64
import json
from pathlib import Path

import numpy as np
import traitlets
from jaxtyping import Float, Int

from figures import plots
from figures.svg import Figure
from figures.widgets import Interactive
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.functional import log_softmax

STORED = json.loads(Path(__file__).with_suffix(".json").read_text("utf8"))
MODEL, SEEDS = STORED["model"], STORED["seeds"]
"""What tools/recordings/train_head_switch.py wrote: the model; and for five seeds, trained with a
price on heads that speak and without, how much the loss rises when each head alone is switched
off."""

SHORTEST, LONGEST = 3, 12  # letters of a pattern


def parameters() -> dict[str, np.ndarray]:
    """The parameters of the stored model by name."""
    numbers = np.frombuffer(base64.b64decode(MODEL["parameters"]), "<f4").astype(float)
    ends = np.cumsum([np.prod(shape) for shape in MODEL["shapes"].values()])
    parts = np.split(numbers, ends[:-1])
    return {
        name: part.reshape(shape)
        for (name, shape), part in zip(MODEL["shapes"].items(), parts, strict=True)
    }


class HeadSwitch(Interactive):
    """Type a pattern, switch heads off, and watch what is left of the copying."""

    module = "head_switch.js"

    pattern = traitlets.Unicode("flamingo").tag(sync=True)
    off = traitlets.List(traitlets.Int()).tag(sync=True)
    head = traitlets.Int(6, min=0, max=MODEL["layers"] * MODEL["heads"] - 1).tag(sync=True)
    query = traitlets.Int(12, min=0).tag(sync=True)
    model = traitlets.Dict(MODEL).tag(sync=True)

    @traitlets.validate("pattern")
    def _readable(self, proposal: dict) -> str:
        text, letters = proposal["value"], MODEL["letters"]
        if not (SHORTEST <= len(text) <= LONGEST and set(text) <= set(letters)):
            raise traitlets.TraitError(
                f"{text!r} is no pattern of {SHORTEST} to {LONGEST} letters "
                f"from {letters[0]} to {letters[-1]}."
            )
        return text

    @property
    def ids(self) -> Int[np.ndarray, " n"]:
        """As many whole copies of the pattern as the model can read."""
        copies = MODEL["longest"] // len(self.pattern)
        return np.array([MODEL["letters"].index(letter) for letter in self.pattern * copies])

    def surprise(self, off: list[int]) -> Float[np.ndarray, " n"]:
        """The loss at each letter, in nats, with some heads switched off."""
        p, ids, heads = parameters(), self.ids, MODEL["heads"]
        n, past = len(ids), masks.causal(len(ids))
        x = p["token_embedding.weight"][ids] + p["position_embedding.weight"][:n]  # (n, d_model)
        for layer in range(MODEL["layers"]):
            q, k, v = (
                (x @ p[f"layers.{layer}.{name}.weight"].T).reshape(n, heads, -1).swapaxes(0, 1)
                for name in ("query", "key", "value")
            )
            on = [layer * heads + head not in off for head in range(heads)]
            output = attend(q, k, v, past).output * np.reshape(on, (-1, 1, 1))  # (head, n, d_v)
            joined = output.swapaxes(0, 1).reshape(n, -1)
            x = x + joined @ p[f"layers.{layer}.out.weight"].T
        logits = x @ p["unembed.weight"].T  # (n, vocab)
        return -log_softmax(logits)[np.arange(n), np.roll(ids, -1)]

    def loss(self, off: list[int]) -> float:
        """The mean loss where the next letter can be known: from the second copy on."""
        return float(self.surprise(off)[len(self.pattern) :].mean())

    def still(self) -> Figure:
        """Draw the right letter's probability, and what the costliest single head takes away."""
        count = MODEL["layers"] * MODEL["heads"]
        alone = [self.loss([head]) for head in range(count)]
        worst = int(np.argmax(alone))
        name = f"layer {worst // MODEL['heads']}, head {worst % MODEL['heads']}"
        curves = {"all heads on": [], f"without {name}": [worst]}
        if self.off:
            curves["as switched"] = self.off
        little = sum(loss - self.loss([]) < 0.01 for loss in alone)
        return plots.lines(
            range(1, len(self.ids) + 1),
            {label: np.exp(-self.surprise(off)) for label, off in curves.items()},
            markers=True,
            x_label=f"letter of the text, {self.pattern} again and again",
            y_label="probability of the right next letter",
            alt=f"With all heads on, the right next letter has nearly all the probability from "
            f"the second copy of the pattern on. Without {name} it has next to none.",
            caption=f"Loss from the second copy on: {self.loss([]):.2f} nats with all heads, "
            f"{alone[worst]:.2f} without {name}. Of the {count} heads, {little} can be switched "
            "off alone for less than 0.01 nats.",
        )
