"""A wheelhouse of three small wheels, and the scripts of tools/ that make and prove a bundle."""

import importlib.util
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]


def module(path):
    """A script of tools/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"tools_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


maker, prover = (module(ROOT / f"tools/bundle/{name}_bundle.py") for name in ("make", "try"))


def wheel(folder, name, files, tag="py3-none-any", needs=">=3"):
    """A wheel with these files, as small as pip takes it."""
    about, (called, version) = f"{name}.dist-info", name.split("-")
    files = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {called}\nVersion: {version}\n"
        f"Requires-Python: {needs}\n",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{about}/RECORD": "",
        **files,
    }
    path = folder / f"{name}-{tag}.whl"
    with ZipFile(path, "w") as held:
        for inside, text in files.items():
            held.writestr(inside, text)
    return path


def packed(folder, name):
    """A package of this environment as the wheel that it was."""
    distribution = metadata.distribution(name)
    files = {str(file): file.locate().read_bytes() for file in distribution.files
             if ".." not in file.parts and file.suffix != ".pyc"}  # fmt: skip
    path = folder / f"{name}-{distribution.version}-py3-none-any.whl"
    with ZipFile(path, "w") as held:
        for inside, text in files.items():
            held.writestr(inside, text)


def wheelhouse(folder):
    """Three wheels: pip, the rules for wheels, and a package to install."""
    folder.mkdir()
    packed(folder, "pip")
    packed(folder, "packaging")
    wheel(folder, "tiny-1.0", {"tiny.py": "answer = 42\n"})
    return folder
