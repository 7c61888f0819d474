"""A search for the farthest that a certified robot comes from its tracked point along an axis.

The robot is the tracker of `core.certificate` itself, its prediction and its walls. The plant has the words of the
vehicle file: at every decision the search chooses the signs of both errors of the estimate, of the disturbance and of
the reference's acceleration, and which of the commands that the delay allows acts. A tube that is smaller than what it
finds is wrong. What it does not find proves nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.tracker import Point, track
from robomarl.core.config import Count, Positive, Seed
from robomarl.core.filter.model import stacked
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.model.motion import Motion
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array

POSITION, VELOCITY, PUSH, LATE, WISH = range(5)
"""What is chosen at a decision, each -1 or 1: signs of the two errors and of the disturbance, the least or the largest
command that the delay allows, and the sign of the reference's acceleration."""
KEPT = 0.2
"""Share of the robots that are copied over the worst ones, now and then."""
COPIED_EVERY = 10
"""Generations between two such copies."""
STEADY = 0.25
"""Share of the robots that begin the search with errors of one sign."""
LONGEST = 40
"""Decisions in a stretch that is changed at once."""
WARM_SHARE = 0.03
"""Loss of distance, in half sides of the box, that a change may cost at the beginning and is kept; it falls to 0."""


@dataclass(frozen=True)
class TubeSearch:
    """Size of the search."""

    robots: Count = 150
    """Robots of each axis."""
    generations: Count = 150
    seconds: Positive = 2.4
    """Time that a robot flies."""
    seed: Seed = 0


class Farthest(NamedTuple):
    """The farthest that a robot came along an axis."""

    off_m: float
    """Distance from the tracked point."""
    choices: Array
    """[steps, 5] int: what was chosen, in the order of `POSITION` to `WISH`."""
    bias: int
    """Sign of the bias."""


class AxisPlant:
    """Robots [3, N] that move along one axis each, x, y and z, behind the tracker and the delay."""

    def __init__(self, params: SafetyParams, figures: CertificateFigures, bias: Array) -> None:
        """Place robots at rest at their points. `bias`: [3, N] sign of the bias, whose part that is not known is as
        large as the tube allows."""
        self.safety, self.figures = params.safety, figures
        c, bounds = figures.tracker, np.array(params.bias_m_s2)[:, None]
        doubt = np.minimum(bounds, figures.learned_m_s2) + 0.0 * bias
        self.bias = bias * bounds
        known, still = (bias * (bounds - doubt)).T, np.zeros((bias.shape[1], 3))
        self.learned = Bias(known, doubt.T, still, still, still, still[:, 0], still[:, 0])
        self.pos, self.vel, self.point, self.speed = (np.zeros(bias.shape) for _ in range(4))
        self.sent = np.zeros((*bias.shape, c.num_acting))
        self.accels = np.zeros((*bias.shape, figures.smooth_count))
        self.most = np.array(figures.accel_m_s2)[:, None]
        periods = (c.horizon_s - figures.ahead_s) / figures.period_s
        self.lag = int(periods), periods - int(periods)
        self.points = [self.point] * (self.lag[0] + 2)

    def step(self, chosen: Array) -> Array:
        """Go on for one period; returns distances [3, N] from the tracked point. `chosen`: [5, 3, N] of `Farthest`."""
        f, s, t, h = self.figures, self.safety, self.figures.period_s, self.figures.ahead_s
        self.accels = np.concatenate([self.accels[..., 1:], (chosen[WISH] * self.most)[..., None]], -1)
        mean = self.accels.mean(-1)
        ahead = Point(*map(tuple, (self.point + self.speed * h + mean * h * h / 2, self.speed + mean * h, mean)))
        off_m, off_m_s = s.position_error_m * chosen[POSITION], s.velocity_error_m_s * chosen[VELOCITY]
        own = Motion(tuple(self.pos + off_m), tuple(self.vel + off_m_s))
        predicted = stacked.predict(f.tracker, own, np.moveaxis(self.sent, 0, -1), self.learned, np)
        command, _ = track(f.tracker, predicted, ahead, f.learned.half_m, self.pos[0] == self.pos[0], np)
        self._move(chosen)
        self.sent = np.concatenate([self.sent[..., 1:], command[..., None]], -1)
        self.point, self.speed = self.point + self.speed * t + mean * t * t / 2, self.speed + mean * t
        self.points = [*self.points[1:], self.point]
        return self.pos - self._tracked()

    def _move(self, chosen: Array) -> None:
        """Move for a period: the vehicle may go on with any of the commands that its delay allows."""
        queue, left = self.figures.tracker.queue, self.figures.period_s
        extra = self.bias + chosen[PUSH] * self.safety.accel_error_m_s2
        for oldest, newest, seconds in zip(queue.oldest, queue.newest, queue.speed_s, strict=True):
            if (lasts := min(seconds, left)) <= 0:
                break
            able = self.sent[..., oldest : newest + 1]
            accel = np.where(chosen[LATE] > 0, able.max(-1), able.min(-1)) + extra
            self.pos, self.vel = self.pos + self.vel * lasts + accel * lasts * lasts / 2, self.vel + accel * lasts
            left -= lasts

    def _tracked(self) -> Array:
        """[3, N] where the tracked point is now: decisions know it in the middle of the times at which they may act."""
        whole, part = self.lag
        before, after = self.points[-whole - 2], self.points[-whole - 1]
        return part * before + (1 - part) * after


