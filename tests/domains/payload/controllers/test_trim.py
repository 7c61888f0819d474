"""Errors that last are answered in full: the mean that carriers see, and what it moves."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.features import NeighbourRule, as_array
from robomarl.core.spec import ObservationSpec
from robomarl.core.view import LoadSensed, LocalView
from robomarl.domains.flight.core.payload.features import NEAR_POINT_M, carried, near_point, point_error
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload.controllers.decentralized import Gains, PlaceLaw
from robomarl.domains.flight.lab.payload.controllers.trim import trim_fields
from robomarl.domains.flight.lab.payload.follow import pose_errors
from robomarl.lab.sim.scenario import load_scenario


def view_at(error_m: tuple[float, float, float]) -> LocalView:
    """The robots of `lift_3`, whose own points are all so far from where they should be."""
    team = make_team(load_scenario("lift_3"), "fast", 1, 0)
    team.reset()
    view = team.views()
    assert isinstance(view.sensed, LoadSensed)
    sensed = view.sensed._replace(load_quat_wxyz=view.goal.quat_wxyz)  # so that all points are off alike
    now = as_array(point_error(carried(view._replace(sensed=sensed)), NeighbourRule()))
    view = view._replace(sensed=sensed)
    return view._replace(goal=view.goal._replace(pos_m=view.goal.pos_m - now + np.array(error_m)))


@pytest.mark.parametrize(("size", "share"), [(0.001, 1.0), (NEAR_POINT_M, 0.5), (2 * NEAR_POINT_M, 1 / 17)])
def test_large_errors_give_nothing_to_the_mean(size: float, share: float):
    near = as_array(near_point(carried(view_at((0.6 * size, 0.0, -0.8 * size))), NeighbourRule()))
    wanted = share * size * np.array([0.6, 0.0, -0.8])
    np.testing.assert_allclose(near, np.broadcast_to(wanted, near.shape), rtol=2e-3, atol=1e-6)


def test_the_mean_reaches_an_error_that_lasts_and_forgets_one_that_does_not():
    """1 - 1/e of it after `trim_s`, all of it much later, and 1/e of that is left another `trim_s` on."""
    trim_s, period_s = 1.0, 0.01
    spec = ObservationSpec(trim_fields(trim_s, period_s))
    off, there = (view_at((x, 0.0, 0.0)) for x in (0.01, 0.0))
    memory, seen = spec.init(off), []
    for view in [off] * 600 + [there] * 100:
        memory, obs = spec.observe(memory, view)
        seen.append(obs[0, 0, 0])
    near = 0.01 / (1 + (0.01 / NEAR_POINT_M) ** 4)
    assert seen[599] == pytest.approx(near, rel=0.01)
    assert seen[699] == pytest.approx(near / np.e, rel=0.01)
    assert not trim_fields(0.0, period_s)


def test_the_place_moves_by_the_mean_and_by_nothing_where_there_is_none():
    scenario = load_scenario("lift_3")
    law = PlaceLaw(scenario, Gains(trim=3.0, velocity_near_per_s=2.0, position_near_per_s=1.0))
    obs = np.zeros((1, law.observation.size), np.float32)
    names = law.observation.element_names()
    obs[0, [names.index("own_axes.zz"), names.index("load_axes.zz")]] = 1.0
    before = law.act(obs)[0, :3]
    obs[0, [names.index(f"near_point.{axis}@mean") for axis in "xyz"]] = 0.01, -0.02, 0.03
    np.testing.assert_allclose(law.act(obs)[0, :3] - before, 2.0 * 1.0 * 3.0 * np.array([0.01, -0.02, 0.03]), atol=1e-6)
    without = dataclasses.replace(scenario, load=dataclasses.replace(scenario.load, trim_s=0.0))  # type: ignore[type-var]
    assert not any("near_point" in name for name in PlaceLaw(without).observation.element_names())


def test_a_load_whose_mass_is_off_its_middle_comes_level():
    """Centre of mass 5 cm off: after 12 s the load leans by less than two thirds of what it does without a mean."""
    scenario = load_scenario("lift_3")
    ranges = dataclasses.replace(scenario.randomize, load_com_m=(0.05, 0.05))
    tilt = {}
    for trim_s in (0.0, 4.0):
        load = dataclasses.replace(scenario.load, trim_s=trim_s)  # type: ignore[type-var]
        lopsided = dataclasses.replace(scenario, randomize=ranges, load=load)
        team, law = make_team(lopsided, "fast", 12, 0), PlaceLaw(lopsided, Gains(answer=0.3, answer_most_m=0.015))
        team.reset()
        memory = law.observation.init(team.views())
        for _ in range(1200):
            memory, seen = law.observation.observe(memory, team.views())
            team.step(law.act(seen))
        tilt[trim_s] = np.median(pose_errors(team.world)[1])
    assert tilt[4.0] < 2 / 3 * tilt[0.0]
