"""Everybody has to be heard, and so the radio has to span whatever robots can get apart."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.filter.filter import Reason, SafetyFilter
from robomarl.core.hardware.scenario_files import scenario_names
from robomarl.core.view import blank_view
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario


@pytest.mark.parametrize("name", [*scenario_names(), "swap_20", "swap_24"])
def test_the_whole_team_has_to_be_heard(name: str):
    scenario = load_scenario(name)
    assert safety_params(scenario).min_mates == scenario.count - 1


@pytest.mark.parametrize("name", ["swap_4", "swap_24"])
def test_nobody_flies_past_mates_that_it_cannot_hear(name: str):
    """A mate whose radio died may be anywhere; without it being heard no acceleration passes."""
    scenario = load_scenario(name)
    safety, view = SafetyFilter(safety_params(scenario)), blank_view(scenario.count - 1)
    view = view._replace(own=view.own._replace(pos_m=np.array([0.0, 0.0, 1.2])))
    view.heard.mask[1:] = True
    view.heard.pos_m[1:] = 2.5 * np.random.default_rng(1).normal(size=(scenario.count - 2, 3))
    _, result = safety(safety.init(), view, np.array([1.2, 0.0, 0.0, 0.0]))
    assert result.reason == Reason.MISSING
    assert not result.command.any()


TOO_SHORT = {
    ("swap_4", "[radio]\nrange_m = 4.0"): (
        "mine.toml: radio.range_m = 4 is too short: in [arena] two robots get 10.4 m apart, and those that do not hear "
        "each other brake for good; make it at least 10.4, or the room smaller."
    ),
    ("swap_4", "[arena]\nhigh_m = [9.0, 9.0, 3.0]"): "two robots get 18",
    ("lift_3", "[radio]\nrange_m = 2.5"): "under [load], on taut [cables], two robots get 2.7 m apart",
    ("soccer_2v2", "[radio]\nrange_m = 5.0"): "on [field] two robots get 5.5 m apart",
}


@pytest.mark.parametrize(("base", "text"), TOO_SHORT)
def test_a_radio_that_loses_robots_is_refused(tmp_path: Path, base: str, text: str):
    file = tmp_path / "mine.toml"
    file.write_text(f'extends = "{base}"\n{text}\n')
    with pytest.raises(UserError) as error:
        load_scenario(str(file))
    assert TOO_SHORT[base, text] in str(error.value)


def test_a_robot_alone_needs_no_radio(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "swap_4"\ncount = 1\n[radio]\nrange_m = 1.0\n')
    assert load_scenario(str(file)).radio.range_m == 1.0
