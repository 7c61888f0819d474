"""The `mujoco` engine: MuJoCo in C, many teams side by side, for verification and as the robots behind ROS.

Each sub-step runs the low-level controller and the motors for all vehicles at once in numpy, and then one
MuJoCo step of every team in a thread pool (`mujoco.rollout`). MuJoCo mixes rotor thrusts itself, through the
sites of the model; drag and wind are applied as world forces at the centre of mass. No JAX here.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import copy

import mujoco
import numpy as np

from robomarl.domains.flight.lab.engines.mjcf import build_model, contact_pairs
from robomarl.domains.flight.lab.quadrotor import (
    RigidVehicle,
    Vec3,
    Vec4,
    drag,
    rotor_memory,
    rotor_targets,
    spin_rotors,
)
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.engines.delay import command_in_force
from robomarl.lab.sim.engines.rollouts import Rollouts

_INPUT = int(mujoco.mjtState.mjSTATE_CTRL) | int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)


class MujocoBodies:
    """The engine's `Integrate`: moves the bodies of E teams through the sub-steps of one decision.

    `contact` says for each team whether, within the last decision, MuJoCo has found a robot touching another one
    or an obstacle.
    """

    def __init__(self, scenario: FlightScenario, num_envs: int, threads: int | None = None) -> None:
        """Compile the model.

        Args:
            scenario: the simulated scenario.
            num_envs: E, teams side by side.
            threads: in MuJoCo's pool; by default one for each of at most 8 cores, and none for one team.
        """
        self._scenario = scenario
        self._model = build_model(scenario)
        self._num_bodies = scenario.count + (1 if scenario.load else 0)
        self._batch = Rollouts(self._model, num_envs, _INPUT, steps=1, threads=threads)
        count, size = scenario.count, 1 + 13 * self._num_bodies
        assert self._batch.state.shape[1] == size, "the model holds more than free bodies"
        self._thrust = self._batch.input[:, 0, : 4 * count].reshape(num_envs, count, 4)
        self._outside = self._batch.input[:, 0, 4 * count :].reshape(num_envs, 1 + self._num_bodies, 6)
        self._force = self._outside[:, 1 : 1 + count, :3]
        self._pairs = len(contact_pairs(scenario))
        self.contact = np.zeros(num_envs, bool)
        self._masses_kg = np.empty(0)

    def prepare(self, world: FlightWorld) -> None:
        """Take over the randomized parameters of the episodes that begin."""
        self.contact[:] = False
        self.set_masses(np.asarray(world.hidden.physics.mass_kg))

    def set_masses(self, mass_kg: np.ndarray) -> None:
        """Give every vehicle its own mass, [E, N]; the models are rebuilt where that is needed."""
        if np.array_equal(mass_kg, self._masses_kg):
            return  # a world that was changed by hand is still that of the same vehicles
        self._masses_kg = mass_kg.copy()
        bodies = [self._model.body(f"robot{i}").id for i in range(self._scenario.count)]
        if np.allclose(mass_kg, self._model.body_mass[bodies], rtol=1e-7):
            self._batch.models = [self._model] * len(mass_kg)
            return
        self._batch.models = self._copies()
        for model, masses in zip(self._batch.models, mass_kg, strict=True):
            model.body_mass[bodies] = masses
            mujoco.mj_setConst(model, self._batch.scratch)

    def _copies(self) -> list[mujoco.MjModel]:
        return [copy.copy(self._model) for _ in range(len(self._batch.state))]

    def __call__(self, world: FlightWorld, wind: Vec3) -> FlightWorld:
        """The world one decision later; see `robomarl.domains.flight.lab.step.Integrate`."""
        scenario, physics = self._scenario, world.hidden.physics
        vehicle, rotors = scenario.vehicle_config, world.body.rotors
        memory = rotor_memory(physics.rotor_tau_s, scenario.physics_dt_s)
        self._write(world.body)
        self.contact[:] = False
        for i in range(scenario.substeps):
            body = self._read(rotors)
            rotors = spin_rotors(rotors, self.rotor_targets(world, body, i), memory)
            for k, thrust in enumerate(rotors):
                self._thrust[..., k] = thrust * physics.thrust_scale
            for k, push in enumerate(drag(vehicle, vehicle.body.mass_kg, body.vel, wind)):
                self._force[..., k] = push
            self._substep()
        dtype = world.goal_m.dtype
        final = self._read(rotors)
        return world._replace(body=RigidVehicle(*(tuple(c.astype(dtype) for c in part) for part in final)))

    def rotor_targets(self, world: FlightWorld, body: RigidVehicle, substep: int) -> Vec4:
        """Return the thrust [N] wanted by the low-level controllers in a sub-step: [E, N] of each of the four
        rotors.
        """
        *accel, yaw_rate = command_in_force(world, np.asarray(substep), self._scenario.substeps)
        return rotor_targets(self._scenario.vehicle_config, body.quat, body.omega, tuple(accel), yaw_rate)

    def _substep(self) -> None:
        self._batch.step()
        self.contact |= (self._batch.sensed[:, 0, : self._pairs] > 0).any(-1)

    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Views into the state: [E, N, 7] position and attitude, [E, N, 6] velocity and body rates."""
        state, count, bodies = self._batch.state, self._scenario.count, self._num_bodies
        place = state[:, 1 : 1 + 7 * bodies].reshape(-1, bodies, 7)
        motion = state[:, 1 + 7 * bodies :].reshape(-1, bodies, 6)
        return place[:, :count], motion[:, :count]

    def _write(self, body: RigidVehicle) -> None:
        place, motion = self._parts()
        place[:] = np.stack([*body.pos, *body.quat], -1)
        motion[:] = np.stack([*body.vel, *body.omega], -1)

    def _read(self, rotors: tuple) -> RigidVehicle:
        place, motion = self._parts()
        p, m = np.moveaxis(place, -1, 0).copy(), np.moveaxis(motion, -1, 0).copy()
        return RigidVehicle(
            (p[0], p[1], p[2]), (p[3], p[4], p[5], p[6]), (m[0], m[1], m[2]), (m[3], m[4], m[5]), rotors
        )
