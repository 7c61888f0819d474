"""`bench pairs`, `python -m benchmarks.filter.pairs VEHICLE`: robots driven at each other by another hand than `prove`.

Written from the words of vehicle files and of `docs/safety.md` alone: of the project it calls `SafetyFilter` as a robot
does, and shares no code with the falsifier. Commands, errors and delays are those that its author thought of first; a
search is not among them. Every declared bound is multiplied by `--scale`.
"""

import argparse
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks import Row
from robomarl.core.filter.filter import FilterCarry, Mode, SafetyFilter, from_vehicle
from robomarl.core.hardware.vehicle import AnyVehicle, DifferentialDrive, Quadrotor, load_any_vehicle
from robomarl.core.types import FilterResult
from robomarl.core.view import LocalView, Plan, blank_view

PERIOD_S, PARTS = 0.02, 8
"""Of a decision, and into how many parts the plant cuts it."""
CASES = (
    *(("crazyflie_21", 1.0, seed) for seed in range(3)),
    *(("crazyflie_21", scale, 0) for scale in (1.1, 1.15, 1.2)),
    *((name, scale, 0) for name in ("ssl_omni", "carrier_600") for scale in (1.0, 1.2)),
)
"""Vehicle, scale and seed of what `bench pairs` drives."""
KINDS = {"nominal": 7, "push": 6, "bias": 4, "seen": 5, "late": 5, "lost": 4}
"""How many ways there are of each; pairs draw one."""


@dataclass(frozen=True)
class Attack:
    """What is driven."""

    vehicle: AnyVehicle
    pairs: int
    seconds: float = 8.0
    scale: float = 1.0
    """Of all declared bounds."""
    seed: int = 0
    mode: Mode = "qp"


class Found(NamedTuple):
    """What came of it."""

    least_m: np.ndarray
    """[E] least distance of the centres."""
    contact_m: float
    """Nearer than this the bodies touch."""
    kinds: dict[str, np.ndarray]
    """[E] or [E, 2] what each pair had."""


