"""`point_masses`: robots as weightless points of 1 kg in MuJoCo; the command is their acceleration."""

import numpy as np

from robomarl.core.types import Array
from robomarl.lab.sim.model.model import Mujoco
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.scenario import Scenario

AXES = ("1 0 0", "0 1 0", "0 0 1")


def point_masses(scenario: Scenario) -> Mujoco:
    """A body on three slides for each robot; the first three elements of a command are its acceleration, world."""
    robots = range(scenario.count)
    slides = [
        [f'<joint name="slide{i}{k}" type="slide" axis="{axis}"/>' for k, axis in enumerate(AXES)] for i in robots
    ]
    geom = '<geom size="0.05" mass="1" contype="0" conaffinity="0"/>'
    bodies = "".join(f"<body>{''.join(slides[i])}{geom}</body>" for i in robots)
    motors = "".join(f'<motor joint="slide{i}{k}"/>' for i in robots for k in range(3))
    world = f'<option gravity="0 0 0"/><worldbody>{bodies}</worldbody>'
    return Mujoco(f"<mujoco>{world}<actuator>{motors}</actuator></mujoco>", _joints, _moved, _control)


def _joints(world: TeamWorld) -> tuple[Array, Array]:
    return _flat(world.pos_m), _flat(world.vel_m_s)


def _moved(world: TeamWorld, qpos: Array, qvel: Array) -> TeamWorld:
    shape = world.pos_m.shape
    return world._replace(pos_m=qpos.reshape(shape), vel_m_s=qvel.reshape(shape))


def _control(world: TeamWorld, command: Array) -> Array:
    return _flat(command[..., :3])


def _flat(part: Array) -> np.ndarray:
    return np.asarray(part).reshape(len(part), -1)
