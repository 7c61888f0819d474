"""Flights are held out whole; what can't be adapted is said before anything is trained."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.flight.planted import draw_planted, fly_planted
from robomarl.core.config import UserError
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.adapt.vehicles import from_known_to
from robomarl.field.identify.held_out import split_flights
from robomarl.field.identify.patch import Provenance
from robomarl.field.identify.residual import three_sets
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.field.track import RobotTrack
from robomarl.front.cli.adapt import Args, adapt
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.run.bundle_as_run import run_of

OF = Provenance(("bag sha256 0123",), "swap_4 0123", "abcdef", "2026-11-23", "swap_4")


def tracks(flights: list[int]) -> list[RobotTrack]:
    zero = np.zeros((3, 3))
    one = RobotTrack("one", 0, zero[0], zero, np.zeros((3, 4)), zero, zero, zero[0], np.zeros((3, 4)))
    return [one._replace(robot=name, flight=flight) for flight in flights for name in ("one", "two")]


def test_whole_flights_are_held_out_the_last_ones():
    fitted, held = split_flights(tracks([0, 1, 2, 1000, 1001]), 0.4)
    assert {t.flight for t in fitted} == {0, 1, 2}
    assert {t.flight for t in held} == {1000, 1001}
    assert len(split_flights(tracks([0, 1]), 0.0)[1]) == 2
    assert not split_flights(tracks([7]), 0.5)[1]


def test_one_split_says_what_is_fitted_what_ends_a_fit_and_what_is_held_out():
    sets = three_sets(tracks([0, 1, 2, 1000, 1001]), 0.4)
    assert [{t.flight for t in part} for part in sets] == [{0, 1}, {2}, {1000, 1001}]
    assert {t.flight for t in sets.seen} == {0, 1, 2}
    assert [len(part) for part in three_sets(tracks([0, 1]), 0.4)] == [2, 0, 2]
    assert [len(part) for part in three_sets(tracks([0]), 0.4)] == [2, 0, 0]


def test_one_flight_is_not_enough_and_no_folder_is_written_over(tmp_path: Path):
    flown = RecordedFlights(load_scenario("swap_4"), tracks([0]), OF, ())
    with pytest.raises(UserError, match="none could be held out"):
        adapt(Args("swap_4", (), out=tmp_path / "out"), flown)
    with pytest.raises(UserError, match="is there already"):
        adapt(Args("swap_4", (), out=tmp_path), flown)


def test_holding_out_everything_leaves_nothing_to_fit(tmp_path: Path):
    flown = RecordedFlights(load_scenario("swap_4"), tracks([0, 1]), OF, ())
    with pytest.raises(UserError, match="--hold-out 1: leaves no flight to identify anything from; hold out fewer"):
        adapt(Args("swap_4", (), out=tmp_path / "out", hold_out=1.0), flown)


def test_the_figures_are_json_whatever_they_are_and_the_bundle_is_read_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    read = []

    def vehicles(args: Args, flown: RecordedFlights, known: Any) -> dict[str, Any]:
        args.out.mkdir()
        return {"scenario": known.scenario.name, "error_m": math.nan, "rate": np.float32(0.5)}

    def counted(name: str) -> Any:
        read.append(name)
        return run_of(name)

    monkeypatch.setattr("robomarl.field.adapt.adapt.adapt_vehicles", vehicles)
    monkeypatch.setattr("robomarl.field.adapt.adapt.run_of", counted)
    adapt(Args("swap_4", (), out=tmp_path / "out"), RecordedFlights(load_scenario("swap_4"), tracks([0, 1]), OF, ()))
    text = (tmp_path / "out" / "adapt.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail) == {"scenario": "swap_4", "error_m": None, "rate": 0.5}
    assert read == ["swap_4"]


def test_a_bundle_that_can_not_have_flown_is_refused_before_the_work(tmp_path: Path):
    flown = RecordedFlights(load_scenario("swap_4"), tracks([0, 1]), OF, ())
    for bundle, of in (("navigation", "ground at 30 Hz"), ("lift_3", "payload at 100 Hz")):
        with pytest.raises(UserError, match=f"{bundle}: is for {of}, the recordings are of flight at 50 Hz; name"):
            adapt(Args(bundle, (), out=tmp_path / "out"), flown)


def test_the_lessons_lead_from_the_known_ranges_to_the_identified_ones():
    known = load_scenario("swap_4")
    ranges = dataclasses.replace(known.randomize, mass_scale=(1.1, 1.2), delay_s=(0.03, 0.06))
    (lesson,) = from_known_to(known, dataclasses.replace(known, randomize=ranges))
    assert (lesson.parameter, lesson.begin, lesson.end) == ("randomize.mass_scale", (0.95, 1.05), (1.1, 1.2))


@pytest.mark.slow
def test_a_bundle_is_adapted_to_vehicles_that_it_fails_with(tmp_path: Path):
    policy, scenario = resolve_policy("swap_4")
    assert isinstance(scenario, FlightScenario)
    planted = {name: value * 0 + value.mean() for name, value in draw_planted(scenario, 1, 0).items()}
    shift = {"mass_scale": 1.12, "thrust_scale": 0.95, "delay_s": 0.04}
    planted |= {name: planted[name] * 0 + value for name, value in shift.items()}
    flown = RecordedFlights(scenario, fly_planted(scenario, policy, planted, 6, 5)[0], OF, ())
    found = adapt(Args("swap_4", (), out=tmp_path / "out", minutes=0.5, episodes=16), flown)
    assert found["success_before"] < 0.3
    assert found["prediction"]["after_m"] < 0.2 * found["prediction"]["before_m"]
    assert (tmp_path / "out" / "adapt.json").is_file()
    assert (tmp_path / "out" / "judge" / "swap_4_identified.toml").is_file()
