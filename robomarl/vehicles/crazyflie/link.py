"""`CrazyflieLink`: one Crazyflie behind cflib: its messages and its commands. No ROS here.

cflib calls back in a thread of its own; its data are kept as frozen values that any thread may
read.
"""

import importlib
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.geometry import quat_from_yaw
from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.intake.sound import sound
from robomarl.ros.io.messages import Estimate
from robomarl.ros.timing.steady import steady_now_s
from robomarl.vehicles.conversion.frames import roll_pitch_yaw, wxyz, xyzw
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.corrected.stream import CorrectedStream
from robomarl.vehicles.samples import ClockMatch, StateSample

PROTOCOL = 12
"""Oldest version of CRTP that has the supervisor's port."""
PLATFORM, VERSIONS, TYPE_NAME = 13, 1, 2
"""Port, channel and command with which the firmware reports its type of vehicle; cflib itself does not ask for it."""
UNNAMED = "it has not said what type of vehicle it is"
STATE = ("x", "y", "z", "vx", "vy", "vz", "quat", "rateRoll", "ratePitch", "rateYaw")
STATUS = ("pm.vbat", "pm.state", "supervisor.info")
FORCE = ("acc.x", "acc.y", "acc.z")
"""Specific force of the accelerometer, in g, body frame; logged as 16-bit floats, beside the status."""
STATUS_MS = 100
ESTIMATOR, KALMAN = "stabilizer.estimator", 2
"""Parameter of the firmware's estimator, and its value for the Kalman filter, which correctors are fitted to."""
MELLINGER = 2
"""`stabilizer.controller` that follows a full state."""
LOW_POWER = 3
"""`pm.state`: 3 low power, 4 shut down."""
ARMED, AUTO, CAN_FLY, FLYING, TUMBLED, LOCKED, CRASHED = (1 << bit for bit in range(1, 8))
"""Bits of `supervisor.info`."""
MOST_RAD_S, MOST_M = 32.0, 32.7
"""A full state carries 16 bits of thousandths."""
FULL_PWM = 65535
Values = dict[str, Any]
"""Logged numbers by the names of their variables: whole or not, by the type in the vehicle's table."""
Heard = Callable[[int, Values, object], None]
"""(vehicle's time [ms], values, cflib's configuration of the log)."""


class PlatformPacket(Protocol):
    """A packet of CRTP, as cflib passes it on."""

    channel: int
    data: bytes


@dataclass(frozen=True)
class PowerAndBits:
    """One status of the vehicle."""

    volts: float
    power: int
    """`pm.state`."""
    bits: int
    """`supervisor.info`."""


