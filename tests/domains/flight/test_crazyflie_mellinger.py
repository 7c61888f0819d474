"""The controller behind the Crazyflie's peer is the published one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robomarl.domains.flight.ros_nodes.crazyflie_peer.mellinger import MellingerGains, Wanted, mellinger, mellinger_rest
from robomarl.ros_nodes.adapters.conversion.frames import xyzw
from robomarl.ros_nodes.io.messages import Estimate

COUNT, DT_S = 20, 0.004


def test_it_is_the_controller_of_drone_controllers():
    pytest.importorskip("drone_controllers")
    from drone_controllers.core import parametrize
    from drone_controllers.mellinger import attitude2force_torque, state2attitude

    outer: Any = parametrize(state2attitude, "cf2x_L250")
    inner: Any = parametrize(attitude2force_torque, "cf2x_L250")
    rng, gains, memory = np.random.default_rng(0), MellingerGains(), mellinger_rest(COUNT)
    errors: list = [(None, None, np.zeros(3))] * COUNT
    arms = np.array([gains.arm_m, gains.arm_m, gains.torque_per_thrust_m])
    mixing = np.array([[-1.0, -1, 1, 1], [-1, 1, 1, -1], [-1, 1, -1, 1]])
    for _ in range(5):
        quat = np.array([1.0, 0, 0, 0]) + rng.normal(size=(COUNT, 4)) * 0.2
        quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
        pos, vel, omega = rng.normal(size=(3, COUNT, 3)) * 0.5
        goal, speed, accel = rng.normal(size=(3, COUNT, 3)) * 0.5
        yaw = rng.uniform(-3, 3, COUNT)
        wanted = Wanted(goal, speed, accel, yaw, np.zeros((COUNT, 2)), np.full(COUNT, np.nan))
        memory, rotors = mellinger(gains, memory, Estimate(pos, quat, vel, omega), wanted, DT_S)
        for i in range(COUNT):
            state = (pos[i], xyzw(quat[i]), vel[i], omega[i])
            order = np.concatenate([goal[i], speed[i], accel[i], [yaw[i], 0, 0, 0]])
            before_pos, before_turn, before_omega = errors[i]
            tilt, total = outer(*state, order, ctrl_errors=before_pos, ctrl_freq=1 / DT_S)
            force, torque, turned = inner(
                *state, tilt, prev_ang_vel=before_omega, ctrl_errors=before_turn, ctrl_freq=1 / DT_S
            )
            errors[i] = ((total,), (turned,), omega[i])
            assert force[0] == pytest.approx(rotors[i].sum(), abs=1e-6)
            np.testing.assert_allclose(torque, (mixing @ rotors[i]) * arms, atol=1e-6)


def test_a_vehicle_at_its_place_hovers_on_what_it_believes_to_weigh():
    gains = replace(MellingerGains(), mass_kg=0.033)
    still, level = np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]])
    wanted = Wanted(still, still, still, np.zeros(1), np.zeros((1, 2)), np.full(1, np.nan))
    _, rotors = mellinger(gains, mellinger_rest(1), Estimate(still, level, still, still), wanted, DT_S)
    assert rotors.sum() == pytest.approx(0.033 * 9.81, rel=0.04)  # the firmware's two thrust constants differ
    assert np.ptp(rotors) < 1e-9
