"""Vehicles whose parameters are known: the gap is seen where they differ, and identification finds them again."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.flight.identification import study
from benchmarks.flight.planted import draw_planted, fly_planted
from robomarl.core.config import UserError
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.gap import gap_figures, measure_gap
from robomarl.field.identify.identify import identify
from robomarl.field.identify.patch import Provenance, ranges_of, scenario_text, vehicle_text
from robomarl.field.identify.robot_fit import Parameter
from robomarl.field.identify.safety_figures import SafetyFigure, brake_figure
from robomarl.field.track import RobotTrack
from robomarl.field.work import field_of
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.scenario import load_scenario

OF = Provenance(("bag sha256 0123",), "swap_4 0123", "abcdef", "2026-11-23", "swap_4")


def flown(episodes: int = 1, **planted: float) -> tuple[object, list[RobotTrack]]:
    """A team of swap_4 with the same parameters for all robots, the others in the middle of their ranges."""
    policy, scenario = resolve_policy("swap_4")
    assert isinstance(scenario, FlightScenario)
    scenario = dataclasses.replace(scenario, time_limit_s=3.2)
    drawn = {name: value * 0 + value.mean() for name, value in draw_planted(scenario, 1, 0).items()}
    drawn |= {name: drawn[name] * 0 + value for name, value in planted.items()}
    return scenario, fly_planted(scenario, policy, drawn, episodes, 3)[0]


@pytest.mark.parametrize(
    ("mass_scale", "share"), [pytest.param(1.0, (0.0, 0.2), marks=pytest.mark.slow), (1.15, (0.9, 1.0))]
)
def test_a_heavy_vehicle_parts_from_what_training_drew(mass_scale: float, share: tuple, monkeypatch):
    monkeypatch.setattr("robomarl.field.identify.gap.MOST_LEGS", 4)
    scenario, tracks = flown(mass_scale=mass_scale, thrust_scale=1.0)
    gap = measure_gap(scenario, tracks)
    assert gap is not None
    found = gap_figures(gap)
    assert share[0] <= found["parted_share"] <= share[1]
    if mass_scale > 1.1:
        assert found["parts_first"] == "velocity.z"
        assert found["position_error_m"]["2"] > 1.0
        assert len(found["where"]) == 4


def test_what_can_not_be_compared_or_identified_is_named():
    lift, swap = load_scenario("lift_3"), load_scenario("swap_4")
    _, tracks = flown()
    with pytest.raises(UserError, match="under a load"):
        field_of(lift).reflown(lift, None, None)  # type: ignore[misc]
    with pytest.raises(UserError, match="under a load"):
        identify(lift, tracks)
    with pytest.raises(UserError, match="record longer flights"):
        identify(swap, [track.part(slice(0, 130)) for track in tracks])
    with pytest.raises(UserError, match="no model that could be fitted"):
        identify(load_scenario("soccer_2v2"), tracks)
    assert measure_gap(swap, [track.part(slice(0, 50)) for track in tracks]) is None


def test_the_patch_is_a_scenario_and_a_vehicle_that_can_be_read(tmp_path: Path):
    scenario = load_scenario("swap_4")
    names = {
        **{"delay_s": (0.03, 0.032), "mass_scale": (1.18, 1.22), "position_noise_m": (0.005, 0.006)},
        **{"velocity_noise_m_s": (0.014, 0.015), "wind_x_m_s": (-0.4, -0.3), "wind_y_m_s": (0, 0.1)},
        **{"gust_m_s": (0, 0.1), "packet_loss": (0, 0.1)},
    }
    rows = tuple(Parameter("one", name, (a + b) / 2, a, b, "") for name, (a, b) in names.items())
    robot = type("Found", (), {"parameters": rows})()
    ranges = ranges_of(scenario, [robot])  # type: ignore[list-item]
    assert ranges["mass_scale"] == (1.17, 1.23)  # a tenth of swap_4's own width on each side
    assert ranges["delay_s"] == (0.026, 0.036)
    assert ranges["wind_m_s"][1] == pytest.approx(0.45)
    assert "thrust_scale" not in ranges
    nobody_heard = [p._replace(value=math.nan, high=1.0) if p.name == "packet_loss" else p for p in rows]
    unknown = ranges_of(scenario, [type("Found", (), {"parameters": nobody_heard})()])  # type: ignore[list-item]
    assert "packet_loss" in ranges and "packet_loss" not in unknown
    figures = [SafetyFigure("delay_s", 0.2, 0.16, 0.2, "s"), SafetyFigure("lift_bias_m_s2", 0.4, 1.0, 1.0)]
    vehicle = tmp_path / "crazyflie_21.yaml"
    vehicle.write_text(vehicle_text("crazyflie_21", figures, (0.31, 0.3, 0.32), OF))
    file, base = tmp_path / "changed.toml", tmp_path / "flown.toml"
    base.write_text('extends = "swap_4"\n')
    file.write_text(scenario_text(scenario, vehicle, ranges, OF._replace(scenario=str(base))))
    assert load_scenario(str(file)).count == scenario.count, "a scenario by path is extended by its path"
    assert str(tmp_path) not in file.read_text()
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert load_scenario(str(moved / file.name)).vehicle_config.body.drag_per_s == 0.31
    moved.rename(tmp_path)
    file.write_text(scenario_text(scenario, vehicle, ranges, OF))
    read = load_scenario(str(file))
    assert read.randomize == dataclasses.replace(scenario.randomize, **ranges)
    new, old = load_vehicle(str(vehicle)), load_vehicle("crazyflie_21")
    assert (new.safety.delay_s, new.body.drag_per_s) == (0.2, 0.31)
    assert new.safety.lift_bias_m_s2 == old.safety.lift_bias_m_s2
    assert "bag sha256 0123" in new.sources["safety.delay_s"]
    assert new.sources["safety.brake_m_s2"] == old.sources["safety.brake_m_s2"]


def test_the_brake_is_what_the_limits_still_hold(tmp_path: Path):
    vehicle = load_vehicle("crazyflie_21")
    new = {"accel_error_m_s2": 0.52, "accel_bias_m_s2": 0.2, "lift_bias_m_s2": 1.0}
    brake = brake_figure(vehicle, new)
    assert brake.value == pytest.approx(2.9 - 1.0 - 0.52)
    figures = [SafetyFigure("accel_error_m_s2", 0.45, 0.3, 0.52), brake]
    file = tmp_path / "crazyflie_21.yaml"
    file.write_text(vehicle_text("crazyflie_21", figures, (0.2, 0.1, 0.3), OF))
    from_vehicle(load_vehicle(str(file)), 0.02)  # which the filter takes
    assert brake_figure(vehicle, {**new, "accel_error_m_s2": 0.3}).value == vehicle.safety.brake_m_s2
    with pytest.raises(UserError, match="nothing of the limits to brake with"):
        brake_figure(vehicle, {**new, "accel_error_m_s2": 2.0})


@pytest.mark.slow
def test_planted_parameters_are_within_their_intervals():
    found = study("swap_4", 2, 5, 7)
    covered = {name: row["covered"] for name, row in found["parameters"].items()}
    assert np.mean(list(covered.values())) / found["cases"] > 0.9
    assert found["parameters"]["delay_s"]["error_rms"] < 0.001
    assert found["parameters"]["lift_scale"]["error_rms"] < 0.005
