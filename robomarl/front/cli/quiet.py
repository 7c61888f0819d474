"""Suppression of library output that means nothing to the user of a command."""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

CHATTY = "mujoco.mjx.warp"
"""Prints that it lacks modules which are for accelerators, each time that Brax is imported."""


def quiet_libraries() -> None:
    """Silence XLA on every program out of the cache, and modules that are not needed, from now on."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if not any(isinstance(finder, QuietImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, QuietImport())


class QuietImport(MetaPathFinder):
    """Imports `CHATTY`, whenever that is, with its prints held back; errors come through."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the module `CHATTY`; None for all other modules."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname == CHATTY else None
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def execute_quietly(module: ModuleType) -> None:
                with redirect_stdout(io.StringIO()):
                    execute(module)

            spec.loader.exec_module = execute_quietly  # type: ignore[method-assign]
        return spec
