"""Games that the tests start from."""

import dataclasses

import numpy as np

from robomarl.domains.soccer.lab.batch import SoccerSim
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.placement import facing
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import GameRandomize
from robomarl.lab.sim.scenario import load_scenario

Place = tuple[float, float, float]
"""x, y, heading."""


def plain(name: str = "soccer_2v2") -> SoccerScenario:
    """The scenario with nothing randomized, no noise, and no dropouts."""
    scenario = load_scenario(name)
    eyes = dataclasses.replace(
        scenario.eyes, bearing_noise_rad=0.0, range_noise=0.0, velocity_noise_m_s=0.0, dropout=0.0
    )
    pose = dataclasses.replace(scenario.pose, position_noise_m=0.0, velocity_noise_m_s=0.0, heading_noise_rad=0.0)
    return dataclasses.replace(scenario, eyes=eyes, pose=pose, randomize=GameRandomize())


def robots_at(places: list[Place], num: int = 1) -> OmniRobots:
    """Robots at rest, the same in `num` games."""
    x, y, angle = (np.tile(np.array(part, np.float32), (num, 1)) for part in zip(*places, strict=True))
    return facing(x, y, np.cos(angle), np.sin(angle))


def ball_at(x: float, y: float, vx: float = 0.0, vy: float = 0.0, num: int = 1) -> Ball:
    """A ball that slides without spin."""
    parts = (x, y, vx, vy, 0.0, 0.0)
    return Ball(*(np.full(num, part, np.float32) for part in parts))


def put(sim: SoccerSim, robots: OmniRobots, ball: Ball) -> SoccerWorld:
    """Start the games of `sim` from these places."""
    sim.set_world(sim.reset()._replace(robots=robots, ball=ball))
    return sim.world


APART: list[Place] = [(-1.0, 1.2, 0.0), (-1.0, -1.2, 0.0), (-2.0, 1.2, 0.0), (-2.0, -1.2, 0.0)]
"""Four robots out of the way."""
