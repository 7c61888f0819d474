"""One case of the matrix: E episodes of one vehicle, one fault and one limit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks import genes as drawn
from benchmarks.filter.fallbacks import places
from benchmarks.filter.fallbacks.faults import REASONS, SHORT, Faults, is_any
from benchmarks.filter.fallbacks.genes import Directions, Genes, Signals, directions
from benchmarks.filter.fallbacks.pilot import Pilots, params_of
from benchmarks.filter.fallbacks.plant import Team
from benchmarks.filter.fallbacks.radio import Radio
from benchmarks.filter.fallbacks.strangers import Attackers
from benchmarks.filter.fallbacks.words import PERIOD_S, Words, unit, words_of
from robomarl.core.filter.filter import Reason, SafetyFilter
from robomarl.core.view import Own


@dataclass(frozen=True)
class Case:
    """What is flown."""

    vehicle: str
    reason: str = "ok"
    limit: str = "heard"
    crowd: str = ""
    """Name in `places.CROWDS`; "" for the limit's own start."""
    count: int = 0
    """Robots; 0: what the limit needs."""
    episodes: int = 48
    seconds: float = 20.0
    scale: float = 1.0
    seed: int = 0
    backend: str = "auto"

    @property
    def robots(self) -> int:
        """How many there are."""
        return self.count or (5 if self.reason == "infeasible" else 2)


class Found(NamedTuple):
    """What came of it; [E] each."""

    least_m: np.ndarray
    depth_m: np.ndarray
    outside_m: np.ndarray
    over_m_s: np.ndarray
    """Top speed over the limit."""
    hit_m_s: np.ndarray
    """Speed of the fastest robot at the moment when a stranger hit it."""
    toward_m_s: np.ndarray
    """Its part towards the stranger."""
    reasons: np.ndarray
    """[E, reasons] decisions with each `Reason`."""
    misfits: np.ndarray
    """[E] decisions that said that a declared bound does not hold: 0 where the plant keeps to them."""
    contact_m: float
    still_m_s: float
    """A robot that is no faster counts as at rest: what its velocity error and the disturbance make of rest."""


def place_of(case: Case, words: Words, genes: Genes, random: np.random.Generator) -> places.Place:
    """Where the robots of a case start; places that are taken are drawn anew."""

    def make() -> places.Place:
        if case.crowd:
            return places.crowd(words, genes, case.crowd, case.robots)
        torn = case.reason == "infeasible" and case.limit == "speed"
        start: Callable = places.pair if torn or case.limit in ("heard", "silent") else getattr(places, case.limit)
        place = start(words, genes, case.robots)
        return place._replace(arena=None) if torn else place

    place = make()
    for _ in range(100):
        if (free := places.is_free(words, place)).all():
            return place
        again = drawn.draw(random, case.episodes, case.robots)
        for name in ("place", "way"):
            genes[name] = np.where(free[:, None], genes[name], again[name])
        place = make()
    raise ValueError(f"{case.vehicle}, {case.limit}: no free place for {case.robots} robots.")


def fly(case: Case, genes: Genes | None = None) -> Found:
    """Fly all episodes, with what was drawn from the seed or is given."""
    flight = Flight(case, genes)
    for step in range(round(case.seconds / PERIOD_S)):
        flight.tick(step)
    return flight.found()


