"""Test whether the sandbox holds on this machine, by attacks from inside."""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from classroom.sandbox.isolation import Limits, SandboxError, control_group
from classroom.sandbox.remote_answer import answer_named, run_cells
from classroom.sandbox.sandbox import Sandbox, SandboxEndedError
from classroom.sandbox.system_calls import LIBRARY, REFUSED, SystemCallFilter
from classroom.status import GradeStatus

TOOLS = {
    "bwrap": "apt-get install bubblewrap",
    "prlimit": "apt-get install util-linux",
    "setpriv": "apt-get install util-linux",
}
PROBE = """
import ctypes, os, socket

def tried(what):
    try:
        what()
    except BaseException:
        return False
    return True

def write(path):
    with open(path, "w") as file:
        file.write("x")

def connect(port):
    socket.create_connection(("127.0.0.1", port), 2).close()

CALLS = {
    "keyctl": (0, -3, 0), "memfd_create": (b"probe", 0), "shmget": (0, 4096, 0o1600),
    "io_uring_setup": (1, ctypes.create_string_buffer(120)), "unshare": (0x10000000,),
    "ptrace": (0, 0, 0, 0),
}

def made(number, *words):
    library = ctypes.CDLL(None, use_errno=True)
    return library.syscall(number, *words) != -1 or ctypes.get_errno() != 1

def writable_folders():
    return [name for name in ("/", "/dev", "/etc", "/usr", "/proc/sys", "/course")
            if tried(lambda: write(name + "/probe"))]

def room(folder):
    size = os.statvfs(folder)
    return size.f_blocks * size.f_frsize

def attempts(folder, port, numbers, most):
    return {
        "sees a folder of the host": os.path.exists(folder),
        "writes into a folder of the host": tried(lambda: write(folder + "/probe")),
        "writes into the system": tried(lambda: write("/usr/probe")),
        "reaches the network": tried(lambda: connect(port)),
        "is root": os.getuid() == 0,
        "may become root": tried(lambda: os.setuid(0)),
        "sees the processes of others": sum(name.isdigit() for name in os.listdir("/proc")) > 4,
        "writes outside of /tmp and /dev/shm": bool(writable_folders()),
        "stores more files than it may": max(map(room, ("/tmp", "/dev/shm"))) > most,
        "reads the names of your keys": tried(lambda: open("/proc/keys").read()),
        **{"makes the system call " + name: made(numbers[name], *words)
           for name, words in CALLS.items()},
    }
"""
# Memory that stays held while no process counts it as resident.
HOARD = """
import mmap
kept = mmap.mmap(-1, MUCH)
for start in range(0, MUCH, mmap.PAGESIZE):
    kept[start] = 1
kept.madvise(mmap.MADV_DONTNEED)
while True:
    pass
"""
LITTLE = 256 * 2**20


@dataclass(frozen=True)
class SandboxFinding:
    """One property of this machine: what was tested, whether it holds, and the remedy."""

    what: str
    sound: bool
    remedy: str = ""

    def __str__(self) -> str:
        return f"{'good' if self.sound else 'BAD '}  {self.what}{self.remedy and ': '}{self.remedy}"


def examine_sandbox() -> list[SandboxFinding]:
    """Look for the tools, start a sandbox, and attack it from inside."""
    if sys.platform != "linux":
        remedy = (
            f"the sandbox needs Linux, and this is {sys.platform}; "
            "grade in a container, in a virtual machine, or in WSL"
        )
        return [SandboxFinding("this is Linux", False, remedy)]
    findings = [SandboxFinding("this is Linux", True)]
    for tool, remedy in TOOLS.items():
        there = shutil.which(tool) is not None
        findings.append(SandboxFinding(f"{tool} is installed", there, "" if there else remedy))
    try:
        SystemCallFilter()
        findings.append(SandboxFinding(f"{LIBRARY} is installed", True))
    except OSError:
        remedy = "apt-get install libseccomp2"
        findings.append(SandboxFinding(f"{LIBRARY} is installed", False, remedy))
    if not all(finding.sound for finding in findings):
        return findings
    try:
        return [*findings, *probe_sandbox(), probe_memory(), describe_control_group()]
    except (SandboxEndedError, SandboxError, OSError) as error:
        remedy = (
            f"{error}; user namespaces may be forbidden here (a rule of AppArmor, or a container)"
        )
        return [*findings, SandboxFinding("a sandbox starts", False, remedy)]


def probe_sandbox() -> list[SandboxFinding]:
    """Try what a hostile cell would do."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        Path(folder).chmod(0o777)
        with Sandbox() as sandbox:
            run_cells(sandbox, [PROBE])
            port = server.getsockname()[1]
            calls = SystemCallFilter()
            numbers = {name: calls.number(name) for names in REFUSED.values() for name in names}
            most = sandbox.limits.file
            done_inside = answer_named(sandbox, "attempts")(folder, port, numbers, most)
    return [SandboxFinding("a sandbox starts", True)] + [
        SandboxFinding(
            f"nothing inside {what}", done is False, "" if done is False else "do not grade here"
        )
        for what, done in done_inside.items()
    ]


def probe_memory() -> SandboxFinding:
    """Try to hold more memory than is allowed, out of sight."""
    what = "nothing inside holds memory out of sight"
    with Sandbox(limits=Limits(memory=LITTLE, cells=20.0)) as sandbox:
        try:
            run_cells(sandbox, [HOARD.replace("MUCH", str(2 * LITTLE))])
        except SandboxEndedError as ended:
            held = ended.status == GradeStatus.OUT_OF_MEMORY
            return SandboxFinding(what, held, "" if held else f"it ended otherwise: {ended}")
    return SandboxFinding(what, False, "do not grade here")


def describe_control_group() -> SandboxFinding:
    """Say how memory is limited; both ways are sound."""
    if control_group(Limits()):
        return SandboxFinding("a cgroup of systemd limits memory", True)
    how = "what makes memory out of sight is refused, and the rest is measured ten times a second"
    return SandboxFinding("memory is limited without a cgroup", True, how)


def require_sandbox() -> None:
    """Raise a SandboxError that lists every finding that is not sound."""
    bad = [str(finding) for finding in examine_sandbox() if not finding.sound]
    if bad:
        raise SandboxError("\n".join([
            "Nothing was graded: the sandbox must be sound before student code runs; it is not.",
            *bad,
            "To grade without a sandbox, where student code can do whatever you can, add "
            "--i-trust-these-students",
        ]))  # fmt: skip
