"""Certified robots among strangers that hunt them: `python -m benchmarks.certificate.hunted --crowd.vehicle NAME`."""

import dataclasses
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import tyro

from benchmarks.certificate.bounds import share_bound
from benchmarks.certificate.flight import Crowd, CrowdFlight
from benchmarks.filter.fallbacks.words import Words, length
from robomarl.core.filter.model.bodies import Strangers
from robomarl.core.filter.params import SafetyParams
from robomarl.core.view import LocalView
from robomarl.lab.prove.campaign.hunters import Hunters, HuntRules, StrangerSightings, Touches

STANDS_M_S = 1e-3
"""A robot stands where the point that it tracks is slower."""


@dataclass(frozen=True)
class Hunt:
    """Robots, strangers and size of the attack."""

    crowd: Crowd
    """The robots."""
    strangers: int = 2
    """Strangers of an episode."""
    share: float = 1.0
    """Speed and acceleration of strangers over those of the vehicle file; robots are told of both."""
    sight_m: float = np.inf
    """Strangers farther away are not seen: they appear newly, and nothing is claimed of the first moments."""
    forgets: bool = False
    """Take the rule away from the robots: what the attack does then."""


class Caught(NamedTuple):
    """Figures of a hunt."""

    episodes: int
    moving: int
    """Episodes in which a stranger touched a robot whose tracked point moved."""
    resting: int
    """Episodes in which a stranger touched a robot that stood."""
    bound: float
    """Bound (95 %, Clopper and Pearson) of the share of episodes with a touch in motion."""
    least_m: float
    """Least distance of a stranger from a robot in motion."""
    contact_m: float
    """Distance at which bodies touch."""
    rest_m_s: float
    """Largest speed of a robot that a stranger touched at rest."""
    mates: int
    """Episodes in which two robots touched."""
    travelled_m: float
    """Way of a robot, mean."""
    in_motion: float
    """Share of decisions at which the reference moved."""
    agent_steps: int


class HuntedFlight(CrowdFlight):
    """A crowd, half of it driven at the nearest stranger."""

    def __init__(self, hunt: Hunt) -> None:
        """Place robots and strangers."""
        self.hunters, self.hunt = None, hunt
        super().__init__(hunt.crowd)
        words = self.words
        rules = HuntRules(self.told, words.period_s, words.spacing_m, words.still_m_s)
        self.hunters = Hunters(rules, self.team.centre, hunt.strangers, self.random)
        self.drawn_to = self.random.random(self.team.pos.shape[:2]) < 0.5
        episodes = hunt.crowd.episodes
        self.moving, self.resting = np.zeros((2, episodes), bool)
        self.least_m, self.rest_m_s, self.way_m, self.moves = np.inf, 0.0, 0.0, 0

    def declared(self, crowd: Crowd) -> tuple[SafetyParams, Words]:
        """The vehicle's, and what robots are told of strangers."""
        params, words = super().declared(crowd)
        self.told = told_of(words, self.hunt.share)
        return params if self.hunt.forgets else dataclasses.replace(params, strangers=self.told), words

    def _aim(self) -> np.ndarray:
        aim = super()._aim()
        if self.hunters is None:
            return aim
        apart = length(self.hunters.pos[:, None] - self.team.pos[:, :, None])
        nearest = np.take_along_axis(self.hunters.pos, apart.argmin(-1)[..., None], 1)
        return np.where(self.drawn_to[..., None], nearest, aim)

    def sees(self, view: LocalView, step: int) -> LocalView:
        """The view with the strangers in it."""
        if self.hunt.forgets or self.hunters is None:
            return view
        seen = self.last = self.hunters.seen(self.team.centre, step)
        near = length(self.hunters.pos[:, None] - self.team.centre[:, :, None]) < self.hunt.sight_m
        return view._replace(sensed=StrangerSightings(near, *seen[1:]))

    def tick(self, step: int) -> None:
        """One period of robots and strangers."""
        before = self.team.centre.copy()
        super().tick(step)
        assert self.hunters is not None
        touches = self.hunters.move(before, self.team.centre, self.team.vel, step)
        points = np.array(self._points[:3])
        speed = length(np.diff(points, axis=0)).max(0, initial=0) / self.crowd.period_s
        self._count(touches, speed > STANDS_M_S)
        self.way_m += float(length(self.team.centre - before).mean())

    def _count(self, touches: Touches, moves: np.ndarray) -> None:
        touch = touches.apart_m < 2 * self.words.radius_m
        hit = touch.any(-1)
        self.moving |= (hit & moves).any(-1)
        self.resting |= (hit & ~moves).any(-1)
        self.least_m = min(self.least_m, float(touches.apart_m[moves].min(initial=np.inf)))
        self.rest_m_s = max(self.rest_m_s, float(touches.speed_m_s[hit & ~moves].max(initial=0)))
        self.moves += int(moves.sum())

    def caught(self) -> Caught:
        """Sum up."""
        outcome, moving = self.outcome(), int(self.moving.sum())
        episodes = self.crowd.episodes
        bound = share_bound(moving, episodes)
        return Caught(
            episodes=episodes,
            moving=moving,
            resting=int(self.resting.sum()),
            bound=bound,
            least_m=self.least_m,
            contact_m=outcome.contact_m,
            rest_m_s=self.rest_m_s,
            mates=outcome.contacts,
            travelled_m=self.way_m,
            in_motion=self.moves / outcome.agent_steps,
            agent_steps=outcome.agent_steps,
        )


def told_of(words: Words, share: float) -> Strangers:
    """What robots are told: strangers with this share of their own speed and acceleration, and errors as their own."""
    return Strangers(
        separation_m=2 * words.radius_m,
        accel_m_s2=share * float(words.accel_m_s2.max()),
        speed_m_s=share * words.speed_m_s,
        position_error_m=words.off_m,
        velocity_error_m_s=words.off_m_s,
        max_age_s=words.max_age_s,
    )


def fly(hunt: Hunt) -> Caught:
    """Fly all episodes."""
    flight = HuntedFlight(hunt)
    for step in range(round(hunt.crowd.seconds / hunt.crowd.period_s)):
        flight.tick(step)
    return flight.caught()


def main() -> int:
    """Fly one cell; ends with 1 where a robot in motion was touched."""
    found = fly(tyro.cli(Hunt))
    for name, value in found._asdict().items():
        print(f"{name:12} {value:.7g}")
    return int(found.moving > 0 or found.mates > 0)


if __name__ == "__main__":
    sys.exit(main())
