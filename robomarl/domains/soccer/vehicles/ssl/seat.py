"""`PlayerSeat`: one robot's side of ROS: its estimate and picture from vision, commands in, words to its radio."""

import math
from typing import NamedTuple

import numpy as np
from rclpy.lifecycle import LifecycleNode

from robomarl.core.geometry import quat_conjugate, quat_from_yaw, quat_multiply, rotate
from robomarl.core.hardware.ground import OmniRobot
from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.playing import BALL, OPPONENT, Sighting, Thing
from robomarl.domains.soccer.ros.settings import SslSettings
from robomarl.domains.soccer.ros.topics import CMD_VEL, KICK, KICKER, SIGHTING
from robomarl.domains.soccer.vehicles.ssl.addresses import Shirt
from robomarl.domains.soccer.vehicles.ssl.league_messages import LeagueMessages
from robomarl.domains.soccer.vehicles.ssl.player_drive import PlayerDrive
from robomarl.domains.soccer.vehicles.ssl.vision import VisionTracks
from robomarl.ros import topics
from robomarl.ros.io.fast_messages import OdometryWriter
from robomarl.ros.io.messages import Estimate
from robomarl.ros.io.node_base import Mailbox, publisher
from robomarl.ros.robot.health import OK, WARN, DiagnosticEntry
from robomarl.ros.timing.steady import Absence, steady_now_s
from robomarl.vehicles.base.watch import BaseRules, BaseSighted, BaseState, watched

STOPS_S = 1.0
"""Time [s] for which a robot that no longer drives is commanded to stop."""
BALL_S = 0.1
"""Time [s] without a sighting after which the ball is not shown."""


class RadioWords(NamedTuple):
    """Radio command of one robot."""

    shirt: Shirt
    twist: np.ndarray
    """[3] forward and left [m/s], yaw rate [rad/s]."""
    kick_m_s: float


