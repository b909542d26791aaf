"""Our readable definitions against PyTorch's and transformers' own, side by side in one run.

    python benchmarks/against_peers.py

Each row times the two in turn, and prints the median of the ratios ours / theirs with its
quartiles: below 1 we are faster. Ratios of neighbouring runs hold where single times do not.
"""

import importlib.util
import platform
from collections.abc import Callable

import torch
import torch.nn.functional as F
from measuring import in_turn, rows, timed
from transformers import BertModel

from lib.attention.dot_product import attend
from lib.attention.multi_head import MultiHeadAttention
from lib.pretrained.minilm import MODULE, load_minilm


def compare(name: str, ours: Callable, theirs: Callable) -> None:
    """Print one row; a cold call of each is not counted."""
    with torch.no_grad():
        ours(), theirs()
        taken = in_turn({"ours": timed(ours), "theirs": timed(theirs)}, budget=0, least=20)
    low, middle, high = rows(name, taken, "ours")[1]["ratio"]
    print(f"{name:52} {middle:5.2f}  ({low:.2f} to {high:.2f})")


def main() -> None:
    noise = torch.manual_seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}")
    print(f"{'ours / theirs':52} ratio  (quartiles)")
    fused = F.scaled_dot_product_attention
    for n in (64, 512, 2048):
        q, k, v = torch.randn(3, 1, 12, n, 64, generator=noise)
        causal = torch.ones(n, n, dtype=torch.bool).tril()
        compare(f"attend / scaled_dot_product_attention, n = {n}",
                lambda q=q, k=k, v=v: attend(q, k, v),
                lambda q=q, k=k, v=v: fused(q, k, v))  # fmt: skip
        compare(f"attend / scaled_dot_product_attention, masked, n = {n}",
                lambda q=q, k=k, v=v, m=causal: attend(q, k, v, m),
                lambda q=q, k=k, v=v, m=causal: fused(q, k, v, m))  # fmt: skip
    x = torch.randn(2, 256, 768, generator=noise)
    heads, theirs = (
        MultiHeadAttention(768, 12),
        torch.nn.MultiheadAttention(768, 12, batch_first=True),
    )
    compare("MultiHeadAttention / nn.MultiheadAttention, with weights",
            lambda: heads(x), lambda: theirs(x, x, x, average_attn_weights=False))  # fmt: skip
    ours = load_minilm()
    folder = importlib.util.find_spec(MODULE).submodule_search_locations[0] + "/model"
    bert = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.randint(1000, 30000, (8, 64), generator=noise)
    every = {"output_attentions": True, "output_hidden_states": True}
    compare("Encoder / BertModel, 8 texts of 64 tokens, all kept",
            lambda: ours(ids), lambda: bert(ids, **every))  # fmt: skip


if __name__ == "__main__":
    main()
