"""A search for the farthest that a certified robot comes from its tracked point, along each axis and in all.

The robot is the tracker of `core.certificate` itself, with its box of states, its prediction and its walls. The plant
has the words of the vehicle file: at every decision the search chooses the directions of both errors of the estimate
and of the disturbance, each as long as its bound, the signs of the reference's acceleration, and which of the commands
that the delay allows acts. A tube that is smaller than what it finds is wrong. What it does not find proves nothing.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.certificate import state_box
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.state_box import StateBox
from robomarl.core.certificate.tracker import Point, track
from robomarl.core.config import Count, Positive, Seed
from robomarl.core.filter.model import stacked
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array

POSITION, VELOCITY, PUSH, LATE, WISH = range(5)
"""What is chosen at a decision, a sign or 0 on each axis: directions of the two errors and of the disturbance, the one
in which the acting command is the largest that the delay allows, and the reference's acceleration."""
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
    """Number of robots pushed along x, of those along y, along z, and along all axes at once."""
    generations: Count = 400
    seconds: Positive = 2.4
    """Time that a robot flies."""
    seed: Seed = 0
    jitted: bool = True
    """Fly in JAX: four times as fast, after some seconds of compiling."""


class Farthest(NamedTuple):
    """The farthest that a robot came."""

    off_m: float
    """Distance from the tracked point: along the axis or, of all axes, in the metric of the downwash."""
    choices: Array
    """[steps, 5, 3] int: what was chosen, in the order of `POSITION` to `WISH`."""
    bias: Array
    """[3] sign of the bias on each axis."""


class PushedRobots(NamedTuple):
    """Robots [3, N] behind the tracker and the delay, between two decisions."""

    pos: Array
    vel: Array
    sent: Array
    """[3, N, Q] commands on their way."""
    box: StateBox
    """[N] states that the estimates so far allow."""
    points: Array
    """[P, 3, N] tracked points of the last decisions, the newest last."""
    speed: Array
    """Velocity of the newest."""
    accels: Array
    """[m, 3, N] accelerations of the reference in the last periods."""


class AttackedRobots:
    """The robot of a vehicle file, and what its bounds allow to do to it."""

    def __init__(self, params: SafetyParams, figures: CertificateFigures, xp: ModuleType = np) -> None:
        """Keep the numbers; `xp`: numpy or jax.numpy."""
        self.xp = xp
        self.safety, self.figures, self.bounds = params.safety, figures, np.array(params.bias_m_s2)[:, None]
        self.doubt = np.minimum(self.bounds, figures.learned_m_s2)
        periods = (figures.tracker.horizon_s - figures.ahead_s) / figures.period_s
        self.lag = int(periods), periods - int(periods)

    def begin(self, count: int) -> PushedRobots:
        """Return robots at rest at their points."""
        none, still = self.xp.zeros((3, count)), self.xp.zeros((count, 3))
        sent, accels = self.xp.zeros((3, count, self.figures.tracker.num_acting)), (self.figures.smooth_count, 3, count)
        points = self.xp.zeros((self.lag[0] + 2, 3, count))
        box = state_box.anywhere(self.figures.tracker, still, still[:, 0], self.xp)
        return PushedRobots(none, none, sent, box, points, none, self.xp.zeros(accels))

    def step(self, now: PushedRobots, chosen: Array, bias: Array) -> tuple[PushedRobots, Array]:
        """Return robots a period later, and their offsets [3, N] from the tracked point.

        Args:
            now: robots.
            chosen: [5, 3, N] of `Farthest`.
            bias: [3, N] sign of the bias, whose part that is not known is as large as the tube allows.
        """
        f, c, t, h = self.figures, self.figures.tracker, self.figures.period_s, self.figures.ahead_s
        accels = self.xp.concatenate([now.accels[1:], (chosen[WISH] * np.array(f.accel_m_s2)[:, None])[None]])
        mean, point = accels.mean(0), now.points[-1]
        ahead = Point(*map(tuple, (point + now.speed * h + mean * h * h / 2, now.speed + mean * h, mean)))
        learned = self._learned(bias)
        box = self._seen(now, chosen, learned)
        predicted = stacked.predict(c, state_box.middle_of(box), self.xp.moveaxis(now.sent, 0, -1), learned, self.xp)
        command, _ = track(c, predicted, ahead, f.learned.half_m, box.at_s == box.at_s, self.xp)
        pos, vel = self._moved(now, chosen, bias)
        sent = self.xp.concatenate([now.sent[..., 1:], command[..., None]], -1)
        box = state_box.commanded(c, box, command.T, box.at_s, self.xp)
        points = self.xp.concatenate([now.points[1:], (point + now.speed * t + mean * t * t / 2)[None]])
        after = PushedRobots(pos, vel, sent, box, points, now.speed + mean * t, accels)
        return after, pos - self._tracked(points)

    def _learned(self, bias: Array) -> Bias:
        """Return the robots' estimate of their bias, as unsure as the learned tube allows."""
        still = self.xp.zeros_like(bias.T)
        known, doubt = (bias * (self.bounds - self.doubt)).T, (self.doubt + 0 * bias).T
        return Bias(known, doubt, still, still, still, still[:, 0], still[:, 0])

    def _seen(self, now: PushedRobots, chosen: Array, learned: Bias) -> StateBox:
        """Return the boxes of states narrowed by estimates with the chosen errors."""
        s, at_s = self.safety, now.box.at_s + self.figures.period_s
        pos = now.pos + s.position_error_m * _directions(chosen[POSITION], self.xp)
        vel = now.vel + s.velocity_error_m_s * _directions(chosen[VELOCITY], self.xp)
        stamp, known = (at_s, at_s == at_s), (learned, s.position_error_m)
        return state_box.narrowed(self.figures.tracker, now.box, (pos.T, vel.T), stamp, known, self.xp)

    def _moved(self, now: PushedRobots, chosen: Array, bias: Array) -> tuple[Array, Array]:
        """Return position and velocity a period later: any of the commands that the delay allows may act."""
        queue, left, pos, vel = self.figures.tracker.queue, self.figures.period_s, now.pos, now.vel
        extra = bias * self.bounds + self.safety.accel_error_m_s2 * _directions(chosen[PUSH], self.xp)
        for oldest, newest, seconds in zip(queue.oldest, queue.newest, queue.speed_s, strict=True):
            if (lasts := min(seconds, left)) <= 0:
                break
            able = now.sent[..., oldest : newest + 1]
            which = (able * chosen[LATE][..., None]).sum(0).argmax(-1)
            accel = self.xp.take_along_axis(able, which[None, :, None], -1)[..., 0] + extra
            pos, vel, left = pos + vel * lasts + accel * lasts * lasts / 2, vel + accel * lasts, left - lasts
        return pos, vel

    def _tracked(self, points: Array) -> Array:
        """[3, N] where the tracked point is now: decisions know it in the middle of the times at which they may act."""
        whole, part = self.lag
        return part * points[-whole - 2] + (1 - part) * points[-whole - 1]


