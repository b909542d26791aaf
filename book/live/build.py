"""Make the files that a page's Python needs, under names that change with their contents.

    python -m book.live FOLDER

Nothing is made again whose inputs are as they were: Python with NumPy depends on Pyodide and on the
wheel, the course on its own files.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from book.live.archives import (
    copy_pure_packages,
    digest_of_contents,
    pack,
    pure_files,
    unpack_numpy,
    unpack_standard_library,
)
from book.live.contents import ROOT, compact, files_of_the_page
from book.node import node

HERE = Path(__file__).parent
PYODIDE = ROOT / "node_modules" / "pyodide"
CACHE = ROOT / "_build" / "live"
MANIFEST = "manifest.json"
WASM, LIBRARY, LOCK = "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"
LOADERS = ("pyodide.mjs", "pyodide.asm.mjs")


class PyodideMissingError(Exception):
    """The package of npm is not there."""


def build_live(cache: Path = CACHE) -> Path:
    """The folder with the files of the page's Python; made below `cache` if it is not there.

    Raises: PyodideMissingError, with what to do.
    """
    if not PYODIDE.is_dir():
        raise PyodideMissingError("Pyodide is not installed: `make book` installs it and builds.")
    course = dict(files_of_the_page())
    python = cache / f"python-{digest_of_contents(*_inputs_of_python())}"
    made = cache / digest_of_contents(python.name.encode(), *_inputs_of_course(course))
    if not (made / MANIFEST).exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.parent, prefix="live-") as work:
            _make(Path(work), python, course)
            _put(Path(work) / "made", made)
        _forget_others(cache, python, made)
    return made


def _wheel() -> Path:
    return next((HERE / "numpy").glob("numpy-*.whl"))


def _inputs_of_python() -> list[bytes]:
    names = ("build.py", "archives.py", "node/compile.py", "node/in_node.mjs")
    recipe = [HERE / name for name in names]
    files = [*recipe, _wheel(), *(PYODIDE / name for name in (*LOADERS, WASM, LIBRARY, LOCK))]
    return [path.read_bytes() for path in files]


def _inputs_of_course(course: dict[str, bytes]) -> list[bytes]:
    worker = (HERE / "page" / "worker.mjs").read_bytes()
    files = sorted({**course, **pure_files()}.items())
    return [worker, *(part for name, data in files for part in (name.encode(), data))]


def _make(work: Path, python: Path, course: dict[str, bytes]) -> None:
    """Compile what is new, and lay everything out in `work`/made."""
    for name, data in course.items():
        (work / "course" / name).parent.mkdir(parents=True, exist_ok=True)
        (work / "course" / name).write_bytes(data)
    copy_pure_packages(work / "wheels")
    new = not python.exists()
    if new:
        unpack_standard_library(PYODIDE / LIBRARY, work / "stdlib")
        unpack_numpy(_wheel(), work / "numpy")
    _compile(work, "python" if new else "course")
    if new:
        _make_python(work, work / "python")
        _put(work / "python", python)
    _lay_out(work, python, work / "made")


def _compile(work: Path, what: str) -> None:
    """Compile in Pyodide itself, whose folder is put together of links."""
    raw = work / "raw"
    raw.mkdir()
    for name in (*LOADERS, WASM, LIBRARY):
        (raw / name).symlink_to((PYODIDE / name).resolve())
    (raw / _wheel().name).symlink_to(_wheel())
    (raw / LOCK).write_bytes(_lock(_wheel()))
    command = [node(), HERE / "node" / "in_node.mjs", raw, work, HERE / "node" / "compile.py", what]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"The page's Python does not start:\n{done.stdout}\n{done.stderr}")


def _lock(wheel: Path) -> bytes:
    """Pyodide's own list of packages, with NumPy alone, and the digest of our wheel."""
    lock = json.loads((PYODIDE / LOCK).read_text("utf8"))
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock["packages"] = {"numpy": lock["packages"]["numpy"] | {
        "depends": [], "file_name": wheel.name, "sha256": sha256}}  # fmt: skip
    return compact(lock)


def _make_python(work: Path, python: Path) -> None:
    """Python and NumPy as they travel: the modules of the start compiled, the wasm compressed."""
    python.mkdir()
    for name in LOADERS:
        text = (PYODIDE / name).read_text("utf8")
        lines = [line for line in text.splitlines() if not line.startswith("//# sourceMappingURL=")]
        (python / name).write_text("\n".join(lines) + "\n", "utf8")
    packed = gzip.compress((PYODIDE / WASM).read_bytes(), 9, mtime=0)
    (python / f"{WASM}.gz").write_bytes(packed)
    pack(work / "stdlib", python / LIBRARY)
    pack(work / "numpy", python / _wheel().name)
    (python / LOCK).write_bytes(_lock(python / _wheel().name))


def _lay_out(work: Path, python: Path, made: Path) -> None:
    """Everything under names with digests, and the manifest that knows them."""
    made.mkdir()
    folder = (
        f"pyodide-{digest_of_contents(*(path.read_bytes() for path in sorted(python.iterdir())))}"
    )
    shutil.copytree(python, made / folder)
    archives = []
    for name in ("course", "wheels"):
        pack(work / name, work / f"{name}.zip")
        archives.append(_under_its_digest(work / f"{name}.zip", made))
    worker = _under_its_digest(HERE / "page" / "worker.mjs", made)
    fetched = [f"{folder}/{WASM}.gz", f"{folder}/{LIBRARY}", f"{folder}/{LOCK}",
               f"{folder}/{_wheel().name}", *archives]  # fmt: skip
    every = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    manifest = {
        "worker": worker,
        "pyodide": f"{folder}/",
        "archives": archives,
        "bytes": sum((made / name).stat().st_size for name in fetched),
        "files": {name: (made / name).stat().st_size for name in every},
    }
    (made / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf8")


def _put(folder: Path, place: Path) -> None:
    """Move a finished folder to its place, unless another build was there first."""
    try:
        folder.rename(place)
    except OSError:
        if not place.exists():
            raise


def _under_its_digest(path: Path, folder: Path) -> str:
    """Copy a file there; its name with the digest."""
    data = path.read_bytes()
    name = f"{path.stem}-{digest_of_contents(data)}{path.suffix}"
    (folder / name).write_bytes(data)
    return name


def _forget_others(cache: Path, *kept: Path) -> None:
    """Remove what earlier builds left."""
    for path in cache.iterdir():
        if path not in kept and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
