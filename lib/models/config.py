"""The hyperparameters of GPT-2 and Llama: for models, published weights and counting."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """The hyperparameters of a GPT-2; the defaults are those of the smallest published model.

    `context_length` is the number of learned positions: the maximum sequence length.
    `d_ff`, the dimension inside the feed-forward network, defaults to 4 * d_model.

    Source: Radford et al. 2019, table 2 (layers, d_model) and section 2.3 (vocabulary, context);
    the number of heads is in the hparams.json published with each model.
    Raises: ValueError for a size below 1, or if heads does not divide d_model.
    """

    vocab_size: int = 50_257
    context_length: int = 1_024
    d_model: int = 768
    heads: int = 12
    layers: int = 12
    d_ff: int | None = None
    dropout: float = 0.0
    eps: float = 1e-5

    def __post_init__(self) -> None:
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        for name in ("vocab_size", "context_length", "d_model", "heads", "layers", "d_ff"):
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise ValueError(f"`{name}` must be an int of at least 1; got {size!r}.")
        if self.d_model % self.heads:
            raise ValueError(
                f"`d_model` must be divisible by `heads`; got {self.d_model} and {self.heads}. "
                "Choose a number of heads that divides d_model."
            )

    @property
    def d_k(self) -> int:
        """The dimension of a query, a key and a value of one head."""
        return self.d_model // self.heads


SIZES = {
    "gpt2": Config(),
    "gpt2-medium": Config(d_model=1024, heads=16, layers=24),
    "gpt2-large": Config(d_model=1280, heads=20, layers=36),
    "gpt2-xl": Config(d_model=1600, heads=25, layers=48),
}
"""The four sizes of GPT-2, by their published names."""


@dataclass(frozen=True)
class LlamaConfig:
    """The hyperparameters of a Llama; the defaults are those of SmolLM2-135M.

    Each of the `kv_heads` serves heads / kv_heads query heads. `base` sets the rotary angles.

    Source: Allal et al. 2025; Touvron et al. 2023, table 2, for the first model of this shape.
    Raises: ValueError for a size below 1, or for heads that do not fit.
    """

    vocab_size: int = 49_152
    context_length: int = 8_192
    d_model: int = 576
    heads: int = 9
    kv_heads: int = 3
    layers: int = 30
    d_ff: int = 1_536
    base: float = 100_000.0
    eps: float = 1e-5

    def __post_init__(self) -> None:
        for name, size in vars(self).items():
            number = float if name in ("base", "eps") else int
            if isinstance(size, bool) or not isinstance(size, number) or size <= 0:
                kind = "a positive float" if number is float else "an int of at least 1"
                raise ValueError(f"`{name}` must be {kind}; got {size!r}.")
        if self.d_model % (2 * self.heads) or self.heads % self.kv_heads:
            raise ValueError(
                "`heads` must divide `d_model` into even dimensions, and `kv_heads` must divide "
                f"`heads`; got d_model {self.d_model}, heads {self.heads}, "
                f"kv_heads {self.kv_heads}."
            )

    @property
    def d_k(self) -> int:
        """The dimension of a query, a key and a value of one head."""
        return self.d_model // self.heads
