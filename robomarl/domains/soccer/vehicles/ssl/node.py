"""`ssl_node`: robots of the RoboCup Small Size League for their policy nodes. A lifecycle node.

- configure: the league's vision becomes `NAME/odometry`, `NAME/sighting`, `NAME/kicker` and
  `world/ball`; nothing is sent.
- activate: `NAME/cmd_vel` and `NAME/kick` go to the robots' radio, through the watch
  (`adapters.base.watch`).
- deactivate: robots stop. Services `NAME/vehicle/stop` and `NAME/vehicle/reset`.

The reaction to lost commands happens here, as far as the radio carries; beyond it the robots' own
time-out counts.
"""

import os
import sys
from collections.abc import Iterator
from functools import partial

from robomarl.core.config import UserError
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.ground import OmniRobot
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.settings import SslSettings
from robomarl.domains.soccer.ros.topics import BALL
from robomarl.domains.soccer.vehicles.ssl import addresses
from robomarl.domains.soccer.vehicles.ssl.game_words import GameWords
from robomarl.domains.soccer.vehicles.ssl.league_messages import Packet, PacketKind, league_messages, words_of
from robomarl.domains.soccer.vehicles.ssl.seat import PlayerSeat, RadioWords, radio_packet
from robomarl.domains.soccer.vehicles.ssl.vision import FieldRules, VisionTracks
from robomarl.ros import topics
from robomarl.ros.intake.refusals import refusals_of
from robomarl.ros.io.node_base import now_s, publisher, run_node
from robomarl.ros.robot.health import OK, WARN, DiagnosticEntry
from robomarl.ros.robot.jumps import reach_of
from robomarl.vehicles.adapter_node import AdapterNode, EStop, offer_orders
from robomarl.vehicles.mocap.motion_filter import PoseNoise
from robomarl.vehicles.mocap.sensed import TrackRules

ANSWERS_S = 1.0
"""The league's simulators answer every command; radios need not."""


