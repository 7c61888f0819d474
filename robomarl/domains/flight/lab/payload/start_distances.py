"""`start_distances`: how near to each other and how far apart carriers may start, by all that their scenario draws."""

import math
from itertools import combinations, product

import numpy as np

from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.config import UserError
from robomarl.core.vectors import to_world
from robomarl.domains.flight.lab.payload.follow import goal_attitude
from robomarl.domains.flight.lab.payload.start import outward
from robomarl.domains.flight.lab.scenario import FlightScenario

TURNS, LENGTHS, DIRECTIONS = 9, 3, 24
"""Number of angles of each tilt of the load, of lengths of each cable, and of directions in which two points of
attachment may be off from each other."""


def check_start(scenario: FlightScenario, figures: CertificateFigures) -> None:
    """Check that the certificate fits every start that a scenario draws: each distance in the metric of its own rule,
    with what courses bend between compared times.

    Raises:
        UserError: two carriers may start nearer than references may be, or farther apart.
    """
    if figures.tether is None:
        return
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


def start_distances(scenario: FlightScenario, near: np.ndarray, far: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest distance [m] of two carriers as they estimate their places at the start.

    Drawn are the load's attitude, each cable's length, each point of attachment and the errors of the estimates.
    Vehicles start level, so the points of their cables on them are off alike.

    Args:
        scenario: fixed numbers and ranges.
        near: [3] factors of the metric of the least distance, world axes.
        far: [3] factors of the metric of the largest distance.
    """
    noise = 2 * scenario.randomize.noise_scale[1] * scenario.sensing.position_noise_m
    away = np.abs(_ways(scenario))
    least = np.linalg.norm(np.maximum(away - noise, 0.0) * near, axis=-1)
    most = np.linalg.norm((away + noise) * far, axis=-1)
    return float(least.min(initial=math.inf)), float(most.max(initial=0.0))


def _ways(scenario: FlightScenario) -> np.ndarray:
    """[A, B, 3] ways [m] from one carrier to another, world axes, for A attitudes of the load, and B choices of the
    pair, of both cables' lengths and of where their points of attachment are."""
    load, cables = scenario.carried
    lengths = cables.length_m * np.linspace(*scenario.randomize.cable_scale, LENGTHS)
    places = np.array(cables.load_points_m)[:, None] + outward(cables)[:, None] * lengths[:, None]
    taut = [b - a for one, two in combinations(places, 2) for a, b in product(one, two)]
    ways = (np.array(taut).reshape(-1, 1, 3) + _aside(scenario.randomize.attachment_m[1])).reshape(-1, 3)
    turns = np.linspace(-load.start.tilt_rad, load.start.tilt_rad, TURNS)
    x, y, z = ways.T
    quats = [goal_attitude(roll, pitch, 0.0 * roll) for roll, pitch in product(turns, turns)]
    return np.stack([np.stack(to_world(tuple(quat), (x, y, z)), -1) for quat in quats])


def _aside(most_m: float) -> np.ndarray:
    """[D, 3] differences [m] of two points that are each off by up to `most_m` in the plane: corners of a polygon about
    the circle of all."""
    angles = 2 * math.pi * np.arange(DIRECTIONS) / DIRECTIONS
    return 2 * most_m / math.cos(math.pi / DIRECTIONS) * np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1)
