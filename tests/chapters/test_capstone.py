"""The capstone: its laws catch what breaks them, and a learner's own slips in torch are named."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from checks import grade_source
from checks.feedback.explain import ask_law
from checks.run.call import convert
from checks.task import Case
from exercises import gpt2_by_parts as parts
from exercises.laws_of_gpt2 import LAWS, TINY, arrays_of, stored
from figures.widgets.bug_hunt import RIGHT, SHOWN
from lib.debugging.broken_models import SUSPECTS
from lib.debugging.findings import all_findings, differs
from tests.support.attempts import names_alone

pytestmark = pytest.mark.usefixtures("bare_lib")
TASK = importlib.import_module("exercises.17_capstone").EXERCISE["17.1"]
CASES = TASK.draw()
BY_NAME = {law.name: law for law in LAWS}


def model(**how):
    return lambda ids, p, heads: parts.gpt2(ids, p, heads, **how)


def louder(ids, p, heads):
    return 30 * parts.gpt2(ids, p, heads)


def favourite(ids, p, heads):
    return parts.gpt2(ids, p, heads) + np.arange(len(p["wte.weight"])) / 100


def by_place(weights, k, v, x):
    """Nearer tokens count for more, whatever the positions say."""
    n = weights.shape[-1]
    return weights * 0.9 ** abs(np.arange(n)[:, None] - np.arange(n)) @ v


BREAKS = {
    "what comes later changes nothing before it": model(attend=parts.EVERYTHING_SEEN),
    "a shorter text has the same first rows": parts.moved(lambda table, n: table[-n:]),
    "each text of a batch is for itself": model(attend=parts.one_long_text),
    "positions that are not reached do not matter": parts.moved(lambda table, n: table[-n:]),
    "words may be numbered in any order": favourite,
    "heads may stand in any order": model(
        attend=lambda x, p, heads: parts.attention(x, p, heads, cut=parts.dealt)),
    "a bias added to all keys alike changes nothing, however large": parts.overflowing,
    "with one layer and no positions, the last token sees a set": model(
        attend=lambda x, p, heads: parts.attention(x, p, heads, mix=by_place)),
    "a fresh model costs about ln V": louder,
    "a stored model has the logits that transformers gave it": model(
        think=lambda x, p: parts.feed_forward(x, p, activation=parts.exact)),
}  # fmt: skip


def broken(law, answer, library="numpy"):
    return [case.about for case in CASES if ask_law(law, answer, case, library) is not True]


def test_for_every_law_there_is_a_model_that_breaks_it():
    assert list(BREAKS) == list(BY_NAME)


@pytest.mark.parametrize("name", BREAKS)
def test_a_law_is_broken_by_a_wrong_model_and_kept_by_the_right_one(name):
    assert broken(BY_NAME[name], BREAKS[name])
    assert not broken(BY_NAME[name], parts.gpt2)


def test_a_model_that_is_right_on_the_cases_and_looks_ahead_elsewhere_is_caught_by_a_law():
    known = {case.args[0].tobytes() for case in CASES}

    def cheat(ids, p, heads):
        ahead = ids.tobytes() not in known
        how = {"attend": parts.EVERYTHING_SEEN} if ahead else {}
        return parts.gpt2(ids, p, heads, **how)

    verdict = importlib.import_module("checks").judge(TASK, cheat)
    assert not verdict.passed
    assert "what comes later changes nothing before it" in repr(verdict)


def test_the_truth_gives_the_stored_logits_of_transformers_to_1e_minus_12():
    p, ids, logits = stored()
    assert np.abs(parts.gpt2(ids, p, 5) - logits).max() < 1e-12 * np.abs(logits).max()


def test_the_first_case_is_exact_to_the_last_hand():
    expected = np.array([[3 / 100, -3 / 200, 0], [-3 / 200, 3 / 100, 0], [0, 0, 3 / 100]])
    assert np.abs(parts.gpt2(*CASES[0].args) - expected).max() < 1e-16


def test_in_each_random_model_every_axis_has_another_length():
    for case in CASES[1:]:
        ids, p, heads = case.args
        (vocab, d_model), longest = p["wte.weight"].shape, len(p["wpe.weight"])
        layers = sum(name.endswith("ln_1.bias") for name in p)
        axes = [*ids.shape, vocab, longest, heads, d_model // heads, layers]
        primes = [size for size in axes if size > 1]
        assert all(size % k for size in primes for k in range(2, size))
        # A sentence may be as many as a text of another case is long; within a case none agree.
        assert len(set(primes)) == len(primes), case.about


def test_the_laws_reach_torch_as_they_reach_numpy():
    def answer(ids, p, heads):
        import torch

        assert isinstance(ids, torch.Tensor)
        numpy = convert(Case((ids, p)).args, "numpy")
        return torch.from_numpy(np.asarray(parts.gpt2(*numpy, heads)))

    for law in LAWS:
        assert ask_law(law, answer, CASES[1], "torch") is True, law.name


LEARNER = """
import torch, math
import torch.nn.functional as F
def norm(x, p, name):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + 1e-5) * p[name + ".weight"] + p[name + ".bias"]
def linear(x, p, name):
    return x @ p[name + ".weight"] + p[name + ".bias"]
