"""A BERT-style encoder that runs the pretrained all-MiniLM-L6-v2.

6 layers of 12 heads, d_model = 384, so d_k = 32; d_ff = 1536; post-norm;
512 learned positions, 2 token types, a vocabulary of 30,522 word pieces.
The file holds 22,713,216 parameters: 22,565,376 are used here, and 147,840 belong to a pooler,
which is not loaded because no hidden state depends on it.
"""

import torch
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from lib.models.block import Block, LayerNorm
from lib.models.hidden_states import HiddenStates
from lib.text.word_vectors import WordVectors

EPS = 1e-12  # BERT's; most other models use 1e-5


class Encoder(nn.Module):
    """Embeddings and a stack of post-norm layers, with their tokenizer.

    Every token may attend to every token, in both directions, but never to padding.
    There is no dropout, because the model is only used for inference.

    Source: Devlin et al. 2019, section 3; Wang et al. 2020 for the small size (MiniLM).
    Taught in: chapter 07.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        d_model=384,
        heads=12,
        layers=6,
        d_ff=1536,
        context_length=512,
    ):
        super().__init__()
        self.tokenizer = tokenizer
        self.token_embedding = nn.Embedding(tokenizer.get_vocab_size(), d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.types = nn.Embedding(2, d_model)
        self.norm = LayerNorm(d_model, EPS)
        as_bert = {"norm_first": False, "tanh": False, "eps": EPS}
        self.layers = nn.ModuleList(Block(d_model, heads, d_ff, **as_bert) for _ in range(layers))

    def embed(
        self, ids: Int[Tensor, "*batch n"], *, positions: bool = True
    ) -> Float[Tensor, "*batch n d_model"]:
        """Add the token, position and type embeddings, and normalise the sum.

        Without positions the model sees only a bag of words.

        Raises: ValueError for more tokens than the model has learned positions.
        """
        n, context_length = ids.shape[-1], self.position_embedding.num_embeddings
        if n > context_length:
            raise ValueError(
                f"The model has {context_length} learned positions; got {n} tokens. "
                "Give a shorter text."
            )
        # Type 0: all tokens belong to the first sentence.
        x = self.token_embedding(ids) + self.types.weight[0]
        return self.norm(x + self.position_embedding.weight[:n] if positions else x)

    def forward(
        self,
        ids: Int[Tensor, "*batch n"],
        mask: Bool[Tensor, "*batch n"] | None = None,
        *,
        positions: bool = True,
    ) -> tuple[Float[Tensor, "*batch layer n d_model"], Float[Tensor, "*batch layer-1 head n n"]]:
        """Return the hidden states of every layer from the embeddings up, and all weights.

        The mask is True for real tokens; padding is masked, as keys, for every query.
        """
        x = self.embed(ids, positions=positions)
        may_attend = None if mask is None else mask[..., None, None, :]  # (*batch, 1, 1, key)
        states, all_weights = [x], []
        for layer in self.layers:
            x, weights = layer(x, may_attend)
            states.append(x)
            all_weights.append(weights)
        return torch.stack(states, dim=-3), torch.stack(all_weights, dim=-4)

    @torch.no_grad()
    def read(self, text: str | list[str], *, positions: bool = True) -> HiddenStates:
        """Tokenise and run one sentence, or several padded to the length of the longest.

        Raises: ValueError for an empty list, or for more tokens than there are positions.
        """
        sentences = [text] if isinstance(text, str) else text
        if not sentences:
            raise ValueError("`text` must hold at least one sentence; got an empty list.")
        rows = [self.tokenizer.encode(sentence) for sentence in sentences]
        longest = max(len(row.ids) for row in rows)
        for row in rows:
            row.pad(longest)  # with [PAD], whose id is 0
        device = self.token_embedding.weight.device
        ids = torch.tensor([row.ids for row in rows], device=device)
        mask = torch.tensor([row.attention_mask for row in rows], device=device) == 1
        hidden, weights = self(ids, mask, positions=positions)
        batch = HiddenStates([row.tokens for row in rows], hidden, weights, mask)
        return batch[0] if isinstance(text, str) else batch

    def sentence(self, text: str) -> Float[Tensor, " d_model"]:
        """Return the sentence embedding: the mean of the last hidden states, scaled to length 1.

        Source: Reimers and Gurevych 2019, section 3 (mean pooling).
        """
        mean = self.read(text).hidden[-1].mean(dim=0)
        return mean / mean.norm()

    def word_vectors(self, words: list[str] | None = None) -> WordVectors:
        """Return rows of the token embedding, the vectors before any context; by default all rows.

        Raises: ValueError for a word that the tokenizer splits, with its pieces.
        """
        embedding = self.token_embedding.weight.detach().cpu().numpy()  # (vocab, d_model)
        ids = self.tokenizer.get_vocab()
        if words is None:
            return WordVectors(sorted(ids, key=ids.get), embedding)
        split = [self.tokenizer.encode(word, add_special_tokens=False) for word in words]
        for word, pieces in zip(words, split, strict=True):
            if len(pieces) != 1:
                raise ValueError(
                    f"Each word must be a single token; {word!r} is split into {len(pieces)}: "
                    f"{' '.join(pieces.tokens)}. Choose a more frequent word."
                )
        return WordVectors(words, embedding[[pieces.ids[0] for pieces in split]])
