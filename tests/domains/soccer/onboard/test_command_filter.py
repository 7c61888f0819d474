"""The safety filter of soccer robots: what it lets through, and what it prevents."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.domain.registry import filter_for
from robomarl.core.filter.filter import SafetyFilter
from robomarl.domains.soccer.core.command_filter import PlayerFilter
from robomarl.domains.soccer.core.opponent_memory import recall
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.evaluation.match import IMPACT_M_S, STANDING_M_S
from robomarl.domains.soccer.lab.placement import facing
from robomarl.domains.soccer.lab.safety.jax_command_filter import JaxPlayerFilter
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.domains.soccer.lab.task import action
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.sides import team_view
from robomarl.lab.sim.starts import Starts
from tests.domains.soccer.games import APART, ball_at, plain, put, robots_at

SCENARIO = plain()
FILTER = filter_for(action(SCENARIO), safety_params(SCENARIO))


def decide(places: list, nominal: list[float]) -> np.ndarray:
    """[4] what our first robot does, robots at rest at these places."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at(places), ball_at(0.0, 1.0))
    stand = np.zeros((1, SCENARIO.players, 4), np.float32)
    for _ in range(3):  # until the pictures and the radio have come through
        sim.step(stand)
    view = team_view(SCENARIO, sim.views(), 0)
    _, result = FILTER(FILTER.init((1, SCENARIO.count)), view, np.tile(np.array(nominal), (1, SCENARIO.count, 1)))
    assert result.command.shape == (1, SCENARIO.count, 4)
    return result.command[0, 0]


def test_a_free_robot_does_what_its_policy_wants():
    assert decide(APART, [1.0, -0.5, 2.0, 6.5]) == pytest.approx([1.0, -0.5, 2.0, 6.5], abs=1e-6)


def test_a_robot_does_not_drive_into_an_opponent_that_it_sees_but_kicks():
    near = [(-1.0, 1.2, 0.0), APART[1], (-0.78, 1.2, 0.0), APART[3]]
    command = decide(near, [2.0, 0.0, 0.0, 6.5])
    assert command[0] < 0.1
    assert command[3] == 6.5


def test_a_command_that_is_no_number_neither_moves_nor_kicks():
    command = decide(APART, [np.nan, 0.0, 0.0, 6.5])
    assert np.isfinite(command).all()
    assert command[3] == 0
    assert decide(APART, [0.0, 0.0, 0.0, np.nan])[3] == 0


def test_only_players_get_the_filter_of_players():
    spec, params = action(SCENARIO), safety_params(SCENARIO)
    assert isinstance(filter_for(spec, params), PlayerFilter)
    flying = type(spec)(spec.fields[:3])
    assert type(filter_for(flying, params)) is SafetyFilter


