"""The model-based controller of a load: the shared-out pulls make the wrench, and the load gets to its goal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robomarl.core.geometry import quat_multiply, rotation_matrix
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload.controllers.centralized import LoadPosePolicy, limit
from robomarl.domains.flight.lab.payload.controllers.force_allocation import CableRig, Spread, allocate, grasp, rig_of
from robomarl.domains.flight.lab.payload.follow import pose_errors
from robomarl.domains.flight.lab.payload.lift import failed
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.sim.scenario import load_scenario

angle = st.floats(-0.5, 0.5)


@pytest.fixture(scope="module")
def scenario() -> FlightScenario:
    return load_scenario("lift_3")


@pytest.fixture(scope="module")
def rig(scenario: FlightScenario) -> CableRig:
    return rig_of(scenario)


def attitude(roll: float, pitch: float) -> np.ndarray:
    about_y = np.array([[np.cos(pitch / 2), 0, np.sin(pitch / 2), 0]])
    return rotation_matrix(quat_multiply(about_y, np.array([[np.cos(roll / 2), np.sin(roll / 2), 0, 0]])))


@given(angle, angle, st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_the_pulls_make_the_wrench(rig: CableRig, roll: float, pitch: float, extra: list[float]) -> None:
    rot = attitude(roll, pitch)
    wrench = np.array([[0, 0, rig.mass_kg * 9.81, 0, 0, 0]]) + 0.2 * np.array([extra])
    pull = allocate(rig, Spread(), rot, wrench, np.full((1, 3), rig.even_n))
    arm = (rig.point_m - rig.com_m) @ rot[0].T
    np.testing.assert_allclose(grasp(arm) @ pull.ravel(), wrench[0], atol=1e-6)
    np.testing.assert_allclose(pull.sum(1), wrench[:, :3], atol=1e-6)
    np.testing.assert_allclose(np.cross(arm, pull[0]).sum(0), wrench[0, 3:], atol=1e-6)


@given(angle, angle)
def test_a_load_at_rest_leaves_room_between_the_vehicles(rig: CableRig, roll: float, pitch: float) -> None:
    rot = attitude(roll, pitch)
    weight = np.array([[0, 0, rig.mass_kg * 9.81, 0, 0, 0]])
    tension = np.full((1, 3), rig.even_n)
    for _ in range(5):
        pull = allocate(rig, Spread(), rot, weight, tension)
        tension = np.linalg.norm(pull, axis=-1)
    place = rig.point_m @ rot[0].T + rig.reach_m * pull[0] / tension[0, :, None]
    gaps = np.linalg.norm(place[[0, 0, 1]] - place[[1, 2, 2]], axis=-1)
    assert gaps.min() > 0.8
    assert (pull[..., 2] > 0.1 * rig.even_n).all()


def test_limit_shortens_only_what_is_too_long() -> None:
    np.testing.assert_allclose(limit(np.array([[3.0, 4.0, 0.0], [0.3, 0.4, 0.0]]), 1.0), [[0.6, 0.8, 0], [0.3, 0.4, 0]])


def test_the_load_settles_at_its_goal_in_nominal_conditions(scenario: FlightScenario) -> None:
    nominal = (
        *("mass_scale=1", "thrust_scale=1", "rotor_tau_scale=1", "delay_s=0", "noise_scale=0", "load_mass_scale=1"),
        *("load_com_m=0", "cable_scale=1", "attachment_m=0", "wind_m_s=0", "gust_m_s=0"),
    )
    scenario = perturbed(scenario, nominal)
    team = make_team(scenario, "fast", 6, seed=3)
    team.reset()
    pilot = make_pilot(LoadPosePolicy(scenario), scenario, "off")
    carry, hurt = pilot.init(team.views()), np.zeros(6, bool)
    for _ in range(scenario.max_steps):
        carry, result = pilot.step(carry, team.views())
        hurt |= np.asarray(failed(scenario, team.step(result.command)))
    distance, turned = pose_errors(team.world)
    assert not hurt.any()
    assert np.max(distance) < 0.02
    assert np.degrees(np.max(turned)) < 3.0
