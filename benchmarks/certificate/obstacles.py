"""`python -m benchmarks.certificate.obstacles --crowd.vehicle NAME`: certified robots that are driven into obstacles.

Rows of robots beside a box, a ball and a post, which they are to fly through; errors, bias, disturbance and delay at
the bounds. The plant measures how near bodies come to the surfaces.
"""

import dataclasses
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import tyro

from benchmarks.certificate.bounds import share_bound
from benchmarks.certificate.flight import Crowd, CrowdFlight
from benchmarks.filter.fallbacks import genes as drawn
from benchmarks.filter.fallbacks import places
from benchmarks.filter.fallbacks.words import Words
from robomarl.core.filter.params import SafetyParams


@dataclass(frozen=True)
class Course:
    """A crowd among obstacles; its `kind` means nothing here."""

    crowd: Crowd
    forgets: bool = False
    """Robots are not told of the obstacles: an attack that has to succeed."""


class Bumped(NamedTuple):
    """Figures of a flown course."""

    episodes: int
    touched: int
    """Episodes in which a body touched an obstacle."""
    bound: float
    """Upper bound of their share (95 %, Clopper and Pearson)."""
    least_m: float
    """Least distance of a body's surface from an obstacle's, when decisions are made."""
    contacts: int
    """Episodes in which two bodies touched."""
    near_share: float
    """Least distance of references over the distance that they keep."""
    travelled_m: float
    """Mean way of a robot."""
    agent_steps: int


class ObstacleFlight(CrowdFlight):
    """A crowd beside obstacles."""

    def __init__(self, course: Course) -> None:
        """Place robots at rest."""
        self.course, self.way_m = course, 0.0
        super().__init__(course.crowd)

    def declared(self, crowd: Crowd) -> tuple[SafetyParams, Words]:
        """Return parameters of the vehicle among the obstacles, unless robots forget them, and the plant's bounds."""
        params, words = super().declared(crowd)
        if self.course.forgets:
            return params, words
        one = drawn.draw(np.random.default_rng(0), 1, 1)
        things = places.obstacle(words, one, 1).obstacles
        safety = dataclasses.replace(params.safety, clearance_m=words.clearance_m)
        return dataclasses.replace(params, safety=safety, obstacles=things), words

    def placed(self) -> places.Place:
        """Robots beside obstacles."""
        return places.obstacle(self.words, self.genes, self.crowd.count)

    def tick(self, step: int) -> None:
        """One period, after which bodies are compared with obstacles."""
        before = self.team.centre.copy()
        super().tick(step)
        self.team.compare(None, self.place.obstacles)
        self.way_m += float(np.linalg.norm(self.team.centre - before, axis=-1).mean())


def fly(course: Course) -> Bumped:
    """Fly all episodes."""
    flight = ObstacleFlight(course)
    for step in range(round(course.crowd.seconds / course.crowd.period_s)):
        flight.tick(step)
    found, touched = flight.outcome(), int((flight.team.depth > 0).sum())
    bound = share_bound(touched, found.episodes)
    near = found.references_m / found.kept_m
    least_m = -float(flight.team.depth.max())
    return Bumped(found.episodes, touched, bound, least_m, found.contacts, near, flight.way_m, found.agent_steps)


def main() -> int:
    """Fly one cell; ends with 1 where a body touched something."""
    found = fly(tyro.cli(Course))
    for name, value in found._asdict().items():
        print(f"{name:12} {value:.7g}")
    return int(found.touched > 0 or found.contacts > 0)


if __name__ == "__main__":
    sys.exit(main())
