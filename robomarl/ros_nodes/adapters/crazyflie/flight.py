"""`GuardedCrazyflie`: what becomes of commands between the node and one vehicle. No ROS here.

Each tick: what the vehicle says and what came from ROS become a `Sighted`, the guard steps, and its deed is done.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from robomarl.hardware_configs.vehicle import Quadrotor
from robomarl.ros_nodes.adapters.conversion.attitude import ThrustMap, attitude_and_thrust
from robomarl.ros_nodes.adapters.conversion.reference import Lead, Reference, advanced, reference_at
from robomarl.ros_nodes.adapters.crazyflie.link import (
    ARMED,
    AUTO,
    CRASHED,
    FLYING,
    LOCKED,
    LOW_POWER,
    TUMBLED,
    PowerAndBits,
    StateSample,
)
from robomarl.ros_nodes.adapters.guard import (
    AIRBORNE,
    DEEDS,
    Deed,
    GuardRules,
    GuardState,
    GuardStatus,
    Sighted,
    missing,
    stepped,
)
from robomarl.ros_nodes.robot.jumps import JumpCheck, reach_of
from robomarl.safety.params import SafetyParams

FREE_FALL_M_S2 = -9.8
"""Commanded so, low and slow: stop the motors (`robot.hover.touchdown`)."""
LOW_M, SLOW_M_S = 0.4, 0.3
"""Low and slow."""
STANDS_M, RESTS_S = 0.06, 0.4
"""So close above where it started and at rest for so long: on the ground."""
AGAIN_S = 0.25
"""What is not a stream is sent again so often: arming, killing, the watchdog."""
UNHEARD_S = 1.0
"""A take-off or a landing that does not begin within this time is told again."""
HOLD_S = 0.02
"""Period of a stream that holds."""
COMMANDED = (GuardState.ARMING, GuardState.TAKEOFF, GuardState.FLYING, GuardState.HOLDING)
"""Firmware that arms itself is armed on the ground too; it counts in these states and while it flies."""
BURST_S = 1.0
"""Longest time that packets may wait for each other on the way."""
LOW_BATTERY_S = 2.0
"""A voltage that sags for less is not a low battery."""


@dataclass(frozen=True)
class CrazyflieConfig:
    """How it is flown."""

    rules: GuardRules
    mode: Literal["full_state", "attitude"] = "full_state"
    low_v: float = 3.2
    """Under load; less lasts for a landing."""
    lift_m: float = 0.3
    """Height above the ground at which commands take over."""
    watchdog: bool = True
    """Feed the vehicle's emergency watchdog from the first take-off on."""
    lead: Lead = Lead()


class TickInput(NamedTuple):
    """What came from ROS since the last tick."""

    command: np.ndarray | None = None
    """[4] acceleration x, y, z [m/s^2, world] and yaw rate [rad/s]; None: nothing."""
    pressed: bool = False
    kill: bool = False
    reset: bool = False


class Vehicle(Protocol):
    """What is needed of `CrazyflieLink`."""

    sample: StateSample | None
    status: PowerAndBits | None
    heard_s: float
    problem: str

    def follow(self, reference: Reference) -> None: ...  # noqa: D102
    def tilt(self, quat: np.ndarray, throttle: float, yaw_rate_rad_s: float) -> None: ...  # noqa: D102
    def arm(self, wanted: bool) -> None: ...  # noqa: D102
    def take_off(self, height_m: float, duration_s: float) -> None: ...  # noqa: D102
    def land(self, height_m: float, duration_s: float) -> None: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102
    def kill(self) -> None: ...  # noqa: D102
    def keep_alive(self) -> None: ...  # noqa: D102


