"""Train swap_4 with Brax's own PPO: the environment is a `brax.envs.Env`, the robots are folded into the batch."""

import sys

from brax.training.agents.ppo import train as ppo

from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.wrappers import flatten_agents


def main(agent_steps: int = 2_000_000, num_envs: int = 512) -> dict:
    """Train for this many agent-steps; returns Brax's last metrics."""
    env = make_env(load_scenario("swap_4"))
    found: dict = {}
    ppo.train(
        env,
        num_timesteps=agent_steps // env.num_agents,  # Brax counts a team's decision as one step
        episode_length=env.scenario.max_steps,
        wrap_env_fn=flatten_agents,
        num_envs=num_envs,
        num_eval_envs=16,
        num_evals=2,
        unroll_length=16,
        batch_size=num_envs // 4,
        num_minibatches=4,
        num_updates_per_batch=4,
        normalize_observations=True,
        discounting=0.99,
        learning_rate=1e-3,
        entropy_cost=2e-3,
        progress_fn=lambda steps, metrics: found.update(metrics, steps=steps),
    )
    print({name: float(value) for name, value in found.items() if "reward" in name and "std" not in name})
    return found


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
