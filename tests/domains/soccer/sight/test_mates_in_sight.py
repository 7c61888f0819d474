"""Mates that see each other: pairs whose own places, headings and pictures are wrong, and that drive at each other."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.view import Goal, Heard, LocalView, Own, Plan
from robomarl.domains.soccer.core.command_filter import PlayerFilter
from robomarl.domains.soccer.core.features import MatesSeen, Picture, sensed_of
from robomarl.domains.soccer.core.mates_in_sight import (
    CHANGES_M,
    NEAR_M,
    NOW_S,
    PUT_M,
    no_mates,
    placed_by_sight,
)
from robomarl.domains.soccer.core.sight.mates_in_picture import named
from robomarl.domains.soccer.core.sight.own_pose import MAX_HEADING_RAD, SEEING_RAD
from tests.domains.soccer.sight.test_wrong_pose import PAIRS, turned

CONTRACT = load_bundle("soccer_2v2_eyes").contract
PARAMS = dataclasses.replace(CONTRACT.safety, boards_m=None, arena=None)
ERROR_M, DT, DECISIONS = PARAMS.safety.position_error_m, PARAMS.period_s, 220
SIGHT_M = 0.032  # of the scenario's eyes at `NEAR_M`
ACCEL_M_S2 = float(np.hypot(*PARAMS.limits.accel_max_m_s2[:2]))
Sees = Callable[[np.random.Generator, int], np.ndarray]
"""(random, decision) -> [PAIRS, 2] bool: which robots see the other one now."""


def nothing(*lead: int) -> Picture:
    return Picture(np.zeros(lead, bool), np.zeros((*lead, 3)), np.zeros((*lead, 3)), np.zeros(lead))


def view_of(pos: np.ndarray, vel: np.ndarray, heard: Heard, mates: MatesSeen) -> LocalView:
    """The views [...] of robots with one mate, one ball and one opponent that nobody sees."""
    lead = pos.shape[:-1]
    still, zero = np.zeros((*lead, 3)), np.zeros(lead)
    facing = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*lead, 4))
    sensed = sensed_of(nothing(*lead, 2), nothing(*lead, 1, 2), zero, mates)
    own = Own(pos, facing, vel, still, zero)
    return LocalView(own, heard, sensed, Goal(still, facing), zero.astype(int), zero)


def heard_at(pos: np.ndarray, vel: np.ndarray, age_s: np.ndarray) -> Heard:
    """A mate [..., 1] that goes on as it goes."""
    return Heard(age_s >= 0, pos, vel, age_s, Plan(pos, vel, pos))


def farther(way: np.ndarray) -> np.ndarray:
    """A way [..., 3] as pictures show it that are wrong by as much as they may be, away from the robot."""
    size = np.linalg.norm(way, axis=-1, keepdims=True)
    return way * (1 + SIGHT_M * np.maximum(size / NEAR_M, 1.0) / size)


class Pairs:
    """Late point masses; what each believes, says and sees is wrong by as much as it may be, all the time.

    Who sees its mate knows its heading better than who does not.
    """

    def __init__(self, error_m: float, drift_m_s: float, wrong: float = 1.0) -> None:
        """Draw starts; each believes to be farther from the mate at first, and its error turns at this speed."""
        random = self.random = np.random.default_rng(1)
        self.signs = wrong * random.choice([-1.0, 1.0], (PAIRS, 2))
        self.heading = MAX_HEADING_RAD * self.signs
        self.pos, self.vel = np.zeros((PAIRS, 2, 3)), np.zeros((PAIRS, 2, 3))
        self.pos[:, :, 0] = random.uniform(1.2, 2.0, (PAIRS, 1)) * [-1, 1]
        self.pos[:, :, 1] = random.uniform(-0.5, 0.5, (PAIRS, 2))
        self.aside, self.way = random.uniform(-0.3, 0.3, (PAIRS, 2)), random.choice([-1.0, 1.0], (PAIRS, 2))
        self.error_m, self.turn_rad = error_m, drift_m_s * DT / max(error_m, 1e-9)

    def error(self, step: int) -> np.ndarray:
        """[PAIRS, 2, 3] error of each own place."""
        angle = np.array([np.pi, 0.0]) + self.way * self.turn_rad * step
        return self.error_m * np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)

    def least_m(self, sees: Sees) -> float:
        """Least true distance [m] of pairs that hunt each other behind their filters."""
        guard = PlayerFilter(PARAMS)
        carry, least = guard.init((PAIRS, 2)), np.inf
        queue = [np.zeros((PAIRS, 2, 3))] * PARAMS.queue_length
        then, saw = (self._believed(0), carry.plan), np.zeros((PAIRS, 2, 1), bool)
        there = np.zeros((PAIRS, 2, 1, 3))
        for step in range(DECISIONS):
            see = sees(self.random, step)[..., None]
            self.heading = self.signs * np.where(see[..., 0], SEEING_RAD, MAX_HEADING_RAD)
            own, vel, way = self._believed(step)
            (pos_then, vel_then, way_then), plan = then
            age_s, mates_vel = np.full((PAIRS, 2, 1), DT), turned(self.vel[:, ::-1], self.heading)[:, :, None]
            shown = Picture(see, (pos_then + way_then)[:, :, None], mates_vel, see * DT)
            parts = [np.asarray(part)[:, ::-1, None] for part in (pos_then, vel_then, *plan)]
            heard = Heard(age_s > 0, parts[0], parts[1], age_s, Plan(*parts[2:]))
            view = view_of(own, vel, heard, MatesSeen(shown, saw[:, ::-1], there[:, ::-1]))
            saw, there = see, shown.pos_m + DT * mates_vel
            towards = turned(self.pos[:, ::-1] - self.pos, self.aside + self.heading)
            wanted = 3.0 * towards / np.linalg.norm(towards, axis=-1, keepdims=True)
            carry, result = guard(carry, view, np.concatenate([wanted[..., :2], np.zeros((PAIRS, 2, 2))], -1))
            then = (own, vel, way), carry.plan
            queue.append(turned(np.asarray(result.command)[..., :3] * [1, 1, 0], -self.heading))
            accel = queue.pop(0)
            self.pos, self.vel = self.pos + self.vel * DT + accel * DT**2 / 2, self.vel + accel * DT
            least = min(least, float(np.linalg.norm(self.pos[:, 0] - self.pos[:, 1], axis=-1).min()))
        return least

    def _believed(self, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """[PAIRS, 2, 3] own place, own velocity, and the way to the mate as each sees it."""
        way = turned(farther(self.pos[:, ::-1] - self.pos), self.heading)
        return self.pos + self.error(step), turned(self.vel, self.heading), way


SIGHTS: dict[str, Sees] = {
    "never": lambda random, step: np.zeros((PAIRS, 2), bool),
    "one": lambda random, step: np.tile([True, False], (PAIRS, 1)),
    "both": lambda random, step: np.ones((PAIRS, 2), bool),
    "at times": lambda random, step: random.random((PAIRS, 2)) < 0.5,
    "in turns": lambda random, step: np.full((PAIRS, 2), step % 50 < 10),
}


@pytest.mark.parametrize("sees", SIGHTS)
def test_robots_that_are_wrong_within_what_they_may_say_keep_the_filters_distance(sees: str):
    """Places, headings and pictures are off by all that they may be, and beliefs change by half a metre a second."""
    assert Pairs(ERROR_M, 0.5).least_m(SIGHTS[sees]) > PARAMS.safety.separation_m


def test_mates_that_see_each_other_come_nearer():
    """Errors of 0.3 m in 0.9 m, which are there in none of the robots."""
    assert Pairs(0.0, 0.0, wrong=0.0).least_m(SIGHTS["never"]) > 0.75
    for sees in ("one", "both"):
        assert Pairs(0.0, 0.0, wrong=0.0).least_m(SIGHTS[sees]) < 0.5


NUM = 4000


def drawn(seed: int, by_mate: bool, later_s: float = 0.0) -> tuple[LocalView, np.ndarray]:
    """Views [NUM] of one picture, wrong within what is declared, and how far mates are that went on from messages, some
    time later.

    Half of the numbers are at their bounds. Mates accelerate, unless it is later: rows count that by themselves.
    """
    random = np.random.default_rng(seed)

    def upto(size: float | np.ndarray, shape: tuple[int, ...] = (NUM,)) -> np.ndarray:
        return size * np.where(random.random(shape) < 0.5, 1.0, random.random(shape))

    def within(size: float, shape: tuple[int, ...] = (NUM,)) -> np.ndarray:
        angle = random.uniform(0, 2 * np.pi, shape)
        return upto(size, shape)[..., None] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)

    own, mate = within(1.0), within(1.0)
    vel, mate_vel, accel = within(2.0), within(2.0), within(ACCEL_M_S2) * (not later_s)
    most_rad = np.array([[MAX_HEADING_RAD], [SEEING_RAD]] if by_mate else [[SEEING_RAD], [MAX_HEADING_RAD]])
    headings = upto(most_rad, (2, NUM)) * random.choice([-1.0, 1.0], (2, NUM))
    errors, slip = within(ERROR_M, (2, NUM)), within(PARAMS.safety.velocity_error_m_s, (2, NUM)) * (not later_s)
    age_s, picture_s = upto(0.2), upto(NOW_S)

    def mate_at(before_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        t = before_s[:, None]
        return mate - mate_vel * t + accel * t * t / 2, mate_vel - accel * t

    (place, then), late = mate_at(age_s), age_s[:, None]
    said = (place + errors[1], turned(then, headings[1]) + slip[1])
    heard = heard_at(said[0][:, None], said[1][:, None], age_s[:, None])
    seen_s = picture_s + age_s if by_mate else picture_s
    way = farther(mate_at(seen_s)[0] - (own - vel * seen_s[:, None]))
    mask, zero, none = np.ones((NUM, 1), bool), np.zeros((NUM, 1, 3)), np.zeros((NUM, 1))
    if by_mate:  # the mate carries the picture to its message's stamp, in its own frame
        there = said[0] - turned(mate_at(age_s)[0] - mate_at(seen_s)[0], headings[1]) + turned(-way, headings[1])
        there = there + turned(vel, headings[1]) * picture_s[:, None]
        mates = MatesSeen(Picture(~mask, zero, zero, none), mask, there[:, None])
    else:
        placed = own + errors[0] - turned(vel, headings[0]) * picture_s[:, None] + turned(way, headings[0])
        mates = MatesSeen(Picture(mask, placed[:, None], zero, picture_s[:, None]), ~mask, zero)
    view = view_of(own + errors[0], turned(vel, headings[0]) + slip[0], heard, mates)
    return view, np.linalg.norm(place + then * (late + later_s) - own - vel * later_s, axis=-1)


@pytest.mark.parametrize("later_s", [0.0, PARAMS.safety.delay_s + DT])
@pytest.mark.parametrize("by_mate", [False, True], ids=["own camera", "mate's camera"])
def test_no_row_counts_more_room_than_there_is(by_mate: bool, later_s: float):
    """Neither now nor at the end of the delay, to which wrong headings turn the velocities."""
    view, true_m = drawn(3, by_mate, later_s)
    placed, known = placed_by_sight(PARAMS, (), view)
    assert known and (known.spare_m > 0).mean() > 0.8
    mate = placed.heard.pos_m + placed.heard.vel_m_s * (placed.heard.age_s + later_s)[..., None]
    counted_m = np.linalg.norm(mate[:, 0] - view.own.pos_m - later_s * view.own.vel_m_s, axis=-1) - 2 * ERROR_M
    assert (counted_m - true_m).max() < 1e-6
    assert np.median(counted_m - true_m) > -0.35, "and most of the 0.6 m are given back"


def one(way: tuple[float, float], said: tuple[float, float] = (0.5, 0.0), bad: float = 0.0) -> LocalView:
    """The view of a robot at the centre that sees its mate there, and hears it somewhere; all is at rest."""
    pos, zero = np.array([[*said, 0.0]]), np.zeros((1, 3))
    shown = Picture(np.ones(1, bool), np.array([[*way, bad]]), zero, np.full(1, DT))
    heard = heard_at(pos, zero, np.full(1, DT))
    return view_of(np.zeros(3), np.zeros(3), heard, MatesSeen(shown, np.zeros(1, bool), zero))


def test_a_mate_in_sight_is_placed_by_hand():
    """Seen 0.5 m off: 0.6 m less 0.02 m of change and 0.04 m of the picture, as nothing moves; heard 0.45 m beside."""
    view, towards = one((0.3, 0.4)), np.array([0.6, 0.8, 0.0])
    placed, known = placed_by_sight(PARAMS, (), view)
    assert CHANGES_M == 0.02 and 0.5 / NEAR_M * SIGHT_M == pytest.approx(0.04)
    np.testing.assert_allclose(placed.heard.pos_m[0], (0.5 + 0.54) * towards, atol=1e-4)
    np.testing.assert_allclose(placed.heard.plan.stop_m, placed.heard.pos_m)
    blind = view._replace(sensed=view.sensed._replace(mates_mask=np.zeros(1, bool)))  # type: ignore[attr-defined]
    # The velocity of each robot may be 0.05 m/s off, and change by 3.32 m/s^2 within a period: twice 4.7 mm of room go.
    most = 2.1 * 2**0.5 + 0.3 + 0.05
    less = 2 * (0.05 * DT + most * DT**2 / 2)
    for k in range(1, 120):  # at first the spare room, and then the shift
        placed, known = placed_by_sight(PARAMS, known, blind)
        if k == 25:
            np.testing.assert_allclose(placed.heard.pos_m[0], (0.5 + 0.54 - 25 * less) * towards, atol=1e-4)
    assert known and not known.held.any()
    np.testing.assert_allclose(placed.heard.pos_m[0], [0.5, 0.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("way", [(0.5, 1.2), (-1.0, 0.0)])
def test_a_mate_that_is_reported_elsewhere_than_seen_is_not_believed(way: tuple[float, float]):
    view = one(way)
    np.testing.assert_array_equal(placed_by_sight(PARAMS, (), view)[0].heard.pos_m, view.heard.pos_m)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e9])
def test_a_picture_that_is_no_number_moves_nothing_and_is_not_remembered(bad: float):
    view = one((0.5, 0.1), bad=bad)
    placed, known = placed_by_sight(PARAMS, (), view)
    np.testing.assert_array_equal(placed.heard.pos_m, view.heard.pos_m)
    assert all(np.isfinite(part).all() for part in known)
    lost = view._replace(own=view.own._replace(pos_m=np.full(3, bad)))
    np.testing.assert_array_equal(placed_by_sight(PARAMS, known, lost)[0].heard.pos_m, view.heard.pos_m)


def test_jax_places_as_numpy_does():
    views = [drawn(seed, False)[0] for seed in (1, 2)]
    ours, theirs = no_mates(np.zeros((NUM, 1))), no_mates(jnp.zeros((NUM, 1)))
    for view in views:
        here, ours = placed_by_sight(PARAMS, ours, view)
        there, theirs = placed_by_sight(PARAMS, theirs, jax.tree.map(jnp.asarray, view))
        off = np.abs(np.asarray(there.heard.pos_m) - here.heard.pos_m).max((1, 2))
        assert (off < 1e-4).mean() > 0.999, "but where a picture is just believed"


def told(way_m: float, vel_m_s: float, age_s: float, see: bool) -> LocalView:
    """The view of a robot at rest at the centre whose mate is ahead of it, by a message of that age."""
    zero, pos = np.zeros((1, 3)), np.array([[way_m, 0.0, 0.0]])
    shown = Picture(np.array([see]), pos + [SIGHT_M * max(way_m / NEAR_M, 1.0), 0, 0], zero, np.full(1, DT))
    heard = heard_at(pos, np.array([[vel_m_s, 0.0, 0.0]]), np.full(1, age_s))
    return view_of(np.zeros(3), np.zeros(3), heard, MatesSeen(shown, np.zeros(1, bool), zero))


def excess_m(placed: LocalView, true_m: float) -> float:
    """How much more room the row counts than there is."""
    mate = placed.heard.pos_m + placed.heard.vel_m_s * placed.heard.age_s[..., None]
    return float(mate[0, 0] - 2 * ERROR_M - true_m)


@pytest.mark.parametrize("gap", [5, 14, 20, 40])
def test_a_mate_that_accelerates_while_its_messages_are_lost_is_no_farther_than_counted(gap: int):
    """From rest, at full power towards a robot that does not see it any more; then messages come again."""
    _, known = placed_by_sight(PARAMS, (), told(3.0, 0.0, 0.0, see=True))
    accel, found = 2.1, []
    for k in range(1, gap):
        _, known = placed_by_sight(PARAMS, known, told(3.0, 0.0, k * DT, see=False))
    for k in range(gap, gap + 8):
        way, vel = max(3.0 - accel * (k * DT) ** 2 / 2, 0.5), -accel * k * DT
        placed, known = placed_by_sight(PARAMS, known, told(way, vel, 0.0, see=False))
        found.append(excess_m(placed, way))
    assert max(found) < 1e-6


def test_a_mate_that_is_pushed_on_and_on_is_forgotten_within_half_a_metre():
    """It slides at 0.6 m/s, and its odometry says that it rests; its messages have the true place."""
    _, known = placed_by_sight(PARAMS, (), told(2.0, 0.0, 0.0, see=True))
    found = []
    for k in range(1, 80):
        way = 2.0 - 0.6 * k * DT
        placed, known = placed_by_sight(PARAMS, known, told(way, 0.0, 0.0, see=False))
        found.append(excess_m(placed, way))
    assert max(found) < PUT_M and not known.held.any()  # type: ignore[union-attr]


def rows(*places: tuple[float, float]) -> Picture:
    """A picture of robots at rest."""
    zero = np.zeros((len(places), 3))
    pos = zero.copy()
    pos[:, :2] = np.reshape(places, (-1, 2))
    return Picture(np.ones(len(places), bool), pos, zero, np.zeros(len(places)))


@pytest.mark.parametrize(
    ("robots", "opponents", "heard", "seen"),
    [
        ([(1.0, 0.0)], [(0.0, 1.0)], [(1.4, 0.0)], [True]),
        ([(1.0, 0.0)], [(1.1, 0.0)], [(1.0, 0.0)], [False]),  # of both colours
        ([(1.0, 0.0)], [], [(3.2, 0.0)], [False]),  # its message is of elsewhere
        ([(2.0, 0.0)], [], [(2.0, 1.04), (1.2, 0.0)], [False, False]),  # 1.04 m is within all that may be wrong at 2 m
        ([(1.0, 0.0), (1.3, 0.0)], [], [(1.1, 0.0)], [False]),  # one of two
        ([(1.0, 0.0)], [], [(1.2, 0.0), (0.8, 0.0)], [False, False]),  # may be either
        ([(1.0, 0.0), (-1.0, 0.5)], [], [(-1.0, 0.2), (1.2, 0.0)], [True, True]),
    ],
)
def test_a_robot_is_named_where_no_other_may_be_meant(
    robots: list[tuple[float, float]], opponents: list, heard: list[tuple[float, float]], seen: list[bool]
):
    found = named(rows(*robots), rows(*opponents), rows(*heard))
    assert found.mask.tolist() == seen
    if all(seen) and len(robots) == 2:
        np.testing.assert_allclose(found.pos_m[:, :2], robots[::-1])
