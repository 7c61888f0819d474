"""`GuardedAutopilot`: modes, arming, set-points and pilots, which a vehicle with an autopilot adds to
`GuardedVehicle`.
"""

import math
from dataclasses import dataclass

import numpy as np

from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.vehicles.autopilot.kinds import AutopilotKind
from robomarl.vehicles.autopilot.link import AutopilotLink
from robomarl.vehicles.autopilot.state import ALOFT, CHARGE_LOW, LANDED
from robomarl.vehicles.conversion.reference import Reference, reference_at
from robomarl.vehicles.guard_terms import DEEDS, Deed, GuardState
from robomarl.vehicles.guarded import AGAIN_S, HOLD_S, FlightConfig, GuardedVehicle, VehicleSays

PROOF_S = 1.2
"""PX4 wants set-points for more than a second before it follows them."""
CHANGES_S = 1.5
"""Time [s] after which a foreign mode counts; a heartbeat comes once a second."""
BELOW_M = 0.1
"""While it arms it is told a place below the ground: one above would be a take-off."""


@dataclass(frozen=True)
class AutopilotConfig(FlightConfig):
    """How it is flown."""

    low_share: float = 0.15
    """Fraction of the battery's charge below which the vehicle lands."""


class GuardedAutopilot(GuardedVehicle):
    """Memory of one vehicle's flight."""

    _link: AutopilotLink
    _config: AutopilotConfig

    def __init__(self, link: AutopilotLink, vehicle: Quadrotor, config: AutopilotConfig) -> None:
        """Start on the ground, with nothing known."""
        super().__init__(link, vehicle, config)
        self._streamed_s = self._strange_s = -math.inf
        self._since_deed_s = 0.0
        self._own_mode = False

    def _says(self, now_s: float) -> VehicleSays:
        link = self._link
        link.poll()
        state, config = link.state, self._config
        autopilot, guided = state.autopilot, False
        if autopilot is not None:
            guided = state.mode == autopilot.guided
        armed = state.armed and (guided or self.guard.state is not GuardState.ARMING)
        return VehicleSays(
            problem=link.problem,
            armed=armed,
            flies=state.landed in ALOFT,
            dead=state.terminated,
            low=state.volts < config.low_v or state.share < config.low_share,
            empty=state.charge >= CHARGE_LOW,
            landed=state.landed == LANDED and self.guard.state is GuardState.LANDING,
            refusal=state.refusal,
            taken=self._taken(autopilot, now_s),
        )

    def _taken(self, autopilot: AutopilotKind | None, now_s: float) -> str:
        """Return the mode that flies it instead of the guard's, if the guard's mode was there before; "" otherwise."""
        wanted = None
        if autopilot is not None:
            wanted = {Deed.TAKE_OFF: autopilot.guided, Deed.FOLLOW: autopilot.guided, Deed.HOLD: autopilot.guided}
            wanted = {**wanted, Deed.LAND: autopilot.land}.get(DEEDS[self.guard.state])
        state = self._link.state
        if wanted is None or state.mode == wanted or autopilot is None or not state.armed:
            self._own_mode = wanted is not None and (self._own_mode or state.mode == wanted)
            self._strange_s = now_s
            return ""
        lands = state.mode == autopilot.land and wanted == autopilot.guided
        if not self._own_mode or now_s - self._strange_s < CHANGES_S:
            return ""
        who = "lands by itself" if lands else f"is in {autopilot.mode_name(state.mode)}: somebody else flies it"
        return f"the vehicle {who}" + (f" ({state.text})" if state.text else "")

    def _act(self, begins: bool, now_s: float, dt_s: float) -> None:
        deed, own = DEEDS[self.guard.state], self._trusted
        self._since_deed_s = 0.0 if begins else self._since_deed_s + dt_s
        if begins and deed is Deed.LAND:
            self._own_mode = False  # until it is heard to land
        super()._act(begins, now_s, dt_s)
        autopilot = self._link.state.autopilot
        if deed is Deed.ARM and begins and own is not None:
            self._reference = reference_at(own.estimate)._replace(vel_m_s=np.zeros(3))
        climbs = deed is Deed.TAKE_OFF and autopilot is not None and autopilot.climbs_by_target
        if (
            self._reference is not None
            and (deed is Deed.ARM or climbs)
            and (begins or now_s - self._streamed_s >= HOLD_S)
        ):
            self._streamed_s = now_s
            self._link.target(self._climbing(self._reference) if climbs else _lowered(self._reference))

    def _again(self, deed: Deed, now_s: float) -> bool:
        return now_s - self._told_s >= AGAIN_S

    def _tell(self, deed: Deed) -> None:
        link, autopilot = self._link, self._link.state.autopilot
        if deed is Deed.KILL:
            link.kill()
        elif autopilot is None:
            return
        elif deed is Deed.ARM and self._since_deed_s >= PROOF_S:
            if link.state.mode != autopilot.guided:
                link.set_mode(autopilot.guided)
            link.arm(True)
        elif deed is Deed.TAKE_OFF and not autopilot.climbs_by_target and not self.seen.flies:
            link.take_off(self._config.lift_m)
        elif deed in (Deed.LAND, Deed.DISARM):
            self._bring_down(autopilot, deed)

    def _bring_down(self, autopilot: AutopilotKind, deed: Deed) -> None:
        state = self._link.state
        if state.mode != autopilot.land and state.armed:
            self._link.set_mode(autopilot.land)
        if deed is Deed.DISARM and state.landed == LANDED and state.armed:
            self._link.arm(False)

    def _climbing(self, start: Reference) -> Reference:
        """Straight up from where it stood, as fast as it would land, to where commands take over."""
        lift_m, speed = self._config.lift_m, self._config.rules.loss.land_speed_m_s
        risen_m = min(self._since_deed_s * speed, 1.3 * lift_m)  # beyond: it lags, and counts as aloft below
        rises = speed if risen_m < 1.3 * lift_m else 0.0
        return start._replace(pos_m=start.pos_m + np.array([0.0, 0.0, risen_m]), vel_m_s=np.array([0.0, 0.0, rises]))

    def _send(self, reference: Reference) -> None:
        self._link.target(reference)


def _lowered(stands: Reference) -> Reference:
    return stands._replace(pos_m=stands.pos_m - np.array([0.0, 0.0, BELOW_M]))
