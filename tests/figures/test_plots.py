"""A figure is a picture, a description and a claim, and says the same thing in every theme."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from figures import palette, plots
from figures.svg import _SEEN, SETTINGS, Figure

SAYS = {"alt": "three rows", "caption": "Each row sums to 1 & more."}
QUERIES, KEYS = ["a", "fluffy", "creature"], list("pqrst")
WEIGHTS = np.array([[0.5, 0.2, 0.1, 0.1, 0.1], [0.03, 0.9, 0.03, 0.02, 0.02], [0.2] * 5])
DRAWN = {
    "heatmap": lambda **says: plots.heatmap(WEIGHTS, QUERIES, KEYS, **says),
    "heatmaps": lambda **says: plots.heatmaps([WEIGHTS] * 2, ["one", "two"], QUERIES, KEYS, **says),
    "bars": lambda **says: plots.bars([0.3, -0.2, 0.7], QUERIES, **says),
    "lines": lambda **says: plots.lines([1, 2, 4], {"up": [1, 2, 3], "down": [3, 2, 1]}, **says),
    "scatter": lambda **says: plots.scatter([[0, 1], [1, 0], [2, 2]], QUERIES, **says),
    "arrows": lambda **says: plots.arrows([[0, 1], [1, 0], [2, 2]], QUERIES, **says),
    "figure": lambda **says: plots.figure(plots.canvas()[0], **{"alt": "", "caption": ""} | says),
}
every_picture = pytest.mark.parametrize("name", DRAWN)


def pictures(figure: Figure) -> list[ElementTree.Element]:
    """The SVG elements of a figure, parsed: so they are well-formed."""
    return [
        ElementTree.fromstring(text)
        for text in re.findall(r"<svg.*?</svg>", figure.svg, flags=re.DOTALL)
    ]


def words(figure: Figure) -> list[str]:
    space = "{http://www.w3.org/2000/svg}"
    return [
        "".join(t.itertext()).strip() for svg in pictures(figure) for t in svg.iter(f"{space}text")
    ]


@every_picture
def test_it_is_well_formed_described_and_captioned(name):
    figure = DRAWN[name](**SAYS)
    assert pictures(figure)
    html = figure._repr_html_()
    assert html.startswith('<figure class="course-figure"')
    assert 'role="img"' in html
    assert 'aria-label="three rows"' in html
    assert html.endswith("<figcaption>Each row sums to 1 &amp; more.</figcaption></figure>")
    assert repr(figure) == "Figure: three rows"


@every_picture
@pytest.mark.parametrize("missing", ["alt", "caption"])
def test_silence_is_refused(name, missing):
    with pytest.raises(ValueError, match=f"A figure needs {missing}="):
        DRAWN[name](**SAYS | {missing: " "})


@every_picture
def test_the_same_picture_is_the_same_text(name):
    assert DRAWN[name](**SAYS) == DRAWN[name](**SAYS)


@every_picture
def test_every_colour_is_a_role_that_follows_the_page(name):
    svg = re.sub(r"<style>.*?</style>", "", DRAWN[name](**SAYS).svg)
    bare = re.findall(r"(?<!,)(?<!href=\")(?<!url\()#[0-9a-f]{6}\b", svg)
    assert bare == []
    for role, code in re.findall(r"var\(--([\w-]+),(#\w+)\)", svg):
        assert palette.light(role) == code


@every_picture
def test_text_is_text_and_reads_at_eleven_pixels_on_a_telephone(name):
    figure = DRAWN[name](**SAYS)
    for svg in pictures(figure):
        width = float(svg.get("viewBox").split()[2])
        scale = min(1.0, 358 / width)
        sizes = re.findall(r"font-size: ([\d.]+)px", ElementTree.tostring(svg, "unicode"))
        if name != "figure":
            assert sizes
        assert all(float(size) * scale >= 11 for size in sizes), sizes


@every_picture
def test_ids_are_unique_and_lead_somewhere(name):
    svg = DRAWN[name](**SAYS).svg
    first = svg.split("</svg>")[0]
    ids = re.findall(r' id="([^"]+)"', first)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', first)) == set(ids)


def test_a_style_inside_a_picture_touches_no_other_element_of_the_page():
    for draw in DRAWN.values():
        for css in re.findall(r"<style>(.*?)</style>", draw(**SAYS).svg):
            ours, rest = css[: len(_SEEN)], css[len(_SEEN) :]
            assert ours == _SEEN
            selectors = re.sub(r"\{(--[\w-]+:#\w+;)*\}", "", rest)
            assert selectors in ("", ",".join(palette.DARK_PAGES))
            assert all(
                part.strip().startswith(".course-") for part in re.split(r"\{[^}]*\}", ours)[:-1]
            )


def test_where_svg_is_taken_away_the_description_stands_instead():
    html = DRAWN["bars"](**SAYS)._repr_html_()
    left = re.sub(
        r"<style.*?</style>|</?(svg|g|path|text|defs|use|clipPath|rect)\b[^>]*>", "", html
    )
    assert 'class="course-picture" style="display:none"' in left
    assert '<p class="course-unseen">three rows</p>' in left


def test_a_heatmap_writes_its_numbers_and_names():
    texts = words(plots.heatmap(WEIGHTS, QUERIES, KEYS, digits=3, **SAYS))
    assert [w for w in texts if re.fullmatch(r"[\d.]+", w)] == [f"{x:.3f}" for x in WEIGHTS.flat]
    assert {"query", "key", *QUERIES, *KEYS} <= set(texts)


def test_a_heatmap_colours_by_share_and_below_zero_by_another_hue():
    svg = plots.heatmap(np.array([[1.0, -1.0, 0.5, 0.0]]), ["r"], list("abcd"), **SAYS).svg
    fills = re.findall(r"fill: var\(--([\w-]+),", svg)
    for name in ("weight-high", "weight-negative", "w20", "weight-low"):
        assert name in fills


def test_masked_cells_are_hatched_and_carry_no_number():
    mask = np.tri(3, 5, dtype=bool)
    figure = plots.heatmap(WEIGHTS, QUERIES, KEYS, mask=mask, **SAYS)
    numbers = [w for w in words(figure) if re.fullmatch(r"[\d.]+", w)]
    assert numbers == [f"{x:.2f}" for x in WEIGHTS[mask]]
    assert figure.svg.count("url(#") >= (~mask).sum()
    assert "<pattern" in figure.svg


def test_small_multiples_share_one_scale_and_one_description():
    figure = plots.heatmaps([WEIGHTS, WEIGHTS / 2], ["full", "half"], QUERIES, KEYS, **SAYS)
    assert figure.svg.count("<svg") == 2
    assert figure.svg.count("aria-label") == 1
    assert figure.svg.count('aria-hidden="true"') == 2
    full, half = figure.svg.split("</svg>")[:2]
    assert "--w40" in full or "--weight-high" in full
    assert "--weight-high," not in half


def test_names_that_do_not_fit_the_matrix_are_refused():
    with pytest.raises(ValueError, match=r"shape \(3, 5\) needs 3 rows' names and 5 columns'"):
        plots.heatmap(WEIGHTS, KEYS, QUERIES, **SAYS)
    with pytest.raises(ValueError, match="2 matrices need as many titles, and got 1"):
        plots.heatmaps([WEIGHTS] * 2, ["one"], QUERIES, KEYS, **SAYS)
    with pytest.raises(ValueError, match=r"2 names need an array of shape \(2, 2\)"):
        plots.scatter([[1, 2]], ["a", "b"], **SAYS)


def test_crowded_points_keep_their_names_apart():
    rng = np.random.default_rng(0)
    names = [f"word {i}" for i in range(13)]
    figure = plots.scatter(rng.normal(size=(13, 2)), names, **SAYS)
    places = []
    for text in pictures(figure)[0].iter("{http://www.w3.org/2000/svg}text"):
        if (text.text or "").strip() in names:
            places.append((float(text.get("x")), float(text.get("y"))))
    assert len(places) == 13
    for i, (x, y) in enumerate(places):
        for u, v in places[:i]:
            assert abs(x - u) > 38 or abs(y - v) > 9


def test_an_authors_own_drawing_takes_the_palette_along():
    fig, ax = plots.canvas(300, 100)
    ax.plot([0, 1], [0, 1], color=palette.light("query"))
    ax.text(0.5, 0.5, "hello", color="black")
    figure = plots.figure(fig, **SAYS)
    assert f"stroke: var(--query,{palette.light('query')})" in figure.svg
    assert "hello" in words(figure)
    assert "#000000" not in figure.svg


def test_drawing_leaves_no_open_figure_and_no_changed_setting():
    program = (
        "import matplotlib; before = dict(matplotlib.rcParams)\n"
        "from figures import plots; plots.bars([1, 2], ['a', 'b'], alt='a', caption='c')\n"
        "assert dict(matplotlib.rcParams) == before, 'settings changed'\n"
        "from matplotlib import pyplot; assert not pyplot.get_fignums(), 'a figure is open'\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert SETTINGS["svg.fonttype"] == "none"


def test_a_figure_cannot_be_changed_afterwards():
    with pytest.raises(AttributeError):
        DRAWN["bars"](**SAYS).caption = "another"
