"""Which training program a recipe takes: for teams that of its `algorithm`, for games self-play by MAPPO.

All have one interface: `init_state(config, env, key)` and `make_update(config, env)`.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType

import jax

from robomarl.core.config import UserError
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train import mappo, shac
from robomarl.lab.train.config import OFFLINE, TrainConfig
from robomarl.lab.train.devices.across import ALONE, Devices
from robomarl.lab.train.devices.divide import check_devices, divided
from robomarl.lab.train.initial.anchor import anchored
from robomarl.lab.train.polyak import averaging, with_mean
from robomarl.lab.train.pqn import learner as pqn
from robomarl.lab.train.reppo import learner as reppo
from robomarl.lab.train.rollout import rollout_noise
from robomarl.lab.train.self_play import multi_scenario
from robomarl.lab.train.self_play.league import NO_TEAMS, TrainedTeams, team_teaches
from robomarl.lab.train.sequences.play import SequenceEnv
from robomarl.lab.train.state import PlayAndLearn, TrainState, Update

LEARNERS: dict[str, ModuleType] = {"mappo": mappo, "ippo": mappo, "shac": shac, "reppo": reppo, "pqn": pqn}
"""Module by the name that recipes have for it."""


TeamsOf = Callable[[TrainConfig, AgentsEnv], TrainedTeams]
"""(recipe, game) -> the trained teams that its recipe names."""


def no_teams(config: TrainConfig, env: AgentsEnv) -> TrainedTeams:
    """No trained team teaches or plays; raises `ValueError` where the recipe names one."""
    if team_teaches(config.self_play, env) or config.self_play.teams:
        raise ValueError("[self_play] names trained teams: hand in the function that reads them, trained_teams")
    return NO_TEAMS


def may_share(config: TrainConfig, scenario: Scenario) -> bool:
    """Return True if XLA can compile the recipe's updates with several results of one loop; see `share_results`."""
    known = config.algorithm != "shac" and config.filter != "certificate"
    wanted = known if config.share_results is None else config.share_results
    return wanted and simulation_of(scenario).games is None


def training_env(config: TrainConfig, scenario: Scenario) -> AgentsEnv:
    """The environment that a run trains in.

    Raises:
        UserError: sequences of actions that can't be learned, or a game behind the certificate.
    """
    rally_s = config.self_play.rally_s
    if rally_s and (played := simulation_of(scenario).games):
        scenario = played.with_rally(scenario, rally_s)
    env = make_env(scenario, weights=config.weights, safety=config.filter, starts=config.self_play.starts)
    if config.filter == "certificate" and is_game(env):
        raise UserError(f"filter = 'certificate': {scenario.name} is a game, which trains with off or qp only.")
    if config.sequence.actions == 1:
        return env
    _check_sequences(config, env)
    return SequenceEnv(env, config.sequence, config.value_horizon_s)  # type: ignore[return-value]  # delegates the rest


def _check_sequences(config: TrainConfig, env: AgentsEnv) -> None:
    what = ""
    if LEARNERS.get(config.algorithm) is not mappo:
        what = f"algorithm = {config.algorithm!r} learns one action at a time, mappo and ippo sequences"
    elif is_game(env):
        what = f"{env.scenario.name} is a game, in which one action at a time is learned"
    elif env.law is not None:
        what = f"in {env.scenario.name} a law says a part of each action, as it sees at the time"
    elif config.noise.scale:
        what = "noise.scale is for the elements of one action; leave it out"
    if what:
        raise UserError(f"sequence.actions = {config.sequence.actions}: {what}.")


def is_game(env: AgentsEnv) -> bool:
    """Return True if there is another team to learn against."""
    return simulation_of(env.scenario).games is not None


def games(config: TrainConfig, env: AgentsEnv) -> list[AgentsEnv]:
    """Return the run's own game and those that take turns with it.

    Raises:
        UserError: unknown scenario, a scenario with other observations or actions, a teacher of no such
            game, or a way to learn that games do not have.
    """
    if LEARNERS.get(config.algorithm) is not mappo:
        said = f"algorithm = {config.algorithm!r} does not learn games"
        raise UserError(f"{said}, and {env.scenario.name} is one; make it mappo.")
    if config.network.critic == "team":
        raise UserError(f'critic = "team" does not value games, and {env.scenario.name} is one; make it "robot".')
    found = [env, *(training_env(config, load_scenario(name)) for name in config.self_play.also)]
    multi_scenario.check_alike(found)
    multi_scenario.check_teachers(config, found)
    return found


def init_state(config: TrainConfig, env: AgentsEnv, key: jax.Array) -> TrainState:
    """The state before the first update."""
    if is_game(env):
        return started(config, multi_scenario.init_state(config, games(config, env), key))
    return started(config, learner(config).init_state(config, env, key))


def started(config: TrainConfig, state: TrainState) -> TrainState:
    """Return a state before the first update, with the records of its weights that the recipe asks for."""
    return anchored(config, with_mean(config, state))


def make_update(config: TrainConfig, env: AgentsEnv, teams_of: TeamsOf = no_teams, devices: Devices = ALONE) -> Update:
    """Return one rollout and its gradient steps as a function, state -> (state, metrics).

    Args:
        config: the recipe.
        env: the run's own environment.
        teams_of: function that reads the trained teams that the recipe of a game names; see
            `robomarl.lab.train.self_play.teachers`.
        devices: devices that the environments are divided over.

    Raises:
        UserError: the algorithm has no rollouts, `teams_of` finds no such team, or the run can't be
            divided over these devices.
    """
    if config.algorithm in OFFLINE:
        raise UserError(f"algorithm = {config.algorithm!r} learns from a data set; name it with --data FILE.")
    if devices.count > 1:
        return _make_divided_update(config, env, devices)
    if is_game(env):
        return averaging(config, _make_game_update(config, env, teams_of))
    return averaging(config, learner(config).make_update(config, env))


def _make_divided_update(config: TrainConfig, env: AgentsEnv, devices: Devices) -> Update:
    check_devices(config, env.scenario, devices)
    parts = averaging(config, mappo.make_update(config, env, devices))
    assert isinstance(parts, PlayAndLearn), "averaging keeps the parts"
    return divided(parts, partial(rollout_noise, config, env), devices)


def learner(config: TrainConfig) -> ModuleType:
    """The module of the recipe's algorithm; those that learn from data fill MAPPO's state, which it goes on from.

    Raises:
        UserError: it is a search, which has no updates.
    """
    if config.algorithm in OFFLINE:
        return mappo
    if config.algorithm not in LEARNERS:
        raise UserError(f"algorithm = {config.algorithm!r} has no updates here; make it one of {', '.join(LEARNERS)}.")
    return LEARNERS[config.algorithm]


def _make_game_update(config: TrainConfig, env: AgentsEnv, teams_of: TeamsOf) -> Update:
    found = games(config, env)
    return multi_scenario.make_update(
        config, found, [teams_of(multi_scenario.recipe_of(config, game), game) for game in found]
    )


def per_update(config: TrainConfig, env: AgentsEnv) -> int:
    """Agent-steps of one update; of games those of our team, in all that take turns."""
    robots = multi_scenario.robots_of(games(config, env)) if is_game(env) else env.scenario.count
    return config.num_envs * config.unroll * robots
