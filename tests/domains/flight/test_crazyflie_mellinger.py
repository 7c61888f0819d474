"""The controller behind the Crazyflie's peer is the published one."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from robomarl.ros.io.messages import Estimate
from robomarl_peers.crazyflie.mellinger import MellingerGains, Wanted, mellinger, mellinger_rest

DT_S = 0.004


def test_it_is_the_controller_of_drone_controllers():
    """In a process of its own: the package wants SciPy to be imported by itself, and told so first."""
    if find_spec("drone_controllers") is None:
        pytest.skip("drone-controllers is not installed")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-m", "tests.domains.flight.published_mellinger"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_vehicle_at_its_place_hovers_on_what_it_believes_to_weigh():
    gains = replace(MellingerGains(), mass_kg=0.033)
    still, level = np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]])
    wanted = Wanted(still, still, still, np.zeros(1), np.zeros((1, 2)), np.full(1, np.nan))
    _, rotors = mellinger(gains, mellinger_rest(1), Estimate(still, level, still, still), wanted, DT_S)
    assert rotors.sum() == pytest.approx(0.033 * 9.81, rel=0.04)  # the firmware's two thrust constants differ
    assert np.ptp(rotors) < 1e-9
