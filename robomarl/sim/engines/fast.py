"""The `fast` engine: closed-form rigid-body dynamics, one fused loop over all vehicles, for training."""

import jax

from robomarl.sim.quadrotor import Body, Vec3, integrate, rotor_memory, rotor_targets, spin_rotors
from robomarl.sim.scenario import Scenario
from robomarl.sim.world import Integrate, World, command_in_force


def make_fast(scenario: Scenario) -> Integrate:
    """The integration function of the scenario: `world.body` through `scenario.substeps` sub-steps."""
    vehicle, dt_s, substeps = scenario.vehicle_config, scenario.physics_dt_s, scenario.substeps

    def run(world: World, wind: Vec3) -> Body:
        physics = world.hidden.physics
        memory = rotor_memory(physics.rotor_tau_s, dt_s)

        def substep(i: int, body: Body) -> Body:
            *accel, yaw_rate = command_in_force(world, i, substeps)
            targets = rotor_targets(vehicle, body.quat, body.omega, tuple(accel), yaw_rate)
            rotors = spin_rotors(body.rotors, targets, memory)
            return integrate(vehicle, body._replace(rotors=rotors), physics, wind, dt_s)

        return jax.lax.fori_loop(0, substeps, substep, world.body)

    return run