class SslNode(AdapterNode[SslSettings]):
    """All robots of a game, or those of one team where another operator commands the other one."""

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("ssl_node", SslSettings)
        self._seats: list[PlayerSeat] = []
        self._errors: dict[str, str] = {}
        self._sent_s, self._answered_s = -1.0, 0.0
        self._forgotten: set[addresses.Shirt] = set()
        self.begin()

    def prepare(self, settings: SslSettings) -> None:
        """Listen to vision."""
        self._open(settings)
        for seat in self._seats:
            orders = {"stop": seat.stop, "reset": partial(self._start_anew, seat)}
            offer_orders(self, f"{settings.base}/{seat.name}", orders)
        self._ball = publisher(self, BALL, BALL.of(topics.WORLD, settings.base))
        self._estop = EStop(self, settings.base)
        self._game = GameWords(self, {seat.name: seat.shirt for seat in self._seats}, settings.base)

    def destroy_node(self) -> None:
        """Stop the robots first."""
        if self.stop_ticking():
            self._send([seat.rest(now_s(self)) for seat in self._seats if seat.has_driven])
            self._vision.close()
            for radio in self._radios.values():
                radio.close()
        super().destroy_node()

    def _open(self, settings: SslSettings) -> None:
        domain = int(os.environ.get("ROS_DOMAIN_ID", "0"))
        uris, vision, radio, interface = settings.uris, settings.vision, settings.radio, settings.interface
        if settings.sim:
            uris, interface = addresses.simulated_uris(len(settings.team)), "127.0.0.1"
            vision, radio = addresses.simulated_vision(domain), addresses.simulated_radio(domain)
        self._classes = league_messages()
        robot, shirts = player_of(settings.vehicle), addresses.shirts_of(uris, settings.team)
        self._tracks = VisionTracks(shirts, field_rules(settings, robot))
        self._tracks.refuse = partial(self._refuse, "vision")
        self._vision = addresses.VisionSocket(vision, interface)
        own = {n: s for n, s in zip(settings.team, shirts, strict=True) if n not in settings.foreign}
        for shirt in {*shirts}.difference(own.values()):
            self._tracks.may_be_put(shirt, True)  # another operator may carry it at any time
        self._radios = {colour: addresses.RadioSocket(radio, colour) for colour in {s.colour for s in own.values()}}
        self._seats = [PlayerSeat(self, name, shirt, settings, robot) for name, shirt in own.items()]
        self._by_shirt = {seat.shirt: seat for seat in self._seats}
        teams = {colour: [s for s in shirts if s.colour == colour] for colour in addresses.RADIO_PORT}
        others = {addresses.BLUE: addresses.YELLOW, addresses.YELLOW: addresses.BLUE}
        self._opponents = {own: {s: k for k, s in enumerate(teams[other])} for own, other in others.items()}

    def tick(self) -> None:
        """Take in vision and the robots' answers; then send the robots' commands."""
        pressed = self._estop.is_pressed()
        self._game.tell(self._tracks, now_s(self))
        while self._forgotten:
            self._tracks.forget(self._forgotten.pop())
        self._look()
        self._listen()
        at_s, words = now_s(self), []
        for seat in self._seats:
            told = seat.tick(self._tracks, self._active, pressed, at_s)
            words += [told] if told is not None else []
            state, why = seat.state
            self.note(seat.name, state, why)
        self._send(words)

    def _start_anew(self, seat: PlayerSeat) -> None:
        seat.reset()
        self._forgotten.add(seat.shirt)

    def _look(self) -> None:
        """Take in the packets of vision."""
        for packet in self._read(self._vision.take(), self._classes.wrapper, "vision"):
            at_s = now_s(self)
            moved, ball = self._tracks.take(packet, at_s)
            for shirt in self._by_shirt.keys() & set(moved):
                self._by_shirt[shirt].see(self._tracks, self._opponents[shirt.colour], at_s)
            if ball:
                stamp_s = self._tracks.ball.stamp_s
                self._ball.publish(messages.ball_from(self._tracks.ball.at(stamp_s)[0], stamp_s))

    def _listen(self) -> None:
        """Take in the answers of the robots."""
        for colour, radio in self._radios.items():
            for answer in self._read(radio.take(), self._classes.response, colour):
                self._answered_s = now_s(self)
                for error in answer.errors:
                    self._errors[colour] = words_of(error)
                for said in answer.feedback:
                    number = self._classes.number_of(said)
                    if number is None:
                        self._errors[colour] = "an answer names no robot"
                        continue
                    seat = self._by_shirt.get(addresses.Shirt(colour, number))
                    if seat is not None and said.HasField("dribbler_ball_contact"):
                        seat.answer(said.dribbler_ball_contact, self._answered_s)

    def _read(self, packets: list[bytes], kind: PacketKind, source: str) -> Iterator[Packet]:
        """Yield the packets that can be read. Any computer in the network may send anything: an unreadable packet is
        left out, and reported.
        """
        from google.protobuf.message import DecodeError

        for raw in packets:
            try:
                yield kind.FromString(raw)
            except DecodeError as error:
                self._errors[source] = f"a packet can't be read: {error}"
                self._refuse(source, self._errors[source])

    def _refuse(self, source: str, why: str) -> None:
        refusals_of(self).add(source, "", why, self.get_logger().error)

    def _send(self, words: list[RadioWords]) -> None:
        for colour, radio in self._radios.items():
            own = [told for told in words if told.shirt.colour == colour]
            if not own:
                continue
            self._sent_s = now_s(self)
            if problem := radio.send(radio_packet(self._classes, own)):
                self._errors[colour] = problem

    def entries(self) -> list[DiagnosticEntry]:
        """How each robot is, and their radio."""
        at_s = now_s(self)
        for seat in self._seats:
            seat.look_around()
        errors, self._errors = self._errors, {}
        said = "; ".join(f"{who}: {what}" for who, what in errors.items())
        if not said and 0 <= at_s - self._sent_s < ANSWERS_S < self._sent_s - self._answered_s:
            said = "nobody answers robot commands"
        entries = [seat.entry(self._tracks, at_s) for seat in self._seats]
        return [*entries, DiagnosticEntry("ssl/radio", WARN if said else OK, said or "ok", {})]


def player_of(vehicle: str) -> OmniRobot:
    """The vehicle file.

    Raises:
        UserError: it does not play.
    """
    robot = load_any_vehicle(vehicle)
    if not isinstance(robot, OmniRobot) or robot.kicker is None:
        raise UserError(f"ssl_node: vehicle = {vehicle!r} does not play; name an omnidirectional one with a kicker.")
    return robot


def field_rules(settings: SslSettings, robot: OmniRobot) -> FieldRules:
    """Return the rules for accepting vision.

    Raises:
        UserError: `stamps` is not one of the known values.
    """
    if settings.stamps not in ("message", "arrival"):
        raise UserError(f"ssl_node: stamps = {settings.stamps!r} must be message or arrival.")
    noise = PoseNoise(settings.pose_std_m, settings.pose_std_rad, settings.jerk_m_s2, settings.turn_rad_s)
    track = TrackRules(noise, robot.safety.velocity_error_m_s, settings.vision_s)
    reach = reach_of(from_vehicle(robot, AdapterNode.tick_s))
    arrival = settings.stamps == "arrival"
    return FieldRules(track, reach, settings.pitch_m, settings.turned, arrival, settings.latency_s)


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl ssl_node`."""
    return run_node(SslNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
