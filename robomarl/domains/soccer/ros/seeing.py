"""`SeeingPlayer`: a player that sees by its camera alone. No ROS here.

Pictures become `sight` by the bundle's network, and the tracker (`core/sight`) makes the own pose and the detections of
them and of wheel odometry. Of the odometry's pose only the first is used, and one after the robot was put back: roughly
where the robot was placed. Everything else is its velocity along the body's axes and its yaw rate.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from robomarl.core.bundle.perception import Perception
from robomarl.core.config import UserError
from robomarl.core.domain.onboard import LazyImport
from robomarl.core.geometry import yaw_of
from robomarl.domains.soccer.core.features import Picture, SoccerSensed, sensed_of
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.core.sight.mates_in_picture import named
from robomarl.domains.soccer.core.sight.own_pose import MAX_HEADING_RAD, SIGMAS, rotated
from robomarl.domains.soccer.core.sight.reports import in_own_order, opponents_of
from robomarl.domains.soccer.core.sight.rolling import shutter_of
from robomarl.domains.soccer.core.sight.tracker import Odometry, SightState, SightTracker
from robomarl.domains.soccer.core.sight.upright import upside_down
from robomarl.domains.soccer.ros.playing import Playing, blank, charge_left
from robomarl.domains.soccer.ros.topics import KICKER
from robomarl.ros import topics
from robomarl.ros.camera.image_reader import CameraSight
from robomarl.ros.fieldtask import BoundReader, FieldTask, Kept, Seat, Sensor
from robomarl.ros.io.messages import Estimate, PoseHistory, TeamSnapshot

PUT_BACK_M = 0.5
"""An odometry that lies further from its last place than this was put there: no robot drives so far in a period."""
PUT_ERROR = (0.05, 0.1)
"""Standard deviations of the place [m] and the heading [rad] with which people, or a referee, put a robot down."""
INFO_AGE_S = 1.0
"""Maximum age [s] of `camera_info`."""


class SeeingPlayer:
    """One player's senses, of pictures."""

    def __init__(self, perception: Perception, playing: Playing, opponents: int) -> None:
        """Start without a belief.

        Args:
            perception: the bundle's network.
            playing: what it knows of its role and its teammates.
            opponents: robots of the other team.

        Raises:
            UserError: the network makes other numbers than players read.
        """
        self._image, self._playing = perception.image, playing
        self._layout = SightLayout()
        if self._layout.size != self._image.outputs:
            raise UserError(
                f"perception.onnx: makes {self._image.outputs} numbers of a picture, and players here read "
                f"{self._layout.size}; export the bundle anew."
            )
        camera = self._image.camera
        self._tracker = SightTracker(opponents, camera.place_m[0], shutter_of(camera))
        self._state: SightState | None = None
        self._came: Estimate | None = None

    def placed(self, odometry: Estimate, stamp_s: float) -> Estimate:
        """Return the own estimate, of the belief after this odometry."""
        before, self._came = self._came, odometry
        back = before is not None and float(np.hypot(*(odometry.pos_m - before.pos_m)[:2])) > PUT_BACK_M
        if self._state is None or back or stamp_s < self._state.time_s:
            yaw = float(yaw_of(odometry.quat_wxyz))
            self._state = self._tracker.start(stamp_s, np.array([*odometry.pos_m[:2], yaw]), PUT_ERROR)
        motion = _motion(odometry)
        self._state = self._tracker.roll(self._state, motion, stamp_s)
        x, y, yaw = self._state.own.mean
        vx, vy = rotated(yaw, motion.forward_m_s, motion.left_m_s)
        at, upright = np.array([x, y, odometry.pos_m[2]]), np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])
        return Estimate(at, upright, np.array([vx, vy, 0.0]), odometry.omega_rad_s)

    def hear(self, name: str, value: object, history: PoseHistory) -> None:
        """A picture arrived; other sensors are left to `sensed`."""
        if not isinstance(value, CameraSight) or self._state is None:
            return
        self._state = self._tracker.look(self._state, self._layout.read(value.sight, value.stamp_s))

    def sensed(self, values: Mapping[str, Any], snapshot: TeamSnapshot) -> SoccerSensed:
        """Return the view's part on ball, opponents and kicker, in the team's field frame."""
        picture, robots = blank(1 + self._tracker.opponents), blank(self._tracker.mates)
        if self._state is not None:
            late_s = max(snapshot.now_s - self._state.time_s, 0.0)
            believed = self._tracker.believe(self._state, late_s)
            picture, robots = believed.picture, believed.mates
        told = in_own_order(picture, self._playing.told_by(snapshot))
        shown = named(robots, opponents_of(picture), _heard(snapshot))
        mates = self._playing.mates_seen(shown, snapshot)
        return sensed_of(picture, told, charge_left(values[KICKER.name], snapshot), mates)

    def doubt(self) -> str:
        """Return why the own place can't be used; "" if it can."""
        if self._state is None:
            return ""  # there is no odometry, which is named
        own = self._state.own
        error_m, most_m = SIGMAS * own.position_error_m, self._image.max_pose_error_m
        error_rad = SIGMAS * own.heading_error_rad
        if error_m <= most_m and error_rad <= MAX_HEADING_RAD:
            return ""
        return (
            f"its own place is known to {error_m:.2f} m and {error_rad:.2f} rad only (limits {most_m:.2f} m, "
            f"{MAX_HEADING_RAD:g} rad); it sees too few lines and goals"
        )


