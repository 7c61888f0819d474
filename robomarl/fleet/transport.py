"""How robots are reached. `Transport` is all that flashing needs of one; a folder on this machine is the first."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from robomarl.fleet.store import State, Store
from robomarl.hardware_configs.fleet import Fleet, RobotConfig
from robomarl.policies.bundle import Bundle


class Transport(Protocol):
    """A robot's store, wherever it is. Every method raises `UserError` with one sentence."""

    def lock(self) -> AbstractContextManager[None]:
        """Hold the robot for oneself."""
        ...

    def state(self) -> State:
        """What is current."""
        ...

    def ids(self) -> list[str]:
        """Bundles that are there."""
        ...

    def add(self, bundle: Bundle) -> None:
        """Put a bundle there, whole or not at all."""
        ...

    def check(self, bundle_id: str) -> str:
        """Hashes and golden sequences, on the robot: what is wrong, or nothing."""
        ...

    def switch(self, state: State) -> None:
        """Change what is current, at once."""
        ...

    def prune(self) -> list[str]:
        """Remove what is neither current nor previous."""
        ...


def connect(robot: RobotConfig, root: Path) -> Transport:
    """The way to one robot; relative folders are below `root`."""
    return Store(root / Path(robot.folder).expanduser())


def connect_all(fleet: Fleet, root: Path) -> dict[str, Transport]:
    """The way to every robot, by name, in the order of their indices."""
    return {robot.name: connect(robot, root) for robot in sorted(fleet.robots, key=lambda r: r.index)}
