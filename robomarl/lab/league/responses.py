"""`best_responses`: attackers are trained against players, and the best one of each player is measured."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robomarl.core.types import Figures
from robomarl.lab.cluster.tasks import Workers
from robomarl.lab.league.attack import AttackRun, attacks_of, response_figures, train_attacker
from robomarl.lab.league.pairs import LeagueOptions, play_pairs
from robomarl.lab.league.players import LeaguePlayer, player_named
from robomarl.lab.league.table import score_of
from robomarl.lab.sim.scenario import load_scenario


def best_responses(players: Sequence[LeaguePlayer], options: LeagueOptions, workers: Workers) -> list[Figures]:
    """Train the attackers of all victims, and return the figures of the best of each.

    Which of several is the best is decided by matches of another seed: the best of several measurements is too high.

    Args:
        players: of the league, the best rated first.
        options: of the league.
        workers: they train, and play the matches.
    """
    if not options.attack.steps:
        return []
    attacks = attacks_of(options.scenario, options.attack, players, options.seed, options.out)
    names = workers.map(train_attacker, attacks, "attackers", options.progress)
    scenario = load_scenario(options.scenario)
    teams = [player_named(name, scenario, options.filter) for name in names]
    by_name = {player.name: player for player in players}
    duels = [(team, by_name[attack.victim]) for team, attack in zip(teams, attacks, strict=True)]
    best = _best(attacks, duels, options, workers)
    rows = play_pairs([duels[i] for i in best], options, workers)
    each = options.attack.attackers
    return [response_figures(attacks[i], points, each) for i, points in zip(best, rows, strict=True)]


def _best(
    attacks: Sequence[AttackRun],
    duels: list[tuple[LeaguePlayer, LeaguePlayer]],
    options: LeagueOptions,
    workers: Workers,
) -> list[int]:
    """Index of the best attacker of each victim, in the order of the victims."""
    each = options.attack.attackers
    if each == 1:
        return list(range(len(attacks)))
    rows = play_pairs(duels, replace(options, seed=options.seed + 1), workers)
    means = np.array([score_of(points).mean() for points in rows]).reshape(-1, each)
    return [int(victim * each + np.argmax(row)) for victim, row in enumerate(means)]
