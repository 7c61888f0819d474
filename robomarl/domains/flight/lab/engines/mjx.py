"""The `mjx` engine: the scenario's MuJoCo model on JAX, for accelerators and as a third opinion in
`check`.

One environment; `vmap` makes a batch. Controller, motors, drag and wind share their code with the
remaining engines. Contacts are left out: an episode is over as soon as two spheres touch or one
leaves the arena, which the scenario's own geometry finds, and a contact solver would take most of
the time of every step.
"""

import contextlib
import io

import jax
import jax.numpy as jnp
import mujoco

from robomarl.domains.flight.lab.engines.mjcf import build_model
from robomarl.domains.flight.lab.quadrotor import RigidVehicle, Vec3, drag, rotor_memory, rotor_targets, spin_rotors
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import Integrate
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.engines.delay import command_in_force

with contextlib.redirect_stdout(io.StringIO()):  # it prints that an optional backend is not installed
    from mujoco import mjx


def make_mjx(scenario: FlightScenario) -> Integrate:
    """The integration function of the scenario, for one environment."""
    vehicle, dt_s, substeps = scenario.vehicle_config, scenario.physics_dt_s, scenario.substeps
    model, blank = put_model(scenario)

    def run(world: FlightWorld, wind: Vec3) -> FlightWorld:
        physics = world.hidden.physics
        memory = rotor_memory(physics.rotor_tau_s, dt_s)
        own_model = model.replace(body_mass=model.body_mass.at[1:].set(physics.mass_kg))

        def substep(i: int, carry: tuple[mjx.Data, tuple]) -> tuple[mjx.Data, tuple]:
            data, rotors = carry
            body = _read(data, rotors)
            *accel, yaw_rate = command_in_force(world, i, substeps)
            targets = rotor_targets(vehicle, body.quat, body.omega, tuple(accel), yaw_rate)
            rotors = spin_rotors(rotors, targets, memory)
            thrust = jnp.stack(rotors, -1) * physics.thrust_scale[:, None]
            push = jnp.stack(drag(vehicle, vehicle.body.mass_kg, body.vel, wind), -1)
            force = jnp.zeros_like(data.xfrc_applied).at[1:, :3].set(push)
            return mjx.step(own_model, data.replace(ctrl=thrust.ravel(), xfrc_applied=force)), rotors

        data, rotors = jax.lax.fori_loop(0, substeps, substep, (_write(blank, world.body), world.body.rotors))
        return world._replace(body=_read(data, rotors))

    return run


def put_model(scenario: FlightScenario) -> tuple[mjx.Model, mjx.Data]:
    """The scenario's model without contacts on the JAX device, and data that belongs to it."""
    model = build_model(scenario)
    disable = mujoco.mjtDisableBit  # pyright: ignore[reportAttributeAccessIssue]
    model.opt.disableflags |= int(disable.mjDSBL_CONTACT) | int(disable.mjDSBL_SENSOR)
    on_device = mjx.put_model(model)
    return on_device, mjx.make_data(on_device)


def _write(data: mjx.Data, body: RigidVehicle) -> mjx.Data:
    place = jnp.stack([*body.pos, *body.quat], -1)
    motion = jnp.stack([*body.vel, *body.omega], -1)
    return data.replace(qpos=place.ravel(), qvel=motion.ravel())


def _read(data: mjx.Data, rotors: tuple) -> RigidVehicle:
    place, motion = data.qpos.reshape(-1, 7), data.qvel.reshape(-1, 6)
    p, m = [place[:, i] for i in range(7)], [motion[:, i] for i in range(6)]
    return RigidVehicle((p[0], p[1], p[2]), (p[3], p[4], p[5], p[6]), (m[0], m[1], m[2]), (m[3], m[4], m[5]), rotors)
