"""What building the book and Python in its page take, against what they may take."""

import json

from benchmarks.record import RESULTS

BUILDING = RESULTS / "building.json"
LIMITS = {  # what was measured, in words, and the most seconds that it may take
    "book": ("The whole book, from clean", 33),
    "book again": ("Every page again, the page's Python at hand", 20),
    "draft": ("A sentence saved, until its page says it", 4),
    "test": ("`make test`, on two processors", 1200),
}
NOTEBOOK = 90
WAITS = RESULTS / "in_the_page.json"
WAITS_LIMITS = {  # what a reader of a page waits for, in words, and the most seconds
    "verdict": ("From *Check* to the first verdict, nothing loaded before", 3),
    "verdict, later visit": ("The same on a later visit", 3),
    "next verdict": ("A further verdict", 0.3),
    "cell": ("From *Run* to the output of a chapter's cell, nothing loaded before", 3),
    "MiniLM": ("From *Open the real model* to its reading of a sentence", 5),
    "MiniLM, later visit": ("The same on a later visit", 4),
    "SmolLM2": ("From *Load SmolLM2* to the riddle's answer", 8),
    "SmolLM2, later visit": ("The same on a later visit", 6),
}
SLOWEST = 8  # tokens a second


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


def waits() -> str:
    """The table of the waits on record."""
    return waits_rendered(json.loads(WAITS.read_text("utf8")))


def waits_rendered(known: dict) -> str:
    """The waits against their limits."""
    machine, taken = known["machine"], known["waits"]
    lines = [f"Measured on {machine['date']}: {machine['processor']}, {known['cores']} processors, "
             f"{known['browser']}.", "", "| | time | at most |", "|---|--:|--:|"]  # fmt: skip
    for name, (words, most) in WAITS_LIMITS.items():
        lines.append(f"| {words} | {taken[name]:.2g} s | {most} s |")
    rate = f"{taken['tokens a second']:.2g}"
    return "\n".join([*lines, f"| *Continue*, tokens a second | {rate} | at least {SLOWEST} |"])
