"""The toy domain of `examples/flag_team`, installed by pip and registered by its entry point, as anybody's."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.domains.registry import domains, load_features
from robomarl.features import FEATURES
from robomarl.policies.apart import warden

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "flag_team"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip has installed the package into."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(EXAMPLE, folder / "source")  # the build leaves files beside it
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(folder / "site")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, cwd=folder)
    return folder / "site"


@pytest.fixture
def toy(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with its scenario, vehicle, fleet and recipe, from where commands run; children find the package too."""
    for file in (*EXAMPLE.glob("*.toml"), *EXAMPLE.glob("*.yaml")):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    _forget()
    yield tmp_path
    _forget()
    FEATURES.pop("flag_error", None)
    for name in [name for name in sys.modules if name.split(".")[0] == "flag_team"]:
        del sys.modules[name]


def _forget() -> None:
    warden().close()  # its process would go on with the old search path
    domains.cache_clear()
    load_features.cache_clear()
