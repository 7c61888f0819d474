"""Rows of mates where the rows are at odds: bounds computed by hand, and crowds that are pushed into a corner."""

import numpy as np
import pytest

from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.model.likely import braked, likely
from robomarl.core.filter.model.motion import NOWHERE, Floats, Motion, Predicted
from robomarl.core.filter.model.pairs import Body
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.lab.prove.worst.flight import fly
from robomarl.lab.prove.worst.jobs import Hunt, filter_of, words_of
from robomarl.lab.prove.worst.teams import team_attack, team_seconds
from tests.core.filter.views import EXACT

C = constants_of(EXACT)
STILL = (0.0, 0.0, 0.0)
ARC = 4 * 8 * (C.own_error_m + C.mates.error_m) + 1e-6
"""[m/s^2] what two robots bend in a period is asked for as well."""


def bound_at(away_m: float, own_m_s: float = 0.0) -> float:
    """Largest command towards a mate at rest that is so far along x."""
    own = Predicted(Motion(STILL, (own_m_s, 0.0, 0.0)), NOWHERE, NOWHERE)
    normal, most = likely(C, C.mates, own, Body(Motion((away_m, 0.0, 0.0), STILL), 0.0, 0.0), Floats)
    np.testing.assert_allclose(normal, (1.0, 0.0, 0.0), atol=1e-9)
    return float(most)


@pytest.mark.parametrize("away_m", [0.05, 0.15])
def test_the_nearer_a_mate_the_more_of_a_push(away_m: float):
    """At rest: gain 4 per s, of the speed 8 per s times what is missing to the separation of 0.2 m."""
    assert bound_at(away_m) == pytest.approx(-4 * 8 * (0.2 - away_m), abs=ARC)


def test_a_mate_beyond_the_separation_does_not_push():
    """Pushes from farther away would add up from robot to robot."""
    assert bound_at(0.25) > 0


def test_a_speed_towards_the_mate_counts():
    """0.4 m/s: 0.1 m are 0.092 m one period of 0.02 s ahead."""
    now, later = -8 * 0.1 - 0.4, -8 * 0.108 - 0.4
    assert bound_at(0.1, own_m_s=0.4) == pytest.approx((later - (1 - 4 * 0.02) * now) / 0.02, abs=ARC)


def test_a_mate_that_moves_away_does_not_count_as_doing_so():
    """Within its errors it may only seem to."""
    own = Predicted(Motion(STILL, STILL), NOWHERE, NOWHERE)
    leaving = Body(Motion((0.1, 0.0, 0.0), (0.5, 0.0, 0.0)), 0.0, 0.0)
    assert float(likely(C, C.mates, own, leaving, Floats)[1]) == pytest.approx(bound_at(0.1), abs=1e-6)


def test_a_mate_that_was_heard_is_taken_to_brake():
    """1 m/s, 1.6 m/s^2: after 0.25 s 0.2 m on and 0.6 m/s; at rest after 0.3125 m; before its time as it went."""
    moving = Motion(STILL, (1.0, 0.0, 0.0))
    for wait_s, place, speed in ((0.25, 0.2, 0.6), (2.0, 0.3125, 0.0), (-0.1, -0.1, 1.0)):
        found = braked(C, Body(moving, wait_s, 0.0), Floats)
        assert found.pos[0] == pytest.approx(place, abs=1e-9)
        assert found.vel[0] == pytest.approx(speed, abs=1e-9)


@pytest.mark.parametrize("seed", [1, 2])
def test_crowds_in_a_corner_do_not_touch(seed: int):
    """Eight robots, all push: rows that asked of everybody for all that it may have done let 2 and 3 teams touch."""
    hunt = Hunt(load_any_vehicle("crazyflie_21"), 0.02)
    words = words_of(hunt, "team", 1.0, 8)
    attack = team_attack("corner/all", np.random.default_rng(seed), words, 40, 8)
    found = fly(words, filter_of(hunt, words, 8), attack, team_seconds(words))
    assert (found.least_m > words.contact_m).all(), found.least_m.min()
