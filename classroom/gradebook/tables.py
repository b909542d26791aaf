"""Read a table as any spreadsheet saves it, and write one that no spreadsheet changes.

A spreadsheet separates cells by commas, semicolons or tabs, writes UTF-8 with or without a mark,
UTF-16 or the encoding of Windows, and 2.5 as 2,5 where that is the custom.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SIGNS = r"=+\-@＝＋－＠﹢﹣﹦﹫"  # a cell that begins with any of these is a formula
MAX_TABLE = 50 * 2**20  # bytes


class UnwritableError(OSError):
    """The results cannot be written; what was written before is still there."""


@dataclass(frozen=True)
class Dialect:
    """How a table separates its cells, writes its numbers, and is encoded."""

    delimiter: str = ","
    encoding: str = "utf8"

    def cell(self, value: Any) -> Any:
        """Write a number with the comma that belongs to semicolons; make text safe."""
        if isinstance(value, float) and self.delimiter == ";":
            return str(value).replace(".", ",")
        return escape_cell(value, "," if self.delimiter == ";" else ";")


COMMAS = Dialect()
SEMICOLONS = Dialect(";", "utf-8-sig")  # the mark tells Excel the encoding


@dataclass(frozen=True)
class CsvTable:
    """The rows of a file, each by its columns, and the dialect in which it was saved."""

    path: Path
    columns: list[str]
    rows: list[dict[str, str]]
    dialect: Dialect = COMMAS

    def require(self, *columns: str) -> CsvTable:
        """Demand these columns."""
        if not set(columns) <= set(self.columns):
            raise ValueError(
                f"{self.path} must have the columns {', '.join(columns)}; got the columns "
                f"{', '.join(self.columns) or 'of an empty file'}. Name them in the first line"
            )
        return self

    def renamed(self, names: dict[str, tuple[str, ...]]) -> CsvTable:
        """Call columns as the course does, where a platform has other names for them."""
        known = {
            other: name for name, others in names.items() if name not in self.columns
            for other in others if other in self.columns
        }  # fmt: skip
        rows = [{known.get(key, key): cell for key, cell in row.items()} for row in self.rows]
        columns = [known.get(column, column) for column in self.columns]
        return replace(self, columns=columns, rows=rows)


PLATFORM_COLUMNS = {  # what Moodle's worksheet and Canvas's export call them
    "student": ("Full name", "Student"),
    "id": ("Identifier", "ID"),
    "date": ("Last modified (submission)",),
}


def read_table(path: Path) -> CsvTable:
    """Read a table in any dialect; the names of columns lose the spaces around them."""
    with open(path, "rb") as file:
        raw = file.read(MAX_TABLE + 1)
    if len(raw) > MAX_TABLE or raw.startswith(b"PK"):
        raise ValueError(f"{path} must be a table in CSV; it is a workbook or too large. "
                         "Save the sheet as CSV")  # fmt: skip
    text, encoding = decode_table(raw)
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep="):  # Excel's own line
        text = rest
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
                 if any(cell.strip() for cell in line)]  # fmt: skip
    except csv.Error as error:
        raise ValueError(f"{path} must be a table in CSV: {error}. Save it again as CSV") from None
    columns = [cell.strip() for cell in lines[0]] if lines else []
    rows = [dict(zip(columns, line + [""] * len(columns), strict=False)) for line in lines[1:]]
    return CsvTable(path, columns, rows, Dialect(delimiter, encoding))


def decode_table(raw: bytes) -> tuple[str, str]:
    """Decode a table; return its text, and the encoding in which to write it again."""
    encoding = next((name for mark, name in MARKS.items() if raw.startswith(mark)), "utf8")
    with suppress(UnicodeDecodeError):
        return raw.decode(encoding), "utf-8-sig" if encoding != "utf8" else "utf8"
    # The encoding of Windows has no letter for five bytes; such a table is shown, not refused.
    return raw.decode("cp1252", "replace"), "utf-8-sig"


def write_table(
    path: Path, columns: list[str], rows: Iterable[Iterable[Any]], dialect: Dialect = COMMAS
) -> None:
    """Write a table whole or not at all."""
    write_whole(path, table_text(columns, rows, dialect), dialect.encoding)


def table_text(columns: list[str], rows: Iterable[Iterable[Any]], dialect: Dialect = COMMAS) -> str:
    """Return the lines of a table, with every cell safe for a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=dialect.delimiter)
    for row in (columns, *rows):
        writer.writerow([dialect.cell(cell) for cell in row])
    return text.getvalue()


def write_whole(path: Path, text: str, encoding: str = "utf8") -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "w", encoding=encoding, newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise UnwritableError(f"{path} cannot be written: {error.strerror}") from None


def parse_number(cell: str, column: str, where: str) -> float:
    """Read a number with a point or a comma."""
    try:
        number = float(cell.strip().lstrip("'").replace(",", "."))
    except ValueError:
        number = float("nan")
    if number - number != 0:  # infinite, or no number
        raise ValueError(
            f"{column} in {where} must be a number; got {cell!r}. Correct the cell; if a "
            "spreadsheet made a date of it, open the file with the columns as text"
        )
    return number


def escape_cell(cell: Any, foreign: str = ";") -> Any:
    """Make text safe for a spreadsheet: one line, no formula, no character that files refuse.

    Full-width signs begin formulas too; a spreadsheet with other habits splits at `foreign`.
    """
    if not isinstance(cell, str):
        return cell
    text = "".join(character if character.isprintable() else " " for character in cell)
    text = text.encode("utf8", "backslashreplace").decode("utf8")
    text = re.sub(rf"({foreign}[\s'\"]*)(?=[{SIGNS}])", r"\1'", text)
    return f"'{text}" if cell.startswith(("\t", "\r")) or re.match(rf"\s*[{SIGNS}]", text) else text
