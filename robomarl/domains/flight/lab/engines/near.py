"""Teams of many robots on `fast`: each robot hears, and is compared with, the nearest few, found by cells.

In a small team each robot has a row for each mate, which is quadratic in all. Here it has as many rows as its policy
looks at, for the mates that are nearest now. What it last heard of a mate stays as long as that is
among them. For one team in JAX; see `robomarl.lab.sim.engines.cells`.
"""

from functools import reduce

import jax
import jax.numpy as jnp

from robomarl.core.types import Array
from robomarl.domains.flight.lab.quadrotor import RigidVehicle
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import Integrate, arrival, measure, moved
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.engines.cells import Nearest, nearest, pick
from robomarl.lab.sim.message import Air, Message

PAIRS = 32
"""Robots of a team up to which all pairs are looked at."""
REACH = 6.0
"""Width of a cell in safety distances; farther mates are not heard."""


def is_large(scenario: FlightScenario, safety: str) -> bool:
    """Return True if a team's robots are found by cells: a filter needs every mate, and a load or a residual is of few
    robots."""
    return scenario.count > PAIRS and safety == "off" and scenario.load is None and scenario.residual is None


def rows(scenario: FlightScenario) -> int:
    """Mates of which a robot knows."""
    return scenario.radio.neighbours


def find(scenario: FlightScenario, body: RigidVehicle) -> Nearest:
    """The nearest robots of each robot, as they are now."""
    reach_m = min(REACH * scenario.vehicle_config.safety.separation_m, scenario.radio.range_m)
    return nearest(body.pos, reach_m, rows(scenario))


def with_near(scenario: FlightScenario, world: FlightWorld) -> FlightWorld:
    """Return a world at its start in which robots know of the nearest mates only."""
    found = find(scenario, world.body)
    pos, vel = pick(world.measured.pos_m, found.index), pick(world.measured.vel_m_s, found.index)
    air = Air(pos, vel, jnp.where(found.there, 0.0, jnp.inf), (), found.index)
    return world._replace(air=air, missed=found.missed)


def advance_near(
    scenario: FlightScenario, world: FlightWorld, command: jax.Array, draws: jax.Array, integrate: Integrate
) -> FlightWorld:
    """The world one decision later, as `advance` does; draws are [N, 9 + `rows`]."""
    before, world = world, moved(scenario, world, command, draws, integrate)
    found = find(scenario, world.body)
    measured = measure(scenario, world.body, world.hidden.noise_scale, draws[..., :6])
    on_air = (Message(*measured), *world.sent)
    world = world._replace(
        closest_m=closest(before.body, world.body, found),
        measured=measured,
        sent=on_air[: len(world.sent)],
        air=heard(scenario, world, on_air[-1], found, draws[..., 9:]),
        missed=found.missed,
        step=world.step + 1,
    )
    return world._replace(arrived_s=arrival(scenario, world))


def closest(before: RigidVehicle, after: RigidVehicle, found: Nearest) -> jax.Array:
    """[N] least distance to the nearest robots while all move on straight lines; infinite without any within reach."""
    gap = [pick(p, found.index) - p[:, None] for p in before.pos]
    now = [pick(p, found.index) - p[:, None] for p in after.pos]
    move = [b - a for a, b in zip(gap, now, strict=True)]
    along = -sum(g * m for g, m in zip(gap, move, strict=True))
    part = jnp.clip(along / (sum(m * m for m in move) + 1e-9), 0.0, 1.0)
    square = sum((g + part * m) ** 2 for g, m in zip(gap, move, strict=True))
    return jnp.sqrt(jnp.where(found.there, square, jnp.inf).min(-1))


def heard(scenario: FlightScenario, world: FlightWorld, message: Message, found: Nearest, draws: jax.Array) -> Air:
    """Return the nearest mates' messages: the new one if it arrives, else the last one while the mate is near."""
    old, index, mates = world.air, found.index, world.near
    assert mates is not None, "the world is of a large team"
    arrives = found.there & (draws >= world.hidden.packet_loss[:, None])
    known: jax.Array = (index[:, :, None] == mates[:, None, :]) & found.there[:, :, None]
    number = known.astype(jnp.float32)

    def of_old(part: Array) -> jax.Array:
        parts = [number[:, :, k, None] * part[:, None, k] for k in range(index.shape[-1])]
        return reduce(jnp.add, parts)

    kept = jnp.where(known, jnp.asarray(old.age_s)[:, None, :], jnp.inf)
    age_s = kept.min(-1) + scenario.period_s
    pos = jnp.where(arrives[..., None], pick(message.pos_m, index), of_old(old.pos_m))
    vel = jnp.where(arrives[..., None], pick(message.vel_m_s, index), of_old(old.vel_m_s))
    return Air(pos, vel, jnp.where(arrives, scenario.radio.latency_s, age_s), (), index)
