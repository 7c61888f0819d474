"""A bundle that flies without training."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def goto_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a sealed bundle for teams of any size; copy it before you change anything."""
    pytest.importorskip("mujoco")
    from tests.ros_nodes.bundles import make_bundle

    return make_bundle(tmp_path_factory.mktemp("bundles") / "goto")


@pytest.fixture(scope="session")
def law_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a sealed bundle for the three carriers of lift_3: the law of the task as a graph."""
    pytest.importorskip("mujoco")
    from tests.ros_nodes.lawbundle import make_law_bundle

    return make_law_bundle(tmp_path_factory.mktemp("bundles") / "law")
