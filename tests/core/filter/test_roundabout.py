"""Roundabouts: which ring, which way around, when one begins and ends, and that all robots of a crowd agree."""

import dataclasses
import math

import numpy as np
import pytest

from robomarl.core.filter.deadlock_rules import roundabout
from robomarl.core.filter.deadlock_rules.roundabout import (
    BEYOND_M,
    EDGE,
    FREE_S,
    REMEMBER_S,
    ROOM_M,
    Roundabout,
    no_roundabout,
    ring_of,
    steer,
    update,
)
from robomarl.core.filter.give_way import GiveWay, meet
from robomarl.core.filter.params import Arena, without_errors
from robomarl.core.geometry import norm
from robomarl.core.view import LocalView
from tests.core.filter.views import PARAMS, make_view

NOTHING = no_roundabout(np.zeros(()))
LANE_M = PARAMS.safety.separation_m + ROOM_M
SPACING_M, INWARDS_M_S = 0.77, 0.5


def crossing(count: int, robot: int, noise_m: float = 0.0, seed: int = 0) -> LocalView:
    """What one of `count` robots on a circle sees, all of which fly to the other side of it."""
    angle = 2 * np.pi * np.arange(count) / count + 0.1
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)
    radius_m = SPACING_M / (2 * math.sin(math.pi / count))
    pos, vel = ring * radius_m + [0.5, -0.2, 1.0], -INWARDS_M_S * ring
    seen = pos + np.random.default_rng(seed).uniform(-noise_m, noise_m, pos.shape)
    mates = [(seen[j], vel[j]) for j in range(count) if j != robot]
    view = make_view(seen[robot], vel[robot], mates, age_s=0.0)
    return view._replace(goal=view.goal._replace(pos_m=pos[robot] - 2 * ring[robot] * radius_m))


def begun(view: LocalView) -> Roundabout:
    return update(PARAMS, NOTHING, view, meet(view, PARAMS.limits.speed_m_s).near)[0]


def test_every_second_robot_takes_the_outermost_ring_and_every_second_of_the_rest_the_next():
    ranks = np.arange(8)
    np.testing.assert_array_equal(ring_of(ranks[:4], 4), 1)
    np.testing.assert_array_equal(ring_of(ranks, 8), [1, 2, 1, 2, 1, 2, 1, 2])
    np.testing.assert_array_equal(ring_of(ranks, 16), [1, 3, 2, 3, 1, 3, 2, 3])
    np.testing.assert_array_equal(ring_of(ranks, 24), [1, 4, 3, 4, 2, 4, 3, 4])


@pytest.mark.parametrize("count", [5, 8, 16])
def test_robots_that_cross_agree_on_the_centre_and_neighbours_fly_on_different_rings(count: int):
    """Each from its own noisy view. Only where the count begins two neighbours of an odd number may share a ring."""
    found = [begun(crossing(count, robot, 0.02, robot)) for robot in range(count)]
    assert all(disc.known_s == REMEMBER_S for disc in found)
    assert max(norm(disc.centre_m - [0.5, -0.2]) for disc in found) < 0.03
    radii = np.round([disc.radius_m / LANE_M for disc in found], 1)
    assert (radii == np.roll(radii, 1)).sum() <= count % 2
    assert radii.min() == 1


def test_nobody_begins_one_in_a_small_team_alone_on_its_way_or_within_the_crowd():
    assert begun(crossing(8, 0)).known_s > 0
    assert begun(crossing(4, 0)).known_s == 0
    view = crossing(8, 0)
    silent = view._replace(heard=view.heard._replace(mask=np.zeros(7, bool)))
    centre = view.goal._replace(pos_m=np.array([0.5 - 0.3, -0.2, 1.0]))
    aside = view.goal._replace(pos_m=view.own.pos_m * 3 - [1.0, -0.4, 2.0])
    for other in (silent, view._replace(goal=centre), view._replace(goal=aside)):
        assert begun(other).known_s == 0
    assert EDGE > 0.3


def test_the_disc_stays_to_the_left_and_the_way_ends_at_the_goal():
    """A point that follows the steering at the limit goes around on its ring, counterclockwise, then straight on."""
    view, limit = crossing(8, 1), PARAMS.limits.speed_m_s
    disc, pos, vel, bearings = begun(view), view.own.pos_m, view.own.vel_m_s, []
    for _ in range(400):
        view = view._replace(own=view.own._replace(pos_m=pos, vel_m_s=vel))
        disc, blocks = update(PARAMS, disc, view, np.zeros(7))
        way = (view.goal.pos_m - pos)[:2]
        straight = 4.0 * (limit * way / max(float(norm(way)), 0.5) - vel[:2])
        vel = vel + 0.02 * np.append(steer(PARAMS, disc, view) if blocks else straight, 0)
        pos = pos + 0.02 * vel
        bearings.append((math.atan2(*(pos[:2] - disc.centre_m)[::-1]), norm(pos[:2] - disc.centre_m)))
    turns = np.diff(np.unwrap([bearing for bearing, _ in bearings]))
    assert turns[:100].min() > 0
    assert min(far for _, far in bearings) > 0.8 * disc.radius_m
    assert norm(view.goal.pos_m - pos) < 0.05
    assert disc.known_s == 0


