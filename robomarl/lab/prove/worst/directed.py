"""Structured attacks of two robots on each other, and of one on a wall."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robomarl.lab.prove.worst.attack import ASIDE, Attack
from robomarl.lab.prove.worst.errors import Random, spoil
from robomarl.lab.prove.worst.plant import norm, unit
from robomarl.lab.prove.worst.words import Words

FULL = 2.0
"""Share of the speed limit that asks for full acceleration all the way."""
RUN_UP_M = 5.5
RUN_UP_S = 3.0
"""Robots start as far apart as they meet in this time at full speed, at most."""
Geometry = Callable[[Random, Words, Attack, np.ndarray], None]


def run_up_m(words: Words) -> float:
    """Farthest start beyond the least distance."""
    return min(RUN_UP_M, 2 * RUN_UP_S * words.vehicle.limits.speed_m_s)


def seconds_for(words: Words, apart_m: float, wait_s: float) -> float:
    """Return the length [s] of an episode: wait, approach, brake, and one second more."""
    speed, box = words.vehicle.limits.speed_m_s, words.box
    accel = min(-box[0, 0], box[1, 0])
    rest_s = speed / accel + speed / words.vehicle.safety.brake_m_s2 + 2 * words.late_s
    return wait_s + apart_m / (2 * speed) + rest_s + 1.0


def line_up(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> np.ndarray:
    """Two robots `apart_m` [E] from each other in any direction; returns the unit vectors [E, 3] from 0 to 1."""
    episodes = len(attack.values)
    # Often along axes and diagonals: there the boxes of acceleration and of bias are widest or narrowest.
    angle = np.where(random.random(episodes) < 0.5, random.uniform(-np.pi, np.pi, episodes), 0.0)
    angle = angle + np.pi / 4 * random.integers(0, 8, episodes) * (angle == 0)
    rise = np.where(random.random(episodes) < 0.3, random.uniform(-1, 1, episodes) * np.pi / 2, 0.0)
    rise = rise * (not words.planar)
    along = np.stack([np.cos(angle) * np.cos(rise), np.sin(angle) * np.cos(rise), np.sin(rise)], -1)
    place_pair(words, attack, along, apart_m)
    return along


def place_pair(words: Words, attack: Attack, along: np.ndarray, apart_m: np.ndarray) -> None:
    """Centres so that the commanded points are `apart_m` apart in the metric; drives face each other."""
    stretch = 1 / norm(along * words.squash)
    half = along * (apart_m * stretch / 2)[:, None]
    attack.put_vector("start", np.stack([-half, half], 1), "_m")
    angle = np.arctan2(along[:, 1], along[:, 0])
    attack["heading_rad"] = np.stack([angle, angle + np.pi], -1)


def head_on(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Straight at each other."""
    line_up(random, words, attack, apart_m)
    attack.put(push_a=FULL, push_b=FULL)


