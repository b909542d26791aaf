"""What to say where arrays do not fit: which expression, which sizes, and what must agree."""

from __future__ import annotations

import math
import re

from checks.run.errors import Mistake

BATCH_TURNED = re.compile(r"\.T` has shape \(\d+, \d+, ")
JOINS = re.compile(r"\b(concatenate|cat|append)\(")
LOST_AXIS = " Did a sum or a maximum lose its axis? `keepdims=True` keeps it."


def about_shapes(mistake: Mistake) -> str:
    """A sentence on shapes that do not fit: in which expression, which sizes, and what must agree.

    Nothing where the error is about something else.
    """
    for pattern, sentence in SHAPE_ERRORS:
        fits = pattern.search(mistake.message)
        if fits:
            words = f"{_where(mistake)}{sentence(*fits.groups())}{_why(mistake)}"
            return words.replace(LOST_AXIS, "") if _adds(mistake) else words
    return ""


def _why(mistake: Mistake) -> str:
    """What the expression itself shows: a transposed batch, or a vector that is joined."""
    if BATCH_TURNED.search(mistake.operands):
        return " `.T` reverses all axes, the batch axis too: `.swapaxes(-1, -2)` leaves it alone."
    if "out of bounds for array" in mistake.message and JOINS.search(mistake.operands):
        return " Each joined array needs that axis: `a[:, None]` makes a column of a vector."
    return ""


def _adds(mistake: Mistake) -> bool:
    """Whether the quoted expression neither divides nor subtracts, as by a sum or a maximum."""
    return bool(mistake.operands) and not re.search(r"/|\s-\s", mistake.operands)


def _where(mistake: Mistake) -> str:
    """Quote the expression that stopped, with the shapes that are known of it."""
    quoted, *shapes = mistake.operands.split("; ")
    if not quoted:
        return ""
    known = f": {' and '.join(shapes)}" if shapes else ""
    return f"In {quoted} the shapes do not fit{known}. "


def _about_product(columns: str, rows: str) -> str:
    return (
        "In a product `A @ B`, A needs as many columns as B has rows; "
        f"here the columns are {columns} and the rows {rows}."
    )


def _about_dot(first: str, second: str, columns: str, rows: str) -> str:
    return f"Shapes {first} and {second}: {_lower(_about_product(columns, rows))}"


def _about_batch(wanted: str, came: str) -> str:
    batch, rows = wanted.split(", ")
    sizes = came.split(", ")
    if sizes[-1] == rows:
        return f"Both parts of a batched product need as many matrices: {batch} and {sizes[0]}."
    return _about_product(rows, sizes[-1])


def _about_pair(left: str, right: str) -> str:
    first, second = _shape(left), _shape(right)
    text = (
        f"Arrays of shapes {first} and {second} cannot be combined number by number: counted from "
        "the last axis, each axis must be equally long in both, or have the length 1."
    )
    if first[:-1] == second or second[:-1] == first:
        text += LOST_AXIS
    return text


def _about_axis(first: str, second: str, axis: str) -> str:
    return (
        f"Number by number, each axis must be equally long in both, or have the length 1; "
        f"axis {axis} has {first} in the first and {second} in the second."
    )


def _about_subscript(letter: str, *sizes: str) -> str:
    return (
        f"In `einsum` a letter stands for one size everywhere; `{letter}` stands for {sizes[0]} "
        f"in one array and for {sizes[1]} in another."
    )


def _about_letters(first: str, second: str) -> str:
    return (
        f"In `einsum` a letter stands for one size everywhere; with the shapes {first} and "
        f"{second}, one of yours stands for two."
    )


def _about_more_axes() -> str:
    return (
        "In `einsum` an array needs a letter for each of its axes, and here it has more axes. "
        "`...` in front of its letters, and of those after `->`, stands for all axes in front."
    )


def _about_more_letters() -> str:
    return "In `einsum` an array needs an axis for each of its letters, and here it has fewer axes."


def _about_batches(first: str, second: str) -> str:
    return (
        f"In a product of batches, of shapes {first} and {second}, all axes but the last two must "
        "be equally long in both, or have the length 1."
    )


def _about_joined(axis: str, first: str, second: str) -> str:
    which = f"on axis {axis}" if axis.isdigit() else "on the axes that are not joined"
    return f"Arrays that are joined must agree {which}: {first} and {second}."


def _about_joined_axes(first: str, second: str) -> str:
    return (
        f"Arrays that are joined must have equally many axes; here one has {first}, and another "
        f"{second}. `a[None]` is an array whose only row is `a`."
    )


def _about_indices(axes: str) -> str:
    return (
        f"The index names more axes than the array has, which are {axes} here. `...` stands for "
        "all axes in front: `a[..., -1]` is the last entry along the last axis, whatever they are."
    )


def _about_transpose() -> str:
    return (
        "An array's `.transpose` names two axes in torch, and all axes in NumPy. "
        "`.swapaxes` exchanges two axes in both: `.swapaxes(-2, -1)` the last two, for example, "
        "however many there are."
    )


