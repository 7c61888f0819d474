"""Robots that do not hear, or do not see: they stay where they rest, and keep within the rows of where they must be."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

from robomarl.core.filter import kernel
from robomarl.core.filter.filter import Reason, SafetyFilter, from_vehicle
from robomarl.core.filter.model import barriers
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.model.hold import NOWHERE_M, Still, hold_of, remembered, room_of, widened
from robomarl.core.filter.model.motion import Floats, Motion, Predicted
from robomarl.core.filter.model.pairs import Body
from robomarl.core.filter.model.reckoning import reckoned
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import LocalView, Plan, blank_view
from robomarl.lab.jax_filter.filter import make_jax_filter
from robomarl.lab.prove.worst.jobs import Hunt, fly_again
from tests.core.filter.views import PARAMS, make_view

C = constants_of(PARAMS)
OLD_S = PARAMS.safety.max_age_s + 0.02
FAR = ((-2.0, 0.0, 1.5), (0.0, 0.0, 0.0))
ATTACKS = json.loads((Path(__file__).parent / "vectors" / "attacks.json").read_text())
NOWHERE, ZERO = np.full(3, NOWHERE_M), np.zeros((3, 4))


def mate_at(pos: tuple[float, ...], vel: tuple[float, ...]) -> Body:
    """One mate."""
    return Body(Motion(*(tuple(np.array([x]) for x in v) for v in (pos, vel))), np.zeros(1), np.zeros(1))


AWAY = mate_at((9.0, 0.0, 1.0), (0.0, 0.0, 0.0))
NEAR = mate_at((0.3, 0.0, 1.0), (0.0, 0.0, 0.0))


def batch_of(views: list[LocalView]) -> LocalView:
    """Views of single robots as one of many."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *views)


@pytest.mark.parametrize("name", list(ATTACKS))
def test_attacks_that_once_got_through_do_so_no_more(name: str):
    """Episodes that an earlier filter failed."""
    vehicle = load_any_vehicle(ATTACKS[name]["vehicle"])
    found = fly_again(Hunt(vehicle, 0.02), ATTACKS[name])
    assert vehicle.safety
    assert (found.scaled_m >= vehicle.safety.separation_m - 0.02).all()
    assert (found.outside_m <= 0).all()


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_deaf_robot_does_not_creep(backend: str):
    """Velocity wrong by its bound, pushed by w and the whole bias, in one direction for 8 s: it stays in the box."""
    safety, s, t = SafetyFilter(PARAMS, backend=backend), PARAMS.safety, C.period_s  # type: ignore[arg-type]
    toward = np.array([(1.0, 0.0, 0.0), (-1.0, 1.0, 0.0), (0.3, -0.2, 1.0)])
    way = toward / np.linalg.norm(toward, axis=-1, keepdims=True)
    push = s.accel_error_m_s2 * way + np.array(PARAMS.bias_m_s2) * np.sign(toward)
    carry, pos, vel = safety.init((3,)), np.zeros((3, 3)) + (0, 0, 1.5), np.zeros((3, 3))
    sent, places = [np.zeros((3, 3))] * C.num_acting, []
    for _ in range(400):
        seen = pos - s.position_error_m * way, vel - s.velocity_error_m_s * way
        carry, result = safety(
            carry, batch_of([make_view(*v, [FAR], age_s=OLD_S) for v in zip(*seen, strict=True)]), ZERO
        )
        assert (result.reason == Reason.STALE).all()
        sent = [*sent[1:], result.command[:, :3]]
        accel = sent[0] + push
        pos, vel = pos + vel * t + accel * t * t / 2, vel + accel * t
        places.append(pos)
    off = np.abs(np.array(places) - carry.place_m)
    assert (off <= np.array(C.hold_m) + s.position_error_m).all(), off.max(0)
    assert np.ptp(np.array(places)[-50:], 0).max() < 1e-3, "and comes to rest"


def test_without_the_box_it_would():
    """The brake alone leaves the velocity's error, and more: the test above can fail."""
    drift = PARAMS.safety.velocity_error_m_s + PARAMS.safety.accel_error_m_s2 / C.brake_gain_per_s
    assert drift * 8.0 > 4 * C.hold_m[0]


