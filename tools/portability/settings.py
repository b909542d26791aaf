"""The processors that a run stands for: what each library may use of this one."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from book.build.notebooks import SETTLED

ROOT = Path(__file__).resolve().parents[2]
ROUNDING = "PORTABILITY_ROUNDING"


@dataclass(frozen=True)
class Setting:
    """Environment variables under which the same code does other arithmetic."""

    name: str
    stands_for: str
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the variables of a process that runs under this setting."""
        return {**os.environ, **SETTLED, "PYTHONPATH": str(ROOT), **self.variables}


def disabled(*kept: str) -> str:
    """Name the instruction sets that NumPy would use here, apart from those kept."""
    extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    return " ".join(name for name in extensions.get("found", []) if name not in kept)


SETTINGS = (
    Setting("native", "this processor"),
    Setting("avx2", "a processor without AVX-512", {
        "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell", "DNNL_MAX_CPU_ISA": "AVX2",
        "NPY_DISABLE_CPU_FEATURES": disabled("X86_V3", "AVX2", "FMA3"),
    }),
    Setting("sse4", "a processor without AVX", {
        "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "OPENBLAS_CORETYPE": "Nehalem", "DNNL_MAX_CPU_ISA": "SSE41",
        "NPY_DISABLE_CPU_FEATURES": disabled(),
    }),
    Setting("threads", "sums split between two threads", {
        "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2",
    }),
    Setting("rounding", "any processor: each training step is rounded differently", {
        ROUNDING: "1",
    }),
)  # fmt: skip

FINGERPRINT = """
import hashlib
import numpy as np
import torch

x = torch.randn(300, 700, generator=torch.Generator().manual_seed(0))
results = [x @ x.T, x.double() @ x.double().T, x.exp(), x.sum(1), x.softmax(1),
           torch.nn.functional.gelu(x)]
results = [result.numpy() for result in results]
x = x.numpy()
results += [x @ x.T, np.exp(x), np.exp(x.astype(float)), x.sum(1)]
print(hashlib.sha256(b"".join(result.tobytes() for result in results)).hexdigest())
"""


def fingerprint(setting: Setting) -> str:
    """Digest products, sums and exponentials as this setting computes them here."""
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FINGERPRINT],
        env=setting.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    digest = process.stdout.strip()
    return digest + setting.variables.get(ROUNDING, "")


def worth_running(settings: tuple[Setting, ...]) -> tuple[list[Setting], dict[str, str]]:
    """Split the settings into those that compute something else here, and why not the others."""
    chosen, skipped, names = [], {}, {}
    for setting in settings:
        digest = fingerprint(setting)
        if digest in names:
            skipped[setting.name] = f"same bits as {names[digest]} on this processor: not run"
        else:
            names[digest] = setting.name
            chosen.append(setting)
    return chosen, skipped
