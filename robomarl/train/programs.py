"""Which training program a scenario takes: MAPPO for teams, self-play for games. Both have one interface."""

from collections.abc import Callable
from typing import Any

import jax

from robomarl.sim.env import make_env
from robomarl.sim.soccer.env import SoccerEnv
from robomarl.sim.soccer.scenario import load_soccer
from robomarl.train import mappo, turns
from robomarl.train.config import TrainConfig
from robomarl.train.state import Metrics, TrainState

Update = Callable[[TrainState], tuple[TrainState, Metrics]]


def training_env(config: TrainConfig, scenario: Any) -> Any:
    """The environment that a run trains in."""
    return make_env(scenario, weights=config.weights, safety=config.filter, starts=config.self_play.starts)


def games(config: TrainConfig, env: SoccerEnv) -> list[SoccerEnv]:
    """The run's own game and those that take turns with it.

    Raises:
        UserError: unknown scenario, or one whose robots see or do something else.
    """
    found = [env, *(training_env(config, load_soccer(name)) for name in config.self_play.also)]
    turns.check_alike(found)
    return found


def init_state(config: TrainConfig, env: Any, key: jax.Array) -> TrainState:
    """The state before the first update."""
    if isinstance(env, SoccerEnv):
        return turns.init_turns(config, games(config, env), key)
    return mappo.init_state(config, env, key)


def make_update(config: TrainConfig, env: Any) -> Update:
    """One rollout and the gradient steps on it, state -> (state, metrics)."""
    if isinstance(env, SoccerEnv):
        return turns.make_turns(config, games(config, env))
    return mappo.make_update(config, env)


def per_update(config: TrainConfig, env: Any) -> int:
    """Agent-steps of one update; of games those of our team, in all that take turns."""
    robots = turns.robots_of(games(config, env)) if isinstance(env, SoccerEnv) else env.scenario.count
    return config.num_envs * config.unroll * robots
