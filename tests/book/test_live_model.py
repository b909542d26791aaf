"""SmolLM2 in the page: its Python here in CPython and under node, and what the page makes of it."""

import base64
import json
import os
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from book.extensions import live
from book.live import front_end
from book.live.build import build_live
from book.live.page import language_model as page
from book.live.page import patterns
from book.node import node
from lib.attention import grouped, masks
from lib.attention.dot_product import attend
from lib.functional import softmax
from lib.interpretability.head_rules import heads_off
from lib.models import llama
from lib.pretrained import smollm2, smollm2_file, smollm2_package
from lib.text.chat_tokenizer import ChatTokenizer
from lib.text.tokenizers import CHUNK
from tests.figures.widgets.node import call
from tests.lib.pretrained.test_smollm2 import write_gguf
from tests.support.live import ROOT, RUNNER
from tests.support.varied_texts import varied_texts

BROWSER = "../../book/live/browser"
RIDDLE = "The keys that the man with the two large dogs had left on the table"


# The tokenizer's chunks, without the package `regex`


@pytest.mark.parametrize("pattern", [ChatTokenizer.chunk, CHUNK], ids=["SmolLM2", "GPT-2"])
def test_every_text_is_cut_into_the_chunks_of_regex(pattern):
    ours = patterns.Pattern(pattern.pattern)
    texts = varied_texts()
    assert len(texts) >= 500
    assert [text for text in texts if ours.findall(text) != pattern.findall(text)] == []


@given(st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=40))
def test_any_text_is_cut_into_the_chunks_of_regex(text):
    pattern = ChatTokenizer.chunk
    assert patterns.Pattern(pattern.pattern).findall(text) == pattern.findall(text)


# The model, here a tiny one in CPython


@pytest.fixture
def tiny(tmp_path, monkeypatch, bare_lib):
    """A tiny model as the page reads it, and lib's own reading of the same file."""
    monkeypatch.setattr(llama, "linear", llama.linear)  # the page puts its product there
    path = write_gguf(tmp_path / "tiny.gguf")
    model = smollm2_file.read_smollm2(path).model
    monkeypatch.setattr(page, "ROOM", 11)
    monkeypatch.setattr(page, "ENDS", ("<|end|>",))
    monkeypatch.setattr(page, "reader", page.ModelOfThePage(path))
    return model


def ask(do: str, **choices) -> dict:
    return json.loads(page.answer(json.dumps({"do": do, **choices})))


def read(text: str, out=(), attention: str = "", words=()) -> dict:
    return ask("read", text=text, out=list(out), attention=attention, words=list(words))


def logits(model, text: str, **choices) -> np.ndarray:
    return model(np.array(page.reader.tokenizer.encode(text)), last=True, **choices).logits[-1]


def test_a_text_that_goes_on_is_read_on_as_if_read_whole(tiny):
    for text in (" the", " the tree", " the tr", " the trunk", "a"):
        read(text)
        np.testing.assert_allclose(page.reader.now.logits, logits(tiny, text), rtol=2e-5, atol=2e-5)


def test_a_head_that_is_out_and_its_return(tiny):
    given = read(" the tree", out=[[1, 2]])
    wanted = softmax(logits(tiny, " the tree", rule=heads_off(tiny, [(1, 2)])))
    before = softmax(logits(tiny, " the tree"))
    best = np.argsort(-wanted, kind="stable")[: page.ROWS]
    chances = [row[1:] for row in given["next"]]
    np.testing.assert_allclose(chances, np.stack([wanted, before])[:, best].T, rtol=1e-3)
    read(" the tree")
    np.testing.assert_allclose(page.reader.now.logits, logits(tiny, " the tree"), rtol=2e-5)


def test_the_weights_of_every_head_travel(tiny):
    ids = np.array(page.reader.tokenizer.encode(" the tree"))
    whole = tiny(ids, keep_weights=True).weights
    rows = {len(ids) - 1: read(" the tree"), 1: ask("row", query=1)}
    for query, packed_row in rows.items():
        packed = base64.b64decode(packed_row["weights"])
        ours = call(f"{BROWSER}/model/views.js", "unpackRow", packed_row["weights"], 6)
        assert packed_row["query"] == query
        assert len(packed) == 2 * 6 * (query + 1)
        theirs = whole[:, :, query, : query + 1].reshape(6, -1)
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_model_continues_greedily_and_says_when_it_ends(tiny):
    read(" the")
    ids = page.reader.tokenizer.encode(" the")
    for _ in range(3):
        ids.append(int(tiny(np.array(ids), last=True).logits[-1].argmax()))
        given = ask("step")
    assert page.reader.now.ids == ids
    assert given["added"] == page.reader.tokenizer.decode(ids[-3:])
    while not given["ended"]:
        given = ask("step")
    assert len(page.reader.now.ids) <= page.ROOM


