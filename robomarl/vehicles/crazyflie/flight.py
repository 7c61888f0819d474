"""`GuardedCrazyflie`: a Crazyflie's part of `GuardedVehicle`: its supervisor, its commander, its watchdog."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.vehicles.conversion.attitude import ThrustMap, attitude_and_thrust
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.crazyflie.link import ARMED, AUTO, CRASHED, FLYING, LOCKED, LOW_POWER, TUMBLED, PowerAndBits
from robomarl.vehicles.guard_terms import Deed, GuardState
from robomarl.vehicles.guarded import AGAIN_S, SLOW_M_S, FlightConfig, GuardedVehicle, VehicleLink, VehicleSays
from robomarl.vehicles.samples import StateSample

UNHEARD_S = 1.0
"""A take-off or a landing that does not begin within this time is told again."""
COMMANDED = (GuardState.ARMING, GuardState.TAKEOFF, GuardState.FLYING, GuardState.HOLDING)
"""Firmware that arms itself is armed on the ground too; it counts in these states and while it flies."""
REPEATED = (Deed.ARM, Deed.KILL, Deed.DISARM)


@dataclass(frozen=True)
class CrazyflieConfig(FlightConfig):
    """How it is flown."""

    mode: Literal["full_state", "attitude"] = "full_state"
    watchdog: bool = True
    """Feed the vehicle's emergency watchdog from the first take-off on."""


class CrazyflieVehicle(VehicleLink, Protocol):
    """Interface of `CrazyflieLink` that is needed here."""

    status: PowerAndBits | None

    @property
    def problem(self) -> str: ...  # noqa: D102
    def poll(self) -> None: ...  # noqa: D102
    def follow(self, reference: Reference) -> None: ...  # noqa: D102
    def tilt(self, quat: np.ndarray, throttle: float, yaw_rate_rad_s: float) -> None: ...  # noqa: D102
    def arm(self, wanted: bool) -> None: ...  # noqa: D102
    def take_off(self, height_m: float, duration_s: float) -> None: ...  # noqa: D102
    def land(self, height_m: float, duration_s: float) -> None: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102
    def kill(self) -> None: ...  # noqa: D102
    def keep_alive(self) -> None: ...  # noqa: D102


class GuardedCrazyflie(GuardedVehicle):
    """Memory of one Crazyflie's flight."""

    _link: CrazyflieVehicle
    _config: CrazyflieConfig

    def __init__(self, link: CrazyflieVehicle, vehicle: Quadrotor, config: CrazyflieConfig) -> None:
        """Start on the ground, with nothing known."""
        super().__init__(link, vehicle, config)
        self._fed_s = -math.inf
        self._map = ThrustMap(4 * vehicle.rotors.max_thrust_n)

    def _says(self, now_s: float) -> VehicleSays:
        self._link.poll()
        status = self._link.status
        if status is None:
            return VehicleSays(self._link.problem or "it has not said how it is")
        bits, flies = status.bits, bool(status.bits & FLYING)
        counts = not bits & AUTO or flies or self.guard.state in COMMANDED
        empty = status.power >= LOW_POWER
        return VehicleSays(
            problem=self._link.problem,
            armed=bool(bits & ARMED) and counts,
            flies=flies,
            dead=bool(bits & (TUMBLED | LOCKED | CRASHED)),
            low=status.volts < self._config.low_v,
            empty=empty,
        )

    def _act(self, begins: bool, now_s: float, dt_s: float) -> None:
        takes_off = self.guard.state is GuardState.TAKEOFF
        if self._config.watchdog and (takes_off or self._fed_s > -math.inf) and now_s - self._fed_s >= AGAIN_S:
            self._fed_s = now_s
            self._link.keep_alive()
        super()._act(begins, now_s, dt_s)

    def _again(self, deed: Deed, now_s: float) -> bool:
        if now_s - self._told_s < AGAIN_S:
            return False
        return deed in REPEATED or self._was_not_heard(deed, now_s)

    def _was_not_heard(self, deed: Deed, now_s: float) -> bool:
        """Return True if the vehicle does not do its deed although it was told once: the packet may be lost."""
        if now_s - self._told_s < UNHEARD_S or self._trusted is None:
            return False
        if deed is Deed.TAKE_OFF:
            return not self.seen.flies
        # Told anew, a landing begins anew: not while nobody sees whether it sinks.
        sinks = self._trusted.estimate.vel_m_s[2] < -SLOW_M_S / 6
        return deed is Deed.LAND and not sinks and self.seen.pose_age_s <= self._config.rules.pose_s

    def _tell(self, deed: Deed) -> None:
        link, own = self._link, self._trusted
        height_m = own.estimate.pos_m[2] if own else self._ground_m
        if deed is Deed.ARM:
            link.arm(True)
        elif deed is Deed.TAKE_OFF:
            lift_m = self._config.lift_m
            link.take_off(self._ground_m + lift_m, max(lift_m / self._config.rules.loss.land_speed_m_s, 0.5))
        elif deed is Deed.LAND:
            fall_m = max(height_m - self._ground_m, 0.1)
            link.land(self._ground_m, fall_m / self._config.rules.loss.land_speed_m_s)
        elif deed is Deed.KILL:
            link.kill()
        elif not self.seen.flies and self.seen.armed:
            link.arm(False)  # one that counts as flying would lock
        else:
            link.stop()

    def _follow(self, own: StateSample, begins: bool, dt_s: float) -> None:
        if begins and self._config.mode == "attitude":  # the firmware locks thrust until one of zero came
            self._link.tilt(own.estimate.quat_wxyz, 0.0, 0.0)
        super()._follow(own, begins, dt_s)

    def _send(self, reference: Reference) -> None:
        if self._config.mode == "full_state":
            self._link.follow(reference)
            return
        quat, thrust_n = attitude_and_thrust(
            reference.accel_m_s2, np.array(reference.yaw_rad), self._vehicle.body.mass_kg
        )
        self._link.tilt(quat, self._map.throttle(float(thrust_n)), reference.yaw_rate_rad_s)

    def _send_hold(self, reference: Reference) -> None:
        self._link.follow(reference)
