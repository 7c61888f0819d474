"""`play_pairs`, `play_all`: matches of pairs of players as tasks of workers, each kept under all that decides it."""

import hashlib
import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl import __version__
from robomarl.lab.cluster.tasks import Workers
from robomarl.lab.league.attack import AttackOptions
from robomarl.lab.league.matches import Pairing, pair_seed, play
from robomarl.lab.league.players import LeaguePlayer, scenario_hash
from robomarl.lab.league.table import LeagueMatches

MATCHES = "matches"


@dataclass(frozen=True)
class LeagueOptions:
    """How a league is played."""

    scenario: str
    """Name or path of a game."""
    names: tuple[str, ...]
    """Names of the players."""
    out: Path
    """Folder of the league."""
    matches: int = 200
    """Matches of each pair; the two players change sides for the second half of them."""
    seed: int = 0
    filter: str = "full"
    """Mode of the safety filter of trained players."""
    films: int = 5
    """Matches that are filmed."""
    resume: bool = False
    """Keep the pairs that were played before."""
    progress: bool = True
    attack: AttackOptions = AttackOptions()


def play_pairs(
    pairs: list[tuple[LeaguePlayer, LeaguePlayer]], options: LeagueOptions, workers: Workers
) -> list[np.ndarray]:
    """[E, 2] points of the first and of the second player of each pair."""
    tasks, rows = [pairing(pair, options) for pair in pairs], []
    for pair, found in zip(pairs, workers.map(play, tasks, "league", options.progress), strict=True):
        points = np.array(found["points"])
        rows.append(points[:, ::-1] if is_swapped(pair) else points)
    return rows


def play_all(players: list[LeaguePlayer], options: LeagueOptions, workers: Workers) -> LeagueMatches:
    """Play each pair as a task of a worker."""
    pairs = list(itertools.combinations(range(len(players)), 2))
    rows = play_pairs([(players[i], players[j]) for i, j in pairs], options, workers)
    return LeagueMatches(tuple(players), dict(zip(pairs, rows, strict=True)))


def pairing(pair: tuple[LeaguePlayer, LeaguePlayer], options: LeagueOptions) -> Pairing:
    """The matches of a pair: equal whichever player is named first, and kept under all that decides them."""
    first, second = pair[::-1] if is_swapped(pair) else pair
    identities = first.identity, second.identity
    conditions = [__version__, scenario_hash(options.scenario), options.matches, options.seed, options.filter]
    key = hashlib.sha256(json.dumps([*conditions, *identities]).encode()).hexdigest()[:20]
    return Pairing(
        scenario=options.scenario,
        first=first.name,
        second=second.name,
        matches=options.matches,
        seed=pair_seed(options.seed, identities),
        filter=options.filter,
        file=(options.out / MATCHES / f"{key}.json").absolute(),
    )


def is_swapped(pair: tuple[LeaguePlayer, LeaguePlayer]) -> bool:
    """Return True if the pair's matches have the second player first."""
    return pair[0].identity > pair[1].identity
