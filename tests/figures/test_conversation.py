"""A reader talks to a Llama, stops it, looks into its heads, and takes heads out."""

import re
from itertools import count
from threading import Event

import pytest
import torch

from figures.playground import language_model as lm
from figures.playground.conversation import NO_MODEL, OwnConversation
from lib.interpretability.head_rules import heads_off
from lib.models import generation
from lib.models.config import LlamaConfig
from lib.models.llama import Llama, parameter_shapes
from lib.pretrained import smollm2, smollm2_package
from lib.text.chat_tokenizer import ChatTokenizer

CONFIG = LlamaConfig(
    vocab_size=61, context_length=300, d_model=30, heads=5, kv_heads=1, layers=3, d_ff=37
)
LETTERS = "abcdefghijklmnopqrstuvwxyz .,!?<>&ABCDEFGHIJKLMNOPQRSTUVWXYZ\n"


class Letters(ChatTokenizer):
    """One token per letter, and a chat with a letter before each turn."""

    def __init__(self):
        self.special = {"<|im_end|>": 60}

    def encode(self, text: str) -> list[int]:
        return [LETTERS.index(letter) for letter in text]

    def decode(self, ids) -> str:
        return "".join(LETTERS[i] for i in ids)

    def stream(self, ids):
        return map(LETTERS.__getitem__, ids)

    def chat(self, messages) -> list[int]:
        return self.encode("".join(f"{m['role'][0]}.{m['content']}\n" for m in messages)[:-1])


def random_parameters(shapes):
    if isinstance(shapes, dict):
        return {name: random_parameters(part) for name, part in shapes.items()}
    if isinstance(shapes, list):
        return [random_parameters(part) for part in shapes]
    return torch.randn(shapes) / 3


@pytest.fixture(scope="module")
def tiny() -> smollm2.LanguageModel:
    torch.manual_seed(0)
    return smollm2.LanguageModel(
        Llama(CONFIG, random_parameters(parameter_shapes(CONFIG))), Letters()
    )


@pytest.fixture
def talk(tiny) -> OwnConversation:
    talk = OwnConversation(tiny, "a b <c", layer=2, head=3)
    talk.count.value = 11
    return talk


def done(talk: OwnConversation) -> OwnConversation:
    """Wait for the thread that works."""
    talk.worker.join(60)
    assert not talk.worker.is_alive()
    return talk


