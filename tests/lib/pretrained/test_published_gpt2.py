"""GPT-2 from a file: equal to transformers at full size, and nothing else than GPT-2 is read."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from lib.models.config import SIZES
from lib.models.gpt2 import GPT2, next_token_loss
from lib.pretrained import gpt2
from lib.pretrained.gpt2 import load_gpt2
from tests.lib.models.test_gpt2 import IDS, LOGITS, TINY, difference
from tools.recordings import make_gpt2_fixture

FULL_IDS = torch.randint(50_257, (1, 41), generator=torch.Generator().manual_seed(41))


# At full size: 124,439,808 random parameters, saved by transformers.


@pytest.fixture(scope="module")
def published():
    """GPT-2 small of transformers, none of whose biases is 0 and none of whose gains is 1."""
    from transformers import GPT2Config, GPT2LMHeadModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    with torch.device("meta"):
        model = GPT2LMHeadModel(GPT2Config())
    model = model.to_empty(device="cpu").eval()
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.04, generator=noise)
        for name, parameter in model.named_parameters():
            if ".ln_" in name and name.endswith("weight"):
                parameter += 1
    model.tie_weights()
    return model


@pytest.fixture(scope="module")
def full(published, tmp_path_factory) -> GPT2:
    folder = tmp_path_factory.mktemp("gpt2")
    published.save_pretrained(folder)
    assert (folder / "model.safetensors").stat().st_size > 4 * 124_439_808
    model = load_gpt2(folder)
    shutil.rmtree(folder)  # half a gigabyte; and the model must not lean on it
    return model.requires_grad_(False)


@torch.no_grad()
def test_at_full_size_the_logits_are_those_of_transformers_in_float32(published, full):
    assert sum(p.numel() for p in full.parameters()) == 124_439_808 == published.num_parameters()
    assert full.config == SIZES["gpt2"]
    assert not full.training
    assert torch.get_float32_matmul_precision() == "highest"
    assert difference(full, FULL_IDS, published(FULL_IDS).logits) <= 1e-5


@torch.no_grad()
def test_at_full_size_greedy_tokens_are_those_of_transformers(published, full):
    from lib.models.generation import generate

    theirs = published.generate(
        FULL_IDS[:, :7], attention_mask=torch.ones(1, 7), max_new_tokens=11, do_sample=False,
        eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    assert torch.equal(generate(full, FULL_IDS[:, :7], 11), theirs)


@pytest.mark.nightly
@torch.no_grad()
def test_at_full_size_the_logits_are_those_of_transformers_in_float64(published, full):
    theirs = published.double()(FULL_IDS).logits  # the last test that needs them in float32
    ours = full.double()
    assert difference(ours, FULL_IDS, theirs) <= 1e-12
    caches = ours.caches()
    stepwise = [ours(FULL_IDS[:, i : i + 1], caches=caches).logits for i in range(7)]
    error = (torch.cat(stepwise, dim=1) - theirs[:, :7]).abs().max()
    assert error <= 1e-12 * theirs.abs().max()


# The stored tiny model is what transformers makes and computes.


def test_the_fixture_is_what_transformers_gives(tmp_path):
    from transformers import GPT2LMHeadModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    make_gpt2_fixture.save(tmp_path)
    stored, made = (load_file(folder / "model.safetensors") for folder in (TINY, tmp_path))
    assert stored.keys() == made.keys()
    for key in stored:
        # Processors draw the same random numbers but for the last digits of float32.
        torch.testing.assert_close(stored[key], made[key], rtol=0, atol=1e-5)
    expected = load_file(TINY / "expected.safetensors")
    assert torch.equal(expected["ids"], make_gpt2_fixture.texts())
    logits = make_gpt2_fixture.logits(GPT2LMHeadModel.from_pretrained(TINY), expected["ids"])
    torch.testing.assert_close(logits, expected["logits"], rtol=0, atol=1e-10)
    ours, theirs = (
        json.loads((folder / "config.json").read_text("utf8")) for folder in (TINY, tmp_path)
    )
    assert ours == theirs


def test_transformers_reads_the_fixture_and_gives_its_logits():
    from transformers import GPT2LMHeadModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    theirs = GPT2LMHeadModel.from_pretrained(TINY, dtype=torch.float64)
    assert difference(theirs.eval()) <= 1e-12


def test_the_fixture_is_small():
    assert sum(path.stat().st_size for path in TINY.iterdir()) < 200_000


def test_loading_needs_no_transformers():
    code = (
        "import sys; from lib.pretrained.gpt2 import load_gpt2; import torch;"
        f"load_gpt2({str(TINY)!r})(torch.tensor([1, 2])); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "transformers" not in run.stdout.split()


# Other layouts of the same model.


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the tiny model, to be altered."""
    return Path(shutil.copytree(TINY, tmp_path / "mine"))


