"""What one network from pixels to commands reads: dead reckoning against the true motion, and where robots are put."""

import math

import numpy as np
import pytest

from robomarl.core.bundle.bundle import PERCEPTION_FILE, load_bundle
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.lessons.pixel_view import MATE, ODOMETRY, PixelObserver, advanced, between
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.eyes_sim import EyesSim, seeing_soccer
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.sides import team_view

pytest.importorskip("jax")


class Grey:
    """Cameras that show nothing."""

    def begin(self, rows: np.ndarray, whole: int, batch: int) -> None:
        """All games look alike."""

    def __call__(self, game: SoccerWorld) -> np.ndarray:
        """Return grey strips."""
        return np.full((len(game.ball.x), 2, 32, 192, 3), 90, np.uint8)


def _games() -> EyesSim:
    scenario = load_scenario("soccer_2v2", SoccerScenario)
    network = load_bundle("soccer_2v2_eyes").files[PERCEPTION_FILE]
    return seeing_soccer(make_soccer(scenario, "fast", 3, 5), network, Grey(), 5)


def test_a_quarter_turn_ahead_is_an_arc():
    step = np.array([math.pi / 2, 0.0, math.pi / 2])  # one metre of radius
    there = advanced(np.array([1.0, 2.0, 0.0]), step)
    chord = math.pi / 2  # the arc as one straight step along its middle direction
    np.testing.assert_allclose(there, [1 + chord * math.sqrt(0.5), 2 + chord * math.sqrt(0.5), math.pi / 2])
    np.testing.assert_allclose(
        between(np.array([1.0, 2.0, math.pi / 2]), np.array([1.0, 5.0, math.pi])), [3, 0, math.pi / 2], atol=1e-12
    )


def test_dead_reckoning_follows_the_true_motion_and_begins_anew_where_robots_are_put():
    sim, count = _games(), 2
    sim.reset()
    observer, random = PixelObserver(sim), np.random.default_rng(2)
    memory = observer.init(team_view(sim.scenario, sim.views(), 0))
    command = random.uniform(-1, 1, (3, 2 * count, 4)).astype(np.float32) * np.array([2, 2, 3, 0], np.float32)
    restarts, obs = sim.world.referee.restarts.copy(), np.zeros(0)
    for step in range(60):
        memory, obs = observer.observe(memory, team_view(sim.scenario, sim.views(), 0))
        assert obs.shape == (3, count, observer.size)
        if step == 40:  # the ball in a goal: all are put back
            beyond = sim.world.ball.x * 0 + sim.scenario.field.length_m
            sim._world = sim.world._replace(ball=sim.world.ball._replace(x=beyond, y=0 * beyond))
        sim.step(command)
    memory, obs = observer.observe(memory, team_view(sim.scenario, sim.views(), 0))
    assert (sim.world.referee.restarts > restarts).all()
    robots = sim.world.robots
    off = np.hypot(memory.pose[..., 0] - robots.x[:, :count], memory.pose[..., 1] - robots.y[:, :count])
    assert off.max() < 0.6, "errors of the told place, 0.1 m a component, and of 0.8 s of odometry"
    turn = memory.pose[..., 2] - np.arctan2(robots.s, robots.c)[:, :count]
    assert np.abs((turn + np.pi) % (2 * np.pi) - np.pi).max() < 0.5
    at = sim.eyes.layout.size + ODOMETRY
    np.testing.assert_allclose(obs[..., at : at + 2], memory.pose[..., :2], atol=1e-5)
    mate = obs[..., at + 4 : at + 4 + MATE]
    away = np.hypot(*(memory.pose[:, 0, :2] - memory.pose[:, 1, :2]).T)
    np.testing.assert_allclose(np.hypot(mate[:, 0, 0], mate[:, 0, 1]), away, atol=0.2)
