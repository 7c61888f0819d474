"""The tether: references of carriers stay near each other, whoever moves; each robot may use half of it."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.certificate.course import CommittedCourse, places, resting
from robomarl.core.certificate.figures import figures_of
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.rule import Pair
from robomarl.core.certificate.tether import Tether
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle

TETHER = Tether(apart_m=1.5, height_m=0.5, accel_m_s2=0.4, speed_m_s=0.8, stop_s=2.0)
TIMES = np.linspace(0.0, 3.0, 40)


def drawn(random: np.random.Generator, count: int, spread_m: float) -> CommittedCourse:
    """Courses [count] that rest before the last time."""
    pos, vel = random.uniform(-spread_m, spread_m, (count, 3)), random.uniform(-0.4, 0.4, (count, 3))
    return CommittedCourse(pos, vel, np.zeros(count), np.full(count, 0.4), np.full(count, 0.3))


def left_m(course: CommittedCourse, pair: Pair, tether: Tether = TETHER) -> np.ndarray:
    """[count] what is left for courses [count] by pairs [count]."""
    path = places(course, np.broadcast_to(TIMES, (len(course.at_s), len(TIMES))), np)
    each = Pair(*(CommittedCourse(*(part[:, None] for part in one)) for one in pair))
    times = np.broadcast_to(TIMES, (len(course.at_s), len(TIMES)))
    return tether.left_m(path[:, None], each, (times, 1e-3), np)[:, 0, 0]


def farthest_m(one: CommittedCourse, two: CommittedCourse) -> np.ndarray:
    """[count] largest distance of courses [count] in the metric of the tether, by fine sampling."""
    fine = np.broadcast_to(np.linspace(0.0, 3.0, 300), (len(one.at_s), 300))
    off = (places(one, fine, np) - places(two, fine, np)) * TETHER.stretch
    return np.linalg.norm(off, axis=-1).max(-1)


def accepted(tether: Tether) -> np.ndarray:
    """Largest distances of random courses of two robots that keep to one pair of anchors, both new or one of them."""
    random, count = np.random.default_rng(1), 20_000
    anchors = Pair(drawn(random, count, 0.4), drawn(random, count, 0.4))
    mine, theirs = drawn(random, count, 0.6), drawn(random, count, 0.6)
    swapped = Pair(anchors.theirs, anchors.mine)
    good = (left_m(mine, anchors, tether) >= 0) & (left_m(theirs, swapped, tether) >= 0)
    first = (left_m(anchors.theirs, swapped, tether) >= 0) & (left_m(mine, anchors, tether) >= 0)
    assert good.sum() > 200 and first.sum() > 200
    both, one = (CommittedCourse(*(part[chosen] for part in mine)) for chosen in (good, first))
    other, old = (
        CommittedCourse(*(part[chosen] for part in who)) for who, chosen in ((theirs, good), (anchors.theirs, first))
    )
    return np.concatenate([farthest_m(both, other), farthest_m(one, old)])


def test_courses_that_keep_to_one_pair_of_anchors_stay_within_the_tether():
    found = accepted(TETHER)
    assert 0.9 * TETHER.apart_m < found.max() <= TETHER.apart_m


def test_more_than_half_of_the_tether_for_each_is_too_much():
    wide = dataclasses.replace(TETHER, apart_m=1.3 * TETHER.apart_m, height_m=1.3 * TETHER.height_m)
    assert accepted(wide).max() > TETHER.apart_m


def test_heights_count_more():
    low, high = (resting(np.array([[0.0, 0.0, z]]), np.zeros(1), (0.4, 0.3)) for z in (1.0, 1.6))
    beside = resting(np.array([[0.6, 0.0, 1.0]]), np.zeros(1), (0.4, 0.3))
    assert left_m(low, Pair(low, beside))[0] > 0 > left_m(low, Pair(low, high))[0]


@pytest.mark.parametrize("tether", [None, TETHER])
def test_the_reference_is_as_slow_as_the_load_asks(tether: Tether | None):
    vehicle = load_any_vehicle("carrier_600")
    params = from_vehicle(vehicle, 0.01)
    figures = figures_of(params, vehicle.body.radius_m, tether=tether)
    assert max(figures.accel_m_s2) == pytest.approx(0.4 if tether else 1.25)
    assert not certificate_of(params, figures).note, "the kernel has rows for both"
