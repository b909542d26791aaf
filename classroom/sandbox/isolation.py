"""The walls of the sandbox: the command that starts a worker which can do nothing but compute.

`bubblewrap` gives it namespaces of its own and a system that it can only read, `setpriv` takes its
rights, and `prlimit` bounds each of its processes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = "/course"
# An explicit list, so that no import can bring a file into the sandbox that nobody looked at.
# A test holds that the worker needs all of these and no other file of the course.
INSIDE = (
    "checks/status.py",
    "checks/task.py",
    "checks/drivers.py",
    "checks/run/call.py",
    "checks/run/nodes.py",
    "checks/run/plain_data.py",
    "checks/run/world.py",
    "checks/run/wire.py",
    "classroom/sandbox/worker.py",
)
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache")
FIRST_USER = 30_000


class SandboxError(RuntimeError):
    """There is no sound sandbox on this machine."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use: bytes, processes, and seconds of the clock and the processor."""

    memory: int = 3 * 2**30
    address_space: int = 12 * 2**30
    processes: int = 64
    file: int = 64 * 2**20
    descriptors: int = 256
    processor: int = 300
    start: float = 60.0
    cells: float = 60.0
    call: float = 10.0


def environment() -> dict[str, str]:
    """What the worker finds around it, and nothing of ours."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return one | {
        "PATH": "/usr/bin:/bin", "HOME": "/tmp", "IPYTHONDIR": "/tmp/ipython", "LANG": "C.UTF-8",
        "MPLBACKEND": "agg", "MPLCONFIGDIR": "/tmp/matplotlib", "PYTHONHASHSEED": "0",
    }  # fmt: skip


@cache
def inside() -> Path:
    """A folder with the few files of the course that go into the sandbox."""
    folder = Path(tempfile.mkdtemp(prefix="course-inside-"))
    folder.chmod(0o755)
    for name in INSIDE:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, path)
        for package in path.relative_to(folder).parents[:-1]:
            (folder / package / "__init__.py").touch()
    shutil.copy(ROOT / "classroom/sandbox/silent_checks.py", folder / "checks/__init__.py")
    return folder


def python(folder: str) -> list[str]:
    """The worker, started apart from every setting and package of the user's."""
    return [sys.executable, "-I", "-B", f"{folder}/classroom/sandbox/worker.py"]


def limited(limits: Limits) -> list[str]:
    """`prlimit` with the limits of each process."""
    sizes = {
        "as": limits.address_space, "stack": 8 * 2**20, "nofile": limits.descriptors,
        "fsize": limits.file, "core": 0, "cpu": limits.processor,
    }  # fmt: skip
    return ["prlimit", *(f"--{name}={size}" for name, size in sizes.items())]


def few(limits: Limits) -> list[str]:
    """`prlimit` for the number of processes, which Linux counts by user and namespace of users.

    Root's sandboxes are a user each. Anybody else's have a namespace each, and the limit must be
    set within it: set outside, it would count all processes of whoever grades.
    """
    return ["prlimit", f"--nproc={limits.processes}"]


def bare(limits: Limits, user: int) -> list[str]:
    """The worker without walls, for those who trust their students in so many words."""
    return [*limited(limits), *python(str(inside()))]


def wrapped(limits: Limits, user: int) -> list[str]:
    """The worker in namespaces of its own, on a system that it can only read."""
    if not shutil.which("bwrap"):
        raise SandboxError("bubblewrap is not installed: apt install bubblewrap")
    walls = [
        "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
        "--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev",
        "--perms", "1777", "--size", str(limits.file), "--tmpfs", "/tmp", "--chdir", "/tmp",
        *readable(),
    ]  # fmt: skip
    if os.geteuid() != 0:
        return [*limited(limits), *walls, "--unshare-user", *few(limits), *python(HERE)]
    capabilities = ["--cap-drop", "ALL"]
    for name in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
        capabilities += ["--cap-add", name]
    nobody = [
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
        "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs",
    ]  # fmt: skip
    return [*limited(limits), *few(limits), *walls, *capabilities, *nobody, *python(HERE)]


def readable() -> Iterator[str]:
    """What can be seen inside: the system, this Python with its packages, the few files."""
    bound = [Path(one) for one in SYSTEM]
    bound += [Path(sys.base_prefix), Path(sys.prefix), *interpreter()]
    seen: set[Path] = set()
    for path in bound:
        if not path.exists() or any(path.is_relative_to(one) for one in seen):
            continue
        seen.add(path)
        for parent in reversed(path.parents[:-1]):
            # bubblewrap makes missing folders that only root may enter.
            if not any(parent.is_relative_to(one) for one in seen):
                yield from ("--perms", "0755", "--dir", str(parent))
        yield from ("--ro-bind", str(path), str(path))
    yield from ("--ro-bind", str(inside()), HERE)


def interpreter() -> Iterator[Path]:
    """The folders through which links lead from this Python to the one it stands for."""
    path = Path(sys.executable)
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path.parent
