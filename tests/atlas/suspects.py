"""The suspects of chapter 17, as patients of the atlas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from lib.debugging.numpy_gpt2 import Model, Norm, from_state
from tests.atlas.bodies import HEADS, N, Names, draw, ids
from tests.atlas.comparing import tiny
from tests.atlas.reading import reading, splitting
from tests.atlas.tables import start


def examined(suspect: type[Model]) -> dict[str, Names]:
    """A suspect of chapter 17, as the patient of every entry that can be asked of it."""
    state = {name: x.detach().numpy() for name, x in tiny().state_dict().items()}
    parameters = from_state(state, HEADS)
    model, right = suspect(parameters), Model(parameters)

    def of_torch(f: Callable) -> Callable[..., Tensor]:
        return lambda *given: torch.as_tensor(f(*(x.numpy() for x in given)).copy())

    def attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        weights = of_torch(lambda a, b: model.weigh(model.scores(a, b), np.array(True)))(q, k)
        return weights @ v, weights

    def norm(x: Tensor) -> Tensor:
        plain = Norm(np.ones(x.shape[-1], np.float32), np.zeros(x.shape[-1], np.float32))
        return of_torch(lambda a: model.normalise(a, plain))(x)

    def weigh(table: Tensor) -> Tensor:
        may = model.allowed(np.ones((2, N), bool))
        return of_torch(lambda a: model.weigh(a[:, None], may))(table)

    logits = of_torch(model)
    return {
        "rows-that-do-not-sum-to-1": {"weights": weigh(draw(2, N, N))},
        "every-key-the-same": start(attention),
        "one-key-takes-all": start(attention),
        "the-first-row-is-not-1-0-0": {"weights": weigh(draw(2, N, N))},
        "a-loss-too-good-and-useless-samples": reading(logits),
        "heads-that-mix-tokens": splitting(of_torch(model.split), of_torch(model.merge)),
        "another-answer-at-every-call": {"f": logits, "x": ids()},
        "off-by-less-than-a-thousandth": {"gelu": of_torch(model.activate)},
        "off-a-little-everywhere": {"norm": norm},
        "wholly-different": {"ours": [logits(ids())], "theirs": [of_torch(right)(ids())]},
    }
