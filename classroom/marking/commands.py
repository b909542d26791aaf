"""The command that opens the marking pages."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path
from typing import Any

from classroom.marking.page import MarkingDesk
from classroom.marking.server import MarkingServer


def add_marking_commands(commands: Any) -> None:
    """Describe the command."""
    command = commands.add_parser("mark", help="mark free text and plots by a rubric, in a browser")
    command.add_argument("folder", type=Path, help="the submissions, as `grade` was given them")
    command.add_argument("grades", type=Path, help="the table that `grade` wrote")
    command.add_argument("--anonymous", action="store_true", help="show numbers and no names")
    command.add_argument("--by", default="", help="who marks; you, if it is left out")
    command.add_argument("--port", type=int, default=8765, help="of the page on this machine")
    command.set_defaults(run=run_mark)


def run_mark(arguments: argparse.Namespace) -> int:
    """Serve the pages until Ctrl-C."""
    if not arguments.folder.is_dir():
        raise NotADirectoryError(f"{arguments.folder} must be the folder of submissions")
    desk = MarkingDesk(arguments.grades, arguments.folder, arguments.anonymous, arguments.by)
    with MarkingServer(desk, arguments.port) as server:
        print(f"Open {server.address} and end with Ctrl-C", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    print(f"\n{len(desk.waiting())} answers wait for a mark; the others are in {desk.marks.path}")
    return 0
