"""Which cable pulls how: the wrench on a load shared out among its cables by a quadratic program."""

import itertools
import math
from dataclasses import dataclass

import daqp
import numpy as np

from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.core.payload.statics import reach_m
from robomarl.domains.flight.lab.scenario import FlightScenario

NO_BOUND = 1e30
_HARD, _SOFT = 5, 8
"""daqp's senses of an equality, and of a bound that gives way at a price."""


@dataclass(frozen=True)
class CableRig:
    """Nominal load and its cables: the assumptions of a model-based controller."""

    mass_kg: float
    inertia_kg_m2: np.ndarray
    """[3] about the centre of mass."""
    com_m: np.ndarray
    """[3] centre of mass in the load frame."""
    point_m: np.ndarray
    """[N, 3] where the cables are tied to the load, load frame."""
    reach_m: float
    """Distance [m] from there to the vehicle's centre: the cable, stretched by its working tension, and the distance
    of its end below the centre.
    """

    @property
    def even_n(self) -> float:
        """An even part of the load's weight [N]."""
        return self.mass_kg * GRAVITY_M_S2 / len(self.point_m)


@dataclass(frozen=True)
class Spread:
    """Preferences for the cables where the wrench leaves freedom."""

    lean_rad: float = 0.4
    """They lean outwards by this angle."""
    clear_m: float = 0.9
    """Vehicles keep this distance from each other ..."""
    least_share: float = 0.3
    """... and no cable carries less than this share of an even part of the weight."""


def rig_of(scenario: FlightScenario) -> CableRig:
    """The nominal rig of a scenario with a load."""
    load, cables = scenario.load, scenario.cables
    assert load is not None and cables is not None, "a model-based controller of a load needs one"
    point, inertia = np.array(cables.load_points_m), np.array(load.inertia_kg_m2)
    return CableRig(load.mass_kg, inertia, np.array(load.com_m), point, reach_m(load, cables))


def allocate(rig: CableRig, spread: Spread, rot: np.ndarray, wrench: np.ndarray, tension_n: np.ndarray) -> np.ndarray:
    """Return the pulls on the load that make a wrench and are nearest to an even, leaning pull.

    min sum |t_i - t0_i|^2 subject to: the pulls t make the wrench (Lee, IEEE T-CST 2018, eq. 24);
    each pulls up by at least its share; vehicles i and j stay clear, which is linear in t for known
    tensions (those of the last decision). The last two give way where they can't be satisfied.

    Args:
        rig: nominal load and cables.
        spread: preferences beside the wrench.
        rot: [E, 3, 3] load frame to world.
        wrench: [E, 6] force and torque about the centre of mass, world [N, N m].
        tension_n: [E, N] tensions that are about right, for the distances only.

    Returns:
        [E, N, 3] pull of every cable [N], world.
    """
    arm = (rig.point_m - rig.com_m) @ np.swapaxes(rot, -1, -2)
    away = arm * np.array([1.0, 1.0, 0.0])
    away /= np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-6)
    first = rig.even_n * (np.array([0.0, 0.0, 1.0]) + math.tan(spread.lean_rad) * away)
    teams = zip(arm, first, wrench, tension_n, strict=True)
    return np.stack([_share_out(rig, spread, *team) for team in teams])


def _share_out(
    rig: CableRig, spread: Spread, arm: np.ndarray, first: np.ndarray, wrench: np.ndarray, tension_n: np.ndarray
) -> np.ndarray:
    """The program of one team."""
    count = len(arm)
    rows, least = _distances(rig, spread, arm, tension_n)
    up = np.kron(np.eye(count), np.array([0.0, 0.0, 1.0]))
    matrix = np.concatenate([grasp(arm), up, rows])
    low = np.concatenate([wrench, np.full(count, spread.least_share * rig.even_n), least])
    high = np.concatenate([wrench, np.full(len(low) - 6, NO_BOUND)])
    sense = np.array([_HARD] * 6 + [_SOFT] * (len(low) - 6), np.int32)
    found, _, flag, _ = daqp.solve(np.eye(3 * count), -first.ravel(), matrix, high, low, sense)
    if flag > 0:
        return np.asarray(found).reshape(first.shape)
    return first + (np.linalg.pinv(matrix[:6]) @ (wrench - matrix[:6] @ first.ravel())).reshape(first.shape)


def grasp(arm: np.ndarray) -> np.ndarray:
    """[6, 3N] from pulls to force and torque, for arms [N, 3] from the centre of mass."""
    parts = []
    for x, y, z in arm:
        parts.append(np.concatenate([np.eye(3), [[0, -z, y], [z, 0, -x], [-y, x, 0]]]))
    return np.concatenate(parts, axis=1)


def _distances(rig: CableRig, spread: Spread, arm: np.ndarray, tension_n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows [P, 3N] and right-hand sides [P]: vehicles apart, along the horizontal line between their cables' ends."""
    rows, least = [], []
    for i, j in itertools.combinations(range(len(arm)), 2):
        along = (arm[i] - arm[j]) * np.array([1.0, 1.0, 0.0])
        along = along / max(float(np.linalg.norm(along)), 1e-6)
        row = np.zeros(arm.shape)
        row[i], row[j] = rig.reach_m * along / tension_n[i], -rig.reach_m * along / tension_n[j]
        rows.append(row.ravel())
        least.append(spread.clear_m - along @ (arm[i] - arm[j]))
    return np.array(rows).reshape(-1, arm.size), np.array(least)
