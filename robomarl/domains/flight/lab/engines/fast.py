"""The `fast` engine: closed-form rigid-body dynamics, one fused loop over all vehicles, for training."""

import jax

from robomarl.core.types import Array
from robomarl.core.vectors import Vec3
from robomarl.domains.flight.core.control.indi import Control, Reading, control_rotors
from robomarl.domains.flight.core.control.mixer import wrench
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig
from robomarl.domains.flight.lab.payload.dynamics import (
    air_on_load,
    move_load,
    pull_on_load,
    pull_on_vehicles,
    spring_tension,
    stretch_out,
)
from robomarl.domains.flight.lab.payload.state import Rigid
from robomarl.domains.flight.lab.quadrotor import (
    RigidVehicle,
    drag,
    integrate,
    move,
    rotor_memory,
    rotor_targets,
    spin_rotors,
)
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import Integrate
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.engines.delay import command_in_force


def make_fast(scenario: FlightScenario) -> Integrate:
    """The integration function of the scenario: everything that moves through `scenario.substeps` sub-steps."""
    if scenario.load is None or scenario.cables is None:
        return free_team(scenario)
    return carrying_team(scenario, scenario.load, scenario.cables)


def free_team(scenario: FlightScenario) -> Integrate:
    """Vehicles that carry nothing."""
    vehicle, dt_s, substeps = scenario.vehicle_config, scenario.physics_dt_s, scenario.substeps

    def run(world: FlightWorld, wind: Vec3) -> FlightWorld:
        physics = world.hidden.physics
        memory = rotor_memory(physics.rotor_tau_s, dt_s)

        def substep(i: int, body: RigidVehicle) -> RigidVehicle:
            *accel, yaw_rate = command_in_force(world, i, substeps)
            targets = rotor_targets(vehicle, body.quat, body.omega, tuple(accel), yaw_rate)
            rotors = spin_rotors(body.rotors, targets, memory)
            return integrate(vehicle, body._replace(rotors=rotors), physics, wind, dt_s)

        return world._replace(body=jax.lax.fori_loop(0, substeps, substep, world.body))

    return run


Moving = tuple[RigidVehicle, Control, Rigid, Array]
"""Vehicles, their controllers' memory, the load, the cables' tension."""


def carrying_team(scenario: FlightScenario, load: LoadConfig, cables: CableConfig) -> Integrate:
    """Vehicles under a load."""
    vehicle, dt_s, substeps = scenario.vehicle_config, scenario.physics_dt_s, scenario.substeps

    def run(world: FlightWorld, wind: Vec3) -> FlightWorld:
        physics, carried = world.hidden.physics, world.carried
        cargo = carried.cargo
        memory = rotor_memory(physics.rotor_tau_s, dt_s)
        now = (world.step * scenario.period_s)[..., None]
        whole, turning = (now < cargo.cut_s) * 1.0, (now < cargo.off_s) * 1.0

        def substep(i: int, moving: Moving) -> Moving:
            body, control, rigid, _ = moving
            reading = Reading(body.quat, body.vel, body.omega, body.rotors)
            command = command_in_force(world, i, substeps)
            control, targets = control_rotors(vehicle, control, reading, command, dt_s, scenario.command)
            body = body._replace(rotors=spin_rotors(body.rotors, tuple(t * turning for t in targets), memory))
            found = stretch_out(cables, body, rigid, cargo)
            tension = spring_tension(cables, found, cargo, whole)
            force, torque = pull_on_vehicles(cables, body, found, tension)
            push = add(force, drag(vehicle, vehicle.body.mass_kg, body.vel, wind))
            thrust, _ = wrench(vehicle, body.rotors, physics.thrust_scale)
            air, spin = air_on_load(load, body, rigid, thrust, wind)
            pull, twist = pull_on_load(rigid, found, tension)
            rigid = move_load(load, rigid, cargo, (add(pull, air), add(twist, spin)), dt_s)
            return move(vehicle, body, physics, (push, torque), dt_s), control, rigid, tension

        first = (world.body, world.control, carried.rigid, carried.tension_n)
        body, control, rigid, tension = jax.lax.fori_loop(0, substeps, substep, first)
        return world._replace(body=body, control=control, load=carried._replace(rigid=rigid, tension_n=tension))

    return run


def add(a: Vec3, b: Vec3) -> Vec3:
    """Sum of two vectors."""
    return tuple(x + y for x, y in zip(a, b, strict=True))
