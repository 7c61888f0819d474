"""Loads that a team can't carry: every command refuses them in one sentence, with the numbers."""

from pathlib import Path

import pytest
import yaml

from robomarl.core.config import UserError
from robomarl.core.paths import vehicles_dir
from robomarl.front.cli import main
from robomarl.lab.sim.scenario import load_scenario

BAD = {
    "heavy": ("[load]\nmass_kg = 6.5", r"load.mass_kg = 6.5 is too heavy: 3 carrier_600 make 75 N"),
    "points": (
        "[cables]\nload_points_m = [[0.27, 0.22, 0.14], [0.27, 0.22, 0.141], [-0.27, 0.0, 0.14]]",
        "cables.load_points_m[0] and [1] coincide (0.1 cm apart)",
    ),
    "short": ("[cables]\nlength_m = 0.35", "cables.length_m = 0.35 is shorter than the vehicles' keep-out of 0.38 m"),
}


def files(folder: Path, name: str) -> tuple[str, str]:
    """Scenario and fleet."""
    scenario, fleet = folder / f"{name}.toml", folder / f"{name}.yaml"
    scenario.write_text(f'extends = "lift_3"\n{BAD[name][0]}\n')
    robots = [{"name": f"robot_{i}", "index": i, "folder": str(folder / f"robot_{i}")} for i in range(3)]
    content = {"version": 1, "name": name, "vehicle": "carrier_600", "scenario": str(scenario), "robots": robots}
    fleet.write_text(yaml.safe_dump(content))
    return str(scenario), str(fleet)


@pytest.mark.parametrize("name", list(BAD))
def test_every_command_refuses_it(name: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    scenario, fleet = files(tmp_path, name)
    commands = (
        ["train", scenario, "--out", str(tmp_path / "run")],
        ["eval", "law", "--scenario", scenario],
        ["check", scenario],
        ["flash", "swap_4", fleet],
        ["up", fleet, "--sim", "mujoco", "--flights", "1"],
        ["up", fleet],
    )
    for words in commands:
        assert main(words) == 1, words
        said = capsys.readouterr().err.strip()
        assert BAD[name][1] in said, words
        assert said.startswith(f"robomarl {words[0]}: {name}.toml: "), words
        assert "\n" not in said, words
    assert not list(tmp_path.glob("robot_*"))  # nothing was sent


def test_a_fleet_of_another_size_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture):
    _, fleet = files(tmp_path, "heavy")
    content = yaml.safe_load(Path(fleet).read_text())
    Path(fleet).write_text(yaml.safe_dump({**content, "scenario": "lift_3", "robots": content["robots"][:2]}))
    assert main(["up", fleet]) == 1
    assert "has 2 robots, its scenario lift_3 is for 3" in capsys.readouterr().err


def test_a_node_refuses_what_its_own_vehicle_cannot_lift(tmp_path: Path):
    """The bundle was trained with stronger motors than this robot has."""
    pytest.importorskip("rclpy")
    from robomarl.core.config import to_dict
    from robomarl.core.hardware.vehicle import load_vehicle
    from robomarl.domains.flight.ros.payload.carrying import check_carried

    weak = tmp_path / "weak.yaml"
    text = (vehicles_dir() / "carrier_600.yaml").read_text()
    weak.write_text(text.replace("max_thrust_n: 6.25", "max_thrust_n: 2.9"))
    content = to_dict(load_scenario("lift_3"))
    check_carried(content, load_vehicle("carrier_600"), 3)
    with pytest.raises(UserError, match=r"3 carrier_600 make 34.8 N, hovering takes 31.44 N"):
        check_carried(content, load_vehicle(str(weak)), 3)
