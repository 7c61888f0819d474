"""Compares our controller of the Crazyflie's peer with that of `drone-controllers`; an error where they differ."""

from typing import Any

import numpy as np
from drone_controllers.core import parametrize
from drone_controllers.mellinger import attitude2force_torque, state2attitude

from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import xyzw
from robomarl_peers.crazyflie.mellinger import MellingerGains, Wanted, mellinger, mellinger_rest

COUNT, DT_S = 20, 0.004


def compare() -> None:
    """Fly both through the same random states."""
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
            np.testing.assert_allclose(force[0], rotors[i].sum(), atol=1e-6)
            np.testing.assert_allclose(torque, (mixing @ rotors[i]) * arms, atol=1e-6)


if __name__ == "__main__":
    compare()
