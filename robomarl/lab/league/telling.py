"""The most telling matches of a league, and their films."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl.core.types import Figures
from robomarl.lab.league.matches import Pairing, watch
from robomarl.lab.league.table import LeagueMatches, payoff, score_of

LENGTH_S, AFTER_S = 10.0, 1.0
"""Length of a film, and the time in it after the point that it shows."""
SIZE, FPS = (640, 360), 10.0


@dataclass(frozen=True)
class TellingMatch:
    """A match, with the reason why it was chosen."""

    pair: tuple[int, int]
    match: int
    """Index among the matches of the pair."""
    why: str


@dataclass(frozen=True)
class FilmedMatch:
    """A match of a pair of which a worker makes a film."""

    pairing: Pairing
    match: int
    file: Path


def telling(matches: LeagueMatches, ratings: list[float], most: int) -> list[TellingMatch]:
    """Choose matches, each of them once, the most telling first.

    Args:
        matches: of all pairs.
        ratings: [P] of the players.
        most: number of matches.
    """
    best, *rest = sorted(range(len(ratings)), key=lambda i: -ratings[i])
    table, found = payoff(matches), []
    found.append((_pair(best, rest[0]), None, "the two best, in a match as most of theirs end"))
    hardest = max(rest, key=lambda i: table[i, best])
    pairs = sorted(matches.points)
    upset = min(pairs, key=lambda p: (-abs(ratings[p[0]] - ratings[p[1]]) * _was_upset(matches, ratings, p), p))
    if _was_upset(matches, ratings, upset):
        found.append((upset, min(upset, key=lambda i: ratings[i]), "the widest upset: the lower rated player wins"))
    found.append((_pair(best, hardest), hardest, "the best player's hardest opponent at its best"))
    leads = {pair: points[:, 0] - points[:, 1] for pair, points in matches.points.items()}
    clear = min(pairs, key=lambda p: (-np.abs(leads[p]).max(), p))
    found.append((clear, clear[int(leads[clear].max() < -leads[clear].min())], "the clearest win of all"))
    close = min(pairs, key=lambda p: (abs(table[p]), p))
    found.append((close, None, "the most even pair, in a match as most of theirs end"))
    found += [(pair, None, "a match as most of this pair's end") for pair in pairs]
    chosen: dict[tuple, TellingMatch] = {}
    for pair, winner, why in found:
        match = _match(matches.points[pair], pair, winner)
        if len(chosen) < most:
            chosen.setdefault((pair, match), TellingMatch(pair, match, why))
    return list(chosen.values())


def _pair(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


def _was_upset(matches: LeagueMatches, ratings: list[float], pair: tuple[int, int]) -> bool:
    lower = 1.0 if ratings[pair[0]] < ratings[pair[1]] else 0.0
    return bool((score_of(matches.points[pair]) == lower).any())


def _match(points: np.ndarray, pair: tuple[int, int], winner: int | None) -> int:
    """The match that a player wins most clearly, or the one nearest to the mean; the first of several."""
    lead = points[:, 0] - points[:, 1]
    if winner is not None:
        return int(np.argmax(lead if winner == pair[0] else -lead))
    return int(np.argmin(np.abs(lead - lead.mean()) + 0.1 * np.abs(points.sum(1) - points.sum(1).mean())))


def figures_of_match(matches: LeagueMatches, one: TellingMatch, file: Path) -> Figures:
    """Return the entry of `league.json` for a telling match."""
    first, second = (matches.players[i].name for i in one.pair)
    ours, theirs = (int(value) for value in matches.points[one.pair][one.match])
    score = {"points_for": ours, "points_against": theirs}
    return {"first": first, "second": second, "match": one.match, **score, "why": one.why, "film": file.name}


def film(work: FilmedMatch) -> Path:
    """Play a match again, and film the last point of the player with more of them; a film that is there is kept.

    The film names the players in the order of its score: our side first.
    """
    from robomarl.lab.scene.files import write_pictures
    from robomarl.lab.scene.film import SAMPLES, captioned, film_views
    from robomarl.lab.simulation import simulation_of

    if work.file.is_file():
        return work.file
    scenario, moments, points = watch(work.pairing, work.match)
    staging = simulation_of(scenario).staging
    assert staging is not None, "checked by `watch`"
    shown = moments[excerpt(points, scenario.period_s)]
    scene = staging.scene(scenario)
    names = [Path(name).name for name in (work.pairing.first, work.pairing.second)]
    ours, theirs = names[::-1] if work.match >= work.pairing.matches // 2 else names
    pictures = list(captioned(scene, film_views(shown, FPS), SIZE, f"{ours} - {theirs}"))
    unfinished = work.file.with_name(f".{work.file.name}")
    write_pictures(pictures, unfinished, FPS, pictures[:: max(1, len(pictures) // SAMPLES)])
    unfinished.replace(work.file)
    return work.file


def excerpt(points: np.ndarray, period_s: float) -> slice:
    """The part of a match around the last point of its winner; of a match without points, its last part.

    Args:
        points: [T, 2] so far.
        period_s: time between two of them.
    """
    length, after = round(LENGTH_S / period_s), round(AFTER_S / period_s)
    winner = int(points[-1, 1] > points[-1, 0])
    scored = np.flatnonzero(np.diff(points[:, winner], prepend=0))
    end = min(len(points), (int(scored[-1]) + after) if len(scored) else len(points))
    return slice(max(0, end - length), end)
