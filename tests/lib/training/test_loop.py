"""Training: the schedule, the decay, Muon, parts, processes, checkpoints and the command."""

import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lib.datasets.stories import split, surprisals
from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.text.tokenizers import BytePair
from lib.training import __main__, checkpoints, options
from lib.training.loop import train
from lib.training.optimizers import (
    Muon,
    Recipe,
    build_optimizers,
    learning_rate,
    orthogonalize,
    param_groups,
    set_learning_rates,
)
from lib.training.resumable import gradients, train_resumable
from lib.training.windows import Corpus, evaluate, token_losses

ROOT = Path(__file__).resolve().parents[3]
TINY = Recipe(steps=7, batch=6, context=29, warmup_steps=2)
ADAMW = replace(TINY, optimizer="adamw")


@pytest.fixture(scope="module")
def tokenizer() -> BytePair:
    return BytePair.train("".join(story.text for story in split(100, 1)[0]), 400)


@pytest.fixture(scope="module")
def corpora(tokenizer) -> list[Corpus]:
    parts = split(100, 23)
    return [Corpus.read("".join(story.text for story in part), tokenizer) for part in parts]


@pytest.fixture
def corpus(corpora) -> Corpus:
    return corpora[0]


def tiny(tokenizer: BytePair, *, seed: int = 0, **sizes) -> GPT2:
    torch.manual_seed(seed)
    sizes = {"context_length": 31, "d_model": 14, "heads": 2, "layers": 2} | sizes
    return GPT2(Config(len(tokenizer), **sizes))


# The rate, the decay, the optimisers.


def test_the_rate_is_that_of_torchs_own_schedulers():
    steps, warmup, peak, floor = 23, 5, 0.7, 0.03

    def rates(kind, count: int, **options) -> list[float]:
        sgd = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=peak)
        schedule, learning_rates = kind(sgd, **options), []
        for _ in range(count):
            learning_rates.append(sgd.param_groups[0]["lr"])
            sgd.step()
            schedule.step()
        return learning_rates

    cosine = torch.optim.lr_scheduler.CosineAnnealingLR
    rise = rates(torch.optim.lr_scheduler.LinearLR, warmup, start_factor=1 / warmup,
                 total_iters=warmup - 1)  # fmt: skip
    fall = rates(cosine, steps - warmup + 1, T_max=steps - warmup, eta_min=floor)
    ours = [learning_rate(step, steps, warmup, peak, floor) for step in range(steps)]
    torch.testing.assert_close(ours, [*rise, *fall[1:]])
    assert ours[warmup - 1] == peak
    assert ours[-1] == pytest.approx(floor)


def test_without_warm_up_and_fall_the_rate_stands_still():
    assert {learning_rate(step, 11, 0, 0.3, 0.3) for step in range(11)} == {0.3}


def test_a_recipe_that_cannot_be_followed_is_refused():
    with pytest.raises(ValueError, match='"adamw" or "muon"; got \'sgd\''):
        Recipe(optimizer="sgd")
    with pytest.raises(ValueError, match="below the number of steps, 7; got 7"):
        Recipe(steps=7, warmup_steps=7)
    with pytest.raises(ValueError, match="`accumulate` must be at least 1; got 0"):
        Recipe(accumulate=0)
    with pytest.raises(ValueError, match="`muon_learning_rate` must be above 0; got nan"):
        Recipe(muon_learning_rate=math.nan)
    with pytest.raises(ValueError, match=r"`min_lr_ratio` must be from 0 to 1, .*got 3\.0"):
        Recipe(min_lr_ratio=3.0)


