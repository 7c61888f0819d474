"""Teams of any size by one policy: `python -m benchmarks.ground.crowds POLICY --scenario hall_64`.

Besides who arrives: how long ways are for each metre of the straight one, and with `--apart-s` what becomes of teams
whose clocks differ. Starts are those of `robomarl eval --sim fast` with the same seed and as many episodes.
"""

import argparse
import json
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.geometry import norm
from robomarl.lab.evaluate.intervals import wilson
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.simulation import simulation_of


class Drives(NamedTuple):
    """E teams of N robots, while they are under way: until all are at their goals, or time is up."""

    running: np.ndarray
    """[E] bool."""
    way_m: np.ndarray
    """[E, N] driven."""
    least_m: np.ndarray
    """[E] least distance of two robots."""
    after_s: np.ndarray
    """[E]"""
    there: np.ndarray
    """[E, N] bool: at the goal."""


def drive(policy: Any, scenario: Any, teams: int, seed: int, apart_s: float) -> dict[str, Any]:
    """Figures of so many teams on `fast`, filter on.

    Args:
        policy: of `robomarl.lab.evaluate.resolve`.
        scenario: a `GroundScenario`, each of whose robots has a goal.
        teams: E.
        seed: of starts, and of the clocks.
        apart_s: every robot's time since it was activated is ahead of the simulation's by up to so much, drawn.
    """
    sim, pilot = simulation_of(scenario).batch(scenario, "fast", teams, seed), make_pilot(policy, scenario, "full")
    world = first = sim.reset()
    ahead_s = np.random.default_rng(seed).uniform(0, apart_s, world.pos_m.shape[:2]).astype(np.float32)
    carry, zero = pilot.init(sim.views()), np.zeros(teams)
    done = Drives(zero == 0, world.pos_m[..., 0] * 0.0, zero + np.inf, zero, world.pos_m[..., 0] == np.inf)
    while done.running.any() and world.step.max() < scenario.max_steps:
        views = sim.views()
        carry, result = pilot.step(carry, views._replace(time_s=views.time_s + ahead_s))
        before, world = world, sim.step(result.command, pilot.plan(carry))
        done = counted(scenario, done, before, world)
    straight_m = norm((first.goal_m - first.pos_m)[..., :2]).sum(-1)
    share = (done.way_m.sum(-1) / straight_m)[~done.running]
    return {
        "succeeded": int((~done.running).sum()),
        "success_ci95": wilson(int((~done.running).sum()), teams),
        "arrival_time_s": float(done.after_s[~done.running].mean()),
        "arrived_share": float(done.there.mean()),
        "way_over_straight": float(share.mean()),
        "min_distance_m": float(done.least_m.min()),
    }


def counted(scenario: Any, done: Drives, before: Any, after: Any) -> Drives:
    """One decision more of the teams that are under way."""
    on = done.running
    there = norm((after.goal_m - after.pos_m)[..., :2]) < scenario.goal_radius_m
    moved = norm((after.pos_m - before.pos_m)[..., :2])
    return Drives(
        on & ~there.all(-1),
        done.way_m + np.where(on[:, None], moved, 0.0),
        np.where(on, np.minimum(done.least_m, after.closest_m.min(-1)), done.least_m),
        np.where(on, after.step * scenario.period_s, done.after_s),
        np.where(on[:, None], there, done.there),
    )


def main() -> None:
    """Print the figures of one policy in one scenario."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policy")
    parser.add_argument("--scenario", required=True)
    parser.add_argument("--teams", type=int, default=24)
    parser.add_argument("--seed", type=int, default=105)
    parser.add_argument("--apart-s", type=float, default=0.0)
    args = parser.parse_args()
    policy, scenario = resolve_policy(args.policy, args.scenario)
    found = drive(policy, scenario, args.teams, args.seed, args.apart_s)
    print(json.dumps({**vars(args), "robots": scenario.count, **found}))


if __name__ == "__main__":
    main()
