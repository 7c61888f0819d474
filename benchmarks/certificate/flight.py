"""E teams of N certified robots that are driven at each other; the plant knows nothing of the certificate."""

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.certificate.radio import LOSSES, Radio
from benchmarks.filter.fallbacks import genes as drawn
from benchmarks.filter.fallbacks import places
from benchmarks.filter.fallbacks.drive import believed
from benchmarks.filter.fallbacks.genes import Signals, directions
from benchmarks.filter.fallbacks.plant import Team
from benchmarks.filter.fallbacks.words import PERIOD_S, Words, unit, words_of
from robomarl.core.certificate.certificate import Certificate
from robomarl.core.certificate.course import state_at
from robomarl.core.certificate.figures import figures_of
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.memory import DecisionInputs
from robomarl.core.filter.decision import Library
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.core.filter.qp.projection import project_rows
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import LocalView, blank_view

SETTLED_S = 2.0
"""Robots know their bias by then: from then on the tube is the smaller one."""

STACK_SHARE = 1.25
"""Robots above each other start this many times as far apart as pacts need, so that they may move."""


@dataclass(frozen=True)
class Crowd:
    """Crowd to fly: vehicle, place, size and seed."""

    vehicle: str
    kind: str = "corner"
    count: int = 8
    episodes: int = 24
    seconds: float = 10.0
    scale: float = 1.0
    """Factor of all declared bounds, for the plant."""
    deaf_after_s: float | None = None
    """Time from which on every message is lost; None: never."""
    seed: int = 0
    in_numpy: bool = False
    """Decide in numpy though C is there."""
    period_s: float = PERIOD_S
    """Time between two decisions."""
    delay_s: float | None = None
    """Longest delay of the vehicle; None: that of its file."""
    clock_s: float = 0.0
    """Largest difference of two robots' clocks."""
    part: int = 0
    """Number of this part of the episodes, which have a seed of their own."""
    bursts: bool = False
    """A part of the episodes loses half of all messages, at stretches."""
    other: str = ""
    """Vehicle of every second robot; "": all are of one. A delay that is set is that of the first one."""
    at_once: bool = False
    """Robots with a longer lead hold no words back: a hole in the proof, to see whether it is found."""


class Outcome(NamedTuple):
    """Figures of a flown crowd."""

    episodes: int
    contacts: int
    """Episodes in which two bodies touched."""
    least_m: float
    """Least distance of two centres, in continuous time."""
    contact_m: float
    """Distance at which bodies touch."""
    references_m: float
    """Least distance of two references that have agreed on anchors, in the metric of the downwash."""
    kept_m: float
    """Distance that references keep."""
    tube_m: float
    """Largest distance of a robot from its tracked point, in that metric, once it knows its bias."""
    declared_m: float
    """The tube's radius."""
    outside_m: float
    """Farthest that a centre was outside the arena."""
    vetoed: float
    """Share of decisions whose course was not the one that the rows let through."""
    trips: int
    """Decisions that reported a robot outside its tube."""
    agent_steps: int