def alter(folder: Path, change) -> None:
    """Change the stored tensors by a function of the dictionary, and write them back."""
    stored = load_file(TINY / "model.safetensors")
    tensors = {name: tensor.clone() for name, tensor in stored.items()}
    save_file(change(tensors) or tensors, folder / "model.safetensors")


def say(folder: Path, **settings) -> None:
    config = json.loads((TINY / "config.json").read_text("utf8")) | settings
    config = {key: value for key, value in config.items() if value != "left out"}
    (folder / "config.json").write_text(json.dumps(config), "utf8")


def test_the_older_layout_without_prefix_and_with_masks_is_read(folder):
    def older(tensors):
        bare = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
        for i in range(2):
            bare[f"h.{i}.attn.bias"] = torch.ones(1, 1, 23, 23).tril()
            bare[f"h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
        return bare

    alter(folder, older)
    assert difference(load_gpt2(folder)) <= 1e-5


def test_a_stored_head_that_is_the_table_is_read(folder):
    alter(folder, lambda t: t.update({"lm_head.weight": t["transformer.wte.weight"].clone()}))
    assert difference(load_gpt2(str(folder))) <= 1e-5


def test_a_head_of_its_own_is_refused(folder):
    alter(folder, lambda t: t.update({"lm_head.weight": t["transformer.wte.weight"] + 1e-7}))
    with pytest.raises(ValueError, match=r"lm_head.weight differs from wte.weight. GPT-2 ties"):
        load_gpt2(folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_are_read_as_float32(folder, dtype):
    alter(folder, lambda t: {name: tensor.to(dtype) for name, tensor in t.items()})
    model = load_gpt2(folder)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert difference(model) < 0.05


def test_what_is_loaded_can_be_trained_saved_and_outlives_its_file(folder):
    model = load_gpt2(folder, dropout=0.2)
    (folder / "model.safetensors").write_bytes(b"")
    assert all(p.is_contiguous() and p.requires_grad for p in model.parameters())
    before = model.token_embedding.weight.detach().clone()
    next_token_loss(model(IDS[:, :-1]).logits, IDS[:, 1:]).backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    assert not torch.equal(model.token_embedding.weight, before)
    assert model.config.dropout == 0.2
    assert model.layers[0].dropout.p == 0.2


# What is not GPT-2 is refused, and the message names what differs.


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("model_type", "llama"),
        ("activation_function", "gelu"),
        ("scale_attn_weights", False),
        ("scale_attn_by_inverse_layer_idx", True),
        ("reorder_and_upcast_attn", True),
        ("add_cross_attention", True),
        ("tie_word_embeddings", False),
    ],
)
def test_a_setting_that_gpt2_has_otherwise_is_refused(folder, setting, value):
    say(folder, **{setting: value})
    asked = rf"of a GPT-2 must have {setting} = .*; got .'{setting}': {value!r}"
    with pytest.raises(ValueError, match=asked):
        load_gpt2(folder)


def test_another_width_of_the_feed_forward_map_is_refused(folder):
    say(folder, n_inner=140)
    load_gpt2(folder)
    say(folder, n_inner=70)
    with pytest.raises(ValueError, match=r"4 \* 35 = 140; got n_inner = 70"):
        load_gpt2(folder)


def test_the_eps_is_the_one_of_the_config(folder):
    say(folder, layer_norm_epsilon=1e-3)
    model = load_gpt2(folder)
    assert model.norm.eps == model.layers[1].attention_norm.eps == 1e-3
    say(folder, layer_norm_epsilon="left out")
    assert load_gpt2(folder).norm.eps == 1e-5


def test_a_config_without_a_size_is_refused(folder):
    say(folder, n_layer="left out", n_head="left out")
    with pytest.raises(ValueError, match=r"must have n_head, n_layer. Give the config"):
        load_gpt2(folder)


