"""One actor for several games: in each update every scenario takes its turn, with teams and a field of
its own.

Parts that depend on the size of a team belong to each scenario: games, critic, optimizer,
opponents. The actor, and the statistics of its input, go round. So a policy keeps its skills in one
game while it learns another.
"""

from collections.abc import Sequence
from dataclasses import replace

import jax

from robomarl.core.config import UserError
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.self_play.games import init_games, make_game_update
from robomarl.lab.train.self_play.league import TrainedTeams
from robomarl.lab.train.state import Metrics, TrainState, Update

SHOWN = ("share/", "elo/", "reward", "success", "contact", "explained_variance")
"""Prefixes of the metrics that are logged for further games, each with the scenario's name before it."""


def check_alike(games: Sequence[AgentsEnv]) -> None:
    """Raises `UserError` where robots of a game see or do something else than those of the first."""
    first = games[0]
    for other in games[1:]:
        if (other.observation, other.action) != (first.observation, first.action):
            raise UserError(
                f"[self_play] also: robots of {other.scenario.name} see or do something else than those of "
                f"{first.scenario.name}; leave it out."
            )


def init_state(config: TrainConfig, games: Sequence[AgentsEnv], key: jax.Array) -> TrainState:
    """The state before the first update; see `robomarl.lab.train.self_play.games.init_games`."""
    keys = [key, *(jax.random.fold_in(key, i) for i in range(len(games) - 1))]
    first, *rest = (init_games(recipe_of(config, game), game, k) for game, k in zip(games, keys, strict=True))
    return first._replace(others=tuple(rest))


def make_update(config: TrainConfig, games: Sequence[AgentsEnv], teams: Sequence[TrainedTeams]) -> Update:
    """One update of every game, state -> (state, metrics); `teams` are those that each game's recipe names."""
    robots = robots_of(games)
    first, *rest = (
        make_game_update(recipe_of(config, game), game, robots, named) for game, named in zip(games, teams, strict=True)
    )

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


def recipe_of(config: TrainConfig, game: AgentsEnv) -> TrainConfig:
    """The recipe with the game's own teacher."""
    play = config.self_play
    teacher = play.teachers.get(game.scenario.name, play.teacher)
    return replace(config, self_play=replace(play, teacher=teacher))


def check_teachers(config: TrainConfig, games: Sequence[AgentsEnv]) -> None:
    """Raise `UserError` if a teacher is named for a game that is not trained."""
    names = [game.scenario.name for game in games]
    for name in config.self_play.teachers:
        if name not in names:
            raise UserError(f"[self_play.teachers] {name}: that is not trained; allowed: {', '.join(names)}.")


def robots_of(games: Sequence[AgentsEnv]) -> int:
    """How many robots learn."""
    return sum(game.scenario.count for game in games)


def hand_over(giver: TrainState, taker: TrainState) -> TrainState:
    """Return the taker's state with the giver's actor, the statistics of its input, and the steps so far."""
    return taker._replace(
        params={**taker.params, "actor": giver.params["actor"]},
        obs_stats=giver.obs_stats,
        obs_range=giver.obs_range,
        steps=giver.steps,
    )
