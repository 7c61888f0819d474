"""Flights as they are shown: the moments of a log, its cables, its films."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robomarl.core.config import UserError
from robomarl.core.log import FlightLog
from robomarl.domains.flight.lab.evaluation.staging import STAGING, log_moments
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.simulation import film, law_policy
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.scene import film as scene_film
from robomarl.lab.scene.cables import laid
from robomarl.lab.sim.scenario import load_scenario

COUNT, STEPS = 3, 40


@pytest.fixture(scope="module")
def scenario() -> FlightScenario:
    return load_scenario(f"swap_{COUNT}")


@pytest.fixture(scope="module")
def log() -> FlightLog:
    """Three robots fly straight past each other; the filter acts on the first in the second half."""
    time_s = np.arange(STEPS) * 0.02
    line = np.linspace(-1, 1, STEPS)[:, None]
    pos = np.stack([np.concatenate([line, line * 0 + 0.4 * i, line * 0 + 1], -1) for i in range(COUNT)], 1)
    quat = np.broadcast_to([1.0, 0, 0, 0], (STEPS, COUNT, 4))
    command = np.zeros((STEPS, COUNT, 4))
    active = np.zeros((STEPS, COUNT), bool)
    active[STEPS // 2 :, 0] = True
    goal = np.broadcast_to(pos[-1], pos.shape)
    return FlightLog(time_s, pos, quat, np.zeros_like(pos), goal, command, command, active, 0.07, 0.2)


@pytest.fixture(scope="module")
def carried() -> tuple[FlightLog, FlightScenario]:
    """Of a load in `mujoco`, 0.2 s; in the log the last cable is slack in the second half."""
    scenario = dataclasses.replace(load_scenario("lift_3"), time_limit_s=0.2)
    log = evaluate(law_policy(scenario), scenario, EvalConfig("mujoco", 1, filter="off", record=0, progress=False)).log
    pull = log.tension_n.copy()
    pull[len(pull) // 2 :, 2] = 0
    return log._replace(tension_n=pull), scenario


def test_a_flight_with_a_load_logs_its_own_cables(carried: tuple[FlightLog, FlightScenario]):
    """Taut cables span what they are long, from 3 cm below the vehicle, which is nearly level, to their point."""
    log, scenario = carried
    assert scenario.cables
    assert log.cable_m.shape == log.tension_n.shape == (20, 3)
    assert np.ptp(log.cable_m[0]) > 1e-3  # drawn for each cable
    ends = log.pos_m - np.array([0, 0, 0.03])
    taut = log.tension_n > 1
    np.testing.assert_allclose(np.linalg.norm(ends - log.tied_m, axis=-1)[taut], log.cable_m[taut], atol=5e-3)
    nominal = np.linalg.norm(np.diff(np.array(scenario.cables.load_points_m), axis=0), axis=-1)
    tied = np.linalg.norm(np.diff(log.tied_m[0], axis=0), axis=-1)
    np.testing.assert_allclose(tied, nominal, atol=0.011)  # attachments are off by 5 mm each at most


def test_a_log_is_shown_as_it_was_logged(log: FlightLog):
    moments = log_moments(log)
    assert [moment.time_s for moment in moments] == pytest.approx(log.time_s.tolist())
    np.testing.assert_array_equal([moment.pos_m for moment in moments], log.pos_m)
    assert [bool(moment.active[0]) for moment in moments] == [False] * (STEPS // 2) + [True] * (STEPS // 2)


def test_a_load_is_shown_with_whole_cables_only(carried: tuple[FlightLog, FlightScenario]):
    log, _ = carried
    gone = log._replace(cable_m=log.cable_m * np.array([1, 1, np.inf]))
    before, after = log_moments(log)[5], log_moments(gone)[5]
    assert before.load_pose.shape == (7,) and before.goal_m.shape == (1, 3)
    assert np.isfinite(before.tied_m).all() and np.isnan(after.tied_m[2]).all() and np.isfinite(after.tied_m[:2]).all()


def test_cables_have_the_colour_of_their_tension(carried: tuple[FlightLog, FlightScenario]):
    log, scenario = carried
    working_n = STAGING.scene(scenario).working_n
    taut, slack = (laid(log_moments(log)[step], working_n)[2] for step in (5, 15))
    assert taut is not None and slack is not None
    assert slack.rgb == (90, 150, 255) != taut.rgb


@pytest.mark.parametrize("suffix", [".gif", ".png"])
def test_flights_are_filmed(
    log: FlightLog, scenario: FlightScenario, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scene_film, "find_gl", lambda: "")
    file = tmp_path / "new" / f"flight{suffix}"
    film(log, scenario, file)
    with Image.open(file) as image:
        assert (getattr(image, "n_frames", 1) > 5) == (suffix == ".gif")
    assert file.stat().st_size > 1000


def test_empty_flights_are_named(log: FlightLog, scenario: FlightScenario, tmp_path: Path):
    with pytest.raises(UserError, match="the episode is empty"):
        film(log._replace(time_s=log.time_s[:0]), scenario, tmp_path / "flight.gif")