class CrazyflieLink:
    """One connection; it is opened again by `open` after it was lost."""

    clock: Callable[[], float]
    """Steady clock [s], by which `heard_s` is measured."""
    corrected: CorrectedStream | None = None
    """Takes every estimate and accelerometer's value, from the next connection on; None: none is corrected."""

    def __init__(self, uri: str, mass_kg: float, period_s: float, cache: str = "", types: tuple[str, ...] = ()) -> None:
        """Create the link without opening it.

        Args:
            uri: as cflib takes it.
            mass_kg: mass that the vehicle's controller is to assume.
            period_s: period of state estimates [s].
            cache: folder for tables of contents; none without it.
            types: names of the types of vehicles that it may be; any without them.

        Raises:
            UserError: cflib is not installed.
        """
        self.clock = steady_now_s
        self.uri, self._mass_kg, self._period_ms = uri, mass_kg, max(10, round(period_s * 1000))
        crazyflie = _cflib("crazyflie")
        self._log_config = _cflib("crazyflie.log").LogConfig
        self._decompress = _cflib("utils.encoding").decompress_quaternion
        self._cf = crazyflie.Crazyflie(rw_cache=cache or None)
        self.sample: StateSample | None = None
        self.status: PowerAndBits | None = None
        self.heard_s = -math.inf
        self.force_m_s2: np.ndarray | None = None
        self.problem = "not connected"
        """Why it is not fit; "" where it is."""
        self.refused = 0
        """Messages so far with a number that is not finite."""
        self._opened, self._clocks, self._types = False, ClockMatch(), types
        self._packet = _cflib("crtp.crtpstack").CRTPPacket
        self._cf.add_port_callback(PLATFORM, self._on_platform)
        self._cf.packet_received.add_callback(self._on_packet)
        self._cf.fully_connected.add_callback(self._on_connected)
        for lost in (self._cf.connection_failed, self._cf.connection_lost):
            lost.add_callback(self._on_lost)

    def open(self) -> None:
        """Connect, if it is not; returns at once."""
        if not self._opened:
            self._opened, self.problem = True, "not connected"
            self._cf.open_link(self.uri)

    def close(self) -> None:
        """Disconnect."""
        self._cf.close_link()
        self._opened = False

    def poll(self) -> None:
        """Nothing: cflib calls back."""

    def follow(self, reference: Reference) -> None:
        """Track a full state. cflib's own text says degrees per second; the firmware reads milliradians."""
        pos = np.clip(reference.pos_m, -MOST_M, MOST_M)
        quat = xyzw(quat_from_yaw(np.float64(reference.yaw_rad)))
        rate = float(np.clip(reference.yaw_rate_rad_s, -MOST_RAD_S, MOST_RAD_S))
        self._cf.commander.send_full_state_setpoint(
            pos.tolist(), reference.vel_m_s.tolist(), reference.accel_m_s2.tolist(), quat.tolist(), 0.0, 0.0, rate
        )

    def tilt(self, quat: np.ndarray, throttle: float, yaw_rate_rad_s: float) -> None:
        """Hold an attitude [4] wxyz with a throttle from 0 to 1; the legacy yaw rate is clockwise."""
        roll, pitch, _ = np.rad2deg(roll_pitch_yaw(quat))
        pwm = round(min(max(throttle, 0.0), 1.0) * FULL_PWM)
        self._cf.commander.send_setpoint(float(roll), float(pitch), -math.degrees(yaw_rate_rad_s), pwm)

    def arm(self, wanted: bool) -> None:
        """Ask the vehicle to arm or disarm; its status shows the result."""
        self._cf.supervisor.send_arming_request(wanted)

    def take_off(self, height_m: float, duration_s: float) -> None:
        """Let the vehicle climb by itself to a height in the world, with its present heading."""
        self._cf.high_level_commander.takeoff(height_m, duration_s, yaw=None)

    def land(self, height_m: float, duration_s: float) -> None:
        """The vehicle descends by itself to a height in the world, then stops its motors.

        The plan comes before the stream is given up: in between the motors would stop.
        """
        self._cf.high_level_commander.land(height_m, duration_s, yaw=None)
        self._cf.commander.send_notify_setpoint_stop()

    def stop(self) -> None:
        """Stop the motors on the ground, and give the stream up, or the supervisor would lock."""
        self._cf.commander.send_stop_setpoint()
        self._cf.commander.send_notify_setpoint_stop()

    def kill(self) -> None:
        """Stop the motors at once; the vehicle locks until it is started anew."""
        self._cf.supervisor.send_emergency_stop()

    def keep_alive(self) -> None:
        """Feed the emergency watchdog: from the first time on, motors stop when it is not fed for a second."""
        self._cf.supervisor.send_emergency_stop_watchdog()

    def figures(self) -> dict[str, str]:
        """For diagnostics."""
        status = self.status
        said = {"volts": f"{status.volts:.2f}", "supervisor": f"{status.bits:#05x}"} if status else {}
        said |= {"messages_refused": str(self.refused)} if self.refused else {}
        return {"uri": self.uri, **said}

    def _on_packet(self, packet: PlatformPacket) -> None:
        self.heard_s = self.clock()

    def _on_lost(self, uri: str, why: str) -> None:
        self._opened, self.problem = False, f"the link is lost: {why.splitlines()[0]}"

    def _on_connected(self, uri: str) -> None:
        try:
            self.problem = self._prepare()
        except (KeyError, AttributeError) as error:
            self.problem = f"its firmware lacks something: {error.args[0]}"

    def _prepare(self) -> str:
        """Set the parameters for full states and start the logs; return why it can't fly."""
        version = self._cf.platform.get_protocol_version()
        if version < PROTOCOL:
            return f"it speaks version {version} of CRTP, {PROTOCOL} is needed: update its firmware"
        self._cf.param.set_value("stabilizer.controller", MELLINGER)
        self._cf.param.set_value("ctrlMel.mass", self._mass_kg)
        if self.corrected:
            if int(self._cf.param.get_value(ESTIMATOR)) != KALMAN:
                return f"its estimator is not the Kalman filter, which is corrected: set {ESTIMATOR} to {KALMAN}"
            self._log("force", list(FORCE), self._period_ms, self._on_force)
        self._log("state", [f"stateEstimateZ.{name}" for name in STATE], self._period_ms, self._on_state)
        self._log("status", [*STATUS, *FORCE], STATUS_MS, self._on_status)
        if not self._types:
            return ""
        question = self._packet()
        question.set_header(PLATFORM, VERSIONS)
        question.data = (TYPE_NAME,)
        self._cf.send_packet(question, expected_reply=(TYPE_NAME,), resend=True)
        return UNNAMED

    def _on_platform(self, packet: PlatformPacket) -> None:
        """Check the vehicle's report of its type; another type has another mass, other motors, other gains."""
        if packet.channel != VERSIONS or not packet.data or packet.data[0] != TYPE_NAME or self.problem != UNNAMED:
            return
        name = bytes(packet.data[1:]).split(b"\0")[0].decode(errors="replace")
        allowed = " or ".join(self._types)
        self.problem = "" if name in self._types else f"it is a {name!r}, and types says {allowed}"

    def _log(
        self, name: str, variables: list[str], period_ms: int, heard: Callable[[int, Values, object], None]
    ) -> None:
        config = self._log_config(name, period_ms)
        for variable in variables:
            config.add_variable(variable, "FP16" if variable in FORCE else None)
        self._cf.log.add_config(config)
        config.data_received_cb.add_callback(heard)
        config.start()

    def _on_state(self, vehicle_ms: int, values: Values, config: object) -> None:
        x, y, z, vx, vy, vz, quat, roll, pitch, yaw = (values[f"stateEstimateZ.{name}"] for name in STATE)
        estimate = Estimate(  # whole numbers of 16 bits and packed quaternions: nothing else can come
            np.array([x, y, z]) / 1000,
            wxyz(self._decompress(quat)),
            np.array([vx, vy, vz]) / 1000,
            np.array([roll, -pitch, yaw]) / 1000,  # the firmware's compressed pitch rate is negative
        )
        heard_s = self.clock()
        age_s = self._clocks.age_s(vehicle_ms / 1000, heard_s)
        self.sample = StateSample(estimate, heard_s, vehicle_ms, age_s=age_s)
        if self.corrected:
            self.corrected.take(self.sample)

    def _on_force(self, vehicle_ms: int, values: Values, config: object) -> None:
        felt = [values[name] for name in FORCE]
        if sound(felt) and self.corrected:
            self.force_m_s2 = np.array(felt) * GRAVITY_M_S2
            self.corrected.take_force(self.force_m_s2, vehicle_ms)
        else:
            self.refused += 1

    def _on_status(self, vehicle_ms: int, values: Values, config: object) -> None:
        status, felt = PowerAndBits(*(values[name] for name in STATUS)), [values[name] for name in FORCE]
        if sound((status.volts, *felt)):
            self.status, self.force_m_s2 = status, np.array(felt) * GRAVITY_M_S2
        else:
            self.refused += 1


def _cflib(module: str) -> ModuleType:
    """A module of cflib, its drivers ready.

    Raises:
        UserError: it is not installed.
    """
    try:
        crtp = importlib.import_module("cflib.crtp")
        found = importlib.import_module(f"cflib.{module}")
    except ImportError:
        raise UserError("cflib is not installed; run: pip install 'robomarl[crazyflie]'.") from None
    if not crtp.CLASSES:
        logging.getLogger("cflib").setLevel(logging.ERROR)
        crtp.init_drivers()
    return found
