"""Numbers in another unit than their key says: each is refused where the file is read, with the number to write."""

import copy
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from robomarl.core.config import UserError, to_dict
from robomarl.core.config.units import UNITS, misfit, unit_of
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.scenario_files import scenario_names
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.paths import fleets_dir, vehicles_dir
from robomarl.lab.sim.scenario import build_scenario, load_scenario


@cache
def content_of(scenario: str) -> dict:
    return to_dict(load_scenario(scenario))


def put(content: dict, key: str, value: Any) -> dict:
    """The content with another value of a dotted key; numbers are places in lists."""
    content = copy.deepcopy(content)
    *path, last = (int(word) if word.isdigit() else word for word in key.split("."))
    part: Any = content
    for step in path:
        part = part[step]
    part[last] = value
    return content


SCENARIOS = [
    (
        "swap_4",
        "start.yaw_rad",
        180.0,
        "start.yaw_rad = 180 is no plausible number of rad: .* write 3.14159 for 180 degrees",
    ),
    ("swap_4", "start.yaw_rad", -180.0, "start.yaw_rad"),
    ("swap_4", "start.ring_radius_m", 1000.0, "write 1 for 1000 mm or 10 for 1000 cm"),
    ("swap_4", "start.ring_radius_m", -1.0, "must be above 0"),
    ("swap_4", "start.ring_radius_m", 0.0, "must be above 0"),
    ("swap_4", "arena.high_m.0", 3500.0, r"arena.high_m\[0\] = 3500 .* write 3.5 for 3500 mm"),
    ("swap_4", "arena.high_m", [0.0, 0.0, 0.0], "low_m must be below high_m"),
    ("swap_4", "success.position_m", 150.0, "write 0.15 for 150 mm"),
    ("swap_4", "sensing.position_noise_m", 5.5, "write 0.0055 for 5.5 mm"),
    ("swap_4", "success.hold_s", 1000.0, "write 1 for 1000 ms"),
    ("swap_4", "radio.latency_s", 20.0, "write 0.02 for 20 ms"),
    ("swap_4", "radio.max_age_s", 500.0, "write 0.5 for 500 ms"),
    ("swap_4", "time_limit_s", 8000.0, "write 8 for 8000 ms"),
    ("swap_4", "randomize.mass_scale", [95.0, 105.0], r"mass_scale\[0\] = 95 .* write 0.95 for 95 percent"),
    ("swap_4", "randomize.packet_loss", [0.0, 30.0], "packet_loss"),
    ("swap_4", "held_out.deaf.packet_loss", 50.0, "held_out.deaf: packet_loss .* must end at 1 or below"),
    ("swap_4", "held_out.heavy.mass_scale", -1.1, "held_out.heavy: mass_scale"),
    ("swap_4", "held_out.heavy.mass_scale", 110.0, "held_out.heavy.mass_scale = 110 .* write 1.1 for 110 percent"),
    ("swap_4", "weather.gust_time_s", 500.0, "write 0.5 for 500 ms"),
    ("swap_4", "randomize.wind_m_s", [0.0, 100.0], "write 27.7778 for 100 km/h"),
    ("swap_4", "rates.policy_hz", 0.0, "must be above 0"),
    ("goto_4", "action_m_s2.0", -3.0, "must be above 0"),
    ("lift_3", "load.mass_kg", 1400.0, "write 1.4 for 1400 g"),
    ("lift_3", "load.mass_kg", 600.0, "is denser than any body"),
    ("lift_3", "load.inertia_kg_m2.0", 338.0, r"inertia_kg_m2\[0\] = 338 can't be that of 1.4 kg"),
    ("lift_3", "load.box_high_m", [275.0, 225.0, 150.0], "is lighter than any body"),
    ("lift_3", "load.goal.tilt_rad", 30.0, "write 0.523599 for 30 degrees"),
    ("lift_3", "cables.length_m", 1000.0, "write 1 for 1000 mm"),
    ("lift_3", "load.downwash_share", 10.0, r"must be from 0 to 1 \(0.1 for 10 percent\)"),
    ("soccer_2v2", "eyes.fov_rad", 120.0, "fov_rad"),
    ("soccer_2v2", "eyes.bearing_noise_rad", 1.15, "write 0.0200713 for 1.15 degrees"),
    ("soccer_2v2", "ball.mass_kg", 46.0, "is denser than any body"),
    ("soccer_2v2", "ball.radius_m", 21.5, "write 0.0215 for 21.5 mm"),
    ("soccer_2v2", "field.length_m", 6050.0, "write 6.05 for 6050 mm"),
    ("soccer_2v2", "eyes.dropout", 5.0, r"\(0.05 for 5 percent\)"),
]
VEHICLES = [
    ("crazyflie_21", "body.mass_kg", 33.0, "lifts only 0.01 m/s.2 with body.mass_kg = 33 kg"),
    ("crazyflie_21", "body.radius_m", 70.0, "write 0.07 for 70 mm or 0.7 for 70 cm"),
    ("crazyflie_21", "body.radius_m", 7.0, "separation_m = 0.2 m is less than two vehicles of body.radius_m = 7 m"),
    ("crazyflie_21", "body.radius_m", -0.07, "must be above 0"),
    ("crazyflie_21", "body.inertia_kg_m2.0", 168.0, r"body.inertia_kg_m2\[0\] = 168 can't be that of 0.0\d+ kg"),
    ("crazyflie_21", "rotors.positions_m.0.0", 32.5, "write 0.0325 for 32.5 mm"),
    ("crazyflie_21", "rotors.time_constant_s", 30.0, "write 0.03 for 30 ms"),
    ("crazyflie_21", "safety.delay_s", 160.0, "write 0.16 for 160 ms"),
    ("crazyflie_21", "safety.separation_m", 200.0, "write 0.2 for 200 mm or 2 for 200 cm"),
    ("crazyflie_21", "safety.position_error_m", 20.0, "write 0.02 for 20 mm"),
    ("crazyflie_21", "limits.yaw_rate_rad_s", 57.3, "write 1.00007 for 57.3 degrees/s"),
    ("crazyflie_21", "limits.speed_m_s", 100.0, "write 27.7778 for 100 km/h"),
    ("crazyflie_21", "limits.speed_m_s", 0.0, "must be above 0"),
    ("crazyflie_21", "limits.accel_max_m_s2.0", -3.0, r"accel_max_m_s2\[0\] = -3 above it: a vehicle brakes both ways"),
    ("crazyflie_21", "limits.accel_max_m_s2.0", 3000.0, "write 3 for 3000 mm/s"),
    ("crazyflie_21", "safety.separation_m", 20.0, "separation_m = 20 is more than 50 widths of the body, 7;"),
    ("crazyflie_21", "safety.clearance_m", 10.0, "clearance_m = 10 is more than 50 widths of the body, 7;"),
    ("crazyflie_21", "safety.position_error_m", 2.0, "error_m = 2 is more than safety.separation_m, 0.2; give it in"),
    ("crazyflie_21", "safety.velocity_error_m_s", 5.0, "error_m_s = 5 is more than limits.speed_m_s, 1.5"),
    ("crazyflie_21", "safety.brake_m_s2", 160.0, r"brake_m_s2 = 160 is more than the least of limits.accel_\*_m_s2, 3"),
    (
        "crazyflie_21",
        "rotors.positions_m.0.0",
        3.253,
        r"_m\[0\] = 3.253 is more than 3 times body.radius_m, 0.21",
    ),
    ("crazyflie_21", "rotors.torque_per_thrust_m", 0.596, "0.596 is more than the arm of a rotor, 0.03253"),
    ("crazyflie_21", "control.min_lift_m_s2", 200.0, "min_lift_m_s2 = 200 is more than what hovering takes, 9.8"),
    ("crazyflie_21", "on_command_loss.land_speed_m_s", 30.0, "land_speed_m_s = 30 is more than limits.speed_m_s, 1.5"),
    ("carrier_600", "safety.lift_bias_m_s2", 10.0, r"lift_bias_m_s2 = 10 is more than limits.accel_\*_m_s2 upwards, 3"),
    ("gritsbot", "limits.accel_max_m_s2.0", 80.0, r"accel_max_m_s2\[0\] = 80 is more than wheels hold, 3 g, 29.4"),
    ("gritsbot", "drive.wheel_speed_m_s", 20.0, "wheel_speed_m_s = 20 is more than 50 times limits.speed_m_s, 6.75"),
    ("gritsbot", "drive.look_ahead_m", 5.0, "look_ahead_m = 5 is more than 10 times body.radius_m, 0.675"),
    ("ssl_omni", "wheels.radius_m", 3.0, "wheels.radius_m = 3 is more than body.radius_m, 0.09"),
    ("ssl_omni", "kicker.min_speed_m_s", 50.0, "min_speed_m_s = 50 is more than kicker.max_speed_m_s, 6.5"),
    ("crazyflie_21", "on_command_loss.hover_after_s", 250.0, "write 0.25 for 250 ms"),
    ("carrier_600", "body.mass_kg", 600.0, "with body.mass_kg = 600 kg"),
    ("ssl_omni", "wheels.angles_rad.0", 58.0, "write 1.01229 for 58 degrees"),
    ("ssl_omni", "kicker.width_m", 70.0, "kicker.width_m = 70 m must be at most"),
    ("ssl_omni", "on_command_loss.stop_after_s", 100.0, "write 0.1 for 100 ms"),
    ("turtlebot3_burger", "drive.track_m", 160.0, "write 0.16 for 160 mm"),
    ("turtlebot3_burger", "body.mass_kg", 1000.0, "is denser than any body"),
    ("gritsbot", "body.height_m", 100.0, "body.height_m = 100 m over body.radius_m = .* is a mast"),
]


