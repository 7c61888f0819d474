"""What outlives a policy node, and what keeps a flash away from one that moves."""

from pathlib import Path

import pytest

from robomarl.config import UserError
from robomarl.fleet.store import State, Store
from robomarl.ros_nodes.robot_folder import RobotFolder

OLD, NEW = "a" * 64, "b" * 64


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "robot")
    with made.lock():
        made.switch(State(OLD, None))
    return made


def test_an_e_stop_is_kept_until_it_is_reset(tmp_path: Path):
    root = str(tmp_path / "robot")
    RobotFolder(root, OLD, True).latch_estop(True)
    again = RobotFolder(root, OLD, True)
    assert again.estop_latched
    again.latch_estop(False)
    assert not RobotFolder(root, OLD, True).estop_latched
    nowhere = RobotFolder("", OLD, False)
    nowhere.latch_estop(True)
    assert not nowhere.estop_latched


def test_nobody_flashes_a_robot_that_moves(store: Store):
    folder = RobotFolder(str(store.root), OLD, True)
    assert folder.lock("/robot/policy_node") == ""
    with pytest.raises(UserError, match="policy_node, which is active"), store.lock():
        pass
    folder.unlock()
    with store.lock():
        assert "flash" in folder.lock("/robot/policy_node")


def test_a_robot_that_was_flashed_since_does_not_fly_the_old_bundle(store: Store):
    folder = RobotFolder(str(store.root), OLD, True)
    with store.lock():
        store.switch(State(NEW, OLD))
    assert folder.bundle_problem() == f"bundle {NEW[:12]} was flashed since {OLD[:12]} was loaded; configure again"
    assert "configure again" in folder.lock("x")
    with store.lock():  # a refusal holds nothing
        pass
    assert RobotFolder(str(store.root), OLD, False).bundle_problem() == ""
