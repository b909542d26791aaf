"""The checks of chapter 00: shapes, both layouts, the softmax's axis, and package versions."""

import numpy as np

from book.doctor import disagreements
from checks import Case, Exercise, Task, Wrong
from lib.functional import softmax

PAGE = "chapters/00_start.html"


# 0.1 Shapes

N, D_V = 8, 5
RIGHT = {"weights": (N, N), "output": (N, D_V)}
SHAPES = [
    Wrong("M460", {**RIGHT, "weights": (N, D_V)}),
    Wrong("M461", {**RIGHT, "output": (N, N)}),
    Wrong("M462", {**RIGHT, "output": (D_V, N)}),
    Wrong("M463", {**RIGHT, "output": (1, D_V)}),
    Wrong("M463", {**RIGHT, "output": (D_V,)}),
]


# 0.2 One entry


def entry(grid, query, key, queries_in):
    """The weight with which a query attends to a key."""
    return grid[query, key] if queries_in == "rows" else grid[key, query]


def weights_of(rng, queries, keys, queries_in):
    """A grid of weights: no two alike, and none near 0 or 1."""
    grid = softmax(rng.normal(size=(queries, keys)) * 0.8)
    return grid if queries_in == "rows" else grid.T.copy()


def entry_cases(rng):
    wanted = [
        (3, 3, 2, 0, "rows"), (3, 3, 2, 1, "columns"),
        (5, 5, 3, 1, "columns"), (5, 5, 1, 4, "rows"),
    ]  # fmt: skip
    return [
        Case((weights_of(rng, n, m, side), query, key, side),
             about=f"{n} queries, {m} keys; queries in {side}; query {query}, key {key}")
        for n, m, query, key, side in wanted
    ]  # fmt: skip


ENTRY = [
    Wrong("M1201", lambda grid, query, key, side: entry(grid, key, query, side)),
    Wrong("M464", lambda grid, query, key, side: grid[query, key]),
    Wrong("M464", lambda grid, query, key, side: grid[key, query]),
    Wrong("M465", lambda grid, query, key, side: entry(grid, query - 1, key - 1, side)),
    Wrong("M1300", lambda grid, query, key, side: entry(grid, query, slice(None), side).max()),
    Wrong("M466", lambda grid, query, key, side: (grid[query, key] + grid[key, query]) / 2),
    Wrong("M466", lambda grid, query, key, side: grid[query, key] + grid[key, query]),
]


# 0.3 Who attends to whom


def strongest(grid, queries_in):
    """For each query, the number of the key that it attends to most."""
    return grid.argmax(axis=-1 if queries_in == "rows" else 0)


def grid_cases(rng):
    """Grids in which every misconception points somewhere else."""
    wanted = [(3, 3, "rows"), (3, 3, "columns"), (5, 5, "columns"), (7, 7, "rows"), (3, 5, "rows"),
              (7, 2, "columns")]  # fmt: skip
    return [
        Case((_telling(rng, n, m, side), side), about=f"{n} queries, {m} keys; queries in {side}")
        for n, m, side in wanted
    ]


def _telling(rng, n, m, side):
    for _ in range(100_000):
        grid = weights_of(rng, n, m, side)
        answers = [np.asarray(index(grid, side)).tolist() for index in (strongest, *INDICES)]
        if all(answers.count(answer) == 1 for answer in answers):
            return grid
    raise RuntimeError("no grid separates the answers")


def _crossed(grid, side):
    return strongest(grid.T, side)


def _not_itself(grid, side):
    rows = (grid if side == "rows" else grid.T).copy()
    np.fill_diagonal(rows, -1)
    return rows.argmax(-1)


def _weakest(grid, side):
    return grid.argmin(axis=-1 if side == "rows" else 0)


def _from_one(grid, side):
    return strongest(grid, side) + 1


def _one_for_each_row(grid, side):
    """A loop over the rows of the grid, in whatever layout it stands."""
    rows = grid if side == "rows" else grid.T
    return [rows[i].argmax() for i in range(len(grid))]