def unit(vectors: np.ndarray) -> np.ndarray:
    """[..., 3] directions."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def pick(kinds: np.ndarray, ways: list[np.ndarray]) -> np.ndarray:
    """[E, 2, 3] of each pair the way that it drew."""
    return np.stack(np.broadcast_arrays(*ways))[kinds, np.arange(len(kinds))]


class Pairs:
    """E pairs: where they are, what they believe, what is on its way."""

    def __init__(self, attack: Attack) -> None:
        """Everybody at rest, 0.6 to 4 m apart and up to 1 m off the line."""
        self.attack, self.vehicle = attack, attack.vehicle
        if isinstance(self.vehicle, DifferentialDrive):
            raise ValueError(f"{self.vehicle.name}: this plant is a point mass, and no differential drive.")
        e, self.random = attack.pairs, np.random.default_rng(attack.seed)
        self.in_plane = not isinstance(self.vehicle, Quadrotor)
        self.kinds = {name: self.random.integers(0, n, (e, 2) if name == "late" else e) for name, n in KINDS.items()}
        self.turns = self.random.integers(5, 80, e)[:, None, None]
        self.phase = self.random.integers(0, 80, (e, 2))
        way = self.random.normal(size=(e, 3))
        way[:, 2] *= 0.0 if self.in_plane else self.random.choice([0, 1, 1, 5], e)
        way = unit(way)
        aside = unit(np.cross(way, [0, 0, 1.0]) + [1e-6, 0, 0]) * self.random.choice([0, 0, 0.1, 0.3, 0.6, 1.0], (e, 1))
        half = way * self.random.choice([0.6, 1, 2, 4.0], (e, 1)) / 2
        self.pos, self.vel = np.stack([-half, half + aside], 1), np.zeros((e, 2, 3))
        self.toward = np.sign(self._between())
        self.drawn = self.random.uniform(-1, 1, (e, 2, 3))
        safety, s = self.vehicle.safety, attack.scale
        self.delay_s, self.push = s * safety.delay_s, s * safety.accel_error_m_s2
        lift = safety.accel_bias_m_s2 if safety.lift_bias_m_s2 is None else safety.lift_bias_m_s2
        self.bias = s * np.array([safety.accel_bias_m_s2, safety.accel_bias_m_s2, lift])
        self.off_m, self.off_m_s = s * safety.position_error_m, s * safety.velocity_error_m_s
        self.sent = [np.zeros((e, 2, 3)) for _ in range(int(self.delay_s / PERIOD_S) + 3)]
        self.least = np.full(e, np.inf)

    def _between(self) -> np.ndarray:
        """[E, 2, 3] from each robot to the other."""
        return self.pos[:, ::-1] - self.pos

    def level(self, vectors: np.ndarray) -> np.ndarray:
        """Without a vertical part, where the vehicle has none."""
        return vectors * [1, 1, 0.0] if self.in_plane else vectors

    def flips(self, step: int) -> np.ndarray:
        """[E, 1, 1] one or minus one, for some decisions each."""
        return np.where((step // self.turns) % 2 == 0, 1.0, -1.0)

    def believed(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities [E, 2, 3] as they are estimated: each mostly farther from the other than it is."""
        n, flip = unit(self._between()), self.flips(step)
        across, noise = np.cross(n, [0, 0, 1.0]), self.random.uniform(-1, 1, n.shape) / np.sqrt(3)
        place = pick(self.kinds["seen"], [-n, n, flip * n, flip * across, noise])
        speed = pick(self.kinds["seen"], [-n, flip * n, -flip * n, -n, noise])
        return self.pos + self.level(place) * self.off_m, self.vel + self.level(speed) * self.off_m_s

    def nominal(self, step: int) -> np.ndarray:
        """[E, 2, 4] what a hostile policy wants."""
        n, flip, limits = unit(self._between()), self.flips(step), self.vehicle.limits
        most = np.array(limits.accel_max_m_s2)
        full, aside = n * most, np.cross(n, [0, 0, 1.0]) * most
        ways = [
            full,
            full + aside / 2,
            np.where(flip > 0, full, -full / 2),
            self.random.uniform(-1, 1, n.shape) * most,
            full + flip * aside,
            full * np.array([1.0, -0.3])[:, None],
            3 * (n * limits.speed_m_s - self.vel),
        ]
        return np.concatenate([self.level(pick(self.kinds["nominal"], ways)), np.zeros((*n.shape[:2], 1))], -1)

    def is_lost(self, step: int) -> np.ndarray:
        """[E, 2] bool: what a robot says now is not heard."""
        longest = round(self.vehicle.safety.max_age_s / PERIOD_S)
        turn = step + self.phase
        every = [0 * turn, self.random.random(turn.shape) < 0.5, turn % (longest - 1) != 0, turn % (2 * longest) > 3]
        return np.stack(every)[self.kinds["lost"], np.arange(len(turn))].astype(bool)

    def move(self, command: np.ndarray, step: int) -> None:
        """A period of the plant, [E, 2, 3] being commanded."""
        self.sent = [command, *self.sent[:-1]]
        n, flip = unit(self._between()), self.flips(step)
        near = np.where(np.linalg.norm(self._between(), axis=-1, keepdims=True) < 0.8, n, -n)
        gust = self.random.normal(size=n.shape)
        push = pick(self.kinds["push"], [n, flip * n, -n, near, gust, np.cross(n, [0, 0, 1.0])])
        bias = pick(self.kinds["bias"], [self.toward, -self.toward, self.drawn, 0 * n])
        extra = self.level(unit(self.level(push)) * self.push + bias * self.bias)
        for part in range(PARTS):
            self._drift(self._acting(part * PERIOD_S / PARTS) + extra, PERIOD_S / PARTS)

    def _acting(self, since_s: float) -> np.ndarray:
        """[E, 2, 3] the command in force: of any age that the delay allows."""
        shares = np.linspace(0.5, 1.0, 6)
        each = np.stack([self.sent[self._age(share, since_s)] for share in shares])
        closer = (each * self._between()).sum(-1).argmax(0)
        random = self.random.integers(0, len(shares), closer.shape)
        oldest, newest = np.full_like(closer, len(shares) - 1), np.zeros_like(closer)
        which = np.stack([oldest, newest, np.where(random % 2, oldest, newest), random, closer])
        rows, sides = np.indices(closer.shape)
        return each[which[self.kinds["late"], rows, sides], rows, sides]

    def _age(self, share: float, since_s: float) -> int:
        """In decisions, of the command whose delay is this share of the longest."""
        return max(0, int(np.ceil((share * self.delay_s - since_s) / PERIOD_S - 1e-9)))

    def _drift(self, accel: np.ndarray, dt_s: float) -> None:
        apart, speed = self.pos[:, 1] - self.pos[:, 0], self.vel[:, 1] - self.vel[:, 0]
        when = np.clip(-(apart * speed).sum(-1) / np.maximum((speed * speed).sum(-1), 1e-12), 0, dt_s)
        self.least = np.minimum(self.least, np.linalg.norm(apart + speed * when[:, None], axis=-1))
        self.pos = self.pos + self.vel * dt_s + accel * dt_s**2 / 2
        self.vel = self.vel + accel * dt_s


