"""`Firmware`: the commander of one Crazyflie, high level and low level, above its supervisor. No sockets here.

Set-points have priorities: a stream takes the vehicle from the high-level commander at once, and only
`notify setpoint stop` gives it back. The high-level commander flies polynomials of the 7th order from where it is to
where it is told.
"""

import math
import struct
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import wrapped, wxyz
from robomarl_peers.crazyflie.crtp import (
    COMMANDER,
    GENERIC,
    HIGH_LEVEL,
    LOCALIZATION,
    SUPERVISOR,
    Packet,
)
from robomarl_peers.crazyflie.supervisor import RUNS, Super, Supervisor

MIN_PWM, MAX_PWM = 1000, 60000
"""Thrust of an attitude set-point, out of 65535."""
TILTED = 0.5
"""Cosine of the tilt from which on it counts as tumbled."""
BOOT_S = 0.5
"""Time [s] after a start during which set-points are ignored."""


class Setpoint(NamedTuple):
    """One set-point."""

    pos_m: np.ndarray
    vel_m_s: np.ndarray
    accel_m_s2: np.ndarray
    yaw_rad: float
    pwm: int = -1
    """Collective thrust of an attitude set-point; -1: positions are tracked."""
    roll_pitch_rad: tuple[float, float] = (0.0, 0.0)
    yaw_rate_rad_s: float = 0.0


class Route(NamedTuple):
    """Trajectory of the high-level commander."""

    start_m: np.ndarray
    end_m: np.ndarray
    yaw_rad: float
    began_s: float
    duration_s: float
    ends: bool
    """The motors stop at its end."""

    def at(self, now_s: float) -> Setpoint:
        """No velocity, acceleration or jerk at either end: 35 t^4 - 84 t^5 + 70 t^6 - 20 t^7."""
        t, way = min(max((now_s - self.began_s) / self.duration_s, 0.0), 1.0), self.end_m - self.start_m
        share = t**4 * (35 - 84 * t + 70 * t * t - 20 * t**3)
        rate = t**3 * (140 - 420 * t + 420 * t * t - 140 * t**3) / self.duration_s
        bend = t**2 * (420 - 1680 * t + 2100 * t * t - 840 * t**3) / self.duration_s**2
        return Setpoint(self.start_m + way * share, way * rate, way * bend, self.yaw_rad)

    def is_over(self, now_s: float) -> bool:
        """The end is reached."""
        return now_s - self.began_s >= self.duration_s


