"""`grown`: players that grow by best responses to their own Nash mixture (PSRO, Lanctot et al., NeurIPS 2017)."""

import hashlib
import json
from typing import NamedTuple

import numpy as np

from robomarl.core.types import Figures
from robomarl.lab.cluster.tasks import Workers
from robomarl.lab.league.attack import FOLDER, AttackRun, train_attacker
from robomarl.lab.league.pairs import LeagueOptions, play_all, play_pairs
from robomarl.lab.league.players import LeaguePlayer, player_named
from robomarl.lab.league.table import figures_of, score_of
from robomarl.lab.sim.scenario import load_scenario

PARTS = 8
"""Equal parts of the games of a training. A player of the mixture has as many as come nearest to its weight."""
NORMAL_95 = 1.96


class Grown(NamedTuple):
    """Players, and how they came."""

    players: list[LeaguePlayer]
    rounds: list[Figures]
    """Entries of `psro` in `league.json`."""


def grown(players: list[LeaguePlayer], options: LeagueOptions, workers: Workers) -> Grown:
    """Train teams against the Nash mixture of all players, round by round; those of a round join the players.

    Teams and pairs that are on disk are read, so a league that was killed goes on where it was.
    """
    rounds: list[Figures] = []
    for number in range(options.attack.rounds):
        figures = figures_of(play_all(players, options, workers))
        attacks = responses_to(figures, players, options)
        names = workers.map(train_attacker, attacks, f"round {number + 1}", options.progress)
        joined = [player_named(name, load_scenario(options.scenario), options.filter) for name in names]
        rows = play_pairs([(one, other) for one in joined for other in players], options, workers)
        scores = np.array([score_of(points) for points in rows]).reshape(len(joined), len(players), -1)
        rounds.append(_round(figures, attacks, players, scores))
        players = [*players, *joined]
    return Grown(players, rounds)


def responses_to(figures: Figures, players: list[LeaguePlayer], options: LeagueOptions) -> list[AttackRun]:
    """Return the teams of a round, one for each seed: they begin as the best rated trained player."""
    kinds = {player.name: player.kind for player in players}
    shares = parts_of(figures["mixture"]["weights"])
    opponents = [name for name, count in shares.items() for _ in range(count)]
    start = next(row["player"] for row in figures["players"] if row["kind"] != "script")
    identities = {player.name: player.identity for player in players}
    decides = [identities[start], [identities[name] for name in opponents]]
    key = hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:8]
    attack = options.attack
    return [
        AttackRun(
            scenario=options.scenario,
            victim="mixture",
            scripts=tuple(name for name in opponents if kinds[name] == "script"),
            teams=tuple(name for name in opponents if kinds[name] != "script"),
            start=start,
            seed=options.seed + number,
            steps=attack.steps,
            folder=options.out / FOLDER / f"mixture_{key}_{attack.steps}_{options.seed + number}",
        )
        for number in range(attack.attackers)
    ]


def parts_of(weights: dict[str, float]) -> dict[str, int]:
    """Return how many of `PARTS` each player has: its weight rounded down, and one more for the largest remainders."""
    exact = {name: PARTS * weight / sum(weights.values()) for name, weight in weights.items()}
    parts = {name: int(share) for name, share in exact.items()}
    left = PARTS - sum(parts.values())
    for name in sorted(exact, key=lambda name: parts[name] - exact[name])[:left]:
        parts[name] += 1
    return parts


def _round(figures: Figures, attacks: list[AttackRun], players: list[LeaguePlayer], scores: np.ndarray) -> Figures:
    """Return the entry of a round in `league.json`, from [A, P, E] scores of its teams against the players."""
    weights = figures["mixture"]["weights"]
    share = np.array([weights[player.name] for player in players])
    responses = []
    for attack, row in zip(attacks, scores, strict=True):
        mean, low, high = against_mixture(row, share)
        about = {"player": str(attack.folder), "began_as": attack.start, "seed": attack.seed, "steps": attack.steps}
        responses.append({**about, "score": mean, "score_ci95": [low, high]})
    return {"mixture": weights, "responses": responses}


def against_mixture(scores: np.ndarray, share: np.ndarray) -> tuple[float, float, float]:
    """Mean score against a mixture and its 95 % interval.

    The variance of each player's part is that of a score of 0 or 1, with two won and two lost matches added (Agresti
    and Coull, 1998), which is too large where there are draws.

    Args:
        scores: [P, E] of matches against each player.
        share: [P] weights of the mixture.
    """
    matches = scores.shape[1]
    mean = float(share @ scores.mean(1))
    added = (scores.sum(1) + 2) / (matches + 4)
    spread = NORMAL_95 * float(np.sqrt((share**2 * added * (1 - added) / (matches + 4)).sum()))
    return mean, max(0.0, mean - spread), min(1.0, mean + spread)
