"""A team that carries is adapted to what hangs from it: only where held-out flights say so, and if it errs less."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.flight.carried import fly_carried
from benchmarks.flight.planted_load import planted_plant
from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.config.parsed import is_list, table_in
from robomarl.core.view import LoadSensed
from robomarl.domains.flight.field.payload.hang import find_payload
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.adapt.payload import accept, as_law, check_team, choose, gained
from robomarl.field.identify.patch import Provenance
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.front.cli.adapt import Args, adapt
from robomarl.lab.evaluate.evaluation import Evaluation
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.run.bundle_as_run import run_of

OF = Provenance(("bag sha256 0123",), "lift_3 0123", "abcdef", "2026-11-25", "lift_3")


def flown(scenario: Any, goals: int) -> RecordedFlights:
    """Flights of `lift_3`, which believes what its scenario says, on a plant."""
    policy, known = resolve_policy("lift_3")
    assert isinstance(known, FlightScenario)
    tracks = fly_carried(known, make_team(scenario, "fast", 1, 5), policy, goals, 0)[0]
    return RecordedFlights(known, tracks, OF, ())


def ended(success: list[bool], error_m: list[float]) -> Evaluation:
    return Evaluation({"success_rate": float(np.mean(success))}, np.array(success), np.array(error_m), None)


def test_a_team_replaces_another_that_errs_more_beyond_chance_and_succeeds_no_more_often():
    rng = np.random.default_rng(0)
    before = rng.uniform(0.005, 0.015, 40)
    first = ended([True] * 40, before.tolist())
    nearer = ended([True] * 40, (before - 0.001).tolist())
    noise = ended([True] * 40, (before + rng.normal(0, 0.001, 40)).tolist())
    rarer = ended([True] * 39 + [False], (before - 0.004).tolist())
    assert choose({"deployed": first, "told": nearer}, 0.0) == "told"
    assert choose({"deployed": first, "told": noise}, 0.0) == "deployed"
    assert choose({"deployed": first, "told": rarer}, 0.0) == "deployed"
    assert choose({"deployed": first, "told": nearer, "searched": first}, 0.0) == "told"
    assert choose({"deployed": first, "told": nearer}, 0.01) == "deployed"
    mean, low, high = gained(nearer.error_m, first.error_m)
    assert mean == pytest.approx(0.001) and low == pytest.approx(0.001) and high == pytest.approx(0.001)
    failed = ended([False] * 40, [np.nan] * 40)
    assert gained(failed.error_m, first.error_m) == (0.0, 0.0, 0.0)


def test_a_network_is_refused_and_so_is_another_team():
    with pytest.raises(UserError, match="swap_4: is a network that carries, and only laws"):
        as_law("swap_4", run_of("swap_4"))
    with pytest.raises(UserError, match="lift_4: is of 4 robots of task = 'lift', the recordings are of 3"):
        check_team("lift_4", load_scenario("lift_4"), load_scenario("lift_3"))
    law = as_law("lift_3", run_of("lift_3"))
    check_team("lift_3", law.scenario, load_scenario("lift_3"))
    assert law.gains.trim == pytest.approx(3.0, abs=0.1)


def test_robots_know_what_they_are_told_whatever_the_plant_is(tmp_path: Path):
    plant, known = planted_plant("lift_3", tmp_path / "plant.toml"), load_scenario("lift_3")
    teams = [make_team(plant, "mujoco", 2, 0) for _ in range(2)]
    teams[1].known = known
    for team in teams:
        team.reset()
    told, old = (team.views() for team in teams)
    assert isinstance(told.sensed, LoadSensed) and isinstance(old.sensed, LoadSensed)
    np.testing.assert_array_equal(told.own.pos_m, old.own.pos_m)
    np.testing.assert_array_equal(told.sensed.load_pos_m, old.sensed.load_pos_m)
    assert np.abs(told.sensed.grip_n - old.sensed.grip_n).max() > 0.5
    nominal = make_team(known, "mujoco", 2, 0)
    nominal.reset()
    np.testing.assert_array_equal(nominal.views().sensed.grip_n, old.sensed.grip_n)  # type: ignore[union-attr]


def test_held_out_flights_accept_a_payload_that_is_there_and_refuse_one_that_is_not(tmp_path: Path):
    known = load_scenario("lift_3")
    plant = planted_plant("lift_3", tmp_path / "plant.toml")
    tracks = flown(plant, 3).tracks
    seen = accept(find_payload, (known, plant), tracks)
    assert seen.is_better
    assert seen.before_m > 0.04 and seen.after_m < 0.5 * seen.before_m
    with pytest.raises(UserError, match="no nearer to held-out flights"):
        accept(find_payload, (plant, known), tracks)
    with pytest.raises(UserError, match="held-out flights say nothing of the payload"):
        accept(find_payload, (known, plant), [t.part(slice(0, 9)) for t in tracks])


@pytest.mark.slow
def test_lift_3_is_adapted_to_a_payload_that_is_heavier_and_aside(tmp_path: Path):
    plant = planted_plant("lift_3", tmp_path / "plant.toml")
    how = Args("lift_3", (), out=tmp_path / "out", judge=str(tmp_path / "plant.toml"), hold_out=0.4, steps=1_536_000)
    found = adapt(dataclasses.replace(how, episodes=40), flown(plant, 12))
    assert found["chosen"] in ("told", "searched")
    teams = found["teams"]
    assert teams["told"]["attitude_error_rad"] < 0.6 * teams["deployed"]["attitude_error_rad"]
    assert teams[found["chosen"]]["gain_m"][1] > 0
    made = load_bundle(tmp_path / "out" / "bundle")
    com_m = table_in(made.contract.scenario.content, "load")["com_m"]
    assert is_list(com_m) and com_m[0] == pytest.approx(0.04, abs=0.01)
    (parent,) = made.contract.training.ancestry
    assert (parent.name, parent.recordings) == ("lift_3", OF.recordings)
    assert (tmp_path / "out" / "adapt.json").is_file()
