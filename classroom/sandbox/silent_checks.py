"""In the sandbox this stands in the place of `checks`: checks that check nothing."""

from __future__ import annotations

from typing import Any


def exercise(name: str) -> Silent:
    """What a notebook's first cell asks for."""
    return Silent()


class Silent:
    """`check("5.1")`, `check.overview()` and their kin give nothing here."""

    def __call__(self, *_: Any, **__: Any) -> None:
        """Say nothing."""

    def __getattr__(self, name: str) -> Silent:
        return self