class PlayerSeat:
    """Memory of one robot."""

    def __init__(self, node: LifecycleNode, name: str, shirt: Shirt, settings: SslSettings, robot: OmniRobot) -> None:
        """Subscribe and publish."""
        self.name, self.shirt, self._node, self._settings = name, shirt, node, settings
        own = f"{settings.base}/{name}"
        spoken = (SIGHTING, KICKER, topics.ODOMETRY)
        self._sighting, self._kicker, self._odometry = (publisher(node, t, f"{own}/{t.name}") for t in spoken)
        self._moves = Mailbox(node, CMD_VEL, f"{own}/{CMD_VEL.name}", messages.twist_to)
        self._kicks = Mailbox(node, KICK, f"{own}/{KICK.name}", messages.kick_to)
        assert robot.kicker is not None, "checked when the node is configured"
        self._write, self._kicker_config = OdometryWriter(name), robot.kicker
        self._drive = PlayerDrive(robot, 1 / settings.policy_hz, settings.response_s)
        self._rules = BaseRules(robot.on_command_loss.stop_after_s, pose_s=settings.vision_s)
        self._absence = Absence()
        self._own: Estimate | None = None
        self._own_s = self._seen_s = self._command_s = self._drove_s = -math.inf
        self._then_s = math.nan
        self._kick_m_s = self._charged_s = 0.0
        self._at_ball = self.stopped = False
        self._disobeys = self._rival = ""
        self._state, self._why = BaseState.WAITING, "vision has not seen it yet"

    def see(self, tracks: VisionTracks, opponents: dict[Shirt, int], now_s: float) -> None:
        """Take in a new estimate of this robot by vision: publish it for the policy, with the things around.

        Args:
            tracks: of the field.
            opponents: number of each opponent, by its shirt.
            now_s: by the clock of stamps.
        """
        seen, stamp_s = tracks.seen[self.shirt]
        passed_s = min(max(stamp_s - self._seen_s, 0.0), 0.1)
        self._own, self._own_s = self._drive.now(seen, stamp_s, now_s), now_s
        self._seen_s = stamp_s
        if not self._drive.answers(seen, stamp_s, passed_s) and self._state is BaseState.DRIVING:
            self._disobeys = (
                f"it does not turn as it is told: is it {self.shirt}, and is its pattern the right way round"
            )
        if self._unfit(tracks, now_s):
            return
        self._drive.note(self._own, now_s)
        picture = self._picture(tracks, opponents, stamp_s)
        self._sighting.publish(messages.sighting_from(picture, self.name))
        self._kicker.publish(messages.kicker_from(max(self._charged_s, now_s), now_s))
        self._odometry.publish(self._write(self._own, now_s))

    def answer(self, at_ball: bool, now_s: float) -> None:
        """Its radio says whether the ball is at its kicker."""
        if self._at_ball and not at_ball and self._kick_m_s >= self._kicker_config.min_speed_m_s:
            self._charged_s = now_s + self._kicker_config.recharge_s
        self._at_ball = at_ball

    def tick(self, tracks: VisionTracks, active: bool, pressed: bool, now_s: float) -> RadioWords | None:
        """Receive and decide; return the command for its radio, None if the robot is left alone."""
        self._absence.look(steady_now_s())
        for (velocity, stamp_s), info in self._moves.take():
            if active:
                self._drive.command(velocity, stamp_s)
                self._command_s = now_s - self._absence.waited_s(info)
        for (speed_m_s, _), info in self._kicks.take():
            if self._absence.waited_s(info) > self._rules.stop_after_s:
                continue
            self._kick_m_s = min(max(speed_m_s, 0.0), self._kicker_config.max_speed_m_s)
        unfit, silent_s = self._unfit(tracks, now_s), now_s - self._seen_s
        ages = (now_s - self._command_s if active else math.inf, 0.0, silent_s)
        self._state, self._why = watched(BaseSighted(*ages, pressed, self.stopped, unfit), self._rules)
        dt_s, self._then_s = 0.0 if math.isnan(self._then_s) else now_s - self._then_s, now_s
        if self._state is BaseState.DRIVING and self._own is not None:
            self._drove_s = now_s
            turn = quat_from_yaw(np.float64(self._own.omega_rad_s[2] * (now_s - self._own_s)))
            own = self._own._replace(quat_wxyz=quat_multiply(self._own.quat_wxyz, turn))
            return RadioWords(self.shirt, self._drive.follow(own, now_s, dt_s), self._kick_m_s)
        self._kick_m_s = 0.0
        if now_s - self._drove_s < STOPS_S or self._state is BaseState.STOPPED:
            return self.rest(now_s)
        return None

    def rest(self, now_s: float) -> RadioWords:
        """Return the command that stops the robot."""
        return RadioWords(self.shirt, self._drive.rest(now_s), 0.0)

    def stop(self) -> None:
        """Stand still until `reset`."""
        self.stopped = True

    def reset(self) -> None:
        """An operator has looked at it."""
        self.stopped, self._disobeys = False, ""
        self._drive.forgive()

    def look_around(self) -> None:
        """Look for another publisher of this robot's odometry: a second adapter."""
        others = self._node.count_publishers(self._odometry.topic_name) - 1
        self._rival = f"{others} others publish {self._odometry.topic_name}; stop them" if others > 0 else ""

    @property
    def has_driven(self) -> bool:
        """It was told to move."""
        return self._drove_s > -math.inf

    @property
    def state(self) -> tuple[BaseState, str]:
        """State of the robot, and the reason."""
        return self._state, self._why

    def entry(self, tracks: VisionTracks, now_s: float) -> DiagnosticEntry:
        """For `/diagnostics`."""
        status = tracks.status(self.shirt, now_s)
        level = OK if self._state in (BaseState.DRIVING, BaseState.READY) else WARN
        values = {"state": str(self._state), "robot": str(self.shirt), "vision": str(status.quality)}
        values |= {"age_s": f"{status.age_s:.3f}", "rate_hz": f"{status.rate_hz:.1f}"}
        return DiagnosticEntry(f"{self.name}/ssl", level, f"{self._state}: {self._why or 'ok'}", values)

    def _unfit(self, tracks: VisionTracks, now_s: float) -> str:
        if found := tracks.problem(now_s) or self._rival or self._disobeys:
            return found
        if now_s - self._seen_s <= self._settings.vision_s:
            return ""
        status = tracks.status(self.shirt, now_s)
        return f"{self.shirt}: {status.why or 'vision does not see it'}"

    def _picture(self, tracks: VisionTracks, opponents: dict[Shirt, int], stamp_s: float) -> Sighting:
        """Placed by the estimate that was told nearest to the picture's time, so that the policy finds it there."""
        at_s, there = self._drive.near(stamp_s) or (stamp_s, tracks.seen[self.shirt][0])
        things = []
        if stamp_s - tracks.ball.stamp_s < BALL_S:
            place, vel = tracks.ball.at(at_s)
            things.append(self._thing(BALL, there, np.array([*place, 0.0]), np.array([*vel, 0.0])))
        for shirt, number in opponents.items():
            other, seen_s = tracks.seen.get(shirt, (None, -math.inf))
            if other is not None and stamp_s - seen_s < self._settings.vision_s:
                place = other.pos_m + other.vel_m_s * (at_s - seen_s)
                things.append(self._thing(f"{OPPONENT}{number}", there, place, other.vel_m_s))
        return Sighting(at_s, tuple(thing for thing in things if self._is_shown(thing)))

    @staticmethod
    def _thing(kind: str, there: Estimate, place: np.ndarray, vel: np.ndarray) -> Thing:
        back = quat_conjugate(there.quat_wxyz)
        return Thing(kind, rotate(back, place - there.pos_m), rotate(back, vel))

    def _is_shown(self, thing: Thing) -> bool:
        x, y = float(thing.pos_m[0]), float(thing.pos_m[1])
        return abs(math.atan2(y, x)) <= self._settings.fov_rad / 2 and math.hypot(x, y) <= self._settings.range_m


def radio_packet(classes: LeagueMessages, words: list[RadioWords]) -> bytes:
    """`RobotControl` for robots of one colour."""
    packet = classes.control()
    for shirt, twist, kick_m_s in words:
        told = packet.robot_commands.add(id=shirt.number, kick_speed=kick_m_s, kick_angle=0.0, dribbler_speed=0.0)
        velocity = told.move_command.local_velocity
        velocity.forward, velocity.left, velocity.angular = twist.tolist()
    return packet.SerializeToString()
