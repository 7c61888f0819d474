"""The domains of `examples/`, installed by pip and registered by their entry points, as anybody's."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.core.domain.registry import domains
from robomarl.core.features import FEATURES
from robomarl.fleet.checks.isolated_check import warden

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXAMPLE = EXAMPLES / "flag_team"


def installed(example: Path, folder: Path) -> Path:
    """The folder that pip has installed an example into."""
    source = shutil.copytree(example, folder / "source")  # the build leaves files beside it
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(folder / "site")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, cwd=folder)
    return folder / "site"


def in_a_folder_of(
    example: Path, site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *features: str
) -> Iterator[Path]:
    """A folder with its scenario, vehicle, fleet and recipe, from where commands run; children find the package too."""
    for file in (*example.glob("*.toml"), *example.glob("*.yaml")):
        shutil.copy(file, folder)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    _forget()
    yield folder
    _forget()
    for name in features:
        FEATURES.pop(name, None)
    for name in [name for name in sys.modules if name.split(".")[0] == example.name]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip has installed the toy into."""
    return installed(EXAMPLE, tmp_path_factory.mktemp("installed"))


@pytest.fixture
def toy(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the toy's files."""
    yield from in_a_folder_of(EXAMPLE, site, tmp_path, monkeypatch, "flag_error")


def _forget() -> None:
    warden().close()  # its process would go on with the old search path
    domains.cache_clear()
