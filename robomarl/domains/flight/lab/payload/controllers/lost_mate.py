"""Response of a carrier to the loss of a teammate across the load; array-generic.

The load then hangs on a hinge between the vehicles beside the lost one, and turns until the
missing corner is where gravity takes it: it levels out where a cable was cut, and that corner
falls where a dead vehicle hangs from it. Either way the corner opposite rises, and stays too
high. The lost robot need not be identified: a carrier that finds its own point too high for long
holds that corner down. A cable can only pull, so its vehicle flies out and down beside the load,
until the cable leans by 90 degrees and more from the vertical. Vehicles on the hinge find
nothing, and stay.

The vehicle can hold down its own weight and no more, because thrust points up: a load with a dead
vehicle of this type at one corner comes level, and no further.
"""

import math
from typing import Protocol

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.spec import ObservationField
from robomarl.core.types import Array
from robomarl.core.vectors import cross


class LeanGains(Protocol):
    """The part of a controller's gains that sets how far cables lean; see `decentralized.Gains`."""

    @property
    def lean_rad(self) -> Array | float:
        """Angle [rad] by which the own cable leans farther outwards."""
        ...

    @property
    def lean_from(self) -> Array | float:
        """Fraction of the time that the own point is too high, from which the cable leans."""
        ...

    @property
    def lean_reach(self) -> Array | float:
        """How much longer than the cable its way out is, over its length."""
        ...

    @property
    def lean_high_m(self) -> Array | float:
        """Height [m] of the own point beside the load's middle at which the way out has its full length."""
        ...

    @property
    def lean_within_m(self) -> Array | float:
        """Distance [m] of the load from its goal within which the cable leans in full."""
        ...


def lasting_fields(remembered_s: float, period_s: float) -> tuple[ObservationField, ...]:
    """Return the fields of lasting errors that a carrier observes; none if `remembered_s` is 0."""
    return (ObservationField("point_high", keep=math.exp(-period_s / remembered_s)),) if remembered_s else ()


def leaning(gains: LeanGains, way: Array, lasting: Array) -> Array:
    """[..., 1] how much the own cable is to lean, 0 to 1.

    Args:
        gains: gains of the controller.
        way: [..., 3] from the load to its goal [m].
        lasting: [..., 1] mean of the feature `point_high`.
    """
    xp = namespace(way)
    near = xp.clip(2 - norm(way)[..., None] / gains.lean_within_m, 0.0, 1.0)
    return near * xp.clip((lasting - gains.lean_from) / (1 - gains.lean_from), 0.0, 1.0)


def outwards(gains: LeanGains, share: Array, place: tuple[Array, Array], high_m: Array) -> Array:
    """Return the displacement [..., 3] of the vehicle's place when its cable leans by that share, world
    [m].

    Args:
        gains: gains of the controller.
        share: [..., 1] of `leaning`.
        place: [..., 3] each: from the own point to the place, and from the load's origin to the own
            point, world.
        high_m: [..., 1] how much too high the own point is beside the load's origin.
    """
    cable, point = place
    xp = namespace(cable)
    level = point * np.array([1, 1, 0], np.float32)
    x, y, _ = parts(level / (norm(level) + 1e-6)[..., None])
    reach = 1 + gains.lean_reach * share * xp.clip(high_m / gains.lean_high_m, 0.0, 1.0)
    return rotated(cable, xp.stack([-y, x, x * 0], -1) * gains.lean_rad * share) * reach - cable


def rotated(vector: Array, turn: Array) -> Array:
    """Vectors [..., 3] after a rotation, axis times angle [..., 3] (Rodrigues)."""
    xp, angle = namespace(vector), norm(turn)[..., None] + 1e-9
    axis = turn / angle
    across = xp.stack(cross(parts(axis), parts(vector)), -1)
    along = (axis * vector).sum(-1, keepdims=True) * axis
    return vector * xp.cos(angle) + across * xp.sin(angle) + along * (1 - xp.cos(angle))


def parts(vector: Array) -> tuple[Array, Array, Array]:
    """The components of [..., 3]."""
    return vector[..., 0], vector[..., 1], vector[..., 2]
