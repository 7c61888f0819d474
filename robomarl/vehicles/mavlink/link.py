"""`MavlinkLink`: one vehicle behind a UDP socket: its messages and its commands. No ROS, no threads.

`poll` reads new messages and sends those that are due: heartbeats, time, requests for streams and
parameters.
"""

import importlib
import math
import socket
from contextlib import suppress
from types import ModuleType

from robomarl.core.config import UserError
from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.vehicles.autopilot.link import CommandedLink
from robomarl.vehicles.autopilot.ned import LOCAL_NED
from robomarl.vehicles.autopilot.state import CUSTOM, DO_SET_MODE, TAKE_OFF, US
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.mavlink.addresses import Address
from robomarl.vehicles.mavlink.vehicle_state import FRESH_S, MavMessage, VehicleState

SET_INTERVAL = 511
"""MAV_CMD_SET_MESSAGE_INTERVAL."""
ODOMETRY, IMU, BATTERY, EXTENDED, POSITION, ATTITUDE = 331, 105, 147, 245, 32, 31
"""Numbers of messages that are wanted as streams."""
BEAT_S, REQUEST_S = 1.0, 1.0
"""Periods of heartbeats and time, and of requests that were not answered."""
VERSION_2 = 0xFD
"""First byte of a packet of MAVLink 2."""
MOST_BYTES = 4096


class MavlinkLink(CommandedLink):
    """One connection."""

    state: VehicleState

    def __init__(self, address: Address, period_s: float, loss: CommandLossConfig) -> None:
        """Create the link without opening it.

        Args:
            address: address of the vehicle.
            period_s: period of state estimates [s].
            loss: the vehicle file's rules for lost commands.

        Raises:
            UserError: pymavlink is not installed.
        """
        self._dialect = dialect()
        super().__init__(VehicleState(address.system, loss), f"{address.host}:{address.port}")
        self.address, self._period_s = address, period_s
        self._codec = self._dialect.MAVLink(None, srcSystem=US[0], srcComponent=US[1])
        self._codec.robust_parsing = True
        self._socket: socket.socket | None = None
        self._to: tuple[str, int] | None = None
        self._beat_s = self._request_s = -math.inf

    def open(self) -> None:
        """Take the address, if it is not ours yet."""
        if self._socket is not None:
            return
        place = (self.address.host, self.address.port)
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setblocking(False)
        try:
            if self.address.listens:
                made.bind(place)
        except OSError as error:
            made.close()
            self._busy = f"{self.where} can't be listened at ({error.strerror}): is there another adapter?"
            return
        self._socket, self._to, self._busy = made, None if self.address.listens else place, ""

    def close(self) -> None:
        """Give the address back."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def poll(self) -> None:
        """Read new messages and send those that are due."""
        if self._socket is None:
            return
        now_s = self.clock()
        for raw in self._received():
            if raw[0] != VERSION_2:
                self.state.note("framing", "it speaks MAVLink 1, which has no ODOMETRY; set MAV_PROTO_VER to 2")
            for message in self._codec.parse_buffer(raw) or ():
                self._take(message, now_s)
        if now_s - self._beat_s >= BEAT_S:
            self._beat_s = now_s
            self._send(self._codec.heartbeat_encode(18, 8, 0, 0, 4))  # an onboard controller, no autopilot, active
            self._send(self._codec.timesync_encode(0, int(now_s * 1e9)))
        if now_s - self._request_s >= REQUEST_S and self.state.autopilot is not None:
            self._request_s = now_s
            self._request(now_s)

    def target(self, reference: Reference) -> None:
        """Track a reference; it also proves that the adapter is alive."""
        ned = self.in_ned(reference)
        numbers = [*ned.pos_m, *ned.vel_m_s, *ned.accel_m_s2, ned.yaw_rad, ned.yaw_rate_rad_s]
        stamp_ms = int(self.clock() * 1000) & 0xFFFFFFFF
        about = (stamp_ms, self.state.system, 1, LOCAL_NED, 0)
        self._send(self._codec.set_position_target_local_ned_encode(*about, *map(float, numbers)))

    def set_mode(self, mode: int) -> None:
        """Ask for a mode by its `custom_mode`."""
        autopilot = self.state.autopilot
        if autopilot is not None:
            self.command(DO_SET_MODE, CUSTOM, *autopilot.set_mode(mode))

    def take_off(self, lift_m: float) -> None:
        """Climb so high by itself."""
        self.command(TAKE_OFF, 0, 0, 0, math.nan, 0, 0, lift_m)

    def _request(self, now_s: float) -> None:
        state, autopilot = self.state, self.state.autopilot
        assert autopilot is not None
        for name in autopilot.parameters:
            if name not in state.parameters:
                self._send(self._codec.param_request_read_encode(state.system, 1, name.encode(), -1))
        wanted = {}
        if now_s - state.odometry_s > FRESH_S:
            wanted |= {ODOMETRY: self._period_s, POSITION: self._period_s, ATTITUDE: self._period_s}
        wanted |= {EXTENDED: 0.2} if state.extended_gap_s > 0.5 or now_s - state.extended_s > 2 * FRESH_S else {}
        wanted |= {BATTERY: 0.5} if math.isnan(state.volts) else {}
        wanted |= {IMU: 0.1} if state.force_m_s2 is None else {}
        for number, period_s in wanted.items():
            self.command(SET_INTERVAL, float(number), period_s * 1e6)

    def command(self, number: int, *values: float) -> None:
        """Send a command to the autopilot."""
        numbers = [*map(float, values), *[0.0] * (7 - len(values))]
        self._send(self._codec.command_long_encode(self.state.system, 1, number, 0, *numbers))

    def _take(self, message: MavMessage, now_s: float) -> None:
        if message.get_type() == "BAD_DATA":
            if "CRC" in str(message.reason):
                self.state.note("definition", f"a message of it is defined otherwise than ours: {message.reason}")
            return
        if message.get_type() == "TIMESYNC" and not message.tc1:
            self._send(self._codec.timesync_encode(int(now_s * 1e9), message.ts1))
        self.state.take(message, (message.get_srcSystem(), message.get_srcComponent()), now_s)

    def _received(self) -> list[bytes]:
        assert self._socket is not None
        packets = []
        while True:
            try:
                raw, sender = self._socket.recvfrom(MOST_BYTES)
            except (BlockingIOError, ConnectionError):
                return packets
            self._to = sender if self.address.listens else self._to
            packets += [raw] if raw else []

    def _send(self, message: MavMessage) -> None:
        if self._socket is not None and self._to is not None:
            with suppress(OSError):  # nobody is there yet, or any more: the age of what is heard says so
                self._socket.sendto(message.pack(self._codec), self._to)


def dialect() -> ModuleType:
    """MAVLink's common messages.

    Raises:
        UserError: pymavlink is not installed.
    """
    try:
        return importlib.import_module("pymavlink.dialects.v20.common")
    except ImportError:
        raise UserError("pymavlink is not installed; run: pip install 'robomarl[mavlink]'.") from None
