"""What outlives a policy node, and what keeps a flash away from one that moves."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.ros.io.estop_latch import EstopLatch
from robomarl.ros.io.robot_folder import RobotFolder

OLD, NEW = "a" * 64, "b" * 64


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "robot")
    with made.lock():
        made.switch(InstalledBundles(OLD, None))
    return made


def test_an_e_stop_is_kept_until_it_is_reset(tmp_path: Path):
    root = str(tmp_path / "robot")
    assert not RobotFolder(root, OLD, True).estop.pressed
    RobotFolder(root, OLD, True).estop.hold(True)
    again = RobotFolder(root, OLD, True)
    assert again.estop.pressed
    again.estop.hold(False)
    assert not RobotFolder(root, OLD, True).estop.pressed
    nowhere = RobotFolder("", OLD, False)
    nowhere.estop.hold(True)
    assert not nowhere.estop.pressed


def test_whatever_does_not_say_that_it_is_released_is_pressed(tmp_path: Path):
    """A power cut may leave anything; so does the version before, which left an empty file."""
    for torn in (b"", b"release", b"releasedx", b"pressed.", b"preleased", bytes(8)):
        (tmp_path / "estop").write_bytes(torn)
        latch = EstopLatch(tmp_path / "estop")
        assert latch.pressed
        latch.hold(False)
        assert (tmp_path / "estop").read_bytes() == b"released"


def test_a_latch_that_can_not_be_written_never_raises_and_says_so(tmp_path: Path):
    """A file that is always full; then one that can be written again."""
    full = tmp_path / "estop"
    full.symlink_to("/dev/full")
    latch = EstopLatch(full)
    assert latch.pressed, "what can't be read as released is not"
    for pressed in (False, True):
        latch.hold(pressed)
        assert latch.pressed == pressed
        assert "No space left on device" in latch.problem
    full.unlink()
    latch._tried_s -= 10.0
    latch.hold(True)
    assert latch.problem == ""
    assert EstopLatch(full).pressed


def link_to_released(file: Path) -> None:
    (file.parent / "other").write_bytes(b"released")
    file.symlink_to(file.parent / "other")


def open_to_all(file: Path) -> None:
    file.write_bytes(b"released")
    file.chmod(0o666)


@pytest.mark.parametrize(
    "damage",
    [lambda file: file.symlink_to(file.parent / "nowhere"), link_to_released, os.mkfifo, Path.mkdir, open_to_all],
    ids=["link to nowhere", "link", "fifo", "folder", "open to all"],
)
def test_a_latch_that_is_not_the_robots_own_plain_file_is_pressed(tmp_path: Path, damage):
    damage(tmp_path / "estop")
    assert EstopLatch(tmp_path / "estop").pressed
    assert EstopLatch(tmp_path / "estop").pressed, "looking changes nothing"


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that is soon full."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("needs to mount a small file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_an_e_stop_is_kept_on_a_full_disk(tiny_disk: Path):
    folder = RobotFolder(str(tiny_disk), OLD, False)
    with suppress(OSError), (tiny_disk / "recording").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    folder.estop.hold(True)
    assert folder.estop.problem == ""
    assert RobotFolder(str(tiny_disk), OLD, False).estop.pressed


def test_a_robot_whose_disk_keeps_no_e_stop_is_not_armed(tmp_path: Path):
    (tmp_path / "estop").symlink_to("/dev/full")
    folder = RobotFolder(str(tmp_path), OLD, False)
    folder.estop.hold(False)
    assert "the E-stop can't be kept (No space left on device)" in folder.problem()


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
        store.switch(InstalledBundles(NEW, OLD))
    assert folder.problem() == f"bundle {NEW[:12]} was flashed since {OLD[:12]} was loaded; configure again"
    assert "configure again" in folder.lock("x")
    with store.lock():  # a refusal holds nothing
        pass
    assert RobotFolder(str(store.root), OLD, False).problem() == ""