def test_matrices_decay_and_biases_and_gains_do_not(tokenizer):
    model = tiny(tokenizer)
    decaying, spared = param_groups(list(model.parameters()), 0.3)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert {names[id(parameter)].rsplit(".")[-1] for parameter in decaying["params"]} == {"weight"}
    assert {names[id(parameter)].rsplit(".")[-1] for parameter in spared["params"]} == {
        "gain",
        "bias",
    }
    assert (decaying["weight_decay"], spared["weight_decay"]) == (0.3, 0.0)


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_without_a_gradient_only_decay_changes_a_parameter(tokenizer, optimiser):
    model, recipe = tiny(tokenizer), replace(TINY, optimizer=optimiser, weight_decay=0.3)
    maps = {id(parameter) for parameter in model.layers.parameters() if parameter.ndim == 2}
    before = [parameter.detach().clone() for parameter in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    for trained in build_optimizers(model, recipe):
        trained.step()
    for old, new in zip(before, model.parameters(), strict=True):
        rate = (
            recipe.muon_learning_rate
            if optimiser == "muon" and id(new) in maps
            else recipe.learning_rate
        )
        torch.testing.assert_close(new.detach(), old * (1 - rate * 0.3 * (old.ndim == 2)))


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_each_parameter_has_one_optimiser(tokenizer, optimiser):
    model = tiny(tokenizer)
    trained = build_optimizers(model, replace(TINY, optimizer=optimiser))
    held = [
        id(parameter)
        for each in trained
        for group in each.param_groups
        for parameter in group["params"]
    ]
    assert sorted(held) == sorted(map(id, model.parameters()))


def test_each_optimiser_follows_the_schedule_under_its_own_peak(tokenizer):
    trained = build_optimizers(tiny(tokenizer), TINY)
    for step in range(TINY.steps):
        rate = set_learning_rates(trained, TINY, step)
        learning_rates = [
            {group["lr"] for group in optimizer.param_groups} for optimizer in trained
        ]
        expected = [learning_rate(step, 7, 2, peak, 0.1 * peak) for peak in (3e-3, 2e-2)]
        assert learning_rates == [{rate} for rate in expected]
        assert rate == expected[0]


@pytest.mark.parametrize("shape", [(13, 13), (7, 19), (19, 7)])
def test_orthogonal_keeps_directions_and_brings_singular_values_near_one(shape):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    result = u.T @ orthogonalize(matrix) @ v.T
    assert (result - result.diag().diag()).abs().max() < 1e-6
    # What was within a hundredth of the largest has been lifted.
    assert (s > s.max() / 100).all()
    assert result.diag().min() > 0.6
    assert result.diag().max() < 1.25


def test_muon_is_torchs_own_but_for_bfloat16():
    noise = torch.Generator().manual_seed(2)
    start = torch.randn(23, 11, generator=noise)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    muon = Muon([ours], lr=0.05, weight_decay=0.2)
    other = torch.optim.Muon([theirs], lr=0.05, weight_decay=0.2)
    for _ in range(5):
        ours.grad = torch.randn(23, 11, generator=noise)
        theirs.grad = ours.grad.clone()
        muon.step()
        other.step()
    moved = (ours - start).norm()
    assert (ours - theirs).norm() < 0.02 * moved


# Windows.


def test_a_window_starts_where_a_line_does_and_its_targets_are_one_further_on(corpus, tokenizer):
    ids, targets = corpus.windows(29)
    assert torch.equal(ids[:, 1:], targets[:, :-1])
    text = tokenizer.decode(corpus.ids.tolist())
    for row, line in zip(ids, text.splitlines(), strict=False):
        assert (line + "\n").startswith(tokenizer.decode(row.tolist())[: len(line) + 1])


def test_windows_anywhere_start_at_every_token(tokenizer):
    anywhere = Corpus.read("Ann has a red ball. " * 7, tokenizer, by_line=False)
    assert len(anywhere.windows(11)[0]) == len(anywhere.ids) - 11


def test_a_step_draws_the_same_windows_again_and_another_step_others(corpus):
    first, again = corpus.draw(TINY, 3)[0], corpus.draw(TINY, 3)[0]
    assert torch.equal(first, again)
    assert first.shape == (6, 29)
    assert not torch.equal(first, corpus.draw(TINY, 5)[0])
    assert not torch.equal(first, corpus.draw(replace(TINY, seed=1), 3)[0])


def test_no_text_is_refused(tokenizer):
    with pytest.raises(ValueError, match="got an empty text"):
        Corpus.read("", tokenizer)


def test_a_text_without_a_window_is_refused(tokenizer):
    with pytest.raises(ValueError, match=r"A window of 29 tokens .* the text has \d+"):
        Corpus.read("Ann has a red ball.\n", tokenizer).windows(29)


def test_the_losses_of_tokens_stand_beside_the_grammars_own(corpora, tokenizer):
    held_out = split(100, 23)[1]
    losses = token_losses(tiny(tokenizer), corpora[1], 29, batch=5)
    assert losses.shape == surprisals(held_out, 29).shape
    assert evaluate(tiny(tokenizer), corpora[1], 29, rows=7) == pytest.approx(
        losses[:7].mean().item()
    )


@pytest.mark.parametrize("training", [True, False])
def test_a_text_is_evaluated_without_dropout_and_the_mode_put_back(corpora, tokenizer, training):
    model = tiny(tokenizer, dropout=0.5).train(training)
    once, again = (token_losses(model, corpora[1], 29, rows=3) for _ in range(2))
    assert torch.equal(once, again)
    assert model.training == training


def test_the_floor_cannot_be_passed_by_a_model_that_sees_only_the_past(corpora, tokenizer):
    model = tiny(tokenizer, context_length=29, d_model=32)
    recipe = replace(TINY, steps=60)
    *_, last = train(model, corpora[0], recipe, validation=corpora[1], rows=20)
    assert last.validation > surprisals(split(100, 23)[1], 29, 20).mean()


# The step.


def grads(model: GPT2, corpus: Corpus, recipe: Recipe) -> tuple[float, list[torch.Tensor]]:
    model.zero_grad()
    loss = gradients(model, corpus, recipe, 0)
    return loss, [parameter.grad.clone() for parameter in model.parameters()]


def test_parts_add_up_to_the_gradient_of_the_whole(corpus, tokenizer):
    model = tiny(tokenizer).double()
    ids, targets = corpus.draw(TINY, 0)
    whole = F.cross_entropy(model(ids).logits.flatten(0, 1), targets.flatten())
    expected = torch.autograd.grad(whole, list(model.parameters()))
    for parts in (1, 2, 3, 6):
        loss, gradients = grads(model, corpus, replace(TINY, accumulate=parts))
        assert loss == pytest.approx(whole.item(), rel=1e-6)
        torch.testing.assert_close(gradients, list(expected))


def test_a_batch_that_cannot_be_dealt_is_refused(corpus, tokenizer):
    with pytest.raises(ValueError, match=r"must be a multiple of .*; got 6"):
        gradients(tiny(tokenizer), corpus, replace(TINY, accumulate=4), 0)


def test_a_training_is_the_loop_written_out_with_torchs_own_parts(corpus, tokenizer):
    recipe = replace(ADAMW, grad_clip=0.1, steps=5)
    records = list(train(tiny(tokenizer), corpus, recipe))
    model = tiny(tokenizer)
    spared = [parameter for parameter in model.parameters() if parameter.ndim == 1]
    shrinking = [parameter for parameter in model.parameters() if parameter.ndim == 2]
    adamw = torch.optim.AdamW(
        [{"params": shrinking}, {"params": spared, "weight_decay": 0}],
        lr=recipe.learning_rate, betas=recipe.betas, weight_decay=recipe.weight_decay,
    )  # fmt: skip
    for step, record in enumerate(records):
        ids, targets = corpus.draw(recipe, step)
        loss = F.cross_entropy(model(ids).logits.flatten(0, 1), targets.flatten())
        adamw.zero_grad()
        loss.backward()
        norm = torch.stack([parameter.grad.norm() for parameter in model.parameters()]).norm()
        assert norm > recipe.grad_clip
        for parameter in model.parameters():
            parameter.grad *= recipe.grad_clip / norm
        for group in adamw.param_groups:
            group["lr"] = record.rate
        adamw.step()
        assert record.step == step + 1
        assert record.loss == pytest.approx(loss.item(), abs=1e-5)
        assert record.norm == pytest.approx(norm.item(), rel=1e-4)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_what_can_be_stopped_takes_the_same_steps_as_the_plain_loop(corpora, tokenizer, optimizer):
    recipe = replace(TINY, optimizer=optimizer)
    plain, resumable = (
        list(loop(tiny(tokenizer), corpora[0], recipe, validation=corpora[1], every=3, rows=5))
        for loop in (train, train_resumable)
    )
    assert plain == resumable
    assert [record.validation is not None for record in plain] == [False, False, True] * 2 + [True]


def test_the_plain_loop_refuses_what_it_cannot_do(corpus, tokenizer):
    with pytest.raises(ValueError, match="use train_resumable"):
        next(train(tiny(tokenizer), corpus, replace(TINY, accumulate=2)))


def test_training_begins_near_the_logarithm_of_the_vocabulary_and_learns(corpora, tokenizer):
    model = tiny(tokenizer, d_model=32)
    records = list(train(model, corpora[0], replace(TINY, steps=40), validation=corpora[1]))
    assert records[0].loss == pytest.approx(math.log(len(tokenizer)), abs=0.1)
    assert [record.step for record in records if record.validation is not None] == [25, 40]
    assert records[-1].validation < 4
    assert records[-1].validation == evaluate(model, corpora[1], 29, 64)


def test_between_two_records_the_model_is_in_eval_mode(corpus, tokenizer):
    model = tiny(tokenizer, dropout=0.5)
    for _ in train(model, corpus, TINY):
        assert not model.training


def test_the_readers_own_random_numbers_are_left_alone(corpus, tokenizer):
    model = tiny(tokenizer, dropout=0.2)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    list(train_resumable(model, corpus, TINY))
    assert torch.equal(torch.rand(3), expected)


def test_what_is_dropped_follows_from_the_step_and_the_seed(tokenizer):
    """With one window there is nothing else that could differ."""
    model = tiny(tokenizer, dropout=0.5)
    corpus = Corpus.read("Ann has a red ball. The ball is red.\n" * 2, tokenizer)
    recipe = replace(TINY, context=len(corpus.ids) // 2)
    first, again = (gradients(model, corpus, recipe, 3) for _ in range(2))
    assert first == again
    assert first != gradients(model, corpus, recipe, 5)
    assert first != gradients(model, corpus, replace(recipe, seed=1), 3)


# Checkpoints.


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_a_training_that_stopped_goes_on_to_the_same_losses(
    corpora, tokenizer, tmp_path, optimiser
):
    recipe, path = replace(TINY, optimizer=optimiser, accumulate=2), tmp_path / "run.pt"
    whole = list(train_resumable(tiny(tokenizer, dropout=0.2), corpora[0], recipe, every=2))
    begun = train_resumable(
        tiny(tokenizer, dropout=0.2), corpora[0], recipe, every=2, checkpoint=path
    )
    assert list(islice(begun, 5)) == whole[:5]
    # Another model altogether: all that counts comes from the file, which holds four steps.
    other = tiny(tokenizer, dropout=0.2, seed=3)
    assert list(train_resumable(other, corpora[0], recipe, every=2, checkpoint=path)) == whole[4:]
    assert list(train_resumable(other, corpora[0], recipe, every=2, checkpoint=path)) == []


@pytest.fixture
def saved(corpus, tokenizer, tmp_path) -> Path:
    path = tmp_path / "folder" / "run.pt"
    list(train_resumable(tiny(tokenizer), corpus, TINY, checkpoint=path, tokenizer=tokenizer))
    return path


def test_a_checkpoint_gives_back_the_model_and_its_tokenizer(saved, corpora, tokenizer):
    model, words = checkpoints.load(saved)
    again = tiny(tokenizer)
    list(train_resumable(again, corpora[0], TINY))
    assert not model.training
    assert evaluate(model, corpora[1], 29) == evaluate(again, corpora[1], 29)
    assert words.encode("Ann has two red balls.") == tokenizer.encode("Ann has two red balls.")
    assert words.vocabulary == tokenizer.vocabulary


def test_a_checkpoint_keeps_a_tokenizer_with_another_order_of_bytes(tmp_path):
    backwards = BytePair([(7, 13)], order=bytes(reversed(range(256))), special=["<end>"])
    model = tiny(backwards)
    checkpoints.save(
        tmp_path / "run.pt", model, build_optimizers(model, TINY), TINY, 7, "", backwards
    )
    _, words = checkpoints.load(tmp_path / "run.pt")
    assert words.vocabulary == backwards.vocabulary
    assert words.encode("Ann has a red ball.") == backwards.encode("Ann has a red ball.")


def test_a_checkpoint_of_another_training_is_refused_with_what_differs(saved, corpora, tokenizer):
    def go_on(model: GPT2, corpus: Corpus, recipe: Recipe) -> None:
        list(train_resumable(model, corpus, recipe, checkpoint=saved))

    with pytest.raises(
        ValueError, match=r"different training run: learning_rate 0\.003 in the file, 0"
    ):
        go_on(tiny(tokenizer), corpora[0], replace(TINY, learning_rate=0.01))
    with pytest.raises(ValueError, match="different training run: layers 2 in the file, 3 here"):
        go_on(tiny(tokenizer, layers=3), corpora[0], TINY)
    with pytest.raises(ValueError, match="different training run: text"):
        go_on(tiny(tokenizer), corpora[1], TINY)


@pytest.mark.parametrize("harm", ["empty", "cut", "text", "flipped", "foreign"])
def test_a_damaged_checkpoint_is_refused(saved, harm):
    whole = saved.read_bytes()
    middle = whole.index(
        checkpoints.load(saved)[0].token_embedding.weight.detach().numpy().tobytes()
    )
    if harm == "foreign":
        torch.save({"model": {}}, saved)
    else:
        saved.write_bytes({
            "empty": b"", "cut": whole[:middle], "text": b"no checkpoint at all",
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        }[harm])  # fmt: skip
    with pytest.raises(ValueError, match=r"is damaged, or not a checkpoint|is not a checkpoint"):
        checkpoints.load(saved)


def test_a_missing_checkpoint_says_how_to_make_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="train with --checkpoint"):
        checkpoints.load(tmp_path / "none.pt")


def test_a_save_that_fails_leaves_the_old_checkpoint_whole(saved, tokenizer, monkeypatch):
    def half(state, file) -> None:
        file.write(b"half a checkpoint")
        raise OSError("no space left")

    model = tiny(tokenizer)
    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="no space left"):
        checkpoints.save(saved, model, build_optimizers(model, TINY), TINY, 7, "")
    checkpoints.load(saved)


