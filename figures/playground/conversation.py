"""Talk to SmolLM2: complete a text or chat, look at any head, and take heads out."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from html import escape
from itertools import takewhile
from threading import Event, Thread
from typing import Any

import torch
from ipywidgets import (
    HTML,
    BoundedFloatText,
    BoundedIntText,
    Button,
    IntProgress,
    Layout,
    Text,
)

from figures.playground import SHORT, WIDE, Playground
from figures.playground import language_model as lm
from figures.playground.looking import Looking
from figures.playground.prompt import TextStream
from lib.models.generation import stream
from lib.pretrained import smollm2

NO_MODEL = "There is no model yet: press Load SmolLM2."
SPEAKERS = {"user": "You", "assistant": "SmolLM2"}


class OwnConversation(Playground):
    """A text that the model completes, or a chat; each token is a button that shows its heads.

    The model generates in a thread of its own, so that the notebook stays free and Stop works.
    """

    yours = "a text or a question of your own to SmolLM2"

    def __init__(
        self,
        language_model: smollm2.LanguageModel | None = None,
        prompt: str = "The capital of France is",
        *,
        layer: int = 26,
        head: int = 0,
    ):
        self.model = self.tokenizer = None
        self.messages, self.given, self.answer = [], "", ""
        self.busy, self.stopped, self.worker = False, Event(), None
        self.chosen = layer, head
        self.text, self.before, self.looking = HTML(), HTML(), Looking()
        super().__init__(self.controls(prompt), [self.before, self.text, self.looking])
        if language_model:
            self.adopt(language_model)
        else:
            self.say(NO_MODEL)

    def controls(self, prompt: str) -> list[list[Any]]:
        """Make the fields and the buttons, in rows."""
        self.load = self.button("Load SmolLM2", self.fetch)
        self.bar = IntProgress(0, max=2, description="loading", layout=Layout(display="none"))
        whole = WIDE | {"layout": Layout(width="100%")}
        self.prompt = Text(prompt, description="text", continuous_update=False, **whole)
        self.complete = self.button("Complete the text", partial(self.ask, "complete"))
        self.send = self.button("Send as chat", partial(self.ask, "chat"))
        self.again = self.button("Answer again", partial(self.ask, "again"))
        self.new = self.button("New chat", self.forget)
        self.stop = self.button("Stop", self.stopped.set)
        self.stop.disabled = True
        self.temperature = BoundedFloatText(0, max=2, step=0.1, description="temperature", **SHORT)
        self.top_k = BoundedIntText(0, max=1000, description="top-k (0: all)", **SHORT)
        self.top_p = BoundedFloatText(
            1, min=0.01, max=1, step=0.05, description="top-p (1: all)", **SHORT
        )
        self.seed = BoundedIntText(0, max=9999, description="seed", **SHORT)
        self.count = BoundedIntText(40, min=1, max=200, description="new tokens", **SHORT)
        self.heads_out = Text(
            "", description="heads out", placeholder="L26H0, L18H6", continuous_update=False, **WIDE
        )
        self.heads_out.observe(lambda _: self.start(self.look), "value")
        buttons = [self.complete, self.send, self.again, self.new, self.stop]
        knobs = [self.temperature, self.top_k, self.top_p, self.seed, self.count]
        return [[self.load, self.bar], [self.prompt], buttons, knobs, [self.heads_out]]

    def button(self, name: str, action: Callable[[], Any]) -> Button:
        """Make a button that calls an action without arguments."""
        button = Button(description=name)
        button.on_click(lambda _: action())
        return button

    def still(self) -> str:
        """What the model answered last, and the tables of the chosen token."""
        return self.text.value + self.looking.attention.value + self.looking.next.value

    def adopt(self, language_model: smollm2.LanguageModel) -> None:
        """Take a loaded model, and read the prompt with it."""
        self.model, self.tokenizer = language_model
        self.looking.fit(self.model.config.layers, self.model.config.heads, self.chosen)
        self.load.layout.display = "none"
        try:
            ids = self.ids([])
            TextStream(self.text, self.prompt.value).write(self.prompt.value)
            self.look(ids)
        except ValueError as error:
            self.say(str(error))

    def fetch(self) -> None:
        """Load the model in a thread, with a progress bar; or say what is missing."""
        self.start(self._fetch)

    def _fetch(self) -> None:
        self.bar.value, self.bar.layout.display = 0, ""
        try:
            self.say("Checking the file of SmolLM2; the first time it is converted too ...")
            smollm2.prepared()
            self.bar.value = 1
            self.say("Reading the weights ...")
            language_model = smollm2.load_smollm2()
            self.bar.value = 2
            self.say("")
            self.adopt(language_model)
        finally:
            self.bar.layout.display = "none"

    def forget(self) -> None:
        """Begin a new chat; ask the model to stop if it is answering."""
        self.stopped.set()
        self.messages, self.given, self.answer = [], "", ""
        self.text.value = self.before.value = ""

    def ask(self, kind: str) -> None:
        """Complete the text, send it as a message of a chat, or answer the last one again."""
        messages = [] if kind == "complete" else list(self.messages)
        if kind == "chat":
            messages.append({"role": "user", "content": self.prompt.value})
        elif messages and messages[-1]["role"] == "assistant":
            messages.pop()
        self.start(self.generate, messages)

    def ids(self, messages: list[dict[str, str]]) -> list[int]:
        """Encode the prompt or the chat, so that the new tokens fit too."""
        if self.model is None:
            raise ValueError(NO_MODEL)
        room = min(lm.ROOM, self.model.config.context_length) - self.count.value
        return lm.prompt_ids(self.tokenizer, self.prompt.value, messages, room)

    def generate(self, messages: list[dict[str, str]]) -> None:
        """Write the answer token by token, until it ends or the reader stops it."""
        ids, new, ends = self.ids(messages), [], lm.stops(self.tokenizer)
        heads = lm.heads_of(self.heads_out.value, self.model.config)
        model = lm.HeadsOut(self.model, heads)
        hot = self.temperature.value
        # At temperature 0 the most likely token is taken, whatever top-k and top-p keep.
        filters = {"top_k": self.top_k.value or None, "top_p": self.top_p.value} if hot else {}
        prompt = torch.tensor(ids, device=self.model.device)
        sampled = stream(
            model, prompt, self.count.value, stop=ends, seed=self.seed.value, temperature=hot,
            **filters,
        )  # fmt: skip
        self.messages = messages
        given = transcript(messages) if messages else self.prompt.value
        before = self.answer if given == self.given else ""  # an answer to the same text
        self.before.value = f"<p>Before: {escape(before)}</p>" if before else ""
        self.given = given
        written = TextStream(self.text, given)
        written.write(given)
        wanted = takewhile(lambda i: not self.stopped.is_set() and i not in ends, map(int, sampled))
        for piece in self.tokenizer.stream(kept(wanted, new)):
            written.write(piece)
        self.answer = written.text[len(given) :]
        if messages and self.messages is messages:  # no new chat was begun meanwhile
            self.messages = [*messages, {"role": "assistant", "content": self.answer}]
        self.look(ids + new)

    def look(self, ids: list[int] | None = None) -> None:
        """Read the ids, or the text on the page, with the chosen heads out, and show the tokens."""
        if self.model is None:
            raise ValueError(NO_MODEL)
        heads = lm.heads_of(self.heads_out.value, self.model.config)
        if ids is None:
            ids = self.looking.reading.ids if self.looking.reading else self.ids([])
        self.looking.show(lm.read_heads(self.model, ids, heads), self.tokenizer, heads)

    def start(self, work: Callable[..., None], *values: Any) -> None:
        """Run one piece of work at a time in a thread, so that the notebook stays free."""
        if self.busy:
            self.say("The model is working: press Stop, or wait.")
            return
        self.stopped.clear()
        self.say("")
        self.occupy(True)
        self.worker = Thread(target=self.run, args=(work, *values), daemon=True)
        self.worker.start()

    def run(self, work: Callable[..., None], *values: Any) -> None:
        """Do the work, and say what went wrong in a sentence."""
        try:
            work(*values)
        except (ValueError, OSError) as error:
            self.say(str(error))
        finally:
            self.occupy(False)

    def occupy(self, busy: bool) -> None:
        """Switch the buttons that start work off or on; Stop is the opposite."""
        self.busy, self.stop.disabled = busy, not busy
        for button in (self.load, self.complete, self.send, self.again):
            button.disabled = busy


def transcript(messages: list[dict[str, str]]) -> str:
    """Write a chat as text, ending where the model answers."""
    turns = [f"{SPEAKERS[message['role']]}: {message['content']}\n" for message in messages]
    return "".join(turns) + f"{SPEAKERS['assistant']}: "


def kept(ids: Iterable[int], new: list[int]) -> Iterator[int]:
    """Pass ids on, and keep them in `new`."""
    for i in ids:
        new.append(i)
        yield i
