"""The defender of `volley_spike_hard`: which balls it plans for, how fast it is, and what it returns."""

import numpy as np
import pytest

from robomarl.core.geometry import norm
from robomarl.domains.volleyball.lab.model import MODEL
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.defender import SPEED_M_S, TURN_RAD_S, plan, tilt
from robomarl.domains.volleyball.lab.world import NOBODY
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

SCENARIO = load_scenario("volley_spike_hard", VolleyScenario)
Triple = tuple[float, float, float]
LOB: tuple[Triple, Triple] = (-2.0, 0.5, 4.0), (-3.0, 0.0, -0.1)
"""A ball that falls slowly into the middle: place and velocity."""
STEEP: tuple[Triple, Triple] = (0.2, 3.6, 2.9), (-5.0, 2.0, -4.0)
"""A ball hit down to the side line."""


def spiked(place: Triple, speed: Triple) -> TeamWorld:
    """Both hits are past, and the ball flies like this."""
    world = simulation_of(SCENARIO).batch(SCENARIO, "fast", 1, 0).reset()
    ball_pos_m, ball_vel_m_s = (np.array([value], np.float32) for value in (place, speed))
    rally = world.own.rally._replace(turn=np.full(1, NOBODY))
    return world._replace(own=world.own._replace(ball_pos_m=ball_pos_m, ball_vel_m_s=ball_vel_m_s, rally=rally))


def flown(world: TeamWorld, decisions: int) -> TeamWorld:
    """The world after so many decisions in which the drones hover, or at the end of the episode."""
    for _ in range(decisions):
        world = MODEL.advance(SCENARIO, world, np.zeros((1, 2, 4), np.float32), np.zeros((1, 2, 14), np.float32))
        if MODEL.failed(SCENARIO, world).any() or world.own.rally.is_over.any():
            break
    return world


@pytest.mark.parametrize(
    ("place", "speed", "is_due"),
    [
        (*LOB, True),
        ((-2.0, 0.5, 4.0), (-3.0, 0.0, 0.1), False),  # it rises
        ((-2.0, 0.5, 4.0), (-1.9, 0.0, -0.1), False),  # it hardly goes away
        ((-2.0, 0.5, 1.1), (-3.0, 0.0, -0.1), False),  # it is too low
        ((-2.0, 4.0, 4.0), (-3.0, 3.0, -0.1), False),  # it goes out
        ((3.0, 0.0, 2.0), (-3.0, 0.0, -0.1), False),  # it does not come over the net
    ],
)
def test_the_defender_plans_for_balls_that_fall_into_its_half(place: Triple, speed: Triple, is_due: bool):
    assert plan(SCENARIO, spiked(place, speed)).is_due.item() is is_due


def test_a_ball_that_somebody_may_still_hit_is_no_ball_for_the_defender():
    world = spiked(*LOB)
    rally = world.own.rally._replace(turn=np.ones(1, int))
    assert not plan(SCENARIO, world._replace(own=world.own._replace(rally=rally))).is_due.any()


def test_the_defender_is_never_faster_than_its_limits():
    slow, fast = plan(SCENARIO, spiked(*LOB)), plan(SCENARIO, spiked((0.1, 3.5, 2.5), (-9.0, 1.0, -9.0)))
    assert norm(slow.velocity) < SPEED_M_S - 1 and slow.short_m < 0
    np.testing.assert_allclose(norm(fast.velocity), SPEED_M_S, rtol=1e-5)
    assert fast.short_m > 0 and np.abs(fast.rates).max() == TURN_RAD_S


def test_the_disc_is_tilted_along_the_change_of_the_balls_velocity():
    arrives, leaves = np.array([-5.0, 2.0, -6.0]), np.array([4.0, -1.0, 7.0])
    roll, pitch = tilt(arrives, leaves)
    normal = np.sin(pitch) * np.cos(roll), -np.sin(roll), np.cos(pitch) * np.cos(roll)
    np.testing.assert_allclose(normal, (leaves - arrives) / norm(leaves - arrives), atol=1e-6)


def test_a_lob_is_returned_and_a_steep_spike_to_the_side_lands():
    lob, steep = (flown(spiked(*ball), 100) for ball in (LOB, STEEP))
    assert MODEL.failed(SCENARIO, lob).all() and lob.own.rally.score == 0
    assert not MODEL.failed(SCENARIO, steep).any() and steep.own.rally.score == 1


def test_a_ball_for_which_the_defender_never_planned_does_not_count():
    """It goes away too slowly for that: published, such a ball is no success."""
    world = flown(spiked((-2.0, 0.5, 1.15), (-1.0, 0.0, -1.0)), 100)
    assert MODEL.failed(SCENARIO, world).all() and world.own.rally.score == 0
