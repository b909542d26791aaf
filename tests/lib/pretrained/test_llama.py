"""Any Llama that transformers saves loads with its logits; a model of another shape is refused."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from lib.pretrained import hub
from lib.pretrained.llama import load_llama

IDS = torch.randint(53, (2, 7), generator=torch.Generator().manual_seed(7))
UNREAD = "model.layers.0.self_attn.rotary_emb.inv_freq"


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def saved(request, tmp_path_factory):
    """A folder that transformers wrote, and the logits of the model in it."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=53, max_position_embeddings=11, hidden_size=24, num_attention_heads=6,
        num_key_value_heads=2, num_hidden_layers=2, intermediate_size=13, rms_norm_eps=1e-3,
        tie_word_embeddings=request.param, rope_theta=500.0, initializer_range=0.3,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    folder = tmp_path_factory.mktemp("llama")
    model.save_pretrained(folder)
    with torch.no_grad():
        return folder, model(IDS).logits


def test_a_saved_llama_gives_the_logits_of_transformers(saved):
    folder, expected = saved
    model = load_llama(folder)
    torch.testing.assert_close(model(IDS).logits, expected, rtol=1e-5, atol=1e-5)
    tied = json.loads((folder / "config.json").read_text())["tie_word_embeddings"]
    assert ("head" in model.parameters) is not tied


def test_the_numpy_form_gives_them_too(saved):
    folder, expected = saved
    logits = load_llama(folder, numpy=True)(IDS.numpy()).logits
    assert isinstance(logits, np.ndarray)
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=1e-5)


@pytest.fixture
def copied(saved, tmp_path):
    """A copy of the folder, and a function that changes its configuration."""
    folder = tmp_path / "copy"
    shutil.copytree(saved[0], folder)

    def configure(**changes):
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return folder, configure


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_every_dtype_is_read_as_float32(copied, dtype):
    folder, _ = copied
    file = folder / "model.safetensors"
    save_file({name: tensor.to(dtype) for name, tensor in load_file(file).items()}, file)
    assert load_llama(folder)(IDS).logits.dtype == torch.float32
    assert load_llama(folder, numpy=True).parameters["norm"].dtype == np.float32


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "must have rope_scaling = None"),
        ({"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5}}, "without scaling"),
        ({"attention_bias": True}, "attention_bias = False; got {'attention_bias': True}"),
        ({"mlp_bias": True}, "mlp_bias = False"),
        ({"hidden_act": "gelu"}, "hidden_act = 'silu'; got {'hidden_act': 'gelu'}"),
        ({"model_type": "mistral"}, "model_type = 'llama'; got {'model_type': 'mistral'}"),
        ({"head_dim": 8}, "has hidden_size / num_attention_heads = 4 components; got head_dim = 8"),
        ({"num_key_value_heads": 4}, "`kv_heads` must divide `heads`"),
        ({"num_hidden_layers": 3}, "missing ['model.layers.2.input_layernorm.weight'"),
        ({"intermediate_size": 17}, "`gate` of layer 0 must have the shape (17, 24); got (13, 24)"),
    ],
)
def test_a_model_of_another_shape_is_refused(copied, changes, words):
    folder, configure = copied
    configure(**changes)
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        load_llama(folder)
    assert words in str(raised.value)


def test_a_missing_size_is_named(copied):
    folder, _ = copied
    config = json.loads((folder / "config.json").read_text())
    del config["intermediate_size"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="The config must have intermediate_size"):
        load_llama(folder)


def test_a_tied_head_in_the_file_is_ignored_and_an_absent_untied_one_is_missed(copied):
    folder, configure = copied
    file = folder / "model.safetensors"
    tensors = load_file(file)
    head = torch.ones(53, 24)
    save_file({**tensors, "lm_head.weight": head, UNREAD: torch.ones(2)}, file)
    configure(tie_word_embeddings=True)
    assert "head" not in load_llama(folder).parameters
    tensors.pop("lm_head.weight", None)
    save_file(tensors, file)
    configure(tie_word_embeddings=False)
    with pytest.raises(ValueError, match=r"missing \['lm_head\.weight'\]"):
        load_llama(folder)


def test_a_model_split_into_several_files_is_refused_with_the_way_out(copied):
    folder, _ = copied
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    with pytest.raises(FileNotFoundError, match=r"one model\.safetensors, not split into parts"):
        load_llama(folder)


def test_a_name_goes_to_the_hub_with_its_endpoint(saved, monkeypatch):
    asked = []

    def fetch(published, file, *, endpoint=None):
        asked.append((published.repository, file, endpoint))
        return saved[0] / file

    monkeypatch.setattr(hub, "fetch", fetch)
    model = load_llama("owner/llama", endpoint="https://mirror.example")
    torch.testing.assert_close(model(IDS).logits, saved[1], rtol=1e-5, atol=1e-5)
    assert asked == [
        ("owner/llama", file, "https://mirror.example")
        for file in ("config.json", "model.safetensors")
    ]


@pytest.mark.parametrize(
    ("ids", "error", "words"),
    [
        ([1, 2], TypeError, "integer array of shape (n) or (batch, n); got a list"),
        ("text", TypeError, "got a str"),
        (torch.ones(3), TypeError, "got torch.float32 (3,)"),
        (torch.tensor(3), TypeError, "got torch.int64 ()"),
        (torch.zeros(0, dtype=torch.long), ValueError, "at least one token"),
        (torch.zeros(12, dtype=torch.long), ValueError, "reads at most 11 tokens; got 12"),
        (torch.tensor([0, 53]), ValueError, "from 0 to 52; got 0 to 53"),
        (torch.tensor([-1]), ValueError, "from 0 to 52; got -1 to -1"),
    ],
)
def test_what_is_no_sequence_of_its_tokens_is_refused(saved, bare_calls, ids, error, words):
    with pytest.raises(error) as raised:
        load_llama(saved[0])(ids)
    assert words in str(raised.value)
