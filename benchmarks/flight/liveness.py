"""`bench liveness`: how long teams take to their goals behind rules and filter, beside straight through each other.

`GotoPolicy` flies straight to the goal, blind to everybody. As flown: behind the rules against deadlock and the filter,
on `mujoco`, with plans on the radio. Unfiltered: the same policy on `fast`, where robots pass through each other. A
robot's time ends when it is at its goal, within the scenario's `success.position_m`, for good. `--case` picks one
scenario.
"""

from typing import NamedTuple

import numpy as np

from benchmarks import Row
from robomarl.domains.flight.batch import TeamSim, make_team
from robomarl.domains.flight.goto import GotoPolicy
from robomarl.domains.flight.world import positions
from robomarl.evaluate.episodes import Moves
from robomarl.evaluate.pilots import make_pilot
from robomarl.sim.scenario import load_scenario

EPISODES, SECONDS, SEED = 32, 30.0, 0
CASES = ("swap_8", "swap_16", "passage_2", "queue_3")


class Flown(NamedTuple):
    """What came of some episodes."""

    time_s: np.ndarray
    """[E, N] when each robot was at its goal for good; infinite where it was not at the end."""
    closest_m: float
    """Least distance between the centres of two robots."""


def rows(cases: tuple[str, ...] = CASES, episodes: int = EPISODES, seconds: float = SECONDS) -> list[Row]:
    """Arrivals, times, and the ratio of the medians, by scenario."""
    found = []
    for name in cases:
        flown = {
            sim: arrivals(name, sim, mode, episodes, seconds) for sim, mode in (("mujoco", "full"), ("fast", "off"))
        }
        (time_s, closest_m), alone_s = flown["mujoco"], float(np.median(flown["fast"].time_s))
        median, most, nearly_all = (float(np.quantile(time_s, q)) for q in (0.5, 0.9, 0.99))
        found += [
            Row(name, "robots that arrive", float(np.isfinite(time_s).mean()), ""),
            Row(name, "least distance", closest_m, "m"),
            Row(name, "median unfiltered", alone_s, "s"),
            Row(name, "median", median, "s"),
            Row(name, "90 %", most, "s"),
            Row(name, "99 %", nearly_all, "s"),
            Row(name, "median over unfiltered", median / alone_s, ""),
        ]
    return found


def arrivals(name: str, sim: str, mode: str, episodes: int = EPISODES, seconds: float = SECONDS) -> Flown:
    """Fly episodes side by side on an engine, behind a mode of the filter."""
    scenario = load_scenario(name)
    policy = GotoPolicy(scenario)
    return fly(make_team(scenario, sim, episodes, SEED), make_pilot(policy, scenario, mode), seconds)  # type: ignore[arg-type]


def fly(team: TeamSim, pilot: Moves, seconds: float) -> Flown:
    """Fly a batch; nothing ends an episode before the time is over."""
    scenario = team.scenario
    world = team.reset()
    carry, time_s, closest_m = pilot.init(team.views()), np.zeros((team.num_envs, scenario.count)), np.inf
    for tick in range(round(seconds / scenario.period_s)):
        carry, result = pilot.step(carry, team.views())
        world = team.step(result.command, pilot.plan(carry))
        away = np.linalg.norm(positions(world.body) - world.goal_m, axis=-1) > scenario.success.position_m
        time_s = np.where(away, (tick + 2) * scenario.period_s, time_s)
        closest_m = min(closest_m, float(np.min(world.closest_m)))
    return Flown(np.where(away, np.inf, time_s), closest_m)