def hold_at(pos: tuple, vel: tuple, before: np.ndarray, still: bool, mate=AWAY, silent: bool = False):
    arrays = Predicted(Motion(tuple(map(np.array, pos)), tuple(map(np.array, vel))), (0.0,) * 3, (0.0,) * 3)
    heard = np.array([not silent])
    return hold_of(C, tuple(before), arrays, Still(np.array(still), mate, heard, ~heard), np)


def test_who_is_slow_finds_its_place_and_keeps_it():
    slow, fast = 0.9 * C.slow_m_s, 1.1 * C.slow_m_s
    assert not hold_at((0, 0, 1), (fast, 0, 0), NOWHERE, True).on
    assert not hold_at((0, 0, 1), (slow, 0, 0), NOWHERE, False).on, "who is blind does not know that it is slow"
    found = hold_at((0, 0, 1), (slow, 0, 0), NOWHERE, True)
    assert found.on and np.array(found.place) == pytest.approx((0, 0, 1))
    inside = hold_at((0.05, 0, 1), (fast, 0, 0), np.array((0.0, 0.0, 1.0)), True)
    assert inside.on and np.array(inside.place) == pytest.approx((0, 0, 1))
    pushed = hold_at((0.5, 0, 1), (fast, 0, 0), np.array((0.0, 0.0, 1.0)), True)
    taken = 0.5 - C.hold_m[0] - C.mates.error_m
    assert np.array(pushed.place) == pytest.approx((taken, 0, 1)), "it takes the box along"


def test_an_estimate_that_jumps_within_its_error_does_not_drag_the_place():
    """The error changed its sign in each tick, and robots crept with their places: two of eight in a corner touched."""
    place, error = np.array((0.0, 0.0, 1.0)), PARAMS.safety.position_error_m
    for tick in range(50):
        jump = error if tick % 2 else -error
        place = np.array(hold_at((C.hold_m[0] + jump, 0, 1), (0, 0, 0), place, True).place)
    assert place == pytest.approx((0, 0, 1))


def test_its_room_is_the_arena_cut_by_the_box():
    low, high = room_of(C, hold_at((2.95, 0, 1), (0, 0, 0), NOWHERE, True), np)
    assert np.array(low) == pytest.approx((3.0 - 2 * C.hold_m[0], -C.hold_m[1], 1 - C.hold_m[2])), "room to rest"
    assert np.array(high) == pytest.approx((3.0, C.hold_m[1], 1 + C.hold_m[2]))
    low, high = room_of(C, hold_at((2.95, 0, 1), (0, 0, 0), NOWHERE, False), np)
    assert (np.array(low), np.array(high)) == (pytest.approx((-3, -3, 0.1)), pytest.approx((3, 3, 3)))


def test_near_a_silent_mate_the_near_side_comes_in_and_the_far_side_opens():
    found = hold_at((0, 0, 1), (0, 0, 0), NOWHERE, True, NEAR, silent=True)
    h = C.hold_m[0]
    near = (PARAMS.safety.separation_m + 4 * h - 0.3) / (4 * h)
    assert 0 < near < 1 and np.array(found.away) == pytest.approx((-near, 0, 0), abs=1e-6)
    low, high = room_of(C, found, np)
    assert low[0] == pytest.approx(-h * (1 + 4 * near)) and high[0] == pytest.approx(h * (1 - near))
    assert (low[1], high[1]) == (pytest.approx(-C.hold_m[1]), pytest.approx(C.hold_m[1]))


def test_near_a_received_mate_the_near_side_comes_in_and_the_far_side_stays():
    found = hold_at((0, 0, 1), (0, 0, 0), NOWHERE, True, NEAR)
    h = C.hold_m[0]
    near = (PARAMS.safety.separation_m + 4 * h - 0.3) / (4 * h)
    low, high = room_of(C, found, np)
    assert low[0] == pytest.approx(-h) and high[0] == pytest.approx(h * (1 - near), abs=1e-6)
    low, high = room_of(C, widened(found), np)
    assert (low[0], high[0]) == (pytest.approx(-h), pytest.approx(h)), "as far as teammates may push it"


