"""Correlation of the errors of positions and velocities in a window, and the matrix that makes them
independent.

Estimates have noise of their own at every time; the start of a window is not known; and gusts push
with an acceleration that keeps its direction for a while (Ornstein-Uhlenbeck). Drag removes the
velocity that they caused again. The errors of an open-loop model are then Gaussian with a known
covariance. Whitened by its Cholesky factor, they are as independent as the innovations of a Kalman
filter (Ljung, System Identification, 1999, ch. 7): least squares on them is maximum likelihood,
also if a policy has reacted to the gusts, because a command is decided from data before it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import t as student

DIFFUSE = 1.0
"""Standard deviation of the start of a window [m, m/s]: as good as unknown."""
LEAST_M = 1e-5
"""Estimates are no better [m, m/s]: they come in single precision."""
GUSTS_M_S2 = (1e-4, 3.0)
"""Range in which the gusts' acceleration is searched."""


class Noise(NamedTuple):
    """Standard deviations."""

    position_m: float
    velocity_m_s: float
    gust_m_s2: float
    """Standard deviation of the acceleration by gusts."""


class Whitener:
    """Whitening of windows of n decisions; `noise` may change."""

    def __init__(self, steps: int, period_s: float, gust_time_s: float, drag_per_s: float = 0.0) -> None:
        """Compute everything that does not change.

        Args:
            steps: n.
            period_s: time between two decisions.
            gust_time_s: time over which gusts keep their direction.
            drag_per_s: rate at which a velocity's error fades; 0 if nothing slows the vehicle down.
        """
        time = np.arange(1, steps + 1) * period_s
        apart = time[:, None] - time
        gust = np.exp(-np.abs(apart) / gust_time_s)
        summed = np.tril(np.ones((steps, steps))) * period_s
        speed = np.tril(np.exp(-drag_per_s * np.abs(apart))) * period_s
        both = np.concatenate([summed @ speed, speed])
        one, zero, fading = np.ones(steps), np.zeros(steps), np.exp(-drag_per_s * time)
        starts = [np.concatenate([one, zero]), np.concatenate([summed @ fading, fading])]
        self._starts = DIFFUSE**2 * sum(np.outer(s, s) for s in starts)
        self._gust = both @ gust @ both.T
        self._steps = steps

    def factor(self, noise: Noise) -> np.ndarray:
        """[2 n, 2 n] lower Cholesky factor of the covariance of positions and then velocities along one axis."""
        own = np.repeat([noise.position_m**2, noise.velocity_m_s**2], self._steps)
        return cholesky(np.diag(own) + noise.gust_m_s2**2 * self._gust + self._starts, lower=True)

    def whitening(self, noise: Noise) -> np.ndarray:
        """[2 n, 2 n] matrix that makes errors independent and of unit variance."""
        return solve_triangular(self.factor(noise), np.eye(2 * self._steps), lower=True)

    def likeliest(self, errors: np.ndarray) -> Noise:
        """Return the noise of errors [2 n, m].

        Second differences of white noise have six times its variance, and gusts hardly show in them. The
        gusts are then the ones that make the errors likeliest.
        """
        own = [np.sqrt((np.diff(part, 2, axis=0) ** 2).mean() / 6) for part in np.split(errors, 2)]
        first = Noise(max(own[0], LEAST_M), max(own[1], LEAST_M), 0.0)
        found = minimize_scalar(
            lambda log: self._cost(first._replace(gust_m_s2=math.exp(log)), errors),
            bounds=np.log(GUSTS_M_S2), method="bounded", options={"xatol": 0.05},
        )  # fmt: skip
        return first._replace(gust_m_s2=float(np.exp(found.x)))

    def gust_interval(self, noise: Noise, errors: np.ndarray) -> tuple[float, float]:
        """95 % interval of the gusts' acceleration: where the likelihood ratio stays below the square of Student's t.

        Of many windows that is chi squared. Of few it is wider: windows that follow each other share a gust.
        """
        least, freedom = self._cost(noise, errors), max(errors.shape[1] // 3 - 1, 1)
        allowed = float(student.ppf(0.975, freedom)) ** 2 / 2

        def beyond(log: float) -> float:
            return self._cost(noise._replace(gust_m_s2=math.exp(log)), errors) - least - allowed

        at, ends = math.log(noise.gust_m_s2), list[float]()
        for step, open_end in ((-0.7, 0.0), (0.7, math.inf)):
            far = (at + step * k for k in range(1, 6))
            out = next((x for x in far if beyond(x) > 0), None)
            root: Any = None if out is None else brentq(beyond, at, out, xtol=0.03)
            ends.append(open_end if root is None else math.exp(root))
        return ends[0], ends[1]

    def _cost(self, noise: Noise, errors: np.ndarray) -> float:
        """Negative logarithm of the likelihood, less a constant."""
        lower = self.factor(noise)
        white = solve_triangular(lower, errors, lower=True)
        return float(0.5 * (white**2).sum()) + errors.shape[1] * float(np.log(np.diag(lower)).sum())