class Firmware:
    """One vehicle."""

    def __init__(self, supervisor: Supervisor, now_s: float) -> None:
        """It has just been started."""
        self.supervisor = supervisor
        self._began_s = self._now_s = now_s
        self._stream: Setpoint | None = None
        self._stream_s = self._setpoint_s = now_s
        self._streams = False
        self._unlocked = False
        self.route: Route | None = None
        self._own: Estimate | None = None

    def told(self, packet: Packet) -> list[Packet]:
        """Take in a set-point or a packet for the supervisor; return the packets to send back."""
        port, channel, data = packet
        if port == SUPERVISOR:
            return self._supervised(channel, data)
        if port == LOCALIZATION and channel == 1:
            self._emergency({3: 3, 4: 4}.get(data[0], 0))
        elif self._now_s - self._began_s > BOOT_S and self._own is not None:
            if port == COMMANDER:
                self._attitude(struct.unpack("<fffH", data[:14]))
            elif port == GENERIC and channel == 1 and data[:1] == b"\0":
                self._streams = False
            elif port == GENERIC and channel == 0:
                self._generic(data)
            elif port == HIGH_LEVEL:
                self._high_level(data, self._own)
        return []

    def step(self, now_s: float, own: Estimate) -> Setpoint | None:
        """Return the current set-point of the controller; None: the motors are off."""
        self._now_s, self._own = now_s, own
        found = self._stream
        if self._streams:
            self._setpoint_s = self._stream_s
            if found is not None and found.pwm >= 0:
                found = found._replace(yaw_rad=found.yaw_rad + found.yaw_rate_rad_s * (now_s - self._stream_s))
        elif self.route is not None:
            self._setpoint_s = now_s
            found = None if self.route.ends and self.route.is_over(now_s) else self.route.at(now_s)
            self.route = self.route if found else None
        else:
            self._setpoint_s, found = now_s, None  # the high-level commander rests: a set-point without motors
        self.supervisor.update(now_s, self._setpoint_s, self.tumbled)
        if found is None or self.supervisor.state not in RUNS:
            return None
        self.supervisor.thrust_s = now_s
        return self._level(found, own) if self.supervisor.state is Super.LEVEL else found

    @property
    def tumbled(self) -> bool:
        """It is tilted by more than 60 degrees; in the firmware for a second, seen by the accelerometer."""
        if self._own is None:
            return False
        _, x, y, _ = self._own.quat_wxyz
        return bool(1 - 2 * (x * x + y * y) < TILTED)

    @property
    def bits(self) -> int:
        """The bit field `supervisor.info`."""
        active = self.route is not None
        return self.supervisor.bits(self.tumbled, (active, not active or self.route.is_over(self._now_s)))  # type: ignore[union-attr]

    @staticmethod
    def _level(setpoint: Setpoint, own: Estimate) -> Setpoint:
        """Level, at the height of the last set-point; nothing holds the place."""
        pos = np.array([own.pos_m[0], own.pos_m[1], setpoint.pos_m[2]])
        vel = np.array([own.vel_m_s[0], own.vel_m_s[1], 0.0])
        if setpoint.pwm >= 0:
            return setpoint._replace(roll_pitch_rad=(0.0, 0.0), yaw_rate_rad_s=0.0)
        return Setpoint(pos, vel, np.zeros(3), float(yaw_of(own.quat_wxyz)))

    def _streamed(self, setpoint: Setpoint | None) -> None:
        self._stream, self._stream_s, self._streams, self.route = setpoint, self._now_s, True, None

    def _attitude(self, values: tuple[float, ...]) -> None:
        """Roll, pitch (nose up) and yaw rate (clockwise) [deg, deg/s] and PWM; locked until one with PWM 0 came."""
        assert self._own is not None
        roll, pitch, yaw_rate, pwm = values
        self._unlocked = pwm == 0 or self._unlocked and self._streams
        pwm = int(min(pwm, MAX_PWM)) if self._unlocked and pwm >= MIN_PWM else 0
        own, still = self._own, np.zeros(3)
        yaw = float(yaw_of(own.quat_wxyz))
        angles = (math.radians(roll), -math.radians(pitch))
        self._streamed(Setpoint(own.pos_m, still, still, yaw, pwm, angles, -math.radians(yaw_rate)))

    def _generic(self, data: bytes) -> None:
        if data[:1] == b"\0":  # stop
            self._streamed(None)
        elif data[:1] == b"\x06":  # full state: mm, mm/s, mm/s^2, compressed attitude, mrad/s
            numbers = struct.unpack("<9hI3h", data[1:29])
            pos, vel, accel = (np.array(numbers[i : i + 3]) / 1000 for i in (0, 3, 6))
            self._streamed(Setpoint(pos, vel, accel, float(yaw_of(unpacked_quat(numbers[9])))))

    def _high_level(self, data: bytes, own: Estimate) -> None:
        """3 stops, 7 takes off, 8 lands, 12 goes to a place."""
        start = self.route.at(self._now_s).pos_m if self.route and not self._streams else own.pos_m
        here = float(yaw_of(own.quat_wxyz))
        if data[0] == 3:
            self.route, self._streams = None, False
        elif data[0] in (7, 8):
            _, height, yaw, keeps, duration = struct.unpack("<Bff?f", data[1:15])
            end = np.array([start[0], start[1], height])
            self._plan(Route(start, end, here if keeps else yaw, self._now_s, duration, data[0] == 8))
        elif data[0] == 12:
            _, relative, _, x, y, z, yaw, duration = struct.unpack("<BBBfffff", data[1:24])
            end = np.array([x, y, z]) + (start if relative else 0.0)
            self._plan(Route(start, end, yaw + (here if relative else 0.0), self._now_s, duration, False))

    def _plan(self, route: Route) -> None:
        self.route = route._replace(duration_s=max(route.duration_s, 1e-3), yaw_rad=float(wrapped(route.yaw_rad)))

    def _supervised(self, channel: int, data: bytes) -> list[Packet]:
        if channel == 0 and data[:1] == b"\x0c":
            return [Packet(SUPERVISOR, 0, b"\x8c" + self.bits.to_bytes(2, "little"))]
        if channel == 1 and data[:1] == b"\x01":
            done = self.supervisor.arm(bool(data[1]))
            return [Packet(SUPERVISOR, 1, bytes([0x81, done, self.supervisor.armed]))]
        if channel == 1:
            self._emergency(data[0])
        return []

    def _emergency(self, command: int) -> None:
        if command == 3:
            self.supervisor.stopped = True
        elif command == 4:
            self.supervisor.watchdog_s = self._now_s


def packed_quat(quat_wxyz: np.ndarray) -> int:
    """Return 32 bits: index of the largest element, then sign and 9 bits of each remaining one (firmware,
    quatcompress.h).
    """
    q = np.roll(quat_wxyz, -1)
    largest = int(np.argmax(np.abs(q)))
    packed = largest
    for i in range(4):
        if i != largest:
            sign = (q[i] < 0) ^ (q[largest] < 0)
            packed = packed << 10 | int(sign) << 9 | int(511 * abs(q[i]) * math.sqrt(2) + 0.5)
    return packed


def unpacked_quat(packed: int) -> np.ndarray:
    """[4] wxyz."""
    largest, q = packed >> 30, np.zeros(4)
    for i in range(3, -1, -1):
        if i != largest:
            q[i] = (packed & 511) / 511 / math.sqrt(2) * (-1 if packed & 512 else 1)
            packed >>= 10
    q[largest] = math.sqrt(max(1 - float(q @ q), 0.0))
    return wxyz(q)