def _about_missing_axis(axis: str, axes: str) -> str:
    return (
        f"There is no axis {axis} in an array of {axes} axes. Counted from the end, -1 and -2 are "
        "the last two, however many stand in front of them."
    )


def _about_single_number() -> str:
    return (
        "One side of the product is a single number. A loop over a matrix gives its rows, and a "
        "loop over a row gives numbers."
    )


def _about_mask_as_index() -> str:
    return (
        "The axes of a mask used as an index must be as long as those of the array, in order. "
        "`np.where(mask, a, b)` repeats it along the axes in front."
    )


def _about_ragged() -> str:
    return (
        "Arrays of different shapes cannot become one array. If a function returns a pair, such as "
        "output and weights, take the part that you need, for example `.output`."
    )


def _about_classes() -> str:
    return (
        "`cross_entropy` wants one row of logits and one label for each prediction: flatten the "
        "axes of batch and positions, in logits and labels alike."
    )


def _about_size(count: str, shape: str) -> str:
    held = math.prod(int(size) for size in re.findall(r"-?\d+", shape))
    total = f", which hold {held}" * (held >= 0)
    return f"An array of {count} numbers cannot have the axes ({shape.strip('([])')}){total}."


def _about_short_shape() -> str:
    return (
        "A tuple was asked for an entry that it does not have. If it is a shape, the array has "
        "fewer axes than this line needs: a vector has one, and `repeat`, `sum`, `max` and others "
        "flatten an array, or drop an axis, where no axis is named."
    )


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in re.findall(r"\d+", text))


SHAPE_ERRORS = [
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (r"matmul: .*core dimension 0.*size (\d+) is different from (\d+)",
         lambda rows, columns: _about_product(columns, rows)),
        (r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", _about_product),
        (r"mismatch, got input \(\d+\), mat \(\d+x(\d+)\), vec \((\d+)\)", _about_product),
        (r"[Ii]nconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]",
         _about_product),
        (r"shapes (\([\d,]*\)) and (\([\d,]*\)) not aligned: (\d+) .*!= (\d+) ", _about_dot),
        (r"batch2 tensor to be: \[(\d+, \d+)\] but got: \[(\d+, \d+)\]", _about_batch),
        (r"could not be broadcast together with shapes (\([\d,]*\)) (\([\d,]*\))", _about_pair),
        (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) .*dimension (\d+)",
         _about_axis),
        (r"more dimensions than subscripts given in einstein sum", _about_more_axes),
        (r"string contains too many subscripts for operand", _about_more_letters),
        (r"subscripts in the equation \((\d+)\) .* number of dimensions \((\d+)\)",
         lambda letters, axes: (
             _about_more_axes() if int(axes) > int(letters) else _about_more_letters()
         )),
        (r"einsum\(\): subscript (\w) has size (\d+) .* seen size (\d+)", _about_subscript),
        (r"remapped\]: (\([\d,]*\))->\S* (\([\d,]*\))->.* requested shape", _about_batches),
        (r"remapped\]: (\([\d,]*\))->\S* (\([\d,]*\))->", _about_letters),
        (r"cannot reshape array of size (\d+) into shape (\([\d, -]+\))", _about_size),
        (r"shape '\[([\d, -]+)\]' is invalid for input of size (\d+)",
         lambda shape, count: _about_size(count, shape)),
        (r"axes don't match array", _about_transpose),
        (r"axis (-?\d+) is out of bounds for array of dimension (\d+)", _about_missing_axis),
        (r"Dimension out of range \(expected to be in range of \[-(\d+), .* but got (-?\d+)\)",
         lambda first, axis: _about_missing_axis(axis, first)),
        (r"operand \d does not have enough dimensions \(has 0", _about_single_number),
        (r"boolean index did not match indexed array", _about_mask_as_index),
        (r"shape of the mask .* does not match the shape of the indexed", _about_mask_as_index),
        (r"array has an inhomogeneous shape|setting an array element with a sequence",
         _about_ragged),
        (r"Expected target size \[[\d, ]+\], got \[[\d, ]+\]", _about_classes),
        (r"^tuple index out of range$", _about_short_shape),
        (r"too many indices for array: array is (\d+)-dimensional", _about_indices),
        (r"too many indices for tensor of dimension (\d+)", _about_indices),
        (r"concatenation axis must match .* dimension (\d+), .* size (\d+) .* size (\d+)",
         _about_joined),
        (r"must match except in dimension (\d+). Expected size (\d+) but got size (\d+)",
         lambda _, *sizes: _about_joined("", *sizes)),
        (r"index 0 has (\d+) dimension\(s\) .* has (\d+) dimension", _about_joined_axes),
        (r"must have same number of dimensions: got (\d+) and (\d+)", _about_joined_axes),
    )
]  # fmt: skip
