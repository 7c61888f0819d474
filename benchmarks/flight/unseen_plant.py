"""A bundle or run on a plant that training never saw: `python -m benchmarks.flight.unseen_plant swap_4`."""

import argparse
import json
from typing import Any

from benchmarks.flight.first_principles import FirstPrinciplesTeam
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.episodes import batch_size
from robomarl.lab.evaluate.evaluate import evaluate_on
from robomarl.lab.evaluate.evaluation import HOVER_S, EvalConfig
from robomarl.lab.evaluate.resolve import resolve_policy

SHOWN = (
    *("success_rate", "success_ci95", "collisions", "min_distance_m", "arrival_time_s"),
    *("hover_accel_std_m_s2", "hover_tilt_rad", "hover_error_m"),
)


def fly(name: str, episodes: int, seed: int, mode: str, scenario: str | None = None) -> dict[str, Any]:
    """Figures of `robomarl eval`, of the plant of `first_principles`; it flies with the filter's `mode`.

    Raises:
        UserError: nothing of that name, or a policy of another vehicle.
    """
    policy, world = resolve_policy(name, scenario, kind=FlightScenario)
    config = EvalConfig("first_principles", episodes, seed, mode, hover_s=HOVER_S)
    return evaluate_on(FirstPrinciplesTeam(world, batch_size(episodes), seed), policy, config).figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policy")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--filter", default="full")
    parser.add_argument("--scenario")
    said = parser.parse_args()
    figures = fly(said.policy, said.episodes, said.seed, said.filter, said.scenario)
    print(json.dumps({name: figures[name] for name in SHOWN}, indent=1))


if __name__ == "__main__":
    main()
