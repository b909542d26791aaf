"""The pictures of the README can be made again, and show what the README says of them."""

import random

import pytest
from PIL import Image

from tests.test_rules import ROOT
from tools import media

PICTURES = ROOT / ".github" / "media"


def noise(seed: int, side: int) -> Image.Image:
    return Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(3 * side * side))


@pytest.mark.parametrize(
    ("name", "fewest", "most"), [("live-figure.webp", 10, 60), ("named-mistake.webp", 1, 1)]
)
def test_a_stored_picture_has_the_width_of_the_readme(name, fewest, most):
    with Image.open(PICTURES / name) as picture:
        assert picture.width == media.WIDTH
        assert fewest <= getattr(picture, "n_frames", 1) <= most


def test_the_verdict_in_the_picture_names_the_forgotten_scale():
    verdict = media.verdict_on_forgotten_scale()
    assert verdict.misconceptions == ("M01",)
    assert "05_scaling" in verdict.read


def test_frames_are_kept_with_their_times(tmp_path):
    media.write([(noise(0, 32), 100), (noise(1, 32), 700)], tmp_path / "two.webp")
    with Image.open(tmp_path / "two.webp") as picture:
        assert picture.n_frames == 2
        picture.seek(1)
        picture.load()
        assert picture.info["duration"] == 700


def test_a_picture_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(media, "MOST_BYTES", 1000)
    with pytest.raises(SystemExit, match=r"must be under 1,000 bytes; got .* Record less"):
        media.write([(noise(2, 128), 100)], tmp_path / "large.webp")


def test_the_figure_moves_and_the_verdict_is_shown(book, browser):
    page = media.opened(browser, f"{book}/chapters/05_scaling.html")
    frames = media.record_figure(page)
    text = page.locator('[data-module="scaling_lab.js"]').inner_text()
    page.close()
    assert len({picture.tobytes() for picture, _ in frames}) == len(frames)
    assert "1024" in text
    page = media.opened(browser, f"{book}/exercises/05_scaling.html")
    assert media.show_verdict(page).width == media.WIDTH
    assert page.get_by_text("no scaling").is_visible()
    page.close()