def look_on(seconds: float, sensed: dict | None = None) -> list[float]:
    """Forward acceleration of a robot that saw an opponent 0.22 m ahead and then sees nobody, at each decision."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at([(-1.0, 1.2, 0.0), APART[1], (-0.78, 1.2, 0.0), APART[3]]), ball_at(0.0, 1.0))
    for _ in range(3):
        sim.step(np.zeros((1, SCENARIO.players, 4), np.float32))
    view: Any = team_view(SCENARIO, sim.views(), 0)
    found: list[float] = []
    blind = view._replace(sensed=view.sensed._replace(strangers_mask=view.sensed.strangers_mask & False))
    odd = view._replace(sensed=view.sensed._replace(**(sensed or {})))
    carry, nominal = FILTER.init((1, SCENARIO.count)), np.tile(np.array([2.0, 0.0, 0.0, 0.0]), (1, SCENARIO.count, 1))
    for i in range(round(seconds * SCENARIO.rates.policy_hz)):
        carry, result = FILTER(carry, blind if i else odd, nominal)
        found.append(float(result.command[0, 0, 0]))
    return found


def test_an_opponent_that_went_out_of_sight_is_kept_clear_of_for_a_while():
    """The picture is 0.04 s old when it comes: eight decisions, 0.28 s after the first, it is over."""
    accel = look_on(0.5)
    assert max(accel[:7]) < 0.1
    assert accel[-1] == pytest.approx(2.0)


def test_a_sighting_that_is_no_number_stops_the_robot_but_is_not_remembered():
    accel = look_on(0.2, {"strangers_pos_m": np.full((1, SCENARIO.count, SCENARIO.count, 3), np.nan)})
    assert accel[0] == 0.0
    assert accel[1] == pytest.approx(2.0)


def test_the_freshest_sighting_counts():
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    sim.reset()
    view: Any = team_view(SCENARIO, sim.views(), 0)
    like, before = np.zeros((1, SCENARIO.count, SCENARIO.count)), ()
    places = []
    for x, age_s in [(1.0, 0.04), (2.0, 0.2), (3.0, 0.06), (4.0, 0.4)]:
        told = {"strangers_mask": like == 0, "strangers_pos_m": like[..., None] + x, "strangers_age_s": like + age_s}
        told["strangers_seen"] = like == 0  # who tells is no matter, but for the errors of both places
        known, before = recall(FILTER.params, before, view._replace(sensed=view.sensed._replace(**told)))
        sensed: Any = known.sensed
        assert sensed.strangers_mask.all()
        places.append((float(sensed.strangers_pos_m[0, 0, 0, 0]), float(sensed.strangers_age_s[0, 0, 0])))
    np.testing.assert_allclose(places, [(1.0, 0.04), (1.0, 0.08), (3.0, 0.06), (3.0, 0.1)])


def test_the_filter_of_training_is_that_of_the_robot():
    """Twenty decisions of a match with noise and dropouts, in JAX and in numpy, memory and all."""
    scenario, num = load_scenario("soccer_2v2"), 50
    sim, random = make_soccer(scenario, "fast", num, 3), np.random.default_rng(0)
    draws = random.random((num, scenario.players, num_start_draws(scenario)), np.float32)
    sim.set_world(start_game(scenario, draws, Starts(1.0, 0.0)))
    params, shape = safety_params(scenario), (num, scenario.count)
    ours, theirs = filter_for(action(scenario), params), JaxPlayerFilter(params, scenario.count)
    carries, active = [ours.init(shape), theirs.init(shape)], 0
    decide, (low, high) = jax.jit(theirs), scenario.command_limits
    for _ in range(20):
        view = team_view(scenario, sim.views(), 0)
        nominal = random.uniform(low, high, (*shape, 4)).astype(np.float32)
        carries[0], result = ours(carries[0], view, nominal)
        carries[1], same = decide(carries[1], jax.tree.map(jnp.asarray, view), nominal)
        # Rounds of single precision add up where no command holds all rows.
        held = np.asarray(result.solved)[..., None]
        np.testing.assert_allclose(np.where(held, same.command, 0), np.where(held, result.command, 0), atol=2e-3)
        np.testing.assert_allclose(same.command, result.command, atol=2e-2)
        active += int(np.asarray(result.active).sum())
        sim.step(np.concatenate([result.command, nominal], 1).astype(np.float32))
    assert active > 50


@pytest.mark.parametrize("filtered", [True, False])
def test_a_robot_that_charges_at_an_opponent_in_sight_stops_before_it(filtered: bool):
    """Noise, dropouts and delays as in the file, from anywhere on the field, at full throttle, looking ahead."""
    scenario, num = load_scenario("soccer_1v1"), 60
    sim, random = make_soccer(scenario, "fast", num, 0), np.random.default_rng(0)
    x, y = random.uniform(-2.0, 2.0, (num, 2)), random.uniform([-1.3, 0.2], [-0.2, 1.3], (num, 2))
    ahead = np.arctan2(y[:, 1] - y[:, 0], x[:, 1] - x[:, 0])
    faced = facing(*(p.astype(np.float32) for p in (x, y, *(f(np.stack([ahead, ahead], 1)) for f in (np.cos, np.sin)))))
    sim.set_world(sim.reset()._replace(robots=faced))
    guard = filter_for(action(scenario), safety_params(scenario))
    carry, hits = guard.init((num, 1)), 0
    for _ in range(75):
        view, robots = team_view(scenario, sim.views(), 0), sim.world.robots
        dx, dy = (part[:, 1:] - part[:, :1] for part in (robots.x, robots.y))
        away, turn = np.hypot(dx, dy), robots.c[:, :1] * dy - robots.s[:, :1] * dx
        nominal = np.stack([2.1 * dx / away, 2.1 * dy / away, 8 * turn / away, 0 * dx], -1)
        carry, result = guard(carry, view, nominal)
        command = result.command if filtered else nominal
        contacts = sim.step(np.concatenate([command, 0 * command], 1).astype(np.float32)).contacts
        hits += int(((contacts.impact_m_s > IMPACT_M_S) & (contacts.own_m_s > STANDING_M_S))[:, :1].sum())
    assert hits == 0 if filtered else hits > num // 2