# The command.

SMALL = ["--cpu", "--stories=60", "--layers=1", "--width=16", "--heads=2", "--context=32",
         "--batch=4", "--rows=5"]  # fmt: skip


def command(*options: str | Path, launch: list[str] | None = None) -> list[str]:
    return [sys.executable, "-m", *(launch or []), "lib.training", *SMALL, *map(str, options)]


def losses(path: Path) -> dict[int, float]:
    """The last loss that was noted for each step."""
    return {
        record["step"]: record["loss"] for record in map(json.loads, path.read_text().splitlines())
    }


# The command, killed by the system after its 50th step, in the midst of its work.
KILLED = """
import os, signal, sys
from lib.training import __main__
from lib.training import loop

def tell(args, record, *rest):
    noted(args, record, *rest)
    if record.step == 50:
        os.kill(os.getpid(), signal.SIGKILL)

noted, __main__._report = __main__._report, tell
__main__.main(sys.argv[1:])
"""


@pytest.mark.linux
def test_a_training_killed_in_the_middle_goes_on_to_the_same_losses(tmp_path, capsys):
    run = ["--steps=70", "--every=20", "--seed=3"]
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    again = [*run, "--records", parts, "--checkpoint", tmp_path / "run.pt"]
    killed = [sys.executable, "-c", KILLED, *command(*again)[3:]]
    assert subprocess.run(killed, cwd=ROOT, capture_output=True).returncode == -signal.SIGKILL
    subprocess.run(command(*again), cwd=ROOT, check=True, capture_output=True)
    __main__.main([*SMALL, *run, "--records", str(whole)])
    # The last checkpoint was written after step 40: the ten steps after it were taken twice.
    assert len(parts.read_text().splitlines()) == 80
    assert losses(parts) == pytest.approx(losses(whole), abs=1e-6)
    assert capsys.readouterr().out.count("\n") == 5


