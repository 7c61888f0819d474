"""Least squares of a model's parameters to windows, with bounds that hold where errors are no textbook's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as student

from robomarl.field.identify.legs import elements
from robomarl.field.identify.noise import Noise, Whitener
from robomarl.field.identify.windows import SETTLE, Windows

MOVES = slice(0, 6)
"""Positions and velocities among a model's outputs ..."""
TURNS = slice(6, 11)
"""... and tilts and body rates."""
TURN_FLOOR = np.array([1e-3] * 2 + [1e-2] * 3)
"""Least standard deviation that tilts [rad] and rates [rad/s] are given: no attitude is better known."""
FIRST = Noise(0.005, 0.01, 0.03)
LEVEL = 0.95
LEAST_BLOCKS = 8
"""For the jackknife; see `blocks`."""
MOST_STEPS = 15
"""Maximum number of evaluations in one least-squares search: single precision ends it no sooner."""


class Fit(NamedTuple):
    """Parameters of one robot."""

    value: np.ndarray
    """[P]."""
    low: np.ndarray
    """[P] lower end of the 95 % interval."""
    high: np.ndarray
    """[P]."""
    covariance: np.ndarray
    """[P, P]."""
    noise: Noise
    gust_m_s2: tuple[float, float]
    """95 % interval of `noise.gust_m_s2`."""
    errors: np.ndarray
    """[W, K, 11] model minus estimates, in the windows' compared part."""


Predict = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Parameters [P] -> outputs [W, K, 11] after each decision, and their derivatives [W, K, 11, P]."""


@dataclass(frozen=True)
class FittedModel:
    """Model that a domain fits to windows: outputs are those of `robomarl.field.identify.legs.elements`."""

    names: tuple[str, ...]
    """[P]."""
    units: tuple[str, ...]
    """[P]."""
    first: np.ndarray
    """[P] start of a fit: the values of the files."""
    scale: np.ndarray
    """[P] size of a significant change of each parameter."""
    floor: np.ndarray
    """[P] least standard deviation of a fit: the error of the model itself."""
    predict: Callable[[Windows], Predict]
    gust_time_s: float
    """Over which gusts keep their direction."""
    drag_per_s: Callable[[np.ndarray], float]
    """Parameters [P] -> acceleration by wind, over its speed past the vehicle."""


class WindowFit:
    """Windows of one robot, and their model."""

    def __init__(self, windows: Windows, model: "FittedModel") -> None:
        """Prepare a fit; nothing is fitted yet.

        Args:
            windows: windows of the robot.
            model: model to fit.
        """
        self._predict, self._model = model.predict(windows), model
        self._seen, self._blocks = elements(windows.state)[:, 1:], blocks(windows.place)
        self._steps, self._period_s = self._seen.shape[1] - SETTLE, float(np.median(windows.period_s))
        self._whitener = self._whitener_at(model.first)
        self._noise, self._turn = FIRST, 10 * TURN_FLOOR
        self._whitening = self._whitener.whitening(FIRST)
        self._kept: tuple[bytes, tuple[np.ndarray, np.ndarray]] | None = None

    def run(self, rounds: int = 2) -> Fit:
        """Fit parameters and noise in turns, so often."""
        theta = self._model.first
        for _ in range(rounds):
            theta = self._solve(theta)
            self._learn(theta)
        return self._bounded(self._solve(theta))

    def _solve(self, theta: np.ndarray) -> np.ndarray:
        scale = self._model.scale
        limits = {"ftol": 1e-7, "xtol": 1e-6, "gtol": 1e-6, "max_nfev": MOST_STEPS}
        return least_squares(self._residual, theta, self._slope, x_scale=scale, **limits).x  # type: ignore[arg-type]

    def _at(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors [W, n, 11] and slopes [W, n, 11, P]; those of the last call are kept."""
        key = theta.tobytes()
        if self._kept is None or self._kept[0] != key:
            out, slope = self._predict(theta)
            self._kept = key, ((out - self._seen)[:, SETTLE:], slope[:, SETTLE:])
        return self._kept[1]

    def _residual(self, theta: np.ndarray) -> np.ndarray:
        return self._white(self._at(theta)[0]).ravel()

    def _slope(self, theta: np.ndarray) -> np.ndarray:
        slope = self._at(theta)[1]
        columns = [self._white(slope[..., p]) for p in range(slope.shape[-1])]
        return np.stack(columns, -1).reshape(-1, slope.shape[-1])

    def _white(self, errors: np.ndarray) -> np.ndarray:
        """[W, R] independent errors of unit variance, of [W, n, 11]."""
        moves = self._whitening @ _columns(errors)
        turns = errors[..., TURNS] / self._turn
        return np.concatenate([moves.T.reshape(len(errors), -1), turns.reshape(len(errors), -1)], -1)

    def _whitener_at(self, theta: np.ndarray) -> Whitener:
        drag_per_s = max(self._model.drag_per_s(theta), 0.0)
        return Whitener(self._steps, self._period_s, self._model.gust_time_s, drag_per_s)

    def _learn(self, theta: np.ndarray) -> None:
        errors = self._at(theta)[0]
        self._whitener = self._whitener_at(theta)
        self._noise = self._whitener.likeliest(_columns(errors))
        self._whitening = self._whitener.whitening(self._noise)
        self._turn = np.maximum(TURN_FLOOR, np.sqrt((errors[..., TURNS] ** 2).mean((0, 1))))

    def _bounded(self, theta: np.ndarray) -> Fit:
        """Return the intervals of the jackknife over `blocks` (Cameron and Miller, 2015: CR3, with one step of
        Gauss-Newton).

        If few windows show a parameter, the jackknife may be narrow by chance. Gauss and Newton's own
        variance, which is right if the noise is as in the model, is therefore the lower bound.
        """
        errors = self._at(theta)[0]
        slope = self._slope(theta).reshape(len(errors), -1, len(theta))
        white = self._white(errors)
        parts = _summed(np.einsum("wri,wrj->wij", slope, slope), self._blocks)
        pulls = _summed(np.einsum("wri,wr->wi", slope, white), self._blocks)
        whole, count = parts.sum(0), len(parts)
        moved = np.stack([np.linalg.pinv(whole - a) @ g for a, g in zip(parts, pulls, strict=True)])
        jackknife = (count - 1) / count * moved.T @ moved
        textbook = np.linalg.pinv(whole)
        wider = np.sqrt(np.maximum(1.0, np.diag(textbook) / np.diag(jackknife)))
        covariance = jackknife * np.outer(wider, wider) + np.diag(self._model.floor**2)
        half = student.ppf(0.5 + LEVEL / 2, _freedom(moved)) * np.sqrt(np.diag(covariance))
        gust = self._whitener.gust_interval(self._noise, _columns(errors))
        return Fit(theta, theta - half, theta + half, covariance, self._noise, gust, errors)


