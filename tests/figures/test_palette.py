"""Every colour is legible where it is used, on light pages and dark, in grey, to every eye."""

import ast
import itertools
import math
import pathlib

import numpy as np
import pytest

from figures import palette

MODES = ["light", "dark"]
TEXT = [name for name in palette.ROLES if name in {
    "query", "key", "value", "output", "ink", "muted", "accent", "right", "wrong",
} or name.startswith("series-")]  # fmt: skip
CAST = ["query", "key", "value", "output"]
# Machado, Oliveira and Fernandes 2009, table 1: total protanopia, deuteranopia, tritanopia.
EYES = {
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                 [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def rgb(code: str) -> np.ndarray:
    """Linear light of a colour, by the definition of sRGB (IEC 61966-2-1)."""
    channels = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(code: str) -> float:
    return float(rgb(code) @ [0.2126, 0.7152, 0.0722])


def contrast(first: str, second: str) -> float:
    """WCAG 2.2's ratio."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def lab(linear: np.ndarray) -> np.ndarray:
    """CIE L*a*b* under D65, an oracle that shares nothing with Oklab."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    t = np.clip(to_xyz @ linear, 0, None) / [0.9505, 1.0, 1.089]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def colour(name: str, mode: str) -> str:
    return getattr(palette.VARIABLES[name], mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ground", ["paper", "surface"])
def test_text_is_legible_and_graphics_are_visible(mode, ground):
    for name in TEXT:
        assert contrast(colour(name, mode), colour(ground, mode)) >= 4.5, name
    assert contrast(colour("masked", mode), colour(ground, mode)) >= 3


@pytest.mark.parametrize("mode", MODES)
def test_numbers_are_legible_on_every_step_of_both_ramps(mode):
    for share in np.linspace(-1, 1, 401):
        cell, ink = colour(palette.step(share), mode), colour(palette.ink(share), mode)
        assert contrast(cell, ink) >= 4.5, share


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("letter", "wn")
def test_the_ramps_go_one_way_in_even_steps(mode, letter):
    names = ["w0"] + [f"{letter}{i}" for i in range(1, palette.STEPS + 1)]
    steps = np.diff([lab(rgb(colour(name, mode)))[0] for name in names])
    assert (steps < 0).all() if mode == "light" else (steps > 0).all()
    assert np.abs(steps).max() < 4 * np.abs(steps).min()


@pytest.mark.parametrize("mode", MODES)
def test_the_cast_differs_in_grey_and_to_colour_blind_eyes(mode):
    for first, second in itertools.combinations(CAST, 2):
        a, b = rgb(colour(first, mode)), rgb(colour(second, mode))
        assert abs(lab(a)[0] - lab(b)[0]) > 5, f"{first} and {second} in grey"
        for eye, matrix in EYES.items():
            seen = [lab(np.clip(matrix @ light, 0, 1)) for light in (a, b)]
            assert math.dist(*seen) > 11, f"{first} and {second} to an eye with {eye}"


@pytest.mark.parametrize("mode", MODES)
def test_right_and_wrong_differ_in_grey_too(mode):
    right, wrong = (lab(rgb(colour(name, mode)))[0] for name in ("right", "wrong"))
    assert abs(right - wrong) > 7


def test_no_two_roles_share_a_light_colour_because_figures_are_recognised_by_it():
    codes = [pair.light for pair in palette.ROLES.values()]
    assert len(set(codes)) == len(codes)


def test_the_ends_of_a_mixture_are_its_colours():
    assert palette.mix("#123456", "#fedcba", 0.0) == "#123456"
    assert palette.mix("#123456", "#fedcba", 1.0) == "#fedcba"


def test_an_unknown_role_lists_the_known_ones():
    with pytest.raises(KeyError, match="no colour is called 'queri'; the roles are query, key"):
        palette.light("queri")


def test_the_style_sheet_names_every_colour_for_every_page():
    css = palette.css()
    for name, (light, dark) in palette.VARIABLES.items():
        assert css.count(f"--{name}:{light};") >= 1
        assert css.count(f"--{name}:{dark};") >= 2, "dark by theme, and dark by preference"
    assert css.count("{") == css.count("}")
    for page in ("html[data-theme=", "[data-jp-theme-light=", "body.vscode-dark"):
        assert page in css


def test_style_imports_the_standard_library_alone():
    tree = ast.parse(pathlib.Path(palette.__file__).read_text("utf8"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [node.module] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert imported == {"math", "typing"}
