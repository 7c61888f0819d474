"""`TeamPath`: where a whole team was and what it did, as one of its robots' ticks cut it, for rewards of recordings."""

from typing import NamedTuple, Protocol

import numpy as np


class TeamPath(NamedTuple):
    """K ticks of one robot, N robots in the order of their indices. World frame ENU, wxyz quaternions, SI units."""

    pos_m: np.ndarray
    """[K, N, 3]."""
    quat_wxyz: np.ndarray
    """[K, N, 4]."""
    vel_m_s: np.ndarray
    """[K, N, 3]."""
    omega_rad_s: np.ndarray
    """[K, N, 3] body."""
    goal_m: np.ndarray
    """[K, N, 3]."""
    command: np.ndarray
    """[K, N, A] what was sent at the tick."""


class Rewarded(Protocol):
    """What a domain says of recorded ticks."""

    def __call__(
        self, scenario: object, path: TeamPath, weights: dict[str, float] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """From each tick to the next: reward [K - 1, N] and whether the team has failed [K - 1] bool."""
        ...
