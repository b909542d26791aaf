"""Our byte-pair tokenizer against tokenizers and tiktoken, cold: on a new object for each call.

The first text is 1.5 million characters, nothing twice: the course's own pages, then the modules
of Python's standard library in the order of their names. The second is harder, because little in
it repeats: the messages of Sphinx in its 60 and more languages, from Arabic to Chinese.
"""

import importlib.util
import os
import sysconfig
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

import tiktoken
from babel.messages.mofile import read_mo
from tiktoken.load import data_gym_to_mergeable_bpe_ranks
from tiktoken_ext.openai_public import r50k_pat_str
from tokenizers import Tokenizer, models, pre_tokenizers

from benchmarks.measuring import Section, Setting, in_turn, rows
from lib.text.byte_pairs import PACKAGE
from lib.text.tokenizers import END_OF_TEXT, BytePair

COURSE = Path(__file__).resolve().parents[2]
CHARACTERS = 1_500_000
Encode = Callable[[str], list[int]]


def folder_of(package: str) -> Path:
    """Where a package is installed."""
    return Path(importlib.util.find_spec(package).submodule_search_locations[0])


def pages_and_modules() -> str:
    """The course's pages and Python's modules, to the exact length."""
    library = Path(sysconfig.get_path("stdlib"))
    pages = [page for place in (".", "chapters", "exercises", "appendix")
             for page in COURSE.glob(f"{place}/*.md")]  # fmt: skip
    modules = (path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    by_name = sorted(modules, key=lambda path: path.relative_to(library).as_posix())
    texts = (path.read_text("utf8", errors="replace") for path in (*sorted(pages), *by_name))
    return "".join(islice((character for text in texts for character in text), CHARACTERS))


def messages() -> str:
    """Sphinx's translations, each once."""
    translations = []
    for file in sorted(folder_of("sphinx").glob("locale/*/LC_MESSAGES/sphinx.mo")):
        with file.open("rb") as stream:
            for message in read_mo(stream):
                texts = [message.string] if isinstance(message.string, str) else message.string
                translations += texts if message.id else []
    return "\n".join(dict.fromkeys(translations))


def ours() -> Encode:
    """The course's encoder."""
    return BytePair.gpt2().encode


def hugging_face() -> Encode:
    """The ids alone: encode_batch_fast computes no offsets."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    data = folder_of(PACKAGE) / "data"
    pairs = models.BPE.from_file(str(data / "encoder.json"), str(data / "vocab.bpe"))
    tokenizer = Tokenizer(pairs)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return lambda text: tokenizer.encode_batch_fast([text])[0].ids


def open_ai() -> Encode:
    """The encoder of GPT-2's authors."""
    os.environ["TIKTOKEN_CACHE_DIR"] = ""  # else it keeps copies of the files elsewhere
    data = folder_of(PACKAGE) / "data"
    ranks = data_gym_to_mergeable_bpe_ranks(str(data / "vocab.bpe"), str(data / "encoder.json"))
    encoding = tiktoken.Encoding(
        "gpt2", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={END_OF_TEXT: 50256}
    )
    return encoding.encode_ordinary


def measure(setting: Setting) -> Section:
    """Both texts; the ids must be the same."""
    section = Section()
    makers = {"ours": ours, "tokenizers": hugging_face, "tiktoken": open_ai}
    texts = {"pages and modules": pages_and_modules(), "messages in many languages": messages()}
    for name, text in texts.items():
        text = text[:50_000] if setting.small else text
        exact = ours()(text)
        assert all(make()(text) == exact for make in makers.values()), "the ids differ"
        calls = {peer: partial(cold, make, text, setting) for peer, make in makers.items()}
        what = f"Byte pairs, {name}, {len(text):,} characters"
        section.rows += rows(what, in_turn(calls, setting.seconds(20)), "ours")
    return section


def cold(make: Callable[[], Encode], text: str, setting: Setting) -> float:
    """The seconds of a call on a new object, which cannot have kept anything."""
    encode = make()
    return setting.timed(partial(encode, text))()
