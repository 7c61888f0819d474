"""`figures_of`: ratings of a league's players from its matches, with 95 % intervals."""

from dataclasses import dataclass

import numpy as np

from robomarl.core.types import Figures
from robomarl.lab.evaluate.intervals import wilson
from robomarl.lab.league.mixture import elo, exploiters, nash, payoff_of, resampled
from robomarl.lab.league.players import LeaguePlayer

RESAMPLES = 300
"""Leagues that are drawn anew for intervals of ratings and weights."""


@dataclass(frozen=True)
class LeagueMatches:
    """Matches of all pairs."""

    players: tuple[LeaguePlayer, ...]
    points: dict[tuple[int, int], np.ndarray]
    """[E, 2] of each pair i < j: points of i and of j in each match."""

    @property
    def scores(self) -> dict[tuple[int, int], np.ndarray]:
        """[E] scores of i in each match of each pair i < j: 1 for a win, 1/2 for a draw."""
        return {pair: score_of(points) for pair, points in self.points.items()}

    @property
    def played(self) -> np.ndarray:
        """[P, P] matches of each pair."""
        return _square({pair: float(len(row)) for pair, row in self.points.items()}, len(self.players))


def score_of(points: np.ndarray) -> np.ndarray:
    """[E, 2] points -> [E] scores of the first player."""
    return (1 + np.sign(points[:, 0] - points[:, 1])) / 2


def payoff(matches: LeagueMatches, part: slice = slice(None)) -> np.ndarray:
    """[P, P] mean score of i against j less 1/2, over all matches or a part of each pair's."""
    count, scores = len(matches.players), matches.scores
    upper = _square({pair: float(row[part].mean()) - 0.5 for pair, row in scores.items()}, count)
    return np.triu(upper) - np.triu(upper).T


def figures_of(matches: LeagueMatches) -> Figures:
    """Figures of the players, best rating first, of the pairs, and of the Nash mixture."""
    names, table = [player.name for player in matches.players], payoff(matches)
    ratings, weights, (low, high) = _rated(matches)
    rows = [
        {
            "player": player.name,
            "kind": player.kind,
            "elo": float(ratings[i]),
            "elo_ci95": [float(low[0, i]), float(high[0, i])],
            "score": float(table[i].sum() / (len(names) - 1) + 0.5),
            "nash": float(weights[i]),
            "nash_ci95": [float(low[1, i]), float(high[1, i])],
            "exploitability": exploitability(matches, table, i),
        }
        for i, player in enumerate(matches.players)
    ]
    rows.sort(key=lambda row: -row["elo"])
    pairs = [_pair(names[i], names[j], points) for (i, j), points in sorted(matches.points.items())]
    return {"players": rows, "pairs": pairs, "mixture": mixture(matches, weights)}


def exploitability(matches: LeagueMatches, table: np.ndarray, victim: int) -> Figures:
    """Return the score above 1/2 of a player's hardest opponent; 0 if no opponent scores above 1/2."""
    names = [player.name for player in matches.players]
    alone = np.eye(len(names))[victim]
    best, gain = exploiters(table, alone)
    if best == victim or gain <= 0:
        return {"score": 0.0, "ci95": None, "by": None}
    low, high = interval(matches, best, victim)
    return {"score": gain, "ci95": [low - 0.5, high - 0.5], "by": names[best]}


def interval(matches: LeagueMatches, first: int, second: int) -> list[float]:
    """Interval of the mean score of one player against another."""
    row = matches.scores[min(first, second), max(first, second)]
    won = float(row.sum()) if first < second else float(len(row) - row.sum())
    return wilson(won, len(row))


def mixture(matches: LeagueMatches, weights: np.ndarray) -> Figures:
    """The Nash mixture, and its exploitability on other matches than those it was worked out of.

    Each half of the matches gives a mixture, which the players meet in the other half; by the matches it was worked
    out of, a mixture has none.
    """
    names = [player.name for player in matches.players]
    halves = [payoff(matches, slice(k, None, 2)) for k in range(2)]
    found = [exploiters(halves[1 - k], nash(halves[k])) for k in range(2)]
    return {
        "weights": {name: float(weight) for name, weight in zip(names, weights, strict=True)},
        "exploitability": float(np.mean([gain for _, gain in found])),
        "by": sorted({names[best] for best, _ in found}),
    }


def _rated(matches: LeagueMatches) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[P] ratings, [P] weights of the Nash mixture, and their limits [2 (low, high), 2, P]."""
    count, scores, played = len(matches.players), matches.scores, matches.played
    points = np.zeros((count, count))
    for (i, j), row in scores.items():
        points[i, j], points[j, i] = row.sum(), len(row) - row.sum()
    random = np.random.default_rng(0)
    drawn = [resampled(scores, count, random) for _ in range(RESAMPLES)]
    both = np.array([[elo(one, played), nash(payoff_of(one, played))] for one in drawn])
    return elo(points, played), nash(payoff(matches)), np.percentile(both, [2.5, 97.5], axis=0)


def _pair(first: str, second: str, points: np.ndarray) -> Figures:
    score = score_of(points)
    return {
        "first": first,
        "second": second,
        "matches": len(points),
        "score": float(score.mean()),
        "score_ci95": wilson(float(score.sum()), len(score)),
        "won": int((score == 1).sum()),
        "drawn": int((score == 0.5).sum()),
        "lost": int((score == 0).sum()),
        "points_for": float(points[:, 0].mean()),
        "points_against": float(points[:, 1].mean()),
    }


def _square(values: dict[tuple[int, int], float], count: int) -> np.ndarray:
    """[P, P] a value of each pair, on both sides of the diagonal."""
    table = np.zeros((count, count))
    for (i, j), value in values.items():
        table[i, j] = table[j, i] = value
    return table
