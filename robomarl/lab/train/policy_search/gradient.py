"""The gradient of the engine through a law with a network: `algorithm = "gradient"`.

The reward of the first decisions of an episode (`unroll`) is a function of the network's weights through commands,
physics, observations and rewards, and `jax.grad` goes through this whole chain, as in SHAC, but without a critic: it is
for tasks in which all is decided soon. The law's numbers stay as the recipe has them ([search] start).

Gradients of single episodes are clipped before their mean is taken (`max_grad_norm`): a few steep ones, near a jump of
the reward, would drown the others.
"""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

from robomarl.core.config import UserError
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.law import Gains, NetworkLaw
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import SearchConfig, TrainConfig
from robomarl.lab.train.policy_search.search import SearchOptions, first_gains, kept_if_stopped, names, seen_by
from robomarl.lab.train.policy_search.structured import gained_law, picker, save_law
from robomarl.lab.train.run.logs import Logs
from robomarl.lab.train.run.run_folder import create_run
from robomarl.lab.trees import Params

LAST_RATE = 0.05
"""Last learning rate over the first; it falls as a cosine."""


def gradient_run(config: TrainConfig, scenario: Scenario, options: SearchOptions) -> dict:
    """Train the network of the scenario's law, and save the law as a run folder.

    Raises:
        UserError: the scenario's law has no network, the recipe names an unknown gain or has keys of the search
            alone, or the folder exists.
    """
    law = gained_law(scenario, "gradient")
    if not isinstance(law, NetworkLaw):
        raise UserError(
            f'{scenario.name}.toml: algorithm = "gradient" is for a law with a network, which task = {scenario.task!r} '
            'has not; use algorithm = "search".'
        )
    with names(options.recipe):
        check_keys(config)
        start = law.with_gains(first_gains(law, config.search.start)).with_network(options.seed)
    env = training_env(config, scenario)
    create_run(options.out, config, scenario, options.seed, options.ancestry)

    def keep(found: Params) -> None:
        """Save the law with this network."""
        best = start._replace(**jax.tree.map(np.asarray, found))
        save_law(options.out, best, seen_by(scenario, law.with_gains(best), options.seed))

    row = descend(config, env, (law, start), options, keep)
    return {"run": str(options.out), "scenario": scenario.name, **row}


def check_keys(config: TrainConfig) -> None:
    """Raise `UserError` for keys of `[search]` that only a search reads."""
    plain = SearchConfig()
    for key in (field.name for field in fields(SearchConfig) if field.name != "start"):
        if getattr(config.search, key) != getattr(plain, key):
            raise UserError(
                f'search.{key} of the recipe is of algorithm = "search" alone, not of "gradient"; leave it out.'
            )


def descend(
    config: TrainConfig,
    env: AgentsEnv,
    fixed: tuple[NetworkLaw, Gains],
    options: SearchOptions,
    keep: Callable[[Params], None],
) -> dict[str, float]:
    """Move the weights until the recipe's agent-steps or the minutes are spent, or Ctrl-C, and `keep` them.

    Returns the log's last row; it has a row for each update.
    """
    network = {name: jnp.asarray(value) for name, value in fixed[1]._asdict().items() if jnp.ndim(value)}
    steps = config.num_envs * config.unroll * env.num_agents
    rates, update = rates_of(config, steps), make_step(config, env, fixed)
    moments, key, row = optax.scale_by_adam().init(network), jax.random.key(options.seed), {}
    started = time.monotonic()
    with kept_if_stopped(options, lambda: keep(network)), closing(Logs(options.out, 0)) as logs:
        for i in tqdm(range(max(1, config.last_step // steps)), "updates", disable=options.quiet or None):
            if row and time.monotonic() - started > 60 * options.minutes:
                break
            rate = jnp.asarray(rates(i), jnp.float32)
            network, moments, reward = update(network, moments, jax.random.fold_in(key, i), rate)
            row = {"update": i + 1, "steps": (i + 1) * steps, "score": float(reward)}
            row["seconds"] = time.monotonic() - started
            logs.write(row)
    keep(network)
    return row


def rates_of(config: TrainConfig, steps: int) -> optax.Schedule:
    """Return the learning rate over updates of `steps` agent-steps each. The schedule ends at `total_steps`, also if
    `stop_after` ends the run earlier."""
    return optax.cosine_decay_schedule(config.learning_rate, max(1, config.total_steps // steps), LAST_RATE)


def make_step(config: TrainConfig, env: AgentsEnv, fixed: tuple[NetworkLaw, Gains]):
    """Return the jitted function (weights, moments, key, rate) -> (weights, moments, [] mean reward)."""
    law, start = fixed
    pick = picker(env.observation, law.observation)

    def loss(network: Params, key: jax.Array) -> jax.Array:
        flown = law.with_gains(start._replace(**network))

        def decide(now: tuple, _: None) -> tuple[tuple, jax.Array]:
            state, alive = now
            after = env.step(state, flown.act(pick(state.obs)))
            return (after, alive * (1 - after.done)), alive * after.reward.mean()

        first = (env.reset(key), jnp.ones(()))
        return -jax.lax.scan(decide, first, None, length=config.unroll)[1].sum()

    @jax.jit
    def step(network: Params, moments: optax.OptState, key: jax.Array, rate: jax.Array) -> tuple:
        keys = jax.random.split(key, config.num_envs)
        losses, slopes = jax.vmap(jax.value_and_grad(loss), (None, 0))(network, keys)
        mean = jax.tree.map(lambda g: g.mean(0), jax.vmap(lambda g: clipped(config, g))(slopes))
        moves, moments = optax.scale_by_adam().update(mean, moments)
        return jax.tree.map(lambda w, m: w - rate * m, network, moves), moments, -losses.mean()

    return step


def clipped(config: TrainConfig, slope: Params) -> Params:
    """Return the gradient of an episode, scaled down to `max_grad_norm`; 0 if it is not finite."""
    size = optax.global_norm(slope)
    scale = jnp.where(jnp.isfinite(size), jnp.minimum(1.0, config.max_grad_norm / jnp.maximum(size, 1e-9)), 0.0)
    return jax.tree.map(lambda g: jnp.where(scale > 0, g * scale, 0.0), slope)