def test_two_processes_reach_the_losses_of_one(tmp_path, capsys):
    run = ["--steps=30", "--every=15"]
    alone, paired = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    launch = ["torch.distributed.run", "--standalone", "--nproc_per_node=2", "-m"]
    started = command(*run, "--accumulate=2", "--records", paired, launch=launch)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        started, cwd=ROOT, check=True, capture_output=True, text=True, env=environment
    )
    __main__.main([*SMALL, *run, "--records", str(alone)])
    assert losses(paired) == pytest.approx(losses(alone), abs=1e-4)
    # Only the first process speaks.
    assert len(paired.read_text().splitlines()) == 30
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert "2 processes on cpu" in lines[0]
    assert "1 process on cpu" in capsys.readouterr().out


needs_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(),
    reason="NO GPU HERE: mixed precision and NCCL were NOT tested",
)


@needs_gpu
def test_on_a_gpu_products_are_in_bfloat16_and_parameters_are_not(corpora, tokenizer):
    model, seen = tiny(tokenizer, d_model=32).cuda(), []
    model.layers[0].feed_forward.up.register_forward_hook(
        lambda module, given, output: seen.append((output.dtype, module.weight.dtype))
    )
    on_gpu = [record.loss for record in train_resumable(model, corpora[0], TINY)]
    assert set(seen) == {(torch.bfloat16, torch.float32)}
    on_cpu = [record.loss for record in train(tiny(tokenizer, d_model=32), corpora[0], TINY)]
    assert on_gpu == pytest.approx(on_cpu, abs=0.05)


