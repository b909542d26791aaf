"""Generation token by token, with and without a cache, against the plainest loop."""

import io
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.models.config import Config
from lib.models.generation import generate, stream, window_start, write
from lib.models.gpt2 import GPT2
from lib.pretrained.gpt2 import load_gpt2
from lib.text.tokenizers import BytePair, WordTokenizer
from tests.lib.models.test_gpt2 import IDS, TINY

LONGEST = 23


@pytest.fixture(scope="module")
def tiny() -> GPT2:
    return load_gpt2(TINY).double()


def noise(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# The window.


@given(st.integers(1, 300), st.integers(1, 40))
def test_the_window_fits_moves_by_halves_and_only_when_it_must(tokens, longest):
    start = window_start(tokens, longest)
    half = max(longest // 2, 1)
    assert 0 <= start < tokens
    assert tokens - start <= longest
    assert start % half == 0
    assert start == 0 or tokens - (start - half) > longest


# The loop.


@torch.no_grad()
def by_hand(model: GPT2, ids: list[int], count: int) -> list[int]:
    """Greedy generation as one would write it first: read everything, take the largest, repeat."""
    ids = list(ids)
    for _ in range(count):
        window = ids
        while len(window) > LONGEST:
            window = window[LONGEST // 2 :]
        ids.append(int(model(torch.tensor(window)).logits[-1].argmax()))
    return ids


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("prompt", [1, 7, 22, 23, 24, 57])
def test_greedy_tokens_are_those_of_the_plainest_loop(tiny, cached, prompt):
    ids = torch.randint(61, (prompt,), generator=noise(prompt))
    ours = generate(tiny, ids, 31, cached=cached)
    assert ours.tolist() == by_hand(tiny, ids.tolist(), 31)


def test_greedy_tokens_are_those_of_transformers(tiny):
    from transformers import GPT2LMHeadModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    theirs = GPT2LMHeadModel.from_pretrained(TINY, dtype=torch.float64).eval()
    for seed in range(5):
        prompt = torch.randint(60, (3, 5), generator=noise(seed))
        expected = theirs.generate(
            prompt, attention_mask=torch.ones_like(prompt), do_sample=False, pad_token_id=0,
            max_length=LONGEST, eos_token_id=None,
        )  # fmt: skip
        assert torch.equal(generate(tiny, prompt, LONGEST - 5), expected)


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 1e-5), ("float64", 1e-12)])
def test_logits_with_the_cache_are_those_of_reading_all_anew(tiny, monkeypatch, dtype, bound):
    model, forward, seen = load_gpt2(TINY).to(getattr(torch, dtype)), GPT2.forward, []

    def watched(self, ids, **how):
        seen.append(forward(self, ids, **how))
        return seen[-1]

    monkeypatch.setattr(GPT2, "forward", watched)
    for cached in (True, False):
        generate(model, IDS[:2, :7], 40, cached=cached)  # beyond the window, twice
    ours, all_anew = torch.cat([output.logits for output in seen], dim=1).split(40, dim=1)
    assert ours.shape == (2, 40, 61)
    assert (ours - all_anew).abs().max() <= bound * all_anew.abs().max()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_seed_gives_the_same_text_with_and_without_the_cache(seed, dtype):
    model = load_gpt2(TINY).to(dtype)
    how = {"temperature": 1.3, "top_k": 40, "top_p": 0.95, "seed": seed}
    with_cache = generate(model, IDS[:, :7], 40, **how)
    assert torch.equal(with_cache, generate(model, IDS[:, :7], 40, **how, cached=False))
    assert not torch.equal(with_cache, generate(model, IDS[:, :7], 40, **how | {"seed": seed + 1}))


def test_global_noise_is_neither_used_nor_disturbed(tiny):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first = generate(tiny, IDS[0, :7], 11, temperature=1.0)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(4)
    assert torch.equal(first, generate(tiny, IDS[0, :7], 11, temperature=1.0))


def test_greedy_text_may_be_continued_where_it_was_left(tiny):
    at_once = generate(tiny, IDS[0, :7], 50)
    assert torch.equal(at_once, generate(tiny, generate(tiny, IDS[0, :7], 30), 20))


