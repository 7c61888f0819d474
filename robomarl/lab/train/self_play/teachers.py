"""Trained teams that teach: policy distillation (Rusu et al., ICLR 2016), wherever the learner comes.

So one policy learns from several, each of which plays one game well.
"""

from functools import partial

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.run_folder import read_weights
from robomarl.lab.train.run.weights import learned
from robomarl.lab.train.self_play.games import init_games
from robomarl.lab.train.self_play.league import ActorSnapshot, as_team, team_teaches


def teacher_of(config: TrainConfig, env: AgentsEnv) -> ActorSnapshot | None:
    """Return the trained team that teaches this game; None if a script teaches or there is no teacher.

    Raises:
        UserError: there is no such bundle or run folder, or its network or observation is another.
    """
    if not team_teaches(config.self_play, env):
        return None
    name = config.self_play.teacher
    weights = read_weights(name, env.scenario.name)
    state = learned(partial(init_games, config, env), weights, f"[self_play] teacher = {name!r}")
    return as_team(state.params["actor"], state.obs_stats)
