"""Learners and networks beside each other: `python -m benchmarks.ground.learners RECIPE --out FOLDER`.

MAPPO and IPPO command accelerations, PQN way-points. Each trains for the same CPU time of its updates, then the team as
it is at last flies behind the filter. What PQN needs and others do not (`PQN`) is that of recipe `navigation_pqn`; all
else is the recipe's own.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

LEARNERS = ("mappo", "ippo", "pqn")
NETWORKS: dict[str, dict[str, Any]] = {"flat": {}, "gru": {"memory": "gru"}, "graph": {"encoder": "graph"}}
"""What is other in each than in the recipe's network."""
PQN: dict[str, Any] = {"num_envs": 128, "minibatches": 8, "value_horizon_s": 8.0, "credit_s": 3.0}
TIMED = 8
"""Updates that say how many a second of CPU time has."""


def recipe_of(recipe: str, learner: str, network: str) -> Any:
    """The `TrainConfig` of one cell of the table; a choice of PQN stays for a published step, eight make a rollout."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import load_recipe

    config, _ = load_recipe(recipe)
    config = replace(config, algorithm=learner, network=replace(config.network, **NETWORKS[network]))
    if learner != "pqn":
        return config
    scenario = load_scenario(config.scenario)
    return replace(config, **PQN, unroll=8 * round(scenario.reward_step_s * scenario.rates.policy_hz))


def steps_in(config: Any, cpu_s: float) -> int:
    """Agent-steps that so much CPU time is enough for, compilation not counted."""
    import jax

    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.algorithm import init_state, make_update, per_update, training_env

    env = training_env(config, load_scenario(config.scenario))
    state = jax.jit(lambda key: init_state(config, env, key))(jax.random.key(0))
    update = jax.jit(make_update(config, env))
    for _ in range(2):  # the second call may compile anew: types of constants are weak in the first
        state = jax.block_until_ready(update(state)[0])
    started = time.process_time()
    for _ in range(TIMED):
        state = jax.block_until_ready(update(state)[0])
    each = (time.process_time() - started) / TIMED
    return per_update(config, env) * max(1, round(cpu_s / each))


def train(config: Any, seed: int, steps: int, out: Path) -> float:
    """A run folder; gives the CPU time of its updates after the second, which may compile, scaled to all of them."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.run.runner import train_run

    times: list[float] = []
    options = RunOptions(out, seed, steps=steps, quiet=True, evaluations=0)
    options = replace(options, save_every_s=1e9, on_update=lambda *_: times.append(time.process_time()))
    train_run(config, load_scenario(config.scenario), options)
    return (times[-1] - times[1]) * len(times) / (len(times) - 2)


def fly(out: Path, scenario: str, seed: int, episodes: int) -> dict[str, Any]:
    """Figures of `robomarl eval` on `fast`, filter on."""
    from robomarl.lab.evaluate.evaluate import evaluate
    from robomarl.lab.evaluate.evaluation import EvalConfig
    from robomarl.lab.evaluate.resolve import resolve_policy

    config = EvalConfig("fast", episodes, seed, progress=False)
    policy, flown = resolve_policy(str(out), scenario)
    return evaluate(policy, flown, config).figures


def main() -> None:
    """Print a row for each run; those of a cell are in FOLDER/LEARNER_NETWORK.json too."""
    from robomarl.lab.sim.engines.compiler import keep_compiled

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenario", default="", help="to evaluate in; by default the recipe's name")
    parser.add_argument("--cpu-s", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=LEARNERS)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=tuple(NETWORKS))
    args = parser.parse_args()
    keep_compiled()
    rows = []
    for learner, network in ((x, y) for y in args.networks for x in args.learners):
        config = recipe_of(args.recipe, learner, network)
        steps = steps_in(config, args.cpu_s)
        for seed in range(args.seeds):
            out = args.out / f"{learner}_{network}_{seed}"
            row = {"learner": learner, "network": network, "seed": seed, "steps": steps}
            row["cpu_s"] = round(train(config, seed, steps, out), 1)
            found = fly(out, args.scenario or args.recipe, 1000, args.episodes)
            row |= {k: v for k, v in found.items() if k.startswith(("success", "return")) or k == "collisions"}
            rows.append(row)
            print(row, flush=True)
        (args.out / f"{learner}_{network}.json").write_text(json.dumps(rows[-args.seeds :], indent=1))


if __name__ == "__main__":
    main()
