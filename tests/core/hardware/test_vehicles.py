"""Vehicle files of every kind: what each needs, what does not fit, and that every safety figure has a source."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from robomarl.core.config import UserError, build, to_dict
from robomarl.core.hardware.sections import SafetyConfig
from robomarl.core.hardware.vehicle import KINDS, load_any_vehicle, load_vehicle
from robomarl.core.paths import vehicles_dir

NAMES = sorted(file.stem for file in vehicles_dir().glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_the_vehicles_that_ship_are_of_their_kind_and_survive_a_bundle(name: str):
    vehicle = load_any_vehicle(name)
    assert type(vehicle) is KINDS[vehicle.kind]
    assert vehicle.name == name
    assert build(KINDS[vehicle.kind], to_dict(vehicle), "bundle.json") == vehicle


def test_all_kinds_ship():
    assert {load_any_vehicle(name).kind for name in NAMES} == set(KINDS)


def test_who_needs_a_quadrotor_says_so():
    with pytest.raises(UserError, match=r"ssl_omni.yaml: kind = 'omnidirectional' does not fly"):
        load_vehicle("ssl_omni")


MISTAKES = [
    ("ssl_omni", {"limits.accel_max_m_s2": [2.1, 2.1, 1.0]}, "must be 0 for a ground robot"),
    ("ssl_omni", {"limits.speed_m_s": 3.5}, "together ask 4.3 m/s of a wheel; its rim makes 3.6"),
    ("ssl_omni", {"wheels.angles_rad": [0.0, 1.0]}, "wheels.angles_rad must have 3 entries at least"),
    ("turtlebot3_burger", {"limits.speed_m_s": 0.2}, "asks 0.256 m/s of a wheel, which makes 0.22"),
    ("turtlebot3_burger", {"limits.yaw_rate_rad_s": 1.0}, "turns faster than limits.yaw_rate_rad_s = 1"),
    ("turtlebot3_burger", {"kind": "quadrotor"}, "unknown key 'drive'"),
]


def changed(name: str, changes: dict, folder: Path) -> str:
    data = yaml.safe_load((vehicles_dir() / f"{name}.yaml").read_text())
    for key, value in changes.items():
        *path, last = key.split(".")
        part = data
        for step in path:
            part = part[step]
        if value is None:
            del part[last]
        else:
            part[last] = value
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(data))
    return str(file)


@pytest.mark.parametrize(("name", "changes", "message"), MISTAKES)
def test_what_does_not_fit_is_refused(tmp_path: Path, name: str, changes: dict, message: str):
    with pytest.raises(UserError, match=r"mine.yaml: ") as caught:
        load_any_vehicle(changed(name, changes, tmp_path))
    assert message in str(caught.value)


REQUIRED = [f.name for f in dataclasses.fields(SafetyConfig) if f.default is dataclasses.MISSING]


@pytest.mark.parametrize("key", REQUIRED)
@pytest.mark.parametrize("name", ["crazyflie_21", "ssl_omni", "turtlebot3_burger"])
def test_an_unset_safety_figure_is_refused_by_name(tmp_path: Path, name: str, key: str):
    with pytest.raises(UserError, match=f"mine.yaml: key 'safety.{key}' is missing; add it"):
        load_any_vehicle(changed(name, {f"safety.{key}": None}, tmp_path))


def test_a_safety_figure_without_a_source_is_refused_by_name(tmp_path: Path):
    data = yaml.safe_load((vehicles_dir() / "ssl_omni.yaml").read_text())
    for key in [k for k in data["sources"] if k.startswith("safety.") and k.split(".")[1] in data["safety"]]:
        for sources in ({k: v for k, v in data["sources"].items() if k != key}, data["sources"] | {key: " "}):
            file = changed("ssl_omni", {"sources": sources}, tmp_path)
            with pytest.raises(UserError, match=rf"mine.yaml: {key} has no source; add sources: {key}"):
                load_any_vehicle(file)


@pytest.mark.parametrize("name", NAMES)
def test_one_source_for_all_safety_figures_is_refused(tmp_path: Path, name: str):
    data = yaml.safe_load((vehicles_dir() / f"{name}.yaml").read_text())
    file = changed(name, {"sources": data["sources"] | {"safety": "measured"}}, tmp_path)
    with pytest.raises(UserError, match=r"mine.yaml: sources: safety speaks for all figures at once"):
        load_any_vehicle(file)


def test_bounds_are_those_of_the_estimator_that_flies():
    assumed, firmware = load_any_vehicle("crazyflie_21"), load_any_vehicle("crazyflie_21", "firmware")
    assert assumed == load_any_vehicle("crazyflie_21", "assumed")
    measured = {"firmware": (0.2, 0.52), "firmware_corrected": (0.11, 0.23), "mocap": (0.0012, 0.085)}
    assert assumed.bounds == {"assumed": (0.02, 0.05)} | measured
    assert next(iter(firmware.bounds.items())) == ("firmware", (0.2, 0.52))
    figures = firmware.safety.position_error_m, firmware.safety.velocity_error_m_s
    assert figures == (0.2, 0.52)
    assert "49919 samples, 18 flights" in firmware.sources["safety.velocity_error_m_s"]
    same = dataclasses.replace(firmware.safety, position_error_m=0.02, velocity_error_m_s=0.05)
    assert same == assumed.safety


def test_a_file_may_choose_the_estimator_that_flies(tmp_path: Path):
    chosen = load_any_vehicle(changed("crazyflie_21", {"estimator": "mocap"}, tmp_path))
    assert (chosen.estimator, chosen.safety.velocity_error_m_s) == ("mocap", 0.085)
    assert load_any_vehicle(str(tmp_path / "mine.yaml"), "assumed").safety.velocity_error_m_s == 0.05
    assert build(KINDS["quadrotor"], to_dict(chosen), "bundle.json") == chosen


def test_an_estimator_without_figures_is_refused_with_the_mend(tmp_path: Path):
    mend = "measure them and add estimators.gps, or name one of assumed, firmware, firmware_corrected, mocap"
    with pytest.raises(UserError, match=f"^crazyflie_21.yaml: has no bounds of the estimator 'gps'; {mend}"):
        load_any_vehicle("crazyflie_21", "gps")
    with pytest.raises(UserError, match=r"^ssl_omni.yaml: has no bounds of the estimator 'vision'.* one of assumed"):
        load_any_vehicle("ssl_omni", "vision")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("position_error_m", 1.2, r"estimators.mocap: safety.position_error_m = 1.2 is more than safety.separation_m"),
        ("quantile", 99.9, r"estimators.mocap.quantile = 99.9 is out of range"),
        ("flights", None, r"key 'estimators.mocap.flights' is missing"),
        ("source", None, r"key 'estimators.mocap.source' is missing"),
    ],
)
def test_bounds_without_evidence_or_in_another_unit_are_refused(tmp_path: Path, key: str, value: object, message: str):
    with pytest.raises(UserError, match=message):
        load_any_vehicle(changed("crazyflie_21", {f"estimators.mocap.{key}": value}, tmp_path))
