"""`python -m benchmarks.nodes.exchanged`: bodies of motion capture that are exchanged, attitudes that flip, at random.

Written from the claim: whatever bodies are exchanged, at any distance and after any occlusion, and however an attitude
flips by more than 20 degrees, no estimate of it is told on as good, for as long as it lasts. Bodies move as the words
of the vehicle file allow and never touch; positions, velocities and labels are drawn here. Nothing of the tracker is
used but its door: poses in, estimates out. Beside it: what honest teams lose to the checks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import Row
from robomarl.core.geometry import quat_multiply, rotation_matrix
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.vehicles.mocap.sensed import SensedPose
from robomarl.vehicles.mocap.team import TeamTracks, tracked_as

DRAWS = 10_000
VEHICLE = load_any_vehicle("crazyflie_21")
RADIUS_M, SPEED_M_S = VEHICLE.body.radius_m, VEHICLE.limits.speed_m_s
ACCEL_M_S2, YAW_RAD_S = np.array(VEHICLE.limits.accel_max_m_s2), VEHICLE.limits.yaw_rate_rad_s
DT_S, AGE_S, NOISE_M, NOISE_RAD, LOSS = 0.01, 0.012, 0.0003, 0.003, 0.05
SETTLE_S, LASTS_S, HIDDEN_S = 0.3, 0.7, 0.3
LATE = round(0.06 / DT_S)
"""Steps from a command to the acceleration."""
OFF_M = 2 * VEHICLE.safety.position_error_m
"""Told further from where the body is than two declared errors: told wrong."""
OFF_RAD = np.radians(20.0)
GRAVITY_M_S2 = np.array([0.0, 0.0, 9.81])
KINDS = ("pair", "cycle", "taken", "twin")
"""Two labels are exchanged; three go round; one shows another's body, which has no label; two show one body."""


@dataclass
class Path:
    """Where bodies are at every instant: [T, N, 3] positions, [T, N, 4] attitudes that accelerate them so."""

    pos_m: np.ndarray
    quat: np.ndarray
    yaw_rad_s: np.ndarray
    """[N]."""


def moved(random: np.random.Generator, begin_m: np.ndarray, seconds: float, still: bool) -> Path:
    """Bodies that accelerate at random within their limits, another way every 0.1 to 0.5 s, no faster than they may.

    Args:
        random: draws.
        begin_m: [N, 3] where they begin, at rest.
        seconds: how long.
        still: they hover.
    """
    count, steps = len(begin_m), round(seconds / DT_S) + 1
    pos, vel = np.empty((steps, count, 3)), np.zeros((count, 3))
    accel, until = np.zeros((count, 3)), np.zeros(count)
    felt, pos[0] = np.zeros((steps, count, 3)), begin_m
    for k in range(1, steps):
        for i in np.flatnonzero(until < k):
            until[i] = k + random.uniform(0.1, 0.5) / DT_S
            accel[i] = 0.0 if still else random.uniform(-1, 1, 3) * ACCEL_M_S2
        faster = vel + accel * DT_S
        fits = np.linalg.norm(faster, axis=1, keepdims=True) <= SPEED_M_S
        felt[k] = np.where(fits, accel, 0.0)
        vel = np.where(fits, faster, vel)
        pos[k] = pos[k - 1] + vel * DT_S
    return Path(pos, *leaning(felt, random))


