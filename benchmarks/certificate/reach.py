"""Certified robots whose radio has a range: they meet at full speed, part, and meet again.

`python -m benchmarks.certificate.reach --vehicle NAME`. The robots are the guards of nodes, with their words. Between
two that are nearer than the range every message is lost but for one, as late as the stated time allows. Farther away
nothing is heard, or in one direction only, or half of it. The plant knows nothing of the certificate.
"""

import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import tyro
from tqdm import tqdm

from benchmarks.certificate.bounds import share_bound
from benchmarks.filter.fallbacks import genes as drawn
from benchmarks.filter.fallbacks.drive import believed
from benchmarks.filter.fallbacks.genes import Signals, directions
from benchmarks.filter.fallbacks.plant import Team
from benchmarks.filter.fallbacks.words import PERIOD_S, length, unit, words_of
from robomarl.core.certificate.course import state_at
from robomarl.core.certificate.figures import figures_of
from robomarl.core.certificate.reach import RadioReach, least_range_m
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import Own, blank_view
from robomarl.ros.robot.certified.carry import TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.words import AddressedWord, TeamWords, told_to

BEYOND = ("nothing", "one direction", "half")
"""What is heard beyond the range."""


@dataclass(frozen=True)
class Meeting:
    """What is flown."""

    vehicle: str
    kind: str = "meet"
    """meet: two groups at each other; part: they turn around again and again; chain: a line longer than the range."""
    count: int = 2
    episodes: int = 24
    seconds: float = 16.0
    scale: float = 1.0
    """Factor of all declared bounds, for the plant."""
    within_s: float = 0.5
    """Stated time within which robots hear each other."""
    true_share: float = 1.0
    """The radio's true range over the stated one; below 1 the assumption is broken."""
    stated_share: float = 1.0
    """The stated range over the least one that is accepted."""
    seed: int = 0


class Met(NamedTuple):
    """Figures of a meeting."""

    episodes: int
    contacts: int
    bound: float
    """Bound (95 %, Clopper and Pearson) of the share of episodes with a contact."""
    least_m: float
    contact_m: float
    near_share: float
    """Least distance of two references, agreed or not, over the distance D."""
    range_m: float
    forgotten: int
    """How often a robot forgot a teammate that it had agreed with."""
    agreed: int
    """How often two agreed."""
    too_near: int
    """Episodes in which a robot said that the radio reaches less far."""
    way_m: float
    """Mean way of a robot."""
    agent_steps: int