def _directions(signs: Array, xp: ModuleType) -> Array:
    """Return unit vectors [3, N] with these signs."""
    return signs / xp.sqrt(xp.maximum((signs * signs).sum(0), 1.0))


def farthest(
    params: SafetyParams, figures: CertificateFigures, search: TubeSearch, tick: Callable[[int], object] = bool
) -> tuple[Farthest, ...]:
    """Search along each axis that the vehicle moves on, and last along all, by changes that are kept where a robot
    comes farther.

    Args:
        params: safety parameters of the vehicle file.
        figures: numbers that the robot flies with.
        search: size of the search.
        tick: called with 1 after each generation.
    """
    random, aims = np.random.default_rng(search.seed), np.array(_aims(params.planar))
    moves = np.repeat(aims[:, None], search.robots, 1)
    choices = _drawn(random, moves, round(search.seconds / figures.period_s))
    bias, warm_m = moves * random.choice([-1, 1], moves.shape), WARM_SHARE * figures.learned.half_m[0]
    flight = _flight(params, figures, search.jitted)
    off = np.asarray(flight(choices, bias))
    best = [_best(off, choices, bias, aim) for aim in range(len(aims))]
    for generation in range(search.generations):
        new = _changed(random, choices, moves)
        found = np.asarray(flight(new, bias))
        warm = (1 - generation / search.generations) * warm_m
        kept = found > off - warm * random.exponential(size=off.shape)
        choices, off = np.where(kept[..., None, None, None], new, choices), np.where(kept, found, off)
        best = [max(old, _best(off, choices, bias, i), key=lambda one: one.off_m) for i, old in enumerate(best)]
        if generation % COPIED_EVERY == COPIED_EVERY - 1:
            _copy_best(off, choices, bias)
        tick(1)
    return tuple(best)


def replayed(params: SafetyParams, figures: CertificateFigures, found: Farthest) -> Array:
    """Return the offsets [steps, 3] [m] of a robot with other figures under the same attack."""
    robots, bias, off = AttackedRobots(params, figures), np.array(found.bias, float)[:, None], list[Array]()
    now = robots.begin(1)
    for chosen in np.array(found.choices, float):
        now, offset = robots.step(now, chosen[..., None], bias)
        off.append(offset[:, 0])
    return np.stack(off)


