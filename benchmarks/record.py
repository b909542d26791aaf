"""What was measured, kept for each kind of processor: benchmarks/results/FAMILY.json."""

import datetime
import json
import os
import platform
import subprocess
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measuring import Section, Setting

RESULTS = Path(__file__).resolve().parent / "results"
# The first set that a processor has decides its family: each is about twice as wide as the next.
INSTRUCTIONS = {"amx_tile": "amx", "avx512f": "avx512", "avx2": "avx2", "sve": "sve"}
VENDORS = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}
PACKAGES = (
    "transformers", "transformer-lens", "x-transformers", "llms-from-scratch", "ctranslate2",
    "llama-cpp-python", "onnxruntime", "openvino", "tokenizers", "tiktoken", "numpy", "numba",
)  # fmt: skip
BUSY = 0.25  # work already under way, as a share of the processors


def processor(cpuinfo: str | None = None) -> dict[str, str]:
    """What /proc/cpuinfo says of the first processor; nothing where there is no such file."""
    path = Path("/proc/cpuinfo")
    if cpuinfo is None:
        cpuinfo = path.read_text("utf8") if path.exists() else ""
    pairs = [line.split(":", 1) for line in cpuinfo.split("\n\n")[0].splitlines()]
    return {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) == 2}


def family(cpuinfo: str | None = None) -> str:
    """The vendor and the widest instruction set, such as amd-avx2, intel-amx, arm64."""
    known = processor(cpuinfo)
    flags = (known.get("flags") or known.get("Features") or "").split()
    vendor = VENDORS.get(known.get("vendor_id", ""), platform.machine().lower())
    widest = next((name for flag, name in INSTRUCTIONS.items() if flag in flags), None)
    return "-".join(filter(None, (vendor, widest)))


def circumstances(setting: Setting) -> dict[str, object]:
    """Say where, when and on which code, so that a number can be read later."""
    known = processor()
    flags = (known.get("flags") or "").split()
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit(),
        "processor": known.get("model name") or platform.processor() or platform.machine(),
        "flags": [flag for flag in INSTRUCTIONS if flag in flags],
        "threads": setting.threads,
        "clock": setting.clock if setting.threads == 1 else "wall",
        "busy": round(os.getloadavg()[0] / (os.cpu_count() or 1), 2),
        "python": platform.python_version(),
        "torch": version("torch"),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """What is installed of the packages that are measured."""
    installed = {}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def commit() -> str:
    """The commit that was measured, with a + if the code has changed since."""
    asked = ["git", "describe", "--always", "--abbrev=7", "--dirty=+", "--exclude=*"]
    done = subprocess.run(asked, cwd=RESULTS, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def load() -> dict[str, dict]:
    """Every family that was measured, by its name."""
    files = sorted(RESULTS.glob("*-*.json")) + sorted(RESULTS.glob("arm64.json"))
    return {path.stem: json.loads(path.read_text("utf8")) for path in files}


def store(name: str, section: Section, setting: Setting, known_as: str | None = None) -> Path:
    """Put one section into its family's file; the other sections keep what they have."""
    path = RESULTS / f"{known_as or family()}.json"
    known = json.loads(path.read_text("utf8")) if path.exists() else {"runs": []}
    run = {"section": name, "threads": setting.threads, "measured": circumstances(setting)}
    run |= asdict(section)
    others = [each for each in known["runs"] if key(each) != key(run)]
    known["runs"] = sorted([*others, run], key=key)
    path.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", "utf8")
    return path


def key(run: dict) -> tuple[str, int]:
    """What a run replaces when it is measured again."""
    return run["section"], run["threads"]
