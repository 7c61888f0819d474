"""`CommandLayout`: meaning of the elements of a command, for code that makes commands without a policy. No ROS here."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

FLYING = ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate")


@dataclass(frozen=True)
class CommandLayout:
    """The elements of a command [A], accelerations first."""

    names: tuple[str, ...] = FLYING

    @cached_property
    def accelerations(self) -> int:
        """How many elements are accelerations: 3, or 2 in the plane."""
        return sum(name.startswith("acceleration.") for name in self.names)

    def padded(self, accel: np.ndarray) -> np.ndarray:
        """The command [A] of an acceleration [3]: no rates, nothing else."""
        count = self.accelerations
        return np.concatenate([accel[:count], np.zeros(len(self.names) - count)])

    def accel_of(self, command: np.ndarray) -> np.ndarray:
        """[3] the acceleration in a command [A]."""
        return np.append(command[: self.accelerations], np.zeros(3 - self.accelerations))

    def queued(self, command: np.ndarray) -> np.ndarray:
        """[4] acceleration and yaw rate of a command [A], as the filter remembers it."""
        yaw_rate = command[self.names.index("yaw_rate")] if "yaw_rate" in self.names else 0.0
        return np.append(self.accel_of(command), yaw_rate)
