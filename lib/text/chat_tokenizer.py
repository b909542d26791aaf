"""The tokenizer of a published language model: the merges of its file and its chat template."""

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

import regex
from jinja2.sandbox import ImmutableSandboxedEnvironment

from lib.text import byte_pairs
from lib.text.tokenizers import CHUNK, BytePair

# SmolLM2 splits off every digit first, so that 1234 is four tokens and never one.
DIGITS = regex.compile(r"\p{N}|\P{N}+")
NUMBER = regex.compile(r"\p{N}")
# Each byte is written as a printable letter, the space as Ġ: as in GPT-2's own file.
LETTERS = byte_pairs.SHOWN.decode("latin-1") + "".join(map(chr, range(256, 324)))
BYTE_OF = dict(zip(LETTERS, byte_pairs.GPT2_BYTES, strict=True))


class ChatTokenizer(BytePair):
    """Byte-pair encoding with the ids of a published file, and the template of its chats.

    The ids are those of the file, in any order. A byte that the file does not know, which no common
    text contains, is left out, as the reference does.

    Source: the tokenizer.json of SmolLM2 (Allal et al. 2025), in the format of `tokenizers`.
    Taught in: chapter 18.
    Raises: ValueError for a file that describes a different kind of tokenizer.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Iterable[tuple[str, str]],
        *,
        special: Mapping[str, int],
        template: str = "",
    ):
        self.special, self.template = dict(special), template
        known = {text: i for text, i in vocabulary.items() if text not in self.special}
        self.vocabulary = [b""] * (1 + max(chain(known.values(), self.special.values())))
        for text, i in known.items():
            self.vocabulary[i] = bytes(BYTE_OF[letter] for letter in text)
        for text, i in self.special.items():
            self.vocabulary[i] = text.encode()
        pairs = [(known[left], known[right], known[left + right]) for left, right in merges]
        self.becomes = {(left, right): new for left, right, new in pairs}
        news = [new for *_, new in pairs]
        if news != sorted(news):
            raise ValueError(
                "The ids of merged tokens must ascend in the order of the merges, as in SmolLM2; "
                "this file's do not, so this tokenizer cannot read it."
            )
        ids = {BYTE_OF[letter]: known[letter] for letter in LETTERS if letter in known}
        self._missing = bytes(byte for byte in range(256) if byte not in ids)
        self._id_of_byte = [ids.get(byte, 0) for byte in range(256)]

    @classmethod
    def load(cls, folder: str | Path) -> "ChatTokenizer":
        """Read tokenizer.json, and the chat template in tokenizer_config.json if there is one.

        Raises: FileNotFoundError without the file, ValueError for a different kind of tokenizer.
        """
        path = Path(folder) / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no tokenizer.json in {path.parent}. Save the tokenizer with "
                "transformers' save_pretrained, which writes it."
            )
        stored = json.loads(path.read_text("utf8"))
        steps = [step["type"] for step in stored["pre_tokenizer"].get("pretokenizers", ())]
        if stored["model"]["type"] != "BPE" or steps != ["Digits", "ByteLevel"]:
            raise ValueError(
                "The tokenizer must be a BPE after the steps Digits and ByteLevel, as SmolLM2's; "
                f"got {stored['model']['type']} after {', '.join(steps) or 'other steps'}."
            )
        config = path.with_name("tokenizer_config.json")
        settings = json.loads(config.read_text("utf8")) if config.is_file() else {}
        merges = [
            tuple(pair if isinstance(pair, list) else pair.split(" "))
            for pair in stored["model"]["merges"]
        ]
        return cls(
            stored["model"]["vocab"],
            merges,
            special={token["content"]: token["id"] for token in stored["added_tokens"]},
            template=settings.get("chat_template", ""),
        )

    def _encode_plain(self, text: str) -> list[int]:
        parts = DIGITS.findall(text)
        chunks = chain.from_iterable(
            [part] if NUMBER.match(part) else CHUNK.findall(part) for part in parts
        )
        return list(chain.from_iterable(map(self._encode_chunk, chunks)))

    def _encode_chunk(self, chunk: str) -> list[int]:
        known = chunk.encode().translate(None, self._missing)
        return byte_pairs.join([self._id_of_byte[byte] for byte in known], self.becomes)

    def chat(self, messages: Iterable[Mapping[str, str]], *, answer: bool = True) -> list[int]:
        """Return the ids of a conversation: a list of {"role": ..., "content": ...}.

        With `answer`, the assistant's next turn is opened, so that the model writes it.

        Raises: ValueError without a template, or for a message without role or content.
        """
        if not self.template:
            raise ValueError("This tokenizer has no chat template: its model only continues texts.")
        messages = list(messages)
        for message in messages:
            if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
                raise ValueError(
                    'A message must be {"role": "user", "content": "..."}, with the role system, '
                    f"user or assistant; got {message!r}."
                )
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        text = environment.from_string(self.template).render(
            messages=messages, add_generation_prompt=answer
        )
        return self.encode(text, special=True)
