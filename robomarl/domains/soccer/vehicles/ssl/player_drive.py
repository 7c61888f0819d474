"""`PlayerDrive`: converts the wishes of a player's policy to the velocity that its robot is
commanded, a hundred times a second.

Pictures are old when they come, so an estimate is carried to now by the commands since then.
`cmd_vel` names the estimate that it goes on from, and so gives the acceleration back; the
acceleration advances the twist (`adapters.base.drive`). No ROS, no clock.
"""

import math
from collections import deque

import numpy as np

from robomarl.core.geometry import quat_from_yaw, quat_multiply, yaw_of
from robomarl.core.hardware.ground import OmniRobot
from robomarl.domains.soccer.ros.messages import acceleration_to
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.base.drive import BaseDrive, TwistLead

LEAD = TwistLead(vel_m_s=0.3)
"""Twice that of a TurtleBot: it is ten times as fast."""
REMEMBERED = 64
"""Estimates that a command may go on from, and twists that were told."""
TURNS_RAD_S, ANSWER_S, ANSWERS = 1.0, 1.0, 0.2
"""Yaw rate [rad/s], time in all [s] and fraction: a robot that is commanded to turn this fast for this time, and
turns by a smaller fraction of the command, does not obey.
"""
LAG_S = 0.1
"""How slowly it may follow a yaw rate: policies that see noise ask for another one each time."""
FORGET_S = 3.0


class PlayerDrive:
    """Memory of one robot."""

    def __init__(self, vehicle: OmniRobot, period_s: float, response_s: float) -> None:
        """Create the memory, at rest.

        Args:
            vehicle: its file.
            period_s: between two decisions of the policy.
            response_s: from a command to the robot's motion: radio, and the lag of its wheels.
        """
        self._drive, self._period_s, self._response_s = BaseDrive(vehicle, LEAD), period_s, response_s
        self._told: deque[tuple[float, Estimate]] = deque(maxlen=REMEMBERED)
        self._sent: deque[tuple[float, np.ndarray]] = deque(maxlen=REMEMBERED)
        self._turning: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)
        self._accel = np.zeros(3)
        self._wanted = self._answered = self._turned_s = 0.0

    def now(self, seen: Estimate, stamp_s: float, now_s: float) -> Estimate:
        """Return the estimate of vision, carried to now."""
        age_s, sent = now_s - stamp_s, self._motion_at
        change = sent(now_s - self._response_s) - sent(stamp_s - self._response_s)
        vel = seen.vel_m_s + np.array([*change[:2], 0.0])
        rate = seen.omega_rad_s + np.array([0.0, 0.0, change[2]])
        pos = seen.pos_m + age_s / 2 * (seen.vel_m_s + vel)
        turn = quat_from_yaw(np.float64(age_s / 2 * float(seen.omega_rad_s[2] + rate[2])))
        return Estimate(pos, quat_multiply(seen.quat_wxyz, turn), vel, rate)

    def note(self, own: Estimate, stamp_s: float) -> None:
        """An estimate was told to the policy."""
        self._told.append((stamp_s, own))

    def near(self, stamp_s: float) -> tuple[float, Estimate] | None:
        """Return the estimate with the nearest stamp among those given to the policy, with its stamp."""
        return min(self._told, key=lambda row: abs(row[0] - stamp_s), default=None)

    def command(self, velocity: np.ndarray, stamp_s: float) -> None:
        """A `cmd_vel` came, [3], that goes on from the estimate of a stamp."""
        near = self.near(stamp_s)
        if near is not None:
            exact = abs(near[0] - stamp_s) < 1e-6
            self._accel = acceleration_to(velocity, near[1] if exact else self._told[-1][1], self._period_s)

    def follow(self, own: Estimate, now_s: float, dt_s: float) -> np.ndarray:
        """Twist [3] of the body that the robot is told now."""
        made = self._drive.follow(np.array([*self._accel[:2], 0.0, self._accel[2]]), own, dt_s)
        before = self._turning[-1][1] if self._turning else 0.0
        self._turning.append((now_s, before + (made[2] - before) * -math.expm1(-dt_s / LAG_S)))
        yaw = float(yaw_of(own.quat_wxyz))
        c, s = math.cos(yaw), math.sin(yaw)
        self._sent.append((now_s, np.array([c * made[0] - s * made[1], s * made[0] + c * made[1], made[2]])))
        return made

    def rest(self, now_s: float) -> np.ndarray:
        """The twist that stops it."""
        self._accel = np.zeros(3)
        self._sent.append((now_s, np.zeros(3)))
        self._turning.clear()
        return self._drive.rest()

    def answers(self, seen: Estimate, stamp_s: float, dt_s: float) -> bool:
        """Return True if the robot turns as commanded; its newest picture has come `dt_s` after the last one."""
        told = next((rate for at_s, rate in reversed(self._turning) if at_s <= stamp_s), 0.0)
        left = math.exp(-dt_s / FORGET_S)
        self._wanted, self._answered, self._turned_s = self._wanted * left, self._answered * left, self._turned_s * left
        if abs(told) > TURNS_RAD_S:
            self._wanted += told * told * dt_s
            self._answered += told * float(seen.omega_rad_s[2]) * dt_s
            self._turned_s += dt_s
        return self._turned_s < ANSWER_S or self._answered > ANSWERS * self._wanted

    def forgive(self) -> None:
        """Forget commands that it did not obey."""
        self._wanted = self._answered = self._turned_s = 0.0

    def _motion_at(self, time_s: float) -> np.ndarray:
        """Return the velocity [3] in the map and yaw rate commanded at that time; the first ones if that is before
        them.
        """
        for sent_s, motion in reversed(self._sent):
            if sent_s <= time_s:
                return motion
        return self._sent[0][1] if self._sent else np.zeros(3)