def plain(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def expected(tiny, ids: list[int], new: int, heads=(), **choices) -> list[int]:
    model = lm.HeadsOut(tiny.model, heads)
    ends = lm.stops(tiny.tokenizer)
    written = generation.generate(model, torch.tensor(ids), new, stop=ends, **choices)
    return [i for i in written.tolist()[len(ids) :] if i not in ends]


@pytest.mark.parametrize(
    ("hot", "k", "p"), [(0, 0, 1.0), (0, 3, 0.5), (1.5, 3, 1.0), (1.5, 0, 0.5)]
)
def test_a_text_is_completed_as_lib_generates(talk, tiny, hot, k, p):
    talk.temperature.value, talk.top_k.value, talk.top_p.value = hot, k, p
    talk.seed.value = 7
    talk.complete.click()
    done(talk)
    choices = {"temperature": hot, "top_k": k or None, "top_p": p, "seed": 7} if hot else {}
    answer = expected(tiny, tiny.tokenizer.encode("a b <c"), 11, **choices)
    assert talk.answer == tiny.tokenizer.decode(answer)
    assert talk.text.value.count("a b &lt;c<b>") == 1
    assert talk.looking.reading.ids == tiny.tokenizer.encode("a b <c") + answer


def test_heads_taken_out_change_the_answer_which_stands_beside_the_one_before(talk, tiny):
    talk.complete.click()
    done(talk)
    before = talk.answer
    talk.heads_out.value = "L0H0, 0.1; l1h4"
    done(talk)
    talk.again.click()
    done(talk)
    heads = [(0, 0), (0, 1), (1, 4)]
    ids = expected(tiny, tiny.tokenizer.encode("a b <c"), 11, heads)
    assert talk.answer == tiny.tokenizer.decode(ids) != before
    assert talk.before.value.startswith("<p>Before: ")
    assert "without L0H0, L0H1, L1H4" in talk.looking.next.value
    talk.prompt.value = "a different text"
    talk.complete.click()
    assert done(talk).before.value == ""


def test_a_chat_goes_through_the_template_and_grows(talk, tiny):
    talk.prompt.value = "hi"
    talk.send.click()
    first = done(talk).answer
    talk.prompt.value = "so?"
    talk.send.click()
    done(talk)
    assert [message["role"] for message in talk.messages] == ["user", "assistant"] * 2
    assert talk.messages[1]["content"] == first
    asked = tiny.tokenizer.chat(talk.messages[:3])
    assert talk.looking.reading.ids == asked + expected(tiny, asked, 11)
    assert plain(talk.text.value).startswith("You: hi\nSmolLM2: ")
    talk.again.click()
    assert len(done(talk).messages) == 4
    talk.new.click()
    assert talk.messages == []
    assert talk.text.value == ""


def test_stop_ends_the_answer_early_and_the_buttons_return(talk, tiny, monkeypatch):
    third, go_on = Event(), Event()

    def endless(*_, **__):
        for i in count():
            if i == 3:
                third.set()
                go_on.wait(60)
            yield torch.tensor(5)

    monkeypatch.setattr("figures.playground.conversation.stream", endless)
    talk.complete.click()
    assert third.wait(60)
    assert plain(talk.text.value) == "a b &lt;cfff"  # it streams
    assert talk.complete.disabled
    assert not talk.stop.disabled
    talk.heads_out.value = "L1H1"
    assert "press Stop, or wait" in talk.status.value
    talk.stop.click()
    go_on.set()
    done(talk)
    assert talk.answer == "fff"
    assert not talk.complete.disabled
    assert talk.stop.disabled


def test_a_pressed_token_shows_the_weights_of_the_chosen_head(talk, tiny):
    ids = torch.tensor(tiny.tokenizer.encode("a b <c"))
    weights = tiny.model(ids, keep_weights=True).weights
    for query, layer, head in ((4, 2, 3), (2, 0, 4)):
        talk.looking.layer.value, talk.looking.head.value = layer, head
        talk.looking.tokens.children[query].click()
        row = weights[layer, head, query]
        best, name = int(row.argmax()), "a b <c"[int(row.argmax())].strip() or "space"
        first = re.search("<tbody>.*?</tr>", talk.looking.attention.value)[0]
        name = name.replace("<", "&lt;")
        assert plain(first) == f"{name} (token {best}){row[best]:.3f}"
        assert f"Head L{layer}H{head}: token {query}" in talk.looking.attention.value
    pressed = [button.button_style for button in talk.looking.tokens.children]
    assert pressed == ["", "", "primary", "", "", ""]
    assert [button.description for button in talk.looking.tokens.children] == [
        "a", "space", "b", "space", "<", "c",
    ]  # fmt: skip


def test_a_mark_of_punctuation_is_quoted_in_a_sentence(talk):
    talk.looking.tokens.children[4].click()
    assert "token 4, “&lt;”, attends" in talk.looking.attention.value
    assert "after token 4, “&lt;”." in talk.looking.next.value
    talk.looking.tokens.children[5].click()
    assert "token 5, c, attends" in talk.looking.attention.value


def test_next_words_are_shown_without_the_heads_and_with_all(tiny):
    ids, heads = tiny.tokenizer.encode("abc"), [(0, 2), (2, 1)]
    reading = lm.read_heads(tiny.model, ids, heads)
    rule = heads_off(tiny.model, heads)
    now = tiny.model(torch.tensor(ids), rule=rule).logits[1].softmax(-1)
    whole = tiny.model(torch.tensor(ids)).logits[1].softmax(-1)
    best = int(now.argmax())
    assert lm.next_words(reading, 1)[0] == (best, now[best].item(), whole[best].item())
    assert now[best] != whole[best]


@pytest.mark.parametrize(
    ("heads", "wants"),
    [("L3H0", "There is no head L3H0: layers are numbered from 0 to 2"),
     ("0.1, 0.5", "There is no head 0.5"), ("26", "must be written as L26H0"),
     ("-1.0", "got -1.0"), ("0.1.2", "got 0.1.2")],
)  # fmt: skip
def test_heads_that_do_not_exist_or_are_written_differently_are_refused(talk, heads, wants):
    talk.heads_out.value = heads
    assert wants in done(talk).status.value
    talk.heads_out.value = ""
    assert done(talk).status.value == ""
    talk.heads_out.value = heads
    done(talk)
    talk.complete.click()
    assert wants in done(talk).status.value
    assert talk.answer == ""


@pytest.mark.parametrize(
    ("button", "text", "wants"),
    [("complete", " ", "write at least one word"), ("send", "", "write at least one word"),
     ("complete", "a" * 290, "This text has 290 tokens, and there is room for 289"),
     ("send", "a" * 290, "Ask for fewer new tokens, or start a new chat.")],
)  # fmt: skip
def test_a_text_that_is_empty_or_too_long_is_refused_and_the_next_is_answered(
    talk, button, text, wants
):
    talk.prompt.value = text
    getattr(talk, button).click()
    assert wants in done(talk).status.value
    assert talk.messages == []
    talk.prompt.value = "abc"
    getattr(talk, button).click()
    assert done(talk).status.value == ""
    assert talk.answer


def test_without_a_model_it_says_what_to_press(monkeypatch, tiny):
    talk = OwnConversation()
    assert NO_MODEL in talk.status.value
    talk.complete.click()
    assert NO_MODEL in done(talk).status.value
    assert talk.still() == ""

    def missing():
        raise FileNotFoundError("SmolLM2 is not installed. Run: pip")

    monkeypatch.setattr(smollm2, "prepared", missing)
    talk.load.click()
    assert "SmolLM2 is not installed. Run: pip" in done(talk).status.value
    assert talk.bar.layout.display == "none"
    steps = []
    monkeypatch.setattr(smollm2, "prepared", lambda: steps.append(talk.bar.value))
    monkeypatch.setattr(
        smollm2,
        "load_smollm2",
        lambda: steps.append((talk.bar.value, talk.bar.layout.display)) or tiny,
    )
    talk.load.click()
    assert done(talk).status.value == ""
    assert steps == [0, (1, "")]
    assert talk.load.layout.display == "none"
    assert talk.looking.reading.ids


def test_where_no_kernel_runs_it_shows_an_example(talk):
    shown = talk._repr_mimebundle_()
    assert "0x" not in repr(talk)
    assert talk.still() in shown["text/html"]
    assert "here is a field for a text or a question of your own" in shown["text/html"]
    assert "&lt;c" in talk.still()
    assert "Head L2H3" in talk.still()


def test_smollm2_fetches_keys_and_chooses_otherwise_without_the_head():
    smollm2_package.installed_file()
    text = "The keys that the man with the two large dogs had left on the table"
    talk = OwnConversation(smollm2.load_smollm2(), text)
    assert "keys (token 1)0.745" in plain(talk.looking.attention.value)
    talk.heads_out.value = "L26H0"
    done(talk)
    assert "taken out" in talk.looking.attention.value
    talk.count.value = 5
    talk.prompt.value, talk.heads_out.value = "The capital of France is", ""
    done(talk)
    talk.complete.click()
    assert "Paris" in done(talk).answer
    talk.prompt.value = "What is the capital of Japan?"
    talk.send.click()
    assert done(talk).messages[-1]["content"]
    assert "<|im_start|>" in [b.description for b in talk.looking.tokens.children]
