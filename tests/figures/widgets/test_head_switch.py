"""The figure of chapter 16 computes what torch does with the stored numbers, heads on or off."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import Page, expect
from traitlets import TraitError

from figures.widgets import head_switch
from figures.widgets.head_switch import MODEL, SEEDS, HeadSwitch, parameters
from lib.interpretability import head_scores, interventions
from lib.models.attention_only import AttentionOnly
from tests.figures.widgets.node import call, run

HEADS = MODEL["heads"]
COUNT = MODEL["layers"] * HEADS
PATTERNS = ["flamingo", "abc", "abac", "tsrqponmlkji", "aaaaa"]
OFF = [[], [0], [1, 6], list(range(COUNT))]

LOOK = """
const { unpack, forward, look } = await import(process.argv[1]);
let text = "";
for await (const piece of process.stdin) text += piece;
const { model, pattern, off } = JSON.parse(text);
const p = unpack(model);
const seen = look(model, p, { pattern, off });
process.stdout.write(JSON.stringify({ ...seen, logits: forward(model, p, seen.ids, off).logits }));
"""


@pytest.fixture(scope="module")
def model() -> AttentionOnly:
    """The stored parameters, in torch."""
    shapes = MODEL["shapes"]
    (vocab, d_model), longest = (
        shapes["token_embedding.weight"],
        shapes["position_embedding.weight"][0],
    )
    made = AttentionOnly(vocab, longest, d_model, HEADS, MODEL["layers"]).double()
    made.load_state_dict({name: torch.tensor(array) for name, array in parameters().items()})
    return made.eval()


def switched(model: AttentionOnly, widget: HeadSwitch, off: list[int]) -> interventions.HeadOutputs:
    """What torch records of the widget's text with some heads switched off."""
    with interventions.ablate(model, [divmod(head, HEADS) for head in off]):
        return interventions.record_heads(model, torch.from_numpy(widget.ids))


def surprise(recorded: interventions.HeadOutputs, widget: HeadSwitch) -> np.ndarray:
    targets = torch.from_numpy(np.roll(widget.ids, -1))
    return F.cross_entropy(recorded.result.logits, targets, reduction="none").numpy()


@pytest.mark.parametrize("off", OFF, ids=str)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_page_computes_what_torch_computes(model, pattern, off):
    widget = HeadSwitch(pattern=pattern)
    given = {"model": MODEL, "pattern": pattern, "off": off}
    ours = run(LOOK, "head_switch.js", given=json.dumps(given))
    theirs = switched(model, widget, off)
    assert ours["ids"] == widget.ids.tolist()
    np.testing.assert_allclose(ours["logits"], theirs.result.logits, atol=1e-5)
    weights = torch.cat(theirs.weights)  # (layer * head, n, n)
    np.testing.assert_allclose(ours["weights"], weights, atol=1e-5)
    losses = surprise(theirs, widget)
    np.testing.assert_allclose(ours["right"], np.exp(-losses), atol=1e-5)
    assert ours["loss"] == pytest.approx(losses[len(pattern) :].mean(), abs=1e-5)
    np.testing.assert_allclose(widget.surprise(off), losses, atol=1e-9)
    for name, score in {
        "previous": head_scores.previous_token_score(weights),
        "sink": head_scores.sink_score(weights),
        "induction": head_scores.induction_score(weights, torch.from_numpy(widget.ids)[None]),
    }.items():
        np.testing.assert_allclose([habit[name] for habit in ours["habits"]], score, atol=1e-5)


def test_the_text_is_as_many_whole_copies_as_fit():
    assert call("head_switch.js", "repeated", "abcde", 24) == list("abcde" * 4)


@pytest.mark.parametrize(
    ("typed", "read"),
    [("abc", "abc"), ("ABC", "abc"), ("ab", None), ("a c", None), ("xyz", None), ("a" * 13, None)],
)
def test_what_is_typed_is_read_or_refused(typed, read):
    assert call("head_switch.js", "readable", typed, MODEL["letters"]) == read


@pytest.mark.parametrize("pattern", ["ab", "xyz", "a" * 13])
def test_python_refuses_what_is_no_pattern(pattern):
    with pytest.raises(TraitError, match="no pattern of 3 to 12 letters"):
        HeadSwitch(pattern=pattern)


def test_the_stored_model_copies_and_needs_one_head_of_each_layer():
    for pattern in ("flamingo", "ab" + "cdefgh", "tsrqponmlkji"):
        widget = HeadSwitch(pattern=pattern)
        whole = widget.loss([])
        rises = np.array([widget.loss([head]) - whole for head in range(COUNT)])
        assert whole < 0.05
        assert ((rises > 3).reshape(-1, HEADS).sum(1) == 1).all()
        assert ((rises < 0.05).reshape(-1, HEADS).sum(1) == HEADS - 1).all()
        others = np.flatnonzero(rises < 0.05).tolist()
        assert widget.loss(others) - whole < 0.05


