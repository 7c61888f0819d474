"""Rest position of a robot that is pressed against a limit of its filter: a short simulation of the
filter itself.

The vehicle behaves as its file says: it carries out each command `delay_s` later. Resting distances
come from here and not from formulas, so they are those of the filter that is installed.
"""

from collections import deque
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.filter import SafetyFilter, SafetyParams
from robomarl.core.geometry import quat_from_yaw
from robomarl.core.view import Goal, Heard, LocalView, NothingSensed, Own, Plan

PUSH_SHARE, TRACK_PER_S = 0.5, 3.0
"""Share of the largest speed that the policy wants towards the limit, and its acceleration per missing speed [1/s]."""
STILL_M, STILL_S, LONGEST_S = 0.005, 0.5, 30.0
"""Motion [m] within a time [s] below which a robot counts as at rest, because errors that the filter learns move it by
millimetres; and the longest simulation [s]. The simulation ends at rest, or after the longest time."""


class Errors(NamedTuple):
    """Errors of estimates and messages, constant and towards each other: this keeps robots farthest apart."""

    share: float = 0.0
    """Share of the declared bounds of position and velocity error."""
    age_s: float = 0.0
    """Age of a teammate's message when it is read; rounded to whole periods."""


def pressed_m(params: SafetyParams, places_m: np.ndarray, towards: np.ndarray, errors: Errors) -> np.ndarray:
    """Return the positions at which robots that are pushed against the limits of their filters come to rest.

    Args:
        params: parameters of each robot's filter; `min_mates` is the number of its teammates here.
        places_m: [N, 3] where the commanded points start, at rest, world frame [m].
        towards: [N, 3] unit vectors along which they are pushed; a differential drive faces that way.
        errors: errors of their estimates and messages.

    Returns:
        [N, 3] where their commanded points rest [m], without the errors.
    """
    team = _Pressed(params, np.array(places_m, float), towards, errors)
    start = team.pos
    recent: deque[np.ndarray] = deque(maxlen=max(round(STILL_S / params.period_s), 1))
    for _ in range(round(LONGEST_S / params.period_s)):
        team.step()
        recent.append(team.pos)
        rests = len(recent) == recent.maxlen and np.ptp(recent, 0).max() < STILL_M
        if rests and np.abs(team.pos - start).max() > STILL_M:
            break
    return team.pos


class _Pressed:
    """N robots that are pushed."""

    def __init__(self, params: SafetyParams, pos: np.ndarray, towards: np.ndarray, errors: Errors) -> None:
        count, self._params, self._towards = len(pos), params, towards
        self.pos, self.vel = pos, np.zeros_like(pos)
        self._filter = SafetyFilter(params)
        self._carry = self._filter.init((count,))
        self._queue = deque([np.zeros_like(pos)] * params.queue_length)
        self._off_m = errors.share * params.safety.position_error_m * towards
        self._off_m_s = errors.share * params.safety.velocity_error_m_s * towards
        self._late = round(errors.age_s / params.period_s)
        self._said: deque[tuple[np.ndarray, ...]] = deque(maxlen=self._late + 1)
        self._mates = (np.arange(count)[:, None] + 1 + np.arange(count - 1)) % count
        self._quat = quat_from_yaw(np.arctan2(towards[:, 1], towards[:, 0]))

    def step(self) -> None:
        """One period: estimate, tell, decide, move."""
        limits, period_s = self._params.limits, self._params.period_s
        pos, vel = self.pos + self._off_m, self.vel + self._off_m_s
        wanted = PUSH_SHARE * limits.speed_m_s * self._towards
        accel = np.clip(TRACK_PER_S * (wanted - vel), limits.accel_min_m_s2, limits.accel_max_m_s2)
        nominal = np.concatenate([accel, np.zeros((len(pos), 1))], -1)
        self._carry, found = self._filter(self._carry, self._view(pos, vel), nominal)
        self._queue.append(np.asarray(found.command)[:, :3])
        command = self._queue.popleft()
        self.pos = self.pos + self.vel * period_s + command * period_s**2 / 2
        self.vel = self.vel + command * period_s

    def _view(self, pos: np.ndarray, vel: np.ndarray) -> LocalView:
        """Return the view of all robots; a differential drive reports its centre."""
        count, ahead = len(pos), self._params.look_ahead_m * self._towards
        self._said.append((pos - ahead, vel, *map(np.asarray, self._carry.plan)))
        said = [part[self._mates] for part in self._said[0]]
        age_s = np.full(self._mates.shape, (len(self._said) - 1) * self._params.period_s)
        nothing = np.zeros((count, 3))
        return LocalView(
            own=Own(pos - ahead, self._quat, vel, nothing, np.zeros(count)),
            heard=Heard(np.ones(self._mates.shape, bool), said[0], said[1], age_s, Plan(*said[2:])),
            sensed=NothingSensed(),
            goal=Goal(nothing, self._quat),
            role=np.zeros(count, np.int32),
            time_s=np.zeros(count),
        )
