"""Lay in what pages load: the scripts, bundled by esbuild, the page's Python, and the real models.

    python -m book.live.front_end FOLDER

writes them to a folder and prints, as JSON, what the pages must know of them. It takes seconds on
a new machine, so the book reads its pages meanwhile.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils.nodes import make_id

from book.catalogue.remember import asked_for, for_the_page
from book.live.build import CACHE, MANIFEST, PyodideMissingError, build_live
from book.live.contents import ROOT
from book.live.model import about_minilm, build_minilm
from book.live.others import write_others
from book.node import node
from lib.pretrained.smollm2_package import SHA256, installed_file

BROWSER = ROOT / "book" / "live" / "browser"
ESBUILD = ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"
HEADING = re.compile(r"^## ((\d+\.\d+) (.+))$", re.MULTILINE)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
About = dict[str, Any]


class FrontEndMissingError(Exception):
    """What npm installs is not there."""


def lay_in(folder: Path) -> About:
    """Write everything below a folder; return the script's name, the models, and Python's size.

    Raises: FrontEndMissingError, PyodideMissingError, with what to do; RuntimeError if what node
    or esbuild was given does not work.
    """
    if not ESBUILD.exists():
        raise FrontEndMissingError(
            "The front end is not installed: `make book` installs and builds."
        )
    made = build_live()
    leave_out = shutil.ignore_patterns(MANIFEST)
    shutil.copytree(made, folder / "python", ignore=leave_out, dirs_exist_ok=True)
    manifest = json.loads((made / MANIFEST).read_text("utf8"))
    model, minilm = lay_in_model(folder / "model"), lay_in_minilm(folder / "model")
    script = bundle(folder, manifest, chapters(ROOT / "exercises"), model, minilm)
    return {"script": script, "model": model, "minilm": minilm, "megabytes": megabytes(manifest)}


def chapters(folder: Path) -> list[About]:
    """The exercises in order, each with the number, the title and the anchor of its tasks."""
    every = []
    for path in sorted(folder.glob("[0-9]*.md")):
        text = path.read_text("utf8")
        tasks = [
            {"number": number, "title": title.replace("`", ""), "anchor": make_id(heading)}
            for heading, number, title in HEADING.findall(text)
        ]
        title = TITLE.search(text)[1]
        page = f"{folder.name}/{path.stem}.html"
        every.append({"number": path.stem[:2], "title": title, "page": page, "tasks": tasks})
    return every


def lay_in_model(folder: Path) -> About | None:
    """Lay SmolLM2 in, if it is installed, and return its name, size and digest."""
    try:
        source = installed_file()
    except FileNotFoundError:
        return None
    place = folder / f"smollm2-{SHA256[:10]}.gguf"
    if not place.exists():
        folder.mkdir(exist_ok=True)
        try:
            place.hardlink_to(source)
        except OSError:  # a different disk
            shutil.copyfile(source, place)
    return {"file": place.name, "bytes": source.stat().st_size, "sha256": SHA256}


def lay_in_minilm(folder: Path) -> About | None:
    """Lay MiniLM in, if it is installed, and return what the page must know of it."""
    packed = build_minilm(CACHE)
    if packed is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(packed, folder / packed.name)
    return about_minilm(packed)


def megabytes(about: About) -> int:
    """How much a reader loads."""
    return round(about["bytes"] / 1e6)


def bundle(
    folder: Path, manifest: About, every: list[About], model: About | None, minilm: About | None
) -> str:
    """Bundle the scripts into a folder, and return the name of the one that pages load."""
    counts = {chapter["number"]: len(chapter["tasks"]) for chapter in every}
    # As text, each stands only in the script that reads it; as objects, in one that all load.
    given = {
        "PYTHON": json.dumps(manifest),
        "PYTHON_MB": megabytes(manifest),
        "MODEL": json.dumps(model),
        "MINILM": json.dumps(minilm),
        "CHAPTERS": json.dumps(every),
        "TASK_COUNTS": json.dumps(counts),
        "ASKED_FOR": json.dumps(asked_for()),
        "OTHERS": json.dumps(write_others(folder)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    questions = folder / "questions.json"
    questions.write_text(json.dumps(for_the_page(), ensure_ascii=False), "utf8")
    metafile = folder / "about.json"
    command = [
        node(), ESBUILD, BROWSER / "live.js", "--bundle", "--splitting", "--minify",
        "--format=esm", "--target=es2022", "--log-level=warning", f"--outdir={folder}",
        "--entry-names=[name]-[hash]", "--chunk-names=[name]-[hash]", f"--metafile={metafile}",
        f"--alias:course-questions={questions}",
        *(f"--define:{name}={json.dumps(value)}" for name, value in given.items()),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    questions.unlink()
    if done.returncode:
        raise RuntimeError(f"The scripts of the exercises could not be bundled:\n{done.stderr}")
    outputs = json.loads(metafile.read_text("utf8"))["outputs"]
    metafile.unlink()
    entry = BROWSER.relative_to(ROOT).as_posix() + "/live.js"
    return next(
        Path(name).name for name, made in outputs.items() if made.get("entryPoint") == entry
    )


if __name__ == "__main__":
    try:
        print(json.dumps(lay_in(Path(sys.argv[1]))))
    except (FrontEndMissingError, PyodideMissingError) as problem:
        sys.exit(str(problem))
