"""Nominal commands that try to make robots collide, and one that only wants to get somewhere. Numpy.

They see the truth, without delay or noise: worse than any policy, which only sees its view.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.lab.sim.law import ArcPace, keep_right

KINDS = ("seek", "intercept", "bang_bang", "rush", "swap", "random")
CRUISE_SHARE = 2 / 3
"""Speed of the swap's nominal over the limit."""
GAIN_PER_S = 5.0
"""Acceleration per velocity error."""
URGENCY = 3.0
"""Factor on an adversary's acceleration before the input limits cut it."""
NEAR_M, LEARN_PER_S3 = 0.4, 1.0
"""Distance from its goal within which a robot learns the acceleration that keeps it there, and the rate of that."""
HOLD_S = 0.5
"""Mean time for which `bang_bang` and `random` hold a command."""


class Team(NamedTuple):
    """Positions, velocities and goals of the robots, [E, N, 3] each."""

    pos: np.ndarray
    vel: np.ndarray
    goal: np.ndarray


class Adversaries:
    """One adversary per robot, its kind drawn once from those allowed.

    They chase the nearest, cut it off, jerk at full power, rush to the centre, race to the far side and back, or
    push at random.
    """

    def __init__(
        self,
        params: SafetyParams,
        shape: tuple[int, int],
        centre_m: np.ndarray,
        random: np.random.Generator,
        kinds: tuple[str, ...] = KINDS,
    ) -> None:
        """Draw the kinds for E teams of N."""
        self.params = params
        self.centre_m = centre_m
        self.kind = random.choice([KINDS.index(k) for k in kinds], (*shape, 1))
        self.push = _push(self.kind, random)

    def __call__(self, team: Team, random: np.random.Generator) -> np.ndarray:
        """Accelerations [E, N, 3] within the input limits."""
        change = random.random((*team.pos.shape[:2], 1)) < self.params.period_s / HOLD_S
        self.push = np.where(change, _push(self.kind, random), self.push)
        prey, flight, distance = _nearest(team)
        lead = distance / self.params.limits.speed_m_s
        # There and back: the goal is turned about the centre at every time that its robot is near the other end.
        far = self.centre_m + (team.goal - self.centre_m) * np.where(self.push[..., :1] > 0, 1.0, -1.0)
        targets = (prey, prey + flight * lead, None, self.centre_m, far, None)
        rushed = [self.push * 10.0 if t is None else self._rush(team, t) for t in targets]
        return within_limits(self.params, np.select([self.kind == i for i in range(len(KINDS))], rushed))

    def _rush(self, team: Team, target: np.ndarray) -> np.ndarray:
        speed = 1.2 * self.params.limits.speed_m_s
        return URGENCY * _toward(team.pos, team.vel, target, speed, 3.0)


def swap(params: SafetyParams, team: Team) -> np.ndarray:
    """Straight to the goal at a cruising speed, [E, N, 3]."""
    cruise = CRUISE_SHARE * params.limits.speed_m_s
    return within_limits(params, _toward(team.pos, team.vel, team.goal, cruise, 1.5))


class KeepRight:
    """Commands along arcs to the goals, on which all robots keep right; near its goal a robot learns the bias."""

    def __init__(self, params: SafetyParams, shape: tuple[int, int], radius_m: float) -> None:
        """Create E teams of N robots on arcs of this radius, which know of no bias."""
        self.params, self._bias = params, np.zeros((*shape, 3))
        self._pace = ArcPace(radius_m, CRUISE_SHARE * params.limits.speed_m_s, 2.0)

    def __call__(self, team: Team) -> np.ndarray:
        """Return commands [E, N, 3]."""
        error = team.goal - team.pos
        wanted, bend = keep_right(error, self._pace)
        near = np.sqrt((error * error).sum(-1, keepdims=True)) < NEAR_M
        most = np.array(self.params.bias_m_s2)
        learned = self._bias + np.where(near, LEARN_PER_S3 * self.params.period_s * error, 0.0)
        self._bias = np.clip(learned, -most, most)
        return within_limits(self.params, GAIN_PER_S * (wanted - team.vel) + bend + self._bias)


def within_limits(params: SafetyParams, accel: np.ndarray) -> np.ndarray:
    """Clipped to the input box."""
    return np.clip(accel, params.limits.accel_min_m_s2, params.limits.accel_max_m_s2)


def _push(kind: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Corners of the box for all but `random`, which takes any direction and size."""
    shape = (*kind.shape[:2], 3)
    corner, any_way = random.choice([-1.0, 1.0], shape), random.uniform(-0.3, 0.3, shape)
    return np.where(kind == KINDS.index("random"), any_way, corner)


def _nearest(team: Team) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and distance of each robot's nearest mate."""
    pos = np.moveaxis(team.pos, -1, 0)
    square = sum((x[:, None] - x[:, :, None]) ** 2 for x in pos) + 1e18 * np.eye(pos.shape[-1])
    which = square.argmin(-1)[..., None]
    distance = np.sqrt(np.take_along_axis(square, which, -1))
    return np.take_along_axis(team.pos, which, 1), np.take_along_axis(team.vel, which, 1), distance


def _toward(pos: np.ndarray, vel: np.ndarray, target: np.ndarray, speed_m_s: float, slope_per_s: float) -> np.ndarray:
    offset = target - pos
    distance = np.maximum(np.sqrt((offset * offset).sum(-1, keepdims=True)), 1e-9)
    wanted = offset / distance * np.minimum(speed_m_s, slope_per_s * distance)
    return (wanted - vel) * GAIN_PER_S
