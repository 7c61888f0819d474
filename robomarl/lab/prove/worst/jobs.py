"""A batch of attacks, described by its inputs: one job of one process."""

import dataclasses
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from robomarl.core.filter.filter import SafetyFilter, from_vehicle
from robomarl.core.hardware.vehicle import AnyVehicle
from robomarl.core.types import Figures
from robomarl.lab.prove.worst.attack import Attack, read_attack
from robomarl.lab.prove.worst.directed import Length, pair_attack, wall_attack, wall_seconds
from robomarl.lab.prove.worst.flight import Outcome, fly
from robomarl.lab.prove.worst.search import GENERATIONS, POPULATION, Best, repaired, search
from robomarl.lab.prove.worst.teams import room_of, team_attack, team_seconds
from robomarl.lab.prove.worst.words import Words, declared, scaled

Mode = Literal["qp", "textbook", "off"]
Kind = Literal["pair", "wall", "team"]
TOLERANCE_M = 0.02
"""Nearer than the kept distance by more is counted."""
LONGEST_S = 6.0
"""Longest episode [s] of a search, which mixes attacks of several lengths."""


@dataclass(frozen=True)
class Hunt:
    """Everything that the figures depend on."""

    vehicle: AnyVehicle
    period_s: float
    mode: Mode = "qp"
    """Mode of the filter."""
    seed: int = 0
    episodes: int = 20_000
    """Number of episodes of two robots, at the declared bounds."""
    team_episodes: int = 500
    """Number of episodes of four to eight robots."""
    scales: tuple[float, ...] = ()
    """Scales of the bounds; empty: 1, then up until the first contact, or down to the last."""


class Start(NamedTuple):
    """Start of a search."""

    table: np.ndarray
    """[N, columns]"""
    clearance_m: float
    seconds: float
    family: str


@dataclass(frozen=True)
class Job:
    """One batch of structured attacks of several families, or searches from given ones."""

    hunt: Hunt
    scale: float
    kind: Kind
    families: tuple[str, ...]
    number: int
    """Number that distinguishes jobs of one kind."""
    episodes: int
    """Number of episodes of each family."""
    count: int = 2
    """Robots."""
    start: tuple[Start, ...] = field(default=(), repr=False)
    """Starts of a search."""
    stages: int = 1

    @property
    def seed(self) -> list[int]:
        """Return the seed of everything that the job draws."""
        kind = ("pair", "wall", "team").index(self.kind)
        return [self.hunt.seed, round(self.scale * 1000), kind, int(bool(self.start)), self.number, self.count]

    @property
    def key(self) -> str:
        """Return the key of this job among all jobs of its hunt."""
        return " ".join(map(str, self.seed))


@dataclass(frozen=True)
class Found:
    """Result of a job for one family."""

    scale: float
    kind: Kind
    family: str
    count: int
    episodes: int
    contacts: int
    """Episodes in which two robots touched."""
    below: int
    """Episodes with less than the kept distance minus `TOLERANCE_M`."""
    outside: int
    """Episodes in which a centre left the arena."""
    least_m: float
    scaled_m: float
    outside_m: float
    worst: Figures
    """The episode to be flown again, by `fly_again`."""
    start: Start | None = field(default=None, repr=False)
    """Its worst attack, from which a search may start."""


def plain_of(found: Found) -> Figures:
    """Return the result as JSON data, with every digit."""
    start = found.start and found.start._replace(table=found.start.table.tolist())._asdict()
    return {**{f.name: getattr(found, f.name) for f in dataclasses.fields(found)}, "start": start}


def found_of(plain: Figures) -> Found:
    """Return the result from the JSON data of `plain_of`."""
    start = plain["start"] and Start(**{**plain["start"], "table": np.array(plain["start"]["table"])})
    return Found(**{**plain, "start": start})


def words_of(hunt: Hunt, kind: Kind, scale: float, count: int) -> Words:
    """The plant's bounds; all but pairs are in a room."""
    words = declared(hunt.vehicle, hunt.period_s)
    if kind != "pair":
        words = dataclasses.replace(words, arena=room_of(words, count))
    return scaled(words, scale)


def filter_of(hunt: Hunt, words: Words, count: int) -> SafetyFilter:
    """Return the filter, which assumes the vehicle file's bounds for every plant."""
    return SafetyFilter(from_vehicle(hunt.vehicle, hunt.period_s, words.arena, count - 1), hunt.mode)