def test_a_silent_mate_counts_where_it_comes_to_rest():
    speed = (2 * C.brake_m_s2 * 0.5) ** 0.5
    moving = hold_at((0, 0, 1), (0, 0, 0), NOWHERE, True, mate_at((0.8, 0, 1), (-speed, 0, 0)), silent=True)
    resting = hold_at((0, 0, 1), (0, 0, 0), NOWHERE, True, NEAR, silent=True)
    assert np.array(moving.away) == pytest.approx(np.array(resting.away), abs=1e-5)


def test_who_touches_the_separation_of_a_silent_mate_has_its_place_as_wall():
    touching = mate_at((PARAMS.safety.separation_m, 0, 1), (0, 0, 0))
    low, high = room_of(C, hold_at((0, 0, 1), (0, 0, 0), NOWHERE, True, touching, silent=True), np)
    assert high[0] == pytest.approx(0.0, abs=1e-6) and low[0] == pytest.approx(-5 * C.hold_m[0])


def test_two_walls_that_far_apart_leave_the_brake_alone():
    """In the middle of the box, at rest, with nothing known of the bias, no wall asks for anything."""
    t, bias = C.horizon_s, PARAMS.bias_m_s2
    unsure = tuple(b * t * t / 2 for b in bias), tuple(b * t for b in bias)
    own = Predicted(Motion((0.0,) * 3, (0.0,) * 3), *unsure, (0.0,) * 3, bias)
    for i in range(3):
        for sign in (1.0, -1.0):
            bound = barriers.wall(C, own, (i, sign), C.hold_m[i], Floats)[0]
            assert bound.most == pytest.approx(0.0, abs=0.02)


def test_a_robot_that_flies_on_remembers_its_place_while_it_is_near():
    own = Predicted(Motion((np.array(0.15), np.array(0.0), np.array(1.0)), (np.zeros(()),) * 3), (0.0,) * 3, (0.0,) * 3)
    place = (np.array(0.0), np.array(0.0), np.array(1.0))
    assert np.array(remembered(C, place, own, np)) == pytest.approx((0, 0, 1))
    far = tuple(x + 2 * h + 0.16 for x, h in zip(place, C.hold_m, strict=True))
    np.testing.assert_array_equal(remembered(C, far, own, np), NOWHERE)


def test_who_hears_again_flies_on():
    safety = SafetyFilter(PARAMS)
    carry, _ = safety(safety.init(), make_view((0, 0, 1.5), (0, 0, 0), [FAR], age_s=OLD_S), np.zeros(4))
    assert carry.place_m == pytest.approx((0, 0, 1.5))
    carry, result = safety(carry, make_view((0, 0, 1.5), (0, 0, 0), [FAR]), np.array((1.0, 0, 0, 0)))
    assert result.reason == Reason.OK and not result.active
    away = make_view((0.5, 0, 1.5), (0, 0, 0), [FAR])
    np.testing.assert_array_equal(safety(carry, away, np.array((1.0, 0, 0, 0)))[0].place_m, NOWHERE)


def test_who_is_blind_goes_on_from_its_plan():
    safety = SafetyFilter(PARAMS)
    view = make_view((0, 0, 1.5), (1.0, 0, 0), [FAR])
    carry, _ = safety(safety.init(), view, np.zeros(4))
    own = reckoned(C, carry, np.array(0.02), np)
    np.testing.assert_allclose([*own.motion.pos, *own.motion.vel], [*carry.plan.pos_m, *carry.plan.vel_m_s])
    later = reckoned(C, carry, np.array(0.1), np)
    s, t, bias = PARAMS.safety, C.horizon_s, np.array(PARAMS.bias_m_s2)
    grown = s.accel_error_m_s2 + bias
    np.testing.assert_allclose(later.unsure_m_s, bias * t + grown * 0.1)
    np.testing.assert_allclose(
        later.unsure_m, bias * t * t / 2 + grown * (0.1 * (0.05 + t)) + s.velocity_error_m_s * 0.1
    )