@pytest.mark.parametrize(("name", "key", "value", "said"), SCENARIOS)
def test_a_scenario_in_another_unit_is_refused_with_the_right_number(name: str, key: str, value: Any, said: str):
    with pytest.raises(UserError, match=said) as caught:
        build_scenario(put(content_of(name), key, value), "mine.toml")
    assert str(caught.value).startswith("mine.toml: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "key", "value", "said"), VEHICLES)
def test_a_vehicle_in_another_unit_is_refused_with_the_right_number(
    tmp_path: Path, name: str, key: str, value: float, said: str
):
    content = put(yaml.safe_load((vehicles_dir() / f"{name}.yaml").read_text()), key, value)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(UserError, match=said) as caught:
        load_any_vehicle(str(tmp_path / "mine.yaml"))
    assert str(caught.value).startswith("mine.yaml: ") and "\n" not in str(caught.value)


def test_nothing_that_ships_is_refused():
    for name in (file.stem for file in vehicles_dir().glob("*.yaml")):
        load_any_vehicle(name)
    for name in (file.stem for file in fleets_dir().glob("*.yaml")):
        load_fleet(name)
    assert all(load_scenario(name).count for name in scenario_names())


@pytest.mark.parametrize(
    ("key", "value", "fits"),
    [
        ("yaw_rad", math.pi, True),
        ("yaw_rad", 90.0, False),
        ("yaw_rate_rad_s", 10.0, True),
        ("speed_rad_s", 3000.0, True),  # of a wheel
        ("radius_m", 0.3, True),
        ("high_m", 900.0, True),  # a field
        ("stiffness_n_m", 1e6, True),
        ("name", 1e9, True),
        ("epochs", 1e9, True),
        ("max_twist_rad", 1000.0, True),  # as good as none
        ("m", 3000.0, False),
    ],
)
def test_the_longest_end_of_a_name_counts(key: str, value: float, fits: bool):
    assert (misfit(key, value) == "") == fits == (misfit(key, -value) == "")


def test_every_number_that_is_offered_fits():
    for key, unit in UNITS.items():
        assert unit_of(key) is unit and unit_of(f"any_{key}") is unit
        for _, factor in unit.others:
            assert 0 < factor < 1 or factor > 1
            if math.isfinite(unit.high):
                assert f"{unit.high * 0.9:.6g}" in misfit(key, unit.high * 0.9 / factor)
