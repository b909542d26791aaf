"""Fill the tables of BENCHMARKS.md from the results of every family of processors.

python -m benchmarks.table            print them
python -m benchmarks.table --write    put them between the markers of BENCHMARKS.md
"""

import json
import sys
from pathlib import Path

from benchmarks import record, speeds
from benchmarks.sections import SECTIONS

PAGE = Path(__file__).resolve().parents[1] / "BENCHMARKS.md"
DROPPED = record.RESULTS / "dropped.json"
OURS = "ours"
Runs = dict[str, dict]


def duration(milliseconds: float) -> str:
    """Three digits, in seconds or milliseconds."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s"
    return f"{milliseconds:.3g} ms"


def faster(row: dict) -> bool:
    """Whether a peer is faster than ours, by more than its spread."""
    ratio = row.get("ratio", [0])
    return not row["name"].startswith(OURS) and ratio[0] > 1


def cell(row: dict | None) -> str:
    """The time, ours / theirs with its quartiles, and what else is known."""
    if row is None:
        return ""
    parts = [duration(row["milliseconds"])] if "milliseconds" in row else []
    if ratio := row.get("ratio"):
        middle = f"{ratio[len(ratio) // 2]:.2f}"
        spread = f" ({ratio[0]:.2f} to {ratio[2]:.2f})" if len(ratio) == 3 else ""
        parts.append(f"**{middle}**{spread}" if faster(row) else f"{middle}{spread}")
    if "share_of_peak" in row:
        parts.append(f"{row['share_of_peak']:.0%} of peak")
    if "error" in row:
        parts.append(f"error {row['error']:.1e}")
    if "extra_bytes" in row:
        parts.append(f"{row['extra_bytes'] / 1e6:,.1f} MB extra, grows as "
                     f"n to the {row['memory_exponent']:.2f}")  # fmt: skip
    return "; ".join(parts)


def contests(families: Runs) -> dict[str, dict[str, list[dict]]]:
    """{contest: {family: rows}}, in the order of the sections."""
    rows_of: dict[str, dict[str, list[dict]]] = {}
    runs = [(run, family) for family, known in families.items() for run in known["runs"]]
    order = list(SECTIONS)
    runs.sort(key=lambda pair: (order.index(pair[0]["section"]), pair[0]["threads"]))
    for run, family in runs:
        for row in run["rows"]:
            what = row["what"] + (f", {run['threads']} threads" if run["threads"] > 1 else "")
            rows_of.setdefault(what, {}).setdefault(family, []).append(row)
    return rows_of


def results(families: Runs) -> str:
    """One table, every family side by side."""
    lines = [f"| | {' | '.join(families)} |", "|---" * (len(families) + 1) + "|"]
    for what, measured in contests(families).items():
        lines.append(f"| **{what}** {'| ' * len(families)}|")
        names = dict.fromkeys(row["name"] for rows in measured.values() for row in rows)
        for name in names:
            cells = [
                cell(next((row for row in measured.get(family, []) if row["name"] == name), None))
                for family in families
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def where_faster(families: Runs) -> str:
    """Every contest in which a peer is faster, and by how much."""
    lines = []
    for what, measured in contests(families).items():
        for family, rows in measured.items():
            won = [f"{row['name']} ({row['ratio'][len(row['ratio']) // 2]:.2f})"
                   for row in rows if faster(row)]  # fmt: skip
            if won:
                lines.append(f"- {what}, {family}: {', '.join(won)}.")
    return "\n".join(lines) or "No peer was faster."


def origins(families: Runs) -> str:
    """When, where and on which commit each number was measured, and what is missing."""
    lines = ["| family | measured | on | sections |", "|---|---|---|---|"]
    for family, known in families.items():
        groups: dict[tuple, list[str]] = {}
        for run in known["runs"]:
            measured = run["measured"]
            how = f"{measured['date']}, commit {measured['commit']}, torch {measured['torch']}"
            if measured.get("clock") == "cpu":
                how += f", CPU time on a busy machine (load {measured['busy']:.1f} a core)"
            if measured.get("note"):
                how += f"; {measured['note']}"
            key = (how, f"{measured['processor']} ({', '.join(measured['flags'])})")
            groups.setdefault(key, []).append(f"{run['section']} ({run['threads']})")
        for (how, where), sections in groups.items():
            lines.append(f"| {family} | {how} | {where} | {', '.join(sections)} |")
    reasons: dict[tuple[str, str], list[str]] = {}
    for family, known in families.items():
        for run in known["runs"]:
            for peer, why in run["missing"].items():
                where = f"{peer} in {run['section']} ({run['threads']})"
                reasons.setdefault((family, why), []).append(where)
    missing = [f"- {family}: {why}: {'; '.join(where)}."
               for (family, why), where in reasons.items()]  # fmt: skip
    return "\n".join([*lines, "", "Not measured (with the number of threads):", "",
                      *(missing or ["- nothing"])])  # fmt: skip


def dropped() -> str:
    """What was deleted because it did not pay everywhere, with the ratios that decided."""
    known = json.loads(DROPPED.read_text("utf8"))
    families = known["families"]
    lines = [f"| what | {' | '.join(families)} | why |", "|---" * (len(families) + 2) + "|"]
    for row in known["rows"]:
        cells = [row["ratios"].get(family, "") for family in families]
        lines.append(f"| {row['what']} | {' | '.join(cells)} | {row['why']} |")
    return "\n".join(lines)


def goals(families: Runs) -> str:
    """What the course aims at, and what was measured: ours / the best peer."""
    lines = [f"| ours / the best peer of its kind | at most | {' | '.join(families)} |",
             "|---" * (len(families) + 2) + "|"]  # fmt: skip
    for goal, (what, limit, peers) in GOALS.items():
        cells = []
        for family in families:
            ratios = [
                (row["ratio"][len(row["ratio"]) // 2], row["name"])
                for name, measured in contests(families).items() if name.startswith(what)
                for row in measured.get(family, [])
                if row["name"] in peers and "ratio" in row
            ]  # fmt: skip
            worst, name = max(ratios, default=(0, ""))
            verdict = "met" if worst <= limit else "missed"
            cells.append(f"{worst:.2f} ({name}): {verdict}" if ratios else "")
        lines.append(f"| {goal} | {limit:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


NATIVE = ("CTranslate2", "llama.cpp", "ONNX Runtime", "OpenVINO")
EAGER = ("transformers", "TransformerLens", "x-transformers", "llms-from-scratch")
GOALS = {  # the goal: (the contests, the limit, the peers)
    "plain forward pass, eager torch": ("Forward pass", 1.05, EAGER),
    "plain step of training, eager torch": (
        "One step of training", 1.05, ("joint-projection GPT", "transformers"),
    ),
    "greedy decoding in float32, native engines": ("Greedy decoding in float32", 1.0, NATIVE),
    "a token of SmolLM2 in float32, 1.85 times as fast": (
        "One token of SmolLM2", 0.54, ("transformers",),
    ),
    "greedy decoding in int8, all": (
        "Greedy decoding in int8", 1.0,
        ("torch, quantize_dynamic", "CTranslate2, int8", "llama.cpp, Q8_0"),
    ),
}  # fmt: skip


def tables() -> dict[str, str]:
    """What belongs between which markers."""
    families = record.load()
    return {
        "goals": goals(families),
        "results": results(families),
        "where a peer is faster": where_faster(families),
        "dropped": dropped(),
        "origins": origins(families),
        "speeds": speeds.table(),
        "waits": speeds.waits(),
    }


def markers(name: str) -> tuple[str, str]:
    """The comments around a table."""
    return f"<!-- {name}: made by benchmarks/table.py -->", f"<!-- end of {name} -->"


def placed(page: str, name: str, text: str) -> str:
    """The page with the text between its markers, in the place of what stood there."""
    start, end = markers(name)
    before, rest = page.split(start)
    return f"{before}{start}\n{text}\n{end}{rest.split(end)[1]}"


def main() -> None:
    page = PAGE.read_text("utf8")
    for name, text in tables().items():
        page = placed(page, name, text)
        if "--write" not in sys.argv:
            print(text, end="\n\n")
    if "--write" in sys.argv:
        PAGE.write_text(page, "utf8")


if __name__ == "__main__":
    main()
