"""`carriers`: assumptions of the certificate about robots that carry a load, from the sections of their scenario."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from robomarl.core.certificate.figures import CertificateFigures, figures_of
from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError
from robomarl.core.filter.params import SafetyParams
from robomarl.core.view import LoadSensed, LocalView
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig
from robomarl.domains.flight.core.payload.statics import reach_m
from robomarl.domains.flight.lab.payload.start_distances import start_distances
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.simulation import Carriers

HEIGHT_SHARE = 0.5
"""Largest difference of height of two references over the length of a cable: the lower carrier stays above the load."""
STOPS_S = 4.0
"""Longest stopping time of a reference [s]. The bend of a course between compared times grows with its square."""


def carriers(scenario: FlightScenario, params: SafetyParams) -> Carriers | None:
    """Return the assumptions of the certificate about carriers under their load.

    Args:
        scenario: fixed numbers.
        params: safety parameters of the vehicle.

    Returns:
        The assumptions; None: the team carries nothing.

    Raises:
        UserError: the certificate does not fit such a team: it is thrown, it starts nearer than references may be or
            farther apart, or the load pulls harder than vehicles can hold.
    """
    if scenario.load is None:
        return None
    load, cables = scenario.carried
    if cables.start_tilt_rad > 0 or cables.start_speed_m_s > 0 or cables.start_slack > 0:
        raise UserError(
            f"{scenario.name}.toml: the certificate begins with robots at rest on taut cables, and start_tilt_rad, "
            "start_speed_m_s or start_slack of [cables] is above 0; choose the filter qp."
        )
    limits = load.reference_m_s2, load.reference_m_s, _stop_s(scenario.name, load)
    found = Tether(apart_m(load, cables), HEIGHT_SHARE * reach_m(load, cables), *limits)
    pulled = _pulled(scenario, params, load.pull_m_s2)
    _check_start(scenario, figures_of(pulled, scenario.vehicle_config.body.radius_m, tether=found))
    return Carriers(pulled, found, along)


def _stop_s(name: str, load: LoadConfig) -> float:
    """Return the time in which a reference stops; raises `UserError` where it is above `STOPS_S`."""
    stop_s = load.reference_m_s / load.reference_m_s2
    if stop_s > STOPS_S:
        raise UserError(
            f"{name}.toml: load.reference_m_s = {load.reference_m_s:g} and load.reference_m_s2 = "
            f"{load.reference_m_s2:g} let a reference stop in {stop_s:.3g} s, and {STOPS_S:g} s are the most; lower "
            "the first or raise the second."
        )
    return stop_s


def _pulled(scenario: FlightScenario, params: SafetyParams, pull_m_s2: float) -> SafetyParams:
    """Return the parameters with the pull of the load as a disturbance; raises `UserError` where none of the
    acceleration is left."""
    disturbance = params.safety.accel_error_m_s2 + pull_m_s2
    try:
        return replace(params, safety=replace(params.safety, accel_error_m_s2=disturbance))
    except ValueError as error:
        raise UserError(
            f"{scenario.name}.toml: load.pull_m_s2 = {pull_m_s2:g} is more than {scenario.vehicle} can hold; "
            f"lower it, or choose the filter qp: {error}"
        ) from None


def along(view: LocalView, led: LocalView) -> LocalView:
    """Return views [...] with robots at their references, `led`, and the load moved along with each robot from where
    that is: a policy that is told of the load where it hangs would see it lag behind by the time of the lead."""
    sensed, place = view.sensed, view.own.pos_m
    assert isinstance(sensed, LoadSensed), "carriers sense their load"
    moved = sensed.load_pos_m + (led.own.pos_m - place)
    return led._replace(sensed=sensed._replace(load_pos_m=moved.astype(sensed.load_pos_m.dtype)))


def apart_m(load: LoadConfig, cables: CableConfig) -> float:
    """Return the distance [m] of two carriers whose cables lean outwards by `cables.lean_rad`, from the two points of
    the load that are farthest apart."""
    widest = max((math.dist(a, b) for a, b in combinations(cables.load_points_m, 2)), default=0.0)
    return widest + 2 * reach_m(load, cables) * math.sin(cables.lean_rad)


def _check_start(scenario: FlightScenario, figures: CertificateFigures) -> None:
    """Raises `UserError` where two carriers may start nearer than references may be, or farther apart: each in the
    metric of its own rule, with what courses bend between compared times."""
    assert figures.tether is not None, "carriers have one"
    stretch, lean_rad = figures.tether.stretch, scenario.carried[1].lean_rad
    near, far = start_distances(scenario, np.array(figures.squash), stretch)
    kept = 2 * figures.learned.room_m + figures.bend_m
    most = figures.tether.apart_m - 2 * figures.bend_m * stretch.max()
    if near < kept:
        raise UserError(
            f"{scenario.name}.toml: carriers start as near as {near:.3g} m, and the certificate keeps {kept:.3g} m; "
            "set load_points_m farther apart, raise length_m or spread_rad of [cables], narrow cable_scale or "
            "attachment_m of [randomize], lower position_noise_m of [sensing], or choose the filter qp."
        )
    if far > most:
        raise UserError(
            f"{scenario.name}.toml: carriers start as far apart as {far:.3g} m (heights count {stretch[2]:.3g} times), "
            f"and cables.lean_rad = {lean_rad:g} lets them be {most:.3g} m; raise it above spread_rad, lower "
            "spread_rad or tilt_rad of [load.start], narrow cable_scale or attachment_m of [randomize], or set "
            "load_points_m at one height."
        )
