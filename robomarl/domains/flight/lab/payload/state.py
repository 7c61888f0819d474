"""True state of a load and its cables.

Shapes: `...` is the batch of environments, N the vehicles. The load has no axis of its own: one
for each team.
"""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.vectors import Vec3, Vec4, to_world


class Rigid(NamedTuple):
    """A rigid body."""

    pos: Vec3
    """[m] centre of mass, world; [...] each."""
    quat: Vec4
    """wxyz, load frame to world."""
    vel: Vec3
    """[m/s] world."""
    omega: Vec3
    """[rad/s] load frame."""


class CargoParameters(NamedTuple):
    """Randomized parameters of the load and the cables in this episode; no robot knows them."""

    mass_kg: Array
    """[...] true mass; the inertia is scaled with it."""
    com_m: Vec3
    """[...] each: centre of mass in the load frame."""
    point_m: Vec3
    """[..., N] each: where each cable is tied to the load, load frame."""
    length_m: Array
    """[..., N] of each cable."""
    cut_s: Array
    """[..., N] time at which this cable is cut; `NEVER_S` if it is not."""
    off_s: Array
    """[..., N] time at which this vehicle's motors stop for good."""


NEVER_S = 1e6
"""A time that no episode reaches."""


class Load(NamedTuple):
    """The load and its cables at one decision."""

    rigid: Rigid
    cargo: CargoParameters
    tension_n: Array
    """[..., N] pull of each cable; 0 while slack."""
    measured_pos_m: Array
    """[..., N, 3] where each robot believes the load frame's origin to be, world."""
    measured_quat: Array
    """[..., N, 4] and how it believes the load to be turned."""
    goal_quat: Array
    """[..., N, 4] wanted attitude, equal for all robots; the wanted place is `FlightWorld.goal_m`."""
    crossed: Array
    """[...] bool: two cables have crossed since the last decision."""
    azimuth_rad: Array
    """[..., N] direction of each vehicle from the load's centre of mass, about the load's z axis."""
    winding_rad: Array
    """[..., N] how far that direction has turned since the start."""


def origin(rigid: Rigid, com_m: Vec3) -> Array:
    """[..., 3] place of the load frame's origin, world [m]."""
    xp = namespace(*rigid.pos)
    offset = to_world(rigid.quat, com_m)
    return xp.stack([p - o for p, o in zip(rigid.pos, offset, strict=True)], -1)


def attitude(rigid: Rigid) -> Array:
    """[..., 4] attitude of the load, wxyz."""
    return namespace(*rigid.quat).stack(rigid.quat, -1)


def spread(vector: tuple[Array, ...]) -> tuple[Array, ...]:
    """The load's components with an axis for the vehicles: [...] to [..., 1] each."""
    return tuple(c[..., None] for c in vector)


def flying(load: Load, time_s: Array) -> Array:
    """[..., N] bool: the vehicle still carries: its cable is whole and its motors turn. `time_s` is [...]."""
    now = time_s[..., None]
    return (now < load.cargo.cut_s) & (now < load.cargo.off_s)
