"""A crowd of two vehicles, every second robot of the other one; the plant knows nothing of the certificate."""

import dataclasses
from typing import NamedTuple

import numpy as np

from benchmarks.certificate.flight import SETTLED_S, STACK_SHARE, Crowd, Outcome
from benchmarks.certificate.radio import LOSSES, Radio, over
from benchmarks.filter.fallbacks import genes as drawn
from benchmarks.filter.fallbacks import places
from benchmarks.filter.fallbacks.drive import believed
from benchmarks.filter.fallbacks.genes import Directions, Genes, Signals, directions
from benchmarks.filter.fallbacks.plant import Team
from benchmarks.filter.fallbacks.words import Words, unit, words_of
from robomarl.core.certificate.certificate import Certificate
from robomarl.core.certificate.course import state_at
from robomarl.core.certificate.figures import CertificateFigures, common_of, figures_of
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.memory import DecisionInputs
from robomarl.core.certificate.pact import Word
from robomarl.core.filter.decision import Library
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.core.filter.qp.projection import project_rows
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import blank_view


class Declared(NamedTuple):
    """What robots of a vehicle are told, and the bounds of the plant."""

    params: SafetyParams
    words: Words
    radius_m: float


class PathTeam(Team):
    """A team that notes its ways, so that they are compared with those of another team."""

    def __init__(self, words: Words, centre: np.ndarray, heading: np.ndarray, random: np.random.Generator) -> None:
        """Place all robots at rest."""
        super().__init__(words, centre, heading, random, 2)
        self.ways: list[tuple[np.ndarray, np.ndarray]] = []

    def _drift(self, accel: np.ndarray, seconds: float) -> None:
        before = self.centre.copy()
        super()._drift(accel, seconds)
        self.ways = [*self.ways[1 - self.parts :], (before, self.centre.copy())]


class Side:
    """The robots of one vehicle."""

    def __init__(self, which: np.ndarray, told: Declared, genes: Genes, place: places.Place) -> None:
        """Keep which robots they are, and their bounds; `begin` does the rest."""
        self.which, self.words, self.radius_m = which, told.words, told.radius_m
        own = [name for name, part in genes.items() if part.ndim > 1 and name not in ("place", "way")]
        self.genes = genes | {name: genes[name][:, which] for name in own}
        random = np.random.default_rng([int(genes["salt"][0]), len(which), which[0]])
        self.team = PathTeam(told.words, np.array(place.centre[:, which]), self.genes["heading"], random)
        self.signals = Signals(told.words, self.genes, random)
        self._points: list[np.ndarray] = []
        safety = told.params.safety
        self._lag = safety.delay_s * (1 + safety.shortest_share) / 2 / told.words.period_s
        self.tube = self.vetoed = 0.0
        self.trips, self._said = 0, list[Word]()

    def begin(self, params: SafetyParams, figures: CertificateFigures, mates: int, options: tuple[bool, bool]) -> Word:
        """Work out the certificate, and return the first words; `options`: in numpy, and without holding words back."""
        in_numpy, at_once = options
        self.figures, self.wait = figures, 0 if at_once else figures.held_back
        plain = Certificate(params, figures, Library(np, project_rows))
        self.certificate = plain if in_numpy else certificate_of(params, figures)
        shape = self.team.pos.shape[:2]
        self.leads = np.broadcast_to(np.zeros(mates, bool), (*shape, mates))
        self.carry = self.certificate.init(self.team.pos.copy(), mates, np.zeros(shape))
        return self.certificate.said(self.carry, self.leads)

    def decide(self, now: Directions, heard: Word, leads: np.ndarray, step: int, now_s: np.ndarray) -> Word:
        """Decide and move for one period; return the words that are said now."""
        own = Directions(*(part[:, self.which] for part in now))
        mine, clock_s = over(lambda part: part[:, self.which], heard), now_s[:, self.which]
        off_m, off_m_s = (self.signals.of(name, own, step) for name in ("pos", "vel"))
        team, words = self.team, self.words
        view = blank_view(mine.number.shape[-1], batch=clock_s.shape)
        view = view._replace(own=believed(team, team.pos + off_m * words.off_m, team.vel + off_m_s * words.off_m_s))
        wish, leads = self.signals.wish(own, team.vel, step), leads[:, self.which]
        before, squash = self.carry.course, np.array(self.figures.squash)
        self.place = state_at(before, np.maximum(clock_s + self.figures.lead_s, before.at_s), np)[0] * squash
        """[E, n, 3] places of the references one lead after the decision, in the metric of the downwash."""
        given = DecisionInputs(view, mine, leads, np.ones(leads.shape, bool), wish, clock_s)
        self.carry, found = self.certificate.step(self.carry, given)
        self._watch(found.point_m, step)
        push = self.signals.of("push", own, step) * words.push_m_s2
        team.move(found.command[..., :3], self.bias + push, self.genes["late"], own.g)
        self.vetoed, self.trips = self.vetoed + float(found.vetoed.mean()), self.trips + int(found.trip.sum())
        self._said = [*self._said[-self.wait :], found.word] if self.wait else [found.word]
        return self._said[0]

    def drive(self, toward: np.ndarray) -> None:
        """Draw the bias for the directions [E, N, 3] of the attack at the start."""
        self.bias = self.signals.bias(toward[:, self.which])

    def _watch(self, point: np.ndarray, step: int) -> None:
        self._points = [*self._points[-int(self._lag) - 1 :], point]
        if step * self.words.period_s > SETTLED_S:
            share, (before, after) = self._lag - int(self._lag), self._points[:2]
            off = (self.team.pos - (share * before + (1 - share) * after)) * np.array(self.figures.squash)
            self.tube = max(self.tube, float(np.sqrt((off**2).sum(-1)).max()))


