"""Mission files: what they say, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from robomarl.core.config import UserError
from robomarl.core.paths import missions_dir
from robomarl.domains.flight.lab.payload.follow import goal_attitude
from robomarl.domains.flight.ros.payload.mission import SetPoint, load_mission
from robomarl.lab.sim.scenario import load_scenario


def written(folder: Path, **changes: object) -> str:
    points = [{"at_s": 0.0, "pos_m": [0, 0, 1]}, {"at_s": 5.0, "pos_m": [1, 0, 1]}]
    content = {"version": 1, "name": "m", "set_points": points, "land_s": 10.0, **changes}
    (folder / "m.yaml").write_text(yaml.safe_dump(content))
    return str(folder / "m.yaml")


def test_a_set_point_holds_until_the_next(tmp_path: Path):
    mission = load_mission(written(tmp_path))
    assert [mission.at(time_s).pos_m[0] for time_s in (-1.0, 0.0, 4.9, 5.0, 99.0)] == [0, 0, 0, 1, 1]


def test_attitudes_are_those_of_the_task():
    """Heading, then pitch, then roll, as the scenario draws its goals."""
    point = SetPoint(0.0, (1.0, 2.0, 3.0), roll_rad=0.3, pitch_rad=-0.2, yaw_rad=1.1)
    expected = goal_attitude(*(np.float64(angle) for angle in (0.3, -0.2, 1.1)))
    np.testing.assert_allclose(point.goal.quat_wxyz, expected, atol=1e-12)
    np.testing.assert_array_equal(point.goal.pos_m, [1, 2, 3])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"land_s": 4.0}, "must be in the order of their at_s, all before land_s"),
        ({"set_points": [{"at_s": 1.0, "pos_m": [0, 0, 1]}]}, "must begin with one at at_s = 0"),
        ({"set_points": []}, "must begin with one at at_s = 0"),
        ({"height": 2.0}, "height"),
    ],
)
def test_bad_missions_are_refused(tmp_path: Path, changes: dict, said: str):
    with pytest.raises(UserError, match=said):
        load_mission(written(tmp_path, **changes))


def test_unknown_missions_are_refused_and_known_ones_named():
    with pytest.raises(UserError, match="Unknown mission 'nowhere'.*lift_3"):
        load_mission("nowhere")


@pytest.mark.parametrize("name", sorted(path.stem for path in missions_dir().glob("*.yaml")))
def test_missions_that_ship_stay_where_their_scenario_sends_loads(name: str):
    load, mission = load_scenario(name).load, load_mission(name)
    assert load is not None
    for point in mission.set_points:
        assert (np.array(point.pos_m) >= load.goal.low_m).all()
        assert (np.array(point.pos_m) <= load.goal.high_m).all()
        assert max(abs(point.roll_rad), abs(point.pitch_rad)) <= load.goal.tilt_rad
