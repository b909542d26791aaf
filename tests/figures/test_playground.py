"""The playgrounds answer what a reader writes, and say in a sentence what they cannot do."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from huggingface_hub.errors import OfflineModeIsEnabled

from figures.playground.prompt import OwnPrompt
from figures.playground.sentence import ROOM, OwnSentence, way_of, words_of
from lib.functional import cosine
from lib.models.config import Config
from lib.models.encoder import Encoder
from lib.models.generation import generate
from lib.models.gpt2 import GPT2
from lib.pretrained import hub
from lib.pretrained.gpt2 import TINY
from lib.pretrained.minilm import load_minilm
from lib.text.tokenizers import BytePair
from lib.training import checkpoints
from lib.training.optimizers import Recipe

APPLE = "She ate an apple."
TEXT = "Mia has a red ball. Tom has a blue drum. " * 8


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_minilm()


@pytest.fixture
def sentence(encoder) -> OwnSentence:
    return OwnSentence(encoder, APPLE, "apple", ("microsoft", "orange"), layer=0, head=2)


@pytest.fixture(scope="module")
def tokenizer() -> BytePair:
    return BytePair.train(TEXT, 40)


@pytest.fixture(scope="module")
def model(tokenizer) -> GPT2:
    torch.manual_seed(0)
    sizes = Config(vocab_size=len(tokenizer), context_length=23, d_model=12, heads=2, layers=1)
    return GPT2(sizes).eval()


@pytest.fixture
def prompt(model, tokenizer) -> OwnPrompt:
    return OwnPrompt(model, tokenizer, "Mia has", seen=tokenizer.encode(TEXT))


def said(playground) -> str:
    """What stands in the line below the controls."""
    return re.sub(r"<[^>]*>", "", playground.status.value)


def written(playground: OwnPrompt) -> str:
    return re.sub(r"<[^>]*>", "", playground.text.value)


def caption(html: str) -> str:
    return re.search("<figcaption>(.*?)</figcaption>", html)[1]


def test_the_table_is_that_of_the_chosen_head(encoder, sentence):
    reading = encoder.read(APPLE)
    for layer, head in ((0, 2), (5, 11)):
        sentence.layer.value, sentence.head.value = layer, head
        words = reading.weights[layer, head][1:-1, 1:-1].numpy()
        i, j = np.unravel_index(words.argmax(), words.shape)
        assert caption(sentence.table.value) == (
            f"Head {head} of layer {layer}, queries in rows. The largest weight between two words: "
            f"{reading.tokens[i + 1]} attends to {reading.tokens[j + 1]} with {words.max():.2f}."
        )


def test_the_way_of_a_word_is_measured_as_on_the_page(encoder, sentence):
    reading = encoder.read(APPLE)
    first, last = ([cosine(reading.vector("apple", at), encoder.read(pole).vector(pole, at))
                    for pole in ("microsoft", "orange")] for at in (0, 6))  # fmt: skip
    expected = (f"microsoft from {first[0]:.2f} to {last[0]:.2f}",
            f"orange from {first[1]:.2f} to {last[1]:.2f}")  # fmt: skip
    assert all(phrase in sentence.path.value for phrase in expected)
    assert first[0] > first[1]
    assert last[0] < last[1]
    assert caption(sentence.path.value).endswith("nearer to microsoft, after the last to orange.")


def test_a_new_sentence_brings_its_words_and_keeps_the_chosen_one(sentence):
    sentence.sentence.value = "An apple is an apple, says apple."
    names = sentence.word.options
    assert list(names[:4]) == ["an (1)", "apple (1)", "is", "an (2)"]
    before = sentence.path.value
    sentence.word.value = "apple (3)"
    assert sentence.path.value != before
    sentence.sentence.value = "One orange and the apple."
    sentence.word.value = "apple"
    sentence.sentence.value = "No apple here."
    assert sentence.word.value == "apple"
    sentence.sentence.value = "Rain in spring."
    assert sentence.word.value == "rain"
    sentence.word.value = "snow"
    assert said(sentence) == "The sentence has no such word; it has: rain, in, spring, ."
    assert sentence.table.value
    assert sentence.path.value == ""


def test_a_sentence_is_drawn_again_where_its_memory_is_used_again(sentence, monkeypatch):
    monkeypatch.setattr("figures.playground.sentence.id", lambda _: 1, raising=False)
    sentence.draw()
    drawn = sentence.still()
    sentence.sentence.value = ""
    sentence.sentence.value = APPLE
    assert (said(sentence), sentence.still()) == ("", drawn)


def test_pieces_are_one_word(encoder):
    words = words_of(encoder.read("More yoghurt"))
    assert len(words["yoghurt"]) == 3
    assert "cosine with yoghurt" in way_of(
        encoder.read("More yoghurt"), words["yoghurt"], ["a", "a"],
        [encoder.read("a").hidden[:, 1]] * 2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wants"),
    [("", "write at least one word"), ("   ", "write at least one word"),
     ("word " * ROOM, f"has {ROOM + 2} tokens, and the table has room for {ROOM}")],
)  # fmt: skip
def test_a_sentence_that_cannot_be_shown_is_refused_and_the_next_is_drawn(sentence, text, wants):
    drawn = sentence.still()
    sentence.sentence.value = text
    assert wants in said(sentence)
    assert sentence.still() == ""
    sentence.sentence.value = APPLE
    assert said(sentence) == ""
    assert sentence.still() == drawn


def test_unknown_signs_are_counted(sentence):
    sentence.sentence.value = "An apple ☃ 🙂"
    assert "does not know: 2" in said(sentence)
    assert "[UNK]" in sentence.table.value


def test_a_pole_that_is_empty_is_said_and_the_table_stays(sentence):
    sentence.poles[1].value = ""
    assert said(sentence).startswith("Of the two to compare with: There is nothing to read")
    assert sentence.table.value
    assert sentence.path.value == ""


def test_a_prompt_is_gone_on_from_as_lib_does_it(prompt, model, tokenizer):
    ids = torch.tensor(tokenizer.encode("Mia has"))
    for hot, k in ((0.0, 0), (0.0, 3), (1.5, 3)):
        prompt.temperature.value, prompt.top_k.value = hot, k
        prompt.count.value = 7
        choices = {"temperature": hot, "top_k": k or None} if hot else {}
        assert written(prompt) == tokenizer.decode(generate(model, ids, 7, **choices).tolist())
    assert "Mia has<b>" in prompt.text.value


def test_writing_again_draws_other_numbers_and_the_same_prompt_the_same(prompt):
    prompt.temperature.value = 2.0
    first = written(prompt)
    prompt.again.click()
    assert written(prompt) != first
    prompt.seed = 0
    prompt.write()
    assert written(prompt) == first


@pytest.mark.parametrize(
    ("text", "wants"),
    [("  ", "write at least one word"), ("Mia has a red ball. " * 9, "the model reads 23 at once")],
)
def test_a_prompt_that_cannot_be_read_is_refused_and_nothing_stays(prompt, text, wants):
    prompt.prompt.value = text
    assert wants in said(prompt)
    assert prompt.text.value == ""
    prompt.prompt.value = "Mia has a"
    assert said(prompt) == ""
    assert written(prompt).startswith("Mia has a")


def test_what_the_model_never_met_is_said_and_escaped(prompt):
    prompt.prompt.value = "Mia <b>"
    assert "never met" in said(prompt)
    assert "&#x27;&lt;&#x27;" in said(prompt)
    assert "&lt;b&gt;" in prompt.text.value


def test_without_a_model_it_says_what_to_do():
    empty = OwnPrompt(name="gpt2")
    assert said(empty) == "There is no model yet: name one, and load it."
    empty.again.click()
    empty.source.value = ""
    empty.load.click()
    assert "There is no model yet" in said(empty)
    assert empty.still() == ""


def fails(error: Exception) -> Callable:
    def fetch(*_: object, **__: object) -> None:
        raise error

    return fetch


def test_offline_it_names_both_ways_out(monkeypatch, tmp_path):
    monkeypatch.setattr(hub, "get_hf_file_metadata", fails(OfflineModeIsEnabled("offline")))
    empty = OwnPrompt(name="gpt2")
    empty.load.click()
    assert said(empty).startswith("gpt2 is not here and cannot be fetched now: connect")
    assert "or name a folder with its config.json and model.safetensors." in said(empty)


def test_a_folder_of_another_vocabulary_and_a_missing_one_are_refused(prompt, tmp_path):
    prompt.source.value = str(TINY)
    prompt.load.click()
    assert "knows 61 tokens and GPT-2&#x27;s tokenizer 50257" in said(prompt)
    prompt.source.value = str(tmp_path / "none.pt")
    prompt.load.click()
    assert "There is no file" in said(prompt)


def test_a_checkpoint_of_the_reader_s_own_training_is_loaded_and_writes(
    prompt, model, tokenizer, tmp_path: Path
):
    own, bare = tmp_path / "own.pt", tmp_path / "bare.pt"
    checkpoints.save(bare, model, [], Recipe(steps=11), 1, "text")
    prompt.source.value = str(bare)
    prompt.load.click()
    assert "without its tokeniser" in said(prompt)
    checkpoints.save(own, model, [], Recipe(steps=11), 1, "text", tokenizer)
    empty = OwnPrompt(prompt="Tom", name=str(own))
    empty.load.click()
    assert said(empty) == ""
    assert written(empty).startswith("Tom")
    assert len(written(empty)) > 3


@pytest.mark.parametrize("which", ["sentence", "prompt"])
def test_where_no_kernel_runs_it_shows_an_example_and_says_where_it_lives(which, request):
    playground = request.getfixturevalue(which)
    shown = playground._repr_mimebundle_()
    assert shown["text/plain"] == repr(playground)
    assert "0x" not in repr(playground)
    assert "model_id" not in shown["text/html"]
    assert playground.still() in shown["text/html"]
    assert f"here is a field for {playground.yours}" in shown["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in shown