def test_the_lines_that_are_shown_are_libs_attention(bare_lib):
    names = dict(vars(page.dot_product))
    exec(page.attention_source(), names)
    shown = names["attend"]
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((2, n, 5)) for n in (3, 7, 7))
    mask = masks.causal(3, 7)
    for ours, wanted in zip(shown(q, k, v, mask), attend(q, k, v, mask), strict=True):
        np.testing.assert_array_equal(ours, wanted)
    assert '"""' not in page.attention_source()
    assert page.written_attention(page.attention_source()) is None


def test_lines_of_the_readers_own_hold_for_one_reading(tiny):
    lines = page.attention_source()
    uniform = lines.replace(
        "softmax(score_matrix, where=where)", "where / where.sum(-1, keepdims=True)"
    )
    assert uniform != lines
    given = read(" the tree", attention=uniform)
    packed = np.frombuffer(base64.b64decode(given["weights"]), "<u2").reshape(6, -1) / page.ALL
    np.testing.assert_allclose(packed, 1 / packed.shape[1], atol=1e-5)
    assert grouped.attend is attend
    read(" the tree")
    np.testing.assert_allclose(page.reader.now.logits, logits(tiny, " the tree"), rtol=2e-5)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("x = 1", "The lines must define a function with the name attend."),
        ("def attend(q, k, v, mask=None)\n    return q", "SyntaxError: expected ':'"),
        ("def attend(q, k, v, mask=None):\n    return 1 / 0", "line 2, in attend"),
        ("def attend(q, k, v, mask=None):\n    return AttentionOutput(q, v)", "got shapes"),
        ("def attend(q, k, v, mask=None):\n    return q", "attend must return AttentionOutput"),
        ("def attend(q, k, v, mask=None):\n    scores = q @ k.swapaxes(-1, -2)\n"
         "    return AttentionOutput(q * np.nan, scores)", "The logits are not finite"),
    ],
)  # fmt: skip
def test_lines_that_fail_are_named_and_harm_no_later_reading(tiny, lines, words):
    assert words in read(" the tree", attention=lines)["error"]
    assert "error" not in read(" the tree")
    np.testing.assert_allclose(page.reader.now.logits, logits(tiny, " the tree"), rtol=2e-5)


def test_lines_that_never_end_are_stopped(tiny, monkeypatch):
    monkeypatch.setattr(page, "SECONDS", 0.2)
    for lines in ("def attend(q, k, v, mask=None):\n    while True: pass", "while True: pass"):
        assert read(" the", attention=lines)["error"] == "This was stopped after 0.2 seconds."


@pytest.mark.parametrize(
    ("text", "words"), [("", "at least one word"), ("x" * 12, "has 12 tokens")]
)
def test_a_text_that_cannot_be_read_is_refused(tiny, text, words):
    assert words in read(text)["error"]


def test_the_words_that_a_reader_asks_for_are_always_listed(tiny):
    assert [row[0] for row in read(" the", words=["the", "a"])["words"]] == [" th", " "]


# SmolLM2 under node, in the page's own Python

CHANGES = {
    "as it is": ([], "", ""),
    "L26H0 out": ([[26, 0]], "", ""),
    "no mask": ([], ", where=where", ""),
    "flat": ([], "scale=scale", "scale=0.1"),
    "broken": ([], "(weights, v)", "(weights, q)"),
    "again": ([], "", ""),
}


