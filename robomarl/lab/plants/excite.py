"""Commands that excite a vehicle's dynamics: steps, reversals, steps at speed, sweeps and random ones."""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.hardware.sections import LimitConfig

HALF_PERIODS_S = (0.1, 0.2, 0.3, 0.45, 0.7)
"""Half periods [s] of the square waves: around the vehicle's own frequency, where attitude loops overshoot most."""
SWEEP_HZ = (0.3, 4.0)
HOLD_S = (0.06, 0.5)
"""How long random commands are held."""
ON_S, OFF_S = 0.2, 1.6
"""Start and end [s] of a step."""
START = 0.85
"""Speed at the start of those at speed, as a share of the largest."""
TURNS_S = (0.5, 1.5, 2.2)
"""Ends [s] of the three phases of a reversal: one direction, the opposite, the first again; then nothing."""


@dataclass(frozen=True)
class ExciteConfig:
    """How much is flown."""

    seconds: float = 3.0
    randoms: int = 24
    """Flights with random commands, of each of two kinds: anywhere in the box, and its corners only."""
    seed: int = 0
    waves: bool = True
    """Fly square waves and sweeps as well."""
    turns: float = 1.0
    """Share of the largest yaw rate that is commanded on the way: wheels and rotors that turn a vehicle have less left
    to accelerate it."""


class Excitation(NamedTuple):
    """E flights of K decisions."""

    command: np.ndarray
    """[K, E, 3] acceleration, world [m/s^2]."""
    yaw_rate: np.ndarray
    """[K, E] rad/s."""
    start_m_s: np.ndarray
    """[E, 3] velocity at the start, world."""


def patterns(planar: bool) -> np.ndarray:
    """Return signs [D, 3]: axes and diagonals of the box, both ways; the second half is the negated first, in
    reverse order.
    """
    signs = itertools.product((-1.0, 0.0, 1.0), repeat=2 if planar else 3)
    return np.array([(*s, 0.0)[:3] for s in signs if any(s)])


def excitations(limits: LimitConfig, period_s: float, planar: bool, config: ExciteConfig) -> Excitation:
    """All flights of one condition.

    Args:
        limits: the box of commands, the largest speed and yaw rate.
        period_s: between two decisions.
        planar: the vehicle moves in the plane.
        config: how much is flown.
    """
    random = np.random.default_rng(config.seed)
    time_s = np.arange(round(config.seconds / period_s)) * period_s
    unit, start = _planned(time_s, planar, config.waves)
    yaw = np.tile(random.choice([-1.0, 0.0, 0.0, 1.0], unit.shape[1]), (len(time_s), 1))
    drawn = [_random(random, len(time_s), period_s, config.randoms) for _ in range(2)]
    drawn[1][..., :3] = np.sign(drawn[1][..., :3])
    units = np.concatenate([unit, *(d[..., :3] for d in drawn)], 1)
    turns = np.concatenate([yaw, *(np.sign(d[..., 3]) for d in drawn)], 1)
    still = np.zeros((2 * config.randoms, 3))
    if planar:
        units[..., 2] = 0.0
    return Excitation(
        within(limits, units),
        config.turns * limits.yaw_rate_rad_s * turns,
        np.concatenate([limits.speed_m_s * start, still]),
    )


def _planned(time_s: np.ndarray, planar: bool, waves: bool) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the box [K, E, 3], and starts [E, 3] as shares of the largest speed."""
    every = patterns(planar)
    half = every[len(every) // 2 :]
    away = -START * every / np.linalg.norm(every, axis=-1, keepdims=True)
    flights = [(_step(time_s), every, 0 * every), (_reversal(time_s), every, 0 * every), (_step(time_s), every, away)]
    if waves:
        shapes = [*(np.where((time_s // p) % 2 < 1, 1.0, -1.0) for p in HALF_PERIODS_S), _sweep(time_s)]
        flights += [(shape, half, 0 * half) for shape in shapes]
    unit = np.concatenate([shape[:, None, None] * sides for shape, sides, _ in flights], 1)
    return unit, np.concatenate([start for *_, start in flights])


def brakings(limits: LimitConfig, period_s: float, planar: bool, demand_m_s2: float, seconds: float) -> Excitation:
    """Return flights that brake from the largest speed straight to rest, in every direction, with one
    demand along the velocity.

    Args:
        limits: the largest speed.
        period_s: time between two decisions.
        planar: the vehicle moves in the plane.
        demand_m_s2: size of the command.
        seconds: duration of the command.
    """
    every = patterns(planar)
    away = every / np.linalg.norm(every, axis=-1, keepdims=True)
    command = np.tile(-demand_m_s2 * away, (round(seconds / period_s), 1, 1))
    return Excitation(command, np.zeros(command.shape[:2]), limits.speed_m_s * away)


def within(limits: LimitConfig, unit: np.ndarray) -> np.ndarray:
    """Shares of the box [..., 3], from -1 to 1 on each axis, as accelerations [m/s^2]."""
    low, high = np.array(limits.accel_min_m_s2), np.array(limits.accel_max_m_s2)
    return np.where(unit > 0, unit * high, -unit * low)


def _step(time_s: np.ndarray) -> np.ndarray:
    return np.where((time_s >= ON_S) & (time_s < OFF_S), 1.0, 0.0)


def _reversal(time_s: np.ndarray) -> np.ndarray:
    first, second, third = TURNS_S
    return np.select([time_s < first, time_s < second, time_s < third], [1.0, -1.0, 1.0], 0.0)


def _sweep(time_s: np.ndarray) -> np.ndarray:
    low, high = SWEEP_HZ
    growth = np.log(high / low) / time_s[-1]
    return np.sin(2 * np.pi * low * np.expm1(growth * time_s) / growth)


def _random(random: np.random.Generator, steps: int, period_s: float, flights: int) -> np.ndarray:
    """[steps, flights, 4] shares of acceleration and yaw rate, held for a while each."""
    shortest, longest = (max(1, round(s / period_s)) for s in HOLD_S)
    unit, left, now = np.zeros((steps, flights, 4)), np.zeros(flights, int), np.zeros((flights, 4))
    for k in range(steps):
        now = np.where((left == 0)[:, None], random.uniform(-1, 1, now.shape), now)
        left = np.where(left == 0, random.integers(shortest, longest + 1, flights), left) - 1
        unit[k] = now
    return unit
