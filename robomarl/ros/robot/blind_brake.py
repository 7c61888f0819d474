"""Behavior of a robot without its policy and filter: it brakes from a predicted velocity, with a
matching plan.

Needs the vehicle's limits and the sent commands, nothing else; in particular it solves nothing.
"""

import math
from collections import deque

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.core.view import Plan
from robomarl.ros.robot.command_layout import CommandLayout
from robomarl.ros.robot.inbox import Estimate

HISTORY = 256
"""Commands that are remembered: more than pass between two estimates that count."""


class Fallback:
    """Blind braking of one robot."""

    def __init__(self, params: SafetyParams, layout: CommandLayout = CommandLayout()) -> None:  # noqa: B008
        """Take the limits; nothing has been sent yet.

        Args:
            params: of the filter.
            layout: of a command.
        """
        self._layout = layout
        self.max_own_age_s = max(params.safety.delay_s, params.period_s)
        """An estimate that is older is not flown on: the filter's prediction covers the delay, not more."""
        self.plan_after_s = params.safety.delay_s + params.period_s
        """Time [s] from an estimate to the state in the plan: then the decision on that estimate has been carried
        out.
        """
        self._params = params
        self._sent: deque[tuple[float, np.ndarray]] = deque(maxlen=HISTORY)

    def note(self, steady_s: float, command: np.ndarray) -> None:
        """A command [A] was sent."""
        self._sent.append((steady_s, command))

    def forget(self) -> None:
        """Nothing has been sent."""
        self._sent.clear()

    def latest(self, count: int) -> list[np.ndarray]:
        """The last commands that were sent, at most `count`, oldest first, as the filter remembers them: [4] each."""
        latest = [command for _, command in self._sent][-count:] if count else []
        return [self._layout.queued(command) for command in latest]

    def brake(self, own: Estimate | None, age_s: float, steady_s: float) -> np.ndarray:
        """The command [A] against the velocity that the robot must have now; no rates.

        Args:
            own: the last estimate.
            age_s: its age.
            steady_s: now.
        """
        velocity = self.velocity(own, age_s, steady_s)
        speed = float(np.linalg.norm(velocity))
        # Close to rest less and less, so that it neither reverses nor rings with the delay.
        rate = min(1 / self.plan_after_s, self._params.safety.brake_m_s2 / max(speed, 1e-6))
        limits = self._params.limits
        accel = np.clip(-velocity * rate, limits.accel_min_m_s2, limits.accel_max_m_s2)
        return self._layout.padded(accel)

    def velocity(self, own: Estimate | None, age_s: float, steady_s: float) -> np.ndarray:
        """[3] m/s once all that was sent is carried out: the estimate, and the commands that it had not seen."""
        velocity = np.zeros(3) if own is None else np.array(own.vel_m_s)
        if not self._sent:  # a policy may raise in the first tick of a flight
            return velocity
        seen_s = steady_s - age_s - self._params.safety.delay_s
        ends = [time_s for time_s, _ in self._sent][1:] + [steady_s]
        for (begin_s, command), end_s in zip(self._sent, ends, strict=True):
            velocity = velocity + self._layout.accel_of(command) * max(end_s - max(begin_s, seen_s), 0.0)
        return velocity

    def plan(self, own: Estimate | None) -> Plan:
        """Return the plan, [3] each, of a robot that has sent nothing: it keeps its velocity, then brakes."""
        if own is None:
            return Plan(np.zeros(3), np.zeros(3), np.zeros(3))
        pos = own.pos_m + own.vel_m_s * self.plan_after_s
        return Plan(pos, own.vel_m_s, pos + own.vel_m_s * (self.rest_s(own.vel_m_s) / 2))

    def rest_s(self, velocity: np.ndarray) -> float:
        """How long braking from a velocity [3] takes."""
        return math.hypot(*velocity.tolist()) / self._params.safety.brake_m_s2
