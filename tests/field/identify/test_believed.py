"""Controllers that believe another mass: the same thrust, the same plant, and commands that have room again."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from robomarl.domains.flight.field.identify.weigh import believed, weigh
from robomarl.domains.flight.lab.quadrotor import rotor_targets
from robomarl.field.identify.believed import believing, middle_need
from robomarl.field.identify.patch import Provenance
from robomarl.field.identify.robot_fit import Parameter
from robomarl.field.track import RobotTrack
from robomarl.lab.sim.scenario import load_scenario

OF = Provenance(("bag sha256 0123",), "swap_4 0123", "abcdef", "2026-11-24", "swap_4")


def fit(lift_scale: float) -> Any:
    return SimpleNamespace(parameters=(Parameter("one", "lift_scale", lift_scale, 0.0, 2.0, "1"),))


def test_the_plant_stays_and_what_is_believed_changes(tmp_path: Path):
    was = load_scenario("swap_4")
    now = load_scenario(believing(tmp_path, "swap_4", 1.15, OF))
    old, new = was.vehicle_config.body, now.vehicle_config.body
    assert new.mass_kg == pytest.approx(1.15 * old.mass_kg)
    assert new.mass_kg * new.drag_per_s == pytest.approx(old.mass_kg * old.drag_per_s, rel=1e-4)
    true = [np.array(s.randomize.mass_scale) * s.vehicle_config.body.mass_kg for s in (was, now)]
    assert true[1] == pytest.approx(true[0], rel=1e-4)
    assert now.randomize.delay_s == was.randomize.delay_s
    again = load_scenario(believing(tmp_path / "back", str(tmp_path / "swap_4.toml"), 1 / 1.15, OF))
    assert again.vehicle_config.body.mass_kg == pytest.approx(old.mass_kg, rel=1e-4)


def test_rotors_are_told_the_same(tmp_path: Path):
    was = load_scenario("swap_4")
    now = load_scenario(believing(tmp_path, "swap_4", 1.2, OF))
    one, none = np.float64(1), np.float64(0)
    quat, omega = (one, none, none, none), (none, none, none)
    command = np.array([0.5, -0.3, 1.2, 0.0])
    changed = believed(command, 1.2)
    told = [
        rotor_targets(s.vehicle_config, quat, omega, tuple(c[:3]), c[3])  # type: ignore[arg-type]
        for s, c in ((was, command), (now, changed))
    ]
    assert np.array(told[1]) == pytest.approx(np.array(told[0]), rel=1e-5)
    assert changed[2] < command[2]


def test_only_what_is_off_is_weighed_and_by_the_middle_of_the_team():
    assert middle_need([fit(1.0), fit(1 / 1.3), fit(1.0)]) == pytest.approx(1.15)
    zero = np.zeros((3, 3))
    track = RobotTrack("one", 0, zero[0], zero, np.zeros((3, 4)), zero, zero, zero[0], np.zeros((3, 4)))
    assert weigh([fit(0.98), fit(1.01)], [track]) is None
    found = weigh([fit(1.0), fit(1 / 1.3)], [track])
    assert found is not None
    assert found.tracks[0].command[0, 2] == pytest.approx(9.81 / 1.15 - 9.81)
