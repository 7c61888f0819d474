"""`carriers`: assumptions of the certificate about robots that carry a load, from the sections of their scenario."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from robomarl.core.certificate.figures import CertificateFigures, figures_of
from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError
from robomarl.core.filter.params import SafetyParams
from robomarl.core.vectors import to_world
from robomarl.core.view import LoadSensed, LocalView
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig
from robomarl.domains.flight.core.payload.statics import reach_m
from robomarl.domains.flight.lab.payload.follow import goal_attitude
from robomarl.domains.flight.lab.payload.lift import thrown
from robomarl.domains.flight.lab.payload.start import outward
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.simulation import Carriers

HEIGHT_SHARE = 0.5
"""Largest difference of height of two references over the length of a cable: the lower carrier stays above the load."""


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
    if thrown(scenario) or cables.start_speed_m_s > 0 or cables.start_slack > 0:
        raise UserError(
            f"{scenario.name}.toml: the certificate begins with robots at rest on taut cables, and start_tilt_rad, "
            "start_speed_m_s or start_slack of [cables] is above 0; choose the filter qp."
        )
    found = Tether(apart_m(load, cables), HEIGHT_SHARE * reach_m(load, cables), load.reference_m_s2)
    pulled = _pulled(scenario, params, load.pull_m_s2)
    _check_start(scenario, figures_of(pulled, scenario.vehicle_config.body.radius_m, tether=found))
    return Carriers(pulled, found, along)


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
    """Raises `UserError` where two carriers start nearer than references may be, or farther apart, for some attitude
    of the load: each in the metric of its own rule, with what courses bend between compared times."""
    load, cables = scenario.carried
    assert figures.tether is not None, "carriers have one"
    stretch, ways = figures.tether.stretch, _pairs(load, cables)
    near, far = (np.linalg.norm(ways * metric, axis=-1) for metric in (np.array(figures.squash), stretch))
    kept = 2 * figures.learned.room_m + figures.bend_m
    most = figures.tether.apart_m - 2 * figures.bend_m * stretch.max()
    if near.min(initial=math.inf) < kept:
        raise UserError(
            f"{scenario.name}.toml: carriers start {near.min():.3g} m apart, and the certificate keeps {kept:.3g} m; "
            "set load_points_m farther apart, raise length_m or spread_rad of [cables], or choose the filter qp."
        )
    if far.max(initial=0.0) > most:
        raise UserError(
            f"{scenario.name}.toml: carriers start {far.max():.3g} m apart (heights count {stretch[2]:.3g} times), and "
            f"cables.lean_rad = {cables.lean_rad:g} lets them be {most:.3g} m; raise it above spread_rad, lower "
            "spread_rad or tilt_rad of [load.start], or set load_points_m at one height."
        )


def _pairs(load: LoadConfig, cables: CableConfig) -> np.ndarray:
    """[A, P, 3] ways [m] from one carrier to another at the start, of P pairs, for A attitudes of the load."""
    places = np.array(cables.load_points_m) + outward(cables) * reach_m(load, cables)
    ways = np.array([b - a for a, b in combinations(places, 2)]).reshape(-1, 3)
    turns = np.linspace(-load.start.tilt_rad, load.start.tilt_rad, 9)
    quats = [goal_attitude(roll, pitch, 0.0 * roll) for roll in turns for pitch in turns]
    x, y, z = ways.T
    rows = [to_world(tuple(quat), (x, y, z)) for quat in quats]
    return np.stack([np.stack(row, -1) for row in rows])