def farthest(
    params: SafetyParams, figures: CertificateFigures, search: TubeSearch, tick: Callable[[int], object] = bool
) -> tuple[Farthest, ...]:
    """Search along each axis that the vehicle moves on, by changes that are kept where a robot comes farther.

    Args:
        params: safety parameters of the vehicle file.
        figures: numbers that the robot flies with.
        search: size of the search.
        tick: called with 1 after each generation.
    """
    random = np.random.default_rng(search.seed)
    shape = 3, search.robots, round(search.seconds / figures.period_s)
    choices, bias = _drawn(random, shape), random.choice([-1.0, 1.0], shape[:2])
    off, warm_m = _flown(params, figures, choices, bias), WARM_SHARE * np.array(figures.learned.half_m)[:, None]
    best = [_best(off, choices, bias, axis) for axis in range(3)]
    for generation in range(search.generations):
        new = _changed(random, choices)
        found = _flown(params, figures, new, bias)
        warm = (1 - generation / search.generations) * warm_m
        kept = found > off - warm * random.exponential(size=off.shape)
        choices, off = np.where(kept[..., None, None], new, choices), np.where(kept, found, off)
        best = [max(old, _best(off, choices, bias, i), key=lambda one: one.off_m) for i, old in enumerate(best)]
        if generation % COPIED_EVERY == COPIED_EVERY - 1:
            _copy_best(off, choices, bias)
        tick(1)
    return tuple(best[: 2 if params.planar else 3])


def replayed(params: SafetyParams, figures: CertificateFigures, axis: int, found: Farthest) -> float:
    """Return the farthest [m] that a robot with other figures comes along an axis under the same attack."""
    choices = np.broadcast_to(found.choices, (3, 1, *found.choices.shape))
    return float(_flown(params, figures, choices, np.full((3, 1), float(found.bias)))[axis, 0])


def _best(off: Array, choices: Array, bias: Array, axis: int) -> Farthest:
    which = axis, int(off[axis].argmax())
    return Farthest(float(off[which]), choices[which], int(bias[which]))


def _copy_best(off: Array, choices: Array, bias: Array) -> None:
    """Put copies of the best robots of each axis in the places of the worst."""
    count = int(KEPT * off.shape[1])
    for axis, order in enumerate(np.argsort(off)):
        for part in (off, choices, bias):
            part[axis, order[:count]] = part[axis, order[-count:]]


def _flown(params: SafetyParams, figures: CertificateFigures, choices: Array, bias: Array) -> Array:
    """[3, N] farthest that each robot comes; `choices`: [3, N, steps, 5]; `bias`: [3, N] its sign."""
    plant, off = AxisPlant(params, figures, bias), np.zeros(bias.shape)
    for chosen in np.moveaxis(choices, (2, 3), (0, 1)).astype(float):
        off = np.maximum(off, np.abs(plant.step(chosen)))
    return off


def _drawn(random: np.random.Generator, shape: tuple[int, int, int]) -> Array:
    """Draw choices [3, N, steps, 5]: errors that flip soon or never, a reference that swings, the rest to one side."""
    soon = np.where(random.random((*shape[:2], 1)) < STEADY, shape[2], random.integers(1, 7, (*shape[:2], 1)))
    late = random.integers(5, 36, (*shape[:2], 1))
    turn, choices = np.arange(shape[2]), np.ones((*shape, 5), np.int8)
    choices[..., POSITION] = choices[..., VELOCITY] = np.where(turn // soon % 2, 1, -1)
    choices[..., WISH] = np.where(turn // late % 2, 1, -1)
    return choices


def _changed(random: np.random.Generator, choices: Array) -> Array:
    """Change one stretch of one choice of each robot: flip it, set it, or let it alternate."""
    steps, kinds = choices.shape[2:]
    flat = choices.reshape(-1, steps, kinds).copy()
    robots, turn = np.arange(len(flat)), np.arange(steps)
    drawn = len(flat), 1
    begin, kind = random.integers(0, steps, drawn), random.integers(0, kinds, len(flat))
    length = np.where(random.random(drawn) < 0.5, 1, random.integers(1, LONGEST, drawn))
    period, side = random.integers(1, 7, drawn), random.choice([-1, 1], drawn)
    old = flat[robots, :, kind]
    put = np.choose(random.integers(0, 3, drawn), [-old, side + 0 * old, side * np.where(turn // period % 2, 1, -1)])
    flat[robots, :, kind] = np.where((turn >= begin) & (turn < begin + length), put, old)
    return flat.reshape(choices.shape)