@pytest.mark.nightly
def test_smollm2_in_the_page_is_smollm2(tmp_path, bare_lib, monkeypatch):
    os.link(smollm2_package.installed_file(), tmp_path / "model.gguf")
    texts = varied_texts()[:600]
    asked = {"text": RIDDLE, "changes": CHANGES, "texts": texts}
    (tmp_path / "asked.json").write_text(json.dumps(asked), "utf8")
    script = ROOT / "tests" / "support" / "live_model.py"
    done = subprocess.run(
        [node(), RUNNER, build_live(), tmp_path, script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout.splitlines()[-1])
    model, tokenizer = smollm2.load_smollm2(numpy=True)
    ids = np.array(tokenizer.encode(RIDDLE))
    assert there["ids"] == [tokenizer.encode(text, special=True) for text in texts]
    assert there["heap"] < 800e6

    def near(name: str, wanted: np.ndarray) -> bool:
        return np.abs(np.array(there["logits"][name]) - wanted).max() < 1e-4 * np.abs(wanted).max()

    whole = model(ids, keep_weights=True)
    assert near("as it is", whole.logits[-1])
    assert near("again", whole.logits[-1])
    assert near("L26H0 out", model(ids, last=True, rule=heads_off(model, [(26, 0)])).logits[-1])
    with monkeypatch.context() as change:
        change.setattr(grouped, "attend", lambda q, k, v, mask: attend(q, k, v))
        assert near("no mask", model(ids, last=True).logits[-1])
        change.setattr(grouped, "attend", lambda q, k, v, mask: attend(q, k, v, mask, scale=0.1))
        assert near("flat", model(ids, last=True).logits[-1])
    assert "ValueError" in there["readings"]["broken"]["error"]
    packed = np.frombuffer(base64.b64decode(there["readings"]["again"]["weights"]), "<u2")
    np.testing.assert_allclose(
        packed.reshape(30, 9, -1) / page.ALL, whole.weights[:, :, -1], atol=1e-4
    )
    chances = {name: {token: now for token, now, _ in reading.get("words", ())}
               for name, reading in there["readings"].items()}  # fmt: skip
    assert chances["as it is"][" were"] > 5 * chances["as it is"][" was"]
    assert chances["L26H0 out"][" were"] < chances["L26H0 out"][" was"]
    assert chances["no mask"][" was"] > 10 * chances["no mask"][" were"]
    for step in there["steps"]:
        ids = np.append(ids, model(ids, last=True).logits[-1].argmax())
        assert step == tokenizer.decode(ids[15:])


# What the page says


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ({}, None),
        ({"memory": None}, None),
        ({"memory": 2}, "2 GB of memory"),
        ({"width": 390}, "too narrow"),
        ({"agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0)"}, "phones and tablets"),
        ({"agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X)", "touches": 5}, "phones and tablets"),
        ({"agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X)"}, None),
    ],
)
def test_a_small_device_is_told_why_not(device, words):
    desktop = {"width": 1280, "memory": 8, "agent": "Mozilla/5.0 (X11; Linux x86_64)", "touches": 0}
    why = call(f"{BROWSER}/model/offer.js", "refusal", desktop | device)
    assert why is None if words is None else words in why


READING = {"next": [[" are", 0.13, 0.2], ["\n", 0.1, 0.1]], "words": [[" was", 0.018, 0.2]]}


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("", "The model as it is: most likely is are, 13%; was 1.8%"),
        ("without L26H0", "The model without L26H0: most likely is are, 20% → 13%; was 20% → 1.8%"),
    ],
)
def test_a_reading_is_told_in_a_sentence(how, words):
    assert call(f"{BROWSER}/model/views.js", "report", READING, how) == words


def test_the_list_has_the_likely_tokens_and_the_readers_words_once():
    rows = call(f"{BROWSER}/model/views.js", "rowsOf", READING)
    assert [(row["token"], row["isAsked"]) for row in rows] == [
        (" are", False),
        ("\n", False),
        (" was", True),
    ]
    assert call(f"{BROWSER}/model/views.js", "wordsIn", "were, was;  is a b") == [
        "were",
        "was",
        "is",
        "a",
    ]
    assert call(f"{BROWSER}/model/views.js", "visible", "\n") == "new line"
    assert (
        call(f"{BROWSER}/model/views.js", "changed", ["L26H0", "L3H1"], True)
        == "with your lines and without L26H0, L3H1"
    )


# The build


class App:
    """As much of Sphinx as the extension asks."""

    def __init__(self, model):
        self.live = SimpleNamespace(script="live-1.js", model=model)
        self.live_cells = {}
        self.files = []
        self.add_js_file = self.add_css_file = lambda name, **_: self.files.append(name)


BLOCK = '<p>x</p><div class="live-language-model" data-head="1.1">\n<p>Run it</p>\n</div><p>y</p>'


@pytest.mark.parametrize("model", [None, {"file": "smollm2.gguf"}])
def test_a_book_without_the_model_does_not_speak_of_it(model):
    app, context = App(model), {"body": BLOCK}
    live.choose_scripts(app, "chapters/01_first_lap", "page.html", context, None)
    assert context["body"] == (BLOCK if model else "<p>x</p><p>y</p>")
    assert ("live.css" in app.files) is bool(model)


def test_the_model_is_laid_in_under_its_digest_if_it_is_installed(tmp_path, monkeypatch):
    source = tmp_path / "installed"
    source.write_bytes(b"weights")
    monkeypatch.setattr(front_end, "installed_file", lambda: source)
    for _ in range(2):  # a second build finds it there
        model = front_end.lay_in_model(tmp_path / "model")
        assert model == {
            "file": f"smollm2-{smollm2.SHA256[:10]}.gguf",
            "bytes": 7,
            "sha256": smollm2.SHA256,
        }
        assert (tmp_path / "model" / model["file"]).read_bytes() == b"weights"

    def absent():
        raise FileNotFoundError("SmolLM2 is not installed. Run: pip")

    monkeypatch.setattr(front_end, "installed_file", absent)
    assert front_end.lay_in_model(tmp_path / "none") is None
