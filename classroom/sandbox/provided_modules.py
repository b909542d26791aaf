"""The modules of the course in the sandbox: functions that the exercise provides, and no other."""

from __future__ import annotations

import importlib.machinery
import types
from collections.abc import Callable
from typing import Any

from checks.wire.values import ABSENT

COURSE = {"lib", "checks", "figures", "exercises", "classroom", "book"}


class ProvidedModules:
    """Importer for the modules of the course that are not in the sandbox.

    A function that the exercise provides runs in the grader; every other name is an ImportError.
    """

    def __init__(
        self, represent: Callable[[str], Callable], provided: dict[str, list[str]]
    ) -> None:
        self.represent, self.provided = represent, provided
        parents = {module.rpartition(".")[0] for module in provided}
        self.packages = {"lib", "exercises", *parents}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Serve every module of the course that has no file in the sandbox."""
        if name.partition(".")[0] not in COURSE:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=name in self.packages)

    def create_module(self, spec: Any) -> types.ModuleType:
        """Make a module with the provided functions; refuse one that provides none."""
        module = types.ModuleType(spec.name)
        if spec.name not in self.provided and spec.name not in self.packages:
            raise ImportError(f"{spec.name} {ABSENT}")
        for name in self.provided.get(spec.name, ()):
            setattr(module, name, self.represent(f"{spec.name}.{name}"))
        module.__getattr__ = lambda name: refuse_name(f"{spec.name}.{name}")
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: the module is complete."""


def refuse_name(name: str) -> Any:
    """Refuse a name of the course; dunder names raise the usual AttributeError."""
    if name.rsplit(".", 1)[1].startswith("__"):
        raise AttributeError(name)
    raise ImportError(f"{name} {ABSENT}")
