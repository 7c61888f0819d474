"""`CertifiedCarrier`: how commands of robots that carry a load go through the certificate."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError, build
from robomarl.core.domain.onboard import CertifiedCommand, Content, W
from robomarl.core.filter.body_rates import filter_carrier
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LoadSensed, LocalView
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig
from robomarl.domains.flight.core.payload.statics import reach_m

HEIGHT_SHARE = 0.5
"""Largest difference of height of two references over the length of a cable: the lower carrier stays above the load."""
STOPS_S = 4.0
"""Longest stopping time of a reference [s]. The bend of a course between compared times grows with its square."""


class CertifiedCarrier(CertifiedCommand):
    """Commands [..., 5] of a carrier: the acceleration goes through the certificate, with body rates beside it."""

    def __init__(self, params: SafetyParams, content: Content) -> None:
        """Work out the assumptions about the team.

        Args:
            params: safety parameters of the vehicle.
            content: of the scenario.

        Raises:
            UserError: the certificate does not fit such a team: it is thrown, its references stop too late, or the load
                pulls harder than vehicles can hold.
        """
        file = f"{content.get('name', '')}.toml"
        load, cables = build(LoadConfig, content["load"], file), build(CableConfig, content["cables"], file)
        if cables.start_tilt_rad > 0 or cables.start_speed_m_s > 0 or cables.start_slack > 0:
            raise UserError(
                f"{file}: the certificate begins with robots at rest on taut cables, and start_tilt_rad, "
                "start_speed_m_s or start_slack of [cables] is above 0; choose the filter qp."
            )
        limits = load.reference_m_s2, load.reference_m_s, _stop_s(file, load)
        self.tether = Tether(apart_m(load, cables), HEIGHT_SHARE * reach_m(load, cables), *limits)
        self.params = _pulled(file, params, load.pull_m_s2, str(content.get("vehicle", "the vehicle")))

    def __call__(
        self, decide: Callable[..., tuple[W, FilterResult]], memory: W, view: LocalView, command: Array, /
    ) -> tuple[W, FilterResult]:
        """Decide once by a certificate, (memory, view, nominal [..., 5]) -> (memory, result)."""
        return filter_carrier(decide, memory, view, command)

    def seen(self, view: LocalView, led: LocalView) -> LocalView:
        """Return views [...] with robots at their references, `led`, and the load moved along with each robot from
        where that is: a policy that is told of the load where it hangs would see it lag behind by the time of the lead.
        """
        sensed, place = view.sensed, view.own.pos_m
        assert isinstance(sensed, LoadSensed), "carriers sense their load"
        moved = sensed.load_pos_m + (led.own.pos_m - place)
        return led._replace(sensed=sensed._replace(load_pos_m=moved.astype(sensed.load_pos_m.dtype)))


def apart_m(load: LoadConfig, cables: CableConfig) -> float:
    """Return the distance [m] of two carriers whose cables lean outwards by `cables.lean_rad`, from the two points of
    the load that are farthest apart."""
    widest = max((math.dist(a, b) for a, b in combinations(cables.load_points_m, 2)), default=0.0)
    return widest + 2 * reach_m(load, cables) * math.sin(cables.lean_rad)


def _stop_s(file: str, load: LoadConfig) -> float:
    """Return the time in which a reference stops; raises `UserError` where it is above `STOPS_S`."""
    stop_s = load.reference_m_s / load.reference_m_s2
    if stop_s > STOPS_S:
        raise UserError(
            f"{file}: load.reference_m_s = {load.reference_m_s:g} and load.reference_m_s2 = "
            f"{load.reference_m_s2:g} let a reference stop in {stop_s:.3g} s, and {STOPS_S:g} s are the most; lower "
            "the first or raise the second."
        )
    return stop_s


def _pulled(file: str, params: SafetyParams, pull_m_s2: float, vehicle: str) -> SafetyParams:
    """Return the parameters with the pull of the load as a disturbance; raises `UserError` where none of the
    acceleration is left."""
    disturbance = params.safety.accel_error_m_s2 + pull_m_s2
    try:
        return replace(params, safety=replace(params.safety, accel_error_m_s2=disturbance))
    except ValueError as error:
        raise UserError(
            f"{file}: load.pull_m_s2 = {pull_m_s2:g} is more than {vehicle} can hold; lower it, or choose the "
            f"filter qp: {error}"
        ) from None
