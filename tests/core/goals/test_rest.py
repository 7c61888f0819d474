# pyright: reportOperatorIssue=false
"""Resting distances: what they depend on, and that robots rest at them and not much nearer."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.filter.filter import Arena, from_vehicle
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.goals.rest import AGE_S, PERIOD_S, nearest_m, rest_distances, vehicle_margins, vehicle_rest
from robomarl.core.hardware.vehicle import load_any_vehicle

PARAMS = from_vehicle(load_any_vehicle("crazyflie_21"), PERIOD_S)


def test_robots_that_fly_rest_farther_above_each_other_than_beside():
    rest = vehicle_rest(load_any_vehicle("crazyflie_21"))
    safety = PARAMS.safety
    assert rest.above_m is not None
    assert rest.beside_m > safety.separation_m + 2 * safety.position_error_m
    assert rest.above_m > safety.separation_m * safety.downwash_ratio + 2 * safety.position_error_m


def test_robots_that_drive_have_no_above_and_no_floor():
    vehicle = load_any_vehicle("ssl_omni")
    assert vehicle_rest(vehicle).above_m is None
    assert vehicle_margins(vehicle).floor_m is None


@pytest.mark.parametrize("key", ["separation_m", "position_error_m", "velocity_error_m_s"])
def test_a_larger_figure_of_the_file_keeps_robots_farther_apart(key: str):
    more = dataclasses.replace(PARAMS.safety, **{key: 1.5 * getattr(PARAMS.safety, key)})
    larger = dataclasses.replace(PARAMS, safety=more)
    assert rest_distances(larger, AGE_S).beside_m > rest_distances(PARAMS, AGE_S).beside_m + 0.01


def test_older_messages_keep_robots_farther_apart():
    assert rest_distances(PARAMS, 0.1).beside_m > rest_distances(PARAMS, 0.0).beside_m + 0.05


def test_what_surrounds_the_robots_changes_nothing():
    inside = dataclasses.replace(PARAMS, arena=Arena((-1, -1, 0), (1, 1, 1)), min_mates=3)
    assert rest_distances(inside, AGE_S) == rest_distances(PARAMS, AGE_S)


@pytest.mark.parametrize(
    ("apart", "rests"), [((1.01, 0, 0), True), ((0.99, 0, 0), False), ((0, 0, 1.01), True), ((0.6, 0, 0.6), False)]
)
def test_directions_between_beside_and_above_count_as_an_ellipsoid(apart: tuple, rests: bool):
    rest = vehicle_rest(load_any_vehicle("crazyflie_21"))
    scale = np.array([rest.beside_m, rest.beside_m, rest.above_m])
    assert (rest.needed_share(np.array(apart) * scale) >= 1) is np.True_ if rests else True
    assert bool(rest.needed_share(np.array(apart) * scale) >= 1) is rests


@pytest.mark.parametrize(
    ("obstacle", "place", "gap"),
    [
        (Obstacle("sphere", (0, 0, 1), None, 0.5), (2, 0, 1), 1.5),
        (Obstacle("capsule", (0, 0, 0), (0, 0, 2), 0.2), (1, 0, 1), 0.8),
        (Obstacle("capsule", (0, 0, 0), (0, 0, 2), 0.2), (0, 0, 3), 0.8),
        (Obstacle("box", (0, 0, 0), (1, 1, 1)), (2, 0.5, 0.5), 1.0),
        (Obstacle("box", (0, 0, 0), (1, 1, 1)), (0.5, 0.5, 0.5), 0.0),
    ],
)
def test_the_distance_from_an_obstacle(obstacle: Obstacle, place: tuple, gap: float):
    assert nearest_m(obstacle, np.array(place, float), False) == pytest.approx(gap)


def test_heights_do_not_count_for_a_robot_that_drives():
    assert nearest_m(Obstacle("capsule", (0, 0, 1), (0, 0, 2), 0.2), np.array([1.0, 0, 0]), True) == pytest.approx(0.8)


def test_the_page_of_vehicles_has_the_figures_of_the_filter(root: Path):
    """`robomarl list --rest` prints the table; the filter may have changed since."""
    page = (root / "docs" / "new_vehicle.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| ([-\d. |–]+) \|$", page, re.M))
    assert set(rows) == {path.stem for path in (root / "hardware_configs" / "vehicles").glob("*.yaml")}
    for name, cells in rows.items():
        vehicle = load_any_vehicle(name)
        told = [None if cell.strip() == "–" else float(cell) for cell in cells.split("|")]
        found = [*vehicle_rest(vehicle), *vehicle_margins(vehicle)]
        assert [a is None for a in told] == [b is None for b in found], name
        pairs = [(a, b) for a, b in zip(told, found, strict=True) if a is not None]
        assert all(abs(a - b) < 0.02 for a, b in pairs), f"{name}: {found}; run robomarl list --rest"


@pytest.mark.slow
def test_robots_arrive_at_goals_that_are_not_refused_and_not_at_nearer_ones():
    """On mujoco, with everything that the scenario randomizes; the figures are those of benchmarks/flight/goals.py."""
    pytest.importorskip("mujoco")
    from benchmarks.flight.goals import Options, main

    rest = rest_distances(PARAMS, AGE_S)
    assert rest.above_m is not None
    near, far = main(Options(row=(0.8 * rest.beside_m, 1.01 * rest.beside_m), stack=(), episodes=12))
    low, high = main(Options(row=(), stack=(0.8 * rest.above_m, 1.01 * rest.above_m), episodes=12))
    assert min(far["arrived_share"], high["arrived_share"]) >= 0.95
    assert max(near["arrived_share"], low["arrived_share"]) < 0.95
