"""`PoseTracker`: turns poses of one body, after checks, into estimates. No ROS.

Each fault has a name (`Quality`), and nothing but `GOOD` and `NOISY` becomes odometry: if poses
jump, are lost or are implausible, the robot receives nothing, and its own rule for stale odometry
acts.

A body goes on from its last trusted state: its possible distance from there is checked once, when
poses begin that do not go on from its track, and never again for these poses (`doubt`). So no jump,
flip or exchange is believed because it lasts. Poses come back into the track, an operator resets
it, or the robot is not moving by itself and may be carried.
"""

import math
from collections.abc import Callable

import numpy as np

from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.jumps import Reach
from robomarl.vehicles.mocap.commanded import Commanded
from robomarl.vehicles.mocap.doubt import FLIP_RAD, LASTS_S, Doubt, Flip, angle_between, heading, most_turn
from robomarl.vehicles.mocap.motion_filter import MotionFilter, PoseNoise
from robomarl.vehicles.mocap.sensed import (
    FLOWN,
    Quality,
    SensedPose,
    TrackRules,
    TrackStatus,
    pose_problem,
    stamp_problem,
)
from robomarl.vehicles.mocap.whereabouts import TOUCH, Whereabouts

__all__ = ["FLOWN", "PoseNoise", "PoseTracker", "Quality", "SensedPose", "TrackRules", "TrackStatus"]

SURPRISE_S = 0.5
"""Time constant of the mean of innovations."""
YAW_S = 0.2
"""Time constant of the mean of yaw rates."""
BLINK_S, BLINKS = 0.035, 2.5
"""Time [s], and number of periods, without a pose after which a body is hidden."""
NOISY = 12.0
"""Mean of innovations above which poses are noisy: four times the value that the noise explains."""


Others = Callable[[np.ndarray, float, bool], frozenset[str]]


