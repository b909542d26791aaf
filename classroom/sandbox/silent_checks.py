"""Replaces `checks` in the sandbox: the calls in a notebook work there, and check nothing."""

from __future__ import annotations

from typing import Any


def exercise(name: str) -> Silent:
    """Return checks that do nothing, for the first cell of a notebook."""
    return Silent()


class Silent:
    """Accept `check("5.1")`, `check.overview()`, and every other call."""

    def __call__(self, *_: Any, **__: Any) -> None:
        """Return None."""

    def __getattr__(self, name: str) -> Silent:
        return self
