"""`advance`: the step of a `FlightWorld` to the next decision, array-generic.

Engines differ in one function only, `Integrate`, which moves the bodies through the sub-steps.
Commands in flight, sensing, radio and wind share one code. Randomness comes in as arrays of
uniform draws in [0, 1), so that JAX keys and numpy generators both serve.

Shapes: `...` is the batch of environments (empty inside `vmap`), N the robots, K = N - 1 their
teammates.
"""

import math
from collections.abc import Callable

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import Plan
from robomarl.domains.flight.lab.payload.follow import LOAD_STEP_DRAWS, follow_load
from robomarl.domains.flight.lab.quadrotor import RigidVehicle, Vec3
from robomarl.domains.flight.lab.residual import wind_that_pushes
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld, StateEstimates, positions, velocities
from robomarl.lab.sim.message import Air, Message, braking_plan, deliver, mates_of, with_plan

Integrate = Callable[[FlightWorld, Vec3], FlightWorld]
"""(world with the new command queued, wind [m/s]) -> the world with all moving parts one decision later."""
Part = Callable[[FlightScenario, FlightWorld, FlightWorld, Array], FlightWorld]
"""(scenario, world before, world after, all draws of the decision) -> world after, an optional part brought up to
date."""


def num_step_draws(scenario: FlightScenario) -> int:
    """Uniform draws per robot and decision: 6 for noise, 3 for gusts, one for each team-mate, and the load's."""
    return 9 + scenario.count - 1 + (LOAD_STEP_DRAWS if scenario.load else 0)


def parts_of(scenario: FlightScenario) -> tuple[Part, ...]:
    """The optional parts that this scenario's world has."""
    return (follow_load,) if scenario.load else ()


def advance(
    scenario: FlightScenario,
    world: FlightWorld,
    command: Array,
    draws: Array,
    integrate: Integrate,
    plan: Plan | None = None,
) -> FlightWorld:
    """Advance the whole team by one decision.

    Args:
        scenario: fixed numbers.
        world: the state before.
        command: [..., N, A] acceleration (world, m/s^2) and yaw rate (rad/s), under a load roll and
            pitch rate; clipped to the vehicle's limits.
        draws: [..., N, D] uniform in [0, 1), D = `num_step_draws`.
        integrate: the engine.
        plan: [..., N, 3] each: plans that the robots' filters committed to with this command, for a
            world `with_plans`.

    Returns:
        The state one period later; `arrived_s` and `closest_m` are updated here, rewards are the
            task's.
    """
    before, world = world, moved(scenario, world, command, draws, integrate)
    measured = measure(scenario, world.body, world.hidden.noise_scale, draws[..., :6])
    on_air = (_message(scenario, world, measured), *with_plan(world.sent, plan))
    world = world._replace(
        closest_m=closest_approach(before.body, world.body),
        measured=measured,
        sent=on_air[: len(world.sent)],
        air=receive(scenario, world, on_air[-1], draws[..., 9 : 8 + scenario.count]),
        step=world.step + 1,
    )
    world = world._replace(arrived_s=arrival(scenario, world))
    for part in parts_of(scenario):
        world = part(scenario, before, world, draws)
    return world


def moved(
    scenario: FlightScenario, world: FlightWorld, command: Array, draws: Array, integrate: Integrate
) -> FlightWorld:
    """The world after its bodies have moved for one decision, with the command queued and the gusts of then."""
    xp = namespace(command, draws)
    low, high = (xp.asarray(limit, dtype=command.dtype) for limit in scenario.command_limits)
    world = world._replace(queue=(xp.clip(command, low, high), *world.queue[:-1]))
    gust = blow(scenario, world, draws[..., 6:9])
    wind = tuple(w + g for w, g in zip(world.hidden.wind_m_s, gust, strict=True))
    return integrate(world, with_residual(scenario, world, wind))._replace(gust_m_s=gust)


def with_residual(scenario: FlightScenario, world: FlightWorld, wind: Vec3) -> Vec3:
    """Return the wind by which drag pushes as wind and residual do; the given wind if the scenario has no residual."""
    if scenario.residual is None:
        return wind
    moving, physics = (world.body, world.queue[0]), world.hidden.physics
    more = wind_that_pushes(scenario.residual, scenario.vehicle_config, physics, world.member, moving)
    return tuple(a + b for a, b in zip(wind, more, strict=True))


