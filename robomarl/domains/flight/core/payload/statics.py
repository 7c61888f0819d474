"""Which pulls hold the load still in any attitude, and so where each vehicle belongs.

The grasp matrix G maps the cables' pulls f (load frame) to force and moment about the centre of mass. At rest
G f = (m g u, 0), u the direction of up in the load frame. Pulls of least size are the pseudo-inverse's; on top come
pulls that cancel each other and spread the vehicles: along the lines between the points of attachment.
"""

import math
from itertools import combinations

import numpy as np

from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig


def grip_matrix(load: LoadConfig, cables: CableConfig) -> np.ndarray:
    """[N, 3, 4] matrices: times (u, 1) they give each cable's pull [N], load frame."""
    arms = np.array(cables.load_points_m) - np.array(load.com_m)
    grasp = np.concatenate([np.concatenate([np.eye(3), skew(arm)]) for arm in arms], 1)
    weight = np.linalg.pinv(grasp)[:, :3].reshape(-1, 3, 3) * load.mass_kg * GRAVITY_M_S2
    return np.concatenate([weight, spreading(load, cables, arms)[..., None]], -1)


def reach_m(load: LoadConfig, cables: CableConfig) -> float:
    """Return the distance [m] from an attachment point on the load to the centre of a hovering vehicle: the cable
    length stretched under an even share of the weight, plus the distance of the cable's end below the vehicle's
    centre.
    """
    even = load.mass_kg * GRAVITY_M_S2 / len(cables.load_points_m)
    return cables.length_m + even / cables.stiffness_n_m - cables.vehicle_point_m[2]


def spreading(load: LoadConfig, cables: CableConfig, arms: np.ndarray) -> np.ndarray:
    """[N, 3] pulls without force or moment, so large that cables lean by `spread_rad` on average when level."""
    apart = arms[:, None] - arms[None]
    apart = apart / np.maximum(np.linalg.norm(apart, axis=-1, keepdims=True), 1e-9)
    pulls = apart.sum(1)
    lift = load.mass_kg * GRAVITY_M_S2 / len(arms)
    return pulls * (lift * math.tan(cables.spread_rad) / np.linalg.norm(pulls, axis=-1).mean())


def skew(v: np.ndarray) -> np.ndarray:
    """The matrix of the cross product with a vector."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def widest_load_m(load: LoadConfig, cables: CableConfig) -> float:
    """Largest distance [m] of two vehicles that carry a load together, with cables as they stretch in hover."""
    points = [math.dist(a, b) for a, b in combinations(cables.load_points_m, 2)]
    return max(points, default=0.0) + 2 * reach_m(load, cables)
