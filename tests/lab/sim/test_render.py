"""Films: every format, by the renderer that works everywhere, and by MuJoCo where it can draw."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robomarl.core.config import UserError
from robomarl.core.log import FlightLog
from robomarl.domains.flight.lab.payload.simulation import law_policy
from robomarl.domains.flight.lab.render import MAX_BYTES, Backend, Shot, film_shots, render_frames, render_video
from robomarl.domains.flight.lab.render.cables import COLORS, cable_rgb, drawn_m, working_n
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.gl import find_gl
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


BACKENDS = ["matplotlib", pytest.param("mujoco", marks=pytest.mark.skipif(not find_gl(), reason="no GL library"))]


@pytest.mark.parametrize("backend", BACKENDS)
def test_frames_show_robots_moving(log: FlightLog, scenario: FlightScenario, backend: Backend):
    shots = [Shot(0, 0), Shot(30, 0)]
    first, later = render_frames(log, scenario, shots, (200, 160), backend)
    assert first.shape == (160, 200, 3)
    assert first.dtype == np.uint8
    assert first.std() > 5  # not blank
    changed = (np.abs(first.astype(int) - later).max(-1) > 20).mean()
    assert 0.005 < changed < 0.5


@pytest.mark.parametrize("suffix", [".gif", ".png"])
def test_files_are_pictures(log: FlightLog, scenario: FlightScenario, tmp_path: Path, suffix: str):
    file = tmp_path / "new" / f"flight{suffix}"
    render_video(log, scenario, file, "matplotlib")
    with Image.open(file) as image:
        assert getattr(image, "n_frames", 1) == (len(film_shots(log, 12.5)) if suffix == ".gif" else 1)
    assert 1000 < file.stat().st_size <= MAX_BYTES


def test_films_run_in_real_time_and_end_at_the_end(log: FlightLog):
    shots = film_shots(log, 12.5)
    assert [s.step for s in shots] == [*range(0, STEPS - 1, 4), STEPS - 1]
    assert shots[0].trail_from == 0


def test_other_suffixes_and_empty_flights_are_named(log: FlightLog, scenario: FlightScenario, tmp_path: Path):
    with pytest.raises(UserError, match="films are .gif, .mp4 or .png"):
        render_video(log, scenario, tmp_path / "flight.avi")
    empty = log._replace(time_s=log.time_s[:0])
    with pytest.raises(UserError, match="the flight is empty"):
        render_video(empty, scenario, tmp_path / "flight.gif")


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


def test_cables_have_the_colour_of_their_tension(carried: tuple[FlightLog, FlightScenario]):
    log, scenario = carried
    slack, taut = cable_rgb(log, scenario, 15)[2], cable_rgb(log, scenario, 5)[2]
    assert slack[2] > 0.9 > 0.5 > taut[2]  # blue, and not
    assert drawn_m(log, 15)[2] == log.cable_m[15, 2] and drawn_m(log, 5)[2] < 0.01
    twice = log._replace(tension_n=log.tension_n * 0 + 3 * working_n(scenario))
    np.testing.assert_allclose(cable_rgb(twice, scenario, 0), COLORS[[3, 3, 3]])


@pytest.mark.parametrize("backend", BACKENDS)
def test_films_show_who_pulls(carried: tuple[FlightLog, FlightScenario], backend: Backend):
    """The same moment with and without tension in one cable: only that cable is drawn another way, blue."""
    log, scenario = carried
    pull = log.tension_n.copy()
    pull[5, 2] = 0
    (taut,), (slack,) = (
        render_frames(each, scenario, [Shot(5, 5)], (400, 300), backend) for each in (log, log._replace(tension_n=pull))
    )
    changed = np.abs(taut.astype(int) - slack).max(-1) > 20
    assert 20 < changed.sum() < 6000
    bluer = (slack[changed].astype(int) - taut[changed])[:, 2]
    assert (bluer > 20).mean() > 0.3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cable_that_is_cut_is_not_drawn(carried: tuple[FlightLog, FlightScenario], backend: Backend):
    log, scenario = carried
    gone = log._replace(cable_m=log.cable_m * np.array([1, 1, np.inf]), tension_n=log.tension_n * np.array([1, 1, 0]))
    before, after = (next(render_frames(each, scenario, [Shot(5, 5)], (400, 300), backend)) for each in (log, gone))
    assert (np.abs(before.astype(int) - after).max(-1) > 20).sum() > 20
    blue = np.array([90, 153, 255])
    assert not (np.abs(after.astype(int) - blue).max(-1) < 25).any()