def blocks(place: Sequence[tuple[str, int, int]]) -> np.ndarray:
    """Return the block [W] that each window belongs to, in order: two successive windows of a flight share
    its gusts.

    With few windows each is its own block: a variance from fewer than `LEAST_BLOCKS` is worse than the
    effect of shared gusts.
    """
    pairs = [(robot, flight, number // 2) for robot, flight, number in place]
    known = sorted(set(pairs))
    enough = len(known) >= LEAST_BLOCKS
    return np.array([known.index(pair) for pair in pairs]) if enough else np.arange(len(place))


def _summed(each: np.ndarray, block: np.ndarray) -> np.ndarray:
    """[B, ...] sums over the windows [W, ...] of each block."""
    total = np.zeros((block.max() + 1, *each.shape[1:]))
    np.add.at(total, block, each)
    return total


def _freedom(moved: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom [P]: the effective number of blocks [B, P] that move a parameter, less one.

    For B normal and equal shares the fourth powers sum up to 3 / B of the square of the sum of the
    second ones.
    """
    shares = moved / np.maximum(np.abs(moved).max(0), 1e-30)
    effective = 3 * (shares**2).sum(0) ** 2 / np.maximum((shares**4).sum(0), 1e-30)
    return np.clip(effective - 1, 1, max(len(moved) - 1, 1))


def _columns(errors: np.ndarray) -> np.ndarray:
    """[2 n, 3 W] positions and then velocities, along each axis of each window, of [W, n, 11]."""
    pairs = [np.concatenate([errors[..., axis], errors[..., 3 + axis]], 1) for axis in range(3)]
    return np.stack(pairs, 1).reshape(-1, pairs[0].shape[1]).T
