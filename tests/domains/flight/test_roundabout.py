"""Robots that keep right on arcs stay on the ring, arrive, and do so sooner where the filter's margins are wide."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")

from robomarl.front import cli
from robomarl.lab.sim.law import ArcPace, keep_right

PACE = ArcPace(radius_m=1.0, cruise_m_s=1.0, slope_per_s=2.0)


def test_a_robot_that_follows_the_velocity_goes_round_the_ring_and_arrives():
    place, goal, step_s = np.array([1.0, 0.0, 1.0]), np.array([-1.0, 0.0, 1.3]), 0.002
    for _ in range(2000):
        velocity, bend = keep_right(goal - place, PACE)
        if np.linalg.norm(goal - place) > 0.3:
            assert np.linalg.norm(place[:2]) == pytest.approx(1.0, abs=0.1)
            inward = -place[:2] / np.linalg.norm(place[:2])
            if np.linalg.norm(goal[:2] - place[:2]) < 1.9:
                np.testing.assert_allclose(bend[:2], inward * (velocity[:2] ** 2).sum(), atol=0.1)
            assert velocity[0] * place[1] <= velocity[1] * place[0] + 1e-9, "counter-clockwise"
        place = place + step_s * velocity
    assert np.linalg.norm(goal - place) < 0.1 and np.linalg.norm(keep_right(goal - goal, PACE)) == 0


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_farther_goals_are_circled_and_near_ones_approached_straight(side: float):
    far, near = np.array([side * 3.0, 0.0, 0.0]), np.array([side * 0.01, 0.0, 0.0])
    assert keep_right(far, PACE)[0] == pytest.approx([0.199 * side, -0.98 * side, 0.0], abs=1e-3)
    assert keep_right(near, PACE)[0] == pytest.approx([side * 0.02, 0.0, 0.0], abs=2e-4)


def test_it_flies_on_the_bounds_of_real_flights(tmp_path: Path):
    figures = tmp_path / "figures.json"
    words = ["eval", "law", "swap_4", "--scenario", "swap_4_firmware", "--episodes", "12", "--json", str(figures)]
    assert cli.main(words) == 0
    law, straight = json.loads(figures.read_text())["policies"]
    assert (law["success_rate"], law["collisions"]) == (1.0, 0)
    assert law["arrival_time_s"] < straight["arrival_time_s"] - 1.0


def test_the_campaign_lets_robots_keep_right(tmp_path: Path):
    figures = tmp_path / "figures.json"
    rates = {}
    for task in ("swap", "roundabout"):
        words = ["prove", "swap_4_firmware", "--task", task, "--agent-steps", "60000", "--seconds", "15"]
        assert cli.main([*words, "--workers", "1", "--json", str(figures)]) == 0
        found = json.loads(figures.read_text())
        assert found["collisions"] == 0 and found["estimator"] == "firmware_corrected"
        rates[task] = found["arrival_p50_s"]
    assert rates["roundabout"] < rates["swap"]
