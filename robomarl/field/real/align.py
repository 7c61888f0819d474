"""Shift between the clocks of motion capture and of a vehicle, over time, from its gyroscope and accelerometer.

The vehicle's own estimate takes no part in it, so that a late estimate stays late.
"""

from collections.abc import Sequence

import numpy as np
from scipy.signal import savgol_filter

LARGEST_S = 0.2
BLOCK_S = 0.5
INDEPENDENT = 6.0
"""Values in a block that count as independent: signals of a flight change within about 0.1 s."""
WANDER_S = 0.006
"""Standard deviation of the change of the shift between two blocks: links and recorders stall and recover."""


def signed(turning: np.ndarray, force: np.ndarray) -> list[np.ndarray]:
    """Return what is compared: rates about x and y [K, 2] and the force along z [K, 1], smoothed alike."""
    pairs = ((turning[:, :2], 9), (force[:, 2:], 21))
    return [np.asarray(savgol_filter(values, rows, 2, axis=0)) for values, rows in pairs]


def costs(true: np.ndarray, seen: np.ndarray, period_s: float) -> np.ndarray:
    """Return the normalized square errors [B, S] of each block and shift, for signals [K, C] of the two clocks."""
    most, rows = _shifts(period_s), round(BLOCK_S / period_s)
    even = len(true) // rows * rows
    seen = seen - seen.mean(0) + true.mean(0)
    errors = [((true - np.roll(seen, -k, 0)) ** 2).sum(-1)[:even].reshape(-1, rows).mean(1) for k in most]
    found = np.stack(errors, -1)
    return found / max(float(found.mean(0).min()), 1e-12)


def best_shift_s(cost: np.ndarray, period_s: float) -> float:
    """Return the shift [s] of the least sum of costs [B, S], between samples by a parabola."""
    total = cost.sum(0)
    at = int(np.clip(total.argmin(), 1, len(total) - 2))
    before, here, after = total[at - 1 : at + 2]
    bend = before - 2 * here + after
    return period_s * float(_shifts(period_s)[at] + ((before - after) / (2 * bend) if bend > 0 else 0.0))


def shift_over_time(cost: np.ndarray, period_s: float) -> np.ndarray:
    """Return the expected shift [B] in s: a hidden random walk, seen through the costs, forward and backward.

    (Rabiner, A tutorial on hidden Markov models, Proceedings of the IEEE 1989, section III.)
    """
    shifts = _shifts(period_s) * period_s
    likely = np.exp(-0.5 * INDEPENDENT * (cost - cost.min(1, keepdims=True)))
    step = np.exp(-0.5 * ((shifts[:, None] - shifts) / WANDER_S) ** 2)
    step /= step.sum(1, keepdims=True)
    ahead, behind = np.empty_like(likely), np.ones_like(likely)
    ahead[0] = likely[0] / likely[0].sum()
    for k in range(1, len(likely)):
        ahead[k] = likely[k] * (ahead[k - 1] @ step)
        ahead[k] /= ahead[k].sum()
    for k in range(len(likely) - 2, -1, -1):
        behind[k] = step @ (likely[k + 1] * behind[k + 1])
        behind[k] /= behind[k].sum()
    weight = ahead * behind
    return (weight / weight.sum(1, keepdims=True)) @ shifts


def delay_between(one: Sequence[np.ndarray], other: Sequence[np.ndarray], period_s: float) -> float:
    """Return how much later [s] the second sensor's costs lie than the first one's, the median over flights."""
    pairs = zip(one, other, strict=True)
    return float(np.median([best_shift_s(b, period_s) - best_shift_s(a, period_s) for a, b in pairs]))


def _shifts(period_s: float) -> np.ndarray:
    most = round(LARGEST_S / period_s)
    return np.arange(-most, most + 1)
