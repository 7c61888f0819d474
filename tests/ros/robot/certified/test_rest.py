"""Where certified robots rest: from each other, from walls; goals nearer than that are refused with the numbers."""

import numpy as np
import pytest

from robomarl.core.certificate.figures import figures_of
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.goals.rest import vehicle_rest
from robomarl.core.goals.room import spacing_faults
from robomarl.core.hardware.vehicle import load_any_vehicle, load_vehicle
from robomarl.ros.preflight.price import price_of
from robomarl.ros.robot.assembly import goal_limits
from robomarl.ros.robot.certified.carry import TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.rest import rest_of, team_faults

VEHICLE = load_vehicle("crazyflie_21")


def test_goals_keep_the_distance_of_references():
    rest, near = rest_of(VEHICLE, "certificate")
    assert rest.beside_m == pytest.approx(0.549, abs=2e-3)
    assert rest.above_m == pytest.approx(1.041, abs=2e-3)
    assert rest_of(VEHICLE, "full")[0] == vehicle_rest(VEHICLE)
    place = np.array([0.0, 0.0, 1.5])
    for away, fits in (((0.54, 0, 0), False), ((0.56, 0, 0), True), ((0, 0, 1.02), False), ((0, 0, 1.05), True)):
        faults = spacing_faults(rest, {"a": place, "b": place + away})
        assert bool(faults) != fits
        assert fits or f"{rest.beside_m:.3g} m" in faults[0] and f"{max(away):.3g} m" in faults[0]
    told = price_of(VEHICLE, "certificate")
    assert "0.55 m beside and 1.04 m above" in told and f"rests {near.wall_m:.2f} m from a wall" in told


@pytest.mark.parametrize("name", ["turtlebot3_burger", "ssl_omni"])
def test_robots_that_drive_rest_as_their_front_lets_them(name: str):
    """Twice radius, tube and look-ahead, and 1 cm and what their front takes for an error of velocities; no above."""
    vehicle = load_any_vehicle(name)
    rest, near = rest_of(vehicle, "certificate")
    params = from_vehicle(vehicle, 0.02)
    tube_m = figures_of(params, vehicle.body.radius_m).learned.radius_m
    kept_m = 2 * (vehicle.body.radius_m + params.look_ahead_m + tube_m) + 0.01
    assert rest.above_m is None and near.floor_m is None
    assert kept_m < rest.beside_m < kept_m + 0.06
    assert near.wall_m > params.look_ahead_m + 0.05


def test_a_goal_by_a_wall_is_refused_with_the_room_that_references_have():
    params = from_vehicle(VEHICLE, 0.02, Arena((-3.0, -3.0, 0.1), (3.0, 3.0, 3.0)))
    limits = goal_limits(CertifiedRobot(params, VEHICLE.body.radius_m, TeamSeat(0, [1])), True)  # pyright: ignore
    assert limits.fault(np.array([2.78, 0.0, 1.5])) == ""
    fault = limits.fault(np.array([2.95, 0.0, 1.5]))
    assert "x = 2.95 m" in fault and "0.17, 0.17, 0.30 m from the arena's walls" in fault


def test_of_two_unlike_robots_the_one_that_keeps_more_decides():
    """Crazyflies beside a carrier lead by its room: 0.65 m from each other, farther from the carrier itself."""
    kinds = [VEHICLE, load_vehicle("carrier_600")]
    small, large = (rest_of(kind, "certificate", kinds)[0] for kind in kinds)
    assert small.beside_m == pytest.approx(0.65, abs=0.005) and large.beside_m > small.beside_m + 0.05
    assert small.beside_m > rest_of(VEHICLE, "certificate")[0].beside_m
    rest = {"a": small, "b": small, "c": large}
    between = (small.beside_m + large.beside_m) / 2
    goals = {"a": np.array([0.0, 0, 1]), "b": np.array([0.0, between, 1]), "c": np.array([between, 0.0, 1])}
    assert [fault[: len("the goals of a and c")] for fault in team_faults(rest, goals)] == ["the goals of a and c"]
    near = {**goals, "b": np.array([-0.1, 0.0, 1])}
    first, second = team_faults(rest, near)
    assert "a and b" in first and f"{small.beside_m:.3f} m" in first
    assert "a and c" in second and f"{large.beside_m:.3f} m" in second