class Radio:
    """What each robot last heard of the other."""

    def __init__(self, pos: np.ndarray) -> None:
        """Both have heard the other at rest."""
        self.heard = [pos, 0 * pos, pos, 0 * pos, pos]
        self.at_s = np.zeros(pos.shape[:2])

    def tell(self, now_s: float, lost: np.ndarray, said: list[np.ndarray]) -> None:
        """Positions, velocities and plans [E, 2, 3] arrive where they are not lost [E, 2]."""
        self.heard = [np.where(lost[..., None], a, b) for a, b in zip(self.heard, said, strict=True)]
        self.at_s = np.where(lost, self.at_s, now_s)

    def view(self, blank: LocalView, now_s: float, own: tuple[np.ndarray, np.ndarray]) -> LocalView:
        """What both know."""
        pos, vel, *plan = (a[:, ::-1, None] for a in self.heard)
        ages = (now_s - self.at_s)[:, ::-1, None]
        mask = np.ones(ages.shape, bool)
        heard = blank.heard._replace(mask=mask, pos_m=pos, vel_m_s=vel, age_s=ages, plan=Plan(*plan))
        return blank._replace(own=blank.own._replace(pos_m=own[0], vel_m_s=own[1]), heard=heard)


def fly(attack: Attack) -> Found:
    """Drive all pairs.

    Raises:
        ValueError: the vehicle is a differential drive.
    """
    pairs = Pairs(attack)
    safety = SafetyFilter(from_vehicle(attack.vehicle, PERIOD_S, min_mates=1), attack.mode)
    memory: FilterCarry = safety.init((attack.pairs, 2))
    radio, blank = Radio(pairs.believed(0)[0]), blank_view(1, batch=(attack.pairs, 2))
    for step in range(round(attack.seconds / PERIOD_S)):
        now_s, own = step * PERIOD_S, pairs.believed(step)
        if step:
            radio.tell(now_s, pairs.is_lost(step), [*own, *memory.plan])
        result: FilterResult
        memory, result = safety(memory, radio.view(blank, now_s, own), pairs.nominal(step))
        pairs.move(result.command[..., :3], step)
    return Found(pairs.least, 2 * attack.vehicle.body.radius_m, pairs.kinds)


def rows() -> list[Row]:
    """Every vehicle at its declared bounds, and Crazyflies beyond them."""
    found = []
    for name, scale, seed in CASES:
        flown = fly(Attack(load_any_vehicle(name), 3000, scale=scale, seed=seed))
        case, contacts = f"{name}, bounds times {scale:g}, seed {seed}", float((flown.least_m < flown.contact_m).sum())
        found += [Row(case, "contacts of 3,000", contacts, ""), Row(case, "least distance", flown.least_m.min(), "m")]
    return found


def main() -> None:
    """Print how many touch, the least distance, and what the nearest pairs had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vehicle")
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = fly(Attack(load_any_vehicle(options.vehicle), options.pairs, scale=options.scale, seed=options.seed))
    contacts = int((found.least_m < found.contact_m).sum())
    print(f"{contacts} of {options.pairs} pairs touch; least distance {found.least_m.min():.3f} m")
    for i in np.argsort(found.least_m)[:3]:
        print(f"  {found.least_m[i]:.3f} m: " + ", ".join(f"{name} {kind[i]}" for name, kind in found.kinds.items()))


if __name__ == "__main__":
    main()
