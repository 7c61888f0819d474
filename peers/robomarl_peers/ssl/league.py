"""`LeagueField`: surroundings of the field: cameras that send pictures, and the radio. No ROS.

Errors of pictures and losses of the radio are the figures of ER-Force's simulator for "realistic"
fields (as the documentation of its successors lists them); its cameras' offsets and false balls
are left out.
"""

import socket
from collections import deque
from typing import NamedTuple

import numpy as np

from robomarl.domains.soccer.vehicles.ssl.addresses import (
    BLUE,
    MOST_BYTES,
    RADIO_PORT,
    Shirt,
    place_of,
    simulated_radio,
    simulated_vision,
)
from robomarl.domains.soccer.vehicles.ssl.league_messages import league_messages

BALL_M, ROBOT_M, ROBOT_RAD = 0.0014, 0.0013, 0.01
"""Standard deviations."""
BALL_MISSED, ROBOT_MISSED = 0.05, 0.02
"""Shares of pictures that do not show it."""
LATE_S = 0.045
"""Time [s] from picture to network: exposure and processing."""
COMMAND_LOST, ANSWER_LOST = 0.03, 0.1
"""Shares of packets."""
FIELD_EVERY = 50
"""Pictures from one word of the field's size to the next."""


class FieldView(NamedTuple):
    """Objects that cameras see, in the map."""

    ball_m: np.ndarray
    """[2]."""
    places_m: np.ndarray
    """[M, 2] of all robots."""
    yaw_rad: np.ndarray
    """[M]."""


class RadioPacket(NamedTuple):
    """Command of one robot."""

    index: int
    twist: np.ndarray
    kick_m_s: float


class LeagueField:
    """Sockets and the pictures that are on their way."""

    def __init__(self, shirts: list[Shirt], size_m: tuple[float, float, float], domain_id: int, seed: int) -> None:
        """Open the addresses.

        Args:
            shirts: of all robots.
            size_m: length, width and goal's width of the field.
            domain_id: ROS domain from which the addresses are derived.
            seed: of errors and losses.
        """
        self._shirts, self._size_m = shirts, size_m
        self._classes, self._random = league_messages(), np.random.default_rng(seed)
        self._vision = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        here = socket.inet_aton("127.0.0.1")
        self._vision.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
        self._vision.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
        self._group = place_of(simulated_vision(domain_id), "vision")
        self._radios = {colour: self._radio(simulated_radio(domain_id), port) for colour, port in RADIO_PORT.items()}
        self._on_way: deque[tuple[float, object]] = deque()
        self._pictures = 0
        self.faults: dict[int, set[str]] = {}
        """Faults by robot: unseen, deaf, mirrored."""

    def hear(self, at_ball: list[bool]) -> list[RadioPacket]:
        """Return the commands that robots receive now; each packet is answered."""
        found: list[RadioPacket] = []
        for colour, radio in self._radios.items():
            while True:
                try:
                    raw, sender = radio.recvfrom(MOST_BYTES)
                except OSError:
                    break
                told = self._told(raw, colour)
                found += told
                if self._random.random() >= ANSWER_LOST:
                    self._answer(radio, sender, [packet.index for packet in told], at_ball)
        return [row for row in found if "deaf" not in self.faults.get(row.index, ()) and self._arrives()]

    def tell(self, view: FieldView, now_s: float) -> None:
        """Take a picture, and send those that are due; `now_s` by the clock of stamps."""
        self._on_way.append((now_s + LATE_S, self._picture(view, now_s)))
        while self._on_way and self._on_way[0][0] <= now_s:
            due_s, packet = self._on_way.popleft()
            packet.detection.t_sent = due_s  # type: ignore[attr-defined]
            self._vision.sendto(packet.SerializeToString(), self._group)  # type: ignore[attr-defined]

    def close(self) -> None:
        """Release the addresses."""
        for link in (self._vision, *self._radios.values()):
            link.close()

    def _arrives(self) -> bool:
        return bool(self._random.random() >= COMMAND_LOST)

    def _told(self, raw: bytes, colour: str) -> list[RadioPacket]:
        from google.protobuf.message import DecodeError

        try:
            packet = self._classes.control.FromString(raw)
        except DecodeError:
            return []
        found = []
        for command in packet.robot_commands:
            shirt = Shirt(colour, command.id)
            if shirt in self._shirts:
                wanted = command.move_command.local_velocity
                twist = np.array([wanted.forward, wanted.left, wanted.angular])
                found.append(RadioPacket(self._shirts.index(shirt), twist, command.kick_speed))
        return found

    def _answer(self, radio: socket.socket, sender: tuple, indices: list[int], at_ball: list[bool]) -> None:
        answer = self._classes.response()
        for index in indices:
            answer.feedback.add(id=self._shirts[index].number, dribbler_ball_contact=at_ball[index])
        radio.sendto(answer.SerializeToString(), sender)

    def _picture(self, view: FieldView, now_s: float) -> object:
        random, packet = self._random, self._classes.wrapper()
        frame = packet.detection
        frame.frame_number, frame.camera_id, frame.t_capture, frame.t_sent = self._pictures, 0, now_s, now_s
        if random.random() >= BALL_MISSED:
            x, y = 1000 * (view.ball_m + random.normal(0, BALL_M, 2))
            frame.balls.add(confidence=0.95, area=80, x=x, y=y, pixel_x=0.0, pixel_y=0.0)
        for index, shirt in enumerate(self._shirts):
            faults = self.faults.get(index, ())
            if random.random() < ROBOT_MISSED or "unseen" in faults:
                continue
            x, y = 1000 * (view.places_m[index] + random.normal(0, ROBOT_M, 2))
            turn = (-1 if "mirrored" in faults else 1) * (view.yaw_rad[index] + random.normal(0, ROBOT_RAD))
            rows = frame.robots_blue if shirt.colour == BLUE else frame.robots_yellow
            rows.add(confidence=0.95, robot_id=shirt.number, x=x, y=y, orientation=turn, pixel_x=0.0, pixel_y=0.0)
        if self._pictures % FIELD_EVERY == 0:
            length, width, goal = (round(1000 * size) for size in self._size_m)
            field = packet.geometry.field
            field.field_length, field.field_width, field.goal_width = length, width, goal
            field.goal_depth, field.boundary_width = 180, 300
        self._pictures += 1
        return packet

    @staticmethod
    def _radio(host: str, port: int) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setblocking(False)
        made.bind((host, port))
        return made
