"""Trained teams that a recipe names: those that teach, and opponents that never change.

A team that teaches does so wherever the learner comes: policy distillation (Rusu et al., ICLR 2016). So one policy
learns from several, each of which plays one game well.
"""

from functools import partial

import jax
import jax.numpy as jnp

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.run_folder import read_weights
from robomarl.lab.train.run.weights import learned
from robomarl.lab.train.self_play.games import init_games
from robomarl.lab.train.self_play.league import ActorSnapshot, TrainedTeams, as_team, team_teaches


def trained_teams(config: TrainConfig, env: AgentsEnv) -> TrainedTeams:
    """Read the trained teams that this game's recipe names.

    Raises:
        UserError: there is no such bundle or run folder, or its network or observation is another.
    """
    opponents = [_team(config, env, name, "teams") for name in config.self_play.teams]
    together = jax.tree.map(lambda *each: jnp.stack(each), *opponents) if opponents else None
    return TrainedTeams(teacher_of(config, env), together)


def teacher_of(config: TrainConfig, env: AgentsEnv) -> ActorSnapshot | None:
    """Return the trained team that teaches this game; None if a script teaches or there is no teacher.

    Raises:
        UserError: there is no such bundle or run folder, or its network or observation is another.
    """
    if not team_teaches(config.self_play, env):
        return None
    return _team(config, env, config.self_play.teacher, "teacher")


def _team(config: TrainConfig, env: AgentsEnv, name: str, key: str) -> ActorSnapshot:
    """The team of a bundle or run folder that stands at this key; raises as `trained_teams`."""
    weights = read_weights(name, env.scenario.name)
    state = learned(partial(init_games, config, env), weights, f"[self_play] {key} = {name!r}")
    return as_team(state.params["actor"], state.obs_stats)
