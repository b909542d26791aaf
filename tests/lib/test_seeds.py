"""Random numbers depend on the seed and on nothing else."""

import random
import subprocess
import sys

import numpy as np
import torch

from lib import seeds


def test_a_generator_depends_on_its_words_and_numbers_alone():
    assert seeds.generator(3, "5.1").random() == seeds.generator(3, "5.1").random()
    draws = {seeds.generator(*seed).random() for seed in [(3, "5.1"), (3, "5.2"), (4, "5.1"), (3,)]}
    assert len(draws) == 4


def test_one_seed_fixes_python_numpy_and_torch():
    def draw():
        seeds.set_seed(7)
        return random.random(), np.random.random(), torch.rand(1).item()

    assert draw() == draw()


def test_threads_are_set_for_torch():
    before = torch.get_num_threads()
    seeds.threads(1)
    assert torch.get_num_threads() == 1
    seeds.threads(before)


def test_the_lower_floors_load_no_array_library_until_they_are_given_one():
    code = (
        "import sys; from lib.attention import dot_product, masks, positions; "
        "print(sorted(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "'torch'" not in loaded.stdout
