"""`VehicleState`: meaning of the messages of one vehicle. No socket, no ROS.

Times are those of the link's clock. A message of MAVLink is any object with the fields of its
definition.
"""

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.autopilot.kinds import ARDUPILOT, AUTOPILOTS, AutopilotKind
from robomarl.vehicles.autopilot.ned import FrameError, force_from_frd, from_ned, from_odometry
from robomarl.vehicles.autopilot.state import US, AutopilotState

MavMessage = Any
"""A message of pymavlink: generated classes without a common base."""
VERSION = 3
"""`mavlink_version` of a HEARTBEAT of MAVLink 1 and 2."""
ARMED_BIT, TERMINATED = 128, 8
FRESH_S = 1.0
"""An ODOMETRY that is older makes way for LOCAL_POSITION_NED and ATTITUDE_QUATERNION."""
FIELDS = ("x", "y", "z"), ("vx", "vy", "vz"), ("rollspeed", "pitchspeed", "yawspeed")

LETTERS = {1: "B", 2: "b", 3: "H", 4: "h", 5: "I", 6: "i"}
"""Format letters by MAV_PARAM_TYPE of integers; 9 is a float."""
REAL = 9


class VehicleState(AutopilotState):
    """Memory: the newest of everything."""

    silent = "no HEARTBEAT of it yet"

    def __init__(self, system: int, loss: CommandLossConfig) -> None:
        """Start without a message.

        Args:
            system: MAV_SYS_ID that is expected; 0: any.
            loss: the vehicle file's rules for lost commands.
        """
        super().__init__(system, loss)
        self.odometry_s = -math.inf
        self.extended_s, self.extended_gap_s = -math.inf, math.inf
        """When EXTENDED_SYS_STATE came last, and how long after the one before."""
        self._attitude: MavMessage = None
        self._take: dict[str, Callable[[MavMessage, float], None]] = {
            "HEARTBEAT": self._on_heartbeat,
            "ODOMETRY": self._on_odometry,
            "LOCAL_POSITION_NED": self._on_position,
            "ATTITUDE_QUATERNION": self._on_attitude,
            "HIGHRES_IMU": self._on_imu,
            "EXTENDED_SYS_STATE": self._on_extended,
            "SYS_STATUS": self._on_status,
            "BATTERY_STATUS": self._on_battery,
            "COMMAND_ACK": self._on_ack,
            "PARAM_VALUE": self._on_parameter,
            "STATUSTEXT": self._on_text,
            "TIMESYNC": self._on_time,
        }

    def take(self, message: MavMessage, source: tuple[int, int], now_s: float) -> None:
        """One message of a system and component."""
        kind = message.get_type()
        if source[1] != 1 or kind == "HEARTBEAT" and not self.note_system(source[0]):
            return
        if self.system not in (0, source[0]):
            return
        if kind in self._take:
            self.heard_s = now_s
            self._take[kind](message, now_s)

    def _on_heartbeat(self, message: MavMessage, now_s: float) -> None:
        version = message.mavlink_version
        self.note("version", "" if version == VERSION else f"its HEARTBEAT is of version {version}; {VERSION} is read")
        self.note_type(message.type)
        self.autopilot = AUTOPILOTS.get(message.autopilot)
        known = self.autopilot is not None
        self.note("firmware", "" if known else f"its MAV_AUTOPILOT is {message.autopilot}; PX4 and ArduPilot are flown")
        self.mode, self.armed = message.custom_mode, bool(message.base_mode & ARMED_BIT)
        self.terminated = message.system_status == TERMINATED

    def _on_odometry(self, message: MavMessage, now_s: float) -> None:
        pos, vel, rates = (np.array([getattr(message, name) for name in names]) for names in FIELDS)
        parts = Estimate(pos, np.array(message.q), vel, rates)
        if not self.is_sound("ODOMETRY", parts):
            return
        try:
            estimate = from_odometry((message.frame_id, message.child_frame_id), parts)
        except FrameError as error:
            self.note("frame", str(error))
            return
        self.note("frame", "")
        self.odometry_s = now_s
        self.sampled(estimate, now_s, message.time_usec / 1e6, message.reset_counter)

    def _on_attitude(self, message: MavMessage, now_s: float) -> None:
        self._attitude = message

    def _on_position(self, message: MavMessage, now_s: float) -> None:
        """Read an estimate in place of ODOMETRY; it has no reset counter."""
        turned = self._attitude
        if turned is None or now_s - self.odometry_s < FRESH_S:
            return
        pos, vel = (np.array([getattr(message, name) for name in names]) for names in FIELDS[:2])
        quat = np.array([turned.q1, turned.q2, turned.q3, turned.q4])
        rates = np.array([getattr(turned, name) for name in FIELDS[2]])
        if self.is_sound("LOCAL_POSITION_NED", Estimate(pos, quat, vel, rates)):
            self.sampled(from_ned(pos, quat, vel, rates), now_s, message.time_boot_ms / 1e3, 0)

    def _on_imu(self, message: MavMessage, now_s: float) -> None:
        felt = message.xacc, message.yacc, message.zacc
        if self.is_sound("HIGHRES_IMU", felt):
            self.force_m_s2 = force_from_frd(np.array(felt))

    def _on_extended(self, message: MavMessage, now_s: float) -> None:
        self.landed = message.landed_state
        self.extended_s, self.extended_gap_s = now_s, now_s - self.extended_s

    def _on_status(self, message: MavMessage, now_s: float) -> None:
        self.volts = message.voltage_battery / 1000 if message.voltage_battery not in (0, 0xFFFF) else self.volts
        self.share = message.battery_remaining / 100 if message.battery_remaining >= 0 else self.share

    def _on_battery(self, message: MavMessage, now_s: float) -> None:
        cells = [volts for volts in message.voltages if volts != 0xFFFF]
        self.volts = sum(cells) / 1000 if cells else self.volts
        self.share = message.battery_remaining / 100 if message.battery_remaining >= 0 else self.share
        self.charge = message.charge_state

    def _on_ack(self, message: MavMessage, now_s: float) -> None:
        to = (message.target_system, message.target_component)
        if to[0] and to != US:
            self.note("others", f"system {to[0]} commands it too; stop one of the two")
            return
        self.answered(message.command, message.result)

    def _on_parameter(self, message: MavMessage, now_s: float) -> None:
        name = message.param_id
        name = name.decode() if isinstance(name, bytes) else name
        self.said(name.rstrip("\0"), decoded(message.param_value, message.param_type, self.autopilot))

    def _on_text(self, message: MavMessage, now_s: float) -> None:
        text = message.text
        self.text = (text.decode(errors="replace") if isinstance(text, bytes) else text).rstrip("\0")

    def _on_time(self, message: MavMessage, now_s: float) -> None:
        """The answer to ours."""
        if message.tc1 and 0 <= (trip_s := now_s - message.ts1 / 1e9):
            self.clocks.trip(trip_s)


def decoded(value: float, kind: int, autopilot: AutopilotKind | None) -> float:
    """A value of PARAM_VALUE; `autopilot` None counts as PX4."""
    if kind not in LETTERS or autopilot is ARDUPILOT:
        return value
    size = struct.calcsize(LETTERS[kind])
    return float(struct.unpack("<" + LETTERS[kind], struct.pack("<f", value)[:size])[0])
