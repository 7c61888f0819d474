"""`local_views`: what every robot of the team may know, out of everything that is true. Array-generic."""

from robomarl.geometry import namespace, norm
from robomarl.sim.scenario import Scenario
from robomarl.sim.world import World
from robomarl.types import Array
from robomarl.view import Goal, Heard, LocalView, NothingSensed, Own, Plan


def local_views(scenario: Scenario, world: World, plan: Plan | None = None) -> LocalView:
    """The views of all robots, every field with leading axes [..., N].

    Args:
        scenario: fixed numbers.
        world: the truth.
        plan: what each mate's filter committed to, [..., N, K, 3] each; by default the mate brakes from the
            state that was heard.
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
    heard = Heard(
        mask=mask,
        pos_m=xp.where(shown, air.pos_m, 0.0),
        vel_m_s=xp.where(shown, air.vel_m_s, 0.0),
        age_s=xp.where(mask, air.age_s, 0.0),
        plan=plan or braking_plan(air.pos_m, air.vel_m_s, scenario.vehicle_config.safety.brake_m_s2),
    )
    upright = xp.stack([zero + 1, zero, zero, zero], -1)
    return LocalView(
        own=own,
        heard=heard,
        sensed=NothingSensed(),
        goal=Goal(world.goal_m, upright),
        role=(zero).astype("int32"),
        time_s=zero + world.step[..., None] * scenario.period_s,
    )


def braking_plan(pos_m: Array, vel_m_s: Array, brake_m_s2: float) -> Plan:
    """The plan of a vehicle that brakes at once: it stops v |v| / (2 a) further on."""
    return Plan(pos_m, vel_m_s, pos_m + vel_m_s * norm(vel_m_s)[..., None] / (2 * brake_m_s2))
