"""`local_views`: the knowledge that each robot of the team may have, from the true state. Array-generic."""

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import Goal, Heard, LoadSensed, LocalView, NothingSensed, Own, Plan
from robomarl.domains.flight.core.payload.statics import grip_matrix, reach_m
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.message import braking_plan


def local_views(scenario: FlightScenario, world: FlightWorld) -> LocalView:
    """Return the views of all robots, every field with leading axes [..., N].

    Args:
        scenario: fixed numbers.
        world: the true state; without plans in messages, a teammate is assumed to brake from its
            received state.
    """
    xp = namespace(world.goal_m)
    air, body = world.air, world.body
    zero = world.measured.pos_m[..., 0] * 0
    own = Own(
        pos_m=world.measured.pos_m,
        quat_wxyz=xp.stack(body.quat, -1),
        vel_m_s=world.measured.vel_m_s,
        omega_rad_s=xp.stack(body.omega, -1),
        age_s=zero,
    )
    mask = air.age_s <= scenario.radio.max_age_s
    shown = mask[..., None]
    plan = air.plan
    if not isinstance(plan, Plan):
        plan = braking_plan(air.pos_m, air.vel_m_s, scenario.vehicle_config.safety.brake_m_s2)
    heard = Heard(
        mask=mask,
        pos_m=xp.where(shown, air.pos_m, 0.0),
        vel_m_s=xp.where(shown, air.vel_m_s, 0.0),
        age_s=xp.where(mask, air.age_s, 0.0),
        plan=Plan(*(xp.where(shown, part, 0.0) for part in plan)),
    )
    sensed, wanted, role = (see_load if scenario.load else see_nothing)(scenario, world)
    return LocalView(
        own=own,
        heard=heard,
        sensed=sensed,
        goal=Goal(world.goal_m, wanted),
        role=role,
        time_s=zero + world.step[..., None] * scenario.period_s,
    )


def see_nothing(scenario: FlightScenario, world: FlightWorld) -> tuple[NothingSensed, Array, Array]:
    """Sensors, wanted attitude [..., N, 4] and role [..., N] of robots that carry nothing: upright, all alike."""
    xp, zero = namespace(world.goal_m), world.measured.pos_m[..., 0] * 0
    return NothingSensed(), xp.stack([zero + 1, zero, zero, zero], -1), zero.astype("int32")


def see_load(scenario: FlightScenario, world: FlightWorld) -> tuple[LoadSensed, Array, Array]:
    """Sensors, wanted attitude of the load and role of robots that carry; the role is the place at the load."""
    load, (section, cables) = world.carried, scenario.carried
    zero = load.measured_pos_m * 0
    points = zero + np.array(cables.load_points_m, np.float32)
    role = zero[..., 0].astype("int32") + np.arange(scenario.count, dtype=np.int32)
    grip = grip_matrix(section, cables).astype(np.float32)
    pose = (load.measured_pos_m, load.measured_quat)
    sensed = LoadSensed(*pose, points, zero[..., None] + grip, zero[..., 0] + reach_m(section, cables))
    return sensed, load.goal_quat, role
