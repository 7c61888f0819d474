"""State that acts on a vehicle and that no robot observes, for the critic: without it a critic is blind for the 60
to 100 ms between a command and its effect. Array-generic.
"""

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld


def unseen(scenario: FlightScenario, world: FlightWorld) -> Array:
    """Return [..., N, U]: commands in flight, rotors, the low-level controller's memory, gusts and
    randomized parameters.

    Rotors are over their largest thrust, randomized parameters over their nominal value, all else is
    in SI units.
    """
    vehicle, hidden = scenario.vehicle_config, world.hidden
    xp, like = namespace(world.goal_m), world.goal_m[..., 0] * 0
    in_flight = [command[..., i] for command in world.queue for i in range(command.shape[-1])]
    rotors = [thrust / vehicle.rotors.max_thrust_n for thrust in world.body.rotors]
    drawn = [
        hidden.physics.mass_kg / vehicle.body.mass_kg,
        hidden.physics.thrust_scale,
        hidden.physics.rotor_tau_s / vehicle.rotors.time_constant_s,
        hidden.delay_substeps * scenario.physics_dt_s,
    ]
    parts = [*in_flight, *rotors, *leaves(world.control), *world.gust_m_s, *drawn]
    return xp.stack([like + part for part in parts], -1)


def leaves(parts: Array | tuple) -> list[Array]:
    """The arrays of nested tuples, in order."""
    return [leaf for part in parts for leaf in leaves(part)] if isinstance(parts, tuple) else [parts]
