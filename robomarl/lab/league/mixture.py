"""Mathematics of a payoff matrix: Nash mixture, exploitability, and Elo by maximum likelihood.

Letters in shapes: P players. `payoff[i, j]` is the mean score of i against j less 1/2, so it is antisymmetric: a
zero-sum game in which everybody chooses among the same players.
"""

import numpy as np
from scipy.optimize import linprog, minimize

MEAN_ELO, PER_DECADE = 1000.0, 400.0
"""Mean of all ratings, and the difference at which the stronger of two has ten times the other's points (Elo, 1978)."""
DRAWN = 1.0
"""Drawn matches that are added to each pair, so that a player that wins all has a finite rating."""


def nash(payoff: np.ndarray) -> np.ndarray:
    """Return [P] weights of a Nash mixture: no player has a mean score above 1/2 against it (SciPy's linear program).

    Where there are several, as between equal players, it is one of them, always the same one.
    """
    count = len(payoff)
    against = np.hstack([-payoff.T, np.ones((count, 1))])  # value - mixture's payoff against each <= 0
    found = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=against,
        b_ub=np.zeros(count),
        A_eq=np.append(np.ones(count), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * count + [(None, None)],
        method="highs",
    )
    weights = np.clip(found.x[:count], 0.0, None)
    return weights / weights.sum()


def exploiters(payoff: np.ndarray, weights: np.ndarray) -> tuple[int, float]:
    """The player that does best against a mixture, and the mean score above 1/2 that it has against it."""
    gains = payoff @ weights
    return int(np.argmax(gains)), float(gains.max())


def elo(score: np.ndarray, matches: np.ndarray) -> np.ndarray:
    """[P] ratings of maximum likelihood.

    Args:
        score: [P, P] points of i against j, a win 1 and a draw 1/2.
        matches: [P, P] matches of each pair; 0 for a player and itself.
    """
    count, scale = len(score), np.log(10) / PER_DECADE
    added = DRAWN * (matches > 0)
    points, played = score + added / 2, matches + added

    def loss(ratings: np.ndarray) -> tuple[float, np.ndarray]:
        gap = scale * (ratings[:, None] - ratings[None, :])
        expected = 1 / (1 + np.exp(-gap))
        value = (points * np.logaddexp(0.0, -gap)).sum()
        return float(value), scale * (played * expected - points).sum(1)

    found = minimize(loss, np.zeros(count), jac=True, method="BFGS", options={"gtol": 1e-7})
    return found.x - found.x.mean() + MEAN_ELO


def resampled(scores: dict[tuple[int, int], np.ndarray], count: int, random: np.random.Generator) -> np.ndarray:
    """[P, P] points of i against j over the matches of each pair drawn anew, with replacement."""
    points = np.zeros((count, count))
    for (i, j), row in scores.items():
        drawn = row[random.integers(0, len(row), len(row))].sum()
        points[i, j], points[j, i] = drawn, len(row) - drawn
    return points


def payoff_of(points: np.ndarray, matches: np.ndarray) -> np.ndarray:
    """[P, P] mean score less 1/2; 0 where there were no matches."""
    return np.where(matches > 0, points / np.maximum(matches, 1) - 0.5, 0.0)
