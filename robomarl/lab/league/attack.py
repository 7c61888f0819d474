"""Best responses of a fixed budget: teams that are trained against one fixed player, or against a mixture of players.

An attacker of a trained player begins as its copy, and goes on learning with that player's recipe. One of a script or
of a mixture begins as the best rated trained player of the league. The opponents of training have no safety filter; in
the matches that count, both have the one of the league.
"""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robomarl.core.config import UsageError, UserError
from robomarl.core.types import Figures
from robomarl.lab.evaluate.intervals import wilson
from robomarl.lab.league.players import LeaguePlayer, games_in
from robomarl.lab.league.table import score_of
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.train.config import SelfPlayConfig, TrainConfig
from robomarl.lab.train.run.bundle_as_run import run_of
from robomarl.lab.train.run.mixture import alike
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.runner import NothingLeftError, train_run

FOLDER = "attackers"
ENVS = 512
"""Games side by side, if the recipe has more."""
MEAN_OVER = 10.0
"""Updates over which the weights of an attacker are averaged, if its recipe averages them at all."""
CRITIC_SHARE = 0.1
"""Share of the budget, at most, in which only the critic learns."""


@dataclass(frozen=True)
class AttackOptions:
    """Attackers of a league."""

    steps: int = 0
    """Agent-steps of each; 0: there are none."""
    victims: tuple[str, ...] = ()
    """Names of players."""
    attackers: int = 1
    """Attackers of each victim, with different seeds."""
    rounds: int = 0
    """Teams that are trained against the Nash mixture of all players, one after the other, and join them."""


@dataclass(frozen=True)
class AttackRun:
    """One attacker, which a worker trains."""

    scenario: str
    """Name or path."""
    victim: str
    """Name of the player, or of the mixture."""
    scripts: tuple[str, ...]
    """Scripted opponents, each on an equal part of the games; one that is named twice plays twice as much."""
    teams: tuple[str, ...]
    """Trained opponents, likewise."""
    start: str
    """Bundle or run folder as which it begins."""
    seed: int
    steps: int
    folder: Path
    """Run folder."""


def check_attacks(options: AttackOptions, players: Sequence[LeaguePlayer]) -> None:
    """Check before anything starts; raises `UsageError` where there is no such victim, or no attacker."""
    if not options.steps:
        return
    names = [player.name for player in players]
    trained = [player.name for player in players if player.kind != "script"]
    for victim in options.victims:
        if victim not in names:
            raise UsageError(f"--attack {victim}: no player of this league; name one of {', '.join(names)}.")
    if options.attackers < 1:
        raise UsageError("--attackers 0: name 1 or more, or leave out --best-response.")
    if not trained:
        raise UsageError("--best-response needs a trained player, as which attackers begin; name a bundle or a run.")
    opponents = {name: run_of(name) for name in trained if options.rounds or name in options.victims}
    for name, run in opponents.items() if options.rounds else ():
        if run.config.network != (first := opponents[trained[0]]).config.network or alike(run) != alike(first):
            raise UserError(
                f"{name} sees, commands or remembers in another way than {trained[0]}, so that one team can't learn "
                "against both; leave out --psro, or one of them."
            )


def attacks_of(
    scenario: str, options: AttackOptions, ranked: Sequence[LeaguePlayer], seed: int, out: Path
) -> list[AttackRun]:
    """Return the attackers of all victims; players are the best rated first."""
    best = next(player.name for player in ranked if player.kind != "script")
    return [
        AttackRun(
            scenario=scenario,
            victim=victim.name,
            scripts=(victim.name,) if victim.kind == "script" else (),
            teams=() if victim.kind == "script" else (victim.name,),
            start=best if victim.kind == "script" else victim.name,
            seed=seed + number,
            steps=options.steps,
            folder=out / FOLDER / f"{_short(victim)}_{options.steps}_{seed + number}",
        )
        for victim in ranked
        if victim.name in options.victims
        for number in range(options.attackers)
    ]


def _short(player: LeaguePlayer) -> str:
    """Name of a folder, another one for each player."""
    digest = hashlib.sha256(player.identity.encode()).hexdigest()[:8]
    return f"{Path(player.name).name}_{digest}"


def train_attacker(attack: AttackRun) -> str:
    """Train an attacker, from its newest checkpoint on; returns the name by which it plays."""
    folder, scenario = attack.folder.absolute(), load_scenario(attack.scenario)
    if folder.is_dir() and not (folder / "checkpoint.npz").is_file():
        shutil.rmtree(folder)  # a worker that died before the first checkpoint
    folder.parent.mkdir(parents=True, exist_ok=True)
    options = RunOptions(
        folder, attack.seed, steps=attack.steps, resume=folder.is_dir(), init=(attack.start,), quiet=True, evaluations=0
    )
    try:
        train_run(recipe_of_attack(attack, scenario), scenario, options)
    except NothingLeftError:
        pass
    return str(attack.folder)


def recipe_of_attack(attack: AttackRun, scenario: Scenario) -> TrainConfig:
    """The recipe of the player as which the attacker begins, with other opponents.

    Raises:
        UserError: that player was not trained in games.
    """
    run = run_of(attack.start)
    variant = games_in(scenario).variant
    runs = (run, *run.experts)
    config = next((one for one in runs if variant(one.scenario) == variant(scenario)), run).config
    if config.self_play is None:
        raise UserError(f"{attack.start} was not trained in games, so no attacker can begin as its copy.")
    parts = len(attack.scripts) + len(attack.teams)
    return replace(
        config,
        scenario=attack.scenario,
        total_steps=attack.steps,
        num_envs=min(config.num_envs, ENVS) // parts * parts,
        critic_first=min(config.critic_first, CRITIC_SHARE * attack.steps),
        average_over=min(config.average_over, MEAN_OVER),
        self_play=opponents(config.self_play, attack),
    )


def opponents(play: SelfPlayConfig, attack: AttackRun) -> SelfPlayConfig:
    """The attacker's opponents alone, which never change."""
    fixed = replace(play, teacher="", teachers={}, teach_share=0.0, also=(), itself=0, snapshots=0, pool=1)
    return replace(fixed, scripts=attack.scripts, script_parts=1, teams=attack.teams)


def response_figures(attack: AttackRun, points: np.ndarray, attackers: int) -> Figures:
    """Return the entry of `league.json` for a victim's best attacker, from [E, 2] points of attacker and victim."""
    score = score_of(points)
    interval = wilson(float(score.sum()), len(score))
    return {
        "player": attack.victim,
        "steps": attack.steps,
        "attackers": attackers,
        "attacker": str(attack.folder),
        "began_as": attack.start,
        "seed": attack.seed,
        "matches": len(score),
        "score": float(score.mean()),
        "score_ci95": interval,
        "points_for": float(points[:, 0].mean()),
        "points_against": float(points[:, 1].mean()),
        "exploitability": max(0.0, float(score.mean()) - 0.5),
        "exploitability_ci95": [max(0.0, limit - 0.5) for limit in interval],
    }
