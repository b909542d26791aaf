"""One step of training: a GPT-2 of 0.8 million parameters, ours and the peers'.

A step is sampling windows, forward, loss, backward, clipping and AdamW. Ours is
`lib.training.loop.train`; the peers' is the loop that their users write, with the fused AdamW.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.measuring import Section, Setting, contest
from benchmarks.peers.joint_gpt import JointGPT
from lib.datasets.stories import split
from lib.pretrained.gpt2 import load_gpt2
from lib.text.tokenizers import BytePair
from lib.training.loop import train
from lib.training.optimizers import Recipe, param_groups, set_learning_rates
from lib.training.windows import Corpus

OURS, JOINT = "ours", "joint-projection GPT"
RECIPE = Recipe(steps=100_000, optimizer="adamw", learning_rate=1e-3, warmup_steps=0,
                min_lr_ratio=1.0)  # fmt: skip
WARM = 4  # steps whose losses are compared, and which are not timed
ALLOWED = 1e-4  # nats between the losses


class Logits(nn.Module):
    """A transformers model as a function from ids to logits."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits alone."""
        return self.model(ids, use_cache=False).logits


def steps_of_a_peer(model: nn.Module, corpus: Corpus) -> Iterator[float]:
    """The same steps on the same windows, as the users of a peer write them."""
    groups = param_groups(list(model.parameters()), RECIPE.weight_decay)
    adamw = AdamW(groups, lr=RECIPE.learning_rate, betas=RECIPE.betas, fused=True)
    for step in range(RECIPE.steps):
        ids, targets = corpus.draw(RECIPE, step)
        loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), RECIPE.grad_clip)
        set_learning_rates([adamw], RECIPE, step)
        adamw.step()
        adamw.zero_grad()
        yield loss.item()


def contestants(folder: Path, vocab_size: int, corpus: Corpus) -> dict[str, Iterator[float]]:
    """Ours and the peers, each with its own copy of the same parameters."""
    saved = folder / "training"
    torch.manual_seed(0)
    GPT2LMHeadModel(GPT2Config(
        vocab_size=vocab_size, n_positions=RECIPE.context, n_embd=128, n_layer=4, n_head=4,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None,
    )).save_pretrained(saved)  # fmt: skip

    def theirs() -> GPT2LMHeadModel:
        return GPT2LMHeadModel.from_pretrained(
            saved, activation_function="gelu_pytorch_tanh", attn_implementation="sdpa"
        ).train()

    peers = {
        JOINT: JointGPT.from_transformers(theirs()),
        f"{JOINT}, compiled": torch.compile(JointGPT.from_transformers(theirs())),
        "transformers": Logits(theirs()),
        "transformers, compiled": torch.compile(Logits(theirs())),
    }
    records = train(load_gpt2(saved), corpus, RECIPE, every=RECIPE.steps)
    return {OURS: (record.loss for record in records)} | {
        name: steps_of_a_peer(model, corpus) for name, model in peers.items()
    }


def measure(setting: Setting) -> Section:
    """Compare the losses of the first steps, then time the next ones in turn."""
    section = Section()
    stories, _ = split(300, 20)
    text = "".join(story.text for story in stories)
    tokenizer = BytePair.train(text, 400)
    corpus = Corpus.read(text, tokenizer)
    running = contestants(Path(setting.folder), len(tokenizer), corpus)
    for _ in range(WARM):
        losses = {name: next(steps) for name, steps in running.items()}
        for name, loss in losses.items():
            assert abs(loss - losses[OURS]) < ALLOWED, f"{name} takes other steps: {losses}"
    calls = {name: partial(next, steps) for name, steps in running.items()}
    what = "One step of training, 0.8 million parameters"
    section.rows = contest(what, calls, setting, ours=OURS, budget=45, least=20)
    return section