@needs_gpu
def test_through_nccl_as_many_processes_as_gpus_reach_the_losses_of_one(tmp_path):
    alone, all_ = tmp_path / "one.jsonl", tmp_path / "all.jsonl"
    launch = ["torch.distributed.run", "--standalone", "-m"]
    launch.insert(2, f"--nproc_per_node={math.gcd(4, torch.cuda.device_count())}")
    for path, start in ((alone, None), (all_, launch)):
        started = command("--steps=30", "--every=15", "--records", path, launch=start)
        started.remove("--cpu")
        subprocess.run(started, cwd=ROOT, check=True, capture_output=True)
    assert losses(all_) == pytest.approx(losses(alone), abs=1e-2)


def test_the_command_learns_a_text_of_ones_own_and_samples_from_it(tmp_path, capsys):
    text = tmp_path / "own.txt"
    text.write_text("to be or not to be, that is the question. " * 60)
    __main__.main([
        "--cpu", "--text", str(text), "--merges=20", "--layers=1", "--width=16", "--heads=2",
        "--context=16", "--steps=40", "--warmup=5", "--every=40", "--rows=5", "--sample=to be",
        "--count=7", "--betas", "0.9", "0.99",
    ])  # fmt: skip
    head, step, sample = capsys.readouterr().out.splitlines()
    assert "276 kinds" in head
    assert step.startswith("step    40")
    assert sample.startswith("  to be")


