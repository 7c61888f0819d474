"""The robots, their actuators and their contacts: a separate plant, exact in time. Numpy.

Between two instants at which anything may change, accelerations are constant. Positions are
therefore parabolas, and the closest approach of two robots is found on these parabolas, not on
samples.
"""

import math
from typing import NamedTuple

import numpy as np

from robomarl.lab.prove.worst.words import Words

EPS = 1e-9


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[...] of [..., 3]; much faster than a sum over an axis of three."""
    return np.einsum("...i,...i->...", a, b)


def norm(a: np.ndarray) -> np.ndarray:
    """[...] lengths of [..., 3]."""
    return np.sqrt(dot(a, a))


def unit(a: np.ndarray) -> np.ndarray:
    """[..., 3] directions; of nothing, nothing."""
    return a / np.maximum(norm(a), 1e-9)[..., None]


class Piece(NamedTuple):
    """Part of a period with one set of commands that may be in force."""

    seconds: float
    newest: int
    """Ticks between its command's stamp and this period's at least,"""
    oldest: int
    """and at most."""


def pieces(words: Words) -> list[Piece]:
    """The parts of a period.

    The command of a stamp may be in force from `early_s` to `period_s + late_s` after it.
    """
    period = words.period_s
    cuts = sorted({0.0, *(_rest(x, period) for x in (words.early_s, words.late_s)), period})
    found = []
    for begin, end in zip(cuts[:-1], cuts[1:], strict=True):
        newest = math.ceil((words.early_s - begin) / period - EPS)
        oldest = math.floor((period + words.late_s - end) / period + EPS)
        found.append(Piece(end - begin, max(newest, 0), max(oldest, newest, 0)))
    return found


def _rest(seconds: float, period: float) -> float:
    rest = seconds % period
    return 0.0 if min(rest, period - rest) < EPS else rest


class Actuators:
    """The commands of E teams of N robots on their way; zero before the first."""

    def __init__(self, words: Words, lead: tuple[int, int]) -> None:
        """Nothing has been commanded."""
        self.pieces = pieces(words)
        self._sent = np.zeros((max(p.oldest for p in self.pieces) + 1, *lead, 3))

    def send(self, command: np.ndarray) -> None:
        """The decision [E, N, 3] of this period."""
        self._sent = np.concatenate([command[None], self._sent[:-1]])

    def in_force(self, piece: Piece, late: np.ndarray, picked: np.ndarray, toward: np.ndarray) -> np.ndarray:
        """[E, N, 3] which of the commands that may be in force is.

        Args:
            piece: when.
            late: [E, N] from 0, the newest, to 1, the oldest.
            picked: [E, N] above 0.5: the one that is farthest along `toward`; below -0.5: least far.
            toward: [E, N, 3].
        """
        able = self._sent[piece.newest : piece.oldest + 1]
        if len(able) == 1:
            return able[0]
        place = np.rint(late * (len(able) - 1)).astype(int)
        if (np.abs(picked) > 0.5).any():
            reach = dot(able, toward) * np.sign(picked)
            place = np.where(np.abs(picked) > 0.5, reach.argmax(0), place)
        return np.take_along_axis(able, place[None, ..., None], 0)[0]

    @property
    def newest(self) -> np.ndarray:
        """Return the last commands sent, [E, N, 3]."""
        return self._sent[0]


class Robots:
    """E teams of N robots: the commanded points accelerate by the command and the errors.

    A differential drive's centre trails the point by `ahead_m` against its heading; from the point's
    velocity V follow its speed V . e and its yaw rate V . e' / ahead_m (e the heading, e' across it).
    """

    def __init__(self, words: Words, pos: np.ndarray, heading_rad: np.ndarray) -> None:
        """Start at rest, with the centres at `pos` [E, N, 3]."""
        self.words, self.angle = words, np.array(heading_rad)
        self.pos = pos + words.ahead_m * self.heading
        """[E, N, 3] of the points."""
        self.vel = np.zeros_like(self.pos)

    @property
    def heading(self) -> np.ndarray:
        """[E, N, 3] unit vectors."""
        return np.stack([np.cos(self.angle), np.sin(self.angle), 0 * self.angle], -1)

    @property
    def across(self) -> np.ndarray:
        """[E, N, 3] unit vectors to the left of the heading."""
        return np.stack([-np.sin(self.angle), np.cos(self.angle), 0 * self.angle], -1)

    @property
    def turn_rad_s(self) -> np.ndarray:
        """[E, N] yaw rates."""
        ahead = self.words.ahead_m
        return dot(self.vel, self.across) / ahead if ahead else 0 * self.angle

    @property
    def centre(self) -> np.ndarray:
        """Return the centres [E, N, 3], which must not touch."""
        return self.pos - self.words.ahead_m * self.heading if self.words.ahead_m else self.pos

    def move(self, accel: np.ndarray, seconds: float) -> "Parabola":
        """Go on under constant accelerations [E, N, 3]; returns the way of the centres."""
        start, vel = self.centre, self.vel
        half = self.vel + accel * (seconds / 2)
        if self.words.ahead_m:  # midpoint rule: 0.03 rad a period
            turn = dot(self.vel, self.across) / self.words.ahead_m
            middle = self.angle + turn * (seconds / 2)
            across = np.stack([-np.sin(middle), np.cos(middle), 0 * middle], -1)
            self.angle = self.angle + dot(half, across) / self.words.ahead_m * seconds
        self.pos = self.pos + half * seconds
        self.vel = self.vel + accel * seconds
        if not self.words.ahead_m:
            return Parabola(start, vel, accel, seconds)
        return Parabola(start, (self.centre - start) / seconds, 0 * accel, seconds)


class Parabola(NamedTuple):
    """Parabolas start + vel t + accel t^2 / 2, each [E, N, 3]."""

    start: np.ndarray
    vel: np.ndarray
    accel: np.ndarray
    seconds: float

    def between(self, one: np.ndarray, two: np.ndarray) -> "Parabola":
        """Difference of the ways of robots `one` and `two`, [E, pairs, 3]."""
        start, vel, accel = (x[:, one] - x[:, two] for x in self[:3])
        return Parabola(start, vel, accel, self.seconds)

    def times(self, factor: np.ndarray) -> "Parabola":
        """Return the path in scaled axes."""
        return Parabola(self.start * factor, self.vel * factor, self.accel * factor, self.seconds)

    @property
    def least(self) -> np.ndarray:
        """Least distance from the origin on the way: ends, and inside by Newton's method."""
        lin = dot(self.start, self.vel)
        time = np.clip(-lin / np.maximum(dot(self.vel, self.vel), 1e-12), 0.0, self.seconds)
        for _ in range(3):
            place, vel = self._at(time), self.vel + self.accel * time[..., None]
            slope = dot(place, vel)
            curve = dot(vel, vel) + dot(place, self.accel)
            time = np.clip(time - slope / np.where(np.abs(curve) < 1e-9, 1e-9, curve), 0.0, self.seconds)
        squares = [dot(x, x) for x in (self.start, self._at(time), self._at(np.array(self.seconds)))]
        return np.sqrt(np.minimum(np.minimum(squares[0], squares[1]), squares[2]))

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest coordinate on the way, [E, N, 3] each."""
        turn = np.where(self.accel == 0, 0.0, -self.vel / np.where(self.accel == 0, 1.0, self.accel))
        turn = np.clip(turn, 0.0, self.seconds)
        places = np.stack([self.start, self._at(np.array(self.seconds)), self._at(turn)])
        return places.min(0), places.max(0)

    def _at(self, time: np.ndarray) -> np.ndarray:
        time = time if time.ndim == self.start.ndim else time[..., None]
        return self.start + self.vel * time + self.accel * (time * time / 2)
