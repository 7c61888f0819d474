"""`VisionTracks`: the league's pictures from above become estimates of all robots and the ball, in the map. No ROS.

Lengths of vision are millimetres, its x axis goes from goal to goal. The map's x axis points to the goal that the first
team attacks: vision's, or the opposite one. Poses are judged as those of motion capture are (`adapters.mocap.tracker`).
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robomarl.core.geometry import quat_from_yaw
from robomarl.domains.soccer.vehicles.ssl.addresses import BLUE, YELLOW, Shirt
from robomarl.domains.soccer.vehicles.ssl.ball_track import BallTrack
from robomarl.domains.soccer.vehicles.ssl.league_messages import Packet
from robomarl.ros.intake.sound import fault_of
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.jumps import Reach
from robomarl.vehicles.mocap.sensed import FLOWN, SensedPose, TrackRules, TrackStatus
from robomarl.vehicles.mocap.team import TeamTracks

SURE = 0.3
"""Things that vision is less sure of are none."""
TAKES_OVER_S = 0.1
"""Time [s] without a sighting by a thing's camera after which another camera takes over."""
FIELD_M = 0.1
"""Largest difference [m] between vision's field and ours."""
STRANGER_FRAMES, STRANGER_S = 10, 1.0
"""Number of sightings, and time [s] for them, after which a robot outside of the fleet counts as present."""
TURN_RAD = 2 * math.pi + 0.01
"""No orientation in radians is larger."""


@dataclass(frozen=True)
class FieldRules:
    """Rules for accepting vision."""

    track: TrackRules
    reach: Reach
    pitch_m: tuple[float, float]
    """Length and width of the field."""
    turned: bool = False
    """The first team attacks towards vision's -x."""
    arrival: bool = False
    """True if a picture's time is its arrival, instead of the time that it states."""
    latency_s: float = 0.0
    """Delay [s] from the picture to that time."""