def gpt2(ids, p, heads):
    n, d = ids.shape[-1], p["wte.weight"].shape[1]
    x = p["wte.weight"][ids] + p["wpe.weight"][torch.arange(n)]
    layers = len({name.split(".")[1] for name in p if name.startswith("h.")})
    for i in range(layers):
        h = f"h.{i}."
        y = norm(x, p, h + "ln_1")
        q, k, v = linear(y, p, h + "attn.c_attn").split(d, dim=-1)
        q, k, v = [t.view(*t.shape[:-1], heads, -1).transpose(-2, -3) for t in (q, k, v)]
        scores = q @ k.mT / math.sqrt(d // heads)
        hidden = torch.tril(torch.ones(n, n)) == 0
        scores = scores.masked_fill(hidden, float("-inf"))
        found = torch.softmax(scores, -1) @ v
        x = x + linear(found.transpose(-2, -3).reshape(x.shape), p, h + "attn.c_proj")
        y = norm(x, p, h + "ln_2")
        hidden = F.gelu(linear(y, p, h + "mlp.c_fc"), approximate="tanh")
        x = x + linear(hidden, p, h + "mlp.c_proj")
    return norm(x, p, "ln_f") @ p["wte.weight"].T
"""
SLIPS = [
    ("M01", " / math.sqrt(d // heads)", ""),
    ("M03", "math.sqrt(d // heads)", "math.sqrt(d)"),
    ("M22", "torch.ones(n, n))", "torch.ones(n, n), -1)"),
    ("M24", '.masked_fill(hidden, float("-inf"))', ""),
    ("M26", "== 0", "== 1"),
    ("M37", "t.view(*t.shape[:-1], heads, -1).transpose(-2, -3)",
     "t.reshape(*t.shape[:-2], heads, n, -1)"),
    ("M38", "found.transpose(-2, -3)", "found"),
    ("M06", "q, k, v = linear", "k, q, v = linear"),
    ("M63", 'x @ p[name + ".weight"] + p[name + ".bias"]',
     'F.linear(x, p[name + ".weight"], p[name + ".bias"])'),
    ("M44", 'x @ p[name + ".weight"] + p[name + ".bias"]', 'x @ p[name + ".weight"]'),
    ("M1151", "x = x + linear(hidden", "x = linear(hidden"),
    ("M244", '"ln_2")', '"ln_1")'),
    ("M54", ', approximate="tanh"', ""),
    ("M51+M52", "torch.sqrt(variance + 1e-5)", "(x.std(-1, keepdim=True) + 1e-5)"),
    ("M56", 'return norm(x, p, "ln_f")', "return x"),
    ("M58", "torch.arange(n)", "torch.arange(1, n + 1)"),
    ("M62", "x = x + linear(hidden, p, h + \"mlp.c_proj\")",
     "x = x + F.dropout(linear(hidden, p, h + \"mlp.c_proj\"), 0.1)"),
    ("M59", '@ p["wte.weight"].T',
     '@ torch.nn.Linear(d, len(p["wte.weight"]), bias=False).double().weight.T'),
    ("M432", 'h = f"h.{i}."', 'h = "h.0."'),
    ("M435", 'norm(x, p, "ln_f")', 'norm(x[..., -1, :], p, "ln_f")'),
]  # fmt: skip


def test_a_learner_in_torch_passes():
    assert grade_source(TASK, LEARNER).passed


@pytest.mark.parametrize(("number", "right", "wrong"), SLIPS, ids=[slip[0] for slip in SLIPS])
def test_a_slip_of_a_learner_in_torch_is_named(number, right, wrong):
    assert LEARNER.count(right) >= 1
    with names_alone():
        verdict = grade_source(TASK, LEARNER.replace(right, wrong))
    assert "+".join(verdict.misconceptions) == number, verdict


TRAINS = (
    LEARNER
    + """
def initial(d, std=0.09):
    p = {"wte.weight": torch.randn(15, d) * std, "wpe.weight": torch.randn(10, d) * std}
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        p |= {name + ".weight": torch.ones(d), name + ".bias": torch.zeros(d)}
    sizes = {"attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d),
             "mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}
    for name, (rows, columns) in sizes.items():
        p["h.0." + name + ".weight"] = torch.randn(rows, columns) * std
        p["h.0." + name + ".bias"] = torch.zeros(columns)
    return p
def train(stories):
    torch.manual_seed(0)
    p = initial(32)
    first = {name: tensor.clone() for name, tensor in p.items()}
    optimizer = torch.optim.AdamW([tensor.requires_grad_() for tensor in p.values()], lr=0.01)
    for step in range(240):
        rows = stories[torch.randint(len(stories), (64,))]
        logits = gpt2(rows[:, :-1], p, 4)
        loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (lambda ids: gpt2(ids, first, 4)), (lambda ids: gpt2(ids, p, 4))
"""
)
SLIPS_IN_TRAINING = [
    ("M930", "std=0.09", "std=1.0"),
    ("M931", "tensor.clone()", "tensor"),
    ("M24", '.masked_fill(hidden, float("-inf"))', ""),
    ("M780", "        optimizer.step()\n", ""),
    ("M782", "rows[:, 1:].flatten()", "rows[:, :-1].flatten()"),
    ("M784", "range(240)", "range(10)"),
    ("M783", "torch.randint(len(stories), (64,))", "torch.randint(8, (64,))"),
    ("M785", "loss.backward()", "(-loss).backward()"),
]
TRAINING = importlib.import_module("exercises.17_capstone").EXERCISE["17.2"]


def test_a_learner_who_trains_in_torch_passes_and_reads_both_losses():
    verdict = grade_source(TRAINING, TRAINS)
    assert verdict.passed
    losses = r"is [23]\.\d\d with your first function and 0\.[78]\d with your second"
    assert re.search(losses, repr(verdict)), verdict


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("number", "right", "wrong"), SLIPS_IN_TRAINING, ids=[slip[0] for slip in SLIPS_IN_TRAINING]
)
def test_a_slip_of_a_learner_who_trains_is_named(number, right, wrong):
    assert TRAINS.count(right) == 1
    verdict = grade_source(TRAINING, TRAINS.replace(right, wrong))
    assert "+".join(verdict.misconceptions) == number, verdict


def test_the_stored_model_is_read_as_safetensors_reads_it():
    for file in TINY.glob("*.safetensors"):
        read, expected = arrays_of(file), load_file(file)
        assert read.keys() == expected.keys()
        for name, array in expected.items():
            assert read[name].dtype == array.dtype
            np.testing.assert_array_equal(read[name], array)


HUNTS = importlib.import_module("exercises.17_capstone").EXERCISE["17.10"].reference
PAGE = (Path(__file__).resolve().parents[2] / "exercises" / "17_capstone.md").read_text("utf8")
SHOWN_OF = {kind.name: SHOWN[kind.key] for kind in SUSPECTS}
FOUND_OF = {name: all_findings(shown, RIGHT) for name, shown in SHOWN_OF.items()}
FOUND = {  # what the page says of each hunt, as lib words it
    "A": {"future": "an earlier row moves", "swap": "tokens 3 and 4 do not move",
          "twice": "two calls agree"},
    "B": {"heads": "the right numbers, not all at their places", "future": "no earlier row moves"},
    "C": {"future": "an earlier row moves", "swap": "tokens 3 and 4 do not move",
          "batch": "something moves"},
}  # fmt: skip


def listed(hunt):
    """The labels of a hunt on the page, each with its text."""
    return dict(re.findall(rf"^- ({hunt}\d): (.+)$", PAGE, re.MULTILINE))


def fits(hunt, name):
    return all(FOUND_OF[name][key] == finding for key, finding in FOUND[hunt].items())


@pytest.mark.parametrize("hunt", "AB")
def test_the_faults_that_a_hunt_allows_are_those_whose_models_have_its_findings(hunt):
    assert len(listed(hunt)) == {"A": 5, "B": 4}[hunt]
    for label, name in listed(hunt).items():
        assert (label in HUNTS) == fits(hunt, name), name


def test_the_findings_of_the_third_hunt_leave_two_faults_and_two_experiments_separate_them():
    pair = ["scores set to zero", "weights set to zero"]
    assert [name for name in SHOWN_OF if fits("C", name)] == pair
    both = [SHOWN_OF[name] for name in pair]
    answers = {
        "C1": [np.allclose(shown["weights"][:, 4], 1) for shown in both],
        "C2": [tuple(shown["exact"][0].round(6)) for shown in both],
        "C3": [differs(shown["block"], RIGHT["block"]) for shown in both],
        "C4": [differs(shown["whole"], RIGHT["whole"]) for shown in both],
        "C5": [differs(shown["twice"], RIGHT["twice"]) for shown in both],
    }
    assert list(listed("C")) == list(answers)
    for label, (first, second) in answers.items():
        assert (label in HUNTS) == (first != second), label


def test_one_fault_of_the_fourth_hunt_returns_its_outputs():
    outputs = np.array([[6, 0], [3, 3], [30 / 7, 15 / 7]])
    assert "$(6, 0)$, $(3, 3)$ and $(\\frac{30}{7}, \\frac{15}{7})$" in PAGE
    assert len(listed("D")) == 5
    for label, name in listed("D").items():
        assert (label in HUNTS) == (not differs(SHOWN_OF[name]["exact"], outputs)), name