def test_a_batch_is_its_prompts_one_by_one(tiny):
    whole = generate(tiny, IDS[:, :7], 30)
    assert whole.shape == (3, 37)
    for i in range(3):
        assert torch.equal(whole[i], generate(tiny, IDS[i, :7], 30))


def test_only_what_is_new_is_read_until_the_window_is_full(tiny, monkeypatch):
    read, forward = [], GPT2.forward

    def watched(self, ids, **how):
        read.append(ids.shape[-1])
        return forward(self, ids, **how)

    monkeypatch.setattr(GPT2, "forward", watched)
    generate(tiny, IDS[0, :20], 17)
    # 20 are read at once; when a 24th would be, the oldest 11 go and 13 are read again, and so on.
    assert read == [20, 1, 1, 1, 13, *[1] * 10, 13, 1]
    read.clear()
    generate(tiny, IDS[0, :20], 6, cached=False)
    assert read == [20, 21, 22, 23, 13, 14]


def test_a_stop_token_comes_last_and_the_others_go_on(tiny):
    free = generate(tiny, IDS[:, :7], 15)
    stop = free[0, 11].item()
    first = free[0, 7:].tolist().index(stop)
    alone = list(stream(tiny, IDS[0, :7], 15, stop=[stop]))
    assert [token.item() for token in alone] == free[0, 7 : 8 + first].tolist()
    together = generate(tiny, IDS[:, :7], 15, stop={stop})
    for ours, expected in zip(together, free, strict=True):
        new, free_tokens = ours[7:].tolist(), expected[7:].tolist()
        end = free_tokens.index(stop) if stop in free_tokens else 15
        assert new[: end + 1] == free_tokens[: end + 1][: len(new)]
        assert set(new[end:]) <= {stop}


def test_all_prompts_at_a_stop_end_the_text(tiny):
    first = {token.item() for token in generate(tiny, IDS[:, :7], 1)[:, -1]}
    assert generate(tiny, IDS[:, :7], 15, stop=first).shape == (3, 8)


def test_tokens_are_yielded_as_they_come(tiny):
    tokens = stream(tiny, IDS[0, :7], 10**9)
    first = [next(tokens).item() for _ in range(3)]
    assert first == generate(tiny, IDS[0, :7], 3)[7:].tolist()
    assert not torch.is_inference_mode_enabled()  # between two tokens the reader may train
    assert not next(tokens).is_inference()


def test_the_model_runs_without_keeping_anything_for_gradients(tiny, monkeypatch):
    forward, modes = GPT2.forward, []

    def watched(self, ids, **how):
        modes.append(torch.is_inference_mode_enabled())
        return forward(self, ids, **how)

    monkeypatch.setattr(GPT2, "forward", watched)
    assert not generate(tiny, IDS[0, :7], 3).requires_grad
    assert modes == [True] * 3
    assert all(parameter.grad is None for parameter in tiny.parameters())


def test_no_token_asked_is_no_token_added(tiny):
    assert torch.equal(generate(tiny, IDS, 0), IDS)


def test_the_smallest_windows_work():
    for longest in (1, 2, 3):
        torch.manual_seed(0)
        model = GPT2(
            Config(vocab_size=13, context_length=longest, d_model=6, heads=3, layers=1)
        ).double()
        ids = torch.tensor([3, 5, 7, 11])
        both = [generate(model, ids, 9, cached=cached) for cached in (True, False)]
        assert torch.equal(*both)
        assert both[0].shape == (13,)


def test_what_cannot_be_read_is_refused_with_what_to_do(tiny):
    for ids, message in (
        (torch.zeros(0, dtype=torch.long), "at least one token. .* for GPT-2 is 50256"),
        (torch.tensor([3, 61]), "from 0 to 60; the prompt holds 3 to 61. Encode it"),
        (torch.tensor([-1]), "holds -1 to -1"),
    ):
        with pytest.raises(ValueError, match=message):
            generate(tiny, ids, 3)
    with pytest.raises(ValueError, match=r"at least 0; got -1"):
        generate(tiny, IDS, -1)
    with pytest.raises(ValueError, match=r"None to keep all"):
        generate(tiny, IDS, 3, temperature=1.0, top_k=0)


@pytest.mark.parametrize("ids", [[3, 5], "so", IDS.float(), IDS > 3, IDS[0, 0]], ids=repr)
def test_what_is_no_tensor_of_ids_is_refused_by_saying_what_came(tiny, ids, bare_calls):
    with pytest.raises(TypeError, match=r"integer tensor of shape .* got (a list|a str|torch\.)"):
        generate(tiny, ids, 3)