def _heard(snapshot: TeamSnapshot) -> Picture:
    """Return the places [K] that the teammates' messages tell of themselves."""
    mask, pos, vel, age_s = heard = blank(len(snapshot.mates))
    for k, (said, since_s) in enumerate(snapshot.mates):
        if said is not None:
            mask[k], pos[k], vel[k], age_s[k] = True, said.pos_m, said.vel_m_s, since_s
    return heard


def _motion(odometry: Estimate) -> Odometry:
    """Return an odometry's velocity along the body's axes; the first two columns of the rotation matrix."""
    (w, x, y, z), velocity = odometry.quat_wxyz.tolist(), odometry.vel_m_s.tolist()
    ahead = 1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)
    left = 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)
    forward_m_s, left_m_s = (sum(a * v for a, v in zip(axis, velocity, strict=True)) for axis in (ahead, left))
    return Odometry(forward_m_s, left_m_s, float(odometry.omega_rad_s[2]))


def seeing_task(task: FieldTask, playing: Playing, seat: Seat) -> FieldTask:
    """Return the task of a player that sees.

    Args:
        task: that of a player that is told what a camera detects.
        playing: its senses.
        seat: with the bundle's network.
    """
    assert seat.perception is not None
    player = SeeingPlayer(seat.perception, playing, seat.size)
    kicker = next(sensor for sensor in task.sensors if sensor.topic is KICKER)
    return replace(
        task,
        sensors=(*camera_sensors(seat.perception, seat.compressed), kicker),
        sensed=player.sensed,
        hear=player.hear,
        placed=player.placed,
        doubt=player.doubt,
    )


def camera_sensors(perception: Perception, compressed: bool) -> tuple[Sensor, Sensor]:
    """Return a camera's pictures, and its calibration."""
    image, reader = perception.image, "robomarl.ros.camera.image_reader"
    check = partial(upside_down, layout=image.strip)
    kept = Kept(
        topics.STRIP,
        BoundReader(LazyImport(f"{reader}:StripReader"), (perception, check)),
        LazyImport("robomarl.ros.camera.strip_message:strip_from"),
    )
    pictures = Sensor(
        topics.COMPRESSED if compressed else topics.IMAGE,
        BoundReader(LazyImport(f"{reader}:ImageReader"), (perception, check, compressed)),
        shared=False,
        max_age_s=image.max_age_s,
        kept=kept,
    )
    calibration = BoundReader(LazyImport(f"{reader}:CameraInfoReader"), (perception,))
    return pictures, Sensor(topics.CAMERA_INFO, calibration, shared=False, max_age_s=INFO_AGE_S)
