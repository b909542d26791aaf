"""Whether a sandbox holds on this machine: it is tried, not believed."""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from classroom.sandbox.isolation import SandboxError
from classroom.sandbox.remote_answer import answer_named, run_cells
from classroom.sandbox.sandbox import EndedError, Sandbox

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

def found(folder, port):
    return {
        "sees a folder of the host": os.path.exists(folder),
        "writes into a folder of the host": tried(lambda: write(folder + "/probe")),
        "writes into the system": tried(lambda: write("/usr/probe")),
        "reaches the network": tried(lambda: connect(port)),
        "is root": os.getuid() == 0,
        "may become root": tried(lambda: os.setuid(0)),
        "sees the processes of others": sum(one.isdigit() for one in os.listdir("/proc")) > 4,
    }
"""


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: what it is, whether it is as it should be, and the remedy."""

    what: str
    sound: bool
    remedy: str = ""

    def __str__(self) -> str:
        return f"{'good' if self.sound else 'BAD '}  {self.what}{self.remedy and ': '}{self.remedy}"


def examine() -> list[Finding]:
    """Look for the tools, start a sandbox, and try from inside what nobody may do there."""
    findings = [
        Finding(
            "this is Linux",
            sys.platform == "linux",
            "" if sys.platform == "linux" else "grade in a virtual machine or WSL",
        )
    ]
    for tool, remedy in TOOLS.items():
        there = shutil.which(tool) is not None
        findings.append(Finding(f"{tool} is installed", there, "" if there else remedy))
    if not all(one.sound for one in findings):
        return findings
    try:
        return findings + tried()
    except (EndedError, SandboxError, OSError) as error:
        remedy = (
            f"{error}; user namespaces may be forbidden here (a rule of AppArmor, or a container)"
        )
        return [*findings, Finding("a sandbox starts", False, remedy)]


def tried() -> list[Finding]:
    """What a hostile cell could do."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        Path(folder).chmod(0o777)
        with Sandbox() as sandbox:
            run_cells(sandbox, [PROBE])
            port = server.getsockname()[1]
            told = answer_named(sandbox, "found")(folder, port)
    return [Finding("a sandbox starts", True)] + [
        Finding(
            f"nothing inside {what}", done is False, "" if done is False else "do not grade here"
        )
        for what, done in told.items()
    ]


def demand_soundness() -> None:
    """A SandboxError with all that is wrong, unless everything is as it should be."""
    bad = [str(one) for one in examine() if not one.sound]
    if bad:
        raise SandboxError("\n".join([
            "Nothing was graded: student code would run without walls here.", *bad,
            "To grade all the same, with students whose code may do whatever you can: "
            "--i-trust-these-students",
        ]))  # fmt: skip
