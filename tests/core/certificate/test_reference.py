"""References: their brake, their history, and the point that the robot tracks."""

import numpy as np
import pytest

from robomarl.core.certificate.course import CommittedCourse, rests_at_s, state_at, stop_of
from robomarl.core.certificate.figures import CertificateFigures, figures_of
from robomarl.core.certificate.reference import are_allowed, brake_along, caught_up, smoothed, times_of, ways_of
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle


@pytest.fixture(scope="module")
def figures() -> CertificateFigures:
    """Of a Crazyflie in a room of 4 m."""
    return figures_of(from_vehicle(load_any_vehicle("crazyflie_21"), 0.02, Arena((-2, -2, 0), (2, 2, 3))), 0.07)


def course(figures: CertificateFigures, vel: tuple[float, float, float]) -> CommittedCourse:
    """From the middle of the room."""
    speed = np.array(vel)
    return CommittedCourse(np.array([0, 0, 1.5]), speed, np.array(1.0), brake_along(figures, speed, np), np.array(0.25))


def test_the_brake_leaves_every_axis_its_share(figures: CertificateFigures):
    """Level 1.3, upwards 0.4, and slanted so that no axis has more."""
    for vel, brake in (((1, 0, 0), 1.3), ((0, 0, -0.3), 0.4), ((0.3, 0, 0.3), 0.4 * 2**0.5), ((0.7, 0.7, 0), 1.3)):
        found = brake_along(figures, np.array(vel, float), np)
        assert found == pytest.approx(brake, rel=1e-3)
        assert (np.abs(found * np.array(vel) / np.linalg.norm(vel)) <= np.array(figures.accel_m_s2) + 1e-3).all()


def test_the_tracked_point_is_the_mean_of_the_last_states(figures: CertificateFigures):
    """States of a reference that was driven at random, summed forwards."""
    random, t, count = np.random.default_rng(0), figures.period_s, figures.smooth_count
    accels = random.uniform(-1, 1, (count, 3))
    pos, vel = random.normal(size=3), random.normal(size=3)
    states = [(pos, vel)]
    for accel in accels:
        pos, vel = pos + vel * t + accel * t * t / 2, vel + accel * t
        states.append((pos, vel))
    found = smoothed(figures, (pos, vel), accels)
    for mean, part in zip(found, zip(*states[-count:], strict=True), strict=True):
        assert mean == pytest.approx(np.mean(part, 0), abs=1e-12)


def test_missed_decisions_follow_the_course(figures: CertificateFigures):
    """Three decisions late, the last three accelerations are those of the brake; the others stay."""
    going, t = course(figures, (1.0, 0.0, 0.0)), figures.period_s
    before = np.arange(figures.smooth_count * 3.0).reshape(-1, 3)
    found = caught_up(figures, going, (before, np.array(1.0)), np.array(1.0 + 3 * t), np)
    assert found[-3:] == pytest.approx(np.tile([-1.3, 0, 0], (3, 1)), abs=1e-6)
    assert (found[:-3] == before[3:]).all()
    assert (caught_up(figures, going, (before, np.array(1.0)), np.array(1.0), np) == before).all()


def test_courses_rest_in_the_room_in_time_and_below_the_limit(figures: CertificateFigures):
    """Each way out of one of the three is not allowed; the brake always is."""
    still = course(figures, (0.0, 0.0, 0.0))
    for vel, allowed in (((1.2, 0, 0), True), ((1.4, 0, 0), False), ((0, 0, 0.4), True), ((0, 0, 0.6), False)):
        going = course(figures, vel)
        one = CommittedCourse(*(part[None] for part in going))
        assert are_allowed(figures, one, still, still, np)[0] == allowed
        ways = ways_of(figures, going, -np.sign(going.vel_m_s) * figures.accel_m_s2, np)
        assert are_allowed(figures, ways.course, going, going, np).all()
        assert rests_at_s(going, np) - 1.0 == pytest.approx(np.linalg.norm(vel) / going.brake_m_s2, abs=1e-3)
    near = still._replace(pos_m=np.array([figures.high_m[0] - 0.3, 0, 1.5]))
    fast = CommittedCourse(*(part[None] for part in course(figures, (1.0, 0, 0))._replace(pos_m=near.pos_m)))
    assert stop_of(fast, np)[0, 0] > figures.high_m[0]
    assert not are_allowed(figures, fast, near, near, np)[0]


def test_all_that_brakes_rests_at_the_last_compared_time(figures: CertificateFigures):
    """From the fastest allowed course on."""
    end = times_of(figures, np.array(0.98), np)[-1]
    _, vel = state_at(course(figures, (figures.speed_m_s, 0, 0)), end, np)
    assert vel == pytest.approx(np.zeros(3))
