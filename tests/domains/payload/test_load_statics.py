"""What a team can hold at all after a cable has been cut: statics, by linear programs."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from robomarl.core.geometry import rotation_matrix
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.core.payload.statics import skew
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.sim.scenario import load_scenario

MOST_N = 19.0
"""Vertical pull that a vehicle of `lift_4` has left."""
SIDES = 2 * math.pi * np.arange(16) / 16


def holds(rot: np.ndarray, arms: np.ndarray, mass_kg: float, lean_rad: float) -> bool:
    """Whether pulls at these points [N, 3], from the centre of mass, load frame, hold a load at rest.

    Cables lean from the vertical by an angle at most, to 16 sides.
    """
    count = len(arms)
    grasp = np.concatenate([np.concatenate([np.eye(3), skew(rot @ arm)]) for arm in arms], 1)
    cone = np.stack([np.cos(SIDES), np.sin(SIDES), np.full(16, -math.tan(lean_rad))], -1)
    cone = np.concatenate([cone, [[0.0, 0.0, 1.0]]])
    bound = np.tile([0.0] * 16 + [MOST_N], count)
    weight = np.array([0.0, 0.0, mass_kg * GRAVITY_M_S2, 0.0, 0.0, 0.0])
    free = [(None, None)] * (3 * count)
    found = linprog(np.zeros(3 * count), np.kron(np.eye(count), cone), bound, grasp, weight, free)
    return found.status == 0


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation matrix (Rodrigues)."""
    matrix = skew(axis / np.linalg.norm(axis))
    return np.eye(3) + math.sin(angle) * matrix + (1 - math.cos(angle)) * matrix @ matrix


CORNERS = np.array([[0.27, 0.22, 0.08], [0.27, -0.22, 0.08], [-0.27, -0.22, 0.08]])
"""Three corners of a rectangle from its middle, 8 cm below."""


def test_three_corners_hold_what_hangs_between_them():
    """A centre of mass beyond the diagonal by d hangs below it after a turn by atan(d / 8 cm), and not before."""
    straight = 0.01
    assert holds(np.eye(3), CORNERS - [0.02, -0.02, 0.0], 1.87, straight)
    beyond, diagonal = CORNERS - [-0.02, 0.02, 0.0], np.array([0.27, 0.22, 0.0])
    hangs = math.atan((0.02 * 0.22 + 0.02 * 0.27) / math.hypot(0.27, 0.22) / 0.08)
    turns = [hangs - 0.04, hangs, hangs + 0.04]
    assert not holds(np.eye(3), beyond, 1.87, straight)
    assert [holds(about(diagonal, -turn), beyond, 1.87, straight) for turn in turns] == [False, True, True]
    assert not holds(np.eye(3), CORNERS - [0.02, -0.02, 0.0], 3 * MOST_N / GRAVITY_M_S2 + 0.1, 1.0), "too heavy"


@pytest.mark.slow
@pytest.mark.parametrize(("lean_rad", "share"), [(0.8, 0.77), (1.0, 0.88), (1.2, 1.0)])
def test_what_four_can_hold_with_a_cable_cut(lean_rad: float, share: float):
    """Share of the episodes of `eval --scenario lift_4_lost --perturb cut_s=5` in which some attitude within 20 degrees
    of the goal, about the diagonal, can be held: no controller does better."""
    team = make_team(perturbed(load_scenario("lift_4_lost"), ["cut_s=5"]), "mujoco", 60, 0)
    team.reset()
    load = team.world.load
    cargo, goals = load.cargo, rotation_matrix(load.goal_quat[:, 0])  # type: ignore[union-attr]
    points, centre = np.stack(cargo.point_m, -1), np.stack(cargo.com_m, -1)
    lost, turns = (cargo.cut_s < team.scenario.time_limit_s).argmax(-1), np.radians(np.arange(-19.0, 20.0))
    held = []
    for env, goal in enumerate(goals):
        kept = [i for i in range(4) if i != lost[env]]
        ends = [points[env, i] for i in kept if (i - lost[env]) % 4 != 2]
        diagonal, arms = goal @ (ends[1] - ends[0]), points[env, kept] - centre[env]
        held.append(any(holds(about(diagonal, t) @ goal, arms, cargo.mass_kg[env], lean_rad) for t in turns))
    assert np.mean(held) == pytest.approx(share, abs=0.01)
