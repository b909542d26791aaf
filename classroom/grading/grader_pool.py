"""The processes that grade: what each loads beforehand, and how much memory a submission gets."""

from __future__ import annotations

import importlib
from concurrent.futures import Executor
from functools import partial

import psutil

from classroom.grading.submission_grader import checks_version
from classroom.processes import SupervisedPool
from classroom.provided import exercise_named, provided_functions

HARD_SECONDS = 600.0  # after which a process of the grader is killed with its submission
WORKER_MEMORY = 256 * 2**20  # bytes that a process of the grader may hold for submissions
MOST_MEMORY = 600 * 2**20  # bytes of the grader and all its processes with 2 jobs
MEMORY_TOGETHER = 120 * 2**20  # bytes that all of them may; with 2 jobs the sum is below 600 MB
OPTIMIZERS = "torch._dynamo"  # which the first step of an optimizer loads: 70 MB


def process_pool(jobs: int, exercise: str, seconds: float = HARD_SECONDS) -> Executor:
    """Start processes of the grader; each drives one sandbox at a time."""
    prepare = partial(prepare_process, exercise)
    modules = needed_modules(exercise)
    return SupervisedPool(jobs, seconds, WORKER_MEMORY, prepare, modules, MEMORY_TOGETHER)


def memory_warning(jobs: int, sandbox: int) -> str:
    """Say in words if the sandboxes may together hold more than this machine has; else nothing."""
    free = psutil.virtual_memory().available
    if jobs * sandbox + MOST_MEMORY <= free:
        return ""
    return (
        f"{jobs} sandboxes may hold {jobs * sandbox / 2**30:.0f} GiB, and "
        f"{free / 2**30:.1f} GiB are free: with fewer --jobs no hostile submission can take it all"
    )


def needed_modules(exercise: str) -> list[str]:
    """What grading an exercise loads from torch besides torch itself."""
    trains = any(task.arrays == ("torch",) for task in exercise_named(exercise).tasks)
    return [OPTIMIZERS] if trains else []


def prepare_process(exercise: str) -> None:
    """Load what grading the exercise needs, which then takes nothing from a submission's memory."""
    checks_version()
    provided_functions(exercise)
    for name in needed_modules(exercise):
        importlib.import_module(name)
