"""A policy that goes on with more inputs than it had: at first its output does not depend on the new
inputs.

The weights on the new inputs are zero, as Net2Net (Chen et al., ICLR 2016) widens a network without
changing its function. Inputs are found by name, so their order may differ. With weights of zero any
scale is right at first; the final scale is measured while the policy flies, before the first
update.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs
from brax.training.acme.running_statistics import RunningStatisticsState

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.spec import ObservationSpec
from robomarl.core.types import Array
from robomarl.lab.evaluate.resolve import is_run
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.algorithm import is_game, training_env
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.initial.first_layers import first_layers
from robomarl.lab.train.initial.wider import widened
from robomarl.lab.train.mappo import untouched_range
from robomarl.lab.train.networks import entity_slices
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.rollout import collect_rollout
from robomarl.lab.train.run.run_folder import load_recipe_of, read_weights
from robomarl.lab.train.state import TrainState, count_in


def read_fitting(source: str, config: TrainConfig, env: AgentsEnv, said: str) -> Mapping[str, np.ndarray]:
    """The weights of a run folder or a bundle, which errors call `said`, for this run.

    Raises:
        UserError: as `read_weights` and `fitted`.
    """
    weights = read_weights(source, env.scenario.name)
    return fitted(weights, observation_of(source), config, env, said)


def observation_of(source: str) -> ObservationSpec:
    """Return the observation of the policy of a run folder or a bundle."""
    if not is_run(Path(source)):
        return load_bundle(source).contract.observation.spec
    config, scenario, _ = load_recipe_of(Path(source))
    return training_env(config, scenario).observation


def fitted(
    weights: Mapping[str, np.ndarray], had: ObservationSpec, config: TrainConfig, env: AgentsEnv, source: str
) -> Mapping[str, np.ndarray]:
    """Return a policy's weights that saw `had`, in the width and with the inputs of a run: an equal
    function of the inputs that both see.

    Statistics of a new input are those of one that was never seen (`untouched_range`), until
    `with_scales`.

    Raises:
        UserError: see `check_inputs`.
    """
    weights = widened(weights, had, config, env)
    before, after = had.element_names(), env.observation.element_names()
    if before == after:
        return weights
    check_inputs(had, config, env, source)
    fresh = {f"['obs_range'][{i}]": value for i, value in enumerate((np.inf, -np.inf))}
    for name in ("obs_stats", *(["critic_stats"] if config.algorithm == "ippo" else [])):
        fresh |= {
            f"['{name}'].{part}": value for part, value in (("mean", 0.0), ("std", 1.0), ("summed_variance", 0.0))
        }
    rows = {name: by_name(weights[name], before, after, value) for name, value in fresh.items()}
    old, new = (first_layers(config, spec) for spec in (had, env.observation))
    for name in old.keys() & weights.keys():
        rows[name] = np.moveaxis(by_name(np.moveaxis(weights[name], -2, 0), old[name], new[name], 0.0), 0, -2)
    return {**weights, **rows}


def check_inputs(had: ObservationSpec, config: TrainConfig, env: AgentsEnv, source: str) -> None:
    """Raise `UserError` if a policy with inputs `had` can't go on in the run: the run does not show one of its
    inputs, has another number of neighbours as a set, which is no function of fewer, or is a game, in which
    scales can't be measured.
    """
    here, what = env.scenario.name, ""
    shown = env.observation.element_names()
    if lost := [name for name in had.element_names() if name not in shown]:
        what = f"sees {', '.join(lost[:3])}{' and more' if lost[3:] else ''}, and {here} does not show it"
    elif is_game(env):
        what = f"has fewer inputs than {here} shows, and in games none can be added"
    elif config.network.encoder != "flat" and sets(had) != sets(env.observation):
        what = f"looks at {sets(had)} neighbours as a set, and {here} shows {sets(env.observation)}"
    if what:
        raise UserError(f"{source}: its policy {what}; start from one that fits, or train from nothing.")


def sets(observation: ObservationSpec) -> str:
    """How many neighbours each set of an observation has."""
    return ", ".join(str(count) for _, count, _ in entity_slices(observation))


def by_name(rows: np.ndarray, before: list[str], after: list[str], value: float) -> np.ndarray:
    """[before, ...] -> [after, ...]: each row where its name is now, `value` where there was none."""
    if len(rows) != len(before):
        return rows  # of another network, which is said where it has to fit
    found = np.full((len(after), *rows.shape[1:]), value, rows.dtype)
    found[[after.index(name) for name in before]] = rows
    return found


def with_scales(config: TrainConfig, env: AgentsEnv, state: TrainState) -> TrainState:
    """Return the state with mean, deviation and range of every input never seen before, measured over an episode's
    length of decisions by the present policy. Everything else stays unchanged, also the policy: its weights on
    these are zero.
    """
    low, high = (np.asarray(bound) for bound in state.obs_range)
    unseen = low > high
    if not unseen.any() or unseen.all():
        return state
    seen, bounds = jax.jit(partial(fly, config, env))(state)
    pick = partial(jnp.where, unseen)

    def scaled(old: RunningStatisticsState) -> RunningStatisticsState:
        samples: Array = old.count
        before: tuple[Array, Array, Array] = old.mean, old.std, old.summed_variance
        count = float(samples.hi) * 2.0**32 + float(samples.lo)
        return replace(
            old,
            mean=pick(seen.mean, before[0]),
            std=pick(seen.std, before[1]),
            summed_variance=pick(count * seen.std**2, before[2]),
        )

    critic = scaled(state.critic_stats) if config.algorithm == "ippo" else state.critic_stats
    obs_range = tuple(pick(new, old) for new, old in zip(bounds, state.obs_range, strict=True))
    return state._replace(obs_stats=scaled(state.obs_stats), critic_stats=critic, obs_range=obs_range)


def fly(config: TrainConfig, env: AgentsEnv, state: TrainState) -> tuple[Array, tuple]:
    """Statistics and range of the observation while the policy flies for an episode's length."""
    networks = networks_of(config, env)
    size = env.observation_size

    def play(carry: tuple, _: None) -> tuple[tuple, None]:
        here, seen, (low, high) = carry
        here, rollout = collect_rollout(config, env, networks, here)
        obs = rollout.obs
        low, high = jnp.minimum(low, obs.min((0, 1, 2))), jnp.maximum(high, obs.max((0, 1, 2)))
        return (here, count_in(seen, obs), (low, high)), None

    blank = stats.init_state(specs.Array((size,), jnp.dtype("float32")))
    rollouts = -(-env.scenario.max_steps // config.unroll)
    (_, seen, bounds), _ = jax.lax.scan(play, (state, blank, untouched_range(size)), None, length=rollouts)
    return seen, bounds
