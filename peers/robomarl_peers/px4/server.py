"""`MavlinkServer`: messages and replies of one PX4 vehicle over MAVLink. No sockets, no ROS.

Fields, numbers and time-outs are facts of the MAVLink common message set and of PX4's use of this
set. Frames are made here from matrices, apart from the adapters' conversions.
"""

import math
import struct
from collections.abc import Callable

import numpy as np

from robomarl.vehicles.mavlink.link import dialect
from robomarl.vehicles.mavlink.vehicle_state import MavMessage
from robomarl_peers.px4.commander import Commander, Result
from robomarl_peers.px4.sensed import Sensed, charge_of, felt_by, misread
from robomarl_peers.px4.vehicle import Px4Vehicle, Wish

HEARTBEAT, ODOMETRY, IMU, BATTERY, EXTENDED, POSITION, ATTITUDE = 0, 331, 105, 147, 245, 32, 31
INTERVALS_S = {HEARTBEAT: 1.0, BATTERY: 2.0, EXTENDED: 1.0}
"""Streams that run from the start; others are asked for."""
INTEGER, REAL = 6, 9
"""MAV_PARAM_TYPE."""
CUSTOM, ARMED = 1, 128
"""MAV_MODE_FLAG."""
STANDBY, ACTIVE, TERMINATED = 3, 4, 8
"""MAV_STATE."""


