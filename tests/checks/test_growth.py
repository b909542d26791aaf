"""Products and powers of a changed answer end before they fill the memory."""

import ast

import numpy as np
import pytest

from checks.repair.growth import NAMES, growth_bounded, may_overfill


def compiled_with_bounds(source):
    body = ast.parse(source).body
    with growth_bounded(body):
        return compile(ast.Module(body, []), "<test>", "exec"), ast.unparse(ast.Module(body, []))


@pytest.mark.parametrize(("source", "error"), [
    ("x = rows * n", MemoryError), ("x = n * rows", MemoryError),
    ("x = 2 * (rows * n)", MemoryError),
    ("x = n ** n", OverflowError),
])  # fmt: skip
def test_what_would_fill_the_memory_stops(source, error):
    with pytest.raises(error):
        exec(compiled_with_bounds(source)[0], {**NAMES, "rows": [1, 2, 3], "n": 617_558_016})


def test_other_products_and_powers_are_what_they_were():
    code, text = compiled_with_bounds("x = a * b * (c ** d) + n * [0]; y = 2 * b; z = b ** 2")
    world = {**NAMES, "a": [1, 2], "b": np.array([3, 4]), "c": 2.0, "d": 3, "n": 2}
    exec(code, world)
    assert world["x"].tolist() == [24, 64]
    assert text.count("__product__") == 3
    assert text.count("__power__") == 1


def test_the_tree_is_left_as_it_was():
    body = ast.parse("def f(a, b):\n    return a * (b * a) ** b").body
    before = ast.dump(body[0])
    with growth_bounded(body):
        assert ast.dump(body[0]) != before
    assert ast.dump(body[0]) == before


def test_a_part_that_was_put_into_itself_ends():
    body = ast.parse("x = a * b").body
    body[0].value.left = body[0].value
    with growth_bounded(body), pytest.raises(RecursionError):
        compile(ast.Module(body, []), "<test>", "exec")


def test_numbers_that_may_overfill_are_known_from_what_is_given():
    assert may_overfill((50257, 12288, 96))
    assert may_overfill(({"wte.weight": (50257, 768)},))
    assert not may_overfill((np.ones((2000, 2000)), 7, 11.5, None))
