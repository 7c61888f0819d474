"""Decisions at a lower rate than actions: `python -m benchmarks.flight.sequences swap_4 --hold 1 4 --also runs/four`.

A policy of one action is flown with each of its actions held for so many, which is what a decision rate that much lower
does to it, beside policies that were trained for sequences; all in the same episodes, behind the filter at the rate of
actions.
"""

import argparse
import json
from typing import Any

import numpy as np

from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig, FlownPolicy
from robomarl.lab.evaluate.resolve import resolve_policy

SHOWN = ("success_rate", "success_ci95", "collisions", "min_distance_m", "arrival_time_s", "position_error_m")


class HeldPolicy:
    """A policy that is asked for every n-th action only; between, its last one is held. It remembers what it did."""

    def __init__(self, policy: FlownPolicy, count: int) -> None:
        """Hold each action of `policy` for `count`."""
        self._policy, self._count = policy, count
        self.name = f"{policy.name}, held for {count}"
        self.scenario_name, self.vehicle_name = policy.scenario_name, policy.vehicle_name
        self.action, self.observation = policy.action, policy.observation

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """The policy's own memory, the action that is held, and for how many more."""
        return self._policy.init(batch), np.zeros((*batch, self.action.size), np.float32), np.zeros(batch, int)

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., A])."""
        own, held, left = carry
        after, action = self._policy(own, obs)
        decides = left == 0
        own = tuple(_pick(decides, new, old) for new, old in zip(after, own, strict=True))
        action = _pick(decides, action, held)
        return (own, action, np.where(decides, self._count - 1, left - 1)), action


def _pick(which: np.ndarray, new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Rows of `new` where `which` [...], else of `old`."""
    return np.where(which.reshape(*which.shape, *[1] * (np.ndim(new) - which.ndim)), new, old)


def study(name: str, holds: list[int], others: list[str], config: EvalConfig) -> list[dict[str, Any]]:
    """A row of figures for each policy.

    Args:
        name: bundle or run of one action.
        holds: for how many actions each of its decisions is held, a row each.
        others: further bundles and runs.
        config: of the episodes.
    """
    policy, scenario = resolve_policy(name)
    flown = [HeldPolicy(policy, count) for count in holds]
    flown += [resolve_policy(other)[0] for other in others]
    rows = []
    for one in flown:
        figures = evaluate(one, scenario, config).figures
        rows.append({"policy": one.name, **{key: figures[key] for key in SHOWN if key in figures}})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policy")
    parser.add_argument("--hold", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--also", nargs="*", default=[])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    said = parser.parse_args()
    study(said.policy, said.hold, said.also, EvalConfig(episodes=said.episodes, seed=said.seed))


if __name__ == "__main__":
    main()
