"""Ballistics of the wanted blow, and the terminal gains, against numbers worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.domains.volleyball.core.ballistics import rise_speed, time_to_fall, wanted_blow
from robomarl.domains.volleyball.core.terminal_lq import gains_at, horizontal_table, vertical_table
from robomarl.domains.volleyball.lab.controllers import LAWS, law_of
from robomarl.domains.volleyball.lab.controllers.run_up import KNOTS, course
from robomarl.domains.volleyball.lab.controllers.strike import CEILING_M, BumpLaw, seen_of
from robomarl.domains.volleyball.lab.model import observation
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.policy_search.search import MOST

G = 9.81


def test_a_ball_at_rest_two_metres_up_falls_for_the_root_of_four_over_g():
    np.testing.assert_allclose(time_to_fall(np.array(4.0), np.array(0.0), 2.0), np.sqrt(4 / G))


def test_a_ball_that_never_rises_to_the_level_is_given_the_time_to_its_apex():
    np.testing.assert_allclose(time_to_fall(np.array(1.0), np.array(2.0), 3.0), 2 / G, atol=2e-4)


def test_the_last_instant_of_a_fall_is_exact_in_single_precision():
    """0.24 mm above the level at 6 m/s: the difference of speed and root would lose four digits."""
    height, level, speed = (np.float32(value) for value in (2.5 + 2**-12, 2.5, -6.0))
    exact = time_to_fall(np.float64(height), np.float64(speed), np.float64(level))
    np.testing.assert_allclose(time_to_fall(height, speed, level), exact, rtol=1e-6)


def test_a_ball_thrown_up_at_the_rise_speed_has_its_apex_there():
    speed = rise_speed(np.array(2.5), 3.5)
    np.testing.assert_allclose(2.5 + speed**2 / (2 * G), 3.5)


@pytest.mark.parametrize("after", [(0.0, 0.0, 4.5), (-6.0, 1.0, 5.0)])
def test_the_wanted_blow_makes_the_wanted_velocity(after: tuple[float, float, float]):
    before, restitution = np.array([0.5, -0.2, -4.0]), 0.8
    blow = wanted_blow(tuple(before), tuple(map(np.float64, after)), restitution)
    normal = np.array(blow.normal)
    np.testing.assert_allclose(normal @ normal, 1.0, atol=1e-6)
    found = before + (1 + restitution) * (blow.speed_m_s - before @ normal) * normal
    np.testing.assert_allclose(found, after, atol=1e-5)


def test_the_vertical_gains_bring_place_and_speed_to_their_values():
    """Double integrator with a fast lag, 20 steps to go: it ends at the place with 1 m/s."""
    dt_s, lag_s, steps = 0.02, 0.04, 25
    table = vertical_table(lag_s, (1e4, 1e4), 1e-4, dt_s, steps)
    place, speed, accel = -0.3, 0.0, 0.0
    for to_go in range(steps, 0, -1):
        command = -gains_at(table, np.float64(to_go)) @ np.array([place, speed, accel, 1.0])
        for _ in range(200):  # the exact motion, in short pieces
            accel += (command - accel) / lag_s * dt_s / 200
            place, speed = place + speed * dt_s / 200, speed + accel * dt_s / 200
    assert abs(place) < 0.01 and abs(speed - 1.0) < 0.05


def test_gains_between_two_rows_are_between_them():
    table = np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 8.0]])
    np.testing.assert_allclose(gains_at(table, np.array([1.0, 1.5, 2.0, 0.2, 9.0]))[:, 0], [1, 2, 3, 1, 5])


def test_gains_are_equal_in_jax_and_numpy():
    args = (0.02, 10)
    mine = horizontal_table((9.0, 18.0, 0.036), (3.0, 2.0, 0.0), 0.01, *args)
    theirs = horizontal_table((9.0, 18.0, 0.036), (jnp.float32(3.0), jnp.float32(2.0), jnp.float32(0.0)), 0.01, *args)
    assert isinstance(theirs, jax.Array)
    np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-4)


FLOWN = {"volley_strike": "volley_attack", "volley_post": "volley_go_to"}
"""Scenario of a task that has none of its own name."""


@pytest.mark.parametrize("name", sorted(LAWS))
def test_each_law_reads_what_its_task_observes_and_is_equal_in_jax_and_numpy(name: str):
    scenario = load_scenario(FLOWN.get(name, name), VolleyScenario)
    law, sim = law_of(scenario), simulation_of(scenario).batch(scenario, "fast", 3, 0)
    sim.reset()
    for _ in range(5):
        sim.step(np.zeros((3, scenario.count, 4)))
    obs = law.observation.observe(law.observation.init(sim.views()), sim.views())[1]
    mine, theirs = law.act(obs), jax.jit(law.act)(jnp.asarray(obs))
    assert mine.shape == (3, scenario.count, 4) and np.isfinite(mine).all()
    np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-3)
    assert set(law.observation.element_names()) <= set(observation(scenario).element_names())


def test_a_course_of_constant_acceleration_is_the_parabola():
    place, speed, push = course((2.0,) * KNOTS, 0.02)[:40].T
    at = np.arange(40) * 0.02
    np.testing.assert_allclose(place, at**2, atol=1e-4)
    np.testing.assert_allclose(speed, 2 * at, atol=1e-4)
    np.testing.assert_allclose(push, 2.0, atol=1e-5)


def test_the_gains_hold_a_tilt_that_is_reached_already():
    """Wanted tilt and tilt are equal, the offset is free and a step is left: the command is that tilt."""
    table = horizontal_table((9.0, 18.0, 0.036), (0.0, 3.0, 0.0), 0.01, 0.02, 10)
    np.testing.assert_allclose(-gains_at(table, np.float64(5)) @ np.array([0, 0, 0.3, 0, 0, 0.3]), 0.3, atol=1e-4)


@pytest.mark.parametrize(("height_m", "climb_m_s", "sign"), [(CEILING_M + 0.1, 0.0, -1), (CEILING_M - 0.1, 0.0, 1)])
def test_a_bump_lifts_no_vehicle_over_the_limit_of_its_height(height_m: float, climb_m_s: float, sign: int):
    law = law_of(load_scenario("volley_bump", VolleyScenario))
    assert isinstance(law, BumpLaw)
    obs = np.zeros((1, 28))
    obs[:, 2], obs[:, 5] = height_m, climb_m_s
    assert np.sign(law.most_lift(seen_of(obs))) == sign


def test_grip_is_the_share_of_the_balls_drift_that_no_tilt_has_to_take_off():
    """Of a ball that falls straight to its target but for a drift: by half of it the tilt halves."""
    law = law_of(load_scenario("volley_bump", VolleyScenario))
    assert isinstance(law, BumpLaw)
    obs = np.zeros((1, 28))
    obs[:, 24], obs[:, 25], obs[:, 27] = -2.0, 0.4, -2.0  # the ball 2 m above, drifting along x
    tilts = []
    for grip in (0.0, 0.5):
        chosen = law.with_gains(law.gains._replace(grip=grip, home=0.0))
        seen = seen_of(obs)
        normal = chosen.blow(seen, chosen.meeting(seen)).normal
        tilts.append(float(normal[0][0] / normal[2][0]))
    np.testing.assert_allclose(tilts[1] / tilts[0], 0.5, rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        *(("volley_bump_pass", 3.0), ("volley_spike_easy", 1.3), ("volley_spike_hard", 1.5), ("volley_hit", 0.9)),
        *(("volley_serve", 0.9), ("volley_receive", 0.9), ("volley_attack", 0.9)),
    ],
)
def test_each_law_with_the_gains_of_its_start_hits_the_ball(name: str, least: float):
    """Mean number of hits in the first 4 s of 16 episodes."""
    scenario = load_scenario(name, VolleyScenario)
    law, sim = law_of(scenario), simulation_of(scenario).batch(scenario, "fast", 16, 0)
    sim.reset()
    memory = law.observation.init(sim.views())
    for _ in range(200):
        memory, obs = law.observation.observe(memory, sim.views())
        sim.step(law.act(obs))
    assert np.asarray(sim.world.own.rally.hits).mean() >= least


@pytest.mark.parametrize("name", ["volley_bump_pass", "volley_spike_easy", "volley_spike_hard", "volley_set"])
def test_a_search_may_start_from_the_gains_of_each_law_that_strikes(name: str):
    """Bounds and start in steps, as the search has them; a post above the contact has a negative gain."""
    law = law_of(load_scenario(name, VolleyScenario))
    moved = np.flatnonzero(law.search_step)
    step, least, first = (np.array(gains)[moved] for gains in (law.search_step, law.search_least, law.search_from))
    assert (step > 0).all() and (least < first).all() and (first < MOST * step).all()