INDICES = [_crossed, _not_itself, _weakest, _from_one]
STRONGEST = [
    Wrong("M84", _crossed),
    Wrong("M464", lambda grid, side: grid.argmax(-1)),
    Wrong("M464", lambda grid, side: grid.argmax(0)),
    Wrong("M467", lambda grid, side: grid.max(axis=-1 if side == "rows" else 0)),
    Wrong("M468", _not_itself),
    Wrong("M469", _weakest),
    Wrong("M465", _from_one),
    Wrong("M470", lambda grid, side: int(grid.argmax())),
    Wrong("M1254", _one_for_each_row),
]


# 0.4 The axis of the softmax


def shares(scores, queries_in):
    """The weights that belong to a grid of scores, in the layout in which it stands."""
    return softmax(scores, axis=-1 if queries_in == "rows" else 0)


def score_cases(rng):
    wanted = [(2, 3, "rows"), (3, 2, "columns"), (3, 3, "columns"), (5, 5, "rows"),
              (7, 5, "columns")]  # fmt: skip
    return [
        Case((rng.normal(size=(n, m) if side == "rows" else (m, n)), side),
             about=f"{n} queries, {m} keys; queries in {side}")
        for n, m, side in wanted
    ]  # fmt: skip


def _exponentials(scores, side):
    return np.exp(scores)


def _exponential_of_sum(scores, side):
    return np.exp(scores - scores.sum(-1 if side == "rows" else 0, keepdims=True))


SHARES = [
    Wrong("M464", lambda scores, side: softmax(scores)),
    Wrong("M464", lambda scores, side: softmax(scores, axis=0)),
    Wrong("M471", lambda scores, side: softmax(scores, axis=0 if side == "rows" else -1)),
    Wrong("M12", lambda scores, side: softmax(scores.reshape(-1)).reshape(scores.shape)),
    Wrong(
        "M161", lambda scores, side: scores / scores.sum(-1 if side == "rows" else 0, keepdims=True)
    ),
    Wrong("M176", _exponentials),
    Wrong("M1255", lambda scores, side: shares(scores * np.log(2), side)),
    Wrong("M1255", lambda scores, side: shares(scores * np.log(10), side)),
    Wrong("M994", _exponential_of_sum),
    Wrong("M472", lambda scores, side: softmax(scores if side == "rows" else scores.T)),
]


# 0.5 Versions of packages

PINNED = {"torch": "2.13.0", "numpy": "2.4.6", "einops": "0.8.2", "lark": "1.10.0"}


def environments(rng):
    """What a sound environment holds, and three that are not."""
    labelled = {**PINNED, "torch": "2.13.0+cpu"}
    older = {**labelled, "numpy": "2.4.4", "lark": "1.9.0", "pip": "26.1"}
    pins, there = (
        {name: ".".join(map(str, rng.integers(1, 30, size=3))) for name in PINNED} for _ in "12"
    )
    return [
        Case((PINNED, {"numpy": "2.4.6", "torch": "2.13.0", "lark": "1.10.0"}), about="one absent"),
        Case((PINNED, {**labelled, "six": "1.17.0"}), about="nothing wrong"),
        Case((PINNED, older), about="two that are older"),
        Case((PINNED, {**older, "numpy": "2.5.1", "einops": "0.8.10"}), about="older and newer"),
        Case(({"six": "1.17.0"}, {"torch": "2.12.0+cpu"}), about="absent, beside another one"),
        Case((pins, {**there, "einops": pins["einops"]}), about="versions of no real package"),
        Case((PINNED, {**labelled, "torch": "2.12.1+cpu"}), about="an older version with a label"),
        Case(({"lark": "1.1.1"}, {"lark": "1.1.10"}), about="1.1.10, which begins with 1.1.1"),
    ]


