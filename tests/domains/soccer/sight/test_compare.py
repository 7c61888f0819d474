"""Both renderers show one scene; a mount that is 2 degrees off in one of them is found."""

import dataclasses

import numpy as np
import pytest

from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.compare import apart, strip_pairs
from robomarl.domains.soccer.lab.sight.pitch import camera_of
from robomarl.lab.gl import find_gl
from robomarl.lab.sim.scenario import load_scenario

SCENES = 24


@pytest.mark.slow
@pytest.mark.skipif(not find_gl(), reason="MuJoCo cannot render here")
@pytest.mark.parametrize(("pitched", "alike"), [(0.0, True), (0.035, False)])
def test_bands_of_mates_are_in_the_same_cells(pitched: float, alike: bool):
    scenario = load_scenario("soccer_2v2", SoccerScenario)
    camera = camera_of(scenario)
    seen_by = dataclasses.replace(camera, pitch_rad=camera.pitch_rad + pitched)
    off, sizes = apart(strip_pairs(scenario, seen_by, SCENES, 1, False), "mate")
    assert len(off) >= 8
    assert (np.median(np.abs(off[:, 0])) < 0.3) == alike and np.median(np.abs(off[:, 1])) < 0.4
    assert (np.median(np.abs(sizes)) < 0.2) == alike


@pytest.mark.slow
@pytest.mark.skipif(not find_gl(), reason="MuJoCo cannot render here")
def test_both_renderers_bend_the_pictures_of_a_rolling_shutter_alike():
    """Robots turn with up to 8 rad/s while 0.1 s pass between the first and the last row."""
    scenario = load_scenario("soccer_2v2", SoccerScenario)
    camera = camera_of(scenario)
    bent = strip_pairs(scenario, dataclasses.replace(camera, readout_s=0.1), SCENES, 1, False)
    straight = strip_pairs(scenario, camera, SCENES, 1, False)
    for pairs, alike in ((bent, True), (bent._replace(drawn=straight.rendered), False)):
        off, _ = apart(pairs, "mate")
        assert len(off) >= 8 and (np.median(np.abs(off[:, 1])) < 0.4) == alike