class MeetingFlight:
    """The state of all episodes."""

    def __init__(self, meeting: Meeting) -> None:
        """Place the robots at rest, out of reach of each other or of some."""
        self.meeting, vehicle = meeting, load_any_vehicle(meeting.vehicle)
        episodes, count = meeting.episodes, meeting.count
        self.words, params = words_of(meeting.vehicle, meeting.scale), from_vehicle(vehicle, PERIOD_S)
        self.random = np.random.default_rng([meeting.seed, count, sum(map(ord, meeting.kind))])
        self.genes = drawn.draw(self.random, episodes, count)
        self.figures = figures_of(params, vehicle.body.radius_m)
        least = least_range_m(self.figures, self.figures, meeting.within_s)
        self.reach = RadioReach(least * meeting.stated_share, meeting.within_s)
        self.range_m = self.reach.range_m * meeting.true_share
        self.names = tuple(f"r{i}" for i in range(count))
        self.mates = (np.arange(count)[:, None] + 1 + np.arange(count - 1)[None]) % count
        seats = [TeamSeat(i, self.mates[i].tolist(), (), self.reach) for i in range(count)]
        self.guards = [CertifiedRobot(params, vehicle.body.radius_m, seat) for seat in seats]
        self.team = Team(self.words, self._places(), self.genes["heading"], self.random, 2)
        self.signals = Signals(self.words, self.genes, self.random)
        self.toward = unit(self._aim(0) - self.team.pos)
        self.bias = self.signals.bias(self.toward)
        self.carry = [[guard.init() for guard in self.guards] for _ in range(episodes)]
        self.told: list[list[list[AddressedWord | None]]] = [
            [[None] * (count - 1) for _ in range(count)] for _ in range(episodes)
        ]
        shape = (episodes, count, count)
        self.beyond = self.random.integers(len(BEYOND), size=episodes)
        self.late = self.random.integers(1, 5, episodes)
        """Decisions that a message takes."""
        self.last = np.zeros(shape, int)
        self._air: list[tuple[int, int, int, int, AddressedWord]] = []
        self.near_share, self.way_m, self.forgotten, self.agreed = np.inf, 0.0, 0, 0
        self._references, self._number = np.array(self.team.pos), np.zeros(shape)[..., :-1]
        self.too_near = np.zeros(episodes, bool)

    def _places(self) -> np.ndarray:
        meeting, draw, r = self.meeting, self.genes["place"], self.reach.range_m
        count, u = meeting.count, 1.3 * self.words.spacing_m
        robot = np.arange(count)
        if meeting.kind == "chain":
            along = (0.6 + 0.6 * draw[:, :1]) * r * robot
            side = u * (draw[:, 1:2] - 0.5) * (robot % 2)
        else:
            group, row = robot % 2, robot // 2
            along = (group - 0.5) * r * (1.02 + 0.5 * draw[:, :1]) + 0 * row
            side = row * u + 0.6 * u * (draw[:, 1:2] - 0.5) * group
        up = (
            0 * along
            + (0.0 if self.words.planar else 3.0)
            + (0 if self.words.planar else 1) * (draw[:, 2:3] - 0.5) * (robot % 2)
        )
        flat = np.stack([along, side + 0 * along, up], -1)
        turn = 2 * np.pi * draw[:, 3]
        c, s = np.cos(turn)[:, None], np.sin(turn)[:, None]
        return np.stack([c * flat[..., 0] - s * flat[..., 1], s * flat[..., 0] + c * flat[..., 1], flat[..., 2]], -1)

    def _aim(self, step: int) -> np.ndarray:
        """[E, N, 3] the nearest robot of the other group, or a point behind, in turns."""
        pos, count = self.team.pos, self.meeting.count
        apart = pos[:, None] - pos[:, :, None]
        far = length(apart)
        same = (np.arange(count)[:, None] - np.arange(count)[None]) % 2 == 0
        nearest = np.where(same, np.inf, far).argmin(-1)
        way = np.take_along_axis(apart, nearest[..., None, None], 2)[:, :, 0]
        if self.meeting.kind == "meet":
            return pos + way
        draw, robot = self.genes["place"], np.arange(count) * (self.meeting.kind == "chain")
        period = (2 + 5 * draw[:, 4:5]) / PERIOD_S
        turned = np.floor((step + 40 * robot + period * draw[:, 5:6]) / period) % 2
        return pos + np.where(turned[..., None] > 0, -way, way)

    def tick(self, step: int) -> None:
        """One period."""
        team, words, now_s = self.team, self.words, 1000.0 + step * PERIOD_S
        self._receive(step)
        now = directions(self.toward, unit(self._aim(step) - team.pos), team.pos, team.vel)
        off = [self.signals.of(name, now, step) for name in ("pos", "vel")]
        own = believed(team, team.pos + off[0] * words.off_m, team.vel + off[1] * words.off_m_s)
        wish = np.concatenate([now.g * words.accel_m_s2, np.zeros((*now.g.shape[:2], 1))], -1)
        command = np.zeros(team.pos.shape)
        for e, robots in enumerate(self.carry):
            for i, guard in enumerate(self.guards):
                mine = Own(*(np.asarray(part[e, i], float) for part in own))
                view = blank_view(len(self.mates[i]))._replace(own=mine)
                carry = guard.hear(robots[i], self.told[e][i], now_s)
                robots[i], found = guard(carry, view, wish[e, i])
                command[e, i] = found.command[:3]
                self._send(step, e, i)
        self._watch(now_s)
        before, push = team.centre.copy(), self.signals.of("push", now, step) * words.push_m_s2
        team.move(command, self.bias + push, self.genes["late"], now.g)
        self.way_m += float(length(team.centre - before).mean())

    def _send(self, step: int, e: int, i: int) -> None:
        """A message to each teammate that hears it: in reach, the last one that may still come in time."""
        rows = self.guards[i].said(self.carry[e][i])
        if rows is None:
            return
        words = TeamWords(tuple(self.names[k] for k in self.mates[i]), rows)
        spacing = round(self.reach.within_s / PERIOD_S) - int(self.late[e]) - 1
        for k in self.mates[i]:
            is_near = np.linalg.norm(self.team.centre[e, i] - self.team.centre[e, k]) < self.range_m
            if not is_near:
                self.last[e, i, k] = step
                kind = BEYOND[self.beyond[e]]
                comes = kind == "one direction" and i < k or kind == "half" and self.random.random() < 0.05
            elif comes := step - self.last[e, i, k] >= spacing:
                self.last[e, i, k] = step
            if comes and (told := told_to(words, self.names[k])):
                self._air.append((step + int(self.late[e]), e, i, int(k), told))

    def _receive(self, step: int) -> None:
        arrive = [one for one in self._air if one[0] <= step]
        self._air = [one for one in self._air if one[0] > step]
        for _, e, i, k, told in arrive:
            self.told[e][k][self.mates[k].tolist().index(i)] = told

    def _watch(self, now_s: float) -> None:
        lead, squash = np.array(now_s + self.figures.lead_s), np.array(self.figures.squash)
        place = np.array([[state_at(c.robot.course, lead, np)[0] for c in robots] for robots in self.carry]) * squash
        number = np.array([[c.robot.pact.number for c in robots] for robots in self.carry])
        apart = length(place[:, :, None] - place[:, self.mates])
        self.near_share = min(self.near_share, float(apart.min()) / (2 * self.figures.learned.room_m))
        self.forgotten += int(((number == 0) & (self._number > 0)).sum())
        self.agreed += int(((number > 0) & (self._number == 0)).sum())
        self._number = number
        self.too_near |= np.array([[c.too_near.any() for c in robots] for robots in self.carry]).any(-1)

    def met(self) -> Met:
        """Sum up."""
        episodes, contact_m = self.meeting.episodes, 2 * self.words.radius_m
        contacts = int((self.team.least < contact_m).sum())
        return Met(
            episodes=episodes,
            contacts=contacts,
            bound=share_bound(contacts, episodes),
            least_m=float(self.team.least.min()),
            contact_m=contact_m,
            near_share=self.near_share,
            range_m=self.reach.range_m,
            forgotten=self.forgotten,
            agreed=self.agreed // 2,
            too_near=int(self.too_near.sum()),
            way_m=self.way_m,
            agent_steps=round(self.meeting.seconds / PERIOD_S) * episodes * self.meeting.count,
        )


def fly(meeting: Meeting) -> Met:
    """Fly all episodes."""
    flight = MeetingFlight(meeting)
    for step in tqdm(range(round(meeting.seconds / PERIOD_S)), desc=meeting.kind, disable=None):
        flight.tick(step)
    return flight.met()


def main() -> int:
    """Fly one cell; ends with 1 where bodies touch or references come too near."""
    found = fly(tyro.cli(Meeting))
    for name, value in found._asdict().items():
        print(f"{name:12} {value:.7g}")
    return int(found.contacts > 0 or found.near_share < 1 - 1e-5)


if __name__ == "__main__":
    sys.exit(main())
