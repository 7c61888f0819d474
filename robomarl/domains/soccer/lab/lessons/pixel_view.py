"""`PixelObserver`: what one network from pixels to commands reads: the perception's output, odometry and the radio.

An observation has, in this order:

1. the perception network's output [S] for the latest picture (`SightLayout`), zeros where the robot has just been put
   somewhere;
2. velocity of the body, forward and left [m/s], and yaw rate [rad/s], by odometry;
3. the pose by dead reckoning: x, y [m], cosine and sine of the heading, field frame of the own team. It begins at what
   the robot was told when it was put somewhere, and nothing corrects it;
4. of each mate, its own such pose one decision ago: forward and left of the robot [m], cosine and sine of its heading
   against the robot's;
5. whether the ball lies at the kicker, and how far the kicker is charged (the feature `kicker`).
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.view import LocalView
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.eyes_sim import EyesSim

ODOMETRY, RECKONED, MATE = 3, 4, 4
"""Numbers of the parts 2, 3 and 4."""


class Reckoned(NamedTuple):
    """Memory of the observer."""

    pose: np.ndarray
    """[E, N, 3] by dead reckoning: x, y [m], heading [rad]."""
    restarts: np.ndarray
    """[E] kick-offs so far: after one more, robots stand elsewhere and are told where."""


class PixelObserver:
    """Maker of the observations of our robots in games of an `EyesSim`."""

    def __init__(self, sim: EyesSim) -> None:
        """Take the games."""
        scenario: SoccerScenario = sim.scenario
        self._sim, self._period_s = sim, scenario.period_s
        self._kicker = ObservationSpec((ObservationField("kicker"),), scenario.radio.rule)

    @property
    def size(self) -> int:
        """Length of an observation."""
        mates = self._sim.scenario.count - 1
        return self._sim.eyes.layout.size + ODOMETRY + RECKONED + MATE * mates + self._kicker.size

    def init(self, view: LocalView) -> Reckoned:
        """Memory before the first decision: robots were told their poses."""
        return Reckoned(self._told(), self._sim.world.referee.restarts.copy())

    def observe(self, memory: Reckoned, view: LocalView) -> tuple[Reckoned, np.ndarray]:
        """Return the memory and the observations [E, N, P]; the view is that of our team."""
        motion, before = self._motion(), memory.pose
        here = self._sim.world.referee.restarts
        put = (here != memory.restarts)[:, None, None]
        pose = np.where(put, self._told(), advanced(before, motion * self._period_s))
        kicker = np.asarray(self._kicker.observe(self._kicker.init(view), view)[1])
        parts = [self._sim.eyes.outputs, motion, _as_features(pose), *self._mates(pose, np.where(put, pose, before))]
        return Reckoned(pose, here.copy()), np.concatenate([*parts, kicker], -1).astype(np.float32)

    def _told(self) -> np.ndarray:
        """[E, N, 3] poses that robots believe now."""
        return np.array([[state.own.mean for state in row] for row in self._sim.eyes.states])

    def _motion(self) -> np.ndarray:
        """[E, N, 3] odometry of the last decision: forward, left [m/s], yaw rate [rad/s]."""
        return np.array([[state.motion for state in row] for row in self._sim.eyes.states])

    def _mates(self, pose: np.ndarray, sent: np.ndarray) -> list[np.ndarray]:
        """Return for each mate [E, N, 4] where it says that it is, from the robot."""
        return [_as_features(between(pose, np.roll(sent, -k, 1))) for k in range(1, pose.shape[1])]


def advanced(pose: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return poses [..., 3] after motions [..., 3] in their own frames, along arcs."""
    heading = pose[..., 2] + step[..., 2] / 2
    c, s = np.cos(heading), np.sin(heading)
    x = pose[..., 0] + c * step[..., 0] - s * step[..., 1]
    y = pose[..., 1] + s * step[..., 0] + c * step[..., 1]
    return np.stack([x, y, pose[..., 2] + step[..., 2]], -1)


def between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return second poses [..., 3] in the frames of first ones."""
    c, s = np.cos(first[..., 2]), np.sin(first[..., 2])
    dx, dy = second[..., 0] - first[..., 0], second[..., 1] - first[..., 1]
    return np.stack([c * dx + s * dy, c * dy - s * dx, second[..., 2] - first[..., 2]], -1)


def _as_features(pose: np.ndarray) -> np.ndarray:
    """[..., 4] x, y, cosine and sine of the heading of poses [..., 3]."""
    return np.concatenate([pose[..., :2], np.cos(pose[..., 2:]), np.sin(pose[..., 2:])], -1)
