"""Plants on `mujoco` with a push that no parameter of identification stands for: what a residual has to learn.

Effects are written from what is known of rotors, not from the residual's own form: they act in every sub-step, on the
bodies' true states, and know no cut-off.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.flight.planted import fly_planted
from robomarl.domains.flight.lab.engines.mujoco_bodies import MujocoBodies
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.track import RobotTrack

Effect = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Positions and velocities [E, N, 3], world [m, m/s] -> acceleration [E, N, 3], m/s^2."""
STACKED = """extends = "swap_4"
[start]
places_m = [[-1.0, -0.6, 0.9], [1.0, -0.6, 1.6], [1.0, 0.6, 0.9], [-1.0, 0.6, 1.6]]
[goal]
kind = "places"
places_m = [[0.1, -0.6, 0.9], [-0.1, -0.6, 1.68], [0.0, 0.6, 0.9], [0.6, 0.6, 1.6]]
"""
"""Two pairs of which one flies 0.7 m above the other: the first two end above each other, 0.78 m apart in height,
which is what two of these robots need to rest there; the others pass."""
WIDE_M, DEEP_M, BELOW_M = 0.4, 1.0, 0.1


def downwash(size_m_s2: float) -> Effect:
    """A vehicle is pushed down by others above and beside it, a Gaussian jet that widens into what is around it.

    So large right beside the other; e times less `WIDE_M` from its axis, a half `DEEP_M` below it, and next to nothing
    more than `BELOW_M` above it. Sizes as measured between Crazyflies by Shi et al. (Neural-Swarm, arXiv 2003.02992:
    up to 9 g of 34).
    """

    def push(pos_m: np.ndarray, vel_m_s: np.ndarray) -> np.ndarray:
        away = pos_m[..., None, :, :] - pos_m[..., :, None, :]
        wide = np.exp(-(away[..., :2] ** 2).sum(-1) / WIDE_M**2)
        above = away[..., 2]
        deep = 1 / (1 + np.exp(-(above + BELOW_M) / 0.05)) / (1 + (above / DEEP_M) ** 2)
        others = 1 - np.eye(pos_m.shape[-2])
        down = -size_m_s2 * (wide * deep * others).sum(-1)
        return np.stack([0 * down, 0 * down, down], -1)

    return push


def lost_lift(share_s2_m: float) -> Effect:
    """Rotors lose lift as the vehicle goes sideways: so many m/s^2 at 1 m/s, growing with the square of the speed."""

    def push(pos_m: np.ndarray, vel_m_s: np.ndarray) -> np.ndarray:
        down = -share_s2_m * (vel_m_s[..., :2] ** 2).sum(-1)
        return np.stack([0 * down, 0 * down, down], -1)

    return push


class PushedBodies(MujocoBodies):
    """Bodies on which an effect acts as well."""

    def __init__(self, scenario: FlightScenario, num_envs: int, effect: Effect) -> None:
        """See `MujocoBodies`."""
        super().__init__(scenario, num_envs)
        self._effect = effect

    def _substep(self) -> None:
        place, motion = self._parts()
        self._force += self._masses_kg[..., None] * self._effect(place[..., :3], motion[..., :3])
        super()._substep()


def fly_pushed(
    scenario: FlightScenario, policy: Any, planted: dict[str, np.ndarray], flights: int, effect: Effect | None
) -> list[RobotTrack]:
    """Flights of one team on such a plant, all side by side: each a team of its own of the same vehicles.

    Args:
        scenario: of the team.
        policy: that flies.
        planted: parameters [1, N], see `benchmarks.flight.planted`.
        flights: so many.
        effect: None where the plant is the model's own.
    """
    many = {name: np.repeat(value, flights, 0) for name, value in planted.items()}
    bodies = MujocoBodies if effect is None else partial(PushedBodies, effect=effect)
    teams = fly_planted(scenario, policy, many, 1, 5, bodies)
    each_s = scenario.time_limit_s + 2
    return [
        track._replace(flight=flight, seen_s=track.seen_s + flight * each_s, sent_s=track.sent_s + flight * each_s)
        for flight, tracks in enumerate(teams)
        for track in tracks
    ]
