"""`Px4State`: meaning of the px4_msgs of one vehicle. No ROS: a message is any object with its fields.

Frames: NED and FRD. Stamps are those of the vehicle, or of this machine if its client keeps time
with the agent.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from robomarl.core.geometry import rotate
from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.ros.io.messages import Estimate, Message
from robomarl.vehicles.autopilot.kinds import PX4, px4_mode
from robomarl.vehicles.autopilot.ned import force_from_frd, from_ned
from robomarl.vehicles.autopilot.state import LANDED, US, AutopilotState, share_of
from robomarl.vehicles.px4_dds.geography import Geodetic, ned_between

NED, BODY_FRD = 1, 3
"""`pose_frame` and `velocity_frame` of VehicleOdometry."""
ARMED, IN_AIR = 2, 2
"""`arming_state`; MAV_LANDED_STATE of a vehicle that does not stand."""
TERMINATION = 13
"""`nav_state`."""
MODES = {
    **{0: px4_mode(1), 1: px4_mode(2), 2: px4_mode(3), 4: px4_mode(4, 3), 5: px4_mode(4, 5), 14: px4_mode(6)},
    **{15: px4_mode(7), 17: px4_mode(4, 2), 18: px4_mode(4, 6)},
}
"""`nav_state` as the mode that leads to it."""
UNKNOWN = 1 << 31
"""Added to a `nav_state` that has no mode here."""
WARNING_LOW, WARNING_FAILED = 1, 4
"""`warning` of BatteryStatus: low; more is worse up to this."""
PX4_DDS = replace(PX4, parameters=(), check=lambda said, loss: "")
"""PX4 without parameters, which are not on topics: its action when this adapter is gone can't be checked here."""
MOVED_M = 0.02
"""A frame that begins elsewhere by more was moved."""


class Px4State(AutopilotState):
    """Memory: the newest of everything."""

    silent = "no VehicleStatus of it yet"

    def __init__(self, system: int, loss: CommandLossConfig, geo: Geodetic | None = None) -> None:
        """Start without a message.

        Args:
            system: MAV_SYS_ID that is expected; 0: any.
            loss: the vehicle file's rules for lost commands.
            geo: origin of the map; None: that of the vehicle's local frame.
        """
        super().__init__(system, loss)
        self._geo = geo
        self.begins_m = None if geo else np.zeros(3)
        """[3] where its local frame begins in the map, NED; None: it has not said."""
        self._moves = 0
        self.take: dict[str, Callable[[Message, float], None]] = {
            "VehicleStatus": self._on_status,
            "VehicleOdometry": self._on_odometry,
            "VehicleLandDetected": self._on_land,
            "VehicleLocalPosition": self._on_local,
            "BatteryStatus": self._on_battery,
            "VehicleCommandAck": self._on_ack,
            "TimesyncStatus": self._on_time,
            "SensorCombined": self._on_sensors,
        }

    @property
    def problem(self) -> str:
        """Why it is not fit to fly; "" where it is."""
        if found := super().problem:
            return found
        return "it has not said where its local frame begins" if self.begins_m is None else ""

    def _on_status(self, message: Message, now_s: float) -> None:
        if not self.note_system(message.system_id):
            return
        self.heard_s, self.autopilot = now_s, PX4_DDS
        self.note_type(message.system_type)
        self.mode = MODES.get(message.nav_state, UNKNOWN + message.nav_state)
        self.armed, self.terminated = message.arming_state == ARMED, message.nav_state == TERMINATION
        self.text = "" if message.pre_flight_checks_pass else "its pre-flight checks fail"

    def _on_odometry(self, message: Message, now_s: float) -> None:
        frames = message.pose_frame, message.velocity_frame
        wrong = frames[0] != NED or frames[1] not in (NED, BODY_FRD)
        self.note("frame", f"its VehicleOdometry is in frames {frames}; (1, 1) or (1, 3) is read" if wrong else "")
        if wrong or self.begins_m is None:
            return
        read = message.position, message.q, message.velocity, message.angular_velocity
        pos, quat, vel, omega = (np.array(part, float) for part in read)
        if not self.is_sound("VehicleOdometry", Estimate(pos, quat, vel, omega)):
            return
        self.heard_s = now_s
        vel = rotate(quat, vel) if frames[1] == BODY_FRD else vel
        estimate = from_ned(pos + self.begins_m, quat, vel, omega)
        stamp_s = (message.timestamp_sample or message.timestamp) / 1e6
        self.sampled(estimate, now_s, stamp_s, message.reset_counter + 256 * self._moves)

    def _on_local(self, message: Message, now_s: float) -> None:
        if self._geo is None or not (message.xy_global and message.z_global):
            return
        if not self.is_sound("VehicleLocalPosition", (message.ref_lat, message.ref_lon, message.ref_alt)):
            return
        begins = ned_between(self._geo, Geodetic(message.ref_lat, message.ref_lon, float(message.ref_alt)))
        if self.begins_m is None or np.linalg.norm(begins - self.begins_m) > MOVED_M:
            self._moves += self.begins_m is not None
            self.begins_m = begins

    def _on_land(self, message: Message, now_s: float) -> None:
        self.landed = LANDED if message.landed else IN_AIR

    def _on_battery(self, message: Message, now_s: float) -> None:
        self.volts = message.voltage_v or math.nan
        self.share = share_of(message.remaining)
        self.charge = 1 + message.warning if WARNING_LOW <= message.warning <= WARNING_FAILED else 0

    def _on_ack(self, message: Message, now_s: float) -> None:
        if (message.target_system, message.target_component) == US:
            self.answered(message.command, message.result)

    def _on_time(self, message: Message, now_s: float) -> None:
        self.clocks.trip(message.round_trip_time / 1e6)

    def _on_sensors(self, message: Message, now_s: float) -> None:
        self.force_m_s2 = force_from_frd(np.array(message.accelerometer_m_s2, float))
