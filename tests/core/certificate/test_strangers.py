"""Strangers: the bound of the rule beside sampled distances, and robots that are hunted."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.certificate.flight import Crowd
from benchmarks.certificate.hunted import Caught, Hunt, HuntedFlight, fly, told_of
from benchmarks.certificate.radio import over
from benchmarks.filter.fallbacks.drive import believed
from benchmarks.filter.fallbacks.words import words_of
from robomarl.core.certificate.certificate import Certificate
from robomarl.core.certificate.course import CommittedCourse, places, resting
from robomarl.core.certificate.figures import CertificateFigures, figures_of, uncovered
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.memory import DecisionInputs
from robomarl.core.certificate.strangers import least_left
from robomarl.core.config import UserError
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import blank_view
from robomarl.lab.prove.campaign.hunters import StrangerSightings

VEHICLES = ("crazyflie_21", "ssl_omni", "turtlebot3_burger")


def told(name: str) -> tuple[SafetyParams, CertificateFigures]:
    """A vehicle that is told of strangers as fast as itself."""
    words = words_of(name)
    params = dataclasses.replace(from_vehicle(load_any_vehicle(name), 0.02), strangers=told_of(words, 1.0))
    return params, figures_of(params, words.radius_m)


class Met(NamedTuple):
    """Ways [E, 1], their start, sightings [E, 1], and the time at which all are judged."""

    start: CommittedCourse
    ways: CommittedCourse
    seen: Strangers
    now_s: np.ndarray


def met(figures: CertificateFigures, count: int, planar: bool) -> Met:
    """Robots that come from a place at their speed, and strangers around them."""
    random, level = np.random.default_rng(0), np.array([1, 1, 0.0 if planar else 1])
    fast = figures.speed_m_s
    pos, vel, aside = (random.normal(size=(count, 3)) * level * size for size in (0.5, fast / 3, fast / 3))
    start = resting(pos, 10.0 + figures.lead_s, (max(figures.accel_m_s2), figures.learned.room_m))
    start = start._replace(vel_m_s=vel)
    ways = start._replace(pos_m=pos + vel * figures.period_s, at_s=start.at_s + figures.period_s)
    ways = CommittedCourse(*(part[:, None] for part in ways))
    seen = Strangers(
        np.ones((count, 1), bool),
        (pos + aside + random.normal(size=(count, 3)) * level)[:, None],
        (random.normal(size=(count, 3)) * level * fast / 2)[:, None],
        random.uniform(0, 0.4, (count, 1)),
    )
    return Met(start, ways, seen, np.full(count, 10.0))


@pytest.mark.parametrize("name", VEHICLES)
def test_the_bound_is_never_more_than_the_distance(name: str):
    """Of two thousand courses, at a thousand times each; what it loses is the bend and what directions turn."""
    params, figures = told(name)
    start, ways, seen, now_s = met(figures, 2000, params.planar)
    found = least_left(figures, start, ways, seen, now_s, np)[:, 0] + figures.stranger_m
    course = CommittedCourse(*(part[:, 0] for part in ways))
    rest = course.at_s + np.linalg.norm(course.vel_m_s, axis=-1) / course.brake_m_s2
    share = np.linspace(0, 1, 1000)
    begin = start.at_s - figures.settles_s
    times = begin[:, None] + (rest + figures.settles_s - begin)[:, None] * share
    place = places(course, np.maximum(times, start.at_s[:, None]), np)
    since = times - now_s[:, None] + seen.age_s
    away, bounds = place - seen.pos_m, params.strangers
    assert bounds is not None
    slow = np.linalg.norm(away, axis=-1) - bounds.speed_m_s * since
    drift = bounds.velocity_error_m_s * since + bounds.accel_m_s2 * since**2 / 2
    free = np.linalg.norm(away - seen.vel_m_s * since[..., None], axis=-1) - drift
    true = np.maximum(slow, free).min(-1)
    assert (found <= true + figures.bend_m + 1e-9).all()
    leg_m = 0.08 * 2 * (figures.speed_m_s + bounds.speed_m_s + bounds.accel_m_s2 * 2)
    clear = true > 0
    assert clear.sum() > 50 and (~clear).sum() > 50 and (true - found)[clear].max() < leg_m


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_no_stranger_touches_a_robot_in_motion(vehicle: str):
    """Strangers chase, cut in, swing and wait in ambush at their bounds; sightings are wrong, late and left out."""
    found = fly(Hunt(Crowd(vehicle, "ring", count=3, episodes=12, seconds=8.0, seed=5)))
    assert found.moving == 0 and found.mates == 0 and found.least_m > found.contact_m
    assert found.resting > 0, "strangers do reach them"
    assert found.in_motion > 0.1 and found.travelled_m > 0.1, "and they do move"


def test_the_hunt_catches_robots_without_the_rule():
    found: Caught = fly(Hunt(Crowd("ssl_omni", "ring", count=3, episodes=12, seconds=8.0, seed=5), forgets=True))
    assert found.moving > 6


def test_a_stranger_that_appears_makes_robots_brake_at_once():
    """Nearer than they can stop: the old course stands, bit by bit, and the reference rests in its braking time."""
    hunt = HuntedFlight(Hunt(Crowd("crazyflie_21", "ring", count=2, episodes=4, seconds=4.0, seed=2), sight_m=0.0))
    for step in range(60):
        hunt.tick(step)
    old = hunt.carry.course
    hunters = hunt.hunters
    assert hunters is not None
    hunters.pos = hunt.team.centre[:, :1] + [[0.4, 0, 0], [0.4, 0.2, 0]]
    hunters.late, hunters.silent = hunters.late * 0, hunters.silent & False
    hunt.hunt = dataclasses.replace(hunt.hunt, sight_m=np.inf)
    near = np.linalg.norm(hunt.team.centre - hunters.pos[:, :1], axis=-1) < 1.0
    assert (near & (np.linalg.norm(old.vel_m_s, axis=-1) > 0.2)).any()
    for step in range(60, 64):
        hunt.tick(step)
    now = hunt.carry.course
    assert all((a[near] == b[near]).all() for a, b in zip(old[:3], now[:3], strict=True))


def inputs_of(hunt: HuntedFlight, now_s: float) -> DecisionInputs:
    """The next decision of a hunted crowd."""
    shape = hunt.team.pos.shape[:2]
    view = hunt.sees(blank_view(shape[1] - 1, batch=shape), 0)
    view = view._replace(own=believed(hunt.team, hunt.team.pos, hunt.team.vel))
    wish = np.concatenate([-hunt.team.pos * 0.5, np.zeros((*shape, 1))], -1)
    return DecisionInputs(view, hunt.heard, hunt.leads, hunt.present, wish, np.full(shape, now_s))


def sensed_by(given: DecisionInputs) -> StrangerSightings:
    assert isinstance(given.view.sensed, StrangerSightings)
    return given.view.sensed


def flown(steps: int = 60) -> tuple[HuntedFlight, DecisionInputs]:
    hunt = HuntedFlight(Hunt(Crowd("crazyflie_21", "ring", count=3, episodes=6, seconds=4.0, seed=3)))
    for step in range(steps):
        hunt.tick(step)
    return hunt, inputs_of(hunt, steps * 0.02)


def test_the_same_in_jax():
    """One decision among strangers, in numpy and in JAX, to single precision."""
    import jax.numpy as jnp

    from robomarl.lab.jax_filter.filter import jax_library

    hunt, given = flown()
    _, by_numpy = hunt.certificate.step(hunt.carry, given)
    in_jax = Certificate(hunt.certificate.params, hunt.figures, jax_library(planar=False))
    as_single = lambda x: jnp.asarray(x, jnp.float32) if np.asarray(x).dtype == float else jnp.asarray(x)  # noqa: E731
    _, by_jax = in_jax.step(over(as_single, hunt.carry), over(as_single, given))
    assert np.asarray(by_jax.command) == pytest.approx(by_numpy.command, abs=2e-3)
    assert (np.asarray(by_jax.moves) == by_numpy.moves).all() and 0 < by_numpy.moves.mean() < 1


@pytest.mark.parametrize("field", StrangerSightings._fields[1:])
def test_a_sighting_that_is_no_number_stops_the_robot(field: str):
    hunt, given = flown(20)
    assert hunt.certificate.step(hunt.carry, given)[1].moves.any()
    seen = sensed_by(given)
    broken = np.array(getattr(seen, field), float)
    broken[:, :, 0] = np.nan
    view = given.view._replace(sensed=seen._replace(**{field: broken}))
    with np.errstate(invalid="ignore"):
        _, found = hunt.certificate.step(hunt.carry, given._replace(view=view))
    assert not found.moves.any() and np.isfinite(found.command).all()
    none = seen._replace(**{field: broken}, strangers_mask=seen.strangers_mask & False)
    with np.errstate(invalid="ignore"):
        _, found = hunt.certificate.step(hunt.carry, given._replace(view=given.view._replace(sensed=none)))
    assert found.moves.any(), "a row of nobody is none"


def test_a_stranger_that_nobody_sees_any_more_may_be_ever_farther_away():
    """After 5 s it may be anywhere within 7 m: no new course, and the old one is kept."""
    hunt, given = flown(20)
    seen = sensed_by(given)
    view = given.view._replace(sensed=seen._replace(strangers_age_s=seen.strangers_age_s + 5.0))
    after, found = hunt.certificate.step(hunt.carry, given._replace(view=view))
    assert not found.moves.any() and (after.course.at_s == hunt.carry.course.at_s).all()


def test_it_is_told_of_strangers_or_sees_none():
    hunt, given = flown(1)
    with pytest.raises(UserError, match="strangers is set in the safety parameters, but the view does not sense any"):
        hunt.certificate.step(hunt.carry, given._replace(view=given.view._replace(sensed=())))
    params, figures = told("crazyflie_21")
    found = certificate_of(params, figures)
    assert found.note == "" or type(found) is Certificate, "in C where that is built"
    assert uncovered(params) == ""