def blow(scenario: FlightScenario, world: FlightWorld, draws: Array) -> Vec3:
    """Gusts one period later: an Ornstein-Uhlenbeck process driven by uniform noise of unit variance."""
    keep = math.exp(-scenario.period_s / scenario.weather.gust_time_s)
    size = world.hidden.gust_m_s * math.sqrt(12 * (1 - keep * keep))
    return tuple(g * keep + size * (draws[..., i] - 0.5) for i, g in enumerate(world.gust_m_s))


def measure(scenario: FlightScenario, body: RigidVehicle, scale: Array, draws: Array) -> StateEstimates:
    """State estimates: the truth and a bounded uniform error, [..., N, 6] draws."""
    sensing = scenario.sensing
    error = (2 * draws - 1) * scale[..., None]
    return StateEstimates(
        positions(body) + sensing.position_noise_m * error[..., :3],
        velocities(body) + sensing.velocity_noise_m_s * error[..., 3:],
    )


def receive(scenario: FlightScenario, world: FlightWorld, message: Message, draws: Array) -> Air:
    """The radio: each robot hears each mate's message unless it is lost or the mate is out of range."""
    away = message.pos_m[..., mates_of(scenario.count), :] - message.pos_m[..., :, None, :]
    in_range = (away * away).sum(-1) <= scenario.radio.range_m**2
    heard = in_range & (draws >= world.hidden.packet_loss[..., None])
    return deliver(world.air, message, heard, (scenario.radio.latency_s, scenario.period_s))


def with_plans(scenario: FlightScenario, world: FlightWorld) -> FlightWorld:
    """Return the world with room for plans in its messages; so far there are none."""
    brake_m_s2, air = scenario.vehicle_config.safety.brake_m_s2, world.air
    if isinstance(air.plan, Plan):
        return world
    sent = tuple(m._replace(plan=braking_plan(m.pos_m, m.vel_m_s, brake_m_s2)) for m in world.sent)
    return world._replace(sent=sent, air=air._replace(plan=braking_plan(air.pos_m, air.vel_m_s, brake_m_s2)))


def _message(scenario: FlightScenario, world: FlightWorld, measured: StateEstimates) -> Message:
    """Return the robots' messages for a new estimate; their plans are not made yet."""
    if not isinstance(world.air.plan, Plan):
        return Message(*measured)
    return Message(*measured, braking_plan(*measured, scenario.vehicle_config.safety.brake_m_s2))


def closest_approach(before: RigidVehicle, after: RigidVehicle) -> Array:
    """[..., N] least distance to any other robot while all move on straight lines between two decisions [m].

    Between decisions 20 ms apart the true arcs differ from the lines by a T^2 / 8, below a millimetre.
    """
    xp = namespace(*after.pos)
    if after.pos[0].shape[-1] < 2:
        return xp.full_like(after.pos[0], xp.inf)
    gap = [p[..., :, None] - p[..., None, :] for p in before.pos]
    move = [p[..., :, None] - p[..., None, :] - g for p, g in zip(after.pos, gap, strict=True)]
    along = -sum(g * m for g, m in zip(gap, move, strict=True))
    part = xp.clip(along / (sum(m * m for m in move) + 1e-9), 0.0, 1.0)
    square = sum((g + part * m) ** 2 for g, m in zip(gap, move, strict=True))
    myself = xp.asarray(np.eye(after.pos[0].shape[-1], dtype=np.float32) * 1e6)
    return xp.sqrt((square + myself).min(-1))


def arrival(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[..., N] how long each robot has been at its goal and slow, one more period counted in."""
    xp = namespace(world.goal_m)
    error = positions(world.body) - world.goal_m
    near = (error * error).sum(-1) < scenario.success.position_m**2
    slow = sum(v * v for v in world.body.vel) < scenario.success.speed_m_s**2
    return xp.where(near & slow, world.arrived_s + scenario.period_s, 0.0).astype(world.arrived_s.dtype)
