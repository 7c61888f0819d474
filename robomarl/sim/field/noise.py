"""How errors of positions and velocities in a window hang together, and what makes them independent of each other.

Estimates have noise of their own at every time; the start of a window is not known; and gusts push with an acceleration
that keeps its direction for a while (Ornstein-Uhlenbeck). The errors of an open-loop model are then Gaussian with a
known covariance. Whitened by its Cholesky factor, they are as independent as the innovations of a Kalman filter (Ljung,
System Identification, 1999, ch. 7): least squares of them is maximum likelihood, also where a policy has reacted to the
gusts, because a command is decided from what came before it.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

DIFFUSE = 1.0
"""Standard deviation of the start of a window [m, m/s]: as good as unknown."""


class Noise(NamedTuple):
    """Standard deviations."""

    position_m: float
    velocity_m_s: float
    gust_m_s2: float
    """Of the acceleration by gusts."""


class Whitener:
    """Of windows of n decisions; `noise` may change."""

    def __init__(self, steps: int, period_s: float, gust_time_s: float) -> None:
        """Work out what does not change.

        Args:
            steps: n.
            period_s: between two.
            gust_time_s: over which gusts keep their direction.
        """
        time = np.arange(1, steps + 1) * period_s
        gust = np.exp(-np.abs(time[:, None] - time) / gust_time_s)
        once = np.tril(np.ones((steps, steps))) * period_s
        both = np.concatenate([once @ once, once])
        one, zero = np.ones(steps), np.zeros(steps)
        starts = [np.concatenate([one, zero]), np.concatenate([time, one])]
        self._starts = DIFFUSE**2 * sum(np.outer(s, s) for s in starts)
        self._gust = both @ gust @ both.T
        self._steps = steps

    def factor(self, noise: Noise) -> np.ndarray:
        """[2 n, 2 n] lower Cholesky factor of the covariance of positions and then velocities along one axis."""
        own = np.repeat([noise.position_m**2, noise.velocity_m_s**2], self._steps)
        return cholesky(np.diag(own) + noise.gust_m_s2**2 * self._gust + self._starts, lower=True)

    def whiten(self, noise: Noise, errors: np.ndarray) -> np.ndarray:
        """Errors [2 n, m], each column along one axis of one window."""
        return solve_triangular(self.factor(noise), errors, lower=True)

    def likeliest(self, errors: np.ndarray, first: Noise) -> Noise:
        """The noise that makes errors [2 n, m] likeliest."""

        def cost(logs: np.ndarray) -> float:
            lower = self.factor(Noise(*np.exp(logs)))
            white = solve_triangular(lower, errors, lower=True)
            return float(0.5 * (white**2).sum() + errors.shape[1] * np.log(np.diag(lower)).sum())

        bounds = [(np.log(1e-5), np.log(10.0))] * 3
        start = np.clip(np.log(first), *np.array(bounds).T)
        found = minimize(cost, start, method="Nelder-Mead", bounds=bounds, options={"xatol": 0.02, "fatol": 0.5})
        return Noise(*np.exp(found.x).tolist())