class GuardedCrazyflie:
    """Memory of one vehicle's flight."""

    def __init__(self, link: Vehicle, vehicle: Quadrotor, config: CrazyflieConfig) -> None:
        """On the ground, nothing known."""
        self._link, self._vehicle, self._config = link, vehicle, config
        self.guard = GuardStatus()
        self.seen = Sighted()
        self._jumps = JumpCheck(reach_of(SafetyParams(vehicle.safety, vehicle.limits, HOLD_S)))
        self._trusted: StateSample | None = None
        self._reference: Reference | None = None
        self._command, self._command_s = np.zeros(4), -math.inf
        self._told_s = self._fed_s = self._rests_s = self._low_s = -math.inf
        self._then_s, self._ground_m, self._fresh, self._since_s = math.nan, 0.0, False, 0.0
        self._map = ThrustMap(4 * vehicle.rotors.max_thrust_n)

    @property
    def own(self) -> StateSample | None:
        """The newest estimate that can be trusted."""
        return self._trusted

    @property
    def unfit(self) -> str:
        """Why it may not take off; "" where it may, or flies."""
        return "" if self.guard.state in AIRBORNE else missing(self.seen, self._config.rules)

    def tick(self, heard: TickInput, now_s: float) -> GuardStatus:
        """One step; returns the guard's status."""
        dt_s = 0.0 if math.isnan(self._then_s) else now_s - self._then_s
        self._then_s = now_s
        self._fresh = False
        if heard.command is not None and np.isfinite(heard.command).all():
            self._command, self._command_s, self._fresh = heard.command, now_s, True
        self._watch_pose()
        self.seen = self._sight(heard, now_s)
        before, self.guard = self.guard, stepped(self.guard, self.seen, self._config.rules, dt_s)
        self._act(before.state is not self.guard.state, now_s, dt_s)
        return self.guard

    def _watch_pose(self) -> None:
        sample = self._link.sample
        if sample is None or sample is self._trusted:
            return
        before, self._jumps.in_flight = self._trusted, self.guard.state in AIRBORNE
        dt_s = between_s(before, sample) if before else math.inf
        if self._jumps.trusts(before.estimate if before else None, sample.estimate, dt_s):
            self._trusted = sample

    def _sight(self, heard: TickInput, now_s: float) -> Sighted:
        own, status = self._trusted, self._link.status
        bits = status.bits if status else 0
        told_off = low = False
        if own is not None:
            low_m, speed = own.estimate.pos_m[2] - self._ground_m, float(np.linalg.norm(own.estimate.vel_m_s))
            self._rests_s = now_s if low_m > STANDS_M or speed > SLOW_M_S else self._rests_s
            low = low_m < LOW_M and speed < SLOW_M_S
            told_off = low and self._command[2] < FREE_FALL_M_S2
        flies = bool(bits & FLYING)
        counts = not bits & AUTO or flies or self.guard.state in COMMANDED
        dead = bits & (TUMBLED | LOCKED | CRASHED)
        return Sighted(
            command_age_s=now_s - self._command_s,
            link_age_s=now_s - self._link.heard_s,
            pose_age_s=now_s - own.heard_s if own else math.inf,
            unfit=self._link.problem or ("" if status else "it has not said how it is"),
            pressed=heard.pressed,
            kill=heard.kill,
            reset=heard.reset,
            low=self._is_low(status, now_s),
            armed=bool(bits & ARMED) and counts,
            flies=flies,
            dead=bool(dead),
            aloft=own is not None and own.estimate.pos_m[2] > self._ground_m + 0.8 * self._config.lift_m,
            grounded=low and now_s - self._rests_s > RESTS_S,
            told_off=bool(told_off),
        )

    def _is_low(self, status: PowerAndBits | None, now_s: float) -> bool:
        if status is None or status.volts >= self._config.low_v and status.power < LOW_POWER:
            self._low_s = now_s
        return now_s - self._low_s > LOW_BATTERY_S or status is not None and status.power >= LOW_POWER

    def _act(self, begins: bool, now_s: float, dt_s: float) -> None:
        """Do what the guard says."""
        deed, again = DEEDS[self.guard.state], begins or now_s - self._told_s >= AGAIN_S
        if self._config.watchdog and (deed is Deed.TAKE_OFF or self._fed_s > -math.inf):
            self._feed(now_s)
        own = self._trusted
        if deed is Deed.FOLLOW and own is not None:
            self._follow(own, begins, dt_s)
        elif deed is Deed.HOLD and own is not None:
            self._hold(own, begins, now_s)
        elif begins or again and (deed in _REPEATED or self._was_not_heard(deed, now_s)):
            self._told_s = now_s
            self._tell(deed)

    def _was_not_heard(self, deed: Deed, now_s: float) -> bool:
        """Whether the vehicle does not do what it was told once: the packet may be lost."""
        if now_s - self._told_s < UNHEARD_S or self._trusted is None:
            return False
        if deed is Deed.TAKE_OFF:
            return not self.seen.flies
        # Told anew, a landing begins anew: not while nobody sees whether it sinks.
        sinks = self._trusted.estimate.vel_m_s[2] < -SLOW_M_S / 6
        return deed is Deed.LAND and not sinks and self.seen.pose_age_s <= self._config.rules.pose_s

    def _tell(self, deed: Deed) -> None:
        if deed is Deed.NOTHING:
            return
        link, own = self._link, self._trusted
        height_m = own.estimate.pos_m[2] if own else self._ground_m
        if deed is Deed.ARM:
            self._ground_m = height_m
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
        if begins or self._reference is None:
            self._reference, self._since_s = reference_at(own.estimate), 0.0
        if begins and self._config.mode == "attitude":  # the firmware locks thrust until one of zero came
            self._link.tilt(own.estimate.quat_wxyz, 0.0, 0.0)
        self._since_s += dt_s
        if not self._fresh:
            return
        limits = self._vehicle.limits
        command = self._command.copy()
        command[:3] = np.clip(command[:3], limits.accel_min_m_s2, limits.accel_max_m_s2)
        self._reference = advanced(self._reference, command, own.estimate, self._since_s, self._config.lead)
        self._since_s = 0.0
        self._send(self._reference)

    def _hold(self, own: StateSample, begins: bool, now_s: float) -> None:
        if begins or self._reference is None:
            start = reference_at(own.estimate)
            stop = start.vel_m_s * float(np.linalg.norm(start.vel_m_s)) / (2 * self._vehicle.safety.brake_m_s2)
            self._reference = start._replace(pos_m=start.pos_m + stop, vel_m_s=np.zeros(3))
        if begins or now_s - self._told_s >= HOLD_S:
            self._told_s = now_s
            self._link.follow(self._reference)

    def _send(self, reference: Reference) -> None:
        if self._config.mode == "full_state":
            self._link.follow(reference)
            return
        quat, thrust_n = attitude_and_thrust(
            reference.accel_m_s2, np.array(reference.yaw_rad), self._vehicle.body.mass_kg
        )
        self._link.tilt(quat, self._map.throttle(float(thrust_n)), reference.yaw_rate_rad_s)

    def _feed(self, now_s: float) -> None:
        if now_s - self._fed_s >= AGAIN_S:
            self._fed_s = now_s
            self._link.keep_alive()


def between_s(before: StateSample, after: StateSample) -> float:
    """Time from one estimate to another: by the vehicle's clock, packets may have come in a burst; and no less than
    by ours, the vehicle may have been started anew."""
    ticked_s = (after.vehicle_ms - before.vehicle_ms) % (1 << 24) / 1000
    heard_s = after.heard_s - before.heard_s
    return max(heard_s, ticked_s if ticked_s < heard_s + BURST_S else 0.0)


_REPEATED = (Deed.ARM, Deed.KILL, Deed.DISARM)
