"""`TeamPath`: motion and commands of a whole team at the ticks of one of its robots, for rewards of recordings."""

from typing import NamedTuple, Protocol, TypeVar

import numpy as np

S = TypeVar("S", contravariant=True)
"""The domain's scenario."""


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
    """[K, N, A] commands sent at the tick."""


class Rewarded(Protocol[S]):
    """Interface of a domain's rewards of recorded ticks."""

    def __call__(
        self, scenario: S, path: TeamPath, weights: dict[str, float] | None, /
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return from each tick to the next: reward [K - 1, N], and [K - 1] bool, True if the team has failed."""
        ...