def offset(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Past each other, closely, or turning in at the last moment."""
    along = line_up(random, words, attack, apart_m)
    aside = np.stack([-along[:, 1], along[:, 0], 0 * apart_m], -1)
    shift = random.uniform(-1, 1, (len(apart_m), 1)) * 1.5 * words.vehicle.safety.separation_m
    start = attack.vector("start", "_m")
    start[:, 1] += aside * shift
    attack.put_vector("start", start, "_m")
    attack.put_vector("way", np.stack([along, -along], 1))
    attack.put(along_a=FULL, along_b=FULL, near_m=random.uniform(-0.05, 1.0, attack.values.shape[:2]))
    turns = random.random(attack.values.shape[:2]) < 0.6
    attack.put(along_b=np.where(turns, 0.0, FULL), push_b=np.where(turns, FULL, 0.0))


def crossing(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Fly to one point from two sides."""
    along = line_up(random, words, attack, apart_m)
    start, turn = attack.vector("start", "_m"), random.uniform(-1.3, 1.3, len(apart_m))
    middle, aside = start.mean(1), np.stack([-along[:, 1], along[:, 0], 0 * apart_m], -1)
    way = np.cos(turn)[:, None] * along + np.sin(turn)[:, None] * aside
    stretch = words.apart_m / np.maximum(np.abs(np.cos(turn / 2 + np.pi / 4)), 0.2)
    length = np.maximum(apart_m, stretch)[:, None] * 0.7
    start = np.stack([middle - way * length, middle + along * length], 1)
    attack.put_vector("start", start, "_m")
    attack.put_vector("way", np.stack([way, -along], 1))
    attack.put(along_a=FULL, push_b=FULL, near_m=random.uniform(-0.05, 1.5, attack.values.shape[:2]))


def chase(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Let one robot flee, slower than its pursuer, and stop or turn."""
    along = line_up(random, words, attack, np.minimum(apart_m, words.apart_m + 1.0))
    attack.put_vector("way", np.stack([along, along], 1))
    attack.put(push_a=FULL, push_b=FULL)
    slow, last = random.uniform(0.2, 1.0, len(apart_m)), random.choice([-FULL, 0.0, 0.5], len(apart_m))
    for name, value in (("push_a", 0.0), ("push_b", 0.0), ("along_a", slow), ("along_b", last)):
        attack[name][:, 1] = value
    attack["near_m"] = random.uniform(0, 0.8, (len(apart_m), 1))


def at_rest(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Let one robot stay at its place while the second flies at it, in some episodes slowly."""
    line_up(random, words, attack, apart_m)
    attack["push_a"][:, 0] = attack["push_b"][:, 0] = random.choice([FULL, 0.5, 0.2], len(apart_m))


def vertical(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Place two robots above each other; robots on the ground meet along x."""
    up = np.array([1.0, 0, 0]) if words.planar else np.array([0, 0, 1.0])
    lean = random.normal(size=(len(apart_m), 3)) * 0.1 * (1 - up) * [1, 1, 0 if words.planar else 1]
    along = up * random.choice([-1.0, 1.0], (len(apart_m), 1)) + lean
    place_pair(words, attack, unit(along), apart_m)
    attack.put(push_a=FULL, push_b=FULL)


def orbit(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Around each other, then a dash."""
    line_up(random, words, attack, np.minimum(apart_m, words.apart_m + 1.5))
    shape = attack.values.shape[:2]
    attack.put(tangent_a=random.uniform(-1, 1, shape), push_a=random.uniform(0.05, 0.5, shape))
    attack.put(push_b=FULL, near_m=random.uniform(0, 0.6, (shape[0], 1)))
    attack["side_rad"] = random.uniform(-np.pi, np.pi, (shape[0], 1)) * (not words.planar)


def bang(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Full power towards and away by turns, which jitter turns into a push."""
    line_up(random, words, attack, np.minimum(apart_m, words.apart_m + 0.5))
    shape = attack.values.shape[:2]
    attack.put(push_a=FULL, push_b=FULL, bang_s=random.uniform(0.04, 1.0, (shape[0], 1)))
    attack.put(bang_share=random.uniform(0.4, 0.95, (shape[0], 1)), bang_phase=random.random(shape))


def feint(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Let one robot come and go repeatedly, so that its last message is as wrong as possible."""
    line_up(random, words, attack, np.minimum(apart_m, words.apart_m + 1.5))
    attack.put(push_a=FULL, push_b=FULL, near_m=random.uniform(0.0, 0.8, attack.values.shape[:2]))
    attack["push_b"][:, 1] = -FULL
    attack["push_b"][:, 0] = random.choice([FULL, 0.0, -FULL], len(apart_m))


def linger(random: Random, words: Words, attack: Attack, apart_m: np.ndarray) -> None:
    """Start close by, and push for the rest of the time."""
    line_up(random, words, attack, np.full_like(apart_m, words.apart_m))
    attack.put(push_a=random.choice([FULL, 0.5, 0.2], (len(apart_m), 1)))
    attack["push_b"] = attack["push_a"]


GEOMETRIES: dict[str, Geometry] = {
    g.__name__: g for g in (head_on, offset, crossing, chase, at_rest, vertical, orbit, bang, feint, linger)
}
ALONE = ("none", "bias", "gust", "estimate", "delay", "messages", "bias+gust", "restart", "blind")
"""Sets of errors that are tried by themselves, head-on."""
PAIRS = (*(f"head_on/{e}" for e in ALONE), *(f"{g}/{e}" for g in GEOMETRIES for e in ("all", "everything")))
"""Attacks of two robots, by geometry and errors."""


class Length(NamedTuple):
    """Farthest start and waiting time; equal within a batch, so that no episode waits for longer ones."""

    apart_m: float
    """Farthest start, in the metric of the separation."""
    wait_s: float

    @classmethod
    def draw(cls, random: Random, words: Words) -> "Length":
        """Mostly a run-up at once; some robots wait, and learn."""
        apart_m = words.apart_m + random.uniform(0.1, 1.0) * run_up_m(words)
        return cls(apart_m, float(random.choice([0.0, 0.5, 3.0], p=[0.6, 0.25, 0.15])))

    def seconds(self, words: Words) -> float:
        """Return the length [s] of an episode."""
        return seconds_for(words, self.apart_m, self.wait_s)


def pair_attack(name: str, random: Random, words: Words, episodes: int, length: Length) -> Attack:
    """E episodes of two robots."""
    geometry, errors = name.split("/")
    attack = Attack.blank(episodes, 2)
    apart_m = np.where(random.random(episodes) < 0.5, length.apart_m, 0.0)
    apart_m = np.where(apart_m > 0, apart_m, random.uniform(words.apart_m, length.apart_m, episodes))
    GEOMETRIES[geometry](random, words, attack, apart_m)
    attack["go_s"] = random.uniform(0, 1, (episodes, 1)) * length.wait_s
    start = attack.vector("start", "_m")
    spoil(errors, random, words, attack, unit(start[:, ::-1] - start))
    return attack


def wall_attack(errors: str, random: Random, words: Words, episodes: int) -> Attack:
    """One robot at full speed into a wall, an edge or a corner, then pushing."""
    assert words.arena is not None
    low, high = np.array(words.arena.low_m), np.array(words.arena.high_m)
    room, axes = (high - low) / 2, 2 if words.planar else 3
    way = random.choice([-1.0, 0.0, 1.0], (episodes, 3))
    way[:, axes:] = 0.0
    way[np.abs(way).sum(-1) == 0, 0] = 1.0
    way = way * random.uniform(0.5, 1.0, way.shape)
    attack = Attack.blank(episodes, 1)
    back = random.uniform(0.0, 1.0, (episodes, 1)) * (room - words.apart_m - words.ahead_m)
    start = (low + high) / 2 - np.sign(way) * np.maximum(back, 0.0)
    attack.put_vector("start", start[:, None], "_m")
    attack.put_vector("way", way[:, None])
    attack["heading_rad"] = np.arctan2(way[:, 1], way[:, 0])[:, None]
    attack.put(target=ASIDE, along_a=1.5 * FULL, along_b=1.5 * FULL)
    spoil(errors, random, words, attack, unit(way)[:, None])
    return attack


def wall_seconds(words: Words) -> float:
    """Length of such an episode: through the whole room and more."""
    assert words.arena is not None
    return seconds_for(words, 2 * (words.arena.high_m[0] - words.arena.low_m[0]), 0.0)
