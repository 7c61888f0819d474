"""Vehicles under a load on the `mujoco` engine: cables are tendons of limited length, solved as soft constraints."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
from typing import TypeVar

import mujoco
import numpy as np
from numpy.typing import DTypeLike

from robomarl.core.vectors import Vec3, to_world
from robomarl.domains.flight.core.control.indi import Reading, control_rotors
from robomarl.domains.flight.core.control.mixer import wrench
from robomarl.domains.flight.lab.engines.mujoco_bodies import MujocoBodies
from robomarl.domains.flight.lab.payload.dynamics import air_on_load
from robomarl.domains.flight.lab.payload.state import Rigid
from robomarl.domains.flight.lab.quadrotor import RigidVehicle, drag, rotor_memory, spin_rotors
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.engines.delay import command_in_force

T = TypeVar("T", bound=tuple)

LONG_M = 1e3
"""Length of a cable that has been cut."""


class MujocoCarriers(MujocoBodies):
    """The engine's `Integrate` for a scenario with a load."""

    def prepare(self, world: FlightWorld) -> None:
        """Give every team its own masses, points of attachment and cables."""
        load = world.carried
        self.contact[:] = False
        self._batch.models = self._copies()
        mass, scratch = np.asarray(world.hidden.physics.mass_kg), self._batch.scratch
        nominal, _ = self._scenario.carried
        cargo = load.cargo
        points = np.stack(cargo.point_m, -1) - np.stack(cargo.com_m, -1)[:, None]
        for i, model in enumerate(self._batch.models):
            self._fit(model, mass[i], cargo.mass_kg[i] / nominal.mass_kg, points[i])
            mujoco.mj_setConst(model, scratch)
            model.tendon_range[:, 1] = cargo.length_m[i]

    def _fit(self, model: mujoco.MjModel, masses: np.ndarray, scale: float, points: np.ndarray) -> None:
        count, body = self._scenario.count, model.body("load").id
        model.body_mass[[model.body(f"robot{k}").id for k in range(count)]] = masses
        model.body_mass[body] *= scale
        model.body_inertia[body] *= scale
        sites = [model.site(f"load_point{k}").id for k in range(count)]
        # The body's frame is at the centre of mass: where that moves, everything else on the load moves back.
        model.geom_pos[model.geom("load").id] += (points - model.site_pos[sites]).mean(0)
        model.site_pos[sites] = points

    def __call__(self, world: FlightWorld, wind: Vec3) -> FlightWorld:
        """Everything that moves one decision later; see `robomarl.domains.flight.lab.step.Integrate`."""
        scenario, physics, load = self._scenario, world.hidden.physics, world.carried
        vehicle, dt_s, rotors, control = (
            scenario.vehicle_config,
            scenario.physics_dt_s,
            world.body.rotors,
            world.control,
        )
        memory, now = rotor_memory(physics.rotor_tau_s, dt_s), (world.step * scenario.period_s)[..., None]
        turning = now < load.cargo.off_s
        self._cut(now >= load.cargo.cut_s)
        self._write(world.body)
        self._write_load(load.rigid)
        self.contact[:] = False
        for i in range(scenario.substeps):
            body = self._read(rotors)
            reading = Reading(body.quat, body.vel, body.omega, rotors)
            command = command_in_force(world, np.asarray(i), scenario.substeps)
            control, targets = control_rotors(vehicle, control, reading, command, dt_s, scenario.command)  # pyright: ignore[reportArgumentType]
            rotors = spin_rotors(rotors, tuple(t * turning for t in targets), memory)
            for k, thrust in enumerate(rotors):
                self._thrust[..., k] = thrust * physics.thrust_scale
            for k, push in enumerate(drag(vehicle, vehicle.body.mass_kg, body.vel, wind)):
                self._force[..., k] = push
            self._blow(body._replace(rotors=rotors), world, wind)
            self._substep()
        dtype = world.goal_m.dtype
        tension = np.abs(self._batch.sensed[:, 0, self._pairs :]).astype(dtype)
        load = load._replace(rigid=_cast(self._read_load(), dtype), tension_n=tension)
        return world._replace(body=_cast(self._read(rotors), dtype), control=_cast(control, dtype), load=load)

    def _cut(self, cut: np.ndarray) -> None:
        for env, cable in zip(*np.nonzero(cut), strict=True):
            self._batch.models[env].tendon_range[cable, 1] = LONG_M

    def _blow(self, body: RigidVehicle, world: FlightWorld, wind: Vec3) -> None:
        """Wind, drag and wash on the load."""
        (nominal, _), rigid = self._scenario.carried, self._read_load()
        thrust, _ = wrench(self._scenario.vehicle_config, body.rotors, world.hidden.physics.thrust_scale)
        force, spin = air_on_load(nominal, body, rigid, thrust, wind)
        for k, value in enumerate((*force, *to_world(rigid.quat, spin))):
            self._outside[:, -1, k] = value

    def _load_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Views into the state: [E, 7] position and attitude, [E, 6] velocity and angular velocity."""
        return self._batch.state[:, 1 + 7 * self._scenario.count : 1 + 7 * self._num_bodies], self._batch.state[:, -6:]

    def _write_load(self, rigid: Rigid) -> None:
        place, motion = self._load_parts()
        place[:] = np.stack([*rigid.pos, *rigid.quat], -1)
        motion[:] = np.stack([*rigid.vel, *rigid.omega], -1)

    def _read_load(self) -> Rigid:
        place, motion = self._load_parts()
        p, m = place.T.copy(), motion.T.copy()
        return Rigid((p[0], p[1], p[2]), (p[3], p[4], p[5], p[6]), (m[0], m[1], m[2]), (m[3], m[4], m[5]))


def _cast(parts: T, dtype: DTypeLike) -> T:
    """A NamedTuple of tuples of components in the precision of the rest of the world."""
    return type(parts)(*(tuple(np.asarray(c, dtype) for c in part) for part in parts))
