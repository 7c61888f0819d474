"""Players of a league by name: scripts of the game, bundles, run folders, and snapshots of runs."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from robomarl.core.bundle.bundle import is_bundle, load_bundle
from robomarl.core.config import UsageError, UserError, suggest
from robomarl.core.paths import bundles_dir
from robomarl.lab.evaluate.evaluation import FlownPolicy
from robomarl.lab.evaluate.resolve import is_controller, is_run, own_scenario, resolve_policy
from robomarl.lab.evaluate.sealed_scenario import sealed
from robomarl.lab.league.two_sides import PilotedTeam, Player, ScriptTeam
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import Games, simulation_of
from robomarl.lab.train.policy_search.structured import FILE as LAW_FILE
from robomarl.lab.train.policy_search.structured import is_law
from robomarl.lab.train.run.run_folder import Run, RunPolicy, load_run
from robomarl.lab.train.stages.plan import is_staged
from robomarl.lab.train.state import TrainState
from robomarl.lab.trees import Tree

SNAPSHOT = re.compile(r"(.+)@(\d+)")
STATES = ("best.npz", "checkpoint.npz")


@dataclass(frozen=True)
class LeaguePlayer:
    """A team that plays in a league."""

    name: str
    """Its name on the command line."""
    kind: str
    """script, bundle or run."""
    identity: str
    """Equal only for players with equal behaviour: hash of all that decides it."""


class Opened(NamedTuple):
    """A trained player, read."""

    kind: str
    policy: FlownPolicy
    trained_for: Scenario
    content: str
    """Hash of its content."""


def games_in(scenario: Scenario) -> Games:
    """The games of the scenario's domain; raises `UserError` where the scenario is no game, or of no real robots."""
    simulation = simulation_of(scenario)
    if simulation.games is None:
        raise UserError(f"{scenario.name} is no game: it has one team; name a scenario with opponents.")
    if key := simulation.all_seeing(scenario):
        raise UserError(f"{scenario.name}.toml: {key} tells a team what no robot knows; name a scenario without it.")
    return simulation.games


def check_players(names: tuple[str, ...], scenario: Scenario, mode: str) -> list[LeaguePlayer]:
    """The players of these names, each of which can play the game.

    Raises:
        UsageError: fewer than two players, or one twice.
        UserError: no such player, or one of another game, team size, vehicle or rate.
    """
    if len(names) < 2:
        raise UsageError(f"a league needs two players or more, not {len(names)}; name bundles, runs or scripts.")
    found: dict[str, LeaguePlayer] = {}
    for name in names:
        player = player_named(name, scenario, mode)
        if player.identity in found:
            raise UsageError(f"{name} is the same player as {found[player.identity].name}; name each player once.")
        found[player.identity] = player
    return list(found.values())


def player_named(name: str, scenario: Scenario, mode: str) -> LeaguePlayer:
    """The player of that name; raises `UserError` where there is none, or it can't play the game."""
    games = games_in(scenario)
    if name in games.scripts:
        games.check_script(scenario, name)
        return LeaguePlayer(name, "script", f"script {name}")
    opened = open_player(name, scenario)
    PilotedTeam(opened.policy, scenario, mode)
    return LeaguePlayer(name, opened.kind, opened.content)


def make_team(name: str, scenario: Scenario, mode: str) -> Player:
    """The controller of a checked player; trained ones have the safety filter in this mode."""
    games = games_in(scenario)
    if name in games.scripts:
        return ScriptTeam(games, scenario, name)
    return PilotedTeam(open_player(name, scenario).policy, scenario, mode)


def open_player(name: str, scenario: Scenario) -> Opened:
    """Read a trained player; raises `UserError` where there is none, or it was trained for something else."""
    opened = _opened(name, games_in(scenario))
    own = opened.trained_for
    if own.task != scenario.task:
        raise UserError(f"{name} was trained for {own.name}, which is another game than {scenario.name}.")
    least, most = _team_sizes(opened)
    if not least <= scenario.count <= most:
        sizes = f"{least}" if least == most else f"{least} to {most}"
        raise UserError(f"{name} is for teams of {sizes} robots, and {scenario.name} has teams of {scenario.count}.")
    if key := simulation_of(own).all_seeing(own):
        raise UserError(f"{name} was trained with {key}, which no robot has; leave it out.")
    return opened


def _opened(name: str, games: Games) -> Opened:
    if is_controller(name):
        raise UserError(f"{name} plays no game; name bundles, run folders or scripts: {', '.join(games.scripts)}.")
    if (found := SNAPSHOT.fullmatch(name)) and is_run(Path(found[1])):
        return _snapshot(load_run(found[1], "checkpoint.npz"), int(found[2]), name)
    path = Path(name)
    if path.name in STATES and is_run(path.parent):
        return _of_run(load_run(path.parent, path.name), _hash(path.read_bytes()))
    if is_law(path):
        policy, own = resolve_policy(name)
        return Opened("run", policy, own, _hash((path / LAW_FILE).read_bytes()))
    if is_run(path) or is_staged(path):
        run = load_run(path)
        state = next(path / state for state in STATES if (path / state).is_file())
        return _of_run(run, _hash(state.read_bytes()))
    if not is_bundle(name):
        known = [*games.scripts, *sorted(p.parent.name for p in bundles_dir().glob("*/bundle.json"))]
        raise UserError(
            f"Unknown player {name!r}: no script, bundle or run folder; "
            + suggest(path.name, known, "name a folder, or one of")
        )
    policy, own = resolve_policy(name)
    return Opened("bundle", policy, own, load_bundle(name).id)


def _of_run(run: Run, content: str) -> Opened:
    policy = RunPolicy(run)
    return Opened("run", policy, own_scenario(policy, str(run.folder)), content)


def _snapshot(run: Run, number: int, name: str) -> Opened:
    """The team of a run's league, the oldest one that is kept being 1."""
    league = run.state.league
    kept = min(int(league.count), len(league.games)) if league else 0
    if not 1 <= number <= kept:
        raise UserError(f"{name}: the checkpoint of {run.folder} keeps {kept} snapshots; name @1 (the oldest) to it.")
    spot = (int(league.count) - kept + number - 1) % len(league.games)
    state = _with_team(run.state, league.pool, spot)
    policy = RunPolicy(run).with_state(state)
    policy.name = name
    content = _hash((run.folder / "checkpoint.npz").read_bytes()) + f" snapshot {number}"
    return Opened("run", policy, run.scenario, content)


def _with_team(state: TrainState, pool: Tree, spot: int) -> TrainState:
    """The state with the actor and the statistics of one team of its pool."""
    import jax

    team = jax.tree.map(lambda leaf: leaf[spot], pool)
    averaged = team.params if state.averaged else state.averaged
    return state._replace(params={**state.params, "actor": team.params}, averaged=averaged, obs_stats=team.stats)


def _team_sizes(opened: Opened) -> tuple[int, int]:
    contract = getattr(opened.policy, "contract", None)
    return contract.team_size if contract else (opened.trained_for.count, opened.trained_for.count)


def scenario_hash(name: str) -> str:
    """Hash of a scenario and the vehicle in it."""
    scenario = load_scenario(name)
    return _hash(json.dumps([sealed(scenario).content, repr(scenario.vehicle_config)], sort_keys=True).encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
