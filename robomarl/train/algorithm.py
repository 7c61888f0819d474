"""Which training program a scenario takes: MAPPO for teams, self-play for games. Both have one interface."""

from dataclasses import replace
from typing import Any

import jax

from robomarl.domains.soccer.env import SoccerEnv
from robomarl.domains.soccer.scenario import SoccerScenario, load_soccer
from robomarl.sim.env import make_env
from robomarl.train import mappo, multi_scenario
from robomarl.train.config import TrainConfig
from robomarl.train.polyak import averaging, with_mean
from robomarl.train.state import TrainState, Update


def training_env(config: TrainConfig, scenario: Any) -> Any:
    """The environment that a run trains in."""
    rally_s = config.self_play.rally_s
    if rally_s and isinstance(scenario, SoccerScenario):
        scenario = replace(scenario, rules=replace(scenario.rules, rally_s=rally_s))
    return make_env(scenario, weights=config.weights, safety=config.filter, starts=config.self_play.starts)


def games(config: TrainConfig, env: SoccerEnv) -> list[SoccerEnv]:
    """The run's own game and those that take turns with it.

    Raises:
        UserError: unknown scenario, one whose robots see or do something else, or a teacher of none of them.
    """
    found = [env, *(training_env(config, load_soccer(name)) for name in config.self_play.also)]
    multi_scenario.check_alike(found)
    multi_scenario.check_teachers(config, found)
    return found


def init_state(config: TrainConfig, env: Any, key: jax.Array) -> TrainState:
    """The state before the first update."""
    if isinstance(env, SoccerEnv):
        return with_mean(config, multi_scenario.init_state(config, games(config, env), key))
    return with_mean(config, mappo.init_state(config, env, key))


def make_update(config: TrainConfig, env: Any) -> Update:
    """One rollout and the gradient steps on it, state -> (state, metrics)."""
    if isinstance(env, SoccerEnv):
        return averaging(config, _make_game_update(config, env))
    return averaging(config, mappo.make_update(config, env))


def _make_game_update(config: TrainConfig, env: SoccerEnv) -> Update:
    from robomarl.train.teachers import teacher_of

    found = games(config, env)
    return multi_scenario.make_update(
        config, found, [teacher_of(multi_scenario.recipe_of(config, game), game) for game in found]
    )


def per_update(config: TrainConfig, env: Any) -> int:
    """Agent-steps of one update; of games those of our team, in all that take turns."""
    robots = multi_scenario.robots_of(games(config, env)) if isinstance(env, SoccerEnv) else env.scenario.count
    return config.num_envs * config.unroll * robots
