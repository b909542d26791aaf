"""Random numbers depend on the seed and on nothing else."""

import random
import subprocess
import sys

import numpy as np
import torch

from lib import repro


def test_a_generator_depends_on_its_words_and_numbers_alone():
    assert repro.generator(3, "5.1").random() == repro.generator(3, "5.1").random()
    draws = {repro.generator(*seed).random() for seed in [(3, "5.1"), (3, "5.2"), (4, "5.1"), (3,)]}
    assert len(draws) == 4


def test_one_seed_fixes_python_numpy_and_torch():
    def draw():
        repro.set_seed(7)
        return random.random(), np.random.random(), torch.rand(1).item()

    assert draw() == draw()


def test_threads_are_set_for_torch():
    before = torch.get_num_threads()
    repro.threads(1)
    assert torch.get_num_threads() == 1
    repro.threads(before)


def test_the_lower_floors_load_no_array_library_until_they_are_given_one():
    code = "import sys, lib.attention, lib.masks, lib.positions; print(sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "'torch'" not in loaded.stdout
