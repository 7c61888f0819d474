"""Films: every format, by the renderer that works everywhere, and by MuJoCo where it can draw."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robomarl.config import UserError
from robomarl.domains.flight.render import MAX_BYTES, Backend, Shot, film_shots, render_frames, render_video
from robomarl.domains.flight.render.mujoco import find_gl
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.log import FlightLog
from robomarl.sim.scenario import load_scenario

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
