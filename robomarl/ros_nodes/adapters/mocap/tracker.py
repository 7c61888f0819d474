"""`PoseTracker`: poses of one body, checked, become estimates. No ROS.

What is wrong has a name (`Quality`), and nothing but `GOOD` and `NOISY` becomes odometry: where poses jump, are lost or
can't be what they say, the robot hears nothing, and its own rule for stale odometry acts.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from robomarl.geometry import quat_conjugate, quat_multiply, rotation_matrix
from robomarl.ros_nodes.adapters.mocap.motion_filter import MotionFilter, PoseNoise, rotation_vector
from robomarl.ros_nodes.intake.sound import fault_of
from robomarl.ros_nodes.io.messages import Estimate
from robomarl.ros_nodes.robot.jumps import JumpCheck, Reach

UNIT_TOLERANCE = 0.01
"""A quaternion whose length is off by more is none."""
FLIP_RAD = 0.35
"""An attitude may be off by so much, and by what the vehicle turns."""
UPRIGHT = math.cos(math.radians(60.0))
"""Least part of the body's z axis that points up when tracking begins."""
SURPRISE_S = 0.5
"""Time constant of the mean of innovations."""
NOISY = 12.0
"""A mean above this, four times what the noise explains, is named."""


class Quality(StrEnum):
    """How far the poses of a body can be trusted."""

    WAITING = "waiting"
    """None has come."""
    SETTLING = "settling"
    """The velocity is not known well enough yet."""
    GOOD = "good"
    NOISY = "noisy"
    """The poses scatter more than the filter is told; told on, and named."""
    JUMPED = "jumped"
    """They are where the vehicle can't have moved."""
    LOST = "lost"
    """None comes any more."""
    STAMPS = "stamps"
    """Their stamps are of another clock, or stand still."""
    IMPLAUSIBLE = "implausible"
    """Unit or frame can't be what the file says."""


FLOWN = (Quality.GOOD, Quality.NOISY)
"""What becomes odometry."""


class SensedPose(NamedTuple):
    """One pose of one body."""

    pos_m: np.ndarray
    """[3] map."""
    quat: np.ndarray
    """[4] wxyz as it came: perhaps no rotation."""
    stamp_s: float


@dataclass(frozen=True)
class TrackRules:
    """What is accepted."""

    noise: PoseNoise = PoseNoise()
    settled_m_s: float = 0.1
    """The velocity's standard deviation has to be below this: the vehicle file's `velocity_error_m_s`."""
    lost_s: float = 0.3
    """Without a pose for so long the body is lost; a pose that is older when it comes doesn't count."""
    ahead_s: float = 0.05
    """Stamps may be ahead of this machine's clock by so much."""
    restart_s: float = 2.0
    """After so long without one that is trusted, the track begins anew where poses are then."""
    most_m: float = 100.0
    """No position is further from the origin."""
    turn_rad_s: float = 20.0
    """No vehicle turns faster."""


class TrackStatus(NamedTuple):
    """How a body is seen."""

    quality: Quality
    why: str
    """In words; "" where it is good."""
    age_s: float
    """From the stamp of the newest pose until it came: what motion capture and network take."""
    rate_hz: float
    """Of poses that counted."""
    speed_error_m_s: float
    """Standard deviation of the velocity."""


