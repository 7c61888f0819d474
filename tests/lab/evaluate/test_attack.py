"""Malicious commands on an engine: every corner is covered, no filter is caught, and what is written fits."""

import dataclasses
import itertools

import numpy as np
import pytest

from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.tether import Tether
from robomarl.core.filter.params import SafetyParams
from robomarl.domains.flight.lab.safety.attack import ATTACK
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.ground.lab.attack import ATTACK as ON_THE_FLOOR
from robomarl.lab import certified
from robomarl.lab.evaluate.variations import covering, variations
from robomarl.lab.prove import engine_attack as module
from robomarl.lab.prove.engine_attack import EngineTrial
from robomarl.lab.sim.scenario import load_scenario


@pytest.mark.parametrize(("count", "most"), [(0, 1), (1, 2), (3, 8), (4, 16), (5, 16), (8, 16), (11, 32)])
def test_any_three_sides_of_the_box_meet_in_some_corner(count: int, most: int):
    corners = covering(count)
    assert corners.shape == (most, count)
    for three in itertools.combinations(range(count), min(3, count)):
        assert len({tuple(row) for row in corners[:, three]}) == 2 ** len(three)


def test_variations_are_at_the_ends_of_the_training_range():
    scenario = load_scenario("swap_8")
    held_out, *_ = varied = list(variations(scenario))
    assert [v.name for v in varied[:2]] == ["weak_battery", "heavy"]
    assert isinstance(held_out.scenario, FlightScenario)
    assert held_out.scenario.randomize.thrust_scale == (0.9, 0.9)
    assert len(varied) == 2 + 16
    for name in scenario.randomized:
        ends = {getattr(v.scenario.randomize, name) for v in varied[2:]}
        assert ends == {(end, end) for end in getattr(scenario.randomize, name)}


def test_without_a_filter_robots_collide_on_mujoco(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "SECONDS", 4.0)
    scenario = load_scenario("swap_4")
    free, kept = (ATTACK.attack(scenario, EngineTrial(mode, 6, 0)) for mode in ("off", "qp"))
    assert free.contact.mean() > 0.5
    assert not kept.contact.any()
    assert (kept.closest_m > free.closest_m.max()).all()
    again = ATTACK.attack(scenario, EngineTrial("qp", 6, 0))
    np.testing.assert_array_equal(again.closest_m, kept.closest_m)


def test_figures_name_every_variation(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "SECONDS", 0.1)
    scenario = dataclasses.replace(load_scenario("swap_4"), held_out={"heavy": {"mass_scale": 1.1}})
    told = []
    found = ATTACK(scenario, "full", 2, 0, tell=told.append)
    assert found["episodes"] == sum(told) == 2 * 17
    assert found["agent_steps"] == 2 * 17 * scenario.count * 5
    assert found["variations"][0]["variation"] == "heavy"
    assert found["contact_episodes"] == 0 < found["min_distance_m"]


@pytest.mark.parametrize("name", ["crowd_8", "turtlebots_4"])
def test_ground_robots_are_caught_without_a_filter_and_without_the_room_of_the_certificate(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    scenario, figures_of = load_scenario(name), certified.figures_of
    free, kept = (ON_THE_FLOOR.attack(scenario, EngineTrial(mode, 4, 0)) for mode in ("off", "certificate"))
    assert free.contact.mean() >= 0.5
    assert not kept.contact.any()

    def without_room(params: SafetyParams, radius_m: float, tether: Tether | None = None) -> CertificateFigures:
        f = figures_of(params, radius_m, tether=tether)
        tube, safety = dataclasses.replace(f.learned, room_m=0.02), f.front.safety
        safety = dataclasses.replace(safety, separation_m=0.04, velocity_error_m_s=0.0)
        front = dataclasses.replace(f.front, safety=safety)
        return dataclasses.replace(f, learned=tube, unlearned=tube, front=front)

    monkeypatch.setattr(certified, "figures_of", without_room)
    assert ON_THE_FLOOR.attack(scenario, EngineTrial("certificate", 4, 0)).contact.any()