def test_a_missing_tensor_is_named(folder):
    alter(folder, lambda t: {key: t[key] for key in t if not key.endswith("h.1.mlp.c_fc.bias")})
    with pytest.raises(ValueError, match=r"missing \['h.1.mlp.c_fc.bias'\], left over none"):
        load_gpt2(folder)


def test_a_tensor_without_a_place_is_named(folder):
    alter(folder, lambda t: t.update({"transformer.h.1.attn.surprise": torch.ones(3)}))
    with pytest.raises(ValueError, match=r"missing none, left over \['h.1.attn.surprise'\]"):
        load_gpt2(folder)


def test_fewer_layers_in_the_config_than_in_the_file_are_noticed(folder):
    say(folder, n_layer=1)
    with pytest.raises(ValueError, match=r"left over \['h.1.attn.*belong together"):
        load_gpt2(folder)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("wte.weight", (61, 35)), ("wpe.weight", (23, 35)), ("h.0.mlp.c_fc.weight", (35, 140)),
     ("h.1.attn.c_attn.weight", (35, 105)), ("h.1.attn.c_attn.bias", (105,)),
     ("ln_f.bias", (35,))],
)  # fmt: skip
def test_a_tensor_of_another_shape_is_named_with_both(folder, name, shape):
    wrong = (*shape[:-1], shape[-1] + 1)
    alter(folder, lambda t: t.update({f"transformer.{name}": torch.ones(wrong)}))
    shown = str(wrong).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ValueError, match=rf"{name} has the shape {shown} of torch.float32, which"):
        load_gpt2(folder)


def test_a_transposed_conv1d_in_the_file_is_noticed_where_it_is_not_square(folder):
    name = "transformer.h.0.mlp.c_fc.weight"
    alter(folder, lambda t: t.update({name: t[name].T.contiguous()}))
    with pytest.raises(ValueError, match=r"c_fc.weight has the shape \(140, 35\).*the \(140, 35\)"):
        load_gpt2(folder)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(folder, number):
    alter(folder, lambda t: t["transformer.wpe.weight"].view(-1)[17:18].fill_(number) is None)
    with pytest.raises(ValueError, match=r"wpe.weight must be finite.* Download"):
        load_gpt2(folder)


def test_whole_numbers_are_refused(folder):
    alter(folder, lambda t: {name: tensor.to(torch.int8) for name, tensor in t.items()})
    with pytest.raises(ValueError, match=r"of torch.int8, which does not give"):
        load_gpt2(folder)


@pytest.mark.parametrize("kept", [0, 5, 1000, 100_000])
def test_a_truncated_file_is_recognised(folder, kept):
    whole = (TINY / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:kept])
    with pytest.raises(ValueError, match=r"truncated, or only a pointer .* download it again"):
        load_gpt2(folder)


def test_a_pointer_in_place_of_the_file_is_recognised(folder):
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n" * 9)
    with pytest.raises(ValueError, match=r"only a pointer"):
        load_gpt2(folder)


def test_a_config_that_is_no_json_is_recognised(folder):
    (folder / "config.json").write_text('{"n_embd": 35,')
    with pytest.raises(ValueError, match=r"truncated"):
        load_gpt2(folder)


# The renaming by itself.


def test_every_one_of_our_parameters_is_found_and_each_third_once():
    model = load_gpt2(TINY)
    stored = load_file(TINY / "model.safetensors")
    ours = gpt2.renamed(stored, model.state_dict())
    assert ours.keys() == model.state_dict().keys()
    rows = stored["transformer.h.1.attn.c_attn.weight"]
    for third, name in enumerate(("query", "key", "value")):
        columns = rows[:, 35 * third : 35 * third + 35]
        assert torch.equal(ours[f"layers.1.attention.{name}.weight"], columns.T)
    assert torch.equal(ours["norm.gain"], stored["transformer.ln_f.weight"])
    assert torch.equal(ours["token_embedding.weight"], stored["transformer.wte.weight"])
    assert sum(t.numel() for t in ours.values()) == sum(t.numel() for t in stored.values())


def test_the_logits_of_the_fixture_are_not_all_alike():
    assert LOGITS.std(dim=-1).min() > 0.1
    assert IDS.unique().numel() > 30