def _aims(planar: bool) -> list[tuple[int, ...]]:
    """Return the axes that the robots of each aim are pushed along, 1 or 0."""
    return [(1, 0, 0), (0, 1, 0), (1, 1, 0)] if planar else [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]


def _best(off: Array, choices: Array, bias: Array, aim: int) -> Farthest:
    which = aim, int(off[aim].argmax())
    return Farthest(float(off[which]), choices[which], bias[which])


def _copy_best(off: Array, choices: Array, bias: Array) -> None:
    """Put copies of the best robots of each aim in the places of the worst."""
    count = int(KEPT * off.shape[1])
    for aim, order in enumerate(np.argsort(off)):
        for part in (off, choices, bias):
            part[aim, order[:count]] = part[aim, order[-count:]]


def _flight(params: SafetyParams, figures: CertificateFigures, jitted: bool) -> Callable[[Array, Array], Array]:
    """Return a function (choices [A, N, steps, 5, 3], signs of biases [A, N, 3]) -> the farthest [A, N] that robots of
    each aim come."""
    xp = jnp if jitted else np
    robots, aims = AttackedRobots(params, figures, xp), _aims(params.planar)
    metric = np.array([aim if sum(aim) == 1 else figures.squash for aim in aims])[:, None]

    def flown(choices: Array, bias: Array) -> Array:
        shape, signs = bias.shape, bias.reshape(-1, 3).T * 1.0

        def step(now: tuple[PushedRobots, Array], chosen: Array) -> tuple[tuple[PushedRobots, Array], None]:
            after, off = robots.step(now[0], xp.moveaxis(chosen, 0, -1) * 1.0, signs)
            off = off.T.reshape(shape) * metric
            return (after, xp.maximum(now[1], (off * off).sum(-1))), None

        begin = robots.begin(signs.shape[1]), xp.zeros(shape[:2])
        turns = xp.moveaxis(choices.reshape(-1, *choices.shape[2:]), 1, 0)
        if jitted:
            return jnp.sqrt(jax.lax.scan(step, begin, turns)[0][1])
        return np.sqrt(functools.reduce(lambda now, chosen: step(now, chosen)[0], turns, begin)[1])

    return jax.jit(flown) if jitted else flown


def _drawn(random: np.random.Generator, moves: Array, steps: int) -> Array:
    """Draw choices [A, N, steps, 5, 3]: errors that flip soon or never, a reference that swings, the rest to one side.

    `moves`: [A, N, 3] the axes that robots are pushed along.
    """
    shape, turn = (*moves.shape[:2], 1), np.arange(steps)
    soon = np.where(random.random(shape) < STEADY, steps, random.integers(1, 7, shape))
    late = random.integers(5, 36, shape)
    choices = np.ones((*moves.shape[:2], steps, 5), np.int8)
    choices[..., POSITION] = choices[..., VELOCITY] = np.where(turn // soon % 2, 1, -1)
    choices[..., WISH] = np.where(turn // late % 2, 1, -1)
    sides = moves * random.choice(np.array([-1, 1], np.int8), moves.shape)
    return (choices[..., None] * sides[:, :, None, None]).astype(np.int8)


def _changed(random: np.random.Generator, choices: Array, moves: Array) -> Array:
    """Change one stretch of one choice of each robot, along one axis or along all: flip it, set it, or let it
    alternate."""
    steps, robots = choices.shape[2], np.arange(moves[..., 0].size)
    flat, turn, drawn = choices.reshape(-1, steps, 5, 3).copy(), np.arange(steps)[:, None], (len(robots), 1, 1)
    begin, kind = random.integers(0, steps, drawn), random.integers(0, 5, len(robots))
    length = np.where(random.random(drawn) < 0.5, 1, random.integers(1, LONGEST, drawn))
    period, side = random.integers(1, 7, drawn), random.integers(-1, 2, (len(robots), 1, 3))
    one = np.eye(3, dtype=int)[random.integers(0, 3, len(robots))][:, None]
    along = np.where(random.random(drawn) < 0.5, one, 1) * moves.reshape(-1, 1, 3) > 0
    old = flat[robots, :, kind]
    put = np.choose(random.integers(0, 3, drawn), [-old, side + 0 * old, side * np.where(turn // period % 2, 1, -1)])
    flat[robots, :, kind] = np.where((turn >= begin) & (turn < begin + length) & along, put, old)
    return flat.reshape(choices.shape)
