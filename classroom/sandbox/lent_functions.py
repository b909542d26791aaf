"""Functions of the grader that an answer calls, and functions of the answer that these call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil

from checks.wire.values import error_named, put_together
from classroom.processes import warm_up

LENT_MEMORY = 2**28  # bytes that a function of the checks may use for a student's arguments


def decode_arguments(
    request: dict[str, Any], call_back: Callable[[int], Callable]
) -> tuple[tuple, dict]:
    """Decode the arguments in a message from the sandbox; a function of its own stays there."""
    args, kwargs = (put_together(request[name], call_back) for name in ("args", "kwargs"))
    return tuple(args), dict(kwargs)


def decode_value(reply: dict[str, Any]) -> Any:
    """Return the value in a reply; raise its error."""
    if "error" in reply:
        raise error_named(str(reply["error"]), str(reply.get("message", ""))[:600])
    return put_together(reply.get("value"))


def write_back(args: tuple, reply: dict[str, Any]) -> None:
    """Write what a function of the sandbox wrote into its arrays into the arrays of the caller."""
    written = put_together(reply.get("args"))
    for array, other in zip(args, written if isinstance(written, tuple) else (), strict=False):
        if isinstance(array, np.ndarray) and array.shape == getattr(other, "shape", None):
            np.copyto(array, other, casting="unsafe")


@contextmanager
def limited_memory() -> Iterator[None]:
    """Bound the memory of this process while a function of the checks serves a student (Linux)."""
    if sys.platform != "linux":
        yield
        return
    import resource

    warm_up()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + LENT_MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
