"""A run folder and its page, made once."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def synthetic() -> ModuleType:
    """Runs, flights and demos that look like real ones."""
    file = Path(__file__).with_name("synthetic.py")
    spec = importlib.util.spec_from_file_location("field_synthetic", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def run_dir(synthetic: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four robots with three flights."""
    return synthetic.make_run(tmp_path_factory.mktemp("runs") / "swap_4_s3", updates=120)
