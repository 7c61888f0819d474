"""Fixed gains in a scenario in which policies set them: `python -m benchmarks.ground.passage_gains SCENARIO`.

Twelve values for the whole team; with --assigned two of four for the robots by index, with --policy a learned one.
"""

import argparse
import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

from robomarl.domains.ground.lab.controllers.fixed_gain import FixedGain
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.prove.campaign.prove import hostile_gains
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario

VALUES = 12
COARSE = (0.1, 0.5, 1.5, 4.0)
SHOWN = ("success_rate", "metric_mean", "collisions", "min_distance_m", "arrival_time_s", "infeasible", "agent_steps")


class HostileGains(FixedGain):
    """Gains that a policy draws anew at each decision, which may be any."""

    def __init__(self, scenario: Any) -> None:
        """Take the scenario."""
        super().__init__(scenario)
        self._random, self._safety = np.random.default_rng(0), safety_params(scenario)

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """As `FixedGain`."""
        carry, command = super().__call__(carry, obs)
        command[..., -1] = hostile_gains(self._safety, command.shape[:-1], self._random)
        return carry, command


def flown(policy: Any, scenario: Any, config: EvalConfig) -> dict[str, Any]:
    """Some figures of one policy."""
    figures = evaluate(policy, scenario, config).figures
    return {"success_ci95": figures["success_ci95"], **{name: figures[name] for name in SHOWN}}


def assignments(count: int) -> list[tuple[float, ...]]:
    """Two of the coarse values for robots by their index; who starts where is drawn, so only how many counts."""
    pairs = itertools.combinations(COARSE, 2)
    return [(low,) * k + (high,) * (count - k) for low, high in pairs for k in range(1, count)]


def main() -> None:
    """Fly them all, and print the figures as they come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--sim", default="mujoco")
    parser.add_argument("--policy", default="")
    parser.add_argument("--assigned", action="store_true", help="assignments instead of one gain for all")
    parser.add_argument("--hostile", action="store_true", help="nothing but gains that are drawn anew all the time")
    parser.add_argument("--gap", type=float, default=0.0, help="another width of the gap [m]")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    scenario = load_scenario(args.scenario)
    if args.gap:
        scenario = narrowed(scenario, args.gap)
    config, rows = EvalConfig(args.sim, args.episodes, progress=False), []
    most = scenario.vehicle_config.safety.gain_per_s
    values = [] if args.policy or args.hostile or args.assigned else np.geomspace(0.05, most, VALUES).tolist()
    tried: list[Any] = [(gain,) * scenario.count for gain in values]
    tried += assignments(scenario.count) if args.assigned else []
    for gains in tried:
        rows.append({"gains_per_s": gains, **flown(FixedGain(scenario, gains), scenario, config)})
        print(json.dumps(rows[-1]), flush=True)
    if args.hostile:
        rows.append({"policy": "hostile", **flown(HostileGains(scenario), scenario, config)})
        print(json.dumps(rows[-1]), flush=True)
    if args.policy:
        policy = resolve_policy(args.policy, args.scenario)[0]
        rows.append({"policy": args.policy, **flown(policy, scenario, config)})
        print(json.dumps(rows[-1]), flush=True)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1))


def narrowed(scenario: Any, gap_m: float) -> Any:
    """The scenario with walls that leave another gap along y."""
    arena = scenario.arena
    walls = [_moved(wall, gap_m / 2) for wall in arena.obstacles]
    return dataclasses.replace(scenario, arena=dataclasses.replace(arena, obstacles=tuple(walls)))


def _moved(wall: Any, side_m: float) -> Any:
    (x0, y0, z0), (x1, _, z1) = wall.from_m, wall.to_m
    if y0 > 0:
        return dataclasses.replace(wall, from_m=(x0, side_m, z0))
    return dataclasses.replace(wall, to_m=(x1, -side_m, z1))


if __name__ == "__main__":
    main()
