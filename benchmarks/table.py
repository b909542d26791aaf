"""What was measured, as the two tables that BENCHMARKS.md shows.

python benchmarks/table.py            print them
python benchmarks/table.py --write    put them between its markers
"""

import json
import sys
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS, README = HERE / "results.json", HERE.parent / "BENCHMARKS.md"
BUILDING = HERE / "building.json"
MARKERS = "<!-- benchmarks: made by benchmarks/table.py -->", "<!-- end of benchmarks -->"
SPEEDS = "<!-- speeds: made by benchmarks/table.py -->", "<!-- end of speeds -->"
LIMITS = {  # what was measured, in words, and the most seconds that it may take
    "book": ("The whole book, from clean", 20),
    "draft": ("A sentence saved, until its page says it", 4),
    "test": ("`make test`, on two processors", 1200),
}
NOTEBOOK = 90
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


def speeds(found: dict) -> str:
    """What making the book takes, against what it may take, and the longest notebooks."""
    said, pages = found["machine"], found["notebooks"]
    lines = [f"Measured on {said['date']}: {said['processor']}, Python {said['python']}.",
             "", "| | time | at most |", "|---|--:|--:|"]  # fmt: skip
    for key, (what, most) in LIMITS.items():
        if key in found["seconds"]:
            lines.append(f"| {what} | {seconds(found['seconds'][key])} | {seconds(most)} |")
    for page in sorted(pages, key=pages.get, reverse=True)[:3]:
        lines.append(f"| {page}.ipynb | {seconds(pages[page])} | {NOTEBOOK} s |")
    lines.append(f"| All {len(pages)} notebooks together | {seconds(sum(pages.values()))} | |")
    return "\n".join(lines)


def seconds(taken: float) -> str:
    """Three digits, in seconds, or in minutes from ten minutes on."""
    return f"{taken / 60:.3g} minutes" if taken >= 600 else f"{taken:.3g} s"


def beyond(found: dict) -> list[str]:
    """What took longer than it may."""
    taken = {**found["seconds"], **found["notebooks"]}
    most = {key: limit for key, (_, limit) in LIMITS.items()}
    return [f"{key}: {time:.3g} s, of at most {most.get(key, NOTEBOOK)}"
            for key, time in taken.items() if time > most.get(key, NOTEBOOK)]  # fmt: skip


def tables() -> dict[tuple[str, str], str]:
    """What belongs between which markers."""
    known = json.loads(BUILDING.read_text("utf8")) if BUILDING.exists() else None
    return {
        MARKERS: markdown(json.loads(RESULTS.read_text("utf8"))),
        SPEEDS: speeds(known) if known else "Not measured yet on a quiet machine: `make speeds`.",
    }


def placed(page: str, text: str, markers: tuple[str, str] = MARKERS) -> str:
    """The page with the text between its markers, in the place of what stood there."""
    before, rest = page.split(markers[0])
    after = rest.split(markers[1])[1]
    return f"{before}{markers[0]}\n{text}\n{markers[1]}{after}"


def main() -> None:
    page = README.read_text("utf8")
    for markers, text in tables().items():
        page = placed(page, text, markers)
        if "--write" not in sys.argv:
            print(text)
    if "--write" in sys.argv:
        README.write_text(page, "utf8")


if __name__ == "__main__":
    main()
