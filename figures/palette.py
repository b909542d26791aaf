"""The palette: the only place where a colour is spelled, once for light pages, once for dark ones.

It needs nothing but the standard library, so that the book is built without NumPy.
"""

import math
from typing import NamedTuple


class Colour(NamedTuple):
    """One role's colour on a light page and on a dark one."""

    light: str
    dark: str


ROLES = {
    # The cast: one colour each, everywhere. Their greys differ as well as their hues.
    "query": Colour("#3440b0", "#82b0ff"),
    "key": Colour("#b0500f", "#ffb786"),
    "value": Colour("#0a6b50", "#6bf0cb"),
    "output": Colour("#74145b", "#d873c6"),
    "masked": Colour("#7c828c", "#7d8694"),
    # The page.
    "ink": Colour("#222832", "#d3dae2"),
    "paper": Colour("#ffffff", "#14181e"),
    "surface": Colour("#f7f6f3", "#1c222b"),
    "line": Colour("#d6d8dc", "#3a4452"),
    "muted": Colour("#59616e", "#a3aebc"),
    "accent": Colour("#1b6a86", "#6cc4dd"),
    "right": Colour("#0f7a34", "#6fe09b"),
    "wrong": Colour("#a3121f", "#ff8a84"),
    # The ends of the two ramps, and the ink that is read on each end.
    "weight-low": Colour("#f3efe6", "#262d38"),
    "weight-high": Colour("#1b2158", "#9db2fa"),
    "weight-negative": Colour("#4d1200", "#f0a17b"),
    "ink-on-low": Colour("#010101", "#fdfdfd"),
    "ink-on-high": Colour("#fefefe", "#020202"),
    # Curves that are none of the cast; each goes with a dash and a marker of its own.
    "series-1": Colour("#2a5d9f", "#8ab8ee"),
    "series-2": Colour("#a8401c", "#f2a65e"),
    "series-3": Colour("#54701a", "#cfe07a"),
    "series-4": Colour("#5b3a8e", "#b79af0"),
    "series-5": Colour("#3d4653", "#eef1f4"),
}

STEPS = 40
"""How many steps a ramp has between its ends: 0 is `weight-low`, 40 is the far end."""

FLIP = 23
"""From this step of a ramp on, numbers are written in `ink-on-high`."""

DARK_PAGES = (
    'html[data-theme="dark"]',
    '[data-jp-theme-light="false"]',
    "body.vscode-dark",
)
"""How the book, JupyterLab and VS Code say that their page is dark."""


def _linear(code: str) -> list[float]:
    channels = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def _code(linear: list[float]) -> str:
    clipped = [min(1.0, max(0.0, c)) for c in linear]
    channels = [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in clipped]
    return "#" + "".join(f"{round(255 * c):02x}" for c in channels)


def _times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [math.fsum(m * x for m, x in zip(row, vector, strict=True)) for row in matrix]


_TO_CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_FROM_CONES = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


def mix(low: str, high: str, share: float) -> str:
    """Mix two colours so that equal steps look equal: along a line in Oklab.

    Oklab is linear in the cube roots of the cones' answers, and so are straight lines in it.

    Source: Ottosson 2020, "A perceptual color space for image processing".
    """
    ends = [[math.cbrt(c) for c in _times(_TO_CONES, _linear(code))] for code in (low, high)]
    mixed = [a + (b - a) * share for a, b in zip(*ends, strict=True)]
    return _code(_times(_FROM_CONES, [c**3 for c in mixed]))


def _ramps() -> dict[str, Colour]:
    """Every step of both ramps: `w0` to `w40` for weights, `n1` to `n40` for what is below 0."""
    steps = {}
    for letter, end in (("w", "weight-high"), ("n", "weight-negative")):
        for step in range(STEPS + 1 if letter == "w" else STEPS):
            at = step if letter == "w" else step + 1
            pairs = zip(ROLES["weight-low"], ROLES[end], strict=True)
            steps[f"{letter}{at}"] = Colour(*(mix(low, high, at / STEPS) for low, high in pairs))
    return steps


RAMPS = _ramps()
VARIABLES = ROLES | RAMPS


def light(name: str) -> str:
    """The light-page colour of a role, to draw with.

    Raises: KeyError that lists the roles if there is none of that name.
    """
    if name not in VARIABLES:
        raise KeyError(f"no colour is called {name!r}; the roles are {', '.join(ROLES)}")
    return VARIABLES[name].light


def step(share: float) -> str:
    """The name of the ramp's step for a share between -1 and 1: `w` from 0 up, `n` below."""
    at = round(min(1.0, abs(share)) * STEPS)
    return f"n{at}" if share < 0 and at else f"w{at}"


def ink(share: float) -> str:
    """The role of the ink that is legible on that step of the ramp."""
    return "ink-on-high" if round(min(1.0, abs(share)) * STEPS) >= FLIP else "ink-on-low"


def _declarations(dark: bool, names: list[str]) -> str:
    return "".join(f"--{name}:{VARIABLES[name][dark]};" for name in names)


def dark_css(names: list[str]) -> str:
    """The dark values alone, as a saved figure carries them into notebooks without the book."""
    return f"{','.join(DARK_PAGES)}{{{_declarations(True, names)}}}"


def css() -> str:
    """The palette as CSS variables that follow the page between light and dark.

    The system's own preference counts only where the page names no theme.
    """
    names = list(VARIABLES)
    unnamed = (
        ":root:not([data-theme]):not(:has([data-jp-theme-light])):not(:has(body.vscode-light))"
    )
    return "\n".join(
        (
            f":root{{{_declarations(False, names)}}}",
            dark_css(names),
            f"@media (prefers-color-scheme:dark){{{unnamed}{{{_declarations(True, names)}}}}}",
            "",
        )
    )