@pytest.mark.parametrize("mates, pos", [([FAR], (2.95, 0, 1.5)), ([((0.4, 0, 1.5), (-0.1, 0, 0))], (0, 0, 1.5))])
def test_a_blind_robot_keeps_the_rows_of_a_wall_and_of_a_mate(mates: list, pos: tuple):
    safety, slow = SafetyFilter(PARAMS), (0.1, 0, 0)
    view, free = make_view(pos, slow, mates), make_view((0, 0, 1.5), slow, [FAR])
    near, far = (safety.blind(safety(safety.init(), v, np.zeros(4))[0], v, np.array(0.06))[1] for v in (view, free))
    assert far[0] < 0, "it brakes"
    assert near[0] < 1.5 * far[0], "harder, for what it may be"


def test_a_blind_robot_goes_back_to_its_place_whatever_its_speed_may_be():
    """The commands of the queue may have made a `turtlebot3_burger` faster than its limit. The row of the speed limit
    then asked for full power in each blind tick, first one way and then the other, and bias carried the robot off.
    """
    params = from_vehicle(load_any_vehicle("turtlebot3_burger"), 0.02)
    safety, commands, found = SafetyFilter(params), np.zeros((params.queue_length, 4)), []
    commands[::2, 0], commands[1::2, 0] = 0.5, -0.5
    behind = np.array([-0.09, 0.0, 0.0])
    carry = safety.init()._replace(
        commands=commands, plan=Plan(behind, np.array([-0.02, 0.0, 0.0]), behind), place_m=np.zeros(3)
    )
    for _ in range(14):
        carry, command = safety.blind(carry, blank_view(0), np.array(0.12))
        found.append(command[0])
    assert np.abs(np.diff(found)).max() < 0.15
    assert found[-1] > 0.1


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_row_that_cannot_be_held_brakes_the_whole_robot(backend: str):
    """A mate that may be anywhere near: its row asks for more than the brake, and the policy's way aside ends too."""
    safety = SafetyFilter(PARAMS, backend=backend)  # type: ignore[arg-type]
    aside, mate = np.array((0.0, 2.0, 0.0, 0.0)), ((0.5, 0, 1.5), (0.0, 0, 0))
    _, result = safety(safety.init(), make_view((0, 0, 1.5), (0.6, 0.5, 0), [mate], age_s=0.5), aside)
    assert result.command[1] < 0.0, "against the velocity, not with the policy"
    _, result = safety(safety.init(), make_view((0, 0, 1.5), (-0.6, 0.5, 0), [FAR]), aside)
    assert result.command[1] == pytest.approx(2.0)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("backend", ["numpy", "c", "jax", "blind"])
def test_a_place_that_is_no_number_in_any_part_is_none(backend: str, axis: int):
    """Only the first part was looked at: of a robot that does not hear, the command was no number then."""
    if backend == "c" and not kernel.usable():
        pytest.skip("the C kernel is not built here")
    safety = SafetyFilter(PARAMS, backend="numpy")
    view = make_view((0, 0, 1.2), (0, 0, 0), [((1, 0, 1.2), (0, 0, 0))], age_s=0.9)
    place = np.zeros(3)
    place[axis] = np.nan
    carry = safety.init()._replace(place_m=place)
    if backend == "blind":
        after, command = safety.blind(safety(safety.init(), view, np.zeros(4))[0]._replace(place_m=place), view, 0.1)
    elif backend == "jax":
        safe = make_jax_filter(PARAMS)
        after, result = safe(safe.init()._replace(place_m=jax.numpy.asarray(place)), view, np.zeros(4))
        command = result.command
    else:
        decide = SafetyFilter(PARAMS, backend=backend)  # type: ignore[arg-type]
        after, result = decide(carry, view, np.zeros(4))
        command = result.command
        assert result.reason == Reason.STALE
    assert np.isfinite(command).all()
    assert np.isfinite(after.place_m).all()
