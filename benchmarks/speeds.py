"""What building the book takes, against what it may take."""

import json

from benchmarks.record import RESULTS

BUILDING = RESULTS / "building.json"
LIMITS = {  # what was measured, in words, and the most seconds that it may take
    "book": ("The whole book, from clean", 40),
    "draft": ("A sentence saved, until its page says it", 6),
    "test": ("`make test`, on two processors", 1200),
}
NOTEBOOK = 90


def table() -> str:
    """The table of the speeds on record."""
    if not BUILDING.exists():
        return "Not measured yet on a quiet machine: `make speeds`."
    return rendered(json.loads(BUILDING.read_text("utf8")))


def rendered(speeds: dict) -> str:
    """What each takes against its limit, and the longest notebooks."""
    where, pages = speeds["machine"], speeds["notebooks"]
    lines = [f"Measured on {where['date']}: {where['processor']}, Python {where['python']}.",
             "", "| | time | at most |", "|---|--:|--:|"]  # fmt: skip
    for key, (what, most) in LIMITS.items():
        if key in speeds["seconds"]:
            lines.append(f"| {what} | {seconds(speeds['seconds'][key])} | {seconds(most)} |")
    for page in sorted(pages, key=pages.get, reverse=True)[:3]:
        lines.append(f"| {page}.ipynb | {seconds(pages[page])} | {NOTEBOOK} s |")
    lines.append(f"| All {len(pages)} notebooks together | {seconds(sum(pages.values()))} | |")
    return "\n".join(lines)


def seconds(taken: float) -> str:
    """Three digits, in seconds, or in minutes from ten minutes on."""
    return f"{taken / 60:.3g} minutes" if taken >= 600 else f"{taken:.3g} s"


def beyond(speeds: dict) -> list[str]:
    """What took longer than it may."""
    taken = {**speeds["seconds"], **speeds["notebooks"]}
    most = {key: limit for key, (_, limit) in LIMITS.items()}
    return [f"{key}: {time:.3g} s, of at most {most.get(key, NOTEBOOK)}"
            for key, time in taken.items() if time > most.get(key, NOTEBOOK)]  # fmt: skip
