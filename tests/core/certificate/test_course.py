"""Courses against braking by hand, and on their way to rest."""

import numpy as np
import pytest

from robomarl.core.certificate.course import CommittedCourse, places, resting, rests_at_s, state_at, stop_of


def course(speed: float = 1.2, brake: float = 1.5) -> CommittedCourse:
    """A course along x from the origin at 2 s."""
    return CommittedCourse(np.zeros(3), np.array([speed, 0, 0]), np.array(2.0), np.array(brake), np.array(0.25))


def test_a_course_brakes_and_rests():
    """From 1.2 m/s at 1.5 m/s^2: 0.8 s and 0.48 m."""
    assert rests_at_s(course(), np) == pytest.approx(2.8)
    assert stop_of(course(), np) == pytest.approx([0.48, 0, 0])
    times = np.array([2.0, 2.4, 2.8, 100.0])
    assert places(course(), times, np)[:, 0] == pytest.approx([0, 1.2 * 0.4 - 0.75 * 0.16, 0.48, 0.48])
    pos, vel = state_at(course(), np.array(2.4), np)
    assert pos[0] == pytest.approx(0.36) and vel == pytest.approx([0.6, 0, 0])


def test_before_its_time_a_course_is_a_line():
    """Its acceleration is bounded at all times, so the bound of chords holds there too."""
    assert places(course(), np.array([1.5, 2.0]), np)[:, 0] == pytest.approx([-0.6, 0.0])


def test_a_course_at_rest_stays():
    """Neither its place nor its stop moves."""
    still = resting(np.array([1.0, 2.0, 3.0]), 0.0, (1.3, 0.25))
    assert places(still, np.array([-1.0, 0.0, 50.0]), np) == pytest.approx(np.tile([1.0, 2.0, 3.0], (3, 1)))
    assert state_at(still, np.array(7.0), np)[1] == pytest.approx(np.zeros(3))
