"""`SightTracker`: pictures and odometry over time become the own pose, and the picture that state policies read.

`step(state, sight, odometry, now_s)` is called once a decision. A picture arrives late: its motion since then is
taken back by the trail of odometry. Things live in the dead-reckoned frame, and are put into the field by the belief
about the own pose when they are handed out.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.domains.soccer.core.features import Picture
from robomarl.domains.soccer.core.sight import own_pose
from robomarl.domains.soccer.core.sight.layout import FloatArray, Sight, Spot
from robomarl.domains.soccer.core.sight.own_pose import OwnPose, Pose, PoseSpread, between, moved, rotated
from robomarl.domains.soccer.core.sight.rolling import RollingShutter
from robomarl.domains.soccer.core.sight.spread import Place, Spread
from robomarl.domains.soccer.core.sight.track import ThingTrack, TrackGains, found, seen, state_at, surprise

Trail = tuple[tuple[float, Pose], ...]
Triple = tuple[float, float, float]
NOWHERE: Triple = (0.0, 0.0, 0.0)
TRAIL_S = 0.4
"""Time for which odometry is kept for pictures that arrive late: more than their maximum age."""


class Odometry(NamedTuple):
    """Motion of the body since the step before, from wheels and gyroscope; body frame."""

    forward_m_s: float
    left_m_s: float
    turn_rad_s: float


class SightState(NamedTuple):
    """Memory of the tracker."""

    time_s: float
    own: OwnPose
    trail: Trail
    """Time and dead-reckoned pose, the newest last."""
    ball: ThingTrack
    opponents: tuple[ThingTrack, ...]
    """One for each opponent; which is which is the tracker's own choice, and stays."""
    mates: tuple[ThingTrack, ...]
    """Robots of the own colour, in any order."""
    motion: Odometry


class Believed(NamedTuple):
    """A robot's belief now, in its team's field frame."""

    pose: FloatArray
    """[3] x, y, heading."""
    velocity_m_s: FloatArray
    """[2]"""
    turn_rad_s: float
    position_error_m: float
    """Standard deviation of the own place along its worst axis."""
    heading_error_rad: float
    """Standard deviation."""
    picture: Picture
    """[1 + S] the ball and the opponents as state policies read them."""
    mates: Picture
    """Robots of the own colour, not known which; see `mates_in_picture.named`."""


