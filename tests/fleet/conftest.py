"""Two bundles, and robots that are folders."""

from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.paths import bundles_dir
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import Store
from robomarl.fleet.transport import FolderTransport
from tests.core.bundle.sealing import copy, reseal


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, Bundle]:
    """The bundle that ships, and the same under another name: two ids."""
    shipped, other = (copy(bundles_dir() / "swap_4", tmp_path_factory.mktemp(name)) for name in ("shipped", "other"))
    for folder in (shipped, other):
        (folder / "eval.json").unlink(missing_ok=True)
    reseal(other, lambda data: data.update(name="other"))
    return load_bundle(shipped), load_bundle(other)


def folder_robots(root: Path, count: int = 3) -> dict[str, Robot]:
    names = [f"robot_{i}" for i in range(count)]
    return {name: Robot(name, FolderTransport(root / name), "crazyflie_21", name) for name in names}


@pytest.fixture
def robots(tmp_path: Path) -> dict[str, Robot]:
    return folder_robots(tmp_path)


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, Store]:
    """The same robots from the inside."""
    return {f"robot_{i}": Store(tmp_path / f"robot_{i}") for i in range(3)}


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of what the operator keeps of fleets, of this test only."""
    monkeypatch.setenv("ROBOMARL_FLEETS", str(tmp_path / "fleets"))
    return tmp_path / "fleets"


@pytest.fixture
def own_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of keys of this test only."""
    monkeypatch.setenv("ROBOMARL_KEYS", str(tmp_path / "keys"))
    return tmp_path / "keys"


@pytest.fixture
def fleet_file(tmp_path: Path) -> str:
    file = tmp_path / "team.yaml"
    rows = "".join(f"  - {{name: robot_{i}, index: {i}, folder: robot_{i}}}\n" for i in range(3))
    file.write_text(f"version: 1\nname: team\nvehicle: crazyflie_21\nscenario: swap_4\nrobots:\n{rows}")
    return str(file)
