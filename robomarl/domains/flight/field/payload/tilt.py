"""Estimation of cable pulls and of the payload's mass, from how the vehicles lean against their
cables.

Low-level controllers remove the pull of a cable from a vehicle's acceleration a, but not from its
attitude. Thrust points along its axis b, and holds the vehicle, its cable and the wind:

    b x (g up + a - w + r p) = 0

where r is the payload's mass over the vehicle's, p the cable's pull over the payload's mass, and
w the wind's push, equal for all vehicles of a flight. Pulls that hold the payload are those of
least size and, with more than three cables, some that cancel each other. The equation is linear
in r, in w and in the cancelling pulls. So a payload's mass is known as well as the vehicles' own,
and as their attitudes.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.types import GRAVITY_M_S2


class Leaning(NamedTuple):
    """M times of N vehicles, in the payload's frame."""

    axis: np.ndarray
    """[M, N, 3] along which each pushes."""
    accel_m_s2: np.ndarray
    """[M, N, 3] g up + a: specific force that holds the vehicle up, with the drag of its own motion removed."""
    level: np.ndarray
    """[M, 2, 3] the world's x and y, along which wind blows."""
    flight: np.ndarray
    """[M] in which of the flights."""


class Pulls(NamedTuple):
    """Estimated mass ratio and cable pulls."""

    ratio: float
    """The payload's mass over a vehicle's."""
    over_weight: np.ndarray
    """[M, N] of each cable, over the payload's weight."""


def held_by(toward: np.ndarray, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pulls of least size, and those that cancel each other.

    Args:
        toward: [M, N, 3] unit vectors along the cables, away from the payload.
        held: [M, 3] sum of the pulls, over the payload's weight.

    Returns:
        [M, N] over the payload's weight; and [M, N, N - 3] of size 1.
    """
    across = toward.transpose(0, 2, 1)
    return np.einsum("mnk,mk->mn", np.linalg.pinv(across), held), np.linalg.svd(across)[2][:, 3:].transpose(0, 2, 1)


def find_pulls(leaning: Leaning, toward: np.ndarray, held: np.ndarray, keep: np.ndarray) -> Pulls:
    """Estimate mass ratio and pulls by least squares.

    Args:
        leaning: how the vehicles lean.
        toward: [M, N, 3] and ...
        held: [M, 3] of `held_by`.
        keep: [M] bool, the times that count for the mass and the wind.
    """
    least, free = held_by(toward, held)
    columns, inner, wanted = _equations(leaning, toward, least, free)
    outside = np.eye(inner.shape[1]) - inner @ np.linalg.pinv(inner)  # what no pulls that cancel each other make good
    table, right = outside @ columns, (outside @ wanted[..., None])[..., 0]
    found = np.linalg.lstsq(table[keep].reshape(-1, columns.shape[-1]), right[keep].ravel(), rcond=None)[0]
    size = np.einsum("mki,mi->mk", np.linalg.pinv(inner), wanted - columns @ found) / found[0]
    return Pulls(float(found[0]), least + np.einsum("mnk,mk->mn", free, size))


def _equations(
    leaning: Leaning, toward: np.ndarray, least: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns [M, 2 N, 1 + 2 F] of the ratio and of the wind in F flights, [M, 2 N, N - 3] of
    the cancelling pulls, and the right side [M, 2 N].

    Two equations for each vehicle: across its axis, where thrust has no component.
    """
    across = _across(leaning.axis)
    count, robots = least.shape

    def seen(vectors: np.ndarray) -> np.ndarray:
        """Vectors [M, N, 3, K] as they are across the axes, [M, 2 N, K]."""
        return np.einsum("mnij,mnjk->mnik", across, vectors).reshape(count, 2 * robots, -1)

    flights, own = np.unique(leaning.flight, return_inverse=True)
    blown = seen(np.broadcast_to(leaning.level.transpose(0, 2, 1)[:, None], (count, robots, 3, 2)))
    columns = np.zeros((count, 2 * robots, 1 + 2 * len(flights)))
    columns[..., :1] = GRAVITY_M_S2 * seen((toward * least[..., None])[..., None])
    for k in (0, 1):
        columns[np.arange(count), :, 1 + 2 * own + k] = -blown[..., k]
    inner = GRAVITY_M_S2 * seen(toward[..., None] * free[:, :, None])
    return columns, inner, -seen(leaning.accel_m_s2[..., None])[..., 0]


def _across(axis: np.ndarray) -> np.ndarray:
    """[..., 2, 3] two unit vectors across each axis [..., 3]."""
    first = np.cross(axis, np.array([0.0, 1.0, 0.0]))
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    return np.stack([first, np.cross(axis, first)], -2)
