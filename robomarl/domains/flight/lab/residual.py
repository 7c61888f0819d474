"""`Residual`: the acceleration that a vehicle's model misses, as an ensemble of small networks,
array-generic.

Inputs of a member are the vehicle's own velocity and attitude, its last command, and a sum over
its neighbours of a network of each one's offset, which depends on neither order nor number (deep
sets; Shi et al., Neural-Swarm, arXiv 2003.02992, equation 7). The sum fades to exactly nothing at
`REACH_M`.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.config import Count, UserError
from robomarl.core.geometry import namespace
from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, Vec4, up_axis
from robomarl.domains.flight.lab.quadrotor import Physics, RigidVehicle
from robomarl.lab.sim.message import mates_of

MEMBERS = 5
WIDTH = 32
CODE = 16
"""Numbers that a neighbour's offset is encoded in."""
OWN = 9
"""Velocity, up axis, the acceleration that the last command gives the vehicle."""
REACH_M = 2.0
"""Neighbours that are farther away are not felt."""
LARGEST_M_S2 = 4.0
"""Largest residual acceleration [m/s²] along each axis, for any output of the network: outside of its training data
the network is unknown.
"""
COMMAND_M_S2 = 3.0
"""Divisor of a command, so that all inputs have about one size."""

Layer = tuple[Array, Array]
"""Kernel [..., in, out] and bias [..., out]."""
Moving = tuple[RigidVehicle, Array]
"""[..., N] vehicles, and their commands [..., N, A]."""


class Residual(NamedTuple):
    """Weights; with leading axes [...] of members or teams."""

    encode: tuple[Layer, ...]
    """Layers for a neighbour's offset."""
    decide: tuple[Layer, ...]
    """Layers for the vehicle's own features and the neighbours' sum."""


@dataclass(frozen=True)
class ResidualConfig:
    """The section `residual` of a scenario: behaviour of its vehicles beyond their model."""

    file: str
    """Weights, as `robomarl adapt` has written them."""
    sha256: str
    """SHA-256 of the file."""
    members: Count = MEMBERS
    """Number of members of the ensemble; each team draws one."""


def own_features(vel: Vec3, quat: Vec4, command: tuple[Array, ...], lift: Array) -> Array:
    """Return the features [..., OWN] of vehicles [...].

    Args:
        vel: world [m/s].
        quat: wxyz.
        command: the last one; only its accelerations [m/s^2] count.
        lift: thrust scale times the mass that its controllers assume over its own: the share of the
            commanded thrust by which the vehicle is accelerated, so that the assumed mass makes no
            difference.
    """
    ax, ay, az = command[:3]
    given = (lift * ax, lift * ay, lift * (az + GRAVITY_M_S2) - GRAVITY_M_S2)
    parts = (*vel, *up_axis(quat), *(a / COMMAND_M_S2 for a in given))
    return namespace(*parts).stack(parts, -1)


def lift_of(vehicle: Vehicle, physics: Physics) -> Array:
    """[...] of vehicles with this physics; see `own_features`."""
    return physics.thrust_scale * vehicle.body.mass_kg / physics.mass_kg


def wind_that_pushes(
    section: ResidualConfig, vehicle: Vehicle, physics: Physics, member: Array, moving: Moving
) -> Vec3:
    """Return the wind [m/s], [..., N] each, by which the drag of every engine pushes as the residual
    does.

    Args:
        section: of the scenario.
        vehicle: vehicle file; the drag's force is that of its mass.
        physics: [..., N].
        member: [...] int, member of the ensemble that moves the team.
        moving: the vehicles and their new commands.
    """
    body, command = moving
    xp = namespace(*body.pos)
    pos, mates = xp.stack(body.pos, -1), mates_of(body.pos[0].shape[-1])
    parts = tuple(command[..., i] for i in range(command.shape[-1]))
    own = own_features(body.vel, body.quat, parts, lift_of(vehicle, physics))
    accel = accel_of(member_of(load_residual(section), member), own, pos[..., mates, :] - pos[..., :, None, :])
    per_accel = physics.mass_kg / (vehicle.body.drag_per_s * vehicle.body.mass_kg)
    return accel[..., 0] * per_accel, accel[..., 1] * per_accel, accel[..., 2] * per_accel


def accel_of(member: Residual, own: Array, offset_m: Array) -> Array:
    """[..., N, 3] acceleration [m/s^2], world, of N vehicles.

    Args:
        member: weights of one member, or [...] of one for each team.
        own: [..., N, OWN] of `own_features`.
        offset_m: [..., N, M, 3] from each vehicle to each neighbour, world; one that is not there is far away.
    """
    xp = namespace(own, offset_m)
    *lead, count, mates, _ = offset_m.shape
    near = xp.maximum(1 - (offset_m * offset_m).sum(-1) / REACH_M**2, 0.0) ** 2
    scaled = xp.clip(offset_m / (REACH_M / 2), -2.0, 2.0).reshape(*lead, count * mates, 3)
    codes = _forward(member.encode, scaled).reshape(*lead, count, mates, CODE)
    summed = (codes * near[..., None]).sum(-2)
    return LARGEST_M_S2 * xp.tanh(_forward(member.decide, xp.concatenate([own, summed], -1)))


def _forward(layers: tuple[Layer, ...], x: Array) -> Array:
    """[..., K, in] -> [..., K, out]; the last layer has no activation."""
    xp = namespace(x)
    for kernel, bias in layers[:-1]:
        x = xp.tanh(x @ kernel + bias[..., None, :])
    kernel, bias = layers[-1]
    return x @ kernel + bias[..., None, :]


def member_of(residual: Residual, index: Array) -> Residual:
    """The weights of one member, or [...] of one for each of the indices [...]."""
    xp = namespace(index)
    encode, decide = (tuple((xp.asarray(k)[index], xp.asarray(b)[index]) for k, b in part) for part in residual)
    return Residual(encode, decide)


def save_residual(residual: Residual, file: Path) -> ResidualConfig:
    """Write the weights; returns the section that names them."""
    arrays = {
        f"{part}{i}.{name}": np.asarray(value, np.float32)
        for part, layers in residual._asdict().items()
        for i, layer in enumerate(layers)
        for name, value in zip(("kernel", "bias"), layer, strict=True)
    }
    with file.open("wb") as opened:
        np.savez(opened, **arrays)  # type: ignore[arg-type]
    members = len(residual.encode[0][0])
    return ResidualConfig(str(file.resolve()), hashlib.sha256(file.read_bytes()).hexdigest(), members)


@lru_cache(4)
def load_residual(section: ResidualConfig) -> Residual:
    """The weights that a scenario names.

    Raises:
        UserError: the file is not there, is another one, or has no weights.
    """
    file = Path(section.file)
    if not file.is_file():
        raise UserError(f"residual.file = {section.file!r} is not there; name another scenario, or adapt again.")
    if hashlib.sha256(file.read_bytes()).hexdigest() != section.sha256:
        raise UserError(f"{file} is not what residual.sha256 says; it was changed, adapt again.")
    try:
        with np.load(file) as arrays:
            parts = [
                tuple((arrays[f"{part}{i}.kernel"], arrays[f"{part}{i}.bias"]) for i in range(count))
                for part, count in (("encode", 2), ("decide", 3))
            ]
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        raise UserError(f"residual.file = {section.file!r} has no weights of a residual; name another.") from None
    return Residual(*parts)
