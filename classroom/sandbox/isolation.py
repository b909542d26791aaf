"""Isolate the worker: build the command that starts a process which can only compute.

`bubblewrap` gives it its own namespaces and a read-only system, `setpriv` removes its rights,
`prlimit` limits each of its processes, and where systemd runs it limits all of them together.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOUNTED = "/course"
# An explicit list, so that no import can bring a file into the sandbox that nobody looked at.
# A test holds that the worker needs all of these and no other file of the course.
INSIDE = (
    "checks/status.py",
    "checks/task.py",
    "checks/capstone_drivers.py",
    "checks/drivers.py",
    "checks/run/call.py",
    "checks/run/clock.py",
    "checks/run/errors.py",
    "checks/run/library_used.py",
    "checks/run/nodes.py",
    "checks/run/plain_data.py",
    "checks/run/world.py",
    "checks/wire/messages.py",
    "checks/wire/values.py",
    "classroom/sandbox/provided_modules.py",
    "classroom/sandbox/shared_arguments.py",
    "classroom/sandbox/worker.py",
)
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache")
WRITABLE = ("/tmp", "/dev/shm")
SESSION = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # how systemd is reached
SPARE_MEMORY = 2**28  # so that the grader, which can say what happened, is the first to notice
FIRST_USER = 30_000


class SandboxError(RuntimeError):
    """This machine has no sound sandbox."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use: bytes, processes, seconds of wall time and of CPU time."""

    memory: int = 3 * 2**30
    address_space: int = 12 * 2**30
    processes: int = 64
    file: int = 64 * 2**20
    descriptors: int = 256
    cpu_seconds: int = 300
    start: float = 60.0
    cells: float = 60.0
    call: float = 10.0
    submission: float = 300.0


def worker_environment() -> dict[str, str]:
    """Return the environment of the worker's command; of the user's it has the way to systemd."""
    session = {name: os.environ[name] for name in SESSION if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return session | threads | {
        "PATH": "/usr/bin:/bin", "HOME": "/tmp", "IPYTHONDIR": "/tmp/ipython", "LANG": "C.UTF-8",
        "MPLBACKEND": "agg", "MPLCONFIGDIR": "/tmp/matplotlib", "PYTHONHASHSEED": "0",
    }  # fmt: skip


@cache
def course_files() -> Path:
    """Copy the few files of the course that go into the sandbox to a folder."""
    folder = Path(tempfile.mkdtemp(prefix="course-inside-"))
    # Processes of a pool end without `atexit`.
    Finalize(None, shutil.rmtree, (folder,), {"ignore_errors": True}, exitpriority=1)
    folder.chmod(0o755)
    for name in INSIDE:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, path)
        for package in path.relative_to(folder).parents[:-1]:
            (folder / package / "__init__.py").touch()
    shutil.copy(ROOT / "classroom/sandbox/silent_checks.py", folder / "checks/__init__.py")
    return folder


def worker_command(folder: str) -> list[str]:
    """Return the command of the worker, without the user's settings and packages."""
    alone = ["--alone"] if folder == MOUNTED else []
    return [sys.executable, "-I", "-B", f"{folder}/classroom/sandbox/worker.py", *alone]


def limit_resources(limits: Limits) -> list[str]:
    """Return the `prlimit` command with the limits of each process."""
    sizes = {
        "as": limits.address_space, "stack": 8 * 2**20, "nofile": limits.descriptors,
        "fsize": limits.file, "core": 0, "cpu": limits.cpu_seconds,
    }  # fmt: skip
    return ["prlimit", *(f"--{name}={size}" for name, size in sizes.items())]


def limit_processes(limits: Limits) -> list[str]:
    """Return the `prlimit` command for the number of processes.

    Linux counts them by user and user namespace. If root grades, each sandbox is a different user.
    Otherwise each has its own namespace, and the limit must be set inside it: outside, it would
    count all processes of the user who grades.
    """
    return ["prlimit", f"--nproc={limits.processes}"]


