"""What robots read of a scenario file without a simulator: its own words, those that it extends, its family's."""

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.field import DeploymentConfig, scenario_content, scenario_field, scenario_obstacles
from robomarl.ros.fieldtask import task_name


def test_a_team_of_a_size_without_a_file_does_what_its_family_does():
    assert scenario_content("lift_5") == {**scenario_content("lift_3"), "count": 5}
    assert [task_name(name) for name in ("lift_5", "lift_3_lost", "soccer_3v3", "swap_5")] == [
        "lift",
        "lift",
        "soccer",
        "swap",
    ]


def test_an_unknown_scenario_says_nothing():
    assert (scenario_content("nothing"), task_name("nothing_2"), scenario_obstacles("nothing")) == ({}, "", [])
    assert scenario_field("nothing") == DeploymentConfig()


def test_a_wrong_value_is_refused_with_the_files_name(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "swap_4"\n[field]\nclimb_m_s = 9.0\n')
    with pytest.raises(UserError, match=r"mine\.toml, field.*climb_m_s"):
        scenario_field(str(file))
