"""`GuardedVehicle`: path of commands from a node to one vehicle, for any kind of messages. No ROS
here.

Each tick: the vehicle's status and the inputs from ROS become a `Sighted`, the guard steps, and its
deed is done. The part of an autopilot is a subclass: the meaning of its status, and the messages
that it needs.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.ros.robot.jumps import JumpCheck, reach_of
from robomarl.ros.timing.steady import AWAY_S
from robomarl.vehicles.conversion.reference import Lead, Reference, advanced, reference_at
from robomarl.vehicles.guard import missing, stepped
from robomarl.vehicles.guard_terms import AIRBORNE, DEEDS, Deed, GuardRules, GuardState, GuardStatus, Sighted
from robomarl.vehicles.samples import StateSample
from robomarl.vehicles.track_check import TrackCheck

FREE_FALL_M_S2 = -9.8
"""Commanded so, low and slow: stop the motors (`robot.hover.touchdown`)."""
LOW_M, SLOW_M_S = 0.4, 0.3
"""Low and slow."""
STANDS_M, RESTS_S = 0.06, 0.4
"""Largest height [m] above the start, and minimum time at rest [s], of a vehicle on the ground."""
SUNK_M = 0.15
"""A vehicle that takes off and is so far below where it stood has its z axis the wrong way up."""
AGAIN_S = 0.25
"""Interval [s] at which messages that are no stream are sent again: arming, killing, the watchdog."""
HOLD_S = 0.02
"""Period of a stream that holds."""
BURST_S = 1.0
"""Longest time that packets may wait for each other on the way."""
LOW_BATTERY_S = 2.0
"""A voltage that sags for less is not a low battery."""
UPSIDE_DOWN = "z falls while it takes off: its position is in NED and read as ENU"


@dataclass(frozen=True)
class FlightConfig:
    """Flight settings of a vehicle with any kind of messages."""

    rules: GuardRules
    low_v: float = 3.2
    """Under load; less lasts for a landing."""
    lift_m: float = 0.3
    """Height above the ground at which commands take over."""
    lead: Lead = Lead()


class TickInput(NamedTuple):
    """Inputs from ROS since the last tick."""

    command: np.ndarray | None = None
    """[4] acceleration x, y, z [m/s^2, world] and yaw rate [rad/s]; None: nothing."""
    pressed: bool = False
    kill: bool = False
    reset: bool = False
    rival: str = ""
    """Name of another adapter of this robot; "" if there is none."""
    waited_s: float = 0.0
    """How long the command has waited for an adapter that stood still."""
    unsuited: str = ""
    """Why the policy can't fly this vehicle; "" if it can."""


class VehicleSays(NamedTuple):
    """Meaning of an autopilot's status."""

    problem: str = ""
    """Why it is not fit to fly; "" where it is."""
    armed: bool = False
    flies: bool = False
    """Its motors lift."""
    dead: bool = False
    low: bool = False
    """Its battery, by this status alone."""
    empty: bool = False
    """It says so itself: nothing to wait for."""
    landed: bool = False
    """It says that it stands; False where it does not know."""
    refusal: str = ""
    taken: str = ""


class VehicleLink(Protocol):
    """Interface that every link has."""

    @property
    def sample(self) -> StateSample | None:
        """The newest estimate."""
        ...

    @property
    def heard_s(self) -> float:
        """When the vehicle was last heard."""
        ...

    @property
    def force_m_s2(self) -> np.ndarray | None:
        """[3] of the accelerometer, FLU; None without."""
        ...


