"""Scenario and vehicle files: families, inheritance, and one sentence for every mistake."""

from pathlib import Path

import pytest

from robomarl.core.config import UserError, build, to_dict
from robomarl.core.hardware.scenario_files import scenario_names
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.paths import scenarios_dir, vehicles_dir
from robomarl.lab.sim.scenario import load_scenario


@pytest.mark.parametrize("name", [n for n in scenario_names() if not n.startswith("soccer")])
def test_every_scenario_that_ships_loads_and_is_plain_data(name: str):
    scenario = load_scenario(name)
    assert scenario.name == name
    assert build(type(scenario), to_dict(scenario), "copy") == scenario


def test_a_family_has_any_size():
    assert load_scenario("swap_7").count == 7
    assert load_scenario("swap_7").start == load_scenario("swap_4").start
    with pytest.raises(UserError, match=r"swap_16\.toml with count = 44: \[arena\] is too small"):
        load_scenario("swap_44")


def write(folder: Path, text: str) -> str:
    file = folder / "mine.toml"
    file.write_text(text)
    return str(file)


def test_extends_overrides_keys(tmp_path: Path):
    scenario = load_scenario(write(tmp_path, 'extends = "swap_4"\ncount = 2\n[radio]\nrange_m = 11.0\n'))
    assert (scenario.count, scenario.radio.range_m, scenario.radio.latency_s) == (2, 11.0, 0.02)
    assert scenario.name == "mine"


MISTAKES = {
    "count = 0": "mine.toml: count = 0 is out of range; it must be at least 1.",
    "count = 2.5": "mine.toml: count must be a whole number, not 2.5 (float).",
    "cuont = 4": "mine.toml: unknown key 'cuont'; did you mean 'count'?",
    "[radio]\nrange_m = -1.0": "mine.toml: radio.range_m = -1.0 is out of range; it must be",
    "[radio]\nrang_m = 1.0": "mine.toml: unknown key 'radio.rang_m'; did you mean 'range_m'?",
    "[arena]\nlow_m = [0.0, 0.0]": "mine.toml: arena.low_m must be a list of 3 values, not 2.",
    "[arena]\nlow_m = [-0.5, -3.5, 0.1]": (
        "mine.toml: [arena] is too small: what [start] says reaches from -1.1 to 1.1 m on axis x, the arena from -0.5 "
        "to 3.5; make low_m and high_m wider, or [start] smaller."
    ),
    "[arena]\nhigh_m = [3.5, 3.5, 1.0]": "what [start] says reaches from 1.1 to 1.3 m on axis z",
    "count = 64": "what [start] says reaches from -6.214 to 6.214 m on axis x",
    "[start]\nring_radius_m = 0.1\nmin_spacing_m = 0.1\n[goal]\njitter_m = 4.0": "what [goal] says reaches from -4.1",
    '[start]\nplaces_m = [[0, 0, 1], [1, 0, 1], [2, 0, 1], [3, 0, 1]]\n[goal]\nkind = "places"\n'
    "places_m = [[0, 0, 1], [1, 0, 1], [2, 0, 1], [3, 4, 1]]": "[goal] says reaches from -0.05 to 4.05 m on axis y",
    "[radio]\nlatency_s = 1.5": (
        "mine.toml: radio: latency_s = 1.5 must be below max_age_s = 0.5, or nobody is ever heard."
    ),
    "[arena]\nlow_m = [9.0, -1.0, 0.1]": "mine.toml: arena: low_m must be below high_m on every axis.",
    "[rates]\nphysics_hz = 120.0": "mine.toml: rates: physics_hz = 120 must be a multiple of policy_hz = 50.",
    "[randomize]\nmass_scale = [1.1, 0.9]": "mass_scale = [1.1, 0.9] must be [low, high] with 0 <= low <= high.",
    "[randomize]\npacket_loss = [0.0, 2.0]": "must end at 1 or below",
    '[goal]\nkind = "near"': "mine.toml: goal.kind must be one of 'far_side', 'random', 'places', not 'near' (str).",
    "[held_out]\nodd = { colour = 1.0 }": "mine.toml: held_out.odd.colour is not a randomized parameter; allowed:",
    "time_limit_s = inf": "mine.toml: time_limit_s must be a finite number, not inf (float).",
    'vehicle = "zeppelin"': "Unknown vehicle 'zeppelin': no file zeppelin.yaml; known vehicles: ",
    "count 4": "mine.toml: not valid TOML",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_name_file_key_and_mend(tmp_path: Path, text: str):
    with pytest.raises(UserError) as caught:
        load_scenario(write(tmp_path, f'extends = "swap_4"\n{text}\n'))
    assert MISTAKES[text] in str(caught.value)


def test_a_load_starts_in_the_arena(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "lift_3"\n[load.start]\nhigh_m = [1.0, 5.5, 1.5]\n')
    with pytest.raises(UserError, match=r"what \[load.start\] says reaches from -1 to 5.5 m on axis y"):
        load_scenario(str(file))


def test_a_missing_key_is_named(tmp_path: Path):
    kept = [line for line in (scenarios_dir() / "swap_4.toml").read_text().splitlines() if "height_m" not in line]
    with pytest.raises(UserError, match="key 'start.height_m' is missing; add it"):
        load_scenario(write(tmp_path, "\n".join(kept)))


@pytest.mark.parametrize("name", ["swop_4", "swap4", "swap-4", "SWAP_4"])
def test_a_scenario_that_is_nearly_known_is_suggested(name: str):
    with pytest.raises(UserError, match=r"Unknown scenario .*; did you mean 'swap_4'\?$"):
        load_scenario(name)


def test_an_unknown_scenario_lists_the_known():
    with pytest.raises(UserError, match=r"Unknown scenario .*; known scenarios: .*swap_4.*\.$"):
        load_scenario("zeppelin.toml")


VEHICLE_MISTAKES = {
    ("mass_kg: 0.033", "mass_kg: -1"): "mine.yaml: body.mass_kg = -1.0 is out of range",
    ("mass_kg: 0.033", "mass_kg: 0.2"): "lifts only 2.25 m/s^2 with body.mass_kg = 0.2 kg; it must",
    ("radius_m: 0.07 ", "radius_m: 7.0 "): "mine.yaml: safety.separation_m = 0.2 m is less than two vehicles of",
    ("mass_kg: 0.033", "mass: 0.033"): "mine.yaml: unknown key 'body.mass'; did you mean 'mass_kg'?",
    (
        "kind: quadrotor",
        "kind: boat",
    ): "mine.yaml: kind must be one of 'quadrotor', 'omnidirectional', 'differential', not",
    ("spin: [-1, 1, -1, 1]", "spin: [-1, 1, -1]"): "must have 4 entries each for a quadrotor",
    ("land_after_s: 2.0", "land_after_s: 0.1"): "on_command_loss.land_after_s must be larger than hover_after_s",
    ("version: 2", "version: ["): "mine.yaml: not valid YAML",
}


@pytest.mark.parametrize("change", VEHICLE_MISTAKES)
def test_vehicle_mistakes_name_file_key_and_mend(tmp_path: Path, change: tuple[str, str]):
    text = (vehicles_dir() / "crazyflie_21.yaml").read_text()
    assert change[0] in text
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace(*change, 1))
    with pytest.raises(UserError) as caught:
        load_vehicle(str(file))
    assert VEHICLE_MISTAKES[change] in str(caught.value)
