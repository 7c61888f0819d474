"""`MavrosState`: MAVROS's reports on one vehicle. No ROS here: a message is any object with its fields."""

import math
from collections.abc import Callable

import numpy as np

from robomarl.core.geometry import rotate
from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.ros.io.messages import Estimate, Message
from robomarl.vehicles.autopilot.kinds import AUTOPILOTS, PX4, AutopilotKind
from robomarl.vehicles.autopilot.state import ARM_DISARM, DO_SET_MODE, AutopilotState, share_of

TERMINATED = 8
"""MAV_STATE."""
UNKNOWN = -1
"""A mode that has no number here."""
FRAMES = ("map", "base_link")
"""`frame_id` and `child_frame_id` of its odometry."""


class MavrosState(AutopilotState):
    """Memory: the newest of everything."""

    silent = "MAVROS has not said which vehicle it is"

    def __init__(self, system: int, loss: CommandLossConfig) -> None:
        """Nothing heard; see `AutopilotState`."""
        super().__init__(system, loss)
        self.take: dict[str, Callable[[Message, float], None]] = {
            "State": self._on_state,
            "ExtendedState": self._on_extended,
            "Odometry": self._on_odometry,
            "Imu": self._on_imu,
            "BatteryState": self._on_battery,
        }

    def informed(self, vehicles: list[Message]) -> None:
        """Note the answer of VehicleInfoGet: the identity of the vehicle."""
        if not vehicles or not self.note_system(vehicles[0].sysid):
            return
        found = vehicles[0]
        self.note_type(found.type)
        self.autopilot = AUTOPILOTS.get(found.autopilot)
        known = self.autopilot is not None
        self.note("firmware", "" if known else f"its MAV_AUTOPILOT is {found.autopilot}; PX4 and ArduPilot are flown")

    def armed_answer(self, success: bool, result: int) -> None:
        """Note the answer of CommandBool."""
        self.answered(ARM_DISARM, 0 if success else result or 1)

    def mode_answer(self, sent: bool) -> None:
        """Note the answer of SetMode, which only tells if the request was sent."""
        self.answered(DO_SET_MODE, 0 if sent else 4)

    def _on_state(self, message: Message, now_s: float) -> None:
        self.note("fcu", "" if message.connected else "MAVROS has no connection to it")
        if not message.connected:
            return
        self.mode = number_of(self.autopilot or PX4, message.mode)
        self.armed, self.terminated = message.armed, message.system_status == TERMINATED

    def _on_extended(self, message: Message, now_s: float) -> None:
        self.landed = message.landed_state

    def _on_odometry(self, message: Message, now_s: float) -> None:
        frames = message.header.frame_id, message.child_frame_id
        wrong = frames != FRAMES
        self.note("frame", f"its local_position/odom is in frames {frames}; {FRAMES} is read" if wrong else "")
        if wrong:
            return
        place, turn, twist = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
        quat = np.array([turn.w, turn.x, turn.y, turn.z])
        vel = np.array([twist.linear.x, twist.linear.y, twist.linear.z])
        omega = np.array([twist.angular.x, twist.angular.y, twist.angular.z])
        stamp = message.header.stamp
        parts = Estimate(np.array([place.x, place.y, place.z]), quat, vel, omega)
        if self.is_sound("local_position/odom", parts):
            parts = parts._replace(vel_m_s=rotate(quat, vel))
            self.sampled(parts, now_s, stamp.sec + stamp.nanosec / 1e9, 0)

    def _on_imu(self, message: Message, now_s: float) -> None:
        felt = message.linear_acceleration
        self.force_m_s2 = np.array([felt.x, felt.y, felt.z])

    def _on_battery(self, message: Message, now_s: float) -> None:
        self.volts = message.voltage or math.nan
        self.share = share_of(message.percentage)


def number_of(kind: AutopilotKind, mode: str) -> int:
    """Return the `custom_mode` of MAVROS's name of a mode."""
    return next((number for number, name in kind.modes.items() if name == mode), UNKNOWN)
