"""Certified crowds on a plant that knows nothing of the certificate, at the bounds of their vehicle files."""

import dataclasses

import numpy as np
import pytest

from benchmarks.certificate import flight
from benchmarks.certificate.flight import Crowd, CrowdFlight, fly
from robomarl.core.certificate import certificate
from robomarl.core.certificate.figures import figures_of
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle

ROUNDING_M = 1e-6


@pytest.mark.parametrize("kind", ["corner", "corridor", "ring"])
@pytest.mark.parametrize("vehicle", ["crazyflie_21", "ssl_omni", "turtlebot3_burger"])
def test_crowds_keep_clear(vehicle: str, kind: str):
    """Messages are late and lost, errors and delays at their bounds, policies hostile."""
    found = fly(Crowd(vehicle, kind, count=5, episodes=4, seconds=5.0, seed=3))
    assert found.contacts == 0 and found.trips == 0
    assert found.references_m >= found.kept_m - ROUNDING_M
    assert found.tube_m <= found.declared_m


def test_a_stack_that_is_tall_enough_moves_and_keeps_clear():
    found = fly(Crowd("crazyflie_21", "stack", count=4, episodes=4, seconds=4.0, seed=3))
    assert found.contacts == 0 and found.vetoed < 0.9
    assert found.kept_m - ROUNDING_M <= found.references_m < found.kept_m + 0.1


def test_a_team_that_goes_deaf_keeps_clear():
    """Nothing is heard after 1.5 s, for ever."""
    found = fly(Crowd("crazyflie_21", "corner", count=5, episodes=4, seconds=5.0, deaf_after_s=1.5, seed=4))
    assert found.contacts == 0 and found.references_m >= found.kept_m - ROUNDING_M


def test_without_the_own_change_references_come_too_near(monkeypatch: pytest.MonkeyPatch):
    """The harness catches a rule with a hole: one that forgets |z - A|."""

    def with_hole(path, seen, xp):
        return certificate_clearance(path, seen._replace(mine=path[..., :1, :, :] + 0 * seen.mine), xp)

    certificate_clearance = certificate.clearance
    monkeypatch.setattr(certificate, "clearance", with_hole)
    crowd = Crowd("crazyflie_21", "ring", count=6, episodes=6, seconds=6.0, deaf_after_s=1.5, seed=3, in_numpy=True)
    found = fly(crowd)
    assert found.references_m < found.kept_m - 0.02


def test_a_robot_that_does_not_know_where_it_is_brakes():
    """Its reference stops, and it goes on by what it commands."""
    team = CrowdFlight(Crowd("crazyflie_21", "ring", count=3, episodes=2, seconds=4.0, seed=1))
    for step in range(100):
        team.tick(step)
    lost = team.carry
    nan = np.full_like(team.team.pos, np.nan)
    view = flight.blank_view(2, batch=nan.shape[:2])
    given = flight.DecisionInputs(
        view._replace(own=view.own._replace(pos_m=nan, vel_m_s=nan)),
        team.heard,
        team.leads,
        np.ones(team.leads.shape, bool),
        np.full((*nan.shape[:2], 4), 3.0),
        np.full(nan.shape[:2], 2.0),
    )
    after, found = team.certificate.step(lost, given)
    assert np.isfinite(found.command).all() and not found.moves.any()
    assert (after.course.at_s == lost.course.at_s).all()


def test_a_policy_that_says_nan_brakes():
    """And every command is finite."""
    team = CrowdFlight(Crowd("crazyflie_21", "ring", count=3, episodes=2, seconds=4.0, seed=1))
    team.signals.wish = lambda now, vel, step: np.full((*vel.shape[:2], 4), np.nan)  # type: ignore[method-assign]
    for step in range(20):
        team.tick(step)
    assert np.isfinite(team.team.pos).all() and team.trips == 0


def test_reference_and_tracker_share_the_input_box():
    """Crazyflie: 3.0 - 0.75 * 1.6 - 0.3 - 0.2 = 1.3 m/s^2 level, 2.9 - 1.2 - 0.3 - 1.0 = 0.4 upwards."""
    figures = figures_of(from_vehicle(load_any_vehicle("crazyflie_21"), 0.02), 0.07)
    assert figures.accel_m_s2 == pytest.approx((1.3, 1.3, 0.4))
    # Sixteen periods are averaged; the middle of the delay's range is 0.12 s.
    assert (figures.smooth_count, figures.lead_s) == (16, pytest.approx(0.12 + 15 * 0.01))
    assert 2 * figures.learned.room_m < 0.51


