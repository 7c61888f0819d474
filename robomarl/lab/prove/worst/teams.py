"""Structured attacks of three to eight robots, mostly in a room with walls."""

from collections.abc import Callable

import numpy as np

from robomarl.core.filter.filter import Arena
from robomarl.lab.prove.worst.attack import ASIDE, NEAREST, Attack
from robomarl.lab.prove.worst.directed import FULL, seconds_for
from robomarl.lab.prove.worst.errors import Random, spoil
from robomarl.lab.prove.worst.plant import norm, unit
from robomarl.lab.prove.worst.words import Words

PUSH_S = 3.0
"""How long a crowd goes on pushing once it is there."""
SPARE_CELLS = 5
TIGHTEST, LOOSEST = 1.02, 1.45
"""Distances of neighbours in a line over the least."""

Formation = Callable[[Random, Words, Attack], None]


def room_of(words: Words, count: int) -> Arena:
    """A room in which a robot reaches full speed and stops again, and N stand in a line."""
    speed, box = words.vehicle.limits.speed_m_s, words.box
    stop = speed**2 / 2 * (1 / min(-box[0, 0], box[1, 0]) + 1 / words.vehicle.safety.brake_m_s2)
    line = LOOSEST * (count - 1) / 2 * words.apart_m
    half = words.apart_m + words.ahead_m + max(1.0, 1.5 * stop + 2 * speed * words.late_s, line)
    return Arena((-half, -half, -half), (half, half, half))


def _middle(words: Words) -> np.ndarray:
    if words.arena is None:
        return np.zeros(3)
    return (np.array(words.arena.low_m) + np.array(words.arena.high_m)) / 2 * [1, 1, 0 if words.planar else 1]


def _cells(words: Words, count: int) -> np.ndarray:
    """[M, 3] places from a corner inwards, nearest first, each `apart_m` from the next."""
    step = 1.02 * words.apart_m / words.squash
    grid = np.stack(np.meshgrid(range(4), range(4), range(1 if words.planar else 2), indexing="ij"), -1).reshape(-1, 3)
    grid = grid[np.argsort((grid**2).sum(-1), kind="stable")][: count + SPARE_CELLS]
    return grid * step


def corner(random: Random, words: Words, attack: Attack) -> None:
    """Robot 0 goes into a corner or an edge, and all others push it there."""
    assert words.arena is not None
    episodes, count = attack.values.shape[:2]
    places = _cells(words, count)
    order = random.random((episodes, len(places))).argsort(-1)
    order = np.concatenate([0 * order[:, :1], np.where(order == 0, order[:, :1], order)[:, 1:]], -1)[:, :count]
    side = random.choice([-1.0, 1.0], (episodes, 1, 3))
    half = (np.array(words.arena.high_m) - np.array(words.arena.low_m)) / 2
    inner = (half - words.apart_m - words.ahead_m) * [1, 1, 0 if words.planar else 1]
    attack.put_vector("start", _middle(words) + side * (inner - places[order]), "_m")
    way = np.broadcast_to(side, (episodes, count, 3)) * [1, 1, 0 if words.planar else 1]
    attack.put_vector("way", way)
    attack["heading_rad"] = np.arctan2(way[..., 1], way[..., 0])
    attack.put(target=0.0, push_a=FULL, push_b=FULL)
    goes = random.random(episodes) < 0.6
    first = {"push_a": np.where(goes, 0.0, -FULL), "along_a": np.where(goes, FULL, 0.0)}
    first["target"] = np.where(random.random(episodes) < 0.5, ASIDE, NEAREST)
    first["target"] = np.where(goes, first["target"], NEAREST)
    for name, value in first.items():
        attack[name][:, 0] = value
    attack["push_b"], attack["along_b"] = attack["push_a"], attack["along_a"]
    attack["target"][:, 1:] = np.where(random.random((episodes, 1)) < 0.7, 0.0, NEAREST)