def test_inside_of_its_ring_a_robot_flies_outwards_and_on():
    disc = Roundabout(np.zeros(2), np.array(1.0), np.array(3.0))
    view = make_view((0.5, 0, 1), (0, 0, 0))
    outwards, on = steer(PARAMS, disc, view)
    assert outwards > 0.3
    assert on > 0.3, "counterclockwise"
    on_it = steer(PARAMS, disc, make_view((1.0, 0, 1), (0, 0, 0)))
    np.testing.assert_allclose(on_it, [0, math.sqrt(2) * PARAMS.limits.accel_max_m_s2[0]], atol=1e-2)


def test_on_its_ring_at_speed_a_robot_accelerates_to_the_centre_alone():
    """By v^2 / r, with the speed that a share of the acceleration holds on the ring."""
    exact = dataclasses.replace(without_errors(PARAMS.safety), brake_m_s2=1.0)
    box = dataclasses.replace(PARAMS.limits, accel_min_m_s2=(-1.0, -1.0, -1.0), accel_max_m_s2=(1.0, 1.0, 1.0))
    slow = dataclasses.replace(PARAMS, limits=box, safety=exact)
    radius_m = 0.5
    speed_m_s = math.sqrt(roundabout.BENDS * math.sqrt(2) * radius_m)
    assert speed_m_s < PARAMS.limits.speed_m_s
    disc = Roundabout(np.zeros(2), np.array(radius_m), np.array(3.0))
    asked = steer(slow, disc, make_view((radius_m, 0, 1), (0, speed_m_s, 0)))
    np.testing.assert_allclose(asked, [-(speed_m_s**2) / radius_m, 0], atol=1e-4)


def test_nobody_is_asked_for_more_than_the_input_box_holds():
    random, most = np.random.default_rng(3), math.sqrt(2) * PARAMS.limits.accel_max_m_s2[0]
    pos, vel = random.uniform(-3, 3, (200, 3)), random.uniform(-2, 2, (200, 3))
    disc = Roundabout(np.zeros((200, 2)), random.uniform(0.3, 2, 200), np.full(200, 3.0))
    one = make_view((0, 0, 1), (0, 0, 0))
    asked = steer(PARAMS, disc, one._replace(own=one.own._replace(pos_m=pos, vel_m_s=vel)))
    assert norm(asked).max() <= most + 1e-9
    assert norm(asked).min() < most / 2


def test_exact_references_have_rings_by_the_distance_that_they_keep():
    """Staggered robots on two rings, one with twice the radius of the other, keep a quarter more than it."""
    exact = dataclasses.replace(PARAMS, safety=without_errors(PARAMS.safety))
    (two, more), apart_m = roundabout.lanes_m(exact), exact.safety.separation_m
    assert more > apart_m
    assert math.hypot(two - 2 * two * math.cos(math.pi / 4), 2 * two * math.sin(math.pi / 4)) > 1.25 * apart_m
    assert roundabout.lanes_m(PARAMS) == (LANE_M, LANE_M)


def test_once_the_way_is_free_it_is_soon_forgotten_and_till_then_the_policy_goes_its_way():
    rules, view = GiveWay(PARAMS), crossing(8, 1)
    asked = np.array([0.3, 0.1, -0.2, 0.4])
    carry, command = rules(rules.init(np.zeros(())), view, asked)
    assert norm(command[:2] - asked[:2]) > 1.0
    np.testing.assert_array_equal(command[2:], asked[2:])
    behind = view._replace(goal=view.goal._replace(pos_m=view.own.pos_m + (view.own.pos_m - view.goal.pos_m)))
    carry, command = rules(carry, behind, asked)
    np.testing.assert_array_equal(command, asked)
    assert carry.roundabout.known_s == FREE_S
    for _ in range(round(FREE_S / PARAMS.period_s)):
        carry, _ = rules(carry, behind, asked)
    assert carry.roundabout.known_s == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("wall_m", [0.4, 0.6, 1.0])
def test_a_ring_stays_within_the_arena(wall_m: float):
    """One that led through a wall held its robots there until it was forgotten."""
    low, high = (-9.0, -9.0, 0.1), (0.5 + wall_m, 9.0, 3.0)
    params = dataclasses.replace(PARAMS, arena=Arena(low, high))
    view = crossing(8, 0)
    assert begun(view).radius_m > 1.0
    disc = update(params, NOTHING, view, meet(view, PARAMS.limits.speed_m_s).near)[0]
    assert disc.known_s == REMEMBER_S
    assert disc.radius_m == pytest.approx(wall_m - roundabout.WALL_M, abs=1e-6)


def test_vehicles_that_keep_farther_apart_have_wider_rings():
    wide = dataclasses.replace(PARAMS, safety=dataclasses.replace(PARAMS.safety, separation_m=0.5))
    view = crossing(16, 0)
    found = update(wide, NOTHING, view, meet(view, 1.5).near)[0]
    rings = round(begun(view).radius_m / LANE_M)
    assert found.radius_m == pytest.approx(
        min(rings * (0.5 + ROOM_M), norm(view.goal.pos_m - view.own.pos_m) / 2 + BEYOND_M)
    )