class PoseTracker:
    """Memory of one body."""

    def __init__(
        self,
        rules: TrackRules,
        reach: Reach,
        others: Others = lambda pos_m, stamp_s, obeys: frozenset(),
    ) -> None:
        """Start without a pose.

        Args:
            rules: rules for accepting poses.
            reach: reach of the vehicle.
            others: names of other bodies that can be at a place [3] at a stamp, and True if vehicles follow
                their commands.
        """
        self._rules, self._reach, self._others = rules, reach, others
        self.commanded = Commanded(rules.delay_s, np.array(rules.command_error_m_s2))
        """Commands of its robot; may be empty."""
        self.carried = False
        """The robot does not move by itself: its track may begin anew anywhere."""
        self._proven = False
        """Something was told of the track: from then on it does not begin anew by itself."""
        self._filter: MotionFilter | None = None
        self._yaw = self._yaw_rate = self._turned_s = 0.0
        self._doubt: Doubt | None = None
        self._quality, self._why = Quality.WAITING, "no pose has come"
        self._stamp_s = self._heard_s = self._seen_s = -math.inf
        self._age_s, self._period_s, self._surprise = math.nan, math.inf, 3.0
        self.refused = 0
        """Poses so far."""

    def take(self, pose: SensedPose, now_s: float) -> Estimate | None:
        """A pose has come; returns the estimate at its stamp, None where it is not to be flown.

        Args:
            pose: in the map.
            now_s: by the clock of stamps.
        """
        dt_s, self._age_s = pose.stamp_s - self._seen_s, now_s - pose.stamp_s
        if dt_s == 0:
            return None
        if why := stamp_problem(dt_s, self._age_s, self._rules):
            return self._refuse(Quality.STAMPS, why)
        if why := pose_problem(pose, self._rules.most_m, self._filter is None):
            return self._refuse(Quality.IMPLAUSIBLE, why)
        if dt_s < 0:
            self._set_clock(dt_s - LASTS_S)
        self._seen_s = pose.stamp_s
        pose = pose._replace(quat=pose.quat / np.linalg.norm(pose.quat))
        if self._filter is None:
            return self._begin(pose, now_s)
        if self._doubt is not None and self._goes_on(self._doubt, pose):
            return self._take_doubted(self._doubt, pose, now_s)
        return self._take(self._filter, pose, now_s)

    def distrust(self, why: str) -> None:
        """A pose has come that is not one of this body."""
        self._refuse(Quality.IMPLAUSIBLE, why)

    def status(self, now_s: float) -> TrackStatus:
        """How the body is seen now."""
        quality, why = self._quality, self._why
        silent_s = now_s - self._heard_s
        if quality in (*FLOWN, Quality.SETTLING) and silent_s > self._rules.lost_s:
            quality, why = Quality.LOST, f"no pose for {silent_s:.1f} s"
        error = self._filter.speed_error_m_s if self._filter else math.inf
        return TrackStatus(quality, why, self._age_s, 1 / self._period_s, error)

    @property
    def rivals(self) -> frozenset[str]:
        """Other bodies that its poses can be of as well."""
        return self._doubt.rivals if self._doubt is not None and not self._doubt.why else frozenset()

    def may_be_at(self, pos_m: np.ndarray, stamp_s: float, obeys: bool) -> bool:
        """Return True if this body can be at a place [3] at a stamp, by its last trusted state and, if `obeys`, its
        commands.
        """
        return self._proven and not self.carried and self._known().may_be(pos_m, stamp_s, obeys)

    def is_apart_from(self, rival: "PoseTracker") -> bool:
        """Return True if another body is known to be elsewhere than these doubted poses."""
        if rival.carried:
            return True
        if self._doubt is None or rival._doubt is not None or rival._filter is None:
            return False
        ahead_s = rival._stamp_s - self._doubt.stamp_s
        if rival._stamp_s < self._doubt.born_s or abs(ahead_s) > LASTS_S:
            return False
        there = rival._filter.estimate.pos_m
        return math.dist(self._doubt.filter.ahead(ahead_s)[0], there) > TOUCH * self._reach.separation_m

    def clear(self, elsewhere: frozenset[str]) -> bool:
        """Bodies that its poses can't be of; returns whether they are its own thereby."""
        if self._doubt is None or not elsewhere:
            return False
        self._doubt.rivals -= elsewhere
        return self._resolve(self._doubt)

    def _set_clock(self, by_s: float) -> None:
        """The clock of stamps was set back: the track goes on as if a short while had passed."""
        self._stamp_s += by_s
        self._heard_s += by_s
        if self._doubt is not None:
            self._doubt.stamp_s += by_s
            self._doubt.born_s += by_s

    def _begin(self, pose: SensedPose, now_s: float) -> None:
        self._filter, self._surprise = MotionFilter(self._rules.noise, pose.pos_m, pose.quat), 3.0
        self._doubt, self._proven = None, False
        self._yaw, self._yaw_rate, self._turned_s = heading(pose.quat), 0.0, 0.0
        self._stamp_s, self._heard_s, self._period_s = pose.stamp_s, now_s, math.inf
        self._quality, self._why = Quality.SETTLING, "the track has begun"

    def _take(self, track: MotionFilter, pose: SensedPose, now_s: float) -> Estimate | None:
        """A pose that goes on from the track, or begins another motion."""
        doubt = self._doubted(pose)
        if doubt is not None:
            return self._suspect(doubt) if self._proven and not self.carried else self._begin(pose, now_s)
        if self._doubt is not None and self._doubt.of_body:  # a flip is over, and the body has moved meanwhile
            track = self._adopt(self._doubt)
        dt_s, self._doubt = pose.stamp_s - self._stamp_s, None
        self._turn(heading(pose.quat), dt_s)
        track.take(pose.pos_m, pose.quat, dt_s)
        self._stamp_s, self._heard_s = pose.stamp_s, now_s
        self._average(dt_s)
        self._quality, self._why = self._judged(track)
        self._proven = self._proven or self._quality in FLOWN
        return track.estimate if self._quality in FLOWN else None

    def _take_doubted(self, doubt: Doubt, pose: SensedPose, now_s: float) -> Estimate | None:
        """A pose that goes on from doubted ones."""
        if self.carried:
            return self._begin(pose, now_s)
        doubt.take(pose.pos_m, pose.quat, pose.stamp_s)
        if doubt.of_body and doubt.flip is not None and doubt.explained(self._reach.planar):
            doubt.flip = None
        if self._resolve(doubt):
            self._heard_s = now_s
            return None
        return self._suspect(doubt)

    def _goes_on(self, doubt: Doubt, pose: SensedPose) -> bool:
        """Return True if a pose belongs to the motion that is doubted already."""
        dt_s = pose.stamp_s - doubt.stamp_s
        if not 0 < dt_s <= LASTS_S:
            return False
        expected_m, attitude = doubt.filter.ahead(dt_s)
        young = doubt.stamp_s - doubt.born_s < LASTS_S / 2  # its velocity is not known yet
        where = Whereabouts(doubt.filter, doubt.stamp_s, self._reach, self.commanded)
        most_m = self._reach.after(0.0, dt_s) if young else where.room_m(pose.stamp_s)
        return math.dist(expected_m, pose.pos_m) <= most_m and angle_between(attitude, pose.quat) <= FLIP_RAD

    def _doubted(self, pose: SensedPose) -> Doubt | None:
        """Return the doubt about a pose that goes on from the last trusted state of the body; None if there is none."""
        known = self._known()
        ahead_s = pose.stamp_s - known.at_s
        off_m, why = known.jump(pose.pos_m, pose.stamp_s)
        if ahead_s > self._rules.restart_s:
            why = f"it was not seen for {ahead_s:.1f} s, and can be anything: reset it, or disarm its robot"
        # Where only one body has room, and this one is, no other can be.
        alone = why or not known.has_room(off_m, pose.stamp_s)
        obeys = known.obeyed(pose.pos_m, pose.stamp_s) is not False
        rivals = frozenset() if alone else self._others(pose.pos_m, pose.stamp_s, obeys)
        expected = known.attitude(pose.stamp_s)
        flip_rad = angle_between(expected, pose.quat)
        hidden = ahead_s > max(BLINK_S, BLINKS * min(self._period_s, LASTS_S / BLINKS))
        flipped = flip_rad > most_turn(ahead_s, hidden, self._reach.planar)
        if not (why or rivals or flipped):
            return None
        may, why_not = hidden or known.turn is not None, _turned(flip_rad, ahead_s)
        flip = Flip(expected, pose.quat, known.yaw_off(pose.quat, pose.stamp_s), may, why_not)
        return Doubt(self._rules.noise, pose, why, rivals, flip if flipped else None)

    def _known(self) -> Whereabouts:
        """Return where the body is, by present knowledge."""
        assert self._filter is not None
        doubt = self._doubt if self._doubt is not None and self._doubt.of_body else None
        if doubt is not None:
            turn = doubt.flip and doubt.flip.turn
            return Whereabouts(doubt.filter, doubt.stamp_s, self._reach, self.commanded, self._yaw_rate, turn)
        return Whereabouts(self._filter, self._stamp_s, self._reach, self.commanded, self._yaw_rate)

    def _resolve(self, doubt: Doubt) -> bool:
        """Return True if nothing speaks against doubted poses any more, and adopt them as the body's."""
        if not doubt.of_body or doubt.flip is not None:
            return False
        self._adopt(doubt)
        self._quality, self._why = Quality.SETTLING, "it is known again whose poses these are"
        return True

    def _adopt(self, doubt: Doubt) -> MotionFilter:
        if doubt.flip is not None:
            doubt.filter.turn_back(doubt.flip.turn)
        self._yaw = heading(doubt.filter.estimate.quat_wxyz)
        self._filter, self._stamp_s, self._doubt, self._surprise = doubt.filter, doubt.stamp_s, None, 3.0
        return doubt.filter

    def _suspect(self, doubt: Doubt) -> None:
        if self._doubt is not None and self._doubt is not doubt and self._doubt.of_body:
            self._adopt(self._doubt)  # only its attitude was doubted: where the body was then is known
        self._doubt = doubt
        if doubt.rivals and not doubt.why:
            others = ", ".join(sorted(doubt.rivals))
            return self._refuse(Quality.DOUBTED, f"it was hidden, and its poses can be of {others} as well")
        return self._refuse(Quality.JUMPED, doubt.why or (doubt.flip.why if doubt.flip else ""))

    def _refuse(self, quality: Quality, why: str) -> None:
        self._quality, self._why = quality, why
        self.refused += 1

    def _turn(self, yaw_rad: float, dt_s: float) -> None:
        """The mean of the yaw rate."""
        self._turned_s = min(self._turned_s + dt_s, YAW_S)
        rate = math.remainder(yaw_rad - self._yaw, 2 * math.pi) / dt_s
        self._yaw, self._yaw_rate = yaw_rad, self._yaw_rate + dt_s / max(self._turned_s, dt_s) * (rate - self._yaw_rate)

    def _average(self, dt_s: float) -> None:
        assert self._filter is not None
        share = min(dt_s / SURPRISE_S, 1.0)
        self._surprise += share * (self._filter.surprise - self._surprise)
        period_s = dt_s if math.isinf(self._period_s) else self._period_s
        self._period_s = period_s + share * (min(dt_s, 3 * period_s) - period_s)  # a gap is no period

    def _judged(self, tracked: MotionFilter) -> tuple[Quality, str]:
        error, most = tracked.speed_error_m_s, self._rules.settled_m_s
        if error > most:
            hint = f"at {1 / self._period_s:.0f} Hz the velocity is known to {error:.3f} m/s, {most:g} are needed"
            return Quality.SETTLING, hint
        if self._surprise > NOISY:
            off = math.sqrt(self._surprise / 3)
            return Quality.NOISY, f"poses scatter {off:.1f} times as much as pose_std_m says"
        return Quality.GOOD, ""


def _turned(by_rad: float, in_s: float) -> str:
    return (
        f"turned by {math.degrees(by_rad):.0f} degrees in {in_s:.2f} s: markers were taken for each other, "
        "or angles are in degrees and read as radians"
    )