def test_the_box_holds_the_swing_of_the_reference():
    """The tracked point turns from 1.3 to -1.3 m/s^2 within 0.32 s, and commands act 0.08 to 0.16 s late: for as
    long as the policy swings, a robot may be pushed by 1.3 * 0.08 / 0.32 = 0.325 m/s^2 more than its file says."""
    params = from_vehicle(load_any_vehicle("crazyflie_21"), 0.02)
    stiff = dataclasses.replace(params.safety, gain_per_s=8.0, brake_m_s2=1.2, accel_error_m_s2=0.3 + 0.325)
    box = constants_of(dataclasses.replace(params, safety=dataclasses.replace(stiff, lift_bias_m_s2=0.75))).hold_m
    assert figures_of(params, 0.07).learned.half_m[0] == pytest.approx(box[0], rel=2e-3)


def test_the_same_in_jax():
    """One decision of a flying crowd, in numpy and in JAX, to single precision."""
    import jax.numpy as jnp

    from robomarl.lab.jax_filter.filter import jax_library

    team = CrowdFlight(Crowd("crazyflie_21", "ring", count=4, episodes=3, seconds=4.0, seed=2))
    for step in range(60):
        team.tick(step)
    view = flight.blank_view(3, batch=team.team.pos.shape[:2])
    view = view._replace(
        own=view.own._replace(pos_m=team.team.pos, vel_m_s=team.team.vel, age_s=np.zeros(team.team.pos.shape[:2]))
    )
    wish = np.concatenate([-team.team.pos * 0.5, np.zeros((*team.team.pos.shape[:2], 1))], -1)
    given = flight.DecisionInputs(
        view, team.heard, team.leads, np.ones(team.leads.shape, bool), wish, np.full(wish.shape[:2], 1.2)
    )
    _, by_numpy = team.certificate.step(team.carry, given)
    library = jax_library(planar=False)
    in_jax = certificate.Certificate(team.certificate.params, team.figures, library)
    as_single = lambda x: jnp.asarray(x, jnp.float32) if np.asarray(x).dtype == float else jnp.asarray(x)  # noqa: E731
    from benchmarks.certificate.radio import over

    _, by_jax = in_jax.step(over(as_single, team.carry), over(as_single, given))
    assert np.asarray(by_jax.command) == pytest.approx(by_numpy.command, abs=2e-3)
    assert (np.asarray(by_jax.moves) == by_numpy.moves).all()


def test_robots_report_when_their_bounds_do_not_hold():
    """With twice the declared errors and delays, robots leave their tubes and say so."""
    found = fly(Crowd("crazyflie_21", "ring", count=3, episodes=6, seconds=5.0, scale=2.0, seed=3))
    assert found.tube_m > found.declared_m and found.trips > 0


def test_a_pact_binds_a_robot_that_no_longer_counts_its_teammate():
    """Robots that are told for three seconds that nobody is there keep to what they agreed on."""
    team = CrowdFlight(Crowd("crazyflie_21", "ring", count=2, episodes=4, seconds=5.0, seed=3))
    for step in range(250):
        team.present[:] = step <= 60
        team.tick(step)
    assert team.outcome().references_m >= team.outcome().kept_m - ROUNDING_M


def test_a_robot_without_a_place_at_its_start_takes_it_with_its_first_estimate():
    """Before, it says nothing, agrees on nothing, and commands finite numbers."""
    team = CrowdFlight(Crowd("crazyflie_21", "ring", count=3, episodes=2, seconds=5.0, seed=1))
    nowhere = np.full_like(team.team.pos, np.nan)
    team.carry = team.certificate.init(nowhere, 2, np.zeros(nowhere.shape[:2]))
    assert not team.carry.placed.any() and (team.certificate.said(team.carry, team.leads).number < 0).all()
    for step in range(250):
        team.tick(step)
        assert np.isfinite(team.team.pos).all()
    assert team.carry.placed.all() and (team.carry.pact.number > 0).any() and team.trips == 0


def test_decisions_that_come_too_often_move_no_reference_faster():
    """Twice as many decisions as periods, all of which ask for full power: it gains what the input box allows."""
    found = []
    for often in (1, 2):
        team = CrowdFlight(Crowd("crazyflie_21", "ring", count=2, episodes=4, seconds=5.0, seed=3))
        team.signals.wish = lambda now, vel, step: np.concatenate([now.g0 * -3.0, 0 * vel[..., :1]], -1)  # type: ignore[method-assign]
        for step in range(100):
            team.tick(step)
        for step in range(10 * often):
            view = flight.blank_view(1, batch=team.leads.shape[:2])
            own = view.own._replace(pos_m=team.team.pos, vel_m_s=team.team.vel)
            wish = np.concatenate([team.toward * -3.0, 0 * team.team.vel[..., :1]], -1)
            now_s = np.full(team.leads.shape[:2], 2.0 + step * 0.02 / often)
            given = flight.DecisionInputs(view._replace(own=own), team.heard, team.leads, team.present, wish, now_s)
            team.carry, _ = team.certificate.step(team.carry, given)
        found.append(np.linalg.norm(team.carry.course.vel_m_s, axis=-1).max())
    assert found[1] <= found[0] + 1.3 * 0.02 + ROUNDING_M