def leaning(accel: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """[T, N, 4] wxyz of bodies whose rotors push them so, smoothed over 0.1 s; [N] rates of their yaw."""
    push = np.stack([smooth(accel[:, i]) for i in range(accel.shape[1])], 1) + GRAVITY_M_S2
    up = push / np.linalg.norm(push, axis=-1, keepdims=True)
    lean = np.stack([1 + up[..., 2], -up[..., 1], up[..., 0], np.zeros(up.shape[:2])], -1)
    lean /= np.linalg.norm(lean, axis=-1, keepdims=True)
    rate = random.uniform(-1, 1, accel.shape[1]) * YAW_RAD_S
    yaw = random.uniform(-np.pi, np.pi, accel.shape[1]) + rate * DT_S * np.arange(len(accel))[:, None]
    zero = np.zeros_like(yaw)
    return quat_multiply(lean, np.stack([np.cos(yaw / 2), zero, zero, np.sin(yaw / 2)], -1)), rate


def smooth(rows: np.ndarray) -> np.ndarray:
    """The mean of [T, 3] over the last 0.1 s."""
    width = round(0.1 / DT_S)
    total = np.cumsum(np.concatenate([np.repeat(rows[:1], width, 0), rows]), 0)
    return (total[width:] - total[:-width]) / width


def touch(pos_m: np.ndarray) -> bool:
    """Whether any two bodies of [T, N, 3] touch."""
    apart = np.linalg.norm(pos_m[:, :, None] - pos_m[:, None], axis=-1)
    apart[:, range(pos_m.shape[1]), range(pos_m.shape[1])] = np.inf
    return bool(apart.min() < 2 * RADIUS_M)


def path_apart(random: np.random.Generator, count: int, seconds: float) -> Path:
    """Bodies that never touch, at 0.14 to 2 m from each other."""
    while True:
        near = random.uniform(2 * RADIUS_M, 2.0) * np.stack([unit(random) for _ in range(count)])
        path = moved(random, np.cumsum(near, 0), seconds, still=bool(random.random() < 0.4))
        if not touch(path.pos_m):
            return path


def unit(random: np.random.Generator) -> np.ndarray:
    """A direction [3]."""
    found = random.normal(size=3)
    return found / np.linalg.norm(found)


class Cameras:
    """Motion capture before a team's tracks."""

    def __init__(self, random: np.random.Generator, count: int) -> None:
        """Nothing seen."""
        self.names = [f"robot_{i}" for i in range(count)]
        self.tracks = TeamTracks(self.names, *tracked_as(VEHICLE))
        self._random, self.now_s = random, 1000.0

    def see(self, k: int, rows: list[tuple[int, np.ndarray, np.ndarray]]) -> list[tuple[int, Any]]:
        """One picture: (label, position, attitude) of what is seen; returns what is told of it."""
        self.now_s, told = 1000.0 + k * DT_S, []
        for label, pos, quat in rows:
            if self._random.random() < LOSS:
                continue
            turn = np.concatenate([[1.0], self._random.normal(size=3) * NOISE_RAD / 2])
            seen = SensedPose(
                pos + self._random.normal(size=3) * NOISE_M, quat_multiply(quat, turn), self.now_s - AGE_S
            )
            told.append((label, self.tracks.take(self.names[label], seen, self.now_s)))
        return told


def shown(random: np.random.Generator, kind: str) -> tuple[int, dict[int, int]]:
    """(number of bodies, which body each label shows) once labels are wrong."""
    if kind == "pair":
        return int(random.integers(2, 5)), {0: 1, 1: 0}
    if kind == "cycle":
        return int(random.integers(3, 5)), {0: 1, 1: 2, 2: 0}
    return int(random.integers(2, 5)), {0: 1} if kind == "taken" else {0: 1, 1: 1}


def exchange(seed: int, kind: str) -> int:
    """One draw; returns how many estimates were told that are not of their robot."""
    random = np.random.default_rng(seed)
    gap_s = random.choice([0.0, random.uniform(0, 0.6), random.uniform(0, 3.0)])
    count, wrong = shown(random, kind)
    settled, back = round(SETTLE_S / DT_S), round((SETTLE_S + gap_s) / DT_S)
    path = path_apart(random, count, SETTLE_S + gap_s + 0.4 + LASTS_S)
    late = back + np.rint(random.uniform(0, 0.3, count) * (random.random() < 0.5) / DT_S)
    body_of = {label: wrong.get(label, label) for label in range(count) if kind != "taken" or label != 1}
    cameras, bad = Cameras(random, count), 0
    for k in range(settled):
        cameras.see(k, [(i, path.pos_m[k, i], path.quat[k, i]) for i in range(count)])
    for k in range(settled, len(path.pos_m)):
        rows = [(i, path.pos_m[k, b], path.quat[k, b]) for i, b in body_of.items() if i not in wrong or k >= late[i]]
        rows = [row for row in rows if row[0] not in wrong or row[0] in body_of]
        for label, estimate in cameras.see(k, rows):
            off = estimate is not None and np.linalg.norm(estimate.pos_m - path.pos_m[k, label])
            bad += bool(label in wrong and estimate is not None and off > OFF_M)
    return bad


def flip(seed: int) -> tuple[int, bool]:
    """One draw; (estimates told with a wrong attitude, whether the body is seen again once the flip is over)."""
    random = np.random.default_rng(seed)
    gap = round(random.choice([0.0, random.uniform(0, 0.3)]) / DT_S)
    settled, lasts = round(SETTLE_S / DT_S), round(random.uniform(0.02, 1.2) / DT_S)
    path = moved(random, np.zeros((1, 3)), SETTLE_S + 2.0, still=bool(random.random() < 0.4))
    angle = random.choice([random.uniform(20.5, 30), random.uniform(20.5, 180)])
    half = np.radians(angle) / 2
    wrong = np.concatenate([[np.cos(half)], np.sin(half) * (unit(random) if random.random() < 0.7 else axis(random))])
    world, cameras, bad, good = random.random() < 0.5, Cameras(random, 1), 0, False
    for k in range(len(path.pos_m)):
        if settled <= k < settled + gap:
            continue
        quat, flipped = path.quat[k, 0], settled + gap <= k < settled + gap + lasts
        if flipped:
            quat = quat_multiply(wrong, quat) if world else quat_multiply(quat, wrong)
        for _, estimate in cameras.see(k, [(0, path.pos_m[k, 0], quat)]):
            if estimate is not None:
                between = rotation_matrix(estimate.quat_wxyz).T @ rotation_matrix(path.quat[k, 0])
                bad += bool(np.arccos(np.clip((np.trace(between) - 1) / 2, -1, 1)) > OFF_RAD - 0.1)
            good = estimate is not None
    return bad, good or world  # markers that are taken for each other turn the body, not the world


def axis(random: np.random.Generator) -> np.ndarray:
    """One of the body's."""
    return np.eye(3)[random.integers(3)]


def honest(seed: int) -> bool:
    """A team that flies within its limits: 5 % of poses lost, each body hidden twice for 0.3 s, once all of them.

    Half of the teams swap places smoothly, and what they were commanded is not known; the others do whatever vehicles
    can, and their commands are known. Returns whether some body is still refused in the end.
    """
    random = np.random.default_rng(seed)
    known = bool(seed % 2)
    path, accel = wild(random) if known else swapped(random)
    count, last = path.pos_m.shape[1], {}
    cameras = Cameras(random, count)
    hidden = [(i, s) for i in range(count) for s in (random.uniform(0.4, 0.9), 1.5, random.uniform(2.1, 2.6))]
    for k in range(len(path.pos_m)):
        seen = [i for i in range(count) if not any(i == j and s <= k * DT_S < s + HIDDEN_S for j, s in hidden)]
        told = cameras.see(k, [(i, path.pos_m[k, i], path.quat[k, i]) for i in seen])
        last.update(told)
        for i in range(count if known else 0):
            ahead = min(k + LATE, len(accel) - 1)
            cameras.tracks.command(cameras.names[i], accel[ahead, i], path.yaw_rad_s[i], cameras.now_s)
    return any(estimate is None for estimate in last.values())


def wild(random: np.random.Generator) -> tuple[Path, np.ndarray]:
    """Up to four bodies that do what they may, and their accelerations [T, N, 3]."""
    path = path_apart(random, int(random.integers(1, 5)), 4.0)
    return path, np.gradient(np.gradient(path.pos_m, DT_S, axis=0), DT_S, axis=0)


def swapped(random: np.random.Generator) -> tuple[Path, np.ndarray]:
    """Two to four bodies on a circle that change places across it, turning past each other, and accelerations."""
    count, t = int(random.integers(2, 5)), np.arange(round(4.0 / DT_S) + 1) * DT_S
    share = np.clip((t - 0.5) / 3.0, 0, 1)
    angle = np.pi * share**3 * (10 - 15 * share + 6 * share**2)
    around = angle[:, None] + 2 * np.pi * np.arange(count) / count + random.uniform(0, 2 * np.pi)
    narrow = random.uniform(0.4, 0.9) * (1 - random.uniform(0, 0.4) * np.sin(angle))[:, None]
    pos = np.stack([narrow * np.cos(around), narrow * np.sin(around), np.ones_like(around)], -1)
    accel = np.gradient(np.gradient(pos, DT_S, axis=0), DT_S, axis=0)
    return Path(pos, *leaning(accel, random)), accel


def attack(draws: int, report: Callable[[str], None] = lambda line: None) -> dict[str, int]:
    """How many of so many draws go wrong, by name."""
    found = {f"exchanged ({kind})": 0 for kind in KINDS} | {"flipped": 0, "flip over, still refused": 0}
    for seed in range(draws):
        kind = KINDS[seed % len(KINDS)]
        found[f"exchanged ({kind})"] += exchange(seed, kind) > 0
        bad, good = flip(seed)
        found["flipped"] += bad > 0
        found["flip over, still refused"] += not good
        if seed % 500 == 499:
            report(f"{seed + 1}: {found}")
    found["honest, refused for good"] = sum(honest(seed) for seed in range(draws // 20))
    return found


def rows(draws: int = DRAWS) -> list[Row]:
    """Draws that went wrong."""
    return [Row(name, "draws", float(value), "1") for name, value in attack(draws, print).items()]


if __name__ == "__main__":
    for row in rows():
        print(row)