@dataclass(frozen=True)
class SightTracker:
    """The numbers that the tracker works with; all state is in `SightState`."""

    opponents: int
    """Number of robots of the other team."""
    camera_x_m: float
    """Place of the camera in front of the robot's centre."""
    shutter: RollingShutter | None = None
    """None for a camera with a global shutter."""
    mates: int = 2
    """Robots of the own colour that are tracked at once."""
    view_rad: float = 2.1
    """Whole angle in which a missing thing counts as missed."""
    sure: float = 0.6
    """Least probability of a spot that the tracks of ball and mates believe."""
    keeps: float = 0.15
    """Least probability of a spot that an opponent's track believes. The network is unsure of robots that touch the
    camera: in recorded matches 64 % of opponents within 0.25 m were told with 0.6, and 94 % with 0.15."""
    found: float = 0.8
    """Least probability of a spot that begins a robot's track."""
    ball_found: float = 0.95
    """Least probability of a spot that begins the ball's track: under light that training did not draw, a network is
    sure of balls that are none, and a team that believes 0.8 plays with these."""
    jumps: float = 0.97
    """Least probability of a ball that begins its track anew elsewhere."""
    ball_hold_s: float = 0.4
    """Time for which a ball out of sight is still told."""
    robot_hold_s: float = 0.5
    """Time for which a robot out of sight is still told."""
    misses: int = 4
    """Pictures in a row that should show a thing and do not, after which it is not told."""
    ball: TrackGains = TrackGains(accel_m_s2=5.0, speed_m_s=1.5, most_m_s=8.0, slows_m_s2=2.0)
    robot: TrackGains = TrackGains(accel_m_s2=4.0, speed_m_s=0.8, most_m_s=3.0, slows_m_s2=1.5, floor_m=0.02)

    def start(self, now_s: float, pose: FloatArray, error: tuple[float, float] = (0.3, 0.3)) -> SightState:
        """Return the memory of a robot that is placed by hand, or that the referee sent to its place.

        Args:
            now_s: time.
            pose: [3] roughly where it is: which of the two halves it looks at must be right.
            error: standard deviations of the place [m] and the heading [rad].
        """
        place, heading = error[0] ** 2, error[1] ** 2
        x, y, yaw = map(float, pose)
        own = OwnPose((x, y, yaw), PoseSpread(place, 0.0, 0.0, place, 0.0, heading))
        lost, trail = ThingTrack(), ((now_s, (0.0, 0.0, 0.0)),)
        others = (lost,) * self.opponents, (lost,) * self.mates
        return SightState(now_s, own, trail, lost, *others, Odometry(0.0, 0.0, 0.0))

    def step(
        self, state: SightState, sight: Sight | None, odometry: Odometry, now_s: float
    ) -> tuple[SightState, Believed]:
        """Return the memory and the belief one decision later: `roll`, `look` if there is a picture, and `believe`.

        Args:
            state: memory.
            sight: a picture that arrived since the last step, if any.
            odometry: mean motion since the last step.
            now_s: time, not before that of the last step.
        """
        state = self.roll(state, odometry, now_s)
        if sight is not None:
            state = self.look(state, sight)
        return state, self.believe(state)

    def roll(self, state: SightState, odometry: Odometry, now_s: float) -> SightState:
        """Return the memory after a motion; arguments as of `step`."""
        dt = max(now_s - state.time_s, 0.0)
        turn = odometry.turn_rad_s * dt
        step = (*rotated(turn / 2, odometry.forward_m_s * dt, odometry.left_m_s * dt), turn)
        own = own_pose.predict(state.own, step, dt)
        trail = state.trail
        if dt > 0:  # no motion takes no place on the trail
            trail = (*trail, (now_s, moved(trail[-1][1], step)))
            trail = trail[bisect_left(trail, (now_s - TRAIL_S,)) :]
        return state._replace(time_s=now_s, own=own, trail=trail, motion=odometry)

    def look(self, state: SightState, sight: Sight) -> SightState:
        """Return the memory after a picture, which may be older than the last motion."""
        if sight.stamp_s < state.trail[0][0]:
            return state  # nobody knows where the robot was then
        there = _pose_at(state.trail, sight.stamp_s)
        if self.shutter is not None:
            sight = self.shutter.straightened(sight, _turn_at(state.trail, sight.stamp_s))
        own = own_pose.correct(state.own, between(there, state.trail[-1][1]), sight.pose)
        ball = self._ball(state.ball, sight, there)
        opponents = [spot for spot in sight.opponents if spot.probability >= self.keeps]
        mates = [spot for spot in sight.mates if spot.probability >= self.sure]
        return state._replace(
            own=own,
            ball=ball,
            opponents=self._robots(state.opponents, opponents, sight, there),
            mates=self._robots(state.mates, mates, sight, there),
        )

    def _ball(self, track: ThingTrack, sight: Sight, there: Pose) -> ThingTrack:
        spot, least = sight.ball, self.sure if track.known and track.missed <= self.misses else self.ball_found
        if spot.probability >= least:
            placed = (*self._placed(spot, there), sight.stamp_s)
            jumps = track.known and surprise(self.ball, track, *placed) > self.ball.refuse
            if not jumps or spot.probability >= self.jumps:
                return seen(self.ball, track, *placed)
        return self._missed(self.ball, track, sight, there)

    def _robots(
        self, tracks: tuple[ThingTrack, ...], spots: list[Spot], sight: Sight, there: Pose
    ) -> tuple[ThingTrack, ...]:
        """Give every spot to the nearest track that may be it; a spot that is left begins or replaces one."""
        after, left = list(tracks), set(range(len(tracks)))
        loose: list[tuple[Place, Spread, float]] = []
        for spot in spots:
            placed = (*self._placed(spot, there), sight.stamp_s)
            near = {i: surprise(self.robot, tracks[i], *placed) for i in left if tracks[i].known}
            best = min(near, key=lambda i: near[i], default=-1)
            if best >= 0 and near[best] < 2 * self.robot.refuse:
                after[best] = seen(self.robot, tracks[best], *placed)
                left.remove(best)
            elif spot.probability >= self.found:
                loose.append(placed)
        for placed in loose:
            oldest = min(left, key=lambda i: tracks[i].time_s, default=-1)
            if oldest >= 0:
                after[oldest] = found(self.robot, *placed)
                left.remove(oldest)
        for i in left:
            after[i] = self._missed(self.robot, after[i], sight, there)
        return tuple(after)

    def _missed(self, gains: TrackGains, track: ThingTrack, sight: Sight, there: Pose) -> ThingTrack:
        """Return the track of a thing that the picture does not show: a miss if it should."""
        if not track.known:
            return track
        x, y, _, _ = state_at(gains, track, sight.stamp_s)
        x, y = rotated(-there[2], x - there[0], y - there[1])
        x -= self.camera_x_m
        shows = abs(math.atan2(y, x)) < self.view_rad / 2 and 0.05 < math.hypot(x, y) < 2.5
        return track._replace(missed=track.missed + 1) if shows else track

    def _placed(self, spot: Spot, there: Pose) -> tuple[Place, Spread]:
        """Return place and covariance of a spot in the dead-reckoned frame."""
        x, y = spot.place_m
        x, y = rotated(there[2], x + self.camera_x_m, y)
        return (there[0] + x, there[1] + y), spot.spread(there[2])

    def believe(self, state: SightState, late_s: float = 0.0) -> Believed:
        """Return the belief of a memory; `late_s` is added to the ages of what the robot sees [s]."""
        own, motion = state.own, state.motion
        ball = self._row(state, self.ball, state.ball, self.ball_hold_s)
        told = own_pose.SIGMAS * own.heading_error_rad <= own_pose.SEEING_RAD  # rows of mates reckon with it
        opponents, mates = (
            [self._row(state, self.robot, track, self.robot_hold_s) for track in tracks]
            for tracks in (state.opponents, state.mates if told else [ThingTrack()] * self.mates)
        )
        velocity = np.array(rotated(own.mean[2], motion.forward_m_s, motion.left_m_s))
        errors = own.position_error_m, own.heading_error_rad
        pictures = _picture([ball, *opponents], late_s), _picture(mates, late_s)
        return Believed(np.array(own.mean), velocity, motion.turn_rad_s, *errors, *pictures)

    def _row(self, state: SightState, gains: TrackGains, track: ThingTrack, hold_s: float) -> "_Row | None":
        """Return a thing in the field frame; None for one that is not told."""
        (x, y, heading), here = state.own.mean, state.trail[-1][1]
        age_s = state.time_s - track.time_s
        if not track.known or track.time_s <= track.since_s or age_s > hold_s or track.missed > self.misses:
            return None
        px, py, vx, vy = state_at(gains, track, state.time_s)
        vx, vy = rotated(heading - here[2], vx, vy)
        px, py = rotated(heading - here[2], px - here[0], py - here[1])
        return _Row((x + px - vx * age_s, y + py - vy * age_s, 0.0), (vx, vy, 0.0), age_s)