class Flight:
    """The state of all episodes."""

    def __init__(self, case: Case, genes: Genes | None = None) -> None:
        """Place robots, and draw what is not given."""
        self.case, self.words = case, words_of(case.vehicle, case.scale)
        self.random = np.random.default_rng([case.seed, REASONS.index(case.reason), sum(map(ord, case.limit))])
        self.genes = drawn.draw(self.random, case.episodes, case.robots) if genes is None else genes
        if case.reason == "infeasible" and genes is None:  # robots that press on leave no command
            presses = self.genes["salt"][:, None] % 4 > 0
            self.genes["wish_base"] = np.where(presses, drawn.BASES.index("g"), self.genes["wish_base"])
            self.genes["wish_mode"] = np.where(presses, 0, self.genes["wish_mode"])
        self.place = place = place_of(case, self.words, self.genes, self.random)
        shape = place.centre.shape[:2]
        heading = self.genes["heading"]
        self.team = Team(self.words, np.array(place.centre), heading, self.random, 4 if case.robots < 6 else 2)
        self.faults = Faults(self.words, self.genes, case.reason, case.robots)
        self.signals = Signals(self.words, self.genes, self.random)
        self.strangers = None
        if place.strangers:
            self.strangers = Attackers(self.words, self.team.centre, place.strangers, self.genes["place"])
        has_ghost = case.reason not in ("ok", "infeasible") or case.limit == "silent"
        mates = case.robots - 1 + has_ghost
        safety = SafetyFilter(params_of(self.words, place, mates), backend=case.backend)  # type: ignore[arg-type]
        self.pilots = Pilots(safety, self.genes, shape, has_ghost)
        self.g0 = unit(self._aim() - self.team.pos)
        self.bias = self.signals.bias(self.g0)
        ghost = self.team.centre - 4.0 * unit(self.g0 * [1, 1, 0] + [1e-6, 0, 0]) if has_ghost else None
        self.radio = Radio(self.words, self.genes, np.concatenate(self._still(), -1), ghost)

    def _still(self) -> list[np.ndarray]:
        """[E, N, 3] each: message of a robot at rest."""
        pos, centre = self.team.pos, self.team.centre
        return [centre, 0 * pos, pos, 0 * pos, pos]

    def _aim(self) -> np.ndarray:
        """[E, N, 3] points that robots are driven at."""
        if self.place.aim is not None:
            return self.place.aim
        there = self.team.pos if self.strangers is None else self.strangers.pos
        apart = there[:, None] - self.team.pos[:, :, None]
        distance = (apart**2).sum(-1)
        if self.strangers is None:
            robots = np.arange(there.shape[1])
            distance[:, robots, robots] = np.inf
        which = distance.argmin(-1)[..., None, None]
        return self.team.pos + np.take_along_axis(apart, which, 2)[:, :, 0]

    def tick(self, step: int) -> None:
        """One period."""
        team, words = self.team, self.words
        now = directions(self.g0, unit(self._aim() - team.pos), team.pos, team.vel)
        own, off = self._estimate(now, step)
        code = self.faults.now(step)
        wish = self.signals.wish(now, team.vel, step)
        sensed = None if self.strangers is None else self.strangers.seen(team.centre, off[0], off[1])
        command = self.pilots.decide(own, self.radio.view(), sensed, wish, code)
        said = np.concatenate([own.pos_m, own.vel_m_s, *self.pilots.carry.plan], -1)
        sends = ~is_any(code, *SHORT)
        self.radio.tell(step, said, sends, self._starved(code, step))
        push = self.signals.of("push", now, step) * words.push_m_s2
        team.move(command[..., :3], self.bias + push, self.genes["late"], now.g)
        team.compare(self.place.arena, self.place.obstacles)
        if self.strangers is not None:
            self.strangers.move(team.centre, team.vel)

    def _starved(self, code: np.ndarray, step: int) -> np.ndarray:
        """[E, N, 2] bool: who receives nothing of the teammates, and of the ghost."""
        stale = is_any(code, "stale")
        near = stale & self.genes["near_too"][:, None]
        if self.case.limit == "silent" and self.case.reason != "ok":
            near |= step >= self.genes["onset"][:, None]
        return np.stack([near, stale], -1)

    def _estimate(self, now: Directions, step: int) -> tuple[Own, tuple[np.ndarray, np.ndarray]]:
        """What robots believe, and the errors as shares of their bounds."""
        team, words = self.team, self.words
        off, off_speed = self.signals.of("pos", now, step), self.signals.of("vel", now, step)
        return believed(team, team.pos + off * words.off_m, team.vel + off_speed * words.off_m_s), (off, off_speed)

    def found(self) -> Found:
        """What it came to."""
        none = np.zeros((2, self.case.episodes))
        hit, toward = none if self.strangers is None else (self.strangers.fastest, self.strangers.toward)
        over = self.team.top - self.words.speed_m_s
        team = self.team
        return Found(
            team.least,
            team.depth,
            team.outside,
            over,
            hit,
            toward,
            self.pilots.reasons,
            self.pilots.misfits,
            2 * self.words.radius_m,
            self.words.still_m_s,
        )


def believed(team: Team, pos: np.ndarray, vel: np.ndarray) -> Own:
    """Return the estimate of robots whose commanded points seem to be at positions and have velocities [E, N, 3]."""
    still, ahead_m = np.zeros(pos.shape), team.words.ahead_m
    quat = np.stack([np.cos(team.angle / 2), still[..., 0], still[..., 0], np.sin(team.angle / 2)], -1)
    if not ahead_m:
        return Own(pos, quat, vel, still, still[..., 0])
    along, across = team.ahead, np.stack([-team.ahead[..., 1], team.ahead[..., 0], still[..., 0]], -1)
    speed, turn = (vel * along).sum(-1), (vel * across).sum(-1) / ahead_m
    omega = np.stack([still[..., 0], still[..., 0], turn], -1)
    return Own(pos - ahead_m * along, quat, speed[..., None] * along, omega, still[..., 0])


def summary(case: Case, found: Found) -> dict[str, float | int | str]:
    """The figures of a cell."""
    decisions = max(int(found.reasons.sum()), 1)
    figures: dict[str, float | int | str] = {
        "vehicle": case.vehicle,
        "reason": case.reason,
        "limit": f"{case.crowd} {case.count}" if case.crowd else case.limit,
        "scale": case.scale,
        "seed": case.seed,
        "episodes": case.episodes,
        "contacts": int((found.least_m < found.contact_m).sum()),
        "min_distance_m": float(found.least_m.min()),
        "in_obstacles": int((found.depth_m > 0).sum()),
        "depth_m": float(found.depth_m.max()),
        "outside": int((found.outside_m > 1e-6).sum()),
        "outside_m": float(found.outside_m.max()),
        "over_speed_m_s": float(found.over_m_s.max()),
        "hit_m_s": float(found.hit_m_s.max()),
        "toward_m_s": float(found.toward_m_s.max()),
        "hits": int((found.toward_m_s > found.still_m_s).sum()),
        "misfits": int(found.misfits.sum()),
    }
    shares = found.reasons.sum(0) / decisions
    return figures | {f"share_{reason.name.lower()}": float(shares[reason]) for reason in Reason}
