"""`run_league`: all pairs of players, played by workers and kept on disk, and the figures of the league."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from robomarl.core.config import UsageError, UserError
from robomarl.core.types import Figures
from robomarl.lab.cluster.connect import Cluster
from robomarl.lab.cluster.tasks import Workers, joined
from robomarl.lab.league.attack import check_attacks
from robomarl.lab.league.pairs import MATCHES, LeagueOptions, pairing, play_all
from robomarl.lab.league.players import LeaguePlayer, check_players
from robomarl.lab.league.psro import grown
from robomarl.lab.league.responses import best_responses
from robomarl.lab.league.table import LeagueMatches, figures_of
from robomarl.lab.league.telling import FilmedMatch, figures_of_match, film, telling
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.run.storage import replace_text

RESULTS, FILMS = "league.json", "films"


def run_league(options: LeagueOptions, cluster: Cluster) -> Figures:
    """Play all pairs, and write `league.json`; pairs that were played before are kept.

    Raises:
        UsageError: too few matches or players, or one player twice.
        UserError: a player can't play the game, the folder has a league already, or of the cluster.
    """
    players = prepare(options)
    with _quiet_starts(), joined(cluster) as workers:
        players, rounds = grown(players, options, workers)
        matches = play_all(players, options, workers)
        figures = {**about(options), **figures_of(matches), "psro": rounds}
        figures["telling"] = _filmed(matches, figures, options, workers)
        figures["best_response"] = best_responses(ranked(players, figures), options, workers)
    replace_text(options.out / RESULTS, json.dumps(figures, indent=1) + "\n")
    return figures


@contextmanager
def _quiet_starts() -> Iterator[None]:
    """Keep back JAX's warnings that Ray starts programs, which is no harm: they do not go on with JAX's memory."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"os\.fork", category=RuntimeWarning)
        yield


def prepare(options: LeagueOptions) -> list[LeaguePlayer]:
    """Check everything before anything starts; returns the players. Raises as `run_league`."""
    if options.matches < 2 or options.matches % 2:
        reason = "each player has either side in half of them"
        raise UsageError(f"--matches {options.matches} must be an even number from 2 on: {reason}.")
    players = check_players(options.names, load_scenario(options.scenario), options.filter)
    check_attacks(options.attack, players)
    if (options.out / MATCHES).is_dir() and not options.resume:
        raise UserError(f"{options.out} has a league already; go on with --resume, or name another --out.")
    (options.out / MATCHES).mkdir(parents=True, exist_ok=True)
    return players


def ranked(players: list[LeaguePlayer], figures: Figures) -> list[LeaguePlayer]:
    """The players, the best rated first."""
    by_name = {player.name: player for player in players}
    return [by_name[row["player"]] for row in figures["players"]]


def about(options: LeagueOptions) -> Figures:
    """The conditions of a league."""
    conditions = {"matches": options.matches, "seed": options.seed, "filter": options.filter}
    return {"league": str(options.out), "scenario": load_scenario(options.scenario).name, "sim": "fast", **conditions}


def _filmed(matches: LeagueMatches, figures: Figures, options: LeagueOptions, workers: Workers) -> list[Figures]:
    """Films of the most telling matches."""
    by_name = {row["player"]: row["elo"] for row in figures["players"]}
    ratings = [by_name[player.name] for player in matches.players]
    found, works = telling(matches, ratings, options.films), []
    for one in found:
        pair = matches.players[one.pair[0]], matches.players[one.pair[1]]
        work = pairing(pair, options)
        file = options.out.absolute() / FILMS / f"{work.file.stem}_{one.match}.gif"
        works.append(FilmedMatch(work, one.match, file))
    files = workers.map(film, works, "films", options.progress)
    return [figures_of_match(matches, one, file) for one, file in zip(found, files, strict=True)]
