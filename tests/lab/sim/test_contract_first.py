"""What no contract takes is said when the environment is built, and not when a trained policy is exported."""

from dataclasses import replace
from typing import Any

import pytest

from robomarl.core.config import UserError
from robomarl.core.domain.registry import domain_named
from robomarl.core.features import FEATURES, feature
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.spec import NOT_COMMANDED, ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.front.cli import main
from robomarl.lab.evaluate.model_episodes import simulation_of_model
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.model import accelerated
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of


@pytest.fixture
def scenario() -> Any:
    return load_scenario("navigation")


def with_model(scenario: Any, monkeypatch: pytest.MonkeyPatch, more: dict | None = None, **other: Any) -> None:
    simulation = simulation_of(scenario)
    made = simulation_of_model(replace(simulation.model, law=lambda s: None, **other), type(scenario), **(more or {}))
    monkeypatch.setitem(domain_named("ground").__dict__, "simulation", made)


def fields(**changed: Any) -> ActionSpec:
    spec = accelerated(load_scenario("navigation"))
    return ActionSpec(tuple(replace(f, **changed) if f.name == "acceleration.z" else f for f in spec.fields))


WRONG = {
    "no range": (fields(low=-0.0, high=0.0), r"acceleration.z goes from -0 to 0; .*1e-10 below and above 0"),
    "endless": (fields(low=-1.0, high=float("inf")), r"acceleration.z goes from -1 to inf"),
    "no number": (fields(low=float("nan")), r"acceleration.z goes from nan"),
    "another unit": (fields(unit="g"), r"acceleration.z must be in m/s\^2"),
    "another frame": (fields(frame="body"), r"acceleration.z must be in m/s\^2, in the frame world or field"),
    "an unknown name": (fields(name="torque"), r"'torque' is not known; allowed: acceleration.x"),
    "a name twice": (fields(name="acceleration.x"), r"two fields with one name"),
    "axes exchanged": (ActionSpec(fields().fields[::-1]), r"must come behind"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_action_that_no_contract_takes(kind: str, scenario: Any, monkeypatch: pytest.MonkeyPatch, capsys):
    action, told = WRONG[kind]
    with_model(scenario, monkeypatch, action=lambda s: action)
    with pytest.raises(UserError, match=f"navigation.toml: task = 'navigation': .*{told}"):
        make_env(scenario)
    assert main(["check", "navigation"]) == 1
    said = capsys.readouterr().err
    assert "navigation.toml: task = 'navigation'" in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("roles", "told"),
    [(("one",), "roles names 1 roles for teams of up to 3"), (("a", "b", "b"), "roles has a name twice")],
)
def test_roles_that_no_contract_takes(roles: tuple, told: str, scenario: Any, monkeypatch: pytest.MonkeyPatch):
    with_model(scenario, monkeypatch, {"roles": lambda s, robots: roles})
    with pytest.raises(UserError, match=told):
        make_env(scenario)


def test_a_feature_whose_units_are_not_those_of_its_parts(scenario: Any, monkeypatch: pytest.MonkeyPatch):
    @feature(("x", "y"), "m, s, -", "world", ("own.pos_m",))
    def of_three_units(view: Any, rule: Any) -> Any:
        return view.own.pos_m[..., :2]

    spec = ObservationSpec((ObservationField("of_three_units"),))
    with_model(scenario, monkeypatch, observation=lambda s: spec)
    with pytest.raises(UserError, match="of_three_units: unit = 'm, s, -' names 3"):
        make_env(scenario)
    FEATURES.pop("of_three_units")


def test_the_action_of_a_vehicle_is_one_that_a_contract_takes(monkeypatch: pytest.MonkeyPatch):
    ends = {}
    for name in ("gritsbot", "ssl_omni", "crazyflie_21"):
        scenario = load_scenario("navigation")
        monkeypatch.setitem(scenario.__dict__, "vehicle_config", load_any_vehicle(name))
        spec = accelerated(scenario)
        with_model(load_scenario("navigation"), monkeypatch, action=lambda s, spec=spec: spec)
        make_env(load_scenario("navigation"))
        ends[name] = {field.name: field.high for field in spec.fields}
    limits = load_any_vehicle("ssl_omni").limits
    assert ends["gritsbot"]["acceleration.z"] == ends["gritsbot"]["yaw_rate"] == NOT_COMMANDED
    assert ends["ssl_omni"]["yaw_rate"] == limits.yaw_rate_rad_s and ends["crazyflie_21"]["acceleration.z"] > 1
    assert ActionField("acceleration.x", "m/s^2", "world", -0.8, 0.8) == accelerated(scenario_of("gritsbot")).fields[0]


def scenario_of(vehicle: str) -> Any:
    return replace(load_scenario("navigation"), vehicle=vehicle)