class VisionTracks:
    """Memory of a field."""

    def __init__(self, shirts: list[Shirt], rules: FieldRules) -> None:
        """Nothing seen yet; `shirts`: of all robots of the fleet."""
        self._rules, self.ball = rules, BallTrack()
        self._names = {shirt: str(shirt) for shirt in shirts}
        self._tracks = TeamTracks(tuple(self._names.values()), rules.track, rules.reach)
        self.seen: dict[Shirt, tuple[Estimate, float]] = {}
        """The newest estimate of each robot that can be trusted, and its stamp."""
        self._camera: dict[Shirt | Literal["ball"], tuple[int, float]] = {}
        self._strange: dict[Shirt, list[float]] = {}
        self._field_problem = "vision has not said how large its field is"
        self.refuse: Callable[[str], None] = lambda why: None
        """Told of each thing that vision says and can't mean: it was not seen."""

    def take(self, packet: Packet, now_s: float) -> tuple[list[Shirt], bool]:
        """A packet has come; returns the robots and whether the ball have an estimate that is new.

        Args:
            packet: `SSL_WrapperPacket`.
            now_s: by the clock of stamps.
        """
        if packet.HasField("geometry"):
            self._judge(packet.geometry.field)
        if not packet.HasField("detection"):
            return [], False
        frame = packet.detection
        if not math.isfinite(frame.t_capture) or frame.t_capture < 0:
            self.refuse(f"t_capture is no time: {frame.t_capture}")
            return [], False
        stamp_s = (now_s if self._rules.arrival else frame.t_capture) - self._rules.latency_s
        moved = []
        for shirt, robot in self._patterns(frame):
            if self._robot(shirt, robot, frame.camera_id, stamp_s, now_s):
                moved.append(shirt)
        return moved, self._balls(frame, stamp_s, now_s)

    def problem(self, now_s: float) -> str:
        """Return the reason why no robot may play on this field; "" if all may."""
        for shirt, times in self._strange.items():
            if sum(now_s - time_s < STRANGER_S for time_s in times) >= STRANGER_FRAMES:
                return f"vision sees {shirt}, which is no robot of the fleet: nobody would keep clear of it"
        return self._field_problem

    def status(self, shirt: Shirt, now_s: float) -> TrackStatus:
        """How a robot is seen."""
        return self._tracks.status(self._names[shirt], now_s)

    def forget(self, shirt: Shirt) -> None:
        """An operator has seen that the pattern is the robot's: its track begins anew."""
        self._tracks.reset(self._names[shirt])

    def may_be_put(self, shirt: Shirt, may: bool) -> None:
        """Set if a robot may be put elsewhere; otherwise only places are believed to which it can have driven."""
        self._tracks.may_be_carried(self._names[shirt], may)

    def _patterns(self, frame: Packet) -> list[tuple[Shirt, Packet]]:
        """The robots of a picture; of those with one pattern one is another, and neither is told on."""
        colours = ((BLUE, frame.robots_blue), (YELLOW, frame.robots_yellow))
        all_of = [(Shirt(colour, robot.robot_id), robot) for colour, robots in colours for robot in robots]
        seen = [(s, robot) for s, robot in all_of if self._sound(robot, str(s)) and robot.confidence >= SURE]
        count = Counter(shirt for shirt, _ in seen)
        for shirt in self._names.keys() & {shirt for shirt in count if count[shirt] > 1}:
            self._tracks.distrust(self._names[shirt], "two robots of one picture have its pattern")
        return [(shirt, robot) for shirt, robot in seen if count[shirt] == 1]

    def _robot(self, shirt: Shirt, robot: Packet, camera: int, stamp_s: float, now_s: float) -> bool:
        name = self._names.get(shirt)
        if name is None:
            self._strange[shirt] = [*self._strange.get(shirt, []), now_s][-STRANGER_FRAMES:]
            return False
        if not robot.HasField("orientation") or not self._its_camera(shirt, camera, stamp_s):
            return False
        if abs(robot.orientation) > TURN_RAD:
            self._tracks.distrust(name, f"an orientation of {robot.orientation:.0f}: degrees are read as radians")
            return False
        yaw = robot.orientation + math.pi * self._rules.turned
        pose = SensedPose(np.array([*self._place(robot), 0.0]), quat_from_yaw(np.float64(yaw)), stamp_s)
        estimate = self._tracks.take(name, pose, now_s)
        if estimate is None or self._tracks.status(name, now_s).quality not in FLOWN:
            return False
        self.seen[shirt] = estimate, stamp_s
        return True

    def _sound(self, thing: Packet, name: str) -> bool:
        """Return True if vision's data of a thing are plausible; lengths are millimetres."""
        turn = (thing.orientation,) if hasattr(thing, "orientation") else ()
        why = fault_of((thing.confidence, thing.x, thing.y, *turn), f"a number of {name}")
        if why:
            self.refuse(why)
        return not why

    def _balls(self, frame: Packet, stamp_s: float, now_s: float) -> bool:
        sound = [ball for ball in frame.balls if self._sound(ball, "the ball")]
        sure = sorted((ball for ball in sound if ball.confidence >= SURE), key=lambda ball: -ball.confidence)
        late = not -self._rules.track.ahead_s <= now_s - stamp_s <= self._rules.track.lost_s
        if late or not sure or not self._its_camera("ball", frame.camera_id, stamp_s):
            return False
        return self.ball.take([self._place(ball) for ball in sure], stamp_s)

    def _its_camera(self, thing: Shirt | Literal["ball"], camera: int, stamp_s: float) -> bool:
        """Return True if this camera is used for the thing: where fields of view overlap, two cameras see it a
        little apart.
        """
        own, at_s = self._camera.get(thing, (camera, stamp_s))
        if camera != own and 0 <= stamp_s - at_s < TAKES_OVER_S:
            return False
        self._camera[thing] = camera, stamp_s
        return True

    def _place(self, thing: Packet) -> np.ndarray:
        side = -1.0 if self._rules.turned else 1.0
        return side * np.array([thing.x, thing.y]) / 1000.0

    def _judge(self, field: Packet) -> None:
        seen, ours = (field.field_length / 1000, field.field_width / 1000), self._rules.pitch_m
        self._field_problem = ""
        if max(abs(a - b) for a, b in zip(seen, ours, strict=True)) > FIELD_M:
            self._field_problem = (
                f"vision's field is {seen[0]:g} x {seen[1]:g} m, the fleet's scenario is for {ours[0]:g} x {ours[1]:g}"
            )