class PoseTracker:
    """Memory of one body."""

    def __init__(self, rules: TrackRules, reach: Reach) -> None:
        """Nothing seen yet.

        Args:
            rules: what is accepted.
            reach: how far the vehicle moves.
        """
        self._rules, self._reach = rules, reach
        self._jumps = JumpCheck(reach)
        self._filter: MotionFilter | None = None
        self._quality, self._why = Quality.WAITING, "no pose has come"
        self._stamp_s = self._heard_s = -math.inf
        self._age_s, self._period_s, self._surprise = math.nan, math.inf, 3.0
        self.refused = 0
        """Poses so far."""

    def take(self, pose: SensedPose, now_s: float) -> Estimate | None:
        """A pose has come; returns the estimate at its stamp, None where it is not to be flown.

        Args:
            pose: in the map.
            now_s: by the clock of stamps.
        """
        dt_s, self._age_s = pose.stamp_s - self._stamp_s, now_s - pose.stamp_s
        if dt_s == 0:
            return None
        if not math.isfinite(pose.stamp_s):
            return self._refuse(Quality.STAMPS, f"a stamp is not finite: {pose.stamp_s}")
        if why := self._stamp_problem(dt_s):
            return self._refuse(Quality.STAMPS, why)
        if why := self._unreadable(pose):
            return self._refuse(Quality.IMPLAUSIBLE, why)
        pose = pose._replace(quat=pose.quat / np.linalg.norm(pose.quat))
        if self._filter is None or not 0 < dt_s <= self._rules.restart_s:
            return self._begin(pose, now_s)
        if why := self._jump(self._filter, pose, dt_s):
            return self._refuse(Quality.JUMPED, why)
        self._filter.take(pose.pos_m, pose.quat, dt_s)
        self._stamp_s, self._heard_s = pose.stamp_s, now_s
        self._average(dt_s)
        self._quality, self._why = self._judged(self._filter)
        return self._filter.estimate if self._quality in FLOWN else None

    def distrust(self, why: str) -> None:
        """A pose has come that is not in the frame that was expected."""
        self._refuse(Quality.IMPLAUSIBLE, why)

    def status(self, now_s: float) -> TrackStatus:
        """How the body is seen now."""
        quality, why = self._quality, self._why
        silent_s = now_s - self._heard_s
        if quality in (*FLOWN, Quality.SETTLING) and silent_s > self._rules.lost_s:
            quality, why = Quality.LOST, f"no pose for {silent_s:.1f} s"
        error = self._filter.speed_error_m_s if self._filter else math.inf
        return TrackStatus(quality, why, self._age_s, 1 / self._period_s, error)

    def _stamp_problem(self, dt_s: float) -> str:
        rules = self._rules
        if dt_s < 0 and dt_s > -rules.restart_s:
            return f"a stamp is {-dt_s:.3f} s before the last one"
        if self._age_s < -rules.ahead_s:
            return f"stamps are {-self._age_s:.2f} s ahead of this machine's clock; synchronize, or use stamps: arrival"
        if self._age_s > rules.lost_s:
            return f"poses are {self._age_s:.2f} s old when they come; synchronize clocks, or use stamps: arrival"
        return ""

    def _unreadable(self, pose: SensedPose) -> str:
        if why := fault_of((*pose.pos_m.tolist(), *pose.quat.tolist()), "a number of a pose"):
            return why
        length = float(np.linalg.norm(pose.quat))
        if abs(length - 1) > UNIT_TOLERANCE:
            angles = "; are they angles in degrees?" if length > 1.5 else ""
            return f"the quaternion has length {length:.3g}, not 1{angles}"
        most = float(np.abs(pose.pos_m).max())
        if most > self._rules.most_m:
            return f"a position of {most:.0f} m: positions are in millimetres and read as metres"
        return _wrong_way_up(pose.quat / length) if self._filter is None else ""

    def _jump(self, tracked: MotionFilter, pose: SensedPose, dt_s: float) -> str:
        expected_m, attitude = tracked.ahead(dt_s)
        angle = float(np.linalg.norm(rotation_vector(quat_multiply(quat_conjugate(attitude), pose.quat))))
        if angle > FLIP_RAD + self._rules.turn_rad_s * dt_s:
            return (
                f"turned by {math.degrees(angle):.0f} degrees in {dt_s:.2f} s: markers were taken for each other, "
                "or angles are in degrees and read as radians"
            )
        before = tracked.estimate
        seen = before._replace(pos_m=pose.pos_m)
        return "" if self._jumps.trusts(before, seen, dt_s) else self._jumps.problem

    def _begin(self, pose: SensedPose, now_s: float) -> None:
        self._filter, self._surprise = MotionFilter(self._rules.noise, pose.pos_m, pose.quat), 3.0
        self._jumps = JumpCheck(self._reach)
        self._jumps.in_flight = True  # nobody here knows; who was carried begins anew after `restart_s`
        self._stamp_s, self._heard_s, self._period_s = pose.stamp_s, now_s, math.inf
        self._quality, self._why = Quality.SETTLING, "the track has begun"

    def _refuse(self, quality: Quality, why: str) -> None:
        self._quality, self._why = quality, why
        self.refused += 1

    def _average(self, dt_s: float) -> None:
        assert self._filter is not None
        share = min(dt_s / SURPRISE_S, 1.0)
        self._surprise += share * (self._filter.surprise - self._surprise)
        self._period_s = dt_s if math.isinf(self._period_s) else self._period_s + share * (dt_s - self._period_s)

    def _judged(self, tracked: MotionFilter) -> tuple[Quality, str]:
        error, most = tracked.speed_error_m_s, self._rules.settled_m_s
        if error > most:
            hint = f"at {1 / self._period_s:.0f} Hz the velocity is known to {error:.3f} m/s, {most:g} are needed"
            return Quality.SETTLING, hint
        if self._surprise > NOISY:
            off = math.sqrt(self._surprise / 3)
            return Quality.NOISY, f"poses scatter {off:.1f} times as much as pose_std_m says"
        return Quality.GOOD, ""


def _wrong_way_up(quat: np.ndarray) -> str:
    """What is odd about the attitude of a body whose track begins; "" where it is upright."""
    up = rotation_matrix(quat)[2]
    if up[2] >= UPRIGHT:
        return ""
    if up[2] <= -UPRIGHT:
        return "the body is upside down: NED and FRD are read as ENU and FLU, or the markers' axes are so"
    return "the body lies on its side: a frame with y up is read as one with z up, or the markers' axes are so"
