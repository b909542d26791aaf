"""Find in a notebook what a student wrote and drew below a heading; nothing of it is run."""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from classroom.processes import ProcessStartError, SupervisedProcess
from classroom.submissions import open_upload
from classroom.unpacking.notebook_code import (
    MAX_BYTES,
    TOO_COMPLEX,
    RejectedError,
    cell_source,
    notebook_in_archive,
)

HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
MOST_TEXT, MOST_PARTS, MOST_SIDE = 20_000, 60, 4_000
READER_MEMORY, PATIENCE = 2**30, 30.0  # bytes, seconds
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class AnswerPart:
    """A piece of an answer: its kind (text, code, output or picture), and what it holds."""

    kind: str
    text: str


@cache
def answer_reader() -> SupervisedProcess:
    """The process that reads answers; a file that asks for too much ends only this one."""
    return SupervisedProcess(READER_MEMORY)


@cache
def reading_thread() -> ThreadPoolExecutor:
    """The thread that starts that process, which dies with it: a request's own thread ends soon."""
    return ThreadPoolExecutor(1)


def read_answer_apart(path: Path, below: str) -> list[AnswerPart]:
    """Read an answer in a process with little memory and time."""
    try:
        job = reading_thread().submit(answer_reader().run, PATIENCE, read_answer, path, below)
        return job.result()
    except (TimeoutError, BrokenExecutor, ProcessStartError):
        return [AnswerPart("text", f"This submission cannot be read: {TOO_COMPLEX}")]


def read_answer(path: Path, below: str) -> list[AnswerPart]:
    """Read the cells below a heading, up to the next heading of its level."""
    try:
        with open_upload(path) as file:
            raw = file.read(MAX_BYTES)
        if raw.startswith(b"PK"):
            raw = notebook_in_archive(raw)
        cells = json.loads(raw.decode("utf-8-sig"))["cells"]
        parts = [part for cell in cells_below(cells, below) for part in parts_of(cell)]
    except (RejectedError, OSError, ValueError, LookupError, TypeError, MemoryError,
            RecursionError) as error:  # fmt: skip
        return [AnswerPart("text", f"This submission cannot be read: {str(error)[:200]}")]
    return parts[:MOST_PARTS]


def cells_below(cells: list[Any], below: str) -> Iterator[dict[str, Any]]:
    """Yield the cells after the heading; the heading's own cell comes first."""
    level = 0
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        match = HEADING.match(cell_source(cell)) if cell.get("cell_type") == "markdown" else None
        if level and match and len(match[1]) <= level:
            return
        if match and below.casefold() in match[2].casefold() and not level:
            level = len(match[1])
        if level:
            yield cell


def parts_of(cell: dict[str, Any]) -> Iterator[AnswerPart]:
    """Yield the text of a cell, and what it shows."""
    kind = "code" if cell.get("cell_type") == "code" else "text"
    if source := cell_source(cell).strip():
        yield AnswerPart(kind, source[:MOST_TEXT])
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        output = output if isinstance(output, dict) else {}
        data = output.get("data") if isinstance(output.get("data"), dict) else {}
        if picture := safe_picture(data.get("image/png")):
            yield AnswerPart("picture", picture)
        elif text := joined(data.get("text/plain") or output.get("text")):
            yield AnswerPart("output", text[:MOST_TEXT])


def joined(text: Any) -> str:
    """Text that is stored whole or by lines."""
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""


def safe_picture(encoded: Any) -> str:
    """A PNG of ordinary size in base64, or nothing."""
    text = joined(encoded)
    if not text or len(text) > 4 * 2**20:
        return ""
    try:
        raw = base64.b64decode(text)
    except (binascii.Error, ValueError):
        return ""
    if len(raw) < 33 or not raw.startswith(PNG) or raw[12:16] != b"IHDR":
        return ""
    width, height = struct.unpack(">II", raw[16:24])
    return base64.b64encode(raw).decode() if 0 < max(width, height) <= MOST_SIDE else ""
