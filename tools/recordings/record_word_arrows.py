"""Record SmolLM2 for the figure of words and arrows: every head's weights, and the next word.

    python tools/recordings/record_word_arrows.py    minutes, in 1.2 GB of memory

writes figures/widgets/word_arrows.json: for each sentence below the attention weights of all heads
in hundredths, and the probabilities of a few next words, first with all heads, then with each
head's output set to zero before the output projection. A different processor rounds differently;
the tests recompute a part and state how much that may be.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lib.interpretability.head_rules import heads_off
from lib.models.llama import Llama
from lib.pretrained.smollm2 import load_smollm2
from lib.seeds import threads
from lib.text.chat_tokenizer import ChatTokenizer

TARGET = Path(__file__).resolve().parents[2] / "figures" / "widgets" / "word_arrows.json"
LONGEST = 90  # zeros that one character stands for
LISTED = 4  # words beside the two that are compared


class Sentence(NamedTuple):
    """A text, the two next words to compare, and the head that the figure shows first."""

    name: str
    story: str
    variant: str
    text: str
    words: tuple[str, str]
    right: int
    head: tuple[int, int]
    every: bool = False


SENTENCES = [
    Sentence(
        "keys", "was or were?", "keys",
        "The keys that the man with the two large dogs had left on the table",
        (" were", " was"), 0, (26, 0),
    ),
    Sentence(
        "key", "was or were?", "key",
        "The key that the man with the two large dogs had left on the table",
        (" were", " was"), 1, (26, 0),
    ),
    Sentence(
        "pictures", "are or is?", "pictures", "The pictures of the old house",
        (" are", " is"), 0, (26, 0),
    ),
    Sentence(
        "picture", "are or is?", "picture", "The picture of the old houses",
        (" are", " is"), 1, (26, 0),
    ),
    Sentence(
        "sister", "she or he?", "sister", "My sister lost the keys, so",
        (" she", " he"), 0, (26, 2),
    ),
    Sentence(
        "brother", "she or he?", "brother", "My brother lost the keys, so",
        (" she", " he"), 1, (26, 2),
    ),
    Sentence(
        "mary", "Mary or John?", "",
        "When Mary and John went to the store, John gave a drink to",
        (" Mary", " John"), 0, (24, 4),
    ),
    Sentence(
        "name", "a name that came before", "", "Zorvex Quill is late. Hello, Zorvex",
        (" Qu", " is"), 0, (18, 6),
    ),
    Sentence("letters", "the next letter", "", "A B C D E F", (" G", " H"), 0, (11, 1), True),
    Sentence(
        "france", "a capital", "France", "The capital of France is",
        (" Paris", " Tokyo"), 0, (23, 4),
    ),
    Sentence(
        "japan", "a capital", "Japan", "The capital of Japan is",
        (" Paris", " Tokyo"), 1, (23, 4),
    ),
]  # fmt: skip

PRESETS = [
    {"label": "fetches the subject", "head": (26, 0), "sentence": "keys", "every": False},
    {"label": "the word before", "head": (16, 0), "sentence": None, "every": True},
    {"label": "the word before", "head": (11, 1), "sentence": None, "every": True},
    {"label": "induction", "head": (18, 6), "sentence": "name", "every": False},
    {"label": "attention sink", "head": (18, 8), "sentence": None, "every": True},
]


class Recorded(NamedTuple):
    """What the model does with one text."""

    weights: Float[Tensor, "head n n"]
    log_p: Float[Tensor, "vocab"]
    log_p_without: Float[Tensor, "head vocab"]


@torch.inference_mode()
def record(model: Llama, ids: list[int], left_out: list[int] | None = None) -> Recorded:
    """Run a text with all heads, then without each of the heads, counted through all layers."""
    heads = model.config.heads
    chosen = range(model.config.layers * heads) if left_out is None else left_out
    text = torch.tensor(ids)
    whole = model(text, keep_weights=True)
    rules = [heads_off(model, [divmod(head, heads)]) for head in chosen]
    without = torch.cat([model(text, last=True, rule=rule).logits for rule in rules])
    log_p, log_p_without = (logits.log_softmax(-1) for logits in (whole.logits[-1], without))
    return Recorded(whole.weights.flatten(0, 1), log_p, log_p_without)


def pack(tokens: list[str], words: list[str], columns: list[int], recorded: Recorded) -> dict:
    """Return one sentence as it is stored.

    A surprisal is -log p: in thousandths of a nat with all heads, and for each word and each head
    its change without that head in hundredths.
    """
    rows, keys = np.tril_indices(len(tokens))
    below = recorded.weights.numpy()[:, rows[1:], keys[1:]]  # (head, n (n + 1) / 2 - 1)
    whole = recorded.log_p[columns]
    changes = whole - recorded.log_p_without[:, columns]  # (head, words)
    return {
        "tokens": tokens,
        "words": words,
        "weights": shorten(below.ravel()),
        "surprisals": np.rint(-1000 * whole.numpy()).astype(int).tolist(),
        "changes": np.rint(100 * changes.T.numpy()).astype(int).tolist(),
    }


def shorten(weights: Float[np.ndarray, " n"]) -> str:
    """Write each weight, in hundredths, as a character, and a run of zeros as a single one.

    From U+0025 on stand the weights to 0.90, from U+00FB on the larger ones (no control characters
    between), and from U+0201 on the numbers of zeros.
    """
    text, zeros = "", 0
    for value in [*np.rint(100 * weights).astype(int).tolist(), -1]:
        if zeros and (value or zeros == LONGEST):
            text += chr(0x200 + zeros)
            zeros = 0
        if value > 0:
            text += chr((0x24 if value <= 90 else 0xA0) + value)
        zeros += value == 0
    return text


def columns_of(sentence: Sentence, tokenizer: ChatTokenizer, log_p: Tensor) -> list[int]:
    """Return the two words that are compared, and then the likeliest of the others."""
    rivals = [tokenizer.encode(word) for word in sentence.words]
    if any(len(ids) != 1 for ids in rivals):
        raise ValueError(f"Each of {sentence.words} must be one token; got {rivals}.")
    pair = [ids[0] for ids in rivals]
    likeliest = log_p.topk(LISTED + 2).indices.tolist()
    return pair + [token for token in likeliest if token not in pair][:LISTED]


def main() -> None:
    """Record every sentence and write the file."""
    threads(1)
    model, tokenizer = load_smollm2()
    heads, stored = model.config.heads, []
    for sentence in SENTENCES:
        ids = tokenizer.encode(sentence.text)
        recorded = record(model, ids)
        columns = columns_of(sentence, tokenizer, recorded.log_p)
        words = [tokenizer.decode([column]) for column in columns]
        tokens = [tokenizer.decode([token]) for token in ids]
        kept = {name: getattr(sentence, name) for name in ("name", "story", "variant", "right")}
        first = {"head": sentence.head[0] * heads + sentence.head[1], "every": sentence.every}
        stored.append(kept | first | pack(tokens, words, columns, recorded))
        print(sentence.name, tokens, words, flush=True)
    presets = [
        {**preset, "head": preset["head"][0] * heads + preset["head"][1]} for preset in PRESETS
    ]
    sizes = {"layers": model.config.layers, "heads": heads}
    file = {"model": "SmolLM2-135M-Instruct", **sizes, "presets": presets, "sentences": stored}
    TARGET.write_text(json.dumps(file, ensure_ascii=False, separators=(",", ":")) + "\n", "utf8")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
