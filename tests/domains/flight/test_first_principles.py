"""The plant that training never saw is the published one, and a team flies on it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.flight import first_principles as plant
from robomarl.core.geometry import rotation_matrix
from robomarl.domains.flight.lab.goto import GotoPolicy
from robomarl.lab.evaluate.evaluate import evaluate_on
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.sim.scenario import load_scenario

# A state for which drone-models and drone-controllers 0.1.0 gave the numbers below (cf2x_L250).
QUAT = np.array([0.98, 0.12, -0.09, 0.13]) / np.linalg.norm([0.98, 0.12, -0.09, 0.13])
OMEGA, BEFORE = np.array([0.4, 0.0, 0.2]), np.array([0.3, -0.2, 0.2])
FORCE_N, YAW_RAD = np.array([0.03, -0.02, 0.33]), np.array(0.2)
RPM, VEL_M_S = np.array([15000.0, 17000.0, 16000.0, 18000.0]), np.array([0.5, -0.4, 0.3])
WANTED_RPM = [22522.543015940802, 21691.957311995284, 19971.040979631132, 8398.025166555306]
ACCEL = [-1.2961437993168707, -1.713020582972062, -2.9422253880391613]
SPIN = [29.331786804694865, -2.186380345905489, -6.931793250887689]
SPIN_UP = [55332.99570866829, 34512.27241369528, 29209.483152074077, -61958.635102283435]


def test_the_controller_is_the_published_one():
    control = plant.AttitudeControl(YAW_RAD, BEFORE)
    wanted = control(rotation_matrix(QUAT), OMEGA, FORCE_N, np.array(0.0))
    np.testing.assert_allclose(wanted, WANTED_RPM, rtol=1e-9)


def test_the_vehicle_is_the_published_one():
    spin_up = plant.rotor_acceleration(RPM, np.array(WANTED_RPM))
    thrust = plant.thrust_of(RPM)
    accel = plant.net_force(QUAT, thrust, VEL_M_S) / plant.MASS_KG - [0, 0, 9.81]
    spin = plant.net_torque(thrust, RPM, spin_up, OMEGA) / plant.INERTIA_KG_M2
    np.testing.assert_allclose(spin_up, SPIN_UP, rtol=1e-9)
    np.testing.assert_allclose(accel, ACCEL, atol=2e-4)
    np.testing.assert_allclose(spin, SPIN, rtol=1e-6)


def test_rotor_speeds_and_thrusts_are_inverse():
    np.testing.assert_allclose(plant.rpm_for(plant.thrust_of(RPM)), RPM, rtol=1e-12)


def test_a_controller_that_knows_its_error_arrives_and_stays():
    """The plant is 3 % lighter than the vehicle file says: without an integral it would hang too high."""
    scenario = replace(load_scenario("swap_4"), count=1, time_limit_s=6.0)
    team = plant.FirstPrinciplesTeam(scenario, 2, 0)
    config = EvalConfig("first_principles", 2, filter="off", hover_s=4.0, progress=False)
    figures = evaluate_on(team, GotoPolicy(scenario), config).figures
    assert figures["success_rate"] == 1.0
    assert figures["hover_error_m"] == pytest.approx(0.0, abs=0.05)