class MavlinkServer:
    """One vehicle's."""

    def __init__(self, vehicle: Px4Vehicle, system: int) -> None:
        """Nothing sent yet; `system` is MAV_SYS_ID."""
        self._mavlink = dialect()
        self.vehicle, self.system = vehicle, system
        self.kind, self.version, self.senses = 2, 3, True
        """MAV_TYPE, `mavlink_version`, and True if the accelerometer is sent; tests set wrong ones to check that the
        receiver notices.
        """
        self._codec = self._mavlink.MAVLink(None, srcSystem=system, srcComponent=1)
        self._codec.robust_parsing = True
        self._boot_s = 100.0 + 17.0 * system
        """Its clock is another than everybody's."""
        self._intervals = dict(INTERVALS_S)
        self._due = dict.fromkeys(INTERVALS_S, 0.0)
        self._out: list[bytes] = []
        self._makers: dict[int, Callable[[float, Sensed], MavMessage]] = {
            HEARTBEAT: self._heartbeat,
            ODOMETRY: self._odometry,
            IMU: self._imu,
            BATTERY: self._battery,
            EXTENDED: self._extended,
            POSITION: self._position,
            ATTITUDE: self._attitude,
        }

    @property
    def commander(self) -> Commander:
        """Commander of the vehicle."""
        return self.vehicle.commander

    def take(self, raw: bytes, now_s: float) -> None:
        """A datagram that came."""
        for message in self._codec.parse_buffer(raw) or ():
            handler = getattr(self, f"_on_{message.get_type().lower()}", None)
            if handler is not None and getattr(message, "target_system", self.system) in (0, self.system):
                handler(message, now_s)

    def due(self, now_s: float, seen: Sensed) -> list[bytes]:
        """Return the datagrams to send now."""
        for text in self.commander.said:
            self._say(self._codec.statustext_encode(4, text.encode()[:50]))
        self.commander.said.clear()
        for number, period_s in self._intervals.items():
            if now_s >= self._due[number]:
                next_s = self._due[number] + period_s
                self._due[number] = next_s if next_s > now_s else now_s + period_s
                self._say(self._makers[number](now_s + self._boot_s, seen))
        out, self._out = self._out, []
        return out

    def _say(self, message: MavMessage) -> None:
        if message is not None:
            self._out.append(message.pack(self._codec))

    def _on_timesync(self, message: MavMessage, now_s: float) -> None:
        if not message.tc1:
            self._say(self._codec.timesync_encode(int((now_s + self._boot_s) * 1e9), message.ts1))

    def _on_command_long(self, message: MavMessage, now_s: float) -> None:
        commander, command = self.commander, message.command
        result = Result.UNSUPPORTED
        if command == 176:
            result = commander.set_mode(int(message.param2), int(message.param3), now_s)
        elif command == 400:
            force = message.param2 == 21196
            result = commander.arm(message.param1 > 0.5, force, now_s)
            commander.terminated |= force and message.param1 < 0.5 and not commander.landed
        elif command == 511:
            result = self._set_interval(int(message.param1), message.param2 / 1e6)
        to = (message.get_srcSystem(), message.get_srcComponent())
        self._say(self._codec.command_ack_encode(command, int(result), 0, 0, *to))

    def _set_interval(self, number: int, period_s: float) -> Result:
        if number not in self._makers:
            return Result.DENIED
        self._intervals[number], self._due[number] = max(period_s, 0.002), self._due.get(number, 0.0)
        return Result.ACCEPTED

    def _on_set_position_target_local_ned(self, message: MavMessage, now_s: float) -> None:
        if message.coordinate_frame != 1:
            return
        rows = ("x", "y", "z"), ("vx", "vy", "vz"), ("afx", "afy", "afz")
        numbers = [getattr(message, name) for row in rows for name in row]
        given = [math.nan if message.type_mask >> bit & 1 else value for bit, value in enumerate(numbers)]
        pos, vel, accel = np.array(given).reshape(3, 3)
        yaw = math.nan if message.type_mask & 1024 else message.yaw
        rate = math.nan if message.type_mask & 2048 else message.yaw_rate
        self.vehicle.offboard = Wish(pos, vel, accel, yaw, rate)
        self.commander.streamed(now_s)

    def _on_param_request_read(self, message: MavMessage, now_s: float) -> None:
        self._tell_parameter(message.param_id)

    def _on_param_set(self, message: MavMessage, now_s: float) -> None:
        name, known = message.param_id, self.commander.parameters
        if name in known:
            value = message.param_value
            whole = isinstance(known[name], int)
            known[name] = struct.unpack("<i", struct.pack("<f", value))[0] if whole else value
            self._tell_parameter(name)

    def _tell_parameter(self, name: str) -> None:
        known = self.commander.parameters
        if name not in known:
            return
        value, whole = known[name], isinstance(known[name], int)
        carried = struct.unpack("<f", struct.pack("<i", int(value)))[0] if whole else value
        kind, index = INTEGER if whole else REAL, list(known).index(name)
        self._say(self._codec.param_value_encode(name.encode(), carried, kind, len(known), index))

    def _heartbeat(self, boot_s: float, seen: Sensed) -> MavMessage:
        commander = self.commander
        base = CUSTOM | ARMED * commander.armed
        state = TERMINATED if commander.terminated else ACTIVE if commander.armed else STANDBY
        return self._codec.heartbeat_encode(self.kind, 12, base, int(commander.mode), state, self.version)

    def _odometry(self, boot_s: float, seen: Sensed) -> MavMessage:
        if "unseen" in seen.faults:
            return None
        pos, quat, within, omega = misread(seen)
        unknown = [math.nan] * 21
        stamp, numbers = int(boot_s * 1e6), map(float, (*within, *omega))
        place = (*map(float, pos), [float(part) for part in quat])
        return self._codec.odometry_encode(stamp, 1, 12, *place, *numbers, unknown, unknown, seen.resets % 256, 3, 100)

    def _position(self, boot_s: float, seen: Sensed) -> MavMessage:
        numbers = map(float, (*seen.own.pos_m, *seen.own.vel_m_s))
        return self._codec.local_position_ned_encode(int(boot_s * 1e3), *numbers)

    def _attitude(self, boot_s: float, seen: Sensed) -> MavMessage:
        numbers = map(float, (*seen.own.quat_wxyz, *seen.own.omega_rad_s))
        return self._codec.attitude_quaternion_encode(int(boot_s * 1e3), *numbers)

    def _imu(self, boot_s: float, seen: Sensed) -> MavMessage:
        if not self.senses:
            return None
        felt, turned = map(float, felt_by(seen)), map(float, seen.own.omega_rad_s)
        return self._codec.highres_imu_encode(int(boot_s * 1e6), *felt, *turned, 0, 0, 0, 0, 0, 0, 0, 0)

    def _battery(self, boot_s: float, seen: Sensed) -> MavMessage:
        cells, share = [int(seen.volts * 1000), *[0xFFFF] * 9], int(100 * charge_of(seen))
        return self._codec.battery_status_encode(0, 0, 0, 32767, cells, -1, -1, -1, share, 0, 1 + seen.low)

    def _extended(self, boot_s: float, seen: Sensed) -> MavMessage:
        commander = self.commander
        landing = 4 if commander.mode.name == "LAND" else 2
        return self._codec.extended_sys_state_encode(0, 1 if commander.landed else landing)
