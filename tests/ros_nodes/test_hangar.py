"""What outlives a policy node, and what keeps a flash away from one that moves."""

from pathlib import Path

import pytest

from robomarl.config import UserError
from robomarl.fleet.store import State, Store
from robomarl.ros_nodes.hangar import Hangar

OLD, NEW = "a" * 64, "b" * 64


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "robot")
    with made.lock():
        made.switch(State(OLD, None))
    return made


def test_an_e_stop_is_kept_until_it_is_reset(tmp_path: Path):
    root = str(tmp_path / "robot")
    Hangar(root, OLD, True).latch(True)
    again = Hangar(root, OLD, True)
    assert again.latched
    again.latch(False)
    assert not Hangar(root, OLD, True).latched
    nowhere = Hangar("", OLD, False)
    nowhere.latch(True)
    assert not nowhere.latched


def test_nobody_flashes_a_robot_that_moves(store: Store):
    hangar = Hangar(str(store.root), OLD, True)
    assert hangar.take("/robot/policy_node") == ""
    with pytest.raises(UserError, match="policy_node, which is active"), store.lock():
        pass
    hangar.give_back()
    with store.lock():
        assert "flash" in hangar.take("/robot/policy_node")


def test_a_robot_that_was_flashed_since_does_not_fly_the_old_bundle(store: Store):
    hangar = Hangar(str(store.root), OLD, True)
    with store.lock():
        store.switch(State(NEW, OLD))
    assert hangar.changed() == f"bundle {NEW[:12]} was flashed since {OLD[:12]} was loaded; configure again"
    assert "configure again" in hangar.take("x")
    with store.lock():  # a refusal holds nothing
        pass
    assert Hangar(str(store.root), OLD, False).changed() == ""