def converge(random: Random, words: Words, attack: Attack) -> None:
    """Fly from a ring to its middle, all robots at once."""
    episodes, count = attack.values.shape[:2]
    turn = 2 * np.pi * (np.arange(count) / count + random.random((episodes, 1)))
    out = np.stack([np.cos(turn), np.sin(turn), 0 * turn], -1)
    least = words.apart_m / (2 * np.sin(np.pi / max(count, 2)))
    ring = least * random.uniform(1.02, 2.0, (episodes, 1, 1))
    attack.put_vector("start", _middle(words) + out * ring, "_m")
    attack.put_vector("way", -out)
    attack["heading_rad"] = turn + np.pi
    attack.put(along_a=FULL, push_b=FULL, near_m=random.uniform(-0.05, 1.0, (episodes, 1)))


def squeeze(random: Random, words: Words, attack: Attack) -> None:
    """Close in from both sides of a line on the middle robot, which stays, flees its nearest teammate, or flies at
    it.
    """
    _line(random, words, attack)
    count = attack.values.shape[1]
    attack.put(target=float(count // 2), push_a=FULL, push_b=FULL)
    attack["target"][:, count // 2] = NEAREST
    attack["push_a"][:, count // 2] = random.choice([0.0, -FULL, FULL], len(attack.values))
    attack["push_b"] = attack["push_a"]


def queue(random: Random, words: Words, attack: Attack) -> None:
    """Line up robots behind each other; the first stops, or turns round."""
    _line(random, words, attack)
    episodes, count = attack.values.shape[:2]
    attack.put(along_a=FULL, along_b=FULL)
    attack["near_m"][:, 0] = 0.5
    attack["target"][:, 1:] = np.arange(count - 1)
    attack["along_b"][:, 0] = random.choice([0.0, -FULL], episodes)
    attack["along_a"][:, 0] = random.uniform(-1.0, 0.8, episodes)


def _line(random: Random, words: Words, attack: Attack) -> None:
    """Robot 0 in front."""
    episodes, count = attack.values.shape[:2]
    angle = random.uniform(-np.pi, np.pi, episodes)
    way = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)[:, None]
    place = ((count - 1) / 2 - np.arange(count))[:, None] * words.apart_m
    stretch = random.uniform(TIGHTEST, LOOSEST, (episodes, 1, 1))
    attack.put_vector("start", _middle(words) + way * place * stretch, "_m")
    attack.put_vector("way", np.broadcast_to(way, (episodes, count, 3)))
    attack["heading_rad"] = np.broadcast_to(angle[:, None], (episodes, count))


FORMATIONS: dict[str, Formation] = {f.__name__: f for f in (corner, converge, squeeze, queue)}
TEAMS = tuple(f"{f}/{e}" for f in FORMATIONS for e in ("all", "everything"))
"""Attacks of teams, by formation and errors."""


def team_attack(name: str, random: Random, words: Words, episodes: int, count: int) -> Attack:
    """E episodes of N robots."""
    formation, errors = name.split("/")
    attack = Attack.blank(episodes, count)
    FORMATIONS[formation](random, words, attack)
    toward = _toward(words, attack)
    spoil(errors, random, words, attack, toward)
    return attack


def team_seconds(words: Words) -> float:
    """Length of such an episode."""
    assert words.arena is not None
    return seconds_for(words, (words.arena.high_m[0] - words.arena.low_m[0]) / 2, 0.0) + PUSH_S


def _toward(words: Words, attack: Attack) -> np.ndarray:
    """[E, N, 3] to the target at the start."""
    start, way = attack.vector("start", "_m"), attack.vector("way")
    apart = start[:, None] - start[:, :, None]
    distance = norm(apart * words.squash) + 1e3 * np.eye(start.shape[1])
    asked = np.rint(attack["target"]).astype(int)
    which = np.where(asked >= 0, asked, distance.argmin(-1))
    offset = np.take_along_axis(apart, which[..., None, None], 2)[..., 0, :]
    offset = np.where((attack["target"] <= ASIDE + 0.5)[..., None], way, offset)
    return unit(offset)