def drawn_environments(rng):
    """The same kinds of environment, with versions that no release has."""

    def version():
        return ".".join(map(str, rng.integers(1, 30, size=3)))

    def moved(name, by):
        *first, last = _parts(pins[name])
        return ".".join(map(str, (*first, last + by)))

    pins = {name: version() for name in PINNED}
    sound = {**pins, "torch": f"{pins['torch']}+cpu"}
    absent = {name: pin for name, pin in sound.items() if name != "lark"}
    older = {**sound, "torch": f"{moved('torch', -1)}+cpu"}
    newer = {**sound, "numpy": moved("numpy", 1), "einops": f"{pins['einops']}0"}
    return [
        Case((pins, {**sound, "six": version()}), about="nothing wrong"),
        Case((pins, absent), about="one absent"),
        Case((pins, older), about="an older version with a label"),
        Case((pins, newer), about="newer, and one that begins with the pinned version"),
        Case(({"six": version()}, {"torch": version()}), about="absent, beside another one"),
    ]


def _parts(version):
    return [int(part) for part in version.partition("+")[0].split(".")]


def _if(off):
    """Report the pinned packages of which `off(version found or None, version pinned)` is true."""

    def doctor(pins, installed):
        bad = [name for name, pin in pins.items() if off(installed.get(name), pin)]
        return {name: installed.get(name, "absent") for name in bad}

    return doctor


DOCTOR = [
    Wrong("M473", _if(lambda there, pin: there is None or _parts(there) < _parts(pin))),
    Wrong("M474", _if(lambda there, pin: there is not None and there.partition("+")[0] != pin)),
    Wrong("M475", _if(lambda there, pin: there is None)),
    Wrong("M476", _if(lambda there, pin: there != pin)),
    Wrong("M477", _if(lambda there, pin: there is None or _parts(there)[:2] != _parts(pin)[:2])),
    Wrong("M1202", _if(lambda there, pin: there is None or not there.startswith(pin))),
    Wrong("M474+M560", lambda pins, installed: {
        name: version.partition("+")[0]
        for name, version in disagreements(pins, installed).items() if version != "absent"}),
    Wrong("M478", lambda pins, installed: {
        **disagreements(pins, installed),
        **{name: installed[name] for name in installed if name not in pins}}),
    Wrong("M474+M478", lambda pins, installed: {
        name: version for name, version in installed.items()
        if version.partition("+")[0] != pins.get(name)}),
    Wrong("M479", lambda pins, installed: {
        name: pins[name] for name in disagreements(pins, installed)}),
    Wrong("M560", lambda pins, installed: {
        name: version.partition("+")[0]
        for name, version in disagreements(pins, installed).items()}),
]  # fmt: skip


EXERCISE = Exercise(
    chapter="00",
    title="Start here",
    tasks=[
        Task(
            id="0.1",
            name="shapes",
            title="Two shapes",
            difficulty=1,
            importance=4,
            minutes=4,
            reference=RIGHT,
            wrong=SHAPES,
            read=f"{PAGE}#by-hand",
        ),
        Task(
            id="0.2",
            name="entry",
            title="One entry, in either layout",
            difficulty=1,
            importance=5,
            minutes=5,
            reference=entry,
            cases=entry_cases,
            wrong=ENTRY,
            read=f"{PAGE}#the-attention-matrix",
        ),
        Task(
            id="0.3",
            name="strongest",
            title="Who attends to whom",
            difficulty=2,
            importance=5,
            minutes=6,
            reference=strongest,
            cases=grid_cases,
            wrong=STRONGEST,
            read=f"{PAGE}#the-attention-matrix",
        ),
        Task(
            id="0.4",
            name="shares",
            title="Along which axis?",
            difficulty=2,
            importance=5,
            minutes=8,
            reference=shares,
            cases=score_cases,
            wrong=SHARES,
            read=f"{PAGE}#from-scores-to-weights",
        ),
        Task(
            id="0.5",
            name="diagnose",
            title="Versions of packages",
            difficulty=3,
            importance=2,
            minutes=10,
            reference=disagreements,
            cases=environments,
            graded_cases=drawn_environments,
            wrong=DOCTOR,
            arrays=("numpy",),
            read="chapters/00_start_deeper.html#the-environment-check-in-a-terminal",
        ),
    ],
)
