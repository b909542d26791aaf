"""What was measured, as the table that the README shows.

python benchmarks/table.py            print it
python benchmarks/table.py --write    put it between the README's markers
"""

import json
import sys
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS, README = HERE / "results.json", HERE.parent / "README.md"
MARKERS = "<!-- benchmarks: made by benchmarks/table.py -->", "<!-- end of benchmarks -->"
NOTES = {
    "ratio_plain": "the plain model {0[1]:.2f}",
    "share_of_peak": "{0:.0%} of the peak",
    "share_of_bandwidth": "{0:.0%} of what reading the weights allows",
    "share_of_usual_bandwidth": "{0:.0%} of it from usual pages of memory",
    "milliseconds_a_token": "{0:.1f} ms a token",
    "error": "error {0:.1e} of the largest logit",
    "memory_exponent": "memory grows as n to the {0:z.2f}",
    "note": "{0}",
}


def duration(milliseconds: float) -> str:
    """Three digits, in seconds or milliseconds."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s"
    return f"{milliseconds:.3g} ms"


def line(row: dict) -> str:
    """One row: name, time, how long ours takes relative to it, and what else is known."""
    low, middle, high = row.get("ratio", [None] * 3)
    ratio = "" if middle is None else f"{middle:.2f}"
    ratio += "" if low in (None, middle) and high == low else f" ({low:.2f} to {high:.2f})"
    notes = [form.format(row[key]) for key, form in NOTES.items() if key in row]
    if "extra_bytes" in row:
        notes.append(f"{row['extra_bytes'] / 1e6:,.1f} MB beside the output")
    taken = duration(row["milliseconds"]) if "milliseconds" in row else ""
    return f"| {row['name']} | {taken} | {ratio} | {'; '.join(notes)} |"


def markdown(result: dict) -> str:
    """The whole table with the machine and the date above it."""
    said = result["machine"]
    lines = [
        f"Measured on {said['date']}: {said['processor']} ({', '.join(said['flags'])}), "
        f"{said['threads']} thread{'s' * (said['threads'] > 1)}, torch {said['torch']}, "
        f"Python {said['python']}; all in one run, in turn, outputs compared first.",
        "A ratio is ours / theirs, median and quartiles: below 1 we are faster.",
        "",
        "| | time | ours / theirs | |",
        "|---|---|---|---|",
    ]
    for what, rows in groupby(result["rows"], key=lambda row: row["what"]):
        lines += [f"| **{what}** | | | |", *map(line, rows)]
    for name, why in result["missing"].items():
        lines.append(f"| {name} | | | {why} |")
    return "\n".join(lines)


def placed(page: str, text: str) -> str:
    """The page with the text between its markers, in the place of what stood there."""
    before, rest = page.split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    return f"{before}{MARKERS[0]}\n{text}\n{MARKERS[1]}{after}"


def main() -> None:
    text = markdown(json.loads(RESULTS.read_text("utf8")))
    if "--write" not in sys.argv:
        print(text)
        return
    README.write_text(placed(README.read_text("utf8"), text), "utf8")


if __name__ == "__main__":
    main()