@cache
def control_group(limits: Limits) -> tuple[str, ...]:
    """Return the command that limits the memory of all processes together; nothing without systemd.

    Memory that no process has mapped counts there as well. Elsewhere the calls that make such
    memory are refused, and what the processes hold is measured ten times a second.
    """
    scope = [
        "systemd-run", *([] if os.geteuid() == 0 else ["--user"]), "--scope", "--quiet",
        "--collect", "-p", f"MemoryMax={limits.memory + SPARE_MEMORY}", "-p", "MemorySwapMax=0",
        "-p", f"TasksMax={2 * limits.processes}", "--",
    ]  # fmt: skip
    try:
        done = subprocess.run([*scope, "true"], capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return () if done.returncode else tuple(scope)


def unsandboxed_command(limits: Limits, user: int, calls: int) -> list[str]:
    """Return the worker without isolation, for `--i-trust-these-students`."""
    prlimit = limit_resources(limits) if sys.platform == "linux" else []
    return [*prlimit, *worker_command(str(course_files()))]


def sandboxed_command(limits: Limits, user: int, calls: int) -> list[str]:
    """Return the worker in its own namespaces, on a read-only system.

    `calls` is the descriptor of the filter of system calls.
    """
    if not shutil.which("bwrap"):
        raise SandboxError(
            "grading needs bubblewrap (Linux), and it is not installed: apt-get install bubblewrap"
        )
    bubblewrap = [
        "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
        "--die-with-parent", "--new-session", "--seccomp", str(calls), "--proc", "/proc",
        *hidden_files(), "--dev", "/dev",
        *(word for folder in WRITABLE for word in writable_mount(folder, limits)),
        *readable_mounts(), "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp",
        *(word for name in SESSION for word in ("--unsetenv", name)),
    ]  # fmt: skip
    if os.geteuid() != 0:
        return [
            *control_group(limits),
            *limit_resources(limits),
            *bubblewrap,
            "--unshare-user",
            *limit_processes(limits),
            *worker_command(MOUNTED),
        ]
    capabilities = ["--cap-drop", "ALL"]
    for name in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
        capabilities += ["--cap-add", name]
    setpriv = [
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
        "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs",
    ]  # fmt: skip
    return [
        *control_group(limits),
        *limit_resources(limits),
        *limit_processes(limits),
        *bubblewrap,
        *capabilities,
        *setpriv,
        *worker_command(MOUNTED),
    ]


def writable_mount(folder: str, limits: Limits) -> list[str]:
    """Mount an empty folder of limited size in memory."""
    return ["--perms", "1777", "--size", str(limits.file), "--tmpfs", folder]


def hidden_files() -> Iterator[str]:
    """Cover what would show the names of the user's keys."""
    for path in ("/proc/keys", "/proc/key-users"):
        if Path(path).exists():
            yield from ("--ro-bind", "/dev/null", path)


def readable_mounts() -> Iterator[str]:
    """Mount what the worker may read: the system, this Python with its packages, the few files."""
    bound = [Path(folder) for folder in SYSTEM]
    bound += [Path(sys.base_prefix), Path(sys.prefix), *interpreter_folders()]
    seen: set[Path] = set()
    for path in bound:
        if not path.exists() or any(path.is_relative_to(folder) for folder in seen):
            continue
        seen.add(path)
        for parent in reversed(path.parents[:-1]):
            # bubblewrap makes missing folders that only root may enter.
            if not any(parent.is_relative_to(folder) for folder in seen):
                yield from ("--perms", "0755", "--dir", str(parent))
        yield from ("--ro-bind", str(path), str(path))
    yield from ("--ro-bind", str(course_files()), MOUNTED)


def interpreter_folders() -> Iterator[Path]:
    """Yield the folders through which this Python is linked to its original."""
    path = Path(sys.executable)
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path.parent