class UnlikeFlight:
    """The state of all episodes."""

    def __init__(self, crowd: Crowd) -> None:
        """Place robots at rest, and draw everything else."""
        self.crowd, count = crowd, crowd.count
        told = [_declared(crowd, name, i == 0) for i, name in enumerate((crowd.vehicle, crowd.other))]
        common = common_of([(one.params, one.radius_m) for one in told])
        figures = [figures_of(one.params, one.radius_m, common) for one in told]
        self.random = np.random.default_rng([crowd.seed, count, sum(map(ord, crowd.kind)), crowd.part])
        self.genes = drawn.draw(self.random, crowd.episodes, count)
        self.place = self._free_place(_spaced(crowd, told, figures))
        self.leads = np.broadcast_to(np.arange(count)[:, None] < _mates(count), (crowd.episodes, count, count - 1))
        self.sides = [Side(np.arange(i, count, 2), one, self.genes, self.place) for i, one in enumerate(told)]
        deaf = None if crowd.deaf_after_s is None else crowd.deaf_after_s / crowd.period_s
        self.radio = Radio(self.genes, self.random, count, deaf, LOSSES + crowd.bursts)
        first = []
        for side, one, f in zip(self.sides, told, figures, strict=True):
            params = dataclasses.replace(one.params, arena=self.place.arena)
            placed = figures_of(params, one.radius_m, common)
            first.append(side.begin(params, placed, count - 1, (crowd.in_numpy, crowd.at_once)))
            assert placed.learned == f.learned, "an arena changes no tube"
        self.heard = self.radio.first(self._merged(first))
        self.toward = unit(self._aim - self._of("pos"))
        for side in self.sides:
            side.drive(self.toward)
        room, radius = np.empty(count), np.empty(count)
        for side in self.sides:
            room[side.which], radius[side.which] = side.figures.learned.room_m, side.radius_m
        mates = self.radio.mates
        self._kept, self.references = room[:, None] + room[mates], np.inf
        self._contact, self.least = radius[::2, None] + radius[None, 1::2], np.full(crowd.episodes, np.inf)
        leads = [side.figures.lead_s for side in self.sides]
        self._places, self._kept_steps = list[np.ndarray](), 4 + int((max(leads) - min(leads)) / crowd.period_s)
        self._clock_s = crowd.clock_s * (self.random.random(self.leads.shape[:2]) - 0.5)

    @property
    def _aim(self) -> np.ndarray:
        assert self.place.aim is not None, "crowds are driven somewhere"
        return self.place.aim

    def _free_place(self, words: Words) -> places.Place:
        crowd = self.crowd
        place = places.crowd(words, self.genes, crowd.kind, crowd.count)
        while not (free := places.is_free(words, place)).all():
            again = drawn.draw(self.random, crowd.episodes, crowd.count)
            for name in ("place", "way"):
                self.genes[name] = np.where(free[:, None], self.genes[name], again[name])
            place = places.crowd(words, self.genes, crowd.kind, crowd.count)
        return place

    def _of(self, name: str) -> np.ndarray:
        return self._merged([getattr(side.team, name) for side in self.sides])

    def _merged(self, parts: list):
        def change(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            whole = np.empty((len(first), self.crowd.count, *first.shape[2:]), first.dtype)
            whole[:, ::2], whole[:, 1::2] = first, second
            return whole

        return over(change, *parts)

    def tick(self, step: int) -> None:
        """One period."""
        pos, vel = self._of("pos"), self._of("vel")
        now_s = self._clock_s + step * self.crowd.period_s
        now = directions(self.toward, unit(self._aim - pos), pos, vel)
        said = self._merged([side.decide(now, self.heard, self.leads, step, now_s) for side in self.sides])
        self._watch(now_s)
        self.heard = self.radio.carry(said, self.heard, step)

    def _watch(self, now_s: np.ndarray) -> None:
        place, number = (self._merged([get(side) for side in self.sides]) for get in (_place_of, _number_of))
        self._places = [*self._places[-self._kept_steps :], place]
        if len(self._places) > self._kept_steps:
            self._compare_references(number > 0, now_s)
        first, second = self.sides
        for (before, after), (start, end) in zip(first.team.ways, second.team.ways, strict=True):
            gap, way = before[:, :, None] - start[:, None], (after - before)[:, :, None] - (end - start)[:, None]
            when = np.clip(-(gap * way).sum(-1) / np.maximum((way * way).sum(-1), 1e-15), 0, 1)
            near = np.sqrt(((gap + way * when[..., None]) ** 2).sum(-1)) - self._contact
            self.least = np.minimum(self.least, near.min((1, 2)))

    def _compare_references(self, agreed: np.ndarray, now_s: np.ndarray) -> None:
        """Compare references at one time: leads and clocks differ, so each is between two of its decisions."""
        leads = self._merged([np.full(side.team.pos.shape[:2], side.figures.lead_s) for side in self.sides])
        past = np.stack(self._places)
        back = 1 + (leads - leads.min() + self._clock_s) / self.crowd.period_s
        whole = np.floor(back).astype(int)
        older, newer = (_row(past, len(past) - 1 - whole - more) for more in (1, 0))
        at = newer + (back - whole)[..., None] * (older - newer)
        apart = np.sqrt(((at[:, :, None] - at[:, self.radio.mates]) ** 2).sum(-1)) / self._kept
        self.references = min(self.references, float(apart.min(where=agreed, initial=np.inf)))

    def outcome(self) -> Outcome:
        """Sum up: the nearest pair is the one that is nearest to its contact."""
        crowd, (first, second) = self.crowd, self.sides
        decisions = round(crowd.seconds / crowd.period_s)
        left = [side.team.least - 2 * side.radius_m for side in self.sides]
        left.append(self.least)
        touch = [2 * first.radius_m, 2 * second.radius_m, float(self._contact[0, 0])]
        nearest = int(np.argmin([part.min() for part in left]))
        worst = max(self.sides, key=lambda side: side.tube / side.figures.learned.radius_m)
        kept_m = float(self._kept[0, 0])
        return Outcome(
            episodes=crowd.episodes,
            contacts=int((np.min(left, 0) < 0).sum()),
            least_m=float(left[nearest].min()) + touch[nearest],
            contact_m=touch[nearest],
            references_m=self.references * kept_m,
            kept_m=kept_m,
            tube_m=worst.tube,
            declared_m=worst.figures.learned.radius_m,
            outside_m=0.0,
            vetoed=sum(side.vetoed for side in self.sides) / 2 / decisions,
            trips=sum(side.trips for side in self.sides),
            agent_steps=decisions * crowd.episodes * crowd.count,
        )


def _place_of(side: Side) -> np.ndarray:
    return side.place


def _number_of(side: Side) -> np.ndarray:
    return side.carry.pact.number


def _row(past: np.ndarray, which: np.ndarray) -> np.ndarray:
    """[E, N, 3] places of the decisions [E, N] among [H, E, N, 3]."""
    return np.take_along_axis(past, which[None, ..., None], 0)[0]


def _mates(count: int) -> np.ndarray:
    return (np.arange(count)[:, None] + 1 + np.arange(count - 1)[None]) % count


def _declared(crowd: Crowd, name: str, is_first: bool) -> Declared:
    """What a vehicle file says, at the crowd's period; the delay of the crowd is that of the first vehicle."""
    vehicle, words = load_any_vehicle(name), words_of(name, crowd.scale)
    params, words = from_vehicle(vehicle, crowd.period_s), words._replace(period_s=crowd.period_s)
    if crowd.delay_s is not None and is_first:
        safety = dataclasses.replace(params.safety, delay_s=crowd.delay_s)
        params, words = dataclasses.replace(params, safety=safety), words._replace(delay_s=crowd.scale * crowd.delay_s)
    return Declared(params, words, vehicle.body.radius_m)


def _spaced(crowd: Crowd, told: list[Declared], figures: list[CertificateFigures]) -> Words:
    """The bounds of the larger vehicle, whose distances robots start at."""
    words = max((one.words for one in told), key=lambda one: one.spacing_m)
    if crowd.kind != "stack":
        return words
    apart_m = STACK_SHARE * max(2 * f.unlearned.room_m / f.squash[2] for f in figures)
    return words._replace(spacing_m=max(words.spacing_m, apart_m))


def fly_unlike(crowd: Crowd) -> Outcome:
    """Fly all episodes."""
    flight = UnlikeFlight(crowd)
    for step in range(round(crowd.seconds / crowd.period_s)):
        flight.tick(step)
    return flight.outcome()
