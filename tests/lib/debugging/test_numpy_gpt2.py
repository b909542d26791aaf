"""GPT-2 on one screen is GPT-2: it makes the logits of transformers and of lib.models.gpt2."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from lib.debugging import numpy_gpt2
from lib.debugging.numpy_gpt2 import Model
from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.pretrained.gpt2 import TINY, load_gpt2


def on_one_screen(model: GPT2) -> Model:
    arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    return Model(numpy_gpt2.from_state(arrays, model.config.heads))


def test_its_logits_are_those_that_transformers_stored():
    stored = load_file(TINY / "expected.safetensors")
    model = on_one_screen(load_gpt2(TINY).double())
    logits = model(stored["ids"].numpy())
    expected = stored["logits"].numpy()
    assert np.abs(logits - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 3, 7), (1,)])
def test_its_logits_are_those_of_lib_for_any_number_of_axes(shape):
    torch.manual_seed(5)
    model = GPT2(Config(vocab_size=13, context_length=11, d_model=15, heads=3, layers=2)).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    ids = torch.randint(13, shape)
    with torch.no_grad():
        expected = model(ids).logits.numpy()
    np.testing.assert_allclose(on_one_screen(model)(ids.numpy()), expected, atol=1e-11)


def test_its_attention_never_meets_a_pad_on_either_side():
    torch.manual_seed(6)
    model = on_one_screen(
        GPT2(Config(vocab_size=13, context_length=11, d_model=15, heads=3, layers=1))
    )
    layer, rng = model.parameters.layers[0], np.random.default_rng(0)
    x, pads = rng.normal(size=(1, 5, 15)), rng.normal(size=(1, 2, 15))
    alone = model.attention(x, layer)
    for parts, real in (([pads, x], [0, 0, 1, 1, 1, 1, 1]), ([x, pads], [1, 1, 1, 1, 1, 0, 0])):
        real = np.array([real], dtype=bool)
        result = model.attention(np.concatenate(parts, axis=1), layer, real)
        np.testing.assert_allclose(result[real], alone[0], atol=1e-14)


def test_it_says_nothing_of_what_it_is():
    assert repr(on_one_screen(GPT2(Config(13, 11, 15, 3, 1)))) == "a model under suspicion"