@pytest.mark.parametrize("stop", [5, ".", [0.5]])
def test_what_is_no_collection_of_stop_ids_is_refused(tiny, stop, bare_calls):
    with pytest.raises(TypeError, match=r"collection of token ids, such as \[50256\]; got "):
        generate(tiny, IDS, 3, stop=stop)


@pytest.mark.parametrize("wrong", [{"top_p": 0.9}, {"temperature": -1.0}, {"topp": 0.9}], ids=str)
def test_a_wrong_choice_is_refused_before_the_first_token_is_asked_for(tiny, wrong):
    with pytest.raises((ValueError, TypeError)):
        stream(tiny, IDS, 3, **wrong)


def test_a_model_that_drops_numbers_is_refused():
    torch.manual_seed(0)
    model = GPT2(replace(Config(13, 7, 6, 3, 1), dropout=0.1))
    with pytest.raises(ValueError, match=r"dropout is active. Call model.eval\(\) first"):
        generate(model, torch.tensor([3]), 3)
    generate(model.eval(), torch.tensor([3]), 3)


# On the screen.


class Bytes:
    """A tokeniser of bytes: a euro sign is three tokens, none of them a character by itself."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode(errors="replace")


class Screen(io.StringIO):
    """What was printed, piece by piece."""

    def __init__(self):
        super().__init__()
        self.pieces = []

    def write(self, text: str) -> int:
        self.pieces += [text] if text else []
        return super().write(text)


class Says(GPT2):
    """A model of bytes that says what it is told to say."""

    def __init__(self, text: bytes):
        super().__init__(Config(vocab_size=256, context_length=64, d_model=6, heads=3, layers=1))
        self.text = list(text)
        self.eval()

    def forward(self, ids, **how):
        predicted = super().forward(ids, **how)
        logits = torch.zeros_like(predicted.logits)
        logits[..., self.text.pop(0)] = 1.0
        return predicted._replace(logits=logits)


class Streams(Bytes):
    """The same, which decodes a whole text once only: new ids it decodes as they come."""

    def __init__(self):
        self.decoded = 0
        self.stream = BytePair([]).stream

    def decode(self, ids: list[int]) -> str:
        self.decoded += 1
        assert self.decoded == 1
        return super().decode(ids)


def said(text: bytes, **how) -> tuple[str, list[str]]:
    both = []
    for tokenizer in (Bytes(), Streams()):
        screen = Screen()
        written = write(Says(text), tokenizer, "so: ", len(text), file=screen, **how)
        both.append((written, screen.pieces))
    assert both[0] == both[1]
    return both[0]


def test_nothing_is_printed_before_all_is_known_to_be_right(tiny, bare_calls):
    screen = Screen()
    for wrong, how in (("so: ", {}), ("\3", {"top_p": 0.9}), ("\3", {"stop": 5})):
        with pytest.raises((ValueError, TypeError)):
            write(tiny, Bytes(), wrong, 3, file=screen, **how)
    assert screen.pieces == []
    assert write(tiny, Bytes(), "\3", 1, file=screen) == screen.getvalue()


def test_text_appears_as_it_comes_and_characters_when_they_are_whole():
    assert said("3 € ¡".encode()) == ("so: 3 € ¡", ["so: ", "3", " ", "€", " ", "¡"])


def test_what_never_becomes_a_character_is_shown_at_the_end():
    assert said(b"a\xe2\x82") == ("so: a�", ["so: ", "a", "�"])
    assert said(b"a\xe2b") == ("so: a�b", ["so: ", "a", "�b"])


def test_a_stop_token_is_not_shown():
    assert said(b"ab.cd", stop=[ord(".")]) == ("so: ab", ["so: ", "a", "b"])


def test_words_get_their_spaces(capsys):
    torch.manual_seed(0)
    words = WordTokenizer(["attention", "is", "all", "you", "need"])
    model = GPT2(
        Config(vocab_size=len(words), context_length=7, d_model=6, heads=3, layers=1)
    ).eval()
    text = write(model, words, "attention is", 9)
    assert capsys.readouterr().out == text
    assert text.startswith("attention is ")
    assert len(text.split()) == 11
