"""Our trainer and Brax's PPO as they learn swap_4: what each had learned when, to be judged on `mujoco` afterwards.

Each learner runs in a process of its own that starts with an empty compilation cache; its clock starts before the
process does, so that imports and compilation count.
"""

import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

SNAPSHOT_STEPS = 100_000
"""Agent-steps between two snapshots: about a second."""
SUCCESS, EPISODES, PROBE = 0.95, 200, 32
"""A snapshot has succeeded when this share of this many episodes does; few episodes show most that have not."""
BRAX_BEST = {
    "num_envs": 128, "unroll_length": 32, "batch_size": 32, "num_minibatches": 4, "num_updates_per_batch": 2,
    "learning_rate": 1e-3, "entropy_cost": 2e-3, "discounting": 0.99, "clipping_epsilon": 0.2, "max_grad_norm": 1.0,
    "reward_scaling": 10.0,
}  # fmt: skip
"""The best settings of Brax's PPO that were found for swap_4; see docs/log/learners.md, "Time to success"."""


class Snapshot(NamedTuple):
    """What had been learned at one time."""

    seconds: float
    """Since before the process started."""
    steps: int
    """Agent-steps."""
    learned: Any
    """Parameters and statistics, as numpy arrays."""


def learn(learner: Any, seed: int) -> list[Snapshot]:
    """Run one of the learners below in a fresh process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        context = multiprocessing.get_context("spawn")
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=_child, args=(learner, seed, cache, time.time(), send))
        process.start()
        send.close()
        try:
            return receive.recv()
        finally:
            process.join()


def _child(learner: Any, seed: int, cache: str, started: float, send: Any) -> None:
    os.environ["XDG_CACHE_HOME"] = cache
    send.send(learner(seed, started))
    send.close()


def robomarl(seed: int, started: float) -> list[Snapshot]:
    """`robomarl train swap_4`, whole, with its own evaluations on the way."""
    import jax

    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import load_recipe
    from robomarl.lab.train.polyak import deployed
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.run.runner import train_run

    found: list[Snapshot] = []

    def keep(state: Any, rows: list) -> None:
        steps = int(rows[0]["steps"])
        if not found or steps - found[-1].steps >= SNAPSHOT_STEPS:
            learned = jax.device_get((deployed(state), state.obs_stats))
            found.append(Snapshot(time.time() - started, steps, learned))

    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(Path(folder) / "run", seed, quiet=True, on_update=keep)
        train_run(load_recipe("swap_4")[0], load_scenario("swap_4"), options)
    return found


def brax(seed: int, started: float, agent_steps: int = 12_000_000) -> list[Snapshot]:
    """Brax's PPO at its best settings, without evaluations."""
    import jax

    from robomarl.lab.sim.engines.compiler import keep_compiled

    keep_compiled()
    found: list[Snapshot] = []

    def keep(steps: int, make_policy: Any, params: Any) -> None:
        found.append(Snapshot(time.time() - started, steps * 4, jax.device_get(params[:2])))

    run_brax(BRAX_BEST, agent_steps, keep, seed=seed, num_evals=agent_steps // SNAPSHOT_STEPS)
    return found


def run_brax(settings: dict[str, Any], agent_steps: int, on_policy: Any, **more: Any) -> None:
    """Brax's PPO on swap_4 with the recipe's networks."""
    from brax.training.agents.ppo import train as ppo

    from robomarl.lab.sim.env import make_env
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.sim.wrappers import flatten_agents

    env = make_env(load_scenario("swap_4"))
    ppo.train(
        env,
        num_timesteps=agent_steps // env.num_agents,  # Brax counts a team's decision as one step
        episode_length=env.scenario.max_steps,
        wrap_env_fn=flatten_agents,
        normalize_observations=True,
        network_factory=brax_networks,  # type: ignore[arg-type]
        run_evals=False,
        policy_params_fn=on_policy,
        **settings,
        **more,
    )


def brax_networks(observation_size: Any, action_size: int, preprocess_observations_fn: Any) -> Any:
    """Brax's networks with the layers of the recipe."""
    from brax.training.agents.ppo.networks import make_ppo_networks
    from flax import linen as nn

    return make_ppo_networks(
        observation_size,
        action_size,
        preprocess_observations_fn=preprocess_observations_fn,
        policy_hidden_layer_sizes=(64, 64),
        value_hidden_layer_sizes=(64, 64),
        activation=nn.tanh,
    )
