"""Shares of robots that arrive at goals close to each other, on mujoco: `GotoPolicy`, its rules and the filter.

    python -m benchmarks.flight.goals --row 0.40 0.50 --stack 0.80 0.90

Beside each share stands the distance that `robomarl check` would ask for. It is not asked here, so that goals can be
flown to that scenario files with them are refused for.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tyro

from robomarl.core.geometry import norm
from robomarl.core.goals.rest import RestDistances, rest_distances
from robomarl.domains.flight.lab.places import GoalConfig, StartConfig
from robomarl.domains.flight.lab.world import positions, velocities
from robomarl.lab.evaluate.episodes import EpisodeRunner, Step, batch_size
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

LIMIT_S = 20.0
ACROSS_M, HEIGHT_M = 2.0, 1.3
"""Between the line of starts and that of goals, and the middle height of the goals."""


@dataclass(frozen=True)
class Options:
    """Of the command line."""

    row: tuple[float, ...] = (0.34, 0.40, 0.45, 0.50)
    """Distances [m] of four goals in a row."""
    stack: tuple[float, ...] = (0.7, 0.8, 0.9)
    """Distances [m] of two goals above each other."""
    scenario: str = "swap_4"
    """Vehicle, arena, radio and weather."""
    episodes: int = 24
    """Of each distance."""
    seed: int = 0
    filter: str = "full"
    """Safety filter: full or certificate."""


def main(options: Options) -> list[dict[str, Any]]:
    """Fly, print a row for each distance."""
    base = load_scenario(options.scenario)
    rest = rest_distances(safety_params(base), base.radio.latency_s + base.period_s)
    rows = [measured(base, in_row(d), d, rest, options) for d in options.row]
    rows += [measured(base, in_stack(d), d, rest, options) for d in options.stack]
    for row in rows:
        print("  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{value}" for key, value in row.items()))
    return rows


def in_row(distance_m: float) -> np.ndarray:
    """[4, 3] goals beside each other."""
    x = distance_m * (np.arange(4) - 1.5)
    return np.stack([x, np.full(4, ACROSS_M / 2), np.full(4, HEIGHT_M)], -1)


def in_stack(distance_m: float) -> np.ndarray:
    """[2, 3] goals above each other."""
    z = HEIGHT_M + distance_m * np.array([-0.5, 0.5])
    return np.stack([np.zeros(2), np.full(2, ACROSS_M / 2), z], -1)


def measured(base: Any, goals_m: np.ndarray, distance_m: float, rest: RestDistances, options: Options) -> dict:
    """The shares of robots that arrive and of teams of which all do, and what two robots need to rest."""
    scenario = sent(base, goals_m)
    policy, _ = resolve_policy("baseline", options.scenario)
    score = ArrivalScore(scenario, EvalConfig(episodes=options.episodes))
    size = batch_size(options.episodes)
    pilot = make_pilot(simulation_of(scenario).evaluation.mixed_team(policy, scenario), scenario, options.filter)
    sim = simulation_of(scenario).batch(scenario, "mujoco", size, options.seed)
    EpisodeRunner(pilot, sim, score.score, None).run(options.episodes, f"{distance_m} m", False)
    here = np.concatenate(score.here)
    stacked = np.ptp(goals_m[:, 2]) > 0
    return {
        "goals": "above each other" if stacked else "in a row",
        "distance_m": distance_m,
        "rest_m": float((rest.above_m if stacked else rest.beside_m) or 0.0),
        "arrived_share": float(here.mean()),
        "whole_teams": float(here.all(-1).mean()),
    }


def sent(base: Any, goals_m: np.ndarray) -> Any:
    """The scenario with these goals [N, 3], and starts 1 m apart on the other side."""
    count = len(goals_m)
    starts = [((i - (count - 1) / 2) * 1.0, -ACROSS_M / 2, HEIGHT_M) for i in range(count)]
    start = StartConfig(1.0, 0.6, HEIGHT_M, jitter_m=0.05, places_m=tuple(starts))
    goal = GoalConfig("places", places_m=tuple(map(tuple, goals_m.tolist())))
    return replace(base, count=count, start=start, goal=goal, time_limit_s=LIMIT_S)


class ArrivalScore:
    """Which robots are at their goals when the episodes end."""

    def __init__(self, scenario: Any, config: EvalConfig) -> None:
        """Take the scenario."""
        score = simulation_of(scenario).evaluation.score
        assert score is not None, "no game"
        self.score = score(scenario, config.hover_s)
        self.here: list[np.ndarray] = []
        self._count, self._success = self.score.count, scenario.success
        self._last_step = scenario.max_steps
        self.score.count = self.count

    def count(self, counts: Any, step: Step) -> Any:
        """Add one decision; at the last one [E, N] robots that are near enough and slow enough are kept."""
        after = self._count(counts, step)
        if counts.running.any() and not after.running.any():
            world, success = step.after, self._success
            near = norm(np.asarray(world.goal_m) - positions(world.body)) < success.position_m
            slow = norm(velocities(world.body)) < success.speed_m_s
            self.here.append(near & slow & ~after.failed[:, None])
        return after


if __name__ == "__main__":
    main(tyro.cli(Options))
