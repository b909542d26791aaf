"""The results of an answer that returns several: which came, and in which order."""

from __future__ import annotations

from checks.run.compare import compare
from checks.run.nodes import Items, Node, Text


def part_or_order(expected: Node, got: Node, tolerance: float | None) -> str:
    """A sentence if the answer is a part of the truth, holds it, or has its parts backwards."""
    if isinstance(got, Items):
        for n, part in enumerate(got.items):
            if compare(expected, part, tolerance) is None:
                return f"Result {n + 1} of your {len(got.items)} is right; return it alone."
    if not isinstance(expected, Items) or len(expected.items) < 2:
        return ""
    if moved := _words_moved(expected, got):
        return moved
    names = ", ".join(expected.item_names)
    for name, part in zip(expected.item_names, expected.items, strict=True):
        if compare(part, got, tolerance) is None:
            return f"This is `{name}` alone; all of ({names}) are asked for."
    columns = _columns(expected, got)
    if columns and compare(expected, columns, tolerance) is None:
        return (
            f"The numbers are right, but yours is a {got.kind} of {len(got.items)} parts, each "
            f"with one number of every result. Return {len(expected.items)} sequences, ({names})."
        )
    if isinstance(got, Items) and len(got.items) == len(expected.items):
        backwards = Items(got.items[::-1], got.kind, got.names)
        if compare(expected, backwards, tolerance) is None:
            again = "exchange them" if len(backwards.items) == 2 else "turn it round"
            return f"The results are right but in the opposite order: {again}."
    return ""


def _words_moved(expected: Items, got: Node) -> str:
    """A sentence on words that are all right, and stand in another order."""
    if _is_reordered(expected, got):
        return "The words are right but in another order."
    parts = zip(expected.item_names, expected.items, getattr(got, "items", ()), strict=False)
    names = [f"`{name}`" for name, own, came in parts if _is_reordered(own, came)]
    return f"In {names[0]} the words are right but in another order." if names else ""


def _is_reordered(expected: Node, got: Node) -> bool:
    wanted, came = _texts(expected), _texts(got)
    return wanted != came and sorted(wanted) == sorted(came)


def _texts(node: Node) -> list[str]:
    """The words of a row that holds words alone, in their order."""
    items = node.items if isinstance(node, Items) and node.kind != "set" else ()
    texts = [item.text for item in items if isinstance(item, Text)]
    return texts if len(texts) == len(items) else []


def _columns(expected: Items, got: Node) -> Items | None:
    """From an answer made of pairs: all first entries, then all second ones."""
    rows = got.items if isinstance(got, Items) else ()
    count = len(expected.items)
    if not rows or any(not isinstance(row, Items) or len(row.items) != count for row in rows):
        return None
    columns = zip(*(row.items for row in rows), strict=True)
    parts = (Items(tuple(column), "list", ()) for column in columns)
    return Items(tuple(parts), expected.kind, expected.names)
