"""Numbers that are right up to a factor, a constant, a sum or rounding, and the factor's name."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from checks.run.call import argument_names
from checks.run.nodes import Numbers, number
from checks.task import Case, Task

Triple = tuple[Case, Numbers, Numbers]
FIXED = {"-1": -1.0, "ln 2": float(np.log(2)), "1/ln 2": float(1 / np.log(2))}


def about_factor(task: Task, failing: list[Triple]) -> str:
    """A sentence if, on every failing case, the numbers are right up to a factor or a constant."""
    for _, expected, got in failing:
        if expected.shape != got.shape or "bool" in (expected.kind, got.kind):
            return ""
    share = about_share(failing)
    if share:
        return share
    factors = [factor_of(expected, got) for _, expected, got in failing]
    if all(factor is not None for factor in factors):
        known = name_of(task, failing, factors)
        first = number(factors[0])
        if failing[0][1].values.size > 1 and first == "1":
            return "here the numbers are right in three digits, and not to the last."
        if failing[0][1].values.size > 1:
            where = "every number" if len(set(map(number, factors))) == 1 else "here every number"
            return f"{where} is {first} times the right one{known}."
        if np.allclose(factors, -1):
            return "your number is the right one with the wrong sign."
        if known:
            return f"the right number times {first}{known}."
    gaps = [gap_of(expected, got) for _, expected, got in failing]
    if all(gap is not None for gap in gaps) and failing[0][1].values.size > 1:
        where = "every number" if len(set(map(number, gaps))) == 1 else "here every number"
        return f"{where} is the right one plus {number(gaps[0])}."
    if None not in gaps and len(gaps) > 1 and len(set(map(number, gaps))) == 1:
        sign = "plus" if gaps[0] > 0 else "minus"
        return f"wherever it is wrong, your number is the right one {sign} {number(abs(gaps[0]))}."
    return about_form(failing)


FORMS = {
    "the square of the right one": np.square,
    "the square root of the right one": np.sqrt,
    "1 divided by the right one": np.reciprocal,
    "e to the power of the right one": np.exp,
    "the logarithm of the right one": np.log,
}


def about_form(failing: list[Triple]) -> str:
    """A sentence if, on every failing case, the numbers are a function of the right ones."""
    wanted = np.concatenate([expected.values.astype(float).ravel() for _, expected, _ in failing])
    came = np.concatenate([got.values.astype(float).ravel() for _, _, got in failing])
    usable = wanted.size > 1 and np.isfinite(wanted).all() and (wanted != 0).all()
    for words, form in FORMS.items() if usable else ():
        with np.errstate(all="ignore"):
            formed = form(wanted)
        if np.allclose(came, formed, rtol=1e-5, atol=1e-9) and not np.allclose(wanted, formed):
            return f"{'every' if failing[0][1].shape else 'your'} number is {words}."
    return ""


def about_totals(failing: list[Triple]) -> str:
    """A sentence if, on every failing case, the sums along an axis are right."""
    if any(expected.shape != got.shape or expected.kind != "float" for _, expected, got in failing):
        return ""
    for axis in range(failing[0][1].values.ndim):
        if all(_same_totals(expected, got, axis) for _, expected, got in failing):
            return (
                f"summed along axis {axis}, your numbers are right; "
                "only how the sum is divided along this axis is not."
            )
    return ""


def _same_totals(expected: Numbers, got: Numbers, axis: int) -> bool:
    """Whether the sums agree, which are not all the same by definition."""
    if axis >= expected.values.ndim or expected.shape[axis] < 2:
        return False
    sums = expected.values.sum(axis)
    came = got.values.astype(float).sum(axis)
    return bool(
        np.isfinite(sums).all()
        and np.ptp(sums) > 1e-6
        and np.allclose(came, sums, rtol=1e-5, atol=1e-7)
    )


def about_share(failing: list[Triple]) -> str:
    """A sentence if what should be a share from 0 to 1 is 1 minus it, or in percent."""
    whole = "every number" if failing[0][1].values.size > 1 else "your number"
    shares = [
        (expected.values.astype(float), got.values.astype(float)) for _, expected, got in failing
    ]
    if any(((share < 0) | (share > 1)).any() for share, _ in shares):
        return ""
    if all(np.allclose(came, 1 - share, rtol=1e-5, atol=1e-7) for share, came in shares):
        return f"{whole} is 1 minus the right one."
    if all(np.allclose(came, 100 * share, rtol=1e-5, atol=1e-7) for share, came in shares):
        return f"{whole} is the right one in percent; it should run from 0 to 1."
    return ""


def factor_of(expected: Numbers, got: Numbers) -> float | None:
    """The one factor between two arrays, if there is one."""
    wanted, came = expected.values.astype(float), got.values.astype(float)
    used = (np.abs(wanted) > 1e-9) & np.isfinite(wanted)
    if not used.any() or (np.isfinite(wanted) & ~used & (np.abs(came) > 1e-9)).any():
        return None
    if used.sum() < 2 and wanted.size > 1:
        return None
    ratios = came[used] / wanted[used]
    if not np.isfinite(ratios).all():
        return None
    factor = float(np.median(ratios))
    return factor if np.allclose(ratios, factor, rtol=1e-5, atol=0) else None


def gap_of(expected: Numbers, got: Numbers) -> float | None:
    """The one difference between two arrays, if there is one."""
    wanted, came = expected.values.astype(float), got.values.astype(float)
    gaps = came[np.isfinite(wanted)] - wanted[np.isfinite(wanted)]
    if not gaps.size or not np.allclose(gaps, gaps.flat[0], rtol=1e-5, atol=1e-7):
        return None
    return float(gaps.flat[0])


def name_of(task: Task, failing: list[Triple], factors: list[float]) -> str:
    """The name of a factor, if one and the same name fits on every failing case."""
    named = [dict(candidates(task, case)) for case, _, _ in failing]
    for name in named[0]:
        fits = (
            name in values and np.isclose(factor, values[name], rtol=1e-5, atol=0)
            for values, factor in zip(named, factors, strict=True)
        )
        if all(fits) and name != number(factors[0]):
            return f", and {number(factors[0])} = {name}"
    return ""


def candidates(task: Task, case: Case) -> Iterator[tuple[str, float]]:
    """Names and values of the factors that the inputs suggest."""
    yield from FIXED.items()
    sizes = dict(task.constants(case)) if task.constants else {}
    names = argument_names(task.reference, task.call, len(case.args))
    for name, value in zip(names, case.args, strict=True):
        for axis, size in enumerate(getattr(value, "shape", ())):
            back = axis - len(value.shape)
            if size > 1:
                sizes[f"{name}.shape[{back}]"] = float(size)
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            sizes[name] = float(value)
    for name, size in sizes.items():
        yield f"sqrt({name})", size**0.5
        yield f"1/sqrt({name})", size**-0.5
        yield name, size
        yield f"1/{name}", 1 / size


def about_sums(expected: Numbers, got: Numbers) -> str:
    """Where the rows of the truth sum to 1, what those of the answer sum to."""
    wanted, came = expected.values, got.values
    if wanted.ndim == 0 or wanted.shape[-1] < 2 or wanted.min() < 0 or expected.kind != "float":
        return ""
    rows = came.sum(axis=-1)
    if not np.allclose(wanted.sum(axis=-1), 1) or np.allclose(rows, 1, atol=1e-4):
        return ""
    if came.ndim > 1 and np.allclose(came.sum(axis=-2), 1, atol=1e-4):
        return "the columns of your answer sum to 1, and its rows should."
    if np.isclose(came.sum(), 1, atol=1e-4):
        return "all numbers of your answer together sum to 1, and each row should."
    if {*map(number, rows.ravel())} == {"1"}:
        return "the rows of your answer sum to 1 only nearly: were they rounded?"
    if came.ndim == 1:
        return f"your numbers sum to {number(rows)}, and they should sum to 1."
    sums = ", ".join(map(number, rows.ravel()[:3])) + (", ..." if rows.size > 3 else "")
    return f"the rows of your answer sum to {sums}, and each should sum to 1."


def about_rounding(expected: Numbers, got: Numbers) -> str:
    """The right numbers with a few digits."""
    # One digit of one number may be an accident; of several numbers it is not.
    fewest = 1 if expected.values.size > 1 else 2
    if expected.kind == "float" and any(
        _is_rounded(expected.values.astype(float), got.values.astype(float), digits)
        for digits in range(fewest, 5)
    ):
        return "these are the right numbers, rounded; give them with full precision."
    return ""


def _is_rounded(expected: np.ndarray, got: np.ndarray, digits: int) -> bool:
    """Whether these are the numbers with so many digits; a half may go up or down."""
    whole = np.allclose(got, np.round(got, digits), rtol=0, atol=1e-12)
    return whole and bool((np.abs(got - expected) <= 0.5 * 10.0**-digits + 1e-9).all())
