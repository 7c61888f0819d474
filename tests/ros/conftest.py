"""Bundles that fly without training, a team of real processes that faults are injected into, messages of others."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.ros.faultrig import FaultRig


@pytest.fixture(scope="session")
def goto_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a sealed bundle for teams of any size; copy it before you change anything."""
    pytest.importorskip("mujoco")
    from tests.ros.bundles import make_bundle

    return make_bundle(tmp_path_factory.mktemp("bundles") / "goto")


@pytest.fixture(scope="session")
def law_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a sealed bundle for the three carriers of lift_3: the law of the task as a graph."""
    pytest.importorskip("mujoco")
    from tests.ros.lawbundle import make_law_bundle

    return make_law_bundle(tmp_path_factory.mktemp("bundles") / "law")


@pytest.fixture(scope="module")
def rig(goto_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[FaultRig]":
    """Two robots up, for all tests of a module."""
    from tests.ros.faultrig import up, write_files

    with up(write_files(tmp_path_factory.mktemp("faults"), goto_bundle)) as made:
        yield made


@pytest.fixture
def flying(rig: "FaultRig") -> "FaultRig":
    """The team, in flight."""
    rig.fly()
    return rig


@pytest.fixture(scope="session")
def foreign_messages() -> Path:
    """Folder of the messages of others as Python packages; they can be imported here and in child processes."""
    pytest.importorskip("rclpy")
    from tests.ros.vehicles import message_build

    try:
        folder = message_build.built()
    except message_build.NoCompilerError as error:
        pytest.skip(str(error))
    sys.path.append(str(folder))
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before, str(folder))))
    return folder
