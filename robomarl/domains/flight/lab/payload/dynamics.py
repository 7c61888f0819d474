"""How cables pull and how the load moves, array-generic; shapes as in `state`.

A cable is a spring and damper that can only pull (`fast`); MuJoCo has its own, a limit on the length of a
tendon. Both are stiff enough to stand for a cable that does not stretch.
"""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, cross, dot, to_body, to_world, up_axis
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig
from robomarl.domains.flight.lab.payload.state import CargoParameters, Rigid
from robomarl.domains.flight.lab.quadrotor import RigidVehicle, turn
from robomarl.lab.sim.engines.compiler import settle


class Cables(NamedTuple):
    """The cables' ends, [..., N] each component."""

    toward: Vec3
    """Unit vector from the vehicle's end to the load's end, world."""
    distance_m: Array
    """Distance [m] between the ends."""
    rate_m_s: Array
    """Rate [m/s] at which that distance grows."""
    arm_m: Vec3
    """Vector from the load's centre of mass to the load's end of the cable, load frame."""


def for_each(vector: tuple[Array, ...], vehicles: Array) -> tuple[Array, ...]:
    """The load's components for each vehicle, [...] to [..., N] as `vehicles` has it.

    Settled, or XLA looks up the vehicle's load for each number, in loops that then take one number at a time.
    """
    xp = namespace(vehicles)
    return settle(tuple(xp.broadcast_to(xp.asarray(c)[..., None], vehicles.shape) for c in vector))


def total(each: Array) -> Array:
    """Return the sum over the vehicles, [..., N] to [...]; for few vehicles a sum along an axis would be a separate
    loop.
    """
    return sum(each[..., i] for i in range(each.shape[-1]))


def stretch_out(cables: CableConfig, body: RigidVehicle, rigid: Rigid, cargo: CargoParameters) -> Cables:
    """Return the positions of the cables' ends and the speeds at which they part."""
    xp = namespace(*body.pos)
    tied = tuple(body.pos[0] * 0 + p for p in cables.vehicle_point_m)
    start = tuple(p + o for p, o in zip(body.pos, to_world(body.quat, tied), strict=True))
    start_vel = tuple(v + o for v, o in zip(body.vel, to_world(body.quat, cross(body.omega, tied)), strict=True))
    arm = tuple(p - c for p, c in zip(cargo.point_m, for_each(cargo.com_m, body.pos[0]), strict=True))
    quat, omega = (for_each(part, body.pos[0]) for part in (rigid.quat, rigid.omega))
    end = tuple(p + o for p, o in zip(for_each(rigid.pos, body.pos[0]), to_world(quat, arm), strict=True))
    vel = for_each(rigid.vel, body.pos[0])
    end_vel = tuple(v + o for v, o in zip(vel, to_world(quat, cross(omega, arm)), strict=True))
    gap = tuple(e - s for e, s in zip(end, start, strict=True))
    distance = xp.sqrt(dot(gap, gap) + 1e-12)
    toward = tuple(g / distance for g in gap)
    rate = dot(toward, tuple(e - s for e, s in zip(end_vel, start_vel, strict=True)))
    return Cables(toward, distance, rate, arm)


def spring_tension(cables: CableConfig, found: Cables, cargo: CargoParameters, whole: Array) -> Array:
    """[..., N] tension [N] of each cable; `whole` is 0 where it is cut."""
    xp = namespace(found.distance_m)
    stretch = found.distance_m - cargo.length_m
    pull = xp.maximum(cables.stiffness_n_m * stretch + cables.damping_n_s_m * found.rate_m_s, 0.0)
    return xp.where(stretch > 0, pull, 0.0) * whole


def pull_on_vehicles(cables: CableConfig, body: RigidVehicle, found: Cables, tension_n: Array) -> tuple[Vec3, Vec3]:
    """Force [N, world] and torque [N m, body] that the cables put on the vehicles, [..., N] each."""
    force = tuple(t * tension_n for t in found.toward)
    tied = tuple(body.pos[0] * 0 + p for p in cables.vehicle_point_m)
    return force, cross(tied, to_body(body.quat, force))


def pull_on_load(rigid: Rigid, found: Cables, tension_n: Array) -> tuple[Vec3, Vec3]:
    """Force [N, world] and torque [N m, load frame] that the cables put on the load, [...] each."""
    force = tuple(-t * tension_n for t in found.toward)
    torque = cross(found.arm_m, to_body(for_each(rigid.quat, tension_n), force))
    return tuple(total(f) for f in force), tuple(total(t) for t in torque)


def wash(load: LoadConfig, body: RigidVehicle, rigid: Rigid, thrust_n: Array) -> Vec3:
    """Force [N, world] of the vehicles' downwash on the load, at its centre of mass, [...] each.

    A model of its size only: a share of the thrust, against the thrust's direction, where the load is below.
    """
    xp = namespace(thrust_n)
    up = up_axis(body.quat)
    away = tuple(r - p for r, p in zip(for_each(rigid.pos, body.pos[0]), body.pos, strict=True))
    below = -dot(away, up)
    aside = dot(away, away) - below * below
    share = load.downwash_share * xp.exp(-aside / load.downwash_radius_m**2)
    size = xp.where(below > 0, share * thrust_n, 0.0)
    return tuple(total(-u * size) for u in up)


def load_drag(load: LoadConfig, rigid: Rigid, wind: Vec3) -> tuple[Vec3, Vec3]:
    """Force [N, world] and torque [N m, load frame] of the air; the wind [..., N] is averaged over the vehicles."""
    force = tuple(load.drag_n_s_m * (w.mean(-1) - v) for v, w in zip(rigid.vel, wind, strict=True))
    return force, tuple(-load.spin_drag_n_m_s * o for o in rigid.omega)


def move_load(load: LoadConfig, rigid: Rigid, cargo: CargoParameters, wrench: tuple[Vec3, Vec3], dt_s: float) -> Rigid:
    """One sub-step of the load under a force [N, world] and a torque [N m, load frame]; semi-implicit Euler."""
    force, torque = wrench
    gravity = (0.0, 0.0, -GRAVITY_M_S2)
    inertia = tuple(j * (cargo.mass_kg / load.mass_kg) for j in load.inertia_kg_m2)
    vel = tuple(v + dt_s * (f / cargo.mass_kg + g) for v, f, g in zip(rigid.vel, force, gravity, strict=True))
    gyro = cross(rigid.omega, tuple(j * o for j, o in zip(inertia, rigid.omega, strict=True)))
    omega = tuple(o + (dt_s / j) * (t - g) for o, t, g, j in zip(rigid.omega, torque, gyro, inertia, strict=True))
    pos = tuple(p + dt_s * v for p, v in zip(rigid.pos, vel, strict=True))
    return Rigid(pos, turn(rigid.quat, omega, dt_s), vel, omega)


def air_on_load(load: LoadConfig, body: RigidVehicle, rigid: Rigid, thrust_n: Array, wind: Vec3) -> tuple[Vec3, Vec3]:
    """Force [N, world] and torque [N m, load frame] of wind, drag and the vehicles' wash."""
    drag, spin = load_drag(load, rigid, wind)
    return tuple(d + w for d, w in zip(drag, wash(load, body, rigid, thrust_n), strict=True)), spin
