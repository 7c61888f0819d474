"""Deceleration that a vehicle's brakes really hold."""

import math

import numpy as np

from robomarl.field.limits.fit import steepest
from robomarl.lab.plants.flight import Flights

SLOW_M_S = 0.1
"""Speed below which a vehicle counts as stopped."""


def held_deceleration(flights: Flights, after_s: float, tolerance: float) -> float:
    """Least deceleration along the first velocity [m/s^2] that every flight held until it was slow; below 0: none.

    Args:
        flights: of `excite.brakings`: braking from the first decision on.
        after_s: when braking has to act: the longest delay and one period.
        tolerance: of a change of velocity [m/s].
    """
    begin = math.ceil(after_s / flights.period_s - 1e-9)
    speed = along_start(flights)[begin:]
    return min(_held(speed[:, i], flights.period_s, tolerance) for i in range(speed.shape[1]))


def _held(speed: np.ndarray, period_s: float, tolerance: float) -> float:
    slow = np.flatnonzero(speed < SLOW_M_S)
    until = int(slow[0]) + 1 if len(slow) else len(speed)
    if until < 3:
        return math.inf
    return -steepest(speed[:until, None], period_s, tolerance)


def overshoot(flights: Flights) -> float:
    """How much faster than at its start any flight was in its first direction while it braked [m/s]."""
    speed = along_start(flights)
    return max(0.0, float((speed - speed[0]).max()))


def along_start(flights: Flights) -> np.ndarray:
    """[K + 1, E] speed in the direction of the first velocity [m/s]."""
    away = flights.vel_m_s[0] / np.linalg.norm(flights.vel_m_s[0], axis=-1, keepdims=True)
    return (flights.vel_m_s * away).sum(-1)
