"""Test whether the sandbox holds on this machine, by attacks from inside."""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from classroom.sandbox.isolation import SandboxError
from classroom.sandbox.remote_answer import answer_named, run_cells
from classroom.sandbox.sandbox import Sandbox, SandboxEndedError

TOOLS = {
    "bwrap": "apt-get install bubblewrap",
    "prlimit": "apt-get install util-linux",
    "setpriv": "apt-get install util-linux",
}
PROBE = """
import os, socket

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

def attempts(folder, port):
    return {
        "sees a folder of the host": os.path.exists(folder),
        "writes into a folder of the host": tried(lambda: write(folder + "/probe")),
        "writes into the system": tried(lambda: write("/usr/probe")),
        "reaches the network": tried(lambda: connect(port)),
        "is root": os.getuid() == 0,
        "may become root": tried(lambda: os.setuid(0)),
        "sees the processes of others": sum(name.isdigit() for name in os.listdir("/proc")) > 4,
    }
"""


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
    if not all(finding.sound for finding in findings):
        return findings
    try:
        return findings + probe_sandbox()
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
            done_inside = answer_named(sandbox, "attempts")(folder, port)
    return [SandboxFinding("a sandbox starts", True)] + [
        SandboxFinding(
            f"nothing inside {what}", done is False, "" if done is False else "do not grade here"
        )
        for what, done in done_inside.items()
    ]


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
