"""Eight submissions of exercise 7 for other engines: what each must get, and hear."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

EXERCISE = "07_self_attention"
RIGHT = {
    "7.1": "def mix(weights, values):\n    return weights @ values",
    "7.2": """
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True) @ v
""",
    "7.3": """
def self_attention(x, w_q, w_k, w_v):
    scores = x @ w_q @ np.swapaxes(x @ w_k, -1, -2) / np.sqrt(w_q.shape[-1])
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True) @ (x @ w_v)
""",
    "7.4": "def add_change(x, weights, values, w_o):\n    return x + weights @ values @ w_o",
    "7.5": """
def recover_weights(output, values):
    system = np.vstack([values.T, np.ones(len(values))])
    return np.linalg.solve(system, np.vstack([output.T, np.ones(len(output))])).T
""",
    "7.7": """
def sinusoids(n, d_model):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(n, d_model)
""",
    "7.8": """
def same_rotary_score(query, key, n):
    return np.arange(n)[:, None] - np.arange(n) == query - key
""",
}
LOUD = """
def attention(q, k, v):
    import sys, warnings
    warnings.warn("this is old")
    print("a word on stderr", file=sys.stderr)
    print(24)
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True) @ v
"""
UNSCALED = RIGHT["7.2"].replace(" / np.sqrt(q.shape[-1])", "")
DOWN_THE_COLUMNS = RIGHT["7.3"].replace("weights.sum(-1,", "weights.sum(-2,")
CHEAT = "def mix(weights, values):\n    return 0\ntype(check).require = lambda self, task: None"


@dataclass(frozen=True)
class Submission:
    """What somebody wrote, which tasks of it are right, and what must be said about the others."""

    name: str
    what: str
    answers: dict[str, str]
    right: frozenset[str] = field(default_factory=lambda: frozenset(RIGHT))
    heard: str = ""
    honest: bool = True


def but(*lost: str) -> frozenset[str]:
    """All tasks except some."""
    return frozenset(RIGHT) - set(lost)


CLASS = [
    Submission("right", "every task right", RIGHT),
    Submission("loud", "right, with a warning, a word on stderr and a printed number",
               RIGHT | {"7.2": LOUD}),
    Submission("unscaled", "7.2 without the scale", RIGHT | {"7.2": UNSCALED}, but("7.2"),
               "Their variance grows with d_k"),
    Submission("columns", "7.3 with its softmax down the columns",
                   RIGHT | {"7.3": DOWN_THE_COLUMNS}, but("7.3"), "softmax"),
    Submission("syntax", "7.4 with a syntax error",
                   RIGHT | {"7.4": "def add_change(x, weights:\n  x"}, but("7.4"), "syntax error"),
    Submission("half", "7.1 and 7.2 right, the rest untouched",
               {task: RIGHT[task] for task in ("7.1", "7.2")}, frozenset({"7.1", "7.2"}),
               "not attempted yet"),
    Submission("untouched", "nothing written", {}, frozenset(), "not attempted yet"),
    Submission("cheat", "nothing right, and the check replaced by one that is content",
               {"7.1": CHEAT}, frozenset(), honest=False),
]  # fmt: skip


def filled_in(notebook: Any, answers: dict[str, str], names: dict[str, str]) -> Any:
    """A notebook with these answers in the cells that wait for them."""
    for cell in notebook.cells:
        for task, text in answers.items():
            if "exercise" in cell.metadata.get("tags", []) and f" {names[task]}(" in cell.source:
                cell.source = text.strip()
    return notebook