def test_a_head_may_look_at_the_right_place_and_not_be_needed(model):
    widget = HeadSwitch()
    weights = torch.cat(switched(model, widget, []).weights)[HEADS:]
    scores = head_scores.induction_score(weights, torch.from_numpy(widget.ids)[None])
    rises = np.array([widget.loss([HEADS + head]) - widget.loss([]) for head in range(HEADS)])
    assert ((scores > 0.85).numpy() & (rises < 0.01)).any()


def test_over_five_seeds_the_price_leaves_one_head_that_is_needed_in_each_layer():
    for trained in SEEDS["price"]:
        rises = np.array(trained["rises"]).reshape(-1, HEADS)
        assert trained["loss"] < 0.01
        assert ((rises > 4).sum(1) == 1).all()
        assert ((rises < 0.01).sum(1) == HEADS - 1).all()
    for trained in SEEDS["free"]:
        assert np.array(trained["rises"])[HEADS:].max() < 0.01
    assert len(SEEDS["price"]) == len(SEEDS["free"]) == 5


def test_the_file_is_small():
    assert head_switch.Path(head_switch.__file__).with_suffix(".json").stat().st_size < 150_000
    assert len(HeadSwitch()._repr_mimebundle_()[0]["text/html"]) < 150_000


def chances(page: Page) -> list[float]:
    table = page.locator("table:has(caption:text-is('probability of the right next letter'))")
    return [float(text) for text in table.locator("td[data-cell]").all_inner_texts()]


def test_a_switch_by_keyboard_kills_the_copying_and_another_brings_it_back(widget_page):
    page, widget = widget_page(HeadSwitch()), HeadSwitch()
    worst = int(np.argmax([widget.loss([head]) for head in range(COUNT)]))
    np.testing.assert_allclose(chances(page), np.exp(-widget.surprise([])), atol=0.006)
    readout = page.locator("[data-name=loss]")
    expect(readout).to_contain_text("with all heads on")
    switch = page.get_by_label(f"layer {worst // HEADS}, head {worst % HEADS} on")
    switch.press("Space")
    expect(switch).not_to_be_checked()
    np.testing.assert_allclose(chances(page), np.exp(-widget.surprise([worst])), atol=0.006)
    more = widget.loss([worst]) - widget.loss([])
    expect(readout).to_contain_text(f"{widget.loss([worst]):.2f} nats, {more:.2f} more")
    page.get_by_role("button", name="All heads on").press("Enter")
    expect(switch).to_be_checked()
    np.testing.assert_allclose(chances(page), np.exp(-widget.surprise([])), atol=0.006)


def test_a_letter_and_a_head_are_chosen_and_what_it_looks_at_is_told(widget_page, model):
    page, widget = widget_page(HeadSwitch()), HeadSwitch()
    weights = torch.cat(switched(model, widget, []).weights)
    table = page.locator("table:has(caption:text-is('probability of the right next letter'))")
    table.locator("td button").first.press("ArrowDown")
    page.keyboard.press("End")  # the 16th letter, o
    page.get_by_role("button", name="show layer 1, head 2").click()
    best = int(weights[HEADS + 2, 15].argmax())
    expect(page.locator("[data-name=head]")).to_have_text(
        f"layer 1, head 2 looks from the 16th letter, o: most weight, "
        f"{weights[HEADS + 2, 15].max():.2f}, on the {best + 1}th letter, "
        f"{widget.pattern[best % 8]}"
    )
    shown = page.locator(
        "table:has(caption:text-is('weights from the chosen letter')) td[data-cell]"
    )
    texts = shown.all_inner_texts()
    np.testing.assert_allclose(
        [float(text) for text in texts[:16]], weights[HEADS + 2, 15, :16], atol=0.006
    )
    assert texts[16:] == [""] * 8  # what comes later is not seen


def test_a_pattern_is_typed_and_one_that_cannot_be_read_is_named(widget_page):
    page = widget_page(HeadSwitch())
    field = page.get_by_label("A pattern, which is repeated:")
    field.fill("abcdef")
    np.testing.assert_allclose(
        chances(page), np.exp(-HeadSwitch(pattern="abcdef").surprise([])), atol=0.006
    )
    field.fill("abcdae")
    expect(page.locator("div[role=status]")).to_contain_text("a comes twice")
    field.fill("abcdef")
    expect(page.locator("div[role=status]")).to_contain_text("all different")
    field.fill("xyz")
    expect(page.locator("div[role=status]")).to_contain_text("shown is still abcdef")
    expect(field).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Shuffle").click()
    expect(field).to_have_attribute("aria-invalid", "false")
    assert len(set(field.input_value())) == 6
    assert len(chances(page)) == 24


def test_everything_that_is_pressed_is_large_enough_for_a_finger(widget_page):
    page = widget_page(HeadSwitch(pattern="tsrqponmlkji"), width=360)
    for target in page.locator(".kit button, .kit .kit-toggle, .kit input.kit-field").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 24, target.inner_html()


@pytest.mark.parametrize("pattern", ["abc", "flamingo", "tsrqponmlkji"])
def test_it_fits_a_telephone(widget_page, pattern):
    page = widget_page(HeadSwitch(pattern=pattern), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