class GuardedVehicle:
    """Memory of one vehicle's flight. Subclasses say `_says`, `_tell`, `_send` and `_was_not_heard`."""

    def __init__(self, link: VehicleLink, vehicle: Quadrotor, config: FlightConfig) -> None:
        """Start on the ground, with nothing known."""
        self._link, self._vehicle, self._config = link, vehicle, config
        self.guard, self.seen, self.track = GuardStatus(), Sighted(), TrackCheck()
        self._jumps = JumpCheck(reach_of(SafetyParams(vehicle.safety, vehicle.limits, HOLD_S)))
        self._trusted: StateSample | None = None
        self._reference: Reference | None = None
        self._command, self._command_s, self._silent_s = np.zeros(4), -math.inf, math.inf
        self._told_s = self._rests_s = self._low_s = -math.inf
        self._woke_s = -math.inf
        self._then_s, self._ground_m, self._fresh, self._since_s, self._moved = math.nan, 0.0, False, 0.0, False
        self._sunk = ""

    @property
    def own(self) -> StateSample | None:
        """The newest estimate that can be trusted."""
        return self._trusted

    @property
    def unfit(self) -> str:
        """Why it may not take off; "" where it may, or flies."""
        if self.guard.state is GuardState.LANDED:  # commands would keep it there: its robot must not become READY
            return f"the flight before is not over ({self.guard.why})"
        return "" if self.guard.state in AIRBORNE else missing(self.seen, self._config.rules)

    def tick(self, heard: TickInput, now_s: float) -> GuardStatus:
        """One step; returns the guard's status."""
        dt_s = 0.0 if math.isnan(self._then_s) else now_s - self._then_s
        self._then_s = now_s
        self._fresh = False
        silent_s = now_s - self._command_s
        if heard.command is not None and np.isfinite(heard.command).all():
            self._command, self._command_s, self._fresh = heard.command, now_s - heard.waited_s, True
        # After an absence the silence counts that was there before the queue was read: the vehicle has felt it.
        self._silent_s = silent_s if dt_s > AWAY_S else now_s - self._command_s
        self._woke_s = now_s if dt_s > AWAY_S else self._woke_s
        if heard.reset:
            self.track, self._sunk = TrackCheck(), ""
        says = self._says(now_s)
        self._watch_pose(says)
        self.seen = self._sight(heard, says, now_s)
        before, self.guard = self.guard, stepped(self.guard, self.seen, self._config.rules, dt_s)
        self._act(before.state is not self.guard.state, now_s, dt_s)
        return self.guard

    def _says(self, now_s: float) -> VehicleSays:
        """Return the meaning of the vehicle's status now."""
        raise NotImplementedError

    def _tell(self, deed: Deed) -> None:
        """Send once a message that is no stream."""
        raise NotImplementedError

    def _send(self, reference: Reference) -> None:
        """Send a reference to track."""
        raise NotImplementedError

    def _again(self, deed: Deed, now_s: float) -> bool:
        """Return True if the vehicle is to be told again."""
        raise NotImplementedError

    def _watch_pose(self, says: VehicleSays) -> None:
        sample, before, self._moved = self._link.sample, self._trusted, False
        if sample is None or sample is before:
            return
        self._jumps.in_flight = self.guard.state in AIRBORNE
        self._moved = before is not None and sample.resets != before.resets
        dt_s = between_s(before, sample) if before else math.inf
        if self._moved or self._jumps.trusts(before.estimate if before else None, sample.estimate, dt_s):
            self._trusted = sample
            if self._jumps.problem:
                self.track.forget()
            self.track.note(sample.heard_s - sample.age_s, sample, self._link.force_m_s2, says.flies)

    def _sight(self, heard: TickInput, says: VehicleSays, now_s: float) -> Sighted:
        own, rival = self._trusted, f"{heard.rival} flies it too; stop one of the two" if heard.rival else ""
        told_off = low = False
        height_m = own.estimate.pos_m[2] - self._ground_m if own else math.nan
        if own is not None:
            speed = float(np.linalg.norm(own.estimate.vel_m_s))
            self._rests_s = now_s if height_m > STANDS_M or speed > SLOW_M_S else self._rests_s
            low = height_m < LOW_M and speed < SLOW_M_S
            told_off = low and self._command[2] < FREE_FALL_M_S2
        if self.guard.state is GuardState.TAKEOFF and says.flies and height_m < -SUNK_M:
            self._sunk = UPSIDE_DOWN
        return Sighted(
            command_age_s=self._silent_s,
            link_age_s=self._age_s(self._link.heard_s, now_s),
            pose_age_s=self._age_s(own.heard_s - own.age_s, now_s) if own else math.inf,
            unfit=says.problem or heard.unsuited or rival,
            pressed=heard.pressed,
            kill=heard.kill,
            reset=heard.reset,
            low=self._is_low(says, now_s),
            armed=says.armed,
            flies=says.flies,
            dead=says.dead,
            aloft=own is not None and height_m > 0.8 * self._config.lift_m,
            grounded=says.landed or low and now_s - self._rests_s > RESTS_S,
            told_off=bool(told_off),
            moved_origin=self._moved,
            wrong=self._sunk or self.track.problem,
            refusal=says.refusal,
            taken=says.taken,
        )

    def _age_s(self, heard_s: float, now_s: float) -> float:
        """Return the time since `heard_s`; in the air at most that since the last absence, as waiting messages are
        not read yet.
        """
        return now_s - (max(heard_s, self._woke_s) if self.guard.state in AIRBORNE else heard_s)

    def _is_low(self, says: VehicleSays, now_s: float) -> bool:
        if not says.low and not says.empty:
            self._low_s = now_s
        return says.empty or now_s - self._low_s > LOW_BATTERY_S

    def _act(self, begins: bool, now_s: float, dt_s: float) -> None:
        """Do the deed of the guard's state."""
        deed, own = DEEDS[self.guard.state], self._trusted
        if begins and deed is Deed.ARM and own is not None:
            self._ground_m = own.estimate.pos_m[2]
        if deed is Deed.FOLLOW and own is not None:
            self._follow(own, begins, dt_s)
        elif deed is Deed.HOLD and own is not None:
            self._hold(own, begins or self._moved, now_s)
        elif deed is not Deed.NOTHING and (begins or self._again(deed, now_s)):
            self._told_s = now_s
            self._tell(deed)

    def _follow(self, own: StateSample, begins: bool, dt_s: float) -> None:
        if begins or self._reference is None:
            self._reference, self._since_s = reference_at(own.estimate), 0.0
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
            self._send_hold(self._reference)

    def _send_hold(self, reference: Reference) -> None:
        self._send(reference)


def between_s(before: StateSample, after: StateSample) -> float:
    """Time from one estimate to another: by the vehicle's clock, packets may have come in a burst; and no less than
    by ours, the vehicle may have been started anew."""
    ticked_s = (after.vehicle_ms - before.vehicle_ms) % (1 << 24) / 1000
    heard_s = after.heard_s - before.heard_s
    return max(heard_s, ticked_s if ticked_s < heard_s + BURST_S else 0.0)
