"""Our byte-pair tokeniser against `tokenizers` and tiktoken, cold, side by side in one run.

    python benchmarks/tokenisers.py

Each round times the three in turn, each on an object made for that round, so that none can have
kept anything. Before that, their ids are compared. Printed are the medians of the seconds and of
the ratios ours / theirs, with their quartiles: below 1 we are faster.

The first text is 1.5 million characters, nothing twice: the course's own pages, then the modules
of Python's standard library in the order of their names. The second is harder, for little in it
repeats: the messages of Sphinx in its 60 and more languages, from Arabic to Chinese.
"""

import gettext
import importlib.util
import os
import platform
import statistics
import sysconfig
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import tiktoken
import tokenizers
from tiktoken.load import data_gym_to_mergeable_bpe_ranks
from tiktoken_ext.openai_public import r50k_pat_str
from tokenizers import ByteLevelBPETokenizer

from lib.text.byte_pairs import PACKAGE
from lib.text.tokenizers import END_OF_TEXT, BytePair

COURSE = Path(__file__).resolve().parents[1]
CHARACTERS = 1_500_000


def folder_of(package: str) -> Path:
    return Path(importlib.util.find_spec(package).submodule_search_locations[0])


def pages_and_modules() -> str:
    library = Path(sysconfig.get_path("stdlib"))
    pages = [
        page for place in (".", "chapters", "exercises") for page in COURSE.glob(f"{place}/*.md")
    ]
    modules = (path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    files = [
        *sorted(pages),
        *sorted(modules, key=lambda path: path.relative_to(library).as_posix()),
    ]
    return "".join(islice((c for file in files for c in text_of(file)), CHARACTERS))


def text_of(file: Path) -> str:
    return file.read_text("utf8", errors="replace")


def messages() -> str:
    found = []
    for file in sorted(folder_of("sphinx").glob("locale/*/LC_MESSAGES/sphinx.mo")):
        with file.open("rb") as stream:
            catalogue = gettext.GNUTranslations(stream)._catalog
        found += [translated for message, translated in catalogue.items() if message]
    return "\n".join(dict.fromkeys(found))


def ours() -> Callable[[str], list[int]]:
    return BytePair.gpt2().encode


def hugging_face() -> Callable[[str], list[int]]:
    data = folder_of(PACKAGE) / "data"
    tokenizer = ByteLevelBPETokenizer(str(data / "encoder.json"), str(data / "vocab.bpe"))
    return lambda text: tokenizer.encode(text).ids


def open_ai() -> Callable[[str], list[int]]:
    os.environ["TIKTOKEN_CACHE_DIR"] = ""  # else it keeps copies of the files elsewhere
    data = folder_of(PACKAGE) / "data"
    ranks = data_gym_to_mergeable_bpe_ranks(str(data / "vocab.bpe"), str(data / "encoder.json"))
    encoding = tiktoken.Encoding(
        "gpt2", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={END_OF_TEXT: 50256}
    )
    return encoding.encode_ordinary


def seconds(make: Callable, text: str) -> float:
    encode = make()
    start = time.perf_counter()
    encode(text)
    return time.perf_counter() - start


def compare(name: str, text: str, rounds: int = 15) -> None:
    """Print one table; the first round, which warms the processor, is not counted."""
    peers = {f"tokenizers {tokenizers.__version__}": hugging_face,
             f"tiktoken {tiktoken.__version__}": open_ai}  # fmt: skip
    expected = ours()(text)
    for peer, make in peers.items():
        assert make()(text) == expected, f"{peer} has other ids"
    times = {each: [] for each in ("ours", *peers)}
    for _ in range(rounds):
        for each, make in {"ours": ours, **peers}.items():
            times[each].append(seconds(make, text))
    print(f"{name}: {len(text):,} characters, {len(expected):,} ids, the same from all three")
    print(f"  {'ours':28} {statistics.median(times['ours'][1:]):.3f} s")
    for peer in peers:
        ratios = [a / b for a, b in zip(times["ours"][1:], times[peer][1:], strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"  {peer:28} {statistics.median(times[peer][1:]):.3f} s"
              f"   ours / theirs {middle:5.2f}  ({low:.2f} to {high:.2f})")  # fmt: skip


def main() -> None:
    print(f"Python {platform.python_version()}, {platform.machine()}")
    compare("Pages and modules", pages_and_modules())
    compare("Messages in many languages", messages())


if __name__ == "__main__":
    main()