class _Row(NamedTuple):
    """One thing of the picture that state policies read."""

    pos: Triple
    """Place [m] at the last picture of it, so that its velocity leads to the place now."""
    vel: Triple
    """[m/s]"""
    age_s: float
    """Time [s] since the last picture that shows the thing."""


def _picture(rows: list[_Row | None], late_s: float) -> Picture:
    """Return rows as a picture that is this much older [s]."""
    return Picture(
        np.array([row is not None for row in rows]),
        np.array([row.pos if row else NOWHERE for row in rows]),
        np.array([row.vel if row else NOWHERE for row in rows]),
        np.array([row.age_s + late_s if row else 0.0 for row in rows]),
    )


def _pose_at(trail: Trail, time_s: float) -> Pose:
    """Return the dead-reckoned pose at a time, between two steps; the oldest or newest for a time outside."""
    after = bisect_left(trail, (time_s,))
    if after in (0, len(trail)):
        return trail[min(after, len(trail) - 1)][1]
    (t0, first), (t1, second) = trail[after - 1 : after + 1]
    share = (time_s - t0) / max(t1 - t0, 1e-9)
    x, y, turn = between(first, second)
    return moved(first, (share * x, share * y, share * turn))


def _turn_at(trail: Trail, time_s: float) -> float:
    """Return the yaw rate [rad/s] of the step that holds a time; of the first or last step for a time outside."""
    if len(trail) < 2:
        return 0.0
    after = min(max(bisect_left(trail, (time_s,)), 1), len(trail) - 1)
    (t0, first), (t1, second) = trail[after - 1 : after + 1]
    return between(first, second)[2] / max(t1 - t0, 1e-9)
