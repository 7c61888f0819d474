"""One actor for several games: in each update every scenario takes its turn, with teams and a field of its own.

What depends on the size of a team is each scenario's own: games, critic, optimizer, opponents. The actor, and the
statistics of what it sees, go round. So a policy keeps what it can in one game while it learns another.
"""

from collections.abc import Callable

import jax

from robomarl.config import UserError
from robomarl.sim.soccer.env import SoccerEnv
from robomarl.sim.soccer.scenario import load_soccer
from robomarl.train.config import TrainConfig
from robomarl.train.selfplay import init_games, make_game_update
from robomarl.train.state import Metrics, TrainState

SHOWN = ("share/", "elo/", "reward", "success", "contact", "explained_variance")
"""Metrics of the other games that are logged, each with the scenario's name before it."""


def other_games(config: TrainConfig, env: SoccerEnv) -> list[SoccerEnv]:
    """The environments of `self_play.also`.

    Raises:
        UserError: unknown scenario, or one whose robots see or do something else.
    """
    play = config.self_play
    envs = [SoccerEnv(load_soccer(name), config.weights, config.filter, play.starts) for name in play.also]
    for name, other in zip(play.also, envs, strict=True):
        if (other.observation, other.action) != (env.observation, env.action):
            raise UserError(
                f"[self_play] also: robots of {name} see or do something else than those of {env.scenario.name}; "
                "leave it out."
            )
    return envs


def init_turns(config: TrainConfig, env: SoccerEnv, key: jax.Array) -> TrainState:
    """The state before the first update; see `robomarl.train.selfplay.init_games`."""
    others = other_games(config, env)
    keys = [key, *(jax.random.fold_in(key, i) for i in range(len(others)))]
    first, *rest = (init_games(config, game, k) for game, k in zip((env, *others), keys, strict=True))
    return first._replace(others=tuple(rest))


def make_turns(config: TrainConfig, env: SoccerEnv) -> Callable[[TrainState], tuple[TrainState, Metrics]]:
    """One update of every game, state -> (state, metrics)."""
    others = other_games(config, env)
    robots = sum(game.scenario.count for game in (env, *others))
    first, *rest = (make_game_update(config, game, robots) for game in (env, *others))

    def update(state: TrainState) -> tuple[TrainState, Metrics]:
        state, metrics = first(state)
        after = []
        for name, step, other in zip(config.self_play.also, rest, state.others, strict=True):
            other, found = step(hand_over(state, other))
            state = hand_over(other, state)
            after.append(other)
            metrics |= {f"{name}/{key}": value for key, value in found.items() if key.startswith(SHOWN)}
        return state._replace(others=tuple(after)), metrics

    return update


def hand_over(giver: TrainState, taker: TrainState) -> TrainState:
    """The taker's state with the actor of the giver, what it knows of its input, and the steps so far."""
    return taker._replace(
        params={**taker.params, "actor": giver.params["actor"]},
        obs_stats=giver.obs_stats,
        obs_range=giver.obs_range,
        steps=giver.steps,
    )