class CrowdFlight:
    """The state of all episodes."""

    def __init__(self, crowd: Crowd) -> None:
        """Place robots at rest, and draw everything else."""
        params, self.words = self.declared(crowd)
        self.crowd, seed = crowd, [crowd.seed, crowd.count, sum(map(ord, crowd.kind))]
        self.random = np.random.default_rng([*seed, crowd.part] if crowd.part else seed)
        self.genes = drawn.draw(self.random, crowd.episodes, crowd.count)
        self.place = self._free_place()
        self.team = Team(self.words, np.array(self.place.centre), self.genes["heading"], self.random, 2)
        params = dataclasses.replace(params, arena=self.place.arena)
        self.figures = figures_of(params, self.words.radius_m)
        in_numpy = Certificate(params, self.figures, Library(np, project_rows))
        self.certificate = in_numpy if crowd.in_numpy else certificate_of(params, self.figures)
        self.signals, shape = Signals(self.words, self.genes, self.random), self.place.centre.shape[:2]
        self.toward = unit(self._aim() - self.team.pos)
        self.bias = self.signals.bias(self.toward)
        deaf = None if crowd.deaf_after_s is None else crowd.deaf_after_s / crowd.period_s
        self.radio = Radio(self.genes, self.random, crowd.count, deaf, LOSSES + crowd.bursts)
        self.leads = np.broadcast_to(np.arange(crowd.count)[:, None] < self.radio.mates, (*shape, crowd.count - 1))
        self.carry = self.certificate.init(self.team.pos.copy(), crowd.count - 1, np.zeros(shape))
        self.heard = self.radio.first(self.certificate.said(self.carry, self.leads))
        self.present = np.ones(self.leads.shape, bool)
        self._points: list[np.ndarray] = []
        self._lag = params.safety.delay_s * (1 + params.safety.shortest_share) / 2 / crowd.period_s
        self._clock_s = crowd.clock_s * (self.random.random(shape) - 0.5) if crowd.clock_s else np.zeros(shape)
        self.tube = self.vetoed = 0.0
        self.trips, self.references = 0, np.inf

    def declared(self, crowd: Crowd) -> tuple[SafetyParams, Words]:
        """What the robots are told, and the bounds of the plant."""
        return _declared(crowd)

    def sees(self, view: LocalView, step: int) -> LocalView:
        """The view with what robots see of others than teammates: nothing."""
        return view

    def _free_place(self) -> places.Place:
        crowd = self.crowd
        place = self.placed()
        while not (free := places.is_free(self.words, place)).all():
            again = drawn.draw(self.random, crowd.episodes, crowd.count)
            for name in ("place", "way"):
                self.genes[name] = np.where(free[:, None], self.genes[name], again[name])
            place = self.placed()
        return place

    def placed(self) -> places.Place:
        """Where the genes put robots, free or not."""
        return places.crowd(self.words, self.genes, self.crowd.kind, self.crowd.count)

    def _aim(self) -> np.ndarray:
        assert self.place.aim is not None, "crowds are driven somewhere"
        return self.place.aim

    def tick(self, step: int) -> None:
        """One period."""
        team, words, now_s = self.team, self.words, self._clock_s + step * self.crowd.period_s
        now = directions(self.toward, unit(self._aim() - team.pos), team.pos, team.vel)
        view = self.sees(blank_view(self.crowd.count - 1, batch=now_s.shape), step)
        off_m = self.signals.of("pos", now, step) * words.off_m
        off_m_s = self.signals.of("vel", now, step) * words.off_m_s
        own = believed(team, team.pos + off_m, team.vel + off_m_s)
        wish = self.signals.wish(now, team.vel, step)
        given = DecisionInputs(view._replace(own=own), self.heard, self.leads, self.present, wish, now_s)
        self.carry, found = self.certificate.step(self.carry, given)
        self._watch(step, found.point_m, now_s)
        push = self.signals.of("push", now, step) * words.push_m_s2
        team.move(found.command[..., :3], self.bias + push, self.genes["late"], now.g)
        team.compare(self.place.arena, ())
        self.heard = self.radio.carry(found.word, self.heard, step)
        self.vetoed, self.trips = self.vetoed + float(found.vetoed.mean()), self.trips + int(found.trip.sum())

    def _watch(self, step: int, point: np.ndarray, now_s: np.ndarray) -> None:
        squash = np.array(self.figures.squash)
        self._points = [*self._points[-int(self._lag) - 1 :], point]
        if step * self.crowd.period_s > SETTLED_S:
            self.tube = max(self.tube, float(self.off_m().max()))
        place = state_at(self.carry.course, now_s + self.figures.lead_s, np)[0] * squash
        apart = np.sqrt(((place[:, :, None] - place[:, self.radio.mates]) ** 2).sum(-1))
        self.references = min(self.references, float(apart.min(where=self.carry.pact.number > 0, initial=np.inf)))

    def off_m(self) -> np.ndarray:
        """[E, N] distance of robots from their tracked points, in the metric of the downwash."""
        share, (before, after) = self._lag - int(self._lag), self._points[:2]
        off = (self.team.pos - (share * before + (1 - share) * after)) * np.array(self.figures.squash)
        return np.sqrt((off**2).sum(-1))

    def outcome(self) -> Outcome:
        """Sum up."""
        crowd, figures = self.crowd, self.figures
        decisions = round(crowd.seconds / crowd.period_s)
        return Outcome(
            episodes=crowd.episodes,
            contacts=int((self.team.least < 2 * self.words.radius_m).sum()),
            least_m=float(self.team.least.min()),
            contact_m=2 * self.words.radius_m,
            references_m=self.references,
            kept_m=2 * figures.learned.room_m,
            tube_m=self.tube,
            declared_m=figures.learned.radius_m,
            outside_m=float(self.team.outside.max()),
            vetoed=self.vetoed / decisions,
            trips=self.trips,
            agent_steps=decisions * crowd.episodes * crowd.count,
        )


def _declared(crowd: Crowd) -> tuple[SafetyParams, Words]:
    """What the vehicle file says, at the crowd's period and delay."""
    vehicle, words = load_any_vehicle(crowd.vehicle), words_of(crowd.vehicle, crowd.scale)
    params, words = from_vehicle(vehicle, crowd.period_s), words._replace(period_s=crowd.period_s)
    if crowd.delay_s is not None:
        safety = dataclasses.replace(params.safety, delay_s=crowd.delay_s)
        params, words = dataclasses.replace(params, safety=safety), words._replace(delay_s=crowd.scale * crowd.delay_s)
    if crowd.kind != "stack":
        return params, words
    figures = figures_of(params, words.radius_m)
    apart_m = STACK_SHARE * 2 * figures.unlearned.room_m / figures.squash[2]
    return params, words._replace(spacing_m=max(words.spacing_m, apart_m))


def fly(crowd: Crowd) -> Outcome:
    """Fly all episodes."""
    flight = CrowdFlight(crowd)
    for step in range(round(crowd.seconds / crowd.period_s)):
        flight.tick(step)
    return flight.outcome()