def test_the_command_explains_every_part_of_the_recipe(capsys):
    with pytest.raises(SystemExit, match="0"):
        __main__.main(["--help"])
    printed = " ".join(capsys.readouterr().out.split())
    for words in options.HELP.values():
        assert words in printed


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("--steps=0", "`steps` must be at least 1; got 0"),
        ("--heads=0", "argument --heads: must be at least 1; got 0"),
        ("--every=-5", "must be a whole number, 0 or more; got '-5'"),
        ("--heads=3", "`heads`; got 16 and 3"),
        ("--accumulate=3", "`batch` must be a multiple of"),
        ("--context=9999", "A window of 9999 tokens"),
        ("--text=none.txt", "No such file or directory: 'none.txt'"),
        ("--grad-clip=0", "`grad_clip` must be above 0; got 0"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(wrong, message, capsys, bare_calls):
    with pytest.raises(SystemExit, match="2"):
        __main__.main([*SMALL, wrong])
    *_, last = capsys.readouterr().err.splitlines()
    assert last.startswith("python -m lib.training: error: ")
    assert message in last


def test_a_text_that_is_no_text_is_named(tmp_path, capsys):
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n")
    with pytest.raises(SystemExit, match="2"):
        __main__.main([*SMALL, f"--text={picture}"])
    assert "picture.png is no text in UTF-8" in capsys.readouterr().err