def run_job(job: Job) -> list[Found]:
    """Fly it; one `Found` for each family."""
    words = words_of(job.hunt, job.kind, job.scale, job.count)
    safety, random = filter_of(job.hunt, words, job.count), np.random.default_rng(job.seed)
    if job.start:
        return _searched(job, words, safety, random)
    attacks, seconds = _attacks(job, words, random)
    outcome = fly(words, safety, Attack(np.concatenate([a.values for a in attacks])), seconds)
    found = []
    for i, (family, attack) in enumerate(zip(job.families, attacks, strict=True)):
        tally, part = _Tally(job, words, seconds, family), slice(i * job.episodes, (i + 1) * job.episodes)
        tally.add(attack, Outcome(*(x[part] for x in outcome)))
        found.append(tally.found())
    return found


def _attacks(job: Job, words: Words, random: np.random.Generator) -> tuple[list[Attack], float]:
    if job.kind == "pair":
        length = Length.draw(random, words)
        made = [pair_attack(name, random, words, job.episodes, length) for name in job.families]
        return made, length.seconds(words)
    if job.kind == "wall":
        return [wall_attack(name, random, words, job.episodes) for name in job.families], wall_seconds(words)
    made = [team_attack(name, random, words, job.episodes, job.count) for name in job.families]
    return made, team_seconds(words)


def _searched(job: Job, words: Words, safety: SafetyFilter, random: np.random.Generator) -> list[Found]:
    seconds = min(max(s.seconds for s in job.start), LONGEST_S)
    tally = _Tally(job, words, seconds, job.families[0])

    def clearance(attack: Attack) -> np.ndarray:
        return tally.add(attack, fly(words, safety, attack, seconds))

    values = repaired(words, np.stack([s.table for s in job.start]))
    search(words, clearance, Best(values, np.array([s.clearance_m for s in job.start])), job.stages, random)
    return [tally.found()]


def episodes_of_stage(searches: int) -> int:
    """Return the number of episodes of a stage with this number of searches."""
    return searches * POPULATION * GENERATIONS


class _Tally:
    """Counts over the episodes of a family, and keeps the worst."""

    def __init__(self, job: Job, words: Words, seconds: float, family: str) -> None:
        self._job, self._words, self._seconds, self._family = job, words, seconds, family
        self._counts = np.zeros(4, int)
        self._least, self._outside, self._worst_m = np.array([np.inf, np.inf]), -np.inf, np.inf
        self._worst: Figures = {}
        self._start: Start | None = None

    def add(self, attack: Attack, outcome: Outcome) -> np.ndarray:
        """Add a batch; return the values [E] that a search minimizes."""
        kept = self._words.vehicle.safety.separation_m
        touch, out = outcome.least_m < self._words.contact_m, outcome.outside_m > 0
        below = outcome.scaled_m < kept - TOLERANCE_M
        self._counts += [len(touch), int(touch.sum()), int(below.sum()), int(out.sum())]
        self._least = np.minimum(self._least, [outcome.least_m.min(), outcome.scaled_m.min()])
        self._outside = max(self._outside, float(outcome.outside_m.max()))
        clearance = -outcome.outside_m if self._job.kind == "wall" else outcome.scaled_m - kept
        first = int(np.lexsort((clearance, ~touch))[0])
        if clearance[first] < self._worst_m:
            self._worst_m = float(clearance[first])
            self._worst = self._record(attack, outcome, first)
            self._start = Start(attack.values[first].copy(), self._worst_m, self._seconds, self._family)
        return clearance

    def _record(self, attack: Attack, outcome: Outcome, i: int) -> Figures:
        job = self._job
        return {
            "scale": job.scale,
            "kind": job.kind,
            "family": self._family,
            "count": job.count,
            "seconds": self._seconds,
            "seed": job.seed,
            "episode": i,
            "least_m": _finite(outcome.least_m[i]),
            "scaled_m": _finite(outcome.scaled_m[i]),
            "outside_m": _finite(outcome.outside_m[i]),
            "at_s": float(outcome.at_s[i]),
            "attack": attack.plain(i),
        }

    def found(self) -> Found:
        """The counts."""
        job, (episodes, contacts, below, outside) = self._job, (int(n) for n in self._counts)
        return Found(
            scale=job.scale,
            kind=job.kind,
            family=self._family,
            count=job.count,
            episodes=episodes,
            contacts=contacts,
            below=below,
            outside=outside,
            least_m=float(self._least[0]),
            scaled_m=float(self._least[1]),
            outside_m=self._outside,
            worst=self._worst,
            start=self._start,
        )


def fly_again(hunt: Hunt, worst: Figures) -> Outcome:
    """Fly an episode again, from its record."""
    words = words_of(hunt, worst["kind"], worst["scale"], worst["count"])
    attack = read_attack(worst["attack"], worst["count"])
    return fly(words, filter_of(hunt, words, worst["count"]), attack, worst["seconds"])


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
